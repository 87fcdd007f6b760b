//! The machine of a session: plan → generate → review → revise, with a gate after every prompt and every reply; and
//! of a change, which is a session with other phases: plan → challenge → implement → review → archive.
//!
//! [`decide`] takes where a session stands and what somebody wants, and gives the events of it or a refusal that
//! says what is possible. [`State::evolve`] folds events into a state. [`next_effect`] says what the engine has to
//! do next; it does it, and reports back with another command. No file, clock or randomness is used here: times,
//! names and hashes come in with the commands.

mod phase;
mod setup;

mod call;
mod change;
mod event;
mod left_out;
mod state;

mod check;

mod command;
mod effect;
mod refusal;

mod transitions;

pub use call::{Call, Dollars, Spent, ToolOutcome, ToolUse, Total, TouchedFile, Usage};
pub use change::{
    Agent, Artifact, ChangeSetup, ChangeState, Flow, NewFile, PhaseChoice, Task, TaskStatus, Verdict,
};
pub use check::EventFault;
pub use command::{Command, decide};
pub use effect::{Effect, next_effect};
pub use event::{Actor, AppliedFile, Event, FileHash, Outcome, Person, Surface};
pub use left_out::{LeftOut, LeftOutKind};
pub use phase::{Phase, Stage};
pub use refusal::Refusal;
pub use setup::{Approver, GateSetting, Role, Setup};
pub use state::{Bound, Feedback, GateState, Pause, State, Status, Step};
pub use transitions::{change_transition_table, transition_table};
