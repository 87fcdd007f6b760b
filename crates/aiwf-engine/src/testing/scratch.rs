//! A project of its own for one case: sessions are walked in it, and nothing of the real project is written.
//!
//! It has what decides about prompts (configuration, standards, templates, profiles, flows), the files that the case
//! names, and an empty home, so that a prompt is the same on every machine.

use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_store::{Durability, create_dir, write_atomic};
use tempfile::TempDir;

use super::place::{CasePlace, Owner, OwnerKind};
use crate::ask::send::private_directory;
use crate::prompt::gather::{FileLimits, ProjectFiles, find_in_project};

/// The most that is copied into a scratch project.
const MAX_FILES: usize = 5_000;
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// What of `.aiwf` decides about prompts.
const DECIDING: [&str; 6] = ["config.toml", "project.md", "standards", "templates", "profiles", "flows"];

/// A temporary project with a temporary home; removed with the value.
#[derive(Debug)]
pub(crate) struct Scratch {
    directory: TempDir,
    pub(crate) settings: Settings,
}

/// What goes into a scratch project.
pub(crate) struct ScratchContent<'a> {
    pub(crate) place: &'a CasePlace,
    /// The project that the tests run in.
    pub(crate) project: &'a Settings,
    /// Directory with the files of the project, beside the test file.
    pub(crate) fixture: Option<&'a str>,
    pub(crate) files: &'a [String],
    /// Directories that replace templates and standards.
    pub(crate) templates: Option<&'a Path>,
    pub(crate) standards: Option<&'a Path>,
    /// The user's configuration in it.
    pub(crate) config: &'a str,
    /// The providers that the program brings.
    pub(crate) embedded: &'a [&'a str],
}

impl Scratch {
    /// A directory with an empty project and an empty home.
    pub(crate) fn empty(project: &Settings) -> Result<Self, String> {
        let directory = private_directory().map_err(|error| error.to_string())?;
        let (root, home) = (directory.path().join("project"), directory.path().join("home"));
        for path in [&root, &home] {
            create_dir(path).map_err(|error| error.to_string())?;
        }
        let settings = Settings {
            current_dir: root.clone(),
            shell_dir: None,
            project_root: root,
            cache_dir: Some(home.join("cache")),
            home: Some(home),
            ..project.clone()
        };
        Ok(Self { directory, settings })
    }

    pub(crate) fn of(content: &ScratchContent<'_>) -> Result<Self, String> {
        let mut scratch = Self::empty(content.project)?;
        scratch.settings.embedded_providers.extend(content.embedded.iter().map(|name| (*name).to_owned()));
        let root = scratch.settings.project_root.clone();
        let aiwf = root.join(".aiwf");
        create_dir(&aiwf).map_err(|error| error.to_string())?;
        let source = match (content.fixture, &content.place.owner) {
            (Some(fixture), _) => {
                let fixture = content.place.resolve(fixture)?;
                copy_tree(&fixture, &root)?;
                Some(fixture)
            }
            // The project that happens to be around says nothing about a profile.
            (None, Some(_)) => None,
            (None, None) => {
                let project = content.project.project_root.clone();
                for name in DECIDING {
                    copy_any(&project.join(".aiwf").join(name), &aiwf.join(name))?;
                }
                Some(project)
            }
        };
        if let (Some(source), false) = (&source, content.files.is_empty()) {
            copy_files(source, content.files, &root)?;
        }
        if let Some(owner) = &content.place.owner {
            put_owner(owner, &aiwf)?;
        }
        if let Some(templates) = content.templates {
            copy_tree(templates, &aiwf.join("templates"))?;
            if let Some(Owner { kind: OwnerKind::Profile, directory }) = &content.place.owner {
                copy_tree(
                    templates,
                    &aiwf.join("profiles").join(known_owner_name(directory)).join("templates"),
                )?;
            }
        }
        if let Some(standards) = content.standards {
            aiwf_store::remove_tree(&aiwf.join("standards")).map_err(|error| error.to_string())?;
            copy_tree(standards, &aiwf.join("standards"))?;
            if let Some(Owner { kind: OwnerKind::Profile, directory }) = &content.place.owner {
                copy_tree(
                    standards,
                    &aiwf.join("profiles").join(known_owner_name(directory)).join("standards"),
                )?;
            }
        }
        without_checks(&aiwf)?;
        let config = scratch.settings.home.clone().unwrap_or_default().join(".aiwf");
        create_dir(&config).map_err(|error| error.to_string())?;
        write(&config.join("config.toml"), content.config.as_bytes())?;
        Ok(scratch)
    }

    /// A directory in it, for the files of calls.
    pub(crate) fn directory(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.directory.path().join(name);
        create_dir(&path).map_err(|error| error.to_string())?;
        Ok(path)
    }
}

/// The name under which the tested profile or flow is known: a built-in one of the same name cannot be replaced.
pub(crate) fn known_name(name: &str, place: &CasePlace) -> String {
    let Some(owner) = &place.owner else { return name.to_owned() };
    let is_own = owner.kind != OwnerKind::Package && owner_name(&owner.directory) == name;
    let is_built_in = match owner.kind {
        OwnerKind::Profile => aiwf_profile::built_in_profile(name).is_some(),
        OwnerKind::Flow => aiwf_session::Flow::built_in_text(name).is_some(),
        OwnerKind::Package => false,
    };
    if is_own && is_built_in { format!("{name}-under-test") } else { name.to_owned() }
}

/// The name of a tested profile in the scratch project.
fn known_owner_name(directory: &Path) -> String {
    let name = owner_name(directory);
    if aiwf_profile::built_in_profile(&name).is_some() { format!("{name}-under-test") } else { name }
}

fn owner_name(directory: &Path) -> String {
    directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn put_owner(owner: &Owner, aiwf: &Path) -> Result<(), String> {
    let name = owner_name(&owner.directory);
    match owner.kind {
        OwnerKind::Profile => {
            let files =
                crate::catalog::profiles::read_files(&owner.directory).map_err(|fault| fault.message)?;
            let profile = aiwf_profile::Profile::load(files.clone()).map_err(|error| error.to_string())?;
            let known = known_owner_name(&owner.directory);
            let files = if known == name { files } else { profile.renamed(&known) };
            let root = aiwf.join("profiles").join(&known);
            for (path, bytes) in files {
                write(&root.join(path), &bytes)?;
            }
            Ok(())
        }
        OwnerKind::Flow => {
            let is_built_in = aiwf_session::Flow::built_in_text(&name).is_some();
            let name = if is_built_in { format!("{name}-under-test") } else { name };
            let root = aiwf.join("flows").join(name);
            let entries = std::fs::read_dir(&owner.directory).map_err(|error| error.to_string())?;
            for entry in entries.filter_map(Result::ok).filter(|entry| entry.path().is_file()) {
                copy_any(&entry.path(), &root.join(entry.file_name()))?;
            }
            Ok(())
        }
        OwnerKind::Package => Ok(()),
    }
}

/// Checks of the project do not run in a scratch project: their results are no part of a case.
fn without_checks(aiwf: &Path) -> Result<(), String> {
    let path = aiwf.join("config.toml");
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
    // The engine reports a file that is not TOML.
    let Ok(mut document) = text.parse::<toml_edit::DocumentMut>() else { return Ok(()) };
    if document.remove("checks").is_some() {
        write(&path, document.to_string().as_bytes())?;
    }
    Ok(())
}

/// Copies the files of a project that patterns name.
fn copy_files(project: &Path, patterns: &[String], root: &Path) -> Result<(), String> {
    let limits = FileLimits { max_files: MAX_FILES, max_bytes: MAX_BYTES };
    match find_in_project(project, patterns, limits).map_err(|error| error.to_string())? {
        ProjectFiles::Found(files, problems) => {
            if let (Some(problem), true) = (problems.first(), files.is_empty()) {
                return Err(format!("{}: {}", problem.source, problem.message));
            }
            files.iter().try_for_each(|(path, text)| write(&root.join(path), text.as_bytes()))
        }
        ProjectFiles::TooMany(n_files) => {
            Err(format!("`files` names {n_files} files; the limit is {MAX_FILES}"))
        }
        ProjectFiles::TooLarge(n_bytes) => {
            Err(format!("`files` names {n_bytes} bytes; the limit is {MAX_BYTES}"))
        }
    }
}

/// Copies a file or a directory, if it is there.
fn copy_any(from: &Path, to: &Path) -> Result<(), String> {
    match std::fs::symlink_metadata(from) {
        Ok(metadata) if metadata.is_file() => {
            let bytes =
                aiwf_store::read_regular(from, MAX_BYTES).map_err(|error| unreadable(from, &error))?;
            write(to, &bytes)
        }
        Ok(metadata) if metadata.is_dir() => copy_tree(from, to),
        // A link is not followed.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Copies the regular files of a directory; links are not followed, `.git` and sessions are left out.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    let mut n_files = 0;
    let mut n_bytes = 0;
    let is_left_out = |entry: &ignore::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        let is_ours = entry.path().parent().is_some_and(|parent| parent.ends_with(".aiwf"));
        name != ".git" && !(is_ours && matches!(name.as_ref(), "sessions" | "runs" | "changes" | "cache"))
    };
    let walk = ignore::WalkBuilder::new(from).standard_filters(false).filter_entry(is_left_out).build();
    for entry in walk {
        let entry = entry.map_err(|error| error.to_string())?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        n_files += 1;
        if n_files > MAX_FILES {
            return Err(format!("`{}` has more than {MAX_FILES} files", from.display()));
        }
        let bytes = aiwf_store::read_regular(entry.path(), MAX_BYTES)
            .map_err(|error| unreadable(entry.path(), &error))?;
        n_bytes += bytes.len() as u64;
        if n_bytes > MAX_BYTES {
            return Err(format!("`{}` has more than {MAX_BYTES} bytes", from.display()));
        }
        let below = entry.path().strip_prefix(from).unwrap_or(entry.path());
        write(&to.join(below), &bytes)?;
    }
    Ok(())
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("`{}` cannot be read: {error}", path.display())
}

/// Writes a file of a scratch directory, with the directories above it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let parent = path.parent().unwrap_or(path);
    create_dir(parent).map_err(|error| error.to_string())?;
    write_atomic(path, Durability::Process, |out| out.write_all(bytes)).map_err(|error| error.to_string())
}
