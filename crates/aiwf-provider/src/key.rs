//! Finds a provider's key when it is needed, and not before; keeps it out of what is said.

use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::agent::agent_output::shown;
use crate::agent::not_started;
use crate::ask_error::AskError;
use crate::provider_setting::{KeySource, ProviderSetting, Secret};
use aiwf_process::{ChildError, Limits, Program, Stop};

/// How long a program that prints a key may take; it may ask its user for a pass phrase.
const WAIT: Duration = Duration::from_mins(1);

/// How much of what it prints is read.
const MAX_PRINTED_BYTES: u64 = 64 * 1024;

/// A text shorter than this is no key, and stands in many others.
const MIN_KEY_BYTES: usize = 4;

/// The key that a program printed for an opened provider: the program is run once, not for every call.
#[derive(Debug, Default)]
pub(crate) struct KeptKey(Mutex<Option<Secret>>);

/// A key, and whether an earlier call has used it.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) key: Option<Secret>,
    pub(crate) is_kept: bool,
}

impl KeptKey {
    /// The key of a provider; looked for when none is kept.
    pub(crate) fn get(&self, setting: &ProviderSetting, stop: &Stop) -> Result<Found, AskError> {
        if !matches!(setting.key, KeySource::Command(_)) {
            return Ok(Found { key: find(setting, stop)?, is_kept: false });
        }
        // Held while the program runs: two calls at once must not both ask a user for a pass phrase.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = &*kept {
            return Ok(Found { key: Some(key.clone()), is_kept: true });
        }
        kept.clone_from(&find(setting, stop)?);
        Ok(Found { key: kept.clone(), is_kept: false })
    }

    /// Drops a key that was rejected: it may have expired.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The key of a provider; `None` when it has none to send.
pub(crate) fn find(setting: &ProviderSetting, stop: &Stop) -> Result<Option<Secret>, AskError> {
    let name = &setting.name;
    let no_key =
        |message: String, hint: String| Err(AskError::NoKey { provider: name.clone(), message, hint });
    let (secret, place) = match &setting.key {
        KeySource::None => return Ok(None),
        KeySource::Variable { name: variable, value: None } => {
            return no_key(
                format!("the variable `{variable}` is not set"),
                format!(
                    "set `{variable}`, or name another variable as `api_key_env` in `[providers.{name}]`"
                ),
            );
        }
        KeySource::Variable { name: variable, value: Some(secret) } => {
            (secret.clone(), format!("the variable `{variable}`"))
        }
        KeySource::Command(argv) => {
            let program = argv.first().map_or("", String::as_str);
            match printed(argv, stop) {
                Ok(text) => (Secret::new(text), format!("what `{program}` prints")),
                Err(Unprinted::Stopped) => return Err(AskError::Stopped { provider: name.clone() }),
                Err(Unprinted::Because(message)) => {
                    return no_key(
                        format!("`{program}` {message}"),
                        format!(
                            "run the `api_key_command` of `[providers.{name}]` yourself: it prints the key and ends"
                        ),
                    );
                }
            }
        }
    };
    let text = secret.expose().trim();
    let wrong = if text.is_empty() {
        Some("is empty")
    } else if !text.chars().all(|character| matches!(character, ' '..='~')) {
        Some("contains characters that are not valid in a key")
    } else {
        None
    };
    match wrong {
        Some(wrong) => no_key(format!("{place} {wrong}"), "put the key there, and nothing else".to_owned()),
        None => Ok(Some(Secret::new(text))),
    }
}

/// Why a program printed no key.
enum Unprinted {
    Stopped,
    Because(String),
}

/// What a program prints.
///
/// It stays in front: a password manager may ask on the terminal.
fn printed(argv: &[String], stop: &Stop) -> Result<String, Unprinted> {
    let because = |message: String| Err(Unprinted::Because(message));
    let [program, arguments @ ..] = argv else { return because("is not a program".to_owned()) };
    let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
    let program = Program { is_in_front: true, ..Program::new(OsStr::new(program), &arguments) };
    let limits = Limits { first_byte: WAIT, total: WAIT, max_bytes: MAX_PRINTED_BYTES };
    let (printed, ended) = match aiwf_process::output(&program, limits, stop) {
        Ok(output) => output,
        Err(ChildError::Stopped) => return Err(Unprinted::Stopped),
        Err(ChildError::NotStarted(error)) => {
            return because(format!("cannot be started: {}", not_started(&error)));
        }
        Err(ChildError::TimedOut { after, .. }) => {
            return because(format!("printed no key within {} s", after.as_secs()));
        }
        Err(ChildError::TooLarge { limit }) => return because(format!("printed more than {limit} bytes")),
        Err(ChildError::Pipe(error)) => return because(format!("cannot be read: {error}")),
    };
    if ended.code == Some(0) {
        return Ok(String::from_utf8_lossy(&printed).into_owned());
    }
    let how = match ended.code {
        Some(code) => format!("exit code {code}"),
        None => "a signal".to_owned(),
    };
    let said = shown(ended.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    let said = if said.is_empty() { said } else { format!(": {said}") };
    because(format!("ended with {how}{said}"))
}

/// Takes a key out of what an agent said.
pub(crate) fn hide(error: AskError, key: Option<&Secret>) -> AskError {
    let Some(key) = key.map(Secret::expose).filter(|key| key.len() >= MIN_KEY_BYTES) else { return error };
    match error {
        AskError::Failed { provider, message, advice, usage } => {
            AskError::Failed { provider, message: message.replace(key, "…"), advice, usage }
        }
        AskError::LimitReached { provider, until, message, usage } => {
            AskError::LimitReached { provider, until, message: message.replace(key, "…"), usage }
        }
        AskError::Cut { provider, message, usage } => {
            AskError::Cut { provider, message: message.replace(key, "…"), usage }
        }
        error @ (AskError::NotRecorded { .. }
        | AskError::FileDiffers { .. }
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

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
