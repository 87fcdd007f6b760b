//! `aiwf prompt build session`: what a session's directory brings into a prompt.

use aiwf_testkit::TestProject;
use insta::assert_snapshot;

use crate::{json, project};

const DIR: &str = ".aiwf/sessions/1";

fn session() -> TestProject {
    project()
        .file(&format!("{DIR}/plan.md"), "# Plan\n\nStep 1")
        .file(&format!("{DIR}/standards-bundle.md"), "# Standards\n\nRule 1")
        .file(&format!("{DIR}/iteration-1/code/Order.java"), "class Order {}\n")
        .file(&format!("{DIR}/iteration-1/code/entity/Customer.java"), "class Customer {}")
        .file(&format!("{DIR}/iteration-1/review-response.md"), "Rename `Order`.")
        .file("p.md", "Do it")
}

fn line(phase: &str, iteration: u32, flags: &str) -> String {
    format!(
        "prompt build session --session-dir {DIR} --phase {phase} --iteration {iteration} --profile-prompt p.md {flags}"
    )
}

#[test]
fn reviewing_carries_plan_standards_and_code() {
    assert_snapshot!(session().run(&line("reviewing", 1, "")), @"
    --- stdout
    ## Approved Plan

    # Plan

    Step 1

    ---

    ## Standards Bundle

    # Standards

    Rule 1

    ---

    ## Previous Code

    ### Order.java

    ```java
    class Order {}
    ```

    ### entity/Customer.java

    ```java
    class Customer {}
    ```

    ---

    Do it

    ---

    ## Output

    Save your complete response to `.aiwf/sessions/1/iteration-1/review-response.md`⏎
    --- exit code 0
    ");
}

#[test]
fn revising_carries_the_code_and_the_review_of_the_iteration_before() {
    assert_snapshot!(session().run(&line("revising", 2, "")), @"
    --- stdout
    ## Approved Plan

    # Plan

    Step 1

    ---

    ## Standards Bundle

    # Standards

    Rule 1

    ---

    ## Previous Code

    ### Order.java

    ```java
    class Order {}
    ```

    ### entity/Customer.java

    ```java
    class Customer {}
    ```

    ---

    ## Review

    Rename `Order`.

    ---

    Do it

    ---

    ## Output

    Save your complete response to `.aiwf/sessions/1/iteration-2/revision-response.md`⏎
    --- exit code 0
    ");
}

#[test]
fn each_phase_has_its_sections() {
    let session = session();
    let sections = |phase: &str, iteration: u32| {
        let json = json(&session.run(&line(phase, iteration, "--json")).success());
        let sections = json["sections"].as_array().unwrap().iter();
        sections.map(|section| section["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(sections("initialized", 1), "profile-prompt");
    assert_eq!(sections("planning", 1), "standards-bundle profile-prompt output-instructions");
    assert_eq!(
        sections("generating", 1),
        "approved-plan standards-bundle profile-prompt output-instructions"
    );
    let reviewing = "approved-plan standards-bundle previous-code profile-prompt output-instructions";
    assert_eq!(sections("reviewing", 1), reviewing);
    let revising = "approved-plan standards-bundle previous-code review profile-prompt output-instructions";
    assert_eq!(sections("revising", 2), revising);
}

#[test]
fn references_stand_for_files_that_the_receiver_opens() {
    assert_snapshot!(session().run(&line("revising", 2, "--attachments on --system-prompt on")), @"
    --- stdout
    ## Output

    Save your complete response to `.aiwf/sessions/1/iteration-2/revision-response.md`

    ---

    ## Approved Plan

    @.aiwf/sessions/1/plan.md

    ---

    ## Standards Bundle

    @.aiwf/sessions/1/standards-bundle.md

    ---

    ## Previous Code

    ### Order.java

    @.aiwf/sessions/1/iteration-1/code/Order.java

    ### entity/Customer.java

    @.aiwf/sessions/1/iteration-1/code/entity/Customer.java

    ---

    ## Review

    @.aiwf/sessions/1/iteration-1/review-response.md

    ---

    Do it⏎
    --- exit code 0
    ");
}

#[test]
fn output_instructions_follow_the_ability() {
    let session = session();
    let last_line = |ability: &str| {
        let outcome = session.run(&line("planning", 3, &format!("--fs-ability {ability}"))).success();
        outcome.stdout_text().lines().last().unwrap().to_owned()
    };
    assert_eq!(
        last_line("local-write"),
        "Save your complete response to `.aiwf/sessions/1/iteration-3/planning-response.md`"
    );
    assert_eq!(last_line("local-read"), "Name your output file `planning-response.md`");
    assert_eq!(last_line("write-only"), "Create a downloadable file named `planning-response.md`");
    assert_eq!(last_line("none"), "Do it");
}

#[test]
fn paths_for_the_agent_start_at_the_project_wherever_the_command_runs() {
    let session = session();
    let from_below = session
        .command(&format!(
            "prompt build session --session-dir {} --phase planning --iteration 1 --profile-prompt ../p.md",
            session.path(DIR).display()
        ))
        .in_dir(".aiwf");
    assert_eq!(from_below.run().success().stdout, session.run(&line("planning", 1, "")).success().stdout);
}

#[test]
fn an_unknown_ability_in_a_document_is_a_warning_and_no_output_section() {
    let document = format!(
        r#"{{"session_dir": "{DIR}", "phase": "planning", "iteration": 1, "profile_prompt": "Do it", "fs_ability": "telepathy"}}"#
    );
    let session = session();
    assert_snapshot!(session.run_with_input("prompt build session --input -", document.as_str()), @"
    --- stdout
    ## Standards Bundle

    # Standards

    Rule 1

    ---

    Do it⏎
    --- stderr
    warning: input:fs_ability: unknown ability `telepathy`, so the prompt does not say how to save the reply; known: `local-write`, `local-read`, `write-only`, `none`
    --- exit code 0
    ");
    let by_flag =
        session.run_with_input("prompt build session --input - --fs-ability local-read", document.as_str());
    assert!(by_flag.stdout_text().ends_with("Name your output file `planning-response.md`"), "{by_flag}");
}

#[test]
fn an_unknown_phase_in_a_document_is_an_error_with_the_nearest() {
    let document = format!(
        r#"{{"session_dir": "{DIR}", "phase": "planing", "iteration": 1, "profile_prompt": "Do it"}}"#
    );
    assert_snapshot!(session().run_with_input("prompt build session --input -", document), @"
    --- stderr
    error: unknown session phase `planing`
      at `phase`

    hint: did you mean `planning`? known: `initialized`, `planning`, `generating`, `reviewing`, `revising`
    --- exit code 1
    ");
}

#[test]
fn feedback_of_a_rejection_comes_before_the_profile_prompt() {
    let document = format!(
        r#"{{"session_dir": "{DIR}", "phase": "initialized", "iteration": 1, "profile_prompt": "Do it", "feedback": "Too long"}}"#
    );
    assert_snapshot!(session().run_with_input("prompt build session --input -", document), @"
    --- stdout
    ## Feedback

    Too long

    ---

    Do it⏎
    --- exit code 0
    ");
}

#[test]
fn code_is_sorted_by_the_bytes_of_its_path_and_hidden_files_are_code_too() {
    let session = session()
        .file(&format!("{DIR}/iteration-1/code/entity.md"), "x")
        .file(&format!("{DIR}/iteration-1/code/.env.example"), "x")
        .file(&format!("{DIR}/iteration-1/code/.gitignore"), "*.md")
        .dir(&format!("{DIR}/iteration-1/code/empty"));
    let json = json(&session.run(&line("reviewing", 1, "--json")).success());
    let parts = json["sections"][2]["parts"].as_array().unwrap().iter();
    let names: Vec<&str> = parts.map(|part| part["id"].as_str().unwrap()).collect();
    assert_eq!(names, [".env.example", ".gitignore", "Order.java", "entity.md", "entity/Customer.java"]);
}

#[test]
fn code_that_is_not_text_is_named_with_its_size_and_hash() {
    let session = project().file("s/iteration-1/code/logo.png", b"\x89PNG\0").file("p.md", "Review");
    let outcome = session
        .run("prompt build session --session-dir s --phase reviewing --iteration 1 --profile-prompt p.md");
    assert_snapshot!(outcome, @"
    --- stdout
    ## Previous Code

    ### logo.png

    not UTF-8 text: 5 bytes, sha256 ad91235e882292469812e16da0b8fc77075a7c6d6f8760c24be14a5c792508cf

    ---

    Review

    ---

    ## Output

    Save your complete response to `s/iteration-1/review-response.md`⏎
    --- stderr
    warning: file:s/iteration-1/code/logo.png: not UTF-8 text: 5 bytes, sha256 ad91235e882292469812e16da0b8fc77075a7c6d6f8760c24be14a5c792508cf
    --- exit code 0
    ");
}

#[test]
fn links_out_of_the_code_directory_are_skipped_and_named() {
    let session = session()
        .link(&format!("{DIR}/iteration-1/code/Alias.java"), "Order.java")
        .link(&format!("{DIR}/iteration-1/code/leak"), "/etc/passwd")
        .link(&format!("{DIR}/iteration-1/code/up.md"), "../../plan.md")
        .link(&format!("{DIR}/iteration-1/code/loop"), "../code")
        .link(&format!("{DIR}/iteration-1/code/gone"), "nowhere");
    let outcome = session.run(&line("reviewing", 1, "")).success();
    assert_snapshot!(outcome.stderr_text(), @"
    warning: file:.aiwf/sessions/1/iteration-1/code/gone: skipped: a broken link
    warning: file:.aiwf/sessions/1/iteration-1/code/leak: skipped: a link that leads outside the directory
    warning: file:.aiwf/sessions/1/iteration-1/code/loop: skipped: a link to something that is not a file
    warning: file:.aiwf/sessions/1/iteration-1/code/up.md: skipped: a link that leads outside the directory
    ");
    assert!(outcome.stdout_text().contains("### Alias.java\n\n```java\nclass Order {}\n```"), "{outcome}");
    assert!(!outcome.stdout_text().contains("leak"), "{outcome}");
}

#[test]
fn an_artifact_that_leaves_the_session_is_refused() {
    let session = project().link("s/plan.md", "/etc/passwd").file("p.md", "Do it");
    let line = "prompt build session --session-dir s --phase generating --iteration 1 --profile-prompt p.md";
    assert_snapshot!(session.run(line), @"
    --- stderr
    error: `s/plan.md` is a link that leads outside the session directory

    hint: replace the link with the file itself
    --- exit code 1
    ");
    let broken = project().link("s/plan.md", "nowhere").file("p.md", "Do it");
    assert_snapshot!(broken.run(line), @"
    --- stderr
    error: `s/plan.md` is a broken link

    hint: replace the link with the file itself
    --- exit code 1
    ");
    let code = project().link("s/iteration-1/code", "/etc").file("p.md", "Do it");
    let line = "prompt build session --session-dir s --phase reviewing --iteration 1 --profile-prompt p.md";
    assert_snapshot!(code.run(line), @"
    --- stderr
    error: `s/iteration-1/code` is a link that leads outside the session directory

    hint: replace the link with the file itself
    --- exit code 1
    ");
}

#[test]
fn an_artifact_that_is_not_text_is_refused() {
    let session = project().file("s/plan.md", b"\xff").file("p.md", "Do it");
    let line = "prompt build session --session-dir s --phase generating --iteration 1 --profile-prompt p.md";
    assert_snapshot!(session.run(line), @"
    --- stderr
    error: `s/plan.md` is not UTF-8 text (first bad byte at offset 0)

    hint: convert it to UTF-8, or exclude it
    --- exit code 1
    ");
}

#[test]
fn a_session_directory_must_be_there() {
    let project = project().file("p.md", "Do it");
    let run = |dir: &str| {
        project.run_args([
            "prompt",
            "build",
            "session",
            "--session-dir",
            dir,
            "--phase",
            "planning",
            "--iteration",
            "1",
            "--profile-prompt",
            "p.md",
        ])
    };
    assert_snapshot!(run("nowhere"), @"
    --- stderr
    error: session directory `[project]/nowhere` does not exist

    hint: check its spelling; `.aiwf/sessions/` holds a project's sessions
    --- exit code 1
    ");
    assert_snapshot!(run("p.md"), @"
    --- stderr
    error: session directory `[project]/p.md` is not a directory

    hint: check its spelling; `.aiwf/sessions/` holds a project's sessions
    --- exit code 1
    ");
    let document = r#"{"session_dir": "", "phase": "planning", "iteration": 1, "profile_prompt": "p"}"#;
    assert_snapshot!(project.run_with_input("prompt build session --input -", document), @"
    --- stderr
    error: session directory `` does not exist

    hint: check its spelling; `.aiwf/sessions/` holds a project's sessions
    --- exit code 1
    ");
}

#[test]
fn a_missing_profile_prompt_is_named_as_it_was_given() {
    let session = session();
    let line =
        format!("prompt build session --session-dir {DIR} --phase planning --iteration 1 --profile-prompt");
    assert_snapshot!(session.run(&format!("{line} nowhere.md")), @"
    --- stderr
    error: could not read `nowhere.md`
      caused by: no such file in `[project]`

    hint: check the spelling of `nowhere.md`
    --- exit code 1
    ");
    assert_snapshot!(session.run(&format!("{line} .")), @"
    --- stderr
    error: could not read `.`
      caused by: is a directory

    hint: name a file: `.` is a directory
    --- exit code 1
    ");
}

#[test]
fn large_artifacts_are_carried_whole() {
    let plan = format!("# Plan\n\n{}", "Step details. ".repeat(10_000));
    let session = project().file("s/plan.md", &plan).file("p.md", "Do it");
    let outcome = session
        .run("prompt build session --session-dir s --phase generating --iteration 1 --profile-prompt p.md")
        .success();
    assert!(outcome.stdout_text().contains(&plan));
}
