//! The state machine of sessions: phases, stages and gates, as their flow defines them.
//!
//! A [`Flow`] is data: its phases, what each produces, and where each verdict leads. [`decide`] takes a state and a
//! command and returns events, or a refusal that lists what is possible. [`State::evolve`] folds events into a state.
//! [`next_effect`] returns what the engine must do next; the engine does it and reports the result as another command.
//!
//! This crate uses no file, clock or randomness: times, names and hashes come with the commands.

mod name;
mod phase;
mod verdict;

mod built_in;
mod flow;
mod flow_check;
mod flow_file;
mod flow_graph;
mod gate_pattern;

mod session_path;
mod setup;

mod call;
mod change;
mod checks;
mod comment;
mod common_artifact;
mod event;
mod follow;
mod left_out;
mod state;
mod step;
mod versions;

mod check;

mod action;
mod assign;
mod command;
mod decide;
mod effect;
mod refusal;

mod transitions;

pub use action::{Action, possible};
pub use call::{
    Call, Dollars, SentParts, SentSection, Spent, ToolOutcome, ToolUse, Total, TouchedFile, Usage,
};
pub use change::{
    Agent, Artifact, ChangeSetup, ChangeState, Delivery, NewFile, PhaseChoice, RemovedFile, Task, TaskStatus,
};
pub use check::EventFault;
pub use checks::{CheckEnd, CheckResult};
pub use command::{Command, decide};
pub use comment::{
    Comment, CommentSubject, MAX_QUOTE_BYTES, MAX_REMARK_BYTES, NewComment, Resolution, quote,
};
pub use common_artifact::{CommonArtifact, reserved_artifact_names};
pub use effect::{Effect, next_effect};
pub use event::{Actor, AppliedFile, Commit, Event, FileHash, Outcome, Person, Surface};
pub use flow::{Access, Flow, Gives, PhaseRecipe, PhaseSpec, ReplyParser, Target};
pub use flow_check::FlowProblem;
pub use flow_file::parse_flow;
pub use flow_graph::{flow_mermaid, flow_text};
pub use follow::{LineMap, LineRange, Place, follow_through};
pub use gate_pattern::GatePattern;
pub use left_out::{LeftOut, LeftOutKind};
pub use phase::{Phase, Role, Stage};
pub use refusal::Refusal;
pub use session_path::{code_file, code_path, rejected_path};
pub use setup::{Approver, GateSetting, Setup};
pub use state::State;
pub use step::{Bound, Feedback, GateState, Pause, Status, Step};
pub use transitions::transition_table;
pub use verdict::Verdict;
pub use versions::{Note, Version, VersionName, VersionOutcome};
