//! Finds flows: built-in ones first, then the project's, then the user's.
//!
//! A flow is a directory with a `flow.toml` and its templates. The names of built-in flows are reserved. A broken flow
//! is reported and affects no other flow.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aiwf_config::Settings;
use aiwf_profile::{Phase, Profile};
use aiwf_session::{Approver, Flow, FlowProblem, Gives, PhaseRecipe, PhaseSpec, ReplyParser, parse_flow};
use aiwf_store::{ConsentKind, Durability, sha256_hex, write_atomic};

use crate::Engine;
use crate::error::EngineError;
use crate::prompt::read::{Root, into_text, read_bytes, read_text, read_text_below};
use crate::prompt::system_templates;
use crate::session::session_error::SessionError;

const FLOW_FILE: &str = "flow.toml";
/// The limit for loops of a project's flow before the user agreed to the flow.
const MAX_UNAGREED_ROUNDS: u32 = 3;
/// Maximum number of flows read from one directory.
const MAX_FLOWS: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowOrigin {
    BuiltIn,
    Project,
    User,
}

impl FlowOrigin {
    /// The origin, for display.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// A flow file, valid or not.
#[derive(Clone, Debug)]
pub struct FoundFlow {
    pub name: String,
    pub origin: FlowOrigin,
    /// The path of its file, for display.
    pub path: String,
    /// The flow, or its problems.
    pub flow: Result<Flow, Vec<FlowProblem>>,
    pub text: String,
    /// Its templates, by file name.
    pub templates: BTreeMap<String, String>,
    /// SHA-256 of the file and its templates.
    pub sha256: String,
    /// Other flows of the same name that are not used.
    pub hides: Vec<FlowOrigin>,
}

struct FlowDirectory {
    origin: FlowOrigin,
    path: PathBuf,
    /// The directory, for display.
    shown: &'static str,
}

fn directories(settings: &Settings) -> Vec<FlowDirectory> {
    let project = FlowDirectory {
        origin: FlowOrigin::Project,
        path: settings.project_dir().join("flows"),
        shown: ".aiwf/flows",
    };
    let user = settings.user_dir().map(|user| FlowDirectory {
        origin: FlowOrigin::User,
        path: user.join("flows"),
        shown: "~/.aiwf/flows",
    });
    // If the home directory is not a project, all flows are the user's.
    let is_home = user.as_ref().is_some_and(|user| user.path == project.path);
    Some(project).filter(|_| !is_home).into_iter().chain(user).collect()
}

impl FlowDirectory {
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path).into_iter().flatten().filter_map(Result::ok);
        let names = entries.take(MAX_FLOWS).filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter(|name| is_flow_name(name) && self.path.join(name).join(FLOW_FILE).exists())
            .collect();
        names.sort();
        names
    }

    /// A file of a flow; `None` if it does not exist.
    fn read(&self, settings: &Settings, name: &str, file: &str) -> Result<Option<String>, EngineError> {
        let path = self.path.join(name).join(file);
        match self.origin {
            // Links in a checkout are not followed; a user may keep flows elsewhere.
            FlowOrigin::Project => read_text_below(Root::project(&settings.project_root), &path),
            FlowOrigin::User | FlowOrigin::BuiltIn if path.exists() => read_text(&path).map(Some),
            FlowOrigin::User | FlowOrigin::BuiltIn => Ok(None),
        }
    }

    fn load(&self, settings: &Settings, name: &str) -> Result<Option<FoundFlow>, EngineError> {
        let Some(text) = self.read(settings, name, FLOW_FILE)? else { return Ok(None) };
        let mut templates = BTreeMap::new();
        let mut unreadable = None;
        let mut has_template = |template: &str| match self.template(settings, name, template) {
            Ok(Some(text)) => {
                templates.insert(template.to_owned(), text);
                true
            }
            Ok(None) => !is_template_file(template) && has_system_template(settings, template),
            Err(error) => {
                unreadable = Some(error);
                false
            }
        };
        let flow = parse_flow(name, &text, &mut has_template);
        if let Some(error) = unreadable {
            return Err(error);
        }
        let sha256 = sha256_of(&text, &templates);
        let path = format!("{}/{name}/{FLOW_FILE}", self.shown);
        let (name, origin) = (name.to_owned(), self.origin);
        Ok(Some(FoundFlow { name, origin, path, flow, text, templates, sha256, hides: Vec::new() }))
    }

    /// An entry for an unreadable flow.
    fn unreadable(&self, name: &str, error: &EngineError) -> FoundFlow {
        let problem = FlowProblem {
            phase: None,
            key: None,
            line: None,
            message: error.to_string(),
            hint: "make its files readable, or remove the directory".to_owned(),
        };
        FoundFlow {
            name: name.to_owned(),
            origin: self.origin,
            path: format!("{}/{name}/{FLOW_FILE}", self.shown),
            flow: Err(vec![problem]),
            text: String::new(),
            templates: BTreeMap::new(),
            sha256: String::new(),
            hides: Vec::new(),
        }
    }

    fn template(&self, settings: &Settings, flow: &str, name: &str) -> Result<Option<String>, EngineError> {
        if is_template_file(name) { self.read(settings, flow, name) } else { Ok(None) }
    }
}

/// Whether a template is a file next to the flow; otherwise it is the phase of a system template.
pub(crate) fn is_template_file(template: &str) -> bool {
    Path::new(template).extension().is_some_and(|end| end == "md")
        && !template.contains(['/', '\\'])
        && !template.starts_with('.')
}

fn has_system_template(settings: &Settings, phase: &str) -> bool {
    system_templates::find(settings, None, phase).is_ok()
}

fn sha256_of(text: &str, templates: &BTreeMap<String, String>) -> String {
    let list: String = std::iter::once((FLOW_FILE, text))
        .chain(templates.iter().map(|(name, text)| (name.as_str(), text.as_str())))
        .flat_map(|(name, text)| {
            [sha256_hex(text.as_bytes()), "  ".to_owned(), name.to_owned(), "\n".to_owned()]
        })
        .collect();
    sha256_hex(list.as_bytes())
}

/// Names that are valid directory names on every system.
fn is_flow_name(name: &str) -> bool {
    aiwf_session::Phase::from_name(name).is_some()
}

fn built_in(name: &str) -> Option<FoundFlow> {
    let flow = Flow::find_built_in(name)?.as_ref().clone();
    let text = Flow::built_in_text(name)?.to_owned();
    let beside =
        flow.phases.iter().filter_map(|spec| spec.template.clone()).filter(|name| is_template_file(name));
    let templates: BTreeMap<String, String> = beside
        .filter_map(|file| Some((file.clone(), Flow::built_in_template(name, &file)?.to_owned())))
        .collect();
    Some(FoundFlow {
        name: name.to_owned(),
        origin: FlowOrigin::BuiltIn,
        path: format!("built-in {name}/{FLOW_FILE}"),
        sha256: sha256_of(&text, &templates),
        flow: Ok(flow),
        text,
        templates,
        hides: Vec::new(),
    })
}

/// The flow for sessions of a profile: its own `flow.toml`, else the built-in one.
///
/// A profile must not set gates, because its user does.
pub(crate) fn of_profile(profile: &Profile) -> Result<(Flow, BTreeMap<String, String>), SessionError> {
    let Some(text) = profile.file_text(FLOW_FILE) else {
        let flow = Flow::find_built_in(Flow::GENERATE).unwrap_or_default();
        return Ok((with_edits(flow.as_ref().clone(), profile), BTreeMap::new()));
    };
    let mut templates = BTreeMap::new();
    let parsed = parse_flow(profile.name(), text, &mut |template| {
        let found = profile.file_text(template).filter(|_| is_template_file(template));
        templates.extend(found.map(|text| (template.to_owned(), text.to_owned())));
        found.is_some()
    });
    let parsed = parsed.and_then(|flow| match other_parser(&flow, profile) {
        Some(problem) => Err(vec![problem]),
        None => Ok(flow),
    });
    let flow = parsed.and_then(|flow| {
        if flow.gates.is_empty() {
            return Ok(flow);
        }
        let message = "a profile cannot set gates".to_owned();
        let hint = "remove `gates`; users set them with `--gate` or in `[gates]`".to_owned();
        Err(vec![FlowProblem { phase: None, key: Some("gates"), line: None, message, hint }])
    });
    let flow = flow.map_err(|problems| SessionError::BrokenFlow {
        name: profile.name().to_owned(),
        path: format!("{}/{FLOW_FILE}", profile.name()),
        problems,
    })?;
    Ok((flow, templates))
}

/// How often a phase whose checks fail gets another round, unless the session's own limit is set.
const CHECK_ROUNDS: u32 = 3;

fn gives_edits(spec: &PhaseSpec, profile: &Profile) -> bool {
    Phase::of_role(spec.role.as_str()).is_some_and(|phase| profile.gives_edits(phase))
}

/// The flow of a profile whose replies are edits: they can be checked like any change of the project.
fn with_edits(mut flow: Flow, profile: &Profile) -> Flow {
    let is_prompt = |spec: &&mut PhaseSpec| spec.recipe == PhaseRecipe::Session;
    for spec in flow.phases.iter_mut().filter(is_prompt) {
        if spec.gives == Gives::Files && gives_edits(spec, profile) {
            spec.gives = Gives::Edits;
            spec.parser = ReplyParser::Edits;
            spec.checks = true;
            spec.max_rounds.get_or_insert(CHECK_ROUNDS);
        }
    }
    flow
}

/// A phase of a profile's own flow that gives something else than its parser reads.
fn other_parser(flow: &Flow, profile: &Profile) -> Option<FlowProblem> {
    let (idx, wrong) = flow.phases.iter().enumerate().find(|(_, spec)| {
        spec.recipe == PhaseRecipe::Session
            && spec.gives.changes_files()
            && (spec.gives == Gives::Edits) != gives_edits(spec, profile)
    })?;
    let (gives, parsers) = match wrong.gives {
        Gives::Edits => ("edits", "`parser = \"edits\"`"),
        Gives::Files | Gives::Text | Gives::Verdict => ("files", "`parser = \"file-markers\"`"),
    };
    Some(FlowProblem {
        phase: Some(idx),
        key: Some("gives"),
        line: None,
        message: format!(
            "phase `{}` gives {gives}, which the parser in `profile.toml` does not read",
            wrong.name
        ),
        hint: format!("set {parsers} in `profile.toml`, or change `gives`"),
    })
}

impl Engine {
    /// All flows by name; broken ones with their problems.
    pub fn flows(&self) -> Result<Vec<FoundFlow>, SessionError> {
        let names = Flow::built_in().iter().map(|flow| flow.name.clone());
        let mut found: BTreeMap<String, FoundFlow> =
            names.filter_map(|name| Some((name.clone(), built_in(&name)?))).collect();
        for directory in directories(self.settings()) {
            for name in directory.names() {
                if let Some(winner) = found.get_mut(&name) {
                    winner.hides.push(directory.origin);
                } else if let Some(flow) = directory.load(self.settings(), &name).unwrap_or_else(|error| {
                    // An unreadable flow must not affect the others.
                    Some(directory.unreadable(&name, &error))
                }) {
                    found.insert(name, flow);
                }
            }
        }
        Ok(found.into_values().collect())
    }

    /// The flow with this name, valid or not.
    pub fn flow(&self, name: &str) -> Result<FoundFlow, SessionError> {
        if let Some(mut flow) = built_in(name) {
            let hidden = directories(self.settings()).into_iter();
            flow.hides = hidden
                .filter(|it| it.names().iter().any(|other| other == name))
                .map(|it| it.origin)
                .collect();
            return Ok(flow);
        }
        let mut winner: Option<FoundFlow> = None;
        for directory in directories(self.settings()) {
            if !is_flow_name(name) {
                break;
            }
            match (&mut winner, directory.load(self.settings(), name)?) {
                (Some(winner), Some(hidden)) => winner.hides.push(hidden.origin),
                (None, found) => winner = found,
                (Some(_), None) => {}
            }
        }
        let unknown = || SessionError::UnknownFlow {
            name: name.to_owned(),
            known: self.flows().unwrap_or_default().into_iter().map(|flow| flow.name).collect(),
        };
        winner.ok_or_else(unknown)
    }

    /// The flow for a new session. A project's flow skips no gate without consent.
    ///
    /// Returns whether gates were removed.
    pub(crate) fn flow_to_follow(&self, name: &str) -> Result<(FoundFlow, Flow, bool), SessionError> {
        let found = self.flow(name)?;
        let mut flow = match &found.flow {
            Ok(flow) => flow.clone(),
            Err(problems) => {
                let (path, problems) = (found.path.clone(), problems.clone());
                return Err(SessionError::BrokenFlow { name: found.name, path, problems });
            }
        };
        let is_loose = flow.gates.values().any(|gate| gate.approver != Approver::Manual)
            || flow.phases.iter().any(|spec| spec.max_rounds > Some(MAX_UNAGREED_ROUNDS));
        if found.origin != FlowOrigin::Project || !is_loose || self.is_flow_agreed(&found)? {
            return Ok((found, flow, false));
        }
        flow.gates.clear();
        for spec in &mut flow.phases {
            spec.max_rounds = spec.max_rounds.map(|rounds| rounds.min(MAX_UNAGREED_ROUNDS));
        }
        Ok((found, flow, true))
    }

    fn is_flow_agreed(&self, found: &FoundFlow) -> Result<bool, SessionError> {
        let Some(consents) = self.settings().consents() else { return Ok(false) };
        let agreed = consents.contains(ConsentKind::Flow, &found.sha256);
        Ok(agreed.map_err(crate::trust::trust_error::TrustError::from)?)
    }

    /// Creates a flow to edit, in the project or for the user; returns its directory.
    pub fn new_flow(&self, name: &str, origin: FlowOrigin) -> Result<PathBuf, SessionError> {
        if !is_flow_name(name) || Flow::find_built_in(name).is_some() {
            return Err(SessionError::FlowName { name: name.to_owned() });
        }
        let directory = directories(self.settings()).into_iter().find(|directory| directory.origin == origin);
        let directory = directory.ok_or(SessionError::NoHome)?;
        let path = directory.path.join(name);
        // A checkout may contain a link at this path: nothing is written through it or over an existing file.
        for place in [&directory.path, &path] {
            if place.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
                let problem = "it is a link".to_owned();
                return Err(SessionError::UnsafeFile { path: place.display().to_string(), problem });
            }
        }
        if path.symlink_metadata().is_ok() {
            return Err(SessionError::FlowExists { name: name.to_owned(), path });
        }
        let files = [
            (FLOW_FILE, NEW_FLOW),
            ("specify.md", Flow::built_in_template("spec", "specify.md").unwrap_or_default()),
            ("implement.md", Flow::built_in_template("do", "implement.md").unwrap_or_default()),
            ("review.md", Flow::built_in_template("do", "review.md").unwrap_or_default()),
        ];
        aiwf_store::create_dir(&path)?;
        for (file, text) in files {
            write_atomic(&path.join(file), Durability::PowerLoss, |out| out.write_all(text.as_bytes()))?;
        }
        Ok(path)
    }

    /// Reads and checks a flow file anywhere; its directory is its name.
    pub fn check_flow(&self, path: &Path) -> Result<FoundFlow, SessionError> {
        let path = self.settings().current_dir.join(path);
        let file = if path.is_dir() { path.join(FLOW_FILE) } else { path };
        let beside = file.parent().map(Path::to_owned).unwrap_or_default();
        let name = beside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = into_text(read_bytes(&file)?, &file)?;
        let mut templates = BTreeMap::new();
        let flow = parse_flow(&name, &text, &mut |template| {
            if !is_template_file(template) {
                return has_system_template(self.settings(), template);
            }
            let path = beside.join(template);
            let read = read_bytes(&path).and_then(|bytes| into_text(bytes, &path)).ok();
            let is_there = read.is_some();
            templates.extend(read.map(|text| (template.to_owned(), text)));
            is_there
        });
        let sha256 = sha256_of(&text, &templates);
        let path = file.display().to_string();
        let origin = FlowOrigin::User;
        Ok(FoundFlow { name, origin, path, flow, text, templates, sha256, hides: Vec::new() })
    }
}

const NEW_FLOW: &str = include_str!("new_flow.toml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_flows_have_their_templates_and_a_new_flow_has_no_problems() {
        for flow in Flow::built_in() {
            let found = built_in(&flow.name).unwrap();
            let named = flow.phases.iter().filter_map(|spec| spec.template.as_deref());
            for template in named.filter(|name| is_template_file(name)) {
                assert!(found.templates.contains_key(template), "{} {template}", flow.name);
            }
        }
        let known = ["specify.md", "implement.md", "review.md"];
        parse_flow("mine", NEW_FLOW, &mut |template| known.contains(&template)).unwrap();
    }
}
