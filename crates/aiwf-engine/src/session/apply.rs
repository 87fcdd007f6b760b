//! Plans how approved code is applied to the project: shown first, refused on conflict, all or nothing.
//!
//! In: the approved files of a session and the project as it is. Out: the change of each file. `apply_write` writes the
//! files; `deliver` puts them on a branch or into a commit.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use aiwf_session::{Command, Gives, PhaseSpec, decide};
use aiwf_store::{ConfinedDir, ConfinedError, is_reserved_dir, sha256_hex};
use aiwf_worktree::Merged;
use serde::Serialize;

use super::diff::unified;
use super::files::artifact_names;
use super::journal;
use super::open_session::OpenSession;
use super::planned_writes::{names_of_writes, planned_writes};
use crate::Engine;
use crate::error::EngineError;
use crate::ledger::{Overlap, SessionRef};
use crate::session::session_error::SessionError;

#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct ApplyOptions {
    /// Target directory instead of the profile's targets, relative to the working directory.
    pub to: Option<PathBuf>,
    pub is_dry_run: bool,
    /// Replace files with other content, and keep a backup of each.
    pub is_forced: bool,
    /// Merge files that changed since, if the merge has no conflicts.
    pub merges: bool,
    /// The new branch that gets the result instead of the working tree; an empty name means one made from the title.
    pub branch: Option<String>,
    pub commits: bool,
    /// Refuse to write files that tools run automatically.
    pub refuses_self_running: bool,
}

/// The change of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApplyChange {
    New,
    /// It replaces the version that the code was made from.
    Changed,
    Same,
    Deleted,
    /// It changed since, and both changes merge cleanly.
    Merged,
    /// Another file is in its place.
    Conflict,
}

/// A file of the code and its target.
#[derive(Clone, Debug, Serialize)]
pub struct ApplyFile {
    /// Relative to `code/`.
    pub name: String,
    /// Relative to the project, or absolute.
    pub target: String,
    pub change: ApplyChange,
    /// The tool that runs it automatically, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_by: Option<&'static str>,
    #[serde(skip)]
    pub diff: String,
}

/// The result of an apply or a dry run.
#[derive(Clone, Debug, Serialize)]
pub struct ApplyReport {
    pub session_id: String,
    /// Sorted by name.
    pub files: Vec<ApplyFile>,
    /// `false` after a dry run.
    pub applied: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Approved files made from a file that changed later, relative to the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<String>,
    /// Other sessions that plan to write the same files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<Overlap>,
}

impl ApplyReport {
    /// The files whose target holds other content.
    pub fn conflicts(&self) -> impl Iterator<Item = &ApplyFile> {
        self.files.iter().filter(|file| file.change == ApplyChange::Conflict)
    }
}

impl Engine {
    /// Applies the approved code of a complete session to the project.
    pub fn apply<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        options: &ApplyOptions,
    ) -> Result<ApplyReport, SessionError> {
        self.apply_watched(given, options, &|_| ())
    }

    /// Like [`Self::apply`]; calls `watch` before each target is written.
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
            // An interrupted apply is settled first. A dry run only shows the files as they are.
            session.state.applying = None;
        } else if session.state.applying.is_some() {
            session.settle_apply(options.to.as_deref())?;
        }
        decide(&session.state, Command::IntendApply { files: Vec::new() })?;
        session.refuse_stale()?;
        let delivery = session.delivery(options)?;
        let planned = session.plan_apply(options)?;
        let report = ApplyReport {
            session_id: session.ledger.id.clone(),
            files: planned.iter().map(|file| file.report.clone()).collect(),
            applied: false,
            branch: delivery.branch.clone(),
            commit: None,
            outdated: session.state.outdated.iter().map(|path| session.ledger.shown(path)).collect(),
            overlaps: session.overlaps()?,
        };
        if options.is_dry_run {
            return Ok(report);
        }
        if options.refuses_self_running && report.files.iter().any(ApplyFile::is_run_by_tool) {
            return Err(SessionError::SelfRunningFiles { report: Box::new(report) });
        }
        let flag = session.flag_to_repeat(options)?;
        let refused = |is_written| move |error: SessionError| error.keeping_the_result(is_written, flag);
        if let Some(branch) = &delivery.branch {
            let commit = session.put_on_branch(branch).map_err(refused(false))?;
            return Ok(ApplyReport { applied: true, commit: Some(commit), ..report });
        }
        if !options.is_forced && report.conflicts().next().is_some() {
            let is_mergeable = !options.merges && session.changes_project() && options.to.is_none();
            return Err(SessionError::Conflicts { report: Box::new(report), is_mergeable });
        }
        if delivery.commits {
            session.engine.refuse_without_identity().map_err(refused(false))?;
        }
        if delivery.commits && !options.is_forced {
            session.refuse_uncommitted(&planned).map_err(refused(false))?;
        }
        session.write_into_project(&planned, options, watcher)?;
        let commit = if delivery.commits {
            Some(session.commit_in_place(&planned).map_err(refused(true))?)
        } else {
            None
        };
        Ok(ApplyReport { applied: true, commit, ..report })
    }
}

impl Engine {
    /// The other sessions that plan to write the files of the session to apply.
    pub fn overlaps_before_apply<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<Vec<Overlap>, SessionError> {
        let ledger = journal::find_complete(self.settings(), given)?;
        OpenSession::open_read_only(self, ledger)?.overlaps()
    }
}

impl ApplyFile {
    /// Whether a tool runs it automatically, and its content changes.
    fn is_run_by_tool(&self) -> bool {
        self.run_by.is_some() && !matches!(self.change, ApplyChange::Same | ApplyChange::Deleted)
    }
}

#[derive(Clone)]
pub(super) struct Planned {
    pub(super) report: ApplyFile,
    /// Relative to the base.
    pub(super) below: String,
    pub(super) content: Option<Vec<u8>>,
    pub(super) before: Option<Vec<u8>>,
    pub(super) executable: Option<bool>,
}

impl Planned {
    pub(super) fn is_changing(&self) -> bool {
        self.report.change != ApplyChange::Same
    }
}

/// The version that a file was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// Not known.
    Unknown,
    /// The file did not exist.
    Nothing,
    /// The SHA-256 of the file.
    File(String),
}

impl Origin {
    fn of(before: Option<String>) -> Self {
        before.map_or(Self::Nothing, Self::File)
    }
}

/// A code file before it is compared with the project.
struct Source {
    /// Relative to `code/`.
    name: String,
    content: Option<Vec<u8>>,
    executable: Option<bool>,
    made_from: Origin,
}

impl OpenSession<'_> {
    /// Other sessions that plan to write the same files.
    fn overlaps(&self) -> Result<Vec<Overlap>, SessionError> {
        let writes = planned_writes(&self.ledger, &self.state);
        self.engine.overlaps_of(&self.ledger.id, &names_of_writes(&self.state), &writes)
    }

    fn plan_apply(&mut self, options: &ApplyOptions) -> Result<Vec<Planned>, SessionError> {
        let sources = self.sources(options)?;
        let places = self.places(&sources, options)?;
        let base = self.base(options.to.as_deref());
        let inputs: Vec<String> = self.setup()?.inputs.iter().map(|file| file.sha256.clone()).collect();
        sources
            .into_iter()
            .zip(places)
            .map(|(source, path)| self.plan_file(source, &path, &base, &inputs, options))
            .collect()
    }

    fn plan_file(
        &self,
        source: Source,
        path: &Path,
        base: &Path,
        inputs: &[String],
        options: &ApplyOptions,
    ) -> Result<Planned, SessionError> {
        let root = &self.engine.settings().project_root;
        let below = below(base, path)?;
        let shown = path.strip_prefix(root).unwrap_or(path);
        let is_reserved = |part: &OsStr| part.to_str().is_none_or(is_reserved_dir);
        // Targets inside the project obey its rules, even with `--to`.
        let is_in_project = path.starts_with(root);
        if below.split('/').any(is_reserved_dir) || (is_in_project && shown.iter().any(is_reserved)) {
            return Err(SessionError::ReservedTarget { path: shown.display().to_string() });
        }
        let before = read_target(base, &below, path)?;
        let found = before.as_deref().map(sha256_hex);
        let is_as_expected = source.made_from == Origin::of(found.clone());
        // Input files of the session are meant to be changed.
        let is_input = found.as_ref().is_some_and(|found| inputs.contains(found));
        let mut content = source.content;
        let change = match (&before, &content) {
            (None, None) => ApplyChange::Same,
            (Some(bytes), Some(content)) if bytes == content => match source.executable {
                Some(_) if is_as_expected => ApplyChange::Changed,
                _ => ApplyChange::Same,
            },
            (Some(_), None) if is_as_expected => ApplyChange::Deleted,
            // An edited file is expected to exist; only content that it was not made from is a conflict.
            (Some(_), Some(_)) if is_as_expected || is_input => ApplyChange::Changed,
            (Some(bytes), Some(new)) if options.merges => {
                match self.merged(&source.made_from, bytes, new)? {
                    Some(merged) => {
                        content = Some(merged);
                        ApplyChange::Merged
                    }
                    None => ApplyChange::Conflict,
                }
            }
            (Some(_), _) => ApplyChange::Conflict,
            // The user deleted the file meanwhile.
            (None, Some(_)) if matches!(source.made_from, Origin::File(_)) => ApplyChange::Conflict,
            (None, Some(_)) => ApplyChange::New,
        };
        let target = shown.display().to_string();
        let diff = unified(&target, before.as_deref(), content.as_deref());
        let run_by = aiwf_store::run_by(&target);
        let report = ApplyFile { name: source.name, target, change, run_by, diff };
        Ok(Planned { report, below, content, before, executable: source.executable })
    }

    /// Merges both changes of a file; `None` if they touch the same lines or the origin is not known.
    fn merged(
        &self,
        made_from: &Origin,
        ours: &[u8],
        theirs: &[u8],
    ) -> Result<Option<Vec<u8>>, SessionError> {
        let Origin::File(sha256) = made_from else { return Ok(None) };
        let Some(origin) = self.ledger.kept(sha256) else { return Ok(None) };
        match aiwf_worktree::merge(&origin, ours, theirs, &self.engine.call_context().stop)? {
            Merged::Clean(merged) => Ok(Some(merged)),
            Merged::Conflict(_) => Ok(None),
        }
    }

    /// Whether the result has the project's own paths, instead of those that a profile gives its code.
    fn changes_project(&self) -> bool {
        let gives_edits = |spec: &PhaseSpec| spec.gives == Gives::Edits;
        self.state.is_request() || self.state.flow.phases.iter().any(gives_edits)
    }

    /// The changes of the project, or else the newest code.
    fn sources(&self, options: &ApplyOptions) -> Result<Vec<Source>, SessionError> {
        if !self.changes_project() {
            let source = |(name, content)| Source {
                name,
                content: Some(content),
                executable: None,
                made_from: Origin::Unknown,
            };
            return Ok(self.newest_code()?.into_iter().map(source).collect());
        }
        let changes = self.approved_changes()?;
        if changes.is_empty() {
            let id = self.ledger.label().to_owned();
            return Err(SessionError::NothingToApply { id, is_edited: !self.state.change.edited.is_empty() });
        }
        // Another directory does not contain the versions the code was made from, and nothing to delete.
        let is_at_home = options.to.is_none();
        let sources = changes.iter().filter(|(_, file)| is_at_home || file.content.is_some());
        Ok(sources
            .map(|(path, file)| Source {
                name: path.to_owned(),
                content: file.content.clone(),
                executable: file.executable,
                made_from: if is_at_home { Origin::of(file.before.clone()) } else { Origin::Unknown },
            })
            .collect())
    }

    fn places(&mut self, sources: &[Source], options: &ApplyOptions) -> Result<Vec<PathBuf>, SessionError> {
        let settings = self.engine.settings().clone();
        let below = |base: PathBuf| sources.iter().map(|source| base.join(&source.name)).collect();
        if let Some(directory) = &options.to {
            return Ok(below(settings.current_dir.join(directory)));
        }
        if self.changes_project() {
            return Ok(below(settings.project_root));
        }
        let context = self.setup()?.context.clone();
        let decoded = |source: &Source| {
            let bytes = source.content.as_deref().unwrap_or_default();
            (source.name.clone(), String::from_utf8_lossy(bytes).into_owned())
        };
        let named: Vec<(String, String)> = sources.iter().map(decoded).collect();
        let files: Vec<(&str, &str)> =
            named.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let paths = self.profile()?.apply_paths(&files, &context).map_err(|problems| {
            SessionError::NoPlace { problems: problems.iter().map(ToString::to_string).collect() }
        })?;
        Ok(paths.into_iter().map(|path| settings.project_root.join(path)).collect())
    }

    /// The code of the last iteration that has any, by path relative to `code/`.
    fn newest_code(&self) -> Result<Vec<(String, Vec<u8>)>, SessionError> {
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

    /// The project, or the target directory that the user named.
    pub(super) fn base(&self, to: Option<&Path>) -> PathBuf {
        let settings = self.engine.settings();
        to.map_or_else(|| settings.project_root.clone(), |to| settings.current_dir.join(to))
    }
}

/// Makes a path relative to its base. Paths with `..` are refused.
pub(super) fn below(base: &Path, path: &Path) -> Result<String, SessionError> {
    let in_the_way = || SessionError::LinkInTheWay { path: path.display().to_string() };
    let relative = path.strip_prefix(base).map_err(|_outside| in_the_way())?;
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    relative.to_str().filter(|_| is_plain).map(str::to_owned).ok_or_else(in_the_way)
}

/// Opens the directory of a target, following no links below the base; returns it with the target's name.
pub(super) fn open_above<'t>(base: &Path, below: &'t str) -> Result<(ConfinedDir, &'t str), ConfinedError> {
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

/// The content of a target; `None` if it does not exist.
pub(super) fn read_target(base: &Path, below: &str, path: &Path) -> Result<Option<Vec<u8>>, SessionError> {
    let read = open_above(base, below)
        .and_then(|(directory, name)| directory.read(name, crate::prompt::read::MAX_BYTES));
    match read {
        Ok(bytes) => Ok(bytes),
        Err(ConfinedError::Missing) => Ok(None),
        Err(ConfinedError::Link) => Err(SessionError::LinkInTheWay { path: path.display().to_string() }),
        Err(error) => Err(EngineError::Unreadable { path: path.to_owned(), source: error.into() }.into()),
    }
}
