//! Gathers the sources of a request, with their origins.
//!
//! In: a document and settings. Out: a pure request, and problems with its sources. Decides nothing about how a prompt
//! looks.

mod change;
pub(crate) mod context;
mod files;
mod project;
mod reply;
mod session;
mod standards;
mod workflow;

use std::path::{Path, PathBuf};

use aiwf_config::{Config, Settings};
use aiwf_prompt::{FsAbility, Problem, Request};
pub use change::{ChangeFlags, FlowTemplate, ReadArtifact};
pub use context::{ContextFile, ContextReport};
pub use files::MissingFiles;
pub(crate) use files::{FileLimits, ProjectFiles, find_in_project};

use crate::error::{EngineError, shortened};
use crate::prompt::document::Document;
use crate::prompt::read::resolve_below;

/// Progress of reading files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub n_done: usize,
    pub n_total: usize,
}

/// A request for the pure stages, with the abilities that its document sets.
pub(crate) struct Gathered {
    pub(crate) request: Request,
    pub(crate) capability: DocumentCapability,
    pub(crate) problems: Vec<Problem>,
    /// The files of the project context, when the prompt has one.
    pub(crate) context: Option<ContextReport>,
}

/// Abilities set by a document; flags override them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DocumentCapability {
    pub(crate) fs_ability: DocumentFsAbility,
    pub(crate) supports_system_prompt: Option<bool>,
    pub(crate) supports_file_attachments: Option<bool>,
}

/// The file access set by a document.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum DocumentFsAbility {
    #[default]
    Unset,
    /// A value unknown to this version: the prompt does not mention saving.
    Unknown,
    Known(FsAbility),
}

pub(crate) use standards::project_standards;

/// Gathers the sources of a document.
pub(crate) fn gather(
    document: Document,
    flags: &ChangeFlags,
    settings: &Settings,
    config: &Config,
    on_progress: &dyn Fn(Progress),
) -> Result<Gathered, EngineError> {
    match document {
        Document::Session(document) => session::gather(document, settings, config, on_progress),
        Document::Change(document) => change::gather(document, flags, settings, config, on_progress),
        Document::Workflow(document) => workflow::gather(*document, settings),
        Document::Reply(document) => reply::gather(document),
    }
}

/// Parses a name from a fixed set.
fn named<T>(
    what: &'static str,
    place: &str,
    name: &str,
    find: impl Fn(&str) -> Option<T>,
    known: impl IntoIterator<Item = &'static str>,
) -> Result<T, EngineError> {
    find(name).ok_or_else(|| EngineError::UnknownName {
        what,
        name: shortened(name),
        place: Some(place.to_owned()),
        known: known.into_iter().collect(),
    })
}

/// The target of a link if it is a file below `root`; otherwise why it is skipped.
fn link_target(root: &Path, link: &Path) -> Result<PathBuf, &'static str> {
    match resolve_below(root, link) {
        Ok(Some(target)) if target.is_file() => Ok(target),
        Ok(Some(_)) => Err("skipped: a link to something that is not a file"),
        Ok(None) => Err("skipped: a link that leads outside the directory"),
        Err(_) => Err("skipped: a broken link"),
    }
}

/// A path for display: relative to `base` if it is below, joined with `/`.
fn shown_path(base: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(base).unwrap_or(path);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let joined = parts.join("/");
    // An absolute path starts with the root, which `join` doubles.
    joined.strip_prefix("//").map_or_else(|| joined.clone(), |rest| format!("/{rest}"))
}
