//! The prompt of a phase of a change: the system template of its agent, files of the project, what earlier phases
//! gave, and what to do, as one XML text.
//!
//! Nothing of it is handed to an agent by any other way: no flag, no variable, no earlier conversation.

use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_prompt::{Format, FsAbility, Prompt};
use aiwf_session::{ChangeSetup, FileHash, Phase, TaskStatus, Verdict};
use aiwf_store::sha256_hex;

use super::asking::duty;
use super::create::Reach;
use super::work::Work;
use crate::Engine;
use crate::build::{BuildOptions, Built, Receiver};
use crate::document::{ChangeDocument, Document, ToolDocument};
use crate::gather::{ChangeFlags, MissingFiles, ReadArtifact};
use crate::read::into_text;
use crate::session_error::SessionError;

impl Work<'_> {
    /// Builds the prompt of a phase for the agent that will be asked.
    pub(crate) fn build_change_prompt(
        &self,
        phase: Phase,
        iteration: u32,
        fs_ability: Option<FsAbility>,
        change: &ChangeSetup,
        tools: Vec<ToolDocument>,
    ) -> Result<Built, SessionError> {
        let document = ChangeDocument {
            agent: change.agents.get(&phase).and_then(|agent| agent.template.clone()),
            phase: Some(phase.as_str().to_owned()),
            instructions: self.instructions(phase, change),
            tools,
            ..ChangeDocument::default()
        };
        let (files, project_files) = self.context_files(phase, change);
        let flags = ChangeFlags {
            files,
            project_files,
            required_files: if phase == Phase::Review { self.code_files() } else { Vec::new() },
            missing_files: MissingFiles::LeftOut,
            read_artifacts: self.artifacts(phase)?,
            left_out: self.recordings(),
            ..ChangeFlags::default()
        };
        let options = BuildOptions { format: Some(Format::Xml), ..self.build_options(phase, fs_ability)? };
        let call = Self::call_name(phase, iteration);
        let receiver = Receiver { config: self.config(), duty: duty(phase), call: &call };
        at_root(self.engine).build_for(Document::Change(document), &flags, &options, receiver, &|_| ())
    }

    /// Directories of recordings: they grow with every call, and are no part of the project.
    fn recordings(&self) -> Vec<PathBuf> {
        let dirs = self.config().providers.values().filter_map(|provider| provider.dir.as_ref());
        let root = &self.engine.settings().project_root;
        let record = self.engine.surroundings().record.as_ref();
        dirs.map(|dir| root.join(&dir.value)).chain(record.cloned()).collect()
    }

    /// Patterns of files, relative to the project's root: those that may lead out of it, and those that may not.
    ///
    /// Only what this user typed may: in a change that came from elsewhere, a stranger did.
    fn context_files(&self, phase: Phase, change: &ChangeSetup) -> (Vec<String>, Vec<String>) {
        let typed = change.files_of(phase);
        let mut confined = change.project_files.clone();
        // What the agent edited, and what an implementation is about to replace, is shown whatever the patterns say.
        if matches!(phase, Phase::Implement | Phase::Review) {
            confined.extend(self.code_files());
        }
        if self.is_own {
            return (typed, confined);
        }
        confined.extend(typed);
        (Vec::new(), confined)
    }

    /// The files of the project that the implementation edited, or is about to replace: the code under review.
    fn code_files(&self) -> Vec<String> {
        let root = &self.engine.settings().project_root;
        let state = &self.state.change;
        let edited = state.edited.iter().map(|file| &file.path);
        let replaced = state.files.iter().map(|file| &file.path);
        let mut files: Vec<String> =
            edited.chain(replaced).filter(|path| root.join(path).is_file()).cloned().collect();
        files.sort();
        files.dedup();
        files
    }

    /// What earlier phases and rounds gave.
    fn artifacts(&self, phase: Phase) -> Result<Vec<ReadArtifact>, SessionError> {
        let mut files: Vec<(String, &str)> = Phase::CHANGE
            .into_iter()
            .filter_map(Phase::artifact)
            .filter(|file| self.state.bound.contains_key(*file))
            .map(|file| (stem(file), file))
            .collect();
        let feedback = self.state.feedback.as_ref().filter(|_| self.state.phase == phase);
        if let Some(reply) = feedback.and_then(|feedback| feedback.rejected_reply.as_ref()) {
            files.push(("rejected-reply".to_owned(), &reply.path));
        }
        let read = |(name, file): (String, &str)| {
            let path = self.directory.shown(file);
            // Through the handle of the session: a link in its place is not followed.
            let text = into_text(self.read(file)?, Path::new(&path))?;
            Ok(ReadArtifact { name, path, text })
        };
        files.into_iter().map(read).collect()
    }

    /// What to do: what the change is about, what was said for the phase, and what became of the last round.
    fn instructions(&self, phase: Phase, change: &ChangeSetup) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(task(phase).map(str::to_owned));
        parts.push(change.request.clone());
        parts.extend(change.instructions_of(phase).iter().cloned());
        if phase == Phase::Implement && change.may_write {
            parts.push("You may edit the project: edit its files in place.".to_owned());
        }
        let verdict = |phase: Phase| self.state.change.verdicts.get(&phase).copied();
        let asks_for_more =
            |verdict: Option<Verdict>| verdict.is_some_and(|verdict| verdict != Verdict::Pass);
        if phase == Phase::Plan && asks_for_more(verdict(Phase::Challenge)) {
            parts.push(
                "The challenge did not let the last plan pass: revise the plan by its findings.".to_owned(),
            );
        }
        if matches!(phase, Phase::Plan | Phase::Implement) && asks_for_more(verdict(Phase::Review)) {
            parts
                .push("The review did not let the last implementation pass: answer its findings.".to_owned());
        }
        let failed: Vec<&str> = self
            .state
            .change
            .tasks
            .iter()
            .filter(|task| task.status == TaskStatus::Failed)
            .map(|task| task.id.as_str())
            .collect();
        if matches!(phase, Phase::Review | Phase::Implement | Phase::Archive) && !failed.is_empty() {
            parts.push(format!("Tasks that were reported as FAILED: {}.", failed.join(", ")));
        }
        if let Some(feedback) = self.state.feedback.as_ref().filter(|_| self.state.phase == phase) {
            parts.push(format!("Your last reply was turned down:\n\n{}", feedback.text));
        }
        parts.join("\n\n")
    }

    /// The files of the project that a prompt shows, as they are; what an implementation replaces is held against them.
    pub(crate) fn seen(&self, phase: Phase, prompt: &Prompt) -> Vec<FileHash> {
        if phase != Phase::Implement {
            return Vec::new();
        }
        let root = &self.engine.settings().project_root;
        let sections = prompt.sections();
        let parts = sections.iter().flat_map(|section| &section.parts).filter(|part| part.is_kept);
        parts
            .filter_map(|part| part.source.strip_prefix("file:"))
            .filter(|path| !path.starts_with(".aiwf/"))
            .filter_map(|path| {
                let bytes = std::fs::read(root.join(path)).ok()?;
                Some(FileHash { path: path.to_owned(), sha256: sha256_hex(&bytes) })
            })
            .collect()
    }
}

/// Refuses patterns that name no file, before anything is on record.
pub(super) fn check_patterns(engine: &Engine, patterns: &[String], reach: Reach) -> Result<(), SessionError> {
    if patterns.is_empty() {
        return Ok(());
    }
    let document = ChangeDocument { instructions: "-".to_owned(), ..ChangeDocument::default() };
    let patterns = patterns.to_vec();
    let flags = match reach {
        Reach::Anywhere => ChangeFlags { files: patterns, ..ChangeFlags::default() },
        Reach::Project => ChangeFlags { project_files: patterns, ..ChangeFlags::default() },
    };
    at_root(engine).build(Document::Change(document), &flags, &BuildOptions::default(), &|_| ())?;
    Ok(())
}

/// Patterns and artifacts are relative to the project, wherever the command runs.
fn at_root(engine: &Engine) -> Engine {
    let settings = engine.settings();
    Engine::new(Settings { current_dir: settings.project_root.clone(), ..settings.clone() })
}

/// The name of an artifact without its ending.
fn stem(file: &str) -> String {
    file.strip_suffix(".md").unwrap_or(file).to_owned()
}

/// What a phase does with the request; a plan is made from the request alone.
fn task(phase: Phase) -> Option<&'static str> {
    match phase {
        Phase::Challenge => Some("Challenge the plan of this change:"),
        Phase::Implement => Some("Implement the approved plan of this change:"),
        Phase::Review => Some("Review the implementation of this change:"),
        Phase::Archive => Some("Write the closing record of this change:"),
        Phase::Initialized
        | Phase::Planning
        | Phase::Generating
        | Phase::Reviewing
        | Phase::Revising
        | Phase::Plan
        | Phase::Complete
        | Phase::Cancelled => None,
    }
}
