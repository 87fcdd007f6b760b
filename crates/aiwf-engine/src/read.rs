//! Reads bounded text; no input can fill the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::EngineError;

/// The largest file or input that is read.
pub(crate) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a whole file, up to the limit.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, EngineError> {
    let unreadable = |source| EngineError::Unreadable { path: path.to_owned(), source };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    if metadata.len() > MAX_BYTES {
        return Err(EngineError::TooLarge { path: path.to_owned(), limit: MAX_BYTES });
    }
    read_limited(file, metadata.len(), path)
}

/// Below this many files a second thread costs more than it saves.
const PARALLEL_FILES: usize = 64;

/// Reads whole files on every core, each up to the limit; what each gave stands in its place.
pub(crate) fn read_many(paths: &[&Path]) -> Vec<Result<Vec<u8>, EngineError>> {
    let read = |paths: &[&Path]| paths.iter().map(|path| read_bytes(path)).collect::<Vec<_>>();
    if paths.len() < PARALLEL_FILES {
        return read(paths);
    }
    let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
    std::thread::scope(|scope| {
        let mut chunks = paths.chunks(paths.len().div_ceil(n_cores));
        // This thread takes a share: a thread less to start, and its memory grows in larger steps than that of others.
        let own = chunks.next().unwrap_or_default();
        let workers: Vec<_> = chunks.map(|chunk| scope.spawn(move || read(chunk))).collect();
        let mut all = read(own);
        for worker in workers {
            all.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}

/// Reads a whole text file, up to the limit.
pub fn read_text(path: &Path) -> Result<String, EngineError> {
    into_text(read_bytes(path)?, path)
}

/// Reads the whole of the standard input, up to the limit.
pub fn read_stdin() -> Result<String, EngineError> {
    let path = Path::new("standard input");
    into_text(read_limited(io::stdin().lock(), 0, path)?, path)
}

/// A directory that links must not leave.
#[derive(Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(crate) path: &'a Path,
    /// What people call it.
    pub(crate) what: &'static str,
}

impl<'a> Root<'a> {
    pub(crate) fn project(path: &'a Path) -> Self {
        Self { path, what: "the project" }
    }
}

/// Reads a text file that must lie, links resolved, below `root`; nothing when it does not exist.
pub(crate) fn read_text_below(root: Root<'_>, path: &Path) -> Result<Option<String>, EngineError> {
    let resolved = match resolve_below(root.path, path) {
        Ok(Some(resolved)) => resolved,
        Ok(None) => {
            return Err(EngineError::LeavesDirectory { path: path.to_owned(), root: root.what });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link that leads nowhere was meant to be something.
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

/// Whether something stands at the path that is a link, wherever it leads.
pub(crate) fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
}

/// The real path, when it lies below `root`.
pub(crate) fn resolve_below(root: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    let resolved = path.canonicalize()?;
    let root = root.canonicalize()?;
    Ok(resolved.starts_with(&root).then_some(resolved))
}

fn read_limited(input: impl Read, expected: u64, path: &Path) -> Result<Vec<u8>, EngineError> {
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(MAX_BYTES)).unwrap_or_default());
    input
        .take(MAX_BYTES + 1)
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
