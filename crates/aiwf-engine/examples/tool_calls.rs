//! Tool calls that a model writes into its text: one by one (parse, execute, format), and as a whole loop.

use std::error::Error;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::machine::Access;
use aiwf_engine::prompt::Role;
use aiwf_engine::provider::{Payload, PayloadMessage};
use aiwf_engine::tool::{ExecuteOptions, Policy, ResultsDir, Servers, ServersOptions};
use aiwf_engine::{CallStyle, CliMcpResponseHandler, Consent, Engine};

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

/// Asks a model until it calls no tool, and gives back its last reply and the whole exchange.
///
/// The tools are those that `[tools.grant] reply` of the project's configuration names; a call of any other is refused
/// and the model is told so.
pub(crate) fn ask_with_tools(
    project: &Path,
    request: &str,
    mut ask: impl FnMut(&Payload) -> String,
) -> Result<(String, Payload), Box<dyn Error>> {
    let home = Some(project.join("home"));
    let environment = Environment { current_dir: project.to_owned(), home, ..Environment::default() };
    let engine = Engine::new(Settings::resolve(Some(project), environment)?);
    // Only servers that the user agreed to before are started.
    let toolbox = Rc::new(engine.tools(Consent::Remembered, |_, _| ())?);
    let mut tool_loop = toolbox.tool_loop("reply", Access::Write, CallStyle::Text, None)?;
    let names: Vec<String> = tool_loop.tools().into_iter().map(|tool| tool.name).collect();
    let message = format!("{request}\n\nYou can call: {names:?}");
    let mut payload =
        Payload { messages: vec![PayloadMessage::new(Role::User, message)], ..Payload::default() };
    loop {
        let reply = ask(&payload);
        if !tool_loop.take(reply.clone(), &[], &mut payload).asks_again {
            return Ok((reply, payload));
        }
    }
}

const REPLY: &str = "```json\n{\"tool_calls\": [{\"name\": \"files__read\", \"arguments\": {}}]}\n```\n";

/// Runs the example.
#[expect(clippy::disallowed_methods, reason = "a program decides itself where it works")]
pub(crate) fn main() {
    assert!(next_words(REPLY, &std::env::temp_dir()).contains("### Result 1 of `files__read`"));
    // A stand-in for a model: it calls a tool, reads that it may not, and answers.
    let mut replies = [REPLY, "I cannot read files here."].into_iter();
    let asked = ask_with_tools(&std::env::temp_dir(), "What is in it?", |_| {
        replies.next().unwrap_or_default().to_owned()
    });
    assert!(
        asked.is_ok_and(|(answer, exchange)| answer.starts_with("I cannot") && exchange.turns.len() == 3)
    );
}
