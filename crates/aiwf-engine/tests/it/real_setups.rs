//! Repositories that spec-kit and OpenSpec set up themselves, imported and walked.

#![expect(
    clippy::disallowed_methods,
    reason = "the tools are programs, and the tests need them on the search path"
)]

use std::process::Command;

use aiwf_engine::{ImportKind, ImportPlan};
use aiwf_testkit::real_setup_tool;

use crate::fake_provider::FakeProvider;
use crate::import::{CODE, import, left, phases, walk};
use crate::scene::Scene;

/// A project that a tool set up by itself; none if the slow suites do not run.
fn set_up(tool: &str, words: &[&str]) -> Option<Scene> {
    let program = real_setup_tool(tool)?;
    let scene = Scene::new();
    let mut command = Command::new(program);
    command.args(words).current_dir(scene.root()).env("HOME", scene.home());
    command.env("OPENSPEC_TELEMETRY", "0").env("NO_COLOR", "1");
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Some(scene)
}

#[track_caller]
fn check_left(plan: &ImportPlan, expected: &[&str]) {
    let left = left(plan);
    for what in expected {
        assert!(left.iter().any(|one| one.contains(what)), "{what}: {left:#?}");
    }
    assert!(plan.not_carried.iter().all(|one| !one.why.is_empty() && !one.instead.is_empty()));
}

/// Every line that an import names is about what it says.
#[track_caller]
fn check_lines(scene: &Scene, plan: &ImportPlan) {
    for one in &plan.not_carried {
        let Some(line) = one.line else { continue };
        let text = scene.read(&one.file);
        let text = text.lines().nth(line - 1).unwrap_or_default();
        let is_about = text.starts_with("## ") || text.contains(".specify/scripts/");
        assert!(is_about, "{}:{line}: {text}", one.file);
    }
}

fn spec_kit(agent: &str, commands: &str) {
    let words =
        ["init", "--here", "--force", "--non-interactive", "--ignore-agent-tools", "--integration", agent];
    let Some(scene) = set_up("specify", &words) else { return };
    let constitution = "# Shop Constitution\n\nEvery price has a currency.\n";
    scene.write(".specify/memory/constitution.md", constitution);
    let plan = import(&scene, ImportKind::SpecKit);
    assert_eq!(phases(&plan), ["specify", "plan", "tasks", "implement", "review"]);
    check_left(
        &plan,
        &[
            ".specify/scripts: ",
            ".specify/workflows: ",
            ".specify: ",
            "speckit.clarify: the command",
            "that runs scripts",
        ],
    );
    check_lines(&scene, &plan);
    let from_command =
        |file: &&aiwf_engine::ImportFile| file.from.iter().any(|from| from.starts_with(commands));
    assert_eq!(plan.files.iter().filter(from_command).count(), 4, "{:?}", plan.files);
    let model = FakeProvider::saying(["# Spec\n", "# Plan\n", "- T001\n", CODE, "<review>PASS</review>\n"]);
    walk(&scene, "spec-kit", &model);
    let prompts = model.prompts();
    for wanted in ["# Feature Specification: [FEATURE NAME]", "greet people", "Every price has a currency."] {
        assert!(prompts[0].contains(wanted), "{wanted}\n{}", prompts[0]);
    }
    assert!(prompts.iter().all(|prompt| !prompt.contains("$ARGUMENTS\n")), "{prompts:#?}");
    assert!(prompts[1].contains("# Spec") && prompts[2].contains("[P]"), "{}", prompts[2]);
}

#[test]
fn what_spec_kit_sets_up_for_claude_walks() {
    spec_kit("claude", ".claude/skills/");
}

#[test]
fn what_spec_kit_sets_up_for_gemini_walks() {
    spec_kit("gemini", ".gemini/commands/");
}

#[test]
fn what_openspec_sets_up_walks_and_so_do_its_commands() {
    let Some(scene) = set_up("openspec", &["init", "--tools", "claude", "."]) else { return };
    let plan = import(&scene, ImportKind::Openspec);
    assert_eq!(phases(&plan), ["proposal", "specs", "design", "tasks", "implement", "review"]);
    let replies = ["# Why\n", "# Specs\n", "# Design\n", "- 1.1\n", CODE, "<review>PASS</review>\n"];
    walk(&scene, "openspec", &FakeProvider::saying(replies));
    // Its commands for Claude Code may run its program and say nothing about editing, but one of them implements.
    let plan = import(&scene, ImportKind::ClaudeCommands);
    let names: Vec<&str> = plan.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert!(names.contains(&"opsx-apply") && names.contains(&"openspec-propose"), "{names:?}");
    check_left(&plan, &["the tools `Bash(openspec:*)`"]);
    walk(&scene, "opsx-apply", &FakeProvider::saying([CODE]));
}

#[test]
fn a_schema_that_openspec_copied_into_the_project_walks() {
    let Some(scene) = set_up("openspec", &["init", "--tools", "none", "."]) else { return };
    let program = real_setup_tool("openspec").unwrap();
    for words in [["schema", "fork", "spec-driven", "ours"].as_slice(), &["new", "change", "add-milk"]] {
        let mut command = Command::new(&program);
        command
            .args(words)
            .current_dir(scene.root())
            .env("HOME", scene.home())
            .env("OPENSPEC_TELEMETRY", "0");
        assert!(command.output().unwrap().status.success(), "{words:?}");
    }
    let config = scene.read("openspec/config.yaml").replace("schema: spec-driven", "schema: ours");
    scene.write("openspec/config.yaml", format!("{config}\ncontext: We sell tea.\n"));
    let plan = import(&scene, ImportKind::Openspec);
    assert_eq!(phases(&plan), ["proposal", "specs", "design", "tasks", "implement", "review"]);
    check_left(
        &plan,
        &[
            "that run `openspec`, in the instruction for `specs`",
            "openspec/changes/add-milk: a change in progress",
        ],
    );
    let replies = ["# Why\n", "# Specs\n", "# Design\n", "- 1.1\n", CODE, "<review>PASS</review>\n"];
    let model = FakeProvider::saying(replies);
    walk(&scene, "openspec", &model);
    let prompts = model.prompts();
    assert!(
        prompts[1].contains("## ADDED Requirements") && prompts[1].contains("We sell tea."),
        "{}",
        prompts[1]
    );
    assert!(prompts[1].contains("do not run `openspec`"), "{}", prompts[1]);
}
