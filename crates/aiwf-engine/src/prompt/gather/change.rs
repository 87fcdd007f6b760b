//! Reads the files and artifacts of a change and renders its system template.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aiwf_config::{Config, Settings};
use aiwf_prompt::{
    ChangeRequest, ContextItem, ItemKind, PartBody, Problem, PromptError, Request, Source, TemplateSource,
    Text, render_template, render_template_here,
};

use super::context::{ContextReport, project_context};
use super::files::{self, MissingFiles, Pattern};
use super::reply::schemas;
use super::standards::project_standards;
use super::{DocumentCapability, Gathered, Progress, named, project};
use crate::error::EngineError;
use crate::prompt::document::{ChangeDocument, ContextDocument};
use crate::prompt::read::read_text;
use crate::prompt::system_templates::{self, TemplateLayer};

/// Additions of the command line to a document.
#[derive(Clone, Debug, Default)]
pub struct ChangeFlags {
    /// Patterns typed by the user: they may lead anywhere.
    pub files: Vec<String>,
    /// Patterns from elsewhere, such as the project's configuration: they stay in the project, with links resolved.
    pub project_files: Vec<String>,
    /// Files that must not be cut: the code under review.
    pub required_files: Vec<String>,
    /// Files as a session has changed them, by path relative to the project; `None` for deleted ones.
    pub changed_files: BTreeMap<String, Option<String>>,
    /// What to do about a pattern that matches no file.
    pub missing_files: MissingFiles,
    /// Names and files of artifacts.
    pub artifacts: Vec<(String, String)>,
    /// Artifacts that are already read.
    pub read_artifacts: Vec<ReadArtifact>,
    pub thoughts: Vec<String>,
    /// A flow's template; replaces the system template.
    pub template: Option<FlowTemplate>,
    /// Directories to skip in the overview of the project, such as recordings.
    pub left_out: Vec<PathBuf>,
}

/// A template of a flow.
#[derive(Clone, Debug)]
pub struct FlowTemplate {
    /// Its name, for display.
    pub name: String,
    pub text: String,
    /// The request of the session, for `{{ request }}`.
    pub request: String,
    pub layer: TemplateLayer,
}

/// An artifact with its text.
#[derive(Clone, Debug)]
pub struct ReadArtifact {
    pub name: String,
    /// Its file, for display.
    pub path: String,
    pub text: String,
}

pub(super) fn gather(
    document: ChangeDocument,
    flags: &ChangeFlags,
    settings: &Settings,
    config: &Config,
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
    let mut report = None;
    let system_prompt = match (&document.system_prompt, &document.phase) {
        (Some(text), _) => Some((Text::from(text.as_str()), Source::Input("system_prompt".to_owned()))),
        (None, None) => None,
        (None, Some(phase)) => {
            let read = Read { settings, config, flags, context: &context };
            Some(template(&document, phase, &read, &mut report, &mut problems)?)
        }
    };
    let request = ChangeRequest {
        phase: document.phase,
        system_prompt,
        context,
        instructions: Text::from(document.instructions),
        instructions_source: Source::Input("instructions".to_owned()),
    };
    let request = request.with_tools(&schemas(document.tools));
    Ok(Gathered {
        request: Request::Change(request),
        capability: DocumentCapability::default(),
        problems,
        context: report,
    })
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
            // Files that the session deletes are skipped.
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
    // Files that the session adds are not in the project yet.
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

/// A name for an unnamed item: its kind and number.
fn numbered(kind: ItemKind, items: &[ContextItem]) -> String {
    let n_before = items.iter().filter(|item| item.kind == kind).count();
    format!("{}-{}", kind.as_str(), n_before + 1)
}

/// What a template may use.
struct Read<'a> {
    settings: &'a Settings,
    config: &'a Config,
    flags: &'a ChangeFlags,
    context: &'a [ContextItem],
}

fn template(
    document: &ChangeDocument,
    phase: &str,
    read: &Read<'_>,
    report: &mut Option<ContextReport>,
    problems: &mut Vec<Problem>,
) -> Result<(Text, Source), EngineError> {
    let Read { settings, config, flags, context } = *read;
    let (source, agent, layer) = if let Some(template) = &flags.template {
        let source = TemplateSource { name: template.name.clone(), text: template.text.clone() };
        (source, document.agent.clone().unwrap_or_else(|| "BASE".to_owned()), template.layer)
    } else {
        let found = system_templates::find(settings, document.agent.as_deref(), phase)?;
        (found.source, found.name.agent().to_owned(), found.layer)
    };
    // Listing a large project is expensive, so it is done only for templates that use it.
    let uses = |variable: &str| source.text.contains(variable);
    let mut variables = BTreeMap::new();
    variables.insert("AGENT", agent);
    variables.insert("PHASE", phase.to_owned());
    let context_text = if uses("PROJECT_CONTEXT") {
        let project = project_context(settings, config)?;
        *report = Some(project.report());
        let text = project.text();
        problems.extend(project.problems);
        text
    } else {
        String::new()
    };
    variables.insert("PROJECT_CONTEXT", context_text);
    let standards = if uses("STANDARDS") { standards_text(settings, config)? } else { String::new() };
    variables.insert("STANDARDS", standards);
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

/// The project's own standards, each with its path.
fn standards_text(settings: &Settings, config: &Config) -> Result<String, EngineError> {
    let standards = project_standards(settings, config)?;
    let is_kept = |name: &String| !standards.exclude.contains(name);
    let files = standards.files.iter().filter(|file| is_kept(&file.name) && !file.text.trim().is_empty());
    let texts: Vec<String> =
        files.map(|file| format!("### {}\n\n{}", file.source, file.text.trim_end())).collect();
    if texts.is_empty() {
        return Ok("(The project has no standards: there is no file in `.aiwf/standards/`.)".to_owned());
    }
    Ok(texts.join("\n\n"))
}

fn artifact_list(context: &[ContextItem]) -> String {
    let artifacts: Vec<String> = context
        .iter()
        .filter(|item| item.kind == ItemKind::Artifact)
        .map(|item| format!("- `{}`", item.name))
        .collect();
    if artifacts.is_empty() { "(No artifacts are given.)".to_owned() } else { artifacts.join("\n") }
}

/// The text of the artifact with this name, with or without `.md`.
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
