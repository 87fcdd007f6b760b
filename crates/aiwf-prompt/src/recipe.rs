//! The four recipes and their requests.

use crate::change::ChangeRequest;
use crate::reply::ReplyRequest;
use crate::session::SessionRequest;
use crate::workflow::WorkflowRequest;

/// A named, ordered set of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// A step of a session: plan, generate, review or revise.
    Session,
    /// A phase of a change: a template, files and artifacts, instructions.
    Change,
    /// A turn of a workflow run, an agent session or a chat.
    Workflow,
    /// A reply to an agent's report.
    Reply,
}

impl Recipe {
    pub const ALL: [Self; 4] = [Self::Session, Self::Change, Self::Workflow, Self::Reply];

    /// The name used on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Change => "change",
            Self::Workflow => "workflow",
            Self::Reply => "reply",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|recipe| recipe.as_str() == name)
    }

    pub(crate) fn separator(self) -> &'static str {
        match self {
            Self::Session | Self::Change | Self::Workflow => "\n\n---\n\n",
            Self::Reply => "\n\n",
        }
    }
}

/// The input of a prompt.
#[derive(Clone, Debug)]
pub enum Request {
    Session(SessionRequest),
    Change(ChangeRequest),
    Workflow(Box<WorkflowRequest>),
    Reply(ReplyRequest),
}

impl Request {
    /// The recipe for this request.
    pub fn recipe(&self) -> Recipe {
        match self {
            Self::Session(_) => Recipe::Session,
            Self::Change(_) => Recipe::Change,
            Self::Workflow(_) => Recipe::Workflow,
            Self::Reply(_) => Recipe::Reply,
        }
    }

    /// The mode or phase, as shown in reports.
    pub(crate) fn mode(&self) -> &str {
        match self {
            Self::Session(request) => request.phase.as_str(),
            Self::Change(request) => request.phase.as_deref().unwrap_or("change"),
            Self::Workflow(request) => request.mode.as_str(),
            Self::Reply(request) => request.mode.as_str(),
        }
    }

    /// The command-line tool of the receiver, in the mode that has one.
    pub(crate) fn cli_tool(&self) -> Option<&str> {
        match self {
            Self::Reply(request) => request.cli_tool(),
            Self::Session(_) | Self::Change(_) | Self::Workflow(_) => None,
        }
    }
}
