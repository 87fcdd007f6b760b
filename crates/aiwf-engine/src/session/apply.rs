//! Copies approved code into the project: shown first, refused on conflict, all or nothing.
//!
//! The intent, with the hash of every file before and after, is in the journal before the first byte is written; what
//! was there is kept. So the next command can finish what a crash left, or undo it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use aiwf_session::{AppliedFile, Command, Flow, decide};
use aiwf_store::{Durability, sha256_hex, write_atomic};
use serde::Serialize;

use super::directory::{self, Which};
use super::work::Work;
use crate::Engine;
use crate::error::EngineError;
use crate::session_error::SessionError;

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
        given: impl Into<Which<'a>>,
        options: &ApplyOptions,
    ) -> Result<ApplyReport, SessionError> {
        let mut work = Work::open(self, directory::find(self.settings(), given)?)?;
        if work.state.applying.is_some() {
            work.settle_apply()?;
        }
        decide(&work.state, Command::IntendApply { files: Vec::new() })?;
        work.refuse_stale()?;
        let planned = work.plan_apply(options)?;
        let report = ApplyReport {
            session_id: work.directory.id.clone(),
            files: planned.iter().map(|file| file.report.clone()).collect(),
            applied: false,
            outdated: work.state.outdated.iter().map(|path| work.directory.shown(path)).collect(),
        };
        if options.is_dry_run {
            return Ok(report);
        }
        if !options.is_forced && report.conflicts().next().is_some() {
            return Err(SessionError::Conflicts { report: Box::new(report) });
        }
        work.write_into_project(&planned)?;
        Ok(ApplyReport { applied: true, ..report })
    }
}

/// A file with its content and the place it goes to.
struct Planned {
    report: ApplyFile,
    path: PathBuf,
    content: Vec<u8>,
    before: Option<Vec<u8>>,
}

impl Work<'_> {
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
            // A change names its files as they are called in the project.
            if self.state.flow() == Flow::Change {
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
        code.into_iter()
            .zip(places)
            .map(|((name, content), path)| {
                let base = options
                    .to
                    .as_ref()
                    .map_or(settings.project_root.clone(), |to| settings.current_dir.join(to));
                refuse_links(&base, &path)?;
                let before = match std::fs::read(&path) {
                    Ok(bytes) => Some(bytes),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                    Err(source) => return Err(EngineError::Unreadable { path, source }.into()),
                };
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
                Ok(Planned { report, path, content, before })
            })
            .collect()
    }

    /// The code of the last iteration that has some, by path below `code/`.
    fn newest_code(&self) -> Result<Vec<(String, Vec<u8>)>, SessionError> {
        if self.state.flow() == Flow::Change && self.state.change.files.is_empty() {
            let id = self.directory.id.clone();
            return Err(SessionError::NothingToApply { id, is_edited: !self.state.change.edited.is_empty() });
        }
        for iteration in (1..=self.state.iteration).rev() {
            let code = self.code(iteration)?;
            if !code.is_empty() {
                return Ok(code.into_iter().collect());
            }
        }
        Err(SessionError::NoArtifact { artifact: "code".to_owned(), id: self.directory.id.clone() })
    }

    fn write_into_project(&mut self, planned: &[Planned]) -> Result<(), SessionError> {
        let changing: Vec<&Planned> =
            planned.iter().filter(|file| file.report.change != ApplyChange::Same).collect();
        let objects = self.directory.objects();
        let mut files = Vec::new();
        for file in &changing {
            let before = file.before.as_deref().map(|bytes| objects.keep(bytes)).transpose()?;
            objects.keep(&file.content)?;
            files.push(AppliedFile {
                target: file.report.target.clone(),
                before,
                after: sha256_hex(&file.content),
            });
        }
        self.commit(Command::IntendApply { files })?;
        let written = changing.iter().try_for_each(|file| write_one(file));
        match written {
            Ok(()) => self.commit(Command::RecordApplied),
            Err(error) => {
                self.settle_apply()?;
                Err(error)
            }
        }
    }

    /// Copying is all or nothing: what is not whole is taken back.
    pub(super) fn settle_apply(&mut self) -> Result<(), SessionError> {
        let files = self.state.applying.clone().unwrap_or_default();
        // A target is relative to the project, unless it lies elsewhere.
        let root = self.engine.settings().project_root.clone();
        let found =
            |file: &AppliedFile| std::fs::read(root.join(&file.target)).ok().map(|bytes| sha256_hex(&bytes));
        for file in &files {
            remove_leftovers(&root.join(&file.target))?;
        }
        if files.iter().all(|file| found(file).as_deref() == Some(file.after.as_str())) {
            return self.commit(Command::RecordApplied);
        }
        for file in &files {
            // Only what we wrote is taken back; what somebody changed since is theirs.
            if found(file).as_deref() != Some(file.after.as_str()) {
                continue;
            }
            let path = &root.join(&file.target);
            match &file.before {
                None => aiwf_store::remove(path)?,
                Some(before) => {
                    let kept = self.directory.objects().get(before).ok().flatten();
                    let bytes =
                        kept.ok_or_else(|| SessionError::NothingApproved { path: file.target.clone() })?;
                    write_atomic(path, Durability::PowerLoss, |out| out.write_all(&bytes))?;
                }
            }
        }
        self.commit(Command::RecordApplyUndone)
    }
}

/// Backups of one file; nobody replaces it as often.
const MAX_BACKUPS: u32 = 1_000;

/// Removes what a killed write left beside a target.
fn remove_leftovers(target: &Path) -> Result<(), SessionError> {
    let Some(entries) = target.parent().and_then(|parent| std::fs::read_dir(parent).ok()) else {
        return Ok(());
    };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let is_ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp-aiwf-"));
        if is_ours && path.is_file() {
            aiwf_store::remove(&path)?;
        }
    }
    Ok(())
}

fn write_one(file: &Planned) -> Result<(), SessionError> {
    if let Some(parent) = file.path.parent() {
        aiwf_store::create_dir(parent)?;
    }
    // What a change was made from needs no backup: its bytes are kept, and it is no conflict.
    if let Some(before) = file.before.as_ref().filter(|_| file.report.change == ApplyChange::Conflict) {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbered = |number: u32| match number {
            1 => file.path.with_file_name(format!("{name}.orig")),
            _ => file.path.with_file_name(format!("{name}.orig-{number}")),
        };
        let backup = (1..=MAX_BACKUPS)
            .map(numbered)
            .find(|path| !path.exists())
            .unwrap_or_else(|| numbered(MAX_BACKUPS));
        write_atomic(&backup, Durability::PowerLoss, |out| out.write_all(before))?;
    }
    write_atomic(&file.path, Durability::PowerLoss, |out| out.write_all(&file.content))?;
    Ok(())
}

/// A link between the base and the target could lead anywhere.
fn refuse_links(base: &Path, path: &Path) -> Result<(), SessionError> {
    let Ok(relative) = path.strip_prefix(base) else {
        return Err(SessionError::LinkInTheWay { path: path.display().to_string() });
    };
    let mut current = base.to_owned();
    for part in relative.components() {
        if !matches!(part, Component::Normal(_)) {
            return Err(SessionError::LinkInTheWay { path: path.display().to_string() });
        }
        current.push(part);
        if current.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(SessionError::LinkInTheWay { path: current.display().to_string() });
        }
    }
    Ok(())
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
