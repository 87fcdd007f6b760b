//! Asks providers: the only way, for sessions, judges, `prompt send` and runs.
//!
//! `providers` resolves and opens a provider, `exchange` fixes the order of events, `call` makes one call and streams
//! it to disk, `rounds` and `repeats` decide when a model that calls tools is not asked again, `budget` enforces
//! limits, and `watch` reports progress.

pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod choose;
pub(crate) mod cli_calls;
pub(crate) mod exchange;
pub(crate) mod payload;
pub(crate) mod provider_report;
pub(crate) mod providers;
pub(crate) mod repeats;
pub(crate) mod rounds;
pub(crate) mod send;
pub(crate) mod sent_parts;
pub(crate) mod tool_caller;
pub(crate) mod tool_loop;
pub(crate) mod toolbox;
pub(crate) mod watch;

pub use choose::ChosenAgent;
pub use rounds::CutShort;
pub(crate) use tool_caller::PhaseTools;
pub use tool_loop::{CallStyle, ToolLoop, ToolRound};
