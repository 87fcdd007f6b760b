//! Creates a run that continues from another run's state.

use aiwf_package::{RunIdentity, State, adopt_state};
use aiwf_session::Call;
use aiwf_store::{Line, sha256_hex};

use super::create::NewRunContent;
use super::event::{ForkedFrom, RunEvent, RunKind, RunPhase};
use super::run_store::RunStore;
use super::state_access::StateAccess as _;
use super::{Run, journal, load_package};
use crate::run::run_error::RunError;
use crate::session::Reach;
use crate::{Engine, clock};

impl Engine {
    /// Creates a run with another run's state at a node, and its history up to there.
    ///
    /// The original run stays as it is. Project files are not touched, so later artifacts are still there.
    pub fn fork_run(&self, which: &str, at: &str, provider: Option<&str>) -> Result<Run<'_>, RunError> {
        let mut store = RunStore::open_read_only(&journal::find(self.settings(), which)?)?;
        // The messages of the old run become the history of the new one.
        store.refuse_untrusted(self)?;
        let setup = store.setup()?.clone();
        let (Some(wanted), Some(_)) = (&setup.package, &setup.workflow) else {
            return Err(RunError::NoWorkflow { run_id: setup.run_id });
        };
        store.package = Some(load_package(self, &setup.run_id, wanted, Reach::Anywhere)?.into());
        let point = find_point(&store, at)?;
        let provider = match provider {
            Some(_) => self.run_provider(provider)?,
            None => setup.provider.clone(),
        };
        let history = history_until(store.journal().lines(), point.seq);
        drop(store);
        self.begin(RunKind::Run, |run_id| {
            let identity = RunIdentity {
                run_id: run_id.to_owned(),
                active_agent_id: setup.agent.clone().unwrap_or_default(),
                workflow_ref: setup.workflow.clone().unwrap_or_default(),
                now: clock::now(),
            };
            let state = adopt_state(&point.text, &identity)?;
            let forked_from =
                ForkedFrom { run_id: setup.run_id.clone(), node: at.to_owned(), seq: point.seq };
            let mut setup = setup;
            run_id.clone_into(&mut setup.run_id);
            setup.provider = provider;
            setup.forked_from = Some(forked_from);
            Ok(NewRunContent { setup, state: Some(state), history })
        })
    }
}

/// A point in a run's history.
struct Point {
    seq: u64,
    /// The state file at this point.
    text: String,
}

/// The last time the run reached a node.
fn find_point(store: &RunStore, at: &str) -> Result<Point, RunError> {
    let run_id = store.ledger.id.clone();
    let Some(graph) = store.graph() else { return Err(RunError::NoWorkflow { run_id }) };
    let mut reached: Vec<String> = Vec::new();
    let mut found = None;
    // The newest state is also in its file, unless it was removed.
    let current = store.state_text().ok();
    let mut is_lost = false;
    let mut last_node = String::new();
    for line in store.journal().lines() {
        let Some(sha256) = line.event.state_sha256() else { continue };
        let bytes = store.ledger.kept(sha256);
        let kept = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let in_file = || current.clone().filter(|text| sha256_hex(text.as_bytes()) == *sha256);
        let Some(text) = kept.or_else(in_file) else {
            is_lost = true;
            continue;
        };
        let Ok(state) = State::parse(&text) else { continue };
        let node = graph.effective_node_id(state.current_node_id()).to_owned();
        if node == at && node != last_node {
            found = Some(Point { seq: line.seq, text });
        }
        if !reached.contains(&node) {
            reached.push(node.clone());
        }
        last_node = node;
    }
    found.ok_or_else(|| {
        if is_lost {
            RunError::StateLost { run_id }
        } else {
            RunError::NeverThere { run_id, node: at.to_owned(), reached }
        }
    })
}

/// The history up to a point, extended to the end of its round. Its cost stays with the old run.
fn history_until(lines: &[Line<RunEvent>], seq: u64) -> Vec<RunEvent> {
    let mut history = Vec::new();
    for line in lines {
        let is_next_round = matches!(line.event, RunEvent::Said { .. } | RunEvent::RunAsked { .. });
        if line.seq > seq && is_next_round {
            break;
        }
        match &line.event {
            RunEvent::RunReplied { text, tool_calls, .. } => history.push(RunEvent::RunReplied {
                text: text.clone(),
                tool_calls: tool_calls.clone(),
                call: Box::new(Call::default()),
            }),
            event @ (RunEvent::Said { .. } | RunEvent::ToolRan { .. }) => history.push(event.clone()),
            RunEvent::RunCreated { .. }
            | RunEvent::RunAsked { .. }
            | RunEvent::RunAskFailed { .. }
            | RunEvent::StateIntended { .. }
            | RunEvent::RunStopped { .. }
            | RunEvent::Rewound { .. }
            | RunEvent::RunCancelled { .. } => {}
        }
    }
    history.push(RunEvent::RunStopped { phase: RunPhase::WaitingUser, fault: None, question: None });
    history
}
