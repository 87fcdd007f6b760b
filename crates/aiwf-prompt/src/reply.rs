//! Recipe `reply`: answering an agent's report.
//!
//! In: the agent's message, the user's additions, tool results, the available tools. Out: six sections at fixed
//! positions, each omitted if it is empty. `api` text has no headings; `cli` text has one for each section. Untrusted
//! text is in a fence it cannot close, so it cannot pass for a section.

#![expect(clippy::unnecessary_wraps, reason = "all components share one signature, and some can fail")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::aggregator::{BuiltIn, Component};
use crate::capability::Capability;
use crate::error::PromptError;
use crate::fence::{fenced, one_line, plain_line_ends};
use crate::recipe::{Recipe, Request};
use crate::section::{Need, Role, Section, SectionKind, Source, Stability, Text};

/// The receiver of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyMode {
    Api,
    Cli,
}

impl ReplyMode {
    pub const ALL: [Self; 2] = [Self::Api, Self::Cli];

    /// The name used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Cli => "cli",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// A tool that the model may call.
#[derive(Clone, Debug)]
pub struct ToolSchema {
    pub name: String,
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Option<serde_json::Value>,
}

/// A request's setting for a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentSetting {
    pub id: String,
    /// A different position.
    pub order: Option<i32>,
    pub is_enabled: Option<bool>,
}

/// The input of a reply.
#[derive(Clone, Debug)]
pub struct ReplyRequest {
    /// The agent's report.
    pub ai_message: Text,
    /// The user's additions.
    pub user_context: Option<Text>,
    pub tool_results: Option<Text>,
    pub includes_tools: bool,
    pub project_name: Option<String>,
    pub project_path: Option<String>,
    pub system_prompt: Option<Text>,
    /// The closing text, instead of the built-in one.
    pub closing: Option<Text>,
    /// Settings for components.
    pub components: Vec<ComponentSetting>,
    /// The receiver of the prompt.
    pub mode: ReplyMode,
    /// The command-line tool; only in mode `cli`.
    pub cli_tool: Option<String>,
    pub tools: Vec<ToolSchema>,
}

impl ReplyRequest {
    pub(crate) fn cli_tool(&self) -> Option<&str> {
        self.cli_tool.as_deref().filter(|_| self.mode == ReplyMode::Cli)
    }
}

pub(crate) fn components() -> Vec<Arc<dyn Component>> {
    type Sections = fn(&ReplyRequest, Capability) -> Result<Vec<Section>, PromptError>;
    let table: [(&'static str, i32, Sections); 6] = [
        ("system-prompt", 10, system_prompt),
        ("mcp-tools", 20, mcp_tools),
        ("user-context", 30, user_context),
        ("tool-results", 40, tool_results),
        ("ai-message", 50, ai_message),
        ("closing", 100, closing),
    ];
    let component = |(id, order, sections): (&'static str, i32, Sections)| -> Arc<dyn Component> {
        Arc::new(BuiltIn {
            id,
            recipe: Recipe::Reply,
            order,
            request: |request| match request {
                Request::Reply(request) => Some(request),
                Request::Session(_) | Request::Change(_) | Request::Workflow(_) => None,
            },
            sections,
        })
    };
    table.into_iter().map(component).collect()
}

/// A section with a heading in `cli` and none in `api`.
fn section(request: &ReplyRequest, id: &str, title: &str, source: Source, body: impl Into<Text>) -> Section {
    let heading = (request.mode == ReplyMode::Cli).then(|| format!("## {title}"));
    Section { heading, ..Section::new(id, title, source, body) }
}

/// A section with untrusted text.
fn quoted(request: &ReplyRequest, id: &str, title: &str, field: &str, text: &str) -> Section {
    let body = match request.mode {
        ReplyMode::Api => format!("{title}:\n\n{}", fenced("", text)),
        ReplyMode::Cli => fenced("", text),
    };
    let source = Source::Input(field.to_owned());
    Section { kind: SectionKind::Artifact, ..section(request, id, title, source, body) }
}

fn present(text: Option<&Text>) -> Option<&Text> {
    text.filter(|text| !text.trim().is_empty())
}

fn system_prompt(request: &ReplyRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let Some(text) = present(request.system_prompt.as_ref()) else { return Ok(Vec::new()) };
    let source = Source::Input("settings.systemPrompt".to_owned());
    Ok(vec![Section {
        role: Role::System,
        stability: Stability::Stable,
        ..section(request, "system-prompt", "System Instructions", source, text.clone())
    }])
}

/// How the calls of one reply are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallOrder {
    /// In any order, several at a time.
    Free,
    /// One after the other, in the given order.
    Listed,
}

/// Instructions for calling tools, and the list of tools.
pub(crate) fn tools_text(tools: &[ToolSchema], order: CallOrder) -> String {
    let mut text = how_to_call(order);
    list_tools(&mut text, tools);
    text
}

fn how_to_call(order: CallOrder) -> String {
    let text = include_str!("reply/tool_calls.md").trim_end();
    match order {
        CallOrder::Free => text.to_owned(),
        CallOrder::Listed => text.replace("they may run in parallel", "they run in the given order"),
    }
}

fn list_tools(text: &mut String, tools: &[ToolSchema]) {
    let mut seen = BTreeSet::new();
    for tool in tools {
        // A tool that two servers list identically is shown once.
        if !seen.insert(tool.name.as_str()) {
            continue;
        }
        let _ = write!(text, "\n\n### {}", one_line(&tool.name));
        if let Some(description) = tool.description.as_deref().filter(|text| !text.trim().is_empty()) {
            text.push('\n');
            for line in plain_line_ends(description.trim()).lines() {
                let _ = write!(text, "\n> {line}");
            }
        }
        if let Some(schema) = &tool.input_schema {
            let _ = write!(text, "\n\n{}", fenced("json", &format!("{schema:#}")));
        }
    }
}

fn mcp_tools(request: &ReplyRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    if !request.includes_tools || request.tools.is_empty() {
        return Ok(Vec::new());
    }
    let mut body = how_to_call(CallOrder::Free);
    if let Some(name) = &request.project_name {
        let _ = write!(body, "\n\nProject: {}", one_line(name));
    }
    if let Some(path) = &request.project_path {
        let _ = write!(body, "\n\nProject path: {}", one_line(path));
    }
    list_tools(&mut body, &request.tools);
    let source = Source::Input("mcpTools".to_owned());
    Ok(vec![Section {
        role: Role::System,
        stability: Stability::Stable,
        ..section(request, "mcp-tools", "MCP Tools", source, body)
    }])
}

fn user_context(request: &ReplyRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let Some(text) = present(request.user_context.as_ref()) else { return Ok(Vec::new()) };
    let section = quoted(request, "user-context", "User Context", "request.userContext", text);
    Ok(vec![Section { need: Need::Optional(10), ..section }])
}

fn tool_results(request: &ReplyRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let Some(text) = present(request.tool_results.as_ref()) else { return Ok(Vec::new()) };
    let section = quoted(request, "tool-results", "Tool Results", "request.toolResults", text);
    Ok(vec![Section { need: Need::Optional(20), ..section }])
}

fn ai_message(request: &ReplyRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let Some(text) = present(Some(&request.ai_message)) else { return Ok(Vec::new()) };
    Ok(vec![quoted(request, "ai-message", "AI Message", "request.aiMessage", text)])
}

const CLOSING_API: &str = "Write a short, professional answer to the report above.";
const CLOSING_CLI: &str = "Answer the report above: say briefly what to do next, or what is still missing. Reply with the answer alone.";

fn closing(request: &ReplyRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let (body, source) = if let Some(text) = present(request.closing.as_ref()) {
        (text.clone(), Source::Input("settings.closing".to_owned()))
    } else {
        let text = match request.mode {
            ReplyMode::Api => CLOSING_API,
            ReplyMode::Cli => CLOSING_CLI,
        };
        (Text::from(text), Source::Engine("closing".to_owned()))
    };
    Ok(vec![section(request, "closing", "Your Answer", source, body)])
}
