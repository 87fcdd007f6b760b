//! The user's own program is told whenever a session waits or ends, whichever call made it.

use aiwf_engine::config::Flags;
use aiwf_engine::{ApplyOptions, ApproveOptions, NewRequest};
use serde_json::Value;

use crate::driver::{gates, yes};
use crate::fake_provider::{FakeProvider, Turn, limit_until};
use crate::scene::Scene;

const NOTIFY: &str = "[notify]\nrun = [\"sh\", \"tell.sh\"]\n";

fn telling(scene: Scene) -> Scene {
    scene.file("~/tell.sh", "cat >> told\n").file("~/told", "")
}

/// What the program was told so far.
fn told(scene: &Scene) -> Vec<String> {
    let line = |line: &str| -> String {
        let told: Value = serde_json::from_str(line).unwrap();
        format!("{} {}", told["event"].as_str().unwrap(), told["what"].as_str().unwrap())
    };
    scene.read("~/told").lines().map(line).collect()
}

fn request(flags: Flags) -> NewRequest {
    NewRequest { flow: "do".to_owned(), request: "Add a file".to_owned(), flags, ..NewRequest::default() }
}

#[test]
fn every_call_that_makes_a_session_wait_or_end_tells_once() {
    let scene = telling(Scene::configured(NOTIFY));
    let manual =
        NewRequest { provider: Some("manual".to_owned()), ..request(gates(&["plan.prompt=manual"])) };
    let id = scene.engine.begin_flow(&manual).unwrap().id;
    let id = Some(id.as_str());
    let approve = || scene.engine.approve(id, &ApproveOptions::default()).unwrap();
    let respond = |reply: &str| scene.engine.respond(id, reply, None).unwrap();
    approve();
    respond("# Plan\n");
    scene.engine.session_report(id).unwrap();
    scene.engine.run_session(id).unwrap();
    scene.engine.reject(id, "shorter").unwrap();
    approve();
    respond("# Plan\n");
    approve();
    respond("Done.\n\n<<<FILE: a.txt>>>\na\n");
    approve();
    respond("<review>PASS</review>\n");
    approve();
    scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    scene.engine.undo(id).unwrap();
    insta::assert_snapshot!(told(&scene).join("\n"), @"
    waiting plan: waiting for your approval of the prompt
    waiting plan: waiting for a reply
    waiting plan: waiting for your approval of the reply
    waiting plan: waiting for your approval of the prompt
    waiting plan: waiting for a reply
    waiting plan: waiting for your approval of the reply
    waiting implement: waiting for a reply
    waiting implement: waiting for your approval of the reply
    waiting review: waiting for a reply
    waiting review: waiting for your approval of the reply
    ended complete
    ");
}

#[test]
fn limits_failures_and_a_cancelled_session_are_told_with_the_request_as_title() {
    let turns = [limit_until(4_000_000_000), Turn::status_with_body(500, "down"), Turn::text("# Plan\n")];
    let model = FakeProvider::script(turns);
    let scene = telling(Scene::of_agent(&model, NOTIFY));
    scene.engine.start_flow(&request(gates(&["implement.prompt=manual"]))).unwrap_err();
    scene.engine.retry(None::<&str>, None).unwrap_err();
    scene.engine.retry(None::<&str>, None).unwrap();
    scene.engine.cancel(None::<&str>, None).unwrap();
    let told = told(&scene);
    assert!(told[0].starts_with("waiting plan: waiting for a usage limit until 2096-"), "{told:?}");
    assert_eq!(
        told[1..],
        [
            "waiting plan: the call failed; you can retry it",
            "waiting plan: waiting for your approval of the reply",
            "ended cancelled",
        ]
    );
    let first: Value = serde_json::from_str(scene.read("~/told").lines().next().unwrap()).unwrap();
    assert_eq!(first["title"], "Add a file");
}

#[test]
fn a_program_that_cannot_start_is_a_note_and_the_work_goes_on() {
    let model = FakeProvider::saying(["# Plan\n", "<<<FILE: a.txt>>>\na\n", "<review>PASS</review>\n"]);
    let scene = Scene::of_agent(&model, "[notify]\nrun = [\"no-such-program\"]\n");
    let notes = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = notes.clone();
    let engine = scene.engine.clone().watched_by(move |event| {
        if let aiwf_engine::CallEvent::Performed(aiwf_engine::Performed::Noted { message }) = event {
            heard.lock().unwrap().push(message.clone());
        }
    });
    engine.start_flow(&request(yes())).unwrap();
    let notes = notes.lock().unwrap();
    assert_eq!(*notes, ["could not start `no-such-program` of `[notify] run`: no such file or directory"]);
}

#[test]
fn a_project_names_no_program() {
    let scene = telling(Scene::configured("")).file(".aiwf/config.toml", NOTIFY);
    let manual = NewRequest { provider: Some("manual".to_owned()), ..request(Flags::default()) };
    // The command refuses the configuration, and nothing starts.
    assert!(scene.engine.begin_flow(&manual).is_err());
    assert_eq!(scene.read("~/told"), "");
}
