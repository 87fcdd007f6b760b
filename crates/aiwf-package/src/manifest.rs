//! `bmad.json`: what a package is and where its parts are.

use serde::Deserialize;

/// The manifest of a package.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of the format.
    pub schema_version: String,
    /// The package's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Who wrote it.
    #[serde(default)]
    pub author: Option<String>,
    /// When.
    #[serde(default)]
    pub created_at: Option<String>,
    /// Where its parts are.
    pub entry: ManifestEntry,
    /// Its workflows, when it has several.
    #[serde(default)]
    pub workflows: Vec<WorkflowRecord>,
    /// What it needs.
    #[serde(default)]
    pub runtime: Option<Runtime>,
    /// What its author says about its bytes.
    #[serde(default)]
    pub integrity: Option<Integrity>,
}

/// The files a package begins with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestEntry {
    /// The entry document.
    pub workflow: String,
    /// The graph.
    pub graph: String,
    /// The agents.
    pub agents: String,
    /// The directory of its assets.
    #[serde(default)]
    pub assets_dir: Option<String>,
}

/// One of several workflows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRecord {
    /// Its id.
    pub id: String,
    /// Its entry document.
    pub workflow: String,
    /// Its graph.
    pub graph: String,
    /// Its name for people.
    #[serde(default)]
    pub display_name: Option<String>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// What it is about.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// What a package needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The oldest engine it works with.
    #[serde(default)]
    pub min_runtime_version: Option<String>,
    /// Whether it needs a network.
    #[serde(default)]
    pub requires_network: bool,
}

/// What the author of a package says about its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Integrity {
    /// A hash; it cannot be that of the archive it is in, so it is not checked.
    #[serde(default)]
    pub sha256: Option<String>,
}
