//! Why a tool could not be run, and what to do about it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_store::{LockError, StoreError, UserFileError};

/// Why a server or a tool cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    /// A `.mcp.json` that cannot be read.
    #[error("`{}` is wrong: {message}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the key.
        message: String,
    },
    /// A server's settings make no sense.
    #[error("server `{server}` cannot be used: {message}")]
    BadServer {
        /// The server.
        server: String,
        /// What is wrong.
        message: String,
    },
    /// A variable that a server's settings name is not set.
    #[error("server `{server}` needs the variable `{variable}`, which is not set")]
    NoVariable {
        /// The server.
        server: String,
        /// The variable.
        variable: String,
        /// The setting that names it, such as `env.TOKEN`.
        setting: String,
    },
    /// No server has that name.
    #[error("there is no tool server `{server}`")]
    UnknownServer {
        /// The name.
        server: String,
        /// The servers there are.
        known: Vec<String>,
    },
    /// No tool has that name.
    #[error("there is no tool `{tool}`")]
    UnknownTool {
        /// The full name.
        tool: String,
        /// The one that was meant, if one is near.
        near: Option<String>,
        /// The tools of that server, or of all.
        known: Vec<String>,
    },
    /// Nobody agreed to start the server.
    #[error("server `{name}` is not trusted yet\n  it would start: {shown_command}")]
    Untrusted {
        /// The server.
        name: String,
        /// Exactly what would be started or connected to.
        shown_command: String,
    },
    /// The server's program cannot be started.
    #[error("server `{server}` cannot be started: {message}")]
    NotStarted {
        /// The server.
        server: String,
        /// What is wrong.
        message: String,
        /// The end of what it complained about.
        stderr: String,
    },
    /// The server did not speak the protocol in time.
    #[error("server `{server}` said nothing that makes sense within {} s", after.as_secs_f32())]
    StartTimedOut {
        /// The server.
        server: String,
        /// How long it had.
        after: Duration,
        /// The end of what it complained about.
        stderr: String,
    },
    /// The server ended, or the connection to it.
    #[error("server `{server}` is gone: {message}")]
    Died {
        /// The server.
        server: String,
        /// How.
        message: String,
        /// The end of what it complained about.
        stderr: String,
    },
    /// The server ended too often.
    #[error("server `{server}` was started {starts} times and is not started again: {message}")]
    GaveUp {
        /// The server.
        server: String,
        /// How often it was started.
        starts: u32,
        /// How it ended the last time.
        message: String,
    },
    /// The call took too long.
    #[error("`{tool}` gave no result within {} s", after.as_secs_f32())]
    TimedOut {
        /// The tool.
        tool: String,
        /// How long it had.
        after: Duration,
    },
    /// The call was sent, and no answer came back: it may have taken effect.
    #[error("`{tool}` was sent, outcome unknown: {cause}")]
    Unanswered {
        /// The tool.
        tool: String,
        /// Why there is no answer.
        cause: Box<Self>,
    },
    /// Someone asked for an end.
    #[error("the call of `{tool}` was interrupted")]
    Stopped {
        /// The tool, or the server.
        tool: String,
    },
    /// The server said no.
    #[error("server `{server}` answered with error {code}: {message}")]
    Refused {
        /// The server.
        server: String,
        /// The protocol's code.
        code: i32,
        /// What it said.
        message: String,
    },
    /// The server said something that is not an answer.
    #[error("server `{server}` broke the protocol: {message}")]
    Protocol {
        /// The server.
        server: String,
        /// What is wrong.
        message: String,
    },
    /// The arguments do not fit the tool.
    #[error("the arguments do not fit `{tool}`: {}", problems.join("; "))]
    BadArguments {
        /// The tool.
        tool: String,
        /// What is wrong, each with its place.
        problems: Vec<String>,
    },
    /// The tool's schema is none.
    #[error("the schema of `{tool}` cannot be used: {message}")]
    BadSchema {
        /// The tool.
        tool: String,
        /// What is wrong.
        message: String,
    },
    /// The tool is not what it was when it was first used.
    #[error("`{tool}` has changed since it was pinned: {changed}")]
    Changed {
        /// The tool.
        tool: String,
        /// Which parts differ.
        changed: String,
    },
    /// There is nowhere to keep what a person decided.
    #[error("there is no home directory to keep pins and approvals in")]
    NoHome,
    /// A file of the user's directory cannot be read.
    #[error("could not read `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be locked.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The thread that talks to servers cannot be had.
    #[error("could not start what talks to servers")]
    NoRuntime(#[source] io::Error),
}

impl From<UserFileError> for ToolsError {
    fn from(error: UserFileError) -> Self {
        match error {
            UserFileError::Unreadable { path, source } => Self::Unreadable { path, source },
            UserFileError::Store(error) => Self::Store(error),
            UserFileError::Lock(error) => Self::Lock(error),
        }
    }
}

impl ToolsError {
    /// Whether someone asked for an end.
    pub fn is_stopped(&self) -> bool {
        let cause = if let Self::Unanswered { cause, .. } = self { cause } else { self };
        matches!(cause, Self::Stopped { .. })
    }

    /// Whether a server said this about a call that reached it.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::BadFile { path, .. } => format!("correct `{}`, or remove it", path.display()),
            Self::BadServer { server, .. } => {
                format!("correct `[mcp.servers.{server}]`, or the entry in `.mcp.json`")
            }
            Self::NoVariable { variable, setting, .. } => {
                format!("set `{variable}` in the environment, or change `{setting}`")
            }
            Self::UnknownServer { known, .. } if known.is_empty() => {
                "name servers in `[mcp.servers.NAME]` of `.aiwf/config.toml`, or in `.mcp.json`".to_owned()
            }
            Self::UnknownTool { known, .. } if known.is_empty() => {
                "`aiwf tools list` shows what there is".to_owned()
            }
            Self::UnknownTool { near: Some(near), known, .. } => {
                format!("did you mean `{near}`? known: {}", ticked(known))
            }
            Self::UnknownServer { known, .. } | Self::UnknownTool { known, .. } => {
                format!("name one of {}", ticked(known))
            }
            Self::Untrusted { .. } => {
                "`--trust-servers` starts it and remembers that for exactly this command".to_owned()
            }
            Self::NotStarted { stderr, .. }
            | Self::Died { stderr, .. }
            | Self::StartTimedOut { stderr, .. }
                if !stderr.is_empty() =>
            {
                format!(
                    "run its command by hand to see why; it said last: {}",
                    crate::shown::excerpt(last_line(stderr))
                )
            }
            Self::NotStarted { .. } => "check `command`, `args` and `cwd` of the server".to_owned(),
            Self::StartTimedOut { .. } => {
                "check that the command is an MCP server that speaks on its standard output".to_owned()
            }
            Self::Died { .. } => "run it again: the server is started anew".to_owned(),
            Self::GaveUp { .. } => "run the server by hand to see why it ends".to_owned(),
            Self::TimedOut { .. } => {
                "raise `timeout` of the server, which sets how long a call may take".to_owned()
            }
            Self::Unanswered { cause, .. } if matches!(**cause, Self::TimedOut { .. }) => {
                "check whether it took effect before you call it again; `timeout` of the server sets how long to wait"
                    .to_owned()
            }
            Self::Unanswered { .. } => "check whether it took effect before you call it again".to_owned(),
            Self::Stopped { .. } => "run the command again".to_owned(),
            Self::Refused { .. } | Self::Protocol { .. } => {
                "check the call, and whether the server is up to date".to_owned()
            }
            Self::BadArguments { tool, .. } => {
                format!("`aiwf tools list --json` has the schema of `{tool}`")
            }
            Self::BadSchema { .. } => "the server is at fault: use another version of it".to_owned(),
            Self::Changed { tool, .. } => {
                format!("look at it with `aiwf tools status {tool}`, then `aiwf tools pin {tool}`")
            }
            Self::NoHome => "set `HOME` to your home directory".to_owned(),
            Self::Unreadable { path, .. } => format!("check `{}`, or remove it", path.display()),
            Self::Store(error) => error.hint(),
            Self::Lock(error) => error.hint(),
            Self::NoRuntime(_) => "try again when the machine has room for one more thread".to_owned(),
        }
    }
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

pub(crate) fn ticked(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut shown = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        shown.push_str(" …");
    }
    shown
}
