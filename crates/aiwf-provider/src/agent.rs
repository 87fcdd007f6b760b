//! Asks CLI agents and any other program.
//!
//! Each agent is a [`Dialect`]: its invocation and the parser of its output, both pure. One flow runs all of them:
//! private files, child process, output streamed into the sink, then the judgement.

pub(crate) mod agent_output;
mod claude_code;
mod codex;
mod command;
mod gemini_cli;
mod installed;
pub(crate) mod integration;
mod invocation;

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use self::agent_output::{AgentOutput, Fold, Judge, Step};
use self::installed::Depth;
pub use self::installed::InstalledProgram;
use self::invocation::{Call, Invocation};
use crate::ask::{Answer, Ask, Check, Reply, Request};
use crate::ask_error::AskError;
use crate::built_in::Kind;
use crate::key::KeptKey;
use crate::limit::{Clock, Limit};
use crate::provider_setting::{KeySource, ProviderSetting};
use crate::sink::{Progress, Sink};
use crate::{address, key};
use aiwf_advice::Advice;
use aiwf_process::{CHUNK, Child, ChildError, Ended, Limits, Program, Stop};

/// How long an agent may keep running after its reply.
const PATIENCE: Duration = Duration::from_secs(1);

/// How one agent is started and understood.
pub(crate) trait Dialect {
    /// The usual name of the program.
    fn program(&self) -> &str;

    /// The hint if the program is not installed.
    fn install_hint(&self, setting: &ProviderSetting) -> String;

    /// The servers of its vendor, to which its login may always be sent.
    fn vendors(&self) -> &'static [&'static str];

    /// Refuses what cannot be sent unchanged.
    fn refuse(&self, setting: &ProviderSetting, request: &Request<'_>) -> Result<(), AskError>;

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, AskError>;

    /// The parser of its output.
    fn fold(&self, call: &Call<'_>) -> Box<dyn Fold>;

    /// The usage limit in an agent's failure, if it is one.
    fn limit(&self, words: &str, details: Option<&str>, clock: &Clock) -> Option<Limit> {
        let _ = (words, details, clock);
        None
    }

    /// The advice for a failure, by the agent's message and exit.
    fn advice(&self, words: &str, ended: &Ended) -> Advice;

    /// An error that the agent reports only at its end.
    fn complaint(&self, ended: &Ended) -> Option<String> {
        let _ = ended;
        None
    }

    /// Limits of time and output.
    fn limits(&self, setting: &ProviderSetting) -> Limits {
        let timeouts = setting.timeouts;
        Limits { first_byte: timeouts.first_byte, total: timeouts.total, max_bytes: setting.max_reply_bytes }
    }

    /// Checks whether the program is installed and new enough.
    fn inspect(&self, setting: &ProviderSetting, depth: Depth) -> InstalledProgram;
}

pub(crate) fn open(kind: Kind, setting: ProviderSetting) -> Result<Box<dyn Ask + Send + Sync>, AskError> {
    let dialect: Box<dyn Dialect + Send + Sync> = match kind {
        Kind::ClaudeCode => Box::new(claude_code::ClaudeCode),
        Kind::Codex => Box::new(codex::Codex),
        Kind::GeminiCli => Box::new(gemini_cli::GeminiCli),
        Kind::Command | Kind::Manual | Kind::Anthropic | Kind::OpenAi | Kind::Gemini | Kind::Replay => {
            Box::new(command::AnyCommand::new(&setting)?)
        }
    };
    Ok(Box::new(Agent { setting, dialect, key: KeptKey::default() }))
}

/// A provider that is a program.
struct Agent {
    setting: ProviderSetting,
    dialect: Box<dyn Dialect + Send + Sync>,
    key: KeptKey,
}

impl Ask for Agent {
    fn refuse(&self, request: &Request<'_>) -> Result<(), AskError> {
        address::check_login(&self.setting, self.dialect.vendors())?;
        self.dialect.refuse(&self.setting, request)
    }

    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        self.refuse(request)?;
        let directory = std::path::absolute(request.directory).map_err(AskError::Sink)?;
        let request = &Request { directory: &directory, ..*request };
        let key =
            if has_no_key(&self.setting) { None } else { self.key.get(&self.setting, request.stop)?.key };
        let private_dir = private_dir().map_err(AskError::Sink)?;
        let call =
            Call { setting: &self.setting, request, key: key.as_ref(), private_dir: private_dir.path() };
        let invocation = self.dialect.invocation(&call)?;
        invocation.write_files(private_dir.path()).map_err(AskError::Sink)?;
        let asked = self.run(&call, invocation, sink);
        if asked.is_err() {
            // An agent does not report whether its key was the problem, so the next call looks for the key again.
            self.key.forget();
        }
        asked.map(Answer::Reply).map_err(|error| key::hide(error, key.as_ref()))
    }

    fn can_start(&self) -> Result<(), AskError> {
        let program = program_of(&self.setting, self.dialect.program());
        // A path below the working directory is looked up where the agent works.
        let is_below = Path::new(&program).is_relative() && Path::new(&program).components().count() > 1;
        if is_below || self.dialect.inspect(&self.setting, Depth::Presence).path.is_some() {
            return Ok(());
        }
        Err(AskError::NoProgram {
            program: program.to_string_lossy().into_owned(),
            message: not_started(&io::ErrorKind::NotFound.into()),
            hint: self.dialect.install_hint(&self.setting),
        })
    }

    fn check(&self) -> Vec<Check> {
        let mut checks: Vec<Check> =
            self.dialect.inspect(&self.setting, Depth::Options).check.into_iter().collect();
        if let Err(error) = address::check_login(&self.setting, self.dialect.vendors()) {
            checks.push(Check::bad("url", error.to_string(), error.advice()));
        }
        if self.setting.key != KeySource::None {
            checks.push(key_check(&self.setting));
        }
        checks
    }

    fn program(&self) -> Option<InstalledProgram> {
        Some(self.dialect.inspect(&self.setting, Depth::Options))
    }

    fn version(&self) -> Option<InstalledProgram> {
        Some(self.dialect.inspect(&self.setting, Depth::Version))
    }
}

impl Agent {
    fn run(&self, call: &Call<'_>, invocation: Invocation, sink: &mut dyn Sink) -> Result<Reply, AskError> {
        let program = Program {
            env: &invocation.env,
            env_removed: &invocation.env_removed,
            directory: Some(call.request.directory),
            ..Program::new(&invocation.program, &invocation.args)
        };
        let failed = |error| self.child_error(error, &invocation.program, call.request.directory);
        let limits = self.dialect.limits(&self.setting);
        let mut child = Child::start(&program, limits, call.request.stop).map_err(failed)?;
        child.send(invocation.stdin);
        if !invocation.is_dialogue {
            child.close_stdin();
        }
        let mut fold = self.dialect.fold(call);
        let mut output = AgentOutput::default();
        let mut buffer = vec![0; CHUNK];
        let mut n_bytes = 0;
        while !output.is_done {
            let n_read = child.read(&mut buffer).map_err(failed)?;
            let folded = if n_read == 0 {
                fold.end(&mut output)
            } else {
                let bytes = buffer.get(..n_read).unwrap_or_default();
                n_bytes += n_read as u64;
                sink.raw(bytes).map_err(AskError::Sink)?;
                sink.progress(Progress::Bytes(n_bytes));
                fold.bytes(bytes, &mut output)
            };
            // Text parsed before a malformed part is kept.
            for step in output.steps.drain(..) {
                match step {
                    Step::Text(text) => sink.text(&text).map_err(AskError::Sink)?,
                    Step::Restart => sink.restart().map_err(AskError::Sink)?,
                    Step::Send(text) => child.send(text.into_bytes()),
                }
            }
            folded?;
            if n_read == 0 {
                break;
            }
        }
        let ended = child.end(PATIENCE);
        if output.complaint.is_none() {
            output.complaint = self.dialect.complaint(&ended);
        }
        let judge = Judge {
            provider: &self.setting.name,
            limit: &|words, details| self.dialect.limit(words, details, &Clock::of_system()),
            advice: &|words, ended| self.dialect.advice(words, ended),
        };
        judge.judge(output, &ended)
    }

    fn child_error(&self, error: ChildError, program: &OsStr, directory: &Path) -> AskError {
        let provider = self.setting.name.clone();
        match error {
            ChildError::NotStarted(error) => {
                let (message, hint) = if directory.is_dir() {
                    (not_started(&error), self.dialect.install_hint(&self.setting))
                } else {
                    let message = format!("its working directory `{}` does not exist", directory.display());
                    (message, "restore that directory, then try again".to_owned())
                };
                AskError::NoProgram { program: program.to_string_lossy().into_owned(), message, hint }
            }
            ChildError::Stopped => AskError::Stopped { provider },
            ChildError::TimedOut { wait, after } => AskError::TimedOut { provider, wait: wait.into(), after },
            ChildError::TooLarge { limit } => AskError::TooLarge { provider, limit },
            ChildError::Pipe(error) => AskError::Cut { provider, message: error.to_string(), usage: None },
        }
    }
}

/// Whether the key's variable is not set: an agent also has its own login.
fn has_no_key(setting: &ProviderSetting) -> bool {
    matches!(setting.key, KeySource::Variable { value: None, .. })
}

/// Checks whether the configured key is available.
fn key_check(setting: &ProviderSetting) -> Check {
    if let KeySource::Variable { name, value: None } = &setting.key {
        let found = format!("`{name}` is not set");
        return if setting.base_url.is_some() {
            Check::bad("key", found, format!("set `{name}` in the environment"))
        } else {
            Check::ok("key", format!("{found}; the program's own login is used"))
        };
    }
    match (key::find(setting, &Stop::default()), &setting.key) {
        (Err(error), _) => Check::bad("key", error.to_string(), error.advice()),
        (Ok(_), KeySource::Variable { name, .. }) => Check::ok("key", format!("`{name}` is set")),
        (Ok(_), KeySource::Command(_)) => Check::ok("key", "`api_key_command` prints one"),
        (Ok(_), KeySource::None) => Check::ok("key", "the program's own login is used"),
    }
}

/// A directory for one call that only its owner can open.
///
/// Removed with everything in it, such as an agent's own error reports.
fn private_dir() -> io::Result<tempfile::TempDir> {
    let owner_only = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("aiwf-").permissions(owner_only).tempdir()
}

/// Why a program was not started, in words.
pub(crate) fn not_started(error: &io::Error) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the system has more errors than we have words")]
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        kind => kind.to_string(),
    }
}

/// The program of an agent: the configured one, else its usual name.
fn program_of(setting: &ProviderSetting, usual: &str) -> std::ffi::OsString {
    setting.program.as_ref().map_or_else(|| usual.into(), |program| program.clone().into_os_string())
}

#[cfg(test)]
#[path = "agent/invocation_tests.rs"]
mod invocation_tests;
