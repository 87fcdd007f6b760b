//! How much a session makes, and the layers it is made of.

/// How much a session makes; chosen by the parameter `scope`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The name.
    pub name: String,
    /// What it is for.
    pub help: String,
    /// Its layers, in the order they are made.
    pub layers: Vec<String>,
    /// What the ids of its rules start with; empty means all rules.
    pub rules: Vec<String>,
}

/// A kind of thing that scopes are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    /// The name.
    pub(crate) name: String,
    /// What it is.
    pub(crate) help: String,
}
