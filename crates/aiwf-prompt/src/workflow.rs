//! Recipe `workflow`: one message for each layer of a turn.
//!
//! In: a node of a workflow graph, its agent, the state of the run, the user's input. Out: base rules, tool policy,
//! tools, persona, run directive, node brief, data, user input, as far as the mode needs them. A missing required field
//! is an error; a layer is never dropped silently. The messages contain no real paths.

#![expect(clippy::unnecessary_wraps, reason = "all components share one signature, and some can fail")]

mod directive;
mod node_brief;
mod persona;
mod policy;
mod redact;
mod runtime_note;
mod user_input;

use std::sync::Arc;

use policy::StateFile;
pub use policy::{FsPolicy, McpPolicy, ToolPolicy};
use redact::hide_in_section;
pub use redact::{Roots, alias_roots, redact_paths};
pub use runtime_note::left_out_note;
pub use user_input::without_node;

use crate::aggregator::{BuiltIn, Component, PromptAggregator};
use crate::capability::{Capability, Format};
use crate::error::PromptError;
use crate::fence::plain_line_ends;
use crate::prompt::{Message, Options};
use crate::recipe::{Recipe, Request};
use crate::reply::{CallOrder, ToolSchema, tools_text};
use crate::section::{
    LeftOutSource, Need, Problem, Role, Section, SectionKind, Source, Stability, WhyLeftOut,
};
use crate::tokens::Tokenizer;

/// The mode of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Run,
    /// A conversation with an agent.
    Agent,
    /// A conversation without a persona.
    Chat,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::Run, Self::Agent, Self::Chat];

    /// The name used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Agent => "agent",
            Self::Chat => "chat",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// Why the model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    Start,
    Continue,
    /// The run is resumed after a break.
    Resume,
}

impl Intent {
    pub const ALL: [Self; 3] = [Self::Start, Self::Continue, Self::Resume];

    /// The name used in documents and in the directive.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Continue => "continue",
            Self::Resume => "resume",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intent| intent.as_str() == name)
    }
}

#[derive(Clone, Debug)]
pub struct AgentPersona {
    pub role: String,
    pub identity: String,
    pub communication_style: String,
    pub principles: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Agent {
    pub id: String,
    pub name: Option<(String, String)>,
    pub persona: Option<AgentPersona>,
    /// Actions it must always perform.
    pub critical_actions: Vec<String>,
    /// Text that replaces the persona.
    pub system_prompt: Option<String>,
    /// A template for the user's text.
    pub user_prompt_template: Option<String>,
    /// Its tools; unset limits and switches restrict nothing.
    pub tools: ToolPolicy,
}

/// An edge out of the current node.
#[derive(Clone, Debug)]
pub struct Transition {
    pub to: String,
    pub label: String,
    /// Whether it is taken if no condition decides.
    pub is_default: bool,
    /// The condition in words.
    pub condition: Option<String>,
}

/// What kind of node a graph has there, as far as a prompt says different things about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeType {
    /// A node that chooses one of its edges.
    Decision,
    /// The last node.
    End,
    /// Any other kind, by its name.
    Other(String),
}

impl NodeType {
    pub fn from_name(name: &str) -> Self {
        match name {
            "decision" => Self::Decision,
            "end" => Self::End,
            other => Self::Other(other.to_owned()),
        }
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Decision => "decision",
            Self::End => "end",
            Self::Other(name) => name,
        }
    }
}

#[derive(Clone, Debug)]
pub struct NodeBrief {
    pub node_id: String,
    pub node_type: NodeType,
    pub title: Option<String>,
    /// Its instruction file, relative to the package.
    pub step_file: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    /// Its outgoing edges, in graph order.
    pub transitions: Vec<Transition>,
}

/// The data file of the selected menu item.
#[derive(Clone, Debug)]
pub struct DataContext {
    pub label: String,
    /// Its path for the model.
    pub path: String,
    /// The beginning of its content.
    pub preview: String,
    /// Number of bytes that the preview omits.
    pub n_cut_bytes: u64,
}

/// The input of a turn.
#[derive(Clone, Debug)]
pub struct WorkflowRequest {
    /// The mode of the conversation.
    pub mode: Mode,
    /// Directories that the model must not see.
    pub roots: Roots,
    pub workflow_id: Option<String>,
    /// Its graph, relative to the package.
    pub graph_path: Option<String>,
    /// The agent the run was started with.
    pub active_agent_id: Option<String>,
    /// The agent of the current node.
    pub effective_agent_id: Option<String>,
    /// The definition of that agent.
    pub agent: Agent,
    pub current_node_id: Option<String>,
    pub steps_completed: Vec<String>,
    pub variables: serde_json::Map<String, serde_json::Value>,
    /// Files created by the run so far.
    pub artifacts: Vec<String>,
    pub node_brief: Option<NodeBrief>,
    /// The system's policy; the agent can only tighten it.
    pub tool_policy: Option<ToolPolicy>,
    /// The engine's tools, for a receiver without native tool calls.
    pub tools: Vec<ToolSchema>,
    /// Why the model is asked.
    pub intent: Option<Intent>,
    /// Whether the model continues without asking.
    pub is_autopilot: bool,
    pub user_input: Option<String>,
    /// The data file of the selected menu item.
    pub data_context: Option<DataContext>,
    pub is_completed: bool,
}

impl WorkflowRequest {
    /// Whether the model is working on a node.
    fn has_active_step(&self) -> bool {
        self.mode == Mode::Run && !self.is_completed
    }

    /// A required text; blank counts as missing.
    fn required_text<'a>(&self, value: Option<&'a str>, field: &'static str) -> Result<&'a str, PromptError> {
        self.required(value.filter(|text| !text.trim().is_empty()), field)
    }

    /// A required field.
    fn required<'a, T: ?Sized>(
        &self,
        value: Option<&'a T>,
        field: &'static str,
    ) -> Result<&'a T, PromptError> {
        value.ok_or(PromptError::MissingField { mode: self.mode.as_str(), field })
    }

    /// The brief of the active node, which must be the current node of the run.
    fn active_node(&self) -> Result<&NodeBrief, PromptError> {
        let brief = self.required(self.node_brief.as_ref(), "nodeBrief")?;
        self.required_text(Some(&brief.node_id), "nodeBrief.nodeId")?;
        self.required_text(Some(&brief.step_file), "nodeBrief.stepFilePathInPkg")?;
        match self.current_node_id.as_deref().map(str::trim) {
            Some(current) if !current.is_empty() && current != brief.node_id => {
                Err(PromptError::Contradiction {
                    field: "currentNodeId",
                    found: current.to_owned(),
                    other_field: "nodeBrief.nodeId",
                    other: brief.node_id.clone(),
                })
            }
            _ => Ok(brief),
        }
    }
}

/// Turns workflow definitions and the state of a run into messages.
#[derive(Clone, Copy, Debug)]
pub struct PromptComposer;

impl PromptComposer {
    /// One message for each layer, in the order of the mode.
    pub fn compose(request: &WorkflowRequest) -> Result<Vec<Message>, PromptError> {
        let capability = Capability {
            fs_ability: None,
            supports_system_prompt: true,
            supports_file_attachments: false,
            sends_files: false,
        };
        let options =
            Options { format: Format::Messages, capability, budget: None, counter: &Tokenizer::Estimate };
        let request = Request::Workflow(Box::new(request.clone()));
        Ok(PromptAggregator::global().aggregate(&request, &options)?.messages())
    }
}

pub(crate) fn components() -> Vec<Arc<dyn Component>> {
    type Sections = fn(&WorkflowRequest, Capability) -> Result<Vec<Section>, PromptError>;
    let table: [(&'static str, i32, Sections); 8] = [
        ("base-rules", 10, base_rules),
        ("tool-policy", 20, tool_policy),
        ("tools", 25, tools),
        ("persona", 30, persona::sections),
        ("run-directive", 40, directive::sections),
        ("node-brief", 50, node_brief::sections),
        ("data-context", 60, data_context),
        ("user-input", 70, user_input::sections),
    ];
    let component = |(id, order, sections): (&'static str, i32, Sections)| -> Arc<dyn Component> {
        Arc::new(BuiltIn {
            id,
            recipe: Recipe::Workflow,
            order,
            request: |request| match request {
                Request::Workflow(request) => Some(request.as_ref()),
                Request::Session(_) | Request::Change(_) | Request::Reply(_) => None,
            },
            sections,
        })
    };
    table.into_iter().map(component).collect()
}

/// A system section that stays the same during a run.
fn system_section(id: &str, title: &str, source: Source, body: impl Into<crate::section::Text>) -> Section {
    Section { role: Role::System, stability: Stability::Stable, ..Section::new(id, title, source, body) }
}

fn base_rules(request: &WorkflowRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let (name, text) = match request.mode {
        Mode::Run => ("workflow rules", include_str!("workflow/base_rules_run.md")),
        Mode::Agent | Mode::Chat => {
            ("conversation rules", include_str!("workflow/base_rules_conversation.md"))
        }
    };
    let source = Source::Engine(name.to_owned());
    // A chat may be about no package. A caller that names no roots means all of them.
    let roots = &request.roots;
    let has_package = request.mode != Mode::Chat || roots.package.is_some() || roots.project.is_none();
    let lines = text.trim_end().lines().filter(|line| has_package || !line.contains("@pkg"));
    let text = lines.collect::<Vec<_>>().join("\n");
    Ok(vec![system_section("base-rules", "Base Rules", source, text)])
}

fn tool_policy(request: &WorkflowRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let policy = ToolPolicy::merged(request.tool_policy.as_ref(), &request.agent.tools);
    let state_file = match request.mode {
        Mode::Run if request.is_completed => StateFile::Finished,
        Mode::Run => StateFile::InUse,
        Mode::Agent | Mode::Chat => StateFile::Absent,
    };
    let source = Source::Input("agentDefinition.tools".to_owned());
    Ok(vec![system_section("tool-policy", "Tool Policy", source, policy::describe(&policy, state_file))])
}

fn tools(request: &WorkflowRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    if request.tools.is_empty() {
        return Ok(Vec::new());
    }
    let source = Source::Engine("tools".to_owned());
    let section = system_section("tools", "Tools", source, tools_text(&request.tools, CallOrder::Listed));
    Ok(vec![Section { heading: Some("## Tools".to_owned()), ..section }])
}

fn data_context(request: &WorkflowRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let Some(data) = request.data_context.as_ref().filter(|_| request.mode != Mode::Chat) else {
        return Ok(Vec::new());
    };
    let preview = redact_paths(&alias_roots(&data.preview, &request.roots)).into_owned();
    let path = redact_paths(&alias_roots(&data.path, &request.roots)).into_owned();
    let indented: String = plain_line_ends(&preview).lines().flat_map(|line| ["\n    ", line]).collect();
    let body = format!(
        "Extra context (from menuItem.data):\n- label: {}\n- path: {}\n- preview:{indented}\n\n\
         The preview may be cut short; read the whole with `fs.read` at that path.",
        single_line(&data.label),
        single_line(&path),
    );
    let problem = Problem {
        source: Source::Input(path),
        message: "only the beginning is included; the model can read the rest".to_owned(),
        left_out: Some(LeftOutSource { why: WhyLeftOut::SizeCap, bytes: Some(data.n_cut_bytes) }),
    };
    let source = Source::Input("dataContext".to_owned());
    Ok(vec![Section {
        kind: SectionKind::Artifact,
        need: Need::Optional(10),
        problems: if data.n_cut_bytes > 0 { vec![problem] } else { Vec::new() },
        ..Section::new("data-context", "Data Context", source, body)
    }])
}

/// Replaces known roots by aliases in every section of a turn, including those of custom components.
pub(crate) fn hide_roots(sections: &mut [Section], roots: &Roots) {
    for section in sections {
        hide_in_section(section, roots);
    }
}

/// A value on one line, so that it cannot add a key or a block.
fn single_line(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value in a list on one line; quoted if it could be mistaken for several.
fn single_value(value: &str) -> String {
    let line = single_line(value);
    if line.is_empty() || line.contains([',', '(', ')', '=', '"', '\\']) { quoted(&line) } else { line }
}

/// A value in quotes that it cannot close.
fn quoted(value: &str) -> String {
    serde_json::Value::from(single_line(value)).to_string()
}

#[cfg(test)]
#[path = "workflow_tests.rs"]
mod tests;
