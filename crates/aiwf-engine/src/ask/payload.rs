//! Builds payloads from prompts.
//!
//! The only place that does: for a built prompt, the files of a session, and the layers of a run.

use aiwf_prompt::{CountTokens, OwnedText, Prompt, Role, Stability, Tokens};
use aiwf_provider::{AttachedFile, Payload, PayloadMessage, SectionHash, Turn};

/// Joins system texts that are sent as one.
const JOINT: &str = "\n\n";

/// The payload of a prompt: system text, files and messages, with their owners.
///
/// The id of a session may be part of the text.
pub(crate) fn payload_of(prompt: &Prompt, session_id: Option<&str>) -> Payload {
    // A cache breakpoint after text that changes would never be hit.
    let reports = prompt.sections();
    let kept = || reports.iter().filter(|section| section.is_kept);
    let is_stable = kept()
        .filter(|section| section.role == Role::System)
        .all(|section| section.stability == Stability::Stable);
    let payload = payload_from(prompt.blocks(), session_id);
    Payload { is_system_stable: is_stable && !payload.system.is_empty(), files: files_of(prompt), ..payload }
}

/// The files attached to a prompt.
pub(crate) fn files_of(prompt: &Prompt) -> Vec<AttachedFile> {
    prompt
        .attached()
        .into_iter()
        .map(|file| AttachedFile { path: file.path.clone(), text: file.text.as_str().to_owned() })
        .collect()
}

/// The payload of messages, each a list of blocks with their owners.
///
/// Every API has one place for system text, before everything else, so system messages are joined.
pub(crate) fn payload_from(messages: Vec<Vec<OwnedText>>, session_id: Option<&str>) -> Payload {
    let mut payload = Payload { session_id: session_id.map(str::to_owned), ..Payload::default() };
    let n_system = messages
        .iter()
        .take_while(|blocks| blocks.first().is_some_and(|block| block.role == Role::System))
        .count();
    for (index, mut blocks) in messages.into_iter().enumerate() {
        let is_system = index < n_system;
        if let Some(last) = blocks.last_mut().filter(|_| index + 1 < n_system) {
            last.text.push_str(JOINT);
        }
        let role = blocks.first().map_or(Role::User, |block| block.role);
        payload.sections.extend(
            blocks
                .iter()
                .map(|block| SectionHash::new(&block.section, &block.source, &block.text, session_id)),
        );
        let texts = blocks.into_iter().map(|block| block.text);
        if is_system {
            payload.system.extend(texts);
        } else {
            payload.messages.push(PayloadMessage { role, blocks: texts.collect() });
        }
    }
    payload
}

/// The tokens of the whole payload.
pub(crate) fn tokens_of(payload: &Payload, counter: &dyn CountTokens) -> Tokens {
    let tools: Vec<String> = payload.tools.iter().map(|tool| serde_json::json!(tool).to_string()).collect();
    let system = payload.system_text();
    let messages: Vec<String> = payload.messages.iter().map(PayloadMessage::text).collect();
    let texts: Vec<Vec<&str>> = messages
        .iter()
        .map(String::as_str)
        .chain(system.as_deref())
        .chain(payload.files.iter().map(|file| file.text.as_str()))
        .chain(payload.turns.iter().map(Turn::content))
        .chain(tools.iter().map(String::as_str))
        .map(|text| vec![text])
        .collect();
    counter.count(&texts).into_iter().sum()
}
