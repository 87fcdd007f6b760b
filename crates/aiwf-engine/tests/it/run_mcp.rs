//! Tools of MCP servers in runs and conversations: granted, limited, switched off, crashed; as calls and as text.

use aiwf_testkit::{SmallPackage, TOOL_SERVER};
use serde_json::{Value, json};

use crate::fake_provider::{FakeProvider, Turn};
use crate::run_driver::{
    WAITING, calls, chat, in_package, log, new_run, results, resume, run, run_with, status, talk_to,
};
use crate::scene::Scene;
use crate::tool_loop::called;

const GRANT: &str = "[tools.grant]\nworkflow = [\"fake__echo\", \"fake__die\", \"fake__fail\"]\nagent = [\"fake__echo\"]\nchat = [\"fake__echo\"]\n";

/// The first agent may use servers, the second may not.
fn package() -> SmallPackage {
    SmallPackage::new()
        .tools(0, json!({ "fs": { "enabled": true }, "mcp": { "enabled": true } }))
        .tools(1, json!({ "fs": { "enabled": true }, "mcp": { "enabled": false, "allowedServers": [] } }))
}

/// Puts a server into a project that works, can die, and says when it is started.
fn with_servers(scene: Scene) -> Scene {
    let server = TOOL_SERVER
        .replace("$(tool slow true)", "$(tool die true)")
        .replace("*'\"name\":\"slow\"'*) sleep 6000; text 'at last' ;;", "*'\"name\":\"die\"'*) exit 7 ;;");
    assert!(server.contains("exit 7"));
    let servers = r#"{"mcpServers": {"fake": {"command": "/bin/sh", "args": ["server.sh"]}}}"#;
    scene.file("server.sh", format!("echo started >> ../started.txt\n{server}")).file(".mcp.json", servers)
}

fn n_started(scene: &Scene) -> usize {
    std::fs::read_to_string(scene.world().join("started.txt")).unwrap_or_default().lines().count()
}

fn mcp_names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).filter(|name| name.starts_with("mcp__")).collect()
}

#[test]
fn a_run_offers_the_granted_tools_to_the_agent_that_may_use_servers() {
    let server = FakeProvider::script([
        Turn::tool_call("mcp__fake__echo", json!({ "text": "one" })),
        Turn::tool_call("fake__echo", json!({ "text": "two" })),
        Turn::tool_call("mcp__fake__hidden", json!({})),
        Turn::tool_call("mcp__fake__fail", json!({})),
        Turn::tool_call("workflow_complete_node", json!({ "nodeId": "start" })),
        // The next agent may not.
        Turn::tool_call("mcp__fake__echo", json!({ "text": "three" })),
        Turn::text("Done."),
    ]);
    let scene = with_servers(in_package(&package(), &server, GRANT)).agreeing();
    let report = run(&scene, WAITING);
    assert_eq!(report["reply"], "Done.", "{report:#}");
    let asks = server.asks();
    assert_eq!(mcp_names(&asks[0].tool_names()), ["mcp__fake__die", "mcp__fake__echo", "mcp__fake__fail"]);
    assert!(asks[0].system_text().contains("- mcp: enabled"));
    assert!(mcp_names(&asks[5].tool_names()).is_empty());
    assert!(asks[5].system_text().contains("- mcp: disabled"));
    let all = results(&asks[6]);
    assert_eq!(all[0]["content"], "you said one", "{:#}", all[0]);
    assert_eq!(all[1]["content"], "you said two");
    assert_eq!(all[2]["error"]["code"], "TOOL_NOT_AVAILABLE");
    assert_eq!(all[3]["error"]["code"], "TOOL_EXEC_FAILED");
    assert!(all[3]["error"]["message"].as_str().unwrap().contains("the disk is full"));
    assert_eq!(all[5]["error"]["code"], "TOOL_NOT_AVAILABLE");
    assert_eq!(called(&scene), ["echo", "echo", "fail"]);
    let names: Vec<Value> = log(&scene).iter().map(|line| line["toolName"].clone()).collect();
    assert_eq!((&names[0], &names[1]), (&json!("mcp__fake__echo"), &json!("mcp__fake__echo")));
}

#[test]
fn an_agent_and_a_chat_have_grants_of_their_own() {
    let server = FakeProvider::answering(|request| {
        if request.tool_results().is_empty() {
            Turn::tool_call("mcp__fake__echo", json!({ "text": "hi" }))
        } else {
            Turn::text("Done.")
        }
    });
    let scene = with_servers(in_package(&package(), &server, GRANT)).agreeing();
    talk_to(&scene, "writer", "Go.");
    chat(&scene, "Go.");
    talk_to(&scene, "reader", "Go.");
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
        let server = FakeProvider::script([
            Turn::tool_call("mcp__fake__echo", json!({ "text": "one" })),
            Turn::text("Done."),
        ]);
        let scene = with_servers(in_package(&package, &server, &more)).agreeing();
        run(&scene, WAITING);
        let asks = server.asks();
        assert!(mcp_names(&asks[0].tool_names()).is_empty(), "case {number}");
        assert_eq!(results(&asks[1])[0]["error"]["code"], "TOOL_NOT_AVAILABLE", "case {number}");
        assert_eq!(n_started(&scene), 0, "case {number}");
    }
    let allowed =
        SmallPackage::new().tools(0, json!({ "mcp": { "enabled": true, "allowedServers": ["fake"] } }));
    let server = FakeProvider::script([Turn::text("Done.")]);
    let scene = with_servers(in_package(&allowed, &server, GRANT)).agreeing();
    run(&scene, WAITING);
    assert!(server.asks()[0].system_text().contains("- mcp: enabled (allowedServers=fake)"));
    assert_eq!(n_started(&scene), 1);
}

#[test]
fn a_server_without_consent_is_not_started_and_nothing_is_sent() {
    let server = FakeProvider::script([Turn::text("Done.")]);
    let scene = with_servers(in_package(&package(), &server, GRANT));
    let refused = run_with(&scene, &new_run(&scene), Some("Go.")).unwrap_err().to_string();
    assert!(refused.contains("server `fake` is not trusted yet"), "{refused}");
    assert_eq!((n_started(&scene), server.asks().len()), (0, 0));
    assert_eq!(resume(&scene.agreeing())["reply"], "Done.");
}

#[test]
fn a_server_that_dies_is_an_error_of_the_tool_and_is_started_again() {
    let server = FakeProvider::script([
        Turn::tool_call("mcp__fake__die", json!({})),
        Turn::tool_call("mcp__fake__echo", json!({ "text": "again" })),
        Turn::text("Done."),
    ]);
    let scene = with_servers(in_package(&package(), &server, GRANT)).agreeing();
    let report = run(&scene, WAITING);
    assert_eq!(report["reply"], "Done.", "{report:#}");
    let all = results(&server.asks()[2]);
    assert_eq!(all[0]["error"]["code"], "TOOL_EXEC_FAILED", "{:#}", all[0]);
    assert_eq!(all[1]["content"], "you said again", "{:#}", all[1]);
    assert_eq!(n_started(&scene), 2);
}

#[test]
fn a_server_that_does_not_start_costs_its_tools_and_not_the_run() {
    let server = FakeProvider::script([
        Turn::tool_call("mcp__fake__echo", json!({})),
        Turn::text("Without it, then."),
    ]);
    let scene = with_servers(in_package(&package(), &server, GRANT)).agreeing();
    scene.write("server.sh", "exit 3\n");
    let report = run(&scene, WAITING);
    assert_eq!(report["reply"], "Without it, then.");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("fake"), "{warnings}");
    assert_eq!(results(&server.asks()[1])[0]["error"]["code"], "TOOL_NOT_AVAILABLE");
}

#[test]
fn a_program_without_tools_of_its_own_calls_servers_in_text() {
    let echo = |text: &str| calls(&[("mcp__fake__echo", json!({ "text": text }))]);
    let agent = FakeProvider::saying([
        calls(&[("mcp__fake__echo", json!({"text": "one"})), ("fake__echo", json!({"text": "two"}))]),
        calls(&[("mcp__fake__die", json!({}))]),
        "All is well.\n".to_owned(),
        echo("an agent"),
        "Fine.\n".to_owned(),
        echo("a chat"),
        "Fine.\n".to_owned(),
    ]);
    let scene = with_servers(Scene::of_agent(&agent, GRANT)).agreeing();
    package().write(&scene.project, "pkg");
    let report = run(&scene, WAITING);
    assert_eq!(report["reply"], "All is well.\n", "{report:#}");
    let prompt = |number: usize| agent.asks()[number - 1].as_prompt();
    let (one, two, three) = (prompt(1), prompt(2), prompt(3));
    assert!(one.contains("### mcp__fake__echo") && !one.contains("fake__hidden"), "{one}");
    assert!(two.contains("you said one") && two.contains("you said two"), "{two}");
    assert!(three.contains("TOOL_EXEC_FAILED"), "{three}");
    assert_eq!(called(&scene), ["echo", "echo", "die"]);
    // And in conversations, each with the grant of its kind.
    assert_eq!(talk_to(&scene, "writer", "Go.")["reply"], "Fine.\n");
    assert_eq!(chat(&scene, "Go.")["reply"], "Fine.\n");
    for (first, said) in [(4, "an agent"), (6, "a chat")] {
        let (one, two) = (prompt(first), prompt(first + 1));
        assert!(one.contains("### mcp__fake__echo") && !one.contains("mcp__fake__die"), "{one}");
        assert!(two.contains(&format!("you said {said}")), "{two}");
    }
}

#[test]
fn an_agent_whose_server_lacks_consent_stops_the_run_resumably() {
    let server = FakeProvider::script([
        Turn::tool_call("workflow_complete_node", json!({ "nodeId": "start" })),
        Turn::tool_call("mcp__fake__echo", json!({ "text": "one" })),
        Turn::text("Here."),
    ]);
    let package = SmallPackage::new()
        .tools(0, json!({ "mcp": { "enabled": false } }))
        .tools(1, json!({ "mcp": { "enabled": true } }));
    let scene = with_servers(in_package(&package, &server, GRANT));
    let refused = run_with(&scene, &new_run(&scene), Some("Go.")).unwrap_err();
    assert_eq!(refused.code(), "SERVER_UNTRUSTED", "{refused}");
    assert_eq!((n_started(&scene), server.asks().len()), (0, 1));
    assert_eq!(status(&scene)["node"], "check");
    assert_eq!(resume(&scene.agreeing())["reply"], "Here.");
    assert_eq!(results(&server.asks()[2]).last().unwrap()["content"], "you said one");
}
