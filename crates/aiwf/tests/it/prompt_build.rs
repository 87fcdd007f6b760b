//! `aiwf prompt build`: the shapes of its output, one for each recipe and format.

use insta::assert_snapshot;
use serde_json::Value;

use crate::{json, pretty, project};

const REPLY: &str = r#"{
  "request": {
    "aiMessage": "Done.", "userContext": "Be brief.", "toolResults": "ok", "includeMCPTools": true,
    "projectName": "shop", "projectPath": "/srv/shop"
  },
  "settings": {"systemPrompt": "You answer for the user."},
  "mode": "cli",
  "cliTool": "claude",
  "mcpTools": [{"name": "read_file", "description": "Reads a file", "inputSchema": {"type": "object"}}]
}"#;

const TURN: &str = r#"{
  "mode": "run", "workflowId": "w1", "graphRelPath": "graph.json",
  "agentDefinition": {
    "id": "dev", "metadata": {"name": "Dana", "title": "Developer"},
    "persona": {"role": "r", "identity": "i", "communication_style": "c", "principles": ["p1", "p2"]}
  },
  "nodeBrief": {
    "nodeId": "n1", "nodeType": "step", "stepFilePathInPkg": "steps/1.md", "outputs": ["artifacts/a.md"],
    "transitions": [{"to": "n2", "label": "next", "isDefault": true}]
  },
  "userInput": "Go on."
}"#;

#[test]
fn a_change_as_json_has_the_published_shape() {
    let project = project().file("src/main.rs", "fn main() {}\n");
    let outcome = project.run("prompt build change --instructions 'Add login' --file src/main.rs --json");
    assert_snapshot!(pretty(&outcome), @r#"
    {
      "schema_version": 1,
      "command": "prompt build",
      "exit_code": 0,
      "recipe": "change",
      "format": "xml",
      "user_prompt": "<prompt>\n<context>\n<file path=\"src/main.rs\">fn main() {}\n</file>\n</context>\n<instructions>Add login</instructions>\n</prompt>",
      "full_prompt": "<prompt>\n<context>\n<file path=\"src/main.rs\">fn main() {}\n</file>\n</context>\n<instructions>Add login</instructions>\n</prompt>",
      "messages": [
        {
          "role": "user",
          "content": "<prompt>\n<context>\n<file path=\"src/main.rs\">fn main() {}\n</file>\n</context>\n<instructions>Add login</instructions>\n</prompt>"
        }
      ],
      "sections": [
        {
          "id": "context",
          "name": "context",
          "title": "Context",
          "role": "user",
          "order": 20,
          "source": "input:context",
          "bytes": 13,
          "tokens": 19,
          "sha256": "eaa567d859c00ca2e7d5ca7f6c292ae67b09e909949c5d83c18f53b9c0eacf1f",
          "kept": true,
          "content": "<prompt>\n<context>\n<file path=\"src/main.rs\">fn main() {}\n</file>\n</context>\n",
          "parts": [
            {
              "id": "src/main.rs",
              "source": "file:src/main.rs",
              "bytes": 13,
              "tokens": 19,
              "kept": true
            }
          ]
        },
        {
          "id": "instructions",
          "name": "instructions",
          "title": "Instructions",
          "role": "user",
          "order": 30,
          "source": "input:instructions",
          "bytes": 9,
          "tokens": 12,
          "sha256": "0e100ea6b067c91a0c019afbbbeaf4c34b3c7c9a64fd35738951fae60e614fec",
          "kept": true,
          "content": "<instructions>Add login</instructions>\n</prompt>"
        }
      ],
      "metadata": {
        "mode": "change",
        "token_estimate": 31,
        "tokenizer": "estimate",
        "exact": false,
        "component_count": 2,
        "sha256": "8d0682f7ebc9b247e5460939e5f01849bee709ba565b585de04648265c55e99b",
        "payload_sha256": "654c07a91221c340e2d4592d5ba53e56378a5e1bcc3fbbb21d8c985298a3c8eb",
        "fs_ability": "local-write"
      },
      "problems": [],
      "left_out": [],
      "request": {
        "recipe": "change",
        "document": {
          "instructions": "Add login",
          "variables": {}
        },
        "files": [
          "src/main.rs"
        ]
      }
    }
    "#);
}

#[test]
fn a_reply_as_json_has_the_published_shape() {
    let outcome = project().run_with_input("prompt build reply --input - --json", REPLY);
    assert_snapshot!(pretty(&outcome), @r###"
    {
      "schema_version": 1,
      "command": "prompt build",
      "exit_code": 0,
      "recipe": "reply",
      "format": "text",
      "user_prompt": "## System Instructions\n\nYou answer for the user.\n\n## MCP Tools\n\nYou can call the tools listed here. To call tools, answer with one JSON object in a fenced block and nothing\nelse that looks like a call:\n\n```json\n{\"tool_calls\": [{\"name\": \"TOOL\", \"arguments\": {}}]}\n```\n\nPut as many calls as you need into the list; they may run in parallel. Use only names from the list, and\narguments that match the tool's schema. You will be asked again with the results. If you need no tool, answer in\nplain text.\n\nProject: shop\n\nProject path: /srv/shop\n\n### read_file\n\n> Reads a file\n\n```json\n{\n  \"type\": \"object\"\n}\n```\n\n## User Context\n\n```\nBe brief.\n```\n\n## Tool Results\n\n```\nok\n```\n\n## AI Message\n\n```\nDone.\n```\n\n## Your Answer\n\nAnswer the report above: say briefly what to do next, or what is still missing. Reply with the answer alone.",
      "full_prompt": "## System Instructions\n\nYou answer for the user.\n\n## MCP Tools\n\nYou can call the tools listed here. To call tools, answer with one JSON object in a fenced block and nothing\nelse that looks like a call:\n\n```json\n{\"tool_calls\": [{\"name\": \"TOOL\", \"arguments\": {}}]}\n```\n\nPut as many calls as you need into the list; they may run in parallel. Use only names from the list, and\narguments that match the tool's schema. You will be asked again with the results. If you need no tool, answer in\nplain text.\n\nProject: shop\n\nProject path: /srv/shop\n\n### read_file\n\n> Reads a file\n\n```json\n{\n  \"type\": \"object\"\n}\n```\n\n## User Context\n\n```\nBe brief.\n```\n\n## Tool Results\n\n```\nok\n```\n\n## AI Message\n\n```\nDone.\n```\n\n## Your Answer\n\nAnswer the report above: say briefly what to do next, or what is still missing. Reply with the answer alone.",
      "messages": [
        {
          "role": "user",
          "content": "## System Instructions\n\nYou answer for the user.\n\n## MCP Tools\n\nYou can call the tools listed here. To call tools, answer with one JSON object in a fenced block and nothing\nelse that looks like a call:\n\n```json\n{\"tool_calls\": [{\"name\": \"TOOL\", \"arguments\": {}}]}\n```\n\nPut as many calls as you need into the list; they may run in parallel. Use only names from the list, and\narguments that match the tool's schema. You will be asked again with the results. If you need no tool, answer in\nplain text.\n\nProject: shop\n\nProject path: /srv/shop\n\n### read_file\n\n> Reads a file\n\n```json\n{\n  \"type\": \"object\"\n}\n```\n\n## User Context\n\n```\nBe brief.\n```\n\n## Tool Results\n\n```\nok\n```\n\n## AI Message\n\n```\nDone.\n```\n\n## Your Answer\n\nAnswer the report above: say briefly what to do next, or what is still missing. Reply with the answer alone."
        }
      ],
      "sections": [
        {
          "id": "system-prompt",
          "name": "system-prompt",
          "title": "System Instructions",
          "role": "user",
          "order": 10,
          "source": "input:settings.systemPrompt",
          "bytes": 24,
          "tokens": 13,
          "sha256": "0ccfdf56a0533f26018bc6bcd32c997ccb3dba969468995dee3dc17c99b90ada",
          "kept": true,
          "content": "## System Instructions\n\nYou answer for the user.\n\n"
        },
        {
          "id": "mcp-tools",
          "name": "mcp-tools",
          "title": "MCP Tools",
          "role": "user",
          "order": 20,
          "source": "input:mcpTools",
          "bytes": 540,
          "tokens": 139,
          "sha256": "a86adc147a0d7aa6f7f7c6bb0e7dfd162d5bd9ce543908935144ad2600968e0a",
          "kept": true,
          "content": "## MCP Tools\n\nYou can call the tools listed here. To call tools, answer with one JSON object in a fenced block and nothing\nelse that looks like a call:\n\n```json\n{\"tool_calls\": [{\"name\": \"TOOL\", \"arguments\": {}}]}\n```\n\nPut as many calls as you need into the list; they may run in parallel. Use only names from the list, and\narguments that match the tool's schema. You will be asked again with the results. If you need no tool, answer in\nplain text.\n\nProject: shop\n\nProject path: /srv/shop\n\n### read_file\n\n> Reads a file\n\n```json\n{\n  \"type\": \"object\"\n}\n```\n\n"
        },
        {
          "id": "user-context",
          "name": "user-context",
          "title": "User Context",
          "role": "user",
          "order": 30,
          "source": "input:request.userContext",
          "bytes": 17,
          "tokens": 9,
          "sha256": "6905baab9fdecaa54c9fec987f5badd668ccd5a99a2521763ab82431c2b5c99a",
          "kept": true,
          "content": "## User Context\n\n```\nBe brief.\n```\n\n"
        },
        {
          "id": "tool-results",
          "name": "tool-results",
          "title": "Tool Results",
          "role": "user",
          "order": 40,
          "source": "input:request.toolResults",
          "bytes": 10,
          "tokens": 8,
          "sha256": "dd128958e08e3a69d345fc63823aec4759b9a9591e733b42812cf8dae62bb6f9",
          "kept": true,
          "content": "## Tool Results\n\n```\nok\n```\n\n"
        },
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
        "token_estimate": 208,
        "tokenizer": "estimate",
        "exact": false,
        "component_count": 6,
        "sha256": "3fd98aca87fb3d4723c9d7f1df065b798f07f09e4ee2b0b775dbdbf99fb9f8bb",
        "payload_sha256": "c884c84875857e2ee52c03aa20079dab77d4f567d8531d0e38206cbfb2b72a7a",
        "fs_ability": "local-write"
      },
      "problems": [],
      "left_out": [],
      "request": {
        "recipe": "reply",
        "document": {
          "request": {
            "ai_message": "Done.",
            "user_context": "Be brief.",
            "tool_results": "ok",
            "include_mcp_tools": true,
            "project_name": "shop",
            "project_path": "/srv/shop"
          },
          "settings": {
            "system_prompt": "You answer for the user."
          },
          "mode": "cli",
          "cli_tool": "claude",
          "mcp_tools": [
            {
              "name": "read_file",
              "description": "Reads a file",
              "input_schema": {
                "type": "object"
              }
            }
          ]
        }
      }
    }
    "###);
}

#[test]
fn every_recipe_has_the_same_fields() {
    let project = project().file("s/standards-bundle.md", "Rule 1");
    let session = r#"{"session_dir": "s", "phase": "planning", "iteration": 1, "profile_prompt": "Plan it", "supports_system_prompt": true}"#;
    let change = r#"{"instructions": "Add login", "system_prompt": "Be careful"}"#;
    let names = |value: &Value| {
        let object = value.as_object().unwrap();
        object.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    for (recipe, document) in [("session", session), ("change", change), ("workflow", TURN), ("reply", REPLY)]
    {
        let line = format!("prompt build {recipe} --input - --json --system-prompt on --format text");
        let built = json(&project.run_with_input(&line, document).success());
        assert_eq!(
            names(&built),
            "schema_version command exit_code recipe format system_prompt user_prompt full_prompt messages \
             sections metadata problems left_out request",
            "{recipe}"
        );
        for section in built["sections"].as_array().unwrap() {
            assert_eq!(
                names(section).replace(" parts", ""),
                "id name title role order source bytes tokens sha256 kept content",
                "{recipe}"
            );
        }
        let bare = json(&project.run_with_input(&format!("{line} --no-content"), document).success());
        for section in bare["sections"].as_array().unwrap() {
            assert_eq!(section.get("content"), None, "{recipe}");
        }
        assert_eq!(
            names(&built["metadata"]).replace(" cli_tool", ""),
            "mode token_estimate tokenizer exact component_count sha256 payload_sha256 fs_ability",
            "{recipe}"
        );
        let line = format!("prompt preview {recipe} --input - --json");
        let preview = json(&project.run_with_input(&line, document).success());
        assert_eq!(
            names(&preview).replace(" cli_tool", ""),
            "schema_version command exit_code success prompt mode sections metadata problems left_out request",
            "{recipe}"
        );
    }
}

#[test]
fn a_session_as_json_leaves_an_empty_system_prompt_out() {
    let project = project().file("s/plan.md", "# Plan\n").file("p.md", "Generate code");
    let run = |flags: &str| {
        let line = format!(
            "prompt build session --session-dir s --phase generating --iteration 1 --profile-prompt p.md --json {flags}"
        );
        json(&project.run(&line).success())
    };
    let together = run("");
    assert_eq!(together.get("system_prompt"), None);
    assert_eq!(together["user_prompt"], together["full_prompt"]);
    assert_eq!(together["messages"].as_array().unwrap().len(), 1);
    let apart = run("--system-prompt on");
    assert_eq!(
        apart["system_prompt"],
        "## Output\n\nSave your complete response to `s/iteration-1/generation-response.md`"
    );
    assert_eq!(apart["user_prompt"], "## Approved Plan\n\n# Plan\n\n\n---\n\nGenerate code");
    let roles: Vec<&Value> =
        apart["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user"]);
    let none = run("--system-prompt on --fs-ability none");
    assert_eq!(none.get("system_prompt"), None);
}

#[test]
fn a_workflow_turn_is_a_json_array_with_a_message_for_each_layer() {
    let outcome = project().run_with_input("prompt build workflow --input -", TURN).success();
    let messages: Vec<Value> = serde_json::from_slice(&outcome.stdout).unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "system", "system", "user", "user", "user"]);
    let headers: Vec<&str> =
        messages.iter().map(|message| message["content"].as_str().unwrap().lines().next().unwrap()).collect();
    assert_eq!(headers[1], "Tool policy:");
    assert_eq!(headers[2..], ["You are Dana (Developer).", "RUN_DIRECTIVE", "NODE_BRIEF", "USER_INPUT"]);
}

#[test]
fn messages_are_there_for_every_format_and_every_recipe() {
    let project = project().dir("s");
    let session = r#"{"session_dir": "s", "phase": "planning", "iteration": 1, "profile_prompt": "Plan it"}"#;
    let change = r#"{"instructions": "Add login", "system_prompt": "Be careful"}"#;
    for (recipe, document) in [("session", session), ("change", change), ("workflow", TURN), ("reply", REPLY)]
    {
        for format in ["text", "xml", "messages"] {
            let line = format!("prompt build {recipe} --input - --format {format} --json");
            let json = json(&project.run_with_input(&line, document).success());
            assert_eq!(json["recipe"], recipe);
            assert_eq!(json["format"], format);
            assert!(!json["messages"].as_array().unwrap().is_empty(), "{recipe} as {format}");
            assert!(!json["full_prompt"].as_str().unwrap().is_empty(), "{recipe} as {format}");
            let sections = json["sections"].as_array().unwrap();
            assert!(sections.iter().all(|section| section["kept"] == true), "{recipe} as {format}");
        }
    }
}

#[test]
fn stdout_has_nothing_but_the_prompt() {
    let outcome = project().run("prompt build change --instructions 'Add login'");
    assert_snapshot!(outcome, @"
    --- stdout
    <prompt>
    <instructions>Add login</instructions>
    </prompt>⏎
    --- exit code 0
    ");
}

#[test]
fn the_anatomy_is_on_stderr() {
    let project = project()
        .file("src/a.rs", "fn a() {}\n")
        .file("src/b.rs", "fn b() { a(); }\n")
        .file(".aiwf/templates/system/BASE-plan.md", "Plan with care.\n");
    let plain = project.run("prompt build change --phase plan --instructions 'Add login' --file src");
    let explained =
        project.run("prompt build change --phase plan --instructions 'Add login' --file src --explain");
    assert_eq!(explained.stdout, plain.stdout);
    assert_snapshot!(explained.stderr_text(), @"
    change prompt as xml: 54 tokens (estimate), sha256 d5a12c53a17033bd949a1c4f689381a1766ed6e8d71f55b60692cd5843484f8d
      system-template  ████············         14  25.9%  template:.aiwf/templates/system/BASE-plan.md
      context          ████████········         28  51.8%  input:context
        src/b.rs       ████············         15  27.7%  file:src/b.rs
        src/a.rs       ███·············         13  24.0%  file:src/a.rs
      instructions     ███·············         12  22.2%  input:instructions
      the stable prefix ends after `system-template` (14 tokens)
    ");
}

#[test]
fn many_files_are_summed_up_in_the_anatomy() {
    let mut project = project();
    for number in 10..30 {
        project = project.file(&format!("src/{number}.rs"), "fn f() {}\n");
    }
    let outcome = project.run("prompt build change --instructions x --file src --explain").success();
    let lines = outcome.stderr_text();
    assert!(lines.contains("    … and 8 more kept; `--json` lists them all\n"), "{lines}");
    let json = json(&project.run("prompt build change --instructions x --file src --json"));
    assert_eq!(json["sections"][0]["parts"].as_array().unwrap().len(), 20);
}

#[test]
fn a_document_and_flags_together_name_all_sources() {
    let project = project().file("src/a.rs", "fn a() {}\n").file("plan.md", "1.1 Do it\n");
    let document =
        r#"{"instructions": "from the document", "context": [{"type": "thought", "content": "hm"}]}"#;
    let outcome = project.run_with_input(
        "prompt build change --input - --instructions 'from the flag' --file src/a.rs --artifact plan=plan.md --thought 'well'",
        document,
    );
    assert_snapshot!(outcome, @r#"
    --- stdout
    <prompt>
    <context>
    <thought name="thought-1">hm</thought>
    <file path="src/a.rs">fn a() {}
    </file>
    <artifact name="plan">1.1 Do it
    </artifact>
    <thought name="thought-2">well</thought>
    </context>
    <instructions>from the flag</instructions>
    </prompt>⏎
    --- exit code 0
    "#);
}

#[test]
fn flags_win_over_the_document_of_a_session() {
    let project = project().dir("s").dir("other").file("p.md", "from the file");
    let document = r#"{"session_dir": "nowhere", "phase": "generating", "iteration": 7, "profile_prompt": "from the document", "fs_ability": "none"}"#;
    let outcome = project.run_with_input(
        "prompt build session --input - --session-dir other --phase planning --iteration 2 --profile-prompt p.md --fs-ability local-write",
        document,
    );
    assert_snapshot!(outcome, @"
    --- stdout
    from the file

    ---

    ## Output

    Save your complete response to `other/iteration-2/planning-response.md`⏎
    --- exit code 0
    ");
}

#[test]
fn camel_case_and_snake_case_give_the_same_bytes() {
    let project = project().dir("s");
    let pairs = [
        (
            "session",
            r#"{"session_dir": "s", "phase": "planning", "iteration": 1, "profile_prompt": "p", "fs_ability": "local-read", "supports_system_prompt": true, "supports_file_attachments": false}"#,
            r#"{"sessionDir": "s", "phase": "planning", "iteration": 1, "profilePrompt": "p", "fsAbility": "local-read", "supportsSystemPrompt": true, "supportsFileAttachments": false}"#,
        ),
        (
            "change",
            r#"{"system_prompt": "s", "instructions": "i"}"#,
            r#"{"systemPrompt": "s", "instructions": "i"}"#,
        ),
        (
            "reply",
            r#"{"request": {"ai_message": "m", "user_context": "u", "tool_results": "t", "include_mcp_tools": true, "project_name": "n", "project_path": "p"}, "settings": {"system_prompt": "s"}, "mode": "cli", "cli_tool": "claude", "mcp_tools": [{"name": "a", "input_schema": {}}]}"#,
            r#"{"request": {"aiMessage": "m", "userContext": "u", "toolResults": "t", "includeMCPTools": true, "projectName": "n", "projectPath": "p"}, "settings": {"systemPrompt": "s"}, "mode": "cli", "cliTool": "claude", "mcpTools": [{"name": "a", "inputSchema": {}}]}"#,
        ),
        (
            "workflow",
            r#"{"mode": "run", "project_root": "/srv/p", "package_root": "/srv/k", "state_root": "/srv/s", "package_id": "k", "workflow_id": "w", "graph_rel_path": "g.json", "active_agent_id": "a", "effective_agent_id": "b", "agent_definition": {"id": "a", "critical_actions": ["c"], "system_prompt": "You are it.", "user_prompt_template": "Task: {{ userInput }}", "tools": {"fs": {"enabled": true, "max_read_bytes": 9, "max_write_bytes": 8}, "mcp": {"enabled": true, "allowed_servers": ["x"]}}, "conversational_knowledge": []}, "run_id": "r", "current_node_id": "n", "steps_completed": ["m"], "variables": {"v": 1}, "artifacts": ["artifacts/a.md"], "node_brief": {"node_id": "n", "node_type": "decision", "title": "t", "step_file_path_in_pkg": "s.md", "inputs": ["i"], "outputs": ["artifacts/o.md"], "transitions": [{"to": "o", "label": "l", "is_default": true, "condition_text": "c"}]}, "tool_policy": {"fs": {"enabled": true}}, "intent": "resume", "autopilot": true, "user_input": "hello", "data_context": {"label": "l", "path": "/srv/p/x", "preview": "/srv/p/y"}, "workflow_completed": false}"#,
            r#"{"mode": "run", "projectRoot": "/srv/p", "packageRoot": "/srv/k", "stateRoot": "/srv/s", "packageId": "k", "workflowId": "w", "graphRelPath": "g.json", "activeAgentId": "a", "effectiveAgentId": "b", "agentDefinition": {"id": "a", "criticalActions": ["c"], "systemPrompt": "You are it.", "userPromptTemplate": "Task: {{ userInput }}", "tools": {"fs": {"enabled": true, "maxReadBytes": 9, "maxWriteBytes": 8}, "mcp": {"enabled": true, "allowedServers": ["x"]}}, "conversationalKnowledge": []}, "runId": "r", "currentNodeId": "n", "stepsCompleted": ["m"], "variables": {"v": 1}, "artifacts": ["artifacts/a.md"], "nodeBrief": {"nodeId": "n", "nodeType": "decision", "title": "t", "stepFilePathInPkg": "s.md", "inputs": ["i"], "outputs": ["artifacts/o.md"], "transitions": [{"to": "o", "label": "l", "isDefault": true, "conditionText": "c"}]}, "toolPolicy": {"fs": {"enabled": true}}, "intent": "resume", "autopilot": true, "userInput": "hello", "dataContext": {"label": "l", "path": "/srv/p/x", "preview": "/srv/p/y"}, "workflowCompleted": false}"#,
        ),
    ];
    for (recipe, snake, camel) in pairs {
        let line = format!("prompt build {recipe} --input -");
        let snake = project.run_with_input(&line, snake).success();
        let camel = project.run_with_input(&line, camel).success();
        assert_eq!(snake, camel, "recipe {recipe}");
    }
}

#[test]
fn a_tool_may_carry_whatever_its_server_says() {
    let document = r#"{"request": {"aiMessage": "x", "includeMCPTools": true}, "mode": "api", "mcpTools": [{"name": "t", "title": "T", "annotations": {"readOnlyHint": true}, "_meta": {}}]}"#;
    let outcome = project().run_with_input("prompt build reply --input -", document).success();
    assert!(outcome.stdout_text().contains("### t\n"), "{outcome}");
}

#[test]
fn real_paths_do_not_reach_the_model_in_a_workflow() {
    let project = project();
    let document = format!(
        r#"{{"mode": "chat", "projectRoot": "{root}", "agentDefinition": {{"id": "a"}}, "userInput": "see {root}/src and {home}/notes"}}"#,
        root = project.root().display(),
        home = project.home().display(),
    );
    let outcome = project.run_with_input("prompt build workflow --input -", document).success();
    let text = outcome.stdout_text();
    assert!(text.contains("see @project/src and "), "{text}");
    assert!(!text.contains("[project]") && !text.contains("[home]"), "{text}");
}
