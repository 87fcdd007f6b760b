//! What can go wrong with a session, and what to do about it.

use aiwf_advice::Advice;
use aiwf_config::ConfigError;
use aiwf_profile::{ParamProblem, ProfileError, StandardsError};
use aiwf_prompt::{PromptError, Tokens};
use aiwf_provider::AskError;
use aiwf_session::{FlowProblem, Phase, Refusal};
use aiwf_store::{JournalError, LockError, StoreError};
use aiwf_tools::ToolsError;

use crate::catalog::profiles::ProfileFault;
use crate::error::EngineError;
use crate::ledger::SessionStatus;
use crate::session::{ApplyReport, Difference};
use crate::trust::LedgerKind;
use crate::trust::trust_error::TrustError;

/// Why something could not be done with a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// No session has that name.
    #[error("no session `{given}`")]
    NoSession {
        /// What was asked for.
        given: String,
    },
    /// Several sessions begin like that.
    #[error("`{given}` matches {} sessions{}", matching.len(), lines(matching))]
    AmbiguousSession {
        /// What was asked for.
        given: String,
        /// The sessions.
        matching: Vec<String>,
    },
    /// A session that the command does not work on.
    #[error("`{given}` is a {kind}")]
    OtherKind {
        /// What was asked for.
        given: String,
        /// The session.
        id: String,
        /// What it is.
        kind: LedgerKind,
    },
    /// A session that is to be removed and can go on.
    #[error("{kind} `{id}` has not ended: it is {status}")]
    NotEnded {
        /// The session.
        id: String,
        /// What it is.
        kind: LedgerKind,
        /// Its status.
        status: SessionStatus,
    },
    /// A phase command of changes on a session that follows another flow.
    #[error("session `{id}` follows the flow `{flow}`, not `change`")]
    NotAChange {
        /// The session.
        id: String,
        /// Its flow.
        flow: String,
    },
    /// A file is to be restored and none is named.
    #[error("{} approved files differ and none is named{}", files.len(), lines(files))]
    SeveralStaleFiles {
        /// Session and file of each.
        files: Vec<String>,
    },
    /// A file is to be restored and all are as approved.
    #[error("no approved file differs from what was approved")]
    NoStaleFile,
    /// There is no session that is not finished.
    #[error("no session is open")]
    NoOpenSession,
    /// A name is needed.
    #[error("{} sessions are open and none is named{}", open.len(), lines(open))]
    SeveralOpenSessions {
        /// The sessions.
        open: Vec<String>,
    },
    /// A name is needed to look at one of several sessions that have ended.
    #[error("{} sessions have ended and none is named{}", ended.len(), lines(ended))]
    SeveralEndedSessions {
        /// The sessions.
        ended: Vec<String>,
    },
    /// A session that was cancelled is to go on.
    #[error("session `{id}` was cancelled")]
    Cancelled {
        /// The session.
        id: String,
    },
    /// A flow has no such phase.
    #[error("the flow `{flow}` has no phase `{phase}`")]
    NoSuchPhase {
        /// What was asked for.
        phase: String,
        /// The flow.
        flow: String,
        /// Its phases.
        known: Vec<String>,
    },
    /// A check was interrupted; it runs again with the next command.
    #[error("check `{name}` was interrupted")]
    CheckStopped {
        /// The check.
        name: String,
    },
    /// Files that were applied are not what they were any more.
    #[error("files have changed since they were applied{}", lines(files))]
    ChangedSinceApply {
        /// The files, relative to the project.
        files: Vec<String>,
    },
    /// Files that tools run by themselves are not applied without a person's word.
    #[error("tools run {} of these files by themselves", report.files.iter().filter(|file| file.run_by.is_some()).count())]
    SelfRunningFiles {
        /// What would be applied.
        report: Box<ApplyReport>,
    },
    /// There is no place for worktrees.
    #[error("there is no cache directory for a worktree")]
    NoCacheDirectory,
    /// A worktree, a branch or a commit could not be made.
    #[error(transparent)]
    Worktree(#[from] aiwf_worktree::WorktreeError),
    /// Something failed after a session had begun.
    #[error("{error}\n  session `{session_id}`, phase `{phase}`")]
    InPhase {
        /// The session.
        session_id: String,
        /// The phase it is in.
        phase: Phase,
        /// What failed.
        error: Box<Self>,
    },
    /// No change has that name.
    #[error("no change `{given}`")]
    NoChange {
        /// What was asked for.
        given: String,
        /// The changes there are.
        known: Vec<String>,
    },
    /// A change of that name is there.
    #[error("an open session is named `{name}` already")]
    ChangeExists {
        /// The change.
        name: String,
    },
    /// A name that a change cannot have.
    #[error("a session cannot be named `{}`: {why}", name.escape_debug())]
    ChangeName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A change that changes nothing.
    #[error("the request is empty")]
    NoRequest,
    /// A change without files to put in place.
    #[error("session `{id}` has no files to apply")]
    NothingToApply {
        /// The change.
        id: String,
        /// Whether an agent edited the project itself.
        is_edited: bool,
    },
    /// A session that was never begun.
    #[error("session `{id}` holds no event")]
    EmptySession {
        /// The session.
        id: String,
    },
    /// A session of another profile.
    #[error("session `{id}` is of profile `{found}`, not `{wanted}`")]
    OtherProfile {
        /// The session.
        id: String,
        /// Its profile.
        found: String,
        /// The profile that was asked for.
        wanted: String,
    },
    /// A session has no such file.
    #[error("session `{id}` has no `{artifact}` yet")]
    NoArtifact {
        /// The session.
        id: String,
        /// What was asked for.
        artifact: String,
        /// The artifacts there are.
        known: Vec<String>,
    },
    /// A session has no code of an iteration.
    #[error("session `{id}` has no code of iteration {iteration}")]
    NoIteration {
        /// The session.
        id: String,
        /// The iteration that was asked for.
        iteration: u32,
        /// The iterations with code.
        known: Vec<u32>,
    },
    /// Something that does not belong to the session.
    #[error("an artifact must be a path inside the session, not `{path}`")]
    OutsideSession {
        /// What was asked for.
        path: String,
    },
    /// Files of the project are not what the code would replace.
    #[error("files of the project are in the way{}", lines(&report.conflicts().map(|file| file.target.clone()).collect::<Vec<_>>()))]
    Conflicts {
        /// What would be copied, with the differences; nothing was written.
        report: Box<ApplyReport>,
    },
    /// Generated files have no place in the project.
    #[error("generated files have no place in the project{}", lines(problems))]
    NoPlace {
        /// What is wrong.
        problems: Vec<String>,
    },
    /// A link or a path that leaves the project.
    #[error("`{path}` leads out of the directory the code goes to")]
    LinkInTheWay {
        /// The path.
        path: String,
    },
    /// Code that would be written where only git and aiwf may write.
    #[error("code cannot be copied to `{path}`: only git and aiwf write in `.git` and `.aiwf`")]
    ReservedTarget {
        /// The target.
        path: String,
    },
    /// A target that somebody changed while code was being copied.
    #[error("`{path}` was changed while the code was being copied; what was copied before it was taken back")]
    TargetChanged {
        /// The target.
        path: String,
    },
    /// Copying to a directory outside the project that was cut short.
    #[error("copying `{id}` to a directory outside the project was interrupted\n  at: `{path}`")]
    ApplyElsewhere {
        /// The session.
        id: String,
        /// A target.
        path: String,
    },
    /// Something in the place of a file of the engine that is not read or written through.
    #[error("`{path}` is not used: {problem}")]
    UnsafeFile {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A place for recordings that is the engine's own.
    #[error("recordings cannot be kept in `{path}`: sessions and changes are there")]
    RecordingPlace {
        /// The path.
        path: String,
    },
    /// A call outside of a session failed, and something of the reply is there.
    #[error("{error}\n  what arrived is kept in `{kept}`")]
    SendFailed {
        /// Why.
        error: AskError,
        /// Where what arrived is.
        kept: String,
    },
    /// No flow has that name.
    #[error("no flow is named `{name}`")]
    UnknownFlow {
        /// What was given.
        name: String,
        /// The flows there are.
        known: Vec<String>,
    },
    /// A flow file with problems.
    #[error("flow `{name}` cannot be followed{}", flow_problems(path, problems))]
    BrokenFlow {
        /// The flow.
        name: String,
        /// Its file.
        path: String,
        /// What is wrong with it.
        problems: Vec<FlowProblem>,
    },
    /// A name that no new flow can have.
    #[error("`{name}` cannot be the name of a new flow")]
    FlowName {
        /// What was given.
        name: String,
    },
    /// A new flow that is there already.
    #[error("flow `{name}` is there already: `{}`", path.display())]
    FlowExists {
        /// The flow.
        name: String,
        /// Its file.
        path: std::path::PathBuf,
    },
    /// A flow of profiles that was to be started without one.
    #[error("flow `{name}` needs a profile")]
    FlowNeedsProfile {
        /// The flow.
        name: String,
    },
    /// A gate that the flow does not have.
    #[error("`{pattern}` matches no gate of flow `{flow}`")]
    NoSuchGate {
        /// What was given.
        pattern: String,
        /// The flow.
        flow: String,
        /// Its phases.
        phases: Vec<String>,
    },
    /// A phase that the flow does not have.
    #[error("no phase is named `{phase}`")]
    UnknownPhase {
        /// What was given.
        phase: String,
    },
    /// A phase without a prompt.
    #[error("phase `{phase}` has no prompt")]
    NoPrompt {
        /// The phase.
        phase: Phase,
    },
    /// Approved files were changed.
    #[error("approved files were changed after their approval{}", lines(&files.iter().map(|file| file.path.clone()).collect::<Vec<_>>()))]
    Stale {
        /// The files.
        files: Vec<Difference>,
    },
    /// Files that nobody announced are in the way.
    #[error("files are in the way that no reply gave{}", lines(files))]
    UnknownFiles {
        /// The files.
        files: Vec<String>,
    },
    /// A reply cannot be used as it is.
    #[error("the reply has {} problem{}{}", problems.len(), if problems.len() == 1 { "" } else { "s" }, lines(problems))]
    ReplyProblems {
        /// The reply, relative to the project.
        path: String,
        /// What is wrong with it.
        problems: Vec<String>,
    },
    /// The gate is not the one that was decided on.
    #[error("the gate has changed since you looked: you decided on {seen}, and it is now {found}")]
    AnotherGate {
        /// The gate that was decided on.
        seen: String,
        /// The gate that is there.
        found: String,
    },
    /// What should be a hash is none.
    #[error("`{given}` is not the beginning of a SHA-256 hash")]
    NoHash {
        /// What was given.
        given: String,
    },
    /// A reply is awaited.
    #[error("there is no reply yet\n  expected: `{path}`")]
    NoReplyYet {
        /// Where it is expected.
        path: String,
    },
    /// The prompt is larger than it may be.
    #[error("the prompt has {needed} tokens but the budget is {budget}")]
    OverBudget {
        /// Its size.
        needed: Tokens,
        /// What it may have.
        budget: Tokens,
    },
    /// What a prompt must contain is larger than it may be.
    #[error(
        "required sections need {needed} tokens but {limit}\n  largest: `{largest}` ({largest_tokens} tokens)"
    )]
    RequiredTooLarge {
        /// What they need together.
        needed: Tokens,
        /// What there is room for, and who says so.
        limit: String,
        /// The largest of them.
        largest: String,
        /// Its size.
        largest_tokens: Tokens,
        /// What to do about it.
        hint: String,
    },
    /// A prompt that somebody edited would be lost.
    #[error("`{path}` was edited, so it cannot be built anew")]
    EditedPrompt {
        /// The prompt, relative to the project.
        path: String,
    },
    /// A reply without text.
    #[error("the reply is empty")]
    EmptyReply,
    /// A reply comes too early.
    #[error("no reply is awaited now")]
    NotAwaited {
        /// What to do next.
        next: Advice,
    },
    /// An approved file is gone.
    #[error("`{path}` is gone: the session needs it")]
    Missing {
        /// The file.
        path: String,
    },
    /// A file that no approval is bound to.
    #[error("no approved bytes are kept for `{path}`")]
    NothingApproved {
        /// The file.
        path: String,
    },
    /// What was given to a profile does not fit.
    #[error("profile `{profile}` cannot begin a session{}", lines(&problems.iter().map(ToString::to_string).collect::<Vec<_>>()))]
    Params {
        /// The profile.
        profile: String,
        /// Everything that is wrong.
        problems: Vec<ParamProblem>,
    },
    /// A profile that cannot be used.
    #[error("profile `{name}` cannot be used: {}", fault.message)]
    BrokenProfile {
        /// The profile.
        name: String,
        /// What is wrong with it.
        fault: ProfileFault,
    },
    /// A profile of that name is there.
    #[error("a profile `{name}` exists already ({origin})")]
    ProfileExists {
        /// The profile.
        name: String,
        /// Where it comes from.
        origin: &'static str,
    },
    /// There is no home to put it in.
    #[error("there is no home directory to keep profiles in")]
    NoHome,
    /// No profile has that name.
    #[error("unknown profile `{name}`")]
    UnknownProfile {
        /// What was asked for.
        name: String,
        /// The profiles there are.
        known: Vec<String>,
    },
    /// No provider has that name.
    #[error("unknown provider `{name}` for {place}")]
    UnknownProvider {
        /// What was asked for.
        name: String,
        /// The role or gate it was named for.
        place: String,
        /// The providers there are.
        known: Vec<String>,
    },
    /// A provider that is held to reading is to write.
    #[error("provider `{provider}` may only read here, and `{asked}` was asked for")]
    HeldToReading {
        /// The provider.
        provider: String,
        /// What was asked for.
        asked: &'static str,
    },
    /// A call that may cost more than may be spent.
    #[error("the call is not made: {message}")]
    OverLimit {
        /// What is spent, what the call might cost, and the limit.
        message: String,
    },
    /// A call that a person would have to answer.
    #[error("provider `{provider}` is a person and cannot reply here")]
    PersonCannotReply {
        /// The provider.
        provider: String,
    },
    /// A limit in money, and a model without a price.
    #[error("`max_cost` is set, but {} has no known price", priced(provider, model.as_deref()))]
    NoPrice {
        /// The provider.
        provider: String,
        /// The model, when one is set.
        model: Option<String>,
    },
    /// The provider gave no answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// Tools were asked for and there are none.
    #[error("there is no tool for `{phase}`{}", reasons(problems))]
    NoTools {
        /// The phase.
        phase: String,
        /// Why those that were granted cannot be used.
        problems: Vec<String>,
    },
    /// A tool or its server cannot be used.
    #[error(transparent)]
    Tools(#[from] ToolsError),
    /// The machine says no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Somebody else works on the session.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Something that came with the directory is not trusted.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A provider that the project's configuration defines, and nobody agreed to.
    #[error("provider `{name}` is defined by this project, and you have not agreed to it{}", indented(shown))]
    UntrustedProvider {
        /// The provider.
        name: String,
        /// Everything that decides what it starts or contacts.
        shown: String,
    },
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The profile is wrong.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The standards cannot be bundled.
    #[error(transparent)]
    Standards(#[from] StandardsError),
    /// The prompt could not be built, or a file not be read or written.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// What is asked about, each line below the message.
fn indented(text: &str) -> String {
    text.lines().skip(1).flat_map(|line| ["\n  ", line.trim_start()]).collect()
}

fn priced(provider: &str, model: Option<&str>) -> String {
    match model {
        Some(model) => format!("model `{model}` of provider `{provider}`"),
        None => format!("provider `{provider}`, which names no model,"),
    }
}

fn lines(items: &[String]) -> String {
    items.iter().fold(String::new(), |text, item| text + "\n  " + &item.replace('\n', "\n  "))
}

impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<PromptError> for SessionError {
    fn from(error: PromptError) -> Self {
        Self::Engine(error.into())
    }
}

impl SessionError {
    /// The same error with the session and the phase it happened in; the innermost place counts.
    pub(crate) fn in_phase(self, session_id: &str, phase: Phase) -> Self {
        if let Self::InPhase { .. } = self {
            return self;
        }
        Self::InPhase { session_id: session_id.to_owned(), phase, error: Box::new(self) }
    }

    /// The same error in the words of whoever set the limit; `--budget` is the limit of a command line only.
    pub(crate) fn with_limit(
        self,
        limit: impl FnOnce(Tokens) -> String,
        hint: impl FnOnce() -> String,
    ) -> Self {
        let Self::Engine(EngineError::Prompt(PromptError::RequiredSectionsTooLarge {
            needed,
            budget,
            largest,
            largest_tokens,
        })) = self
        else {
            return self;
        };
        Self::RequiredTooLarge { needed, limit: limit(budget), largest, largest_tokens, hint: hint() }
    }

    /// The error itself, without the session and the phase it happened in.
    #[must_use]
    pub fn without_location(self) -> Self {
        if let Self::InPhase { error, .. } = self { *error } else { self }
    }
}

/// The problems of a flow file, each with its line.
fn flow_problems(path: &str, problems: &[FlowProblem]) -> String {
    let line = |problem: &FlowProblem| match problem.line {
        Some(line) => format!("\n  {path}:{line}: {}", problem.message),
        None => format!("\n  {path}: {}", problem.message),
    };
    problems.iter().map(line).collect()
}

fn reasons(problems: &[String]) -> String {
    let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
    lines.concat()
}
