//! The page of a project, served to this machine only: a view of the ledgers and forms that decide.
//!
//! In: an engine. Out: pages, rendered here from what the engine reports, without scripts where that is possible. Every
//! decision is an engine call with the gate that was on the screen; nothing is kept here that a journal does not have,
//! except what runs right now. Nothing is loaded before [`serve`] is called.

mod advice_words;
mod anatomy_view;
mod apply_view;
mod artifact_view;
mod assets;
mod change_view;
mod checks;
mod comments;
mod decide;
mod diff;
mod entry;
mod fields;
mod file_tree;
mod guard;
mod inbox;
mod jobs;
mod live;
mod markdown;
mod project_view;
mod run_view;
mod seen;
mod serve;
mod session_view;
mod site;
mod spending;
mod timeline;
mod verb;
mod watcher;
mod words;

pub use serve::{Access, Listening, Options, PageError, serve};
pub use site::{Note, routes_for_tests};
