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
fn a_run_offers_the_granted_tools_to_the_agent_that_may_use_servers() {
    for kind in APIS {
        let server = ModelServer::script([
            Turn::tool_call("mcp__fake__echo", json!({ "text": "one" })),
            Turn::tool_call("fake__echo", json!({ "text": "two" })),
            Turn::tool_call("mcp__fake__hidden", json!({})),
            Turn::tool_call("mcp__fake__fail", json!({})),
            Turn::tool_call("workflow_complete_node", json!({ "nodeId": "start" })),
            // The next agent may not.
            Turn::tool_call("mcp__fake__echo", json!({ "text": "three" })),
            Turn::text("Done."),
        ]);
        let scene = with_servers(package().behind(kind, &server, GRANT));
        let report = scene.answers(RUN, 3);
        assert_eq!(report["reply"], "Done.", "{kind}: {report:#}");
        let asks = server.asks();
        assert_eq!(
            mcp_names(&asks[0].tool_names()),
            ["mcp__fake__die", "mcp__fake__echo", "mcp__fake__fail"],
            "{kind}"
        );
        assert!(asks[0].system_text().contains("- mcp: enabled"), "{kind}");
        assert!(mcp_names(&asks[5].tool_names()).is_empty(), "{kind}");
        assert!(asks[5].system_text().contains("- mcp: disabled"), "{kind}");
        let all = results(&asks[6]);
        assert_eq!(all[0]["content"], "you said one", "{kind}: {:#}", all[0]);
        assert_eq!(all[1]["content"], "you said two", "{kind}");
        assert_eq!(all[2]["error"]["code"], "TOOL_NOT_AVAILABLE", "{kind}");
        assert_eq!(all[3]["error"]["code"], "TOOL_EXEC_FAILED", "{kind}");
        assert!(all[3]["error"]["message"].as_str().unwrap().contains("the disk is full"), "{kind}");
        assert_eq!(all[5]["error"]["code"], "TOOL_NOT_AVAILABLE", "{kind}");
        assert_eq!(called(&scene), ["echo", "echo", "fail"], "{kind}");
        let names: Vec<Value> = log(&scene).iter().map(|line| line["toolName"].clone()).collect();
        assert_eq!((&names[0], &names[1]), (&json!("mcp__fake__echo"), &json!("mcp__fake__echo")), "{kind}");
    }
}

#[test]
fn an_agent_and_a_chat_have_grants_of_their_own() {
    let server = ModelServer::answering(|request| {
        if request.tool_results().is_empty() {
            Turn::tool_call("mcp__fake__echo", json!({ "text": "hi" }))
        } else {
            Turn::text("Done.")
        }
    });
    let scene = with_servers(package().behind("anthropic", &server, GRANT));
    scene.done("agent pkg writer --provider model --trust-servers --input 'Go.'");
    scene.done("chat --provider model --trust-servers --input 'Go.'");
    scene.done("agent pkg reader --provider model --trust-servers --input 'Go.'");
    let asks = server.asks();
    assert_eq!(mcp_names(&asks[0].tool_names()), ["mcp__fake__echo"]);
    assert_eq!(results(&asks[1])[0]["content"], "you said hi");
    assert_eq!(mcp_names(&asks[2].tool_names()), ["mcp__fake__echo"]);
    assert_eq!(results(&asks[3])[0]["content"], "you said hi");
    assert!(mcp_names(&asks[4].tool_names()).is_empty());
    assert_eq!(results(&asks[5])[0]["error"]["code"], "TOOL_NOT_AVAILABLE");
}

#[test]
fn nothing_is_started_where_servers_are_switched_off() {
    let cases = [
        (SmallPackage::new().tools(0, json!({ "mcp": { "enabled": false } })), GRANT.to_owned()),
        (package(), String::new()),
        (package(), "[tools.grant]\nworkflow = []\n".to_owned()),
        (package(), format!("[tools]\nenabled = false\n{GRANT}")),
        (
            SmallPackage::new().tools(0, json!({ "mcp": { "enabled": true, "allowedServers": [] } })),
            GRANT.to_owned(),
        ),
        (
            SmallPackage::new().tools(0, json!({ "mcp": { "enabled": true, "allowedServers": ["other"] } })),
            GRANT.to_owned(),
        ),
    ];
    for (number, (package, more)) in cases.into_iter().enumerate() {
        let server = ModelServer::script([
            Turn::tool_call("mcp__fake__echo", json!({ "text": "one" })),
            Turn::text("Done."),
        ]);
        let scene = with_servers(package.behind("openai", &server, &more));
        scene.answers(RUN, 3);
        let asks = server.asks();
        assert!(mcp_names(&asks[0].tool_names()).is_empty(), "case {number}");
        assert_eq!(results(&asks[1])[0]["error"]["code"], "TOOL_NOT_AVAILABLE", "case {number}");
        assert_eq!(n_started(&scene), 0, "case {number}");
    }
    let allowed =
        SmallPackage::new().tools(0, json!({ "mcp": { "enabled": true, "allowedServers": ["fake"] } }));
    let server = ModelServer::script([Turn::text("Done.")]);
    let scene = with_servers(allowed.behind("openai", &server, GRANT));
    scene.answers(RUN, 3);
    assert!(server.asks()[0].system_text().contains("- mcp: enabled (allowedServers=fake)"));
    assert_eq!(n_started(&scene), 1);
}

#[test]
fn a_server_that_nobody_agreed_to_is_not_started_and_nothing_is_sent() {
    let server = ModelServer::script([Turn::text("Done.")]);
    let scene = with_servers(package().behind("openai", &server, GRANT));
    let refused = scene.exits("workflow run pkg --provider model --input 'Go.'", 1);
    assert!(refused.stderr_text().contains("server `fake` is not trusted yet"), "{refused}");
    assert_eq!((n_started(&scene), server.asks().len()), (0, 0));
    assert_eq!(scene.answers("workflow resume latest --trust-servers", 3)["reply"], "Done.");
}

#[test]
fn a_server_that_dies_is_an_error_of_the_tool_and_is_started_again() {
    let server = ModelServer::script([
        Turn::tool_call("mcp__fake__die", json!({})),
        Turn::tool_call("mcp__fake__echo", json!({ "text": "again" })),
        Turn::text("Done."),
    ]);
    let scene = with_servers(package().behind("openai", &server, GRANT));
    let report = scene.answers(RUN, 3);
    assert_eq!(report["reply"], "Done.", "{report:#}");
    let all = results(&server.asks()[2]);
    assert_eq!(all[0]["error"]["code"], "TOOL_EXEC_FAILED", "{:#}", all[0]);
    assert_eq!(all[1]["content"], "you said again", "{:#}", all[1]);
    assert_eq!(n_started(&scene), 2);
}

#[test]
fn a_server_that_does_not_start_costs_its_tools_and_not_the_run() {
    let server =
        ModelServer::script([Turn::tool_call("mcp__fake__echo", json!({})), Turn::text("Without it, then.")]);
    let scene = with_servers(package().behind("openai", &server, GRANT));
    scene.project.write("server.sh", "exit 3\n");
    let report = scene.answers(RUN, 3);
    assert_eq!(report["reply"], "Without it, then.");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("fake"), "{warnings}");
    assert_eq!(results(&server.asks()[1])[0]["error"]["code"], "TOOL_NOT_AVAILABLE");
}

#[test]
fn a_program_without_tools_of_its_own_calls_servers_in_text() {
    let agent = "[roles]\ndefault = \"model\"\n[providers.model]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\"]\nfs_ability = \"none\"\n";
    let scene = with_servers(Scene::new(&format!("{agent}{GRANT}")));
    package().write(&scene, "pkg");
    scene.project.write("agent.sh", AGENT);
    let first = calls(&[("mcp__fake__echo", json!({"text": "one"})), ("fake__echo", json!({"text": "two"}))]);
    scene.project.write("replies/1", first);
    scene.project.write("replies/2", calls(&[("mcp__fake__die", json!({}))]));
    scene.project.write("replies/3", "All is well.\n");
    let report = scene.answers(RUN, 3);
    assert_eq!(report["reply"], "All is well.\n", "{report:#}");
    let (one, two, three) = (prompt(&scene, 1), prompt(&scene, 2), prompt(&scene, 3));
    assert!(one.contains("### mcp__fake__echo") && !one.contains("fake__hidden"), "{one}");
    assert!(two.contains("you said one") && two.contains("you said two"), "{two}");
    assert!(three.contains("TOOL_EXEC_FAILED"), "{three}");
    assert_eq!(called(&scene), ["echo", "echo", "die"]);
    // And in conversations, each with the grant of its kind.
    for (number, line) in ["agent pkg writer", "chat"].into_iter().enumerate() {
        let first = 4 + 2 * u32::try_from(number).unwrap();
        scene
            .project
            .write(&format!("replies/{first}"), calls(&[("mcp__fake__echo", json!({"text": line}))]));
        scene.project.write(&format!("replies/{}", first + 1), "Fine.\n");
        assert_eq!(
            scene.done(&format!("{line} --provider model --trust-servers --input 'Go.'"))["reply"],
            "Fine.\n"
        );
        let (one, two) = (prompt(&scene, first), prompt(&scene, first + 1));
        assert!(one.contains("### mcp__fake__echo") && !one.contains("mcp__fake__die"), "{one}");
        assert!(two.contains(&format!("you said {line}")), "{two}");
    }
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

#[test]
fn an_agent_whose_server_nobody_agreed_to_stops_the_run_where_it_can_go_on() {
    let server = ModelServer::script([
        Turn::tool_call("workflow_complete_node", json!({ "nodeId": "start" })),
        Turn::tool_call("mcp__fake__echo", json!({ "text": "one" })),
        Turn::text("Here."),
    ]);
    let package = SmallPackage::new()
        .tools(0, json!({ "mcp": { "enabled": false } }))
        .tools(1, json!({ "mcp": { "enabled": true } }));
    let scene = with_servers(package.behind("openai", &server, GRANT));
    let refused = scene.answers("workflow run pkg --provider model --input 'Go.'", 1);
    assert_eq!(refused["error"]["code"], "SERVER_UNTRUSTED", "{refused:#}");
    assert_eq!((n_started(&scene), server.asks().len()), (0, 1));
    assert_eq!(scene.done("status latest")["node"], "check");
    assert_eq!(scene.answers("workflow resume latest --trust-servers", 3)["reply"], "Here.");
    assert_eq!(results(&server.asks()[2]).last().unwrap()["content"], "you said one");
}
