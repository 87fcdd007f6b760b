//! Builds payloads from prompts.
//!
//! The only place that does: for a built prompt, the files of a session, and the layers of a run.

use aiwf_config::Config;
use aiwf_prompt::{CountTokens, OwnedText, Prompt, Role, Tokens};
use aiwf_provider::{AttachedFile, Payload, PayloadMessage, SectionHash, Turn};

use crate::ask::providers;

/// Joins system texts that are sent as one.
const JOINT: &str = "\n\n";

/// The payload of a prompt: system text, files and messages, with their owners.
///
/// The id of a session may be part of the text.
pub(crate) fn payload_of(prompt: &Prompt, session_id: Option<&str>) -> Payload {
    Payload { files: files_of(prompt), ..payload_from(prompt.blocks(), session_id) }
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
    // A cache matches prefixes, so what comes after text that changes is of no use to it.
    let n_stable_blocks = messages.iter().flatten().take_while(|block| block.is_stable).count();
    let mut payload =
        Payload { session_id: session_id.map(str::to_owned), n_stable_blocks, ..Payload::default() };
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

/// The sections after which a mark for the provider's cache stands; `None` if its API takes none.
pub(crate) fn cache_breakpoints(payload: &Payload, provider: &str, config: &Config) -> Option<Vec<String>> {
    providers::has_cache_marks(provider, config).then(|| breakpoint_sections(payload))
}

pub(crate) fn breakpoint_sections(payload: &Payload) -> Vec<String> {
    let section = |block: usize| Some(payload.sections.get(block)?.id.clone());
    payload.breakpoints().into_iter().filter_map(section).collect()
}
