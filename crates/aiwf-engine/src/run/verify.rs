//! Checks a run against its journal.

use aiwf_store::sha256_hex;
use serde::Serialize;

use super::event::RunEvent;
use super::run_store::RunStore;
use super::{journal, load_package, package_reach};
use crate::Engine;
use crate::run::run_error::RunError;
use crate::session::session_error::SessionError;
use crate::trust::{self, LedgerKind};

/// The result of a verification.
#[derive(Clone, Debug, Serialize)]
pub struct RunVerified {
    pub run_id: String,
    /// Events in the journal, all intact.
    pub events: usize,
    /// State files that the journal names, including the current one.
    pub states: usize,
    /// Tool calls in the journal and the log.
    pub tool_calls: usize,
    pub problems: Vec<String>,
    /// The size of an unfinished last line; the next command drops it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn_bytes: Option<usize>,
}

impl Engine {
    /// Checks the hash chain of a run's journal, its state file and all earlier versions, its log and its package.
    pub fn verify_run(&self, which: &str) -> Result<RunVerified, RunError> {
        let store = RunStore::open_read_only(&journal::find(self.settings(), which)?)?;
        let setup = store.setup()?;
        let mut problems = Vec::new();
        if let Err(error) = store.refuse_changed_state() {
            problems.push(error.to_string());
        }
        let (id, lines) = (&store.ledger.id, store.journal().lines());
        trust::refuse_lost(self.settings(), LedgerKind::Run, id, lines).map_err(SessionError::from)?;
        let lines = store.journal().lines();
        let states: Vec<&String> = lines.iter().filter_map(|line| line.event.state_sha256()).collect();
        for sha256 in &states {
            if store.ledger.kept(sha256).is_none() {
                problems.push(format!("state {sha256} is missing or was changed"));
            }
        }
        let tool_calls = lines.iter().filter(|line| matches!(line.event, RunEvent::ToolRan { .. })).count();
        let log = store.ledger.usable(super::exec_log::LOG).unwrap_or_default();
        let expected = super::exec_log::text(lines);
        if sha256_hex(&log) != sha256_hex(&expected) {
            problems
                .push("the log of calls does not match the journal; the next command rebuilds it".to_owned());
        }
        if let Some(wanted) = &setup.package
            && let Err(error) = load_package(self, &setup.run_id, wanted, package_reach(self, &store))
        {
            problems.push(error.to_string());
        }
        Ok(RunVerified {
            run_id: store.ledger.id.clone(),
            events: lines.len(),
            states: states.len(),
            tool_calls,
            problems,
            torn_bytes: store.journal().torn().map(|torn| torn.n_bytes),
        })
    }
}
