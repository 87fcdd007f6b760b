//! `aiwf prompt preview`: the bytes of `build`, with their anatomy.

use insta::assert_snapshot;

use crate::{json, pretty, project};

#[test]
fn the_bytes_are_those_of_build_and_the_anatomy_is_always_there() {
    let project = project().file("src/a.rs", "fn a() {}\n").file("plan.md", "1.1 Do it\n");
    let flags = "change --instructions 'Add login' --file src --artifact plan=plan.md";
    let build = project.run(&format!("prompt build {flags}")).success();
    let preview = project.run(&format!("prompt preview {flags}")).success();
    assert_eq!(preview.stdout, build.stdout);
    assert_snapshot!(preview.stderr_text(), @"
    change prompt as xml: 41 tokens (estimate), sha256 6643571d5bbef9fdde64cfc2ba9cb5d14a161d8c2d3ce023eec857da73c60c6d
      context       ███████████·····         29  70.7%  input:context
        src/a.rs    █████···········         15  36.5%  file:src/a.rs
        plan        █████···········         14  34.1%  file:plan.md
      instructions  ████············         12  29.2%  input:instructions
    ");
    let explained = project.run(&format!("prompt build {flags} --explain")).success();
    assert_eq!(preview, explained);
}

#[test]
fn json_has_the_shape_of_a_preview() {
    let document = r#"{"request": {"aiMessage": "Done."}, "mode": "cli", "cliTool": "claude"}"#;
    let outcome = project().run_with_input("prompt preview reply --input - --json", document);
    assert_snapshot!(pretty(&outcome), @r###"
    {
      "schema_version": 1,
      "command": "prompt preview",
      "exit_code": 0,
      "success": true,
      "prompt": "## AI Message\n\n```\nDone.\n```\n\n## Your Answer\n\nAnswer the report above: say briefly what to do next, or what is still missing. Reply with the answer alone.",
      "mode": "cli",
      "cli_tool": "claude",
      "sections": [
        {
          "id": "ai-message",
          "name": "ai-message",
          "title": "AI Message",
          "role": "user",
          "order": 50,
          "source": "input:request.aiMessage",
          "bytes": 13,
          "tokens": 8,
          "sha256": "aa355e4108c65d7e01a73c4c0fb9e482a0d68d36204692f356a78c95351b268f",
          "kept": true,
          "content": "## AI Message\n\n```\nDone.\n```\n\n"
        },
        {
          "id": "closing",
          "name": "closing",
          "title": "Your Answer",
          "role": "user",
          "order": 100,
          "source": "engine:closing",
          "bytes": 108,
          "tokens": 31,
          "sha256": "91dd26901ddf3d19ea05729b224c6a28109a8fb0be130db45ea991622ffab170",
          "kept": true,
          "content": "## Your Answer\n\nAnswer the report above: say briefly what to do next, or what is still missing. Reply with the answer alone."
        }
      ],
      "metadata": {
        "mode": "cli",
        "cli_tool": "claude",
        "token_estimate": 39,
        "tokenizer": "estimate",
        "exact": false,
        "component_count": 2,
        "sha256": "5760c4ec9969afccc00763e3bfd31008c020af80cc6bb0d67852ea48b5a6fdff",
        "payload_sha256": "96060c798a967911caf7fb6434f9d922b09ac326583fc49824b8900de67f86ca",
        "fs_ability": "local-write"
      },
      "problems": [],
      "left_out": [],
      "request": {
        "recipe": "reply",
        "document": {
          "request": {
            "ai_message": "Done."
          },
          "mode": "cli",
          "cli_tool": "claude"
        }
      }
    }
    "###);
}

#[test]
fn api_mode_names_no_tool() {
    let document = r#"{"request": {"aiMessage": "Done."}, "mode": "api", "cliTool": "claude"}"#;
    let outcome = project().run_with_input("prompt preview reply --input - --json", document).success();
    let json = json(&outcome);
    assert_eq!(json["mode"], "api");
    assert_eq!(json.get("cli_tool"), None);
}

#[test]
fn a_failure_is_no_success_in_json() {
    let outcome = project().run("prompt preview change --instructions x --budget 1 --json");
    assert_snapshot!(pretty(&outcome), @r#"
    {
      "schema_version": 1,
      "command": "prompt preview",
      "exit_code": 1,
      "success": false,
      "error": {
        "code": "CONTEXT_STILL_TOO_LARGE",
        "message": "required sections need 13 tokens but the budget is 1\n  largest: `instructions` (13 tokens)",
        "hint": "shorten that section, or set a larger budget with `--budget`"
      }
    }
    "#);
}

#[test]
fn a_failure_is_reported_like_that_of_build() {
    let project = project();
    let flags = "change --instructions x --phase nowhere";
    assert_eq!(
        project.run(&format!("prompt preview {flags}")),
        project.run(&format!("prompt build {flags}"))
    );
}
