//! Where a test file is, and what its paths may reach.
//!
//! A test file is data of whoever wrote it: what it names is read only below its own root, with links resolved, and
//! golden files are written only in `goldens/` beside it, without following links.

use std::path::{Path, PathBuf};

use aiwf_store::{Durability, LedgerDir};

use crate::prompt::read::{Root, read_text_below, resolve_below};

/// What the tests of a directory are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnerKind {
    Profile,
    Flow,
    Package,
}

impl OwnerKind {
    /// The owner of a directory, by the file that makes it one.
    fn of(directory: &Path) -> Option<Self> {
        let has = |name: &str| directory.join(name).is_file();
        if has("profile.toml") {
            Some(Self::Profile)
        } else if has("flow.toml") {
            Some(Self::Flow)
        } else if has("bmad.json") {
            Some(Self::Package)
        } else {
            None
        }
    }
}

/// A profile, flow or package with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) kind: OwnerKind,
    pub(crate) directory: PathBuf,
}

/// The directory of tests of a profile, flow or package.
pub(crate) const TESTS: &str = "tests";
/// The directory of golden files beside a test file.
const GOLDENS: &str = "goldens";

/// The place of one test file.
#[derive(Clone, Debug)]
pub(crate) struct CasePlace {
    /// The path in reports.
    pub(crate) shown: String,
    /// The directory of the file.
    pub(crate) directory: PathBuf,
    /// What the paths of the file may reach.
    pub(crate) root: PathBuf,
    pub(crate) owner: Option<Owner>,
}

impl CasePlace {
    pub(crate) fn of(file: &Path, project_root: &Path, current_dir: &Path) -> Self {
        let directory = file.parent().unwrap_or(file).to_owned();
        let above = directory.parent().filter(|_| directory.ends_with(TESTS));
        let owner =
            above.and_then(|above| Some(Owner { kind: OwnerKind::of(above)?, directory: above.to_owned() }));
        let root = match &owner {
            Some(owner) => owner.directory.clone(),
            None if directory.starts_with(project_root) => project_root.to_owned(),
            None => directory.clone(),
        };
        let shown =
            file.strip_prefix(current_dir).or_else(|_| file.strip_prefix(project_root)).unwrap_or(file);
        Self { shown: shown.display().to_string(), directory, root, owner }
    }

    /// The real path of something that the file names, if it is below its root.
    pub(crate) fn resolve(&self, relative: &str) -> Result<PathBuf, String> {
        let path = self.directory.join(relative);
        match resolve_below(&self.root, &path) {
            Ok(Some(path)) => Ok(path),
            Ok(None) => Err(format!("`{relative}` leads out of `{}`", self.root_name())),
            // What a missing path outside would be called is nobody's business.
            Err(_) if crate::prompt::read::is_written_outside(&self.root, &normal(&path)) => {
                Err(format!("`{relative}` leads out of `{}`", self.root_name()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(format!("there is no `{relative}` beside the test file"))
            }
            Err(error) => Err(format!("`{relative}` cannot be read: {error}")),
        }
    }

    /// Reads a text beside the test file.
    pub(crate) fn read(&self, relative: &str) -> Result<String, String> {
        self.resolve(relative)?;
        let root = Root { path: &self.root, what: "the directory of the tests" };
        match read_text_below(root, &self.directory.join(relative)) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(format!("there is no `{relative}` beside the test file")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// A golden file; `None` if there is none.
    pub(crate) fn golden(&self, name: &str) -> Result<Option<String>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("`{GOLDENS}/{name}` cannot be read: {error}");
        if !self.directory.join(GOLDENS).is_dir() {
            return Ok(None);
        }
        let directory = LedgerDir::at(&self.directory).map_err(|error| failed(&error))?;
        let bytes = directory.read(&format!("{GOLDENS}/{name}")).map_err(|error| failed(&error))?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_error| failed(&"it is not text"))
    }

    /// The path of a golden file in reports.
    pub(crate) fn golden_path(&self, name: &str) -> String {
        let directory = Path::new(&self.shown).parent().unwrap_or(Path::new(""));
        directory.join(GOLDENS).join(name).display().to_string()
    }

    /// Writes a golden file; returns whether it changed.
    pub(crate) fn write_golden(&self, name: &str, text: &str) -> Result<bool, String> {
        if self.golden(name)?.as_deref() == Some(text) {
            return Ok(false);
        }
        let path = format!("{GOLDENS}/{name}");
        let directory = LedgerDir::at(&self.directory).map_err(|error| format!("`{path}`: {error}"))?;
        directory.create_directories(GOLDENS).map_err(|error| format!("`{path}`: {error}"))?;
        directory
            .write(&path, text.as_bytes(), Durability::Process)
            .map_err(|error| format!("`{path}` cannot be written: {}", error.source))?;
        Ok(true)
    }

    fn root_name(&self) -> String {
        self.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// The path without `.` and `..`, without looking at the disk.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::CurDir => {}
            std::path::Component::Prefix(_)
            | std::path::Component::RootDir
            | std::path::Component::Normal(_) => normal.push(part),
        }
    }
    normal
}

/// Finds test files.
///
/// Of a project: `.aiwf/tests/`, and `tests/` of its own profiles and flows. Of a profile, a flow or a package: `tests/`.
/// No link is followed: a checkout could have one to anywhere. Of any other directory: its own test files, or else those of the profiles, flows and packages in it. Only files
/// directly in a directory of tests count, since its subdirectories hold inputs.
pub(crate) fn discover(directory: &Path) -> Vec<PathBuf> {
    if OwnerKind::of(directory).is_some() {
        return toml_files(&directory.join(TESTS));
    }
    let aiwf = directory.join(".aiwf");
    if is_own_directory(&aiwf) {
        let mut files = toml_files(&aiwf.join(TESTS));
        for group in ["profiles", "flows"] {
            files.extend(of_children(&aiwf.join(group)));
        }
        return files;
    }
    let files = toml_files(directory);
    if directory.ends_with(TESTS) || files.iter().any(|file| has_cases(file)) {
        return files;
    }
    of_children(directory)
}

fn of_children(directory: &Path) -> Vec<PathBuf> {
    if !is_own_directory(directory) {
        return Vec::new();
    }
    let is_owner = |path: &PathBuf| is_own_directory(path) && OwnerKind::of(path).is_some();
    let mut children: Vec<PathBuf> = entries(directory).filter(is_owner).collect();
    children.sort();
    children.iter().flat_map(|child| toml_files(&child.join(TESTS))).collect()
}

fn toml_files(directory: &Path) -> Vec<PathBuf> {
    if !is_own_directory(directory) {
        return Vec::new();
    }
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut files: Vec<PathBuf> =
        entries(directory).filter(is_toml).filter(|path| is_own_file(path)).collect();
    files.sort();
    files
}

/// A link could lead to any file of the machine.
fn is_own_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

fn is_own_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// At most this many entries of a directory are looked at.
const MAX_ENTRIES: usize = 10_000;

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries.take(MAX_ENTRIES).map(|entry| entry.path())
}

fn has_cases(file: &Path) -> bool {
    let bytes = aiwf_store::read_regular(file, super::case_file::MAX_FILE_BYTES).unwrap_or_default();
    memchr::memmem::find(&bytes, b"[[case]]").is_some()
}

/// A part of a file name made of any text.
pub(crate) fn slug(text: &str) -> String {
    const LENGTH: usize = 80;
    let plain = |c: char| if c.is_alphanumeric() || "_+.".contains(c) { c } else { '-' };
    let text: String = text.to_lowercase().chars().map(plain).collect();
    let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(LENGTH).collect();
    slug.trim_matches(['-', '.']).to_owned()
}
