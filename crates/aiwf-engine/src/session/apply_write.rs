//! Writes an apply into the project: all files or none.
//!
//! The journal records the hash of every file before and after, and the old bytes are stored, before the first byte is
//! written. So the next command can finish an interrupted apply or roll it back.

use std::path::{Path, PathBuf};

use aiwf_session::{AppliedFile, Command};
use aiwf_store::{ConfinedDir, ConfinedError, Durability, EntryKind, LedgerDir, StoreError, sha256_hex};

use super::apply::{ApplyChange, ApplyOptions, Planned, below, open_above};
use super::open_session::OpenSession;
use crate::session::session_error::SessionError;

impl OpenSession<'_> {
    pub(super) fn write_into_project(
        &mut self,
        planned: &[Planned],
        options: &ApplyOptions,
        watcher: &dyn Fn(&str),
    ) -> Result<(), SessionError> {
        let mut files = Vec::new();
        for file in planned.iter().filter(|file| file.is_changing()) {
            let before = file.before.as_deref().map(|bytes| self.ledger.keep(bytes)).transpose()?;
            let after = file.content.as_deref().map(|bytes| self.ledger.keep(bytes)).transpose()?;
            let target = file.report.target.clone();
            // A deleted file gets its executable bit back when the apply is undone.
            let loses_bit = after.is_none() && self.is_executable(&target);
            let executable = if loses_bit { Some(false) } else { file.executable };
            files.push(AppliedFile { target, before, after, executable });
        }
        if files.is_empty() && self.state.is_applied {
            // Nothing is written, so what `undo` restores stays what the last apply replaced.
            return Ok(());
        }
        self.commit(Command::IntendApply { files })?;
        let base = self.base(options.to.as_deref());
        let changing: Vec<Planned> = planned.iter().filter(|file| file.is_changing()).cloned().collect();
        self.write_intended(&changing, &base, options.to.as_deref(), watcher)
    }

    /// Writes the files that the journal announced. If one fails, the others are rolled back.
    pub(super) fn write_intended(
        &mut self,
        planned: &[Planned],
        base: &Path,
        to: Option<&Path>,
        watcher: &dyn Fn(&str),
    ) -> Result<(), SessionError> {
        let written = planned.iter().try_for_each(|file| {
            watcher(&file.report.target);
            write_one(base, file)
        });
        match written {
            Ok(()) => self.commit(Command::RecordApplied),
            Err(error) => {
                self.settle_apply(to)?;
                Err(error)
            }
        }
    }

    /// Rolls back an interrupted apply.
    ///
    /// A target outside the project is touched only in a directory that this command names, because a foreign journal
    /// could name any path.
    pub(super) fn settle_apply(&mut self, to: Option<&Path>) -> Result<(), SessionError> {
        let files = self.state.applying.clone().unwrap_or_default();
        let root = self.engine.settings().project_root.clone();
        let mut targets = Vec::new();
        for file in files {
            let path = root.join(&file.target);
            let named = self.base(to);
            let base = if path.starts_with(&named) { named } else { root.clone() };
            let Ok(below) = below(&base, &path) else {
                return Err(SessionError::ApplyElsewhere {
                    id: self.ledger.label().to_owned(),
                    path: file.target.clone(),
                });
            };
            targets.push(Target { base, below, file });
        }
        for target in &targets {
            if let Ok((directory, _)) = target.open() {
                remove_leftovers(&directory)?;
            }
        }
        if targets.iter().all(Target::is_ours) {
            return self.commit(Command::RecordApplied);
        }
        // Files that changed since are the user's and stay.
        for target in targets.iter().filter(|target| target.is_ours()) {
            let lost = || SessionError::NothingApproved { path: target.file.target.clone() };
            let before = match &target.file.before {
                Some(before) => Some(self.ledger.kept(before).ok_or_else(lost)?),
                None => None,
            };
            target.take_back(before.as_deref()).map_err(|error| StoreError {
                path: target.base.join(&target.below),
                source: error.into(),
            })?;
        }
        self.commit(Command::RecordApplyUndone)
    }
}

/// A file that an apply was going to write.
struct Target {
    base: PathBuf,
    below: String,
    file: AppliedFile,
}

impl Target {
    fn open(&self) -> Result<(ConfinedDir, &str), ConfinedError> {
        open_above(&self.base, &self.below)
    }

    /// Whether it still has the content that the apply wrote.
    fn is_ours(&self) -> bool {
        let found = self.open().and_then(|(directory, name)| directory.sha256(name));
        match found {
            Ok(found) => found == self.file.after,
            // Its directory was deleted, too.
            Err(ConfinedError::Missing) => self.file.after.is_none(),
            Err(_) => false,
        }
    }

    /// Restores the old content.
    fn take_back(&self, before: Option<&[u8]>) -> Result<(), ConfinedError> {
        let (directory, name) = open_or_create(&self.base, &self.below)?;
        let after = self.file.after.as_deref();
        match before {
            Some(bytes) if self.file.before != self.file.after => {
                directory.write_if_unchanged(name, after, bytes)?;
            }
            Some(_) => {}
            None => directory.remove_file(name)?,
        }
        match self.file.executable {
            Some(executable) if before.is_some() => directory.set_executable(name, !executable),
            Some(_) | None => Ok(()),
        }
    }
}

/// Upper bound for backups of one file.
const MAX_BACKUPS: u32 = 1_000;

/// Removes temporary files of a killed process.
fn remove_leftovers(directory: &ConfinedDir) -> Result<(), SessionError> {
    let entries = directory.entries().unwrap_or_default();
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
        if entry.name.starts_with(".tmp-aiwf-") {
            directory
                .remove_file(&entry.name)
                .map_err(|error| StoreError { path: PathBuf::from(&entry.name), source: error.into() })?;
        }
    }
    Ok(())
}

fn write_one(base: &Path, file: &Planned) -> Result<(), SessionError> {
    let target = file.report.target.as_str();
    let failed = |error: ConfinedError| {
        if matches!(error, ConfinedError::Changed) {
            return SessionError::TargetChanged { path: target.to_owned() };
        }
        StoreError { path: base.join(&file.below), source: error.into() }.into()
    };
    aiwf_store::create_dir(base)?;
    let (directory, name) = open_or_create(base, &file.below).map_err(failed)?;
    let before = file.before.as_deref().map(sha256_hex);
    // No backup is needed where the old content is stored in the session.
    if let Some(bytes) = file.before.as_ref().filter(|_| file.report.change == ApplyChange::Conflict) {
        let numbered = |number: u32| match number {
            1 => format!("{name}.orig"),
            _ => format!("{name}.orig-{number}"),
        };
        // A repeated command finds the backup of its first attempt.
        let found = |number: u32| directory.sha256(&numbered(number));
        let usable = |number: &u32| found(*number).is_ok_and(|found| found.is_none() || found == before);
        let number = (1..=MAX_BACKUPS).find(usable).unwrap_or(MAX_BACKUPS);
        if found(number).map_err(failed)? != before {
            directory.write(&numbered(number), bytes, Durability::PowerLoss).map_err(failed)?;
        }
    }
    let Some(content) = &file.content else {
        return directory.remove_if_unchanged(name, before.as_deref()).map_err(failed);
    };
    if file.before.as_ref() != Some(content) {
        directory.write_if_unchanged(name, before.as_deref(), content).map_err(failed)?;
    }
    match file.executable {
        Some(executable) => directory.set_executable(name, executable).map_err(failed),
        None => Ok(()),
    }
}

/// Opens the directory of a target, creating it if needed and following no links; returns it with the target's name.
fn open_or_create<'t>(base: &Path, below: &'t str) -> Result<(ConfinedDir, &'t str), ConfinedError> {
    let (above, name) = below.rsplit_once('/').unwrap_or(("", below));
    let opened = LedgerDir::at(base)?;
    let directory =
        if above.is_empty() { opened.handle().try_clone()? } else { opened.create_directories(above)? };
    Ok((directory, name))
}
