//! Where sessions live, whatever began them: created, found, listed and removed in one place.
//!
//! A session is a directory in `.aiwf/sessions/`; those that 0.1.0 created in `.aiwf/changes/` and `.aiwf/runs/` stay
//! where they are. What kind of session a directory holds is told by the first event of its journal, never by its place.
//! What a session means is not known here: `session/` and `run/` fold its journal.

mod first_event;
mod index;
mod new_ledger;
mod place;
mod remove;
mod resolve;
mod session_ledger;

pub(crate) use first_event::FirstEvent;
pub(crate) use index::{Summary, by_time, summaries};
pub(crate) use new_ledger::NewLedger;
pub(crate) use place::{Place, create_project_dir};
pub(crate) use resolve::{Candidates, Scope, own_ledgers, resolve};
pub(crate) use session_ledger::SessionLedger;

pub use index::{SessionEntry, SessionStatus, WaitsFor};
pub use remove::RemovalFilter;
pub use resolve::{Purpose, SessionRef};
