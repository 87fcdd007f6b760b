//! Why prompts could not be compared, and what to do about it.

use aiwf_advice::Advice;

use crate::error::EngineError;
use crate::run::run_error::RunError;
use crate::session::session_error::SessionError;

/// Why prompts could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    #[error("`{given}` is neither a file nor a session")]
    NothingNamed { given: String },
    #[error("`{path}` is not a prompt: {problem}")]
    NotAPrompt { path: String, problem: String },
    #[error("the prompt in `{path}` has no text")]
    NoText { path: String },
    #[error("session `{id}` has no round `{round}`{}", rounds(known))]
    NoRound { id: String, round: String, known: Vec<String> },
    #[error("session `{id}` has {}, not call {number}", calls(*n_calls))]
    NoCall { id: String, number: usize, n_calls: usize },
    #[error("the journal does not say what `{name}` sent")]
    NotRecorded { name: String },
    #[error("`{name}` cannot be built again: {problem}")]
    NotRebuildable { name: String, problem: &'static str },
    #[error("`{revision}` names no commit")]
    NoRevision { revision: String },
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<EngineError> for DiffError {
    fn from(error: EngineError) -> Self {
        Self::Session(error.into())
    }
}

impl From<aiwf_worktree::WorktreeError> for DiffError {
    fn from(error: aiwf_worktree::WorktreeError) -> Self {
        Self::Session(error.into())
    }
}

fn rounds(known: &[String]) -> String {
    const MAX: usize = 6;
    if known.is_empty() {
        return "; it has no prompt yet".to_owned();
    }
    let shown: Vec<String> = known.iter().rev().take(MAX).rev().map(|round| format!("`{round}`")).collect();
    format!("; it has {}", shown.join(", "))
}

fn calls(n_calls: usize) -> String {
    if n_calls == 1 { "1 call".to_owned() } else { format!("{n_calls} calls") }
}

impl DiffError {
    /// A name for programs that stays the same between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NothingNamed { .. } => "PROMPT_NOT_FOUND",
            Self::NotAPrompt { .. } | Self::NoText { .. } => "PROMPT_INVALID",
            Self::NoRound { .. } | Self::NoCall { .. } => "ROUND_NOT_FOUND",
            Self::NotRecorded { .. } => "PROMPT_NOT_RECORDED",
            Self::NotRebuildable { .. } => "PROMPT_NOT_REBUILDABLE",
            Self::NoRevision { .. } => "REVISION_NOT_FOUND",
            Self::Session(error) => error.code(),
            Self::Run(error) => error.code(),
        }
    }

    /// One thing to do about it.
    pub fn advice(&self) -> Option<Advice> {
        Some(match self {
            Self::NothingNamed { .. } => "name a file made with `--json`, a session, or a round such as `ID:plan@1`".into(),
            Self::NotAPrompt { .. } => "make the file with `aiwf prompt build` and `--json`".into(),
            Self::NoText { .. } => "make the file without `--no-content`".into(),
            Self::NoRound { .. } => "name one of its rounds".into(),
            Self::NoCall { .. } => "`aiwf cache` lists the calls of a session".into(),
            Self::NotRecorded { .. } => "compare calls that this version of aiwf recorded".into(),
            Self::NotRebuildable { .. } => {
                "name a file made with `aiwf prompt build` and `--json`, or a session that waits with a prompt".into()
            }
            Self::NoRevision { .. } => "name a commit, a branch or a tag of this repository".into(),
            Self::Session(error) => return error.advice(),
            Self::Run(error) => return error.advice(),
        })
    }
}
