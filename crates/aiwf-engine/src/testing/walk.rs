//! Walks a session to a phase, in a scratch project, with the replies of a scenario.
//!
//! It is a session like any other: the same flow, the same parsers, the same prompts. Every gate is skipped but that of
//! the wanted prompt.

use std::sync::Arc;

use aiwf_config::{Flags, parse_gate_flag};
use aiwf_provider::Payload;
use aiwf_session::Step;

use super::case_file::{SessionRequest, SessionSubject};
use super::place::CasePlace;
use super::scenario::Scenario;
use super::scratch::{Scratch, known_name};
use super::shape::{Receiver, Shape};
use crate::Engine;
use crate::ask::providers::Ability;
use crate::prompt::build::Built;
use crate::session::NewRequest;
use crate::session::journal;
use crate::session::open_session::OpenSession;

/// The name of a receiver that is a capability, as a provider of the scratch project.
pub(crate) const RECEIVER: &str = "receiver";

/// A session that waits with the prompt under test.
pub(crate) struct Walked {
    pub(crate) built: Built,
    pub(crate) payload: Payload,
    pub(crate) ability: Ability,
    pub(crate) preview: Option<String>,
    pub(crate) session_id: String,
    /// The name of the call, such as `review-1`.
    pub(crate) call: String,
    pub(crate) phase: String,
    pub(crate) round: u32,
}

/// The user's configuration of a scratch project: the receiver, if it is a capability.
pub(crate) fn receiver_config(shape: &Shape) -> String {
    match shape.receiver {
        Receiver::Provider => String::new(),
        Receiver::Capability { fs_ability, has_system, has_attachments } => format!(
            "[providers.{RECEIVER}]\nfs_ability = \"{}\"\nsupports_system_prompt = {has_system}\nsupports_file_attachments = {has_attachments}\n",
            fs_ability.as_str()
        ),
    }
}

/// Walks to the phase; the error says why it is not reached.
pub(crate) fn walk(
    scratch: &Scratch,
    place: &CasePlace,
    request: &SessionRequest,
    files: &[String],
    shape: &Shape,
    scenario: &Scenario,
) -> Result<Walked, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let mut engine = Engine::new(scratch.settings.clone());
    let name = match shape.receiver {
        // Under its own name, a provider keeps its abilities.
        Receiver::Provider => {
            engine.call_context_mut().providers.insert(shape.name.clone(), Arc::new(scenario.clone()));
            shape.name.clone()
        }
        Receiver::Capability { .. } => {
            engine = engine.with_provider(RECEIVER, scenario.clone());
            RECEIVER.to_owned()
        }
    };
    let first = first_phase(&engine, place, request)?;
    let phase = request.phase.clone().unwrap_or(first);
    let gate = parse_gate_flag(&format!("{phase}.prompt=manual")).map_err(|error| said(&error))?;
    let flags = Flags { is_yes: true, gates: [gate].into(), ..Flags::default() };
    let created = match &request.subject {
        SessionSubject::Profile { name: profile, params } => {
            let profile = known_name(profile, place);
            let mut new =
                engine.new_session(&profile, params.clone(), &flags).map_err(|error| said(&error))?;
            new.roles.values_mut().for_each(|role| role.clone_from(&name));
            engine.create_session(new)
        }
        SessionSubject::Flow { name: flow, request } => engine.start_flow(&NewRequest {
            flow: known_name(flow, place),
            request: request.clone(),
            provider: Some(name),
            // Every phase sees them; the file of the case keeps them in the project.
            files: files.to_vec(),
            flags,
            ..NewRequest::default()
        }),
    };
    let id = created.map_err(|error| said(&error))?.id;
    let mut n_visits = 0;
    let mut n_events = 0;
    loop {
        let ledger = journal::find_any(engine.settings(), Some(id.as_str())).map_err(|error| said(&error))?;
        let mut session = OpenSession::open_read_only(&engine, ledger).map_err(|error| said(&error))?;
        let (now, step) = (session.state.phase, session.state.step.clone());
        if now.as_str() == phase && step == Step::PromptReady {
            n_visits += 1;
            if n_visits == request.round {
                let iteration = session.state.iteration;
                let flag = session.prompt_flag();
                let built = session.build_prompt(now, iteration, flag).map_err(|error| said(&error))?;
                let payload = session.payload().map_err(|error| said(&error))?;
                let ability = session.ability().map_err(|error| said(&error))?;
                let preview = engine.preview_session(Some(id.as_str())).map_err(|error| said(&error))?;
                return Ok(Walked {
                    built,
                    payload: std::rc::Rc::unwrap_or_clone(payload),
                    ability,
                    preview: Some(preview.text()),
                    session_id: id,
                    call: OpenSession::call_name(now, iteration),
                    phase,
                    round: n_visits,
                });
            }
            drop(session);
            engine
                .approve(Some(id.as_str()), &crate::ApproveOptions::default())
                .map_err(|error| said(&error))?;
            continue;
        }
        let seen = session.state.n_events;
        drop(session);
        if step == Step::Ended {
            return Err(format!("the session ended before round {} of phase `{phase}`", request.round));
        }
        if seen == n_events {
            let why = format!(
                "the session waits in phase `{now}` and does not reach round {} of phase `{phase}`",
                request.round
            );
            return Err(why);
        }
        n_events = seen;
        engine.run_session(Some(id.as_str())).map_err(|error| said(&error))?;
    }
}

/// The first phase of the session's flow.
fn first_phase(engine: &Engine, place: &CasePlace, request: &SessionRequest) -> Result<String, String> {
    let (flow, known) = match &request.subject {
        SessionSubject::Profile { name, .. } => {
            let profile = engine.profile(&known_name(name, place)).map_err(|error| error.to_string())?;
            let (flow, _) = crate::catalog::flows::of_profile(&profile).map_err(|error| error.to_string())?;
            let known: Vec<String> = flow.names().map(|phase| phase.to_string()).collect();
            (flow.name.clone(), known)
        }
        SessionSubject::Flow { name, .. } => {
            let (_, flow, _) =
                engine.flow_to_follow(&known_name(name, place)).map_err(|error| error.to_string())?;
            let known: Vec<String> = flow.names().map(|phase| phase.to_string()).collect();
            (flow.name.clone(), known)
        }
    };
    if let Some(wanted) = request.phase.as_ref().filter(|wanted| !known.contains(wanted)) {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(format!(
            "the flow `{flow}` has no phase `{wanted}`; it has {}",
            super::finding::listed(known)
        ));
    }
    known.into_iter().next().ok_or_else(|| format!("the flow `{flow}` has no phase"))
}
