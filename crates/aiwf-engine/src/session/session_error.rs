//! Errors of sessions.

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

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("no session `{given}`")]
    NoSession { given: String },
    #[error("`{given}` matches {} sessions{}", matching.len(), lines(matching))]
    AmbiguousSession { given: String, matching: Vec<String> },
    #[error("`{given}` is a {kind}")]
    OtherKind { given: String, id: String, kind: LedgerKind },
    #[error("{} `{id}` has not ended: it is {status}", if *kind == LedgerKind::Run { "run" } else { "session" })]
    NotEnded { id: String, kind: LedgerKind, status: SessionStatus },
    #[error("session `{id}` follows the flow `{flow}`, not `change`")]
    NotAChange { id: String, flow: String },
    #[error("{} approved files have changed: name one{}", files.len(), lines(files))]
    SeveralStaleFiles {
        /// Session and path of each.
        files: Vec<String>,
    },
    #[error("no approved file has changed since its approval")]
    NoStaleFile,
    #[error("no session is open")]
    NoOpenSession,
    #[error("{} sessions are open: name one{}", open.len(), lines(open))]
    SeveralOpenSessions { open: Vec<String> },
    #[error("{} sessions have ended: name one{}", ended.len(), lines(ended))]
    SeveralEndedSessions { ended: Vec<String> },
    #[error("session `{id}` was cancelled")]
    Cancelled { id: String },
    #[error("the flow `{flow}` has no phase `{phase}`")]
    NoSuchPhase { phase: String, flow: String, known: Vec<String> },
    #[error("check `{name}` was interrupted")]
    CheckStopped { name: String },
    #[error("files have changed since they were applied{}", lines(files))]
    ChangedSinceApply {
        /// Relative to the project.
        files: Vec<String>,
    },
    #[error("{} automatically", run_by_tools(report.files.iter().filter(|file| file.run_by.is_some()).count()))]
    SelfRunningFiles { report: Box<ApplyReport> },
    #[error("there is no cache directory for a worktree")]
    NoCacheDirectory,
    #[error(transparent)]
    Worktree(#[from] aiwf_worktree::WorktreeError),
    #[error("{error}\n  session `{session_id}`, phase `{phase}`")]
    InPhase { session_id: String, phase: Phase, error: Box<Self> },
    #[error("no change `{given}`")]
    NoChange { given: String, known: Vec<String> },
    #[error("an open session named `{name}` already exists")]
    ChangeExists { name: String },
    #[error("`{}` is not a valid session name: {why}", name.escape_debug())]
    ChangeName { name: String, why: &'static str },
    #[error("the request is empty")]
    NoRequest,
    #[error("session `{id}` has no files to apply")]
    NothingToApply {
        id: String,
        /// Whether an agent edited the project directly.
        is_edited: bool,
    },
    #[error("session `{id}` has no events")]
    EmptySession { id: String },
    #[error("session `{id}` uses profile `{found}`, not `{wanted}`")]
    OtherProfile { id: String, found: String, wanted: String },
    #[error("session `{id}` has no `{artifact}` yet")]
    NoArtifact { id: String, artifact: String, known: Vec<String> },
    #[error("session `{id}` has no code of iteration {iteration}")]
    NoIteration { id: String, iteration: u32, known: Vec<u32> },
    #[error("session `{id}` has no version {version} of `{artifact}`")]
    NoVersion { artifact: String, id: String, version: u32, known: Vec<u32> },
    #[error("`{given}` is not a line or a range of lines")]
    NotLines { given: String },
    #[error("`{on}` has no {} {lines}: it has {n_lines} {}", if lines.contains('-') { "lines" } else { "line" }, if *n_lines == 1 { "line" } else { "lines" })]
    NoSuchLines {
        id: String,
        on: String,
        lines: String,
        n_lines: usize,
        /// What prints the same bytes; `None` if nothing does.
        shown: Option<String>,
    },
    #[error("`{artifact}` of session `{id}` cannot be reopened")]
    NotReopenable {
        id: String,
        artifact: String,
        /// The artifacts that can be reopened now.
        known: Vec<String>,
    },
    #[error("a note goes with a reply, and no reply is waiting for approval")]
    NoteWithoutReply,
    #[error("an artifact must be a path inside the session, not `{path}`")]
    OutsideSession { path: String },
    #[error("project files would be overwritten{}", lines(&report.conflicts().map(|file| file.target.clone()).collect::<Vec<_>>()))]
    Conflicts {
        /// The planned changes with their diffs; nothing was written.
        report: Box<ApplyReport>,
        /// Whether both changes of a file could be merged, which was not tried.
        is_mergeable: bool,
    },
    /// The result is complete, but cannot be committed as the repository is.
    #[error("{error}")]
    NotCommitted {
        error: aiwf_worktree::WorktreeError,
        /// Whether the files are in the working tree already.
        is_written: bool,
        /// The flag to repeat, unless the session itself says where its result goes.
        flag: Option<&'static str>,
    },
    #[error("generated files have no target directory in the project{}", lines(problems))]
    NoPlace { problems: Vec<String> },
    #[error("`{path}` leads outside the target directory")]
    LinkInTheWay { path: String },
    #[error("code cannot be copied to `{path}`: only git and aiwf write in `.git` and `.aiwf`")]
    ReservedTarget { path: String },
    #[error("`{path}` was changed while the code was being copied; the files copied before it were restored")]
    TargetChanged { path: String },
    #[error("copying `{id}` to a directory outside the project was interrupted\n  at: `{path}`")]
    ApplyElsewhere { id: String, path: String },
    #[error("`{path}` is not used: {problem}")]
    UnsafeFile { path: String, problem: String },
    #[error("recordings cannot be stored in `{path}`: it contains sessions")]
    RecordingPlace { path: String },
    #[error("{error}\n  the partial reply is in `{kept}`")]
    SendFailed { error: AskError, kept: String },
    #[error("no flow is named `{name}`")]
    UnknownFlow { name: String, known: Vec<String> },
    #[error("flow `{name}` has problems{}", flow_problems(path, problems))]
    BrokenFlow { name: String, path: String, problems: Vec<FlowProblem> },
    #[error("`{name}` is not a valid name for a new flow")]
    FlowName { name: String },
    #[error("flow `{name}` already exists: `{}`", path.display())]
    FlowExists { name: String, path: std::path::PathBuf },
    #[error("flow `{name}` needs a profile")]
    FlowNeedsProfile { name: String },
    #[error("`{pattern}` matches no gate of flow `{flow}`")]
    NoSuchGate { pattern: String, flow: String, phases: Vec<String> },
    #[error("no phase is named `{phase}`")]
    UnknownPhase { phase: String },
    #[error("phase `{phase}` has no prompt")]
    NoPrompt { phase: Phase },
    #[error("approved files were changed after their approval{}", lines(&files.iter().map(|file| file.path.clone()).collect::<Vec<_>>()))]
    Stale { files: Vec<Difference> },
    #[error("unexpected files in the code directory{}", lines(files))]
    UnknownFiles { files: Vec<String> },
    #[error("the reply has {} problem{}{}", problems.len(), if problems.len() == 1 { "" } else { "s" }, lines(problems))]
    ReplyProblems {
        /// Relative to the project.
        path: String,
        problems: Vec<String>,
        /// Whether an agent changed files, so editing the text of its reply fixes nothing.
        is_agents: bool,
    },
    #[error("the gate has changed since you looked: you decided on {seen}, and it is now {found}")]
    AnotherGate { seen: String, found: String },
    #[error("`{given}` is not the beginning of a SHA-256 hash")]
    NoHash { given: String },
    #[error("there is no reply yet\n  expected: `{path}`")]
    NoReplyYet { path: String },
    #[error("the prompt has {needed} tokens but the budget is {budget}")]
    OverBudget { needed: Tokens, budget: Tokens },
    #[error(
        "required sections need {needed} tokens but {limit}\n  largest: `{largest}` ({largest_tokens} tokens)"
    )]
    RequiredTooLarge {
        needed: Tokens,
        /// The limit in words, with where it is set.
        limit: String,
        largest: String,
        largest_tokens: Tokens,
        hint: String,
    },
    #[error("`{path}` was edited, so it cannot be rebuilt")]
    EditedPrompt {
        /// Relative to the project.
        path: String,
    },
    #[error("the reply is empty")]
    EmptyReply,
    #[error("no reply is expected now")]
    NotAwaited { next: Advice },
    #[error("`{path}` is missing, and the session needs it")]
    Missing { path: String },
    #[error("no approved bytes are stored for `{path}`")]
    NothingApproved { path: String },
    #[error("profile `{profile}` cannot start a session{}", lines(&problems.iter().map(ToString::to_string).collect::<Vec<_>>()))]
    Params { profile: String, problems: Vec<ParamProblem> },
    #[error("profile `{name}` cannot be used: {}", fault.message)]
    BrokenProfile { name: String, fault: ProfileFault },
    #[error("profile `{name}` already exists ({origin})")]
    ProfileExists { name: String, origin: &'static str },
    #[error("a profile cannot be made from `{name}`")]
    NoModel {
        name: String,
        /// The flow and the profiles that it can be made from.
        known: Vec<String>,
    },
    #[error("there is no home directory to store profiles in")]
    NoHome,
    #[error("unknown profile `{name}`")]
    UnknownProfile { name: String, known: Vec<String> },
    #[error("unknown provider `{name}` for {place}")]
    UnknownProvider {
        name: String,
        /// The role or gate that names it.
        place: String,
        known: Vec<String>,
    },
    #[error("provider `{provider}` may only read here, but `{asked}` was requested")]
    HeldToReading { provider: String, asked: &'static str },
    #[error("the call was not made: {message}")]
    OverLimit {
        /// Spent so far, estimated cost of the call, and the limit.
        message: String,
    },
    #[error("provider `{provider}` needs a person and cannot reply here")]
    PersonCannotReply { provider: String },
    #[error("`max_cost` is set, but {} has no known price", priced(provider, model.as_deref()))]
    NoPrice { provider: String, model: Option<String> },
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("no tools are available for `{phase}`{}", reasons(problems))]
    NoTools {
        phase: String,
        /// Why the granted tools cannot be used.
        problems: Vec<String>,
    },
    #[error(transparent)]
    Tools(#[from] ToolsError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Trust(#[from] TrustError),
    #[error("provider `{name}` is defined by this project, and you have not agreed to it{}", indented(shown))]
    UntrustedProvider {
        name: String,
        /// Everything that decides which program it starts or which server it contacts.
        shown: String,
    },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Standards(#[from] StandardsError),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Indents each line, to print it below a message.
fn indented(text: &str) -> String {
    text.lines().skip(1).flat_map(|line| ["\n  ", line.trim_start()]).collect()
}

fn run_by_tools(n_files: usize) -> String {
    if n_files == 1 {
        "tools run 1 of these files".to_owned()
    } else {
        format!("tools run {n_files} of these files")
    }
}

fn priced(provider: &str, model: Option<&str>) -> String {
    match model {
        Some(model) => format!("model `{model}` of provider `{provider}`"),
        None => format!("provider `{provider}`, which sets no model,"),
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
    /// Adds the session and phase where it happened, unless it already has them.
    pub(crate) fn in_phase(self, session_id: &str, phase: Phase) -> Self {
        if let Self::InPhase { .. } = self {
            return self;
        }
        Self::InPhase { session_id: session_id.to_owned(), phase, error: Box::new(self) }
    }

    /// Names who set the limit; `--budget` belongs to the command line only.
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

    /// Removes the session and phase.
    #[must_use]
    pub(crate) fn without_location(self) -> Self {
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
