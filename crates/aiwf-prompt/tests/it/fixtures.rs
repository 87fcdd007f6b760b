//! Base requests: each is valid, and a test changes the field it is about.

use aiwf_prompt::{
    Agent, AgentPersona, Artifact, Capability, ChangeRequest, CodeFile, Component, ContextItem, Format,
    Intent, ItemKind, Message, Mode, NodeBrief, NodeType, Options, PartBody, PromptError, Recipe, ReplyMode,
    ReplyRequest, Request, Roots, Section, SessionPhase, SessionRequest, Source, Text, Tokenizer, Tokens,
    ToolPolicy, ToolSchema, Transition, WorkflowRequest,
};

pub(crate) const PLAIN: Capability = Capability {
    fs_ability: None,
    supports_system_prompt: false,
    supports_file_attachments: false,
    sends_files: false,
};

pub(crate) const WITH_SYSTEM_PROMPT: Capability = Capability { supports_system_prompt: true, ..PLAIN };

/// Estimated counts, no budget.
pub(crate) fn options(format: Format, capability: Capability) -> Options<'static> {
    Options { format, capability, budget: None, counter: &Tokenizer::Estimate }
}

pub(crate) fn with_budget(tokens: u64, options: Options<'_>) -> Options<'_> {
    Options { budget: Some(Tokens(tokens)), ..options }
}

pub(crate) fn input(name: &str) -> Source {
    Source::Input(name.to_owned())
}

#[expect(clippy::unnecessary_wraps, reason = "the fields it fills are optional")]
pub(crate) fn artifact(path: &str, text: &str) -> Option<Artifact> {
    Some(Artifact { path: format!(".aiwf/sessions/s1/{path}"), text: Text::from(text) })
}

pub(crate) fn code(name: &str, content: &str) -> CodeFile {
    CodeFile {
        name: name.to_owned(),
        path: format!(".aiwf/sessions/s1/iteration-1/code/{name}"),
        body: PartBody::Inline(Text::from(content)),
    }
}

/// A step without artifacts.
pub(crate) fn session(phase: SessionPhase) -> SessionRequest {
    SessionRequest {
        tools: Vec::new(),
        phase,
        profile_prompt: Text::from("Do your work"),
        profile_source: input("profile_prompt"),
        plan: None,
        standards: None,
        project_context: Vec::new(),
        project_files: Vec::new(),
        changes: None,
        checks: None,
        answer_format: None,
        code: Vec::new(),
        review: None,
        comments: None,
        notes: None,
        feedback: None,
        rejected_reply: None,
        response_path: phase.response_file().map(|file| format!(".aiwf/sessions/s1/iteration-1/{file}")),
    }
}

/// A step with all artifacts, whether the phase needs them or not.
pub(crate) fn full_session(phase: SessionPhase) -> SessionRequest {
    SessionRequest {
        plan: artifact("plan.md", "# Plan\n\nStep 1: Do X"),
        standards: artifact("standards-bundle.md", "# Standards\n\nRule 1"),
        code: vec![code("Customer.java", "public class Customer {}")],
        review: artifact("iteration-1/review-response.md", "Rename it"),
        comments: None,
        notes: None,
        feedback: Some(Text::from("Too long")),
        ..session(phase)
    }
}

/// Only instructions.
pub(crate) fn change(instructions: &str) -> ChangeRequest {
    ChangeRequest {
        phase: None,
        system_prompt: None,
        context: Vec::new(),
        instructions: Text::from(instructions),
        instructions_source: input("instructions"),
    }
}

pub(crate) fn item(kind: ItemKind, name: &str, content: &str) -> ContextItem {
    ContextItem::new(kind, name, content)
}

pub(crate) fn agent() -> Agent {
    Agent {
        id: "analyst".to_owned(),
        name: Some(("Mary".to_owned(), "Business Analyst".to_owned())),
        persona: Some(AgentPersona {
            role: "Finds out what is needed".to_owned(),
            identity: "A patient listener".to_owned(),
            communication_style: "plain".to_owned(),
            principles: vec!["Ask first".to_owned(), "Write it down".to_owned()],
        }),
        critical_actions: Vec::new(),
        system_prompt: None,
        user_prompt_template: None,
        tools: ToolPolicy::default(),
    }
}

pub(crate) fn transition(to: &str, label: &str) -> Transition {
    Transition { to: to.to_owned(), label: label.to_owned(), is_default: false, condition: None }
}

/// The first node of a small workflow.
pub(crate) fn intake() -> NodeBrief {
    NodeBrief {
        node_id: "step-01-intake".to_owned(),
        node_type: NodeType::from_name("step"),
        title: Some("Intake".to_owned()),
        step_file: "steps/step-01-intake.md".to_owned(),
        inputs: Vec::new(),
        outputs: vec!["artifacts/intake.md".to_owned()],
        transitions: vec![transition("decide-02", "next")],
    }
}

/// The decision node of a small workflow.
pub(crate) fn decision() -> NodeBrief {
    let branch = |to: &str, label: &str, is_default| Transition {
        is_default,
        condition: Some(format!("variables.projectType == '{label}'")),
        ..transition(to, label)
    };
    NodeBrief {
        node_id: "decide-02".to_owned(),
        node_type: NodeType::Decision,
        title: None,
        step_file: "steps/decide-02.md".to_owned(),
        inputs: vec!["artifacts/intake.md".to_owned()],
        outputs: Vec::new(),
        transitions: vec![branch("step-03a", "greenfield", false), branch("step-03b", "brownfield", true)],
    }
}

/// A run at its first node; other modes ignore what they do not need.
pub(crate) fn workflow(mode: Mode) -> WorkflowRequest {
    WorkflowRequest {
        mode,
        roots: Roots::default(),
        workflow_id: Some("hello-branch".to_owned()),
        graph_path: Some("workflow.graph.json".to_owned()),
        active_agent_id: Some("analyst".to_owned()),
        effective_agent_id: None,
        agent: agent(),
        current_node_id: Some("step-01-intake".to_owned()),
        steps_completed: Vec::new(),
        variables: serde_json::Map::new(),
        artifacts: Vec::new(),
        node_brief: Some(intake()),
        tool_policy: None,
        tools: Vec::new(),
        intent: Some(Intent::Start),
        is_autopilot: false,
        user_input: None,
        data_context: None,
        is_completed: false,
    }
}

/// Variables of a run.
pub(crate) fn object(value: serde_json::Value) -> serde_json::Map<String, serde_json::Value> {
    let serde_json::Value::Object(map) = value else { panic!("not an object: {value}") };
    map
}

pub(crate) fn roots() -> Roots {
    Roots {
        project: Some("/home/me/shop".to_owned()),
        package: Some("/home/me/.aiwf/packages/hello".to_owned()),
        state: Some("/home/me/.aiwf/runs/r1".to_owned()),
        home: Some("/home/me".to_owned()),
        others: Vec::new(),
    }
}

/// Only a report.
pub(crate) fn reply(mode: ReplyMode) -> ReplyRequest {
    ReplyRequest {
        ai_message: Text::from("The tests pass."),
        user_context: None,
        tool_results: None,
        includes_tools: false,
        project_name: None,
        project_path: None,
        system_prompt: None,
        closing: None,
        components: Vec::new(),
        mode,
        cli_tool: None,
        tools: Vec::new(),
    }
}

pub(crate) fn search_tool() -> ToolSchema {
    ToolSchema {
        name: "search".to_owned(),
        description: Some("Finds text in the project.".to_owned()),
        input_schema: Some(serde_json::json!({
            "type": "object",
            "properties": { "pattern": { "type": "string" } },
            "required": ["pattern"],
        })),
    }
}

/// A report with everything that can accompany it.
pub(crate) fn full_reply(mode: ReplyMode) -> ReplyRequest {
    ReplyRequest {
        user_context: Some(Text::from("Only the parser changed.")),
        tool_results: Some(Text::from("search: 3 matches")),
        includes_tools: true,
        project_name: Some("shop".to_owned()),
        project_path: Some("services/shop".to_owned()),
        system_prompt: Some(Text::from("Be brief.")),
        cli_tool: Some("any-cli".to_owned()),
        tools: vec![search_tool()],
        ..reply(mode)
    }
}

/// A custom component: fixed sections at a fixed position, in the given recipes.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub(crate) id: &'static str,
    pub(crate) order: i32,
    pub(crate) recipes: &'static [Recipe],
    pub(crate) sections: Vec<Section>,
}

impl Fixed {
    /// One user section with this text, in every recipe.
    pub(crate) fn text(id: &'static str, order: i32, text: &str) -> Self {
        let section = Section::new(id, "Custom", Source::Component(id.to_owned()), text);
        Self { id, order, recipes: &Recipe::ALL, sections: vec![section] }
    }
}

impl Component for Fixed {
    fn id(&self) -> &str {
        self.id
    }

    fn order(&self) -> i32 {
        self.order
    }

    fn takes_part_in(&self, recipe: Recipe) -> bool {
        self.recipes.contains(&recipe)
    }

    fn sections(&self, _: &Request, _: &Capability) -> Result<Vec<Section>, PromptError> {
        Ok(self.sections.clone())
    }
}

/// Messages for display: a line with the role above each, carriage returns made visible.
pub(crate) fn shown(messages: &[Message]) -> String {
    let message = |message: &Message| format!("[{}]\n{}", message.role.as_str(), message.content);
    messages.iter().map(message).collect::<Vec<_>>().join("\n\n").replace('\r', "␍")
}
