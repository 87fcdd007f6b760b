//! A tool of an MCP server that a run waits for, and the person who does not.

use aiwf_testkit::model_server::Turn;
use aiwf_testkit::{ModelServer, SmallPackage, TOOL_SERVER};
use serde_json::json;

use crate::scene::eventually;
use crate::tool_loop::called;
use crate::workflow_package::{in_package, last_code};

#[test]
fn an_interrupted_server_call_is_reported_when_the_run_resumes() {
    let server = ModelServer::script([Turn::tool_call("mcp__fake__slow", json!({})), Turn::text("Here.")]);
    let package = SmallPackage::new().tools(0, json!({ "mcp": { "enabled": true } }));
    let scene = in_package(&package, "openai", &server, "[tools.grant]\nworkflow = [\"fake__slow\"]\n");
    scene.project.write("server.sh", TOOL_SERVER);
    scene
        .project
        .write(".mcp.json", r#"{"mcpServers": {"fake": {"command": "/bin/sh", "args": ["server.sh"]}}}"#);
    let run = "workflow run pkg --provider model --trust-servers --input 'Go.'";
    let running = scene.command(run).arg("--json").spawn();
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
