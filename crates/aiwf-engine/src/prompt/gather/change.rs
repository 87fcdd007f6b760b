//! Reads the files and artifacts of a change and renders its system template.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_prompt::{
    ChangeRequest, ContextItem, ItemKind, PartBody, Problem, PromptError, Request, Source, TemplateSource,
    Text, render_template, render_template_here,
};

use super::files::{self, MissingFiles, Pattern};
use super::reply::schemas;
use super::{DocumentCapability, Gathered, Progress, named, project};
use crate::error::EngineError;
use crate::prompt::document::{ChangeDocument, ContextDocument};
use crate::prompt::read::read_text;
use crate::prompt::system_templates::{self, TemplateLayer};

/// What the command line adds to a document.
#[derive(Clone, Debug, Default)]
pub struct ChangeFlags {
    /// Patterns of files that the user typed: they may lead anywhere.
    pub files: Vec<String>,
    /// Patterns of files that come from elsewhere, such as the project's configuration: they stay in the project, links
    /// resolved.
    pub project_files: Vec<String>,
    /// Those of the files that may not be cut: the code under review.
    pub required_files: Vec<String>,
    /// Files as a session has changed them, by path relative to the project; nothing for one that it deletes.
    pub changed_files: BTreeMap<String, Option<String>>,
    /// What becomes of a pattern that names no file.
    pub missing_files: MissingFiles,
    /// Names and files of artifacts.
    pub artifacts: Vec<(String, String)>,
    /// Artifacts that were read already.
    pub read_artifacts: Vec<ReadArtifact>,
    /// Thoughts.
    pub thoughts: Vec<String>,
    /// The template of a flow; it is used instead of a system template.
    pub template: Option<FlowTemplate>,
    /// Directories that the overview of the project leaves out, such as one that requests are recorded in.
    pub left_out: Vec<PathBuf>,
}

/// A template that a flow brings.
#[derive(Clone, Debug)]
pub struct FlowTemplate {
    /// Its name, as people read it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// What the session is about, for `{{ request }}`.
    pub request: String,
    /// Who wrote it.
    pub layer: TemplateLayer,
}

/// An artifact with its text.
#[derive(Clone, Debug)]
pub struct ReadArtifact {
    /// Its name.
    pub name: String,
    /// The file that holds it, as people read it.
    pub path: String,
    /// Its text.
    pub text: String,
}

pub(super) fn gather(
    document: ChangeDocument,
    flags: &ChangeFlags,
    settings: &Settings,
    on_progress: &dyn Fn(Progress),
) -> Result<Gathered, EngineError> {
    let mut problems = Vec::new();
    let context = context(&document.context, flags, settings, &mut problems, on_progress)?;
    if document.agent.is_some() && document.phase.is_none() && document.system_prompt.is_none() {
        problems.push(Problem {
            source: Source::Input("agent".to_owned()),
            message: "no template is used, since there is no phase: name one with `--phase`, or as `phase`"
                .to_owned(),
            left_out: None,
        });
    }
    let system_prompt = match (&document.system_prompt, &document.phase) {
        (Some(text), _) => Some((Text::from(text.as_str()), Source::Input("system_prompt".to_owned()))),
        (None, None) => None,
        (None, Some(phase)) => Some(template(&document, phase, &context, settings, flags)?),
    };
    let request = ChangeRequest {
        phase: document.phase,
        system_prompt,
        context,
        instructions: Text::from(document.instructions),
        instructions_source: Source::Input("instructions".to_owned()),
    };
    let request = request.with_tools(&schemas(document.tools));
    Ok(Gathered { request: Request::Change(request), capability: DocumentCapability::default(), problems })
}

/// The document's items, then the files, artifacts and thoughts of the command line.
fn context(
    documents: &[ContextDocument],
    flags: &ChangeFlags,
    settings: &Settings,
    problems: &mut Vec<Problem>,
    on_progress: &dyn Fn(Progress),
) -> Result<Vec<ContextItem>, EngineError> {
    let mut items = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let known = ItemKind::ALL.map(ItemKind::as_str);
        let place = format!("context[{index}].type");
        let kind = named("context type", &place, &document.kind, ItemKind::from_name, known)?;
        let name = document.name.clone().unwrap_or_else(|| numbered(kind, &items));
        items.push(ContextItem::new(kind, name, document.content.as_str()));
    }
    let root = settings.project_root.as_path();
    let typed = flags.files.iter().map(|text| Pattern { text, stays_in: None });
    let confined = flags.project_files.iter().map(|text| Pattern { text, stays_in: Some(root) });
    let patterns: Vec<Pattern<'_>> = typed.chain(confined).collect();
    for file in files::find(&settings.current_dir, &patterns, flags.missing_files, problems, on_progress)? {
        let text = match flags.changed_files.get(&file.name) {
            Some(Some(changed)) => Text::from(changed.as_str()),
            // What the session deletes is not there any more.
            Some(None) => continue,
            None => file.text,
        };
        items.push(ContextItem {
            kind: ItemKind::File,
            is_required: flags.required_files.contains(&file.name),
            source: Source::File(file.name.clone()),
            name: file.name,
            body: PartBody::Inline(text),
        });
    }
    // Files that the session adds are nowhere in the project yet.
    for (name, text) in &flags.changed_files {
        let is_shown = items.iter().any(|item| item.kind == ItemKind::File && item.name == *name);
        if let Some(text) = text.as_ref().filter(|_| !is_shown) {
            items.push(ContextItem {
                kind: ItemKind::File,
                is_required: true,
                source: Source::File(name.clone()),
                name: name.clone(),
                body: PartBody::Inline(Text::from(text.as_str())),
            });
        }
    }
    let mut artifacts = Vec::new();
    for (name, path) in &flags.artifacts {
        let text =
            read_text(&settings.current_dir.join(Path::new(path))).map_err(|error| error.about(path))?;
        artifacts.push(ReadArtifact { name: name.clone(), path: path.clone(), text });
    }
    for artifact in artifacts.into_iter().chain(flags.read_artifacts.iter().cloned()) {
        items.push(ContextItem {
            kind: ItemKind::Artifact,
            name: artifact.name,
            source: Source::File(artifact.path),
            body: PartBody::Inline(Text::from(artifact.text)),
            is_required: true,
        });
    }
    for thought in &flags.thoughts {
        let name = numbered(ItemKind::Thought, &items);
        items.push(ContextItem::new(ItemKind::Thought, name, thought.as_str()));
    }
    Ok(items)
}

/// A name for an item that has none: its kind and its number among its kind.
fn numbered(kind: ItemKind, items: &[ContextItem]) -> String {
    let n_before = items.iter().filter(|item| item.kind == kind).count();
    format!("{}-{}", kind.as_str(), n_before + 1)
}

fn template(
    document: &ChangeDocument,
    phase: &str,
    context: &[ContextItem],
    settings: &Settings,
    flags: &ChangeFlags,
) -> Result<(Text, Source), EngineError> {
    let (source, agent, layer) = if let Some(template) = &flags.template {
        let source = TemplateSource { name: template.name.clone(), text: template.text.clone() };
        (source, document.agent.clone().unwrap_or_else(|| "BASE".to_owned()), template.layer)
    } else {
        let found = system_templates::find(settings, document.agent.as_deref(), phase)?;
        (found.source, found.name.agent().to_owned(), found.layer)
    };
    // Listing a large project is work; it is done for the templates that ask for it.
    let uses = |variable: &str| source.text.contains(variable);
    let mut variables = BTreeMap::new();
    variables.insert("AGENT", agent);
    variables.insert("PHASE", phase.to_owned());
    let context_text =
        if uses("PROJECT_CONTEXT") { project::context(&settings.project_root)? } else { String::new() };
    variables.insert("PROJECT_CONTEXT", context_text);
    let structure = if uses("PROJECT_STRUCTURE") {
        project::structure(&settings.project_root, &flags.left_out)
    } else {
        String::new()
    };
    variables.insert("PROJECT_STRUCTURE", structure);
    variables.insert("ARTIFACTS", artifact_list(context));
    variables.insert("TASKS", artifact_text(context, "tasks"));
    variables.insert("SKELETON", artifact_text(context, "skeleton"));
    if let Some(template) = &flags.template {
        variables.insert("request", template.request.clone());
    }
    let variables: BTreeMap<String, serde_json::Value> = variables
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text))
        .chain(document.variables.clone())
        .map(|(name, text)| (name, text.into()))
        .collect();
    let render = match layer {
        TemplateLayer::BuiltIn => render_template_here,
        TemplateLayer::Project | TemplateLayer::User => render_template,
    };
    let text = render(&source, &variables).map_err(PromptError::from)?;
    Ok((Text::from(text.trim_end()), Source::Template(source.name)))
}

fn artifact_list(context: &[ContextItem]) -> String {
    let artifacts: Vec<String> = context
        .iter()
        .filter(|item| item.kind == ItemKind::Artifact)
        .map(|item| format!("- `{}`", item.name))
        .collect();
    if artifacts.is_empty() { "(No artifacts are given.)".to_owned() } else { artifacts.join("\n") }
}

/// The text of the artifact with that name, with or without `.md`.
fn artifact_text(context: &[ContextItem], name: &str) -> String {
    let is_it = |item: &&ContextItem| {
        item.kind == ItemKind::Artifact
            && item.name.strip_suffix(".md").unwrap_or(&item.name).eq_ignore_ascii_case(name)
    };
    match context.iter().find(is_it).map(|item| &item.body) {
        Some(PartBody::Inline(text)) if !text.trim().is_empty() => text.trim_end().to_owned(),
        _ => format!("(Nothing is given for {name}: there is no artifact named `{name}`.)"),
    }
}
