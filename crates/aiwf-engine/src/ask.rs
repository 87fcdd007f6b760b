//! The only way anybody is asked: sessions, gates, `prompt send` and runs alike.
//!
//! `providers` resolves and opens who is asked, `exchange` holds the order of events, `call` makes one call and streams
//! it to disk, `rounds` and `repeats` say when a model that calls tools is not asked again, `budget` says what may be
//! spent, and `watch` is what somebody who looks on hears.

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
pub(crate) mod tool_caller;
pub(crate) mod tool_loop;
pub(crate) mod toolbox;
pub(crate) mod watch;

pub use choose::ChosenAgent;
pub use rounds::CutShort;
pub(crate) use tool_caller::PhaseTools;
pub use tool_loop::{CallStyle, ToolLoop, ToolRound};
