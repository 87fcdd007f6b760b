//! `aiwf do` with each agent: it writes in a worktree, a check fails, it fixes that, and a branch has the commit.

use aiwf_testkit::model_server::{Piece, Turn};
use serde_json::json;

use super::world::{Agent, CLAUDE, CODEX, GEMINI, World};

/// Writes a new file of the worktree by the agent's own tool, or by its shell where it has no other.
fn write(agent: Agent, path: &str) -> Turn {
    let (name, args) = match agent.provider {
        "claude-code" => ("Write", json!({ "file_path": path, "content": "written\n" })),
        "gemini-cli" => ("write_file", json!({ "file_path": path, "content": "written\n" })),
        _ => ("exec_command", json!({ "cmd": format!("echo written > '{path}'") })),
    };
    Turn::Pieces(vec![Piece::ToolCall { name: name.to_owned(), args }])
}

fn check(agent: Agent) {
    let Some(world) = World::new(agent, "") else { return };
    world.git(&["init", "--quiet"]);
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message", "begin"]);
    let checkout = || {
        let files = world.files().into_iter();
        files
            .filter(|(path, _)| !path.components().any(|part| part.as_os_str() == ".git"))
            .collect::<Vec<_>>()
    };
    let files = checkout();
    world.model([
        Turn::text("# Plan\n\n1. Add src/fixed.txt.\n"),
        write(agent, "src/first.txt"),
        Turn::text("Added src/first.txt."),
        write(agent, "src/fixed.txt"),
        Turn::text("Added src/fixed.txt."),
        Turn::text("Good.\n\n<review>PASS</review>\n"),
    ]);
    let done = world.done(&format!(
        "do 'Add a file' --agent {} --check 'test -f src/fixed.txt' --branch=added --yes",
        agent.provider
    ));
    assert_eq!(done["status"], "complete", "{done:#}");
    assert_eq!((&done["branch"], &done["checks"][0]["passed"]), (&json!("added"), &json!(true)));
    // The check failed once, and what it printed went back.
    let events = world.done("events latest");
    let events: Vec<&str> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line["event"]["event"].as_str())
        .collect();
    assert_eq!(events.iter().filter(|name| **name == "check-ran").count(), 2, "{events:?}");
    // The user's checkout is as it was; the branch has both files.
    assert_eq!(checkout(), files);
    let committed = world.git(&["show", "--stat", "--format=%B", "added"]);
    assert!(committed.contains("src/first.txt") && committed.contains("src/fixed.txt"), "{committed}");
    assert!(committed.contains("Aiwf-Session: ") && committed.contains("Aiwf-Plan-Sha256: "), "{committed}");
    world.assert_alone();
}

#[test]
fn claude_code_changes_a_repository() {
    check(CLAUDE);
}

#[test]
fn codex_changes_a_repository() {
    check(CODEX);
}

#[test]
fn gemini_cli_changes_a_repository() {
    check(GEMINI);
}
