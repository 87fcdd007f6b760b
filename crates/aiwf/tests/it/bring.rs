//! `aiwf import` and `aiwf integrate`: flags, printing and exit codes. The engine's tests have the rest.

use insta::assert_snapshot;

use crate::{json, project};

#[test]
fn an_import_shows_what_it_writes_and_what_it_leaves() {
    let project = project().file(
        ".claude/commands/fix.md",
        "---\nallowed-tools: Read\nmodel: opus\n---\nLook at @src/a.rs for $ARGUMENTS \u{1b}[31m\n",
    );
    let dry = project.run("import claude-commands . --dry-run").success();
    assert!(dry.stdout_text().ends_with("nothing was written (--dry-run)\n"), "{dry}");
    assert!(dry.stdout_text().contains("--- .aiwf/flows/fix/work.md\n"), "{dry}");
    assert!(!project.path(".aiwf/flows").exists());
    assert_snapshot!(project.run("import claude-commands ."));
    assert_eq!(project.run("flow check fix").exit_code(), 0);
    let again = json(&project.run("import claude-commands . --json").success());
    assert_eq!((&again["written"], &again["files"][0]["state"]), (&false.into(), &"same".into()));
    assert_eq!(again["files"][0].get("text"), None);
}

#[test]
fn a_wrong_kind_path_or_name_is_told() {
    assert_snapshot!(project().run("import speckit ."));
    assert_snapshot!(project().run("import spec-kit gone"));
    assert_snapshot!(project().run("import openspec ."));
    assert_snapshot!(project().file("openspec/project.md", "Tea.\n").run("import openspec . --name do"));
}

#[test]
fn integrating_without_a_terminal_needs_a_yes() {
    let project = project();
    let waiting = project.run("integrate claude");
    assert_eq!(waiting.exit_code(), 3, "{waiting}");
    assert!(!project.path(".mcp.json").exists());
    assert_snapshot!(waiting);
    let waiting = project.run("integrate claude --json");
    assert_eq!((waiting.exit_code(), &json(&waiting)["written"]), (3, &false.into()));
    let written = json(&project.run("integrate claude --yes --json").success());
    assert_eq!((&written["written"], &written["files"][0]["effect"]), (&true.into(), &"created".into()));
    let again = project.run("integrate claude").success();
    assert_eq!(again.stdout_text(), "nothing to do: everything is already in place\n");
    assert_snapshot!(project.run("integrate claude --remove --yes"));
    assert!(!project.path(".mcp.json").exists() && !project.path(".claude").exists());
    assert_snapshot!(project.run("integrate cluade"));
    assert_snapshot!(project.run("integrate codex --scope project"));
}
