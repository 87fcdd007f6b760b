//! Why a selected item cannot be run.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MenuError {
    #[error("the menu starts `{name}`, which is not a workflow of the package")]
    UnknownWorkflow { name: String, known: Vec<String> },
    /// The workflow has the old format without a graph.
    #[error("workflow `{path}` has the classic format without a graph, so it cannot be run")]
    ClassicWorkflow { path: String },
    #[error("the menu uses prompt `#{id}`, which agent `{agent}` does not have")]
    UnknownPrompt { id: String, agent: String, known: Vec<String> },
    /// A file that the item needs could not be loaded.
    #[error("could not load `{path}`: {reason}")]
    NotLoaded { path: String, reason: String },
    /// A path that menus may not use.
    #[error("the menu may not use `{path}`: it {reason}")]
    Denied { path: String, reason: &'static str },
    /// Files of the project that the item needs are not there.
    #[error("nothing was started: {} missing", are(missing))]
    FilesMissing { missing: Vec<String> },
    /// A check before the start failed.
    #[error("nothing was started: {}", .problems.join("; "))]
    NotValid { problems: Vec<String> },
}

impl MenuError {
    /// The code of the error; other implementations use the same.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownWorkflow { .. } => "UNKNOWN_WORKFLOW",
            Self::ClassicWorkflow { .. } => "NOT_SUPPORTED_CLASSIC_WORKFLOW",
            Self::UnknownPrompt { .. } => "UNKNOWN_PROMPT_ID",
            Self::NotLoaded { .. } => "DATA_LOAD_FAILED",
            Self::Denied { .. } => "PERMISSION_DENIED",
            Self::FilesMissing { .. } | Self::NotValid { .. } => "VALIDATION_FAILED",
        }
    }

    pub fn hint(&self) -> String {
        let listed =
            |known: &[String]| known.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        match self {
            Self::ClassicWorkflow { .. } => {
                "use a workflow of the package, or ask its author for one with a graph".to_owned()
            }
            Self::UnknownPrompt { known, .. } if known.is_empty() => {
                "add a prompt with this id to the agent; `aiwf package check PATH` lists all problems"
                    .to_owned()
            }
            Self::UnknownWorkflow { known, .. } | Self::UnknownPrompt { known, .. } => {
                format!("use one of {} in the menu", listed(known))
            }
            Self::NotLoaded { .. } => {
                "add the file, or correct the menu: a path without a mount is relative to the package"
                    .to_owned()
            }
            Self::Denied { .. } => {
                "start the path with `@project/`, `@pkg/` or `@state/`, or make it relative to the package"
                    .to_owned()
            }
            Self::FilesMissing { missing } => {
                let what = if missing.len() == 1 { "it" } else { "them" };
                format!("add {what}, then choose the item again")
            }
            Self::NotValid { .. } => "correct them in the package, then select the item again".to_owned(),
        }
    }
}

/// Names in backticks and the verb that fits.
fn are(names: &[String]) -> String {
    let listed = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    format!("{listed} {}", if names.len() == 1 { "is" } else { "are" })
}
