//! The actions a user can take next, as data.
//!
//! Errors and reports of every crate carry an [`Advice`]: text that contains [`Action`]s. Crates below the surfaces
//! know neither command lines nor buttons; the terminal, the page and the MCP server each word an action in their own
//! way, for the [`Subject`] it applies to.
//!
//! ```
//! use aiwf_advice::{Action, Advice};
//!
//! let advice = Advice::from(Action::ListProviders).then(" lists all; a table `[providers.NAME]` adds one");
//! let worded = advice.worded(|action, _subject| match action {
//!     Action::ListProviders => "`aiwf providers`".to_owned(),
//!     _ => String::new(),
//! });
//! assert_eq!(worded, "`aiwf providers` lists all; a table `[providers.NAME]` adds one");
//! ```

mod action;
mod advice;

pub use action::Action;
pub use advice::{Advice, Part, Subject};
