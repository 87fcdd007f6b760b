//! What a model is told in each mode, word for word; and a run with a program that has no tools of its own.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::tool_loop::{AGENT, calls, prompt};
use crate::workflow_package::{SmallPackage, block, check_no_real_path, n_blocks, run, say, shown};
use crate::workflow_walk::{complete, log, project_with_package, run_dir, write};

const COMMAND: &str = "[roles]\ndefault = \"model\"\n[providers.model]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\"]\nfs_ability = \"none\"\n";

/// A project with a program that answers with these, one after the other.
fn with_program(replies: &[&str], more: &str) -> Scene {
    let scene = Scene::new(&format!("{COMMAND}{more}"));
    SmallPackage::new().write(&scene, "pkg");
    scene.project.write("agent.sh", AGENT);
    for (index, reply) in replies.iter().enumerate() {
        scene.project.write(&format!("replies/{}", index + 1), reply);
    }
    scene
}

#[test]
fn a_run_from_its_first_node_to_its_end() {
    let server = ModelServer::script([
        Turn::text("What happened?"),
        write("@project/artifacts/report.md", "It crashes.\n"),
        complete("intake", json!({})),
        Turn::text("Is it a bug?"),
    ]);
    let scene = project_with_package("anthropic", &server, "");
    scene.answers("workflow run pkg --provider model --autopilot --input 'It is slow.'", 3);
    scene.answers("workflow say latest 'It crashes.'", 3);
    let asks = server.asks();
    insta::assert_snapshot!("run", shown(&asks[0], &scene));
    // A decision, after a change of agent, with a past.
    insta::assert_snapshot!("run-at-a-decision", shown(&asks[3], &scene));
}

#[test]
fn a_run_after_completion() {
    let server = ModelServer::script([
        complete("start", json!({ "variables": { "customer": "Acme" } })),
        write("@project/artifacts/note.md", "A note.\n"),
        complete("check", json!({})),
        Turn::text("Shall I close it?"),
        complete("done", json!({})),
        Turn::text("Closed."),
        Turn::text("You are welcome."),
    ]);
    let scene = SmallPackage::new().behind("anthropic", &server, "");
    run(&scene, 3);
    let asks = server.asks();
    insta::assert_snapshot!("run-at-an-end", block(&asks[3], "NODE_BRIEF").unwrap());
    assert_eq!(say(&scene, "Yes.").exit_code(), 0);
    assert_eq!(say(&scene, "Thanks.").exit_code(), 0);
    insta::assert_snapshot!("run-after-completion", shown(server.asks().last().unwrap(), &scene));
}

#[test]
fn an_agent() {
    let server = ModelServer::script([Turn::text("I am Noor.")]);
    let scene = project_with_package("anthropic", &server, "");
    scene.done("agent pkg engineer --provider model --input 'Who are you?'");
    insta::assert_snapshot!("agent", shown(&server.asks()[0], &scene));
}

#[test]
fn a_chat_has_no_persona_even_with_a_package() {
    let server = ModelServer::script([Turn::text("A project."), Turn::text("A package.")]);
    let mut package = SmallPackage::new().tools(0, json!({ "fs": { "enabled": true, "maxReadBytes": 777 } }));
    package.agents[0]["systemPrompt"] = json!("I am Wanda and nobody else.");
    package.agents[0]["userPromptTemplate"] = json!("Wanda hears: {{ userInput }}");
    let scene = package.behind("anthropic", &server, "");
    scene.done("chat --provider model --input 'What is this?'");
    scene.done("chat --package pkg --provider model --input 'And this?'");
    let asks = server.asks();
    insta::assert_snapshot!("chat", shown(&asks[0], &scene));
    // The package's first agent lends its limits, and nothing else.
    assert!(asks[1].system_text().contains("maxReadBytes=777"));
    let body = asks[1].body.to_string();
    assert!(!body.contains("Wanda"), "{body}");
    assert_eq!(block(&asks[1], "USER_INPUT").unwrap(), "USER_INPUT\n\n```\nTask:\nAnd this?\n```");
}

#[test]
fn a_menu_item_brings_its_data_along() {
    let server = ModelServer::script([Turn::text("Three rows."), Turn::text("Begun.")]);
    let mut package = SmallPackage::new();
    package.agents[0]["menu"] = json!([
        { "trigger": "count", "description": "Count the rows", "action": "How many rows?", "data": "assets/rows.csv" },
        { "trigger": "begin", "description": "Begin", "workflow": "small", "data": "{project-root}/rows.json" },
        { "trigger": "lost", "description": "Lost", "action": "Hm?", "data": "{project-root}/nowhere.json" },
    ]);
    let scene = package.behind("openai", &server, "");
    scene.project.write("pkg/assets/rows.csv", "a,b\n1,2\n");
    scene.project.write("rows.json", "{\"rows\": 3}\n");
    scene.done("agent pkg writer --provider model --input count");
    let ask = &server.asks()[0];
    insta::assert_snapshot!(block(ask, "Extra context").unwrap(), @r"
    Extra context (from menuItem.data):
    - label: rows.csv
    - path: @pkg/assets/rows.csv
    - preview:
        a,b
        1,2

    The preview may be cut short; read the whole with `fs.read` at that path.
    ");
    assert!(block(ask, "USER_INPUT").unwrap().contains("How many rows?"));
    let texts = ask.user_texts();
    assert!(texts[0].starts_with("Extra context") && texts[1].starts_with("USER_INPUT"), "{texts:#?}");

    let started = scene.answers("agent pkg writer --provider model --input begin", 3);
    assert_eq!(started["kind"], "run");
    let ask = &server.asks()[1];
    let heads: Vec<String> =
        ask.user_texts().iter().map(|text| text.lines().next().unwrap().to_owned()).collect();
    assert_eq!(heads, ["RUN_DIRECTIVE", "NODE_BRIEF", "Extra context (from menuItem.data):"]);
    assert!(block(ask, "Extra context").unwrap().contains("- path: @project/rows.json"));

    let lost = scene.answers("agent pkg writer --provider model --input lost", 1);
    assert_eq!(lost["error"]["code"], "DATA_LOAD_FAILED", "{lost:#}");
    assert_eq!(server.asks().len(), 2);
}

#[test]
fn a_program_walks_a_run_with_calls_in_its_text() {
    let unreadable = "```json\n{\"tool_calls\": [{\"name\": \"fs.read\", \"arguments\": {\n```\n";
    let first = calls(&[("fs.read", json!({ "path": "@pkg/steps/start.md" }))]);
    let both = calls(&[
        ("fs.write", json!({ "path": "@project/artifacts/a.md", "content": "one\n" })),
        ("workflow.complete_node", json!({ "nodeId": "start" })),
    ]);
    let second = calls(&[("workflow_complete_node", json!({ "nodeId": "check" }))]);
    let last = calls(&[("workflow.complete_node", json!({ "nodeId": "done" }))]);
    let scene = with_program(&[&first, unreadable, &both, &second, &last, "All is done.\n"], "");
    let report = scene.answers("workflow run pkg --provider model --input 'Go.'", 0);
    assert_eq!(
        (&report["phase"], &report["reply"]),
        (&json!("completed"), &json!("All is done.\n")),
        "{report:#}"
    );
    let names: Vec<Value> = log(&scene).iter().map(|line| line["toolName"].clone()).collect();
    let done = "workflow.complete_node";
    assert_eq!(names, ["fs.read", "unreadable-call", "fs.write", done, done, done]);
    let prompts: Vec<String> = (1..=6).map(|number| prompt(&scene, number)).collect();
    for text in &prompts {
        check_no_real_path(text, &scene);
    }
    insta::assert_snapshot!("text-mode", prompts[0]);
    insta::assert_snapshot!("text-mode-with-a-past", past_of(&prompts[2]));
    assert!(prompts[2].contains("TOOL_ARGS_INVALID_JSON"), "{}", prompts[2]);
    // After completion no node is left in what the engine says.
    assert!(
        prompts[5].contains("Protocol (post-run)") && !prompts[5].contains("NODE_BRIEF"),
        "{}",
        prompts[5]
    );
    assert!(scene.project.path("artifacts/a.md").exists());
}

/// What was said after the directive.
fn past_of(prompt: &str) -> String {
    let (_, past) = prompt.split_once("NODE_BRIEF").unwrap();
    format!("NODE_BRIEF{past}")
}

#[test]
fn a_program_is_asked_and_answered_like_anybody() {
    let question =
        calls(&[("ui.ask_user", json!({ "widgetId": "sure", "type": "confirmation", "message": "Sure?" }))]);
    let scene = with_program(&[&question, "Good.\n"], "");
    let report = scene.answers("workflow run pkg --provider model", 3);
    assert_eq!(report["question"]["widgetId"], "sure");
    let answer =
        "WIDGET_SUBMIT\n{\"widgetId\":\"sure\",\"type\":\"confirmation\",\"value\":{\"confirmed\":true}}";
    assert_eq!(say(&scene, answer).exit_code(), 3);
    let text = prompt(&scene, 2);
    assert!(text.contains("USER_INPUT\n- forNodeId: start") && text.contains(answer), "{text}");
    let preview = scene.done("preview latest --input 'More.'");
    assert_eq!(preview["payload"]["tools"], json!([]));
    let journal = scene.project.read(&format!("{}/journal.jsonl", run_dir(&scene)));
    assert!(!String::from_utf8(journal).unwrap().contains(preview["payload_sha256"].as_str().unwrap()));
}

#[test]
fn one_that_repeats_its_prompt_calls_nothing_by_that() {
    let first = calls(&[("fs.list", json!({ "path": "@pkg" }))]);
    let scene = with_program(&[&first], "");
    let echo = "n=$(cat \"$HOME/n\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$HOME/n\"\n[ $n = 1 ] || exec cat\ncat; cat replies/1";
    scene.project.write("agent.sh", echo);
    scene.answers("workflow run pkg --provider model --input 'Go.'", 3);
    assert_eq!(log(&scene).len(), 1);
}

#[test]
fn a_mode_speaks_of_nodes_only_where_there_are_some() {
    let server = ModelServer::answering(|_| Turn::text("Yes?"));
    let scene = SmallPackage::new().behind("gemini", &server, "");
    scene.done("agent pkg writer --provider model --input 'Hello.'");
    scene.done("chat --provider model --input 'Hello.'");
    for ask in server.asks() {
        assert_eq!(n_blocks(&ask, "RUN_DIRECTIVE") + n_blocks(&ask, "NODE_BRIEF"), 0);
        for word in ["workflow.md", "complete_node", "forNodeId", "stepsCompleted"] {
            let said = format!("{}\n{}", ask.system_text(), ask.user_texts().join("\n"));
            assert!(!said.contains(word), "`{word}` in:\n{said}");
        }
    }
}
