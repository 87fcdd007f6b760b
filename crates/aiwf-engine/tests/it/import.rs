//! Flows made from what a repository already has.
//!
//! The layouts are those that spec-kit 1.2.3, OpenSpec 0.20.0 and 1.13.2 and Claude Code 2.1.325 make and read; every text
//! is our own.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;

use aiwf_engine::config::Flags;
use aiwf_engine::{
    ApplyOptions, ImportError, ImportKind, ImportOptions, ImportPlan, ImportState, NewRequest, SessionStatus,
};

use crate::fake_provider::FakeProvider;
use crate::scene::Scene;

fn options(kind: ImportKind) -> ImportOptions {
    ImportOptions { kind, from: ".".into(), name: None, to: None, replaces: false }
}

pub(crate) fn import(scene: &Scene, kind: ImportKind) -> ImportPlan {
    let plan = scene.engine.plan_import(&options(kind)).unwrap();
    scene.engine.write_import(&plan).unwrap();
    plan
}

pub(crate) fn left(plan: &ImportPlan) -> Vec<String> {
    let line = |line: Option<usize>| line.map(|line| format!(":{line}")).unwrap_or_default();
    plan.not_carried.iter().map(|one| format!("{}{}: {}", one.file, line(one.line), one.what)).collect()
}

pub(crate) fn phases(plan: &ImportPlan) -> Vec<&str> {
    plan.flows[0].phases.iter().map(String::as_str).collect()
}

/// Walks a flow to its end without anybody at the gates.
pub(crate) fn walk(scene: &Scene, flow: &str, model: &FakeProvider) -> String {
    let engine = scene.engine.clone().with_provider("model", model.clone());
    let started = engine
        .start_flow(&NewRequest {
            flow: flow.to_owned(),
            request: "greet people".to_owned(),
            provider: Some("model".to_owned()),
            flags: Flags { is_yes: true, ..Flags::default() },
            ..NewRequest::default()
        })
        .unwrap();
    let report = engine.session_report(Some(started.id.as_str())).unwrap();
    assert_eq!((report.phase.as_str(), report.status), ("complete", SessionStatus::Complete));
    started.id
}

pub(crate) const CODE: &str = "<<<FILE: src/greet.txt>>>\nhello\n";

fn spec_kit() -> Scene {
    let skill = |name: &str| {
        format!(
            "---\nname: \"speckit-{name}\"\ndescription: \"Do {name}\"\n---\n\n## User Input\n\n$ARGUMENTS\n\n\
             ## Pre-Execution Checks\n\nLook for hooks.\n\n## Outline\n\n1. Run `.specify/scripts/bash/setup.sh --json`.\n\
             2. Write {name} for $ARGUMENTS with {{braces}} and {{{{ mustaches }}}}.\n"
        )
    };
    let mut scene = Scene::new();
    for name in ["specify", "plan", "tasks", "implement", "clarify"] {
        scene = scene.file(&format!(".claude/skills/speckit-{name}/SKILL.md"), skill(name));
    }
    scene
        .file(
            ".gemini/commands/speckit.plan.toml",
            "description = \"Plan\"\nprompt = \"\"\"\nPlan {{args}}\n\"\"\"\n",
        )
        .file(".specify/memory/constitution.md", "# Rules of the shop\n\nEvery price has a currency.\n")
        .file(
            ".specify/templates/spec-template.md",
            "# Feature: [NAME]\n\n## Stories\n\n```text\n{% raw %}\n```\n",
        )
        .file(".specify/templates/plan-template.md", "# Plan: [NAME]\n")
        .file(".specify/templates/overrides/plan-template.md", "# Our plan: [NAME]\n")
        .file(".specify/templates/tasks-template.md", "# Tasks: [NAME]\n- [ ] T001\n")
        .file(".specify/templates/checklist-template.md", "# Checklist\n")
        .file(".specify/scripts/bash/setup.sh", "#!/bin/sh\ntouch ran\n")
        .file(".specify/init-options.json", "{}")
        .file("specs/001-login/spec.md", "# Login\n")
}

#[test]
fn a_spec_kit_project_becomes_a_flow_that_walks() {
    let scene = spec_kit();
    let plan = import(&scene, ImportKind::SpecKit);
    assert_eq!(phases(&plan), ["specify", "plan", "tasks", "implement", "review"]);
    assert_eq!(
        left(&plan),
        [
            ".claude/skills/speckit-specify/SKILL.md:6: the sections `User Input`, `Pre-Execution Checks`",
            ".claude/skills/speckit-specify/SKILL.md:16: 1 line that runs scripts",
            ".claude/skills/speckit-plan/SKILL.md:6: the sections `User Input`, `Pre-Execution Checks`",
            ".claude/skills/speckit-plan/SKILL.md:16: 1 line that runs scripts",
            ".claude/skills/speckit-tasks/SKILL.md:6: the sections `User Input`, `Pre-Execution Checks`",
            ".claude/skills/speckit-tasks/SKILL.md:16: 1 line that runs scripts",
            ".claude/skills/speckit-implement/SKILL.md:6: the sections `User Input`, `Pre-Execution Checks`",
            ".claude/skills/speckit-implement/SKILL.md:16: 1 line that runs scripts",
            ".specify/scripts: 1 file: setup.sh",
            ".specify/templates: 2 files: checklist-template.md, plan-template.md",
            ".specify: 1 file: init-options.json",
            ".gemini/commands: the same commands for another agent",
            "speckit.clarify: the command",
            "specs/001-login: a feature that was specified already",
        ]
    );
    assert!(plan.not_carried.iter().all(|one| !one.why.is_empty() && !one.instead.is_empty()));
    assert_eq!(
        scene.read(".aiwf/standards/constitution.md"),
        "# Rules of the shop\n\nEvery price has a currency.\n"
    );
    assert!(scene.engine.flow("spec-kit").unwrap().flow.is_ok());

    let model = FakeProvider::saying(["# Spec\n", "# Plan\n", "- T001\n", CODE, "<review>PASS</review>\n"]);
    let id = walk(&scene, "spec-kit", &model);
    let prompts = model.prompts();
    let specify = &prompts[0];
    for wanted in [
        "````markdown\n# Feature: [NAME]\n\n## Stories\n\n```text\n{% raw %}\n```\n````",
        "2. Write specify for greet people with {braces} and {{ mustaches }}.",
        "Every price has a currency.",
    ] {
        assert!(specify.contains(wanted), "{wanted}\n{specify}");
    }
    assert!(!specify.contains("Look for hooks"), "{specify}");
    assert!(prompts[1].contains("# Our plan: [NAME]") && prompts[1].contains("# Spec"), "{}", prompts[1]);
    assert!(prompts[4].contains("Every price has a currency."), "{}", prompts[4]);
    assert!(!scene.root().join("ran").exists());
    let engine = scene.engine.clone().with_provider("model", model);
    assert!(engine.apply(Some(id.as_str()), &ApplyOptions::default()).unwrap().applied);
    assert_eq!(scene.read("src/greet.txt"), "hello\n");
}

#[test]
fn commands_for_gemini_are_read_and_their_lines_are_those_of_the_file() {
    let toml = |name: &str| {
        format!(
            "description = \"{name}\"\n\nprompt = \"\"\"\n## Outline\n\nRun `.specify/scripts/bash/x.sh`.\nWrite {name} for {{{{args}}}}.\n\n## Done When\n\nNever.\n\"\"\"\n"
        )
    };
    let mut scene = Scene::new().file(".specify/templates/spec-template.md", "# Feature\n");
    for name in ["specify", "plan", "tasks", "implement"] {
        scene = scene.file(&format!(".gemini/commands/speckit.{name}.toml"), toml(name));
    }
    let plan = import(&scene, ImportKind::SpecKit);
    assert_eq!(
        left(&plan)[..2],
        [
            ".gemini/commands/speckit.specify.toml:9: the sections `Done When`",
            ".gemini/commands/speckit.specify.toml:6: 1 line that runs scripts",
        ]
    );
    let text = scene.read(".aiwf/flows/spec-kit/specify.md");
    assert!(text.contains("Write specify for {{ request }}.") && !text.contains("Never."), "{text}");
}

#[test]
fn a_constitution_that_nobody_filled_in_is_left() {
    let scene = spec_kit().file(".specify/memory/constitution.md", "# [PROJECT_NAME] Rules\n");
    let plan = import(&scene, ImportKind::SpecKit);
    assert!(left(&plan).contains(&".specify/memory/constitution.md: the constitution".to_owned()));
    assert!(!scene.root().join(".aiwf/standards").exists());
}

const SCHEMA: &str = "\
name: ours
version: 1
artifacts:
  - id: tasks
    generates: tasks.md
    description: The work
    template: tasks.md
    instruction: List {{ tasks }}.
    requires: [Brief]
  - id: Brief
    generates: brief.md
    description: Why we do it.
    template: brief.md
    instruction: |
      Say why.
      Look with `openspec list --specs` first.
    requires: []
apply:
  requires: [tasks]
  instruction: Tick off each task.
";

fn openspec() -> Scene {
    Scene::new()
        .file(
            "openspec/config.yaml",
            "schema: ours\ncontext: |\n  We sell tea.\nrules:\n  tasks:\n    - At most ten tasks\n  poem:\n    - Rhyme\n\
             operations:\n  apply:\n    guidance:\n      - Keep it short\n  archive:\n    guidance: [Sum up]\nstore: elsewhere\n",
        )
        .file("openspec/schemas/ours/schema.yaml", SCHEMA)
        .file("openspec/schemas/ours/templates/brief.md", "# Brief\n")
        .file("openspec/specs/tea/spec.md", "# Tea\n")
        .file("openspec/changes/add-milk/proposal.md", "# Milk\n")
        .file("openspec/changes/archive/2026-01-01-cups/proposal.md", "# Cups\n")
}

#[test]
fn an_openspec_project_with_a_schema_becomes_a_flow_that_walks() {
    let scene = openspec();
    let plan = import(&scene, ImportKind::Openspec);
    assert_eq!(phases(&plan), ["brief", "tasks", "implement", "review"]);
    assert_eq!(
        left(&plan),
        [
            "openspec/schemas/ours/schema.yaml: the template `tasks.md`",
            "openspec/schemas/ours/schema.yaml: 1 line that runs `openspec`, in the instruction for `brief`",
            "openspec/config.yaml: the rules for `poem`",
            "openspec/config.yaml: the key `store`",
            "openspec/config.yaml: the guidance for `archive`",
            "openspec/specs: 1 specification",
            "openspec/changes/add-milk: a change in progress (1 file)",
            "openspec/changes/archive: 1 file of finished changes",
        ]
    );
    let model = FakeProvider::saying(["# Brief\n", "- 1.1\n", CODE, "<review>PASS</review>\n"]);
    walk(&scene, "openspec", &model);
    let prompts = model.prompts();
    for (idx, wanted) in [
        (0, "```markdown\n# Brief\n```"),
        (0, "We sell tea."),
        (0, "do not run `openspec`, create directories"),
        (1, "List {{ tasks }}."),
        (1, "- At most ten tasks"),
        (2, "Tick off each task."),
        (2, "- Keep it short"),
        (2, "Bring `openspec/specs/` up to date"),
        (3, "The approved documents are `brief`, `tasks`"),
    ] {
        assert!(prompts[idx].contains(wanted), "{wanted}\n{}", prompts[idx]);
    }
    assert!(!prompts[0].contains("At most ten tasks"), "{}", prompts[0]);
}

#[test]
fn an_openspec_project_without_a_schema_gets_the_usual_documents() {
    let scene = Scene::new()
        .file("openspec/project.md", "# Project Context\n\nWe sell tea.\n")
        .file("openspec/AGENTS.md", "# How to use OpenSpec\n")
        .file("AGENTS.md", "Use tabs.\n");
    let plan = import(&scene, ImportKind::Openspec);
    assert_eq!(phases(&plan), ["proposal", "specs", "design", "tasks", "implement", "review"]);
    assert_eq!(left(&plan), ["openspec/AGENTS.md: instructions for using OpenSpec"]);
    assert_eq!(scene.read(".aiwf/project.md"), "# Project Context\n\nWe sell tea.\n");
    let report = scene.engine.context_report().unwrap();
    assert_eq!(report.line().unwrap(), ".aiwf/project.md (31 bytes); skipped: AGENTS.md");
    assert!(plan.notes[0].contains("comes before `AGENTS.md`"), "{:?}", plan.notes);
}

#[test]
fn a_schema_of_odd_names_and_circles_still_makes_a_flow() {
    let schema = "artifacts:\n  - {id: review, requires: [Review]}\n  - {id: Review, requires: [review]}\n  - {id: '???'}\n\
                  \x20 - {id: 'code', template: '../../../../etc/passwd'}\n";
    let scene = Scene::new()
        .file("openspec/config.yaml", "schema: odd\n")
        .file("openspec/schemas/odd/schema.yaml", schema);
    let plan = import(&scene, ImportKind::Openspec);
    assert_eq!(phases(&plan), ["code-2", "review-2", "review-3", "implement", "review"]);
    let broken = Scene::new()
        .file("openspec/config.yaml", "schema: odd\n")
        .file("openspec/schemas/odd/schema.yaml", "a: [");
    assert_eq!(phases(&import(&broken, ImportKind::Openspec)).len(), 6);
}

fn claude() -> Scene {
    Scene::new()
        .file(
            ".claude/commands/fix-issue.md",
            "---\ndescription: Fix \"an\" issue\nargument-hint: [issue]\nallowed-tools: Read, Edit, Bash(git log:*)\nmodel: opus\n---\n\
             Fix issue $1 of $ARGUMENTS.\n\nHistory: !`git log -3`\nRules: @docs/rules.md\nKeep {{ this }} {% as %} {# it #} is.\n",
        )
        .file(".claude/commands/web/explain.md", "---\nallowed-tools: Read, Grep\n---\nExplain $ARGUMENTS\n")
        .file(".claude/commands/do.md", "Do it\n")
        .file(".claude/skills/tidy-up/SKILL.md", "---\nname: tidy-up\ndescription: Tidy up\n---\nTidy up.\n")
        .file(".claude/skills/tidy-up/more.md", "More about it.\n")
        .file(".claude/commands/empty.md", "---\ndescription: nothing\n---\n\n")
}

#[test]
fn commands_of_claude_code_become_flows_that_walk() {
    let scene = claude();
    let plan = import(&scene, ImportKind::ClaudeCommands);
    let names: Vec<&str> = plan.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["do-2", "fix-issue", "web-explain", "tidy-up"]);
    assert_eq!(
        left(&plan),
        [
            "commands/empty.md: the command",
            "commands/fix-issue.md: the tools `Read, Edit, Bash(git log:*)`",
            "commands/fix-issue.md: the model `opus`",
            "commands/fix-issue.md:9: the output of `git log -3`",
            "commands/fix-issue.md:10: the content of `docs/rules.md`",
            "commands/web/explain.md: the tools `Read, Grep`",
        ]
    );
    let model = FakeProvider::saying([CODE]);
    walk(&scene, "fix-issue", &model);
    let prompt = &model.prompts()[0];
    for wanted in [
        "Fix issue greet of greet people.",
        "(output of `git log -3`)",
        "Keep {{ this }} {% as %} {# it #} is.",
    ] {
        assert!(prompt.contains(wanted), "{wanted}\n{prompt}");
    }
    // Tools are granted, not limited, unless all of them only read.
    let scene = scene
        .file(".claude/commands/apply.md", "---\nallowed-tools: Bash(openspec:*)\n---\nDo all tasks.\n")
        .file(
            ".claude/commands/review-pr.md",
            "---\nallowed-tools: Bash(git diff:*), Bash(gh pr view:*), Read\n---\nLook.\n",
        );
    let plan = import(&scene, ImportKind::ClaudeCommands);
    for (name, gives) in
        [("apply", "edits"), ("fix-issue", "edits"), ("review-pr", "text"), ("web-explain", "text")]
    {
        let flow = scene.read(&format!(".aiwf/flows/{name}/flow.toml"));
        assert!(flow.contains(&format!("gives = \"{gives}\"")), "{flow}{:?}", plan.flows);
    }
    let model = FakeProvider::saying(["It greets.\n"]);
    walk(&scene, "web-explain", &model);
    assert!(model.prompts()[0].contains("Change nothing."), "{}", model.prompts()[0]);
}

#[test]
fn one_command_or_a_directory_of_them_is_imported_and_other_markdown_is_not() {
    let scene = claude().file("README.md", "# Not a command\n").file("docs/a.md", "# Nor this\n");
    let names = |from: &str| {
        let from = from.into();
        let plan =
            scene.engine.plan_import(&ImportOptions { from, ..options(ImportKind::ClaudeCommands) })?;
        Ok::<_, ImportError>(plan.flows.into_iter().map(|flow| flow.name).collect::<Vec<_>>())
    };
    assert_eq!(names(".claude/commands/web/explain.md").unwrap(), ["explain"]);
    assert_eq!(names(".claude/skills/tidy-up/SKILL.md").unwrap(), ["tidy-up"]);
    assert_eq!(names(".claude/skills").unwrap(), ["tidy-up"]);
    assert_eq!(names(".claude/commands").unwrap(), ["do-2", "fix-issue", "web-explain"]);
    assert!(matches!(names("docs").unwrap_err(), ImportError::Nothing { .. }));
}

#[test]
fn a_second_import_says_what_exists_and_force_replaces_only_its_own() {
    let scene = spec_kit();
    import(&scene, ImportKind::SpecKit);
    let kind = ImportKind::SpecKit;
    let again = scene.engine.plan_import(&options(kind)).unwrap();
    assert!(again.files.iter().all(|file| file.state == ImportState::Same), "{:?}", again.files);
    // The source changed: what was made before is there with other content.
    scene.write(".specify/templates/tasks-template.md", "# New tasks\n");
    let error = scene.engine.plan_import(&options(kind)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1 file already exists with different content: `.aiwf/flows/spec-kit/tasks.md`; nothing was written"
    );
    let forced = ImportOptions { replaces: true, ..options(kind) };
    let plan = scene.engine.plan_import(&forced).unwrap();
    scene.engine.write_import(&plan).unwrap();
    assert!(scene.read(".aiwf/flows/spec-kit/tasks.md").contains("# New tasks"));
    // Somebody edited it.
    scene.write(".aiwf/flows/spec-kit/tasks.md", "mine");
    let error = scene.engine.plan_import(&forced).unwrap_err();
    assert!(
        matches!(&error, ImportError::Changed { paths } if paths == &[".aiwf/flows/spec-kit/tasks.md"]),
        "{error}"
    );
    assert_eq!(scene.read(".aiwf/flows/spec-kit/tasks.md"), "mine");
    // Another name is free.
    let named = ImportOptions { name: Some("other".to_owned()), ..options(kind) };
    assert_eq!(scene.engine.plan_import(&named).unwrap().flows[0].name, "other");
}

#[test]
fn what_changed_between_the_plan_and_the_writing_is_kept() {
    let scene = spec_kit();
    let plan = scene.engine.plan_import(&options(ImportKind::SpecKit)).unwrap();
    scene.write(".aiwf/flows/spec-kit/flow.toml", "mine");
    let error = scene.engine.write_import(&plan).unwrap_err();
    assert!(matches!(error, ImportError::Unwritable { .. }), "{error}");
    assert_eq!(scene.read(".aiwf/flows/spec-kit/flow.toml"), "mine");
}

#[cfg(unix)]
#[test]
fn a_strangers_directory_leads_nowhere() {
    let scene = spec_kit();
    let secret = scene.home().join("secret.md");
    scene.write(&secret.to_string_lossy(), "hunter2");
    for place in [".specify/templates/plan-template.md", ".specify/memory/constitution.md"] {
        let path = scene.root().join(place);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&secret, &path).unwrap();
    }
    fs::remove_file(scene.root().join(".specify/templates/overrides/plan-template.md")).unwrap();
    scene.write(".specify/templates/spec-template.md", b"a\0b");
    scene.write(".specify/templates/tasks-template.md", vec![b'x'; 300_000]);
    let plan = scene.engine.plan_import(&options(ImportKind::SpecKit)).unwrap();
    let all = serde_json::to_string(&plan).unwrap();
    assert!(!all.contains("hunter2"));
    let left = left(&plan);
    for place in [
        "memory/constitution.md",
        "templates/plan-template.md",
        "templates/spec-template.md",
        "templates/tasks-template.md",
    ] {
        assert!(left.contains(&format!(".specify/{place}: the file")), "{place}: {left:?}");
    }
    // Nothing is written through a link either.
    fs::create_dir_all(scene.root().join(".aiwf/flows")).unwrap();
    std::os::unix::fs::symlink(scene.home(), scene.root().join(".aiwf/flows/spec-kit")).unwrap();
    let error = scene.engine.plan_import(&options(ImportKind::SpecKit)).unwrap_err();
    assert!(matches!(error, ImportError::Unwritable { .. }), "{error}");
    assert!(!scene.home().join("flow.toml").exists());
}

#[test]
fn what_cannot_be_imported_is_refused() {
    let scene = Scene::new();
    for kind in [ImportKind::SpecKit, ImportKind::Openspec, ImportKind::ClaudeCommands] {
        let error = scene.engine.plan_import(&options(kind)).unwrap_err();
        assert!(matches!(error, ImportError::Nothing { .. }), "{error}");
    }
    let gone = ImportOptions { from: "gone".into(), ..options(ImportKind::SpecKit) };
    assert!(matches!(scene.engine.plan_import(&gone).unwrap_err(), ImportError::NoPath { .. }));
    let scene = spec_kit();
    for name in ["do", "Not a name", "../up"] {
        let named = ImportOptions { name: Some(name.to_owned()), ..options(ImportKind::SpecKit) };
        assert!(matches!(scene.engine.plan_import(&named).unwrap_err(), ImportError::Name { .. }), "{name}");
    }
    let elsewhere = ImportOptions { to: Some("gone".into()), ..options(ImportKind::SpecKit) };
    assert!(matches!(scene.engine.plan_import(&elsewhere).unwrap_err(), ImportError::NoPath { .. }));
}
