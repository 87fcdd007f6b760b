//! The layers of system templates: the project's, the user's, the built-in ones.
//!
//! Finding, listing and checking use the same layers in the same order.

use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_prompt::{
    PromptError, TEMPLATE_VARIABLES, TemplateError, TemplateName, TemplateNotFound, TemplateSource,
    built_in_template, built_in_templates, check_template, check_template_here,
};
use aiwf_session::{Flow, PhaseSpec, ReplyParser};

use crate::Engine;
use crate::catalog::flows::is_template_file;
use crate::error::{EngineError, shortened};
use crate::prompt::read::{Root, is_link, read_text, read_text_below};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateLayer {
    Project,
    User,
    BuiltIn,
}

impl TemplateLayer {
    /// The layer, for display.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::BuiltIn => "built-in",
        }
    }
}

/// The phase of the template for judges at gates.
pub(crate) const GATE_TEMPLATE: &str = "gate";

#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) name: TemplateName,
    pub(crate) source: TemplateSource,
    pub(crate) layer: TemplateLayer,
}

/// One template of one layer.
#[derive(Clone, Debug)]
pub struct TemplateListing {
    pub file: String,
    pub layer: TemplateLayer,
    pub path: String,
    /// The path of the template that is used instead; `None` if this one is used.
    pub hidden_by: Option<String>,
}

/// The problems of a template.
#[derive(Clone, Debug)]
pub struct TemplateCheck {
    pub path: String,
    pub problems: Vec<String>,
}

/// The directory of a layer, with the root that its links must not leave.
struct LayerDirectory {
    layer: TemplateLayer,
    path: PathBuf,
    /// For display.
    shown_path: String,
    /// Links in a checkout must stay inside; a user may keep templates elsewhere.
    confined_to: Option<PathBuf>,
}

fn directories(settings: &Settings) -> Vec<LayerDirectory> {
    let directory = |layer, above: &Path, confined_to| {
        let path = above.join("templates/system");
        LayerDirectory { layer, shown_path: shown(settings, &path), path, confined_to }
    };
    // A project may keep them in `.aiwf/`, or visibly at its root.
    let root = &settings.project_root;
    let of_project = [settings.project_dir(), root.clone()]
        .map(|above| directory(TemplateLayer::Project, &above, Some(root.clone())));
    let user = settings.user_dir().map(|user| directory(TemplateLayer::User, &user, None));
    // If the home directory is not a project, all templates are the user's.
    let is_home =
        user.as_ref().is_some_and(|user| of_project.iter().any(|project| user.path == project.path));
    of_project.into_iter().filter(|_| !is_home).chain(user).collect()
}

impl LayerDirectory {
    fn read(&self, file: &str) -> Result<Option<String>, EngineError> {
        let path = self.path.join(file);
        let text = match &self.confined_to {
            Some(root) => read_text_below(Root::project(root), &path),
            None if path.exists() || is_link(&path) => read_text(&path).map(Some),
            None => Ok(None),
        };
        text.map_err(|error| error.about(self.shown(file)))
    }

    /// A template's path, for display.
    fn shown(&self, file: &str) -> String {
        format!("{}/{file}", self.shown_path)
    }
}

/// Finds the template of an agent and a phase; `BASE` is the fallback for agents without one.
pub(crate) fn find(settings: &Settings, agent: Option<&str>, phase: &str) -> Result<Found, EngineError> {
    let name = plain_name(agent, phase)?;
    let mut tried = Vec::new();
    for directory in directories(settings) {
        for file in name.files() {
            let path = directory.shown(&file);
            if let Some(text) = directory.read(&file)? {
                let source = TemplateSource { name: path, text };
                return Ok(Found { name, source, layer: directory.layer });
            }
            tried.push(path);
        }
    }
    for file in name.files() {
        let path = built_in_path(&file);
        if let Some(text) = built_in_template(&file) {
            let source = TemplateSource { name: path, text: text.to_owned() };
            return Ok(Found { name, source, layer: TemplateLayer::BuiltIn });
        }
        tried.push(path);
    }
    let missing = TemplateNotFound { agent: name.agent().to_owned(), phase: name.phase().to_owned(), tried };
    Err(PromptError::from(missing).into())
}

fn plain_name(agent: Option<&str>, phase: &str) -> Result<TemplateName, EngineError> {
    TemplateName::new(agent, phase).ok_or_else(|| {
        let (what, name) = match agent {
            Some(agent) if TemplateName::new(Some(agent), agent).is_none() => ("agent", agent),
            _ => ("phase", phase),
        };
        EngineError::NotAPlainName { what, name: shortened(name) }
    })
}

fn built_in_path(file: &str) -> String {
    format!("built-in:{file}")
}

/// A path for display, relative to the project or the home directory.
fn shown(settings: &Settings, path: &Path) -> String {
    if let Ok(relative) = path.strip_prefix(&settings.project_root) {
        return relative.display().to_string();
    }
    match settings.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(relative) => format!("~/{}", relative.display()),
        None => path.display().to_string(),
    }
}

impl Engine {
    /// All templates of all layers, by file name, the one in use first.
    pub fn list_templates(&self) -> Result<Vec<TemplateListing>, EngineError> {
        let mut listings: Vec<TemplateListing> = Vec::new();
        for directory in directories(self.settings()) {
            for file in files_in(&directory.path)? {
                let path = directory.shown(&file);
                listings.push(TemplateListing { file, layer: directory.layer, path, hidden_by: None });
            }
        }
        listings.extend(built_in_templates().iter().map(|(file, _)| TemplateListing {
            file: (*file).to_owned(),
            layer: TemplateLayer::BuiltIn,
            path: built_in_path(file),
            hidden_by: None,
        }));
        // Listed in the order of precedence.
        let hidden_by: Vec<Option<String>> =
            listings.iter().map(|listing| used_instead_of(listing, &listings)).collect();
        for (listing, by) in listings.iter_mut().zip(hidden_by) {
            listing.hidden_by = by;
        }
        listings.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(listings)
    }

    /// The template for an agent and a phase: its path, layer and text.
    pub fn show_template(
        &self,
        agent: &str,
        phase: &str,
    ) -> Result<(TemplateSource, TemplateLayer), EngineError> {
        let found = find(self.settings(), Some(agent), phase)?;
        Ok((found.source, found.layer))
    }

    /// Compiles every template, and checks for undefined variables and missing markers.
    pub fn check_templates(&self) -> Result<Vec<TemplateCheck>, EngineError> {
        // Sets the limits; if the configuration cannot be read, the defaults apply.
        drop(crate::ask::providers::load_config(self.settings(), &aiwf_config::Flags::default()));
        // An unreadable directory of flows is reported by the check of flows.
        let found = self.flows().unwrap_or_default();
        let flows = found.iter().filter_map(|found| found.flow.as_ref().ok());
        let markers = markers(Flow::built_in().iter().map(AsRef::as_ref).chain(flows));
        let mut checks = Vec::new();
        for directory in directories(self.settings()) {
            for file in files_in(&directory.path)? {
                let path = directory.shown(&file);
                let problems = match directory.read(&file) {
                    Ok(text) => faults(&path, &file, text.unwrap_or_default(), &markers, check_template),
                    Err(error) => vec![with_cause(&error)],
                };
                checks.push(TemplateCheck { path, problems });
            }
        }
        for (file, text) in built_in_templates() {
            let path = built_in_path(file);
            let problems = faults(&path, file, (*text).to_owned(), &markers, check_template_here);
            checks.push(TemplateCheck { path, problems });
        }
        Ok(checks)
    }
}

/// The template that an agent gets instead of this one; `None` if it gets this one.
///
/// Each layer is searched for the agent's own file and then for `BASE`, before the next layer: a project's
/// `BASE-plan.md` replaces the built-in `CLAUDE-plan.md`.
fn used_instead_of(listing: &TemplateListing, all: &[TemplateListing]) -> Option<String> {
    let (agent, phase) = listing.file.strip_suffix(".md")?.split_once('-')?;
    let files = TemplateName::new(Some(agent), phase)?.files();
    let directory_of = |listing: &TemplateListing| {
        listing.path.strip_suffix(listing.file.as_str()).unwrap_or_default().to_owned()
    };
    let serves = |other: &&TemplateListing| files.contains(&other.file);
    let first = all.iter().find(serves)?;
    let own = all.iter().filter(|other| directory_of(other) == directory_of(first));
    let used = files.iter().find_map(|file| own.clone().find(|other| other.file == *file))?;
    (used.path != listing.path).then(|| used.path.clone())
}

fn with_cause(error: &EngineError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn files_in(directory: &Path) -> Result<Vec<String>, EngineError> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(EngineError::Unreadable { path: directory.to_owned(), source }),
    };
    let mut files: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    Ok(files)
}

/// The marker that a template must ask for, by phase.
struct Marker {
    phase: String,
    marker: &'static str,
}

/// The markers that flows expect in replies, for phases with a system template and for judges.
fn markers<'a>(flows: impl Iterator<Item = &'a Flow>) -> Vec<Marker> {
    let of_phase = |spec: &PhaseSpec| {
        let marker = match spec.parser {
            ReplyParser::VerdictTag => "<review>",
            ReplyParser::TaskFiles | ReplyParser::TaskEdits => "<task_status",
            ReplyParser::Plain
            | ReplyParser::Edits
            | ReplyParser::FileMarkers
            | ReplyParser::FencedFiles
            | ReplyParser::ReviewMeta => return None,
        };
        let phase = spec.template.as_deref().unwrap_or(spec.name.as_str());
        (!is_template_file(phase)).then(|| Marker { phase: phase.to_owned(), marker })
    };
    let mut markers = vec![Marker { phase: GATE_TEMPLATE.to_owned(), marker: "<review>" }];
    for marker in flows.flat_map(|flow| &flow.phases).filter_map(of_phase) {
        if !markers.iter().any(|known| known.phase == marker.phase && known.marker == marker.marker) {
            markers.push(marker);
        }
    }
    markers
}

fn faults(
    path: &str,
    file: &str,
    text: String,
    markers: &[Marker],
    check: fn(&TemplateSource, &[&str]) -> Result<(), Vec<TemplateError>>,
) -> Vec<String> {
    let source = TemplateSource { name: path.to_owned(), text };
    let mut problems: Vec<String> = match check(&source, &TEMPLATE_VARIABLES) {
        Ok(()) => Vec::new(),
        Err(errors) => errors.iter().map(TemplateError::to_string).collect(),
    };
    let stem = file.strip_suffix(".md").unwrap_or(file);
    match stem.split_once('-').and_then(|(agent, phase)| TemplateName::new(Some(agent), phase)) {
        Some(name) if name.files().first().is_some_and(|expected| expected == file) => {}
        _ => problems.push(format!(
            "`{file}` is never used: a template must be named `AGENT-phase.md`, the agent in upper case"
        )),
    }
    for Marker { phase, marker } in markers {
        if stem.ends_with(&format!("-{phase}")) && !source.text.contains(*marker) {
            problems
                .push(format!("does not ask for the `{marker}` marker that phase `{phase}` is judged by"));
        }
    }
    problems
}
