//! Why a tool could not be run, and what to do about it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_store::{LockError, StoreError, UserFileError};

#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    /// A `.mcp.json` file is invalid.
    #[error("`{}` is wrong: {message}", path.display())]
    BadFile { path: PathBuf, message: String },
    /// The settings of a server are invalid.
    #[error("server `{server}` cannot be used: {message}")]
    BadServer { server: String, message: String },
    /// A variable in the settings of a server is not set.
    #[error("server `{server}` needs the variable `{variable}`, which is not set")]
    NoVariable {
        server: String,
        variable: String,
        /// The setting that uses it, such as `env.TOKEN`.
        setting: String,
    },
    #[error("there is no tool server `{server}`")]
    UnknownServer { server: String, known: Vec<String> },
    #[error("there is no tool `{tool}`")]
    UnknownTool {
        tool: String,
        /// The closest known name, if any.
        near: Option<String>,
        /// The tools of this server, or all of them.
        known: Vec<String>,
    },
    /// The user has not agreed to start the server.
    #[error("server `{name}` is not trusted yet\n  it would start: {shown_command}")]
    Untrusted {
        name: String,
        /// The exact command or address.
        shown_command: String,
    },
    /// The program of the server could not be started.
    #[error("server `{server}` cannot be started: {message}")]
    NotStarted { server: String, message: String, stderr: String },
    /// The server did not complete the handshake in time.
    #[error("server `{server}` did not complete the MCP handshake within {} s", after.as_secs_f32())]
    StartTimedOut { server: String, after: Duration, stderr: String },
    /// The server, or the connection to it, ended.
    #[error("server `{server}` ended: {message}")]
    Died { server: String, message: String, stderr: String },
    /// The server ended too many times.
    #[error("server `{server}` was started {starts} times and keeps ending: {message}")]
    GaveUp {
        server: String,
        starts: u32,
        /// How it ended the last time.
        message: String,
    },
    #[error("`{tool}` did not return within {} s", after.as_secs_f32())]
    TimedOut { tool: String, after: Duration },
    /// The call was sent, but no answer came back: it may have taken effect.
    #[error("`{tool}` was sent, outcome unknown: {cause}")]
    Unanswered { tool: String, cause: Box<Self> },
    /// The user interrupted the call.
    #[error("the call to `{tool}` was interrupted")]
    Stopped {
        /// The tool or the server.
        tool: String,
    },
    /// The server returned an error.
    #[error("server `{server}` returned error {code}: {message}")]
    Refused {
        server: String,
        /// The protocol's error code.
        code: i32,
        message: String,
    },
    /// The server violated the protocol.
    #[error("server `{server}` violated the protocol: {message}")]
    Protocol { server: String, message: String },
    /// The arguments do not match the schema of the tool.
    #[error("invalid arguments for `{tool}`: {}", problems.join("; "))]
    BadArguments {
        tool: String,
        /// The problems, each with its position.
        problems: Vec<String>,
    },
    /// The schema of the tool is invalid.
    #[error("the schema of `{tool}` cannot be used: {message}")]
    BadSchema { tool: String, message: String },
    /// The tool changed since it was pinned.
    #[error("`{tool}` has changed since it was pinned: {changed}")]
    Changed { tool: String, changed: String },
    /// There is no directory to store the user's decisions in.
    #[error("there is no home directory to store pins and approvals in")]
    NoHome,
    /// A file in the user's directory cannot be read.
    #[error("could not read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The thread for MCP servers could not be started.
    #[error("could not start the MCP runtime")]
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
    /// Whether the user interrupted the call.
    pub fn is_stopped(&self) -> bool {
        let cause = if let Self::Unanswered { cause, .. } = self { cause } else { self };
        matches!(cause, Self::Stopped { .. })
    }

    /// Whether the error is the server's answer to a call that reached it.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }

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
                "add servers to `[mcp.servers.NAME]` in `.aiwf/config.toml`, or to `.mcp.json`".to_owned()
            }
            Self::UnknownTool { known, .. } if known.is_empty() => {
                "`aiwf tools list` lists all tools".to_owned()
            }
            Self::UnknownTool { near: Some(near), known, .. } => {
                format!("did you mean `{near}`? known: {}", ticked(known))
            }
            Self::UnknownServer { known, .. } | Self::UnknownTool { known, .. } => {
                format!("use one of {}", ticked(known))
            }
            Self::Untrusted { .. } => {
                "`--trust-servers` starts it and remembers your consent to exactly this command".to_owned()
            }
            Self::NotStarted { stderr, .. }
            | Self::Died { stderr, .. }
            | Self::StartTimedOut { stderr, .. }
                if !stderr.is_empty() =>
            {
                format!(
                    "run its command by hand to see why; its last output: {}",
                    crate::shown::excerpt(last_line(stderr))
                )
            }
            Self::NotStarted { .. } => "check `command`, `args` and `cwd` of the server".to_owned(),
            Self::StartTimedOut { .. } => {
                "check that the command is an MCP server that uses stdio".to_owned()
            }
            Self::Died { .. } => "try again: the server is restarted".to_owned(),
            Self::GaveUp { .. } => "run the server by hand to see why it ends".to_owned(),
            Self::TimedOut { .. } => {
                "increase `timeout` of the server, the time limit of a call".to_owned()
            }
            Self::Unanswered { cause, .. } if matches!(**cause, Self::TimedOut { .. }) => {
                "check whether it took effect before you call it again; `timeout` of the server is the time limit of a call"
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
            Self::BadSchema { .. } => "use another version of the server".to_owned(),
            Self::Changed { tool, .. } => {
                format!("review it with `aiwf tools status {tool}`, then run `aiwf tools pin {tool}`")
            }
            Self::NoHome => "set `HOME` to your home directory".to_owned(),
            Self::Unreadable { path, .. } => format!("check `{}`, or remove it", path.display()),
            Self::Store(error) => error.hint(),
            Self::Lock(error) => error.hint(),
            Self::NoRuntime(_) => "try again when the system can start more threads".to_owned(),
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
