//! Calls outside of a session's phases: a prompt that is sent, a gate that is judged, a look at the programs.

use aiwf_testkit::model_server::Turn;

use super::world::{Agent, CLAUDE, CODEX, GEMINI, HOSTILE, World, assert_carries};
use crate::json;
use crate::session::{INIT, PLAN, at};

/// A prompt with a system text of its own is sent, and both arrive.
fn sends(agent: Agent) {
    let Some(world) = World::new(agent, "") else { return };
    // The newline at the end is part of it, the quotes and the backslash are for whoever passes it on.
    let system = "Plan with care: \"é\" \\ 'x' @src/main.rs $HOME `ls`.\r\nBe short.";
    world.project.write(".aiwf/templates/system/BASE-plan.md", system);
    let recipe = "change --phase plan --format messages --file src/main.rs --instructions";
    let instructions = format!("{}\n{HOSTILE}", agent.command);
    let built = world.command(&format!("prompt build {recipe}")).arg(&instructions);
    let built = json(&built.arg("--for").arg(agent.provider).arg("--json").run().success());
    let messages = built["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{built:#}");
    world.model([Turn::text("a <thought> of\r\nit\n")]);
    let sent = world.command(&format!("prompt send {recipe}")).arg(&instructions);
    let sent = json(&sent.arg("--provider").arg(agent.provider).arg("--json").run().success());
    let asks = world.asks();
    assert_eq!(asks.len(), 1);
    assert!(messages[0]["content"].as_str().unwrap().contains(system), "{built:#}");
    assert_carries(
        &asks,
        messages[1]["content"].as_str().unwrap(),
        Some(messages[0]["content"].as_str().unwrap()),
    );
    assert_eq!(sent["prompt_sha256"], built["metadata"]["sha256"]);
    assert_eq!(sent["reply"], "a <thought> of\r\nit\n");
    assert_eq!(
        (sent["usage"]["input_tokens"].as_u64(), sent["usage"]["output_tokens"].as_u64()),
        (Some(148), Some(15))
    );
    assert_eq!(
        (sent["provider"].as_str(), sent["model"].as_str()),
        (Some(agent.provider), Some("scripted-model"))
    );
    world.assert_alone();
}

#[test]
fn claude_is_sent_a_prompt() {
    sends(CLAUDE);
}

#[test]
fn codex_is_sent_a_prompt() {
    sends(CODEX);
}

#[test]
fn gemini_is_sent_a_prompt() {
    sends(GEMINI);
}

#[test]
fn codex_judges_what_a_person_planned() {
    let Some(world) = World::new(CODEX, "") else { return };
    assert_eq!(world.run(&format!("{INIT} --gate planning.response=ai:codex")).exit_code(), 0);
    world.done("approve latest");
    world.model([Turn::text("The table has no name.\n<review>NEEDS_REVISION</review>")]);
    let outcome = world.command("respond latest").stdin("# A plan about me@example.com\r\n").run();
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    let run = world.run("run latest --json");
    assert_eq!(run.exit_code(), 3, "{run}");
    // The judge sees the plan and the prompt that it answers.
    let asks = world.asks();
    assert_eq!(asks.len(), 1);
    let seen = asks[0].user_texts().concat();
    assert!(seen.contains("# A plan about me@example.com\r\n") && seen.contains(HOSTILE), "{seen}");
    let status = world.done("status latest");
    assert_eq!(at(&status), ("planning", "prompt", 1));
    assert!(world.done("preview latest")["prompt"].as_str().unwrap().contains("The table has no name."));
    world.done("approve latest");
    world.model([Turn::text("Good.\n<review>PASS</review>")]);
    assert_eq!(world.command("respond latest").stdin(PLAN).run().exit_code(), 0);
    world.run("run latest");
    assert_eq!(at(&world.done("status latest")), ("generating", "prompt", 1));
    world.assert_alone();
}

#[test]
fn the_programs_are_looked_at() {
    let Some(world) = World::new(CODEX, "[providers.claude-code]\n[providers.gemini-cli]\n") else { return };
    let outcome = world.run("validate providers");
    assert_eq!(outcome.exit_code(), 0, "{outcome}");
    let text = outcome.stdout_text();
    for program in [CLAUDE, CODEX, GEMINI].map(|agent| agent.program) {
        let line = text.lines().find(|line| line.contains(&format!("`{program}`")));
        let version = line.unwrap_or_else(|| panic!("{program} is not in {text}"));
        assert!(version.contains(|letter: char| letter.is_ascii_digit()), "{text}");
    }
    let providers = world.done("providers");
    let providers = providers["providers"].as_array().unwrap();
    for name in [CLAUDE, CODEX, GEMINI].map(|agent| agent.provider) {
        let provider = providers.iter().find(|provider| provider["name"] == name).unwrap();
        assert_eq!(provider["can_be_asked"], true, "{provider:#}");
    }
    assert!(world.server.asks().is_empty());
    world.assert_alone();
}
