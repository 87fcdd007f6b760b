//! A setting in force, for `config show`.

use crate::origin::Origin;

/// One setting as it is in force.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The full name, such as `session.max_iterations`.
    pub key: String,
    /// The value as people write it, without quotes.
    pub value: String,
    /// Where it comes from; a role or gate that is not named has the origin of the `default` it follows.
    pub origin: Origin,
}
