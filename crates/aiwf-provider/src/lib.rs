//! Who answers a prompt, what each of them can take, and how each is asked.
//!
//! The only crate that knows providers by name; the others ask for a capability, or for an answer.

mod built_in;
mod fs_ability;

mod ask;
mod payload;

mod manual;
mod replay;

pub use ask::{Answer, Ask, AskError};
pub use built_in::{Provider, built_in_providers, provider};
pub use fs_ability::{FsAbilitySettings, resolve_fs_ability};
pub use manual::Manual;
pub use payload::{Payload, SectionHash};
pub use replay::{Cassette, Recording, Replay};
