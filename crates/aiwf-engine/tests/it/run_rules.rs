//! The rules of runs, by the contract: agents and nodes, how a run is made, completion, conditions.

use std::path::Path;

use aiwf_engine::NewRun;
use aiwf_engine::advice::Action;
use aiwf_testkit::SmallPackage;
use serde_json::{Value, json};

use crate::fake_provider::{FakeProvider, Piece, Turn};
use crate::run_driver::{
    COMPLETED, FAILED, WAITING, block, bug_triage, check_no_real_path_was_sent, complete, in_latest,
    in_package, journal_text, last_code, n_blocks, new_run, patch, read, results, run, run_dir, run_with,
    say, small, state, status, write,
};
use crate::scene::Scene;

const YES: &str = "WIDGET_SUBMIT\n{\"widgetId\":\"workflow_state_change_confirm\",\"type\":\"confirmation\",\"value\":{\"confirmed\":true}}";
const NO: &str = "WIDGET_SUBMIT\n{\"widgetId\":\"workflow_state_change_confirm\",\"type\":\"confirmation\",\"value\":{\"confirmed\":false}}";

/// Ends a small run: three nodes, then the last words.
fn to_the_end() -> Vec<Turn> {
    vec![
        complete("start", json!({})),
        complete("check", json!({})),
        complete("done", json!({})),
        Turn::text("It is done."),
    ]
}

/// A small run that is complete, and what the model does afterwards.
fn completed(more: Vec<Turn>) -> (FakeProvider, Scene) {
    let server = FakeProvider::script(to_the_end().into_iter().chain(more));
    let scene = small(&server, "");
    let report = run(&scene, COMPLETED);
    assert_eq!((&report["phase"], &report["reply"]), (&json!("completed"), &json!("It is done.")));
    (server, scene)
}

#[test]
fn the_agent_of_a_node_brings_its_persona_and_its_policy() {
    let server = FakeProvider::script([
        read("@pkg/steps/start.md"),
        complete("start", json!({})),
        complete("check", json!({})),
        Turn::text("And now?"),
    ]);
    let mut package = SmallPackage::new()
        .tools(0, json!({ "fs": { "enabled": true, "maxReadBytes": 1000, "maxWriteBytes": 2000 } }))
        .tools(1, json!({ "fs": { "enabled": false } }));
    package.agents[1]["systemPrompt"] = json!("I am the second, word for word.");
    let scene = in_package(&package, &server, "[workflow]\nmax_read_bytes = 5000\nmax_write_bytes = 500\n");
    run(&scene, WAITING);
    let asks = server.asks();
    let system = asks[0].system_text();
    assert!(system.contains("You are Wanda (Tester).\nRole: The role of Wanda"), "{system}");
    // Each limit is the smaller one.
    assert!(system.contains("- fs: enabled (maxReadBytes=1000, maxWriteBytes=500)"), "{system}");
    assert!(asks[0].tool_names().contains(&"fs_read".to_owned()));

    let system = asks[2].system_text();
    assert!(system.contains("I am the second, word for word.") && !system.contains("Wanda"), "{system}");
    assert!(!system.contains("Role: The role of Rob"), "{system}");
    assert!(system.contains("- fs: disabled") && system.contains("File tools are not available"), "{system}");
    assert_eq!(asks[2].tool_names(), ["ui_ask_user", "workflow_complete_node"]);
    let directive = block(&asks[2], "RUN_DIRECTIVE").unwrap();
    assert!(directive.contains("- currentNodeId: check\n- effectiveAgentId: reader\n"), "{directive}");

    // A node without an agent, by an empty id, has the one the run began with.
    assert!(asks[3].system_text().contains("You are Wanda"));
    let directive = block(&asks[3], "RUN_DIRECTIVE").unwrap();
    assert!(directive.contains("- currentNodeId: done\n- effectiveAgentId: writer\n"), "{directive}");
    // Where it stands is said when node or agent changed, and not otherwise.
    let told: Vec<usize> = asks.iter().map(|ask| n_blocks(ask, "RUN_DIRECTIVE")).collect();
    assert_eq!(told, [1, 1, 2, 3]);
    let told: Vec<usize> = asks.iter().map(|ask| n_blocks(ask, "NODE_BRIEF")).collect();
    assert_eq!(told, [1, 1, 2, 3]);
    check_no_real_path_was_sent(&server, &scene);
}

#[test]
fn the_agent_a_run_begins_with_can_be_chosen() {
    let server = FakeProvider::script([Turn::text("Yes?")]);
    let mut package = SmallPackage::new();
    package.nodes[0]["agentId"] = json!("");
    let scene = in_package(&package, &server, "");
    let chosen = NewRun { agent: Some("reader"), ..new_run(&scene) };
    let report = run_with(&scene, &chosen, None).unwrap();
    assert_eq!((&report["agent"], &report["node"]), (&json!("reader"), &json!("start")));
    let ask = &server.asks()[0];
    assert!(ask.system_text().contains("You are Rob"));
    assert!(block(ask, "RUN_DIRECTIVE").unwrap().contains("- intent: start\n"));
    // Nothing was said, so there is no block for it.
    assert_eq!(n_blocks(ask, "USER_INPUT"), 0);
    assert!(state(&scene).contains("activeAgentId: reader"));
}

#[test]
fn a_template_of_the_agent_frames_what_the_user_says() {
    let server = FakeProvider::script([Turn::text("Yes?")]);
    let mut package = SmallPackage::new();
    package.agents[0]["userPromptTemplate"] = json!("The customer {{ customer }} says: {{ userInput }}");
    package.front_matter["variables"] = json!({ "customer": "Acme" });
    let scene = in_package(&package, &server, "");
    run(&scene, WAITING);
    let input = block(&server.asks()[0], "USER_INPUT").unwrap();
    assert!(input.starts_with("USER_INPUT\n- forNodeId: start\n\n"), "{input}");
    assert!(input.contains("The customer Acme says: Go."), "{input}");
}

#[test]
fn a_package_with_several_workflows_wants_one_named() {
    let server = FakeProvider::script([Turn::text("Yes?")]);
    let scene = Scene::of_model(&server, "");
    SmallPackage::new().write_twice(&scene.project, "pkg");
    let of = |workflow| NewRun { workflow, ..new_run(&scene) };
    let code = |workflow| run_with(&scene, &of(workflow), None).unwrap_err().code();
    assert_eq!(code(None), "WORKFLOW_REF_REQUIRED");
    assert_eq!(code(Some("third")), "WORKFLOW_REF_UNKNOWN");
    assert!(server.asks().is_empty());
    assert!(scene.engine.runs().unwrap().is_empty());
    let report = run_with(&scene, &of(Some("second")), None).unwrap();
    assert_eq!(report["workflow"], "second");
    let ask = &server.asks()[0];
    let directive = block(ask, "RUN_DIRECTIVE").unwrap();
    assert!(directive.contains("- workflow: second\n"), "{directive}");
    assert!(directive.contains("- graph: @pkg/workflows/second/workflow.graph.json\n"), "{directive}");
    let brief = block(ask, "NODE_BRIEF").unwrap();
    assert!(brief.contains("- stepFile: @pkg/workflows/second/steps/start.md\n"), "{brief}");
}

#[test]
fn a_run_begins_with_the_packages_variables_and_without_its_progress() {
    let server = FakeProvider::script([Turn::status(401)]);
    let mut package = SmallPackage::new();
    package.front_matter["variables"] = json!({ "rounds": 2, "customer": "Acme" });
    package.front_matter["stepsCompleted"] = json!(["start"]);
    package.front_matter["currentNodeId"] = json!("check");
    package.front_matter["artifacts"] = json!(["artifacts/old.md"]);
    package.front_matter["decisionLog"] = json!([{ "from": "start", "to": "check", "label": "next" }]);
    package.front_matter["owner"] = json!("somebody");
    let scene = in_package(&package, &server, "");
    assert_eq!(run(&scene, FAILED)["node"], "start");
    let status = status(&scene);
    assert_eq!(status["variables"], json!({ "rounds": 2, "customer": "Acme" }));
    assert_eq!((&status["decisions"], &status["artifacts"]), (&json!([]), &json!([])));
    let text = state(&scene);
    let id = run_dir(&scene).rsplit('/').next().unwrap().to_owned();
    for line in ["stepsCompleted: []", "owner: somebody", "activeAgentId: writer", "The body stays."] {
        assert!(text.contains(line), "`{line}` not in:\n{text}");
    }
    assert!(text.contains(&id) && text.contains("updatedAt:"), "{text}");
    assert!(!text.contains("old.md"), "{text}");
    assert!(scene.project.path("artifacts").is_dir());
    let log = scene.project.read(&format!("{}/state/logs/execution.jsonl", run_dir(&scene)));
    assert_eq!(log, b"");
}

#[test]
fn a_run_that_cannot_begin_leaves_nothing() {
    let server = FakeProvider::script([]);
    let scene = small(&server, "");
    let new = new_run(&scene);
    for new in [
        NewRun { agent: Some("nobody"), ..new },
        NewRun { workflow: Some("other"), ..new },
        NewRun { provider: Some("nobody"), ..new },
        NewRun { package: Path::new("pkg/steps"), ..new },
    ] {
        run_with(&scene, &new, None).unwrap_err();
        let has_runs = scene.project.path(".aiwf/sessions").exists();
        let left = if has_runs { scene.project.names_in(".aiwf/sessions") } else { Vec::new() };
        assert!(left.iter().all(|name| name == ".lock"), "{new:?}: {left:?}");
        assert!(!scene.project.path("artifacts").exists(), "{new:?}");
    }
    assert!(server.asks().is_empty());
}

#[test]
fn a_status_in_the_state_completes_a_run_at_any_node() {
    let server = FakeProvider::script([
        patch(json!({ "variables": { "set": { "workflowStatus": "complete" } } })),
        Turn::text("Cut short."),
    ]);
    let mut package = SmallPackage::new();
    package.nodes.pop();
    package.edges.pop();
    let scene = in_package(&package, &server, "");
    let report = run(&scene, COMPLETED);
    assert_eq!((&report["phase"], &report["reply"]), (&json!("completed"), &json!("Cut short.")));
    let ask = &server.asks()[1];
    assert!(block(ask, "RUN_DIRECTIVE").unwrap().contains("Protocol (post-run):"));
    assert_eq!(n_blocks(ask, "NODE_BRIEF"), 0);
}

#[test]
fn an_end_node_among_the_completed_steps_completes_a_run() {
    let server = FakeProvider::script([
        complete("start", json!({})),
        complete("check", json!({})),
        // By hand, and without a word of the status.
        patch(json!({ "stepsCompleted": { "append": ["done"] } })),
        Turn::text("That was it."),
    ]);
    let scene = small(&server, "");
    let report = run(&scene, COMPLETED);
    assert_eq!((&report["phase"], &report["reply"]), (&json!("completed"), &json!("That was it.")));
    assert!(!state(&scene).contains("workflowStatus"));
}

#[test]
fn the_last_words_are_asked_for_once_even_when_they_call_a_tool() {
    let mut turns = to_the_end();
    turns.pop();
    turns.push(Turn::Pieces(vec![
        Piece::Text("Let me look once more.".to_owned()),
        Piece::ToolCall { name: "fs_read".to_owned(), args: json!({ "path": "@state/workflow.md" }) },
    ]));
    turns.push(Turn::text("Never asked for."));
    let server = FakeProvider::script(turns);
    let scene = small(&server, "");
    let report = run(&scene, COMPLETED);
    assert_eq!(report["reply"], "Let me look once more.");
    assert_eq!(server.asks().len(), 4);
    // The result of that call is there when the talk goes on.
    let outcome = say(&scene, "And?");
    assert_eq!(outcome["phase"], COMPLETED, "{outcome:#}");
    let results = results(&server.asks()[4]);
    assert_eq!(results.last().unwrap()["ok"], true);
}

#[test]
fn a_finished_run_talks_on_with_tools_and_records_artifacts() {
    let (server, scene) = completed(vec![
        write("@project/artifacts/more.md", "More.\n"),
        write("@project/notes.md", "Notes.\n"),
        Turn::text("Written."),
    ]);
    let outcome = say(&scene, "Write more.");
    assert_eq!(outcome["phase"], COMPLETED, "{outcome:#}");
    let asks = server.asks();
    let all = results(asks.last().unwrap());
    assert_eq!(all[all.len() - 2]["recordedArtifact"], "artifacts/more.md", "{all:#?}");
    assert_eq!(all[all.len() - 1]["ok"], true);
    assert_eq!(status(&scene)["artifacts"], json!(["artifacts/more.md"]));
    let input = block(asks.last().unwrap(), "USER_INPUT").unwrap();
    assert!(!input.contains("forNodeId"), "{input}");
    assert_eq!(asks.last().unwrap().tool_names(), asks[0].tool_names());
}

#[test]
fn without_confirmation_a_finished_state_does_not_change() {
    let change = || patch(json!({ "variables": { "set": { "note": "x" } } }));
    let (server, scene) = completed(vec![
        change(),
        Turn::text("May I?"),
        // Declined.
        change(),
        Turn::text("As you wish."),
        // Confirmed, and not used.
        Turn::text("Thanks."),
        // An earlier confirmation does not count.
        change(),
        complete("done", json!({})),
        write("@state/workflow.md", "---\n{}\n---\n"),
        Turn::text("No."),
    ]);
    let before = state(&scene);
    assert_eq!(say(&scene, "Note x.")["phase"], COMPLETED);
    assert_eq!(last_code(&server.asks()[5]), "STATE_CHANGE_REQUIRES_CONFIRMATION");
    assert_eq!(say(&scene, NO)["phase"], COMPLETED);
    assert_eq!(last_code(&server.asks()[7]), "STATE_CHANGE_REQUIRES_CONFIRMATION");
    assert_eq!(say(&scene, YES)["phase"], COMPLETED);
    assert_eq!(say(&scene, "Now do it.")["phase"], COMPLETED);
    let asks = server.asks();
    let refused = results(asks.last().unwrap());
    for result in &refused[refused.len() - 3..] {
        assert_eq!(result["error"]["code"], "STATE_CHANGE_REQUIRES_CONFIRMATION", "{result:#}");
    }
    assert_eq!(state(&scene), before);
}

#[test]
fn a_confirmed_change_that_reopens_a_run_brings_its_nodes_back() {
    let (server, scene) = completed(vec![
        // Only the status is set otherwise: `done` is an end and done, so the list of steps decides.
        patch(json!({ "variables": { "set": { "workflowStatus": "open" } } })),
        Turn::text("Still complete."),
    ]);
    assert_eq!(say(&scene, YES)["phase"], COMPLETED);
    assert!(block(&server.asks()[5], "RUN_DIRECTIVE").unwrap().contains("post-run"));

    let server = FakeProvider::script([
        patch(json!({ "variables": { "set": { "workflowStatus": "complete" } } })),
        Turn::text("Complete."),
        patch(json!({ "variables": { "set": { "workflowStatus": "open" } } })),
        Turn::text("Open again."),
    ]);
    let scene = small(&server, "");
    run(&scene, COMPLETED);
    let outcome = say(&scene, YES);
    assert_eq!(outcome["phase"], WAITING, "{outcome:#}");
    let report = outcome;
    assert_eq!((&report["phase"], &report["node"]), (&json!("waiting-user"), &json!("start")));
    let ask = &server.asks()[3];
    let directive = block(ask, "RUN_DIRECTIVE").unwrap();
    assert!(directive.contains("- currentNodeId: start\n"), "{directive}");
    assert!(block(ask, "NODE_BRIEF").unwrap().contains("stepFile: @pkg/steps/start.md"));
    assert!(!ask.user_texts().iter().any(|text| text.contains("post-run")));
}

#[test]
fn a_finished_run_is_not_resumed_without_a_word() {
    let (server, scene) = completed(vec![Turn::text("Yes?")]);
    let refused = in_latest(&scene, |run| run.resume(None)).unwrap_err();
    assert_eq!(refused.code(), "RUN_COMPLETE");
    assert!(refused.advice().unwrap().actions().any(|action| *action == Action::Say), "{refused:?}");
    assert_eq!(server.asks().len(), 4);
    assert_eq!(say(&scene, "One more thing.")["reply"], "Yes?");
}

fn judged(conditions: &str, kind: &str) -> (FakeProvider, Scene, Value) {
    let server = FakeProvider::script([
        write("@project/artifacts/report.md", "It crashes.\n"),
        complete("intake", json!({})),
        complete("judge", json!({ "label": "bug", "variables": { "kind": kind } })),
        Turn::text("Then?"),
    ]);
    let scene = bug_triage(&server, &format!("[workflow]\nconditions = \"{conditions}\"\n"));
    let report = run(&scene, WAITING);
    (server, scene, report)
}

#[test]
fn a_condition_that_contradicts_an_edge_warns_or_refuses_as_configured() {
    let (server, _scene, report) = judged("enforce", "wish");
    assert_eq!(report["node"], "judge");
    let refused = results(&server.asks()[3]).pop().unwrap();
    assert_eq!(refused["error"]["code"], "E_INVALID_TRANSITION", "{refused:#}");

    let (server, _scene, report) = judged("warn", "wish");
    assert_eq!(report["node"], "reproduce");
    let warned = results(&server.asks()[3]).pop().unwrap();
    assert_eq!(warned["ok"], true);
    let message = warned["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("bug"), "{message}");
    assert_eq!(report["warnings"], json!([message]));

    let (_server, _scene, report) = judged("enforce", "bug");
    assert_eq!((&report["node"], &report["warnings"]), (&json!("reproduce"), &json!([])));
}

#[test]
fn each_kind_of_answer_arrives_as_what_the_user_says() {
    let asked = [
        (
            json!({ "widgetId": "w", "type": "form", "message": "?", "schema": { "type": "object", "properties": { "name": { "type": "string" } } } }),
            json!({ "name": "Ann" }),
        ),
        (
            json!({ "widgetId": "w", "type": "selection", "message": "?", "options": [{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }], "multi": true }),
            json!(["a", "b"]),
        ),
        (json!({ "widgetId": "w", "type": "confirmation", "message": "?" }), json!({ "confirmed": false })),
        (
            json!({ "widgetId": "w", "type": "plan_review", "message": "?", "planContent": "1. Do it." }),
            json!({ "decision": "request_changes", "feedback": "Shorter." }),
        ),
        (
            json!({ "widgetId": "w", "type": "feedback", "message": "?", "items": [{ "id": "one", "content": "A text" }] }),
            json!({ "one": "Good." }),
        ),
        (
            json!({ "widgetId": "w", "type": "action_selection", "message": "?", "actions": [{ "id": "go", "label": "Go" }] }),
            json!("go"),
        ),
    ];
    let turns = asked.iter().map(|(question, _)| Turn::tool_call("ui_ask_user", question.clone()));
    let server = FakeProvider::script(turns.chain([Turn::text("Thanks.")]));
    let scene = small(&server, "");
    let mut report = run(&scene, WAITING);
    for (number, (question, value)) in asked.iter().enumerate() {
        assert_eq!(&report["question"], question);
        let submit = json!({ "widgetId": "w", "type": question["type"], "value": value });
        let text = format!("WIDGET_SUBMIT\n{submit}");
        let outcome = say(&scene, &text);
        assert_eq!(outcome["phase"], WAITING, "{outcome:#}");
        report = outcome;
        assert_eq!(report["warnings"], json!([]), "{submit}");
        let ask = &server.asks()[number + 1];
        let input = block(ask, "USER_INPUT").unwrap();
        assert!(input.starts_with("USER_INPUT\n- forNodeId: start\n\n```"), "{input}");
        assert!(input.contains(&text), "{input}");
        let widget = results(ask).pop().unwrap();
        assert!(widget["widgetBlock"].as_str().unwrap().starts_with("```widget\n"), "{widget:#}");
    }
    // What cannot be an answer is said to the user, and to the model as it is.
    let outcome = say(&scene, "WIDGET_SUBMIT\n{\"widgetId\":\"w\"}");
    assert_eq!(outcome["phase"], FAILED, "the script is at its end: {outcome:#}");
    let warnings = outcome["warnings"].to_string();
    assert!(warnings.contains("the answer to the question cannot be read"), "{warnings}");
}

#[test]
fn a_node_whose_agent_is_gone_blocks_instead_of_losing_its_persona() {
    let server = FakeProvider::script([]);
    let mut package = SmallPackage::new();
    package.agents.truncate(1);
    let scene = in_package(&package, &server, "");
    let refused = run_with(&scene, &new_run(&scene), None).unwrap_err().to_string();
    assert!(refused.contains("reader"), "{refused}");
    assert!(server.asks().is_empty());
}

#[test]
fn a_write_that_the_guard_refuses_leaves_the_state_as_it_was() {
    let whole = |front_matter: &str| write("@state/workflow.md", &format!("---\n{front_matter}\n---\n"));
    let stale = json!({ "path": "@state/workflow.md", "content": "x", "ifMatchSha256": "0".repeat(64) });
    let server = FakeProvider::script([
        complete("start", json!({})),
        Turn::tool_call("fs_write", stale),
        write("@state/workflow.md", "no front matter\n"),
        whole("{\"schemaVersion\": \"1.1\"}"),
        // What is done stays done.
        whole(
            "{\"schemaVersion\": \"1.1\", \"workflowType\": \"small\", \"stepsCompleted\": [], \"currentNodeId\": \"check\"}",
        ),
        patch(json!({ "currentNodeId": { "set": "start" } })),
        patch(json!({ "currentNodeId": { "set": "nowhere" } })),
        patch(json!({ "stepsCompleted": { "remove": ["start"] } })),
        complete("done", json!({})),
        Turn::text("I see."),
    ]);
    let scene = small(&server, "");
    let report = run(&scene, WAITING);
    assert_eq!(report["node"], "check");
    let all = results(server.asks().last().unwrap());
    let codes: Vec<&str> = all[1..].iter().map(|result| result["error"]["code"].as_str().unwrap()).collect();
    assert_eq!(
        codes,
        [
            "E_PRECONDITION_FAILED",
            "E_INVALID_FRONTMATTER",
            "E_SCHEMA_VALIDATION",
            "E_INVALID_TRANSITION",
            "E_INVALID_TRANSITION",
            "E_INVALID_TRANSITION",
            "E_INVALID_ARGS",
            "E_INVALID_TRANSITION",
        ]
    );
    assert!(!all[3]["error"]["details"]["errors"].is_null(), "{:#}", all[3]);
    assert_eq!(all[4]["error"]["details"]["removed"], json!(["start"]));
    // The ways on are those of the node where the run stands, also for a node that does not exist.
    for refused in &all[5..7] {
        assert_eq!(refused["error"]["details"]["allowedNext"][0]["to"], "done", "{refused:#}");
    }
    let text = state(&scene);
    let sha256 = all[0]["sha256After"].as_str().unwrap();
    assert!(text.contains("currentNodeId: check") && text.contains("The body stays."), "{text}");
    assert_eq!(journal_text(&scene).matches("state-intended").count(), 1);
    assert_eq!(sha256.len(), 64);
}

#[test]
fn only_new_files_below_artifacts_are_recorded() {
    let server = FakeProvider::script([
        write("@project/artifacts/old.md", "Changed.\n"),
        write("@project/elsewhere.md", "x\n"),
        write("@project/./artifacts/new/deep.md", "x\n"),
        write("@project/artifacts/new/deep.md", "y\n"),
        Turn::text("Written."),
    ]);
    let scene = small(&server, "");
    scene.write("artifacts/old.md", "Old.\n");
    run(&scene, WAITING);
    let all = results(server.asks().last().unwrap());
    let recorded: Vec<&Value> = all.iter().map(|result| &result["recordedArtifact"]).collect();
    assert_eq!(
        recorded,
        [&Value::Null, &Value::Null, &json!("artifacts/new/deep.md"), &Value::Null],
        "{all:#?}"
    );
    assert_eq!(status(&scene)["artifacts"], json!(["artifacts/new/deep.md"]));
}

#[test]
fn the_user_is_asked_one_thing_at_a_time() {
    let question = |id: &str| Piece::ToolCall {
        name: "ui_ask_user".to_owned(),
        args: json!({ "widgetId": id, "type": "confirmation", "message": "Sure?" }),
    };
    let look = Piece::ToolCall { name: "fs_list".to_owned(), args: json!({ "path": "@pkg" }) };
    let server = FakeProvider::script([
        Turn::Pieces(vec![question("first"), question("second"), look]),
        Turn::text("Good."),
    ]);
    let scene = small(&server, "");
    let report = run(&scene, WAITING);
    assert_eq!(report["question"]["widgetId"], "first");
    say(&scene, "Yes.");
    let all = results(&server.asks()[1]);
    assert_eq!((all.len(), &all[0]["ok"], &all[2]["ok"]), (3, &json!(true), &json!(true)), "{all:#?}");
    assert_eq!(all[1]["error"]["code"], "TOOL_EXEC_FAILED");
    assert!(all[1]["error"]["message"].as_str().unwrap().contains("one thing at a time"), "{:#}", all[1]);
}
