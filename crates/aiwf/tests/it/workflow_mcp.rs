//! Tools of MCP servers in runs and conversations: granted, limited, switched off, crashed; over an API and as text.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::scene::{Scene, eventually};
use crate::tool_loop::{AGENT, SERVER, called, calls, prompt};
use crate::workflow_package::{SmallPackage, last_code, results};
use crate::workflow_walk::{APIS, log};

const GRANT: &str = "[tools.grant]\nworkflow = [\"fake__echo\", \"fake__die\", \"fake__fail\"]\nagent = [\"fake__echo\"]\nchat = [\"fake__echo\"]\n";
const RUN: &str = "workflow run pkg --provider model --trust-servers --input 'Go.'";

/// The first agent may use servers, the second may not.
fn package() -> SmallPackage {
    SmallPackage::new()
        .tools(0, json!({ "fs": { "enabled": true }, "mcp": { "enabled": true } }))
        .tools(1, json!({ "fs": { "enabled": true }, "mcp": { "enabled": false, "allowedServers": [] } }))
}

/// Puts two servers into a project: one that works, and can die, and one that says when it is started.
fn with_servers(scene: Scene) -> Scene {
    let server = SERVER
        .replace("$(tool slow true)", "$(tool die true)")
        .replace("*'\"name\":\"slow\"'*) sleep 6000; text 'at last' ;;", "*'\"name\":\"die\"'*) exit 7 ;;");
    assert!(server.contains("exit 7"));
    scene.project.write("server.sh", format!("echo started >> ../started.txt\n{server}"));
    let servers = r#"{"mcpServers": {"fake": {"command": "/bin/sh", "args": ["server.sh"]}}}"#;
    scene.project.write(".mcp.json", servers);
    scene
}

fn n_started(scene: &Scene) -> usize {
    std::fs::read_to_string(scene.project.root().join("../started.txt")).unwrap_or_default().lines().count()
}

fn mcp_names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).filter(|name| name.starts_with("mcp__")).collect()
}

#[test]
fn an_interrupted_call_of_a_server_is_told_when_the_run_goes_on() {
    let server = ModelServer::script([Turn::tool_call("mcp__fake__slow", json!({})), Turn::text("Here.")]);
    let scene =
        with_servers(package().behind("openai", &server, "[tools.grant]\nworkflow = [\"fake__slow\"]\n"));
    scene.project.write("server.sh", SERVER);
    let running = scene.command(RUN).arg("--json").spawn();
    eventually("the call", || !called(&scene).is_empty());
    running.signal("INT");
    let outcome = running.wait();
    assert_eq!(outcome.exit_code(), 130, "{outcome}");
    assert_eq!(crate::json(&outcome)["error"]["code"], "ENGINE_ABORTED");
    assert_eq!(server.asks().len(), 1);
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Here.");
    // Not run again; what is known about it is said.
    assert_eq!(called(&scene), ["slow"]);
    let code = last_code(&server.asks()[1]);
    assert!(["ENGINE_ABORTED", "TOOL_EXEC_FAILED"].contains(&code.as_str()), "{code}");
}
