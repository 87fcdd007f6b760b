//! Stand-ins for the agents that the book shows: each speaks as the real one does and gives a prepared answer.
//!
//! The real ones are run by `cargo xtask test agents`.

use std::fmt::Write as _;

use aiwf_testkit::TestProject;
use serde_json::{Value, json};

macro_rules! shop {
    ($name:literal) => {
        include_str!(concat!("../../../../examples/shop/replies/", $name))
    };
}

/// What is answered in the session of the book, in the order it is asked for.
const SESSION: &[&str] = &[
    shop!("1-plan.md"),
    shop!("2-code.md"),
    shop!("3-review.md"),
    shop!("4-revision.md"),
    shop!("5-review.md"),
];

/// What is answered in the change of the book.
const CHANGE: &[&str] = &[
    "# Plan: greet by name\n\n### 1.1 Take a name\n- Files: src/greet.py\n- `greet(name)` returns `hello, NAME`.\n",
    "## Assessment\n\nThe plan breaks every caller of `greet()`.\n\n## Findings\n\n1. [blocking] The old call stops working\n   Where: task 1.1\n   Instead: give `name` a default.\n\n<review>NEEDS_REVISION</review>\n",
    "# Plan: greet by name\n\n### 1.1 Take a name\n- Files: src/greet.py\n- `greet(name=\"world\")` returns `hello, NAME`; a call without a name works as before.\n",
    "## Assessment\n\nSound: old calls keep working.\n\n## Findings\n\nNone\n\n<review>PASS</review>\n",
    "Task 1.1 is done.\n\n<task_status id=\"1.1\">COMPLETED</task_status>\n\n<<<FILE: src/greet.py>>>\ndef greet(name=\"world\"):\n    return f\"hello, {name}\"\n",
    "## Assessment\n\nDoes what the plan says.\n\n## Findings\n\nNone\n\n<review>PASS</review>\n",
    "# Record\n\n`greet` takes a name, with `world` as its default, so that old calls keep working.\n",
];

/// Puts `claude`, `codex` and `gemini` on the reader's path, for the session of the book.
pub(crate) fn stand_ins(project: &TestProject) {
    install(project, SESSION);
}

/// The same for the change of the book.
pub(crate) fn change_stand_ins(project: &TestProject) {
    install(project, CHANGE);
}

/// A model that walks through the workflow of the book: a program without tools of its own, so it writes its calls.
pub(crate) fn workflow_stand_in(project: &TestProject) {
    let write = |path: &str, content: &str| json!({ "name": "fs.write", "arguments": { "path": path, "content": content } });
    let complete = |arguments: Value| json!({ "name": "workflow.complete_node", "arguments": arguments });
    let confirm = |id: &str, message: &str| {
        let arguments = json!({ "widgetId": id, "type": "confirmation", "message": message });
        json!({ "name": "ui.ask_user", "arguments": arguments })
    };
    let sent =
        json!({ "operation": "updateFrontmatter", "update": { "variables": { "set": { "sent": true } } } });
    let note =
        json!({ "name": "fs.apply_patch", "arguments": { "path": "@state/workflow.md", "patch": sent } });
    let notes = write("@project/artifacts/notes.md", "topic: nightly backups\nreaders: customers\n");
    let document =
        |text: &str| write("@project/artifacts/document.md", &format!("# Nightly backups\n\n{text}\n"));
    let chosen = json!({
        "nodeId": "choose", "label": "document", "reason": "the user wants one", "variables": { "kind": "document" },
    });
    let replies: Vec<(&str, Vec<Value>)> = vec![
        ("What is it about, and who will read it?", vec![]),
        ("I write that down.", vec![notes, complete(json!({ "nodeId": "gather" }))]),
        ("The notes are there.", vec![confirm("kind", "Shall I make a document of them?")]),
        // Where no edge leads, and before the node's output is there: both are refused.
        ("Once more from the start.", vec![complete(json!({ "nodeId": "choose", "to": "gather" }))]),
        ("A document, then.", vec![complete(chosen)]),
        ("Written.", vec![complete(json!({ "nodeId": "write" }))]),
        (
            "First the document.",
            vec![
                document("Every night we keep a copy of all that you gave us, in a place of its own."),
                complete(json!({ "nodeId": "write" })),
            ],
        ),
        ("That was the last step.", vec![complete(json!({ "nodeId": "finish" }))]),
        ("`artifacts/notes.md` has the facts, `artifacts/document.md` the page for your customers.", vec![]),
        // The workflow is complete: its state changes only with the user's word.
        ("I note that.", vec![note.clone()]),
        (
            "That needs your word.",
            vec![confirm("workflow_state_change_confirm", "Set `sent` in the state of the run?")],
        ),
        ("With your word.", vec![note]),
        ("It is noted.", vec![]),
        // After going back.
        (
            "Shorter.",
            vec![document("A copy of your data, every night."), complete(json!({ "nodeId": "write" }))],
        ),
        ("Done.", vec![complete(json!({ "nodeId": "finish" }))]),
        ("`artifacts/document.md` is one sentence now.", vec![]),
        ("I am Wren. I turn notes into a short document.", vec![]),
        ("What is it about, and who will read it?", vec![]),
        ("A workflow package, and what was made with it.", vec![]),
    ];
    project.write("~/replies/next", "1");
    for (idx, (text, calls)) in replies.iter().enumerate() {
        let calls = if calls.is_empty() {
            String::new()
        } else {
            format!("\n```json\n{}\n```\n", json!({ "tool_calls": calls }))
        };
        project.write(&format!("~/replies/{}.md", idx + 1), format!("{text}\n{calls}"));
    }
    let dir = project.home().join("replies").display().to_string();
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\nn=$(cat '{dir}/next'); echo $((n + 1)) > '{dir}/next'\ncat '{dir}'/$n.md\n"
    );
    project.script("~/bin/stand-in", &script);
}

fn install(project: &TestProject, replies: &[&str]) {
    project.write("~/replies/next", "1");
    for (idx, reply) in replies.iter().enumerate() {
        // Counts and cost are the stand-in's own invention; the real agents tell theirs the same way.
        let (sent, received) = (4_000 + 100 * idx, reply.len() / 4);
        let number = idx + 1;
        let claude = [
            json!({ "type": "system", "subtype": "init", "model": "claude-sonnet-4-5" }),
            json!({
                "type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": reply,
                "total_cost_usd": 0.03, "usage": { "input_tokens": sent, "output_tokens": received },
                "modelUsage": { "claude-sonnet-4-5": {} },
            }),
        ];
        let codex = [
            json!({ "type": "item.completed", "item": { "type": "agent_message", "text": reply } }),
            json!({
                "type": "turn.completed",
                "usage": { "input_tokens": sent, "cached_input_tokens": 0, "output_tokens": received },
            }),
        ];
        let update =
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": reply } });
        let quota = json!({
            "token_count": { "input_tokens": sent, "output_tokens": received },
            "model_usage": [{ "model": "gemini-2.5-pro" }],
        });
        let gemini = [
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } }),
            json!({ "jsonrpc": "2.0", "id": 3, "result": { "stopReason": "end_turn", "_meta": { "quota": quota } } }),
        ];
        project.write(&format!("~/replies/reply-{number}.md"), reply);
        for (agent, lines) in [("claude", &claude), ("codex", &codex), ("gemini", &gemini)] {
            let mut text = String::new();
            for line in lines {
                let _ = writeln!(text, "{line}");
            }
            project.write(&format!("~/replies/{agent}-{number}.jsonl"), text);
        }
    }
    let limit = json!({ "type": "turn.failed", "error": { "message": "the usage limit is reached" } });
    project.write(&format!("~/replies/codex-{}.jsonl", replies.len() + 1), format!("{limit}\n"));
    let dir = project.home().join("replies").display().to_string();
    let next = format!("n=$(cat '{dir}/next'); echo $((n + 1)) > '{dir}/next'");
    // It looks where its reply is to be saved, and saves it there.
    let saves = format!(
        "cat > /dev/null\nfor word in \"$@\"; do [ \"$before\" = --append-system-prompt-file ] && system=$word; before=$word; done\n\
         path=$([ -n \"$system\" ] && grep -o '[.]aiwf/[a-z0-9/-]*-response.md' \"$system\" | head -n 1)\n\
         [ -n \"$path\" ] && cp '{dir}'/reply-$(cat '{dir}/next').md \"$path\""
    );
    let told_at_once = "cat > /dev/null";
    let in_a_dialogue = "read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}'\n\
                         read -r line; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s\"}}'\n\
                         read -r line";
    for (agent, version, hear) in [
        ("claude", "2.1.325 (Claude Code)", saves.as_str()),
        ("codex", "codex-cli 0.166.0", told_at_once),
        ("gemini", "0.61.0", in_a_dialogue),
    ] {
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit; fi\ncase \"$*\" in *--help) exit 1;; esac\n{hear}\n{next}\ncat '{dir}'/{agent}-$n.jsonl\n"
        );
        project.script(&format!("~/bin/{agent}"), &script);
    }
}
