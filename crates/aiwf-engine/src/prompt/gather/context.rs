//! Reads the project context: what a repository tells every agent about itself.
//!
//! One file by precedence, or the files that `[context] files` names, in its order. Everything stays in the project,
//! links resolved; sizes are bounded; what is not text is an error that names it, or reported when a pattern found it.

use std::io;
use std::path::{Path, PathBuf};

use aiwf_config::{Config, Settings};
use aiwf_prompt::{Artifact, Problem, Text};
use serde::Serialize;

use super::files::{self, MissingFiles, Pattern};
use crate::Engine;
use crate::ask::providers;
use crate::error::EngineError;
use crate::prompt::read::{Root, is_link, read_text_below, resolve_below};
use crate::session::session_error::SessionError;

/// Where projects keep their context, strongest first. A directory counts with the rule files in it.
const PLACES: [&str; 7] = [
    ".aiwf/project.md",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    CURSOR_RULES,
    ".cursorrules",
    ".github/copilot-instructions.md",
];
const CURSOR_RULES: &str = ".cursor/rules";

const NO_CONTEXT: &str =
    "(No project context is given: there is no `.aiwf/project.md`, `AGENTS.md`, `CLAUDE.md` or `GEMINI.md`.)";

/// The largest context, all files together.
pub(crate) const MAX_CONTEXT_BYTES: u64 = 1024 * 1024;
/// The largest number of files of a rules directory or of the configuration.
const MAX_CONTEXT_FILES: usize = 200;

/// The context of a project, as it goes into prompts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectContext {
    pub(crate) files: Vec<Artifact>,
    /// Places that hold a context as well, which is not used.
    passed_over: Vec<String>,
    /// Whether `[context] files` chose the files.
    is_chosen: bool,
    /// Files that a pattern found and that could not be used.
    pub(crate) problems: Vec<Problem>,
}

/// Which files are the context of a project, and which are not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextReport {
    pub files: Vec<ContextFile>,
    /// Places that hold a context as well, which is not used.
    pub passed_over: Vec<String>,
    /// Whether `[context] files` chose the files.
    pub from_config: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextFile {
    pub path: String,
    pub bytes: usize,
}

impl ContextReport {
    /// The files with their sizes, and those passed over, in a line; `None` if there is nothing to say.
    pub fn line(&self) -> Option<String> {
        let files: Vec<String> = self
            .files
            .iter()
            .map(|file| format!("{} ({})", file.path, crate::error::bytes_in_words(file.bytes as u64)))
            .collect();
        match (files.is_empty(), self.passed_over.is_empty()) {
            (true, true) => None,
            (true, false) => Some(format!("none; skipped: {}", self.passed_over.join(", "))),
            (false, true) => Some(files.join(", ")),
            (false, false) => Some(format!("{}; skipped: {}", files.join(", "), self.passed_over.join(", "))),
        }
    }
}

impl ProjectContext {
    pub(crate) fn report(&self) -> ContextReport {
        let files = self.files.iter();
        ContextReport {
            files: files
                .map(|file| ContextFile { path: file.path.clone(), bytes: file.text.len() })
                .collect(),
            passed_over: self.passed_over.clone(),
            from_config: self.is_chosen,
        }
    }

    /// The text for a template: that of the one file, or all with their paths, or a notice that there is none.
    pub(crate) fn text(&self) -> String {
        match self.files.as_slice() {
            [] if self.is_chosen => {
                "(No project context is given: `[context] files` names no text file.)".to_owned()
            }
            // These bytes are in prompts that were recorded.
            [] => NO_CONTEXT.to_owned(),
            [file] => file.text.to_string(),
            files => {
                let texts: Vec<String> =
                    files.iter().map(|file| format!("### {}\n\n{}", file.path, &*file.text)).collect();
                texts.join("\n\n")
            }
        }
    }
}

/// Reads the context of the project.
pub(crate) fn project_context(settings: &Settings, config: &Config) -> Result<ProjectContext, EngineError> {
    let root = settings.project_root.as_path();
    let Some(chosen) = &config.context.files else { return by_precedence(root) };
    let mut context = ProjectContext { is_chosen: true, ..ProjectContext::default() };
    for pattern in &chosen.value {
        let pattern = Pattern { text: pattern, stays_in: Some(root) };
        let mut problems = Vec::new();
        let found = files::find(root, &[pattern], MissingFiles::Refused, &mut problems, &|_| ())?;
        context.problems.extend(problems);
        for file in found {
            let is_known = context.files.iter().any(|known| known.path == file.name);
            if !is_known && !file.text.trim().is_empty() {
                context.add(file.name, &file.text)?;
            }
        }
    }
    let is_used = |place: &str| {
        context.files.iter().any(|file| file.path == place || file.path.starts_with(&format!("{place}/")))
    };
    context.passed_over =
        PLACES.iter().filter(|place| is_there(root, place) && !is_used(place)).map(|&it| it.into()).collect();
    Ok(context)
}

impl ProjectContext {
    fn add(&mut self, path: String, text: &str) -> Result<(), EngineError> {
        let text = text.trim_end();
        let n_bytes = self.files.iter().map(|file| file.text.len()).sum::<usize>() + text.len();
        if n_bytes as u64 > MAX_CONTEXT_BYTES || self.files.len() >= MAX_CONTEXT_FILES {
            return Err(EngineError::ContextTooLarge {
                path: path.into(),
                limit: MAX_CONTEXT_BYTES,
                most: MAX_CONTEXT_FILES,
            });
        }
        self.files.push(Artifact { path, text: Text::from(text) });
        Ok(())
    }
}

fn by_precedence(root: &Path) -> Result<ProjectContext, EngineError> {
    let mut context = ProjectContext::default();
    for place in PLACES {
        if !context.files.is_empty() {
            if is_there(root, place) {
                context.passed_over.push(place.to_owned());
            }
            continue;
        }
        let names = if place == CURSOR_RULES { rule_files(root)? } else { vec![place.to_owned()] };
        for name in names {
            if let Some(text) = read(root, &name)?.filter(|text| !text.trim().is_empty()) {
                context.add(name, &text)?;
            }
        }
    }
    Ok(context)
}

fn is_there(root: &Path, place: &str) -> bool {
    let path = root.join(place);
    if place == CURSOR_RULES { path.is_dir() } else { path.is_file() }
}

fn read(root: &Path, name: &str) -> Result<Option<String>, EngineError> {
    let path = root.join(name);
    // Looked at before it is opened: opening a pipe would wait for a writer.
    if path.exists() && !path.is_file() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
        return Err(EngineError::Unreadable { path: name.into(), source });
    }
    let n_bytes = path.metadata().map_or(0, |metadata| metadata.len());
    if n_bytes > MAX_CONTEXT_BYTES {
        return Err(EngineError::TooLarge { path: name.into(), limit: MAX_CONTEXT_BYTES });
    }
    let text = read_text_below(Root::project(root), &path).map_err(|error| error.about(name))?;
    match text.as_deref().and_then(|text| text.find('\0')) {
        Some(offset) => Err(EngineError::NotUtf8 { path: name.into(), offset }),
        None => Ok(text),
    }
}

/// The rule files of Cursor, sorted; links that leave the project are refused.
fn rule_files(root: &Path) -> Result<Vec<String>, EngineError> {
    let directory = root.join(CURSOR_RULES);
    if directory.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    let leaves = |path: &Path, name: &str| match resolve_below(root, path) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(EngineError::LeavesDirectory { path: name.into(), root: "the project" }),
        Err(_) if is_link(path) => Err(EngineError::BrokenLink { path: name.into() }),
        Err(source) => Err(EngineError::Unreadable { path: name.into(), source }),
    };
    leaves(&directory, CURSOR_RULES)?;
    if !directory.is_dir() {
        return Err(EngineError::NotADirectory { what: "directory of rules", path: CURSOR_RULES.into() });
    }
    let mut names = Vec::new();
    let walk = ignore::WalkBuilder::new(&directory).standard_filters(false).max_depth(Some(8)).build();
    for entry in walk.filter_map(Result::ok) {
        let path: PathBuf = entry.into_path();
        let is_rule = path.extension().is_some_and(|end| end == "mdc" || end == "md");
        if is_rule && !path.is_dir() {
            let name = super::shown_path(root, &path);
            leaves(&path, &name)?;
            names.push(name);
        }
        if names.len() > MAX_CONTEXT_FILES {
            break;
        }
    }
    names.sort();
    Ok(names)
}

impl Engine {
    /// Which files are the context of the project.
    pub fn context_report(&self) -> Result<ContextReport, SessionError> {
        let config = providers::load_config(self.settings(), &aiwf_config::Flags::default())?;
        Ok(project_context(self.settings(), &config)?.report())
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
