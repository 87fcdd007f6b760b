//! Renders the conversation of a run for a provider.
//!
//! In: the entries folded from the journal. Out: turns. Pure. After completion, nothing that the engine or the user
//! wrote names a node. Providers without native tools get calls and results as text.

use std::borrow::Cow;

use aiwf_prompt::{TurnKind, fenced, without_node};
use aiwf_provider::{SharedText, ToolCall, Turn};
use aiwf_session::LeftOut;

use super::event::Layer;
use super::record::Entry;

/// How to render the conversation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) is_complete: bool,
    /// Whether the provider supports tools natively.
    pub(crate) is_native: bool,
}

/// A rendered entry, kept or left out as a whole.
#[derive(Clone, Debug)]
pub(crate) struct RenderedEntry {
    /// Used to fit the conversation.
    pub(crate) kind: TurnKind,
    /// The layer, or `history`.
    pub(crate) layer: &'static str,
    pub(crate) turns: Vec<Turn>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl RenderedEntry {
    /// For display.
    pub(crate) fn name(&self) -> String {
        match (self.kind, self.turns.first()) {
            (TurnKind::ToolResult, Some(Turn::Tool { name, .. })) => format!("result of {name}"),
            (TurnKind::ToolResult, _) => "result of a tool".to_owned(),
            (TurnKind::Assistant { .. }, _) => "reply".to_owned(),
            (TurnKind::Request | TurnKind::Context, _) => self.layer.to_owned(),
        }
    }
}

/// Renders the conversation for the model.
pub(crate) fn render_entries<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    view: View,
) -> Vec<RenderedEntry> {
    let mut rendered: Vec<RenderedEntry> = Vec::new();
    let mut n_replies = 0_usize;
    // As text, results look like messages from the user, so those of a completed workflow would name its nodes.
    let mut has_old_calls = false;
    for entry in entries {
        match entry {
            Entry::Block { block, has_node } => {
                has_old_calls |= *has_node;
                if has_old_calls && !has_node && view.is_complete && !view.is_native {
                    rendered.retain_mut(strip_calls);
                    has_old_calls = false;
                }
                let is_of_engine = matches!(block.layer, Layer::RunDirective | Layer::NodeBrief);
                // Text about nodes is dropped after completion, and text about the completion before it.
                if is_of_engine && *has_node == view.is_complete {
                    continue;
                }
                let text = match block.layer {
                    Layer::UserInput if view.is_complete => match without_node(&block.text) {
                        Cow::Borrowed(_) => block.text.clone(),
                        Cow::Owned(text) => text.into(),
                    },
                    Layer::UserInput | Layer::RunDirective | Layer::NodeBrief | Layer::DataContext => {
                        block.text.clone()
                    }
                };
                let kind = match block.layer {
                    Layer::UserInput => TurnKind::Request,
                    Layer::RunDirective | Layer::NodeBrief | Layer::DataContext => TurnKind::Context,
                };
                let left_out = block.left_out.clone();
                rendered.push(RenderedEntry {
                    kind,
                    layer: layer_name(block.layer),
                    turns: vec![user(text)],
                    left_out,
                });
            }
            Entry::Assistant { text, calls } => {
                n_replies += 1;
                let n_calls = calls.len();
                let turns = if view.is_native {
                    let tool_calls = calls
                        .iter()
                        .map(|call| ToolCall { name: api_name(&call.name), ..call.clone() })
                        .collect();
                    vec![Turn::Assistant { content: text.clone(), tool_calls }]
                } else {
                    let content = text.clone();
                    vec![
                        user(format!("## Your reply {n_replies}")),
                        Turn::Assistant { content, tool_calls: Vec::new() },
                    ]
                };
                let left_out = Vec::new();
                rendered.push(RenderedEntry {
                    kind: TurnKind::Assistant { n_calls },
                    layer: "history",
                    turns,
                    left_out,
                });
            }
            Entry::Result { id, name, content, is_error, left_out } => {
                let turn = if view.is_native {
                    let (id, name) = (id.clone(), api_name(name));
                    Turn::Tool { id, name, content: content.clone(), is_error: *is_error }
                } else {
                    user(format!("## Result of {name} ({id})\n\n{}", fenced("json", content)))
                };
                let left_out = left_out.iter().map(|left_out| (**left_out).clone()).collect();
                let turns = vec![turn];
                rendered.push(RenderedEntry {
                    kind: TurnKind::ToolResult,
                    layer: "history",
                    turns,
                    left_out,
                });
            }
        }
    }
    rendered
}

/// A name that every API accepts; a model may call a tool that does not exist.
fn api_name(name: &str) -> String {
    const MAX_NAME: usize = 64;
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let name: String = name.chars().take(MAX_NAME).map(safe).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Removes calls and results from a round; returns false if no text is left.
fn strip_calls(rendered: &mut RenderedEntry) -> bool {
    match rendered.kind {
        TurnKind::ToolResult => false,
        TurnKind::Assistant { n_calls: 0 } | TurnKind::Request | TurnKind::Context => true,
        TurnKind::Assistant { .. } => {
            rendered.kind = TurnKind::Assistant { n_calls: 0 };
            let mut has_words = true;
            for turn in &mut rendered.turns {
                if let Turn::Assistant { content, .. } = turn {
                    let words = aiwf_reply::parse_tool_calls(content).value.message;
                    has_words = words.is_some();
                    *content = words.unwrap_or_default().into();
                }
            }
            has_words
        }
    }
}

fn user(content: impl Into<SharedText>) -> Turn {
    Turn::User { content: content.into() }
}

/// The section name of a layer.
pub(crate) fn layer_name(layer: Layer) -> &'static str {
    match layer {
        Layer::RunDirective => "run-directive",
        Layer::NodeBrief => "node-brief",
        Layer::DataContext => "data-context",
        Layer::UserInput => "user-input",
    }
}

/// The layer of a section, if it is stored.
pub(crate) fn layer_of(section: &str) -> Option<Layer> {
    [Layer::RunDirective, Layer::NodeBrief, Layer::DataContext, Layer::UserInput]
        .into_iter()
        .find(|layer| layer_name(*layer) == section)
}

/// Whether every call has exactly one result, directly after the message with the call.
pub(crate) fn is_protocol_complete(turns: &[Turn]) -> bool {
    let mut open: Vec<&ToolCall> = Vec::new();
    for turn in turns {
        match turn {
            Turn::Tool { id, .. } => {
                let Some(position) = open.iter().position(|call| call.id == *id) else { return false };
                open.remove(position);
            }
            Turn::Assistant { tool_calls, .. } => {
                if !open.is_empty() {
                    return false;
                }
                open = tool_calls.iter().collect();
            }
            Turn::User { .. } => {
                if !open.is_empty() {
                    return false;
                }
            }
        }
    }
    open.is_empty()
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
