//! Reads text with a size limit, so that no input can fill the memory.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::{Component, Path, PathBuf};

use crate::error::EngineError;

/// The largest file or input that is read.
pub(crate) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A file opened for reading up to the limit.
pub(crate) struct BoundedFile {
    /// Its size when it was opened; 0 if the file is produced while it is read.
    pub(crate) n_expected: usize,
    /// Its content up to that size; up to the limit if the size is not known.
    pub(crate) content: io::Take<File>,
}

impl BoundedFile {
    /// Reads the same file again from its beginning, even if its path now leads elsewhere.
    pub(crate) fn read_again(self, path: &Path) -> Result<Vec<u8>, EngineError> {
        let mut file = self.content.into_inner();
        file.rewind().map_err(|source| EngineError::Unreadable { path: path.to_owned(), source })?;
        let limit = limit_of(self.n_expected as u64);
        read_limited(file.take(limit), self.n_expected, path)
    }
}

/// The limit for a file of this size. A growing file is read up to its old size, which also saves a read at the end. A
/// file without a size is read up to the limit.
fn limit_of(n_bytes: u64) -> u64 {
    if n_bytes == 0 { MAX_BYTES + 1 } else { n_bytes }
}

/// Opens a regular file for reading up to the limit. Pipes and devices are refused, because they could block.
pub(crate) fn open_bounded(path: &Path) -> Result<BoundedFile, EngineError> {
    let opened = aiwf_store::open_regular(path);
    bounded(
        opened.map_err(|error| EngineError::Unreadable { path: path.to_owned(), source: error.into() })?,
        path,
    )
}

fn bounded(file: File, path: &Path) -> Result<BoundedFile, EngineError> {
    let unreadable = |source| EngineError::Unreadable { path: path.to_owned(), source };
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    if metadata.len() > MAX_BYTES {
        return Err(EngineError::TooLarge { path: path.to_owned(), limit: MAX_BYTES });
    }
    Ok(BoundedFile {
        n_expected: usize::try_from(metadata.len()).unwrap_or_default(),
        content: file.take(limit_of(metadata.len())),
    })
}

/// Reads a whole file, up to the limit.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, EngineError> {
    let file = open_bounded(path)?;
    read_limited(file.content, file.n_expected, path)
}

/// Reads a whole text file that the user named, up to the limit; it may be a pipe made by a shell.
pub fn read_text(path: &Path) -> Result<String, EngineError> {
    let opened = File::open(path);
    let opened = opened.map_err(|source| EngineError::Unreadable { path: path.to_owned(), source })?;
    let file = bounded(opened, path)?;
    into_text(read_limited(file.content, file.n_expected, path)?, path)
}

/// Reads stdin, up to the limit.
pub fn read_stdin() -> Result<String, EngineError> {
    let path = Path::new("stdin");
    into_text(read_limited(io::stdin().lock().take(MAX_BYTES + 1), 0, path)?, path)
}

/// A directory that links must not leave.
#[derive(Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(crate) path: &'a Path,
    pub(crate) what: &'static str,
}

impl<'a> Root<'a> {
    pub(crate) fn project(path: &'a Path) -> Self {
        Self { path, what: "the project" }
    }
}

/// Reads a text file below `root`, with links resolved; `None` if it does not exist.
pub(crate) fn read_text_below(root: Root<'_>, path: &Path) -> Result<Option<String>, EngineError> {
    let resolved = match resolve_below(root.path, path) {
        Ok(Some(resolved)) => resolved,
        Ok(None) => {
            return Err(EngineError::LeavesDirectory { path: path.to_owned(), root: root.what });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A broken link was probably intended to be a file.
            return if is_link(path) {
                Err(EngineError::BrokenLink { path: path.to_owned() })
            } else {
                Ok(None)
            };
        }
        Err(source) => return Err(EngineError::Unreadable { path: path.to_owned(), source }),
    };
    into_text(read_bytes(&resolved)?, path).map(Some)
}

/// Whether the path is a link, even a broken one.
pub(crate) fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
}

/// The real path, if it is below `root`.
pub(crate) fn resolve_below(root: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    let resolved = path.canonicalize()?;
    let root = root.canonicalize()?;
    Ok(resolved.starts_with(&root).then_some(resolved))
}

/// Whether a path, as written, may lead out of the project.
pub(crate) fn is_written_outside(root: &Path, path: &Path) -> bool {
    let below = path.strip_prefix(root);
    below.is_err()
        || below.is_ok_and(|below| !below.components().all(|part| matches!(part, Component::Normal(_))))
}

fn read_limited(
    mut input: io::Take<impl Read>,
    n_expected: usize,
    path: &Path,
) -> Result<Vec<u8>, EngineError> {
    let mut bytes = Vec::with_capacity(n_expected);
    input
        .read_to_end(&mut bytes)
        .map_err(|source| EngineError::Unreadable { path: path.to_owned(), source })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(EngineError::TooLarge { path: path.to_owned(), limit: MAX_BYTES });
    }
    Ok(bytes)
}

pub(crate) fn into_text(bytes: Vec<u8>, path: &Path) -> Result<String, EngineError> {
    String::from_utf8(bytes).map_err(|error| EngineError::NotUtf8 {
        path: path.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}
