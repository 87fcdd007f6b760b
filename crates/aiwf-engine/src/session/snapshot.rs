//! `session.json`: what a list shows of a session, so that a list need not fold every journal.
//!
//! Derived from the journal and written after it. One that does not fit the journal's length is not believed; then the
//! journal is read instead.

use aiwf_config::Settings;
use aiwf_session::{Event, Flow, Pause, Setup, State, Step};
use aiwf_store::Journal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ledger::{SessionLedger, SessionStatus, WaitsFor};
use crate::session::session_error::SessionError;
use crate::trust::{self, LedgerKind};

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
    pub status: SessionStatus,
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
    /// What its user calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The flow it follows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flow: String,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
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
    }
}

/// The flow of a session of 0.1.0, which does not name it.
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

/// What it was given: of a change, what to change.
fn context(setup: &Setup) -> Map<String, Value> {
    match &setup.change {
        Some(change) => [("request".to_owned(), Value::from(change.request.as_str()))].into_iter().collect(),
        None => setup.context.clone(),
    }
}

/// What the journal of a session says; one that cannot be read is shown with the reason.
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
        },
    }
}

/// The snapshot, when it was made from the journal as long as it is now.
pub(crate) fn snapshot_summary(ledger: &SessionLedger) -> Option<SessionSummary> {
    let Snapshot { version, journal_bytes, mut summary } = ledger.read_snapshot(SNAPSHOT)?;
    let is_believed = version == VERSION
        && Some(journal_bytes) == ledger.n_journal_bytes()
        && summary.session_id == ledger.id;
    // Names decide which session a user means, so the journal's own name counts: a snapshot can be forged.
    summary.name = ledger.name().map(str::to_owned);
    if summary.flow.is_empty() {
        // One of 0.1.0, where a change is what has no profile.
        summary.flow = flow(summary.profile.is_empty());
    }
    is_believed.then_some(summary)
}
