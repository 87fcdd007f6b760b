//! What a model is told in each mode, word for word; and a run with a provider that has no tools of its own.

use aiwf_engine::NewRun;
use aiwf_testkit::SmallPackage;
use serde_json::{Value, json};

use crate::fake_provider::{Asked, FakeProvider, Turn};
use crate::run_driver::{
    COMPLETED, WAITING, block, bug_triage, calls, chat, check_no_real_path, complete, converse, in_package,
    journal_text, log, n_blocks, new_run, preview, run, run_with, say, shown, small, talk_to, write,
};
use crate::scene::Scene;

/// A project with a provider that answers with these texts, one after the other, and reads tools in its prompt.
fn with_program(replies: &[&str]) -> (FakeProvider, Scene) {
    let agent = FakeProvider::saying(replies.iter().copied());
    let scene = Scene::of_agent(&agent, "");
    SmallPackage::new().write(&scene.project, "pkg");
    (agent, scene)
}

#[test]
fn a_run_from_its_first_node_to_its_end() {
    let server = FakeProvider::script([
        Turn::text("What happened?"),
        write("@project/artifacts/report.md", "It crashes.\n"),
        complete("intake", json!({})),
        Turn::text("Is it a bug?"),
    ]);
    let scene = bug_triage(&server, "");
    let on_its_own = NewRun { is_autopilot: true, ..new_run(&scene) };
    run_with(&scene, &on_its_own, Some("It is slow.")).unwrap();
    say(&scene, "It crashes.");
    let asks = server.asks();
    insta::assert_snapshot!("run", shown(&asks[0], &scene));
    // A decision, after a change of agent, with a past.
    insta::assert_snapshot!("run-at-a-decision", shown(&asks[3], &scene));
}

#[test]
fn a_run_after_completion() {
    let server = FakeProvider::script([
        complete("start", json!({ "variables": { "customer": "Acme" } })),
        write("@project/artifacts/note.md", "A note.\n"),
        complete("check", json!({})),
        Turn::text("Shall I close it?"),
        complete("done", json!({})),
        Turn::text("Closed."),
        Turn::text("You are welcome."),
    ]);
    let scene = small(&server, "");
    run(&scene, WAITING);
    let asks = server.asks();
    insta::assert_snapshot!("run-at-an-end", block(&asks[3], "NODE_BRIEF").unwrap());
    assert_eq!(say(&scene, "Yes.")["phase"], COMPLETED);
    assert_eq!(say(&scene, "Thanks.")["phase"], COMPLETED);
    insta::assert_snapshot!("run-after-completion", shown(server.asks().last().unwrap(), &scene));
}

#[test]
fn an_agent() {
    let server = FakeProvider::script([Turn::text("I am Noor.")]);
    let scene = bug_triage(&server, "");
    talk_to(&scene, "engineer", "Who are you?");
    insta::assert_snapshot!("agent", shown(&server.asks()[0], &scene));
}

#[test]
fn a_chat_has_no_persona_even_with_a_package() {
    let server = FakeProvider::script([Turn::text("A project."), Turn::text("A package.")]);
    let mut package = SmallPackage::new().tools(0, json!({ "fs": { "enabled": true, "maxReadBytes": 777 } }));
    package.agents[0]["systemPrompt"] = json!("I am Wanda and nobody else.");
    package.agents[0]["userPromptTemplate"] = json!("Wanda hears: {{ userInput }}");
    let scene = in_package(&package, &server, "");
    chat(&scene, "What is this?");
    converse(&scene, Some(&scene.root().join("pkg")), None, "And this?");
    let asks = server.asks();
    insta::assert_snapshot!("chat", shown(&asks[0], &scene));
    // The package's first agent lends its limits, and nothing else.
    assert!(asks[1].system_text().contains("maxReadBytes=777"));
    assert!(!asks[1].whole().contains("Wanda"), "{}", asks[1].whole());
    assert_eq!(block(&asks[1], "USER_INPUT").unwrap(), "USER_INPUT\n\n```\nTask:\nAnd this?\n```");
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
    let (agent, scene) = with_program(&[&first, unreadable, &both, &second, &last, "All is done.\n"]);
    let report = run(&scene, COMPLETED);
    assert_eq!(report["reply"], "All is done.\n", "{report:#}");
    let names: Vec<Value> = log(&scene).iter().map(|line| line["toolName"].clone()).collect();
    let done = "workflow.complete_node";
    assert_eq!(names, ["fs.read", "unreadable-call", "fs.write", done, done, done]);
    let prompts: Vec<String> = agent.asks().iter().map(Asked::as_prompt).collect();
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
fn a_program_works_like_any_other_provider() {
    let question =
        calls(&[("ui.ask_user", json!({ "widgetId": "sure", "type": "confirmation", "message": "Sure?" }))]);
    let (agent, scene) = with_program(&[&question, "Good.\n"]);
    let report = run_with(&scene, &new_run(&scene), None).unwrap();
    assert_eq!(report["question"]["widgetId"], "sure");
    let answer =
        "WIDGET_SUBMIT\n{\"widgetId\":\"sure\",\"type\":\"confirmation\",\"value\":{\"confirmed\":true}}";
    assert_eq!(say(&scene, answer)["phase"], WAITING);
    let text = agent.asks()[1].as_prompt();
    assert!(text.contains("USER_INPUT\n- forNodeId: start") && text.contains(answer), "{text}");
    let preview = preview(&scene, Some("More."));
    assert_eq!(preview["payload"]["tools"], json!([]));
    assert!(!journal_text(&scene).contains(preview["payload_sha256"].as_str().unwrap()));
}

#[test]
fn one_that_repeats_its_prompt_calls_nothing_by_that() {
    let first = calls(&[("fs.list", json!({ "path": "@pkg" }))]);
    let mut is_first = true;
    let agent = FakeProvider::answering(move |asked| {
        let prompt = asked.as_prompt();
        Turn::text(if std::mem::take(&mut is_first) { format!("{prompt}{first}") } else { prompt })
    });
    let scene = Scene::of_agent(&agent, "");
    SmallPackage::new().write(&scene.project, "pkg");
    run(&scene, WAITING);
    assert_eq!(log(&scene).len(), 1);
}

#[test]
fn a_mode_speaks_of_nodes_only_where_there_are_some() {
    let server = FakeProvider::answering(|_| Turn::text("Yes?"));
    let scene = small(&server, "");
    talk_to(&scene, "writer", "Hello.");
    chat(&scene, "Hello.");
    for ask in server.asks() {
        assert_eq!(n_blocks(&ask, "RUN_DIRECTIVE") + n_blocks(&ask, "NODE_BRIEF"), 0);
        for word in ["workflow.md", "complete_node", "forNodeId", "stepsCompleted"] {
            let said = format!("{}\n{}", ask.system_text(), ask.user_texts().join("\n"));
            assert!(!said.contains(word), "`{word}` in:\n{said}");
        }
    }
}
