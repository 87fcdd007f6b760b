//! Begins a run of a package and puts as many messages on its record as asked for; prints the path of its journal.
//!
//! `cargo run --release -p aiwf-engine --example long_run -- PROJECT PACKAGE 10000`

#![expect(clippy::print_stdout, reason = "an example shows what it made")]

use std::error::Error;
use std::path::{Path, PathBuf};

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::{Block, Engine, Layer, NewRun, RunEvent, RunPhase, ToolExec};
use aiwf_provider::ToolCall;
use aiwf_session::Call;
use aiwf_store::Journal;
use serde_json::json;

const AT: &str = "2026-01-31T12:00:00Z";
/// A request, an answer that calls a tool, its result, and the answer after it.
const MESSAGES_OF_A_ROUND: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [project, package, n_messages] = words.as_slice() else {
        return Err("give PROJECT, PACKAGE and how many messages".into());
    };
    let n_rounds = n_messages.parse::<usize>()?.div_ceil(MESSAGES_OF_A_ROUND);
    let project = Path::new(project);
    let engine = Engine::new(Settings::resolve(Some(project), Environment::read()?)?);
    let new = NewRun {
        package: Path::new(package),
        workflow: None,
        agent: None,
        provider: None,
        is_autopilot: false,
    };
    let run = engine.start_run(&new)?;
    let node = run.package().and_then(|package| package.entry_workflow()).map(|workflow| &workflow.graph);
    let node = node.map(|graph| graph.entry_node_id().to_owned());
    let agent = run.agent().map(|agent| agent.id.clone());
    let path: PathBuf = project.join(".aiwf/sessions").join(run.id()).join("journal.jsonl");
    let mut journal = Journal::<RunEvent>::open_path(&path)?;
    let events = (0..n_rounds).flat_map(|number| round(number, node.as_ref(), agent.as_ref())).collect();
    journal.append(AT, events)?;
    println!("{}", path.display());
    Ok(())
}

/// One round, about two kilobytes of what is said.
fn round(number: usize, node: Option<&String>, agent: Option<&String>) -> [RunEvent; 7] {
    let sentence =
        format!("Message {number}: the order of customer {} is looked at again. ", number * 7919 % 1000);
    let input = sentence.repeat(3);
    let blocks = vec![Block { layer: Layer::UserInput, text: input.as_str().into(), left_out: Vec::new() }];
    let asked = || RunEvent::RunAsked {
        provider: "model".to_owned(),
        payload_sha256: "0".repeat(64),
        n_left_out: 0,
        left_out: Vec::new(),
        parts: None,
    };
    let call = ToolCall {
        id: format!("call-{number}"),
        name: "fs_read".to_owned(),
        arguments: json!({ "path": format!("@project/src/file_{number}.rs") }),
        signature: None,
    };
    let exec = ToolExec {
        tool_call_id: call.id.clone(),
        tool_name: "fs.read".to_owned(),
        agent_id: agent.cloned(),
        input: call.arguments.clone(),
        output: json!({ "ok": true, "bytes": 1000 }),
        duration_ms: 1,
    };
    let content = json!({ "ok": true, "content": sentence.repeat(16) }).to_string();
    let replied = |text: String, tool_calls| RunEvent::RunReplied {
        text: text.into(),
        tool_calls,
        call: Box::new(Call::default()),
    };
    [
        RunEvent::Said { blocks, input: Some(input), node: node.cloned(), agent: agent.cloned() },
        asked(),
        replied(String::new(), vec![call]),
        RunEvent::ToolRan { exec: Box::new(exec), content: content.into(), is_error: false, left_out: None },
        asked(),
        replied(sentence.repeat(6), Vec::new()),
        RunEvent::RunStopped { phase: RunPhase::WaitingUser, fault: None, question: None },
    ]
}
