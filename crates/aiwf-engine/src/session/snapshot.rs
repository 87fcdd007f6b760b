//! `session.json`: what a list shows of a session, so that a list need not fold every journal.
//!
//! Derived from the journal and written after it. One that does not fit the journal's length is not believed; then the
//! journal is read instead.

use aiwf_config::Settings;
use aiwf_session::{Event, Setup, State};
use aiwf_store::{Durability, Journal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::directory::SessionDirectory;
use crate::session_error::SessionError;
use crate::trust;

/// The file's name in a session.
const SNAPSHOT: &str = "session.json";
/// The version of the file's format.
const VERSION: u32 = 1;

/// What a list shows of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The session.
    pub session_id: String,
    /// Its profile.
    pub profile: String,
    /// What the profile was given.
    pub context: Map<String, Value>,
    /// Its phase.
    pub phase: String,
    /// How it stands, in one word; `unreadable` when its journal cannot be read.
    pub status: String,
    /// Its iteration.
    pub iteration: u32,
    /// When it was created.
    pub created_at: String,
    /// When something last happened.
    pub updated_at: String,
    /// Why its journal cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether it is not the user's: no command acts on it before it is adopted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_foreign: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    version: u32,
    /// The length of the journal it was made from.
    journal_bytes: u64,
    #[serde(flatten)]
    summary: SessionSummary,
}

impl Snapshot {
    pub(crate) fn of(directory: &SessionDirectory, state: &State, journal: &Journal<Event>) -> Self {
        Self {
            version: VERSION,
            journal_bytes: journal.n_bytes(),
            summary: summarize(directory, state, journal),
        }
    }

    /// Writes `session.json`.
    pub(crate) fn write(&self, directory: &SessionDirectory) -> Result<(), SessionError> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        Ok(directory.ledger()?.write(SNAPSHOT, &text, Durability::Process)?)
    }
}

fn summarize(directory: &SessionDirectory, state: &State, journal: &Journal<Event>) -> SessionSummary {
    let setup = state.setup.as_ref();
    let lines = journal.lines();
    SessionSummary {
        session_id: directory.id.clone(),
        profile: setup.map(|setup| setup.profile.clone()).unwrap_or_default(),
        context: setup.map(context).unwrap_or_default(),
        phase: state.phase.as_str().to_owned(),
        status: state.status().as_str().to_owned(),
        iteration: state.iteration,
        created_at: lines.first().map(|line| line.at.clone()).unwrap_or_default(),
        updated_at: lines.last().map(|line| line.at.clone()).unwrap_or_default(),
        error: None,
        is_foreign: false,
    }
}

/// What it was given: of a change, what to change.
fn context(setup: &Setup) -> Map<String, Value> {
    match &setup.change {
        Some(change) => [("request".to_owned(), Value::from(change.request.as_str()))].into_iter().collect(),
        None => setup.context.clone(),
    }
}

/// What a list shows; a session that cannot be read is shown with the reason.
pub(crate) fn summary(settings: &Settings, directory: &SessionDirectory) -> SessionSummary {
    if let Some(summary) = believed(directory) {
        return summary;
    }
    let journal = directory.journal().and_then(|journal| {
        journal.refuse_shorter(None)?;
        trust::refuse_lost(settings, directory.ledger_kind(), &directory.id, journal.lines())?;
        Ok(journal)
    });
    match journal {
        Ok(journal) => {
            let state = State::fold(journal.lines().iter().map(|line| &line.event));
            summarize(directory, &state, &journal)
        }
        Err(error) => SessionSummary {
            session_id: directory.id.clone(),
            profile: String::new(),
            context: Map::new(),
            phase: "?".to_owned(),
            status: "unreadable".to_owned(),
            iteration: 0,
            created_at: String::new(),
            updated_at: String::new(),
            error: Some(error.to_string()),
            is_foreign: false,
        },
    }
}

fn read(directory: &SessionDirectory) -> Option<Snapshot> {
    serde_json::from_slice(&directory.read(SNAPSHOT).ok()??).ok()
}

/// The snapshot, when it was made from the journal as long as it is now.
fn believed(directory: &SessionDirectory) -> Option<SessionSummary> {
    let snapshot = read(directory)?;
    let n_bytes = directory.ledger().ok()?.n_bytes("journal.jsonl").ok()??;
    let fits = snapshot.version == VERSION
        && snapshot.journal_bytes == n_bytes
        && snapshot.summary.session_id == directory.id;
    fits.then_some(snapshot.summary)
}
