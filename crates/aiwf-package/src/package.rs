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

/// One workflow of a package.
#[derive(Clone, Debug, PartialEq)]
pub struct Workflow {
    /// Its id.
    pub id: String,
    /// Its entry document, relative to the package.
    pub workflow_path: String,
    /// Its graph, relative to the package.
    pub graph_path: String,
    /// Its name for people.
    pub display_name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it is about.
    pub tags: Vec<String>,
    /// Whether the manifest begins with it.
    pub is_entry: bool,
    /// The graph.
    pub graph: Graph,
    /// The front matter of the entry document.
    pub front_matter: Map<String, Value>,
    /// The entry document as it is.
    pub text: String,
}

/// A package: its manifest, its agents, its workflows and every file.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// The manifest.
    pub manifest: Manifest,
    /// The agents, at least one.
    pub agents: Vec<AgentDefinition>,
    /// The workflows, at least one; the manifest's order.
    pub workflows: Vec<Workflow>,
    /// The hash of all files.
    pub hash: String,
    /// Every file.
    pub files: Files,
    /// What is odd about it.
    pub warnings: Vec<Finding>,
}

/// Why a package cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Its files cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Something is wrong in it.
    #[error("package has {} {}: {}", n_errors(.findings), if n_errors(.findings) == 1 { "error" } else { "errors" }, first_error(.findings))]
    Faulty {
        /// Everything that was found, warnings too.
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
    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Source(error) => error.hint(),
            Self::Faulty { .. } => "`aiwf package check PATH` lists everything that is wrong".to_owned(),
        }
    }
}

/// Why a workflow or an agent of a package cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// There are several workflows and none was named.
    #[error("the package has several workflows: name one of {}", listed(.known))]
    WorkflowRequired {
        /// Those there are.
        known: Vec<String>,
    },
    /// There is no workflow of that id.
    #[error("there is no workflow `{id}` in the package: it has {}", listed(.known))]
    WorkflowUnknown {
        /// The id.
        id: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The one workflow has another id.
    #[error("the package's one workflow is `{known}`, not `{id}`")]
    WorkflowMismatch {
        /// The id.
        id: String,
        /// The one there is.
        known: String,
    },
    /// There is no agent of that id.
    #[error("there is no agent `{id}` in the package: it has {}", listed(.known))]
    AgentUnknown {
        /// The id.
        id: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// An agent is not what it should be.
    #[error("agent `{id}` does not fit its schema: {fault}")]
    AgentInvalid {
        /// The id.
        id: String,
        /// The first thing that is wrong.
        fault: String,
    },
}

impl SelectError {
    /// The code of the error, as other implementations have it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::WorkflowRequired { .. } => "WORKFLOW_REF_REQUIRED",
            Self::WorkflowUnknown { .. } => "WORKFLOW_REF_UNKNOWN",
            Self::WorkflowMismatch { .. } => "WORKFLOW_REF_MISMATCH",
            Self::AgentUnknown { .. } | Self::AgentInvalid { .. } => "AGENT_NOT_FOUND",
        }
    }

    /// One thing to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::WorkflowRequired { .. } => "name it with `--workflow ID`".to_owned(),
            Self::WorkflowUnknown { .. } | Self::WorkflowMismatch { .. } | Self::AgentUnknown { .. } => {
                "`aiwf package show PATH` lists workflows and agents".to_owned()
            }
            Self::AgentInvalid { .. } => {
                "`aiwf package check PATH` lists everything that is wrong with it".to_owned()
            }
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

    /// Reads a package that passed its checks before, known by its hash; another one gives its own hash.
    pub fn load_known(path: &Path, sha256: &str) -> Result<Result<Self, String>, PackageError> {
        let files = read_files(path)?;
        let hash = hash_of(&files);
        if hash != sha256 {
            return Ok(Err(hash));
        }
        let read = read_known(files, hash);
        read.package.map(Ok).ok_or(PackageError::Faulty { findings: read.findings })
    }

    /// Puts its files into a directory of the cache that is named by their hash: all of them, or none.
    ///
    /// One that is there and whole is used as it is; one that was changed is replaced.
    pub fn extract(&self, cache: &Path) -> Result<PathBuf, ExtractError> {
        extract(&self.files, &self.hash, cache)
    }

    /// Checks the files of a package.
    pub fn from_files(files: Files) -> Result<Self, PackageError> {
        let checked = check(files);
        checked.package.ok_or(PackageError::Faulty { findings: checked.findings })
    }

    /// The workflow with that id; without an id, the only one.
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

    /// The workflow the manifest begins with.
    pub fn entry_workflow(&self) -> Option<&Workflow> {
        self.workflows.iter().find(|workflow| workflow.is_entry).or(self.workflows.first())
    }

    /// The agent with that id.
    pub fn agent(&self, id: &str) -> Result<&AgentDefinition, SelectError> {
        self.agents.iter().find(|agent| agent.id == id).ok_or_else(|| SelectError::AgentUnknown {
            id: id.to_owned(),
            known: self.agents.iter().map(|agent| agent.id.clone()).collect(),
        })
    }

    /// Who works on a node: the node's own agent, else the one the run was started with.
    pub fn effective_agent(
        &self,
        node: &Node,
        active_agent_id: &str,
    ) -> Result<&AgentDefinition, SelectError> {
        self.agent(node.agent_id().unwrap_or(active_agent_id.trim()))
    }

    /// The agent a run begins with when nobody says: that of the entry node, else the package's first.
    pub fn default_agent(&self, workflow: &Workflow) -> Option<&AgentDefinition> {
        let of_entry = workflow.graph.node(workflow.graph.entry_node_id()).and_then(Node::agent_id);
        of_entry.and_then(|id| self.agent(id).ok()).or(self.agents.first())
    }

    /// A text file of the package.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).and_then(|content| std::str::from_utf8(content).ok())
    }
}

/// The definition of an agent, read and validated from the files of a package alone.
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
