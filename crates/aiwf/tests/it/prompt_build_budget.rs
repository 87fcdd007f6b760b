//! Budgets and counts of `aiwf prompt build`.

use aiwf_testkit::TestProject;
use insta::assert_snapshot;
use serde_json::Value;

use crate::{json, project};

fn session() -> TestProject {
    project()
        .file("s/plan.md", "# Plan\n")
        .file("s/iteration-1/code/a.rs", "fn a() {}\n".repeat(10))
        .file("s/iteration-1/code/b.rs", "fn b() {}\n".repeat(10))
        .file("s/iteration-1/code/c/d.rs", "fn d() {}\n".repeat(10))
        .file("p.md", "Review it.")
}

const REVIEW: &str =
    "prompt build session --session-dir s --phase reviewing --iteration 1 --profile-prompt p.md";
/// The code that is revised may be cut, the code under review may not.
const REVISE: &str =
    "prompt build session --session-dir s --phase revising --iteration 2 --profile-prompt p.md";

#[test]
fn the_last_path_is_cut_first_and_named() {
    let outcome = session().run(&format!("{REVISE} --budget 120 --explain"));
    assert_snapshot!(outcome, @"
    --- stdout
    ## Approved Plan

    # Plan


    ---

    ## Previous Code

    ### a.rs

    ```rust
    fn a() {}
    fn a() {}
    fn a() {}
    fn a() {}
    fn a() {}
    fn a() {}
    fn a() {}
    fn a() {}
    fn a() {}
    fn a() {}
    ```

    ### b.rs

    ```rust
    fn b() {}
    fn b() {}
    fn b() {}
    fn b() {}
    fn b() {}
    fn b() {}
    fn b() {}
    fn b() {}
    fn b() {}
    fn b() {}
    ```

    ---

    Review it.

    ---

    ## Output

    Save your complete response to `s/iteration-2/revision-response.md`⏎
    --- stderr
    warning: left out (budget): `c/d.rs` (100 bytes, 33 tokens): does not fit the budget of 120 tokens
    session prompt as text: 101 tokens (estimate), sha256 a77281fa846e94b3ff0659caa185cb1da1699667e99ff3237c33cf8cc06c61f1
      approved-plan        █···············          8   7.9%  file:s/plan.md
      previous-code        ██████████······         68  67.3%  engine:code of the iteration
        a.rs               █████···········         36  35.6%  file:s/iteration-1/code/a.rs
        b.rs               █████···········         32  31.6%  file:s/iteration-1/code/b.rs
        1 part, 33 tokens, cut to fit 120 tokens: optional, priority 10: c/d.rs (33)
      profile-prompt       █···············          5   4.9%  input:profile_prompt
      output-instructions  ███·············         20  19.8%  engine:fs_ability local-write
      the stable prefix ends after `approved-plan` (8 tokens)
    --- exit code 0
    ");
}

#[test]
fn json_lists_cut_parts_with_the_reason() {
    let json = json(&session().run(&format!("{REVISE} --budget 101 --json")).success());
    let code = &json["sections"][1];
    assert_eq!(code["kept"], true);
    assert_snapshot!(format!("{:#}", code["parts"]), @r#"
    [
      {
        "id": "a.rs",
        "source": "file:s/iteration-1/code/a.rs",
        "bytes": 100,
        "tokens": 36,
        "kept": true
      },
      {
        "id": "b.rs",
        "source": "file:s/iteration-1/code/b.rs",
        "bytes": 100,
        "tokens": 32,
        "kept": true
      },
      {
        "id": "c/d.rs",
        "source": "file:s/iteration-1/code/c/d.rs",
        "bytes": 100,
        "tokens": 0,
        "kept": false,
        "reason": "cut to fit 101 tokens: optional, priority 10"
      }
    ]
    "#);
    assert_snapshot!(format!("{:#}", json["left_out"]), @r#"
    [
      {
        "id": "c/d.rs",
        "bytes": 100,
        "tokens": 33,
        "kind": "budget",
        "reason": "does not fit the budget of 101 tokens"
      }
    ]
    "#);
    assert!(json["metadata"]["token_estimate"].as_u64().unwrap() <= 101);
}

#[test]
fn all_code_is_cut_before_anything_required() {
    let json = json(&session().run(&format!("{REVISE} --budget 50 --json")).success());
    let kept: Vec<bool> = json["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["kept"].as_bool().unwrap())
        .collect();
    assert_eq!(kept, [true, false, true, true]);
    assert!(!json["full_prompt"].as_str().unwrap().contains("Previous Code"));
}

#[test]
fn code_under_review_is_never_cut() {
    let session = session();
    let whole = json(&session.run(&format!("{REVIEW} --json")).success());
    let tokens = whole["metadata"]["token_estimate"].as_u64().unwrap();
    session.run(&format!("{REVIEW} --budget {tokens}")).success().exit_code();
    let refused = session.run(&format!("{REVIEW} --budget {}", tokens - 1));
    assert_eq!(refused.exit_code(), 1, "{refused}");
    assert_eq!(refused.stdout, b"");
}

#[test]
fn required_sections_that_do_not_fit_are_an_error_that_names_the_largest() {
    assert_snapshot!(session().run(&format!("{REVISE} --budget 20")), @"
    --- stderr
    error: required sections need 33 tokens but the budget is 20
      largest: `output-instructions` (20 tokens)

    hint: shorten that section, or set a larger budget with `--budget`
    --- exit code 1
    ");
    assert_snapshot!(session().run(&format!("{REVIEW} --budget 20")), @"
    --- stderr
    error: required sections need 132 tokens but the budget is 20
      largest: `a.rs` (36 tokens)

    hint: shorten that section, or set a larger budget with `--budget`
    --- exit code 1
    ");
}

#[test]
fn thoughts_are_cut_before_files_and_artifacts_never() {
    let project = project().file("a.rs", "fn a() {}\n".repeat(20)).file("plan.md", "1.1 Do it");
    let line =
        "prompt build change --instructions x --file a.rs --thought 'hm, let me see' --artifact plan=plan.md";
    let built = |budget: u64| json(&project.run(&format!("{line} --json --budget {budget}")).success());
    let kept = |json: &Value| {
        let parts = json["sections"][0]["parts"].as_array().unwrap().iter();
        let kept = parts.filter(|part| part["kept"] == true);
        kept.map(|part| part["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let total = |json: &Value| json["metadata"]["token_estimate"].as_u64().unwrap();
    let whole = built(100_000);
    assert_eq!(kept(&whole), ["a.rs", "plan", "thought-1"]);
    let without_thought = built(total(&whole) - 1);
    assert_eq!(kept(&without_thought), ["a.rs", "plan"]);
    let without_file = built(total(&without_thought) - 1);
    assert_eq!(kept(&without_file), ["plan"]);
    let too_small = project.run(&format!("{line} --budget {}", total(&without_file) - 1));
    assert_eq!(too_small.exit_code(), 1, "{too_small}");
}

#[test]
fn a_budget_may_be_written_with_separators() {
    let project = project();
    for budget in ["1000", "1_000", "1,000"] {
        project.run(&format!("prompt build change --instructions x --budget {budget}")).success().exit_code();
    }
}

#[test]
fn a_vocabulary_counts_exactly_and_says_so() {
    let project = project();
    let metadata = |flags: &str| {
        let line = format!("prompt build change --format text --instructions 'hello world' --json {flags}");
        json(&project.run(&line).success())["metadata"].clone()
    };
    let exact = metadata("--tokenizer o200k_base");
    assert_eq!((&exact["tokenizer"], &exact["exact"]), (&"o200k_base".into(), &true.into()));
    assert_eq!(exact["token_estimate"], 2);
    let other = metadata("--tokenizer cl100k_base");
    assert_eq!((&other["tokenizer"], &other["exact"]), (&"cl100k_base".into(), &true.into()));
    assert_eq!(other["token_estimate"], 2);
    let estimate = metadata("");
    assert_eq!((&estimate["tokenizer"], &estimate["exact"]), (&"estimate".into(), &false.into()));
}

#[test]
fn the_counts_of_sections_add_up_to_the_whole() {
    let session = session();
    for tokenizer in ["estimate", "o200k_base"] {
        for format in ["text", "xml", "messages"] {
            let json = json(
                &session.run(&format!("{REVIEW} --tokenizer {tokenizer} --format {format} --json")).success(),
            );
            let sections = json["sections"].as_array().unwrap().iter();
            let sum: u64 = sections.map(|section| section["tokens"].as_u64().unwrap()).sum();
            assert_eq!(sum, json["metadata"]["token_estimate"].as_u64().unwrap(), "{tokenizer} {format}");
        }
    }
}

#[test]
fn counts_are_remembered_and_change_nothing() {
    let session = session();
    let line = format!("{REVIEW} --tokenizer o200k_base --json");
    let first = session.run(&line).success();
    assert_eq!(session.names_in("../cache/aiwf/counts"), ["o200k_base.bin"]);
    let remembered = session.read("../cache/aiwf/counts/o200k_base.bin");
    assert_eq!(session.run(&line).success(), first);
    assert_eq!(session.read("../cache/aiwf/counts/o200k_base.bin"), remembered);
}

#[test]
fn a_damaged_cache_is_replaced() {
    let session = session();
    let line = format!("{REVIEW} --tokenizer o200k_base --json");
    let first = session.run(&line).success();
    let whole = session.read("../cache/aiwf/counts/o200k_base.bin");
    let cut_short = &whole[..whole.len() - 1];
    for damaged in [&b""[..], b"nonsense", cut_short] {
        session.write("../cache/aiwf/counts/o200k_base.bin", damaged);
        assert_eq!(session.run(&line).success(), first);
        assert_eq!(session.read("../cache/aiwf/counts/o200k_base.bin"), whole);
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let session = session().file("in-the-way", "");
    let line = format!("{REVIEW} --tokenizer o200k_base --json");
    let blocked = session.command(&line).env("XDG_CACHE_HOME", session.path("in-the-way")).run().success();
    let nowhere = session.command(&line).env("XDG_CACHE_HOME", "/dev/null/x").run().success();
    assert_eq!(blocked, session.run(&line).success());
    assert_eq!(nowhere, blocked);
}

#[test]
fn an_estimate_needs_no_cache() {
    let session = session();
    session.run(&format!("{REVISE} --budget 100 --explain")).success().exit_code();
    assert_eq!(session.names_in("../cache"), [""; 0]);
}

#[test]
fn the_anatomy_shows_the_largest_first_and_one_line_for_what_was_cut() {
    let mut project = project();
    for (index, n_lines) in [400, 10, 300, 20, 350, 30].into_iter().enumerate() {
        project = project.file(&format!("{index}.rs"), "fn a() {}\n".repeat(n_lines));
    }
    let line = "prompt build change --instructions x --file '*.rs' --budget 1,200 --explain";
    let outcome = project.run(line).success();
    let stderr = outcome.stderr_text();
    let rows: Vec<&str> = stderr.lines().filter(|line| line.starts_with("    ")).map(str::trim).collect();
    let names: Vec<&str> = rows.iter().filter_map(|row| row.split_whitespace().next()).collect();
    // Behind a file that was cut, smaller ones that still fit are kept; the largest come first.
    assert_eq!(names, ["0.rs", "5.rs", "3.rs", "1.rs", "2"], "{outcome}");
    assert!(
        rows[4].starts_with("2 parts, ") && rows[4].contains(": 4.rs (") && rows[4].contains(", 2.rs ("),
        "{outcome}"
    );
    assert_eq!(stderr.matches("warning: left out (budget)").count(), 1, "{outcome}");
}
