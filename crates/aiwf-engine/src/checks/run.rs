//! Runs one check, with limits for time and output; its output is streamed to a file.
//!
//! In: a check, the directory that a phase wrote in, and a file. Out: the result, with the hash of the output. A check
//! that fails, hangs or floods is a result; only a file that cannot be written is an error. When a check ends for any
//! reason, its whole process group is killed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use aiwf_config::{CheckCommand, CheckNetwork};
use aiwf_process::{CHUNK, Child, ChildError, Environment, Limits, Program, Stderr, Stop};
use aiwf_store::{LedgerDir, StoreError};
use serde::{Deserialize, Serialize};

use super::{Check, network};
use crate::Engine;
use crate::ask::watch::CallEvent;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    /// The command, for display.
    pub run: String,
    /// Whether it exited with code 0.
    pub passed: bool,
    #[serde(flatten)]
    pub ended: CheckEnd,
    /// `None` if it was killed by a signal or never started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Duration in milliseconds.
    pub millis: u64,
    pub output: CheckOutput,
    /// Notes for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ended", content = "message", rename_all = "kebab-case")]
pub enum CheckEnd {
    /// It exited, or was killed by a signal that aiwf did not send.
    Exited,
    TimedOut,
    /// The output up to the limit was kept.
    TooMuchOutput,
    Stopped,
    /// With the reason.
    NotStarted(String),
}

/// Stdout and stderr, in the order of their writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckOutput {
    /// Relative to the session.
    pub path: String,
    pub sha256: String,
    pub n_bytes: u64,
}

/// Progress of a check.
#[derive(Clone, Copy, Debug)]
pub enum CheckState<'a> {
    Started {
        run: &'a str,
    },
    /// It ended, successfully or not.
    Ended(&'a CheckResult),
}

impl CheckResult {
    /// How it ended, as the end of a sentence about it: `passed`, `failed with exit code 101`.
    pub fn outcome(&self) -> String {
        let seconds = || Duration::from_millis(self.millis).as_secs();
        match &self.ended {
            CheckEnd::Exited => match (self.exit_code, self.signal) {
                (Some(0), _) => "passed".to_owned(),
                (Some(code), _) => format!("failed with exit code {code}"),
                (None, Some(signal)) => format!("was killed by signal {signal}"),
                (None, None) => "failed".to_owned(),
            },
            CheckEnd::TimedOut => format!("was stopped after {} s: it took too long", seconds()),
            CheckEnd::TooMuchOutput => {
                format!("was stopped after {} bytes: it printed too much", self.output.n_bytes)
            }
            CheckEnd::Stopped => "was stopped".to_owned(),
            CheckEnd::NotStarted(message) => format!("could not start: {message}"),
        }
    }
}

impl Engine {
    /// Runs a check in `directory`; its output goes to a new file of `ledger`.
    ///
    /// A check without consent never starts.
    pub(crate) fn run_check(
        &self,
        check: &Check,
        directory: &Path,
        ledger: &LedgerDir,
        output: &str,
    ) -> Result<CheckResult, StoreError> {
        let context = self.call_context();
        let run = check.run.to_string();
        context.notify(CallEvent::Check { name: &check.name, state: CheckState::Started { run: &run } });
        let result = run_check(check, directory, ledger, output, &context.stop)?;
        context.notify(CallEvent::Check { name: &check.name, state: CheckState::Ended(&result) });
        Ok(result)
    }
}

/// How a program ended.
struct Ended {
    how: CheckEnd,
    code: Option<i32>,
    signal: Option<i32>,
}

impl From<CheckEnd> for Ended {
    fn from(how: CheckEnd) -> Self {
        Self { how, code: None, signal: None }
    }
}

/// Like [`run_check`], without progress.
fn run_check(
    check: &Check,
    directory: &Path,
    ledger: &LedgerDir,
    output: &str,
    stop: &Stop,
) -> Result<CheckResult, StoreError> {
    let failed = |source| StoreError { path: ledger.path().join(output), source };
    let mut file = ledger.create_file(output).map_err(|error| failed(error.into()))?;
    let mut notes = Vec::new();
    let started_at = Instant::now();
    let ended = if check.may_run() {
        let words = words(check, &mut notes);
        run_program(check, &words, directory, &mut file, stop).map_err(failed)?
    } else {
        CheckEnd::NotStarted("you have not agreed to its command".to_owned()).into()
    };
    let millis = u64::try_from(started_at.elapsed().as_millis()).unwrap_or(u64::MAX);
    let n_bytes = file.metadata().map_err(failed)?.len();
    // The output must be on disk before a journal names its hash.
    file.sync_all().map_err(failed)?;
    let sha256 = ledger.sha256(output).map_err(|error| failed(error.into()))?.unwrap_or_default();
    Ok(CheckResult {
        name: check.name.clone(),
        run: check.run.to_string(),
        passed: ended.how == CheckEnd::Exited && ended.code == Some(0),
        ended: ended.how,
        exit_code: ended.code,
        signal: ended.signal,
        millis,
        output: CheckOutput { path: output.to_owned(), sha256, n_bytes },
        notes,
    })
}

/// The program and its arguments, isolated from the network if that is configured and possible.
fn words(check: &Check, notes: &mut Vec<String>) -> Vec<OsString> {
    let prefix = match check.network {
        Some(CheckNetwork::Loopback) => network::loopback_only(),
        None => Ok(Default::default()),
    };
    let mut words: Vec<OsString> = match prefix {
        Ok(prefix) => prefix.iter().map(OsString::from).collect(),
        Err(reason) => {
            notes.push(format!("not isolated from the network: {reason}"));
            Vec::new()
        }
    };
    match &check.run {
        CheckCommand::Shell(line) => words.extend(["sh", "-c", line].map(OsString::from)),
        CheckCommand::Argv(command) => words.extend(command.iter().map(OsString::from)),
    }
    words
}

fn run_program(
    check: &Check,
    words: &[OsString],
    directory: &Path,
    file: &mut File,
    stop: &Stop,
) -> io::Result<Ended> {
    let Some((program, args)) = words.split_first() else {
        return Ok(CheckEnd::NotStarted("it does not name a program".to_owned()).into());
    };
    let program: &OsStr = program;
    let program = Program {
        environment: Environment::Cleared,
        env: &aiwf_config::check_environment(&check.env),
        directory: Some(directory),
        stderr: Stderr::Merged,
        ..Program::new(program, args)
    };
    // The output is counted here, so that everything up to the limit is kept.
    let limits = Limits { first_byte: check.timeout, total: check.timeout, max_bytes: u64::MAX };
    let mut child = match Child::start(&program, limits, stop) {
        Ok(child) => child,
        Err(error) => return early_end(error),
    };
    child.close_stdin();
    let mut buffer = vec![0; CHUNK];
    let mut n_left = check.max_output;
    loop {
        let n_read = match child.read(&mut buffer) {
            Ok(0) => {
                let ended = child.end(Duration::ZERO);
                return Ok(Ended { how: CheckEnd::Exited, code: ended.code, signal: ended.signal });
            }
            Ok(n_read) => n_read,
            Err(error) => return early_end(error),
        };
        let n_kept = usize::try_from(n_left).unwrap_or(usize::MAX).min(n_read);
        file.write_all(buffer.get(..n_kept).unwrap_or_default())?;
        n_left -= n_kept as u64;
        if n_kept < n_read {
            drop(child.end(Duration::ZERO));
            return Ok(CheckEnd::TooMuchOutput.into());
        }
    }
}

/// The end of a check that did not exit by itself.
fn early_end(error: ChildError) -> io::Result<Ended> {
    match error {
        ChildError::NotStarted(error) => Ok(CheckEnd::NotStarted(crate::notify::plain(&error)).into()),
        ChildError::Stopped => Ok(CheckEnd::Stopped.into()),
        ChildError::TimedOut { .. } => Ok(CheckEnd::TimedOut.into()),
        ChildError::TooLarge { .. } => Ok(CheckEnd::TooMuchOutput.into()),
        ChildError::Pipe(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
