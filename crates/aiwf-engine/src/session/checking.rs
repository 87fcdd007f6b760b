//! Runs the project's checks on approved files and records the results.
//!
//! Each result is an event, so a finished check does not run again after a crash. Its output is a file of the session.
//! A check without the user's consent does not run: the session waits for it.

use std::path::PathBuf;

use aiwf_session::{CheckEnd, CheckResult, Command, FileHash};

use super::open_session::OpenSession;
use super::perform::{Performed, StepOutcome};
use crate::checks::{self, Check, TypedCheck};
use crate::prompt::gather::ReadArtifact;
use crate::session::session_error::SessionError;

/// Maximum output of failing checks in a prompt.
const MAX_SHOWN_BYTES: usize = 24_000;

impl OpenSession<'_> {
    /// The checks after the current phase.
    fn checks(&self) -> Result<Vec<Check>, SessionError> {
        if !self.spec()?.checks {
            return Ok(Vec::new());
        }
        let typed: Vec<TypedCheck> = self
            .setup()?
            .change
            .iter()
            .flat_map(|change| &change.checks)
            .map(|run| TypedCheck { run: run.clone() })
            .collect();
        // Commands typed by someone else do not count as this user's consent.
        let typed = if self.is_own { typed } else { Vec::new() };
        Ok(self.engine.checks_after(self.state.phase.as_str(), &typed)?)
    }

    pub(super) fn has_checks(&self) -> Result<bool, SessionError> {
        Ok(!self.checks()?.is_empty())
    }

    /// Runs the checks that have no result yet; returns whether anything was done.
    pub(super) fn run_checks(&mut self) -> Result<bool, SessionError> {
        Ok(matches!(self.step_checks()?, StepOutcome::Done(_)))
    }

    /// Runs the checks that have no result yet, or waits for consent.
    pub(super) fn step_checks(&mut self) -> Result<StepOutcome, SessionError> {
        let checks = self.checks()?;
        let missing: Vec<String> =
            checks.iter().filter(|check| !check.may_run()).map(|check| check.name.clone()).collect();
        if !missing.is_empty() {
            if self.state.step != aiwf_session::Step::ChecksWanted {
                return Ok(StepOutcome::Waiting);
            }
            self.commit(Command::HoldChecks { names: missing.clone() })?;
            return Ok(StepOutcome::Done(Performed::ChecksHeld { names: missing }));
        }
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        let directory = self.checked_directory()?;
        for (idx, check) in checks.iter().enumerate() {
            let command = check.run.to_string();
            let is_same = |done: &CheckResult| done.name == check.name && done.command == command;
            if self.state.checks.iter().any(is_same) {
                continue;
            }
            let output = self.output_path(iteration, &check.file_stem(idx + 1))?;
            let result = self.engine.run_check(check, &directory, &*self.ledger.files()?, &output)?;
            if result.ended == checks::CheckEnd::Stopped {
                return Err(SessionError::CheckStopped { name: check.name.clone() });
            }
            self.ledger.keep(&self.read(&output)?)?;
            self.commit(Command::RecordCheck(Box::new(recorded(result))))?;
        }
        let results = self.state.checks.clone();
        self.commit(Command::FinishChecks)?;
        Ok(StepOutcome::Done(Performed::ChecksRan { phase, results }))
    }

    /// An unused path for the output of a check: an interrupted run may have left a file.
    fn output_path(&self, iteration: u32, stem: &str) -> Result<String, SessionError> {
        let directory = format!("iteration-{iteration}/checks");
        let files = self.ledger.files()?;
        files.create_directories(&directory).map_err(|error| self.ledger.unusable(&directory, error))?;
        let name = |number: u32| match number {
            1 => format!("{directory}/{stem}.txt"),
            number => format!("{directory}/{stem}-{number}.txt"),
        };
        Ok((1..=1_000).map(name).find(|name| !files.exists(name)).unwrap_or_else(|| name(1_001)))
    }

    /// The worktree with the approved files, or the project if the agent edits it directly.
    fn checked_directory(&self) -> Result<PathBuf, SessionError> {
        if self.setup()?.may_write_project(&self.state.flow, self.state.phase) {
            return Ok(self.engine.settings().project_root.clone());
        }
        let worktree = self.worktree()?;
        self.reset_worktree(&worktree)?;
        Ok(worktree.root().to_owned())
    }

    /// The artifact with the results of the last checks; `None` if none ran.
    pub(super) fn checks_artifact(&self) -> Result<Option<ReadArtifact>, SessionError> {
        let Some(first) = self.state.checks.first() else { return Ok(None) };
        let mut results = Vec::new();
        for result in &self.state.checks {
            let printed = match self.ledger.kept(&result.output.sha256) {
                Some(printed) => printed,
                None => self.read(&result.output.path)?,
            };
            results.push((shown(result), printed));
        }
        Ok(Some(ReadArtifact {
            name: "checks".to_owned(),
            path: self.ledger.shown(&first.output.path),
            text: checks::checks_text(&results, MAX_SHOWN_BYTES),
        }))
    }
}

/// The result in the form of the journal.
fn recorded(result: checks::CheckResult) -> CheckResult {
    let (ended, reason) = match result.ended {
        checks::CheckEnd::Exited | checks::CheckEnd::Stopped => (CheckEnd::Exited, None),
        checks::CheckEnd::TimedOut => (CheckEnd::TimedOut, None),
        checks::CheckEnd::TooMuchOutput => (CheckEnd::TooMuchOutput, None),
        checks::CheckEnd::NotStarted(reason) => (CheckEnd::NotStarted, Some(reason)),
    };
    CheckResult {
        name: result.name,
        command: result.run,
        ended,
        exit_code: result.exit_code,
        signal: result.signal,
        reason,
        millis: result.millis,
        output: FileHash { path: result.output.path, sha256: result.output.sha256 },
        n_bytes: result.output.n_bytes,
        notes: result.notes,
    }
}

/// The result in the form of reports and prompts.
pub(super) fn shown(result: &CheckResult) -> checks::CheckResult {
    checks::CheckResult {
        name: result.name.clone(),
        run: result.command.clone(),
        passed: result.is_passed(),
        ended: match result.ended {
            CheckEnd::Exited => checks::CheckEnd::Exited,
            CheckEnd::TimedOut => checks::CheckEnd::TimedOut,
            CheckEnd::TooMuchOutput => checks::CheckEnd::TooMuchOutput,
            CheckEnd::NotStarted => checks::CheckEnd::NotStarted(result.reason.clone().unwrap_or_default()),
        },
        exit_code: result.exit_code,
        signal: result.signal,
        millis: result.millis,
        output: checks::CheckOutput {
            path: result.output.path.clone(),
            sha256: result.output.sha256.clone(),
            n_bytes: result.n_bytes,
        },
        notes: result.notes.clone(),
    }
}
