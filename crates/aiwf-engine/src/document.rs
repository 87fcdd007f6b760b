//! The JSON documents that ask for a prompt, one for each recipe.
//!
//! In: JSON. Out: a document, or the path to the field that does not fit. Names are `snake_case`; the
//! `camelCase` names of the original interfaces are read too. What a document means is decided by `gather`.

mod change;
mod reply;
mod session;
pub(crate) mod workflow;

use aiwf_prompt::{Recipe, nearest};
pub use change::{ChangeDocument, ContextDocument};
pub use reply::ReplyDocument;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
pub use session::SessionDocument;
pub use workflow::WorkflowDocument;

use crate::error::EngineError;

/// A request as JSON has it.
#[derive(Clone, Debug)]
pub enum Document {
    /// For recipe `session`.
    Session(SessionDocument),
    /// For recipe `change`.
    Change(ChangeDocument),
    /// For recipe `workflow`.
    Workflow(Box<WorkflowDocument>),
    /// For recipe `reply`.
    Reply(ReplyDocument),
}

impl Document {
    /// Reads the document of a recipe.
    pub fn from_json(recipe: Recipe, json: &str) -> Result<Self, EngineError> {
        Ok(match recipe {
            Recipe::Session => Self::Session(read(recipe, json)?),
            Recipe::Change => Self::Change(read(recipe, json)?),
            Recipe::Workflow => Self::Workflow(Box::new(read(recipe, json)?)),
            Recipe::Reply => Self::Reply(read(recipe, json)?),
        })
    }

    /// The recipe it is for.
    pub fn recipe(&self) -> Recipe {
        match self {
            Self::Session(_) => Recipe::Session,
            Self::Change(_) => Recipe::Change,
            Self::Workflow(_) => Recipe::Workflow,
            Self::Reply(_) => Recipe::Reply,
        }
    }
}

/// The JSON Schema of a recipe's document.
pub fn schema(recipe: Recipe) -> serde_json::Value {
    fn of<T: JsonSchema>() -> serde_json::Value {
        schemars::schema_for!(T).to_value()
    }
    match recipe {
        Recipe::Session => of::<SessionDocument>(),
        Recipe::Change => of::<ChangeDocument>(),
        Recipe::Workflow => of::<WorkflowDocument>(),
        Recipe::Reply => of::<ReplyDocument>(),
    }
}

fn read<T: DeserializeOwned>(recipe: Recipe, json: &str) -> Result<T, EngineError> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let document = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = error.path().to_string();
        let inner = error.into_inner();
        if inner.is_data() { misfit(recipe, place, &inner) } else { not_json(&inner) }
    })?;
    deserializer.end().map_err(|error| not_json(&error))?;
    Ok(document)
}

fn not_json(error: &serde_json::Error) -> EngineError {
    EngineError::NotJson { message: without_place(error), line: error.line(), column: error.column() }
}

fn misfit(recipe: Recipe, place: String, error: &serde_json::Error) -> EngineError {
    let message = without_place(error);
    let hint = message.strip_prefix("unknown field `").and_then(|rest| {
        let mut names = rest.split('`').step_by(2);
        let unknown = names.next()?;
        let known: Vec<&str> = rest.split('`').skip(2).step_by(2).collect();
        nearest(unknown, known).map(|close| format!("did you mean `{close}`?"))
    });
    let place = if place == "." { "the document itself".to_owned() } else { place };
    EngineError::Document { recipe: recipe.as_str(), place, message, hint }
}

/// The message without the place, which is told apart.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&suffix).unwrap_or(&message).to_owned()
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
