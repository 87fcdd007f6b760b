//! Builds the next request of a run: layers, conversation and tools, fitted into the window.
//!
//! One function builds what `preview` prints and what is sent. The system layers are built for every request and never
//! stored. Messages are stored in the journal, so only new ones are composed.

use std::rc::Rc;

use aiwf_prompt::{
    Agent, Capability, CountTokens as _, DataContext, Format, FsPolicy, Intent, McpPolicy, Mode, Options,
    OwnedText, PromptAggregator, PromptError, Request, Role, Sha256Hex, Tokenizer, Tokens, ToolPolicy,
    TurnWeight, TurnsTooLarge, WorkflowRequest, fit_turns, left_out_note,
};
use aiwf_provider::{Payload, ToolSpec, Turn};
use aiwf_session::{LeftOut, LeftOutKind};
use aiwf_tools::{Access, Grant, Rules};

use super::conversation::{RenderedEntry, View, is_protocol_complete, layer_of, render_entries};
use super::event::{Block, Fault, PRECONDITION_FAILED, RunKind};
use super::record::Entry;
use super::report::{PreviewLayer, PreviewPayload, RunPreview};
use super::state_access::StateAccess as _;
use super::tools::{RunTools, RunToolsSetup};
use super::{AgentTools, Run};
use crate::ask::payload::{cache_breakpoints, payload_from};
use crate::ask::providers::{self, Ability, Duty};
use crate::ask::toolbox::Toolbox;
use crate::catalog::packages::{prompt_agent, prompt_node_brief};
use crate::prompt::count_cache::CountCache;
use crate::prompt::every_core::side_by_side;
use crate::prompt::left_out;
use crate::run::run_error::RunError;

#[derive(Clone, Debug, Default)]
pub(super) struct TurnInput<'a> {
    pub(super) intent: Option<Intent>,
    pub(super) input: Option<&'a str>,
    /// Data of the chosen menu item.
    pub(super) data: Option<DataContext>,
}

/// The layers of a request, by how they are stored.
pub(super) struct Layers {
    /// Built for every request.
    pub(super) system: Vec<(String, String)>,
    /// Sent once and stored.
    pub(super) blocks: Vec<Block>,
    pub(super) node: Option<String>,
    pub(super) agent: Option<String>,
    /// The tools of the agent.
    pub(super) tools: Rc<RunTools>,
}

/// A request that can be sent.
pub(super) struct NextRequest {
    pub(super) payload: Payload,
    pub(super) tools: Rc<RunTools>,
    pub(super) ability: Ability,
    /// The system layers, then the turns, one text each.
    system: Vec<(String, String)>,
    turn_layers: Vec<&'static str>,
    window: Option<u64>,
    pub(super) n_left_out: usize,
    tokens_left_out: Tokens,
    pub(super) left_out: Vec<LeftOut>,
}

pub(super) enum NoRequest {
    /// The required parts of the request do not fit the window.
    Refused(Fault),
    Error(RunError),
}

impl<E: Into<RunError>> From<E> for NoRequest {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl Run<'_> {
    fn ability(&self) -> Result<Ability, RunError> {
        Ok(providers::ability(&self.provider, &self.config, None, Duty::Read, "workflow")?)
    }

    /// The layers of a request, including a new message.
    pub(super) fn layers(&mut self, turn: &TurnInput<'_>) -> Result<Layers, RunError> {
        let mut request = self.workflow_request(turn)?;
        let agent_id = request.effective_agent_id.clone();
        let policy = ToolPolicy::merged(request.tool_policy.as_ref(), &request.agent.tools);
        let tools = self.tools_for(agent_id.clone(), policy)?;
        let is_native = self.ability()?.has_native_tools;
        if !is_native {
            request.tools = tools.schemas();
        }
        let node = request.node_brief.as_ref().map(|brief| brief.node_id.clone());
        let capability = Capability {
            fs_ability: None,
            supports_system_prompt: true,
            supports_file_attachments: false,
            sends_files: false,
        };
        let options =
            Options { format: Format::Messages, capability, budget: None, counter: &Tokenizer::Estimate };
        let prompt = PromptAggregator::global().aggregate(&Request::Workflow(Box::new(request)), &options)?;
        let sections = prompt.sections().into_iter().filter(|section| section.is_kept);
        let mut system = Vec::new();
        let mut blocks = Vec::new();
        for (section, message) in sections.zip(prompt.messages()) {
            match (message.role, layer_of(&section.id)) {
                (Role::User, Some(layer)) => {
                    let left_out = left_out::from_problems(prompt.problems_of(&section.id));
                    blocks.push(Block { layer, text: message.content.into(), left_out });
                }
                (Role::System, _) | (Role::User, None) => system.push((section.id, message.content)),
            }
        }
        Ok(Layers { system, blocks, node, agent: agent_id, tools })
    }

    /// The request for the recipe `workflow`.
    fn workflow_request(&self, turn: &TurnInput<'_>) -> Result<WorkflowRequest, RunError> {
        let setup = self.store.setup()?;
        let package = self.store.package.as_deref();
        let mode = match setup.kind {
            RunKind::Run => Mode::Run,
            RunKind::Agent => Mode::Agent,
            RunKind::Chat => Mode::Chat,
        };
        let definition = match setup.kind {
            RunKind::Run | RunKind::Agent => self.agent(),
            // Only its tools are used here, not its persona.
            RunKind::Chat => package.and_then(|package| package.agents.first()),
        };
        let agent = match (setup.kind, definition.map(prompt_agent)) {
            (RunKind::Chat, Some(lender)) => Agent { tools: lender.tools, ..chat_agent() },
            (RunKind::Run | RunKind::Agent, Some(agent)) => agent,
            (_, None) => chat_agent(),
        };
        let mut request = WorkflowRequest {
            mode,
            roots: self.roots.clone(),
            workflow_id: setup.workflow.clone(),
            graph_path: None,
            active_agent_id: setup.agent.clone(),
            effective_agent_id: definition.map(|agent| agent.id.clone()),
            agent,
            current_node_id: None,
            steps_completed: Vec::new(),
            variables: serde_json::Map::new(),
            artifacts: Vec::new(),
            node_brief: None,
            tool_policy: Some(self.system_policy(setup.kind)),
            intent: turn.intent,
            is_autopilot: setup.is_autopilot,
            user_input: turn.input.map(str::to_owned),
            data_context: turn.data.clone(),
            is_completed: false,
            tools: Vec::new(),
        };
        if let Some(workflow) = self.store.workflow() {
            let state = self.store.state()?;
            let graph = &workflow.graph;
            let node_id = graph.effective_node_id(state.current_node_id());
            let missing = |field| RunError::Prompt(PromptError::MissingField { mode: mode.as_str(), field });
            let node = graph.node(node_id).ok_or_else(|| missing("nodeBrief"))?;
            if definition.is_none() {
                return Err(missing("agentDefinition"));
            }
            request.graph_path = Some(workflow.graph_path.clone());
            request.is_completed = aiwf_package::is_complete(graph, &state);
            request.variables = state.variables();
            request.artifacts = state.artifacts().into_iter().map(str::to_owned).collect();
            request.steps_completed = state.steps_completed().into_iter().map(str::to_owned).collect();
            if !request.is_completed {
                request.current_node_id = Some(node_id.to_owned());
                request.node_brief = Some(prompt_node_brief(graph, node));
            }
        }
        Ok(request)
    }

    /// The policy that the configuration sets for all agents.
    fn system_policy(&self, kind: RunKind) -> ToolPolicy {
        let workflow = &self.config.workflow;
        let tools = &self.config.tools;
        let is_granted = tools.grants.get(grant_name(kind)).is_some_and(|names| !names.value.is_empty());
        ToolPolicy {
            fs: FsPolicy {
                is_enabled: Some(workflow.files.value),
                max_read_bytes: Some(workflow.max_read_bytes.value.get()),
                max_write_bytes: Some(workflow.max_write_bytes.value.get()),
            },
            mcp: McpPolicy { is_enabled: Some(tools.enabled.value && is_granted), allowed_servers: None },
        }
    }

    /// The tools under a merged policy. The previous agent's tools are reused if nothing changed.
    fn tools_for(&mut self, agent: Option<String>, policy: ToolPolicy) -> Result<Rc<RunTools>, RunError> {
        let n_list_changes = self.toolbox.as_ref().map_or(0, |toolbox| toolbox.servers().n_list_changes());
        if let Some(AgentTools { agent: known, n_list_changes: of, tools }) = &self.tools
            && *known == agent
            && *of == n_list_changes
        {
            return Ok(Rc::clone(tools));
        }
        let kind = self.store.setup()?.kind;
        let mcp = if policy.mcp.is_enabled == Some(true) {
            let toolbox = match &self.toolbox {
                Some(toolbox) => Rc::clone(toolbox),
                None => Rc::clone(self.toolbox.insert(Rc::new(self.engine.agreed_tools()?))),
            };
            let (granted, problems) = mcp_policy(&toolbox, &policy.mcp, kind)?;
            self.warnings
                .extend(problems.iter().map(|problem| format!("{problem}; its tools are not included")));
            Some((toolbox, granted))
        } else {
            None
        };
        let tools = Rc::new(RunTools::new(RunToolsSetup {
            mounts: Rc::clone(&self.mounts),
            policy,
            kind,
            agent_id: agent.clone(),
            result_preview_bytes: usize::try_from(self.config.workflow.result_preview_bytes.value.get())
                .unwrap_or(usize::MAX),
            state_dir: Some(self.store.ledger.state_dir()),
            roots: self.roots.clone(),
            mcp,
        }));
        self.tools = Some(AgentTools { agent, n_list_changes, tools: Rc::clone(&tools) });
        Ok(tools)
    }

    /// The next request: all stored messages, and `more` that are not recorded yet.
    pub(super) fn next_request(&mut self, more: &[Entry]) -> Result<NextRequest, NoRequest> {
        let layers = self.layers(&TurnInput::default())?;
        let ability = self.ability()?;
        let view = View { is_complete: self.store.is_complete(), is_native: ability.has_native_tools };
        let rendered = render_entries(self.store.record.entries.iter().chain(more), view);
        let specs = if view.is_native { layers.tools.specs() } else { Vec::new() };
        let window = self.window();
        let fit = fit(&rendered, &layers.system, &specs, window.map(|(window, _)| window), &self.counter())?;
        let left_out = left_out_of(&rendered, &fit, window);
        let mut turns = Vec::new();
        let mut turn_layers = Vec::new();
        if fit.n_left_out > 0 {
            turns.push(Turn::User { content: left_out_note(fit.n_left_out).into() });
            turn_layers.push("runtime-note");
        }
        for (rendered, is_kept) in rendered.into_iter().zip(&fit.kept) {
            if *is_kept {
                turn_layers.extend(std::iter::repeat_n(rendered.layer, rendered.turns.len()));
                turns.extend(rendered.turns);
            }
        }
        if view.is_native && !is_protocol_complete(&turns) {
            let message = "the conversation has calls without results, or results without calls";
            let hint = "`aiwf workflow fork` continues from an earlier node in a new run; please report this";
            return Err(NoRequest::Refused(Fault::new(PRECONDITION_FAILED, message, hint)));
        }
        let takes_system = ability.capability.supports_system_prompt;
        let role = if takes_system { Role::System } else { Role::User };
        let layer = |(id, text): &(String, String)| {
            vec![OwnedText {
                section: id.clone(),
                source: "engine".to_owned(),
                role,
                text: text.clone(),
                is_stable: true,
            }]
        };
        let payload = payload_from(layers.system.iter().map(layer).collect(), Some(&self.store.ledger.id));
        let payload = Payload { turns, tools: specs, ..payload };
        Ok(NextRequest {
            payload,
            tools: layers.tools,
            ability,
            system: layers.system,
            turn_layers,
            window: window.map(|(window, _)| window),
            n_left_out: fit.n_left_out,
            tokens_left_out: fit.tokens_left_out,
            left_out,
        })
    }

    /// The maximum number of tokens of a request, and who sets it.
    fn window(&self) -> Option<(u64, LeftOutKind)> {
        let set = self.config.workflow.context_tokens.as_ref().map(|tokens| u64::from(tokens.value.get()));
        let set = set.map(|tokens| (tokens, LeftOutKind::Budget));
        set.or_else(|| Some((providers::window(&self.provider, &self.config)?, LeftOutKind::Window)))
    }

    fn counter(&self) -> CountCache {
        let tokenizer = providers::tokenizer(&self.provider, &self.config);
        CountCache::open(tokenizer, self.engine.settings().cache_dir.as_deref())
    }

    /// The request with token counts of all its parts.
    pub(super) fn preview_of(&self, next: NextRequest) -> RunPreview {
        let counter = self.counter();
        let role_of_system = if next.payload.system.is_empty() { "user" } else { "system" };
        let system = next.system.iter().map(|(id, text)| (role_of_system, id.as_str(), text.as_str()));
        let turns = next.payload.turns.iter().zip(&next.turn_layers).map(|(turn, layer)| {
            let role = match turn {
                Turn::User { .. } => "user",
                Turn::Assistant { .. } => "assistant",
                Turn::Tool { .. } => "tool",
            };
            (role, *layer, turn.content())
        });
        let parts: Vec<(&'static str, &str, &str)> = system.chain(turns).collect();
        let count = || {
            let texts: Vec<Vec<&str>> = parts.iter().map(|(.., text)| vec![*text]).collect();
            let hashes: Vec<Sha256Hex> = parts.iter().map(|(.., text)| Sha256Hex::of([*text])).collect();
            let counts = counter.count_hashed(&texts, &hashes);
            let layers = parts.iter().zip(counts).zip(hashes).map(|(((role, layer, _), tokens), sha256)| {
                let layer = (*layer).to_owned();
                PreviewLayer { role, layer, tokens: tokens.0, sha256: sha256.to_string() }
            });
            let layers: Vec<PreviewLayer> = layers.collect();
            (layers, tokens_of_tools(&next.payload.tools, &counter).0)
        };
        let write = || {
            let canonical = next.payload.canonical();
            let sha256 = Sha256Hex::of([canonical.as_str()]).to_string();
            (canonical, sha256)
        };
        let ((canonical, payload_sha256), (layers, tool_tokens)) = side_by_side(write, count);
        counter.save();
        RunPreview {
            run_id: self.id().to_owned(),
            provider: self.provider.clone(),
            tokenizer: counter.name().to_owned(),
            is_exact: counter.is_exact(),
            payload_sha256,
            canonical,
            tokens: layers.iter().map(|layer| layer.tokens).sum::<u64>() + tool_tokens,
            layers,
            cache_breakpoints: cache_breakpoints(&next.payload, &self.provider, &self.config),
            n_tools: next.payload.tools.len(),
            payload: PreviewPayload(next.payload),
            tool_tokens,
            window: next.window,
            n_left_out: next.n_left_out,
            tokens_left_out: next.tokens_left_out.0,
            left_out: next.left_out,
            warnings: self.warnings.clone(),
        }
    }
}

/// The part of the conversation that is kept.
struct Fit {
    kept: Vec<bool>,
    /// The size of each turn, if counted.
    tokens: Vec<Tokens>,
    n_left_out: usize,
    tokens_left_out: Tokens,
}

/// Parts that the request leaves out: turns that do not fit, and parts missing in those that do.
fn left_out_of(rendered: &[RenderedEntry], fit: &Fit, window: Option<(u64, LeftOutKind)>) -> Vec<LeftOut> {
    let mut left_out = Vec::new();
    for (index, (rendered, is_kept)) in rendered.iter().zip(&fit.kept).enumerate() {
        if *is_kept {
            left_out.extend(rendered.left_out.iter().cloned());
        } else if let Some((limit, kind)) = window {
            left_out.push(LeftOut {
                id: format!("message {} ({})", index + 1, rendered.name()),
                bytes: Some(rendered.turns.iter().map(turn_bytes).sum::<usize>() as u64),
                tokens: fit.tokens.get(index).map(|tokens| tokens.0),
                kind,
                reason: left_out::does_not_fit(Tokens(limit), kind),
            });
        }
    }
    left_out
}

/// Fits the conversation into the window, next to system text and tools.
///
/// A text never has more tokens than bytes, so a conversation with fewer bytes than the window has tokens is not
/// counted.
fn fit(
    rendered: &[RenderedEntry],
    system: &[(String, String)],
    tools: &[ToolSpec],
    window: Option<u64>,
    counter: &CountCache,
) -> Result<Fit, NoRequest> {
    let kept = vec![true; rendered.len()];
    let all = Fit { kept, tokens: Vec::new(), n_left_out: 0, tokens_left_out: Tokens(0) };
    let Some(window) = window else { return Ok(all) };
    let n_bytes = |rendered: &RenderedEntry| rendered.turns.iter().map(turn_bytes).sum::<usize>();
    let of_tools: usize = tools.iter().map(|tool| serde_json::json!(tool).to_string().len()).sum();
    let of_system: usize = system.iter().map(|(_, text)| text.len()).sum();
    let total = rendered.iter().map(n_bytes).sum::<usize>() + of_tools + of_system;
    if total as u64 <= window {
        return Ok(all);
    }
    let calls: Vec<Vec<String>> =
        rendered.iter().map(|rendered| rendered.turns.iter().filter_map(call_text).collect()).collect();
    let texts: Vec<Vec<&str>> = rendered
        .iter()
        .zip(&calls)
        .map(|(rendered, calls)| {
            let contents = rendered.turns.iter().map(Turn::content);
            contents.chain(calls.iter().map(String::as_str)).collect()
        })
        .collect();
    let counts = counter.count(&texts);
    let system: Vec<Vec<&str>> = system.iter().map(|(_, text)| vec![text.as_str()]).collect();
    let fixed = counter.count(&system).into_iter().sum::<Tokens>() + tokens_of_tools(tools, counter);
    let weights: Vec<TurnWeight> = rendered
        .iter()
        .zip(counts)
        .map(|(rendered, tokens)| TurnWeight { tokens, kind: rendered.kind })
        .collect();
    let sum: Tokens = weights.iter().map(|weight| weight.tokens).sum();
    counter.save();
    if fixed.0 + sum.0 <= window {
        return Ok(all);
    }
    let note = counter.count(&[vec![left_out_note(rendered.len()).as_str()]]).into_iter().sum::<Tokens>();
    let room = Tokens(window.saturating_sub(fixed.0).saturating_sub(note.0));
    match fit_turns(&weights, room) {
        Ok(fit) => Ok(Fit {
            kept: fit.kept,
            tokens: weights.iter().map(|weight| weight.tokens).collect(),
            n_left_out: fit.n_left_out,
            tokens_left_out: fit.tokens_left_out,
        }),
        Err(TurnsTooLarge { needed, largest_tokens, .. }) => {
            let message = format!(
                "the next request needs {} tokens but the window has {window}: rules and tools {}, what cannot be \
                 left out of the conversation {}, its largest message {}",
                fixed.0 + needed.0,
                fixed.0,
                needed.0,
                largest_tokens.0
            );
            let hint = "raise `context_tokens` under `[workflow]`, choose a provider with a larger window, or fork \
                        the run at an earlier node";
            Err(NoRequest::Refused(Fault::new("CONTEXT_STILL_TOO_LARGE", message, hint)))
        }
    }
}

fn turn_bytes(turn: &Turn) -> usize {
    turn.content().len() + call_text(turn).map_or(0, |text| text.len())
}

/// A turn's calls as text, to count their tokens.
fn call_text(turn: &Turn) -> Option<String> {
    match turn {
        Turn::Assistant { tool_calls, .. } if !tool_calls.is_empty() => {
            Some(serde_json::json!(tool_calls).to_string())
        }
        Turn::Assistant { .. } | Turn::Tool { .. } | Turn::User { .. } => None,
    }
}

fn tokens_of_tools(tools: &[ToolSpec], counter: &CountCache) -> Tokens {
    let texts: Vec<String> = tools.iter().map(|tool| serde_json::json!(tool).to_string()).collect();
    let texts: Vec<Vec<&str>> = texts.iter().map(|text| vec![text.as_str()]).collect();
    counter.count(&texts).into_iter().sum()
}

/// The agent of a chat without a package; only the system's policy limits it.
fn chat_agent() -> Agent {
    let mcp = McpPolicy { is_enabled: Some(true), allowed_servers: None };
    Agent {
        id: "chat".to_owned(),
        name: None,
        persona: None,
        critical_actions: Vec::new(),
        system_prompt: None,
        user_prompt_template: None,
        tools: ToolPolicy { fs: FsPolicy::default(), mcp },
    }
}

/// The name in `[tools.grant]`.
fn grant_name(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Run => "workflow",
        RunKind::Agent => "agent",
        RunKind::Chat => "chat",
    }
}

/// The MCP tools that configuration and agent both allow; starts their servers.
///
/// A server that fails does not stop the run; the problem is returned.
fn mcp_policy(
    toolbox: &Toolbox,
    policy: &McpPolicy,
    kind: RunKind,
) -> Result<(aiwf_tools::Policy, Vec<String>), RunError> {
    let rules = Rules {
        servers: policy.allowed_servers.as_ref().map(|servers| servers.iter().cloned().collect()),
        ..Rules::default()
    };
    let grant =
        Grant { access: Access::Full, ..toolbox.grant(grant_name(kind), aiwf_session::Access::Write) };
    Ok(toolbox.policy_skipping_failed_servers(&rules, &grant)?)
}
