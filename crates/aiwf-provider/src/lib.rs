//! Who answers a prompt, and what each of them can take.
//!
//! The only crate that knows providers by name; the others ask for a capability.

mod built_in;
mod fs_ability;

pub use built_in::{Provider, built_in_providers, provider};
pub use fs_ability::{FsAbilitySettings, resolve_fs_ability};
