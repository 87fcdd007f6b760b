//! Runs whose process dies, that two processes want, or whose files somebody changed.
//!
//! A crash is a kill while the model is asked, or a journal cut back to a line: both leave what a loss of the process
//! leaves. Where the disk itself is disturbed is the slow suite `faults`.

#![allow(clippy::disallowed_methods, reason = "tests do to a run what others may do to it")]

use std::time::Duration;

use aiwf_testkit::model_server::{Piece, SeenRequest, Turn};
use aiwf_testkit::{ModelServer, Outcome};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::scene::{Scene, eventually};
use crate::workflow_walk::{complete, log, project_with_package, run_dir, write};

const REPORT: &str = "# Report\n\nIt crashes.\n";

fn call(name: &str, args: Value) -> Piece {
    Piece::ToolCall { name: name.to_owned(), args }
}

fn write_call(path: &str, content: &str) -> Piece {
    call("fs_write", json!({ "path": path, "content": content }))
}

fn complete_call(node: &str) -> Piece {
    call("workflow_complete_node", json!({ "nodeId": node }))
}

/// The way of a bug through the package, with one and with two calls in a reply.
fn walk() -> Vec<Turn> {
    vec![
        Turn::Pieces(vec![
            call("fs_read", json!({ "path": "@state/workflow.md" })),
            call("fs_read", json!({ "path": "@pkg/steps/intake.md" })),
        ]),
        write("@project/artifacts/report.md", REPORT),
        complete("intake", json!({})),
        complete("judge", json!({ "label": "bug", "variables": { "kind": "bug" } })),
        Turn::Pieces(vec![
            write_call("@project/artifacts/reproduction.md", "Press the button.\n"),
            complete_call("reproduce"),
        ]),
        complete("confirmed", json!({ "label": "yes", "variables": { "happens": true } })),
        Turn::Pieces(vec![
            write_call("@project/artifacts/fix-plan.md", "Check the pointer.\n"),
            complete_call("plan-fix"),
        ]),
        Turn::Pieces(vec![complete_call("meet"), complete_call("close")]),
        Turn::text("All done."),
    ]
}

const N_CALLS: usize = 12;

/// A model that hangs the first time it is asked for each turn, and answers the second time.
fn hanging_once(turns: Vec<Turn>) -> ModelServer {
    let mut turns = turns.into_iter().peekable();
    let mut has_hung = false;
    ModelServer::answering(move |_| {
        has_hung = !has_hung;
        if has_hung { Turn::Hang(Duration::from_mins(1)) } else { turns.next().unwrap_or(Turn::text("?")) }
    })
}

/// The lines of the journal of the only run.
fn journal(scene: &Scene) -> Vec<Value> {
    let text = String::from_utf8(scene.project.read(&format!("{}/journal.jsonl", run_dir(scene)))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Cuts the journal back to its first lines, as if the process had died there.
fn cut_journal(scene: &Scene, n_lines: usize) {
    let path = format!("{}/journal.jsonl", run_dir(scene));
    let text = String::from_utf8(scene.project.read(&path)).unwrap();
    let kept: String = text.split_inclusive('\n').take(n_lines).collect();
    scene.project.write(&path, kept);
    forget_more(scene);
}

/// Whoever died had not come to remember more than is in the journal.
fn forget_more(scene: &Scene) {
    std::fs::remove_dir_all(scene.project.home().join(".aiwf/state")).unwrap();
    scene.exits("adopt latest --yes", 0);
}

/// The number of the first line whose event is wanted, from 1.
#[track_caller]
fn line_of(scene: &Scene, is_wanted: impl Fn(&Value) -> bool) -> usize {
    journal(scene).iter().position(|line| is_wanted(&line["event"])).unwrap() + 1
}

fn state_path(scene: &Scene) -> String {
    format!("{}/state/workflow.md", run_dir(scene))
}

fn state(scene: &Scene) -> String {
    String::from_utf8(scene.project.read(&state_path(scene))).unwrap()
}

/// Puts the state file back to the bytes of a hash.
fn put_state(scene: &Scene, sha256: &str) {
    let bytes = scene.project.read(&format!("{}/objects/{sha256}", run_dir(scene)));
    scene.project.write(&state_path(scene), bytes);
}

/// The log has one line for each call of the journal, with the tools' own names.
#[track_caller]
fn check_log(scene: &Scene) {
    let log = log(scene);
    let mut ids: Vec<&str> = log.iter().map(|line| line["toolCallId"].as_str().unwrap()).collect();
    let called: Vec<Value> = journal(scene).iter().map(|line| line["event"].clone()).collect();
    let mut wanted: Vec<&str> = called
        .iter()
        .filter_map(|event| event["tool_calls"].as_array())
        .flatten()
        .map(|call| call["id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(ids, wanted);
    for line in &log {
        assert_eq!(line["kind"], "tool.exec");
        assert!(line["toolName"].as_str().unwrap().contains('.'), "{line}");
    }
}

/// Every call of an OpenAI request has one result, right behind it.
#[track_caller]
fn check_protocol(request: &SeenRequest) {
    let mut open: Vec<String> = Vec::new();
    for message in request.body["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            let position = open.iter().position(|open| open == id);
            assert!(position.is_some(), "a result without a call: {message}");
            open.remove(position.unwrap());
            continue;
        }
        assert!(open.is_empty(), "calls without results: {open:?}");
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open = calls.map(|call| call["id"].as_str().unwrap().to_owned()).collect();
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}

/// Without what differs from run to run.
fn shown(scene: &Scene, outcome: &Outcome) -> String {
    let id = run_dir(scene).rsplit('/').next().unwrap().to_owned();
    let text = outcome.to_string().replace(&id, "[run]");
    let words = text.split_inclusive([' ', '\n', '`']);
    let shown = words.map(|word| {
        let end = word.chars().last().unwrap_or_default();
        let bare = word.strip_suffix(end).unwrap_or(word);
        let is_hash = bare.len() == 64 && bare.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { format!("[hash]{end}") } else { word.to_owned() }
    });
    shown.collect()
}

/// Every file of the only run, so that two moments can be compared.
fn files(scene: &Scene) -> Vec<(String, Vec<u8>)> {
    let run = run_dir(scene);
    ["journal.jsonl", "run.json", "state/workflow.md", "state/logs/execution.jsonl"]
        .into_iter()
        .filter(|name| scene.project.path(format!("{run}/{name}")).exists())
        .map(|name| (name.to_owned(), scene.project.read(&format!("{run}/{name}"))))
        .collect()
}

/// Each process answers the turn its predecessor died in, and dies in the next.
fn killed_in_every_turn(kind: &str) {
    let server = hanging_once(walk());
    let scene = project_with_package(kind, &server, "");
    let n_turns = walk().len();
    for turn in 1..=n_turns {
        let line = if turn == 1 {
            "workflow run pkg --provider model --autopilot --input 'It crashes.'"
        } else {
            "workflow resume latest"
        };
        let running = scene.command(line).spawn();
        eventually("the model is asked", || server.asks().len() == 2 * turn - 1);
        let status = scene.done("status latest");
        assert_eq!((&status["phase"], &status["is_busy"]), (&json!("running"), &json!(true)), "{status:#}");
        assert_eq!(status["interrupted"], false);
        running.signal("KILL");
        let outcome = running.wait();
        assert_eq!(outcome.code, None, "{outcome}");
        let status = scene.done("status latest");
        assert_eq!((&status["phase"], &status["interrupted"]), (&json!("running"), &json!(true)));
        if turn == 1 {
            continue;
        }
        let asks = server.asks();
        let (in_vain, resumed) = (&asks[2 * turn - 4], &asks[2 * turn - 3]);
        let said = resumed.user_texts();
        assert!(said.iter().any(|text| text.contains("- intent: resume")), "{said:#?}");
        assert!(said.iter().any(|text| text.contains("It crashes.")), "{said:#?}");
        // What was said and done before is there, and nothing of it twice.
        assert_eq!(in_vain.tool_results(), resumed.tool_results());
    }
    let report = scene.done("workflow resume latest");
    assert_eq!(report["phase"], "completed", "{report:#}");
    assert_eq!(report["reply"], "All done.");
    assert_eq!(log(&scene).len(), N_CALLS);
    assert!(log(&scene).iter().all(|line| line["output"]["ok"] == true), "{:#?}", log(&scene));
    check_log(&scene);
    assert_eq!(scene.project.read("artifacts/report.md"), REPORT.as_bytes());
    let text = state(&scene);
    for artifact in ["report", "reproduction", "fix-plan"] {
        assert_eq!(text.matches(&format!("artifacts/{artifact}.md")).count(), 1, "{text}");
    }
    let asks = server.asks();
    assert_eq!(asks.last().unwrap().tool_results().len(), N_CALLS);
    if kind == "openai" {
        asks.iter().for_each(check_protocol);
    }
}

#[test]
fn a_run_killed_in_every_turn_resumes_over_openai() {
    killed_in_every_turn("openai");
}

#[test]
fn a_run_killed_in_every_turn_resumes_over_anthropic() {
    killed_in_every_turn("anthropic");
}

#[test]
fn a_run_killed_in_every_turn_resumes_over_gemini() {
    killed_in_every_turn("gemini");
}

/// A run at node `judge`: the report was written and `intake` completed in one reply.
fn scene_at_judge(server: &ModelServer) -> Scene {
    let scene = project_with_package("openai", server, "");
    scene.answers("workflow run pkg --provider model --input 'It crashes.'", 3);
    scene
}

fn to_judge() -> Vec<Turn> {
    vec![
        Turn::Pieces(vec![write_call("@project/artifacts/report.md", REPORT), complete_call("intake")]),
        Turn::text("Is it a bug?"),
    ]
}

fn server_at_judge(more: impl IntoIterator<Item = Turn>) -> ModelServer {
    ModelServer::script(to_judge().into_iter().chain(more))
}

#[test]
fn interrupted_calls_are_reported_and_not_run_again() {
    let server = server_at_judge([Turn::text("I see.")]);
    let scene = scene_at_judge(&server);
    // It died with the reply on record, before any of its calls: nothing of them is there.
    let created = journal(&scene)[0]["event"]["setup"]["state_sha256"].as_str().unwrap().to_owned();
    cut_journal(&scene, line_of(&scene, |event| event["event"] == "run-replied"));
    put_state(&scene, &created);
    std::fs::remove_file(scene.project.path("artifacts/report.md")).unwrap();

    let preview = scene.done("preview latest");
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "I see.");
    let resumed = server.asks().pop().unwrap();
    check_protocol(&resumed);
    let results = resumed.tool_results();
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|result| result.contains("ENGINE_ABORTED")), "{results:#?}");
    assert!(!scene.project.path("artifacts/report.md").exists());
    assert!(state(&scene).contains("currentNodeId: intake") || !state(&scene).contains("- intake"));
    check_log(&scene);
    assert_eq!(log(&scene)[0]["input"]["path"], "@project/artifacts/report.md");
    let journal = String::from_utf8(scene.project.read(&format!("{}/journal.jsonl", run_dir(&scene))));
    assert!(journal.unwrap().contains(preview["payload_sha256"].as_str().unwrap()));
}

/// The file was made and the state file had not been replaced yet.
#[test]
fn an_artifact_of_a_call_that_was_cut_off_is_on_record() {
    let server = server_at_judge([write("@project/artifacts/report.md", "Again.\n"), Turn::text("I see.")]);
    let scene = scene_at_judge(&server);
    let is_artifact = |event: &Value| event["by"].get("artifact").is_some();
    let line = line_of(&scene, is_artifact);
    let before = journal(&scene)[line - 1]["event"]["before"].as_str().unwrap().to_owned();
    cut_journal(&scene, line);
    put_state(&scene, &before);
    assert!(!state(&scene).contains("report.md"));

    scene.answers("workflow resume latest", 3);
    assert_eq!(state(&scene).matches("artifacts/report.md").count(), 1, "{}", state(&scene));
    assert_eq!(scene.project.read("artifacts/report.md"), b"Again.\n");
    check_log(&scene);
}

/// It was announced and never made; a file that was there before is not an artifact of the run.
#[test]
fn an_artifact_that_was_never_made_is_not_on_record() {
    let server = server_at_judge([write("@project/artifacts/old.md", "New.\n"), Turn::text("I see.")]);
    let scene = scene_at_judge(&server);
    scene.project.write("artifacts/old.md", "Old.\n");
    let line = line_of(&scene, |event| event["by"].get("artifact").is_some());
    let before = journal(&scene)[line - 1]["event"]["before"].as_str().unwrap().to_owned();
    cut_journal(&scene, line);
    put_state(&scene, &before);
    std::fs::remove_file(scene.project.path("artifacts/report.md")).unwrap();

    scene.answers("workflow resume latest", 3);
    assert!(!state(&scene).contains("artifacts/"), "{}", state(&scene));
    assert_eq!(scene.project.read("artifacts/old.md"), b"New.\n");
}

/// Wherever the journal ends, the state file before and after the last change is known to it.
#[test]
fn every_end_of_the_journal_is_one_that_a_run_can_stand_at() {
    let server = server_at_judge([]);
    let scene = scene_at_judge(&server);
    let lines = journal(&scene);
    let whole = scene.project.read(&format!("{}/journal.jsonl", run_dir(&scene)));
    let torn: Vec<u8> = whole.iter().copied().take(whole.len() - 7).collect();
    let mut known = vec![lines[0]["event"]["setup"]["state_sha256"].as_str().unwrap().to_owned()];
    for n_lines in 1..=lines.len() {
        let event = &lines[n_lines - 1]["event"];
        if event["event"] == "state-intended" {
            known = ["before", "after"].map(|key| event[key].as_str().unwrap().to_owned()).to_vec();
        }
        for sha256 in &known {
            scene.project.write(&format!("{}/journal.jsonl", run_dir(&scene)), &whole);
            cut_journal(&scene, n_lines);
            put_state(&scene, sha256);
            let status = scene.done("status latest");
            assert_eq!(status["warnings"], json!([]), "{n_lines}: {status:#}");
        }
    }
    // A last line without its end never happened.
    scene.project.write(&format!("{}/journal.jsonl", run_dir(&scene)), torn);
    forget_more(&scene);
    assert_eq!(scene.done("status latest")["interrupted"], true);
    assert_eq!(scene.done("cancel latest")["phase"], "cancelled");
    assert!(scene.project.names_in(&run_dir(&scene)).iter().any(|name| name.starts_with("journal.torn")));
}

#[test]
fn the_second_process_is_refused_and_who_only_looks_is_not() {
    let mut turns = to_judge();
    turns.push(Turn::Hang(Duration::from_mins(1)));
    let server = ModelServer::script(turns);
    let scene = scene_at_judge(&server);
    let running = scene.command("workflow say latest 'Yes.'").spawn();
    eventually("the model is asked", || server.asks().len() == 3);
    let before = files(&scene);
    assert_snapshot!(shown(&scene, &scene.exits("workflow say latest 'No.'", 1)), @"
    --- stderr
    error: another aiwf process is working on run `[run]`

    hint: wait until it is done, then try again; nothing was changed
    --- exit code 1
    ");
    for line in ["workflow resume latest", "workflow rewind latest --to intake", "cancel latest"] {
        let refused = scene.answers(line, 1);
        assert_eq!(refused["error"]["code"], "RUN_BUSY", "{line}: {refused:#}");
    }
    assert_eq!(scene.done("status latest")["is_busy"], true);
    assert_eq!(scene.done("list --flow package")["total"], 1);
    scene.done("show latest");
    let preview = scene.done("preview latest --input 'And now?'");
    assert!(preview["payload"]["messages"].to_string().contains("And now?"), "{preview:#}");
    assert_eq!(files(&scene), before);
    // A fork reads the run it goes on from, and no more.
    let fork = scene.done("workflow fork latest --at intake");
    assert_ne!(fork["run_id"], run_dir(&scene).rsplit('/').next().unwrap());
    assert_eq!(server.asks().len(), 3);
    running.signal("KILL");
    drop(running.wait());
}

#[test]
fn a_changed_state_file_is_refused_and_rewind_restores_the_last_known_one() {
    let server = server_at_judge([Turn::text("Once more.")]);
    let scene = scene_at_judge(&server);
    let edited = state(&scene).replace("currentNodeId: judge", "currentNodeId: close");
    scene.project.write(&state_path(&scene), &edited);
    let before = files(&scene);
    for line in ["workflow say latest 'Go on.'", "workflow resume latest", "preview latest"] {
        let refused = scene.answers(line, 1);
        assert_eq!(refused["error"]["code"], "STATE_CHANGED", "{line}: {refused:#}");
        // The one that is found, and both that are known.
        let message = refused["error"]["message"].as_str().unwrap();
        let n_hashes = message.split_whitespace().filter(|word| word.len() == 64).count();
        assert_eq!(n_hashes, 3, "{message}");
    }
    assert_eq!(files(&scene), before);
    assert_snapshot!(shown(&scene, &scene.exits("workflow resume latest", 1)), @"
    --- stderr
    error: the state file of run `[run]` does not match its journal
      file:    `.aiwf/sessions/[run]/state/workflow.md`
      it is:   [hash]
      journal: [hash] or [hash]

    hint: restore the file, or return to a recorded state with `aiwf workflow rewind [run] --to NODE`
    --- exit code 1
    ");
    let status = scene.done("status latest");
    assert_eq!(status["warnings"], json!(["the state file does not match the journal"]));

    scene.done("workflow rewind latest --to intake --reason 'somebody edited it'");
    assert!(state(&scene).contains("currentNodeId: intake"), "{}", state(&scene));
    assert!(state(&scene).contains("artifacts/report.md") && state(&scene).contains("somebody edited it"));
    let names = scene.project.names_in(&run_dir(&scene));
    let kept = names.iter().find(|name| name.starts_with("state-refused-")).unwrap();
    assert_eq!(scene.project.read(&format!("{}/{kept}", run_dir(&scene))), edited.as_bytes());
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Once more.");
}

#[test]
fn a_missing_or_linked_state_file_is_refused_and_never_written_through() {
    for what in ["gone", "a link", "a directory of links", "no directory"] {
        let server = server_at_judge([Turn::text("Once more.")]);
        let scene = scene_at_judge(&server);
        let path = scene.project.path(state_path(&scene));
        let directory = path.parent().unwrap().to_owned();
        let elsewhere = scene.project.path("elsewhere");
        std::fs::create_dir_all(&elsewhere).unwrap();
        let text = state(&scene);
        scene.project.write("elsewhere/workflow.md", &text);
        match what {
            "gone" => std::fs::remove_file(&path).unwrap(),
            "a link" => {
                std::fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink(elsewhere.join("workflow.md"), &path).unwrap();
            }
            "a directory of links" => {
                std::fs::remove_dir_all(&directory).unwrap();
                std::os::unix::fs::symlink(&elsewhere, &directory).unwrap();
            }
            _ => std::fs::remove_dir_all(&directory).unwrap(),
        }
        let refused = scene.answers("workflow resume latest", 1);
        assert_eq!(refused["error"]["code"], "STATE_CHANGED", "{what}: {refused:#}");
        scene.done("workflow rewind latest --to intake");
        assert_eq!(scene.project.read("elsewhere/workflow.md"), text.as_bytes(), "{what}");
        assert_eq!(scene.project.names_in("elsewhere"), ["workflow.md"], "{what}");
        assert!(!path.is_symlink() && !directory.is_symlink(), "{what}");
        assert!(state(&scene).contains("currentNodeId: intake"), "{what}: {}", state(&scene));
        assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Once more.");
        check_log(&scene);
    }
}

fn change_step(scene: &Scene) {
    let mut step = scene.project.read("pkg/steps/judge.md");
    step.extend(b"\nDo what you like.\n");
    scene.project.write("pkg/steps/judge.md", step);
}

#[test]
fn a_changed_or_missing_package_is_refused_even_if_a_copy_is_cached() {
    let server = server_at_judge([Turn::text("Once more.")]);
    let scene = scene_at_judge(&server);
    let step = scene.project.read("pkg/steps/judge.md");
    change_step(&scene);
    let before = files(&scene);
    assert_snapshot!(shown(&scene, &scene.exits("workflow resume latest", 1)), @"
    --- stderr
    error: the package of run `[run]` has changed since the run began
      package: `pkg`
      it was:  [hash]
      it is:   [hash]

    hint: restore the package as it was, or start a new run; `aiwf show [run]` has all of this one
    --- exit code 1
    ");
    for line in
        ["workflow say latest x", "workflow rewind latest --to intake", "workflow fork latest --at intake"]
    {
        assert_eq!(scene.answers(line, 1)["error"]["code"], "PACKAGE_CHANGED", "{line}");
    }
    assert_eq!(scene.done("status latest")["node"], "judge");
    std::fs::rename(scene.project.path("pkg"), scene.project.path("away")).unwrap();
    assert_eq!(scene.answers("workflow resume latest", 1)["error"]["code"], "PACKAGE_NOT_FOUND");
    // What it stands at is still told, from the copy.
    let status = scene.done("status latest");
    assert_eq!((&status["node"], status["warnings"].as_array().unwrap().len()), (&json!("judge"), 1));
    assert_eq!(files(&scene), before);
    std::fs::rename(scene.project.path("away"), scene.project.path("pkg")).unwrap();
    scene.project.write("pkg/steps/judge.md", step);
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Once more.");
}

#[test]
fn an_archive_that_changed_is_refused() {
    let server = server_at_judge([]);
    let scene = project_with_package("openai", &server, "");
    scene.exits("package pack pkg --out flow.zip", 0);
    scene.answers("workflow run flow.zip --provider model --input 'It crashes.'", 3);
    change_step(&scene);
    std::fs::remove_file(scene.project.path("flow.zip")).unwrap();
    scene.exits("package pack pkg --out flow.zip", 0);
    assert_eq!(scene.answers("workflow resume latest", 1)["error"]["code"], "PACKAGE_CHANGED");
    scene.project.write("flow.zip", "no archive");
    assert_eq!(scene.answers("workflow resume latest", 1)["error"]["code"], "PACKAGE_NOT_FOUND");
    assert_eq!(server.asks().len(), 2);
}

#[test]
fn a_changed_journal_is_refused_and_marked_in_the_list() {
    let server = server_at_judge([]);
    let scene = scene_at_judge(&server);
    let path = format!("{}/journal.jsonl", run_dir(&scene));
    let text = String::from_utf8(scene.project.read(&path)).unwrap();
    scene.project.write(&path, text.replace("It crashes.", "It smashes."));
    assert_snapshot!(shown(&scene, &scene.exits("workflow resume latest", 1)), @"
    --- stderr
    error: line 2 of the journal was modified: its hash does not match
      file: `[project]/.aiwf/sessions/[run]/journal.jsonl`; the line before it is intact

    hint: restore the journal from a backup; everything else is untouched
    --- exit code 1
    ");
    for line in [
        "say latest x",
        "status latest",
        "show latest",
        "preview latest",
        "cancel latest",
        "rewind latest --to intake",
        "fork latest --at intake",
    ] {
        scene.exits(&verb(line), 1);
    }
    assert_eq!(scene.done("list --flow package")["total"], 1);
    // The list says so as soon as it looks at the journal.
    std::fs::remove_file(scene.project.path(format!("{}/run.json", run_dir(&scene)))).unwrap();
    let problem = scene.done("list --flow package")["sessions"][0]["error"].clone();
    assert!(problem.as_str().unwrap().contains("was modified"), "{problem}");
    assert_eq!(
        String::from_utf8(scene.project.read(&path)).unwrap(),
        text.replace("It crashes.", "It smashes.")
    );
}

#[test]
fn a_run_without_events_is_reported_and_hides_no_other() {
    let server = server_at_judge([]);
    let scene = scene_at_judge(&server);
    let id = run_dir(&scene).rsplit('/').next().unwrap().to_owned();
    scene.project.write(".aiwf/runs/20000101-000000-none/journal.jsonl", "");
    assert_snapshot!(scene.exits("status 20000101", 1).to_string(), @"
    --- stderr
    error: run `20000101-000000-none` has no events

    hint: restore its `journal.jsonl` from a backup; without one, start again with `aiwf workflow run`
    --- exit code 1
    ");
    for line in ["say 20000101 x", "cancel 20000101", "preview 20000101", "rewind 20000101 --to intake"] {
        assert_eq!(scene.answers(&verb(line), 1)["error"]["code"], "RUN_ID_INVALID", "{line}");
    }
    let list = scene.done("list --flow package");
    let problems: Vec<&Value> =
        list["sessions"].as_array().unwrap().iter().map(|run| &run["error"]).collect();
    assert_eq!(list["total"], 2);
    assert!(problems.contains(&&json!("it has no events")), "{list:#}");
    assert_eq!(scene.done("status latest")["run_id"], id);
}

#[test]
fn a_log_that_is_gone_or_cut_is_made_again() {
    let server = server_at_judge([]);
    let scene = scene_at_judge(&server);
    let path = format!("{}/state/logs/execution.jsonl", run_dir(&scene));
    let whole = scene.project.read(&path);
    let elsewhere = scene.project.path("elsewhere.jsonl");
    scene.project.write("elsewhere.jsonl", "mine\n");
    for damage in ["gone", "cut", "a line less", "empty", "a link", "other lines"] {
        let real = scene.project.path(&path);
        std::fs::remove_file(&real).unwrap();
        match damage {
            "cut" => scene.project.write(&path, &whole[..whole.len() - 9]),
            "a line less" => {
                scene.project.write(&path, whole.split_inclusive(|b| *b == b'\n').next().unwrap());
            }
            "empty" => scene.project.write(&path, ""),
            "a link" => std::os::unix::fs::symlink(&elsewhere, &real).unwrap(),
            "other lines" => scene.project.write(&path, "{}\n{}\n"),
            _ => {}
        }
        scene.done("workflow rewind latest --to judge");
        assert!(scene.project.read(&path) == whole, "{damage}");
        assert!(!real.is_symlink());
    }
    assert_eq!(scene.project.read("elsewhere.jsonl"), b"mine\n");
}

#[test]
fn a_run_without_its_stored_states_resumes_with_a_warning() {
    let server = server_at_judge([Turn::text("I see."), Turn::text("Here.")]);
    let scene = scene_at_judge(&server);
    std::fs::remove_dir_all(scene.project.path(format!("{}/objects", run_dir(&scene)))).unwrap();
    assert_eq!(scene.answers("workflow say latest 'Yes.'", 3)["reply"], "I see.");
    // Where it stands is in its file; where it stood is lost.
    let fork = scene.done("workflow fork latest --at judge");
    assert_eq!(fork["node"], "judge");
    let id = run_id_before(&scene, &fork);
    assert_eq!(
        scene.answers(&format!("workflow fork {id} --at intake"), 1)["error"]["code"],
        "STATE_FILE_NOT_FOUND"
    );
    let path = format!(".aiwf/sessions/{id}/state/workflow.md");
    let text = scene.project.read(&path);
    scene.project.write(&path, "nothing");
    let refused = scene.answers(&format!("workflow rewind {id} --to intake"), 1);
    assert_eq!(refused["error"]["code"], "STATE_FILE_NOT_FOUND", "{refused:#}");
    scene.project.write(&path, text);
    assert_eq!(scene.answers(&format!("workflow resume {id}"), 3)["reply"], "Here.");
}

/// A command as it is typed: what only runs have is below `workflow`.
fn verb(line: &str) -> String {
    let of_runs = ["say", "resume", "rewind", "fork", "run"];
    let word = line.split_whitespace().next().unwrap_or_default();
    if of_runs.contains(&word) { format!("workflow {line}") } else { line.to_owned() }
}

/// The other run than the newest.
fn run_id_before(scene: &Scene, newest: &Value) -> String {
    let list = scene.done("list --flow package");
    let ids =
        list["sessions"].as_array().unwrap().iter().map(|run| run["session_id"].as_str().unwrap().to_owned());
    ids.into_iter().find(|id| *id != newest["run_id"]).unwrap()
}
