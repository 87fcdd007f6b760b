//! Reads the project's additions to standards: `.aiwf/standards/` and the configured directories.
//!
//! Files whose names start with a dot are skipped, because editors and file managers create them. Paths from a checkout
//! must stay in the project, with links resolved. An unreadable file is an error.

use std::io;
use std::path::{Path, PathBuf};

use aiwf_config::{Config, ConfigFile, Origin, Settings};
use aiwf_profile::{MAX_FILE_BYTES, MAX_FILES, ProjectRule, ProjectStandards};

use super::shown_path;
use crate::error::EngineError;
use crate::prompt::read::{into_text, read_bytes, resolve_below};

const OWN_DIR: &str = ".aiwf/standards";

/// The standards of project and configuration.
pub(crate) fn project_standards(
    settings: &Settings,
    config: &Config,
) -> Result<ProjectStandards, EngineError> {
    let root = &settings.project_root;
    let mut files = Vec::new();
    if root.join(OWN_DIR).symlink_metadata().is_ok() {
        read_directory(OWN_DIR, &root.join(OWN_DIR), Some(root), &mut files)?;
    }
    if let Some(dirs) = &config.standards.dirs {
        // Only paths from the checkout itself must stay in the checkout.
        let is_projects = matches!(dirs.origin, Origin::File { file: ConfigFile::Project, .. });
        let base = settings.home.as_ref().filter(|_| !is_projects).unwrap_or(root);
        for dir in &dirs.value {
            read_directory(dir, &base.join(dir), is_projects.then_some(root.as_path()), &mut files)?;
        }
    }
    let names = |list: &Option<aiwf_config::Sourced<Vec<String>>>| {
        list.as_ref().map(|list| list.value.clone()).unwrap_or_default()
    };
    Ok(ProjectStandards {
        files,
        replace: names(&config.standards.replace),
        exclude: names(&config.standards.exclude),
    })
}

fn read_directory(
    shown: &str,
    directory: &Path,
    confined_to: Option<&Path>,
    files: &mut Vec<ProjectRule>,
) -> Result<(), EngineError> {
    let what = "directory of standards";
    let shown = shown.trim_end_matches('/');
    if !directory.exists() {
        return Err(EngineError::NoDirectory { what, path: shown.into() });
    }
    if !directory.is_dir() {
        return Err(EngineError::NotADirectory { what, path: shown.into() });
    }
    let confined = |path: &Path, name: &str| -> Result<PathBuf, EngineError> {
        let resolved = match confined_to {
            Some(root) => resolve_below(root, path),
            None => path.canonicalize().map(Some),
        };
        match resolved {
            Ok(Some(resolved)) => Ok(resolved),
            Ok(None) => Err(EngineError::LeavesDirectory { path: name.into(), root: "the project" }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(EngineError::BrokenLink { path: name.into() })
            }
            Err(source) => Err(EngineError::Unreadable { path: name.into(), source }),
        }
    };
    let directory = confined(directory, shown)?;
    let is_kept = |entry: &ignore::DirEntry| {
        entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
    };
    let walk = ignore::WalkBuilder::new(&directory)
        .standard_filters(false)
        .filter_entry(is_kept)
        .sort_by_file_name(std::cmp::Ord::cmp)
        .build();
    for entry in walk {
        let entry = entry.map_err(|error| {
            let kind = error.io_error().map_or(io::ErrorKind::Other, io::Error::kind);
            EngineError::Unreadable { path: shown.into(), source: kind.into() }
        })?;
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = shown_path(&directory, entry.path());
        let source = format!("{shown}/{name}");
        let path = confined(entry.path(), &source)?;
        // Checked before opening: opening a pipe would wait for a writer.
        if !path.is_file() {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(EngineError::Unreadable { path: source.into(), source: error });
        }
        let n_bytes = path.metadata().map_or(0, |metadata| metadata.len());
        if n_bytes > MAX_FILE_BYTES as u64 || files.len() >= MAX_FILES {
            return Err(EngineError::TooLarge { path: source.into(), limit: MAX_FILE_BYTES as u64 });
        }
        let bytes = read_bytes(&path).map_err(|error| error.about(&source))?;
        let text = into_text(bytes, Path::new(&source))?;
        files.push(ProjectRule { name, source, text });
    }
    Ok(())
}
