//! The persona: the agent's own system prompt, otherwise its persona in words. Never in a chat.

use std::fmt::Write as _;

use super::{Mode, WorkflowRequest, system_section};
use crate::capability::Capability;
use crate::error::PromptError;
use crate::section::{Section, Source};

pub(super) fn sections(request: &WorkflowRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    if request.mode == Mode::Chat {
        return Ok(Vec::new());
    }
    let agent = &request.agent;
    if let Some(text) = agent.system_prompt.as_deref().filter(|text| !text.trim().is_empty()) {
        let source = Source::Input(format!("agent {} systemPrompt", agent.id));
        return Ok(vec![system_section("persona", "Persona", source, text)]);
    }
    let persona = request.required(agent.persona.as_ref(), "agentDefinition.persona")?;
    let mut text = match &agent.name {
        Some((name, title)) => format!("You are {name} ({title})."),
        None => format!("You are {}.", agent.id),
    };
    let _ = write!(
        text,
        "\nRole: {}\nIdentity: {}\nCommunication style: {}",
        persona.role, persona.identity, persona.communication_style
    );
    list(&mut text, "Principles", &persona.principles);
    list(&mut text, "Always", &agent.critical_actions);
    text.push_str("\nStay in this character for the whole conversation.");
    let source = Source::Input(format!("agent {} persona", agent.id));
    Ok(vec![system_section("persona", "Persona", source, text)])
}

fn list(text: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = write!(text, "\n{title}:");
    for item in items {
        let _ = write!(text, "\n- {}", super::single_line(item));
    }
}
