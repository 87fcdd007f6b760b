//! Error codes: what `--json` prints as `error.code`.
//!
//! Codes stay the same between versions and are listed in `docs/src/scripting.md`. Errors that a program handles alike
//! share a code; the message tells them apart.

use aiwf_package::{ExtractError, PackageError, SourceError};
use aiwf_prompt::PromptError;
use aiwf_provider::AskError;
use aiwf_session::Refusal;
use aiwf_store::{JournalError, LockError};
use aiwf_tools::ToolsError;

use crate::catalog::packages::PackageToolError;
use crate::error::EngineError;
use crate::run::event::{ABORTED, FaultKind, PRECONDITION_FAILED};
use crate::run::run_error::RunError;
use crate::session::session_error::SessionError;

impl RunError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRun { .. } | Self::AmbiguousRun { .. } | Self::Empty { .. } => "RUN_ID_INVALID",
            Self::NoWorkflow { .. } => "NOT_A_WORKFLOW",
            Self::Busy { .. } => "RUN_BUSY",
            Self::Cancelled { .. } => "RUN_CANCELLED",
            Self::Complete { .. } => "RUN_COMPLETE",
            Self::NothingSaid => "NO_INPUT",
            Self::PackageChanged { .. } => "PACKAGE_CHANGED",
            Self::PackageGone { .. } => "PACKAGE_NOT_FOUND",
            Self::PackageOutside { .. } => "PACKAGE_OUTSIDE",
            Self::StateChanged { .. } => "STATE_CHANGED",
            Self::StateLost { .. } => "STATE_FILE_NOT_FOUND",
            Self::NeverThere { .. } => "E_INVALID_TRANSITION",
            Self::NoProvider | Self::PersonCannotAnswer { .. } => PRECONDITION_FAILED,
            Self::Unsendable { fault } if fault.kind() == FaultKind::Precondition => PRECONDITION_FAILED,
            Self::Unsendable { .. } => "CONTEXT_STILL_TOO_LARGE",
            Self::StateInit(_) => "STATE_INIT_FAILED",
            Self::Rejected(rejected) => rejected.code.as_str(),
            Self::Package(error) => error.code(),
            Self::Extract(ExtractError::Names(_)) => "PACKAGE_REFUSED",
            Self::Extract(ExtractError::Store(_) | ExtractError::Lock(_)) | Self::Store(_) => {
                "FILE_UNWRITABLE"
            }
            Self::Prompt(error) => prompt_code(error),
            Self::Session(error) => error.code(),
        }
    }
}

impl SessionError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ask(error) | Self::SendFailed { error, .. } => ask_code(error),
            Self::UnknownProvider { .. } => "PROVIDER_UNKNOWN",
            Self::UnknownPhase { .. } | Self::NoSuchPhase { .. } => "PHASE_UNKNOWN",
            Self::UnknownFlow { .. } => "FLOW_UNKNOWN",
            Self::BrokenFlow { .. } => "FLOW_INVALID",
            Self::FlowName { .. } => "FLOW_NAME_INVALID",
            Self::FlowExists { .. } => "FLOW_EXISTS",
            Self::FlowNeedsProfile { .. } => "FLOW_NEEDS_PROFILE",
            Self::NoSuchGate { .. } => "GATE_UNKNOWN",
            Self::PersonCannotReply { .. } | Self::HeldToReading { .. } => PRECONDITION_FAILED,
            Self::OverLimit { .. } => "BUDGET_EXCEEDED",
            Self::NoPrice { .. } => "PRICE_UNKNOWN",
            Self::OverBudget { .. } | Self::RequiredTooLarge { .. } => "CONTEXT_STILL_TOO_LARGE",
            Self::Trust(error) => error.code(),
            Self::UntrustedProvider { .. } => "PROVIDER_UNTRUSTED",
            Self::Config(error) => error.code(),
            Self::Lock(LockError::Taken) => "RUN_BUSY",
            Self::Lock(LockError::Unusable { .. }) | Self::Journal(JournalError::Store(_)) => {
                "FILE_UNWRITABLE"
            }
            Self::Journal(
                JournalError::Changed { .. } | JournalError::Refused { .. } | JournalError::Short { .. },
            ) => "JOURNAL_CHANGED",
            Self::Journal(JournalError::TooNew { .. }) => "JOURNAL_TOO_NEW",
            Self::Journal(JournalError::Unreadable { .. }) | Self::UnsafeFile { .. } => "FILE_UNREADABLE",
            Self::Tools(error) => tools_code(error),
            Self::NoTools { .. } => "TOOL_NOT_AVAILABLE",
            Self::Engine(error) => error.code(),
            Self::RecordingPlace { .. } | Self::NoHash { .. } => "INPUT_INVALID",
            Self::InPhase { error, .. } => error.code(),
            Self::NoSession { .. } | Self::NoChange { .. } => "SESSION_NOT_FOUND",
            Self::OtherKind { .. } | Self::NotAChange { .. } => "SESSION_KIND",
            Self::NotEnded { .. } => "SESSION_OPEN",
            Self::AmbiguousSession { .. }
            | Self::SeveralOpenSessions { .. }
            | Self::SeveralStaleFiles { .. }
            | Self::SeveralEndedSessions { .. } => "SESSION_AMBIGUOUS",
            Self::NoOpenSession => "NO_OPEN_SESSION",
            Self::Cancelled { .. } => "SESSION_CANCELLED",
            Self::EmptySession { .. } => "SESSION_EMPTY",
            Self::ChangeExists { .. } => "SESSION_EXISTS",
            Self::ChangeName { .. } => "SESSION_NAME_INVALID",
            Self::NoRequest => "REQUEST_EMPTY",
            Self::NotLines { .. } | Self::NoSuchLines { .. } => "LINES_INVALID",
            Self::NoArtifact { .. }
            | Self::NotReopenable { .. }
            | Self::NoIteration { .. }
            | Self::NoVersion { .. }
            | Self::OutsideSession { .. } => "ARTIFACT_NOT_FOUND",
            Self::NothingToApply { .. } => "NOTHING_TO_APPLY",
            Self::Conflicts { .. } | Self::TargetChanged { .. } => "APPLY_CONFLICT",
            Self::ReservedTarget { .. } | Self::NoPlace { .. } | Self::LinkInTheWay { .. } => {
                "APPLY_TARGET_INVALID"
            }
            Self::ApplyElsewhere { .. } => "APPLY_INTERRUPTED",
            Self::NoPrompt { .. } => "NO_PROMPT",
            Self::EditedPrompt { .. } => "PROMPT_EDITED",
            Self::Stale { .. } | Self::Missing { .. } => "APPROVED_FILE_CHANGED",
            Self::UnknownFiles { .. } => "UNEXPECTED_FILES",
            Self::CheckStopped { .. } => "ENGINE_ABORTED",
            Self::NoCacheDirectory => "NO_CACHE_DIRECTORY",
            Self::Worktree(error) | Self::NotCommitted { error, .. } => worktree_code(error),
            Self::ChangedSinceApply { .. } => "CHANGED_SINCE_APPLY",
            Self::SelfRunningFiles { .. } => "SELF_RUNNING_FILES",
            Self::NothingApproved { .. } | Self::NoStaleFile => "NOTHING_APPROVED",
            Self::AnotherGate { .. } => "GATE_CHANGED",
            Self::NoReplyYet { .. } | Self::NoteWithoutReply => "REPLY_AWAITED",
            Self::NotAwaited { .. } => "REPLY_NOT_AWAITED",
            Self::EmptyReply | Self::ReplyProblems { .. } => "REPLY_INVALID",
            Self::OtherProfile { .. } => "PROFILE_MISMATCH",
            Self::Params { .. } => "PARAMS_INVALID",
            Self::BrokenProfile { .. } | Self::Profile(_) => "PROFILE_INVALID",
            Self::ProfileExists { .. } => "PROFILE_EXISTS",
            Self::UnknownProfile { .. } | Self::NoModel { .. } => "PROFILE_UNKNOWN",
            Self::Standards(_) => "STANDARDS_INVALID",
            Self::NoHome => "NO_HOME",
            Self::Refused(refusal) => refusal_code(refusal),
        }
    }
}

impl EngineError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Editor { .. } => "EDITOR_FAILED",
            Self::Unreadable { .. }
            | Self::NotUtf8 { .. }
            | Self::TooLarge { .. }
            | Self::LeavesDirectory { .. }
            | Self::OutsideProject { .. }
            | Self::BrokenLink { .. }
            | Self::NoDirectory { .. }
            | Self::NotADirectory { .. } => "FILE_UNREADABLE",
            Self::EmptyInput { .. }
            | Self::NotJson { .. }
            | Self::Document { .. }
            | Self::UnknownName { .. }
            | Self::TooSmall { .. }
            | Self::NotAPlainName { .. }
            | Self::BadPattern { .. }
            | Self::NothingMatches { .. }
            | Self::ContextTooLarge { .. }
            | Self::FilesTooLarge { .. } => "INPUT_INVALID",
            Self::Prompt(error) => prompt_code(error),
            Self::Store(_) => "FILE_UNWRITABLE",
        }
    }
}

impl PackageToolError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Select(error) => error.code(),
            Self::Package(PackageError::Source(SourceError::Unreadable { .. }))
            | Self::NotADirectory { .. } => "PACKAGE_NOT_FOUND",
            Self::Package(PackageError::Source(
                SourceError::Archive { .. } | SourceError::Directory { .. },
            ))
            | Self::Pack(_) => "PACKAGE_REFUSED",
            Self::Package(PackageError::Faulty { .. }) => "MANIFEST_INVALID",
            Self::Exists { .. } | Self::Name { .. } | Self::Plan(_) => "INPUT_INVALID",
            Self::Store(_) => "FILE_UNWRITABLE",
        }
    }
}

fn refusal_code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NotNow { .. } | Refusal::Verdict { .. } => "NOT_POSSIBLE_NOW",
        Refusal::OtherPhase { .. } => "OTHER_PHASE",
        Refusal::NoFeedback => "FEEDBACK_MISSING",
        Refusal::CapTooLow { .. } => "LIMIT_TOO_LOW",
        Refusal::WrongOutcome { .. } | Refusal::Markers { .. } => "REPLY_INVALID",
        Refusal::Settled { .. } => "PROMPT_APPROVED",
        Refusal::NotAtGate { .. } => "GATE_CHANGED",
        Refusal::NotBound { .. } | Refusal::NotApproved { .. } => "NOTHING_APPROVED",
        Refusal::Applied => "SESSION_APPLIED",
        Refusal::EmptyRemark | Refusal::LongRemark { .. } => "INPUT_INVALID",
        Refusal::TooManyComments { .. } => "LIMIT_REACHED",
        Refusal::NoComment { .. } => "COMMENT_NOT_FOUND",
        Refusal::CommentSettled { .. } => "COMMENT_SETTLED",
    }
}

/// The code for a tool or server that cannot be used.
pub fn tools_code(error: &ToolsError) -> &'static str {
    if matches!(error, ToolsError::Untrusted { .. }) {
        "SERVER_UNTRUSTED"
    } else if error.is_stopped() {
        ABORTED
    } else {
        "TOOL_NOT_AVAILABLE"
    }
}

fn prompt_code(error: &PromptError) -> &'static str {
    match error {
        PromptError::RequiredSectionsTooLarge { .. } => "CONTEXT_STILL_TOO_LARGE",
        PromptError::TemplateNotFound(_) | PromptError::Template(_) => "TEMPLATE_INVALID",
        PromptError::MissingField { .. }
        | PromptError::Contradiction { .. }
        | PromptError::UnknownComponent { .. }
        | PromptError::Component { .. } => "INPUT_INVALID",
    }
}

fn worktree_code(error: &aiwf_worktree::WorktreeError) -> &'static str {
    use aiwf_worktree::WorktreeError;

    match error {
        WorktreeError::NoGit | WorktreeError::NotARepository { .. } | WorktreeError::NoCommit => {
            "GIT_UNAVAILABLE"
        }
        WorktreeError::Stopped => "ENGINE_ABORTED",
        WorktreeError::BranchExists { .. }
        | WorktreeError::BadBranch { .. }
        | WorktreeError::BranchInUse { .. }
        | WorktreeError::BranchMoved { .. } => "BRANCH_UNUSABLE",
        WorktreeError::Uncommitted { .. } | WorktreeError::ChangedSince { .. } => "APPLY_CONFLICT",
        WorktreeError::NothingToCommit | WorktreeError::NoIdentity | WorktreeError::CommitRefused { .. } => {
            "COMMIT_REFUSED"
        }
        WorktreeError::Git { .. }
        | WorktreeError::TimedOut { .. }
        | WorktreeError::TooLarge { .. }
        | WorktreeError::Io { .. }
        | WorktreeError::BadPath { .. }
        | WorktreeError::Exists { .. }
        | WorktreeError::Damaged { .. } => "WORKTREE_FAILED",
    }
}

/// The code for a provider failure.
pub(crate) fn ask_code(error: &AskError) -> &'static str {
    match error {
        AskError::Stopped { .. } => ABORTED,
        AskError::NoKey { .. } | AskError::Status { status: 401 | 403, .. } => "LLM_AUTH_FAILED",
        AskError::LimitReached { .. } | AskError::Status { status: 429, .. } => "LLM_RATE_LIMITED",
        AskError::Status { .. } => "LLM_HTTP_ERROR",
        AskError::TimedOut { .. } => "LLM_TIMEOUT",
        AskError::Cut { .. }
        | AskError::Empty { .. }
        | AskError::Malformed { .. }
        | AskError::TooLarge { .. } => "LLM_BAD_RESPONSE",
        AskError::Setting { .. }
        | AskError::KeyWithheld { .. }
        | AskError::Unsendable { .. }
        | AskError::PromptTooLong { .. } => PRECONDITION_FAILED,
        AskError::NotRecorded { .. }
        | AskError::FileDiffers { .. }
        | AskError::Unreadable { .. }
        | AskError::NoProgram { .. }
        | AskError::Failed { .. }
        | AskError::Sink(_) => "LLM_ERROR",
    }
}
