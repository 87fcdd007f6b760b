//! Decides which events a command produces, by what the command is about.
//!
//! Each function takes the commands of one subject. A command that its step does not allow is refused with `not_now`.

use crate::action::possible;
use crate::assign::{begin_phase, choose_agents, hand_over, open_gates};
use crate::command::Command;
use crate::comment::{NewComment, check_remark};
use crate::event::{Actor, Event, FileHash, Outcome, Person};
use crate::flow::{Gives, PhaseRecipe, PhaseSpec};
use crate::flow_check::MAX_ROUNDS;
use crate::phase::{Phase, Stage};
use crate::refusal::{Refusal, situation};
use crate::setup::Approver;
use crate::state::State;
use crate::step::{Pause, Step};

type Decided = Result<Vec<Event>, Refusal>;

/// Decides about prompts, written and decided on.
pub(crate) fn decide_prompt(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (
            Command::RecordPrompt { prompt, system_prompt, seen, fs_ability, left_out },
            Step::PromptWanted { phase, iteration },
        ) => one(Event::PromptWritten {
            phase: *phase,
            iteration: *iteration,
            prompt,
            system_prompt,
            seen,
            fs_ability,
            left_out,
        }),
        // An undecided prompt can be written again, for another kind of receiver.
        (Command::RecordPrompt { prompt, system_prompt, seen, fs_ability, left_out }, Step::PromptReady) => {
            one(Event::PromptWritten {
                phase: state.phase,
                iteration: state.iteration,
                prompt,
                system_prompt,
                seen,
                fs_ability,
                left_out,
            })
        }
        (Command::ApprovePrompt { by, files, is_checked }, Step::PromptReady) => {
            approve_prompt(state, by, files, is_checked)
        }
        (
            Command::RejectPrompt { by, feedback, kept },
            Step::PromptReady | Step::AskWanted | Step::Paused(Pause::Budget),
        ) => {
            if has_used_up(state, &by) {
                return one(left_to_person(&by, feedback));
            }
            one(Event::PromptRejected { by, feedback: said(feedback)?, kept })
        }
        _ => Err(not_now),
    }
}

/// Decides about asking a provider, and asking again.
pub(crate) fn decide_asking(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (
            Command::RecordSent { provider, payload_sha256, is_free, parts },
            Step::AskWanted | Step::Asked { is_free: true },
        ) => one(Event::PromptSent { provider, payload_sha256, n_earlier: state.n_sent, is_free, parts }),
        (Command::RecordToolCalls { calls }, Step::Asked { .. }) => {
            Ok(calls.into_iter().map(|call| Event::ToolCalled(Box::new(call))).collect())
        }
        (
            Command::RecordAskedAgain { provider, payload_sha256, is_free, call, parts },
            Step::Asked { is_free: was_free },
        ) if is_free == *was_free => {
            one(Event::AskedAgain { provider, payload_sha256, is_free, call, parts })
        }
        (
            Command::RecordReply { response, call, changes },
            Step::Asked { .. } | Step::AskFailed { .. } | Step::ReplyReady { .. },
        ) => {
            at_gate(state, &response)?;
            one(Event::ReplyReceived { response, call, changes })
        }
        (Command::RecordFailure { message, call, limit_until }, Step::Asked { .. }) => {
            one(Event::AskFailed { message, call, limit_until })
        }
        (
            Command::Retry { by, kept },
            Step::Asked { is_free: false }
            | Step::AskFailed { .. }
            | Step::ReplyReady { .. }
            | Step::Paused(Pause::Checks),
        ) => one(Event::Retried { by, kept }),
        (Command::HandOver { by, phase, agent, rebuilds_prompt, kept }, step) if *step != Step::Ended => {
            hand_over(state, by, phase, agent, rebuilds_prompt, kept)
        }
        _ => Err(not_now),
    }
}

/// Decides about the budget of calls and cost.
pub(crate) fn decide_budget(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (Command::PauseForBudget { message }, Step::AskWanted) => one(Event::BudgetReached { message }),
        (Command::PauseForBudget { message }, Step::PromptReady | Step::ReplyReady { .. })
            if matches!(state.approver(), Approver::Ai(_)) =>
        {
            one(Event::BudgetReached { message })
        }
        (Command::RaiseBudget, Step::Paused(Pause::Budget)) => one(Event::BudgetRaised),
        (Command::RaiseBudget, _) if state.gate_over_budget => one(Event::BudgetRaised),
        _ => Err(not_now),
    }
}

/// Decides about replies, judged and taken over.
pub(crate) fn decide_reply(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (Command::RefuseReply { response, problems }, Step::ReplyReady { .. }) => {
            at_gate(state, &response)?;
            one(Event::ReplyRefused { response, problems })
        }
        (Command::IntendOutputs { files }, Step::ReplyReady { .. }) => one(Event::OutputsIntended { files }),
        (Command::ApproveResponse { by, response, outcome, has_checks, note }, Step::ReplyReady { .. }) => {
            at_gate(state, &response)?;
            fits(state, &outcome)?;
            let runs_checks = has_checks && state.flow.spec(state.phase).is_some_and(|spec| spec.checks);
            if let Some(note) = &note {
                check_remark(note)?;
            }
            one(Event::ResponseApproved { by, response, outcome, runs_checks, note })
        }
        (Command::RejectResponse { by, feedback, .. }, Step::Paused(Pause::Checks)) => {
            one(Event::SentBack { by, feedback: said(feedback)? })
        }
        // Rejecting a reply whose verdict stopped the session starts the session again.
        (Command::RejectResponse { by, feedback, .. }, Step::Paused(Pause::Verdict | Pause::NoTarget)) => {
            one(Event::Reopened { by, feedback: Some(said(feedback)?) })
        }
        (Command::RejectResponse { by, feedback, kept }, Step::ReplyReady { .. }) => {
            if has_used_up(state, &by) {
                return one(left_to_person(&by, feedback));
            }
            one(Event::ResponseRejected { by, feedback: said(feedback)?, kept })
        }
        _ => Err(not_now),
    }
}

/// Decides about the project's checks.
pub(crate) fn decide_checks(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (Command::RecordCheck(result), Step::ChecksWanted | Step::Paused(Pause::CheckConsent)) => {
            one(Event::CheckRan(result))
        }
        (Command::FinishChecks, Step::ChecksWanted | Step::Paused(Pause::CheckConsent)) => {
            one(Event::ChecksFinished)
        }
        (Command::HoldChecks { names }, Step::ChecksWanted) => one(Event::ChecksHeld { names }),
        _ => Err(not_now),
    }
}

/// Decides about judges at a gate.
pub(crate) fn decide_judging(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (
            Command::RecordGateAsked { provider, payload_sha256, is_free },
            Step::PromptReady | Step::ReplyReady { .. },
        ) if !state.is_judged => one(Event::GateAsked { provider, payload_sha256, is_free }),
        (Command::RecordGateAnswer { reply, call }, Step::PromptReady | Step::ReplyReady { .. })
            if state.is_judged =>
        {
            one(Event::GateAnswered { reply, call })
        }
        (Command::LeaveToPerson { provider, message }, Step::PromptReady | Step::ReplyReady { .. }) => {
            one(Event::GateUndecided { provider, message })
        }
        _ => Err(not_now),
    }
}

/// Decides about the course of the session: limits, phases, agents, gates, its end.
pub(crate) fn decide_course(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (Command::RaiseCap { max_iterations }, Step::Paused(Pause::IterationCap)) => {
            if max_iterations <= state.round || max_iterations > MAX_ROUNDS {
                return Err(Refusal::CapTooLow { round: state.round, given: max_iterations });
            }
            one(Event::CapRaised { max_iterations })
        }
        (Command::Accept { by }, Step::Paused(Pause::IterationCap | Pause::Verdict | Pause::NoTarget))
            // Nothing to accept exists yet: a plan that did not pass is never implemented.
            if state.flow.judges_files(state.phase) =>
        {
            one(Event::Accepted { by })
        }
        (Command::Accept { by }, Step::Paused(Pause::Checks)) => one(Event::Accepted { by }),
        (Command::BeginPhase { by, phase, choice }, _) => {
            begin_phase(state, by, phase, *choice)
        }
        (Command::ChooseAgents { agents }, step) if *step != Step::Ended => Ok(choose_agents(state, agents)),
        (Command::OpenGates, step) if *step != Step::Ended => {
            Ok(open_gates(state, &state.flow.names().collect::<Vec<_>>()))
        }
        (Command::Cancel { by, reason }, step) if *step != Step::Ended => one(Event::Cancelled { by, reason }),
        _ => Err(not_now),
    }
}

/// Decides about what is already approved: reopening it, comments, edits on disk.
pub(crate) fn decide_revising(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (Command::Revise { by, phase, reason }, _) if state.phase != Phase::CANCELLED => {
            revise(state, by, phase, reason)
        }
        (Command::Comment { by, on, sha256, lines, quoted, text }, _) if state.phase != Phase::CANCELLED => {
            let number = state.next_comment(&text)?;
            let comment = NewComment { number, by, on, sha256, lines, quoted, text };
            one(Event::CommentAdded(Box::new(comment)))
        }
        (Command::ResolveComment { by, number, how }, _) if state.phase != Phase::CANCELLED => {
            state.check_open_comment(number)?;
            one(Event::CommentResolved { by, number, how })
        }
        (Command::RemoveComment { by, number }, _) if state.phase != Phase::CANCELLED => {
            if !state.comments.contains_key(&number) {
                return Err(state.no_comment(number));
            }
            one(Event::CommentRemoved { by, number })
        }
        (Command::Rebind { by, files }, _) if state.phase != Phase::CANCELLED => {
            match files.iter().find(|file| !state.bound.contains_key(&file.path)) {
                Some(file) => Err(Refusal::NotBound { path: file.path.clone() }),
                None if files.is_empty() => Ok(Vec::new()),
                None => one(Event::Rebound { by, files }),
            }
        }
        _ => Err(not_now),
    }
}

/// Decides about the project: applying, committing, taking back.
pub(crate) fn decide_apply(state: &State, command: Command, not_now: Refusal) -> Decided {
    match (command, &state.step) {
        (Command::IntendApply { files }, _) if state.can_apply() && state.applying.is_none() => {
            one(Event::ApplyIntended { files, is_undo: false })
        }
        (Command::IntendUndo { files }, _) if state.is_applied && state.applying.is_none() => {
            one(Event::ApplyIntended { files, is_undo: true })
        }
        (Command::RecordCommit(commit), _) if state.can_apply() => one(Event::Committed(commit)),
        (Command::RecordApplied, _) if state.applying.is_some() => one(Event::Applied),
        (Command::RecordApplyUndone, _) if state.applying.is_some() => one(Event::ApplyUndone),
        _ => Err(not_now),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it ends the arms that decide")]
fn one(event: Event) -> Decided {
    Ok(vec![event])
}

fn approve_prompt(
    state: &State,
    by: Actor,
    files: Vec<FileHash>,
    is_checked: Option<bool>,
) -> Result<Vec<Event>, Refusal> {
    let is_checked =
        is_checked.unwrap_or_else(|| state.setup.as_ref().is_none_or(|setup| setup.hash_prompts));
    let is_expected = |file: &FileHash| state.written.iter().any(|written| written.path == file.path);
    if let Some(stranger) = files.iter().find(|file| !is_expected(file)) {
        return Err(Refusal::NotAtGate { path: stranger.path.clone() });
    }
    if let Some(missing) =
        state.written.iter().find(|written| files.iter().all(|file| file.path != written.path))
    {
        return Err(Refusal::NotAtGate { path: missing.path.clone() });
    }
    let is_edited = files.iter().any(|file| !state.written.contains(file));
    Ok(vec![Event::PromptApproved { by, files, is_edited, is_checked }])
}

/// Reopens an approved artifact, unless its code is in the project or the session has not come back to it yet.
fn revise(state: &State, by: Actor, phase: Phase, reason: String) -> Result<Vec<Event>, Refusal> {
    let Some(spec) = state.flow.spec(phase) else { return Err(Refusal::other_phase(phase, state)) };
    if state.is_applied || state.applying.is_some() {
        return Err(Refusal::Applied);
    }
    if spec.gives == Gives::Verdict {
        return Err(Refusal::Verdict { artifact: spec.artifact.clone() });
    }
    if state.approved_version(phase).is_none() || !state.flow.is_behind(phase, state.phase) {
        let artifact = spec.artifact.clone();
        return Err(Refusal::NotApproved {
            artifact,
            situation: situation(state),
            possible: possible(state),
        });
    }
    check_remark(&reason)?;
    Ok(vec![Event::Revised { by, phase, reason }])
}

/// Accepts only the reply of the current phase.
fn at_gate(state: &State, response: &FileHash) -> Result<(), Refusal> {
    if state.response_path().as_deref() == Some(response.path.as_str()) {
        Ok(())
    } else {
        Err(Refusal::NotAtGate { path: response.path.clone() })
    }
}

/// Checks that the outcome is of the kind that the phase produces.
fn fits(state: &State, outcome: &Outcome) -> Result<(), Refusal> {
    let phase = state.phase;
    let spec = state.flow.spec(phase);
    let is = |recipe: PhaseRecipe, gives: Gives| {
        spec.is_some_and(|spec| spec.recipe == recipe && spec.gives == gives)
    };
    let (found, fits) = match outcome {
        Outcome::Plan { .. } => ("plan", is(PhaseRecipe::Session, Gives::Text)),
        Outcome::Code { .. } => ("code", is(PhaseRecipe::Session, Gives::Files)),
        Outcome::Pass | Outcome::Fail => ("verdict", is(PhaseRecipe::Session, Gives::Verdict)),
        Outcome::Artifact(artifact) => {
            let name = spec.filter(|spec| spec.gives_artifact()).map(PhaseSpec::artifact_file);
            ("such artifact", name.as_ref() == Some(&artifact.file.path))
        }
    };
    if !fits {
        return Err(Refusal::WrongOutcome { phase, found });
    }
    match (outcome, spec) {
        (Outcome::Artifact(artifact), Some(spec)) => {
            // A missing marker is never a pass.
            if artifact.verdict.is_some() != (spec.gives == Gives::Verdict) {
                return Err(Refusal::Markers { phase, marker: "<review>" });
            }
            if artifact.tasks.is_empty() == spec.reports_tasks() {
                return Err(Refusal::Markers { phase, marker: "<task_status>" });
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn said(feedback: String) -> Result<String, Refusal> {
    if feedback.trim().is_empty() { Err(Refusal::NoFeedback) } else { Ok(feedback) }
}

/// Whether a judge has used up its rejections, so that a person must decide.
fn has_used_up(state: &State, by: &Actor) -> bool {
    let (Actor::Provider(_), Some(setup), Some(current)) = (by, &state.setup, state.stage) else {
        return false;
    };
    let gate = setup.gate(state.phase, current);
    let n_rejected = match current {
        Stage::Prompt => state.n_prompts_rejected_by_provider,
        Stage::Response => state.n_replies_rejected_by_provider,
    };
    matches!(gate.approver, Approver::Ai(_)) && n_rejected >= gate.max_retries
}

fn left_to_person(by: &Actor, feedback: String) -> Event {
    let provider = match by {
        Actor::Provider(name) | Actor::Person(Person { name, .. }) => name.clone(),
        Actor::OpenGate => String::new(),
    };
    Event::GateUndecided { provider, message: feedback }
}
