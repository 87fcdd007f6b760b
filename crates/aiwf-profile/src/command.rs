//! The commands that a profile declares, and the shared actions they run.

use crate::scope::{Layer, Scope};

/// A command of a profile, in addition to `init` and `info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub name: String,
    pub help: String,
    pub action: Action,
}

/// What a command does; every profile can use the same actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads a schema with [`ddl`](crate::ddl).
    Ddl {
        /// The file parameter with the schema.
        schema: String,
        /// The parameter with the name of the table to show.
        table: Option<String>,
        /// The columns that make a table tenant-scoped.
        tenant_columns: Vec<String>,
    },
    /// Shows a generated component with [`component_preview`](crate::component_preview).
    ComponentPreview {
        /// The parameter with the name of the component.
        component: Option<String>,
    },
    /// Lists scopes or layers with [`Profile::list`](crate::Profile::list).
    List(ListOf),
}

impl Action {
    /// The name in the manifest.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Ddl { .. } => "ddl",
            Self::ComponentPreview { .. } => "component-preview",
            Self::List(_) => "list",
        }
    }

    /// Whether the command works on a session and takes its id.
    pub fn is_about_session(&self) -> bool {
        match self {
            Self::Ddl { .. } | Self::ComponentPreview { .. } => true,
            Self::List(_) => false,
        }
    }
}

/// What the action `list` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// Scopes with their layers.
    Scopes,
    Layers,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRow {
    pub name: String,
    pub help: String,
    /// The layers of a scope, or the scopes that contain a layer.
    pub related: Vec<String>,
}

pub(crate) fn list(scopes: &[Scope], layers: &[Layer], of: ListOf) -> Vec<ListRow> {
    match of {
        ListOf::Scopes => scopes
            .iter()
            .map(|scope| ListRow {
                name: scope.name.clone(),
                help: scope.help.clone(),
                related: scope.layers.clone(),
            })
            .collect(),
        ListOf::Layers => layers
            .iter()
            .map(|layer| ListRow {
                name: layer.name.clone(),
                help: layer.help.clone(),
                related: scopes
                    .iter()
                    .filter(|scope| scope.layers.contains(&layer.name))
                    .map(|scope| scope.name.clone())
                    .collect(),
            })
            .collect(),
    }
}
