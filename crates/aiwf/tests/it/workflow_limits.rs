//! Where runs stop: turns, loops, budgets, providers that fail, a person who interrupts, a window that is too small.

use std::time::Duration;

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::{SeenRequest, Turn};
use serde_json::{Value, json};

use crate::scene::{Scene, eventually};
use crate::workflow_package::{SmallPackage, block, n_blocks, read, results, run, say};
use crate::workflow_walk::{APIS, complete, run_dir};

fn small(turns: impl IntoIterator<Item = Turn>, more: &str) -> (ModelServer, Scene) {
    let server = ModelServer::script(turns);
    let scene = SmallPackage::new().behind("openai", &server, more);
    (server, scene)
}

#[test]
fn after_the_last_turn_a_run_has_failed_and_can_go_on() {
    let turns = (0..3).map(|n| read(&format!("@project/file-{n}"))).chain([Turn::text("Here.")]);
    let (server, scene) = small(turns, "[workflow]\nmax_turns = 3\n");
    let report = run(&scene, 1);
    assert_eq!(
        (&report["phase"], &report["error"]["code"]),
        (&json!("failed"), &json!("ENGINE_MAX_TURNS_EXCEEDED"))
    );
    assert!(report["error"]["message"].as_str().unwrap().contains("3 times"), "{report:#}");
    assert_eq!(server.asks().len(), 3);
    assert_eq!(scene.done("status latest")["phase"], "failed");
    let report = scene.answers("workflow resume latest", 3);
    assert_eq!((&report["reply"], report.get("error")), (&json!("Here."), None));
    // All three calls have their result, and the model is told why it is asked again.
    let ask = &server.asks()[3];
    assert_eq!(results(ask).len(), 3);
    assert!(block(ask, "RUN_DIRECTIVE").unwrap().contains("- intent: resume\n"));
}

#[test]
fn the_same_failing_call_three_times_waits_for_the_user() {
    for kind in APIS {
        let server = ModelServer::script([
            // Not in a row, and not the same.
            read("@project/nowhere"),
            read("@project/schema.sql"),
            read("@project/elsewhere"),
            // The same in other words: keys in another order, the other form of the name.
            Turn::tool_call("fs_read", json!({ "path": "@project/nowhere", "startLine": 1 })),
            Turn::tool_call("fs.read", json!({ "startLine": 1, "path": "@project/nowhere" })),
            Turn::tool_call("fs_read", json!({ "path": "@project/nowhere", "startLine": 1 })),
            Turn::text("Thanks."),
        ]);
        let scene = SmallPackage::new().behind(kind, &server, "");
        let report = run(&scene, 3);
        assert_eq!(report["phase"], "waiting-user", "{kind}");
        assert_eq!(report["error"]["code"], "ENGINE_LOOP_DETECTED", "{kind}");
        assert_eq!(server.asks().len(), 6, "{kind}");
        let report = scene.answers("workflow say latest 'It is in schema.sql'", 3);
        assert_eq!((&report["reply"], report.get("error")), (&json!("Thanks."), None), "{kind}");
        assert_eq!(results(&server.asks()[6]).len(), 6, "{kind}");
    }
}

#[test]
fn a_provider_that_fails_has_a_code_and_the_run_goes_on_afterwards() {
    let wait_long = || Turn::status(429).with_header("retry-after", "3600");
    let never = || Turn::Hang(Duration::from_mins(1));
    let slow = || Turn::TextSlowly {
        chunks: vec!["Half a".to_owned(), " word".to_owned()],
        delay: Duration::from_mins(100),
    };
    let cut = || Turn::CutAfter { text: "Half a word, and more of it".to_owned(), n_bytes: 11 };
    let no_json = || {
        Turn::Raw(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: hello\n\n"
                .to_vec(),
        )
    };
    let gone = || Turn::status(400);
    let cases: [(&str, Turn, &str, &str); 8] = [
        ("LLM_AUTH_FAILED", Turn::status(401), "", ""),
        ("LLM_AUTH_FAILED", Turn::status(403), "", ""),
        ("LLM_RATE_LIMITED", wait_long(), "", ""),
        ("LLM_HTTP_ERROR", gone(), "", ""),
        ("LLM_BAD_RESPONSE", cut(), "", "Half a word"),
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
fn a_key_that_is_missing_is_said_before_anything_is_sent() {
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

#[test]
fn a_budget_stops_a_run_before_the_call_that_would_break_it() {
    let turns = || [complete("start", json!({})), complete("check", json!({})), Turn::text("Here.")];
    let (server, scene) = small(turns(), "[budget]\nmax_calls = 2\n");
    let report = run(&scene, 1);
    assert_eq!((&report["phase"], &report["error"]["code"]), (&json!("failed"), &json!("BUDGET_REACHED")));
    assert_eq!((&report["node"], server.asks().len()), (&json!("done"), 2));
    // It stays like that until the limit is another one.
    scene.answers("workflow resume latest", 1);
    assert_eq!(server.asks().len(), 2);
    let config = String::from_utf8(scene.project.read("~/.aiwf/config.toml")).unwrap();
    scene.project.write("~/.aiwf/config.toml", config.replace("max_calls = 2", "max_calls = 3"));
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Here.");

    let (server, scene) = small(turns(), "max_output_tokens = 1000\n[budget]\nmax_tokens = 1500\n");
    let report = run(&scene, 1);
    assert_eq!(report["error"]["code"], "BUDGET_REACHED");
    assert!(report["error"]["message"].as_str().unwrap().contains("1500 is the limit"), "{report:#}");
    assert!(server.asks().is_empty());
}

/// Every result stands behind the message that made its call.
fn check_pairs(request: &SeenRequest) {
    let mut open: Vec<Value> = Vec::new();
    for message in request.body["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            let position = open.iter().position(|id| *id == message["tool_call_id"]);
            assert!(position.is_some(), "a result without its call: {message:#}");
            open.remove(position.unwrap());
        } else {
            assert!(open.is_empty(), "calls without results before {message:#}");
            let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
            open = calls.iter().map(|call| call["id"].clone()).collect();
        }
    }
    assert!(open.is_empty());
}

#[test]
fn old_rounds_are_left_out_of_a_small_window_whole() {
    let long = "word ".repeat(400);
    let turns =
        (0..6).flat_map(|n| [read(&format!("@project/file-{n}")), Turn::text(format!("Round {n}. {long}"))]);
    let (server, scene) = small(turns, "[workflow]\ncontext_tokens = 4500\n");
    for n in 0..6 {
        scene.project.write(&format!("file-{n}"), format!("file {n}\n"));
    }
    let report = run(&scene, 3);
    assert_eq!(report["warnings"], json!([]));
    let mut warned = None;
    for n in 1..6 {
        let preview = scene.done(&format!("preview latest --input 'Next {n}.'"));
        let outcome = say(&scene, &format!("Next {n}."));
        assert_eq!(outcome.exit_code(), 3, "{outcome}");
        let report = crate::json(&outcome);
        let asks = server.asks();
        // The first request of this round is the one that was shown.
        let ask = &asks[asks.len() - 2];
        check_pairs(ask);
        check_pairs(asks.last().unwrap());
        let n_left_out = preview["n_left_out"].as_u64().unwrap();
        assert_eq!(n_blocks(ask, "RUNTIME_NOTE") as u64, n_left_out.min(1));
        if n_left_out > 0 {
            let note = block(ask, "RUNTIME_NOTE").unwrap();
            assert!(note.contains(&format!("- leftOut: {n_left_out} earlier message")), "{note}");
            assert!(preview["tokens"].as_u64().unwrap() <= 4500, "{}", preview["tokens"]);
            let left_out = report["left_out"].to_string();
            assert!(left_out.contains("does not fit the budget of 4,500 tokens"), "{left_out}");
            warned = Some(n);
        }
        let sent = ask.user_texts().join("\n");
        assert!(sent.contains(&format!("Next {n}.")), "what is asked now is always sent");
        let journal = scene.project.read(&format!("{}/journal.jsonl", run_dir(&scene)));
        let sha256 = preview["payload_sha256"].as_str().unwrap();
        assert!(String::from_utf8(journal).unwrap().contains(sha256), "the preview was another request");
    }
    assert_eq!(warned, Some(5), "the window was never too small");
    let last = server.asks().pop().unwrap();
    assert!(!last.text_parts().iter().any(|text| text.contains("Round 0.")));
    // Nothing is gone for good.
    let shown = scene.done("show latest").to_string();
    assert!(shown.contains("Round 0."));
}

#[test]
fn a_window_that_cannot_hold_the_request_sends_nothing() {
    let (server, scene) = small([Turn::text("Here.")], "[workflow]\ncontext_tokens = 300\n");
    let report = run(&scene, 1);
    assert_eq!(
        (&report["phase"], &report["error"]["code"]),
        (&json!("failed"), &json!("CONTEXT_STILL_TOO_LARGE"))
    );
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.contains("the window has 300"), "{message}");
    assert!(server.asks().is_empty());
    let refused = scene.answers("preview latest", 1);
    assert_eq!(refused["error"]["code"], "CONTEXT_STILL_TOO_LARGE", "{refused:#}");
    let config = String::from_utf8(scene.project.read("~/.aiwf/config.toml")).unwrap();
    scene
        .project
        .write("~/.aiwf/config.toml", config.replace("context_tokens = 300", "context_tokens = 30000"));
    assert_eq!(scene.answers("workflow resume latest", 3)["reply"], "Here.");
}
