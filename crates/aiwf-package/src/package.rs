//! A package that passed its checks.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::agent::AgentDefinition;
use crate::check::{check, read_known};
use crate::files::{ExtractError, Files, SourceError, extract, hash_of, read_files};
use crate::finding::{Finding, Severity};
use crate::graph::{Graph, Node};
use crate::manifest::Manifest;
use crate::schema::Schema;

#[derive(Clone, Debug, PartialEq)]
pub struct Workflow {
    pub id: String,
    /// The entry document, relative to the package.
    pub workflow_path: String,
    /// The graph, relative to the package.
    pub graph_path: String,
    pub display_name: Option<String>,
    pub description: Option<String>,
    pub tags: Vec<String>,
    /// Whether it is the entry workflow of the manifest.
    pub is_entry: bool,
    pub graph: Graph,
    /// The front matter of the entry document.
    pub front_matter: Map<String, Value>,
    /// The whole entry document.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    pub manifest: Manifest,
    pub agents: Vec<AgentDefinition>,
    /// Never empty; in the order of the manifest.
    pub workflows: Vec<Workflow>,
    /// The hash of all files.
    pub hash: String,
    pub files: Files,
    pub warnings: Vec<Finding>,
}

#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Its files could not be loaded.
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("package has {} {}: {}", n_errors(.findings), if n_errors(.findings) == 1 { "error" } else { "errors" }, first_error(.findings))]
    Faulty {
        /// All findings, including warnings.
        findings: Vec<Finding>,
    },
}

fn n_errors(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| finding.severity == Severity::Error).count()
}

fn first_error(findings: &[Finding]) -> String {
    findings
        .iter()
        .find(|finding| finding.severity == Severity::Error)
        .map(ToString::to_string)
        .unwrap_or_default()
}

impl PackageError {
    pub fn hint(&self) -> String {
        match self {
            Self::Source(error) => error.hint(),
            Self::Faulty { .. } => "`aiwf package check PATH` lists all problems".to_owned(),
        }
    }
}

/// Why a workflow or an agent of a package is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// There are several workflows, and none was selected.
    #[error("the package has several workflows: choose one of {}", listed(.known))]
    WorkflowRequired { known: Vec<String> },
    #[error("the package has no workflow `{id}`: it has {}", listed(.known))]
    WorkflowUnknown { id: String, known: Vec<String> },
    #[error("the only workflow of the package is `{known}`, not `{id}`")]
    WorkflowMismatch { id: String, known: String },
    #[error("the package has no agent `{id}`: it has {}", listed(.known))]
    AgentUnknown { id: String, known: Vec<String> },
    /// The definition of an agent is invalid.
    #[error("agent `{id}` does not match its schema: {fault}")]
    AgentInvalid { id: String, fault: String },
}

impl SelectError {
    /// The code of the error; other implementations use the same.
    pub fn code(&self) -> &'static str {
        match self {
            Self::WorkflowRequired { .. } => "WORKFLOW_REF_REQUIRED",
            Self::WorkflowUnknown { .. } => "WORKFLOW_REF_UNKNOWN",
            Self::WorkflowMismatch { .. } => "WORKFLOW_REF_MISMATCH",
            Self::AgentUnknown { .. } | Self::AgentInvalid { .. } => "AGENT_NOT_FOUND",
        }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::WorkflowRequired { .. } => "choose one with `--workflow ID`".to_owned(),
            Self::WorkflowUnknown { .. } | Self::WorkflowMismatch { .. } | Self::AgentUnknown { .. } => {
                "`aiwf package show PATH` lists workflows and agents".to_owned()
            }
            Self::AgentInvalid { .. } => "`aiwf package check PATH` lists all its problems".to_owned(),
        }
    }
}

fn listed(known: &[String]) -> String {
    known.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}

impl Package {
    /// Reads and checks a package: a directory or an archive.
    pub fn load(path: &Path) -> Result<Self, PackageError> {
        Self::from_files(read_files(path)?)
    }

    /// Reads a package that passed its checks before, identified by its hash; if the hash differs, returns the new one.
    pub fn load_known(path: &Path, sha256: &str) -> Result<Result<Self, String>, PackageError> {
        let files = read_files(path)?;
        let hash = hash_of(&files);
        if hash != sha256 {
            return Ok(Err(hash));
        }
        let read = read_known(files, hash);
        read.package.map(Ok).ok_or(PackageError::Faulty { findings: read.findings })
    }

    /// Extracts its files into a cache directory named by their hash: all of them or none.
    ///
    /// An intact copy is reused; a modified one is replaced.
    pub fn extract(&self, cache: &Path) -> Result<PathBuf, ExtractError> {
        extract(&self.files, &self.hash, cache)
    }

    /// Checks the files of a package.
    pub fn from_files(files: Files) -> Result<Self, PackageError> {
        let checked = check(files);
        checked.package.ok_or(PackageError::Faulty { findings: checked.findings })
    }

    /// The workflow with this id; without an id, the only one.
    pub fn workflow(&self, id: Option<&str>) -> Result<&Workflow, SelectError> {
        let known = || self.workflows.iter().map(|workflow| workflow.id.clone()).collect::<Vec<_>>();
        let id = id.map(str::trim).filter(|id| !id.is_empty());
        let is_single = self.manifest.workflows.is_empty();
        match (id, self.workflows.as_slice()) {
            (None, [only]) if is_single => Ok(only),
            (None, _) => Err(SelectError::WorkflowRequired { known: known() }),
            (Some(id), workflows) => {
                workflows.iter().find(|workflow| workflow.id == id).ok_or_else(|| match workflows {
                    [only] if is_single => {
                        SelectError::WorkflowMismatch { id: id.to_owned(), known: only.id.clone() }
                    }
                    _ => SelectError::WorkflowUnknown { id: id.to_owned(), known: known() },
                })
            }
        }
    }

    /// The entry workflow of the manifest.
    pub fn entry_workflow(&self) -> Option<&Workflow> {
        self.workflows.iter().find(|workflow| workflow.is_entry).or(self.workflows.first())
    }

    pub fn agent(&self, id: &str) -> Result<&AgentDefinition, SelectError> {
        self.agents.iter().find(|agent| agent.id == id).ok_or_else(|| SelectError::AgentUnknown {
            id: id.to_owned(),
            known: self.agents.iter().map(|agent| agent.id.clone()).collect(),
        })
    }

    /// The agent of a node: the node's own, otherwise the one the run was started with.
    pub fn effective_agent(
        &self,
        node: &Node,
        active_agent_id: &str,
    ) -> Result<&AgentDefinition, SelectError> {
        self.agent(node.agent_id().unwrap_or(active_agent_id.trim()))
    }

    /// The default agent of a run: that of the entry node, otherwise the package's first.
    pub fn default_agent(&self, workflow: &Workflow) -> Option<&AgentDefinition> {
        let of_entry = workflow.graph.node(workflow.graph.entry_node_id()).and_then(Node::agent_id);
        of_entry.and_then(|id| self.agent(id).ok()).or(self.agents.first())
    }

    /// A text file of the package.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).and_then(|content| std::str::from_utf8(content).ok())
    }
}

/// The definition of an agent, read and validated using only the files of a package.
pub fn get_agent_definition(package: &Package, agent_id: &str) -> Result<AgentDefinition, SelectError> {
    let invalid = |fault: String| SelectError::AgentInvalid { id: agent_id.to_owned(), fault };
    let text = package.text(&package.manifest.entry.agents).unwrap_or_default();
    let value: Value = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    if let Some(fault) = Schema::Agents.faults(&value).into_iter().next() {
        return Err(invalid(format!("{}: {}", fault.pointer, fault.message)));
    }
    package.agent(agent_id).cloned()
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
