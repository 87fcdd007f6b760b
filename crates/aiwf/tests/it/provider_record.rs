//! A session that is recorded and replayed offline: the same events, the same bytes.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;
use serde_json::Value;

use crate::scene::{Scene, api_table, replies};
use crate::session::{INIT, PLAN, SCHEMA, at};

const PASS: &str = "Fine.\n<review>PASS</review>";

/// A project that answers from recordings which lie in another one.
fn replaying(recorded: &Scene, more: &str) -> Scene {
    let dir = recorded.project.path("tape");
    Scene::new(&format!(
        "[roles]\ndefault = \"tape\"\n[providers.tape]\ntype = \"replay\"\ndir = \"{}\"\n{more}",
        dir.display()
    ))
}

/// Events without what must differ: the session, who answered, how long it took and what else a program printed.
fn comparable(scene: &Scene) -> Vec<Value> {
    let id = scene.session_dir().rsplit('/').next().unwrap().to_owned();
    let mut events = scene.events();
    for event in &mut events {
        if let Some(setup) = event.get_mut("setup") {
            setup["roles"] = Value::Null;
            setup["gates"] = Value::Null;
        }
        for name in ["provider", "payload_sha256", "is_free"] {
            event.as_object_mut().unwrap().remove(name);
        }
        if event.pointer("/by/provider").is_some() {
            event["by"]["provider"] = Value::Null;
        }
        if let Some(call) = event.get_mut("call") {
            for name in ["millis", "kept"] {
                call.as_object_mut().unwrap().remove(name);
            }
        }
    }
    let text = serde_json::to_string(&events).unwrap().replace(&id, "SESSION");
    serde_json::from_str(&text).unwrap()
}

/// The files that a session is about, with the session's id replaced.
fn files(scene: &Scene) -> Vec<(String, String)> {
    let id = scene.session_dir().rsplit('/').next().unwrap().to_owned();
    [
        "plan.md",
        "standards-bundle.md",
        "iteration-1/planning-prompt.md",
        "iteration-1/planning-response.md",
        "iteration-1/generation-prompt.md",
        "iteration-1/generation-response.md",
        "iteration-1/review-prompt.md",
        "iteration-1/review-response.md",
        "iteration-1/code/Customer.java",
        "iteration-1/code/Other.java",
        "iteration-2/revision-prompt.md",
        "iteration-2/revision-response.md",
        "iteration-2/review-prompt.md",
        "iteration-2/review-response.md",
        "iteration-2/code/Customer.java",
        "iteration-2/code/Other.java",
    ]
    .map(|path| (path.to_owned(), scene.text(path).replace(&id, "SESSION")))
    .to_vec()
}

#[track_caller]
fn assert_same(recorded: &Scene, replayed: &Scene) {
    let (recorded_events, replayed_events) = (comparable(recorded), comparable(replayed));
    for (one, other) in recorded_events.iter().zip(&replayed_events) {
        // Hashes of prompts that name the session differ with its name; their bytes are compared below.
        let names = [one, other].map(|event| event["event"].clone());
        assert_eq!(names[0], names[1]);
    }
    assert_eq!(recorded_events.len(), replayed_events.len());
    for (one, other) in files(recorded).into_iter().zip(files(replayed)) {
        assert!(one == other, "{} differs", one.0);
    }
    assert_eq!(replayed.run("verify latest").exit_code(), 0);
}

#[test]
fn a_session_with_a_model_and_a_judge_is_replayed_to_the_byte() {
    let server = ModelServer::script(replies().into_iter().map(Turn::Text));
    let judge = ModelServer::answering(|_| Turn::text(PASS));
    let gates = "[gates]\ndefault = \"ai:judge\"\n";
    let config = format!(
        "[roles]\ndefault = \"model\"\n{}{}{gates}",
        api_table("model", "anthropic", &server),
        api_table("judge", "openai", &judge)
    );
    let recorded = Scene::new(&config);
    assert_eq!(at(&recorded.init("--record tape")), ("complete", "-", 2));
    assert_eq!(recorded.project.names_in("tape").len(), 15);
    let replayed = replaying(&recorded, "[gates]\ndefault = \"ai:tape\"\n");
    assert_eq!(at(&replayed.init("")), ("complete", "-", 2));
    assert_same(&recorded, &replayed);
    assert_eq!(comparable(&recorded), comparable(&replayed));
    // A replay costs nothing, and the recorded session was asked once.
    assert_eq!((server.asks().len(), judge.asks().len()), (5, 10));
    assert_eq!(replayed.done("status latest --usage")["usage"]["total"]["calls"], 0);
}

#[test]
fn a_session_recorded_decision_by_decision_is_replayed() {
    let server = ModelServer::script(replies().into_iter().map(Turn::Text));
    let recorded = Scene::of_api("gemini", &server, "");
    recorded.init("");
    for _ in 0..5 {
        recorded.done("approve --record tape");
        recorded.done("approve --record tape");
    }
    let replayed = replaying(&recorded, "");
    replayed.init("");
    for _ in 0..5 {
        replayed.done("approve");
        replayed.done("approve");
    }
    assert_eq!(at(&replayed.done("status latest")), ("complete", "-", 2));
    assert_same(&recorded, &replayed);
    assert_eq!(comparable(&recorded), comparable(&replayed));
}

#[test]
fn an_agent_that_writes_its_replies_is_replayed_with_what_it_wrote_and_could() {
    let recorded = Scene::new(
        "[roles]\ndefault = \"agent\"\n[providers.agent]\ntype = \"command\"\nargv = [\"sh\", \"agent.sh\", \"{response_path}\"]\nfs_ability = \"local-write\"\n",
    );
    let script = "n=$(cat \"$HOME/n\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$HOME/n\"\ncat > /dev/null; cat replies/$n > \"$1\"; echo 'I saved it.'";
    recorded.project.write("agent.sh", script);
    for (number, reply) in replies().iter().enumerate() {
        recorded.project.write(&format!("replies/{}", number + 1), reply);
    }
    assert_eq!(at(&recorded.init("--yes --record tape")), ("complete", "-", 2));
    assert!(recorded.text("iteration-1/planning-prompt.md").contains("Save your complete response to"));
    let replayed = replaying(&recorded, "");
    assert_eq!(at(&replayed.init("--yes")), ("complete", "-", 2));
    assert_same(&recorded, &replayed);
}

#[test]
fn a_recording_keeps_the_request_s_hashes_and_the_capability() {
    let server = ModelServer::script([Turn::text(PLAN)]);
    let scene = Scene::of_api("anthropic", &server, "fs_ability = \"local-read\"\n");
    scene.init("");
    scene.done("approve --record tape");
    let name = scene.project.names_in("tape").remove(0);
    let recording: Value = serde_json::from_slice(&scene.project.read(&format!("tape/{name}"))).unwrap();
    assert_eq!(recording["name"], "planning-1");
    assert_eq!(recording["reply"], PLAN);
    assert_eq!(
        recording["capability"],
        serde_json::json!({"fs_ability": "local-read", "supports_system_prompt": true, "supports_file_attachments": false, "sends_files": true, "template_agent": "CLAUDE", "has_native_tools": true})
    );
    let ids: Vec<&str> = recording["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["id"].as_str().unwrap())
        .collect();
    // In the order they are sent: system text first.
    assert_eq!(ids, ["output-instructions", "standards-bundle", "profile-prompt"]);
    // The replay asks as the recorded provider was asked, unless the configuration says otherwise.
    let replayed = replaying(&scene, "");
    replayed.init("");
    assert!(replayed.text("iteration-1/planning-system-prompt.md").contains("Name your output file"));
    let other = replaying(&scene, "fs_ability = \"none\"\n");
    other.init("");
    assert_eq!(other.done("preview")["system_prompt"], Value::Null);
}

#[test]
fn a_request_that_was_not_recorded_names_the_nearest_and_what_differs() {
    let server = ModelServer::script(replies().into_iter().map(Turn::Text));
    // Whoever can write is told a path with the session's id in it, which is no difference.
    let recorded = Scene::of_api("openai", &server, "fs_ability = \"local-write\"\n");
    recorded.init("--yes --record tape");
    let replayed = replaying(&recorded, "");
    replayed.project.write("schema.sql", SCHEMA.replace("VARCHAR(80)", "VARCHAR(81)"));
    replayed.init("");
    insta::assert_snapshot!(replayed.shown(&replayed.exits("approve", 4)), @"
    --- stderr
    error: no recording answers this request
      nearest: `planning-1`; the first section that differs is `profile-prompt`
      session `[id]`, phase `planning`

    hint: restore the inputs that were recorded, or use a live provider
    --- exit code 4
    ");
    insta::assert_snapshot!(replayed.shown(&replayed.exits("status latest", 0)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for you to retry the call
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    system    .aiwf/sessions/[id]/iteration-1/planning-system-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    problem   no recording answers this request
      nearest: `planning-1`; the first section that differs is `profile-prompt`
    next      aiwf retry [id]
    --- exit code 0
    ");
    // The prompt as it was is answered.
    let replayed = replaying(&recorded, "");
    assert_eq!(at(&replayed.init("--yes")), ("complete", "-", 2));
}

#[test]
fn missing_recordings_are_reported() {
    let scene =
        Scene::checkout("[roles]\ndefault = \"tape\"\n[providers.tape]\ntype = \"replay\"\ndir = \"tape\"\n");
    scene.init("");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: recordings in `[project]/tape` cannot be read: there is no such directory
      session `[id]`, phase `planning`

    hint: check the `dir` of the provider in `.aiwf/config.toml`
    --- exit code 4
    ");
    let scene = Scene::new("[roles]\ndefault = \"tape\"\n[providers.tape]\ntype = \"replay\"\n");
    insta::assert_snapshot!(scene.exits(INIT, 1).to_string(), @"
    --- stderr
    error: provider `tape` cannot be asked: `dir` is not set

    hint: set `dir`, the directory of its recordings, in `[providers.tape]`
    --- exit code 1
    ");
}

#[test]
fn a_key_is_in_no_recording() {
    let server = ModelServer::script([Turn::text(PLAN)]);
    let scene = Scene::of_api("openai", &server, "");
    scene.init("");
    scene.done("approve --record tape");
    let name = scene.project.names_in("tape").remove(0);
    let recording = String::from_utf8(scene.project.read(&format!("tape/{name}"))).unwrap();
    assert!(!recording.contains(crate::scene::KEY));
}

#[test]
fn a_prompt_sent_by_hand_is_recorded_and_replayed() {
    let server = ModelServer::script([Turn::text("Do this.\n")]);
    let scene = Scene::of_api("openai", &server, "");
    let send = "prompt send change --phase plan --instructions x";
    scene.exits(&format!("{send} --provider model --record tape"), 0);
    let replayed = replaying(&scene, "");
    let answered = replayed.exits(&format!("{send} --provider tape"), 0);
    assert_eq!(answered.stdout_text(), "Do this.\n");
    insta::assert_snapshot!(
        replayed.exits("prompt send change --phase plan --instructions y --provider tape", 4).to_string(), @"
    --- stderr
    error: no recording answers this request
      nearest: `change`; the first section that differs is `instructions`

    hint: restore the inputs that were recorded, or use a live provider
    --- exit code 4
    ");
}
