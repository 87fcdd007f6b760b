//! The state of a session: the fold of its events.

mod course;
mod evolve;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::call::{Spent, Total};
use crate::change::ChangeState;
use crate::checks::CheckResult;
use crate::comment::Comment;
use crate::event::{AppliedFile, Commit, FileHash};
use crate::flow::Flow;
use crate::left_out::LeftOut;
use crate::phase::{Phase, Stage};
use crate::session_path::code_file;
use crate::setup::{Approver, Setup};
use crate::step::{Bound, Feedback, GateState, Pause, Status, Step};
use crate::versions::Version;

/// The state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own that events settle")]
pub struct State {
    /// `None` before the session was created.
    pub setup: Option<Setup>,
    pub flow: Arc<Flow>,
    pub phase: Phase,
    /// `None` before the first prompt and after the end.
    pub stage: Option<Stage>,
    /// Starts at 1.
    pub iteration: u32,
    /// The round of the current loop, starting at 1.
    pub round: u32,
    /// For each judging phase, the rounds it requested since its last pass.
    rounds: BTreeMap<Phase, u32>,
    /// What the session waits for or does next.
    pub step: Step,
    pub gate: GateState,
    /// Feedback of the last rejection; part of the next prompt.
    pub feedback: Option<Feedback>,
    /// The files that approvals are bound to, by path.
    pub bound: BTreeMap<String, Bound>,
    /// Approved files made from a file that changed later.
    pub outdated: BTreeSet<String>,
    /// The prompt files as written, before any edit.
    pub written: Vec<FileHash>,
    /// File access of the receiver of the current prompt, if set by a flag.
    pub prompt_fs_ability: Option<String>,
    pub left_out: Vec<LeftOut>,
    pub response: Option<FileHash>,
    /// The list of files that the agent changed in its worktree, for the reply at the gate.
    pub changes: Option<FileHash>,
    /// Results of the last checks, in the order they ran.
    pub checks: Vec<CheckResult>,
    pub intended: Vec<FileHash>,
    /// Rejected prompts and replies of this phase and iteration.
    pub(crate) n_rejected: u32,
    /// Rejections by a judge at the prompt gate.
    pub(crate) n_prompts_rejected_by_provider: u32,
    /// Rejections by a judge at the response gate.
    pub(crate) n_replies_rejected_by_provider: u32,
    pub n_sent: u32,
    /// Whether a judge could not decide, so that a person must.
    pub(crate) needs_person: bool,
    /// Whether a judge was asked and has not answered.
    pub is_judged: bool,
    /// Whether the judge is not asked because that could exceed the budget.
    pub gate_over_budget: bool,
    /// Why a person is needed or the session is paused, if there is a message.
    pub remark: Option<String>,
    /// The calls that may have cost something.
    pub spent: Vec<Spent>,
    /// Files that an unfinished apply writes to the project.
    pub applying: Option<Vec<AppliedFile>>,
    /// Whether that apply undoes an earlier one.
    pub is_undoing: bool,
    pub is_applied: bool,
    pub applied: Vec<AppliedFile>,
    /// Oldest first.
    pub commits: Vec<Commit>,
    pub change: ChangeState,
    /// The versions of what each phase gives, oldest first.
    pub versions: BTreeMap<Phase, Vec<Version>>,
    /// By number. Removed comments are not listed.
    pub comments: BTreeMap<u32, Comment>,
    /// How many comments were made, those that were removed included.
    pub(crate) n_comments: u32,
    pub n_events: u64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            setup: None,
            flow: Arc::default(),
            phase: Phase::INITIALIZED,
            stage: None,
            iteration: 1,
            round: 1,
            rounds: BTreeMap::new(),
            step: Step::NotCreated,
            gate: GateState::Pending,
            feedback: None,
            bound: BTreeMap::new(),
            outdated: BTreeSet::new(),
            written: Vec::new(),
            prompt_fs_ability: None,
            left_out: Vec::new(),
            response: None,
            changes: None,
            checks: Vec::new(),
            intended: Vec::new(),
            n_rejected: 0,
            n_prompts_rejected_by_provider: 0,
            n_replies_rejected_by_provider: 0,
            n_sent: 0,
            needs_person: false,
            is_judged: false,
            gate_over_budget: false,
            remark: None,
            spent: Vec::new(),
            applying: None,
            is_undoing: false,
            is_applied: false,
            applied: Vec::new(),
            commits: Vec::new(),
            change: ChangeState::default(),
            versions: BTreeMap::new(),
            comments: BTreeMap::new(),
            n_comments: 0,
            n_events: 0,
        }
    }
}

impl State {
    /// The status in one word.
    pub fn status(&self) -> Status {
        if self.phase == Phase::COMPLETE {
            return Status::Complete;
        }
        if self.phase == Phase::CANCELLED {
            return Status::Cancelled;
        }
        // The engine could look for the reply file, but the user is waiting for a person.
        let is_asked = matches!(self.step, Step::Asked { .. });
        match self.step {
            Step::Paused(Pause::Verdict) => Status::Rejected,
            Step::Paused(_) => Status::Paused,
            _ if self.gate_over_budget => Status::Paused,
            _ if !is_asked && crate::effect::next_effect(self).is_some() => Status::InProgress,
            Step::NotCreated
            | Step::PromptWanted { .. }
            | Step::PromptReady
            | Step::AskWanted
            | Step::Asked { .. }
            | Step::AskFailed { .. }
            | Step::ReplyReady { .. }
            | Step::ChecksWanted
            | Step::Ended => Status::Waiting,
        }
    }

    /// Whether the code may be applied: it is approved, and no later step can change it.
    pub fn can_apply(&self) -> bool {
        self.flow.is_settled_in(self.phase)
    }

    /// Whether the session started from a request, without a profile.
    pub fn is_request(&self) -> bool {
        self.setup.as_ref().is_some_and(|setup| setup.change.is_some())
    }

    /// Whether a phase produced files that can be applied.
    pub fn has_code(&self) -> bool {
        self.bound.keys().any(|path| code_file(path).is_some())
    }

    /// The cap of the current loop; 1 outside of loops.
    pub fn max_rounds(&self) -> u32 {
        let judge = self.flow.judge_of(self.phase).and_then(|judge| self.flow.spec(judge));
        let cap = judge.and_then(|spec| spec.max_rounds);
        // After the last loop, the largest cap of the flow.
        let all = || self.flow.phases.iter().filter_map(|spec| spec.max_rounds).max();
        cap.or_else(all).unwrap_or(1)
    }

    /// The provider of a phase.
    pub fn provider(&self, phase: Phase) -> &str {
        self.setup.as_ref().map_or("manual", |setup| setup.provider(&self.flow, phase))
    }

    /// The prompt of the current phase, relative to the session.
    pub fn prompt_path(&self) -> Option<String> {
        self.flow.prompt_path(self.phase, self.iteration)
    }

    /// The system prompt of the current phase, relative to the session, if its provider takes one.
    pub fn system_prompt_path(&self) -> Option<String> {
        self.flow.system_prompt_path(self.phase, self.iteration)
    }

    /// Where the reply of the current phase is expected, relative to the session.
    pub fn response_path(&self) -> Option<String> {
        self.flow.response_path(self.phase, self.iteration)
    }

    /// Whether a provider was asked and its reply never completed, so that asking again may cost twice.
    pub fn is_interrupted(&self) -> bool {
        self.step == Step::Asked { is_free: false }
    }

    /// Who decides at the current gate.
    pub fn approver(&self) -> &Approver {
        match (&self.setup, self.stage) {
            (Some(setup), Some(stage)) if !self.needs_person => &setup.gate(self.phase, stage).approver,
            _ => &Approver::Manual,
        }
    }

    /// The files that an approval at the current gate is bound to, relative to the session.
    pub fn files_at_gate(&self) -> Vec<String> {
        match self.step {
            Step::PromptReady => self.written.iter().map(|file| file.path.clone()).collect(),
            Step::ReplyReady { .. } | Step::Asked { .. } => {
                let changes = self.changes.as_ref().map(|file| file.path.clone());
                self.response_path().into_iter().chain(changes).collect()
            }
            Step::NotCreated
            | Step::PromptWanted { .. }
            | Step::AskWanted
            | Step::AskFailed { .. }
            | Step::ChecksWanted
            | Step::Paused(_)
            | Step::Ended => Vec::new(),
        }
    }

    /// The sum of all calls.
    pub fn total(&self) -> Total {
        Total::of(&self.spent)
    }
}
