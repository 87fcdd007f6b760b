//! Builds the prompt of a phase with the recipe `change`: template, project files, artifacts of other phases and
//! instructions, as one XML text.
//!
//! The agent gets all of it through this text: no flag, variable or earlier conversation adds to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aiwf_config::{EditForm, Settings};
use aiwf_prompt::{Format, FsAbility, Prompt};
use aiwf_session::{
    Access, ChangeSetup, FileHash, Flow, Gives, Phase, PhaseSpec, ReplyParser, Setup, TaskStatus, Verdict,
};
use aiwf_store::sha256_hex;

use super::create::Reach;
use super::open_session::OpenSession;
use crate::Engine;
use crate::ask::providers;
use crate::catalog::flows::is_template_file;
use crate::prompt::build::{BuildOptions, Built, Receiver};
use crate::prompt::document::{ChangeDocument, Document, ToolDocument};
use crate::prompt::gather::{ChangeFlags, FlowTemplate, MissingFiles, ReadArtifact};
use crate::prompt::read::into_text;
use crate::prompt::system_templates::TemplateLayer;
use crate::session::session_error::SessionError;

impl OpenSession<'_> {
    /// Builds the prompt of a phase for the provider that will be asked.
    pub(crate) fn build_change_prompt(
        &self,
        spec: &PhaseSpec,
        iteration: u32,
        fs_ability: Option<FsAbility>,
        tools: Vec<ToolDocument>,
    ) -> Result<Built, SessionError> {
        let phase = spec.name;
        let setup = self.setup()?;
        let of_profile = ChangeSetup { request: request_of(setup), ..ChangeSetup::default() };
        let change = setup.change.as_deref().unwrap_or(&of_profile);
        let template = self.flow_template(spec)?;
        let has_template = template.is_some();
        let document = ChangeDocument {
            agent: change.agents.get(&phase).and_then(|agent| agent.template.clone()),
            phase: Some(
                spec.template.as_deref().filter(|_| !has_template).unwrap_or(phase.as_str()).to_owned(),
            ),
            instructions: self.instructions(spec, change, has_template),
            tools,
            ..ChangeDocument::default()
        };
        let (files, project_files) = self.context_files(spec, change);
        let flags = ChangeFlags {
            files,
            project_files,
            required_files: if self.state.flow.judges_files(phase) { self.code_files() } else { Vec::new() },
            changed_files: self.changed_texts()?,
            template,
            missing_files: MissingFiles::LeftOut,
            read_artifacts: self.artifacts(spec)?,
            left_out: self.recordings(),
            ..ChangeFlags::default()
        };
        let options = BuildOptions { format: Some(Format::Xml), ..self.build_options(phase, fs_ability) };
        let call = Self::call_name(phase, iteration);
        let receiver = Receiver { config: self.config(), duty: self.duty(phase), call: &call };
        at_root(self.engine).build_for(Document::Change(document), &flags, &options, receiver, &|_| ())
    }

    /// Directories of recordings. They grow with every call and are not part of the project.
    fn recordings(&self) -> Vec<PathBuf> {
        let dirs = self.config().providers.values().filter_map(|provider| provider.dir.as_ref());
        let root = &self.engine.settings().project_root;
        let record = self.engine.call_context().record.as_ref();
        dirs.map(|dir| root.join(&dir.value)).chain(record.cloned()).collect()
    }

    /// File patterns relative to the project's root: those that may lead out of it, and those that may not.
    ///
    /// Only patterns that this user typed may; a foreign session was typed by a stranger.
    fn context_files(&self, spec: &PhaseSpec, change: &ChangeSetup) -> (Vec<String>, Vec<String>) {
        let typed = change.files_of(spec.name);
        let mut confined = change.project_files.clone();
        // Files that the agent edited or will replace are shown whatever the patterns say.
        if spec.access == Access::Write || self.state.flow.judges_files(spec.name) {
            confined.extend(self.code_files());
        }
        if spec.gives == Gives::Edits {
            confined.extend(self.named_files(spec, change));
        }
        if self.is_own {
            return (typed, confined);
        }
        confined.extend(typed);
        (Vec::new(), confined)
    }

    /// Project files that the request or earlier artifacts mention: a model can edit only what it sees.
    ///
    /// Agents in a worktree read files themselves.
    fn named_files(&self, spec: &PhaseSpec, change: &ChangeSetup) -> Vec<String> {
        if self.works_in_worktree(spec.name).unwrap_or(false) {
            return Vec::new();
        }
        let mut text = change.request.clone();
        for artifact in self.artifacts(spec).unwrap_or_default() {
            text.push('\n');
            text.push_str(&artifact.text);
        }
        named_paths(&text, &self.engine.settings().project_root)
    }

    /// Project files as this session has changed them; `None` for deleted ones.
    fn changed_texts(&self) -> Result<BTreeMap<String, Option<String>>, SessionError> {
        let is_edit = |spec: &PhaseSpec| spec.gives == Gives::Edits;
        if !self.state.flow.phases.iter().any(is_edit) {
            return Ok(BTreeMap::new());
        }
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).ok();
        let changes = self.approved_changes()?;
        // Binary files are listed by the diff and cannot be shown.
        let shown =
            changes.iter().filter(|(_, file)| file.content.as_ref().is_none_or(|it| text(it).is_some()));
        Ok(shown.map(|(path, file)| (path.to_owned(), file.content.as_ref().and_then(text))).collect())
    }

    /// The project files that the implementation edited or will replace: the code under review.
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

    /// The artifacts that this phase reads, in the order of the flow.
    fn artifacts(&self, spec: &PhaseSpec) -> Result<Vec<ReadArtifact>, SessionError> {
        let flow = &self.state.flow;
        let mut files: Vec<(String, String)> = flow
            .phases
            .iter()
            .filter(|other| spec.reads.contains(&other.name))
            .map(|other| (other.artifact.clone(), other.artifact_file()))
            .filter(|(_, file)| self.state.bound.contains_key(file))
            .collect();
        let feedback = self.state.feedback.as_ref().filter(|_| self.state.phase == spec.name);
        if let Some(reply) = feedback.and_then(|feedback| feedback.rejected_reply.as_ref()) {
            let name = if self.reopened().is_some() { "reopened-reply" } else { "rejected-reply" };
            files.push((name.to_owned(), reply.path.clone()));
        }
        let read = |(name, file): (String, String)| {
            let path = self.ledger.shown(&file);
            // Read through the session's directory handle, so that a link is not followed.
            let text = into_text(self.read(&file)?, Path::new(&path))?;
            Ok(ReadArtifact { name, path, text })
        };
        let mut artifacts = files.into_iter().map(read).collect::<Result<Vec<_>, SessionError>>()?;
        if spec.gives.changes_files() || flow.judges_files(spec.name) {
            artifacts.extend(self.checks_artifact()?);
        }
        // People's remarks are part of the journal.
        let remarks = self.remarks(spec)?;
        let path = self.ledger.shown("journal.jsonl");
        for (name, text) in [("comments", remarks.comments), ("notes", remarks.notes)] {
            artifacts.extend(text.map(|text| ReadArtifact {
                name: name.to_owned(),
                path: path.clone(),
                text,
            }));
        }
        Ok(artifacts)
    }

    /// The template of a phase as it was when the session started.
    fn flow_template(&self, spec: &PhaseSpec) -> Result<Option<FlowTemplate>, SessionError> {
        let Some(name) = spec.template.as_deref().filter(|name| is_template_file(name)) else {
            return Ok(None);
        };
        let path = flow_file(name);
        let text = into_text(self.read(&path)?, &self.ledger.file(&path))?;
        let flow = &self.state.flow.name;
        let is_built_in = Flow::built_in_template(flow, name) == Some(text.as_str());
        let setup = self.setup()?;
        let request = request_of(setup);
        Ok(Some(FlowTemplate {
            name: format!("flows/{flow}/{name}"),
            text,
            request,
            layer: if is_built_in { TemplateLayer::BuiltIn } else { TemplateLayer::Project },
        }))
    }

    /// The instructions: the request, additional instructions of the phase, and the result of the last round.
    fn instructions(&self, spec: &PhaseSpec, change: &ChangeSetup, has_template: bool) -> String {
        let flow = &self.state.flow;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(spec.task.clone());
        parts.push(change.request.clone());
        parts.extend(change.instructions_of(spec.name).iter().cloned());
        if spec.access == Access::Write && change.may_write {
            parts.push("You may edit the project: edit its files in place.".to_owned());
        }
        let leads_to = flow.reachable_from(spec.name);
        for (judge, verdict) in &self.state.change.verdicts {
            if *verdict != Verdict::Pass
                && *judge != spec.name
                && leads_to.contains(judge)
                && spec.gives != Gives::Verdict
            {
                parts
                    .push(format!("The last {judge} ended with {}: resolve its findings.", verdict.as_str()));
            }
        }
        let failed: Vec<&str> = self
            .state
            .change
            .tasks
            .iter()
            .filter(|task| task.status == TaskStatus::Failed)
            .map(|task| task.id.as_str())
            .collect();
        let is_about_files =
            flow.gives_files(spec.name) || flow.judges_files(spec.name) || flow.is_settled_in(spec.name);
        if is_about_files && !failed.is_empty() {
            parts.push(format!("Tasks that were reported as FAILED: {}.", failed.join(", ")));
        }
        if let Some(feedback) = self.state.feedback.as_ref().filter(|_| self.state.phase == spec.name) {
            let what = if let Some(reopened) = self.reopened() {
                reopened
            } else if feedback.rejected_reply.is_some() || self.state.iteration == 1 {
                "Your last reply was rejected:".to_owned()
            } else {
                "Feedback on the last round:".to_owned()
            };
            parts.push(format!("{what}\n\n{}", feedback.text));
        }
        if spec.gives.changes_files() && self.state.checks.iter().any(|check| !check.is_passed()) {
            parts.push(format!("{CHECKS_FAILED}: the artifact `checks` says how. {FIX_CODE}"));
        }
        if has_template {
            parts.push(output_form(spec, self.edits_text(spec.name)));
        }
        parts.join("\n\n")
    }

    /// How the provider of a phase is told to change files.
    pub(super) fn edits_text(&self, phase: Phase) -> &'static str {
        if self.works_in_worktree(phase).unwrap_or(false) {
            return AGENT_FORM;
        }
        match providers::edit_form(self.state.provider(phase), self.config()) {
            EditForm::SearchReplace => SEARCH_REPLACE_FORM,
            EditForm::Diff => DIFF_FORM,
            EditForm::Files => FILES_FORM,
        }
    }

    /// The project files shown in a prompt, with their hashes. An implementation is compared with these versions.
    pub(crate) fn seen(&self, phase: Phase, prompt: &Prompt) -> Vec<FileHash> {
        if !self.state.flow.gives_files(phase) {
            return Vec::new();
        }
        let root = &self.engine.settings().project_root;
        let sections = prompt.sections();
        let parts = sections.iter().flat_map(|section| &section.parts).filter(|part| part.is_kept);
        let inputs = self.project_inputs();
        parts
            .filter_map(|part| part.source.strip_prefix("file:"))
            .filter(|path| !path.starts_with(".aiwf/"))
            .filter_map(|path| {
                if let Some(input) = inputs.iter().find(|input| input.path == path) {
                    return Some(input.clone());
                }
                let bytes = std::fs::read(root.join(path)).ok()?;
                // Edits apply to exactly these bytes, even if the file changes later.
                drop(self.ledger.keep(&bytes));
                Some(FileHash { path: path.to_owned(), sha256: sha256_hex(&bytes) })
            })
            .collect()
    }
}

/// Refuses patterns that match no file, before anything is recorded.
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

/// The request of a session; of a profile session, the profile and its parameters.
pub(super) fn request_of(setup: &Setup) -> String {
    if let Some(change) = &setup.change {
        return change.request.clone();
    }
    let given = setup.context.iter().map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("\n- {key}: {text}")
    });
    format!("{}:{}", setup.profile, given.collect::<String>())
}

/// What a phase is told that has to answer failed checks.
pub(super) const CHECKS_FAILED: &str = "Checks of the project failed on the last round";
pub(super) const FIX_CODE: &str = "Fix the code; do not weaken the checks.";

/// The path of a flow template within a session.
pub(crate) fn flow_file(name: &str) -> String {
    format!("flow/{name}")
}

/// Instructions for agents that edit files themselves.
const AGENT_FORM: &str = "Edit the files in your working directory: it is a copy of the project made for you. \
Do not commit, and do not touch anything outside it. When you are done, reply with a short report: what you changed \
and why, and what is left to do.";

/// What providers without file access are taught, by the form of their edits.
const SEARCH_REPLACE_FORM: &str = "After a short report of what you change and why, write the changes as blocks, and nothing after the last one:

<<<EDIT: path/to/existing.file>>>
<<<<<<< SEARCH
lines of the file, exactly as they are shown, with enough of them to be found only once
=======
the lines that replace them
>>>>>>> REPLACE

<<<FILE: path/to/new.file>>>
the whole content of a new file, or of one that changes almost everywhere

<<<DELETE: path/to/old.file>>>

<<<RENAME: path/before -> path/after>>>

One EDIT block can have several SEARCH/REPLACE pairs; they apply in order. Paths are relative to the project.";

const DIFF_FORM: &str = "After a short report of what you change and why, write all changes as one unified diff in a fenced block, and nothing \
after it:

```diff
--- a/path/to/existing.file
+++ b/path/to/existing.file
@@ -10,3 +10,3 @@
 a line that stays, exactly as it is shown
-a line that goes, exactly as it is shown
+the line that replaces it
 another line that stays
--- /dev/null
+++ b/path/to/new.file
@@ -0,0 +1 @@
+a line of a new file
--- a/path/to/old.file
+++ /dev/null
```

Show three unchanged lines before and after each change, or as many as are needed to find it only once. To rename a file, \
write a line `rename from path/before` and a line `rename to path/after`. Paths are relative to the project.";

const FILES_FORM: &str = "After a short report of what you change and why, write the changes as blocks, and nothing after the last one:

<<<FILE: path/to/changed-or-new.file>>>
the whole content of the file as it is to be: no excerpt, and no placeholder for lines that stay

<<<DELETE: path/to/old.file>>>

<<<RENAME: path/before -> path/after>>>

Paths are relative to the project.";

/// Maximum number of files shown because a text mentions them.
const MAX_NAMED_FILES: usize = 40;

/// The project files that a text mentions by path.
pub(super) fn named_paths(text: &str, root: &Path) -> Vec<String> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "._-/+@".contains(c);
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| !is_path(c)) {
        let word = word.trim_start_matches("./").trim_end_matches(['.', '/']);
        let is_inside =
            !word.is_empty() && !word.starts_with('/') && !word.split('/').any(|part| part == "..");
        if is_inside && !found.iter().any(|known| known == word) && root.join(word).is_file() {
            found.push(word.to_owned());
            if found.len() == MAX_NAMED_FILES {
                break;
            }
        }
    }
    found
}

/// The output instructions, for templates that leave them to the engine.
pub(super) fn output_form(spec: &PhaseSpec, edits: &str) -> String {
    let files = "Write every file in full, each after a line `<<<FILE: path>>>` with its path in the project. \
                 Write nothing after the last file.";
    let tasks = "Before the files, report each task on a line of its own: \
                 `<task_status id=\"1\">COMPLETED</task_status>` or `FAILED`.";
    match (spec.gives, spec.parser) {
        (Gives::Text, _) => {
            "Reply with the text alone: all of your reply is kept and read by the next phase.".to_owned()
        }
        (Gives::Files, ReplyParser::TaskFiles) => format!("{tasks} {files}"),
        (Gives::Files, ReplyParser::FencedFiles) => {
            "Write every file in full, in a fenced block whose first line names its path in the project."
                .to_owned()
        }
        (Gives::Files, _) => files.to_owned(),
        (Gives::Edits, parser) => {
            if parser == ReplyParser::TaskEdits {
                format!("{tasks}\n\n{edits}")
            } else {
                edits.to_owned()
            }
        }
        (Gives::Verdict, ReplyParser::ReviewMeta) => {
            "End with a block `@@@REVIEW_META` that says `verdict: PASS` or `verdict: FAIL`.".to_owned()
        }
        (Gives::Verdict, _) => {
            let words: Vec<&str> = spec.on.keys().rev().map(|verdict| verdict.as_str()).collect();
            format!(
                "End with one line `<review>VERDICT</review>`, where VERDICT is one of {}.",
                words.join(", ")
            )
        }
    }
}
