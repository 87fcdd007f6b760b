//! Rewinds and cancels runs.

use aiwf_package::{Rejected, rewind};

use super::event::{RunEvent, RunPhase};
use super::report::RunReport;
use super::run_store::RunStore;
use super::state_access::StateAccess as _;
use super::{Run, journal};
use crate::run::run_error::RunError;
use crate::{Engine, clock};

impl Engine {
    /// Returns to a node: it and all later nodes are open again. Artifacts stay.
    ///
    /// A state file that the journal does not know is moved aside, and the last known one is used.
    pub fn rewind_run(&self, which: &str, to: &str, reason: Option<&str>) -> Result<RunReport, RunError> {
        let store = RunStore::open(self, journal::find(self.settings(), which)?)?;
        let run_id = store.ledger.id.clone();
        if store.record.phase() == RunPhase::Cancelled {
            return Err(RunError::Cancelled { run_id });
        }
        if store.setup()?.workflow.is_none() {
            return Err(RunError::NoWorkflow { run_id });
        }
        store.clear_state_place()?;
        let mut run = Run::with_store(self, store, None)?;
        run.close_interrupted_calls()?;
        let before = run.store.known_state_text()?;
        let Some(graph) = run.store.graph() else { return Err(RunError::NoWorkflow { run_id }) };
        let state = aiwf_package::State::parse(&before)?;
        let from = graph.effective_node_id(state.current_node_id()).to_owned();
        let after = rewind(graph, &before, to, reason, &clock::now()).map_err(|rejected: Rejected| {
            let reached = reached(&state, &from);
            if reached.iter().any(|node| node == to) {
                RunError::Rejected(rejected)
            } else {
                RunError::NeverThere { run_id, node: to.to_owned(), reached }
            }
        })?;
        let (to, reason) = (to.to_owned(), reason.map(str::to_owned));
        run.store.rewind(RunEvent::Rewound { from, to, reason }, &before, &after)?;
        Ok(run.report())
    }

    /// Cancels a run; a second time changes nothing.
    pub fn cancel_run(&self, which: &str, reason: Option<&str>) -> Result<RunReport, RunError> {
        let mut store = RunStore::open(self, journal::find(self.settings(), which)?)?;
        if store.record.phase() != RunPhase::Cancelled {
            store.commit(RunEvent::RunCancelled { reason: reason.map(str::to_owned) })?;
        }
        Ok(super::status::report_of(&store.ledger, &store.record, store.node()))
    }
}

/// The nodes that a run visited.
fn reached(state: &aiwf_package::State, current: &str) -> Vec<String> {
    let mut reached: Vec<String> = state.steps_completed().into_iter().map(str::to_owned).collect();
    if !reached.iter().any(|node| node == current) {
        reached.push(current.to_owned());
    }
    reached
}
