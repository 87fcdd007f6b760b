//! What holds for any input: no panic, and one way to the bytes.
//!
//! Each case starts the program, so there are fewer cases than elsewhere unless `PROPTEST_CASES` asks for more.

use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::project;

/// What proptest does when nobody asks for a number.
const UNASKED: u32 = 256;

fn few_cases() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if asked.cases == UNASKED { 24 } else { asked.cases };
    ProptestConfig { cases, failure_persistence: None, ..asked }
}

const RECIPES: [&str; 4] = ["session", "change", "workflow", "reply"];
const PARSERS: [&str; 7] = [
    "file-markers",
    "fenced-files",
    "review-meta",
    "verdict-tag",
    "task-status",
    "tool-calls",
    "front-matter",
];

fn any_command() -> impl Strategy<Value = String> {
    let build = (prop::sample::select(&RECIPES[..]), prop::sample::select(&["build", "preview"][..]))
        .prop_map(|(recipe, verb)| format!("prompt {verb} {recipe} --input -"));
    let parse = prop::sample::select(&PARSERS[..]).prop_map(|parser| format!("reply parse --as {parser}"));
    (prop_oneof![build, parse], any::<bool>())
        .prop_map(|(command, is_json)| if is_json { format!("{command} --json") } else { command })
}

/// Bytes from noise to nearly right: most random bytes would be refused as no text at all.
fn any_input() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::sample::select(
        &[
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "\\",
            "null",
            "1",
            "-",
            "\n",
            " ",
            "```",
            "```json\n",
            "---\n",
            "\"mode\"",
            "\"api\"",
            "\"request\"",
            "\"instructions\"",
            "\"context\"",
            "\"phase\"",
            "\"plan\"",
            "{\"instructions\": \"x\"}",
            "{\"name\": \"t\", \"arguments\": {}}",
            "tool_calls",
            "<tool_call>",
            "</tool_call>",
            "<<<FILE: a>>>\n",
            "@@@REVIEW_META\n",
            "@@@\n",
            "verdict: PASS\n",
            "<review>",
            "</review>",
            "PASS",
            "<thought>",
            "</thought>",
            "<task_status id=\"1\">",
            "</task_status>",
            "> ",
            "\u{feff}",
            "é",
            "\u{1f600}",
            "\r\n",
            "\0",
            "a: b\n",
            "*x\n",
            "&x ",
        ][..],
    );
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        any::<String>().prop_map(String::into_bytes),
        prop::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat().into_bytes()),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z <>&\\]\n`#-]{0,40}"]
}

fn any_change() -> impl Strategy<Value = (&'static str, Value)> {
    let item = (prop::sample::select(&["file", "artifact", "thought"][..]), any_text(), any_text())
        .prop_map(|(kind, name, content)| json!({ "type": kind, "name": name, "content": content }));
    (any_text(), prop::option::of(any_text()), prop::collection::vec(item, 0..4)).prop_map(
        |(instructions, system_prompt, context)| {
            let document =
                json!({ "instructions": instructions, "system_prompt": system_prompt, "context": context });
            ("change", document)
        },
    )
}

fn any_reply() -> impl Strategy<Value = (&'static str, Value)> {
    let optional = || prop::option::of(any_text());
    let mode = prop::sample::select(&["api", "cli"][..]);
    (any_text(), optional(), optional(), optional(), optional(), mode, any::<bool>()).prop_map(
        |(message, context, results, system_prompt, closing, mode, includes_tools)| {
            let document = json!({
                "request": {
                    "aiMessage": message, "userContext": context, "toolResults": results,
                    "includeMCPTools": includes_tools,
                },
                "settings": { "systemPrompt": system_prompt, "closing": closing },
                "mode": mode,
                "mcpTools": [{ "name": "t", "description": message, "inputSchema": { "type": "object" } }],
            });
            ("reply", document)
        },
    )
}

fn any_session() -> impl Strategy<Value = (&'static str, Value)> {
    let phase = prop::sample::select(&["initialized", "planning", "generating", "reviewing", "revising"][..]);
    (phase, 1..4u32, any_text(), prop::option::of(any_text()), any::<bool>(), any::<bool>()).prop_map(
        |(phase, iteration, prompt, feedback, system_prompt, attachments)| {
            let document = json!({
                "session_dir": "s", "phase": phase, "iteration": iteration, "profile_prompt": prompt,
                "feedback": feedback, "supports_system_prompt": system_prompt,
                "supports_file_attachments": attachments,
            });
            ("session", document)
        },
    )
}

fn any_workflow() -> impl Strategy<Value = (&'static str, Value)> {
    let mode = prop::sample::select(&["run", "agent", "chat"][..]);
    (mode, any_text(), any_text(), any::<bool>(), prop::option::of(any_text())).prop_map(
        |(mode, system_prompt, id, is_completed, input)| {
            let document = json!({
                // A blank id counts as missing, which is another test's business.
                "mode": mode, "workflowId": format!("w{id}"), "graphRelPath": "graph.json",
                "agentDefinition": { "id": "a", "systemPrompt": format!("You are {system_prompt}") },
                "nodeBrief": {
                    "nodeId": "n", "nodeType": "step", "stepFilePathInPkg": "s.md",
                    "transitions": [{ "to": id, "label": system_prompt }],
                },
                "variables": { "v": system_prompt },
                "workflowCompleted": is_completed, "userInput": input,
            });
            ("workflow", document)
        },
    )
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn no_bytes_on_the_standard_input_make_it_panic(command in any_command(), input in any_input()) {
        let outcome = project().run_with_input(&command, input);
        prop_assert!(matches!(outcome.code, Some(0..=2)), "aiwf {}\n{}", command, outcome);
        if command.ends_with("--json") {
            let json: Value = serde_json::from_slice(&outcome.stdout).unwrap();
            prop_assert_eq!(json["exit_code"].as_i64(), outcome.code.map(i64::from));
        }
    }

    #[test]
    fn build_preview_out_and_json_are_the_same_bytes(
        (recipe, document) in prop_oneof![any_change(), any_reply(), any_session(), any_workflow()],
        format in prop::sample::select(&["text", "xml", "messages"][..]),
    ) {
        let project = project()
            .file("s/plan.md", "# Plan")
            .file("s/iteration-1/code/a.rs", "fn a() {}")
            .file("s/iteration-1/code/b.md", "```\n");
        let input = document.to_string();
        let run = |verb: &str, flags: &str| {
            let line = format!("prompt {verb} {recipe} --input - --format {format} {flags}");
            project.run_with_input(&line, input.as_str()).success()
        };
        let built = run("build", "").stdout;
        prop_assert_eq!(&run("preview", "").stdout, &built);
        prop_assert_eq!(&run("build", "--out prompt.txt").stdout, b"");
        prop_assert_eq!(&project.read("prompt.txt"), &built);
        let build: Value = serde_json::from_slice(&run("build", "--json").stdout).unwrap();
        prop_assert_eq!(build["full_prompt"].as_str().unwrap().as_bytes(), &built);
        let preview: Value = serde_json::from_slice(&run("preview", "--json").stdout).unwrap();
        prop_assert_eq!(preview["prompt"].as_str().unwrap().as_bytes(), &built);
        prop_assert_eq!(build["metadata"]["sha256"].as_str().unwrap(), hex(&Sha256::digest(&built)));
        prop_assert_eq!(&preview["metadata"], &build["metadata"]);
        prop_assert_eq!(&preview["sections"], &build["sections"]);
    }
}
