//! Decides commands that assign phases: their agents, instructions, files and gates.

use std::collections::BTreeMap;

use crate::change::{Agent, PhaseChoice};
use crate::event::{Actor, Event, FileHash};
use crate::flow::Access;
use crate::phase::{Phase, Stage};
use crate::refusal::Refusal;
use crate::setup::Approver;
use crate::state::State;
use crate::step::{Pause, Step};

/// Starts the current phase; any other phase is refused.
pub(crate) fn begin_phase(
    state: &State,
    by: Actor,
    phase: Phase,
    choice: PhaseChoice,
) -> Result<Vec<Event>, Refusal> {
    let Some(setup) = state.setup.as_ref().and_then(|setup| setup.change.as_ref()) else {
        return Err(Refusal::other_phase(phase, state));
    };
    let mut events = Vec::new();
    match state.step {
        // Only a person's explicit request continues after a verdict that stopped the session.
        Step::Paused(Pause::Verdict | Pause::NoTarget) if phase == state.flow.first() => {
            events.push(Event::Reopened { by, feedback: None });
        }
        Step::Paused(Pause::Verdict | Pause::NoTarget | Pause::IterationCap)
        | Step::Ended
        | Step::NotCreated => {
            return Err(Refusal::other_phase(phase, state));
        }
        Step::PromptWanted { .. }
        | Step::PromptReady
        | Step::AskWanted
        | Step::Asked { .. }
        | Step::AskFailed { .. }
        | Step::ReplyReady { .. }
        | Step::ChecksWanted
        | Step::Paused(Pause::Budget | Pause::Checks | Pause::CheckConsent) => {
            if state.phase != phase {
                return Err(Refusal::other_phase(phase, state));
            }
        }
    }
    let gates = if choice.opens_gates { open_gates(state, &[phase]) } else { Vec::new() };
    // Options that are already recorded are not recorded again, so an interrupted command can be repeated.
    if let Some(agent) = choice.agent.filter(|agent| setup.agents.get(&phase) != Some(agent)) {
        events.push(Event::AgentChosen { phase, agent });
    }
    let said = setup.instructions_of(phase);
    let is_news = |text: &String| !text.trim().is_empty() && !said.contains(text);
    if let Some(text) = choice.instructions.filter(is_news) {
        events.push(Event::InstructionsAdded { phase, text });
    }
    let shown = setup.files_of(phase);
    let patterns: Vec<String> = choice.files.into_iter().filter(|pattern| !shown.contains(pattern)).collect();
    if !patterns.is_empty() {
        events.push(Event::FilesAdded { phase, patterns });
    }
    let gives_files = state.flow.spec(phase).is_some_and(|spec| spec.access == Access::Write);
    if choice.may_write && !setup.may_write && gives_files {
        events.push(Event::WriteAllowed);
    }
    let is_open = matches!(
        state.step,
        Step::PromptWanted { .. } | Step::PromptReady | Step::Paused(Pause::Verdict | Pause::NoTarget)
    );
    if !events.is_empty() && !is_open {
        return Err(Refusal::Settled { phase });
    }
    events.extend(gates);
    Ok(events)
}

/// Assigns the phases that are still open. The prompt of the current phase must not be approved yet.
pub(crate) fn choose_agents(state: &State, agents: BTreeMap<Phase, Agent>) -> Vec<Event> {
    let setup = state.setup.as_ref();
    let is_open = matches!(state.step, Step::PromptWanted { .. } | Step::PromptReady);
    let counts = |phase: &Phase, agent: &Agent| {
        state.flow.spec(*phase).is_some()
            && (is_open || *phase != state.phase)
            && setup.and_then(|setup| setup.agent(*phase)) != Some(agent)
    };
    let chosen = agents.into_iter().filter(|(phase, agent)| counts(phase, agent));
    chosen.map(|(phase, agent)| Event::AgentChosen { phase, agent }).collect()
}

/// Assigns the phase to another provider, which is asked with the same prompt if that fits it.
pub(crate) fn hand_over(
    state: &State,
    by: Actor,
    phase: Phase,
    agent: Agent,
    rebuilds_prompt: bool,
    kept: Vec<FileHash>,
) -> Result<Vec<Event>, Refusal> {
    if state.flow.spec(phase).is_none() {
        return Err(Refusal::other_phase(phase, state));
    }
    let setup = state.setup.as_ref();
    let is_news = setup.and_then(|setup| setup.agent(phase)) != Some(&agent);
    let mut events: Vec<Event> = is_news.then_some(Event::AgentChosen { phase, agent }).into_iter().collect();
    if phase != state.phase {
        return Ok(events);
    }
    match state.step {
        Step::AskWanted | Step::Paused(Pause::Budget) if rebuilds_prompt => {
            events.push(Event::PromptWithdrawn { by });
        }
        Step::Asked { .. } | Step::AskFailed { .. } | Step::ReplyReady { .. } => {
            events.push(Event::Retried { by: by.clone(), kept });
            if rebuilds_prompt {
                events.push(Event::PromptWithdrawn { by });
            }
        }
        Step::NotCreated
        | Step::PromptWanted { .. }
        | Step::PromptReady
        | Step::AskWanted
        | Step::ChecksWanted
        | Step::Paused(_)
        | Step::Ended => {}
    }
    Ok(events)
}

pub(crate) fn open_gates(state: &State, phases: &[Phase]) -> Vec<Event> {
    let is_open = |phase: &Phase| {
        state.setup.as_ref().is_some_and(|setup| {
            Stage::ALL.into_iter().all(|stage| setup.gate(*phase, stage).approver == Approver::Skip)
        })
    };
    let phases: Vec<Phase> = phases.iter().copied().filter(|phase| !is_open(phase)).collect();
    if phases.is_empty() { Vec::new() } else { vec![Event::GatesOpened { phases }] }
}
