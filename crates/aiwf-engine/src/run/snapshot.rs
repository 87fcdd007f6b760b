//! `run.json`: a summary for lists, so that a list need not fold every journal.
//!
//! Derived from the journal and written after it. A snapshot that does not match the journal's length is ignored, and
//! the journal is read.

use aiwf_store::Journal;
use serde::{Deserialize, Serialize};

use super::event::{RunEvent, RunKind, RunPhase};
use super::record::Record;
use super::report::RunSummary;
use super::run_store::read_state;
use crate::ledger::{SessionLedger, SessionStatus, WaitsFor};
use crate::run::run_error::RunError;

const SNAPSHOT: &str = "run.json";
/// The format version.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Snapshot {
    version: u32,
    /// The length of the journal it was derived from.
    journal_bytes: u64,
    #[serde(flatten)]
    summary: RunSummary,
}

pub(crate) fn write(
    ledger: &SessionLedger,
    record: &Record,
    journal: &Journal<RunEvent>,
    node: Option<String>,
) -> Result<(), RunError> {
    let summary = summarize(ledger, record, journal, node);
    let snapshot = Snapshot { version: VERSION, journal_bytes: journal.n_bytes(), summary };
    Ok(ledger.write_snapshot(SNAPSHOT, &snapshot)?)
}

fn summarize(
    ledger: &SessionLedger,
    record: &Record,
    journal: &Journal<RunEvent>,
    node: Option<String>,
) -> RunSummary {
    let lines = journal.lines();
    RunSummary {
        run_id: ledger.id.clone(),
        kind: record.kind(),
        package: record.package_name(),
        workflow: record.workflow_id(),
        agent: record.setup.as_ref().and_then(|setup| setup.agent.clone()),
        title: record.first_words(),
        phase: record.phase(),
        node,
        created_at: lines.first().map(|line| line.at.clone()).unwrap_or_default(),
        updated_at: lines.last().map(|line| line.at.clone()).unwrap_or_default(),
        problem: record.setup.is_none().then(|| "it has no events".to_owned()),
    }
}

/// The snapshot, if it matches the length of the journal.
pub(crate) fn snapshot_summary(ledger: &SessionLedger) -> Option<RunSummary> {
    let snapshot: Snapshot = ledger.read_snapshot(SNAPSHOT)?;
    let is_believed = snapshot.version == VERSION
        && Some(snapshot.journal_bytes) == ledger.n_journal_bytes()
        && snapshot.summary.run_id == ledger.id;
    is_believed.then_some(snapshot.summary)
}

/// The summary from a run's journal, with the reason if it cannot be read.
pub(crate) fn journal_summary(ledger: &SessionLedger) -> RunSummary {
    match ledger.run_journal() {
        Ok(journal) => {
            let record = Record::fold(journal.lines().iter().map(|line| &line.event));
            // The entry node of a run that has not started is in its package, which is not read here.
            let state = read_state(ledger).and_then(|text| aiwf_package::State::parse(&text).ok());
            let node = state.map(|state| state.current_node_id().to_owned()).filter(|node| !node.is_empty());
            summarize(ledger, &record, &journal, node)
        }
        Err(error) => RunSummary {
            run_id: ledger.id.clone(),
            kind: RunKind::Run,
            package: None,
            workflow: None,
            agent: None,
            title: None,
            phase: RunPhase::Failed,
            node: None,
            created_at: String::new(),
            updated_at: String::new(),
            problem: Some(error.to_string()),
        },
    }
}

/// The status of a run in the list of all sessions, and what it waits for.
pub(crate) fn entry_status(summary: &RunSummary) -> (SessionStatus, Option<WaitsFor>) {
    match summary.phase {
        _ if summary.problem.is_some() => (SessionStatus::Unreadable, None),
        RunPhase::Running => (SessionStatus::InProgress, None),
        RunPhase::WaitingUser => (SessionStatus::Waiting, Some(WaitsFor::Answer)),
        RunPhase::Failed => (SessionStatus::Failed, Some(WaitsFor::Retry)),
        RunPhase::Completed => (SessionStatus::Complete, None),
        RunPhase::Cancelled => (SessionStatus::Cancelled, None),
    }
}
