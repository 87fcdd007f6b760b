//! Reads tool calls that models without native tools write into their text, and formats the results for them.

use aiwf_provider::{Payload, PayloadMessage, Turn};
use aiwf_reply::parse_tool_calls;
use aiwf_tools::{Call, ExecuteOptions, Outcome, Policy, Servers, execute_tools, format_results_prompt};

/// The tool-call protocol for models that write calls into their text.
#[derive(Clone, Copy, Debug)]
pub struct CliMcpResponseHandler {
    /// The round, starting at 1; used in the ids of calls without one.
    pub round: u32,
}

impl CliMcpResponseHandler {
    /// The calls of a reply, and what looks like a call but could not be read.
    ///
    /// Ignores whatever the reply repeats from its prompt or from tool output.
    pub fn parse_tool_calls(self, reply: &str, sent: &Payload) -> (Vec<Call>, Vec<String>) {
        let parsed = parse_tool_calls(&without_echo(reply, sent));
        let calls = parsed.value.calls.into_iter().enumerate().map(|(index, call)| {
            let id = call.id.unwrap_or_else(|| format!("call-{}-{}", self.round, index + 1));
            Call { id, name: call.name, arguments: call.arguments }
        });
        let problems = parsed.problems.into_iter().map(|problem| problem.message);
        // An unclosed thought contains no call.
        let is_of_call = |message: &String| {
            let thoughts = ["`<think", "`</think", "`<thought", "`</thought"];
            !thoughts.iter().any(|start| message.starts_with(start))
        };
        (calls.collect(), problems.filter(is_of_call).collect())
    }

    /// Runs the calls under a policy. The result of a call that is not granted is a refusal.
    pub fn execute_tools(
        self,
        calls: &[Call],
        policy: &Policy,
        servers: &Servers,
        options: &ExecuteOptions<'_>,
    ) -> Vec<Outcome> {
        execute_tools(calls, policy, servers, options)
    }

    /// Formats the results as the next message to the model: data that cannot leave its fence.
    pub fn format_results_prompt(self, outcomes: &[Outcome], problems: &[String]) -> String {
        format_results_prompt(outcomes, problems)
    }

    /// The turns to add: the reply, and the results as data.
    pub fn turns(self, reply: String, outcomes: &[Outcome], problems: &[String]) -> [Turn; 3] {
        let results = self.format_results_prompt(outcomes, problems);
        [
            Turn::User { content: format!("## Your reply {}", self.round).into() },
            Turn::Assistant { content: reply.into(), tool_calls: Vec::new() },
            Turn::User {
                content: format!(
                    "## Results {}\n\n{results}\n\nContinue: call tools as before, or answer the request above.",
                    self.round
                )
                .into(),
            },
        ]
    }
}

/// Removes text that the reply repeats word for word from what was sent.
fn without_echo(reply: &str, sent: &Payload) -> String {
    let system = sent.system_text();
    let messages: Vec<String> = sent.messages.iter().map(PayloadMessage::text).collect();
    let messages = messages.iter().map(String::as_str);
    let all: Vec<&str> = messages.clone().chain(sent.turns.iter().map(Turn::content)).collect();
    let whole = all.join("\n\n");
    // A model may repeat a call of its own.
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
