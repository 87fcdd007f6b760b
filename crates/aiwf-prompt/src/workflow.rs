//! Recipe `workflow`: one message for each layer of a turn.
//!
//! In: a node of a workflow graph, the agent that works on it, where the run stands, what the user said. Out: base
//! rules, tool policy, tools, persona, run directive, node brief, data, user input — those the mode calls for. What a
//! mode needs and does not get is an error; a layer is never dropped in silence. No real path leaves here.

#![expect(clippy::unnecessary_wraps, reason = "all components have one signature, and some can fail")]

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

/// How the model is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Working through a workflow.
    Run,
    /// A conversation with an agent.
    Agent,
    /// A conversation without a persona.
    Chat,
}

impl Mode {
    /// Every mode, in the order the documentation lists them.
    pub const ALL: [Self; 3] = [Self::Run, Self::Agent, Self::Chat];

    /// The name used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Agent => "agent",
            Self::Chat => "chat",
        }
    }

    /// The mode with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// Why the model is asked now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// The run begins.
    Start,
    /// The run goes on.
    Continue,
    /// The run is taken up again after a break.
    Resume,
}

impl Intent {
    /// Every intent, in the order the documentation lists them.
    pub const ALL: [Self; 3] = [Self::Start, Self::Continue, Self::Resume];

    /// The name used in documents and in the directive.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Continue => "continue",
            Self::Resume => "resume",
        }
    }

    /// The intent with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intent| intent.as_str() == name)
    }
}

/// Who an agent is.
#[derive(Clone, Debug)]
pub struct AgentPersona {
    /// What it does.
    pub role: String,
    /// Who it is.
    pub identity: String,
    /// How it speaks.
    pub communication_style: String,
    /// What it holds to.
    pub principles: Vec<String>,
}

/// An agent of a package.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its id.
    pub id: String,
    /// Its name and title.
    pub name: Option<(String, String)>,
    /// Who it is.
    pub persona: Option<AgentPersona>,
    /// What it must always do.
    pub critical_actions: Vec<String>,
    /// Text that stands in place of the persona.
    pub system_prompt: Option<String>,
    /// A template the user's text is put into.
    pub user_prompt_template: Option<String>,
    /// What it may use; limits and switches it leaves open are open.
    pub tools: ToolPolicy,
}

/// An edge out of the current node.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The node it leads to.
    pub to: String,
    /// Its label.
    pub label: String,
    /// Whether it is taken when nothing decides.
    pub is_default: bool,
    /// When it is taken, in words.
    pub condition: Option<String>,
}

/// The current node.
#[derive(Clone, Debug)]
pub struct NodeBrief {
    /// Its id.
    pub node_id: String,
    /// Its type.
    pub node_type: String,
    /// Its title.
    pub title: Option<String>,
    /// Its instruction file, relative to the package.
    pub step_file: String,
    /// What it reads.
    pub inputs: Vec<String>,
    /// What it must leave behind.
    pub outputs: Vec<String>,
    /// The edges out of it, in graph order.
    pub transitions: Vec<Transition>,
}

/// Something the user's menu choice brought along.
#[derive(Clone, Debug)]
pub struct DataContext {
    /// What it is.
    pub label: String,
    /// Where the model can read it.
    pub path: String,
    /// How it begins.
    pub preview: String,
    /// How many bytes of it the preview does not show.
    pub n_cut_bytes: u64,
}

/// What a turn asks for.
#[derive(Clone, Debug)]
pub struct WorkflowRequest {
    /// How the model is talked to.
    pub mode: Mode,
    /// Directories that must not be seen by the model.
    pub roots: Roots,
    /// The workflow.
    pub workflow_id: Option<String>,
    /// Its graph, relative to the package.
    pub graph_path: Option<String>,
    /// The agent the run was started with.
    pub active_agent_id: Option<String>,
    /// The agent that works on this node.
    pub effective_agent_id: Option<String>,
    /// That agent.
    pub agent: Agent,
    /// The node the run stands at.
    pub current_node_id: Option<String>,
    /// The nodes that are done.
    pub steps_completed: Vec<String>,
    /// What the run has decided so far.
    pub variables: serde_json::Map<String, serde_json::Value>,
    /// What the run has made so far.
    pub artifacts: Vec<String>,
    /// The current node.
    pub node_brief: Option<NodeBrief>,
    /// What the system allows; the agent can only tighten it.
    pub tool_policy: Option<ToolPolicy>,
    /// The tools of the engine, for a receiver that cannot be handed tools beside the prompt.
    pub tools: Vec<ToolSchema>,
    /// Why the model is asked now.
    pub intent: Option<Intent>,
    /// Whether the model goes on by itself.
    pub is_autopilot: bool,
    /// What the user said.
    pub user_input: Option<String>,
    /// What the user's menu choice brought along.
    pub data_context: Option<DataContext>,
    /// Whether the workflow is complete.
    pub is_completed: bool,
}

impl WorkflowRequest {
    /// Whether the model is at work on a node.
    fn has_active_step(&self) -> bool {
        self.mode == Mode::Run && !self.is_completed
    }

    /// A text that the mode cannot do without; a blank one is none.
    fn required_text<'a>(&self, value: Option<&'a str>, field: &'static str) -> Result<&'a str, PromptError> {
        self.required(value.filter(|text| !text.trim().is_empty()), field)
    }

    /// A field that the mode cannot do without.
    fn required<'a, T: ?Sized>(
        &self,
        value: Option<&'a T>,
        field: &'static str,
    ) -> Result<&'a T, PromptError> {
        value.ok_or(PromptError::MissingField { mode: self.mode.as_str(), field })
    }

    /// The brief of the active node; it must be the node the run stands at.
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

/// Turns workflow definitions and where a run stands into messages.
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

/// The components of the recipe, in order.
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

/// A rule of the system that stays the same during a run.
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
    // A chat may be about no package at all. Who does not say what is mounted means everything.
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
        message: "the model gets the beginning and can read the rest".to_owned(),
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

/// Aliases known roots in every section of a turn, those of custom components included.
pub(crate) fn hide_roots(sections: &mut [Section], roots: &Roots) {
    for section in sections {
        hide_in_section(section, roots);
    }
}

/// A value that stays on its line, so that it cannot add a key or a block.
fn single_line(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value that stays in its place among others on a line: one that could pass for them is quoted.
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
