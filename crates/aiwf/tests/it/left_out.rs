//! What a request leaves out is said before it is sent: in previews, on the standard error, in `status` and in JSON.

use aiwf_testkit::model_server::Turn;
use aiwf_testkit::{ModelServer, SmallPackage};
use serde_json::{Value, json};

use crate::scene::{Scene, api_table};
use crate::session::{INIT, PLAN};
use crate::workflow_package::{in_package, patch, read};

/// The entries whose name begins so.
fn named(report: &Value, beginning: &str) -> Vec<Value> {
    let entries = report["left_out"].as_array().unwrap();
    let is_named = |entry: &&Value| entry["id"].as_str().unwrap().starts_with(beginning);
    entries.iter().filter(is_named).cloned().collect()
}

/// A project whose window is too small for a second round, and a run that has had the first.
fn small_window() -> (ModelServer, Scene) {
    let long = "word ".repeat(2_000);
    let server = ModelServer::script([Turn::text(long), Turn::text("Here."), Turn::text("Again.")]);
    let scene = in_package(&SmallPackage::new(), "openai", &server, "[workflow]\ncontext_tokens = 3000\n");
    scene.answers("workflow run pkg --provider model --input 'Go.'", 3);
    (server, scene)
}

#[test]
fn messages_that_do_not_fit_are_listed_before_the_call() {
    let (server, scene) = small_window();
    let preview = scene.done("preview latest --input 'Next.'");
    let reply = &named(&preview, "message ")[..];
    let reply = reply.iter().find(|entry| entry["id"].as_str().unwrap().ends_with("(reply)")).unwrap();
    assert_eq!((&reply["kind"], &reply["bytes"]), (&json!("budget"), &json!(10_000)), "{reply:#}");
    assert!(reply["tokens"].as_u64().unwrap() > 1_000, "{reply:#}");
    assert_eq!(reply["reason"], "does not fit the budget of 3,000 tokens");
    let shown = scene.exits("preview latest --input 'Next.'", 0);
    assert!(shown.stderr_text().contains("warning: left out (budget): `message "), "{shown}");

    // The warning stands before the event of the call.
    let said = scene.exits("workflow say latest 'Next.' --events", 3);
    let stderr = said.stderr_text();
    let events: Vec<&str> = stderr.lines().filter(|line| line.contains("\"event\"")).collect();
    assert!(events[0].contains("\"left-out\"") && events[0].contains("(reply)"), "{said}");
    assert!(events[1].contains("call-started"), "{said}");
    assert_eq!(server.asks().len(), 2);
    let status = scene.done("status latest");
    assert_eq!(status["left_out"], preview["left_out"], "the request that was shown was another");
    let status = scene.exits("status latest", 0);
    assert!(status.stdout_text().contains("left out  (budget): `message "), "{status}");

    let said = scene.exits("workflow say latest 'More.'", 3);
    assert!(said.stderr_text().contains("warning: left out (budget): `message "), "{said}");
    // A program reads it in the answer.
    let (_server, scene) = small_window();
    let said = scene.answers("workflow say latest 'Next.'", 3);
    assert_eq!(named(&said, "message "), named(&preview, "message "));
}

#[test]
fn results_variables_and_previews_that_are_cut_are_listed() {
    let mut package = SmallPackage::new();
    package.agents[0]["menu"] = json!([
        { "trigger": "pack", "description": "Pack", "workflow": "small", "data": "assets/rows.csv" },
        { "trigger": "count", "description": "Count", "action": "How many?", "data": "{project-root}/rows.csv" },
    ]);
    let server = ModelServer::script([
        read("@project/large.txt"),
        patch(json!({ "variables": { "set": { "notes": "n".repeat(1_000) } } })),
        Turn::text("Here."),
        Turn::text("Counted."),
    ]);
    let scene = in_package(&package, "openai", &server, "[workflow]\nresult_preview_bytes = 2000\n");
    scene.project.write("pkg/assets/rows.csv", "x".repeat(5_000));
    scene.project.write("rows.csv", "x".repeat(5_000));
    scene.project.write("large.txt", "line\n".repeat(2_000));

    let begun = scene.answers("agent pkg writer --provider model --input pack", 3);
    let data = json!({
        "id": "@pkg/assets/rows.csv", "bytes": 904, "kind": "size-cap",
        "reason": "only the beginning is included; the model can read the rest",
    });
    assert_eq!(named(&begun, "@pkg/"), [data]);
    let result = &named(&begun, "fs.read @project/large.txt")[..];
    assert_eq!(result.len(), 1, "{begun:#}");
    assert_eq!(result[0]["reason"], "the model gets the first 2000 bytes of a result");
    assert!(result[0]["bytes"].as_u64().unwrap() > 8_000, "{result:#?}");

    // What the run has decided is part of what is said next.
    let preview = scene.done("preview latest --input 'Next.'");
    let variable = json!({
        "id": "variables.notes", "bytes": 597, "kind": "size-cap",
        "reason": "the state summary is limited to 400 characters per variable",
    });
    assert_eq!(named(&preview, "variables."), [variable]);

    let counted = scene.done("agent pkg writer --provider model --input count");
    assert_eq!(named(&counted, "@project/rows.csv")[0]["bytes"], 904);
    assert!(scene.done("status latest")["left_out"].to_string().contains("@project/rows.csv"));
}

/// A reviewer is never asked about code that it was not shown.
#[test]
fn a_review_whose_code_does_not_fit_is_refused_and_the_largest_file_is_named() {
    let server = ModelServer::script([Turn::text(PLAN)]);
    let table = api_table("model", "openai", &server);
    let window = "context_window = 12000\nmax_output_tokens = 1000\nfs_ability = \"none\"\n";
    let code =
        format!("<<<FILE: A.java>>>\nclass A {{}}\n<<<FILE: B.java>>>\n{}", "class B {}\n".repeat(8_000));
    let reviewing = |config: &str, reviewer: &str| {
        let scene = Scene::new(&format!("{table}{window}{config}"));
        scene.project.write("plan.md", PLAN);
        scene.project.write("code.md", &code);
        scene.exits(&format!("{INIT} {reviewer}"), 0);
        for line in ["approve", "respond --file plan.md", "approve", "approve", "respond --file code.md"] {
            scene.exits(line, 0);
        }
        scene
    };
    let scene = reviewing("", "--reviewer model");
    for line in ["approve", "preview", "run --yes"] {
        let refused = scene.exits(line, 1).stderr_text();
        assert!(
            refused.contains("tokens but provider `model` has a context window of 11,000"),
            "{line}: {refused}"
        );
        assert!(refused.contains("largest: `B.java` ("), "{line}: {refused}");
        assert!(
            refused.contains("hint: use a provider with a larger context window; if `model` has one"),
            "{refused}"
        );
    }
    assert!(server.asks().is_empty());
    assert!(!scene.names("iteration-1").contains(&"review-prompt.md".to_owned()));
    // A limit that somebody set is named as the setting it is.
    let scene = reviewing("[session]\nbudget_tokens = 20000\n", "");
    let refused = scene.exits("approve", 1).stderr_text();
    assert!(refused.contains("tokens but `budget_tokens` in `[session]` is 20,000"), "{refused}");
    assert!(refused.contains("hint: raise `budget_tokens` in `[session]`"), "{refused}");
    // So does a prompt that is sent without a session.
    let flags = "--phase review --instructions x --file code.md --budget 100 --provider model";
    let refused = scene.exits(&format!("prompt send change {flags}"), 1).stderr_text();
    assert!(refused.contains("or set a larger budget with `--budget`"), "{refused}");
}

#[test]
fn files_that_are_gone_or_no_text_are_listed_before_the_call() {
    let server = ModelServer::script([Turn::text("# Plan\n")]);
    let scene = Scene::of_api("openai", &server, "");
    scene.project.write("a.txt", "a\n");
    scene.project.write("b.txt", "b\n");
    scene.project.write("c.txt", "c\n");
    scene.exits("change new one 'Do it' --file '*.txt' --file a.txt", 0);
    #[expect(clippy::disallowed_methods, reason = "as a person would")]
    std::fs::remove_file(scene.project.path("a.txt")).unwrap();
    scene.project.write("b.txt", "a\0b");
    let preview = scene.exits("preview one", 0);
    assert!(preview.stderr_text().contains("left out (missing): `a.txt`"), "{preview}");
    assert!(preview.stderr_text().contains("left out (encoding): `b.txt` (3 bytes)"), "{preview}");
    let planned = scene.exits("change plan one", 3);
    assert!(planned.stderr_text().contains("left out (missing): `a.txt`"), "{planned}");
    assert!(server.asks().is_empty(), "it is said before the call");
    let status = scene.done("status one");
    assert_eq!(named(&status, "a.txt")[0]["kind"], "missing", "{status:#}");
    assert_eq!(named(&status, "b.txt")[0]["bytes"], 3, "{status:#}");
    let sent = scene.exits("approve one", 0);
    assert!(sent.stderr_text().contains("left out (missing): `a.txt`"), "{sent}");
    assert_eq!(server.asks().len(), 1);
}

#[test]
fn a_command_that_sends_a_prompt_says_what_it_leaves_out() {
    let turns = || [Turn::status(400), Turn::text(PLAN)];
    for commands in [&["approve latest", "retry latest"][..], &["run latest --yes"], &["step latest"]] {
        let server = ModelServer::script(turns());
        let table = api_table("model", "openai", &server);
        let window = "context_window = 12000\nmax_output_tokens = 1000\n";
        let scene = Scene::new(&format!("[roles]\ndefault = \"model\"\n{table}{window}"));
        scene.project.write("AGENTS.md", "Every word of this counts. ".repeat(5_000));
        let begun = if commands[0].starts_with("step") {
            // The key is not there yet, so the prompt is approved and not sent.
            let begun = scene.project.command(&format!("{INIT} --yes")).run();
            scene.exits("step latest", 0);
            begun
        } else {
            scene.exits(INIT, 0)
        };
        assert!(begun.stderr_text().contains("warning: left out (window): `"), "{begun}");
        assert!(server.asks().is_empty());
        let status = scene.done("status latest");
        assert_eq!(status["left_out"][0]["kind"], "window", "{status:#}");
        for (n_before, command) in commands.iter().enumerate() {
            let sent = scene.run(&format!("{command} --events"));
            let stderr = sent.stderr_text();
            let lines: Vec<&str> = stderr.lines().collect();
            let place = |text: &str| lines.iter().position(|line| line.contains(text));
            let (said, called) = (place("left-out"), place("call-started"));
            assert!(said.is_some() && said < called, "{command}: {sent}");
            assert_eq!(server.asks().len(), n_before + 1, "{command}: {sent}");
        }
    }
}
