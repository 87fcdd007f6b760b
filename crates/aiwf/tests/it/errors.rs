//! What is wrong with a command line, in text and in JSON; the exit code is 2.

use insta::assert_snapshot;

use crate::{json, pretty, project};

/// Error, hint and exit code of a command line that makes no sense; nothing may stand on the standard output.
fn usage(line: &str) -> String {
    let outcome = project().run(line);
    assert_eq!(outcome.stdout, b"", "{outcome}");
    assert_eq!(outcome.exit_code(), 2, "{outcome}");
    outcome.stderr_text()
}

#[test]
fn an_unknown_command_suggests_the_nearest() {
    assert_snapshot!(usage("promt"), @"
    error: unknown command `promt`

    hint: did you mean `prompt`? `aiwf --help` lists the commands
    ");
    assert_snapshot!(usage("zzz"), @"
    error: unknown command `zzz`

    hint: `aiwf --help` lists the commands, `aiwf profiles` the profiles
    ");
    assert_snapshot!(usage("prompt bild"), @"
    error: unknown command `bild`

    hint: did you mean `build`? known: `build`, `preview`, `send`, `diff`, `recipes`, `schema`
    ");
    assert_eq!(project().run("zzz --json").exit_code(), 2);
}

#[test]
fn an_unknown_recipe_suggests_the_nearest() {
    assert_snapshot!(usage("prompt build sesion"), @"
    error: unknown recipe `sesion`

    hint: did you mean `session`? known: `session`, `change`, `workflow`, `reply`
    ");
    assert_snapshot!(usage("prompt preview chnge"), @"
    error: unknown recipe `chnge`

    hint: did you mean `change`? known: `session`, `change`, `workflow`, `reply`
    ");
    assert_snapshot!(usage("prompt schema chnge"), @"
    error: unknown value `chnge` for `<RECIPE>`

    hint: did you mean `change`? known: `session`, `change`, `workflow`, `reply`
    ");
}

#[test]
fn an_unknown_session_phase_is_a_usage_error_as_a_flag() {
    assert_snapshot!(usage("prompt build session --session-dir . --phase planing --iteration 1 --profile-prompt p.md"), @"
    error: unknown value `planing` for `--phase`

    hint: did you mean `planning`? known: `initialized`, `planning`, `generating`, `reviewing`, `revising`
    ");
}

#[test]
fn an_unknown_format_lists_what_there_is() {
    assert_snapshot!(usage("prompt build change --instructions x --format mesages"), @"
    error: unknown value `mesages` for `--format`

    hint: did you mean `messages`? known: `text`, `xml`, `messages`
    ");
    assert_snapshot!(usage("prompt build change --instructions x --format json"), @"
    error: unknown value `json` for `--format`

    hint: known: `text`, `xml`, `messages`
    ");
}

#[test]
fn an_unknown_provider_suggests_the_nearest() {
    // Which providers there are, the configuration says: the line itself makes sense.
    assert_snapshot!(project().run("prompt build change --instructions x --for opnai"), @"
    --- stderr
    error: unknown provider `opnai` for `--for`

    hint: did you mean `openai`? `aiwf providers` lists all; a table `[providers.NAME]` adds one
    --- exit code 1
    ");
    let configured =
        project().file("~/.aiwf/config.toml", "[providers.fast]\ntype = \"anthropic\"\nmodel = \"m\"\n");
    assert_snapshot!(configured.run("prompt preview change --instructions x --for fats"), @"
    --- stderr
    error: unknown provider `fats` for `--for`

    hint: did you mean `fast`? `aiwf providers` lists all; a table `[providers.NAME]` adds one
    --- exit code 1
    ");
}

#[test]
fn an_unknown_fs_ability_is_a_usage_error_as_a_flag() {
    assert_snapshot!(usage("prompt build change --instructions x --fs-ability telepathy"), @"
    error: unknown value `telepathy` for `--fs-ability`

    hint: known: `local-write`, `local-read`, `write-only`, `none`
    ");
}

#[test]
fn an_unknown_tokenizer_lists_what_there_is() {
    assert_snapshot!(usage("prompt build change --instructions x --tokenizer gpt-5"), @"
    error: unknown value `gpt-5` for `--tokenizer`

    hint: known: `estimate`, `o200k_base`, `cl100k_base`
    ");
}

#[test]
fn a_switch_is_on_or_off() {
    assert_snapshot!(usage("prompt build change --instructions x --system-prompt yes"), @"
    error: unknown value `yes` for `--system-prompt`

    hint: known: `on`, `off`
    ");
    assert_snapshot!(usage("prompt build change --instructions x --attachments true"), @"
    error: unknown value `true` for `--attachments`

    hint: known: `on`, `off`
    ");
}

#[test]
fn an_unknown_parser_suggests_the_nearest() {
    assert_snapshot!(usage("reply parse --as file-marker"), @"
    error: unknown value `file-marker` for `--as`

    hint: did you mean `file-markers`? known: `file-markers`, `fenced-files`, `edits`, `review-meta`, `verdict-tag`, `task-status`, `tool-calls`, `front-matter`
    ");
}

#[test]
fn a_missing_flag_is_named() {
    assert_snapshot!(usage("prompt build change"), @"
    error: missing `--instructions <TEXT|@FILE>`

    hint: give what is missing, or a document with `--input`; `aiwf prompt build change --help` shows its usage
    ");
    assert_snapshot!(usage("prompt build session"), @"
    error: missing `--session-dir <DIR>`, `--phase <PHASE>`, `--iteration <N>`, `--profile-prompt <FILE|->`

    hint: give what is missing, or a document with `--input`; `aiwf prompt build session --help` shows its usage
    ");
    assert_snapshot!(usage("prompt build session --phase planning --iteration 1"), @"
    error: missing `--session-dir <DIR>`, `--profile-prompt <FILE|->`

    hint: give what is missing, or a document with `--input`; `aiwf prompt build session --help` shows its usage
    ");
    assert_snapshot!(usage("prompt build workflow"), @"
    error: missing `--input <FILE|->`

    hint: write it like `aiwf prompt build workflow --input turn.json`; `aiwf prompt build workflow --help` shows more
    ");
    assert_snapshot!(usage("reply parse"), @"
    error: missing `--as <PARSER>`

    hint: write it like `aiwf reply parse --as file-markers reply.md`; `aiwf reply parse --help` shows more
    ");
    assert_snapshot!(usage("template show claude"), @"
    error: missing `<PHASE>`

    hint: write it like `aiwf template show claude plan`; `aiwf template show --help` shows more
    ");
}

#[test]
fn an_unknown_flag_suggests_the_nearest() {
    assert_snapshot!(usage("prompt build change --instruction x"), @"
    error: unknown flag `--instruction`

    hint: did you mean `--instructions`? `aiwf prompt build change --help` lists all
    ");
    assert_snapshot!(usage("--jsn"), @"
    error: unknown flag `--jsn`

    hint: did you mean `--json`? `aiwf --help` lists all
    ");
    assert_snapshot!(usage("prompt build reply --input r.json --file 'src/**'"), @"
    error: unknown flag `--file`

    hint: `aiwf prompt build reply --help` lists what it takes
    ");
}

#[test]
fn a_word_too_many_is_named() {
    assert_snapshot!(usage("prompt recipes extra"), @"
    error: unknown argument `extra`

    hint: `aiwf prompt recipes --help` lists what it takes
    ");
}

#[test]
fn a_flag_without_its_value_is_named() {
    assert_snapshot!(usage("prompt build change --instructions"), @"
    error: `--instructions` needs a value

    hint: `aiwf prompt build change --help` shows its usage
    ");
    assert_snapshot!(usage("prompt build change --instructions x --out ''"), @"
    error: `--out` needs a value

    hint: `aiwf prompt build change --help` shows its usage
    ");
}

#[test]
fn a_flag_given_twice_is_named() {
    assert_snapshot!(usage("prompt build change --instructions x --format xml --format text"), @"
    error: `--format` is specified twice

    hint: give `--format` once
    ");
}

#[test]
fn a_value_that_does_not_fit_says_what_does() {
    assert_snapshot!(usage("prompt build change --instructions x --budget many"), @"
    error: `many` is not valid for `--budget`: expected a number of tokens, such as 128000 or 128_000

    hint: `aiwf prompt build change --help` shows its usage
    ");
    assert_snapshot!(usage("prompt build change --instructions x --budget 0"), @"
    error: `0` is not valid for `--budget`: the budget must be at least 1 token

    hint: `aiwf prompt build change --help` shows its usage
    ");
    assert_snapshot!(usage("prompt build change --instructions x --budget=-5"), @"
    error: `-5` is not valid for `--budget`: expected a number of tokens, such as 128000 or 128_000

    hint: `aiwf prompt build change --help` shows its usage
    ");
    assert_snapshot!(usage("prompt build change --instructions x --artifact plan.md"), @"
    error: `plan.md` is not valid for `--artifact`: expected NAME=FILE, such as plan=plan.md

    hint: `aiwf prompt build change --help` shows its usage
    ");
    assert_snapshot!(usage("prompt build session --iteration 0"), @"
    error: `0` is not valid for `--iteration`: expected a whole number from 1

    hint: `aiwf prompt build session --help` shows its usage
    ");
}

#[test]
fn an_argument_that_is_not_text_is_a_usage_error() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let project = project();
    let run = || project.command("prompt build change --instructions").arg(OsStr::from_bytes(b"\xff"));
    assert_snapshot!(run().run(), @"
    --- stderr
    error: an argument is not UTF-8 text

    hint: pass the text in a file, or rename the file that it names
    --- exit code 2
    ");
    assert_snapshot!(run().arg("--json").run(), @r#"
    --- stdout
    {"schema_version":1,"command":"prompt build","exit_code":2,"error":{"code":"USAGE","message":"an argument is not UTF-8 text","hint":"pass the text in a file, or rename the file that it names"}}
    --- exit code 2
    "#);
}

#[test]
fn a_usage_error_is_one_line_of_json_on_request() {
    let project = project();
    assert_snapshot!(pretty(&project.run("prompt build chnge --json")), @r#"
    {
      "schema_version": 1,
      "command": "prompt build",
      "exit_code": 2,
      "error": {
        "code": "USAGE",
        "message": "unknown recipe `chnge`",
        "hint": "did you mean `change`? known: `session`, `change`, `workflow`, `reply`"
      }
    }
    "#);
    assert_snapshot!(pretty(&project.run("prompt build session --json")), @r#"
    {
      "schema_version": 1,
      "command": "prompt build",
      "exit_code": 2,
      "error": {
        "code": "USAGE",
        "message": "missing `--session-dir <DIR>`, `--phase <PHASE>`, `--iteration <N>`, `--profile-prompt <FILE|->`",
        "hint": "give what is missing, or a document with `--input`; `aiwf prompt build session --help` shows its usage"
      }
    }
    "#);
    assert_snapshot!(pretty(&project.run("--json prompt build change --instructions x --budget many")), @r#"
    {
      "schema_version": 1,
      "command": "prompt build",
      "exit_code": 2,
      "error": {
        "code": "USAGE",
        "message": "`many` is not valid for `--budget`: expected a number of tokens, such as 128000 or 128_000",
        "hint": "`aiwf prompt build change --help` shows its usage"
      }
    }
    "#);
    assert_snapshot!(pretty(&project.run("reply parse --as file-marker --json")), @r#"
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 2,
      "error": {
        "code": "USAGE",
        "message": "unknown value `file-marker` for `--as`",
        "hint": "did you mean `file-markers`? known: `file-markers`, `fenced-files`, `edits`, `review-meta`, `verdict-tag`, `task-status`, `tool-calls`, `front-matter`"
      }
    }
    "#);
    assert_snapshot!(pretty(&project.run("prompt --json")), @r#"
    {
      "schema_version": 1,
      "command": "prompt",
      "exit_code": 2,
      "error": {
        "code": "USAGE",
        "message": "`aiwf prompt` needs a command",
        "hint": "add one of `build`, `preview`, `send`, `diff`, `recipes`, `schema`"
      }
    }
    "#);
}

#[test]
fn json_names_the_command_as_far_as_it_is_known() {
    let project = project();
    let command = |line: &str| {
        let outcome = project.run(line);
        assert_eq!(outcome.stderr, b"", "{outcome}");
        json(&outcome)["command"].as_str().unwrap().to_owned()
    };
    assert_eq!(command("--json promt"), "");
    assert_eq!(command("--json prompt bild"), "prompt");
    assert_eq!(command("--json prompt preview"), "prompt preview");
    assert_eq!(command("prompt preview change --json"), "prompt preview");
    assert_eq!(command("--project-dir . template shw --json"), "template");
    assert_eq!(command("--json reply parse"), "reply parse");
}

#[test]
fn a_project_that_does_not_exist_is_refused() {
    let project = project().file("notes.md", "");
    assert_snapshot!(project.run("--project-dir nowhere prompt recipes"), @"
    --- stderr
    error: project directory `[project]/nowhere` does not exist

    hint: use an existing directory, or omit it to find the project from the working directory
    --- exit code 1
    ");
    assert_snapshot!(pretty(&project.run("--project-dir nowhere prompt recipes --json")), @r#"
    {
      "schema_version": 1,
      "command": "prompt recipes",
      "exit_code": 1,
      "error": {
        "code": "PROJECT_NOT_FOUND",
        "message": "project directory `[project]/nowhere` does not exist",
        "hint": "use an existing directory, or omit it to find the project from the working directory"
      }
    }
    "#);
    assert_eq!(project.run("--project-dir notes.md prompt recipes").exit_code(), 1);
}
