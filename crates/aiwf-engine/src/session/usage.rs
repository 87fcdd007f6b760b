//! The cost of a session so far, and its budget.

use std::collections::BTreeSet;

use aiwf_config::{Config, Flags};
use aiwf_session::{Phase, Spent, State, Total};
use serde::Serialize;

use super::journal;
use crate::Engine;
use crate::ask::budget;
use crate::ask::providers::load_config;
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

/// The cost of a session so far, and its budget.
#[derive(Clone, Debug, Serialize)]
pub struct UsageReport {
    pub session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The calls that may have cost something.
    pub calls: Vec<Spent>,
    /// In the order the phases were first asked.
    pub phases: Vec<PhaseUsage>,
    pub total: Total,
    pub budget: BudgetReport,
}

#[derive(Clone, Debug, Serialize)]
pub struct PhaseUsage {
    pub phase: Phase,
    #[serde(flatten)]
    pub total: Total,
}

/// The budget of a session; a missing value means no limit.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u64>,
    /// Sent and received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Providers whose reply length cannot be limited: for them the budget is checked between calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub soft_for: Vec<String>,
}

impl BudgetReport {
    fn of(config: &Config, soft_for: Vec<String>) -> Self {
        Self {
            max_calls: config.budget.max_calls.as_ref().map(|max| max.value.get()),
            max_tokens: config.budget.max_tokens.as_ref().map(|max| max.value.get()),
            max_cost: config.budget.max_cost.as_ref().map(|max| max.value),
            soft_for,
        }
    }
}

impl Engine {
    /// The limits that the configuration sets for each session.
    pub fn budget(&self) -> Result<BudgetReport, SessionError> {
        let config = load_config(self.settings(), &Flags::default())?;
        Ok(BudgetReport::of(&config, Vec::new()))
    }

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
            budget: BudgetReport::of(
                &config,
                asked.into_iter().filter(|name| budget::is_soft(name, &config) && is_asked(name)).collect(),
            ),
        })
    }
}
