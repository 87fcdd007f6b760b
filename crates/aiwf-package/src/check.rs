//! Checks the files of a package and builds it if it has no errors.
//!
//! In: files. Out: every finding, and the package unless one of them is an error. Schemas first, then what a schema
//! cannot express: references, reachability, agreement of step files with the graph. An error does not hide problems
//! that can be found despite it.

mod agents_check;
mod graph_check;
mod steps_check;

use std::collections::{BTreeMap, BTreeSet};

use aiwf_reply::parse_front_matter;
use serde_json::{Map, Value};

use crate::agent::AgentDefinition;
use crate::files::{Files, hash_of};
use crate::finding::{Finding, Severity, at};
use crate::finding_code::FindingCode;
use crate::graph::Graph;
use crate::manifest::Manifest;
use crate::package::{Package, Workflow};
use crate::schema::{Schema, short};
use crate::state::normalise;

/// The manifest's name.
pub(crate) const MANIFEST: &str = "bmad.json";

/// The usual names of the other files of a package.
const AGENTS: &str = "agents.json";
const GRAPH: &str = "workflow.graph.json";
const WORKFLOW: &str = "workflow.md";

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// All findings: errors first, then warnings, each in the order of files.
    pub findings: Vec<Finding>,
    /// The package, unless there are errors.
    pub package: Option<Package>,
}

impl Checked {
    /// The numbers of errors and warnings.
    pub fn counts(&self) -> (usize, usize) {
        let n_errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        (n_errors, self.findings.len() - n_errors)
    }
}

/// Checks the files of a package.
pub fn check(files: Files) -> Checked {
    let hash = hash_of(&files);
    read(files, hash, Trust::Unknown)
}

/// Reads a package whose files passed a check before; skips the parts that are not needed.
pub(crate) fn read_known(files: Files, hash: String) -> Checked {
    read(files, hash, Trust::Known)
}

/// Whether files passed a check before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Known,
    Unknown,
}

fn read(files: Files, hash: String, trust: Trust) -> Checked {
    let is_known = trust == Trust::Known;
    let mut check = Check { files: &files, is_known, findings: Vec::new() };
    let parts = check.parts();
    let mut findings = check.findings;
    findings.sort_by(|a, b| (a.severity, &a.file).cmp(&(b.severity, &b.file)));
    findings.dedup();
    let is_fine = !findings.iter().any(|finding| finding.severity == Severity::Error);
    let package = parts.filter(|_| is_fine).map(|(manifest, agents, workflows)| Package {
        manifest,
        agents,
        workflows,
        hash,
        warnings: findings.clone(),
        files,
    });
    Checked { findings, package }
}

struct Check<'a> {
    files: &'a Files,
    /// Whether the files passed a check before, so that slow checks are skipped; their findings were reported then.
    is_known: bool,
    findings: Vec<Finding>,
}

/// A workflow in the manifest.
struct Named {
    id: Option<String>,
    workflow: String,
    graph: String,
    /// Its JSON pointer in the manifest.
    pointer: String,
}

impl Check<'_> {
    fn parts(&mut self) -> Option<(Manifest, Vec<AgentDefinition>, Vec<Workflow>)> {
        let manifest = self
            .json(MANIFEST, Schema::Manifest, None)
            .and_then(|value| self.typed::<Manifest>(MANIFEST, value));
        let Some(manifest) = manifest else {
            self.by_usual_names();
            return None;
        };
        if manifest.integrity.as_ref().is_some_and(|integrity| integrity.sha256.is_some()) {
            let message = "the hash is not checked: a file cannot contain the hash of its own archive";
            self.add(Finding::new(FindingCode::IntegrityNotChecked, MANIFEST, "/integrity/sha256", message));
        }
        let agents = self.agents(&manifest);
        let agent_ids: Option<BTreeSet<String>> =
            agents.as_ref().map(|agents| agents.iter().map(|agent| agent.id.clone()).collect());
        let mut workflows = Vec::new();
        let mut is_whole = true;
        let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
        for (idx, record) in manifest.workflows.iter().enumerate() {
            if let Some(first) = ids.insert(&record.id, idx) {
                let message =
                    format!("workflow id `{}` occurs twice: first at /workflows/{first}", record.id);
                self.add(Finding::new(
                    FindingCode::DuplicateWorkflow,
                    MANIFEST,
                    format!("/workflows/{idx}/id"),
                    message,
                ));
            }
        }
        for (record, named) in named(&manifest) {
            match self.workflow(&named, agent_ids.as_ref()) {
                Some((graph, front_matter, text)) => workflows.push(Workflow {
                    id: named
                        .id
                        .clone()
                        .unwrap_or_else(|| derived_id(&named.workflow, &front_matter, &manifest)),
                    is_entry: manifest.entry.graph == named.graph,
                    workflow_path: named.workflow,
                    graph_path: named.graph,
                    display_name: record.and_then(|record| record.display_name.clone()),
                    description: record.and_then(|record| record.description.clone()),
                    tags: record.map(|record| record.tags.clone()).unwrap_or_default(),
                    graph,
                    front_matter,
                    text,
                }),
                None => is_whole = false,
            }
        }
        if !manifest.workflows.is_empty() {
            // Each workflow was checked above; the entry files must exist in any case.
            for (key, path) in [("workflow", &manifest.entry.workflow), ("graph", &manifest.entry.graph)] {
                self.exists(path, MANIFEST, &format!("/entry/{key}"));
            }
        }
        if let Some(agents) = agents.as_ref().filter(|_| !self.is_known) {
            self.menus(&manifest, agents, &workflows);
        }
        if is_whole { Some((manifest, agents?, workflows)) } else { None }
    }

    /// Runs the checks that need no manifest, with files under their usual names, so that all problems are reported at
    /// once.
    fn by_usual_names(&mut self) {
        let agents: Option<Vec<AgentDefinition>> = self
            .files
            .contains_key(AGENTS)
            .then(|| self.json(AGENTS, Schema::Agents, None))
            .flatten()
            .and_then(|mut value| self.typed(AGENTS, value.get_mut("agents")?.take()));
        if let Some(agents) = &agents {
            self.duplicate_agents(AGENTS, agents);
        }
        let agent_ids = agents.map(|agents| agents.into_iter().map(|agent| agent.id).collect());
        let graphs: Vec<String> =
            self.files.keys().filter(|path| path.rsplit('/').next() == Some(GRAPH)).cloned().collect();
        for graph in graphs {
            let workflow = format!("{}{WORKFLOW}", graph.strip_suffix(GRAPH).unwrap_or_default());
            let named = Named { id: None, workflow, graph, pointer: String::new() };
            self.workflow(&named, agent_ids.as_ref());
        }
    }

    fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// Whether a file exists; if not, adds a finding where it is referenced.
    fn exists(&mut self, path: &str, file: &str, pointer: &str) -> bool {
        if self.files.contains_key(path) {
            return true;
        }
        if !self.findings.iter().any(|finding| finding.file == file && finding.pointer == pointer) {
            let near = nearest_file(self.files, path);
            let finding = Finding::new(
                FindingCode::MissingFile,
                file,
                pointer,
                format!("file `{}` is not in the package", short(path)),
            );
            self.add(match near {
                Some(near) => {
                    finding.with_hint(format!("did you mean `{near}`? paths are relative to the package"))
                }
                None => finding,
            });
        }
        false
    }

    fn text_of(&mut self, path: &str) -> Option<&str> {
        match std::str::from_utf8(self.files.get(path)?) {
            Ok(text) => Some(text),
            Err(error) => {
                let message = format!("is not UTF-8 text: byte {} is wrong", error.valid_up_to());
                self.add(Finding::new(FindingCode::NotText, path, "", message));
                None
            }
        }
    }

    /// A JSON file that matches its schema; `named_at` is where another file refers to it.
    fn json(&mut self, path: &str, schema: Schema, named_at: Option<(&str, &str)>) -> Option<Value> {
        match named_at {
            Some((file, pointer)) if !self.exists(path, file, pointer) => return None,
            None if !self.files.contains_key(path) => {
                let finding =
                    Finding::new(FindingCode::MissingFile, path, "", "the package has no such file");
                self.add(finding.with_hint(
                    "the manifest belongs at the root of the package; `aiwf package new NAME` creates one",
                ));
                return None;
            }
            _ => {}
        }
        let text = self.text_of(path)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match serde_json::from_str::<Value>(text) {
            Ok(value) => self.fits(path, schema, &value).then_some(value),
            Err(error) => {
                let message = format!("is not JSON: {error}");
                self.add(Finding::new(FindingCode::InvalidJson, path, "", message));
                None
            }
        }
    }

    /// Whether a value matches its schema; problems are added.
    fn fits(&mut self, path: &str, schema: Schema, value: &Value) -> bool {
        if self.is_known {
            return true;
        }
        let faults = schema.faults(value);
        let mut is_fine = true;
        for fault in faults {
            let is_unset = fault.keyword == "format"
                && value
                    .pointer(&fault.pointer)
                    .and_then(Value::as_str)
                    .is_some_and(|text| text.trim().is_empty());
            let finding = if is_unset {
                // Templates of packages leave times empty; a run sets its own.
                Finding::new(FindingCode::EmptyTimestamp, path, fault.pointer, "is an empty time")
            } else {
                is_fine = false;
                Finding::new(FindingCode::Schema, path, fault.pointer, fault.message)
            };
            let finding = match (fault.keyword.as_str(), &fault.key) {
                ("required", Some(key)) => finding.with_hint(format!("add `{}`", short(key))),
                ("additionalProperties", _) => finding.with_hint("correct the name of the key, or remove it"),
                ("minLength", Some(key)) => finding.with_hint(format!("give `{}` a value", short(key))),
                ("minItems", Some(key)) => finding.with_hint(format!("add an entry to `{}`", short(key))),
                ("format", Some(_)) if is_unset => finding,
                (_, Some(key)) => finding.with_hint(format!("correct `{}`", short(key))),
                (_, None) => finding,
            };
            self.add(match fault.key {
                Some(key) => finding.with_key(&key),
                None => finding,
            });
        }
        is_fine
    }

    fn typed<T: serde::de::DeserializeOwned>(&mut self, path: &str, value: Value) -> Option<T> {
        match serde_json::from_value(value) {
            Ok(typed) => Some(typed),
            Err(error) => {
                self.add(Finding::new(FindingCode::Schema, path, "", error.to_string()));
                None
            }
        }
    }

    /// The front matter of a Markdown file that matches its schema, and the file's text.
    fn front_matter(&mut self, path: &str, schema: Schema) -> Option<(Map<String, Value>, String)> {
        let text = self.text_of(path)?.to_owned();
        let mut parsed = parse_front_matter(&text);
        for problem in &parsed.problems {
            let message = format!("line {}: {}", problem.line, problem.message);
            self.add(Finding::new(FindingCode::FrontMatter, path, "", message));
        }
        if !parsed.problems.is_empty() {
            return None;
        }
        normalise(&mut parsed.value.data);
        let is_fine = self.fits(path, schema, &parsed.value.data);
        match parsed.value.data {
            Value::Object(data) if is_fine => Some((data, text)),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        }
    }

    fn agents(&mut self, manifest: &Manifest) -> Option<Vec<AgentDefinition>> {
        let path = &manifest.entry.agents;
        let mut value = self.json(path, Schema::Agents, Some((MANIFEST, "/entry/agents")))?;
        let agents: Vec<AgentDefinition> = self.typed(path, value.get_mut("agents")?.take())?;
        self.duplicate_agents(path, &agents);
        Some(agents)
    }

    /// One workflow: its graph, its entry document, its step files.
    fn workflow(
        &mut self,
        named: &Named,
        agent_ids: Option<&BTreeSet<String>>,
    ) -> Option<(Graph, Map<String, Value>, String)> {
        let at_graph = at(&named.pointer, "graph");
        let at_workflow = at(&named.pointer, "workflow");
        let graph = self.json(&named.graph, Schema::Graph, Some((MANIFEST, &at_graph))).and_then(|value| {
            match Graph::from_value(value) {
                Ok(graph) => Some(graph),
                Err(error) => {
                    self.add(Finding::new(FindingCode::Schema, &named.graph, "", error.to_string()));
                    None
                }
            }
        });
        if let Some(graph) = graph.as_ref().filter(|_| !self.is_known) {
            self.graph(&named.graph, graph, agent_ids);
            self.steps(&named.graph, graph, agent_ids);
        } else if !self.is_known {
            self.steps_beside(&named.graph);
        }
        let document = if self.exists(&named.workflow, MANIFEST, &at_workflow) {
            self.front_matter(&named.workflow, Schema::Workflow)
        } else {
            None
        };
        if let (Some((data, text)), Some(graph), false) = (&document, &graph, self.is_known) {
            self.document(&named.workflow, data, text, graph);
        }
        let (data, text) = document?;
        Some((graph?, data, text))
    }
}

/// The workflows in a manifest: its list, or only the entry.
fn named(manifest: &Manifest) -> Vec<(Option<&crate::manifest::WorkflowRecord>, Named)> {
    if manifest.workflows.is_empty() {
        let named = Named {
            id: None,
            workflow: manifest.entry.workflow.clone(),
            graph: manifest.entry.graph.clone(),
            pointer: "/entry".to_owned(),
        };
        return vec![(None, named)];
    }
    let record = |(idx, record): (usize, &crate::manifest::WorkflowRecord)| Named {
        id: Some(record.id.clone()),
        workflow: record.workflow.clone(),
        graph: record.graph.clone(),
        pointer: format!("/workflows/{idx}"),
    };
    manifest.workflows.iter().enumerate().map(|(idx, one)| (Some(one), record((idx, one)))).collect()
}

/// The default id of a workflow: its directory below `workflows/`, otherwise its type, otherwise the package's name.
fn derived_id(path: &str, front_matter: &Map<String, Value>, manifest: &Manifest) -> String {
    let of_path = path.strip_prefix("workflows/").and_then(|rest| rest.split_once('/')).map(|(id, _)| id);
    let of_type = front_matter.get("workflowType").and_then(Value::as_str);
    let fitting = |id: &&str| is_id(id);
    of_path
        .filter(fitting)
        .or(of_type.filter(fitting))
        .or(Some(manifest.name.as_str()).filter(fitting))
        .unwrap_or("workflow")
        .to_owned()
}

/// Whether a text can be the id of a workflow, a node or an agent.
pub(crate) fn is_id(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-'))
}

/// A file with the same name elsewhere, or the same path in another case.
fn nearest_file<'a>(files: &'a Files, path: &str) -> Option<&'a str> {
    let name = path.rsplit('/').next()?;
    files
        .keys()
        .find(|known| known.eq_ignore_ascii_case(path) || known.rsplit('/').next() == Some(name))
        .map(String::as_str)
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
