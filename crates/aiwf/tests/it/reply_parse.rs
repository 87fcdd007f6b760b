//! `aiwf reply parse`: what each parser prints, for programs and for people.

use insta::assert_snapshot;

use crate::{json, pretty, project};

/// A reply read both ways: as text and as JSON.
fn parsed(parser: &str, reply: &str) -> String {
    let project = project();
    let text = project.run_with_input(&format!("reply parse --as {parser}"), reply);
    let json = project.run_with_input(&format!("reply parse --as {parser} --json"), reply);
    assert_eq!(text.exit_code(), json.exit_code());
    assert_eq!(json.stderr, b"", "{json}");
    format!("{text}\n{}", pretty(&json))
}

#[test]
fn file_markers() {
    assert_snapshot!(parsed("file-markers", "Here:\n<<<FILE: src/a.rs>>>\nfn a() {}\n<<<FILE: b.md>>>\ntext"), @r#"
    --- stdout
    src/a.rs (10 bytes)
    b.md (5 bytes)
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "files": [
        {
          "path": "src/a.rs",
          "content": "fn a() {}\n"
        },
        {
          "path": "b.md",
          "content": "text\n"
        }
      ],
      "problems": []
    }
    "#);
}

#[test]
fn edits() {
    let reply =
        "<<<EDIT: a.py>>>\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n<<<RENAME: b.py -> c.py>>>\n";
    assert_snapshot!(parsed("edits", reply), @r#"
    --- stdout
    change a.py (1 hunk)
    rename b.py -> c.py
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "edits": [
        {
          "kind": "change",
          "path": "a.py",
          "hunks": [
            {
              "search": [
                "old"
              ],
              "replace": [
                "new"
              ],
              "line": 2
            }
          ],
          "line": 1
        },
        {
          "kind": "rename",
          "path": "b.py",
          "to": "c.py",
          "line": 7
        }
      ],
      "problems": []
    }
    "#);
}

#[test]
fn file_markers_that_are_missing() {
    assert_snapshot!(parsed("file-markers", "I did nothing."), @r#"
    --- stderr
    line 1, column 1: no file marker: write a line `<<<FILE: path/to/file>>>` before the content of each file
    --- exit code 1
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 1,
      "files": [],
      "problems": [
        {
          "line": 1,
          "column": 1,
          "message": "no file marker: write a line `<<<FILE: path/to/file>>>` before the content of each file"
        }
      ]
    }
    "#);
}

#[test]
fn fenced_files() {
    assert_snapshot!(parsed("fenced-files", "```rust\n// src/a.rs\nfn a() {}\n```\n"), @r#"
    --- stdout
    src/a.rs (10 bytes)
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "files": [
        {
          "path": "src/a.rs",
          "content": "fn a() {}\n"
        }
      ],
      "problems": []
    }
    "#);
}

#[test]
fn review_meta() {
    let reply =
        "@@@REVIEW_META\nverdict: FAIL\nissues_total: 3\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
    assert_snapshot!(parsed("review-meta", reply), @r#"
    --- stdout
    verdict: FAIL
    issues_total: 3
    issues_critical: 1
    missing_inputs: 0
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "verdict": "FAIL",
      "issues_total": 3,
      "issues_critical": 1,
      "missing_inputs": 0,
      "problems": []
    }
    "#);
}

#[test]
fn review_meta_that_is_missing() {
    assert_snapshot!(parsed("review-meta", "Looks good."), @r#"
    --- stdout
    verdict: ?
    issues_total: ?
    issues_critical: ?
    missing_inputs: ?
    --- stderr
    line 1, column 1: no `@@@REVIEW_META` block: write a line `@@@REVIEW_META`, then `verdict`, `issues_total`, `issues_critical` and `missing_inputs`, then a line `@@@`
    --- exit code 1
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 1,
      "problems": [
        {
          "line": 1,
          "column": 1,
          "message": "no `@@@REVIEW_META` block: write a line `@@@REVIEW_META`, then `verdict`, `issues_total`, `issues_critical` and `missing_inputs`, then a line `@@@`"
        }
      ]
    }
    "#);
}

#[test]
fn verdict_tag() {
    assert_snapshot!(parsed("verdict-tag", "Fine.\n<review>PASS</review>\n"), @r#"
    --- stdout
    PASS
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "verdict": "PASS",
      "problems": []
    }
    "#);
}

#[test]
fn verdict_tags_in_conflict() {
    assert_snapshot!(parsed("verdict-tag", "<review>PASS</review>\n<review>NEEDS_CHANGES</review>\n"), @r#"
    --- stdout
    NEEDS_CHANGES
    --- stderr
    line 2, column 1: verdicts `NEEDS_CHANGES`, `PASS` conflict, so the worst, `NEEDS_CHANGES`, is used: write one verdict
    --- exit code 1
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 1,
      "verdict": "NEEDS_CHANGES",
      "problems": [
        {
          "line": 2,
          "column": 1,
          "message": "verdicts `NEEDS_CHANGES`, `PASS` conflict, so the worst, `NEEDS_CHANGES`, is used: write one verdict"
        }
      ]
    }
    "#);
}

#[test]
fn task_status() {
    let reply =
        "<task_status id=\"1.1\">COMPLETED</task_status>\n<task_status id=\"1.2\">FAILED</task_status>\n";
    assert_snapshot!(parsed("task-status", reply), @r#"
    --- stdout
    1.1 COMPLETED
    1.2 FAILED
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "tasks": [
        {
          "id": "1.1",
          "status": "COMPLETED"
        },
        {
          "id": "1.2",
          "status": "FAILED"
        }
      ],
      "problems": []
    }
    "#);
}

#[test]
fn tool_calls() {
    let reply = "I look.\n```json\n{\"tool_calls\": [{\"id\": \"1\", \"name\": \"read\", \"arguments\": {\"path\": \"a\"}}]}\n```\n";
    assert_snapshot!(parsed("tool-calls", reply), @r#"
    --- stdout
    read {"path":"a"}
    I look.
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "calls": [
        {
          "id": "1",
          "name": "read",
          "arguments": {
            "path": "a"
          }
        }
      ],
      "message": "I look.",
      "problems": []
    }
    "#);
}

#[test]
fn tool_calls_of_which_one_is_malformed() {
    let reply =
        "```json\n{\"tool_calls\": [{\"name\": \"read\", \"arguments\": {}}, {\"arguments\": {}}]}\n```\n";
    assert_snapshot!(parsed("tool-calls", reply), @r#"
    --- stdout
    read {}
    --- stderr
    line 2, column 52: tool call 2 has no `name`: write the name of a tool
    --- exit code 1
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 1,
      "calls": [
        {
          "name": "read",
          "arguments": {}
        }
      ],
      "problems": [
        {
          "line": 2,
          "column": 52,
          "message": "tool call 2 has no `name`: write the name of a tool"
        }
      ]
    }
    "#);
}

#[test]
fn an_answer_without_tool_calls_is_a_message() {
    assert_snapshot!(parsed("tool-calls", "Nothing to do."), @r#"
    --- stdout
    Nothing to do.
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "calls": [],
      "message": "Nothing to do.",
      "problems": []
    }
    "#);
}

#[test]
fn front_matter() {
    assert_snapshot!(parsed("front-matter", "---\ntitle: A\ntags: [x, y]\n---\nBody\n"), @r#"
    --- stdout
    {
      "title": "A",
      "tags": [
        "x",
        "y"
      ]
    }
    --- exit code 0
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 0,
      "data": {
        "title": "A",
        "tags": [
          "x",
          "y"
        ]
      },
      "body": "Body\n",
      "problems": []
    }
    "#);
}

#[test]
fn front_matter_that_is_missing() {
    assert_snapshot!(parsed("front-matter", "Body"), @r#"
    --- stdout
    {}
    --- stderr
    line 1, column 1: no front matter: start the file with a line `---`, YAML, and another line `---`
    --- exit code 1
    {
      "schema_version": 1,
      "command": "reply parse",
      "exit_code": 1,
      "data": {},
      "body": "Body",
      "problems": [
        {
          "line": 1,
          "column": 1,
          "message": "no front matter: start the file with a line `---`, YAML, and another line `---`"
        }
      ]
    }
    "#);
}

#[test]
fn a_reply_comes_from_a_file_a_dash_or_the_standard_input() {
    let project = project().file("replies/1.md", "<review>PASS</review>");
    let from_file = project.run("reply parse --as verdict-tag replies/1.md --json").success();
    let reply = "<review>PASS</review>";
    assert_eq!(project.run_with_input("reply parse --as verdict-tag - --json", reply), from_file);
    assert_eq!(project.run_with_input("reply parse --as verdict-tag --json", reply), from_file);
    assert_eq!(json(&from_file)["command"], "reply parse");
}

#[test]
fn a_missing_reply_is_named_as_it_was_given() {
    assert_snapshot!(project().run("reply parse --as verdict-tag replies/2.md"), @"
    --- stderr
    error: could not read `replies/2.md`
      caused by: no such file in `[project]/replies`

    hint: check the spelling of `replies/2.md`
    --- exit code 1
    ");
    assert_snapshot!(project().run("reply parse --as verdict-tag replies/2.md --json"), @r#"
    --- stdout
    {"schema_version":1,"command":"reply parse","exit_code":1,"error":{"code":"FILE_UNREADABLE","message":"could not read `replies/2.md`: no such file in `[project]/replies`","hint":"check the spelling of `replies/2.md`"}}
    --- exit code 1
    "#);
}

#[test]
fn a_reply_that_is_not_text_is_refused() {
    assert_snapshot!(project().run_with_input("reply parse --as tool-calls", b"call \xff".to_vec()), @"
    --- stderr
    error: `stdin` is not UTF-8 text (first bad byte at offset 5)

    hint: convert it to UTF-8, or exclude it
    --- exit code 1
    ");
}
