//! The sizes of a session, and the layers they consist of.

/// A size of a session; chosen with the parameter `scope`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    pub name: String,
    pub help: String,
    /// Its layers, in the order they are generated.
    pub layers: Vec<String>,
    /// The prefixes of its rule ids; empty means all rules.
    pub rules: Vec<String>,
}

/// A kind of artifact that scopes consist of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) name: String,
    pub(crate) help: String,
}
