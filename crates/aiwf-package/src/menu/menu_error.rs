//! Why what an item asks for cannot be had.

/// Why a chosen item leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MenuError {
    /// There is no such workflow.
    #[error("the menu starts `{name}`, which is not a workflow of the package")]
    UnknownWorkflow {
        /// What the item names.
        name: String,
        /// The workflows there are.
        known: Vec<String>,
    },
    /// The workflow is of a kind from before packages had graphs.
    #[error("workflow `{path}` is of the classic kind, without a graph: it cannot be run")]
    ClassicWorkflow {
        /// What the item names.
        path: String,
    },
    /// There is no such prompt.
    #[error("the menu uses prompt `#{id}`, which agent `{agent}` does not have")]
    UnknownPrompt {
        /// What the item names.
        id: String,
        /// The agent.
        agent: String,
        /// The prompts it has.
        known: Vec<String>,
    },
    /// A file that the item needs cannot be had.
    #[error("could not load `{path}`: {reason}")]
    NotLoaded {
        /// The file, by its alias.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A path leads where no menu may lead.
    #[error("the menu may not use `{path}`: it {reason}")]
    Denied {
        /// What the item names.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// What has to be right before the start is not.
    #[error("nothing was started: {}", .problems.join("; "))]
    NotValid {
        /// Everything that is wrong.
        problems: Vec<String>,
    },
}

impl MenuError {
    /// The code of the error, as other implementations have it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownWorkflow { .. } => "UNKNOWN_WORKFLOW",
            Self::ClassicWorkflow { .. } => "NOT_SUPPORTED_CLASSIC_WORKFLOW",
            Self::UnknownPrompt { .. } => "UNKNOWN_PROMPT_ID",
            Self::NotLoaded { .. } => "DATA_LOAD_FAILED",
            Self::Denied { .. } => "PERMISSION_DENIED",
            Self::NotValid { .. } => "VALIDATION_FAILED",
        }
    }

    /// One thing to do about it.
    pub fn hint(&self) -> String {
        let listed =
            |known: &[String]| known.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        match self {
            Self::ClassicWorkflow { .. } => {
                "name a workflow of the package, or ask its author for one with a graph".to_owned()
            }
            Self::UnknownPrompt { known, .. } if known.is_empty() => {
                "give the agent a prompt of that id; `aiwf package check PATH` lists what is wrong".to_owned()
            }
            Self::UnknownWorkflow { known, .. } | Self::UnknownPrompt { known, .. } => {
                format!("name one of {} in the menu", listed(known))
            }
            Self::NotLoaded { .. } => {
                "put the file in place, or correct the menu: a path without a mount is relative to the package".to_owned()
            }
            Self::Denied { .. } => {
                "begin the path with `@project/`, `@pkg/` or `@state/`, or make it relative to the package"
                    .to_owned()
            }
            Self::NotValid { .. } => "correct these in the package, then choose the item again".to_owned(),
        }
    }
}
