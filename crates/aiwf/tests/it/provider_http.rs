//! Whole sessions with model APIs: what is previewed is what arrives, and what it cost is known.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::scene::{KEY, MODEL, Scene, replies};
use crate::session::{PLAN, at};

const PRICES: &str = "[prices.\"scripted-model\"]\ninput = 3.0\noutput = 15.0\ncached_input = 0.3\n";

fn scripted() -> ModelServer {
    ModelServer::script(replies().into_iter().map(Turn::Text))
}

/// Walks a session with every gate manual and looks at every prompt before it is sent.
///
/// Whoever reads files gets system text: how to name the reply.
fn previews_are_what_arrives(kind: &str) {
    let server = scripted();
    let scene = Scene::of_api(kind, &server, "fs_ability = \"local-read\"\n");
    scene.init("");
    let mut previews: Vec<Value> = Vec::new();
    for n_asked in 0..5 {
        let preview = scene.done("preview");
        let printed = scene.run("preview").stdout;
        let texts = [preview["system_prompt"].as_str(), preview["prompt"].as_str()];
        assert!(String::from_utf8(printed).unwrap() == texts.map(Option::unwrap).join("\n\n---\n\n"));
        previews.push(preview);
        assert_eq!(server.asks().len(), n_asked, "a preview asks nobody");
        let asked = scene.done("approve");
        assert_eq!(asked["stage"], "response");
        assert_eq!(
            scene.event("prompt-sent")["payload_sha256"],
            previews[n_asked]["metadata"]["payload_sha256"]
        );
        scene.done("approve");
    }
    let asks = server.asks();
    assert_eq!(asks.len(), 5);
    for (ask, preview) in asks.iter().zip(&previews) {
        assert!(ask.user_messages() == [preview["prompt"].as_str().unwrap()]);
        assert_eq!(ask.system_text(), preview["system_prompt"]);
        assert_eq!(ask.model(), MODEL);
        let header = match kind {
            "anthropic" => ask.header("x-api-key").map(str::to_owned),
            "openai" => ask.header("authorization").map(|value| value.replace("Bearer ", "")),
            _ => ask.header("x-goog-api-key").map(str::to_owned),
        };
        assert_eq!(header.as_deref(), Some(KEY));
    }
    let end = scene.done("status latest");
    assert_eq!(at(&end), ("complete", "-", 2));
    assert_eq!(scene.run("verify latest").exit_code(), 0);
    assert_eq!(scene.text("plan.md"), PLAN);
}

#[test]
fn anthropic_gets_what_preview_shows() {
    previews_are_what_arrives("anthropic");
}

#[test]
fn openai_gets_what_preview_shows() {
    previews_are_what_arrives("openai");
}

#[test]
fn gemini_gets_what_preview_shows() {
    previews_are_what_arrives("gemini");
}

/// Walks a session in one command, since every gate is open.
fn runs_by_itself(kind: &str) {
    let server = scripted();
    let scene = Scene::of_api(kind, &server, PRICES);
    let end = scene.init("--yes");
    assert_eq!(at(&end), ("complete", "-", 2));
    assert_eq!(server.asks().len(), 5);
    // 148 tokens in, of which 40 came from a cache, and 15 out: five times.
    let usage = scene.done("status latest --usage")["usage"].clone();
    let total = json!({
        "calls": 5, "input_tokens": 740, "output_tokens": 75, "cached_tokens": 200,
        "cost": 0.002_805, "calls_without_tokens": 0, "calls_without_cost": 0,
    });
    assert_eq!(usage["total"], total);
    assert_eq!(usage["calls"][0]["model"], MODEL);
    let phases: Vec<(&str, u64)> = usage["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| (phase["phase"].as_str().unwrap(), phase["calls"].as_u64().unwrap()))
        .collect();
    assert_eq!(phases, [("planning", 1), ("generating", 1), ("reviewing", 2), ("revising", 1)]);
    let call = scene.event("reply-received")["call"].clone();
    let expected = json!({"input_tokens": 148, "output_tokens": 15, "cached_tokens": 40, "cost": 0.000_561});
    assert_eq!(call["usage"], expected);
    assert!(call["millis"].is_u64());
    assert_eq!(scene.run("run latest").exit_code(), 0);
}

#[test]
fn anthropic_walks_a_session_with_open_gates() {
    runs_by_itself("anthropic");
}

#[test]
fn openai_walks_a_session_with_open_gates() {
    runs_by_itself("openai");
}

#[test]
fn gemini_walks_a_session_with_open_gates() {
    runs_by_itself("gemini");
}

/// Approves once and skips all later gates: one command makes five calls.
fn approves_over_one_connection(kind: &str) {
    let server = scripted();
    let scene = Scene::of_api(kind, &server, "");
    scene.init("");
    assert_eq!(server.n_connections(), 0, "no call before the approval");
    let end = scene.done("approve --yes");
    assert_eq!(at(&end), ("complete", "-", 2));
    assert_eq!(
        (server.asks().len(), server.n_connections()),
        (5, 1),
        "each client would open a connection of its own"
    );
}

#[test]
fn an_approval_opens_one_client_for_anthropic() {
    approves_over_one_connection("anthropic");
}

#[test]
fn an_approval_opens_one_client_for_openai() {
    approves_over_one_connection("openai");
}

#[test]
fn an_approval_opens_one_client_for_gemini() {
    approves_over_one_connection("gemini");
}

#[test]
fn costs_are_shown_and_unknown_prices_are_unknown() {
    let server = scripted();
    let scene = Scene::of_api("openai", &server, PRICES);
    scene.init("--yes");
    insta::assert_snapshot!(scene.shown(&scene.run("status latest --usage")), @"
    --- stdout
    session   [id]
    call      planning-1: model scripted-model, 148 in, 15 out, 40 cached, $0.0006
    call      generating-1: model scripted-model, 148 in, 15 out, 40 cached, $0.0006
    call      reviewing-1: model scripted-model, 148 in, 15 out, 40 cached, $0.0006
    call      revising-2: model scripted-model, 148 in, 15 out, 40 cached, $0.0006
    call      reviewing-2: model scripted-model, 148 in, 15 out, 40 cached, $0.0006
    phase     planning: 1 call, 148 tokens in, 15 out, 40 cached, $0.0006
    phase     generating: 1 call, 148 tokens in, 15 out, 40 cached, $0.0006
    phase     reviewing: 2 calls, 296 tokens in, 30 out, 80 cached, $0.0011
    phase     revising: 1 call, 148 tokens in, 15 out, 40 cached, $0.0006
    total     5 calls, 740 tokens in, 75 out, 200 cached, $0.0028
    budget    no limit
    --- exit code 0
    ");

    let server = scripted();
    let scene = Scene::of_api("openai", &server, "");
    scene.init("--yes");
    insta::assert_snapshot!(scene.shown(&scene.run("status latest --usage")), @"
    --- stdout
    session   [id]
    call      planning-1: model scripted-model, 148 in, 15 out, 40 cached, cost unknown
    call      generating-1: model scripted-model, 148 in, 15 out, 40 cached, cost unknown
    call      reviewing-1: model scripted-model, 148 in, 15 out, 40 cached, cost unknown
    call      revising-2: model scripted-model, 148 in, 15 out, 40 cached, cost unknown
    call      reviewing-2: model scripted-model, 148 in, 15 out, 40 cached, cost unknown
    phase     planning: 1 call, 148 tokens in, 15 out, 40 cached, cost unknown
    phase     generating: 1 call, 148 tokens in, 15 out, 40 cached, cost unknown
    phase     reviewing: 2 calls, 296 tokens in, 30 out, 80 cached, cost unknown
    phase     revising: 1 call, 148 tokens in, 15 out, 40 cached, cost unknown
    total     5 calls, 740 tokens in, 75 out, 200 cached, cost unknown
    budget    no limit
    --- exit code 0
    ");

    let server = scripted().with_usage(None);
    let scene = Scene::of_api("openai", &server, PRICES);
    scene.init("--yes");
    insta::assert_snapshot!(scene.shown(&scene.run("status latest --usage")), @"
    --- stdout
    session   [id]
    call      planning-1: model scripted-model, unknown in, unknown out, cost unknown
    call      generating-1: model scripted-model, unknown in, unknown out, cost unknown
    call      reviewing-1: model scripted-model, unknown in, unknown out, cost unknown
    call      revising-2: model scripted-model, unknown in, unknown out, cost unknown
    call      reviewing-2: model scripted-model, unknown in, unknown out, cost unknown
    phase     planning: 1 call, unknown tokens in, unknown out, unknown cached, cost unknown
    phase     generating: 1 call, unknown tokens in, unknown out, unknown cached, cost unknown
    phase     reviewing: 2 calls, unknown tokens in, unknown out, unknown cached, cost unknown
    phase     revising: 1 call, unknown tokens in, unknown out, unknown cached, cost unknown
    total     5 calls, unknown tokens in, unknown out, unknown cached, cost unknown
    budget    no limit
    --- exit code 0
    ");
}

#[test]
fn the_hash_of_a_preview_is_that_of_an_equal_send() {
    let server = ModelServer::answering(|_| Turn::text(PLAN));
    let scene = Scene::of_api("anthropic", &server, "");
    scene.init("");
    let preview = scene.done("preview");
    let user = preview["prompt"].as_str().unwrap();
    // The standards come from the session's directory; the profile's part is what follows them.
    let (_, of_profile) = user.split_once("\n\n---\n\n").unwrap();
    scene.project.write("profile-prompt.md", of_profile);
    let dir = scene.session_dir();
    let sent = scene.done(&format!(
        "prompt send session --provider model --session-dir {dir} --phase planning --iteration 1 --profile-prompt profile-prompt.md"
    ));
    assert!(server.asks()[0].user_messages() == [user]);
    assert_eq!(sent["payload_sha256"], preview["metadata"]["payload_sha256"]);
    scene.done("approve");
    assert_eq!(scene.event("prompt-sent")["payload_sha256"], sent["payload_sha256"]);
}
