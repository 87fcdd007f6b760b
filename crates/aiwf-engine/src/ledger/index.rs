//! The one index of all sessions of a project, made from their snapshots on every core.
//!
//! A snapshot that does not fit its journal is not believed; then the journal is read instead.

use std::fmt;

use aiwf_advice::{Action, Advice};
use aiwf_config::Settings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Place, Scope, SessionLedger};
use crate::Engine;
use crate::prompt::every_core::map_on_every_core;
use crate::run;
use crate::session::session_error::SessionError;
use crate::session::{self, SessionSummary};
use crate::trust::{self, LedgerKind};

/// The longest title that a list gets; a request can be a whole page.
const MAX_TITLE_CHARS: usize = 200;

/// What an open session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// Approval of a prompt.
    PromptApproval,
    /// A reply that a person delivers.
    Reply,
    /// Approval of a reply.
    ReplyApproval,
    /// A command that begins the next phase.
    NextPhase,
    /// Asking again, after a call that failed or was interrupted.
    Retry,
    /// A larger budget.
    Budget,
    /// A decision that no gate asks for: the last round failed, or a verdict said no.
    Decision,
    /// What the user says next in a conversation.
    Answer,
    /// Consent to the commands of checks.
    CheckConsent,
}

/// The status of a session in lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionStatus {
    /// It can continue without a decision.
    InProgress,
    /// It waits for a person or a reply.
    Waiting,
    /// It needs a decision that no gate asks for.
    Paused,
    /// A verdict stopped it.
    Rejected,
    /// Its last request failed; only runs have this.
    Failed,
    /// It reached the end of its flow.
    Complete,
    /// A person cancelled it.
    Cancelled,
    /// Its journal cannot be read.
    Unreadable,
}

impl SessionStatus {
    /// Every status, in the order of the help.
    pub const ALL: [Self; 8] = [
        Self::InProgress,
        Self::Waiting,
        Self::Paused,
        Self::Rejected,
        Self::Failed,
        Self::Complete,
        Self::Cancelled,
        Self::Unreadable,
    ];

    /// The status with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// The name used in flags and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in-progress",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Rejected => "rejected",
            Self::Failed => "failed",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether the session has reached an end and can no longer continue.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Complete | Self::Cancelled => true,
            Self::InProgress
            | Self::Waiting
            | Self::Paused
            | Self::Rejected
            | Self::Failed
            | Self::Unreadable => false,
        }
    }
}

impl From<aiwf_session::Status> for SessionStatus {
    fn from(status: aiwf_session::Status) -> Self {
        match status {
            aiwf_session::Status::InProgress => Self::InProgress,
            aiwf_session::Status::Waiting => Self::Waiting,
            aiwf_session::Status::Paused => Self::Paused,
            aiwf_session::Status::Rejected => Self::Rejected,
            aiwf_session::Status::Complete => Self::Complete,
            aiwf_session::Status::Cancelled => Self::Cancelled,
        }
    }
}

impl fmt::Display for SessionStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A session in the list of all.
#[derive(Clone, Debug, Serialize)]
pub struct SessionEntry {
    /// Its id.
    #[serde(rename = "session_id")]
    pub id: String,
    /// What its user calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is about, in one line: the request, the profile with its parameters, the package, the first words.
    pub title: String,
    /// The flow it follows: `generate`, `change`, `package`, or one of the user's own.
    pub flow: String,
    /// Its profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What its profile or request gave.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// Its iteration; a run has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u32>,
    /// Its phase; of a run, its node.
    pub phase: String,
    /// Its status.
    pub status: SessionStatus,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    /// When it was created.
    pub created_at: String,
    /// When something last happened.
    pub updated_at: String,
    /// Whether it is not the user's; set by [`Engine::mark_foreign`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_foreign: bool,
    /// Why its journal cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where it is, relative to the project.
    pub directory: String,
    /// What has its journal.
    #[serde(skip)]
    pub kind: LedgerKind,
    #[serde(skip)]
    pub(super) place: Place,
}

impl SessionEntry {
    /// What to do next.
    pub fn next(&self) -> Advice {
        if self.is_foreign {
            return Advice::from(Action::Adopt).about_session(&self.id);
        }
        let advice = match self.waits_for {
            Some(WaitsFor::PromptApproval | WaitsFor::ReplyApproval) => Action::Approve.into(),
            Some(WaitsFor::Reply) => Advice::from("save the reply, then ").then(Action::Approve),
            Some(WaitsFor::NextPhase) => Action::Run.into(),
            Some(WaitsFor::Retry) if self.kind == LedgerKind::Run => Action::Resume.into(),
            Some(WaitsFor::Retry) => Action::Retry.into(),
            Some(WaitsFor::Budget) => Action::RaiseBudget.into(),
            Some(WaitsFor::Answer) => Action::Say.into(),
            Some(WaitsFor::CheckConsent) => Action::AllowChecks.into(),
            Some(WaitsFor::Decision) | None => Action::Status.into(),
        };
        advice.about_session(self.name.as_ref().unwrap_or(&self.id))
    }
}

impl SessionEntry {
    /// Whether it has not ended; an unreadable session counts as open.
    pub fn is_open(&self) -> bool {
        !self.status.is_ended()
    }

    /// Whether its user calls it that; a change of 0.1.0 is called like its directory.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name) || (self.place == Place::Changes && self.id == name)
    }

    /// Whether that is its id, and no name that became one.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.place != Place::Changes && self.id == id
    }

    pub(super) fn ledger(&self, settings: &Settings) -> SessionLedger {
        SessionLedger::at(settings, self.place, &self.id)
    }

    /// The session in one line of a message.
    pub(super) fn line(&self) -> String {
        let name = self.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        format!("{}  {name}{}", self.id, self.title).trim_end().to_owned()
    }

    fn of_session(ledger: &SessionLedger, summary: SessionSummary) -> Self {
        let title = match summary.context.get("request") {
            Some(request) if summary.profile.is_empty() => one_line(request.as_str().unwrap_or_default()),
            _ => profile_title(&summary),
        };
        Self {
            id: summary.session_id,
            name: summary.name,
            title,
            kind: if summary.profile.is_empty() { LedgerKind::Change } else { LedgerKind::Session },
            context: summary.context,
            iteration: Some(summary.iteration),
            profile: Some(summary.profile).filter(|profile| !profile.is_empty()),
            flow: summary.flow,
            phase: summary.phase,
            status: summary.status,
            waits_for: summary.waits_for,
            created_at: summary.created_at,
            updated_at: summary.updated_at,
            is_foreign: false,
            error: summary.error,
            directory: ledger.shown("").trim_end_matches('/').to_owned(),
            place: ledger.place(),
        }
    }

    fn of_run(ledger: &SessionLedger, summary: run::RunSummary) -> Self {
        let (status, waits_for) = run::entry_status(&summary);
        let named = [summary.package.as_deref(), summary.workflow.as_deref().or(summary.agent.as_deref())];
        let named: Vec<&str> = named.into_iter().flatten().collect();
        let title = if named.is_empty() { summary.title.unwrap_or_default() } else { named.join("/") };
        Self {
            id: summary.run_id,
            name: None,
            title: one_line(&title),
            flow: "package".to_owned(),
            profile: None,
            context: Map::new(),
            iteration: None,
            phase: summary.node.unwrap_or_else(|| summary.phase.as_str().to_owned()),
            status,
            waits_for,
            created_at: summary.created_at,
            updated_at: summary.updated_at,
            is_foreign: false,
            error: summary.problem,
            directory: ledger.shown("").trim_end_matches('/').to_owned(),
            kind: LedgerKind::Run,
            place: ledger.place(),
        }
    }

    fn of(ledger: &SessionLedger, summary: Summary) -> Self {
        match summary {
            Summary::Session(summary) => Self::of_session(ledger, summary),
            Summary::Run(summary) => Self::of_run(ledger, summary),
        }
    }

    /// A session by its journal alone: for whoever must not believe a snapshot.
    pub(super) fn of_journal(settings: &Settings, ledger: &SessionLedger) -> Self {
        Self::of(ledger, Summary::of_journal(settings, ledger))
    }
}

/// What is known of a session without folding its journal again.
#[derive(Debug)]
pub(crate) enum Summary {
    Session(SessionSummary),
    Run(run::RunSummary),
}

impl Summary {
    fn of(settings: &Settings, ledger: &SessionLedger) -> Self {
        let session = || session::snapshot_summary(ledger).map(Self::Session);
        let run = || run::snapshot_summary(ledger).map(Self::Run);
        // The more likely file first; which one is there does not depend on the place.
        let believed =
            if ledger.place() == Place::Runs { run().or_else(session) } else { session().or_else(run) };
        believed.unwrap_or_else(|| Self::of_journal(settings, ledger))
    }

    fn of_journal(settings: &Settings, ledger: &SessionLedger) -> Self {
        match ledger.kind() {
            LedgerKind::Run => Self::Run(run::journal_summary(ledger)),
            LedgerKind::Session | LedgerKind::Change => {
                Self::Session(session::journal_summary(settings, ledger))
            }
        }
    }
}

/// The summary of every session of the project, in no order that means anything.
pub(crate) fn summaries(settings: &Settings) -> Result<Vec<(SessionLedger, Summary)>, SessionError> {
    let ledgers = Place::all_ledgers(settings)?;
    let summaries = map_on_every_core(&ledgers, |ledger| Summary::of(settings, ledger));
    Ok(ledgers.into_iter().zip(summaries).collect())
}

/// The profile, and in short what it was given.
fn profile_title(summary: &SessionSummary) -> String {
    let given = summary.context.iter().filter_map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (!text.is_empty() && text.len() <= 40 && !text.contains('\n')).then(|| format!(" {key}={text}"))
    });
    one_line(&std::iter::once(summary.profile.clone()).chain(given).collect::<String>())
}

fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_TITLE_CHARS) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words,
    }
}

/// What sorts sessions by the time they began: the stamp of an id, else when its first event happened.
pub(crate) fn by_time(id: &str, created_at: &str) -> String {
    let stamp = id.strip_prefix("agent-").or_else(|| id.strip_prefix("chat-")).unwrap_or(id);
    let is_stamp = stamp.len() > 15
        && stamp.bytes().take(15).enumerate().all(
            |(at, byte)| {
                if at == 8 { byte == b'-' } else { byte.is_ascii_digit() }
            },
        );
    if is_stamp {
        return stamp.to_owned();
    }
    let digits = created_at.get(..19).unwrap_or(created_at);
    digits
        .chars()
        .filter_map(|c| if c == 'T' { Some('-') } else { c.is_ascii_digit().then_some(c) })
        .collect()
}

/// The sessions of a scope, oldest first.
pub(crate) fn all_of(settings: &Settings, scope: Scope) -> Result<Vec<SessionEntry>, SessionError> {
    let summaries = summaries(settings)?.into_iter();
    let mut entries: Vec<SessionEntry> =
        summaries.map(|(ledger, summary)| SessionEntry::of(&ledger, summary)).collect();
    entries.retain(|entry| scope.accepts(entry.kind));
    entries.sort_by_cached_key(|entry| (by_time(&entry.id, &entry.created_at), entry.id.clone()));
    Ok(entries)
}

impl Engine {
    /// Every session of the project, whatever began it; the one that changed last first.
    pub fn list_all(&self) -> Result<Vec<SessionEntry>, SessionError> {
        let mut entries = all_of(self.settings(), Scope::Any)?;
        entries.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| b.id.cmp(&a.id)));
        Ok(entries)
    }

    /// Marks the sessions of a list that are not the user's.
    pub fn mark_foreign(&self, entries: &mut [SessionEntry]) {
        for entry in entries {
            entry.is_foreign = trust::is_foreign(self.settings(), &entry.ledger(self.settings()));
        }
    }
}
