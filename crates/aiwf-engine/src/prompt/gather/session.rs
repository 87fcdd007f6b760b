//! Reads the artifacts and the code of a session directory.

use std::io;
use std::path::{Path, PathBuf};

use aiwf_config::{Config, Settings};
use aiwf_prompt::{
    Artifact, CodeFile, FsAbility, LeftOutSource, PartBody, Problem, Request, SessionPhase, SessionRequest,
    Sha256Hex, Source, Text, WhyLeftOut,
};
use aiwf_worktree::unlisted_path;

use super::context::project_context;
use super::{
    DocumentCapability, DocumentFsAbility, Gathered, Progress, ReadArtifact, link_target, named, shown_path,
};
use crate::error::{EngineError, shortened};
use crate::prompt::document::SessionDocument;
use crate::prompt::read::{Root, read_text_below, resolve_below};
use crate::prompt::read_many::{Content, NotText, read_many};

pub(super) fn gather(
    document: SessionDocument,
    settings: &Settings,
    config: &Config,
    on_progress: &dyn Fn(Progress),
) -> Result<Gathered, EngineError> {
    let known = SessionPhase::ALL.map(SessionPhase::as_str);
    let phase = named("session phase", "phase", &document.phase, SessionPhase::from_name, known)?;
    if document.iteration == 0 {
        return Err(EngineError::TooSmall { field: "iteration", found: 0, least: 1 });
    }
    let directory = SessionDirectory::open(&document.session_dir, settings)?;
    let context = project_context(settings, config)?;
    let report = context.report();
    let mut problems = context.problems;
    let fs_ability = match document.fs_ability.as_deref() {
        None => DocumentFsAbility::Unset,
        Some(name) => FsAbility::from_name(name).map_or_else(
            || {
                problems.push(Problem {
                    source: Source::Input("fs_ability".to_owned()),
                    message: format!(
                        "unknown ability `{}`, so the prompt does not say how to save the reply; known: {}",
                        shortened(name),
                        FsAbility::ALL.map(|ability| format!("`{}`", ability.as_str())).join(", ")
                    ),
                    left_out: None,
                });
                DocumentFsAbility::Unknown
            },
            DocumentFsAbility::Known,
        ),
    };
    let project = document.project;
    // Code is generated again only if checks failed.
    let code_iteration = if phase == SessionPhase::Generating && project.checks.is_some() {
        document.iteration.checked_sub(1)
    } else {
        phase.code_iteration(document.iteration)
    };
    let code = match code_iteration.filter(|iteration| *iteration > 0) {
        Some(iteration) => directory.code(iteration, &mut problems, on_progress)?,
        None => Vec::new(),
    };
    let review = match phase {
        // After failed checks the last iteration has no review.
        SessionPhase::Revising => (1..document.iteration)
            .rev()
            .find_map(|iteration| {
                directory.artifact(&format!("iteration-{iteration}/review-response.md")).transpose()
            })
            .transpose()?,
        SessionPhase::Initialized
        | SessionPhase::Planning
        | SessionPhase::Generating
        | SessionPhase::Reviewing => None,
    };
    let request = SessionRequest {
        tools: super::reply::schemas(document.tools),
        phase,
        profile_prompt: Text::from(document.profile_prompt),
        profile_source: Source::Input("profile_prompt".to_owned()),
        plan: directory.artifact("plan.md")?,
        standards: directory.artifact("standards-bundle.md")?,
        project_context: context.files,
        project_files: project.files.into_iter().map(project_file).collect(),
        code,
        changes: project.changes.map(|changes| Box::new(read_artifact(changes))),
        checks: project.checks.map(|checks| Box::new(read_artifact(checks))),
        review,
        comments: document.comments.map(|comments| Box::new(Text::from(comments))),
        notes: document.notes.map(|notes| Box::new(Text::from(notes))),
        feedback: document.feedback.map(Text::from),
        rejected_reply: document.rejected_reply.map(|path| directory.artifact(&path)).transpose()?.flatten(),
        answer_format: project.answer_format.map(|form| Box::new(Text::from(form))),
        response_path: phase
            .response_file()
            .map(|file| directory.shown(&format!("iteration-{}/{file}", document.iteration))),
    };
    Ok(Gathered {
        request: Request::Session(request),
        capability: DocumentCapability {
            fs_ability,
            supports_system_prompt: document.supports_system_prompt,
            supports_file_attachments: document.supports_file_attachments,
        },
        problems,
        context: Some(report),
    })
}

fn read_artifact(artifact: ReadArtifact) -> Artifact {
    Artifact { path: artifact.path, text: Text::from(artifact.text) }
}

fn project_file(file: ReadArtifact) -> CodeFile {
    CodeFile { name: file.name, path: file.path, body: PartBody::Inline(Text::from(file.text)) }
}

struct SessionDirectory {
    path: PathBuf,
    /// The path for an agent that works in the project's root.
    shown: String,
}

impl SessionDirectory {
    fn open(given: &str, settings: &Settings) -> Result<Self, EngineError> {
        let what = "session directory";
        let path = settings.current_dir.join(given);
        // An empty path would mean the current directory; it usually comes from an unset variable.
        if given.is_empty() {
            return Err(EngineError::NoDirectory { what, path: PathBuf::new() });
        }
        if !path.exists() {
            let path = settings.current_dir.join(shortened(given));
            return Err(EngineError::NoDirectory { what, path });
        }
        if !path.is_dir() {
            return Err(EngineError::NotADirectory { what, path });
        }
        // Resolved on both sides, so that a link above the project does not hide that the path is inside.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let shown = shown_path(&real(&settings.project_root), &real(&path));
        Ok(Self { path, shown })
    }

    fn root(&self) -> Root<'_> {
        Root { path: &self.path, what: "the session directory" }
    }

    fn shown(&self, relative: &str) -> String {
        if self.shown.is_empty() { relative.to_owned() } else { format!("{}/{relative}", self.shown) }
    }

    fn artifact(&self, relative: &str) -> Result<Option<Artifact>, EngineError> {
        let text = read_text_below(self.root(), &self.path.join(relative))
            .map_err(|error| error.about(self.shown(relative)))?;
        Ok(text.map(|text| Artifact { path: self.shown(relative), text: Text::from(text) }))
    }

    fn code(
        &self,
        iteration: u32,
        problems: &mut Vec<Problem>,
        on_progress: &dyn Fn(Progress),
    ) -> Result<Vec<CodeFile>, EngineError> {
        let relative = format!("iteration-{iteration}/code");
        let root = self.path.join(&relative);
        match resolve_below(&self.path, &root) {
            Ok(Some(_)) if root.is_dir() => {}
            Ok(None) => {
                let path = self.shown(&relative).into();
                return Err(EngineError::LeavesDirectory { path, root: self.root().what });
            }
            _ => return Ok(Vec::new()),
        }
        let mut files = Vec::new();
        let walk = ignore::WalkBuilder::new(&root).standard_filters(false).build();
        for entry in walk {
            let entry = entry.map_err(|error| {
                let name = unlisted_path(&error).map_or_else(String::new, |path| shown_path(&root, path));
                let kind = error.io_error().map_or(io::ErrorKind::Other, io::Error::kind);
                let path = self.shown(&format!("{relative}/{name}")).into();
                EngineError::Unreadable { path, source: kind.into() }
            })?;
            let kind = entry.file_type();
            if kind.is_some_and(|kind| kind.is_file()) {
                files.push((shown_path(&root, entry.path()), entry.into_path()));
            } else if kind.is_some_and(|kind| kind.is_symlink()) {
                let name = shown_path(&root, entry.path());
                match link_target(&root, entry.path()) {
                    Ok(target) => files.push((name, target)),
                    Err(message) => problems.push(Problem {
                        source: Source::File(self.shown(&format!("{relative}/{name}"))),
                        message: message.to_owned(),
                        left_out: Some(LeftOutSource { why: WhyLeftOut::Unreadable, bytes: None }),
                    }),
                }
            }
        }
        let paths: Vec<&Path> = files.iter().map(|(_, path)| path.as_path()).collect();
        let contents = read_many(&paths, &note_of, on_progress);
        let mut code = Vec::with_capacity(files.len());
        for (content, (name, _)) in contents.into_iter().zip(&files) {
            let (name, path) = (name.clone(), self.shown(&format!("{relative}/{name}")));
            let body = match content.map_err(|error| error.about(&path))? {
                Content::Text(text) => PartBody::Inline(text),
                Content::LeftOut(not_text) => {
                    let left_out = LeftOutSource { why: WhyLeftOut::Encoding, bytes: Some(not_text.bytes) };
                    problems.push(Problem {
                        source: Source::File(path.clone()),
                        message: not_text.message.clone(),
                        left_out: Some(left_out),
                    });
                    PartBody::Note(not_text.message)
                }
            };
            code.push(CodeFile { name, path, body });
        }
        // Directory order is arbitrary.
        problems.sort_by(|a, b| a.source.cmp(&b.source));
        Ok(code)
    }
}

/// A note with size and hash, for a file that is not text.
fn note_of(content: Result<&str, &[u8]>) -> Option<NotText> {
    let bytes = content.err()?;
    let message = format!("not UTF-8 text: {} bytes, sha256 {}", bytes.len(), Sha256Hex::of_bytes(bytes));
    Some(NotText { bytes: bytes.len() as u64, message })
}
