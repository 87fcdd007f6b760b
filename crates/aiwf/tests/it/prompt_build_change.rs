//! `aiwf prompt build change`: instructions, artifacts, thoughts and templates by flags.

use insta::assert_snapshot;

use crate::{json, project};

#[test]
fn instructions_come_from_a_file_from_the_standard_input_or_as_they_are() {
    let project = project().file("task.md", "from a file\n");
    let instructions = |value: &str, stdin: &str| {
        let run = project.command("prompt build change --format text --instructions").arg(value);
        run.stdin(stdin).run().success().stdout_text()
    };
    assert_eq!(instructions("@task.md", ""), "from a file\n");
    assert_eq!(instructions("@-", "from the input"), "from the input");
    assert_eq!(instructions("@@task.md", ""), "@task.md");
    assert_eq!(instructions("--like a flag", ""), "--like a flag");
    assert_eq!(instructions("a@b", ""), "a@b");
}

#[test]
fn files_artifacts_and_thoughts_keep_their_order() {
    let project = project()
        .file("src/b.rs", "fn b() {}\n")
        .file("src/a.rs", "fn a() -> bool { 1 < 2 }\n")
        .file("plan.md", "Plan <1>\n")
        .file("spec.md", "Spec\n");
    let line = "prompt build change --instructions 'Do it' --thought 'first' --artifact spec=spec.md \
                --artifact plan=plan.md --file 'src/*.rs' --thought 'second ]]> <thought>'";
    assert_snapshot!(project.run(line), @r#"
    --- stdout
    <prompt>
    <context>
    <file path="src/a.rs"><![CDATA[fn a() -> bool { 1 < 2 }
    ]]></file>
    <file path="src/b.rs">fn b() {}
    </file>
    <artifact name="spec">Spec
    </artifact>
    <artifact name="plan"><![CDATA[Plan <1>
    ]]></artifact>
    <thought name="thought-1">first</thought>
    <thought name="thought-2"><![CDATA[second ]]]]><![CDATA[> <thought>]]></thought>
    </context>
    <instructions>Do it</instructions>
    </prompt>⏎
    --- exit code 0
    "#);
    assert_snapshot!(project.run(&format!("{line} --format text")), @"
    --- stdout
    ## Context

    ### src/a.rs

    ```rust
    fn a() -> bool { 1 < 2 }
    ```

    ### src/b.rs

    ```rust
    fn b() {}
    ```

    ### Artifact: spec

    ```
    Spec
    ```

    ### Artifact: plan

    ```
    Plan <1>
    ```

    ### Thought: thought-1

    ```
    first
    ```

    ### Thought: thought-2

    ```
    second ]]> <thought>
    ```

    ---

    ## Instructions

    Do it⏎
    --- exit code 0
    ");
}

#[test]
fn a_phase_brings_its_template_filled_in() {
    let project = project()
        .file(".aiwf/templates/system/BASE-plan.md", "{{AGENT}} in {{ PHASE }}\n{{PROJECT_CONTEXT}}\n{{PROJECT_STRUCTURE}}\n{{ARTIFACTS}}\n{{TASKS}}\n{{SKELETON}}\n")
        .file(".aiwf/project.md", "A shop.\n")
        .file("src/main.rs", "fn main() {}\n")
        .file("tasks.md", "1.1 Do it\n");
    let line = "prompt build change --agent codex --phase plan --instructions x --format text --artifact tasks.md=tasks.md";
    assert_snapshot!(project.run(line), @"
    --- stdout
    CODEX in plan
    A shop.
    src/main.rs
    tasks.md
    - `tasks.md`
    1.1 Do it
    (Nothing is given for skeleton: there is no artifact named `skeleton`.)

    ---

    ## Context

    ### Artifact: tasks.md

    ```
    1.1 Do it
    ```

    ---

    ## Instructions

    x⏎
    --- exit code 0
    ");
}

#[test]
fn a_template_without_material_gets_visible_notices() {
    let project = project().file(
        ".aiwf/templates/system/BASE-plan.md",
        "{{PROJECT_CONTEXT}}\n{{PROJECT_STRUCTURE}}\n{{ARTIFACTS}}\n{{TASKS}}\n{{SKELETON}}",
    );
    assert_snapshot!(project.run("prompt build change --phase plan --instructions x --format text"), @"
    --- stdout
    (No project context is given: there is no `.aiwf/project.md`, `AGENTS.md`, `CLAUDE.md` or `GEMINI.md`.)
    (The project has no files yet.)
    (No artifacts are given.)
    (Nothing is given for tasks: there is no artifact named `tasks`.)
    (Nothing is given for skeleton: there is no artifact named `skeleton`.)

    ---

    ## Instructions

    x⏎
    --- exit code 0
    ");
}

#[test]
fn the_notes_of_the_project_come_from_its_own_file_before_the_shared_one() {
    let project = project()
        .file(".aiwf/templates/system/BASE-plan.md", "{{PROJECT_CONTEXT}}")
        .file("AGENTS.md", "for every agent");
    let context = |project: &aiwf_testkit::TestProject| {
        let outcome = project.run("prompt build change --phase plan --instructions x --json").success();
        json(&outcome)["sections"][0]["bytes"].as_u64().unwrap()
    };
    assert_eq!(context(&project), 15);
    project.write(".aiwf/project.md", "own");
    assert_eq!(context(&project), 3);
}

#[test]
fn a_document_brings_its_own_template_variables() {
    let project = project().file(".aiwf/templates/system/BASE-plan.md", "{{ REVIEWER }} reads {{ AGENT }}");
    let document =
        r#"{"instructions": "x", "phase": "plan", "variables": {"REVIEWER": "Ann", "AGENT": "mine"}}"#;
    let outcome = project.run_with_input("prompt build change --input - --format text", document).success();
    assert!(outcome.stdout_text().starts_with("Ann reads mine\n"), "{outcome}");
}

#[test]
fn system_text_of_a_document_replaces_the_template() {
    let document =
        r#"{"instructions": "x", "agent": "claude", "phase": "plan", "system_prompt": "Only this."}"#;
    assert_snapshot!(project().run_with_input("prompt build change --input -", document), @"
    --- stdout
    <prompt>
    <system_prompt>Only this.</system_prompt>
    <instructions>x</instructions>
    </prompt>⏎
    --- exit code 0
    ");
}

#[test]
fn an_agent_without_a_phase_gets_a_warning_about_its_template() {
    assert_snapshot!(project().run("prompt build change --agent claude --instructions x"), @"
    --- stdout
    <prompt>
    <instructions>x</instructions>
    </prompt>⏎
    --- stderr
    warning: input:agent: no template is used, since there is no phase: name one with `--phase`, or as `phase`
    --- exit code 0
    ");
}

#[test]
fn an_agent_without_its_own_template_uses_the_base_one() {
    let project = project().file(".aiwf/templates/system/BASE-plan.md", "for {{ AGENT }}");
    let outcome = project.run("prompt build change --agent newcomer --phase plan --instructions x --json");
    let json = json(&outcome.success());
    assert_eq!(json["sections"][0]["source"], "template:.aiwf/templates/system/BASE-plan.md");
    assert!(json["full_prompt"].as_str().unwrap().contains("for NEWCOMER"));
}

#[test]
fn every_built_in_template_builds_a_prompt() {
    let project = project();
    for agent in ["claude", "codex", "gemini", "base"] {
        for phase in ["plan", "challenge", "implement", "review", "archive"] {
            let line = format!("prompt build change --agent {agent} --phase {phase} --instructions x --json");
            let json = json(&project.run(&line).success());
            let source = format!("template:built-in:{}-{phase}.md", agent.to_uppercase());
            assert_eq!(json["sections"][0]["source"], source);
            assert_eq!(json["metadata"]["mode"], phase);
            assert_eq!(json["problems"].as_array().unwrap().len(), 0);
        }
    }
}

#[test]
fn characters_that_xml_cannot_hold_are_replaced_and_reported() {
    let project = project();
    let run = |flags: &str| {
        project.command(&format!("prompt build change {flags} --instructions")).arg("a\u{1}b\u{8}c").run()
    };
    assert_snapshot!(run(""), @"
    --- stdout
    <prompt>
    <instructions>a�b�c</instructions>
    </prompt>⏎
    --- stderr
    warning: input:instructions: 2 characters not allowed in XML replaced by U+FFFD
    --- exit code 0
    ");
    let json = json(&run("--json"));
    assert_eq!(json["problems"][0]["source"], "input:instructions");
    assert_eq!(json["full_prompt"], "<prompt>\n<instructions>a\u{fffd}b\u{fffd}c</instructions>\n</prompt>");
    assert_eq!(run("--format text").stdout_text(), "a\u{1}b\u{8}c");
}

#[test]
fn a_missing_artifact_is_named_as_it_was_given() {
    assert_snapshot!(project().run("prompt build change --instructions x --artifact plan=docs/plan.md"), @"
    --- stderr
    error: could not read `docs/plan.md`
      caused by: no such file in `[project]/docs`

    hint: check the spelling of `docs/plan.md`
    --- exit code 1
    ");
}

#[test]
fn an_artifact_that_is_not_text_is_refused() {
    let project = project().file("plan.md", b"ab\xff");
    assert_snapshot!(project.run("prompt build change --instructions x --artifact plan=plan.md"), @"
    --- stderr
    error: `plan.md` is not UTF-8 text (first bad byte at offset 2)

    hint: convert it to UTF-8, or exclude it
    --- exit code 1
    ");
}

#[test]
fn missing_instructions_are_named_as_they_were_given() {
    assert_snapshot!(project().run("prompt build change --instructions @task.md"), @"
    --- stderr
    error: could not read `task.md`
      caused by: no such file in `[project]`

    hint: check the spelling of `task.md`
    --- exit code 1
    ");
    assert_snapshot!(project().run("prompt build change --instructions @."), @"
    --- stderr
    error: could not read `.`
      caused by: is a directory

    hint: name a file: `.` is a directory
    --- exit code 1
    ");
}
