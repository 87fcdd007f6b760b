//! Runs the tools that a model calls in a session or a prompt, and adds reply and results to the next request.
//!
//! There are two ways: providers with native tools get a list and identify calls by id (API mode); all others read the
//! tools in the prompt and write calls into their text ([`CliMcpResponseHandler`]). Policy and limits are the same for
//! both.

use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use aiwf_provider::{Payload, Stop, ToolCall, ToolSpec, Turn};
use aiwf_session::{ToolOutcome, ToolUse};
use aiwf_store::sha256_hex;
use aiwf_tools::{
    Call, CallError, ExecuteOptions, Grant, Outcome, Policy, Rules, Tool, ToolsError, execute_tools,
};
use serde_json::{Map, Value};

use super::cli_calls::CliMcpResponseHandler;
use super::repeats::CallResult;
use super::rounds::{Limit, Rounds};
use crate::ask::toolbox::{KeptResults, Toolbox};
use crate::prompt::document::ToolDocument;

/// The tools of a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseTools {
    pub(crate) toolbox: Rc<Toolbox>,
    pub(crate) grant: Grant,
    pub(crate) policy: Policy,
    /// How many tool list changes the servers had announced before the tools were listed.
    pub(crate) n_list_changes: u64,
    /// Whether the provider supports tools natively.
    pub(crate) is_native: bool,
}

impl PhaseTools {
    /// The tools for the payload; empty if they are in the prompt.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        if self.is_native { specs(&self.policy) } else { Vec::new() }
    }

    /// The tools for the prompt; empty if they are in the payload.
    pub(crate) fn documents(&self) -> Vec<ToolDocument> {
        let document = |tool: &Tool| ToolDocument {
            name: tool.full_name(),
            description: tool.description.clone(),
            input_schema: Some(tool.input_schema.clone()),
        };
        if self.is_native { Vec::new() } else { self.policy.tools().map(document).collect() }
    }

    /// Granted tools that cannot be used, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        let refusals = self.policy.unusable_grants();
        refusals.iter().map(|refusal| format!("{refusal}; {}", refusal.hint())).collect()
    }
}

fn specs(policy: &Policy) -> Vec<ToolSpec> {
    policy.tools().map(spec).collect()
}

fn spec(tool: &Tool) -> ToolSpec {
    ToolSpec {
        name: tool.api_name(),
        description: tool.description.clone().unwrap_or_default(),
        parameters: tool.input_schema.clone(),
    }
}

/// The results of a reply's calls.
#[derive(Debug)]
pub(crate) struct Round {
    /// Calls that were run or refused.
    pub(crate) uses: Vec<ToolUse>,
    /// The same for the rule of repeated failures, with unreadable calls.
    pub(crate) results: Vec<CallResult>,
}

/// Runs the calls of one exchange.
#[derive(Debug)]
pub(crate) struct ToolCaller {
    tools: Rc<PhaseTools>,
    /// Can change during the exchange: a granted tool may appear.
    policy: Policy,
    n_list_changes: u64,
    results: KeptResults,
    stop: Stop,
}

impl ToolCaller {
    pub(crate) fn new(tools: Rc<PhaseTools>, results: KeptResults, stop: &Stop) -> Self {
        Self {
            policy: tools.policy.clone(),
            n_list_changes: tools.n_list_changes,
            tools,
            results,
            stop: stop.clone(),
        }
    }

    /// The loop, with the limit of the policy by default.
    pub(crate) fn rounds(&self, max_rounds: Option<u32>) -> Rounds {
        let max_rounds = max_rounds.or(self.tools.policy.rules().max_rounds).unwrap_or(u32::MAX);
        Rounds::new(Limit::Rounds(max_rounds))
    }

    /// The callable tools, under the names that the model sees.
    pub(crate) fn callable(&self) -> Vec<ToolSpec> {
        if self.tools.is_native {
            return specs(&self.policy);
        }
        let spec = |tool: &Tool| ToolSpec { name: tool.full_name(), ..spec(tool) };
        self.policy.tools().map(spec).collect()
    }

    /// Lists the tools again after a server announced a change; returns the names that are new.
    fn refresh(&mut self) -> Vec<String> {
        let n_list_changes = self.tools.toolbox.servers().n_list_changes();
        if n_list_changes == self.n_list_changes {
            return Vec::new();
        }
        // A server that cannot be reached now reports that when one of its tools is called.
        let Ok(policy) = self.tools.toolbox.policy(&Rules::default(), &self.tools.grant) else {
            return Vec::new();
        };
        self.n_list_changes = n_list_changes;
        let before = std::mem::replace(&mut self.policy, policy);
        let names = self.policy.tools().map(Tool::full_name);
        names.filter(|name| before.allows(name).is_err()).collect()
    }

    /// The calls of a reply; `None` if it has none.
    pub(crate) fn requested_calls(
        &mut self,
        text: String,
        tool_calls: Vec<ToolCall>,
        sent: &Payload,
        round: u32,
    ) -> Option<RequestedCalls> {
        let new_tools = self.refresh();
        let (calls, problems) = if self.tools.is_native {
            (calls_of_api(&tool_calls, &self.policy), Vec::new())
        } else {
            let (calls, problems) = CliMcpResponseHandler { round }.parse_tool_calls(&text, sent);
            (calls.into_iter().map(Ok).collect(), problems)
        };
        let is_any = !calls.is_empty() || !problems.is_empty();
        is_any.then_some(RequestedCalls { calls, problems, text, tool_calls, round, new_tools })
    }

    /// Runs the calls of a reply, and adds the reply and the results to the payload.
    pub(crate) fn run(&mut self, wanted: RequestedCalls, payload: &mut Payload) -> Round {
        let arguments = wanted.arguments();
        let RequestedCalls { calls, problems, text, tool_calls, round, mut new_tools } = wanted;
        let outcomes = self.execute(calls);
        let uses: Vec<ToolUse> =
            outcomes.iter().zip(arguments).map(|(outcome, given)| tool_use(outcome, given)).collect();
        let result =
            |used: &ToolUse| CallResult::new(&used.tool, &used.arguments, used.outcome != ToolOutcome::Done);
        let unreadable = problems.iter().map(|problem| CallResult::unreadable(problem));
        let results = uses.iter().map(result).chain(unreadable).collect();
        new_tools.extend(self.refresh());
        if self.tools.is_native {
            payload.tools = specs(&self.policy);
            let answers = tool_calls.iter().zip(&outcomes).map(|(call, outcome)| Turn::Tool {
                id: call.id.clone(),
                name: call.name.clone(),
                content: outcome.text().into(),
                is_error: !outcome.is_success(),
            });
            let answers: Vec<Turn> = answers.collect();
            payload.turns.push(Turn::Assistant { content: text.into(), tool_calls });
            payload.turns.extend(answers);
        } else {
            payload.turns.extend(CliMcpResponseHandler { round }.turns(text, &outcomes, &problems));
            if let Some(Turn::User { content }) = payload.turns.last_mut() {
                *content = format!("{content}{}", self.shown_tools(&new_tools)).into();
            }
        }
        Round { uses, results }
    }

    /// Describes new tools to a model that reads its tools in the prompt.
    fn shown_tools(&self, names: &[String]) -> String {
        let tools = names.iter().filter_map(|name| self.policy.allows(name).ok());
        let mut shown = String::new();
        for tool in tools {
            let (name, description) = (tool.full_name(), tool.description.as_deref().unwrap_or_default());
            // Writing to a string cannot fail.
            let _ = write!(shown, "\n\n### `{name}`\n\n{description}\n\nArguments: {}", tool.input_schema);
        }
        if shown.is_empty() { shown } else { format!("\n\n## More tools that you can call now{shown}") }
    }

    fn execute(&self, calls: Vec<Result<Call, Box<Outcome>>>) -> Vec<Outcome> {
        let runnable: Vec<Call> = calls.iter().filter_map(|call| call.as_ref().ok().cloned()).collect();
        let toolbox = &self.tools.toolbox;
        let stop = self.stop.clone();
        let options = ExecuteOptions {
            results: self.results.as_dir(),
            is_stopped: &move || stop.is_raised(),
            on_progress: &|_, _| (),
        };
        let mut run = execute_tools(&runnable, &self.policy, toolbox.servers(), &options).into_iter();
        let outcomes = calls.into_iter().filter_map(|call| match call {
            Ok(_) => run.next(),
            Err(broken) => Some(*broken),
        });
        outcomes.collect()
    }
}

#[derive(Debug)]
pub(crate) struct RequestedCalls {
    /// In order; calls that cannot run already have an outcome.
    calls: Vec<Result<Call, Box<Outcome>>>,
    /// Text that looks like a call but could not be read.
    problems: Vec<String>,
    /// The reply itself, for the next request.
    text: String,
    tool_calls: Vec<ToolCall>,
    round: u32,
    /// Tools that became callable after the request.
    new_tools: Vec<String>,
}

impl RequestedCalls {
    fn arguments(&self) -> Vec<Value> {
        let arguments = |call: &Result<Call, Box<Outcome>>| match call {
            Ok(call) => Value::Object(call.arguments.clone()),
            Err(_) => Value::Null,
        };
        self.calls.iter().map(arguments).collect()
    }
}

/// The calls of a model with native tools.
fn calls_of_api(tool_calls: &[ToolCall], policy: &Policy) -> Vec<Result<Call, Box<Outcome>>> {
    let call = |call: &ToolCall| {
        let tool = policy.tool_of_api_name(&call.name);
        let name = tool.map_or_else(|| call.name.clone(), Tool::full_name);
        let arguments = match &call.arguments {
            Value::Object(arguments) => arguments.clone(),
            Value::Null => Map::new(),
            Value::String(text) if text.trim().is_empty() => Map::new(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                let problems = vec!["they are not a JSON object".to_owned()];
                let error = ToolsError::BadArguments { tool: name.clone(), problems };
                return Err(Box::new(Outcome {
                    id: call.id.clone(),
                    name,
                    server: tool.map(|tool| tool.server.clone()),
                    result: Err(CallError::from(error)),
                    duration: Duration::ZERO,
                }));
            }
        };
        Ok(Call { id: call.id.clone(), name, arguments })
    };
    tool_calls.iter().map(call).collect()
}

/// The journal entry of a call.
fn tool_use(outcome: &Outcome, arguments: Value) -> ToolUse {
    let text = outcome.text();
    let (bytes, sha256, ended) = match &outcome.result {
        Ok(result) if result.is_error => (result.bytes, result.sha256.clone(), ToolOutcome::Failed),
        Ok(result) => (result.bytes, result.sha256.clone(), ToolOutcome::Done),
        Err(CallError::Refused(_)) => (text.len() as u64, sha256_hex(text.as_bytes()), ToolOutcome::Refused),
        Err(CallError::Failed(ToolsError::Unanswered { .. })) => {
            (text.len() as u64, sha256_hex(text.as_bytes()), ToolOutcome::Unknown)
        }
        Err(CallError::Failed(_)) => (text.len() as u64, sha256_hex(text.as_bytes()), ToolOutcome::Failed),
    };
    ToolUse {
        id: outcome.id.clone(),
        server: outcome.server.clone(),
        tool: outcome.name.clone(),
        arguments,
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
        bytes,
        sha256,
        outcome: ended,
        message: outcome.result.as_ref().err().map(ToString::to_string),
    }
}
