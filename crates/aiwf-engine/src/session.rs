//! Sessions on disk: performs the effects of the state machine and records the results as events.
//!
//! Every change goes the same way: write files first, then append the journal line that names their hashes. Decisions
//! are made in `aiwf-session` only.

mod apply;
mod apply_write;
mod asking;
mod change;
mod change_prompt;
mod change_reply;
mod change_report;
pub(crate) mod changes;
mod checking;
mod comment_text;
mod comments;
mod create;
mod decisions;
mod deliver;
pub(crate) mod diff;
mod edit_reply;
mod event_text;
mod files;
mod gate;
mod hand_over;
pub(crate) mod journal;
pub(crate) mod open_session;
mod ownership;
mod perform;
mod planned_writes;
mod preview;
mod project_files;
mod prompt_files;
mod reply_files;
mod report;
pub(crate) mod request;
mod review;
mod revise;
mod seen_gate;
pub(crate) mod sent_calls;
mod session_advice;
pub(crate) mod session_error;
mod snapshot;
mod take_reply;
mod tell_user;
mod usage;
mod usage_limit;
mod verify;
mod versions;
mod work_area;

pub(crate) use snapshot::{journal_summary, snapshot_summary};

pub use apply::{ApplyChange, ApplyFile, ApplyOptions, ApplyReport};
pub use change::{NewChange, PhaseOptions};
pub use change_report::{ArtifactReport, ChangeReport};
pub use comments::{
    CommentFilter, CommentPlace, CommentReport, CommentState, CommentTarget, Commented, LineChange,
};
pub use create::{Created, NewSession, Reach};
pub use decisions::{ApproveOptions, Decided, PromptApproval};
pub use deliver::UndoReport;
pub use event_text::event_texts;
pub use files::{SessionArtifact, SessionValues};
pub use perform::Performed;
pub use preview::{AbilityInForce, PromptSize, SessionPreview};
pub use reply_files::SelfRunning;
pub use report::{CheckReport, SessionReport};
pub use request::NewRequest;
pub use review::{FileChange, FileChangeKind, LiveText, PromptAnatomy, SessionGlance, SessionPlace};
pub use seen_gate::SeenGate;
pub use snapshot::SessionSummary;
pub use usage::{BudgetReport, UsageReport};
pub use verify::{Difference, Verified};
pub use versions::{NoteReport, ReopenedReport, StaleArtifact, VersionReport};
