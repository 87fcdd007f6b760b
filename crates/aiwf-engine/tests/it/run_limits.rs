//! Where runs stop: turns, loops, budgets, a window that is too small.

use serde_json::json;

use crate::driver::SCHEMA;
use crate::fake_provider::{FakeProvider, Turn};
use crate::run_driver::{
    FAILED, WAITING, block, check_pairs, complete, journal_text, n_blocks, preview, read, results, resume,
    run, say, small, status,
};
use crate::scene::{CONFIG, Scene};

fn limited(turns: impl IntoIterator<Item = Turn>, more: &str) -> (FakeProvider, Scene) {
    let server = FakeProvider::script(turns);
    let scene = small(&server, more);
    (server, scene)
}

#[test]
fn a_run_that_used_all_turns_fails_and_can_be_resumed() {
    let turns = (0..3).map(|n| read(&format!("@project/file-{n}"))).chain([Turn::text("Here.")]);
    let (server, scene) = limited(turns, "[workflow]\nmax_turns = 3\n");
    let report = run(&scene, FAILED);
    assert_eq!(
        (&report["phase"], &report["error"]["code"]),
        (&json!("failed"), &json!("ENGINE_MAX_TURNS_EXCEEDED"))
    );
    assert!(report["error"]["message"].as_str().unwrap().contains("after 3 calls"), "{report:#}");
    assert_eq!(server.asks().len(), 3);
    assert_eq!(status(&scene)["phase"], "failed");
    let report = resume(&scene);
    assert_eq!((&report["reply"], report.get("error")), (&json!("Here."), None));
    // All three calls have their result, and the model is told why it is asked again.
    let ask = &server.asks()[3];
    assert_eq!(results(ask).len(), 3);
    assert!(block(ask, "RUN_DIRECTIVE").unwrap().contains("- intent: resume\n"));
}

#[test]
fn a_provider_that_fails_has_a_code_and_the_run_goes_on_afterwards() {
    let cut = Turn::CutAfter { text: "Half a word, and more of it".to_owned(), n_bytes: 11 };
    let cases = [
        ("LLM_AUTH_FAILED", Turn::status(401), ""),
        ("LLM_AUTH_FAILED", Turn::status(403), ""),
        ("LLM_HTTP_ERROR", Turn::status(400), ""),
        ("LLM_BAD_RESPONSE", cut, "Half a word"),
    ];
    for (code, turn, partial) in cases {
        let (server, scene) = limited([complete("start", json!({})), turn, Turn::text("Here again.")], "");
        let report = run(&scene, FAILED);
        // What was done before stays done.
        assert_eq!(
            (&report["error"]["code"], &report["node"]),
            (&json!(code), &json!("check")),
            "{report:#}"
        );
        let report = resume(&scene);
        assert_eq!((&report["reply"], report.get("error")), (&json!("Here again."), None), "{code}");
        let last = server.asks().pop().unwrap();
        let marked = format!("{partial}\n\nLLM_ERROR\n- code: {code}");
        let is_kept = last.payload.turns.iter().any(|turn| turn.content() == marked);
        assert_eq!(is_kept, !partial.is_empty(), "{code}: {}", last.whole());
        assert_eq!(results(&last).len(), 1, "{code}");
    }
}

#[test]
fn the_same_failing_call_three_times_waits_for_the_user() {
    let server = FakeProvider::script([
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
    let scene = small(&server, "").file("schema.sql", SCHEMA);
    let report = run(&scene, WAITING);
    assert_eq!(report["phase"], "waiting-user");
    assert_eq!(report["error"]["code"], "ENGINE_LOOP_DETECTED");
    assert_eq!(server.asks().len(), 6);
    let report = say(&scene, "It is in schema.sql");
    assert_eq!((&report["reply"], report.get("error")), (&json!("Thanks."), None));
    assert_eq!(results(&server.asks()[6]).len(), 6);
}

#[test]
fn a_budget_stops_a_run_before_the_call_that_would_break_it() {
    let turns = || [complete("start", json!({})), complete("check", json!({})), Turn::text("Here.")];
    let (server, scene) = limited(turns(), "[budget]\nmax_calls = 2\n");
    let report = run(&scene, FAILED);
    assert_eq!((&report["phase"], &report["error"]["code"]), (&json!("failed"), &json!("BUDGET_REACHED")));
    assert_eq!((&report["node"], server.asks().len()), (&json!("done"), 2));
    // It stays like that until the limit is another one.
    assert_eq!(resume(&scene)["phase"], FAILED);
    assert_eq!(server.asks().len(), 2);
    let config = scene.read(CONFIG);
    scene.write(CONFIG, config.replace("max_calls = 2", "max_calls = 3"));
    assert_eq!(resume(&scene)["reply"], "Here.");

    let (server, scene) = limited(turns(), "max_output_tokens = 1000\n[budget]\nmax_tokens = 1500\n");
    let report = run(&scene, FAILED);
    assert_eq!(report["error"]["code"], "BUDGET_REACHED");
    assert!(report["error"]["message"].as_str().unwrap().contains("1500 is the limit"), "{report:#}");
    assert!(server.asks().is_empty());
}

#[test]
fn old_rounds_are_left_out_of_a_small_window_whole() {
    let long = "word ".repeat(400);
    let turns =
        (0..6).flat_map(|n| [read(&format!("@project/file-{n}")), Turn::text(format!("Round {n}. {long}"))]);
    let (server, scene) = limited(turns, "[workflow]\ncontext_tokens = 4500\n");
    for n in 0..6 {
        scene.write(&format!("file-{n}"), format!("file {n}\n"));
    }
    let report = run(&scene, WAITING);
    assert_eq!(report["warnings"], json!([]));
    let mut warned = None;
    for n in 1..6 {
        let preview = preview(&scene, Some(&format!("Next {n}.")));
        let report = say(&scene, &format!("Next {n}."));
        assert_eq!(report["phase"], WAITING, "{report:#}");
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
        let sha256 = preview["payload_sha256"].as_str().unwrap();
        assert!(journal_text(&scene).contains(sha256), "the preview was another request");
    }
    assert_eq!(warned, Some(5), "the window was never too small");
    let last = server.asks().pop().unwrap();
    assert!(!last.whole().contains("Round 0."));
    // Nothing is gone for good.
    let shown = serde_json::to_string(&scene.engine.run_history("latest").unwrap()).unwrap();
    assert!(shown.contains("Round 0."));
}

#[test]
fn a_window_that_cannot_hold_the_request_sends_nothing() {
    let (server, scene) = limited([Turn::text("Here.")], "[workflow]\ncontext_tokens = 300\n");
    let report = run(&scene, FAILED);
    assert_eq!(
        (&report["phase"], &report["error"]["code"]),
        (&json!("failed"), &json!("CONTEXT_STILL_TOO_LARGE"))
    );
    let message = report["error"]["message"].as_str().unwrap();
    assert!(message.contains("the window has 300"), "{message}");
    assert!(server.asks().is_empty());
    let refused = scene.engine.preview_run("latest", None).unwrap_err();
    assert_eq!(refused.code(), "CONTEXT_STILL_TOO_LARGE", "{refused}");
    let config = scene.read(CONFIG);
    scene.write(CONFIG, config.replace("context_tokens = 300", "context_tokens = 30000"));
    assert_eq!(resume(&scene)["reply"], "Here.");
}
