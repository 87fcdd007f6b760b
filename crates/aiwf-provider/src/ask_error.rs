//! Why there is no answer.

use std::time::Duration;

use aiwf_advice::{Action, Advice};
use jiff::Timestamp;

use crate::ask::Usage;

/// Which wait took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For a connection.
    Connect,
    /// For the first byte of the reply.
    FirstByte,
    /// For the whole reply.
    Total,
}

impl From<aiwf_process::Wait> for Wait {
    fn from(wait: aiwf_process::Wait) -> Self {
        match wait {
            aiwf_process::Wait::FirstByte => Self::FirstByte,
            aiwf_process::Wait::Total => Self::Total,
        }
    }
}

impl Wait {
    fn shown(self) -> &'static str {
        match self {
            Self::Connect => "could not connect to",
            Self::FirstByte => "nothing received from",
            Self::Total => "no complete reply from",
        }
    }

    fn setting(self) -> &'static str {
        match self {
            Self::Connect => "connect_timeout",
            Self::FirstByte => "first_byte_timeout",
            Self::Total => "timeout",
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The request was never recorded.
    #[error("no recording answers this request{}", near(nearest.as_deref(), differs.as_deref(), *at_byte))]
    NotRecorded {
        /// The recording that is most alike.
        nearest: Option<String>,
        /// The first section that differs from it.
        differs: Option<String>,
        /// Where in that section, if the recording has its text.
        at_byte: Option<usize>,
    },
    /// A recorded call changes a file that is another one now.
    #[error("recording `{recording}` changes `{path}`, which differs from the recorded file")]
    FileDiffers {
        /// The recording.
        recording: String,
        /// The file.
        path: String,
    },
    /// The recordings cannot be read.
    #[error("recordings in `{directory}` cannot be read: {message}")]
    Unreadable {
        /// Where they are.
        directory: String,
        /// What is wrong.
        message: String,
    },
    /// A setting that is missing or makes no sense.
    #[error("provider `{provider}` cannot be asked: {message}")]
    Setting {
        /// The provider.
        provider: String,
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// The program is not there or cannot be started.
    #[error("`{program}` cannot be started: {message}")]
    NoProgram {
        /// The program.
        program: String,
        /// What the system says.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// There is no key.
    #[error("there is no key for provider `{provider}`: {message}")]
    NoKey {
        /// The provider.
        provider: String,
        /// What was looked at.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A key would go where a project's file says, and nobody else does.
    #[error(
        "the key of provider `{provider}` is not sent to `{base_url}`: only the project's configuration names it"
    )]
    KeyWithheld {
        /// The provider.
        provider: String,
        /// Where it would have gone.
        base_url: String,
    },
    /// A text the provider would not get as it is.
    #[error("the prompt cannot be sent to `{provider}` unchanged: {message} in line {line}, column {column}")]
    Unsendable {
        /// The provider.
        provider: String,
        /// What would be changed.
        message: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// The prompt is longer than the provider takes.
    #[error("the prompt has {found} {unit}, but `{provider}` accepts {limit}")]
    PromptTooLong {
        /// The provider.
        provider: String,
        /// How long it is.
        found: u64,
        /// How long it may be.
        limit: u64,
        /// What is counted.
        unit: &'static str,
    },
    /// The provider said that it failed.
    #[error("`{provider}` failed: {message}")]
    Failed {
        /// The provider.
        provider: String,
        /// What it said.
        message: String,
        /// What to do about it.
        advice: Box<Advice>,
        /// What it cost all the same.
        usage: Option<Box<Usage>>,
    },
    /// What may be used of the provider is used up for now.
    #[error("`{provider}` has reached its usage limit{}: {message}", until_shown(*until))]
    LimitReached {
        /// The provider.
        provider: String,
        /// When the limit is lifted, in seconds since 1970; unknown when the provider does not say.
        until: Option<i64>,
        /// What it said.
        message: String,
        /// What it cost all the same.
        usage: Option<Box<Usage>>,
    },
    /// The server turned the request down.
    #[error("`{provider}` answered {status}: {message}")]
    Status {
        /// The provider.
        provider: String,
        /// The status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The reply ended before its end.
    #[error("the reply from `{provider}` was cut off: {message}")]
    Cut {
        /// The provider.
        provider: String,
        /// How.
        message: String,
        /// What it cost all the same.
        usage: Option<Box<Usage>>,
    },
    /// There is a reply without a word in it.
    #[error("`{provider}` sent an empty reply")]
    Empty {
        /// The provider.
        provider: String,
        /// What it cost all the same.
        usage: Option<Box<Usage>>,
    },
    /// What came back makes no sense.
    #[error("the reply from `{provider}` cannot be read: {message}")]
    Malformed {
        /// The provider.
        provider: String,
        /// What is wrong.
        message: String,
    },
    /// It took too long.
    #[error("{} `{provider}` within {}", wait.shown(), shown(*after))]
    TimedOut {
        /// The provider.
        provider: String,
        /// What was waited for.
        wait: Wait,
        /// How long.
        after: Duration,
    },
    /// Someone asked for an end.
    #[error("the call to `{provider}` was interrupted")]
    Stopped {
        /// The provider.
        provider: String,
    },
    /// The reply, or an agent's output, is larger than it may be.
    #[error("the reply from `{provider}` is larger than {limit} bytes")]
    TooLarge {
        /// The provider.
        provider: String,
        /// How large it may be.
        limit: u64,
    },
    /// The reply cannot be kept.
    #[error("the reply could not be written: {}", reason(.0))]
    Sink(std::io::Error),
}

fn near(nearest: Option<&str>, differs: Option<&str>, at_byte: Option<usize>) -> String {
    match (nearest, differs) {
        (Some(nearest), Some(differs)) => {
            let at = at_byte.map(|at| format!(", from byte {at} on")).unwrap_or_default();
            format!("\n  nearest: `{nearest}`; the first section that differs is `{differs}`{at}")
        }
        (Some(nearest), None) => format!("\n  nearest: `{nearest}`"),
        (None, _) => String::new(),
    }
}

/// What the system says, without its number; who shows only the message has it too.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or(&text).to_lowercase()
}

fn shown(duration: Duration) -> String {
    if duration.as_millis().is_multiple_of(1_000) {
        format!("{} s", duration.as_secs())
    } else {
        format!("{} ms", duration.as_millis())
    }
}

/// A time to the minute, as no clock of ours is asked where the user is.
fn until_shown(until: Option<i64>) -> String {
    let time = until.and_then(|until| Timestamp::from_second(until).ok());
    time.map_or_else(String::new, |time| time.strftime(", which resets at %Y-%m-%d %H:%M UTC").to_string())
}

impl AskError {
    /// What the call cost although it failed, as far as the provider said.
    pub fn usage(&self) -> Option<&Usage> {
        match self {
            Self::Failed { usage, .. }
            | Self::LimitReached { usage, .. }
            | Self::Cut { usage, .. }
            | Self::Empty { usage, .. } => usage.as_deref(),
            Self::NotRecorded { .. }
            | Self::FileDiffers { .. }
            | Self::Unreadable { .. }
            | Self::Setting { .. }
            | Self::NoProgram { .. }
            | Self::NoKey { .. }
            | Self::KeyWithheld { .. }
            | Self::Unsendable { .. }
            | Self::PromptTooLong { .. }
            | Self::Status { .. }
            | Self::Malformed { .. }
            | Self::TimedOut { .. }
            | Self::Stopped { .. }
            | Self::TooLarge { .. }
            | Self::Sink(_) => None,
        }
    }

    /// When a usage limit is lifted, in seconds since 1970; `None` for other errors and where nobody knows.
    pub fn limit_until(&self) -> Option<i64> {
        if let Self::LimitReached { until, .. } = self { *until } else { None }
    }

    /// One thing to do about it.
    pub fn advice(&self) -> Advice {
        match self {
            Self::NotRecorded { .. } | Self::FileDiffers { .. } => {
                "restore the inputs that were recorded, or use a live provider".into()
            }
            Self::Unreadable { .. } => "check the `dir` of the provider in `.aiwf/config.toml`".into(),
            Self::Setting { hint, .. }
            | Self::NoProgram { hint, .. }
            | Self::NoKey { hint, .. } => hint.clone().into(),
            Self::Failed { advice, .. } => Advice::clone(advice),
            Self::LimitReached { .. } => Advice::from(Action::Retry)
                .then(" asks again after the limit resets; until then, another provider can take over"),
            Self::KeyWithheld { provider, .. } => {
                format!(
                    "name the same `base_url` in `[providers.{provider}]` of `~/.aiwf/config.toml` if you trust it"
                ).into()
            }
            Self::Unsendable { .. } => {
                "remove these characters from the prompt, or use another provider".into()
            }
            Self::PromptTooLong { .. } => {
                "set `[session] budget_tokens`, give fewer files, or use another provider".into()
            }
            Self::Status { status: 300..=399, .. } => "set `base_url` to the address of the server".into(),
            Self::Status { status: 400 | 413 | 422, .. } => {
                "fix the reported setting: `model` and `max_output_tokens` of the provider, or the prompt's size"
                    .into()
            }
            Self::Status { status: 401 | 403, .. } => {
                Advice::from("check the key: ").then(Action::ValidateProviders).then(" shows where aiwf looks for it")
            }
            Self::Status { status: 404, .. } => "check `model` and `base_url` of the provider".into(),
            Self::Status { status: 429, .. } => Advice::from("wait, then ").then(Action::Retry),
            Self::Status { .. } | Self::Cut { .. } | Self::Empty { .. } => {
                Advice::from(Action::Retry).then(" asks again")
            }
            Self::Malformed { .. } => {
                "check that `type`, `base_url` and `reply` of the provider fit together".into()
            }
            Self::TimedOut { wait, .. } => {
                Advice::from(Action::Retry)
                    .then(format!(" asks again; `{}` of the provider sets how long to wait", wait.setting()))
            }
            Self::Stopped { .. } => Advice::from(Action::Retry).then(" asks again"),
            Self::TooLarge { .. } => "raise `max_reply_bytes` of the provider".into(),
            Self::Sink(_) => Advice::from("free some disk space, then ").then(Action::Retry),
        }
    }
}
