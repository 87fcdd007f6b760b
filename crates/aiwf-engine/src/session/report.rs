//! The state of a session, for people and programs.

use std::collections::BTreeSet;

use aiwf_advice::Advice;
use aiwf_session::{
    Approver, CheckResult, Commit, Event, Flow, GateState, LeftOut, Phase, Stage, State, Step,
};
use aiwf_store::Line;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::change_report::ChangeReport;
use super::journal;
use super::planned_writes::{names_of_writes, planned_writes};
use super::reply_files::SelfRunning;
use super::seen_gate::sha256_of;
use super::snapshot::{SessionSummary, waits_for};
use super::take_reply::capped;
use super::verify::{Difference, stale};
use super::versions::{
    ReopenedReport, StaleArtifact, VersionReport, reopened_report, stale_artifacts, version_reports,
};
use crate::Engine;
use crate::advice;
use crate::ledger::{Overlap, SessionLedger, SessionRef, SessionStatus, Summary, WaitsFor, summaries};
use crate::session::session_error::SessionError;
use crate::trust;

/// The state of a session.
#[derive(Clone, Debug, Serialize)]
pub struct SessionReport {
    pub session_id: String,
    pub flow: String,
    /// Empty for sessions without a profile.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub profile: String,
    /// The profile's parameters.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    pub phase: Phase,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    pub status: SessionStatus,
    pub iteration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateReport>,
    /// Relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_path: Option<String>,
    /// Set if the provider takes a system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt_path: Option<String>,
    /// Relative to the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_path: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<String>,
    /// Approved files that changed.
    pub stale: Vec<StaleReport>,
    /// Approved files made from a file that changed later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<String>,
    /// What the current prompt should contain and does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Unknown files in the session's directory; they are left alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Files of the reply at the gate, or of the code, that tools run automatically.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub self_running: Vec<SelfRunning>,
    /// What is wrong with the reply at the gate, or with the last call.
    pub problems: Vec<String>,
    /// Warnings about the profile: others with the same name that are not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Why a person is needed or the session is paused, if there is a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// Set for sessions without a profile.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub change: Option<Box<ChangeReport>>,
    /// Results of the last checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckReport>,
    /// When the provider's usage limit ends, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_until: Option<u64>,
    /// Oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// Whether the reply at the gate is of an agent that changed files itself.
    #[serde(skip)]
    pub is_made_in_worktree: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The versions of every artifact, in the order of the flow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionReport>,
    /// The approved version that the current phase makes again, until there is a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reopened: Option<ReopenedReport>,
    #[serde(skip_serializing_if = "is_none_open")]
    pub open_comments: usize,
    /// Approved artifacts that were made from a reopened version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale_artifacts: Vec<StaleArtifact>,
    /// Other sessions that plan to write the same files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<Overlap>,
    /// Why no command changes it: it is foreign, or its journal lost events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_trusted: Option<String>,
    /// Worded by each surface.
    #[serde(skip)]
    pub next: Advice,
}

#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    pub name: String,
    pub command: String,
    /// `None` if a signal or a limit ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub passed: bool,
    /// How it ended, in words.
    pub outcome: String,
    /// The output file, relative to the project.
    pub output: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct GateReport {
    /// Who decides: `manual`, `skip` or `ai:<provider>`.
    #[serde(rename = "kind", serialize_with = "as_text")]
    pub approver: Approver,
    pub state: GateState,
    /// SHA-256 of what is at the gate, for `--expect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An approved file that changed.
#[derive(Clone, Debug, Serialize)]
pub struct StaleReport {
    /// Relative to the project.
    pub path: String,
    /// SHA-256 of the approved bytes.
    pub approved: String,
    /// SHA-256 of the current bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

impl Engine {
    /// The state of a session. Changes nothing.
    pub fn session_report<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<SessionReport, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let journal = ledger.journal()?;
        let state = State::fold(journal.lines().iter().map(|line| &line.event));
        let mut report = SessionReport::of(&ledger, &state).with_profile_warnings(self);
        let writes = planned_writes(&ledger, &state);
        report.overlaps = self.overlaps_of(&ledger.id, &names_of_writes(&state), &writes)?;
        let kind = ledger.kind();
        if let Some(problem) = trust::problem(self.settings(), kind, &ledger.id, journal.lines()) {
            report.not_trusted = Some(problem.to_string());
            report.next = problem.advice();
        }
        if state.is_interrupted() && ledger.is_locked() {
            // The call is not interrupted: another process is running it.
            (report.status, report.waits_for) = (SessionStatus::InProgress, None);
            report.problems = Vec::new();
            report.waits_for = None;
            report.remark = Some("the call is under way".to_owned());
            report.next = "wait for the reply, or stop the aiwf process that asked".into();
        }
        Ok(report)
    }

    /// All sessions, most recently changed first.
    pub fn list_sessions(&self) -> Result<Vec<SessionSummary>, SessionError> {
        let mut summaries: Vec<SessionSummary> = summaries(self.settings())?
            .into_iter()
            .filter_map(
                |(_, summary)| if let Summary::Session(summary) = summary { Some(summary) } else { None },
            )
            .filter(|summary| summary.flow != Flow::CHANGE)
            .collect();
        summaries
            .sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| b.session_id.cmp(&a.session_id)));
        Ok(summaries)
    }

    /// The journal of a session, line by line.
    pub fn session_events<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<Vec<Line<Event>>, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        Ok(ledger.journal()?.lines().to_vec())
    }
}

impl SessionReport {
    /// Adds warnings about the profile.
    pub(super) fn with_profile_warnings(mut self, engine: &Engine) -> Self {
        if !self.profile.is_empty() {
            self.warnings = engine.profile_warnings(&self.profile);
        }
        self
    }

    pub(crate) fn of(ledger: &SessionLedger, state: &State) -> Self {
        let setup = state.setup.as_ref();
        let shown = |path: Option<String>| path.map(|path| ledger.shown(&path));
        let phase = state.phase;
        let is_yet_to_begin = state.is_request() && matches!(state.step, Step::PromptWanted { .. });
        let response_path = shown(state.response_path()).filter(|_| !is_yet_to_begin);
        let differences: Vec<Difference> = stale(ledger, state);
        let is_awaited = state.step == Step::Asked { is_free: true };
        let awaiting = response_path.iter().filter(|_| is_awaited).cloned().collect();
        Self {
            session_id: ledger.id.clone(),
            flow: state.flow.name.clone(),
            profile: setup.map(|setup| setup.profile.clone()).unwrap_or_default(),
            context: setup.map(|setup| setup.context.clone()).unwrap_or_default(),
            phase,
            stage: state.stage,
            status: state.status().into(),
            iteration: state.iteration,
            gate: gate(ledger, state),
            prompt_path: shown(state.prompt_path()).filter(|_| !is_yet_to_begin),
            system_prompt_path: state
                .written
                .iter()
                .find(|file| state.system_prompt_path().is_some_and(|path| path == file.path))
                .map(|file| ledger.shown(&file.path)),
            checks: checks(ledger, state),
            limit_until: limit_until(state),
            commits: state.commits.clone(),
            is_made_in_worktree: state.changes.is_some(),
            waits_for: waits_for(state),
            provider: (!phase.is_final()).then(|| state.provider(phase).to_owned()),
            response_path,
            awaiting,
            outdated: state.outdated.iter().map(|path| ledger.shown(path)).collect(),
            left_out: state.left_out.clone(),
            unknown: unknown_files(ledger, state),
            self_running: SelfRunning::all(ledger, state),
            problems: capped(problems(state)),
            warnings: Vec::new(),
            remark: state.remark.clone(),
            change: setup.and_then(|setup| {
                let change = setup.change.as_ref()?;
                Some(Box::new(ChangeReport::of(ledger, state, change)))
            }),
            versions: version_reports(state),
            reopened: reopened_report(state),
            open_comments: state.open_comments().count(),
            stale_artifacts: stale_artifacts(state),
            overlaps: Vec::new(),
            not_trusted: None,
            next: advice::next(ledger.label(), state, !differences.is_empty()),
            stale: differences
                .into_iter()
                .map(|difference| StaleReport {
                    path: ledger.shown(&difference.path),
                    approved: difference.approved,
                    found: difference.found,
                })
                .collect(),
        }
    }
}

/// Whether a name is one that the engine writes; `named` are the files in the journal.
fn is_ours(path: &str, state: &State, named: &BTreeSet<&str>) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    ["journal.jsonl", "session.json", ".lock"].contains(&path)
        || path.starts_with("objects/")
        || name.starts_with(".tmp-")
        || name.starts_with("journal.torn-")
        || name.ends_with("-changes.json")
        || [".rejected-", ".partial-", ".output-"].iter().any(|mark| name.contains(mark))
        || is_of_a_round(path)
        || is_of_an_earlier_round(path, state)
        || state.bound.contains_key(path)
        || named.contains(path)
        || state.prompt_path().as_deref() == Some(path)
        || state.response_path().as_deref() == Some(path)
}

/// Whether a file is the output of a check or a list of an agent's changes, in any round.
fn is_of_a_round(path: &str) -> bool {
    let round = path.strip_prefix("iteration-").and_then(|rest| rest.split_once('/'));
    round.is_some_and(|(number, rest)| {
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let is_list = rest.ends_with("-changes.json") && !rest.contains('/');
        is_number && (is_list || rest.starts_with("checks/"))
    })
}

/// Whether a file is the prompt or the reply of a phase in a round that the session left, such as one that was
/// reopened before its prompt was approved.
fn is_of_an_earlier_round(path: &str, state: &State) -> bool {
    let number =
        path.strip_prefix("iteration-").and_then(|rest| rest.split_once('/')).map(|(number, _)| number);
    let Some(iteration) = number.and_then(|number| number.parse::<u32>().ok()) else { return false };
    let is_of = |phase: Phase| {
        let flow = &state.flow;
        let paths = [
            flow.prompt_path(phase, iteration),
            flow.system_prompt_path(phase, iteration),
            flow.response_path(phase, iteration),
        ];
        paths.iter().flatten().any(|known| known == path)
    };
    iteration < state.iteration && state.flow.names().any(is_of)
}

fn as_text<S: Serializer>(approver: &Approver, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(approver)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_none_open(number: &usize) -> bool {
    *number == 0
}

fn unknown_files(ledger: &SessionLedger, state: &State) -> Vec<String> {
    let named: BTreeSet<&str> =
        state.written.iter().chain(&state.intended).map(|file| file.path.as_str()).collect();
    let walk = ignore::WalkBuilder::new(&ledger.path).standard_filters(false).build();
    let mut unknown: Vec<String> = walk
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()))
        .filter_map(|entry| Some(entry.path().strip_prefix(&ledger.path).ok()?.display().to_string()))
        .filter(|path| !is_ours(path, state, &named))
        .map(|path| ledger.shown(&path))
        .collect();
    unknown.sort();
    unknown
}

fn gate(ledger: &SessionLedger, state: &State) -> Option<GateReport> {
    state.stage?;
    let sha256 = sha256_of(ledger, state);
    Some(GateReport { approver: state.approver().clone(), state: state.gate, sha256 })
}

fn checks(ledger: &SessionLedger, state: &State) -> Vec<CheckReport> {
    let report = |result: &CheckResult| CheckReport {
        name: result.name.clone(),
        command: result.command.clone(),
        exit_code: result.exit_code,
        passed: result.is_passed(),
        outcome: super::checking::shown(result).outcome(),
        output: ledger.shown(&result.output.path),
    };
    state.checks.iter().map(report).collect()
}

pub(super) fn limit_until(state: &State) -> Option<u64> {
    if let Step::AskFailed { limit_until, .. } = &state.step { *limit_until } else { None }
}

fn problems(state: &State) -> Vec<String> {
    match &state.step {
        Step::ReplyReady { problems } | Step::AskFailed { problems, .. } => problems.clone(),
        Step::Asked { is_free: false } => {
            vec!["the call was interrupted: no complete reply arrived".to_owned()]
        }
        Step::NotCreated
        | Step::PromptWanted { .. }
        | Step::PromptReady
        | Step::AskWanted
        | Step::ChecksWanted
        | Step::Asked { is_free: true }
        | Step::Paused(_)
        | Step::Ended => Vec::new(),
    }
}
