//! What can keep a prompt from being built, and what to do about it.

use crate::template::TemplateError;
use crate::template_set::TemplateNotFound;
use crate::tokens::Tokens;

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// The required sections are larger than the budget.
    #[error(
        "required sections need {needed} tokens but the budget is {budget}\n  largest: `{largest}` ({largest_tokens} tokens)"
    )]
    RequiredSectionsTooLarge {
        /// What they need together.
        needed: Tokens,
        /// What the prompt may have.
        budget: Tokens,
        /// The largest of them.
        largest: String,
        /// Its size.
        largest_tokens: Tokens,
    },
    /// No template for an agent and a phase.
    #[error(transparent)]
    TemplateNotFound(#[from] TemplateNotFound),
    /// A template that cannot be rendered.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A mode of the workflow recipe lacks what one of its layers is made of.
    #[error("mode `{mode}` needs `{field}`")]
    MissingField {
        /// The mode.
        mode: &'static str,
        /// The field of the document.
        field: &'static str,
    },
    /// Two fields of a request contradict each other.
    #[error("`{field}` is `{found}` but `{other_field}` is `{other}`")]
    Contradiction {
        /// The first field.
        field: &'static str,
        /// Its value.
        found: String,
        /// The second field.
        other_field: &'static str,
        /// Its value.
        other: String,
    },
    /// The settings name a component that is not registered.
    #[error("unknown component `{id}`")]
    UnknownComponent {
        /// The name given.
        id: String,
        /// The closest known name.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// A component that an embedding program registered could not make its sections.
    #[error("component `{id}`: {message}")]
    Component {
        /// The component.
        id: String,
        /// What it says.
        message: String,
    },
}

impl PromptError {
    /// One thing to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::RequiredSectionsTooLarge { .. } => {
                Some("shorten that section, or set a larger budget with `--budget`".to_owned())
            }
            Self::TemplateNotFound(error) => Some(error.hint()),
            Self::Template(error) => error.hint(),
            Self::MissingField { field, .. } => Some(format!("add `{field}` to the document")),
            Self::Contradiction { field, other_field, .. } => {
                Some(format!("give `{field}` and `{other_field}` the same value, or leave one out"))
            }
            Self::UnknownComponent { nearest, known, .. } => {
                let known = known.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
                Some(match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`? known: {known}"),
                    None => format!("known: {known}"),
                })
            }
            Self::Component { id, .. } => {
                Some(format!("give the component `{id}` what it needs, or remove it of the recipe"))
            }
        }
    }
}
