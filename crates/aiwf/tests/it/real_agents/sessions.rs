//! A whole session with each agent: what is previewed arrives byte for byte, and nothing is written but replies.

use aiwf_testkit::model_server::{Piece, Turn};
use serde_json::{Value, json};

use super::world::{Agent, CLAUDE, CODEX, GEMINI, HOSTILE, World, assert_carries};
use crate::session::{CODE, PLAN, REVISED, at, review};

/// One phase: preview, approve, and everything that must hold of the requests in between.
struct Phase<'w> {
    world: &'w World,
    preview: Value,
    status: Value,
}

impl<'w> Phase<'w> {
    fn begin(world: &'w World, name: &str) -> Self {
        let preview = world.done("preview latest");
        assert_eq!(preview["metadata"]["phase"], name);
        // What is printed for people is the same text.
        let system = preview["system_prompt"].as_str().map(|system| format!("{system}\n\n---\n\n"));
        let printed = system.unwrap_or_default() + preview["prompt"].as_str().unwrap();
        assert_eq!(world.run("preview latest").stdout, printed.into_bytes());
        let status = world.done("status latest");
        Self { world, preview, status }
    }

    fn prompt(&self) -> &str {
        self.preview["prompt"].as_str().unwrap()
    }

    fn system(&self) -> Option<&str> {
        self.preview["system_prompt"].as_str()
    }

    /// Where the reply goes, relative to the project.
    fn response_path(&self) -> &str {
        self.status["response_path"].as_str().unwrap()
    }

    /// Lets the model do this, approves the prompt, and gives what tools answered.
    fn send(&self, turns: impl IntoIterator<Item = Turn>) -> Vec<String> {
        let files = self.world.files();
        let turns: Vec<Turn> = turns.into_iter().collect();
        let n_turns = turns.len();
        self.world.model(turns);
        let report = self.world.done("approve latest");
        assert_eq!(report["stage"], "response");
        let asks = self.world.asks();
        assert_eq!(asks.len(), n_turns, "one request for each turn");
        assert_carries(&asks, self.prompt(), self.system());
        let sent = self.world.event("prompt-sent");
        assert_eq!(sent["payload_sha256"], self.preview["metadata"]["payload_sha256"]);
        assert_eq!(self.world.files(), files, "files of the project changed");
        asks.last().unwrap().tool_results()
    }

    /// The reply as it is on disk.
    fn reply(&self) -> String {
        self.world.text(self.response_path())
    }

    fn call(&self) -> Value {
        let received = self.world.event("reply-received");
        assert_eq!(received["call"]["touched"], Value::Null);
        assert_eq!(received["call"]["model"], "scripted-model");
        received["call"].clone()
    }

    /// Takes the reply.
    fn take(self) -> Value {
        self.world.done("approve latest")
    }
}

/// Writes a file by the agent's own tool, or by its shell where it has no other.
fn write(agent: Agent, path: &str, content: &str) -> Piece {
    let (name, args) = match agent.provider {
        "claude-code" => ("Write", json!({ "file_path": path, "content": content })),
        "gemini-cli" => ("write_file", json!({ "file_path": path, "content": content })),
        _ => ("exec_command", json!({ "cmd": format!("echo hacked > '{path}'") })),
    };
    Piece::ToolCall { name: name.to_owned(), args }
}

/// An attempt to write a file of the project, a new one, and one in the session.
fn attempts(world: &World, others: impl IntoIterator<Item = String>) -> Turn {
    let paths = ["src/main.rs", "new.txt"].map(|path| world.project.path(path).display().to_string());
    let attempts = paths.into_iter().chain(others);
    Turn::Pieces(attempts.map(|path| write(world.agent, &path, "hacked\n")).collect())
}

#[track_caller]
fn assert_denied(results: &[String], n_attempts: usize) {
    assert_eq!(results.len(), n_attempts, "{results:#?}");
    for result in results {
        let words = ["denied", "No such tool", "not found in registry", "Read-only file system"];
        assert!(words.iter().any(|word| result.contains(word)), "{results:#?}");
    }
}

/// Goes through a session in which the agent can only answer with text, and tries to write all the same.
fn whole_session(world: &World) {
    world.begin();
    let phase = Phase::begin(world, "planning");
    assert!(phase.prompt().contains(HOSTILE), "{}", phase.prompt());
    // A person edits the prompt: what it begins with is a command to some agents.
    let path = phase.status["prompt_path"].as_str().unwrap();
    world.project.write(path, format!("{}\n{}", world.agent.command, phase.prompt()));
    let phase = Phase::begin(world, "planning");
    assert!(phase.prompt().starts_with(world.agent.command));
    let response = world.project.path(phase.response_path()).display().to_string();
    assert_denied(&phase.send([attempts(world, [response]), Turn::text(PLAN)]), 3);
    assert_eq!(phase.reply(), PLAN);
    // Two requests, and what the server says of each.
    assert_eq!(phase.call()["usage"]["input_tokens"], 296);
    assert_eq!(phase.call()["usage"]["output_tokens"], 30);
    assert_eq!(at(&phase.take()), ("generating", "prompt", 1));

    let phase = Phase::begin(world, "generating");
    // A person edits the system prompt: an editor ends the last line, and agents trim.
    let path = phase.status["system_prompt_path"].as_str().unwrap();
    world.project.write(path, format!(" \n{}\r\n\n", phase.system().unwrap()));
    let phase = Phase::begin(world, "generating");
    assert!(phase.system().unwrap().ends_with("\r\n\n"));
    let response = world.project.path(phase.response_path()).display().to_string();
    assert_denied(&phase.send([attempts(world, [response]), Turn::text(CODE)]), 3);
    assert_eq!(phase.reply(), CODE);
    assert_eq!(at(&phase.take()), ("reviewing", "prompt", 1));

    let phase = Phase::begin(world, "reviewing");
    let fail = review("FAIL", 1);
    phase.send([Turn::text(&fail)]);
    assert_eq!(phase.reply(), fail);
    assert_eq!(at(&phase.take()), ("revising", "prompt", 2));

    let phase = Phase::begin(world, "revising");
    phase.send([Turn::text(REVISED)]);
    assert_eq!(phase.reply(), REVISED);
    assert_eq!(at(&phase.take()), ("reviewing", "prompt", 2));

    let phase = Phase::begin(world, "reviewing");
    phase.send([Turn::text(review("PASS", 0))]);
    phase.call();
    let end = phase.take();
    assert_eq!(end["status"], "complete");
    assert_eq!(world.run("verify latest").exit_code(), 0);
    world.assert_alone();
}

#[test]
fn codex_goes_through_a_session() {
    // It names its output file in the system text, which nothing else of a session stands in.
    let Some(world) = World::new(CODEX, "fs_ability = \"local-read\"\n") else { return };
    whole_session(&world);
}

#[test]
fn gemini_goes_through_a_session() {
    let Some(world) = World::new(GEMINI, "fs_ability = \"local-read\"\n") else { return };
    whole_session(&world);
}

#[test]
fn claude_goes_through_a_session_and_writes_its_replies() {
    let Some(world) = World::new(CLAUDE, "") else { return };
    world.begin();
    let phase = Phase::begin(&world, "planning");
    assert!(phase.prompt().contains(HOSTILE), "{}", phase.prompt());
    let path = phase.status["prompt_path"].as_str().unwrap();
    world.project.write(path, format!("{}\n{}", world.agent.command, phase.prompt()));
    let phase = Phase::begin(&world, "planning");
    assert_eq!(phase.preview["metadata"]["lowered_from"], "local-write");
    assert!(phase.system().is_none() && !phase.prompt().contains("## Output"), "{}", phase.prompt());
    let response = world.project.path(phase.response_path()).display().to_string();
    assert_denied(&phase.send([attempts(&world, [response]), Turn::text(PLAN)]), 3);
    assert_eq!(phase.reply(), PLAN);
    assert_eq!(phase.call()["usage"]["input_tokens"], 296);
    assert_eq!(phase.call()["usage"]["output_tokens"], 30);
    assert_eq!(at(&phase.take()), ("generating", "prompt", 1));

    written(&world, "generating", CODE);
    assert_eq!(at(&world.done("approve latest")), ("reviewing", "prompt", 1));

    let phase = Phase::begin(&world, "reviewing");
    assert!(phase.system().is_none() && !phase.prompt().contains("## Output"), "{}", phase.prompt());
    let fail = review("FAIL", 1);
    let response = world.project.path(phase.response_path()).display().to_string();
    assert_denied(&phase.send([attempts(&world, [response]), Turn::text(&fail)]), 3);
    assert_eq!(phase.reply(), fail);
    assert_eq!(at(&phase.take()), ("revising", "prompt", 2));

    written(&world, "revising", REVISED);
    assert_eq!(at(&world.done("approve latest")), ("reviewing", "prompt", 2));

    let phase = Phase::begin(&world, "reviewing");
    phase.send([Turn::text(review("PASS", 0))]);
    assert_eq!(phase.take()["status"], "complete");
    assert_eq!(world.run("verify latest").exit_code(), 0);
    world.assert_alone();
}

/// A phase whose reply the agent writes to the response path, after it tried others.
fn written(world: &World, name: &str, reply: &str) {
    let phase = Phase::begin(world, name);
    let path = phase.response_path();
    let save = format!("## Output\n\nSave your complete response to `{path}`");
    assert_eq!(phase.system(), Some(save.as_str()));
    let response = world.project.path(path).display().to_string();
    let beside = format!("{response}.bak");
    let turns = [
        attempts(world, [beside]),
        Turn::Pieces(vec![write(world.agent, &response, reply)]),
        Turn::text("It is saved."),
    ];
    let results = phase.send(turns);
    assert_denied(results.get(..3).unwrap(), 3);
    assert_eq!(results.len(), 4, "{results:#?}");
    assert_eq!(phase.reply(), reply);
    let call = phase.call();
    // The text is kept beside the file.
    let kept = call["kept"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap());
    let text = kept.clone().find(|path| path.contains(".partial-")).unwrap();
    let session = world.done("status latest")["session_id"].as_str().unwrap().to_owned();
    assert_eq!(world.text(&format!(".aiwf/sessions/{session}/{text}")), "It is saved.");
    let notes = call["notes"].to_string();
    assert!(notes.contains("`Write` was denied"), "{notes}");
}
