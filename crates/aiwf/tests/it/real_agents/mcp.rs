//! Our MCP server, driven by a real agent whose model is scripted.

#![expect(clippy::disallowed_methods, reason = "these tests start an agent, in a home of its own")]

use std::env;
use std::process::{Command, Stdio};

use aiwf_testkit::model_server::{SeenRequest, Turn};
use aiwf_testkit::{ModelServer, real_agent};
use serde_json::json;

use crate::session::Session;

const TASK: &str = "which sessions are there?";

#[test]
fn claude_calls_our_tools() {
    let Some(program) = real_agent("claude") else { return };
    let session = Session::new("");
    let is_main = |request: &SeenRequest| request.user_texts().iter().any(|text| text.contains(TASK));
    let turns = [Turn::tool_call("mcp__aiwf__list_sessions", json!({})), Turn::text("the answer is here")];
    let server = ModelServer::script_when(is_main, turns);
    let program_of_ours = env!("CARGO_BIN_EXE_aiwf");
    let servers = json!({ "mcpServers": { "aiwf": { "command": program_of_ours, "args": ["mcp"] } } });
    let output = Command::new(program)
        .args(["-p", TASK, "--mcp-config", &servers.to_string(), "--strict-mcp-config"])
        .args(["--allowedTools", "mcp__aiwf__list_sessions", "--permission-mode", "dontAsk"])
        .args(["--no-session-persistence", "--output-format", "json", "--model", "sonnet"])
        .current_dir(session.project.root())
        .env_clear()
        .env("PATH", env::var_os("PATH").unwrap_or_default())
        .env("HOME", session.project.home())
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "no secret")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:#?}");
    let asks: Vec<SeenRequest> = server.asks().into_iter().filter(is_main).collect();
    let results = asks.last().map(SeenRequest::tool_results).unwrap_or_default();
    assert!(results.iter().any(|result| result.contains(&session.id)), "{results:?}\n{output:#?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("the answer is here"), "{output:#?}");
}
