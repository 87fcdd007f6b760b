//! The files of a package in memory, from a directory or an archive.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use aiwf_store::{Lock, LockError, PlanProblem, StoreError, WritePlan};
use sha2::{Digest as _, Sha256};

use crate::archive::{ArchiveError, MAX_ARCHIVE_BYTES, read_archive, some_of};

/// The files by path relative to the package, with `/` between directories.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The maximum number of files in a package.
pub(crate) const MAX_FILES: usize = 10_000;
/// Size limit of one file.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Size limit of all files together.
pub(crate) const MAX_TOTAL_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum nesting of directories.
pub(crate) const MAX_DEPTH: usize = 16;

/// Why the files of a package cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is missing or unreadable.
    #[error("could not read package `{}`", path.display())]
    Unreadable {
        /// The package, or a file in it.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("package `{}` is refused", path.display())]
    Archive {
        path: PathBuf,
        #[source]
        source: ArchiveError,
    },
    #[error("package `{}` is refused: {}", path.display(), some_of(reasons))]
    Directory { path: PathBuf, reasons: Vec<String> },
}

impl SourceError {
    /// All reasons for refusing a package; empty if it could not be read.
    pub fn reasons(&self) -> &[String] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Archive { source, .. } => &source.reasons,
            Self::Directory { reasons, .. } => reasons,
        }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "pass the directory of a package or a `.bmad` file; `aiwf package new NAME` creates one"
                    .to_owned()
            }
            Self::Unreadable { path, .. } => format!("check that `{}` is readable", path.display()),
            Self::Archive { .. } => {
                "nothing was unpacked; pack the package again with `aiwf package pack DIR`".to_owned()
            }
            Self::Directory { .. } => "remove or rename these files".to_owned(),
        }
    }
}

/// Reads a package: a directory, or an archive with any extension.
pub fn read_files(path: &Path) -> Result<Files, SourceError> {
    let unreadable = |source| SourceError::Unreadable { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return read_directory(path);
    }
    if !metadata.is_file() {
        return Err(unreadable(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is neither a directory nor a file",
        )));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_ARCHIVE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    read_archive(&bytes).map_err(|source| SourceError::Archive { path: path.to_owned(), source })
}

fn read_directory(root: &Path) -> Result<Files, SourceError> {
    let mut walk = Walk { files: Files::new(), reasons: Vec::new(), total: 0 };
    walk.directory(root, "", 1)?;
    if walk.total > MAX_TOTAL_BYTES {
        walk.reasons.push(format!("its files have more than {MAX_TOTAL_BYTES} bytes in total"));
    }
    if walk.reasons.is_empty() {
        Ok(walk.files)
    } else {
        Err(SourceError::Directory { path: root.to_owned(), reasons: walk.reasons })
    }
}

struct Walk {
    files: Files,
    reasons: Vec<String>,
    total: u64,
}

impl Walk {
    fn directory(&mut self, directory: &Path, prefix: &str, depth: usize) -> Result<(), SourceError> {
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| SourceError::Unreadable { path, source }
        };
        let mut entries: Vec<fs::DirEntry> =
            fs::read_dir(directory).and_then(Iterator::collect).map_err(unreadable(directory))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let file_name = entry.file_name();
            let Some(file_name) = file_name.to_str() else {
                self.reasons.push(format!("`{}` is not a UTF-8 name", file_name.to_string_lossy()));
                continue;
            };
            let name = format!("{prefix}{file_name}");
            if is_left_out(&name) {
                continue;
            }
            let kind = entry.file_type().map_err(unreadable(&entry.path()))?;
            if let Some(fault) = name_fault(&name) {
                self.reasons.push(format!("`{}` {fault}", name.escape_debug()));
            } else if kind.is_symlink() {
                self.reasons.push(format!("`{name}` is a link"));
            } else if kind.is_dir() {
                if depth >= MAX_DEPTH {
                    self.reasons.push(format!("`{name}` is nested too deeply"));
                } else {
                    self.directory(&entry.path(), &format!("{name}/"), depth + 1)?;
                }
            } else if kind.is_file() {
                self.file(&entry.path(), name).map_err(unreadable(&entry.path()))?;
            } else {
                self.reasons.push(format!("`{name}` is neither a file nor a directory"));
            }
            if self.total > MAX_TOTAL_BYTES || self.files.len() > MAX_FILES {
                self.reasons.push(format!("it has more than {MAX_FILES} files or {MAX_TOTAL_BYTES} bytes"));
                return Ok(());
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: String) -> io::Result<()> {
        let file = fs::File::open(path)?;
        // With room for the end of file the buffer never grows; without it, reading starts with 32 bytes.
        let n_bytes = file.metadata()?.len().min(MAX_FILE_BYTES) + 1;
        let mut content = Vec::with_capacity(usize::try_from(n_bytes).unwrap_or_default());
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut content)?;
        if content.len() as u64 > MAX_FILE_BYTES {
            self.reasons.push(format!("`{name}` is larger than {MAX_FILE_BYTES} bytes"));
        }
        self.total += content.len() as u64;
        self.files.insert(name, content);
        Ok(())
    }
}

/// Whether a file does not belong to a package: hidden files, metadata added by macOS, and output of runs.
pub(crate) fn is_left_out(name: &str) -> bool {
    let first = name.split('/').next();
    name.split('/').any(|part| part.starts_with('.')) || matches!(first, Some("__MACOSX" | "artifacts"))
}

/// What is wrong with the path of a file in a package.
pub(crate) fn name_fault(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("is empty");
    }
    if path.contains('\0') {
        return Some("contains a NUL");
    }
    if path.contains('\\') {
        return Some("contains a backslash");
    }
    if path.starts_with('/') {
        return Some("is absolute");
    }
    let mut characters = path.chars();
    if characters.next().is_some_and(|c| c.is_ascii_alphabetic()) && characters.next() == Some(':') {
        return Some("names a drive");
    }
    if path.starts_with('~') {
        return Some("names a home directory");
    }
    for part in path.split('/') {
        match part {
            "" => return Some("has an empty part between slashes"),
            ".." => return Some("leaves the package: it contains `..`"),
            "." => return Some("contains `.`"),
            _ => {}
        }
    }
    let is_odd = path.split('/').any(|part| aiwf_store::name_fault(part).is_some());
    is_odd.then_some("is not a portable name")
}

/// The hash of a package: of the names and contents of its files, regardless of the packaging.
pub(crate) fn hash_of(files: &Files) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"aiwf package 1\n");
    for (name, content) in files {
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update((content.len() as u64).to_le_bytes());
        hasher.update(content);
    }
    aiwf_store::hex(&hasher.finalize())
}

/// Why a package cannot be extracted into the cache; nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// Some names cannot be written.
    #[error("package cannot be unpacked: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Names(Vec<PlanProblem>),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl ExtractError {
    pub fn hint(&self) -> String {
        match self {
            Self::Names(_) => "rename these files in the package".to_owned(),
            Self::Store(error) => error.hint(),
            Self::Lock(error) => error.hint(),
        }
    }
}

/// Extracts the files into a cache directory named by their hash: all of them or none.
///
/// An intact copy is reused; a modified one is replaced.
pub(crate) fn extract(files: &Files, hash: &str, cache: &Path) -> Result<PathBuf, ExtractError> {
    let target = cache.join(hash);
    aiwf_store::create_dir(cache)?;
    let _lock = Lock::wait(&cache.join("lock"))?;
    if target.is_dir() && read_directory(&target).is_ok_and(|found| found == *files) {
        return Ok(target);
    }
    let plan = WritePlan::check(files.iter().map(|(name, content)| (name.clone(), content.clone())))
        .map_err(ExtractError::Names)?;
    plan.write(&cache.join(format!(".tmp-{hash}")), &target)?;
    Ok(target)
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
