//! The machine of a session: phases, stages and gates, as its flow says.
//!
//! A [`Flow`] is data: which phases there are, what each gives, and where each verdict leads. [`decide`] takes where a
//! session stands and what somebody wants, and gives the events of it or a refusal that says what is possible.
//! [`State::evolve`] folds events into a state. [`next_effect`] says what the engine has to do next; it does it, and
//! reports back with another command. No file, clock or randomness is used here: times, names and hashes come in with
//! the commands.

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
mod event;
mod left_out;
mod state;
mod step;

mod check;

mod action;
mod command;
mod effect;
mod refusal;

mod transitions;

pub use action::{Action, possible};
pub use call::{Call, Dollars, Spent, ToolOutcome, ToolUse, Total, TouchedFile, Usage};
pub use change::{
    Agent, Artifact, ChangeSetup, ChangeState, Delivery, NewFile, PhaseChoice, RemovedFile, Task, TaskStatus,
};
pub use check::EventFault;
pub use checks::{CheckEnd, CheckResult};
pub use command::{Command, decide};
pub use effect::{Effect, next_effect};
pub use event::{Actor, AppliedFile, Commit, Event, FileHash, Outcome, Person, Surface};
pub use flow::{Access, Flow, Gives, PhaseRecipe, PhaseSpec, ReplyParser, Target};
pub use flow_check::FlowProblem;
pub use flow_file::parse_flow;
pub use flow_graph::{flow_mermaid, flow_text};
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
