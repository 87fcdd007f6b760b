//! What goes wrong between an agent and its model: said, kept, and asked again.

use std::time::Duration;

use aiwf_testkit::model_server::Turn;

use super::world::{Agent, CLAUDE, CODEX, GEMINI, KEY, World, assert_carries};
use crate::json;
use crate::session::{PLAN, at};

/// A key that is turned down, a limit, and a stream that breaks off, one after the other.
fn goes_on(agent: Agent, login_hint: &str) {
    let Some(world) = World::new(agent, "") else { return };
    world.begin();
    let preview = world.done("preview latest");
    let prompt = preview["prompt"].as_str().unwrap();

    // Nothing is scripted: the model says 401.
    let outcome = world.run("approve latest");
    assert_eq!(outcome.exit_code(), 4, "{outcome}");
    assert!(outcome.stderr_text().contains(login_hint), "{outcome}");
    assert!(!outcome.stderr_text().contains(KEY), "{outcome}");
    let n_asks = world.asks().len();
    assert!((1..=6).contains(&n_asks), "{n_asks} requests");
    let status = world.done("status latest");
    let problems = status["problems"].to_string();
    assert!(problems.contains(&format!("`{}` failed", agent.provider)), "{status:#}");
    assert_eq!(at(&status), ("planning", "response", 1));
    assert!(status["next"].as_str().unwrap().contains("retry"), "{status:#}");
    world.assert_alone();

    world.model([Turn::status(429).with_header("retry-after", "1"), Turn::text(PLAN)]);
    let retried = world.done("retry latest");
    let asks = world.asks();
    assert_eq!(asks.len(), 2);
    assert_carries(&asks, prompt, None);
    let path = retried["response_path"].as_str().unwrap();
    assert_eq!(world.text(path), PLAN);
    world.assert_alone();

    world.done("reject latest --feedback again");
    let preview = world.done("preview latest");
    world.model([
        Turn::CutAfter { text: "# A plan that is cut off".to_owned(), n_bytes: 12 },
        Turn::text(PLAN),
        Turn::text("a request too many"),
    ]);
    let outcome = world.run("approve latest --json");
    let asks = world.asks();
    assert_carries(&asks, preview["prompt"].as_str().unwrap(), None);
    match outcome.exit_code() {
        0 => {
            assert_eq!(asks.len(), 2);
            assert_eq!(world.text(path), PLAN);
        }
        // What arrived is kept, and the next attempt is a person's.
        code => {
            assert_eq!((code, asks.len()), (4, 1), "{outcome}");
            let kept = world.event("ask-failed")["call"]["kept"].to_string();
            assert!(kept.contains("partial"), "{kept}");
            assert_eq!(json(&world.run("retry latest --json"))["stage"], "response");
            assert_eq!(world.text(path), PLAN);
        }
    }
    world.assert_alone();
}

#[test]
fn claude_fails_and_resumes() {
    goes_on(CLAUDE, "log in by running `claude`");
}

#[test]
fn codex_fails_and_resumes() {
    goes_on(CODEX, "log in with `codex login`");
}

#[test]
fn gemini_fails_and_resumes() {
    goes_on(GEMINI, "log in by running `gemini`");
}

/// A model that does not answer: the time runs out, or somebody presses Ctrl-C.
fn hangs(agent: Agent) {
    let Some(world) = World::new(agent, "") else { return };
    let config = world.text("~/.aiwf/config.toml").replace("90m", "15s");
    world.project.write("~/.aiwf/config.toml", config);
    world.begin();
    world.model([Turn::Hang(Duration::from_mins(100))]);
    let outcome = world.run("approve latest");
    assert_eq!(outcome.exit_code(), 4, "{outcome}");
    assert!(outcome.stderr_text().contains("within 15 s"), "{outcome}");
    assert_eq!(world.asks().len(), 1, "it hung before it asked");
    world.assert_alone();

    world.model([Turn::Hang(Duration::from_mins(100))]);
    let running = world.command("retry latest").spawn();
    while world.server.asks().len() < 2 {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(world.processes().len() > 1, "the agent runs beside aiwf");
    running.signal("INT");
    let outcome = running.wait();
    assert_eq!(outcome.exit_code(), 130, "{outcome}");
    world.assert_alone();
    let status = world.done("status latest");
    assert_eq!(at(&status), ("planning", "response", 1));
    assert!(status["next"].as_str().unwrap().contains("retry"), "{status:#}");
}

#[test]
fn claude_leaves_no_process_behind() {
    hangs(CLAUDE);
}

#[test]
fn codex_leaves_no_process_behind() {
    hangs(CODEX);
}

#[test]
fn gemini_leaves_no_process_behind() {
    hangs(GEMINI);
}
