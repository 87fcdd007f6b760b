//! The three operations on tool calls that a model writes into its text: parse, execute, format.

use std::path::Path;
use std::sync::Arc;

use aiwf_engine::CliMcpResponseHandler;
use aiwf_engine::provider::Payload;
use aiwf_engine::tool::{ExecuteOptions, Policy, ResultsDir, Servers, ServersOptions};

/// What a model is told after a reply that calls a tool nobody granted.
pub(crate) fn next_words(reply: &str, kept: &Path) -> String {
    let handler = CliMcpResponseHandler { round: 1 };
    let (calls, problems) = handler.parse_tool_calls(reply, &Payload::default());
    // No server is trusted, so none is started.
    let world = ServersOptions {
        lookup: Arc::new(|_| None),
        is_trusted: Arc::new(|_| Ok(false)),
        log: None,
        start_timeout: ServersOptions::START_TIMEOUT,
    };
    let servers = Servers::new([], &world);
    let results = ResultsDir { path: kept, shown: "results" };
    let options = ExecuteOptions { results, is_stopped: &|| false, on_progress: &|_, _| () };
    let outcomes = handler.execute_tools(&calls, &Policy::nothing(), &servers, &options);
    handler.format_results_prompt(&outcomes, &problems)
}

/// Runs the example.
#[expect(clippy::disallowed_methods, reason = "a program decides itself where it works")]
pub(crate) fn main() {
    let reply = "```json\n{\"tool_calls\": [{\"name\": \"files__read\", \"arguments\": {}}]}\n```\n";
    assert!(next_words(reply, &std::env::temp_dir()).contains("### Result 1 of `files__read`"));
}
