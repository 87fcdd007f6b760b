//! What a session cost so far, and what it may cost.

use std::collections::BTreeSet;

use aiwf_config::Flags;
use aiwf_session::{Phase, Spent, State, Total};
use serde::Serialize;

use super::journal;
use crate::Engine;
use crate::ask::budget;
use crate::ask::providers::load_config;
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

/// What a session cost so far, and what it may cost.
#[derive(Clone, Debug, Serialize)]
pub struct UsageReport {
    /// The session.
    pub session_id: String,
    /// What its user calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Every call that may have cost something.
    pub calls: Vec<Spent>,
    /// The sum of each phase, in the order they were first asked in.
    pub phases: Vec<PhaseUsage>,
    /// The sum of all.
    pub total: Total,
    /// What it may cost.
    pub budget: BudgetReport,
}

/// What a phase cost.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseUsage {
    /// The phase.
    pub phase: Phase,
    /// Its sum.
    #[serde(flatten)]
    pub total: Total,
}

/// What a session may cost; what is left out has no limit.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetReport {
    /// How many calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u64>,
    /// How many tokens, sent and received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How many dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// The providers whose replies aiwf cannot limit: for them the limits are looked at between calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soft_for: Vec<String>,
}

impl Engine {
    /// What a session cost so far.
    pub fn session_usage<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<UsageReport, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let journal = ledger.journal()?;
        let state = State::fold(journal.lines().iter().map(|line| &line.event));
        let config = load_config(self.settings(), &Flags::default())?;
        let mut phases: Vec<PhaseUsage> = Vec::new();
        for call in &state.spent {
            if phases.iter().all(|phase| phase.phase != call.phase) {
                let of_phase = state.spent.iter().filter(|other| other.phase == call.phase);
                phases.push(PhaseUsage { phase: call.phase, total: Total::of(of_phase) });
            }
        }
        let asked: BTreeSet<String> = match &state.setup {
            Some(setup) => {
                let agents = setup.change.iter().flat_map(|change| change.agents.values());
                let agents = agents.map(|agent| agent.provider.clone());
                setup.roles.values().cloned().chain(agents).collect()
            }
            None => BTreeSet::new(),
        };
        let is_asked =
            |name: &String| self.open_provider(name, &config).is_ok_and(|provider| !provider.is_free());
        Ok(UsageReport {
            name: ledger.name().map(str::to_owned),
            session_id: ledger.id,
            total: state.total(),
            phases,
            calls: state.spent,
            budget: BudgetReport {
                max_calls: config.budget.max_calls.as_ref().map(|max| max.value.get()),
                max_tokens: config.budget.max_tokens.as_ref().map(|max| max.value.get()),
                max_cost: config.budget.max_cost.as_ref().map(|max| max.value),
                soft_for: asked
                    .into_iter()
                    .filter(|name| budget::is_soft(name, &config) && is_asked(name))
                    .collect(),
            },
        })
    }
}
