//! Where runs stop: turns, loops, budgets, providers that fail, a person who interrupts, a window that is too small.

use std::time::Duration;

use aiwf_testkit::model_server::Turn;
use aiwf_testkit::{ModelServer, SmallPackage};
use serde_json::json;

use crate::scene::{Scene, eventually};
use crate::workflow_package::{in_package, results, run};
use crate::workflow_walk::{complete, run_dir};

fn small(turns: impl IntoIterator<Item = Turn>, more: &str) -> (ModelServer, Scene) {
    let server = ModelServer::script(turns);
    let scene = in_package(&SmallPackage::new(), "openai", &server, more);
    (server, scene)
}

/// What needs a server to happen; the engine's `run_limits` has the rest.
#[test]
fn a_failed_provider_has_a_code_and_the_run_can_be_resumed() {
    let wait_long = || Turn::status(429).with_header("retry-after", "3600");
    let never = || Turn::Hang(Duration::from_mins(1));
    let slow = || Turn::TextSlowly {
        chunks: vec!["Half a".to_owned(), " word".to_owned()],
        delay: Duration::from_mins(100),
    };
    let no_json = || {
        Turn::Raw(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: hello\n\n"
                .to_vec(),
        )
    };
    let cases: [(&str, Turn, &str, &str); 4] = [
        ("LLM_RATE_LIMITED", wait_long(), "", ""),
        ("LLM_BAD_RESPONSE", no_json(), "", ""),
        ("LLM_TIMEOUT", never(), "first_byte_timeout = \"1s\"\n", ""),
        ("LLM_TIMEOUT", slow(), "timeout = \"5s\"\n", "Half a"),
    ];
    for (code, turn, setting, partial) in cases {
        let (server, scene) = small([complete("start", json!({})), turn, Turn::text("Here again.")], setting);
        let report = run(&scene, 4);
        assert_eq!(
            (&report["phase"], &report["error"]["code"]),
            (&json!("failed"), &json!(code)),
            "{report:#}"
        );
        let hint = report["error"]["hint"].as_str().unwrap();
        assert!(!hint.contains("aiwf retry"), "a run is not retried but resumed: {hint}");
        // What was done before stays done.
        assert_eq!(report["node"], "check", "{code}");
        let report = scene.answers("workflow resume latest", 3);
        assert_eq!((&report["reply"], report.get("error")), (&json!("Here again."), None), "{code}");
        let asks = server.asks();
        let kept = asks.last().unwrap().text_parts();
        let marked = format!("{partial}\n\nLLM_ERROR\n- code: {code}");
        assert_eq!(kept.contains(&marked), !partial.is_empty(), "{code}: {kept:#?}");
        assert_eq!(results(asks.last().unwrap()).len(), 1, "{code}");
    }
}

#[test]
fn a_server_that_fails_inside_is_asked_again_and_then_given_up() {
    let (server, scene) = small((0..20).map(|_| Turn::status(500).with_header("retry-after", "0")), "");
    let report = run(&scene, 4);
    assert_eq!(report["error"]["code"], "LLM_HTTP_ERROR", "{report:#}");
    assert!(server.asks().len() > 1);
    // One call, however often it was tried.
    assert_eq!(scene.done("status latest")["n_calls"], 1);
}

#[test]
fn a_missing_key_is_reported_before_anything_is_sent() {
    let (server, scene) = small([Turn::text("Here.")], "");
    let outcome = scene.project.command("workflow run pkg --provider model --json").run();
    assert_eq!(outcome.exit_code(), 4, "{outcome}");
    assert_eq!(crate::json(&outcome)["error"]["code"], "LLM_AUTH_FAILED");
    assert!(server.asks().is_empty());
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Here.");
}

#[test]
fn an_interrupt_keeps_what_arrived_and_what_was_done() {
    let chunks = vec!["Half a".to_owned(), " word".to_owned()];
    let slow = Turn::TextSlowly { chunks, delay: Duration::from_mins(100) };
    let (server, scene) = small([complete("start", json!({})), slow, Turn::text("Here again.")], "");
    let running = scene.command("workflow run pkg --provider model --events --json").spawn();
    eventually("the second request", || server.asks().len() == 2);
    let partial = || {
        let directory = run_dir(&scene);
        let names = scene.project.names_in(&directory);
        let name = names.into_iter().find(|name| name.contains(".partial-"));
        name.is_some_and(|name| scene.project.read(&format!("{directory}/{name}")) == b"Half a")
    };
    eventually("half a word", partial);
    running.signal("INT");
    let outcome = running.wait();
    assert_eq!(outcome.exit_code(), 130, "{outcome}");
    let report = crate::json(&outcome);
    assert_eq!((&report["phase"], &report["error"]["code"]), (&json!("failed"), &json!("ENGINE_ABORTED")));
    assert_eq!(report["node"], "check");
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Here again.");
    let parts = server.asks()[2].text_parts();
    assert!(parts.iter().any(|text| text == "Half a\n\nLLM_ERROR\n- code: ENGINE_ABORTED"), "{parts:#?}");
}
