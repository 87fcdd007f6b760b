//! Why a prompt could not be built, and what to do about it.

use crate::template::TemplateError;
use crate::template_set::TemplateNotFound;
use crate::tokens::Tokens;

#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The required sections are larger than the budget.
    #[error(
        "required sections need {needed} tokens but the budget is {budget}\n  largest: `{largest}` ({largest_tokens} tokens)"
    )]
    RequiredSectionsTooLarge { needed: Tokens, budget: Tokens, largest: String, largest_tokens: Tokens },
    /// There is no template for an agent and a phase.
    #[error(transparent)]
    TemplateNotFound(#[from] TemplateNotFound),
    /// A template cannot be rendered.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A required field of a workflow mode is missing.
    #[error("mode `{mode}` needs `{field}`")]
    MissingField {
        mode: &'static str,
        /// The missing field of the document.
        field: &'static str,
    },
    /// Two fields of a request contradict each other.
    #[error("`{field}` is `{found}` but `{other_field}` is `{other}`")]
    Contradiction { field: &'static str, found: String, other_field: &'static str, other: String },
    /// The settings refer to a component that is not registered.
    #[error("unknown component `{id}`")]
    UnknownComponent { id: String, nearest: Option<String>, known: Vec<String> },
    /// A component registered by an embedding program failed.
    #[error("component `{id}`: {message}")]
    Component { id: String, message: String },
}

impl PromptError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::RequiredSectionsTooLarge { .. } => {
                Some("shorten that section, or set a larger budget with `--budget`".to_owned())
            }
            Self::TemplateNotFound(error) => Some(error.hint()),
            Self::Template(error) => error.hint(),
            Self::MissingField { field, .. } => Some(format!("add `{field}` to the document")),
            Self::Contradiction { field, other_field, .. } => {
                Some(format!("set `{field}` and `{other_field}` to the same value, or remove one"))
            }
            Self::UnknownComponent { nearest, known, .. } => {
                let known = known.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
                Some(match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`? known: {known}"),
                    None => format!("known: {known}"),
                })
            }
            Self::Component { id, .. } => {
                Some(format!("provide what component `{id}` needs, or remove it from the recipe"))
            }
        }
    }
}
