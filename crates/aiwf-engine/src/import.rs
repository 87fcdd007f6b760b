//! Makes flows from what a repository already has: spec-kit, `OpenSpec`, commands of Claude Code.
//!
//! `tree` reads a stranger's directory, confined and bounded; the converters are pure: a tree in, files and what could
//! not be carried over out. `Engine::plan_import` shows everything first, `Engine::write_import` writes exactly that and
//! overwrites nothing that this command did not make. Imported text stays text: no template syntax in it is live.

mod claude_commands;
mod flow_text;
mod import_error;
mod literal;
mod markdown;
mod openspec;
mod spec_kit;
mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aiwf_session::{Flow, parse_flow};
use aiwf_store::{ConfinedDir, ConfinedError, sha256_hex};
pub use import_error::ImportError;
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::catalog::flows::is_template_file;
use tree::Tree;

/// The record of an import, beside the flow it made: what `--force` may replace.
const RECORD_FILE: &str = "import.json";
const MAX_RECORD_BYTES: u64 = 1024 * 1024;
/// The largest existing file that is compared with what an import makes.
const MAX_EXISTING_BYTES: u64 = 4 * 1024 * 1024;

/// What to import from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportKind {
    SpecKit,
    Openspec,
    ClaudeCommands,
}

impl ImportKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SpecKit => "spec-kit",
            Self::Openspec => "openspec",
            Self::ClaudeCommands => "claude-commands",
        }
    }

    /// What makes a directory one of this kind.
    fn expected(self) -> &'static str {
        match self {
            Self::SpecKit => "a directory `.specify` with `templates/` or `memory/`",
            Self::Openspec => "a directory `openspec`",
            Self::ClaudeCommands => "Markdown files in `.claude/commands/` or `.claude/skills/`",
        }
    }
}

/// What to import, and where to.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    pub kind: ImportKind,
    /// The directory to read.
    pub from: PathBuf,
    /// The name of the flow; a prefix when there are several.
    pub name: Option<String>,
    /// The project to write to, instead of this one.
    pub to: Option<PathBuf>,
    /// Whether files that an earlier import made, and nobody changed since, are replaced.
    pub replaces: bool,
}

/// Everything an import will write, and everything it leaves behind.
#[derive(Clone, Debug, Serialize)]
pub struct ImportPlan {
    pub kind: ImportKind,
    pub flows: Vec<ImportFlow>,
    pub files: Vec<ImportFile>,
    pub not_carried: Vec<NotCarried>,
    /// Things to know about what is made.
    pub notes: Vec<String>,
    #[serde(skip)]
    root: PathBuf,
}

/// A flow that an import makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportFlow {
    pub name: String,
    pub title: String,
    pub phases: Vec<String>,
}

/// A file that an import makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportFile {
    /// Relative to the project.
    pub path: String,
    pub text: String,
    /// The files that it was made from.
    pub from: Vec<String>,
    pub state: ImportState,
    /// SHA-256 of what is there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// What is where a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportState {
    New,
    /// The same bytes already.
    Same,
    /// What an earlier import made, unchanged since.
    Replaces,
}

/// Something that could not be carried over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotCarried {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub what: String,
    pub why: String,
    /// What to do instead.
    pub instead: String,
}

/// What a converter makes of a tree.
#[derive(Debug, Default)]
struct Converted {
    flows: Vec<MadeFlow>,
    /// Files of the project besides flows.
    files: Vec<MadeFile>,
    not_carried: Vec<NotCarried>,
    notes: Vec<String>,
}

#[derive(Debug)]
struct MadeFlow {
    name: String,
    files: Vec<MadeFile>,
}

#[derive(Debug)]
struct MadeFile {
    /// Relative to the flow, or to the project.
    path: String,
    text: String,
    from: Vec<String>,
}

impl Converted {
    fn leave(
        &mut self,
        file: impl Into<String>,
        what: impl Into<String>,
        why: impl Into<String>,
        instead: impl Into<String>,
    ) {
        let (file, what, why, instead) = (file.into(), what.into(), why.into(), instead.into());
        self.not_carried.push(NotCarried { file, line: None, what, why, instead });
    }
}

/// Which files an import made, beside its flow.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Record {
    kind: String,
    /// SHA-256 by path, relative to the project.
    files: BTreeMap<String, String>,
}

impl Engine {
    /// Reads what is there and says everything that importing it would write; writes nothing.
    pub fn plan_import(&self, options: &ImportOptions) -> Result<ImportPlan, ImportError> {
        let settings = self.settings();
        let from = settings.current_dir.join(&options.from);
        let to = options.to.as_ref().map(|to| settings.current_dir.join(to));
        let project = to.unwrap_or_else(|| settings.project_root.clone());
        for (path, exists) in [(&from, from.exists()), (&project, project.is_dir())] {
            if !exists {
                return Err(ImportError::NoPath { path: path.clone() });
            }
        }
        let nothing = || ImportError::Nothing {
            kind: options.kind,
            path: options.from.clone(),
            expected: options.kind.expected(),
        };
        let (root, wanted) = source_of(options.kind, &from);
        if !root.is_dir() {
            return Err(nothing());
        }
        let tree = Tree::read(&root, &wanted)?;
        let base = options.name.clone().unwrap_or_else(|| options.kind.as_str().to_owned());
        if !is_flow_name(&base) {
            return Err(ImportError::Name { name: base });
        }
        let mut converted = match options.kind {
            ImportKind::SpecKit => spec_kit::convert(&tree, &base),
            ImportKind::Openspec => openspec::convert(&tree, &base),
            ImportKind::ClaudeCommands => claude_commands::convert(&tree, options.name.as_deref()),
        };
        if converted.flows.is_empty() {
            return Err(nothing());
        }
        converted.not_carried.extend(tree.skipped);
        plan(options, converted, project)
    }

    /// Writes what the plan says; what changed since it was made is refused.
    pub fn write_import(&self, plan: &ImportPlan) -> Result<(), ImportError> {
        for file in plan.files.iter().filter(|file| file.state != ImportState::Same) {
            let path = Path::new(&file.path);
            let refused = |error: ConfinedError| refusal(&file.path, error);
            let below = path.parent().unwrap_or(Path::new(""));
            let directory = ConfinedDir::create_below(&plan.root, below).map_err(refused)?;
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            directory
                .write_if_unchanged(name, file.before.as_deref(), file.text.as_bytes())
                .map_err(refused)?;
        }
        Ok(())
    }
}

fn refusal(path: &str, error: ConfinedError) -> ImportError {
    ImportError::Unwritable { path: path.to_owned(), source: error.into() }
}

fn is_flow_name(name: &str) -> bool {
    aiwf_session::Phase::from_name(name).is_some() && Flow::find_built_in(name).is_none()
}

/// The directory to read and the parts of it that matter.
fn source_of(kind: ImportKind, from: &Path) -> (PathBuf, Vec<String>) {
    let name = from.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let above = || from.parent().unwrap_or(from).to_owned();
    let (known, directory, wanted): (&str, PathBuf, &[&str]) = match kind {
        ImportKind::SpecKit => (".specify", from.to_owned(), &spec_kit::WANTED),
        ImportKind::Openspec => ("openspec", from.to_owned(), &openspec::WANTED),
        ImportKind::ClaudeCommands => return commands_of(from, name),
    };
    let root = if name == known { above() } else { directory };
    (root, wanted.iter().map(|&path| path.to_owned()).collect())
}

/// The commands of a project, of a directory of them, or one; any other directory has none, whatever Markdown is in it.
fn commands_of(from: &Path, name: &str) -> (PathBuf, Vec<String>) {
    let both = || vec!["commands".to_owned(), "skills".to_owned()];
    let above = from.parent().unwrap_or(from).to_owned();
    if from.is_file() {
        let directory = above.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        return match (name, above.parent()) {
            ("SKILL.md", Some(skills)) => (skills.to_owned(), vec![format!("{directory}/{name}")]),
            _ => (above, vec![name.to_owned()]),
        };
    }
    match name {
        "commands" | "skills" => (above, vec![name.to_owned()]),
        ".claude" => (from.to_owned(), both()),
        _ => (from.join(".claude"), both()),
    }
}

/// Puts the files in their places and compares them with what is there.
fn plan(options: &ImportOptions, converted: Converted, root: PathBuf) -> Result<ImportPlan, ImportError> {
    let Converted { flows: made, files, not_carried, notes } = converted;
    let mut flows = Vec::new();
    let mut wanted: Vec<MadeFile> = Vec::new();
    let mut records = Vec::new();
    let mut shared = Some(files);
    for flow in made {
        let directory = format!(".aiwf/flows/{}", flow.name);
        flows.push(checked(&flow)?);
        let mut of_flow: Vec<MadeFile> = flow
            .files
            .into_iter()
            .map(|file| MadeFile { path: format!("{directory}/{}", file.path), ..file })
            .collect();
        // The files beside the flows belong to the first one.
        of_flow.extend(shared.take().into_iter().flatten());
        let hashes =
            of_flow.iter().map(|file| (file.path.clone(), sha256_hex(file.text.as_bytes()))).collect();
        let record = Record { kind: options.kind.as_str().to_owned(), files: hashes };
        records.push(format!("{directory}/{RECORD_FILE}"));
        let text = serde_json::to_string_pretty(&record).unwrap_or_default() + "\n";
        of_flow.push(MadeFile { path: format!("{directory}/{RECORD_FILE}"), text, from: Vec::new() });
        wanted.extend(of_flow);
    }
    let known = known_files(&root, &records)?;
    let mut planned = Vec::new();
    let (mut existing, mut changed) = (Vec::new(), Vec::new());
    for file in wanted {
        let before = existing_sha256(&root, &file.path)?;
        let sha256 = sha256_hex(file.text.as_bytes());
        let state = match &before {
            None => ImportState::New,
            Some(found) if *found == sha256 => ImportState::Same,
            Some(found) => {
                let is_ours = records.contains(&file.path) || known.get(&file.path) == Some(found);
                if !is_ours {
                    changed.push(file.path.clone());
                }
                existing.push(file.path.clone());
                ImportState::Replaces
            }
        };
        let MadeFile { path, text, from } = file;
        planned.push(ImportFile { path, text, from, state, before });
    }
    existing.retain(|path| !records.contains(path));
    if !existing.is_empty() && !options.replaces {
        return Err(ImportError::Exists { paths: existing });
    }
    if !changed.is_empty() {
        return Err(ImportError::Changed { paths: changed });
    }
    Ok(ImportPlan { kind: options.kind, flows, files: planned, not_carried, notes, root })
}

/// Checks a flow as `aiwf flow check` does, before anything is written.
fn checked(flow: &MadeFlow) -> Result<ImportFlow, ImportError> {
    if !is_flow_name(&flow.name) {
        return Err(ImportError::Name { name: flow.name.clone() });
    }
    let text = flow.files.iter().find(|file| file.path == "flow.toml").map(|file| file.text.as_str());
    let has_template = |name: &str| is_template_file(name) && flow.files.iter().any(|file| file.path == name);
    let parsed = parse_flow(&flow.name, text.unwrap_or_default(), &mut |name| has_template(name));
    let parsed = parsed.map_err(|problems| ImportError::BrokenFlow {
        name: flow.name.clone(),
        problem: problems.into_iter().next().map(|problem| problem.message).unwrap_or_default(),
    })?;
    Ok(ImportFlow {
        name: flow.name.clone(),
        title: parsed.title,
        phases: parsed.phases.iter().map(|spec| spec.name.as_str().to_owned()).collect(),
    })
}

/// The bytes at a path of the project; a link there is refused.
fn existing(root: &Path, path: &str, limit: u64) -> Result<Option<Vec<u8>>, ImportError> {
    let refused = |error: ConfinedError| refusal(path, error);
    let path = Path::new(path);
    let below = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match ConfinedDir::open_below(root, below) {
        Ok(directory) => directory.read(name, limit).map_err(refused),
        Err(ConfinedError::Missing) => Ok(None),
        Err(error) => Err(refused(error)),
    }
}

fn existing_sha256(root: &Path, path: &str) -> Result<Option<String>, ImportError> {
    Ok(existing(root, path, MAX_EXISTING_BYTES)?.map(|bytes| sha256_hex(&bytes)))
}

/// What earlier imports made, by path; a record that cannot be read knows nothing.
fn known_files(root: &Path, records: &[String]) -> Result<BTreeMap<String, String>, ImportError> {
    let mut known = BTreeMap::new();
    for record in records {
        let bytes = existing(root, record, MAX_RECORD_BYTES)?.unwrap_or_default();
        known.extend(serde_json::from_slice::<Record>(&bytes).unwrap_or_default().files);
    }
    Ok(known)
}
