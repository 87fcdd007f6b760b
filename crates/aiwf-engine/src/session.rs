//! A session on disk: performs the effects of the machine and reports back as events.
//!
//! [`crate::Engine`] opens a session, and every change goes one way: files first, then the line of the journal that
//! names their hashes. What the machine decides is not decided again here.

mod apply;
mod apply_write;
mod asking;
mod change;
mod change_prompt;
mod change_reply;
mod change_report;
mod changes;
mod checking;
mod create;
mod decisions;
mod deliver;
mod diff;
mod edit_reply;
mod files;
mod gate;
mod hand_over;
mod journal;
mod open_session;
mod ownership;
mod perform;
mod preview;
mod prompt_files;
mod reply_files;
mod report;
mod request;
mod seen_gate;
mod session_advice;
pub(crate) mod session_error;
mod snapshot;
mod take_reply;
mod usage;
mod verify;
mod work_area;

pub(crate) use snapshot::{journal_summary, snapshot_summary};

pub use apply::{ApplyChange, ApplyFile, ApplyOptions, ApplyReport};
pub use change::{NewChange, PhaseOptions};
pub use change_report::{ArtifactReport, ChangeReport};
pub use create::{Created, NewSession, Reach};
pub use decisions::{ApproveOptions, Decided, PromptApproval};
pub use deliver::UndoReport;
pub use files::{SessionArtifact, SessionValues};
pub use perform::Performed;
pub use preview::{AbilityInForce, PromptSize, SessionPreview};
pub use reply_files::SelfRunning;
pub use report::{CheckReport, SessionReport};
pub use request::NewRequest;
pub use seen_gate::SeenGate;
pub use snapshot::SessionSummary;
pub use usage::UsageReport;
pub use verify::{Difference, Verified};
