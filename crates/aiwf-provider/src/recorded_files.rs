//! The files that an agent changed during a recorded call: taken up when it is recorded, put back when it is replayed.
//!
//! Contents are kept beside the recordings, in `files/SHA256`. No path leaves the directory the agent worked in, no link
//! is followed, and nothing is changed before all of it was checked.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use aiwf_store::{
    ConfinedDir, ConfinedError, Durability, StoreError, create_dir, is_reserved_dir, name_fault,
    read_regular, sha256_file, sha256_hex, write_atomic,
};
use serde::{Deserialize, Serialize};

use crate::ask_error::AskError;
use crate::touched::{Change, TouchedFile};

/// How many files one call may change.
const MAX_FILES: usize = 10_000;
/// How many bytes they may have together.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// The longest path.
const MAX_PATH_BYTES: usize = 1_024;
/// Where contents are, below the directory of the recordings.
const CONTENTS: &str = "files";

/// What an agent changed during a call, for [`crate::Cassette::record`].
#[derive(Clone, Copy, Debug)]
pub struct ChangedFiles<'a> {
    /// The directory it worked in.
    pub directory: &'a Path,
    /// The files that are not what they were.
    pub files: &'a [TouchedFile],
}

/// A file that an agent added, changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedFile {
    /// Its path in the directory the agent worked in.
    path: String,
    /// SHA-256 of what it was; none when it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// SHA-256 of what it became; none when it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    /// Whether it can be executed now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    executable: bool,
}

/// Keeps the contents of changed files beside the recordings in `cassette`.
pub(crate) fn record(cassette: &Path, changed: ChangedFiles<'_>) -> Result<Vec<RecordedFile>, StoreError> {
    let failed = |path: &Path, source: io::Error| StoreError { path: path.to_owned(), source };
    let root = ConfinedDir::open(changed.directory).map_err(|error| failed(changed.directory, error))?;
    let mut recorded = Vec::new();
    let mut n_left = MAX_BYTES;
    for file in changed.files {
        let at_file = |error: ConfinedError| failed(&file.path, error.into());
        // What git keeps for itself is no file of the project.
        if file.path.iter().any(|part| part.to_str().is_some_and(is_reserved_dir)) {
            continue;
        }
        let path = file.path.to_str().filter(|path| fault(path).is_none());
        let Some(path) = path.filter(|_| recorded.len() < MAX_FILES) else {
            return Err(at_file(ConfinedError::NotAName));
        };
        let mut kept = RecordedFile {
            path: path.to_owned(),
            before: file.before.clone(),
            after: None,
            executable: false,
        };
        if file.change != Change::Removed {
            let (bytes, executable) = read(&root, path, n_left).map_err(at_file)?;
            n_left -= bytes.len() as u64;
            let sha256 = sha256_hex(&bytes);
            keep(&cassette.join(CONTENTS), &sha256, &bytes)?;
            (kept.after, kept.executable) = (Some(sha256), executable);
        }
        recorded.push(kept);
    }
    Ok(recorded)
}

/// Writes a content under its hash, unless it is there.
fn keep(contents: &Path, sha256: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let path = contents.join(sha256);
    if sha256_file(&path).is_ok_and(|found| found == sha256) {
        return Ok(());
    }
    create_dir(contents)?;
    // A replay compares the hash, so what a loss of power took is seen.
    write_atomic(&path, Durability::Process, |out| out.write_all(bytes))
}

/// Puts the changes of a recorded call into a directory.
///
/// A file that already is what it became is left alone, so that a call that was interrupted can be made again.
pub(crate) fn replay(
    cassette: &Path,
    recording: &str,
    files: &[RecordedFile],
    directory: &Path,
) -> Result<(), AskError> {
    let unreadable =
        |message: String| AskError::Unreadable { directory: cassette.display().to_string(), message };
    if files.len() > MAX_FILES {
        return Err(unreadable(format!("{recording}: it changes more than {MAX_FILES} files")));
    }
    let root = ConfinedDir::open(directory).map_err(AskError::Sink)?;
    let mut contents = Vec::with_capacity(files.len());
    let mut n_left = MAX_BYTES;
    for file in files {
        if let Some(fault) = fault(&file.path) {
            let path = file.path.escape_debug();
            return Err(unreadable(format!("{recording}: `{path}` {fault}")));
        }
        let differs = || AskError::FileDiffers { recording: recording.to_owned(), path: file.path.clone() };
        let found = match look(&root, &file.path) {
            Err(ConfinedError::System(error)) => return Err(AskError::Sink(error)),
            // A link, a directory or a device is never what a recorded file was.
            Err(_) => return Err(differs()),
            Ok(found) => found,
        };
        let is_now = |wanted: Option<&String>| found.as_ref().map(|(sha256, _)| sha256) == wanted;
        let is_done =
            is_now(file.after.as_ref()) && found.as_ref().is_none_or(|found| found.1 == file.executable);
        if !is_done && !is_now(file.before.as_ref()) {
            return Err(differs());
        }
        let content = match &file.after {
            Some(sha256) if !is_done => {
                let content = content(cassette, sha256, n_left)
                    .map_err(|message| unreadable(format!("{recording}: {message}")))?;
                n_left -= content.len() as u64;
                Some(content)
            }
            Some(_) | None => None,
        };
        contents.push((file, is_done, content));
    }
    for (file, is_done, content) in contents {
        if !is_done {
            change(&root, file, content.as_deref()).map_err(|error| AskError::Sink(error.into()))?;
        }
    }
    Ok(())
}

/// What is wrong with a path, so that nothing is read or written there.
fn fault(path: &str) -> Option<&'static str> {
    if path.is_empty() || path.len() > MAX_PATH_BYTES {
        return Some("is not the path of a file");
    }
    path.split('/').find_map(|part| match part {
        "" | "." | ".." => Some("is not the path of a file in the project"),
        part if is_reserved_dir(part) => Some("belongs to git or to aiwf"),
        part => name_fault(part),
    })
}

/// The directory of a file and its name there; no directory when there is none.
fn place<'p>(root: &ConfinedDir, path: &'p str) -> Result<Option<(ConfinedDir, &'p str)>, ConfinedError> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut directory = root.try_clone()?;
    for part in above.split('/').filter(|part| !part.is_empty()) {
        directory = match directory.directory(part) {
            Err(ConfinedError::Missing) => return Ok(None),
            found => found?,
        };
    }
    Ok(Some((directory, name)))
}

/// A file's bytes, and whether it can be executed.
fn read(root: &ConfinedDir, path: &str, limit: u64) -> Result<(Vec<u8>, bool), ConfinedError> {
    let (directory, name) = place(root, path)?.ok_or(ConfinedError::Missing)?;
    let bytes = directory.read(name, limit)?.ok_or(ConfinedError::Missing)?;
    Ok((bytes, is_executable(&directory, name)?))
}

/// A file's hash, and whether it can be executed; `None` when it is not there.
fn look(root: &ConfinedDir, path: &str) -> Result<Option<(String, bool)>, ConfinedError> {
    let Some((directory, name)) = place(root, path)? else { return Ok(None) };
    let Some(sha256) = directory.sha256(name)? else { return Ok(None) };
    Ok(Some((sha256, is_executable(&directory, name)?)))
}

fn is_executable(directory: &ConfinedDir, name: &str) -> Result<bool, ConfinedError> {
    Ok(directory.file(name)?.metadata()?.permissions().mode() & 0o100 != 0)
}

fn content(cassette: &Path, sha256: &str, limit: u64) -> Result<Vec<u8>, String> {
    let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
    let path: PathBuf = [Path::new(CONTENTS), Path::new(sha256)].iter().collect();
    if !is_hash {
        return Err(format!("`{}` is not a SHA-256", sha256.escape_debug()));
    }
    let bytes = read_regular(&cassette.join(&path), limit)
        .map_err(|error| format!("`{}`: {error}", path.display()))?;
    if sha256_hex(&bytes) == sha256 { Ok(bytes) } else { Err(format!("`{}` was changed", path.display())) }
}

fn change(root: &ConfinedDir, file: &RecordedFile, content: Option<&[u8]>) -> Result<(), ConfinedError> {
    let (above, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let Some(content) = content else {
        return match place(root, &file.path)? {
            Some((directory, name)) => directory.remove_file(name),
            None => Ok(()),
        };
    };
    let mut directory = root.try_clone()?;
    for part in above.split('/').filter(|part| !part.is_empty()) {
        directory = directory.create_directory(part)?;
    }
    directory.write(name, content, Durability::Process)?;
    directory.set_executable(name, file.executable)
}

#[cfg(test)]
#[path = "recorded_files_tests.rs"]
mod tests;
