//! The key that an agent is handed.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use super::child::{self, ChildError, Limits, Program};
use super::heard::shown;
use crate::ask::Check;
use crate::ask_error::AskError;
use crate::provider_setting::{KeySource, ProviderSetting, Secret};
use crate::stop::Stop;

/// How long a program that prints a key may take; it may ask its user for a pass phrase.
const WAIT: Duration = Duration::from_mins(1);
const MAX_KEY_BYTES: u64 = 64 * 1024;

/// The key of a setting; nothing when none is configured or the variable is not set, since an agent has a login of
/// its own.
pub(crate) fn find(setting: &ProviderSetting, stop: &Stop) -> Result<Option<Secret>, AskError> {
    match &setting.key {
        KeySource::None => Ok(None),
        KeySource::Variable { value, .. } => Ok(value.clone()),
        KeySource::Command(command) => printed(&setting.name, command, stop).map(Some),
    }
}

fn printed(provider: &str, command: &[String], stop: &Stop) -> Result<Secret, AskError> {
    let no_key = |message: String| AskError::NoKey {
        provider: provider.to_owned(),
        message,
        hint: format!("run the `api_key_command` of `[providers.{provider}]` yourself to see what is wrong"),
    };
    let Some((program, args)) = command.split_first() else {
        return Err(no_key("`api_key_command` is empty".to_owned()));
    };
    let args: Vec<OsString> = args.iter().map(Into::into).collect();
    let started =
        Program { path: OsStr::new(program), args: &args, env: &[], env_removed: &[], directory: None };
    let limits = Limits { first_byte: WAIT, total: WAIT, max_bytes: MAX_KEY_BYTES };
    let (printed, ended) = child::output(&started, limits, stop).map_err(|error| match error {
        ChildError::NotStarted(error) => no_key(format!("`{program}`: {}", super::not_started(&error))),
        ChildError::Stopped => AskError::Stopped { provider: provider.to_owned() },
        ChildError::TimedOut { after, .. } => {
            no_key(format!("`{program}` printed none within {} s", after.as_secs()))
        }
        ChildError::TooLarge { limit } => no_key(format!("`{program}` printed more than {limit} bytes")),
        ChildError::Pipe(error) => no_key(format!("`{program}`: {error}")),
    })?;
    if ended.code != Some(0) {
        let code = ended.code.map_or_else(|| "a signal".to_owned(), |code| format!("exit code {code}"));
        return Err(no_key(format!("`{program}` ended with {code}: {}", shown(&ended.stderr))));
    }
    match std::str::from_utf8(&printed).map(str::trim) {
        Ok("") | Err(_) => Err(no_key(format!("`{program}` printed none"))),
        Ok(key) => Ok(Secret::new(key)),
    }
}

/// Looks whether the key that is configured is there.
pub(crate) fn check(setting: &ProviderSetting) -> Check {
    match &setting.key {
        KeySource::Variable { name, value: None } => {
            let found = format!("`{name}` is not set");
            if setting.base_url.is_some() {
                Check::bad("key", found, format!("set `{name}` in the environment"))
            } else {
                Check::ok("key", format!("{found}; the program's own login is used"))
            }
        }
        KeySource::Variable { name, value: Some(_) } => Check::ok("key", format!("`{name}` is set")),
        KeySource::None => Check::ok("key", "the program's own login is used"),
        KeySource::Command(_) => match find(setting, &Stop::default()) {
            Ok(_) => Check::ok("key", "`api_key_command` prints one"),
            Err(error) => Check::bad("key", error.to_string(), error.hint()),
        },
    }
}

/// Takes a key out of what an agent said.
pub(crate) fn hide(error: AskError, key: Option<&Secret>) -> AskError {
    let Some(key) = key.map(Secret::expose).filter(|key| key.len() >= 4) else { return error };
    match error {
        AskError::Failed { provider, message, hint, usage } => {
            AskError::Failed { provider, message: message.replace(key, "…"), hint, usage }
        }
        AskError::Cut { provider, message, usage } => {
            AskError::Cut { provider, message: message.replace(key, "…"), usage }
        }
        error @ (AskError::NotRecorded { .. }
        | AskError::Unreadable { .. }
        | AskError::Setting { .. }
        | AskError::NoProgram { .. }
        | AskError::NoKey { .. }
        | AskError::KeyWithheld { .. }
        | AskError::Unsendable { .. }
        | AskError::PromptTooLong { .. }
        | AskError::Status { .. }
        | AskError::Empty { .. }
        | AskError::Malformed { .. }
        | AskError::TimedOut { .. }
        | AskError::Stopped { .. }
        | AskError::TooLarge { .. }
        | AskError::Sink(_)) => error,
    }
}
