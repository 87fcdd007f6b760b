//! The JSON documents that request a prompt, one for each recipe.
//!
//! In: JSON. Out: a document, or the path of the field that does not match. Names are `snake_case`; the `camelCase`
//! names of the original interfaces are accepted too. `gather` interprets the documents. The doc comments of their
//! fields are the descriptions in the published schemas.

mod change;
mod object;
mod reply;
mod session;
mod wording;
pub(crate) mod workflow;

use aiwf_prompt::Recipe;
pub use change::{ChangeDocument, ContextDocument};
use object::object;
pub use reply::ReplyDocument;
pub(crate) use reply::ToolDocument;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
pub use session::{ProjectParts, SessionDocument};
use wording::Misfit;
pub use workflow::WorkflowDocument;

use crate::error::{EngineError, shortened};

#[derive(Clone, Debug)]
pub enum Document {
    Session(SessionDocument),
    Change(ChangeDocument),
    Workflow(Box<WorkflowDocument>),
    /// For recipe `reply`.
    Reply(ReplyDocument),
}

impl Document {
    /// Parses the document of a recipe.
    pub fn from_json(recipe: Recipe, json: &str) -> Result<Self, EngineError> {
        Ok(match recipe {
            Recipe::Session => Self::Session(read(recipe, json)?),
            Recipe::Change => Self::Change(read(recipe, json)?),
            Recipe::Workflow => Self::Workflow(Box::new(read(recipe, json)?)),
            Recipe::Reply => Self::Reply(read(recipe, json)?),
        })
    }

    pub(crate) fn recipe(&self) -> Recipe {
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
    // Some editors and shells add a byte order mark.
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    if json.trim().is_empty() {
        return Err(EngineError::EmptyInput { recipe: recipe.as_str() });
    }
    let not_json = |error: &serde_json::Error| EngineError::NotJson {
        recipe: recipe.as_str(),
        message: wording::of_syntax_error(error),
        line: error.line(),
        column: error.column(),
    };
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut deserializer, &mut track);
    let document = match object(tracked) {
        Ok(document) => document,
        Err(error) if error.is_data() => return Err(misfit(recipe, &track.path().to_string(), &error)),
        Err(error) => return Err(not_json(&error)),
    };
    deserializer.end().map_err(|error| not_json(&error))?;
    Ok(document)
}

fn misfit(recipe: Recipe, place: &str, error: &serde_json::Error) -> EngineError {
    let Misfit { message, hint } = wording::of_data_error(error);
    let place = (place != ".").then(|| shortened(place));
    EngineError::Document { recipe: recipe.as_str(), place, message, hint }
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
