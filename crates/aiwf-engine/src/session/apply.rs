//! Copies approved code into the project: shown first, refused on conflict, all or nothing.
//!
//! The intent, with the hash of every file before and after, is in the journal before the first byte is written; what
//! was there is kept. So the next command can finish what a crash left, or undo it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use aiwf_session::{AppliedFile, Command, decide};
use aiwf_store::{
    ConfinedDir, ConfinedError, Durability, EntryKind, LedgerDir, StoreError, is_reserved_dir, sha256_hex,
};
use serde::Serialize;

use super::files::artifact_names;
use super::journal;
use super::open_session::OpenSession;
use crate::Engine;
use crate::error::EngineError;
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

/// How code is copied.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// A directory in place of the profile's targets, relative to the current one.
    pub to: Option<PathBuf>,
    /// Only show what would be done.
    pub is_dry_run: bool,
    /// Replace files that exist with other content, and keep a backup of each.
    pub is_forced: bool,
}

/// What becomes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApplyChange {
    /// It is new.
    New,
    /// It replaces what the implementation was made from.
    Changed,
    /// It is there already.
    Same,
    /// Another file is there.
    Conflict,
}

/// One file of the code and where it goes.
#[derive(Clone, Debug, Serialize)]
pub struct ApplyFile {
    /// Its path below `code/`.
    pub name: String,
    /// Where it goes, relative to the project, or absolute.
    pub target: String,
    /// What becomes of it.
    pub change: ApplyChange,
    /// The tool that runs it by itself, when one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_by: Option<&'static str>,
    /// The difference to what is there.
    #[serde(skip)]
    pub diff: String,
}

/// What was copied, or would be.
#[derive(Clone, Debug, Serialize)]
pub struct ApplyReport {
    /// The session.
    pub session_id: String,
    /// The files, sorted by name.
    pub files: Vec<ApplyFile>,
    /// Whether they were written.
    pub applied: bool,
    /// Approved files that were derived from a file that changed later, relative to the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<String>,
}

impl ApplyReport {
    /// The files that would replace another.
    pub fn conflicts(&self) -> impl Iterator<Item = &ApplyFile> {
        self.files.iter().filter(|file| file.change == ApplyChange::Conflict)
    }
}

impl Engine {
    /// Copies the approved code of a complete session into the project.
    pub fn apply<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        options: &ApplyOptions,
    ) -> Result<ApplyReport, SessionError> {
        self.apply_watched(given, options, &|_| ())
    }

    /// The same, and tells of each target right before it is written.
    pub fn apply_watched<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        options: &ApplyOptions,
        watcher: &dyn Fn(&str),
    ) -> Result<ApplyReport, SessionError> {
        let ledger = journal::find_complete(self.settings(), given)?;
        let mut session = if options.is_dry_run {
            OpenSession::open_read_only(self, ledger)?
        } else {
            OpenSession::open(self, ledger)?
        };
        if session.state.applying.is_some() && options.is_dry_run {
            // What was cut short is settled before anything is copied; looking only shows what is there.
            session.state.applying = None;
        } else if session.state.applying.is_some() {
            session.settle_apply(options.to.as_deref())?;
        }
        decide(&session.state, Command::IntendApply { files: Vec::new() })?;
        session.refuse_stale()?;
        let planned = session.plan_apply(options)?;
        let report = ApplyReport {
            session_id: session.ledger.id.clone(),
            files: planned.iter().map(|file| file.report.clone()).collect(),
            applied: false,
            outdated: session.state.outdated.iter().map(|path| session.ledger.shown(path)).collect(),
        };
        if options.is_dry_run {
            return Ok(report);
        }
        if !options.is_forced && report.conflicts().next().is_some() {
            return Err(SessionError::Conflicts { report: Box::new(report) });
        }
        session.write_into_project(&planned, options, watcher)?;
        Ok(ApplyReport { applied: true, ..report })
    }
}

/// A file with its content and the place it goes to.
struct Planned {
    report: ApplyFile,
    /// Where it goes, relative to the base.
    below: String,
    content: Vec<u8>,
    before: Option<Vec<u8>>,
}

impl OpenSession<'_> {
    fn plan_apply(&mut self, options: &ApplyOptions) -> Result<Vec<Planned>, SessionError> {
        let code = self.newest_code()?;
        let context = self.setup()?.context.clone();
        let settings = self.engine.settings().clone();
        let texts: Vec<(String, String)> = code
            .iter()
            .map(|(name, content)| (name.clone(), String::from_utf8_lossy(content).into_owned()))
            .collect();
        let places: Vec<PathBuf> = if let Some(directory) = &options.to {
            texts.iter().map(|(name, _)| settings.current_dir.join(directory).join(name)).collect()
        } else {
            // A session that began with a request names its files as they are called in the project.
            if self.state.is_request() {
                texts.iter().map(|(name, _)| settings.project_root.join(name)).collect()
            } else {
                let files: Vec<(&str, &str)> =
                    texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
                let paths = self.profile()?.apply_paths(&files, &context).map_err(|problems| {
                    SessionError::NoPlace { problems: problems.iter().map(ToString::to_string).collect() }
                })?;
                paths.into_iter().map(|path| settings.project_root.join(path)).collect()
            }
        };
        let is_at_home = options.to.is_none();
        let made_from: BTreeMap<String, Option<String>> = self
            .state
            .change
            .files
            .iter()
            .filter(|_| is_at_home)
            .map(|file| (file.path.clone(), file.before.clone()))
            .collect();
        let base = self.base(options.to.as_deref());
        code.into_iter()
            .zip(places)
            .map(|((name, content), path)| {
                let below = below(&base, &path)?;
                let shown = path.strip_prefix(&settings.project_root).unwrap_or(&path);
                let is_reserved = |part: &OsStr| part.to_str().is_none_or(is_reserved_dir);
                // What is in the project is held to its rules, wherever `--to` leads.
                let is_in_project = path.starts_with(&settings.project_root);
                if below.split('/').any(is_reserved_dir) || (is_in_project && shown.iter().any(is_reserved)) {
                    return Err(SessionError::ReservedTarget { path: shown.display().to_string() });
                }
                let before = read_target(&base, &below, &path)?;
                let expected = made_from.get(&name);
                let found = before.as_deref().map(sha256_hex);
                let change = match &before {
                    Some(bytes) if *bytes == content => ApplyChange::Same,
                    // What a change edits is there; only what it was not made from is in the way.
                    Some(_) if expected.is_some_and(|expected| *expected == found) => ApplyChange::Changed,
                    Some(_) => ApplyChange::Conflict,
                    // A file that is gone was taken away by somebody.
                    None if expected.is_some_and(Option::is_some) => ApplyChange::Conflict,
                    None => ApplyChange::New,
                };
                let target = path.strip_prefix(&settings.project_root).unwrap_or(&path).display().to_string();
                let diff = unified(&target, before.as_deref(), &content);
                let run_by = aiwf_store::run_by(&target);
                let report = ApplyFile { name, target, change, run_by, diff };
                Ok(Planned { report, below, content, before })
            })
            .collect()
    }

    /// The code of the last iteration that has some, by path below `code/`.
    fn newest_code(&self) -> Result<Vec<(String, Vec<u8>)>, SessionError> {
        if self.state.is_request() && self.state.change.files.is_empty() {
            let id = self.ledger.label().to_owned();
            return Err(SessionError::NothingToApply { id, is_edited: !self.state.change.edited.is_empty() });
        }
        for iteration in (1..=self.state.iteration).rev() {
            let code = self.code(iteration)?;
            if !code.is_empty() {
                return Ok(code.into_iter().collect());
            }
        }
        Err(SessionError::NoArtifact {
            artifact: "code".to_owned(),
            id: self.ledger.label().to_owned(),
            known: artifact_names(&self.ledger, &self.state),
        })
    }

    fn write_into_project(
        &mut self,
        planned: &[Planned],
        options: &ApplyOptions,
        watcher: &dyn Fn(&str),
    ) -> Result<(), SessionError> {
        let changing: Vec<&Planned> =
            planned.iter().filter(|file| file.report.change != ApplyChange::Same).collect();
        let mut files = Vec::new();
        for file in &changing {
            let before = file.before.as_deref().map(|bytes| self.ledger.keep(bytes)).transpose()?;
            self.ledger.keep(&file.content)?;
            files.push(AppliedFile {
                target: file.report.target.clone(),
                before,
                after: sha256_hex(&file.content),
            });
        }
        self.commit(Command::IntendApply { files })?;
        let base = self.base(options.to.as_deref());
        let written = changing.iter().try_for_each(|file| {
            watcher(&file.report.target);
            write_one(&base, file)
        });
        match written {
            Ok(()) => self.commit(Command::RecordApplied),
            Err(error) => {
                self.settle_apply(options.to.as_deref())?;
                Err(error)
            }
        }
    }

    /// The directory that code is copied into: the project, or the one that was named.
    fn base(&self, to: Option<&Path>) -> PathBuf {
        let settings = self.engine.settings();
        to.map_or_else(|| settings.project_root.clone(), |to| settings.current_dir.join(to))
    }

    /// Copying is all or nothing: what is not whole is taken back.
    ///
    /// A target outside the project is touched only below a directory that this very command names: a journal may say
    /// anything.
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
        // Only what we wrote is taken back; what somebody changed since is theirs.
        for target in targets.iter().filter(|target| target.is_ours()) {
            let failed = |error: ConfinedError| StoreError {
                path: target.base.join(&target.below),
                source: error.into(),
            };
            let (directory, name) = target.open().map_err(failed)?;
            match &target.file.before {
                None => directory.remove_file(name).map_err(failed)?,
                Some(before) => {
                    let lost = || SessionError::NothingApproved { path: target.file.target.clone() };
                    let bytes = self.ledger.kept(before).ok_or_else(lost)?;
                    directory.write_if_unchanged(name, Some(&target.file.after), &bytes).map_err(failed)?;
                }
            }
        }
        self.commit(Command::RecordApplyUndone)
    }
}

/// A file that was to be put in place.
struct Target {
    base: PathBuf,
    below: String,
    file: AppliedFile,
}

impl Target {
    fn open(&self) -> Result<(ConfinedDir, &str), ConfinedError> {
        open_above(&self.base, &self.below)
    }

    /// Whether it holds what we were about to put there.
    fn is_ours(&self) -> bool {
        let found = self.open().and_then(|(directory, name)| directory.sha256(name));
        found.ok().flatten().as_ref() == Some(&self.file.after)
    }
}

/// Backups of one file; nobody replaces it as often.
const MAX_BACKUPS: u32 = 1_000;

/// Removes what a killed write left beside a target.
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
    let (above, name) = file.below.rsplit_once('/').unwrap_or(("", &file.below));
    let opened = LedgerDir::at(base).map_err(failed)?;
    let made = if above.is_empty() {
        opened.handle().try_clone().map_err(ConfinedError::from)
    } else {
        opened.create_directories(above)
    };
    let directory = made.map_err(failed)?;
    let before = file.before.as_deref().map(sha256_hex);
    // What a change was made from needs no backup: its bytes are kept, and it is no conflict.
    if let Some(bytes) = file.before.as_ref().filter(|_| file.report.change == ApplyChange::Conflict) {
        let numbered = |number: u32| match number {
            1 => format!("{name}.orig"),
            _ => format!("{name}.orig-{number}"),
        };
        // A backup with these very bytes is there when a command that was cut short is run again.
        let found = |number: u32| directory.sha256(&numbered(number));
        let usable = |number: &u32| found(*number).is_ok_and(|found| found.is_none() || found == before);
        let number = (1..=MAX_BACKUPS).find(usable).unwrap_or(MAX_BACKUPS);
        if found(number).map_err(failed)? != before {
            directory.write(&numbered(number), bytes, Durability::PowerLoss).map_err(failed)?;
        }
    }
    directory.write_if_unchanged(name, before.as_deref(), &file.content).map_err(failed)
}

/// A path relative to its base; a detour on the way could lead anywhere.
fn below(base: &Path, path: &Path) -> Result<String, SessionError> {
    let in_the_way = || SessionError::LinkInTheWay { path: path.display().to_string() };
    let relative = path.strip_prefix(base).map_err(|_outside| in_the_way())?;
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    relative.to_str().filter(|_| is_plain).map(str::to_owned).ok_or_else(in_the_way)
}

/// The directory of a target by its handle, and the target's name in it; no link below the base is followed.
fn open_above<'t>(base: &Path, below: &'t str) -> Result<(ConfinedDir, &'t str), ConfinedError> {
    let (above, name) = below.rsplit_once('/').unwrap_or(("", below));
    let mut parts = above.split('/').filter(|part| !part.is_empty());
    let directory = parts.try_fold(open_base(base)?, |directory, part| directory.directory(part))?;
    Ok((directory, name))
}

fn open_base(base: &Path) -> Result<ConfinedDir, ConfinedError> {
    match ConfinedDir::open(base) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(ConfinedError::Missing),
        opened => Ok(opened?),
    }
}

/// What is at a target; nothing when nothing is.
fn read_target(base: &Path, below: &str, path: &Path) -> Result<Option<Vec<u8>>, SessionError> {
    let read = open_above(base, below)
        .and_then(|(directory, name)| directory.read(name, crate::prompt::read::MAX_BYTES));
    match read {
        Ok(bytes) => Ok(bytes),
        Err(ConfinedError::Missing) => Ok(None),
        Err(ConfinedError::Link) => Err(SessionError::LinkInTheWay { path: path.display().to_string() }),
        Err(error) => Err(EngineError::Unreadable { path: path.to_owned(), source: error.into() }.into()),
    }
}

/// The difference between what is there and what comes, as a unified diff.
///
/// A file that a tool runs by itself is marked in a line before its header, which programs that read patches skip.
pub(super) fn unified(name: &str, before: Option<&[u8]>, after: &[u8]) -> String {
    let before = before.map(String::from_utf8_lossy);
    let after = String::from_utf8_lossy(after);
    let old = before.as_deref().unwrap_or_default();
    let old_name = if before.is_some() { format!("a/{name}") } else { "/dev/null".to_owned() };
    let mark = aiwf_store::run_by(name).map(|tool| format!("# {tool} runs this file by itself\n"));
    let diff = similar::TextDiff::from_lines(old, &after)
        .unified_diff()
        .header(&old_name, &format!("b/{name}"))
        .to_string();
    format!("{}{diff}", mark.filter(|_| !diff.is_empty()).unwrap_or_default())
}
