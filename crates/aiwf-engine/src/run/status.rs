//! Reports about runs; changes nothing.

use aiwf_advice::Action;
use aiwf_package::{Node, NodeStatus, Package, State, progress, progress_picture};
use aiwf_provider::Stop;
use aiwf_store::Line;

use super::compose::{NoRequest, TurnInput};
use super::event::{RunEvent, RunPhase};
use super::journal;
use super::menu::menu_of;
use super::record::{Entry, Record};
use super::report::{NodeProgress, RunEntry, RunPreview, RunReport, RunShown, RunStatus, RunSummary};
use super::run_store::{RunStore, read_state};
use super::{Run, load_package, package_cache, package_reach};
use crate::Engine;
use crate::ledger::{SessionLedger, Summary, by_time, summaries};
use crate::run::run_error::RunError;
use crate::trust::{self, LedgerKind};

impl Engine {
    /// All runs and conversations, oldest first.
    pub fn runs(&self) -> Result<Vec<RunSummary>, RunError> {
        let mut runs: Vec<RunSummary> = summaries(self.settings())?
            .into_iter()
            .filter_map(|(_, summary)| if let Summary::Run(run) = summary { Some(run) } else { None })
            .collect();
        runs.sort_by_cached_key(|run| (by_time(&run.run_id, &run.created_at), run.run_id.clone()));
        Ok(runs)
    }

    /// The status of a run; changes nothing.
    pub fn run_status(&self, which: &str) -> Result<RunStatus, RunError> {
        Ok(self.read_run(which)?.0)
    }

    /// A run with its history; changes nothing.
    pub fn run_history(&self, which: &str) -> Result<RunShown, RunError> {
        let (status, lines) = self.read_run(which)?;
        Ok(RunShown { status, entries: lines.iter().flat_map(entries).collect() })
    }

    /// The lines of a run's journal.
    pub fn run_events(&self, which: &str) -> Result<Vec<Line<RunEvent>>, RunError> {
        Ok(self.read_run(which)?.1)
    }

    fn read_run(&self, which: &str) -> Result<(RunStatus, Vec<Line<RunEvent>>), RunError> {
        let ledger = journal::find(self.settings(), which)?;
        let was_busy = ledger.is_locked();
        let store = RunStore::open_read_only(&ledger)?;
        let (ledger, record) = (&store.ledger, &store.record);
        let lines = store.journal().lines().to_vec();
        let setup = store.setup()?;
        let (mut warnings, mut next) = (Vec::new(), None);
        if let Some(problem) = trust::problem(self.settings(), LedgerKind::Run, &ledger.id, &lines) {
            warnings.push(problem.to_string());
            next = Some(problem.advice());
        }
        let package = setup.package.as_ref().and_then(|wanted| {
            // The package may still be in the cache when its source is gone.
            let cached = package_cache(self.settings()).join(&wanted.sha256);
            let source = load_package(self, &setup.run_id, wanted, package_reach(self, &store));
            if let Err(error) = &source {
                warnings.push(error.to_string());
            }
            source.ok().or_else(|| Package::load_known(&cached, &wanted.sha256).ok()?.ok())
        });
        let workflow = package.as_ref().and_then(|package| {
            let id = setup.workflow.as_deref()?;
            package.workflows.iter().find(|workflow| workflow.id == id)
        });
        let text = read_state(ledger);
        let state = text.as_deref().and_then(|text| State::parse(text).ok());
        if store.refuse_changed_state().is_err() {
            warnings.push("the state file does not match the journal".to_owned());
        }
        let node = workflow
            .zip(state.as_ref())
            .map(|(workflow, state)| workflow.graph.effective_node_id(state.current_node_id()).to_owned());
        // The process that stopped in between may or may not have recorded it when the journal was read.
        let is_busy = was_busy || ledger.is_locked();
        let active = setup.agent.as_deref().unwrap_or_default();
        let agent = package.as_ref().and_then(|package| match (workflow, &node) {
            (Some(workflow), Some(node)) => package.effective_agent(workflow.graph.node(node)?, active).ok(),
            (Some(_), None) => None,
            (None, _) => package.agent(active).ok(),
        });
        let mut report = report_of(ledger, record, node);
        report.warnings = warnings;
        let picture = workflow.zip(state.as_ref()).map(|(workflow, state)| {
            let reached = progress(&workflow.graph, state);
            let status = |id: &str| {
                reached
                    .iter()
                    .find(|(node, _)| node.id == id)
                    .map_or(NodeStatus::Pending, |(_, status)| *status)
            };
            progress_picture(&workflow.graph, "Graph of the workflow; the list below shows the same", &status)
        });
        let nodes = workflow.zip(state.as_ref()).map(|(workflow, state)| {
            let node = |(node, status): (&Node, NodeStatus)| NodeProgress {
                id: node.id.clone(),
                title: node.name().to_owned(),
                node_type: node.node_type,
                status,
            };
            progress(&workflow.graph, state).into_iter().map(node).collect()
        });
        let next = next.or_else(|| Some(next_action(report.phase)?.into())).filter(|_| !is_busy);
        let status = RunStatus {
            next: next.map(|next| next.about_session(&report.run_id)),
            interrupted: record.phase() == RunPhase::Running && !is_busy,
            is_busy,
            created_at: lines.first().map(|line| line.at.clone()).unwrap_or_default(),
            updated_at: lines.last().map(|line| line.at.clone()).unwrap_or_default(),
            provider: record.provider.clone().unwrap_or_default(),
            nodes: nodes.unwrap_or_default(),
            picture,
            menu: agent.map(menu_of).unwrap_or_default(),
            variables: state.as_ref().map(State::variables).unwrap_or_default(),
            decisions: state.as_ref().map(|state| state.decision_log().to_vec()).unwrap_or_default(),
            artifacts: state.iter().flat_map(State::artifacts).map(str::to_owned).collect(),
            n_calls: record.total.calls,
            n_tool_calls: record.n_tool_calls,
            forked_from: setup.forked_from.as_ref().map(|from| from.run_id.clone()),
            directory: ledger.shown("").trim_end_matches('/').to_owned(),
            report,
        };
        Ok((status, lines))
    }

    /// The next request of `resume`, or of `say` if there is input; changes and sends nothing.
    pub fn preview_run(&self, which: &str, input: Option<&str>) -> Result<RunPreview, RunError> {
        let mut run = Run::open_read_only(self, &journal::find(self.settings(), which)?)?;
        run.refuse_ended()?;
        let more = run.pending_entries(input)?;
        match run.next_request(&more) {
            Ok(next) => Ok(run.preview_of(next)),
            Err(NoRequest::Error(error)) => Err(error),
            Err(NoRequest::Refused(fault)) => Err(RunError::Unsendable { fault }),
        }
    }
}

impl Run<'_> {
    /// The messages that `resume`, or `say` with input, would add.
    fn pending_entries(&mut self, input: Option<&str>) -> Result<Vec<Entry>, RunError> {
        let mut more: Vec<Entry> = self
            .interrupted_results()
            .into_iter()
            .map(|(call, ran)| Entry::Result {
                id: call.id,
                name: call.name,
                content: ran.content.into(),
                is_error: ran.is_error,
                left_out: None,
            })
            .collect();
        let intent = self.intent(input.is_some());
        let layers = self.layers(&TurnInput { intent: Some(intent), input, data: None })?;
        let has_node = layers.node.is_some();
        more.extend(layers.blocks.into_iter().map(|block| Entry::Block { block, has_node }));
        Ok(more)
    }

    pub fn report(&self) -> RunReport {
        let mut report = report_of(&self.store.ledger, &self.store.record, self.store.node());
        report.agent = self.agent().map(|agent| agent.id.clone());
        report.warnings.clone_from(&self.warnings);
        report
    }

    pub(super) fn stop(&self) -> &Stop {
        &self.engine.call_context().stop
    }
}

/// The report from a run's journal.
pub(super) fn report_of(ledger: &SessionLedger, record: &Record, node: Option<String>) -> RunReport {
    let agent_at_start = || record.setup.as_ref()?.agent.clone();
    RunReport {
        run_id: ledger.id.clone(),
        kind: record.kind(),
        package: record.package_name(),
        workflow: record.workflow_id(),
        phase: record.phase(),
        node,
        agent: record.announced.clone().and_then(|(_, agent)| agent).or_else(agent_at_start),
        reply: record.reply_in_words(),
        question: record.question.clone(),
        error: record.fault.clone(),
        left_out: record.left_out.clone(),
        warnings: Vec::new(),
        usage: record.total.usage(),
    }
}

/// The history entries of an event.
fn entries(line: &Line<RunEvent>) -> Vec<RunEntry> {
    let entry = |what, who: Option<&str>, text: String| RunEntry {
        seq: line.seq,
        at: line.at.clone(),
        what,
        who: who.map(str::to_owned),
        text,
    };
    match &line.event {
        RunEvent::RunCreated { setup } => {
            let what = setup.workflow.as_deref().or(setup.agent.as_deref()).unwrap_or("chat");
            vec![entry("created", Some(&setup.provider), format!("{} {what}", setup.kind.as_str()))]
        }
        RunEvent::Said { input: Some(input), .. } => vec![entry("user", None, input.clone())],
        RunEvent::Said { node, agent, .. } => {
            let text = node.as_ref().map_or_else(|| "no active node".to_owned(), |node| format!("at {node}"));
            vec![entry("engine", agent.as_deref(), text)]
        }
        RunEvent::RunAsked { .. } => Vec::new(),
        RunEvent::RunReplied { text, tool_calls, .. } => {
            let calls = tool_calls.iter().map(|call| format!("→ {}", call.name));
            // Calls that are written into the text are listed after it.
            let parsed = (!tool_calls.is_empty()).then(|| aiwf_reply::parse_tool_calls(text).value);
            let said = match parsed.filter(|parsed| !parsed.calls.is_empty()) {
                Some(parsed) => parsed.message,
                None => Some(text.to_string()),
            };
            let said = said.filter(|said| !said.trim().is_empty());
            vec![entry("assistant", None, said.into_iter().chain(calls).collect::<Vec<_>>().join("\n"))]
        }
        RunEvent::RunAskFailed { fault, .. } => {
            vec![entry("failed", None, format!("{}: {}", fault.code, fault.message))]
        }
        RunEvent::StateIntended { before, after, .. } => {
            let text = format!("{} → {}", super::run_store::short(before), super::run_store::short(after));
            vec![entry("state", None, text)]
        }
        RunEvent::ToolRan { exec, .. } => {
            let text = format!("{} → {}", exec.input, exec.output);
            vec![entry("tool", Some(&exec.tool_name), text)]
        }
        RunEvent::RunStopped { phase, fault, .. } => {
            let why = fault.as_ref().map(|fault| format!(": {}: {}", fault.code, fault.message));
            vec![entry("stopped", None, format!("{}{}", phase.as_str(), why.unwrap_or_default()))]
        }
        RunEvent::Rewound { from, to, reason } => {
            let why = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            vec![entry("rewound", None, format!("{from} → {to}{why}"))]
        }
        RunEvent::RunCancelled { reason } => {
            vec![entry("cancelled", None, reason.clone().unwrap_or_default())]
        }
    }
}

/// What a run in this phase waits for.
fn next_action(phase: RunPhase) -> Option<Action> {
    match phase {
        RunPhase::Running | RunPhase::Failed => Some(Action::Resume),
        RunPhase::WaitingUser | RunPhase::Completed => Some(Action::Say),
        RunPhase::Cancelled => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_action_follows_from_the_phase() {
        assert_eq!(next_action(RunPhase::Failed), Some(Action::Resume));
        assert_eq!(next_action(RunPhase::Completed), Some(Action::Say));
        assert_eq!(next_action(RunPhase::Cancelled), None);
    }
}
