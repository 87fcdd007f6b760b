//! `aiwf template`: the layers of system templates.

use insta::assert_snapshot;

use crate::{json, pretty, project};

#[test]
fn the_built_in_templates_are_listed() {
    assert_snapshot!(project().run("template list"), @"
    --- stdout
    * BASE-archive.md      built-in  built-in:BASE-archive.md
    * BASE-challenge.md    built-in  built-in:BASE-challenge.md
    * BASE-gate.md         built-in  built-in:BASE-gate.md
    * BASE-implement.md    built-in  built-in:BASE-implement.md
    * BASE-plan.md         built-in  built-in:BASE-plan.md
    * BASE-review.md       built-in  built-in:BASE-review.md
    * CLAUDE-archive.md    built-in  built-in:CLAUDE-archive.md
    * CLAUDE-challenge.md  built-in  built-in:CLAUDE-challenge.md
    * CLAUDE-implement.md  built-in  built-in:CLAUDE-implement.md
    * CLAUDE-plan.md       built-in  built-in:CLAUDE-plan.md
    * CLAUDE-review.md     built-in  built-in:CLAUDE-review.md
    * CODEX-archive.md     built-in  built-in:CODEX-archive.md
    * CODEX-challenge.md   built-in  built-in:CODEX-challenge.md
    * CODEX-implement.md   built-in  built-in:CODEX-implement.md
    * CODEX-plan.md        built-in  built-in:CODEX-plan.md
    * CODEX-review.md      built-in  built-in:CODEX-review.md
    * GEMINI-archive.md    built-in  built-in:GEMINI-archive.md
    * GEMINI-challenge.md  built-in  built-in:GEMINI-challenge.md
    * GEMINI-implement.md  built-in  built-in:GEMINI-implement.md
    * GEMINI-plan.md       built-in  built-in:GEMINI-plan.md
    * GEMINI-review.md     built-in  built-in:GEMINI-review.md
    --- exit code 0
    ");
}

#[test]
fn a_layer_hides_the_templates_below_it() {
    let project = project()
        .file(".aiwf/templates/system/BASE-plan.md", "project")
        .file(".aiwf/templates/system/notes.txt", "not a template")
        .file("~/.aiwf/templates/system/BASE-plan.md", "user")
        .file("~/.aiwf/templates/system/MINE-plan.md", "user");
    let text = project.run("template list").success().stdout_text();
    let about: Vec<&str> =
        text.lines().filter(|line| line.starts_with("BASE-plan") || line.contains("user")).collect();
    assert_snapshot!(about.join("\n"), @"
    BASE-plan.md         user      ~/.aiwf/templates/system/BASE-plan.md  (hidden by .aiwf/templates/system/BASE-plan.md)
    MINE-plan.md         user      ~/.aiwf/templates/system/MINE-plan.md  (hidden by .aiwf/templates/system/BASE-plan.md)
    ");
    let json = json(&project.run("template list --json").success());
    let listed = json["templates"].as_array().unwrap().iter();
    let of_plan: Vec<String> =
        listed.filter(|template| template["file"] == "BASE-plan.md").map(ToString::to_string).collect();
    assert_snapshot!(of_plan.join("\n"), @r#"
    {"file":"BASE-plan.md","layer":"project","path":".aiwf/templates/system/BASE-plan.md","hidden":false,"used":true}
    {"file":"BASE-plan.md","layer":"user","path":"~/.aiwf/templates/system/BASE-plan.md","hidden":true,"used":false}
    {"file":"BASE-plan.md","layer":"built-in","path":"built-in:BASE-plan.md","hidden":true,"used":false}
    "#);
}

#[test]
fn the_project_comes_before_the_user_and_the_user_before_the_built_in_ones() {
    let project = project();
    let source = || {
        let outcome = project.run("template show claude plan --json").success();
        let json = json(&outcome);
        format!("{} {}", json["layer"].as_str().unwrap(), json["path"].as_str().unwrap())
    };
    assert_eq!(source(), "built-in built-in:CLAUDE-plan.md");
    project.write("~/.aiwf/templates/system/BASE-plan.md", "user's base");
    assert_eq!(source(), "user ~/.aiwf/templates/system/BASE-plan.md");
    project.write("~/.aiwf/templates/system/CLAUDE-plan.md", "user's own");
    assert_eq!(source(), "user ~/.aiwf/templates/system/CLAUDE-plan.md");
    project.write(".aiwf/templates/system/BASE-plan.md", "project's base");
    assert_eq!(source(), "project .aiwf/templates/system/BASE-plan.md");
    project.write(".aiwf/templates/system/CLAUDE-plan.md", "project's own");
    assert_eq!(source(), "project .aiwf/templates/system/CLAUDE-plan.md");
}

#[test]
fn show_prints_the_template_and_says_where_it_is_from() {
    let project = project().file(".aiwf/templates/system/BASE-release.md", "Release {{ AGENT }}\n");
    assert_snapshot!(project.run("template show Claude release"), @"
    --- stdout
    Release {{ AGENT }}
    --- stderr
    from .aiwf/templates/system/BASE-release.md (project)
    --- exit code 0
    ");
    assert_snapshot!(pretty(&project.run("template show claude release --json")), @r#"
    {
      "schema_version": 1,
      "command": "template show",
      "exit_code": 0,
      "path": ".aiwf/templates/system/BASE-release.md",
      "layer": "project",
      "template": "Release {{ AGENT }}\n"
    }
    "#);
}

#[test]
fn the_project_around_the_current_directory_counts() {
    let project = project().file(".aiwf/templates/system/BASE-plan.md", "project\n").dir("src/deep");
    let outcome = project.command("template show claude plan").in_dir("src/deep").run().success();
    assert_eq!(outcome.stdout_text(), "project\n");
    let elsewhere =
        project.command("template show claude plan --project-dir ..").in_dir("src").run().success();
    assert_eq!(elsewhere.stdout_text(), "project\n");
}

#[test]
fn a_home_that_is_no_project_has_the_users_layer_once() {
    let project = project().file("~/.aiwf/templates/system/BASE-mine.md", "mine");
    let run = project.command("template list").in_dir(project.home()).run().success();
    let mine: Vec<String> =
        run.stdout_text().lines().filter(|line| line.starts_with("* BASE-mine")).map(str::to_owned).collect();
    assert_eq!(mine, ["* BASE-mine.md         user      .aiwf/templates/system/BASE-mine.md"]);
}

#[test]
fn a_template_that_is_not_there_names_every_path_tried() {
    assert_snapshot!(project().run("template show claude plna"), @"
    --- stderr
    error: no template for agent `CLAUDE` in phase `plna` (TemplateNotFound)
      tried: .aiwf/templates/system/CLAUDE-plna.md
      tried: .aiwf/templates/system/BASE-plna.md
      tried: templates/system/CLAUDE-plna.md
      tried: templates/system/BASE-plna.md
      tried: ~/.aiwf/templates/system/CLAUDE-plna.md
      tried: ~/.aiwf/templates/system/BASE-plna.md
      tried: built-in:CLAUDE-plna.md
      tried: built-in:BASE-plna.md

    hint: did you mean phase `plan`? for a new phase, create `.aiwf/templates/system/BASE-plna.md`
    --- exit code 1
    ");
    assert_snapshot!(project().run("prompt build change --phase invalid-phase --instructions x"), @"
    --- stderr
    error: no template for agent `BASE` in phase `invalid-phase` (TemplateNotFound)
      tried: .aiwf/templates/system/BASE-invalid-phase.md
      tried: templates/system/BASE-invalid-phase.md
      tried: ~/.aiwf/templates/system/BASE-invalid-phase.md
      tried: built-in:BASE-invalid-phase.md

    hint: create `.aiwf/templates/system/BASE-invalid-phase.md`
    --- exit code 1
    ");
}

#[test]
fn a_name_that_could_leave_the_directory_is_refused() {
    let project = project();
    assert_snapshot!(project.run("template show ../claude plan"), @"
    --- stderr
    error: agent `../claude` is not a plain name

    hint: use letters, digits, `-` and `_` only
    --- exit code 1
    ");
    assert_snapshot!(project.run("prompt build change --phase ../../plan --instructions x"), @"
    --- stderr
    error: phase `../../plan` is not a plain name

    hint: use letters, digits, `-` and `_` only
    --- exit code 1
    ");
    for name in ["..", ".", "a/b", "/etc/passwd", "a\\b", "-x", "a b", ""] {
        let outcome = project.run_args(["template", "show", "--", name, "plan"]);
        assert_eq!(outcome.exit_code(), 1, "{name}: {outcome}");
    }
}

#[test]
fn an_undefined_variable_is_shown_with_its_place_and_the_names_that_exist() {
    let project = project().file(
        ".aiwf/templates/system/BASE-plan.md",
        "# Plan\n\n{{ PROJECT_CONTEXT }}\n  Hello {{ AGNT }}, welcome\n",
    );
    assert_snapshot!(project.run("prompt build change --phase plan --instructions x"), @"
    --- stderr
    error: variable `AGNT` is not defined
     --> .aiwf/templates/system/BASE-plan.md:4:12
      |
    4 |   Hello {{ AGNT }}, welcome
      |            ^^^^

    hint: did you mean `AGENT`? defined here: `AGENT`, `ARTIFACTS`, `PHASE`, `PROJECT_CONTEXT`, `PROJECT_STRUCTURE`, `SKELETON`, `STANDARDS`, `TASKS`
    --- exit code 1
    ");
}

#[test]
fn a_template_that_is_none_is_shown_with_its_place() {
    let project =
        project().file(".aiwf/templates/system/BASE-plan.md", "# Plan\n{% if AGENT %}\n{{ 1 + }}\n");
    assert_snapshot!(project.run("prompt build change --phase plan --instructions x"), @"
    --- stderr
    error: template is invalid: unexpected end of variable block
     --> .aiwf/templates/system/BASE-plan.md:3:8
      |
    3 | {{ 1 + }}
      |        ^^

    hint: `aiwf template check` shows all errors of all templates
    --- exit code 1
    ");
}

#[test]
fn a_template_without_end_is_stopped() {
    let loops = "{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}";
    let project = project().file(".aiwf/templates/system/BASE-plan.md", loops);
    assert_snapshot!(project.run("prompt build change --phase plan --instructions x"), @"
    --- stderr
    error: template `.aiwf/templates/system/BASE-plan.md` takes more than 1000000 steps to render

    hint: check for a loop with too many iterations
    --- exit code 1
    ");
}

#[test]
fn a_link_out_of_the_project_is_refused() {
    let project = project()
        .link(".aiwf/templates/system/BASE-plan.md", "/etc/passwd")
        .link(".aiwf/templates/system/BASE-review.md", "nowhere");
    assert_snapshot!(project.run("prompt build change --phase plan --instructions x"), @"
    --- stderr
    error: `.aiwf/templates/system/BASE-plan.md` is a link that leads outside the project

    hint: replace the link with the file itself
    --- exit code 1
    ");
    assert_snapshot!(project.run("prompt build change --phase review --instructions x"), @"
    --- stderr
    error: `.aiwf/templates/system/BASE-review.md` is a broken link

    hint: replace the link with the file itself
    --- exit code 1
    ");
}

#[test]
fn a_link_inside_the_project_is_followed_and_the_user_may_link_anywhere() {
    let project = project()
        .file("docs/plan.md", "from docs")
        .link(".aiwf/templates/system/BASE-plan.md", "../../../docs/plan.md")
        .file("elsewhere.md", "from elsewhere");
    assert_eq!(project.run("template show base plan").success().stdout_text(), "from docs");
    let target = project.path("elsewhere.md");
    let project = project.link("~/.aiwf/templates/system/BASE-mine.md", target);
    assert_eq!(project.run("template show base mine").success().stdout_text(), "from elsewhere");
}

#[test]
fn a_template_that_is_not_text_is_refused() {
    let project = project()
        .file(".aiwf/templates/system/BASE-plan.md", b"Plan \xff")
        .dir(".aiwf/templates/system/BASE-review.md");
    assert_snapshot!(project.run("template show claude plan"), @"
    --- stderr
    error: `.aiwf/templates/system/BASE-plan.md` is not UTF-8 text (first bad byte at offset 5)

    hint: convert it to UTF-8, or exclude it
    --- exit code 1
    ");
    assert_snapshot!(project.run("template show claude review"), @"
    --- stderr
    error: could not read `.aiwf/templates/system/BASE-review.md`
      caused by: it is a directory

    hint: name a file: `.aiwf/templates/system/BASE-review.md` is a directory
    --- exit code 1
    ");
}

#[test]
fn notes_that_leave_the_project_are_refused() {
    let project = project()
        .file(".aiwf/templates/system/BASE-plan.md", "{{ PROJECT_CONTEXT }}")
        .link("AGENTS.md", "/etc/passwd");
    assert_snapshot!(project.run("prompt build change --phase plan --instructions x"), @"
    --- stderr
    error: `AGENTS.md` is a link that leads outside the project

    hint: replace the link with the file itself
    --- exit code 1
    ");
}

#[test]
fn the_built_in_templates_have_no_faults() {
    assert_snapshot!(project().run("template check"), @"
    --- stdout
    21 templates checked, 0 with problems
    --- exit code 0
    ");
}

#[test]
fn every_fault_of_every_template_is_listed() {
    let project = project()
        .file(".aiwf/templates/system/BASE-plan.md", "{{ AGNT }} and {{ PHSE }}")
        .file(".aiwf/templates/system/BASE-review.md", "Judge it.")
        .file(".aiwf/templates/system/CODEX-implement.md", "{% if %}<task_status")
        .file(".aiwf/templates/system/claude-plan.md", "lower case")
        .file("~/.aiwf/templates/system/GEMINI-plan.md", b"\xff")
        .link(".aiwf/templates/system/BASE-archive.md", "/etc/passwd")
        .link(".aiwf/templates/system/CLAUDE-archive.md", "nowhere")
        .dir(".aiwf/templates/system/CODEX-archive.md");
    assert_snapshot!(project.run("template check"), @"
    --- stdout
    .aiwf/templates/system/BASE-archive.md
      `.aiwf/templates/system/BASE-archive.md` is a link that leads outside the project
    .aiwf/templates/system/BASE-plan.md
      variable `AGNT` is not defined
       --> .aiwf/templates/system/BASE-plan.md:1:4
        |
      1 | {{ AGNT }} and {{ PHSE }}
        |    ^^^^
      variable `PHSE` is not defined
       --> .aiwf/templates/system/BASE-plan.md:1:19
        |
      1 | {{ AGNT }} and {{ PHSE }}
        |                   ^^^^
    .aiwf/templates/system/BASE-review.md
      does not ask for the `<review>` marker that phase `review` is judged by
    .aiwf/templates/system/CLAUDE-archive.md
      `.aiwf/templates/system/CLAUDE-archive.md` is a broken link
    .aiwf/templates/system/CODEX-archive.md
      could not read `.aiwf/templates/system/CODEX-archive.md`: it is a directory
    .aiwf/templates/system/CODEX-implement.md
      template is invalid: unexpected end of block
       --> .aiwf/templates/system/CODEX-implement.md:1:7
        |
      1 | {% if %}<task_status
        |       ^^
    .aiwf/templates/system/claude-plan.md
      `claude-plan.md` is never used: a template must be named `AGENT-phase.md`, the agent in upper case
    ~/.aiwf/templates/system/GEMINI-plan.md
      `~/.aiwf/templates/system/GEMINI-plan.md` is not UTF-8 text (first bad byte at offset 0)
    29 templates checked, 8 with problems
    --- exit code 1
    ");
    let json = json(&project.run("template check --json"));
    assert_eq!(json["exit_code"], 1);
    let faulty = json["templates"].as_array().unwrap().iter().filter(|template| template["ok"] == false);
    assert_eq!(faulty.count(), 8);
    assert_snapshot!(format!("{:#}", json["templates"][1]), @r#"
    {
      "path": ".aiwf/templates/system/BASE-plan.md",
      "ok": false,
      "problems": [
        "variable `AGNT` is not defined\n --> .aiwf/templates/system/BASE-plan.md:1:4\n  |\n1 | {{ AGNT }} and {{ PHSE }}\n  |    ^^^^",
        "variable `PHSE` is not defined\n --> .aiwf/templates/system/BASE-plan.md:1:19\n  |\n1 | {{ AGNT }} and {{ PHSE }}\n  |                   ^^^^"
      ]
    }
    "#);
}

#[test]
fn the_list_marks_what_show_prints() {
    let project = project()
        .file("templates/system/BASE-plan.md", "of the root")
        .file("templates/system/CODEX-plan.md", "codex, of the root")
        .file(".aiwf/templates/system/GEMINI-plan.md", "gemini")
        .file("~/.aiwf/templates/system/BASE-review.md", "<review>");
    let listed = json(&project.run("template list --json"));
    let mut n_used = 0;
    for template in listed["templates"].as_array().unwrap() {
        let (agent, phase) =
            template["file"].as_str().unwrap().strip_suffix(".md").unwrap().split_once('-').unwrap();
        let shown = json(&project.run(&format!("template show {agent} {phase} --json")));
        assert_eq!(template["used"] == true, shown["path"] == template["path"], "{template}: {shown}");
        n_used += usize::from(template["used"] == true);
    }
    assert!(n_used > 5, "{listed:#}");
    assert_eq!(project.run("template show claude plan").stdout_text(), "of the root");
    assert_eq!(project.run("template show codex plan").stdout_text(), "codex, of the root");
    let text = project.run("template list").stdout_text();
    assert!(text.contains("(hidden by templates/system/BASE-plan.md)"), "{text}");
}
