//! Finds a provider's key when it is needed, and not before.

#![expect(clippy::disallowed_methods, reason = "a key command is a program that this crate starts")]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::fault::shown;
use crate::ask_error::AskError;
use crate::provider_setting::{KeySource, ProviderSetting, Secret};
use crate::stop::Stop;

/// How long a key command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// How much of what a key command prints is read.
const MAX_PRINTED_BYTES: u64 = 64 * 1024;

/// The key of a provider; nothing when it has none to send.
pub(super) fn find(setting: &ProviderSetting, stop: &Stop) -> Result<Option<Secret>, AskError> {
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
                Ok(Some(text)) => (Secret::new(text), format!("what `{program}` prints")),
                Ok(None) => return Err(AskError::Stopped { provider: name.clone() }),
                Err(message) => {
                    return no_key(
                        format!("`{program}` {message}"),
                        format!(
                            "check `api_key_command` of `[providers.{name}]`: it prints the key and ends"
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
        Some("holds characters that no key has")
    } else {
        None
    };
    match wrong {
        Some(wrong) => no_key(format!("{place} {wrong}"), "put the key there, and nothing else".to_owned()),
        None => Ok(Some(Secret::new(text))),
    }
}

/// What a program prints; nothing when the stop was raised.
///
/// It stays in our process group: a password manager may ask on the terminal, and only the group in front may.
fn printed(argv: &[String], stop: &Stop) -> Result<Option<String>, String> {
    let [program, arguments @ ..] = argv else { return Err("is no program".to_owned()) };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let stdout = read(child.stdout.take());
    let stderr = read(child.stderr.take());
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(error) => {
                end(child);
                return Err(format!("cannot be waited for: {error}"));
            }
        }
        if stop.is_raised() {
            end(child);
            return Ok(None);
        }
        if started.elapsed() > COMMAND_TIMEOUT {
            end(child);
            return Err(format!("printed no key within {} s", COMMAND_TIMEOUT.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    if !status.success() {
        let said = received(&stderr);
        let said = shown(said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), None);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        return Err(format!("failed with {status}{said}"));
    }
    Ok(Some(received(&stdout)))
}

/// Reads in a thread of its own, which ends with the pipe: a full one must not keep the program from ending.
fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(pipe) = pipe {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut pipe = pipe.take(MAX_PRINTED_BYTES);
            // What was read until an error is all there is.
            if pipe.read_to_end(&mut bytes).is_ok() || !bytes.is_empty() {
                drop(sender.send(bytes));
            }
        });
    }
    receiver
}

/// What was read; nothing when another process still holds the pipe a second after the program ended.
fn received(pipe: &Receiver<Vec<u8>>) -> String {
    match pipe.recv_timeout(Duration::from_secs(1)) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => String::new(),
    }
}

fn end(mut child: Child) {
    // It may have ended by itself; either way it is waited for, so that nothing is left of it.
    drop(child.kill());
    drop(child.wait());
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
