//! A prompt becomes what is handed to a provider.

use aiwf_prompt::{CountTokens, Message, Prompt, Role, Stability, Tokens};
use aiwf_provider::{Payload, SectionHash, Turn};

/// The payload of a prompt: its system text, its messages, and what each is made of.
pub(crate) fn payload_of(prompt: &Prompt) -> Payload {
    payload_in(prompt, None)
}

/// The same for a prompt of a session, whose id may stand in it.
pub(crate) fn payload_in(prompt: &Prompt, session_id: Option<&str>) -> Payload {
    let mut system: Vec<String> = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    for message in prompt.messages() {
        // Every API has one place for system text, before everything else.
        if message.role == Role::System && messages.is_empty() {
            system.push(message.content);
        } else {
            messages.push(message);
        }
    }
    let sections = prompt
        .owned()
        .into_iter()
        .map(|owned| SectionHash::new(&owned.section, &owned.source, &owned.text, session_id))
        .collect();
    // A breakpoint behind text that changes would never be met again.
    let reports = prompt.sections();
    let kept = || reports.iter().filter(|section| section.is_kept);
    let is_stable = kept()
        .filter(|section| section.role == Role::System)
        .all(|section| section.stability == Stability::Stable);
    Payload {
        is_system_stable: is_stable && !system.is_empty(),
        system: (!system.is_empty()).then(|| system.join("\n\n")),
        messages,
        sections,
        session_id: session_id.map(str::to_owned),
        ..Payload::default()
    }
}

/// The tokens of everything a provider gets.
pub(crate) fn tokens_of(payload: &Payload, counter: &dyn CountTokens) -> Tokens {
    let tools: Vec<String> = payload.tools.iter().map(|tool| serde_json::json!(tool).to_string()).collect();
    let texts: Vec<Vec<&str>> = payload
        .messages
        .iter()
        .map(|message| message.content.as_str())
        .chain(payload.system.as_deref())
        .chain(payload.turns.iter().map(Turn::content))
        .chain(tools.iter().map(String::as_str))
        .map(|text| vec![text])
        .collect();
    counter.count(&texts).into_iter().sum()
}
