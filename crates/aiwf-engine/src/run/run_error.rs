//! Errors of runs.

use aiwf_advice::{Action, Advice};
use aiwf_package::{ExtractError, Rejected, SelectError};
use aiwf_prompt::PromptError;
use aiwf_store::{JournalError, LockError, StoreError};

use crate::catalog::packages::PackageToolError;
use crate::run::Fault;
use crate::session::session_error::SessionError;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("no run `{given}`")]
    NoRun { given: String },
    /// The id prefix is not unique.
    #[error("`{given}` matches {} runs{}", matching.len(), lines(matching))]
    AmbiguousRun { given: String, matching: Vec<String> },
    /// The command is for workflows only.
    #[error("`{run_id}` is a conversation, not a run of a workflow")]
    NoWorkflow { run_id: String },
    /// Another process has the lock.
    #[error("another aiwf process is working on run `{run_id}`")]
    Busy { run_id: String },
    #[error("run `{run_id}` is cancelled")]
    Cancelled { run_id: String },
    /// Complete, and no message was given.
    #[error("run `{run_id}` is complete")]
    Complete { run_id: String },
    #[error("the message is empty")]
    NothingSaid,
    #[error(
        "the package of run `{run_id}` has changed since the run began\n  package: `{path}`\n  it was:  {was}\n  it is:   {is}"
    )]
    PackageChanged {
        run_id: String,
        path: String,
        /// Its hash when the run started.
        was: String,
        is: String,
    },
    #[error("the package of run `{run_id}` cannot be read")]
    PackageGone {
        run_id: String,
        #[source]
        source: Box<PackageToolError>,
    },
    /// A foreign run names a package outside the project.
    #[error("the package `{path}` of run `{run_id}` is outside the project, and the run is not yours")]
    PackageOutside { run_id: String, path: String },
    #[error("the state file of run `{run_id}` does not match its journal\n  file:    `{path}`\n  it is:   {found}\n  journal: {}", expected.join(" or "))]
    StateChanged {
        run_id: String,
        path: String,
        /// Its hash, or what is there instead.
        found: String,
        expected: Vec<String>,
    },
    /// The state file cannot be restored.
    #[error("the last known state of run `{run_id}` is no longer stored")]
    StateLost { run_id: String },
    /// Its journal has no first event.
    #[error("run `{run_id}` has no events")]
    Empty { run_id: String },
    /// The run never visited the node.
    #[error("run `{run_id}` never reached `{node}`; it reached {}", listed(reached))]
    NeverThere { run_id: String, node: String, reached: Vec<String> },
    /// The next request cannot be sent.
    #[error("{}", fault.message)]
    Unsendable { fault: Fault },
    #[error("no provider is set for this run")]
    NoProvider,
    #[error("provider `{provider}` cannot be used for a run: it needs a person to reply")]
    PersonCannotAnswer { provider: String },
    /// The package's initial state is not a valid state file.
    #[error("the run cannot start")]
    StateInit(#[source] Rejected),
    /// The change of the state is not valid.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    Package(#[from] PackageToolError),
    #[error(transparent)]
    Extract(#[from] ExtractError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Errors that runs share with sessions.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl From<SelectError> for RunError {
    fn from(error: SelectError) -> Self {
        PackageToolError::from(error).into()
    }
}

impl From<JournalError> for RunError {
    fn from(error: JournalError) -> Self {
        SessionError::from(error).into()
    }
}

impl From<LockError> for RunError {
    fn from(error: LockError) -> Self {
        SessionError::from(error).into()
    }
}

impl RunError {
    pub fn advice(&self) -> Option<Advice> {
        let advice = match self {
            Self::NoRun { .. } => Advice::from(Action::ListRuns).then(" lists runs and conversations"),
            Self::AmbiguousRun { .. } => "give more of the id".into(),
            Self::NoWorkflow { run_id } => {
                Advice::from(Action::Show(None)).then(" shows the conversation").about_session(run_id)
            }
            Self::Busy { .. } => "wait until it is done, then try again; nothing was changed".into(),
            Self::Cancelled { run_id } => Advice::from(Action::Fork)
                .then(" continues from one of its nodes in a new run")
                .about_session(run_id),
            Self::Complete { run_id } => {
                Advice::from(Action::Say).then(" continues the conversation").about_session(run_id)
            }
            Self::NothingSaid => "pass the message as an argument, or `-` to read it from stdin".into(),
            Self::PackageChanged { run_id, .. } => {
                Advice::from("restore the package as it was, or start a new run; ")
                    .then(Action::Show(None))
                    .then(" has all of this one")
                    .about_session(run_id)
            }
            Self::PackageGone { .. } => "restore the package where it was when the run started".into(),
            Self::PackageOutside { run_id, .. } => Advice::from(Action::Adopt)
                .then(" shows what you would trust the run with")
                .about_session(run_id),
            Self::StateChanged { run_id, .. } => {
                Advice::from("restore the file, or return to a recorded state with ")
                    .then(Action::Rewind)
                    .about_session(run_id)
            }
            Self::StateLost { .. } => {
                "start a new run; the conversation is in the journal of this one".into()
            }
            Self::Empty { .. } => {
                Advice::from("restore its `journal.jsonl` from a backup; without one, start again with ")
                    .then(Action::StartRun)
            }
            Self::NeverThere { .. } => "name one of those nodes".into(),
            Self::Unsendable { fault } => return fault.hint.clone().map(Advice::from),
            Self::NoProvider => {
                Advice::from("name one with `--provider`, or set `provider` under `[workflow]`; ")
                    .then(Action::ListProviders)
                    .then(" lists them")
            }
            Self::PersonCannotAnswer { .. } => Advice::from("choose another with `--provider`; ")
                .then(Action::ListProviders)
                .then(" lists them"),
            Self::StateInit(_) => {
                Advice::from(Action::CheckPackage).then(" shows what is wrong with the package")
            }
            Self::Rejected(_) => Advice::from(Action::Status).then(" shows which nodes the run visited"),
            Self::Package(error) => error.advice(),
            Self::Extract(error) => error.hint().into(),
            Self::Prompt(error) => return error.hint().map(Advice::from),
            Self::Store(error) => error.hint().into(),
            Self::Session(error) => return error.advice(),
        };
        Some(advice)
    }
}

fn lines(names: &[String]) -> String {
    names.iter().fold(String::new(), |lines, name| lines + "\n  " + name)
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
