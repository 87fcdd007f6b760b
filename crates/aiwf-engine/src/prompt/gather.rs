//! Reads what a request is made of: from a document to sources with their provenance.
//!
//! In: a document, settings. Out: a pure request and what a person should know about its sources. Nothing here
//! decides how a prompt looks.

mod change;
mod files;
mod project;
mod reply;
mod session;
mod standards;
mod workflow;

use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_prompt::{FsAbility, Problem, Request};
pub use change::{ChangeFlags, FlowTemplate, ReadArtifact};
pub use files::MissingFiles;

use crate::error::{EngineError, shortened};
use crate::prompt::document::Document;
use crate::prompt::read::resolve_below;

/// How far reading files has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files read.
    pub n_done: usize,
    /// Files to read.
    pub n_total: usize,
}

/// A request ready for the pure stages, with what its document says about the receiver.
pub(crate) struct Gathered {
    pub(crate) request: Request,
    pub(crate) capability: DocumentCapability,
    pub(crate) problems: Vec<Problem>,
}

/// What a document says about the receiver; flags win over it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DocumentCapability {
    pub(crate) fs_ability: DocumentFsAbility,
    pub(crate) supports_system_prompt: Option<bool>,
    pub(crate) supports_file_attachments: Option<bool>,
}

/// What a document says about files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum DocumentFsAbility {
    /// Nothing.
    #[default]
    Unset,
    /// Something this version does not know: nothing is said about saving.
    Unknown,
    /// One of the four.
    Known(FsAbility),
}

pub(crate) use standards::project_standards;

/// Reads the sources of a document.
pub(crate) fn gather(
    document: Document,
    flags: &ChangeFlags,
    settings: &Settings,
    on_progress: &dyn Fn(Progress),
) -> Result<Gathered, EngineError> {
    match document {
        Document::Session(document) => session::gather(document, settings, on_progress),
        Document::Change(document) => change::gather(document, flags, settings, on_progress),
        Document::Workflow(document) => workflow::gather(*document, settings),
        Document::Reply(document) => reply::gather(document),
    }
}

/// A name of a fixed set, as a document gives it.
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

/// The file a link leads to, when it is one below `root`; else why it is left out.
fn link_target(root: &Path, link: &Path) -> Result<PathBuf, &'static str> {
    match resolve_below(root, link) {
        Ok(Some(target)) if target.is_file() => Ok(target),
        Ok(Some(_)) => Err("skipped: a link to something that is not a file"),
        Ok(None) => Err("skipped: a link that leaves the directory"),
        Err(_) => Err("skipped: a link that leads nowhere"),
    }
}

/// The path that could not be listed.
fn failed_path(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => failed_path(err),
        ignore::Error::Partial(_)
        | ignore::Error::Loop { .. }
        | ignore::Error::Io(_)
        | ignore::Error::Glob { .. }
        | ignore::Error::UnrecognizedFileType(_)
        | ignore::Error::InvalidDefinition => None,
    }
}

/// A path as people and agents read it: relative to `base` when it lies below, joined with `/`.
fn shown_path(base: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(base).unwrap_or(path);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let joined = parts.join("/");
    // An absolute path starts with the root, which `join` doubles.
    joined.strip_prefix("//").map_or_else(|| joined.clone(), |rest| format!("/{rest}"))
}
