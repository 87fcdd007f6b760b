//! `session.json`: a summary for lists, so that a list need not fold every journal.
//!
//! Derived from the journal and written after it. A snapshot that does not match the journal's length is ignored, and
//! the journal is read.

use aiwf_config::Settings;
use aiwf_session::{Event, Flow, Pause, Setup, State, Step};
use aiwf_store::Journal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::planned_writes::{names_of_writes, planned_writes};
use super::versions::{StaleArtifact, stale_artifacts};
use crate::ledger::{SessionLedger, SessionStatus, WaitsFor};
use crate::session::session_error::SessionError;
use crate::trust::{self, LedgerKind};

const SNAPSHOT: &str = "session.json";
const VERSION: u32 = 3;

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    pub session_id: String,
    pub profile: String,
    pub context: Map<String, Value>,
    pub phase: String,
    /// `unreadable` if its journal cannot be read.
    pub status: SessionStatus,
    pub iteration: u32,
    pub created_at: String,
    /// Time of the last event.
    pub updated_at: String,
    /// Why its journal cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether it must be adopted before commands change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_foreign: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flow: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    /// Files that it plans to write, relative to the project, or named by the rules of a profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// The profile whose rules name the planned files; empty if they are relative to the project.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub writes_of: String,
    /// Approved artifacts that were made from a reopened version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale_artifacts: Vec<StaleArtifact>,
    #[serde(default)]
    pub open_comments: usize,
    /// Whether its result is in the project, so that it can be taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_applied: bool,
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
    pub(crate) fn of(ledger: &SessionLedger, state: &State, journal: &Journal<Event>) -> Self {
        Self {
            version: VERSION,
            journal_bytes: journal.n_bytes(),
            summary: summarize(ledger, state, journal),
        }
    }

    /// Writes `session.json`.
    pub(crate) fn write(&self, ledger: &SessionLedger) -> Result<(), SessionError> {
        ledger.write_snapshot(SNAPSHOT, self)
    }
}

fn summarize(ledger: &SessionLedger, state: &State, journal: &Journal<Event>) -> SessionSummary {
    let setup = state.setup.as_ref();
    let lines = journal.lines();
    SessionSummary {
        session_id: ledger.id.clone(),
        profile: setup.map(|setup| setup.profile.clone()).unwrap_or_default(),
        context: setup.map(context).unwrap_or_default(),
        phase: state.phase.as_str().to_owned(),
        status: state.status().into(),
        iteration: state.iteration,
        created_at: lines.first().map(|line| line.at.clone()).unwrap_or_default(),
        updated_at: lines.last().map(|line| line.at.clone()).unwrap_or_default(),
        error: None,
        is_foreign: false,
        name: setup.and_then(|setup| setup.name.clone()),
        flow: state.flow.name.clone(),
        waits_for: waits_for(state),
        writes: planned_writes(ledger, state),
        writes_of: names_of_writes(state),
        stale_artifacts: stale_artifacts(state),
        open_comments: state.open_comments().count(),
        is_applied: state.is_applied,
    }
}

/// The flow of a session of 0.1.0, whose journal does not name it.
fn flow(is_change: bool) -> String {
    if is_change { Flow::CHANGE.to_owned() } else { Flow::GENERATE.to_owned() }
}

pub(super) fn waits_for(state: &State) -> Option<WaitsFor> {
    match &state.step {
        Step::PromptReady => Some(WaitsFor::PromptApproval),
        Step::Asked { is_free: true } => Some(WaitsFor::Reply),
        Step::Asked { is_free: false } | Step::AskFailed { .. } => Some(WaitsFor::Retry),
        Step::ReplyReady { .. } => Some(WaitsFor::ReplyApproval),
        Step::Paused(Pause::Budget) => Some(WaitsFor::Budget),
        Step::Paused(Pause::CheckConsent) => Some(WaitsFor::CheckConsent),
        Step::Paused(_) => Some(WaitsFor::Decision),
        Step::PromptWanted { .. } => state.flow.waits.then_some(WaitsFor::NextPhase),
        Step::NotCreated | Step::AskWanted | Step::ChecksWanted | Step::Ended => None,
    }
}

fn context(setup: &Setup) -> Map<String, Value> {
    match &setup.change {
        Some(change) => [("request".to_owned(), Value::from(change.request.as_str()))].into_iter().collect(),
        None => setup.context.clone(),
    }
}

/// The summary from a session's journal, with the reason if it cannot be read.
pub(crate) fn journal_summary(settings: &Settings, ledger: &SessionLedger) -> SessionSummary {
    let journal = ledger.journal().and_then(|journal| {
        journal.refuse_shorter(None)?;
        trust::refuse_lost(settings, ledger.kind(), &ledger.id, journal.lines())?;
        Ok(journal)
    });
    match journal {
        Ok(journal) => {
            let state = State::fold(journal.lines().iter().map(|line| &line.event));
            summarize(ledger, &state, &journal)
        }
        Err(error) => SessionSummary {
            session_id: ledger.id.clone(),
            profile: String::new(),
            context: Map::new(),
            phase: "?".to_owned(),
            status: SessionStatus::Unreadable,
            iteration: 0,
            created_at: String::new(),
            updated_at: String::new(),
            error: Some(error.to_string()),
            is_foreign: false,
            name: ledger.name().map(str::to_owned),
            flow: flow(ledger.kind() == LedgerKind::Change),
            waits_for: None,
            writes: Vec::new(),
            writes_of: String::new(),
            stale_artifacts: Vec::new(),
            open_comments: 0,
            is_applied: false,
        },
    }
}

/// The snapshot, if it matches the length of the journal.
pub(crate) fn snapshot_summary(ledger: &SessionLedger) -> Option<SessionSummary> {
    let Snapshot { version, journal_bytes, mut summary } = ledger.read_snapshot(SNAPSHOT)?;
    let is_believed = version == VERSION
        && Some(journal_bytes) == ledger.n_journal_bytes()
        && summary.session_id == ledger.id;
    // A snapshot can be forged, and names select sessions, so the name comes from the journal.
    summary.name = ledger.name().map(str::to_owned);
    if summary.flow.is_empty() {
        // In 0.1.0, a session without a profile was a change.
        summary.flow = flow(summary.profile.is_empty());
    }
    is_believed.then_some(summary)
}
