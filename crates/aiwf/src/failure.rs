//! Failures of commands, as people read them.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use aiwf_engine::advice::Advice;
use aiwf_engine::clipboard::ClipboardError;
use aiwf_engine::config::{ConfigError, GateFlagError};
use aiwf_engine::package::MenuError;
use aiwf_engine::profile::NoComponent;
use aiwf_engine::provider::AskError;
use aiwf_engine::tool::ToolsError;
use aiwf_engine::{
    CheckError, DiffError, EngineError, ImportError, IntegrateError, PackageToolError, RunError,
    SessionError, TestError, TrustError, WorktreeError, tools_code,
};
use aiwf_mcp::{AddressError, ServeError, TokenError};
use aiwf_web::PageError;
use serde_json::{Value, json};

use crate::advice_words;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::usage_error::UsageError;

/// The code of a command line that makes no sense.
const USAGE: &str = "USAGE";

/// An error with its causes, one thing to do, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// Whether to print session and phase, which are not obvious from the command.
    pub(crate) shows_place: bool,
    pub(crate) causes: Vec<String>,
    pub(crate) advice: Option<Box<Advice>>,
    pub(crate) exit: Exit,
    pub(crate) is_about: About,
    /// A name for programs that stays the same between versions.
    pub(crate) code: Box<str>,
    /// Additional fields for the JSON error.
    pub(crate) fields: BTreeMap<&'static str, Value>,
}

/// Where a failure can be reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The request: anywhere.
    Request,
    /// The standard output: not there.
    Printing,
    /// The reader of the output closed the pipe, so there is no one to report to.
    ReaderGone,
}

impl Failure {
    fn from_error(error: &dyn Error, code: &str, advice: Option<Advice>, exit: Exit) -> Self {
        let mut causes = Vec::new();
        let mut source = error.source();
        while let Some(cause) = source {
            let said = plain(cause);
            // Some libraries repeat the message of their cause.
            if causes.last() != Some(&said) {
                causes.push(said);
            }
            source = cause.source();
        }
        Self {
            message: error.to_string(),
            shows_place: false,
            causes,
            advice: advice.map(Box::new),
            exit,
            is_about: About::Request,
            code: code.into(),
            fields: BTreeMap::new(),
        }
    }

    /// An error with a message and a hint only.
    fn with_hint(error: &dyn Error, code: &str, advice: impl Into<Advice>, exit: Exit) -> Self {
        Self::from_error(error, code, Some(advice.into()), exit)
    }

    /// A problem with one of several servers.
    pub(crate) fn of_tools(error: &ToolsError) -> Self {
        Self::with_hint(error, tools_code(error), error.hint(), Exit::Refused)
    }

    pub(crate) fn exiting(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// Something that cannot happen did.
    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            shows_place: false,
            causes: Vec::new(),
            advice: Some(Box::new("this is a bug in aiwf: report it with the command you ran".into())),
            exit: Exit::Bug,
            is_about: About::Request,
            code: "E_INTERNAL".into(),
            fields: BTreeMap::new(),
        }
    }
}

impl Failure {
    /// One thing to do, in commands.
    pub(crate) fn hint(&self) -> Option<String> {
        self.advice.as_deref().map(advice_words::hint)
    }

    /// Where it happened, when that is not plain from the command.
    pub(crate) fn place(&self) -> Option<String> {
        let field = |name| self.fields.get(name).filter(|_| self.shows_place).and_then(Value::as_str);
        Some(format!("session `{}`, phase `{}`", field("session_id")?, field("phase")?))
    }
}

/// A cause without the system's error number.
fn plain(error: &(dyn Error + 'static)) -> String {
    let text = error.to_string();
    let text = match text.find(" (os error ") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    };
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => text,
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::with_hint(&error, USAGE, error.hint(), Exit::Usage)
    }
}

impl From<GateFlagError> for Failure {
    fn from(error: GateFlagError) -> Self {
        Self::with_hint(&error, USAGE, error.hint(), Exit::Usage)
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        let is_about = if let CommandError::Unprintable(error) = &error {
            let is_reader_gone = error.kind() == io::ErrorKind::BrokenPipe;
            if is_reader_gone { About::ReaderGone } else { About::Printing }
        } else {
            About::Request
        };
        let exit = if is_about == About::Printing { Exit::Unwritten } else { Exit::Refused };
        Self { is_about, ..Self::with_hint(&error, error.code(), error.hint(), exit) }
    }
}

impl From<MenuError> for Failure {
    fn from(error: MenuError) -> Self {
        Self::with_hint(&error, error.code(), error.hint(), Exit::Refused)
    }
}

impl From<NoComponent> for Failure {
    fn from(error: NoComponent) -> Self {
        Self::with_hint(&error, "COMPONENT_NOT_FOUND", error.hint(), Exit::Refused)
    }
}

impl From<AddressError> for Failure {
    fn from(error: AddressError) -> Self {
        Self::with_hint(&error, error.code(), error.hint(), Exit::Refused)
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        Self::with_hint(&error, error.code(), error.hint(), Exit::Refused)
    }
}

impl From<PageError> for Failure {
    fn from(error: PageError) -> Self {
        Self::with_hint(&error, error.code(), error.hint(), Exit::Refused)
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        Self::with_hint(&error, error.code(), error.hint(), Exit::Refused)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::from_error(&error, error.code(), error.advice(), Exit::Refused)
    }
}

impl From<PackageToolError> for Failure {
    fn from(error: PackageToolError) -> Self {
        Self::with_hint(&error, error.code(), error.advice(), Exit::Refused)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::with_hint(&error, error.code(), error.hint(), Exit::Refused)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        if let SessionError::InPhase { session_id, phase, error } = error {
            let mut failure = Self::from(*error);
            failure.advice = failure.advice.map(|advice| Box::new(advice.about_session(&session_id)));
            failure.shows_place = true;
            failure.fields.insert("session_id", Value::from(session_id));
            failure.fields.insert("phase", Value::from(phase.as_str()));
            return failure;
        }
        let exit = if let SessionError::NoReplyYet { .. } = error {
            Exit::Waiting
        } else if let SessionError::Ask(error) | SessionError::SendFailed { error, .. } = &error {
            of_call(error)
        } else if matches!(&error, SessionError::Tools(error) if error.is_stopped()) {
            Exit::Interrupted
        } else if let SessionError::Worktree(WorktreeError::Stopped) = error {
            Exit::Interrupted
        } else {
            Exit::Refused
        };
        let mut failure = Self::from_error(&error, error.code(), error.advice(), exit);
        if let SessionError::Tools(ToolsError::Untrusted { name, shown_command }) = &error {
            failure.fields.insert("untrusted", json!({ "server": name, "command": shown_command }));
        }
        if let SessionError::Conflicts { report, .. } = &error {
            let conflicts: Vec<_> = report.conflicts().collect();
            failure.fields.insert("conflicts", json!(conflicts));
            if !report.outdated.is_empty() {
                failure.fields.insert("outdated", json!(report.outdated));
            }
        }
        failure
    }
}

impl From<DiffError> for Failure {
    fn from(error: DiffError) -> Self {
        if let DiffError::Session(error) = error {
            return error.into();
        }
        if let DiffError::Run(error) = error {
            return error.into();
        }
        Self::from_error(&error, error.code(), error.advice(), Exit::Refused)
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::with_hint(&error, error.code(), error.advice(), Exit::Refused)
    }
}

impl From<IntegrateError> for Failure {
    fn from(error: IntegrateError) -> Self {
        Self::with_hint(&error, error.code(), error.advice(), Exit::Refused)
    }
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Self {
        let mut failure = Self::with_hint(&error, error.code(), error.advice(), Exit::Refused);
        if let CheckError::NotAgreed { names } = &error {
            failure.fields.insert("not_agreed", json!(names));
        }
        failure
    }
}

impl From<TestError> for Failure {
    fn from(error: TestError) -> Self {
        if let TestError::Session(error) = error {
            return Self::from(error);
        }
        Self::from_error(&error, error.code(), error.advice(), Exit::Refused)
    }
}

impl From<ClipboardError> for Failure {
    fn from(error: ClipboardError) -> Self {
        Self::with_hint(&error, error.code(), error.hint(), Exit::Refused)
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        SessionError::from(error).into()
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        if let RunError::Session(error) = error {
            return Self::from(error);
        }
        Self::from_error(&error, error.code(), error.advice(), Exit::Refused)
    }
}

/// A request that cannot be sent is the user's error; a failed call is the provider's.
fn of_call(error: &AskError) -> Exit {
    match error {
        AskError::Stopped { .. } => Exit::Interrupted,
        AskError::Setting { .. }
        | AskError::KeyWithheld { .. }
        | AskError::Unsendable { .. }
        | AskError::PromptTooLong { .. } => Exit::Refused,
        AskError::NotRecorded { .. }
        | AskError::FileDiffers { .. }
        | AskError::Unreadable { .. }
        | AskError::NoProgram { .. }
        | AskError::NoKey { .. }
        | AskError::Failed { .. }
        | AskError::LimitReached { .. }
        | AskError::Status { .. }
        | AskError::Cut { .. }
        | AskError::Empty { .. }
        | AskError::Malformed { .. }
        | AskError::TimedOut { .. }
        | AskError::TooLarge { .. }
        | AskError::Sink(_) => Exit::ProviderFailed,
    }
}

#[cfg(test)]
#[path = "failure_samples.rs"]
mod samples;
#[cfg(test)]
#[path = "failure_tests.rs"]
pub(crate) mod tests;
