//! Finds and reads the configuration files: at most 1 MiB each, the project's only from inside the project.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::ConfigError;
use crate::origin::ConfigFile;
use crate::settings::Settings;

const MAX_BYTES: u64 = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) file: ConfigFile,
    /// The directory that contains its `.aiwf/`.
    pub(crate) root: PathBuf,
    pub(crate) text: String,
}

/// Reads the files that exist, weakest first.
pub(crate) fn read_all(settings: &Settings) -> Result<Vec<FoundFile>, ConfigError> {
    let mut places = Vec::new();
    if let Some(home) = &settings.home {
        places.push((ConfigFile::User, home));
    }
    // In the home directory the user's file must not count as the project's too.
    if settings.home.as_ref().is_none_or(|home| !is_same_directory(home, &settings.project_root)) {
        places.push((ConfigFile::Project, &settings.project_root));
    }
    let mut found = Vec::new();
    for (file, root) in places {
        if let Some(text) = read(file, root)? {
            found.push(FoundFile { file, root: root.clone(), text });
        }
    }
    Ok(found)
}

fn is_same_directory(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn read(file: ConfigFile, root: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { file, source };
    let path = root.join(".aiwf").join("config.toml");
    let resolved = match path.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if path.symlink_metadata().is_ok() {
                Err(unreadable(io::Error::new(io::ErrorKind::NotFound, "the link is broken")))
            } else {
                Ok(None)
            };
        }
        Err(error) => return Err(unreadable(error)),
    };
    // Users may link their own file to another location; a project's must stay in the project.
    let is_confined = file == ConfigFile::Project;
    if is_confined && !resolved.starts_with(root.canonicalize().map_err(unreadable)?) {
        return Err(ConfigError::LeavesProject);
    }
    // Checked before opening, because opening a pipe waits for a writer.
    if !fs::metadata(&resolved).map_err(unreadable)?.is_file() {
        return Err(ConfigError::NotAFile { file });
    }
    let mut bytes = Vec::new();
    File::open(&resolved)
        .and_then(|opened| opened.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ConfigError::TooLarge { file });
    }
    into_text(file, bytes).map(Some)
}

fn into_text(file: ConfigFile, bytes: Vec<u8>) -> Result<String, ConfigError> {
    String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        ConfigError::NotUtf8 { file, line: before.filter(|byte| **byte == b'\n').count() + 1 }
    })
}

#[cfg(test)]
#[path = "config_file_tests.rs"]
mod tests;
