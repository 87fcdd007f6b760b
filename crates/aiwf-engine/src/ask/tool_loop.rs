//! The loop of a model and its tools: reads the calls of a reply, runs them, and says what to ask next.
//!
//! Whoever asks the model hands each reply to a [`ToolLoop`]; it adds the reply and the results to the payload, so
//! that the model is asked again with the whole exchange so far. It knows two ways: providers with tools of their
//! own are given a list and name calls by id (API mode); all others read the tools in the prompt and write calls into
//! their text ([`CliMcpResponseHandler`]). Policy, caps and limits are the same for both.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use aiwf_provider::{Payload, PayloadMessage, Stop, ToolCall, ToolSpec, Turn};
use aiwf_reply::parse_tool_calls;
use aiwf_session::{ToolOutcome, ToolUse};
use aiwf_store::sha256_hex;
use aiwf_tools::{
    Call, CallError, ExecuteOptions, Grant, Outcome, Policy, Rules, Servers, Tool, ToolsError, execute_tools,
    format_results_prompt,
};
use serde_json::{Map, Value};

use crate::document::ToolDocument;
use crate::tools::{KeptResults, Toolbox};

/// How often a call may fail before the model is not asked again.
const MAX_EQUAL_FAILURES: u32 = 3;

/// The tools that a model may call, and where they run.
#[derive(Clone, Debug)]
pub(crate) struct PhaseTools {
    pub(crate) toolbox: Rc<Toolbox>,
    pub(crate) grant: Grant,
    pub(crate) policy: Policy,
    /// How often the servers had said that their tools changed before they were listed.
    pub(crate) n_list_changes: u64,
    /// Whether the provider calls tools by its own means.
    pub(crate) is_native: bool,
}

impl PhaseTools {
    /// The tools for the payload: nothing when they stand in the prompt.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        if self.is_native { specs(&self.policy) } else { Vec::new() }
    }

    /// The tools for the prompt: nothing when they are part of the payload.
    pub(crate) fn documents(&self) -> Vec<ToolDocument> {
        let document = |tool: &Tool| ToolDocument {
            name: tool.full_name(),
            description: tool.description.clone(),
            input_schema: Some(tool.input_schema.clone()),
        };
        if self.is_native { Vec::new() } else { self.policy.tools().map(document).collect() }
    }

    /// What was granted and cannot be used, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        let refusals = self.policy.unusable_grants();
        refusals.iter().map(|refusal| format!("{refusal}; {}", refusal.hint())).collect()
    }
}

fn specs(policy: &Policy) -> Vec<ToolSpec> {
    let spec = |tool: &Tool| ToolSpec {
        name: tool.api_name(),
        description: tool.description.clone().unwrap_or_default(),
        parameters: tool.input_schema.clone(),
    };
    policy.tools().map(spec).collect()
}

/// What became of a reply.
#[derive(Debug)]
pub(crate) struct Round {
    /// The calls that were run or refused.
    pub(crate) uses: Vec<ToolUse>,
    /// Whether the model is to be asked again; the reply is final otherwise.
    pub(crate) asks_again: bool,
}

/// Why a loop ended before the model was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutShort {
    /// The last round is over, and the model wanted another.
    MaxRounds,
    /// The same call failed again and again.
    Loop,
}

/// One exchange with a model that has tools.
#[derive(Debug)]
pub(crate) struct ToolLoop {
    tools: Rc<PhaseTools>,
    /// What may be called now: a granted tool may appear while the exchange goes on.
    policy: Policy,
    n_list_changes: u64,
    results: KeptResults,
    max_rounds: u32,
    stop: Stop,
    /// How many rounds there were.
    pub(crate) n_rounds: u32,
    /// Why it ended before the model was done, when it did.
    pub(crate) cut_short: Option<CutShort>,
    failures: BTreeMap<String, u32>,
}

impl ToolLoop {
    /// A loop of at most so many rounds; as the policy says when nobody else does.
    pub(crate) fn new(
        tools: Rc<PhaseTools>,
        max_rounds: Option<u32>,
        results: KeptResults,
        stop: &Stop,
    ) -> Self {
        let max_rounds = max_rounds.or(tools.policy.rules().max_rounds).unwrap_or(u32::MAX);
        Self {
            policy: tools.policy.clone(),
            n_list_changes: tools.n_list_changes,
            tools,
            results,
            max_rounds,
            stop: stop.clone(),
            n_rounds: 0,
            cut_short: None,
            failures: BTreeMap::new(),
        }
    }

    /// Looks at the tools again when a server said that they changed; the names that can be called only now.
    fn refresh(&mut self) -> Vec<String> {
        let n_list_changes = self.tools.toolbox.servers().n_list_changes();
        if n_list_changes == self.n_list_changes {
            return Vec::new();
        }
        // A server that cannot be asked now says so when one of its tools is called.
        let Ok(policy) = self.tools.toolbox.policy(&Rules::default(), &self.tools.grant) else {
            return Vec::new();
        };
        self.n_list_changes = n_list_changes;
        let before = std::mem::replace(&mut self.policy, policy);
        let names = self.policy.tools().map(Tool::full_name);
        names.filter(|name| before.allows(name).is_err()).collect()
    }

    /// Takes a reply: runs what it calls and adds both to the payload, or finds that it is the last one.
    pub(crate) fn take(&mut self, text: String, tool_calls: &[ToolCall], payload: &mut Payload) -> Round {
        let last = |uses| Round { uses, asks_again: false };
        let handler = CliMcpResponseHandler { round: self.n_rounds + 1 };
        let mut new_tools = self.refresh();
        let wanted = if self.tools.is_native {
            Wanted::of_api(tool_calls, &self.policy)
        } else {
            let (calls, problems) = handler.parse_tool_calls(&text, payload);
            Wanted { calls: calls.into_iter().map(Ok).collect(), problems }
        };
        if wanted.is_empty() {
            return last(Vec::new());
        }
        if self.n_rounds >= self.max_rounds {
            self.cut_short = Some(CutShort::MaxRounds);
            return last(Vec::new());
        }
        self.n_rounds += 1;
        let (arguments, problems) = (wanted.arguments(), wanted.problems.clone());
        let outcomes = self.run(wanted);
        let uses: Vec<ToolUse> =
            outcomes.iter().zip(arguments).map(|(outcome, given)| used(outcome, given)).collect();
        if self.is_going_in_circles(&uses, &problems) {
            self.cut_short = Some(CutShort::Loop);
            return last(uses);
        }
        new_tools.extend(self.refresh());
        if self.tools.is_native {
            payload.tools = specs(&self.policy);
            payload.turns.push(Turn::Assistant { content: text, tool_calls: tool_calls.to_vec() });
            let results = tool_calls.iter().zip(&outcomes).map(|(call, outcome)| Turn::Tool {
                id: call.id.clone(),
                name: call.name.clone(),
                content: outcome.text(),
                is_error: !outcome.is_success(),
            });
            payload.turns.extend(results);
        } else {
            payload.turns.extend(handler.turns(text, &outcomes, &problems));
            if let Some(Turn::User { content }) = payload.turns.last_mut() {
                content.push_str(&self.shown_tools(&new_tools));
            }
        }
        Round { uses, asks_again: true }
    }

    /// What a model that reads its tools in the prompt is told about those that appeared.
    fn shown_tools(&self, names: &[String]) -> String {
        let tools = names.iter().filter_map(|name| self.policy.allows(name).ok());
        let mut shown = String::new();
        for tool in tools {
            let (name, description) = (tool.full_name(), tool.description.as_deref().unwrap_or_default());
            // Writing to a string does not fail.
            let _ = write!(shown, "\n\n### `{name}`\n\n{description}\n\nArguments: {}", tool.input_schema);
        }
        if shown.is_empty() { shown } else { format!("\n\n## More tools that you can call now{shown}") }
    }

    /// What a person should know about how the loop ended.
    pub(crate) fn warning(&self) -> Option<String> {
        Some(match self.cut_short? {
            CutShort::MaxRounds => format!(
                "the model still called tools after {} rounds, the most there may be; its last reply is used and its \
                 calls were not run",
                self.n_rounds
            ),
            CutShort::Loop => format!(
                "the same call failed {MAX_EQUAL_FAILURES} times; the model was not asked again and its last reply is \
                 used"
            ),
        })
    }

    fn run(&self, wanted: Wanted) -> Vec<Outcome> {
        let calls: Vec<Call> = wanted.calls.iter().filter_map(|call| call.as_ref().ok().cloned()).collect();
        let toolbox = &self.tools.toolbox;
        let stop = self.stop.clone();
        let options = ExecuteOptions {
            results: self.results.as_dir(),
            is_stopped: &move || stop.is_raised(),
            on_progress: &|_, _| (),
        };
        let mut run = execute_tools(&calls, &self.policy, toolbox.servers(), &options).into_iter();
        let outcomes = wanted.calls.into_iter().filter_map(|call| match call {
            Ok(_) => run.next(),
            Err(broken) => Some(*broken),
        });
        outcomes.collect()
    }

    /// Counts failures, each call once a round: what was called side by side has not been told of its failure yet.
    fn is_going_in_circles(&mut self, uses: &[ToolUse], problems: &[String]) -> bool {
        let mut failed: Vec<String> = problems.to_vec();
        for used in uses {
            let key = format!("{} {}", used.tool, used.arguments);
            if used.outcome == ToolOutcome::Done {
                self.failures.remove(&key);
            } else {
                failed.push(key);
            }
        }
        failed.sort();
        failed.dedup();
        let mut is_over = false;
        for key in failed {
            let count = self.failures.entry(key).or_default();
            *count += 1;
            is_over |= *count >= MAX_EQUAL_FAILURES;
        }
        is_over
    }
}

/// What a reply wants run.
#[derive(Debug, Default)]
struct Wanted {
    /// The calls in their order; what cannot be run has its outcome already.
    calls: Vec<Result<Call, Box<Outcome>>>,
    /// What was meant as a call and could not be read.
    problems: Vec<String>,
}

impl Wanted {
    fn of_api(tool_calls: &[ToolCall], policy: &Policy) -> Self {
        let call = |call: &ToolCall| {
            let tool = policy.tool_of_api_name(&call.name);
            let name = tool.map_or_else(|| call.name.clone(), Tool::full_name);
            let arguments = match &call.arguments {
                Value::Object(arguments) => arguments.clone(),
                Value::Null => Map::new(),
                Value::String(text) if text.trim().is_empty() => Map::new(),
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    let problems = vec!["they are no JSON object".to_owned()];
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
        Self { calls: tool_calls.iter().map(call).collect(), problems: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.problems.is_empty()
    }

    fn arguments(&self) -> Vec<Value> {
        let arguments = |call: &Result<Call, Box<Outcome>>| match call {
            Ok(call) => Value::Object(call.arguments.clone()),
            Err(_) => Value::Null,
        };
        self.calls.iter().map(arguments).collect()
    }
}

/// Reads replies of models that write their calls into the text, and words what they are told next.
#[derive(Clone, Copy, Debug)]
pub struct CliMcpResponseHandler {
    /// The round, from 1; calls without an id get one from it.
    pub round: u32,
}

impl CliMcpResponseHandler {
    /// The calls of a reply, and what was meant as one and could not be read.
    ///
    /// What the reply repeats of what it was sent is not read: neither the prompt nor tool output.
    pub fn parse_tool_calls(self, reply: &str, sent: &Payload) -> (Vec<Call>, Vec<String>) {
        let parsed = parse_tool_calls(&without_echo(reply, sent));
        let calls = parsed.value.calls.into_iter().enumerate().map(|(index, call)| {
            let id = call.id.unwrap_or_else(|| format!("call-{}-{}", self.round, index + 1));
            Call { id, name: call.name, arguments: call.arguments }
        });
        let problems = parsed.problems.into_iter().map(|problem| problem.message);
        // A thought that never ends is no call.
        let is_of_call = |message: &String| {
            let thoughts = ["`<think", "`</think", "`<thought", "`</thought"];
            !thoughts.iter().any(|start| message.starts_with(start))
        };
        (calls.collect(), problems.filter(is_of_call).collect())
    }

    /// Runs the calls under a policy; one that it does not grant is refused, and that is its result.
    pub fn execute_tools(
        self,
        calls: &[Call],
        policy: &Policy,
        servers: &Servers,
        options: &ExecuteOptions<'_>,
    ) -> Vec<Outcome> {
        execute_tools(calls, policy, servers, options)
    }

    /// The results as the next words to the model: data that cannot leave its fence.
    pub fn format_results_prompt(self, outcomes: &[Outcome], problems: &[String]) -> String {
        format_results_prompt(outcomes, problems)
    }

    /// What is added to the exchange: the reply, and the results as data.
    pub fn turns(self, reply: String, outcomes: &[Outcome], problems: &[String]) -> [Turn; 3] {
        let results = self.format_results_prompt(outcomes, problems);
        [
            Turn::User { content: format!("## Your reply {}", self.round) },
            Turn::Assistant { content: reply, tool_calls: Vec::new() },
            Turn::User {
                content: format!(
                    "## Results {}\n\n{results}\n\nGo on: call tools as before, or answer what was asked above.",
                    self.round
                ),
            },
        ]
    }
}

/// A reply without what was sent, where it repeats that word for word.
fn without_echo(reply: &str, sent: &Payload) -> String {
    let system = sent.system_text();
    let messages: Vec<String> = sent.messages.iter().map(PayloadMessage::text).collect();
    let messages = messages.iter().map(String::as_str);
    let all: Vec<&str> = messages.clone().chain(sent.turns.iter().map(Turn::content)).collect();
    let whole = all.join("\n\n");
    // A model may well repeat a call of its own.
    let others = sent.turns.iter().filter(|turn| !matches!(turn, Turn::Assistant { .. }));
    let texts = std::iter::once(whole.as_str())
        .chain(system.as_deref())
        .chain(messages)
        .chain(others.map(Turn::content));
    let mut reply = reply.to_owned();
    for text in texts.map(str::trim).filter(|text| !text.is_empty()) {
        if reply.contains(text) {
            reply = reply.replace(text, "\n");
        }
    }
    reply
}

/// What is on record about a call.
fn used(outcome: &Outcome, arguments: Value) -> ToolUse {
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
