//! Applies approved code to the project: shown first, refused on conflict, all or nothing.
//!
//! In: what a session approved and the project as it is. Out: what becomes of each file. `apply_write` writes it, and
//! `deliver` puts it on a branch or into a commit.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use aiwf_session::{Command, decide};
use aiwf_store::{ConfinedDir, ConfinedError, is_reserved_dir, sha256_hex};
use aiwf_worktree::Merged;
use serde::Serialize;

use super::diff::unified;
use super::files::artifact_names;
use super::journal;
use super::open_session::OpenSession;
use crate::Engine;
use crate::error::EngineError;
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

/// How code is copied.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct ApplyOptions {
    /// A directory in place of the profile's targets, relative to the current one.
    pub to: Option<PathBuf>,
    /// Only show what would be done.
    pub is_dry_run: bool,
    /// Replace files that exist with other content, and keep a backup of each.
    pub is_forced: bool,
    /// Merge files that changed since with what the session made of them, where that is clean.
    pub merges: bool,
    /// Put the result on a new branch of this name instead of into the working tree; an empty name stands for one made
    /// from the title.
    pub branch: Option<String>,
    /// Commit the result.
    pub commits: bool,
    /// Keep out what tools run by themselves, and stop instead.
    pub refuses_self_running: bool,
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
    /// It is deleted.
    Deleted,
    /// It changed since, and both changes fit together.
    Merged,
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
    /// The branch they were put on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
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
        let delivery = session.delivery(options)?;
        let planned = session.plan_apply(options)?;
        let report = ApplyReport {
            session_id: session.ledger.id.clone(),
            files: planned.iter().map(|file| file.report.clone()).collect(),
            applied: false,
            branch: delivery.branch.clone(),
            commit: None,
            outdated: session.state.outdated.iter().map(|path| session.ledger.shown(path)).collect(),
        };
        if options.is_dry_run {
            return Ok(report);
        }
        if options.refuses_self_running && report.files.iter().any(ApplyFile::is_run_by_tool) {
            return Err(SessionError::SelfRunningFiles { report: Box::new(report) });
        }
        if let Some(branch) = &delivery.branch {
            let commit = session.put_on_branch(branch)?;
            return Ok(ApplyReport { applied: true, commit: Some(commit), ..report });
        }
        if !options.is_forced && report.conflicts().next().is_some() {
            return Err(SessionError::Conflicts { report: Box::new(report) });
        }
        session.write_into_project(&planned, options, watcher)?;
        let commit = if delivery.commits { Some(session.commit_in_place(&planned)?) } else { None };
        Ok(ApplyReport { applied: true, commit, ..report })
    }
}

impl ApplyFile {
    /// Whether a tool will run it without anybody asking for it, and it changes.
    fn is_run_by_tool(&self) -> bool {
        self.run_by.is_some() && !matches!(self.change, ApplyChange::Same | ApplyChange::Deleted)
    }
}

/// A file with its content and the place it goes to.
#[derive(Clone)]
pub(super) struct Planned {
    pub(super) report: ApplyFile,
    /// Where it goes, relative to the base.
    pub(super) below: String,
    /// What it is to be; nothing when it is deleted.
    pub(super) content: Option<Vec<u8>>,
    pub(super) before: Option<Vec<u8>>,
    pub(super) executable: Option<bool>,
}

impl Planned {
    pub(super) fn is_changing(&self) -> bool {
        self.report.change != ApplyChange::Same
    }
}

/// What a file was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// Nobody knows.
    Unknown,
    /// The project held no such file.
    Nothing,
    /// A file with this SHA-256.
    File(String),
}

impl Origin {
    fn of(before: Option<String>) -> Self {
        before.map_or(Self::Nothing, Self::File)
    }
}

/// A file of the code before it is compared with the project.
struct Source {
    /// Its path below `code/`.
    name: String,
    content: Option<Vec<u8>>,
    executable: Option<bool>,
    made_from: Origin,
}

impl OpenSession<'_> {
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
        // What is in the project is held to its rules, wherever `--to` leads.
        let is_in_project = path.starts_with(root);
        if below.split('/').any(is_reserved_dir) || (is_in_project && shown.iter().any(is_reserved)) {
            return Err(SessionError::ReservedTarget { path: shown.display().to_string() });
        }
        let before = read_target(base, &below, path)?;
        let found = before.as_deref().map(sha256_hex);
        let is_as_expected = source.made_from == Origin::of(found.clone());
        // A file that the session was given is there to be changed.
        let is_input = found.as_ref().is_some_and(|found| inputs.contains(found));
        let mut content = source.content;
        let change = match (&before, &content) {
            (None, None) => ApplyChange::Same,
            (Some(bytes), Some(content)) if bytes == content => match source.executable {
                Some(_) if is_as_expected => ApplyChange::Changed,
                _ => ApplyChange::Same,
            },
            (Some(_), None) if is_as_expected => ApplyChange::Deleted,
            // What a change edits is there; only what it was not made from is in the way.
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
            // A file that is gone was taken away by somebody.
            (None, Some(_)) if matches!(source.made_from, Origin::File(_)) => ApplyChange::Conflict,
            (None, Some(_)) => ApplyChange::New,
        };
        let target = shown.display().to_string();
        let diff = unified(&target, before.as_deref(), content.as_deref());
        let run_by = aiwf_store::run_by(&target);
        let report = ApplyFile { name: source.name, target, change, run_by, diff };
        Ok(Planned { report, below, content, before, executable: source.executable })
    }

    /// Both changes of a file together; nothing when they touch the same lines, or when its origin is not known.
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

    /// What is to be applied: the changes of a session that began with a request, else the newest code.
    fn sources(&self, options: &ApplyOptions) -> Result<Vec<Source>, SessionError> {
        if !self.state.is_request() {
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
        // In another directory nothing is what the session was made from, and there is nothing to delete.
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

    /// Where each file goes.
    fn places(&mut self, sources: &[Source], options: &ApplyOptions) -> Result<Vec<PathBuf>, SessionError> {
        let settings = self.engine.settings().clone();
        let below = |base: PathBuf| sources.iter().map(|source| base.join(&source.name)).collect();
        if let Some(directory) = &options.to {
            return Ok(below(settings.current_dir.join(directory)));
        }
        // A session that began with a request names its files as they are called in the project.
        if self.state.is_request() {
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

    /// The code of the last iteration that has some, by path below `code/`.
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

    /// The directory that code is copied into: the project, or the one that was named.
    pub(super) fn base(&self, to: Option<&Path>) -> PathBuf {
        let settings = self.engine.settings();
        to.map_or_else(|| settings.project_root.clone(), |to| settings.current_dir.join(to))
    }
}

/// A path relative to its base; a detour on the way could lead anywhere.
pub(super) fn below(base: &Path, path: &Path) -> Result<String, SessionError> {
    let in_the_way = || SessionError::LinkInTheWay { path: path.display().to_string() };
    let relative = path.strip_prefix(base).map_err(|_outside| in_the_way())?;
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    relative.to_str().filter(|_| is_plain).map(str::to_owned).ok_or_else(in_the_way)
}

/// The directory of a target by its handle, and the target's name in it; no link below the base is followed.
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

/// What is at a target; nothing when nothing is.
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
