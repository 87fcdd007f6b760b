//! Reads the document of a workflow turn.

use aiwf_config::Settings;
use aiwf_prompt::{
    Agent, AgentPersona, DataContext, FsPolicy, Intent, McpPolicy, Mode, NodeBrief, NodeType, Request, Roots,
    ToolPolicy, Transition, WorkflowRequest,
};

use super::{DocumentCapability, Gathered, named};
use crate::error::EngineError;
use crate::prompt::document::WorkflowDocument;
use crate::prompt::document::workflow::{
    AgentDocument, NodeBriefDocument, PrinciplesDocument, ToolPolicyDocument,
};

pub(super) fn gather(document: WorkflowDocument, settings: &Settings) -> Result<Gathered, EngineError> {
    let mode = named("mode", "mode", &document.mode, Mode::from_name, Mode::ALL.map(Mode::as_str))?;
    let intent = document
        .intent
        .as_deref()
        .map(|name| named("intent", "intent", name, Intent::from_name, Intent::ALL.map(Intent::as_str)))
        .transpose()?;
    let request = WorkflowRequest {
        mode,
        roots: Roots {
            project: document.project_root,
            package: document.package_root,
            state: document.state_root,
            home: settings.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
            others: Vec::new(),
        },
        workflow_id: document.workflow_id,
        graph_path: document.graph_rel_path,
        active_agent_id: document.active_agent_id,
        effective_agent_id: document.effective_agent_id,
        agent: agent(document.agent_definition),
        current_node_id: document.current_node_id,
        steps_completed: document.steps_completed,
        variables: document.variables,
        artifacts: document.artifacts,
        node_brief: document.node_brief.map(node_brief),
        tool_policy: document.tool_policy.map(tool_policy),
        tools: Vec::new(),
        intent,
        is_autopilot: document.autopilot,
        user_input: document.user_input,
        data_context: document.data_context.map(|data| DataContext {
            label: data.label,
            path: data.path,
            preview: data.preview,
            // The caller sends the complete conversation.
            n_cut_bytes: 0,
        }),
        is_completed: document.workflow_completed,
    };
    Ok(Gathered {
        context: None,
        request: Request::Workflow(Box::new(request)),
        capability: DocumentCapability::default(),
        problems: Vec::new(),
    })
}

fn agent(document: AgentDocument) -> Agent {
    Agent {
        id: document.id,
        name: document.metadata.map(|metadata| (metadata.name, metadata.title)),
        persona: document.persona.map(|persona| AgentPersona {
            role: persona.role,
            identity: persona.identity,
            communication_style: persona.communication_style,
            principles: match persona.principles {
                PrinciplesDocument::List(list) => list,
                PrinciplesDocument::Text(text) => {
                    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
                }
            },
        }),
        critical_actions: document.critical_actions,
        system_prompt: document.system_prompt,
        user_prompt_template: document.user_prompt_template,
        tools: document.tools.map(tool_policy).unwrap_or_default(),
    }
}

fn node_brief(document: NodeBriefDocument) -> NodeBrief {
    NodeBrief {
        node_id: document.node_id,
        node_type: NodeType::from_name(&document.node_type),
        title: document.title,
        step_file: document.step_file_path_in_pkg,
        inputs: document.inputs,
        outputs: document.outputs,
        transitions: document
            .transitions
            .into_iter()
            .map(|transition| Transition {
                to: transition.to,
                label: transition.label,
                is_default: transition.is_default,
                condition: transition.condition_text,
            })
            .collect(),
    }
}

fn tool_policy(document: ToolPolicyDocument) -> ToolPolicy {
    ToolPolicy {
        fs: document.fs.map_or_else(FsPolicy::default, |fs| FsPolicy {
            is_enabled: fs.enabled,
            max_read_bytes: fs.max_read_bytes,
            max_write_bytes: fs.max_write_bytes,
        }),
        mcp: document.mcp.map_or_else(McpPolicy::default, |mcp| McpPolicy {
            is_enabled: mcp.enabled,
            allowed_servers: mcp.allowed_servers,
        }),
    }
}
