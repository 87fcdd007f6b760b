//! The settings of a session, fixed when it is created.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::change::{Agent, ChangeSetup};
use crate::event::FileHash;
use crate::flow::{Access, Flow};
use crate::left_out::LeftOut;
use crate::phase::{Phase, Role, Stage};

/// Who decides at a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approver {
    Manual,
    /// The gate is skipped.
    Skip,
    Ai(String),
}

impl fmt::Display for Approver {
    /// As it is typed after `--gate`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manual => formatter.write_str("manual"),
            Self::Skip => formatter.write_str("skip"),
            Self::Ai(provider) => write!(formatter, "ai:{provider}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateSetting {
    pub approver: Approver,
    /// Rejections by a judge before a person decides.
    #[serde(default)]
    pub max_retries: u32,
    /// Whether a judge may rewrite what it judges.
    #[serde(default)]
    pub allow_rewrite: bool,
}

impl GateSetting {
    pub const MANUAL: Self = Self { approver: Approver::Manual, max_retries: 0, allow_rewrite: false };
    pub const SKIP: Self = Self { approver: Approver::Skip, max_retries: 0, allow_rewrite: false };
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    pub session_id: String,
    /// Free for another session once this one has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A copy of the flow from when the session started. Missing in journals of 0.1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Box<Flow>>,
    pub profile: String,
    pub profile_sha256: String,
    /// The profile's parameters; the engine does not interpret them.
    pub context: Map<String, Value>,
    /// The provider of each role.
    pub roles: BTreeMap<Role, String>,
    /// The agents of single phases; they replace the provider of the role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<Phase, Agent>,
    /// By `phase.stage`; all other gates are manual.
    pub gates: BTreeMap<String, GateSetting>,
    /// The first generation is 1.
    pub max_iterations: u32,
    /// Whether an edit after approval makes a prompt stale.
    pub hash_prompts: bool,
    /// A copy of the standards from when the session started; sessions without a profile have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standards: Option<FileHash>,
    /// Copies of input files from when the session started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<FileHash>,
    /// Files that the user named and no prompt can show, from when the session started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Set for sessions that started from a request, without a profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Box<ChangeSetup>>,
}

impl Setup {
    /// Sessions of 0.1.0 follow the flow that was built into it.
    pub(crate) fn flow(&self) -> Arc<Flow> {
        if let Some(flow) = &self.flow {
            return Arc::new(flow.as_ref().clone());
        }
        let name = if self.change.is_some() { Flow::CHANGE } else { Flow::GENERATE };
        let flow = Flow::find_built_in(name).unwrap_or_default();
        Arc::new(flow.as_ref().clone().capped(self.max_iterations))
    }

    /// The agent assigned to a phase, if any.
    pub(crate) fn agent(&self, phase: Phase) -> Option<&Agent> {
        let of_change = || self.change.as_ref().and_then(|change| change.agents.get(&phase));
        self.agents.get(&phase).or_else(of_change)
    }

    /// Whether the agent of a phase may edit the project directly.
    pub fn may_write_project(&self, flow: &Flow, phase: Phase) -> bool {
        flow.spec(phase).is_some_and(|spec| spec.access == Access::Write)
            && self.change.as_ref().is_some_and(|change| change.may_write)
    }

    pub fn provider(&self, flow: &Flow, phase: Phase) -> &str {
        if let Some(agent) = self.agent(phase) {
            return &agent.provider;
        }
        let role = flow.spec(phase).map(|spec| spec.role);
        role.and_then(|role| self.roles.get(&role)).map_or("manual", String::as_str)
    }

    pub fn gate(&self, phase: Phase, stage: Stage) -> &GateSetting {
        self.gates.get(&gate_key(phase, stage)).unwrap_or(&GateSetting::MANUAL)
    }
}

/// The name of a gate: `planning.prompt`.
pub(crate) fn gate_key(phase: Phase, stage: Stage) -> String {
    format!("{}.{}", phase.as_str(), stage.as_str())
}
