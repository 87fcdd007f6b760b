//! What the surroundings say, read once.
//!
//! The only crate that reads the environment, the current directory and the home directory. Everyone else gets a
//! [`Settings`] and asks nobody.

mod environment;
mod settings;

pub use environment::Environment;
pub use settings::{ConfigError, Settings};
