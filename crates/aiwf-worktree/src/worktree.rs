//! Makes, finds and removes worktrees.
//!
//! A worktree is one directory with two in it: `tree/NAME` is what the agent sees, with a repository of its own, and
//! `base` is what is known about it, where the agent has no business: the manifest and the bytes of the base. It is made
//! under another name, so one that has its name is complete; it is given that other name again before it is removed.

use std::io;
use std::path::{Path, PathBuf};

use aiwf_process::Stop;
use aiwf_store::{ConfinedDir, ConfinedError, EntryKind, is_reserved_dir, remove_tree};
use serde::{Deserialize, Serialize};

use crate::base_repository::BaseRepository;
use crate::changes::{Change, ChangeKind, Changes, RefusedReason};
use crate::copy::{bring_directory, copy_listing};
use crate::error::WorktreeError;
use crate::listing::Listing;
use crate::manifest::{Base, Entry, Manifest, boot_id};
use crate::repository::Repository;
use crate::scan::{MAX_FILE_BYTES, Scan};
use crate::tree::{Tree, io_error};

const TREE: &str = "tree";
const BASE: &str = "base";
const MANIFEST: &str = "manifest.json";
/// The bytes of the base where there is no git.
const FILES: &str = "files";
/// How often what an agent left behind is looked for when it is put back: once more than is ever needed.
const MAX_RESETS: usize = 4;

/// What a new worktree gets beside the files of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// Ignored directories that are copied in, such as `node_modules`; one that is not there is skipped.
    pub copy: Vec<String>,
    /// Ignored directories that become links to the project's own.
    pub link: Vec<String>,
}

/// A file to write or to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Its path in the project.
    pub path: String,
    /// What it is to be; `None` for a file that is to be gone.
    pub content: Option<FileContent>,
}

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it can be executed.
    pub is_executable: bool,
}

/// Something of the project that its worktree does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path in the repository, or in the project where there is none.
    pub path: String,
    /// Why.
    pub reason: LeftOutReason,
}

/// Why something of the project is not in its worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOutReason {
    /// A submodule.
    Submodule,
    /// A repository in the project that is no submodule.
    Repository,
    /// A symbolic link that is absolute or could lead outside.
    LinkOutside,
    /// A sparse checkout leaves it out.
    Sparse,
    /// A pipe, a socket or a device.
    Special,
    /// A name that is not UTF-8.
    NotUtf8,
    /// A file that git does not track and that is larger than what is copied.
    TooLarge,
    /// It cannot be read.
    Unreadable,
}

/// An isolated copy of a project.
#[derive(Debug)]
pub struct Worktree {
    at: PathBuf,
    top: PathBuf,
    root: PathBuf,
    manifest: Manifest,
}

impl Worktree {
    /// Makes a worktree in the directory `at`, which must not be there; a half-made one is removed first.
    pub fn create(
        project_root: &Path,
        at: &Path,
        options: &CreateOptions,
        stop: &Stop,
    ) -> Result<Self, WorktreeError> {
        let at = &absolute(at)?;
        if at.symlink_metadata().is_ok() {
            return Err(WorktreeError::Exists { at: at.clone() });
        }
        let project = project_root.canonicalize().map_err(|error| reading(project_root, error))?;
        let repository = match Repository::find(&project, stop) {
            Ok(repository) => repository,
            // Without git nothing is lost but what git knows.
            Err(WorktreeError::NoGit) => None,
            Err(error) => return Err(error),
        };
        let (above, name) = parts(at)?;
        aiwf_store::create_dir(above)?;
        let temporary = temporary_name(&name);
        remove_tree(&above.join(&temporary))?;
        let place = ConfinedDir::open(above).map_err(|error| reading(above, error))?;
        let made = make_in(&place, &temporary, above, at, &project, repository.as_ref(), options, stop)
            .and_then(|()| {
                place.rename(&temporary, &place, &name).map_err(|error| io_error("make", above, &name, error))
            });
        if let Err(error) = made {
            // What is left of it is removed by the next call, too.
            drop(remove_tree(&above.join(&temporary)));
            return Err(error);
        }
        Self::open(at)?
            .ok_or_else(|| WorktreeError::Damaged { at: at.clone(), message: "it is gone".to_owned() })
    }

    /// Where the copy of a project is; `None` if it is not complete. Changes nothing.
    pub fn root_at(at: &Path) -> Result<Option<PathBuf>, WorktreeError> {
        let at = absolute(at)?;
        let Some(manifest) = Manifest::read(&manifest_path(&at), &at)? else { return Ok(None) };
        let root = root_in(&at, &manifest);
        Ok(root.is_dir().then_some(root))
    }

    /// Opens a worktree that was made completely; what is left of any other is removed.
    pub fn open(at: &Path) -> Result<Option<Self>, WorktreeError> {
        let at = absolute(at)?;
        let (above, name) = parts(&at)?;
        remove_tree(&above.join(temporary_name(&name)))?;
        if at.symlink_metadata().is_err() {
            return Ok(None);
        }
        let Some(manifest) = Manifest::read(&manifest_path(&at), &at)? else {
            // Some systems empty caches by themselves, and a loss of power takes what was not on the disk yet.
            check_is_ours(&at)?;
            Self::remove(&at)?;
            return Ok(None);
        };
        let top = at.join(TREE).join(&manifest.name);
        let root = root_in(&at, &manifest);
        let mut worktree = Self { at, top, root, manifest };
        if !worktree.is_whole()? {
            Self::remove(&worktree.at)?;
            return Ok(None);
        }
        Ok(Some(worktree))
    }

    /// Removes a worktree, or what is left of one; nothing there is fine.
    pub fn remove(at: &Path) -> Result<(), WorktreeError> {
        let at = absolute(at)?;
        let (above, name) = parts(&at)?;
        let temporary = temporary_name(&name);
        remove_tree(&above.join(&temporary))?;
        if at.symlink_metadata().is_ok() {
            check_is_ours(&at)?;
            let place = ConfinedDir::open(above).map_err(|error| reading(above, error))?;
            place
                .rename(&name, &place, &temporary)
                .map_err(|error| io_error("remove", above, &name, error))?;
            remove_tree(&above.join(&temporary))?;
        }
        Ok(())
    }

    /// Where the agent works: the copy of the project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The copy of the whole repository; the same as [`Self::root`] unless the project is a directory in it.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The commit that was checked out in the project; `None` where there was none.
    pub fn head(&self) -> Option<&str> {
        self.manifest.head.as_deref()
    }

    /// What of the project is not here.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.manifest.left_out
    }

    /// Everything that differs from the base now, whatever was done to the repository inside.
    pub fn changes(&self, stop: &Stop) -> Result<Changes, WorktreeError> {
        Ok(self.scan(stop)?.in_project(&self.manifest.below))
    }

    fn scan(&self, stop: &Stop) -> Result<Scan, WorktreeError> {
        Scan::of(&self.top, &self.manifest, &self.base_repository().exclude_path(), stop)
    }

    /// The bytes of a changed file; `None` for a deleted one. An error when it is not what [`Self::changes`] saw.
    pub fn content(&self, change: &Change) -> Result<Option<FileContent>, WorktreeError> {
        let Some(after) = &change.after else { return Ok(None) };
        let path = format!("{}{}", self.manifest.below, change.path);
        let read = || {
            let mut tree = Tree::open(&self.top)?;
            let bytes = match tree.place(&path) {
                Ok(Some((directory, name))) => directory.read(name, MAX_FILE_BYTES),
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
            let bytes = bytes.and_then(|bytes| bytes.ok_or(ConfinedError::Missing));
            let is_same = |bytes: &Vec<u8>| aiwf_store::sha256_hex(bytes) == *after;
            let bytes =
                bytes.and_then(|bytes| if is_same(&bytes) { Ok(bytes) } else { Err(ConfinedError::Changed) });
            bytes.map_err(|error| io_error("read", &self.top, &path, error))
        };
        Ok(Some(FileContent { bytes: read()?, is_executable: change.is_executable }))
    }

    /// Whether a file of the project could be executed when the worktree was made; `None` where none was.
    pub fn base_is_executable(&self, path: &str) -> Option<bool> {
        let entry = self.manifest.files.get(&format!("{}{path}", self.manifest.below))?;
        Some(entry.is_executable)
    }

    /// What a file of the project was when the worktree was made; `None` where none was.
    pub fn base(&self, path: &str, stop: &Stop) -> Result<Option<FileContent>, WorktreeError> {
        Ok(self.bases(&[path], stop)?.pop().flatten())
    }

    /// What files of the project were when the worktree was made, in their order.
    pub fn bases(&self, paths: &[&str], stop: &Stop) -> Result<Vec<Option<FileContent>>, WorktreeError> {
        let paths: Vec<String> = paths.iter().map(|path| format!("{}{path}", self.manifest.below)).collect();
        self.bases_at_top(&paths, stop)
    }

    fn bases_at_top(&self, paths: &[String], stop: &Stop) -> Result<Vec<Option<FileContent>>, WorktreeError> {
        let entry = |path: &String| self.manifest.files.get(path).filter(|entry| entry.link.is_none());
        let known: Vec<&String> = paths.iter().filter(|path| entry(path).is_some()).collect();
        let mut bytes = match &self.manifest.base {
            Base::Commit(commit) => self.base_repository().read(commit, &known, stop)?,
            Base::Files => {
                let files = self.at.join(BASE).join(FILES);
                let read = |path: &&String| aiwf_store::read_regular(&files.join(path), MAX_FILE_BYTES).ok();
                known.iter().map(read).collect()
            }
        }
        .into_iter();
        paths
            .iter()
            .map(|path| {
                let Some(entry) = entry(path) else { return Ok(None) };
                let bytes =
                    bytes.next().flatten().filter(|bytes| aiwf_store::sha256_hex(bytes) == entry.sha256);
                let bytes = bytes.ok_or_else(|| self.damaged(format!("the base of `{path}` is gone")))?;
                Ok(Some(FileContent { bytes, is_executable: entry.is_executable }))
            })
            .collect()
    }

    /// Puts everything back to the base with these files on top; ignored files stay.
    pub fn reset_to(&self, files: &[PlannedFile], stop: &Stop) -> Result<(), WorktreeError> {
        for _ in 0..MAX_RESETS {
            let scan = self.scan(stop)?;
            if scan.is_clean() {
                let mut tree = Tree::open(&self.top)?;
                let put = tree.put_all(&self.manifest.below, files);
                return put.map_err(|(path, error)| io_error("write", &self.root, &path, error));
            }
            self.put_back(&scan, stop)?;
        }
        Err(self.damaged("it cannot be reset to its base".to_owned()))
    }

    fn put_back(&self, scan: &Scan, stop: &Stop) -> Result<(), WorktreeError> {
        let mut tree = Tree::open(&self.top)?;
        let mut lost: Vec<String> = Vec::new();
        let failed = |path: &str, error| io_error("reset", &self.top, path, error);
        for refused in &scan.refused {
            let path = &refused.path;
            let is_inside = |known: &String| known != path && is_at_or_below(known, path);
            if refused.reason == RefusedReason::Repository && self.manifest.files.keys().any(is_inside) {
                // Someone made a repository of a directory of the project.
                tree.remove(&format!("{path}/.git")).map_err(|error| failed(path, error))?;
            } else {
                tree.remove(path).map_err(|error| failed(path, error))?;
            }
            if self.manifest.files.contains_key(path) {
                lost.push(path.clone());
            }
        }
        for change in &scan.changes {
            if change.after.is_some() {
                tree.remove(&change.path).map_err(|error| failed(&change.path, error))?;
            }
            match &change.kind {
                ChangeKind::Added => {}
                ChangeKind::Changed | ChangeKind::Deleted => lost.push(change.path.clone()),
                ChangeKind::Renamed { from } => lost.push(from.clone()),
            }
        }
        let contents = self.bases_at_top(&lost, stop)?;
        for (path, content) in lost.iter().zip(contents) {
            let put = match (content, self.manifest.files.get(path)) {
                (Some(content), _) => tree.put(path, &content.bytes, content.is_executable),
                (None, Some(Entry { link: Some(link), .. })) => tree
                    .create_place(path)
                    .and_then(|(directory, name)| directory.create_link(name, link.as_ref())),
                (None, _) => Ok(()),
            };
            put.map_err(|error| failed(path, error))?;
        }
        Ok(())
    }

    /// Whether the disk has what was written before the system was last started: a loss of power takes what was not
    /// on the disk yet, and then a file looks untouched and is not what it was.
    fn is_whole(&mut self) -> Result<bool, WorktreeError> {
        if !self.manifest.is_from_before_a_restart() {
            return Ok(true);
        }
        let Ok(mut tree) = Tree::open(&self.top) else { return Ok(false) };
        for (path, entry) in self.manifest.files.iter().filter(|(_, entry)| entry.link.is_none()) {
            let Ok(Some((directory, name))) = tree.place(path) else { continue };
            let Ok(Some(look)) = directory.look(name) else { continue };
            let is_untouched = look.kind == EntryKind::File && entry.is_same_inode(&look);
            if is_untouched && directory.sha256(name).ok().flatten().as_ref() != Some(&entry.sha256) {
                return Ok(false);
            }
        }
        if !self.base_repository().is_whole(&Stop::default())? {
            return Ok(false);
        }
        self.manifest.boot = boot_id();
        self.manifest.write(&manifest_path(&self.at))?;
        Ok(true)
    }

    fn base_repository(&self) -> BaseRepository {
        BaseRepository::beside(&self.at.join(BASE), &self.top)
    }

    fn damaged(&self, message: String) -> WorktreeError {
        WorktreeError::Damaged { at: self.at.clone(), message }
    }
}

/// Makes everything of a worktree under a temporary name.
#[expect(clippy::too_many_arguments, reason = "one caller, which has them all by name")]
fn make_in(
    place: &ConfinedDir,
    temporary: &str,
    above: &Path,
    at: &Path,
    project: &Path,
    repository: Option<&Repository>,
    options: &CreateOptions,
    stop: &Stop,
) -> Result<(), WorktreeError> {
    let source = repository.map_or(project, |repository| repository.top.as_path());
    let below = repository.map_or("", |repository| repository.below.as_str());
    let name = source.file_name().and_then(|name| name.to_str()).unwrap_or("project").to_owned();
    let made_at = above.join(temporary);
    let failed = |error| io_error("make", above, temporary, error);
    // Files of the project may be for its owner only.
    let container = place.create_private(temporary).map_err(failed)?;
    container.create_directory(TREE).and_then(|tree| tree.create_directory(&name)).map_err(failed)?;
    container.create_directory(BASE).map_err(failed)?;
    let (top, base_dir) = (made_at.join(TREE).join(&name), made_at.join(BASE));

    let brought = IgnoredDirs::check(options, below)?;
    let head = repository.map(Repository::head).transpose()?.flatten();
    let mut listing = match repository {
        Some(repository) => Listing::of_repository(repository)?,
        None => Listing::of_directory(source),
    };
    // In a project without rules they are no different from other files.
    listing.files.retain(|path, known| *known != crate::listing::Known::Untracked || !brought.has(path));
    let mut manifest = Manifest::new(name.clone(), below.to_owned(), head);
    manifest.files = copy_listing(source, &top, &mut listing, stop)?;
    manifest.left_out = listing.left_out;
    manifest.left_out.sort_by(|a, b| a.path.cmp(&b.path));
    let tree = Tree::open(&top)?;
    tree.create_directory(below).map_err(failed)?;
    let final_top = at.join(TREE).join(&name);
    for path in &brought.copied {
        bring_directory(source, &top, &final_top, path, &manifest.files, stop)?;
    }
    for path in &brought.linked {
        link_directory(source, &top, path, &manifest)?;
    }
    manifest.brought = brought.all();

    let files: Vec<&str> = manifest.files.keys().map(String::as_str).collect();
    let base = BaseRepository::beside(&base_dir, &top);
    manifest.base = match base.make(repository, manifest.head.as_deref(), &files, &manifest.brought, stop) {
        Ok(commit) => Base::Commit(commit),
        Err(WorktreeError::NoGit) => {
            keep_files(&top, &base_dir, &manifest)?;
            Base::Files
        }
        Err(error) => return Err(error),
    };
    manifest.write(&base_dir.join(MANIFEST))
}

/// Keeps the bytes of the base where there is no git to do it.
fn keep_files(top: &Path, base_dir: &Path, manifest: &Manifest) -> Result<(), WorktreeError> {
    let kept = base_dir.join(FILES);
    aiwf_store::create_dir(&kept)?;
    let (mut tree, mut kept_tree) = (Tree::open(top)?, Tree::open(&kept)?);
    for (path, _) in manifest.files.iter().filter(|(_, entry)| entry.link.is_none()) {
        let copied = (|| {
            let (to, _) = kept_tree.create_place(path)?;
            let (from, name) = tree.place(path)?.ok_or(ConfinedError::Missing)?;
            from.copy_file(name, to, aiwf_store::Hashing::Nothing).map(drop)
        })();
        copied.map_err(|error| io_error("keep", top, path, error))?;
    }
    Ok(())
}

/// Makes a directory of the project a link to it, unless it is not there.
fn link_directory(source: &Path, top: &Path, path: &str, manifest: &Manifest) -> Result<(), WorktreeError> {
    if !source.join(path).is_dir() {
        return Ok(());
    }
    let inside = format!("{path}/");
    if manifest.files.keys().any(|known| known == path || known.starts_with(&inside)) {
        let problem = "it has files that are not ignored, so it cannot be a link";
        return Err(WorktreeError::BadPath { path: path.to_owned(), problem });
    }
    let mut tree = Tree::open(top)?;
    let linked = tree
        .create_place(path)
        .and_then(|(directory, name)| directory.create_link(name, source.join(path).as_os_str()));
    linked.map_err(|error| io_error("link", top, path, error))
}

/// Ignored directories that come with the project, from the top.
#[derive(Debug)]
pub(crate) struct IgnoredDirs {
    pub(crate) copied: Vec<String>,
    pub(crate) linked: Vec<String>,
}

impl IgnoredDirs {
    /// Checks the paths of the options.
    pub(crate) fn check(options: &CreateOptions, below: &str) -> Result<Self, WorktreeError> {
        let check = |path: &String| {
            let bad = |problem| Err(WorktreeError::BadPath { path: path.clone(), problem });
            let plain = path.trim_end_matches('/');
            if plain.is_empty() || plain.split('/').any(|part| matches!(part, "" | "." | "..")) {
                return bad("it is not the path of a directory in the project");
            }
            if plain.split('/').any(is_reserved_dir) {
                return bad("`.git` and `.aiwf` are never part of a worktree");
            }
            Ok(format!("{below}{plain}"))
        };
        let copied = options.copy.iter().map(check).collect::<Result<Vec<_>, _>>()?;
        let linked = options.link.iter().map(check).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { copied, linked })
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.copied.iter().chain(&self.linked).cloned().collect()
    }

    fn has(&self, path: &str) -> bool {
        self.copied.iter().chain(&self.linked).any(|brought| is_at_or_below(path, brought))
    }
}

/// Whether a path is another one, or in it.
pub(crate) fn is_at_or_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn manifest_path(at: &Path) -> PathBuf {
    at.join(BASE).join(MANIFEST)
}

/// The copy of the project in a worktree.
fn root_in(at: &Path, manifest: &Manifest) -> PathBuf {
    let top = at.join(TREE).join(&manifest.name);
    let below = manifest.below.trim_end_matches('/');
    if below.is_empty() { top } else { top.join(below) }
}

fn temporary_name(name: &str) -> String {
    format!("{name}.tmp")
}

/// The directory above a worktree, and its name.
fn parts(at: &Path) -> Result<(&Path, String), WorktreeError> {
    let name = at.file_name().and_then(|name| name.to_str());
    match (at.parent(), name) {
        (Some(above), Some(name)) => Ok((above, name.to_owned())),
        _ => Err(reading(at, io::Error::new(io::ErrorKind::InvalidInput, "not a place for a worktree"))),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, WorktreeError> {
    std::path::absolute(path).map_err(|error| reading(path, error))
}

fn reading(path: &Path, source: io::Error) -> WorktreeError {
    WorktreeError::Io { action: "read", path: path.to_owned(), source }
}

/// Refuses to remove a directory with anything in it that no worktree has.
fn check_is_ours(at: &Path) -> Result<(), WorktreeError> {
    let names = ConfinedDir::open(at).map_err(ConfinedError::from).and_then(|directory| directory.names());
    let names = names.map_err(|error| io_error("read", at, "", error))?;
    if names.iter().all(|(name, _)| name == TREE || name == BASE) {
        return Ok(());
    }
    Err(WorktreeError::Damaged {
        at: at.to_owned(),
        message: "it has files that aiwf did not create".to_owned(),
    })
}

#[cfg(test)]
#[path = "worktree_tests.rs"]
mod tests;
