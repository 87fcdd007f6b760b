//! Calls outside of a session's phases: a prompt that is sent, a gate that is judged, a look at the programs.

use aiwf_testkit::model_server::Turn;

use super::world::{Agent, CLAUDE, CODEX, GEMINI, HOSTILE, World, assert_carries};
use crate::json;
use crate::session::{INIT, PLAN, at};

/// A prompt is sent as XML, then as text with a system text of its own, and everything arrives.
fn sends(agent: Agent) {
    let Some(world) = World::new(agent, "") else { return };
    // The quotes and the backslash are for whoever hands it on.
    let system = "Plan with care: \"é\" \\ 'x' @src/main.rs $HOME `ls`.\r\nBe short.";
    world.project.write(".aiwf/templates/system/BASE-plan.md", system);
    let instructions = format!("{}\n{HOSTILE}", agent.command);
    for format in ["xml", "text"] {
        let run = |command: &str, provider: &str| {
            let recipe = format!("change --phase plan --format {format} --file src/main.rs --instructions");
            let run = world.command(&format!("prompt {command} {recipe}")).arg(&instructions);
            json(&run.arg(provider).arg(agent.provider).arg("--json").run().success())
        };
        let built = run("build", "--for");
        let reply = "a <thought> of\r\nit\n";
        world.model([Turn::text(reply)]);
        let sent = run("send", "--provider");
        let asks = world.asks();
        assert_eq!(asks.len(), 1);
        let whole = if format == "xml" { "full_prompt" } else { "user_prompt" };
        let prompt = built[whole].as_str().unwrap();
        let system_prompt = built["system_prompt"].as_str().filter(|_| format == "text");
        assert_carries(&asks, prompt, system_prompt);
        if format == "text" {
            assert_eq!(system_prompt, Some(system));
        }
        assert_eq!(sent["payload_sha256"], built["metadata"]["payload_sha256"]);
        assert!(sent["payload_sha256"].is_string(), "{sent}");
        assert_eq!(sent["reply"], reply);
        assert_eq!(sent["usage"]["input_tokens"], 148);
        assert_eq!(sent["usage"]["output_tokens"], 15);
        assert_eq!(sent["provider"], agent.provider);
        assert_eq!(sent["model"], "scripted-model");
    }
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
    let gates = "[gates]\n\"planning.response\" = { approver = \"ai:codex\", max_retries = 1 }\n";
    let config = world.text("~/.aiwf/config.toml");
    world.project.write("~/.aiwf/config.toml", format!("{config}{gates}"));
    assert_eq!(world.run(INIT).exit_code(), 0);
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
    assert!(seen.contains("# A plan about me@example.com"), "{seen}");
    assert!(seen.contains("-- @src/main.rs me@example.com @Override @note.txt"), "{seen}");
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
