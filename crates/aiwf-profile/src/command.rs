//! The commands that a profile declares, and the shared actions behind them.

use crate::scope::{Layer, Scope};

/// A command of a profile beside `init` and `info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The name on the command line.
    pub name: String,
    /// What its help says.
    pub help: String,
    /// What it does.
    pub action: Action,
}

/// What a command does; the same actions are there for every profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads a schema with [`ddl`](crate::ddl).
    Ddl {
        /// The file parameter that holds the schema.
        schema: String,
        /// The parameter that names the table to look at.
        table: Option<String>,
        /// The columns that make a table tenant-scoped.
        tenant_columns: Vec<String>,
    },
    /// Shows a generated component with [`component_preview`](crate::component_preview).
    ComponentPreview {
        /// The parameter that names the component.
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

    /// Whether the command is about a session and takes its id.
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
    /// The scopes and their layers.
    Scopes,
    /// The layers.
    Layers,
}

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRow {
    /// The name.
    pub name: String,
    /// What it is.
    pub help: String,
    /// For a scope its layers, for a layer the scopes that make it.
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
