//! The index of all sessions of a project, built from their snapshots on all cores.
//!
//! A snapshot that does not match its journal is ignored, and the journal is read.

use std::fmt;

use aiwf_advice::{Action, Advice};
use aiwf_config::Settings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Overlap, Place, Scope, SessionLedger};
use crate::Engine;
use crate::prompt::every_core::map_on_every_core;
use crate::run;
use crate::session::session_error::SessionError;
use crate::session::{self, SessionSummary, StaleArtifact};
use crate::trust::{self, LedgerKind};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Requests can be long.
const MAX_TITLE_CHARS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    PromptApproval,
    /// A reply from a person.
    Reply,
    ReplyApproval,
    /// A command that starts the next phase.
    NextPhase,
    /// A retry, after a call that failed or was interrupted.
    Retry,
    Budget,
    /// A decision outside of the gates: the last round failed, or a verdict stopped the session.
    Decision,
    /// The user's next message in a conversation.
    Answer,
    CheckConsent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionStatus {
    /// The next step needs no decision.
    InProgress,
    /// A person or a reply is needed.
    Waiting,
    /// A decision is needed outside of the gates.
    Paused,
    Rejected,
    /// The last request failed. Only for runs.
    Failed,
    Complete,
    Cancelled,
    Unreadable,
}

impl SessionStatus {
    /// In the order of the help.
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

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

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

#[derive(Clone, Debug, Serialize)]
pub struct SessionEntry {
    #[serde(rename = "session_id")]
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In one line: the request, the profile with its parameters, the package, or the first message.
    pub title: String,
    /// `generate`, `change`, `package`, or one of the user's own.
    pub flow: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The parameters of its profile, or its request.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// `None` for runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u32>,
    /// For a run, its node.
    pub phase: String,
    pub status: SessionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    pub created_at: String,
    /// Time of the last event.
    pub updated_at: String,
    /// Set by [`Engine::mark_foreign`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_foreign: bool,
    /// Why its journal cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Approved artifacts that were made from a reopened version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale_artifacts: Vec<StaleArtifact>,
    #[serde(skip_serializing_if = "is_zero")]
    pub open_comments: usize,
    #[serde(skip)]
    pub(crate) is_applied: bool,
    /// Other sessions that plan to write the same files; set by [`Engine::mark_overlaps`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<Overlap>,
    /// The files that it plans to write.
    #[serde(skip)]
    pub(super) writes: Vec<String>,
    /// The profile whose rules name these files; empty if they are relative to the project.
    #[serde(skip)]
    pub(super) writes_of: String,
    /// Relative to the project.
    pub directory: String,
    #[serde(skip)]
    pub kind: LedgerKind,
    #[serde(skip)]
    pub(super) place: Place,
}

impl SessionEntry {
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
    /// An unreadable session counts as open.
    pub fn is_open(&self) -> bool {
        !self.status.is_ended()
    }

    /// A change of 0.1.0 has the name of its directory.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.name.as_deref() == Some(name) || (self.place == Place::Changes && self.id == name)
    }

    /// Whether this is its id and not a name.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.place != Place::Changes && self.id == id
    }

    /// A call that looks interrupted is under way while a process holds the lock.
    fn mark_busy(&mut self, settings: &Settings) {
        let looks_interrupted = self.waits_for == Some(WaitsFor::Retry) && self.kind != LedgerKind::Run;
        if looks_interrupted && self.ledger(settings).is_locked() {
            (self.status, self.waits_for) = (SessionStatus::InProgress, None);
        }
    }

    pub(super) fn ledger(&self, settings: &Settings) -> SessionLedger {
        SessionLedger::at(settings, self.place, &self.id)
    }

    /// For messages.
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
            stale_artifacts: summary.stale_artifacts,
            open_comments: summary.open_comments,
            is_applied: summary.is_applied,
            overlaps: Vec::new(),
            writes: summary.writes,
            writes_of: summary.writes_of,
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
            stale_artifacts: Vec::new(),
            open_comments: 0,
            is_applied: false,
            overlaps: Vec::new(),
            writes: Vec::new(),
            writes_of: String::new(),
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

    /// Reads only the journal, when a snapshot must not be trusted.
    pub(super) fn of_journal(settings: &Settings, ledger: &SessionLedger) -> Self {
        Self::of(ledger, Summary::of_journal(settings, ledger))
    }
}

/// Summary of a session, from its snapshot if possible.
#[derive(Debug)]
pub(crate) enum Summary {
    Session(SessionSummary),
    Run(run::RunSummary),
}

impl Summary {
    fn of(settings: &Settings, ledger: &SessionLedger) -> Self {
        let session = || session::snapshot_summary(ledger).map(Self::Session);
        let run = || run::snapshot_summary(ledger).map(Self::Run);
        // The more likely file first; the directory does not determine which one exists.
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

/// The summaries of all sessions, in no particular order.
pub(crate) fn summaries(settings: &Settings) -> Result<Vec<(SessionLedger, Summary)>, SessionError> {
    let ledgers = Place::all_ledgers(settings)?;
    let summaries = map_on_every_core(&ledgers, |ledger| Summary::of(settings, ledger));
    Ok(ledgers.into_iter().zip(summaries).collect())
}

/// The profile with the request, or with its parameters, shortened.
fn profile_title(summary: &SessionSummary) -> String {
    if let Some(request) = summary.context.get("request").and_then(serde_json::Value::as_str) {
        return one_line(&format!("{}: {request}", summary.profile));
    }
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

/// The sort key for the time of creation: the timestamp in the id, else that of the first event.
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
    /// All sessions of the project, most recently changed first.
    pub fn list_all(&self) -> Result<Vec<SessionEntry>, SessionError> {
        let mut entries = all_of(self.settings(), Scope::Any)?;
        for entry in &mut entries {
            entry.mark_busy(self.settings());
        }
        entries.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| b.id.cmp(&a.id)));
        Ok(entries)
    }

    /// Marks foreign sessions in a list.
    pub fn mark_foreign(&self, entries: &mut [SessionEntry]) {
        for entry in entries {
            entry.is_foreign = trust::is_foreign(self.settings(), &entry.ledger(self.settings()));
        }
    }
}
