//! Sessions of every kind on disk: created, found, listed and removed in one place.
//!
//! A session is a directory in `.aiwf/sessions/`; those that 0.1.0 created in `.aiwf/changes/` and `.aiwf/runs/` stay
//! there. The first event of its journal tells the kind of a session, never its path. This module does not interpret
//! sessions: `session/` and `run/` fold their journals.

mod first_event;
mod index;
pub(crate) mod moment;
mod new_ledger;
mod overlap;
mod place;
mod remove;
mod resolve;
mod session_ledger;

pub(crate) use first_event::FirstEvent;
pub(crate) use index::{Summary, by_time, summaries};
pub(crate) use new_ledger::{NewLedger, refuse_taken};
pub(crate) use place::{Place, create_project_dir};
pub(crate) use resolve::{Candidates, Scope, own_ledgers, resolve};
pub(crate) use session_ledger::SessionLedger;

pub use index::{SessionEntry, SessionStatus, WaitsFor};
pub use overlap::Overlap;
pub use remove::RemovalFilter;
pub use resolve::{Purpose, SessionRef};
