//! What can go wrong with a run, and what to do about it.

use aiwf_advice::{Action, Advice};
use aiwf_package::{ExtractError, Rejected, SelectError};
use aiwf_prompt::PromptError;
use aiwf_store::{JournalError, LockError, StoreError};

use crate::catalog::packages::PackageToolError;
use crate::run::Fault;
use crate::session::session_error::SessionError;

/// Why something could not be done with a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No run has that name.
    #[error("no run `{given}`")]
    NoRun {
        /// What was asked for.
        given: String,
    },
    /// Several runs begin like that.
    #[error("`{given}` matches {} runs{}", matching.len(), lines(matching))]
    AmbiguousRun {
        /// What was asked for.
        given: String,
        /// The runs.
        matching: Vec<String>,
    },
    /// It is a conversation, and the command is for workflows.
    #[error("`{run_id}` is a conversation, not a run of a workflow")]
    NoWorkflow {
        /// The conversation.
        run_id: String,
    },
    /// Another process works on it.
    #[error("another aiwf is working on run `{run_id}`")]
    Busy {
        /// The run.
        run_id: String,
    },
    /// It was ended for good.
    #[error("run `{run_id}` is cancelled")]
    Cancelled {
        /// The run.
        run_id: String,
    },
    /// It is complete, and there is nothing to say.
    #[error("run `{run_id}` is complete")]
    Complete {
        /// The run.
        run_id: String,
    },
    /// Nothing was said.
    #[error("there is nothing to say: the text is empty")]
    NothingSaid,
    /// Its package is not what it was.
    #[error(
        "the package of run `{run_id}` has changed since the run began\n  package: `{path}`\n  it was:  {was}\n  it is:   {is}"
    )]
    PackageChanged {
        /// The run.
        run_id: String,
        /// Where it is.
        path: String,
        /// Its hash when the run began.
        was: String,
        /// Its hash now.
        is: String,
    },
    /// Its package cannot be read any more.
    #[error("the package of run `{run_id}` cannot be read")]
    PackageGone {
        /// The run.
        run_id: String,
        /// Why.
        #[source]
        source: Box<PackageToolError>,
    },
    /// A run that is not the user's names a package elsewhere.
    #[error("the package `{path}` of run `{run_id}` is outside the project, and the run is not yours")]
    PackageOutside {
        /// The run.
        run_id: String,
        /// Where the package is.
        path: String,
    },
    /// Its state file is not what the journal says.
    #[error("the state file of run `{run_id}` is not what its journal says\n  file:    `{path}`\n  it is:   {found}\n  journal: {}", expected.join(" or "))]
    StateChanged {
        /// The run.
        run_id: String,
        /// The file.
        path: String,
        /// Its hash, or what is there instead.
        found: String,
        /// The hashes it may have.
        expected: Vec<String>,
    },
    /// Its state file cannot be brought back.
    #[error("the last known state of run `{run_id}` is not kept any more")]
    StateLost {
        /// The run.
        run_id: String,
    },
    /// Its journal has no beginning.
    #[error("run `{run_id}` has no events")]
    Empty {
        /// The run.
        run_id: String,
    },
    /// The run was never at that node.
    #[error("run `{run_id}` has not been at `{node}`: it has been at {}", listed(reached))]
    NeverThere {
        /// The run.
        run_id: String,
        /// The node.
        node: String,
        /// Where it has been.
        reached: Vec<String>,
    },
    /// The next request may not be sent.
    #[error("{}", fault.message)]
    Unsendable {
        /// Why.
        fault: Fault,
    },
    /// Nobody is named who answers.
    #[error("no provider is named for this run")]
    NoProvider,
    /// A person cannot answer a run.
    #[error("provider `{provider}` cannot answer a run: a person would have to")]
    PersonCannotAnswer {
        /// The provider.
        provider: String,
    },
    /// The workflow's document cannot be a state file.
    #[error("the run cannot begin")]
    StateInit(#[source] Rejected),
    /// A change of the state is not taken.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The package cannot be used.
    #[error(transparent)]
    Package(#[from] PackageToolError),
    /// The package cannot be unpacked.
    #[error(transparent)]
    Extract(#[from] ExtractError),
    /// The prompt cannot be composed.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// A file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Everything that sessions and runs have in common.
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
    /// One thing to do about it.
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
            Self::NothingSaid => "give the text as an argument, or `-` to read it from stdin".into(),
            Self::PackageChanged { run_id, .. } => {
                Advice::from("restore the package as it was, or start a new run; ")
                    .then(Action::Show(None))
                    .then(" has all of this one")
                    .about_session(run_id)
            }
            Self::PackageGone { .. } => "restore the package where it was when the run started".into(),
            Self::PackageOutside { run_id, .. } => Advice::from(Action::Adopt)
                .then(" shows what the run would be trusted with")
                .about_session(run_id),
            Self::StateChanged { run_id, .. } => {
                Advice::from("restore the file, or take the last state of the journal with ")
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
                Advice::from(Action::CheckPackage).then(" says what is wrong with the package")
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
