//! Workflow packages for the command line: check, show, draw, pack and create them. Also prepares their agents and
//! nodes for prompts.

use std::io;
use std::path::{Path, PathBuf};

use aiwf_advice::{Action, Advice};
use aiwf_package::{
    AgentDefinition, Checked, Edge, Graph, Node, PackError, Package, PackageError, SelectError, SourceError,
    archive_name, check, pack, read_files, scaffold,
};
use aiwf_prompt::{Agent, AgentPersona, FsPolicy, McpPolicy, NodeBrief, NodeType, ToolPolicy, Transition};
use aiwf_store::{Durability, PlanProblem, StoreError, WritePlan, write_atomic};

use crate::Engine;

#[derive(Debug, thiserror::Error)]
pub enum PackageToolError {
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The package has no such workflow or agent.
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error("`{}` is not a directory", path.display())]
    NotADirectory { path: PathBuf },
    #[error("`{}` already exists", path.display())]
    Exists { path: PathBuf },
    #[error(
        "`{name}` is not a valid package name: use letters, digits, `.`, `_` and `-`, starting with a letter or digit"
    )]
    Name { name: String },
    #[error(transparent)]
    Pack(#[from] PackError),
    #[error("package could not be written: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Plan(Vec<PlanProblem>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PackageToolError {
    pub fn advice(&self) -> Advice {
        match self {
            Self::Package(error) => error.hint().into(),
            Self::Select(error) => error.hint().into(),
            Self::NotADirectory { .. } => {
                "pass the directory of a package; an archive is already packed".into()
            }
            Self::Exists { .. } => "choose another name, or remove what is there".into(),
            Self::Name { .. } => Advice::from("use letters, digits and `-`, as in ").then(Action::NewPackage),
            Self::Pack(error) => error.hint().into(),
            Self::Plan(_) => "choose another name for the package".into(),
            Self::Store(error) => error.hint().into(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    pub path: PathBuf,
    pub n_bytes: usize,
    pub n_files: usize,
    pub hash: String,
}

impl Engine {
    /// All problems of a package.
    pub fn check_package(&self, path: &Path) -> Result<Checked, SourceError> {
        read_files(&self.settings().current_dir.join(path)).map(check)
    }

    /// Loads a package that passes its checks.
    pub fn package(&self, path: &Path) -> Result<Package, PackageToolError> {
        Ok(Package::load(&self.settings().current_dir.join(path))?)
    }

    /// Packs a directory into an archive, by default next to it. A package with errors is refused.
    pub fn pack_package(&self, directory: &Path, out: Option<&Path>) -> Result<Packed, PackageToolError> {
        let current_dir = &self.settings().current_dir;
        let directory = current_dir.join(directory);
        if directory.is_file() {
            return Err(PackageToolError::NotADirectory { path: directory });
        }
        let package = Package::load(&directory)?;
        let path = if let Some(out) = out {
            current_dir.join(out)
        } else {
            // `.` and `..` have no name, but the directory they refer to does.
            let unreadable = |source: io::Error| {
                PackageError::Source(SourceError::Unreadable { path: directory.clone(), source })
            };
            let real = std::fs::canonicalize(&directory).map_err(unreadable)?;
            real.parent().unwrap_or(&real).join(archive_name(&package.manifest.name))
        };
        let bytes = pack(&package)?;
        write_atomic(&path, Durability::PowerLoss, |out| out.write_all(&bytes))?;
        Ok(Packed { path, n_bytes: bytes.len(), n_files: package.files.len(), hash: package.hash })
    }

    /// Creates a package that passes its checks; returns its path.
    pub fn new_package(&self, name: &str) -> Result<PathBuf, PackageToolError> {
        let files = scaffold(name).ok_or_else(|| PackageToolError::Name { name: name.to_owned() })?;
        let directory = &self.settings().current_dir;
        let target = directory.join(name);
        if target.symlink_metadata().is_ok() {
            return Err(PackageToolError::Exists { path: target });
        }
        let plan = WritePlan::check(files).map_err(PackageToolError::Plan)?;
        plan.write(&directory.join(format!(".tmp-{name}")), &target)?;
        Ok(target)
    }
}

pub(crate) fn prompt_agent(agent: &AgentDefinition) -> Agent {
    Agent {
        id: agent.id.clone(),
        name: Some((agent.metadata.name.clone(), agent.metadata.title.clone())),
        persona: Some(AgentPersona {
            role: agent.persona.role.clone(),
            identity: agent.persona.identity.clone(),
            communication_style: agent.persona.communication_style.clone(),
            principles: agent.persona.principles(),
        }),
        critical_actions: agent.critical_actions.clone(),
        system_prompt: agent.system_prompt.clone(),
        user_prompt_template: agent.user_prompt_template.clone(),
        tools: ToolPolicy {
            fs: FsPolicy {
                is_enabled: agent.tools.fs.enabled,
                max_read_bytes: agent.tools.fs.max_read_bytes,
                max_write_bytes: agent.tools.fs.max_write_bytes,
            },
            mcp: McpPolicy {
                is_enabled: agent.tools.mcp.enabled,
                allowed_servers: agent.tools.mcp.allowed_servers.clone(),
            },
        },
    }
}

pub(crate) fn prompt_node_brief(graph: &Graph, node: &Node) -> NodeBrief {
    let transition = |edge: &Edge| Transition {
        to: edge.to.clone(),
        label: edge.label.clone(),
        is_default: edge.is_default,
        condition: edge.condition_text.clone(),
    };
    NodeBrief {
        node_id: node.id.clone(),
        node_type: NodeType::from_name(node.node_type.as_str()),
        title: node.title.clone(),
        step_file: node.file.clone(),
        inputs: node.inputs.clone(),
        outputs: node.outputs.clone(),
        transitions: graph.edges_from(&node.id).map(transition).collect(),
    }
}
