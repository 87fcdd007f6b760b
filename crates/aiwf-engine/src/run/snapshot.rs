//! `run.json`: what a list shows of a run, so that a list need not fold every journal.
//!
//! Derived from the journal and written after it. One that does not fit the journal's length is not believed; then the
//! journal is read instead.

use aiwf_store::{Durability, Journal};
use serde::{Deserialize, Serialize};

use super::desk::read_state;
use super::directory::RunDirectory;
use super::event::{RunEvent, RunKind, RunPhase};
use super::record::Record;
use super::report::RunSummary;
use crate::run_error::RunError;

/// The file's name in a run.
const SNAPSHOT: &str = "run.json";
/// The version of the file's format.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Snapshot {
    version: u32,
    /// The length of the journal it was made from.
    journal_bytes: u64,
    #[serde(flatten)]
    summary: RunSummary,
}

/// Writes the snapshot of a run.
pub(crate) fn write(
    directory: &RunDirectory,
    record: &Record,
    journal: &Journal<RunEvent>,
    node: Option<String>,
) -> Result<(), RunError> {
    let summary = summarize(directory, record, journal, node);
    let snapshot = Snapshot { version: VERSION, journal_bytes: journal.n_bytes(), summary };
    let mut text = serde_json::to_vec_pretty(&snapshot).unwrap_or_default();
    text.push(b'\n');
    Ok(directory.ledger()?.write(SNAPSHOT, &text, Durability::Process)?)
}

fn summarize(
    directory: &RunDirectory,
    record: &Record,
    journal: &Journal<RunEvent>,
    node: Option<String>,
) -> RunSummary {
    let lines = journal.lines();
    RunSummary {
        run_id: directory.id.clone(),
        kind: record.kind(),
        package: record.package_name(),
        workflow: record.workflow_id(),
        phase: record.phase(),
        node,
        created_at: lines.first().map(|line| line.at.clone()).unwrap_or_default(),
        updated_at: lines.last().map(|line| line.at.clone()).unwrap_or_default(),
        problem: record.setup.is_none().then(|| "it has no events".to_owned()),
    }
}

fn read(directory: &RunDirectory) -> Option<Snapshot> {
    serde_json::from_slice(&directory.read(SNAPSHOT)?).ok()
}

/// What a list shows of a run; a journal that cannot be read is said so.
pub(crate) fn summary(directory: &RunDirectory) -> RunSummary {
    let journal_bytes =
        directory.ledger().ok().and_then(|ledger| ledger.n_bytes("journal.jsonl").ok().flatten());
    if let Some(snapshot) = read(directory)
        && snapshot.version == VERSION
        && Some(snapshot.journal_bytes) == journal_bytes
        && snapshot.summary.run_id == directory.id
    {
        return snapshot.summary;
    }
    match directory.journal() {
        Ok(journal) => {
            let record = Record::fold(journal.lines().iter().map(|line| &line.event));
            // Without its package the entry node of a run that has not begun is not known.
            let state = read_state(directory).and_then(|text| aiwf_package::State::parse(&text).ok());
            let node = state.map(|state| state.current_node_id().to_owned()).filter(|node| !node.is_empty());
            summarize(directory, &record, &journal, node)
        }
        Err(error) => RunSummary {
            run_id: directory.id.clone(),
            kind: RunKind::Run,
            package: None,
            workflow: None,
            phase: RunPhase::Failed,
            node: None,
            created_at: String::new(),
            updated_at: String::new(),
            problem: Some(error.to_string()),
        },
    }
}
