//! A model and its tools: a scripted model, a server of a few lines of shell, and everything between them.

use aiwf_testkit::model_server::{Piece, Turn};
use aiwf_testkit::{ModelServer, TOOL_SERVER};
use serde_json::{Value, json};

use crate::scene::{Scene, eventually};
use crate::session::PLAN;

/// Asks the next file of `replies/`, and keeps what it is sent.
pub(crate) const AGENT: &str = "n=$(cat \"$HOME/n\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$HOME/n\"\ncat > \"$HOME/prompt-$n\"\nif [ -f replies/$n ]; then cat replies/$n; else cat replies/last; fi";
const GRANT: &str = "[tools.grant]\nreply = [\"fake__echo\", \"fake__trap\", \"fake__fail\", \"fake__write\", \"fake__slow\"]\n";
const REPLY: &str = r#"{"request": {"ai_message": "I am done."}, "mode": "api"}"#;
const SEND: &str = "prompt send reply --input reply.json --provider model --tools --trust-servers";

fn with_server(scene: Scene) -> Scene {
    scene.project.write("server.sh", TOOL_SERVER);
    scene.project.write("reply.json", REPLY);
    let servers = r#"{"mcpServers": {"fake": {"command": "/bin/sh", "args": ["server.sh"]}}}"#;
    scene.project.write(".mcp.json", servers);
    scene
}

/// A model with tools of its own.
fn api(kind: &str, turns: impl IntoIterator<Item = Turn>, more: &str) -> (ModelServer, Scene) {
    let server = ModelServer::script(turns);
    let scene = with_server(Scene::of_api(kind, &server, &format!("{GRANT}{more}")));
    (server, scene)
}

/// A program that reads the tools in its prompt.
fn cli(replies: &[&str], more: &str) -> Scene {
    let agent = "[roles]\ndefault = \"model\"\n[providers.model]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\"]\nfs_ability = \"none\"\n";
    let scene = with_server(Scene::new(&format!("{agent}{GRANT}{more}")));
    scene.project.write("agent.sh", AGENT);
    for (index, reply) in replies.iter().enumerate() {
        scene.project.write(&format!("replies/{}", index + 1), reply);
        scene.project.write("replies/last", reply);
    }
    scene
}

/// A reply that calls tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> String {
    let calls: Vec<Value> =
        calls.iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments})).collect();
    format!("Let me look.\n\n```json\n{}\n```\n", json!({ "tool_calls": calls }))
}

pub(crate) fn prompt(scene: &Scene, number: u32) -> String {
    String::from_utf8(scene.project.read(&format!("~/prompt-{number}"))).unwrap()
}

/// What the server was called with, by the names of the tools.
pub(crate) fn called(scene: &Scene) -> Vec<String> {
    let text = std::fs::read_to_string(scene.project.root().join("../calls.txt")).unwrap_or_default();
    let name = |line: &str| {
        let call: Value = serde_json::from_str(line).unwrap();
        call["params"]["name"].as_str().unwrap().to_owned()
    };
    text.lines().map(name).collect()
}

#[test]
fn a_model_calls_tools_by_its_own_means() {
    for kind in ["openai", "anthropic", "gemini"] {
        let call =
            |text: &str| Piece::ToolCall { name: "fake__echo".to_owned(), args: json!({"text": text}) };
        let both = Turn::Pieces(vec![Piece::Text("Let me look.".to_owned()), call("one"), call("two")]);
        let (server, scene) = api(kind, [both, Turn::text("All is well.\n")], "");
        let sent = scene.done(SEND);
        assert_eq!((&sent["reply"], &sent["rounds"]), (&json!("All is well.\n"), &json!(1)), "{kind}");
        let asks = server.asks();
        let names = ["fake__echo", "fake__fail", "fake__slow", "fake__trap", "fake__write"];
        assert_eq!(asks[0].tool_names(), names, "{kind}");
        assert!(!asks[0].text_parts().join("").contains("tool_calls"), "{kind}");
        let results = asks[1].tool_results();
        assert!(results[0].contains("you said one") && results[1].contains("you said two"), "{results:?}");
        // Both calls cost something.
        assert_eq!(sent["usage"]["output_tokens"], 30, "{kind}");
        let ids: Vec<&Value> =
            sent["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
        assert!(ids[0] != ids[1]);
        let body = asks[1].body.to_string();
        if kind != "gemini" {
            assert!(ids.iter().all(|id| body.matches(id.as_str().unwrap()).count() == 2), "{body}");
        }
    }
}

#[test]
fn a_preview_with_tools_shows_what_a_send_with_tools_sends() {
    let preview = "prompt preview reply --input reply.json --for model --tools --trust-servers";
    let (server, scene) = api("openai", [Turn::text("Done.\n")], "");
    let shown = scene.done(preview);
    let text = scene.exits(preview, 0).stdout_text();
    assert!(server.asks().is_empty(), "looking asks nobody");
    let sent = scene.done(SEND);
    assert_eq!(shown["metadata"]["payload_sha256"], sent["payload_sha256"]);
    let names = server.asks()[0].tool_names();
    assert!(
        names.contains(&"fake__echo".to_owned()) && !names.contains(&"fake__hidden".to_owned()),
        "{names:?}"
    );
    let of_preview = shown["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    assert_eq!(of_preview.collect::<Vec<_>>(), names);
    assert!(names.iter().all(|name| text.contains(&format!("\"{name}\""))), "{text}");
    // A program reads them in its prompt.
    let scene = cli(&["Done.\n"], "");
    let shown = scene.done(preview);
    let sent = scene.done(SEND);
    assert_eq!(shown["metadata"]["payload_sha256"], sent["payload_sha256"]);
    assert_eq!(shown["prompt"].as_str().unwrap(), prompt(&scene, 1));
    assert!(prompt(&scene, 1).contains("fake__echo"));
}

#[test]
fn nothing_is_sent_before_servers_are_agreed_to_and_tools_are_granted() {
    let (server, scene) = api("openai", [], "");
    let send = "prompt send reply --input reply.json --provider model --tools";
    insta::assert_snapshot!(scene.exits(send, 1).to_string(), @"
    --- stderr
    error: server `fake` is not trusted yet
      it would start: /bin/sh server.sh (in [project])

    hint: `--trust-servers` starts it and remembers your consent to exactly this command
    --- exit code 1
    ");
    let ungranted = Scene::of_api("openai", &server, "");
    let ungranted = with_server(ungranted);
    insta::assert_snapshot!(ungranted.exits(send, 1).to_string(), @r#"
    --- stderr
    error: no tools are available for `reply`

    hint: grant tools in `[tools.grant] reply = ["SERVER__TOOL"]`; `aiwf tools list` lists what exists
    --- exit code 1
    "#);
    let off = with_server(Scene::of_api("openai", &server, &format!("{GRANT}[tools]\nenabled = false\n")));
    assert_eq!(off.exits(send, 1).first_error_line(), "error: no tools are available for `reply`");
    let change = "prompt send change --phase plan --instructions x --provider model --tools";
    insta::assert_snapshot!(scene.exits(change, 2).to_string(), @"
    --- stderr
    error: `--tools` cannot be used with `change`

    hint: only `aiwf prompt send reply` runs tools; sessions and changes have `[tools.grant]`
    --- exit code 2
    ");
    let alone = "prompt send reply --input reply.json --provider model --max-rounds 3";
    insta::assert_snapshot!(scene.exits(alone, 2).to_string(), @"
    --- stderr
    error: `--max-rounds` needs `--tools`

    hint: add `--tools`, or omit `--max-rounds`
    --- exit code 2
    ");
    assert!(server.asks().is_empty());
}

const PLANNING: &str = "[tools.grant]\nplanning = [\"fake__echo\", \"fake__write\"]\n";

/// A session of a program whose planning may look and would like to write.
fn planning_cli(replies: &[&str]) -> Scene {
    let agent = "[roles]\ndefault = \"model\"\n[providers.model]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\"]\nfs_ability = \"none\"\n";
    let scene = with_server(Scene::new(&format!("{agent}{PLANNING}")));
    scene.project.write("agent.sh", AGENT);
    for (index, reply) in replies.iter().enumerate() {
        scene.project.write(&format!("replies/{}", index + 1), reply);
    }
    drop(scene.done("tools list --trust-servers"));
    scene
}

#[test]
fn an_interrupted_tool_ends_the_command_without_another_request() {
    let (server, scene) = api("openai", [Turn::tool_call("fake__slow", json!({}))], "");
    let running = scene.command(SEND).spawn();
    eventually("the call", || !called(&scene).is_empty());
    running.signal("INT");
    assert_eq!(running.wait().exit_code(), 130);
    assert_eq!(server.asks().len(), 1);
}

#[test]
fn a_grant_is_agreed_to_without_opening_gates() {
    let server = ModelServer::script([]);
    let scene = with_server(Scene::of_api("openai", &server, PLANNING));
    // Skipping gates is not agreeing to servers.
    let line = format!("{} --yes", crate::session::INIT);
    insta::assert_snapshot!(scene.exits(&line, 1).to_string(), @"
    --- stderr
    error: server `fake` is not trusted yet
      it would start: /bin/sh server.sh (in [project])

    hint: `--trust-servers` starts it and remembers your consent to exactly this command
    --- exit code 1
    ");
    assert!(scene.project.names_in(".aiwf/sessions").iter().all(|name| name.starts_with('.')));
    // Agreeing to servers is not skipping gates.
    let report = scene.init("--trust-servers");
    assert_eq!((&report["status"], &report["stage"]), (&json!("waiting"), &json!("prompt")));
}

#[test]
fn an_agent_may_write_its_calls_to_the_file_of_its_reply() {
    let call = calls(&[("fake__echo", json!({"text": "one"}))]);
    let scene = planning_cli(&[&call, PLAN]);
    let config = String::from_utf8(scene.project.read("~/.aiwf/config.toml")).unwrap();
    let config = config
        .replace("\"agent.sh\"]", "\"agent.sh\", \"{response_path}\"]\nreply = \"file\"")
        .replace("fs_ability = \"none\"", "fs_ability = \"local-write\"");
    scene.project.write("~/.aiwf/config.toml", config);
    scene.project.write("agent.sh", format!("{{\n{AGENT}\n}} > \"$1\""));
    scene.init("");
    scene.done("approve");
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    assert_eq!(called(&scene), ["echo"]);
    // The reply that called the tool is kept, and the journal knows it.
    let kept = &scene.event("asked-again")["call"]["kept"][0]["path"];
    assert_eq!(scene.text(kept.as_str().unwrap()), call);
    drop(scene.done("verify"));
}
