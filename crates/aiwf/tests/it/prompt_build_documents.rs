//! Documents that do not fit: what is said about them; the exit code is 1.

use insta::assert_snapshot;

use crate::{json, pretty, project};

/// What is said about a document; nothing may stand on the standard output.
fn refusal(recipe: &str, document: impl Into<Vec<u8>>) -> String {
    let outcome = project().run_with_input(&format!("prompt build {recipe} --input -"), document);
    assert_eq!(outcome.exit_code(), 1, "{outcome}");
    assert_eq!(outcome.stdout, b"", "{outcome}");
    outcome.stderr_text()
}

#[test]
fn an_empty_input_is_reported() {
    assert_snapshot!(refusal("change", ""), @"
    error: input is empty

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_eq!(refusal("change", " \n"), refusal("change", ""));
    assert_eq!(refusal("change", "\u{feff}"), refusal("change", ""));
}

#[test]
fn text_that_is_not_json_is_shown_where_it_stops_being_so() {
    assert_snapshot!(refusal("change", "{"), @"
    error: input is not JSON: it ends in the middle of an object at line 1 column 1

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("reply", "{\n  \"mode\": api\n}"), @"
    error: input is not JSON: a value was expected at line 2 column 11

    hint: `aiwf prompt schema reply` prints the schema of its documents
    ");
    assert_snapshot!(refusal("change", r#"{"instructions": "x",}"#), @"
    error: input is not JSON: trailing comma at line 1 column 22

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("change", "instructions: x"), @"
    error: input is not JSON: a value was expected at line 1 column 1

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
}

#[test]
fn what_follows_the_document_is_an_error() {
    assert_snapshot!(refusal("change", r#"{"instructions": "x"} trailing"#), @"
    error: input is not JSON: something follows the document at line 1 column 23

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("change", r#"{"instructions": "x"}{"instructions": "y"}"#), @"
    error: input is not JSON: something follows the document at line 1 column 22

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
}

#[test]
fn a_byte_order_mark_and_white_space_are_no_error() {
    let project = project();
    let outcome =
        project.run_with_input("prompt build change --input -", "\u{feff}\n {\"instructions\": \"x\"} \n");
    assert_eq!(outcome.success().stdout_text(), "<prompt>\n<instructions>x</instructions>\n</prompt>");
}

#[test]
fn nesting_without_end_is_an_error() {
    assert_snapshot!(refusal("change", "[".repeat(1_000_000)), @"
    error: document does not match recipe `change`
      expected an object, found a list

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    let bomb = format!(
        r#"{{"request": {{"aiMessage": "x"}}, "mode": "api", "mcpTools": [{{"name": "t", "inputSchema": {}"#,
        "[".repeat(100_000)
    );
    assert_snapshot!(refusal("reply", bomb), @"
    error: input is not JSON: it is nested too deeply at line 1 column 214

    hint: `aiwf prompt schema reply` prints the schema of its documents
    ");
    let bomb = format!(
        r#"{{"mode": "chat", "agentDefinition": {{"id": "a"}}, "variables": {{"v": {}"#,
        "{\"a\":".repeat(100_000)
    );
    assert_snapshot!(refusal("workflow", bomb), @"
    error: input is not JSON: it is nested too deeply at line 1 column 694

    hint: `aiwf prompt schema workflow` prints the schema of its documents
    ");
}

#[test]
fn a_document_is_an_object() {
    assert_snapshot!(refusal("change", "null"), @"
    error: document does not match recipe `change`
      expected an object, found null

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("change", r#""x""#), @r#"
    error: document does not match recipe `change`
      expected an object, found string "x"

    hint: `aiwf prompt schema change` prints the schema of its documents
    "#);
    assert_snapshot!(refusal("change", r#"["claude", "plan", null, [], "do it"]"#), @"
    error: document does not match recipe `change`
      expected an object, found a list

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "context": [["file", "a.rs", "text"]]}"#), @"
    error: document does not match recipe `change`
      at `context[0]`: expected an object, found a list

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("reply", r#"{"request": ["x"], "mode": "api"}"#), @"
    error: document does not match recipe `reply`
      at `request`: expected an object, found a list

    hint: `aiwf prompt schema reply` prints the schema of its documents
    ");
    assert_snapshot!(refusal("workflow", r#"{"mode": "chat", "agentDefinition": {"id": "a", "metadata": ["n", "t"]}}"#), @"
    error: document does not match recipe `workflow`
      at `agentDefinition.metadata`: expected an object, found a list

    hint: `aiwf prompt schema workflow` prints the schema of its documents
    ");
}

#[test]
fn a_missing_field_is_named() {
    assert_snapshot!(refusal("change", "{}"), @"
    error: document does not match recipe `change`
      field `instructions` is missing

    hint: add `instructions` to the document
    ");
    assert_snapshot!(refusal("session", r#"{"session_dir": "s", "phase": "planning", "iteration": 1}"#), @"
    error: document does not match recipe `session`
      field `profile_prompt` is missing

    hint: add `profile_prompt` to the document
    ");
    assert_snapshot!(refusal("reply", r#"{"request": {}, "mode": "api"}"#), @"
    error: document does not match recipe `reply`
      at `request`: field `ai_message` is missing

    hint: add `ai_message` to the document
    ");
    assert_snapshot!(refusal("reply", r#"{"request": {"aiMessage": "x"}, "mode": "api", "mcpTools": [{"name": "a"}, {}]}"#), @"
    error: document does not match recipe `reply`
      at `mcpTools[1]`: field `name` is missing

    hint: add `name` to the document
    ");
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "context": [{"name": "a"}]}"#), @"
    error: document does not match recipe `change`
      at `context[0]`: field `type` is missing

    hint: add `type` to the document
    ");
}

#[test]
fn an_unknown_field_suggests_the_nearest() {
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "contxt": []}"#), @"
    error: document does not match recipe `change`
      at `contxt`: unknown field `contxt`

    hint: did you mean `context`? known: `agent`, `phase`, `system_prompt`, `context`, `instructions`, `variables`
    ");
    assert_snapshot!(refusal("reply", r#"{"request": {"aiMesage": "x"}, "mode": "api"}"#), @"
    error: document does not match recipe `reply`
      at `request.aiMesage`: unknown field `aiMesage`

    hint: did you mean `aiMessage`? known: `ai_message`, `user_context`, `tool_results`, `include_mcp_tools`, `project_name`, `project_path`
    ");
    assert_snapshot!(refusal("session", r#"{"sesionDir": "s"}"#), @"
    error: document does not match recipe `session`
      at `sesionDir`: unknown field `sesionDir`

    hint: did you mean `sessionDir`? known: `session_dir`, `phase`, `iteration`, `profile_prompt`, `fs_ability`, `supports_system_prompt`, `supports_file_attachments`, `comments`, `notes`, `feedback`, `rejected_reply`
    ");
    assert_snapshot!(refusal("workflow", r#"{"mode": "chat", "agentDefinition": {"id": "a", "tools": {"fs": {"zzz": 1}}}}"#), @"
    error: document does not match recipe `workflow`
      at `agentDefinition.tools.fs.zzz`: unknown field `zzz`

    hint: known: `enabled`, `max_read_bytes`, `max_write_bytes`
    ");
    assert_snapshot!(refusal("change", r#"{"a`b": 1}"#), @"
    error: document does not match recipe `change`
      at `a`b`: unknown field `a`b`

    hint: known: `agent`, `phase`, `system_prompt`, `context`, `instructions`, `variables`
    ");
}

#[test]
fn both_spellings_of_a_field_are_one_too_many() {
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "systemPrompt": "a", "system_prompt": "b"}"#), @"
    error: document does not match recipe `change`
      field `system_prompt` occurs twice

    hint: keep one `system_prompt`; its `camelCase` spelling is the same field
    ");
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "instructions": "y"}"#), @"
    error: document does not match recipe `change`
      field `instructions` occurs twice

    hint: keep one `instructions`
    ");
}

#[test]
fn a_value_of_another_type_is_shown_with_the_path_to_it() {
    assert_snapshot!(refusal("change", r#"{"instructions": 5}"#), @"
    error: document does not match recipe `change`
      at `instructions`: expected a string, found number `5`

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "context": {}}"#), @"
    error: document does not match recipe `change`
      at `context`: expected a list, found an object

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "context": [{"type": "file", "content": ["x"]}]}"#), @"
    error: document does not match recipe `change`
      at `context[0].content`: expected a string, found a list

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "variables": {"a": {"b": 1}}}"#), @"
    error: document does not match recipe `change`
      at `variables.a`: expected a string, found an object

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
    assert_snapshot!(refusal("session", r#"{"session_dir": "s", "phase": "planning", "iteration": "1", "profile_prompt": "p"}"#), @r#"
    error: document does not match recipe `session`
      at `iteration`: expected a whole number from 0 to 4294967295, found string "1"

    hint: `aiwf prompt schema session` prints the schema of its documents
    "#);
    assert_snapshot!(refusal("session", r#"{"session_dir": "s", "phase": "planning", "iteration": -1, "profile_prompt": "p"}"#), @"
    error: document does not match recipe `session`
      at `iteration`: expected a whole number from 0 to 4294967295, found number `-1`

    hint: `aiwf prompt schema session` prints the schema of its documents
    ");
    assert_snapshot!(refusal("session", r#"{"session_dir": "s", "phase": "planning", "iteration": 1.5, "profile_prompt": "p"}"#), @"
    error: document does not match recipe `session`
      at `iteration`: expected a whole number from 0 to 4294967295, found number `1.5`

    hint: `aiwf prompt schema session` prints the schema of its documents
    ");
    assert_snapshot!(refusal("session", r#"{"supports_system_prompt": "yes"}"#), @r#"
    error: document does not match recipe `session`
      at `supports_system_prompt`: expected a boolean, found string "yes"

    hint: `aiwf prompt schema session` prints the schema of its documents
    "#);
    assert_snapshot!(refusal("reply", r#"{"request": {"aiMessage": "x"}, "mode": "api", "settings": {"components": [{"id": "closing", "order": 1e20}]}}"#), @"
    error: document does not match recipe `reply`
      at `settings.components[0].order`: expected a whole number from -2147483648 to 2147483647, found number `1e+20`

    hint: `aiwf prompt schema reply` prints the schema of its documents
    ");
    assert_snapshot!(refusal("workflow", r#"{"mode": "agent", "agentDefinition": {"id": "a", "persona": {"role": "r", "identity": "i", "communicationStyle": "c", "principles": 5}}}"#), @"
    error: document does not match recipe `workflow`
      at `agentDefinition.persona.principles`: expected a string or a list of strings

    hint: `aiwf prompt schema workflow` prints the schema of its documents
    ");
}

#[test]
fn a_huge_value_does_not_flood_the_message() {
    let document = format!(r#"{{"instructions": "x", "context": "{}"}}"#, "y".repeat(1_000_000));
    assert!(refusal("change", document).len() < 500);
    let document = format!(r#"{{"{}": 1}}"#, "y".repeat(1_000_000));
    assert!(refusal("change", document).len() < 600);
    let document =
        format!(r#"{{"request": {{"aiMessage": "x"}}, "mode": "{}"}}"#, "y\\u0007\\n".repeat(100_000));
    let said = refusal("reply", document);
    assert!(said.len() < 500 && said.lines().count() == 4, "{said}");
}

#[test]
fn an_unknown_name_in_a_document_is_an_error_with_the_nearest() {
    assert_snapshot!(refusal("change", r#"{"instructions": "x", "context": [{"type": "fil"}]}"#), @"
    error: unknown context type `fil`
      at `context[0].type`

    hint: did you mean `file`? known: `file`, `artifact`, `thought`
    ");
    assert_snapshot!(refusal("workflow", r#"{"mode": "rum", "agentDefinition": {"id": "a"}}"#), @"
    error: unknown mode `rum`
      at `mode`

    hint: did you mean `run`? known: `run`, `agent`, `chat`
    ");
    assert_snapshot!(refusal("workflow", r#"{"mode": "chat", "agentDefinition": {"id": "a"}, "intent": "begin"}"#), @"
    error: unknown intent `begin`
      at `intent`

    hint: known: `start`, `continue`, `resume`
    ");
    assert_snapshot!(refusal("reply", r#"{"request": {"aiMessage": "x"}, "mode": "ap"}"#), @"
    error: unknown mode `ap`
      at `mode`

    hint: did you mean `api`? known: `api`, `cli`
    ");
    assert_snapshot!(refusal("reply", r#"{"request": {"aiMessage": "x"}, "mode": "api", "settings": {"components": [{"id": "clsing"}]}}"#), @"
    error: unknown component `clsing`

    hint: did you mean `closing`? known: `system-prompt`, `mcp-tools`, `user-context`, `tool-results`, `ai-message`, `closing`
    ");
}

#[test]
fn an_iteration_starts_at_one() {
    assert_snapshot!(refusal("session", r#"{"session_dir": ".", "phase": "planning", "iteration": 0, "profile_prompt": "p"}"#), @"
    error: `iteration` is 0 but must be at least 1

    hint: set `iteration` to 1 or more
    ");
}

#[test]
fn what_a_mode_of_a_workflow_needs_and_lacks_is_named() {
    assert_snapshot!(refusal("workflow", r#"{"mode": "run", "agentDefinition": {"id": "a", "systemPrompt": "s"}}"#), @"
    error: mode `run` needs `workflowId`

    hint: add `workflowId` to the document
    ");
    assert_snapshot!(refusal("workflow", r#"{"mode": "run", "workflowId": "w", "graphRelPath": "g", "agentDefinition": {"id": "a", "systemPrompt": "s"}}"#), @"
    error: mode `run` needs `nodeBrief`

    hint: add `nodeBrief` to the document
    ");
    assert_snapshot!(refusal("workflow", r#"{"mode": "agent", "agentDefinition": {"id": "a"}}"#), @"
    error: mode `agent` needs `agentDefinition.persona`

    hint: add `agentDefinition.persona` to the document
    ");
    assert_snapshot!(refusal("workflow", r#"{"mode": "run", "workflowId": "w", "graphRelPath": "g", "currentNodeId": "b", "agentDefinition": {"id": "a", "systemPrompt": "s"}, "nodeBrief": {"nodeId": "a", "nodeType": "step", "stepFilePathInPkg": "s.md", "transitions": []}}"#), @"
    error: `currentNodeId` is `b` but `nodeBrief.nodeId` is `a`

    hint: set `currentNodeId` and `nodeBrief.nodeId` to the same value, or remove one
    ");
}

#[test]
fn an_undefined_variable_of_a_user_template_is_shown() {
    assert_snapshot!(refusal("workflow", r#"{"mode": "chat", "agentDefinition": {"id": "a", "userPromptTemplate": "Task:\n{{ userInptu }}"}, "userInput": "hi", "variables": {"v": 1}}"#), @"
    error: variable `userInptu` is not defined
     --> agent a userPromptTemplate:2:4
      |
    2 | {{ userInptu }}
      |    ^^^^^^^^^

    hint: did you mean `userInput`? defined here: `userInput`, `v`
    ");
}

#[test]
fn input_that_is_not_text_is_refused() {
    assert_snapshot!(refusal("change", b"{\"instructions\": \"\xff\"}".to_vec()), @"
    error: `stdin` is not UTF-8 text (first bad byte at offset 18)

    hint: convert it to UTF-8, or exclude it
    ");
    assert_snapshot!(refusal("change", b"\0\0\0\0".to_vec()), @"
    error: input is not JSON: a value was expected at line 1 column 1

    hint: `aiwf prompt schema change` prints the schema of its documents
    ");
}

#[test]
fn a_missing_document_is_named_as_it_was_given() {
    let project = project();
    assert_snapshot!(project.run("prompt build reply --input requests/1.json"), @"
    --- stderr
    error: could not read `requests/1.json`
      caused by: no such file in `[project]/requests`

    hint: check the spelling of `requests/1.json`
    --- exit code 1
    ");
    assert_snapshot!(project.run("prompt build reply --input ."), @"
    --- stderr
    error: could not read `.`
      caused by: is a directory

    hint: name a file: `.` is a directory
    --- exit code 1
    ");
}

#[test]
fn an_input_without_end_is_refused() {
    let project = project();
    let run = |line: &str| {
        project.command(line).run_fed_by(|pipe| {
            let block = vec![b' '; 1 << 20];
            (0..80).try_for_each(|_| pipe.write_all(&block))
        })
    };
    assert_snapshot!(run("prompt build change --input -"), @"
    --- stderr
    error: `stdin` is larger than 64 MiB

    hint: shorten it, or exclude it
    --- exit code 1
    ");
    assert_snapshot!(run("prompt build change --instructions @-"), @"
    --- stderr
    error: `stdin` is larger than 64 MiB

    hint: shorten it, or exclude it
    --- exit code 1
    ");
    assert_snapshot!(run("reply parse --as tool-calls"), @"
    --- stderr
    error: `stdin` is larger than 64 MiB

    hint: shorten it, or exclude it
    --- exit code 1
    ");
    assert_snapshot!(project.run("prompt build change --instructions x --artifact a=/dev/zero"), @"
    --- stderr
    error: `/dev/zero` is larger than 64 MiB

    hint: shorten it, or exclude it
    --- exit code 1
    ");
}

#[test]
fn the_standard_input_is_read_once() {
    let project = project().dir("s");
    assert_snapshot!(project.run("prompt build change --input - --instructions @-"), @"
    --- stderr
    error: stdin can be read only once

    hint: give one of the inputs as a file
    --- exit code 2
    ");
    let outcome = project.run("prompt build session --input - --profile-prompt -");
    assert_eq!(outcome.first_error_line(), "error: stdin can be read only once");
    assert_eq!(outcome.exit_code(), 2);
    assert_eq!(json(&project.run("prompt build change --input - --instructions @- --json"))["exit_code"], 2);
}

#[test]
fn a_refusal_is_one_line_of_json_on_request() {
    let project = project();
    let run = |command: &str, document: &str| {
        pretty(&project.run_with_input(&format!("prompt {command} change --input - --json"), document))
    };
    assert_snapshot!(run("build", r#"{"instructions": "x", "contxt": []}"#), @r#"
    {
      "schema_version": 1,
      "command": "prompt build",
      "exit_code": 1,
      "error": {
        "code": "INPUT_INVALID",
        "message": "document does not match recipe `change`\n  at `contxt`: unknown field `contxt`",
        "hint": "did you mean `context`? known: `agent`, `phase`, `system_prompt`, `context`, `instructions`, `variables`"
      }
    }
    "#);
    assert_snapshot!(run("preview", r#"{"instructions": 1}"#), @r#"
    {
      "schema_version": 1,
      "command": "prompt preview",
      "exit_code": 1,
      "success": false,
      "error": {
        "code": "INPUT_INVALID",
        "message": "document does not match recipe `change`\n  at `instructions`: expected a string, found number `1`",
        "hint": "`aiwf prompt schema change` prints the schema of its documents"
      }
    }
    "#);
    assert_snapshot!(run("build", r#"{"instructions": "x", "phase": "plna"}"#), @r#"
    {
      "schema_version": 1,
      "command": "prompt build",
      "exit_code": 1,
      "error": {
        "code": "TEMPLATE_INVALID",
        "message": "no template for agent `BASE` in phase `plna` (TemplateNotFound)\n  tried: .aiwf/templates/system/BASE-plna.md\n  tried: templates/system/BASE-plna.md\n  tried: ~/.aiwf/templates/system/BASE-plna.md\n  tried: built-in:BASE-plna.md",
        "hint": "did you mean phase `plan`? for a new phase, create `.aiwf/templates/system/BASE-plna.md`"
      }
    }
    "#);
}
