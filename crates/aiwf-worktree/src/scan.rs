//! Compares a worktree with what it was when it was made.
//!
//! In: the files as they are now and the manifest. Out: changes, what cannot be copied back, and what ignore rules leave
//! out, with paths from the top. Nothing of the repository in the worktree is looked at, and no link is followed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use aiwf_process::Stop;
use aiwf_store::{ConfinedDir, ConfinedError, EntryKind, EntryStat, MAX_LEDGER_FILE_BYTES, is_reserved_dir};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::changes::{Change, ChangeKind, Changes, Refused, RefusedReason};
use crate::error::WorktreeError;
use crate::manifest::{Entry, Manifest};
use crate::tree::{Tree, io_error};
use crate::worktree::is_at_or_below;

/// The largest file that a plan may have: it is kept in the session's ledger.
pub(crate) const MAX_FILE_BYTES: u64 = MAX_LEDGER_FILE_BYTES;
/// The longest file of ignore rules that is read.
const MAX_RULES_BYTES: u64 = 1024 * 1024;
/// How many ignored files and directories are named.
const MAX_IGNORED: usize = 50;

/// What became different, with paths from the top.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) changes: Vec<Change>,
    pub(crate) refused: Vec<Refused>,
    pub(crate) ignored: Vec<String>,
    n_ignored: usize,
}

impl Scan {
    pub(crate) fn of(
        top: &Path,
        manifest: &Manifest,
        exclude: &Path,
        stop: &Stop,
    ) -> Result<Self, WorktreeError> {
        let mut scan = Self::default();
        let mut tree = Tree::open(top)?;
        for (path, entry) in &manifest.files {
            check(stop)?;
            scan.compare(&mut tree, path, entry).map_err(|error| io_error("read", top, path, error))?;
        }
        let root = tree.directory("").ok().flatten();
        let root = root.ok_or_else(|| io_error("open", top, "", ConfinedError::Missing))?;
        let mut walk =
            Walk { top, manifest, stop, scan: &mut scan, rules: vec![global_rules(), rules_in(exclude)] };
        walk.directory(&root, "")?;
        scan.pair_renamed();
        scan.changes.sort_by(|a, b| a.path.cmp(&b.path));
        scan.refused.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(scan)
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.changes.is_empty() && self.refused.is_empty()
    }

    /// The same with paths from the project; a change elsewhere is refused.
    pub(crate) fn in_project(self, below: &str) -> Changes {
        let inside = |path: &str| path.strip_prefix(below).map(str::to_owned);
        let refuse = |problem: Refused| match inside(&problem.path) {
            Some(path) => Refused { path, ..problem },
            None => outside(below, &problem.path),
        };
        let mut refused: Vec<Refused> = self.refused.into_iter().map(refuse).collect();
        let mut changes: Vec<Change> = Vec::new();
        for change in self.changes {
            let kind = match change.kind {
                ChangeKind::Renamed { from } => {
                    let inside = inside(&from).map(|from| ChangeKind::Renamed { from });
                    inside.unwrap_or_else(|| {
                        refused.push(outside(below, &from));
                        ChangeKind::Added
                    })
                }
                kind @ (ChangeKind::Added | ChangeKind::Changed | ChangeKind::Deleted) => kind,
            };
            match inside(&change.path) {
                Some(path) => changes.push(Change { path, kind, ..change }),
                None => refused.push(outside(below, &change.path)),
            }
        }
        refused.sort_by(|a, b| a.path.cmp(&b.path));
        refused.dedup();
        let n_more_ignored = self.n_ignored - self.ignored.len();
        let ignored = self.ignored.iter().filter_map(|path| inside(path)).collect();
        Changes { changes, refused, ignored, n_more_ignored }
    }

    fn refuse(&mut self, path: &str, reason: RefusedReason) {
        self.refused.push(Refused { path: path.to_owned(), reason });
    }

    /// Compares a file of the base with what is there now.
    fn compare(&mut self, tree: &mut Tree, path: &str, entry: &Entry) -> Result<(), ConfinedError> {
        let place = tree.place(path)?;
        let look = match &place {
            Some((directory, name)) => directory.look(name)?,
            None => None,
        };
        let (Some((directory, name)), Some(look)) = (place, look) else {
            match entry.link {
                Some(_) => self.refuse(path, RefusedReason::Link),
                None => self.changes.push(deleted(path, entry)),
            }
            return Ok(());
        };
        match (look.kind, &entry.link) {
            (EntryKind::Link, Some(link)) if directory.link_target(name)?.to_str() == Some(link) => {}
            (EntryKind::Link, _) | (_, Some(_)) => self.refuse(path, RefusedReason::Link),
            (EntryKind::Special, None) => self.refuse(path, RefusedReason::Special),
            (EntryKind::Directory, None) => self.changes.push(deleted(path, entry)),
            (EntryKind::File, None) if entry.looks_like(&look) => {}
            (EntryKind::File, None) => {
                let Some(sha256) = self.hash(directory, path, name, &look)? else { return Ok(()) };
                if sha256 != entry.sha256 || look.is_executable != entry.is_executable {
                    self.changes.push(Change {
                        path: path.to_owned(),
                        kind: ChangeKind::Changed,
                        before: Some(entry.sha256.clone()),
                        after: Some(sha256),
                        n_bytes: look.n_bytes,
                        is_executable: look.is_executable,
                        was_executable: entry.is_executable,
                    });
                }
            }
        }
        Ok(())
    }

    /// SHA-256 of a file that may be part of a plan.
    fn hash(
        &mut self,
        directory: &ConfinedDir,
        path: &str,
        name: &str,
        look: &EntryStat,
    ) -> Result<Option<String>, ConfinedError> {
        if look.n_bytes > MAX_FILE_BYTES {
            self.refuse(path, RefusedReason::TooLarge { limit: MAX_FILE_BYTES });
            return Ok(None);
        }
        match directory.sha256(name) {
            Ok(sha256) => Ok(sha256),
            Err(ConfinedError::System(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                self.refuse(path, RefusedReason::Unreadable);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// A file that is gone and a new one with the same bytes are one that was renamed.
    fn pair_renamed(&mut self) {
        let mut gone: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (idx, change) in self.changes.iter().enumerate().rev() {
            if let (ChangeKind::Deleted, Some(before)) = (&change.kind, &change.before) {
                gone.entry(before.clone()).or_default().push(idx);
            }
        }
        let mut paired: Vec<usize> = Vec::new();
        for idx in 0..self.changes.len() {
            let Some(change) = self.changes.get(idx) else { continue };
            // Many files are empty without having to do with each other.
            if change.kind != ChangeKind::Added || change.n_bytes == 0 {
                continue;
            }
            let from = change.after.as_ref().and_then(|after| gone.get_mut(after)).and_then(Vec::pop);
            let Some((from_idx, old)) = from.and_then(|idx| Some((idx, self.changes.get(idx)?.clone())))
            else {
                continue;
            };
            paired.push(from_idx);
            if let Some(change) = self.changes.get_mut(idx) {
                change.kind = ChangeKind::Renamed { from: old.path };
                change.before = old.before;
                change.was_executable = old.was_executable;
            }
        }
        let mut idx = 0;
        self.changes.retain(|_| {
            idx += 1;
            !paired.contains(&(idx - 1))
        });
    }
}

fn deleted(path: &str, entry: &Entry) -> Change {
    Change {
        path: path.to_owned(),
        kind: ChangeKind::Deleted,
        before: Some(entry.sha256.clone()),
        after: None,
        n_bytes: 0,
        is_executable: false,
        was_executable: entry.is_executable,
    }
}

fn outside(below: &str, path: &str) -> Refused {
    let up = "../".repeat(below.matches('/').count());
    Refused { path: format!("{up}{path}"), reason: RefusedReason::Outside }
}

/// A walk through a worktree that finds what was not there when it was made.
struct Walk<'a> {
    top: &'a Path,
    manifest: &'a Manifest,
    stop: &'a Stop,
    scan: &'a mut Scan,
    /// The ignore rules that hold here, the strongest last.
    rules: Vec<Gitignore>,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &ConfinedDir, path: &str) -> Result<(), WorktreeError> {
        check(self.stop)?;
        let failed = |path: &str, error| io_error("read", self.top, path, error);
        let names = match directory.names() {
            Ok(names) => names,
            Err(ConfinedError::System(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                self.scan.refuse(path, RefusedReason::Unreadable);
                return Ok(());
            }
            Err(error) => return Err(failed(path, error)),
        };
        if !path.is_empty() && names.iter().any(|(name, _)| name == ".git") {
            self.scan.refuse(path, RefusedReason::Repository);
            return Ok(());
        }
        let is_here =
            |wanted: &str| names.iter().any(|(name, kind)| name == wanted && *kind == EntryKind::File);
        let has_rules = is_here(".gitignore");
        if has_rules {
            let rules = directory.read(".gitignore", MAX_RULES_BYTES).ok().flatten().unwrap_or_default();
            self.rules.push(parsed(Path::new(path), &rules));
        }
        for (name, kind) in &names {
            self.entry(directory, path, name, *kind)?;
        }
        if has_rules {
            self.rules.pop();
        }
        Ok(())
    }

    fn entry(
        &mut self,
        directory: &ConfinedDir,
        above: &str,
        name: &OsStr,
        kind: EntryKind,
    ) -> Result<(), WorktreeError> {
        let Some(text) = name.to_str() else {
            let lossy = joined(above, &name.to_string_lossy());
            if !self.is_ignored(&PathBuf::from(above).join(name), kind) {
                self.scan.refuse(&lossy, RefusedReason::NotUtf8);
            }
            return Ok(());
        };
        let path = joined(above, text);
        // The agent's own repository is what it may do as it likes with.
        let is_known = || self.manifest.files.contains_key(&path);
        let is_brought = || self.manifest.brought.contains(&path);
        if path == ".git" || (kind != EntryKind::Directory && is_known()) || is_brought() {
            return Ok(());
        }
        if is_reserved_dir(text) {
            self.scan.refuse(&path, RefusedReason::Reserved);
            return Ok(());
        }
        if self.is_ignored(Path::new(&path), kind) {
            self.scan.n_ignored += 1;
            if self.scan.ignored.len() < MAX_IGNORED {
                let end = if kind == EntryKind::Directory { "/" } else { "" };
                self.scan.ignored.push(format!("{path}{end}"));
            }
            return Ok(());
        }
        if kind == EntryKind::Directory {
            return match directory.directory(text) {
                Ok(below) => self.directory(&below, &path),
                // It went, or became something else, while we looked.
                Err(ConfinedError::Missing | ConfinedError::Link | ConfinedError::NotADirectory) => Ok(()),
                Err(ConfinedError::System(error)) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                    self.scan.refuse(&path, RefusedReason::Unreadable);
                    Ok(())
                }
                Err(error) => Err(io_error("read", self.top, &path, error)),
            };
        }
        if self.manifest.left_out.iter().any(|left_out| is_at_or_below(&path, &left_out.path)) {
            self.scan.refuse(&path, RefusedReason::LeftOut);
            return Ok(());
        }
        match kind {
            EntryKind::Link => self.scan.refuse(&path, RefusedReason::Link),
            EntryKind::Special => self.scan.refuse(&path, RefusedReason::Special),
            EntryKind::File | EntryKind::Directory => {
                let added = self.added(directory, &path, text);
                added.map_err(|error| io_error("read", self.top, &path, error))?;
            }
        }
        Ok(())
    }

    fn added(&mut self, directory: &ConfinedDir, path: &str, name: &str) -> Result<(), ConfinedError> {
        let Some(look) = directory.look(name)? else { return Ok(()) };
        let Some(sha256) = self.scan.hash(directory, path, name, &look)? else { return Ok(()) };
        self.scan.changes.push(Change {
            path: path.to_owned(),
            kind: ChangeKind::Added,
            before: None,
            after: Some(sha256),
            n_bytes: look.n_bytes,
            is_executable: look.is_executable,
            was_executable: false,
        });
        Ok(())
    }

    /// Whether the ignore rules, as they are in the worktree now, leave something out: `git add` would, too.
    fn is_ignored(&self, path: &Path, kind: EntryKind) -> bool {
        let is_directory = kind == EntryKind::Directory;
        let decided = self
            .rules
            .iter()
            .rev()
            .map(|rules| rules.matched(path, is_directory))
            .find(|found| !found.is_none());
        decided.is_some_and(|found| found.is_ignore())
    }
}

fn check(stop: &Stop) -> Result<(), WorktreeError> {
    if stop.is_raised() { Err(WorktreeError::Stopped) } else { Ok(()) }
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") }
}

/// The rules of a file outside of the worktree; none when it is not there.
fn rules_in(path: &Path) -> Gitignore {
    parsed(Path::new(""), &aiwf_store::read_regular(path, MAX_RULES_BYTES).unwrap_or_default())
}

/// The user's own rules.
fn global_rules() -> Gitignore {
    GitignoreBuilder::new("").build_global().0
}

fn parsed(root: &Path, bytes: &[u8]) -> Gitignore {
    let mut rules = GitignoreBuilder::new(root);
    for line in String::from_utf8_lossy(bytes).lines() {
        // A rule that makes no sense counts for nothing, as it does for git.
        drop(rules.add_line(None, line));
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}
