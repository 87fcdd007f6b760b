//! A setting in force, for `config show`.

use crate::origin::Origin;

/// A setting with its value in force.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The full name, such as `session.max_iterations`.
    pub key: String,
    /// The value without quotes.
    pub value: String,
    /// The origin; an unnamed role or gate has the origin of the `default` it follows.
    pub origin: Origin,
}
