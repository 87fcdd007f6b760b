//! `bmad.json`: what a package is and where its parts are.

use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of the manifest format.
    pub schema_version: String,
    pub name: String,
    pub version: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub author: Option<String>,
    #[serde(default)]
    pub created_at: Option<String>,
    pub entry: ManifestEntry,
    /// Its workflows, if there are several.
    #[serde(default)]
    pub workflows: Vec<WorkflowRecord>,
    #[serde(default)]
    pub runtime: Option<Runtime>,
    /// The author's claims about the archive's bytes.
    #[serde(default)]
    pub integrity: Option<Integrity>,
}

/// The main files of a package.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestEntry {
    pub workflow: String,
    pub graph: String,
    pub agents: String,
    #[serde(default)]
    pub assets_dir: Option<String>,
}

/// One of several workflows.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowRecord {
    pub id: String,
    pub workflow: String,
    pub graph: String,
    #[serde(default)]
    pub display_name: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub tags: Vec<String>,
}

/// What a package requires.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The oldest version of the engine that it works with.
    #[serde(default)]
    pub min_runtime_version: Option<String>,
    #[serde(default)]
    pub requires_network: bool,
}

/// The author's claims about the archive's bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Integrity {
    /// A hash; it cannot be that of the archive it is in, so it is not checked.
    #[serde(default)]
    pub sha256: Option<String>,
}
