//! What a session is set up with and keeps for its whole life.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::change::{Agent, ChangeSetup};
use crate::event::FileHash;
use crate::flow::{Access, Flow};
use crate::phase::{Phase, Role, Stage};

/// Who says yes at a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approver {
    /// A person.
    Manual,
    /// Nobody: the gate is always open.
    Skip,
    /// A provider.
    Ai(String),
}

/// How a gate works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateSetting {
    /// Who says yes.
    pub approver: Approver,
    /// How often a provider may say no before a person decides.
    #[serde(default)]
    pub max_retries: u32,
    /// Whether a provider may rewrite what it judges.
    #[serde(default)]
    pub allow_rewrite: bool,
}

impl GateSetting {
    /// A gate where a person says yes.
    pub const MANUAL: Self = Self { approver: Approver::Manual, max_retries: 0, allow_rewrite: false };
    /// A gate that is always open.
    pub const SKIP: Self = Self { approver: Approver::Skip, max_retries: 0, allow_rewrite: false };
}

/// What a session is set up with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The session.
    pub session_id: String,
    /// What its user calls it; free again once the session has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The flow it follows, as it was when the session began; journals of 0.1.0 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Box<Flow>>,
    /// The profile.
    pub profile: String,
    /// SHA-256 of the profile's files.
    pub profile_sha256: String,
    /// What the profile was given; the engine reads nothing in it.
    pub context: Map<String, Value>,
    /// The provider of each role.
    pub roles: BTreeMap<Role, String>,
    /// Who does the work of single phases, in place of their roles.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<Phase, Agent>,
    /// The gates that are not manual, by `phase.stage`.
    pub gates: BTreeMap<String, GateSetting>,
    /// How many iterations there may be; the first generation is 1.
    pub max_iterations: u32,
    /// Whether edited prompts count as changed after approval.
    pub hash_prompts: bool,
    /// The standards as they were when the session began; a session without a profile has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standards: Option<FileHash>,
    /// The inputs that files gave, as they were when the session began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<FileHash>,
    /// What a session has that began with a request; nothing for a session of a profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Box<ChangeSetup>>,
}

impl Setup {
    /// The flow it follows; sessions of 0.1.0 follow the one that came with it.
    pub(crate) fn flow(&self) -> Arc<Flow> {
        if let Some(flow) = &self.flow {
            return Arc::new(flow.as_ref().clone());
        }
        let name = if self.change.is_some() { Flow::CHANGE } else { Flow::GENERATE };
        let flow = Flow::find_built_in(name).unwrap_or_default();
        Arc::new(flow.as_ref().clone().capped(self.max_iterations))
    }

    /// Who does a phase's work, when the phase has an agent of its own.
    pub(crate) fn agent(&self, phase: Phase) -> Option<&Agent> {
        let of_change = || self.change.as_ref().and_then(|change| change.agents.get(&phase));
        self.agents.get(&phase).or_else(of_change)
    }

    /// Whether the agent that works in a phase may edit the project itself.
    pub fn may_write_project(&self, flow: &Flow, phase: Phase) -> bool {
        flow.spec(phase).is_some_and(|spec| spec.access == Access::Write)
            && self.change.as_ref().is_some_and(|change| change.may_write)
    }

    /// The provider that is asked in a phase.
    pub fn provider(&self, flow: &Flow, phase: Phase) -> &str {
        if let Some(agent) = self.agent(phase) {
            return &agent.provider;
        }
        let role = flow.spec(phase).map(|spec| spec.role);
        role.and_then(|role| self.roles.get(&role)).map_or("manual", String::as_str)
    }

    /// How the gate of a phase and stage works.
    pub fn gate(&self, phase: Phase, stage: Stage) -> &GateSetting {
        self.gates.get(&gate_key(phase, stage)).unwrap_or(&GateSetting::MANUAL)
    }
}

/// The name of a gate: `planning.prompt`.
pub(crate) fn gate_key(phase: Phase, stage: Stage) -> String {
    format!("{}.{}", phase.as_str(), stage.as_str())
}
