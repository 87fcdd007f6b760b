//! Model APIs that turn requests down, ask to wait, cut the reply off, hang, or are killed with aiwf itself.

use std::time::Duration;

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;

use crate::scene::{KEY, Scene, eventually};
use crate::session::{PLAN, at};

/// What arrives of a plan that is cut off.
const BEGINNING: &str = "# Plan\n\nOn";

/// A session that waits for the approval of its first prompt.
fn scene(turns: impl IntoIterator<Item = Turn>, table: &str) -> (ModelServer, Scene) {
    let server = ModelServer::script(turns);
    let scene = Scene::of_api("anthropic", &server, table);
    scene.init("");
    (server, scene)
}

/// A reply that begins and does not end while anybody waits.
fn slow() -> Turn {
    let chunks = vec!["# Plan".to_owned(), "\n".to_owned()];
    Turn::TextSlowly { chunks, delay: Duration::from_mins(100) }
}

/// Where the session stands after a failure, and that asking again mends it.
#[track_caller]
fn retry_mends(scene: &Scene) {
    assert_eq!(at(&scene.done("status latest")), ("planning", "response", 1));
    assert_eq!(scene.exits("run", 3).exit_code(), 3);
    assert_eq!(at(&scene.done("retry")), ("planning", "response", 1));
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    assert_eq!(scene.event("prompt-sent")["n_earlier"], 1);
    assert_eq!(at(&scene.done("approve")), ("generating", "prompt", 1));
}

#[test]
fn a_key_that_is_turned_down_is_not_tried_again_and_not_shown() {
    let said =
        format!(r#"{{"type":"error","error":{{"type":"authentication_error","message":"no: {KEY}"}}}}"#);
    let (server, scene) = scene([Turn::status_with_body(401, said), Turn::text(PLAN)], "");
    let failure = scene.exits("approve", 4);
    insta::assert_snapshot!(scene.shown(&failure), @"
    --- stderr
    error: `model` answered 401: no: [key]
      session `[id]`, phase `planning`

    hint: check the key: `aiwf validate providers` shows where aiwf looks for it
    --- exit code 4
    ");
    assert_eq!(server.asks().len(), 1);
    let journal = scene.text("journal.jsonl");
    assert!(!journal.contains(KEY));
    assert!(!scene.run("status latest").stdout_text().contains(KEY));
    retry_mends(&scene);
}

#[test]
fn a_request_that_makes_no_sense_is_not_tried_again() {
    let (server, scene) = scene([Turn::status(400)], "");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: `model` answered 400: scripted status 400
      session `[id]`, phase `planning`

    hint: fix the reported setting: `model` and `max_output_tokens` of the provider, or the prompt's size
    --- exit code 4
    ");
    assert_eq!(server.asks().len(), 1);
}

#[test]
fn a_server_that_asks_to_wait_is_asked_again() {
    let busy = Turn::status(429).with_header("retry-after", "0");
    let (server, scene) = scene([busy.clone(), busy, Turn::text(PLAN)], "");
    let asked = scene.command("approve --events").run();
    assert_eq!(asked.exit_code(), 0, "{asked}");
    assert_eq!(server.asks().len(), 3);
    let n_told = asked.stderr_text().lines().filter(|line| line.contains("call-retry")).count();
    assert_eq!(n_told, 2, "{asked}");
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    // Three requests are one call.
    assert_eq!(scene.done("status --usage")["usage"]["total"]["calls"], 1);
}

#[test]
fn a_server_that_asks_to_wait_too_long_is_left_alone() {
    let busy = Turn::status(429).with_header("retry-after", "3600");
    let (server, scene) = scene([busy, Turn::text(PLAN)], "");
    insta::with_settings!({ filters => [(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "[time]")] }, {
        insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
        --- stderr
        error: `model` has reached its usage limit, which resets at [time]: scripted status 429
          session `[id]`, phase `planning`

        hint: `aiwf retry [id]` asks again after the limit resets; until then, another provider can take over
        --- exit code 4
        ");
    });
    assert_eq!(server.asks().len(), 1);
    retry_mends(&scene);
}

#[test]
fn a_reply_that_is_cut_before_its_first_word_is_asked_for_again() {
    let cut = Turn::CutAfter { text: PLAN.to_owned(), n_bytes: 0 };
    let (server, scene) = scene([cut, Turn::text(PLAN)], "");
    scene.done("approve");
    assert_eq!(server.asks().len(), 2);
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    assert_eq!(scene.event("prompt-sent")["n_earlier"], 0);
}

#[test]
fn a_reply_that_is_cut_in_the_middle_is_kept_and_not_taken_for_a_whole_one() {
    let cut = Turn::CutAfter { text: PLAN.to_owned(), n_bytes: BEGINNING.len() };
    let (server, scene) = scene([cut, Turn::text(PLAN)], "");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: the reply from `model` was cut off: unexpected EOF during chunk size line
      session `[id]`, phase `planning`

    hint: `aiwf retry [id]` asks again
    --- exit code 4
    ");
    assert_eq!(server.asks().len(), 1);
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), BEGINNING);
    insta::assert_snapshot!(scene.shown(&scene.exits("status latest", 0)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for you to retry the call
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    problem   the reply from `model` was cut off: unexpected EOF during chunk size line
    remark    the partial reply is in: iteration-1/planning-response.partial-1.md
    next      aiwf retry [id]
    --- exit code 0
    ");
    let kept = scene.event("ask-failed")["call"]["kept"][0]["path"].clone();
    assert_eq!(kept, "iteration-1/planning-response.partial-1.md");
    retry_mends(&scene);
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), BEGINNING);
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let hang = Turn::Hang(Duration::from_mins(100));
    let (_server, scene) = scene([hang, Turn::text(PLAN)], "first_byte_timeout = \"1s\"\n");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: nothing received from `model` within 1 s
      session `[id]`, phase `planning`

    hint: `aiwf retry [id]` asks again; `first_byte_timeout` of the provider sets how long to wait
    --- exit code 4
    ");
    retry_mends(&scene);
}

#[test]
fn a_reply_that_never_ends_is_given_up_and_what_came_is_kept() {
    let (_server, scene) = scene([slow(), Turn::text(PLAN)], "timeout = \"5s\"\n");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: no complete reply from `model` within 5 s
      session `[id]`, phase `planning`

    hint: `aiwf retry [id]` asks again; `timeout` of the provider sets how long to wait
    --- exit code 4
    ");
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), "# Plan");
    retry_mends(&scene);
}

#[test]
fn a_reply_that_is_too_large_is_given_up() {
    let (_server, scene) = scene([Turn::text("x".repeat(1_000))], "max_reply_bytes = 400\n");
    insta::assert_snapshot!(scene.shown(&scene.exits("approve", 4)), @"
    --- stderr
    error: the reply from `model` is larger than 400 bytes
      session `[id]`, phase `planning`

    hint: raise `max_reply_bytes` of the provider
    --- exit code 4
    ");
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), "x".repeat(250));
}

#[test]
fn ctrl_c_ends_a_call_and_keeps_what_came() {
    let (_server, scene) = scene([slow(), Turn::text(PLAN)], "");
    let running = scene.command("approve").spawn();
    let partial = scene.project.path(scene.session_dir()).join("iteration-1/planning-response.partial-1.md");
    eventually("the first word", || partial.metadata().is_ok_and(|found| found.len() > 0));
    // Meanwhile nothing is said to be interrupted, and nobody else may touch the session.
    let meanwhile = scene.done("status latest");
    assert_eq!(
        (&meanwhile["remark"], &meanwhile["problems"]),
        (&"the call is under way".into(), &serde_json::json!([]))
    );
    assert_eq!(
        (&meanwhile["status"], &meanwhile["waits_for"]),
        (&"in-progress".into(), &serde_json::Value::Null)
    );
    let listed = scene.done("list");
    assert_eq!(listed["sessions"][0]["status"], "in-progress", "{listed:#}");
    assert!(
        scene.exits("retry", 1).stderr_text().contains("another aiwf process is working on this session")
    );
    running.signal("INT");
    insta::assert_snapshot!(scene.shown(&running.wait()), @"
    --- stderr
    error: the call to `model` was interrupted
      session `[id]`, phase `planning`

    hint: `aiwf retry [id]` asks again
    --- exit code 130
    ");
    assert_eq!(scene.text("iteration-1/planning-response.partial-1.md"), "# Plan");
    retry_mends(&scene);
}

#[test]
fn a_killed_aiwf_leaves_an_interrupted_call_that_is_not_made_again_by_itself() {
    let (server, scene) = scene([slow(), slow(), Turn::text(PLAN)], "");
    let kill_in_the_middle = |line: &str, number: u32| {
        let running = scene.command(line).spawn();
        let partial = format!("iteration-1/planning-response.partial-{number}.md");
        let partial = scene.project.path(scene.session_dir()).join(partial);
        eventually("the first word", || partial.metadata().is_ok_and(|found| found.len() > 0));
        running.signal("KILL");
        assert_eq!(running.wait().code, None);
    };
    kill_in_the_middle("approve", 1);
    insta::assert_snapshot!(scene.shown(&scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for you to retry the call
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    problem   the call was interrupted: no complete reply arrived
    next      aiwf retry [id]
    --- exit code 3
    ");
    assert_eq!(scene.exits("step", 3).exit_code(), 3);
    assert_eq!(server.asks().len(), 1);
    kill_in_the_middle("retry", 2);
    assert_eq!(server.asks().len(), 2);
    // Approving again asks again, and approves nothing that nobody has seen.
    let asked = scene.done("approve");
    assert_eq!(at(&asked), ("planning", "response", 1));
    assert_eq!(asked["gate"]["state"], "pending");
    assert_eq!(scene.text("iteration-1/planning-response.md"), PLAN);
    let names = scene.event_names();
    assert_eq!(names.iter().filter(|name| *name == "retried").count(), 2);
    assert_eq!(names.iter().filter(|name| *name == "prompt-sent").count(), 3);
    // Two calls nobody knows the cost of, and one.
    let total = scene.done("status --usage")["usage"]["total"].clone();
    assert_eq!((&total["calls"], &total["calls_without_tokens"]), (&3.into(), &2.into()));
}

#[test]
fn a_whole_reply_that_only_the_journal_misses_is_taken_up_and_not_asked_for_again() {
    let (server, scene) = scene([slow()], "");
    let running = scene.command("approve").spawn();
    let partial = scene.project.path(scene.session_dir()).join("iteration-1/planning-response.partial-1.md");
    eventually("the first word", || partial.metadata().is_ok_and(|found| found.len() > 0));
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    // A reply gets its name when it is whole; this is what the disk looks like just before the journal knows.
    scene.project.write(&format!("{}/iteration-1/planning-response.md", scene.session_dir()), PLAN);
    let taken = scene.answers("run", 3);
    assert_eq!(at(&taken), ("planning", "response", 1));
    assert_eq!(taken["problems"], serde_json::json!([]));
    assert_eq!(scene.event_names().last().unwrap(), "reply-received");
    assert_eq!(at(&scene.done("approve")), ("generating", "prompt", 1));
    assert_eq!(scene.text("plan.md"), PLAN);
    assert_eq!(server.asks().len(), 1);
}

#[test]
fn a_reply_a_person_puts_in_place_of_a_failed_one_is_taken() {
    let (server, scene) = scene([Turn::status(401)], "");
    scene.exits("approve", 4);
    let given = scene.command("respond").stdin(PLAN).run();
    assert_eq!(given.exit_code(), 0, "{given}");
    assert_eq!(at(&scene.done("approve")), ("generating", "prompt", 1));
    assert_eq!(server.asks().len(), 1);
}
