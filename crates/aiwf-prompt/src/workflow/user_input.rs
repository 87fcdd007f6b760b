//! The user's text, wrapped so that it can neither close its wrapper nor be mistaken for another block.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::directive::hidden;
use super::{WorkflowRequest, single_line};
use crate::capability::Capability;
use crate::error::PromptError;
use crate::fence::fenced;
use crate::section::{Section, Source};
use crate::template::{TemplateSource, render_template};

const HEADER: &str = "USER_INPUT";
const NODE_KEY: &str = "\n- forNodeId: ";

/// A `USER_INPUT` block without the line that names its node.
///
/// A completed run shows its history like this, because it has no current node. Only the line between header and
/// wrapper is removed; a similar line in the user's text stays.
pub fn without_node(block: &str) -> Cow<'_, str> {
    let after_key = block.strip_prefix(HEADER).and_then(|rest| rest.strip_prefix(NODE_KEY));
    match after_key.and_then(|line| line.split_once('\n')) {
        Some((_, wrapped)) if wrapped.starts_with("\n```") => Cow::Owned(format!("{HEADER}\n{wrapped}")),
        Some(_) | None => Cow::Borrowed(block),
    }
}

pub(super) fn sections(request: &WorkflowRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let Some(input) = request.user_input.as_deref().filter(|input| !input.trim().is_empty()) else {
        return Ok(Vec::new());
    };
    let text = match request.agent.user_prompt_template.as_deref().filter(|text| !text.trim().is_empty()) {
        // Without a template of the agent, the text is introduced in general terms.
        None if is_answer(input) => input.to_owned(),
        None => format!("Task:\n{input}"),
        Some(template) => from_template(request, template, input)?,
    };
    let mut body = HEADER.to_owned();
    if request.has_active_step() {
        body.push_str(NODE_KEY);
        body.push_str(&single_line(&request.active_node()?.node_id));
    }
    body.push_str("\n\n");
    body.push_str(&fenced("", &text));
    Ok(vec![Section::new("user-input", "User Input", Source::Input("userInput".to_owned()), body)])
}

/// Whether a text answers a question of the model in the protocol's own form, and is therefore not a task.
fn is_answer(input: &str) -> bool {
    input.trim_start().lines().next().is_some_and(|line| line.trim_end() == "WIDGET_SUBMIT")
}

fn from_template(request: &WorkflowRequest, template: &str, input: &str) -> Result<String, PromptError> {
    let mut variables: BTreeMap<String, Value> =
        request.variables.iter().map(|(name, value)| (name.clone(), hidden(value, &request.roots))).collect();
    variables.insert("userInput".to_owned(), Value::from(input));
    let source = TemplateSource {
        name: format!("agent {} userPromptTemplate", request.agent.id),
        text: template.to_owned(),
    };
    Ok(render_template(&source, &variables)?)
}
