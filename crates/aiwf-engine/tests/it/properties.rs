//! What holds for any input: no panic, and one way to the bytes.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs;
use std::path::Path;

use aiwf_engine::prompt::{Format, Recipe};
use aiwf_engine::reply::{
    parse_fenced_files, parse_file_markers, parse_front_matter, parse_review_meta, parse_task_status,
    parse_tool_calls, parse_verdict_tag,
};
use aiwf_engine::{
    BuildOptions, Built, ChangeFlags, Document, SectionContent, SessionError, preview_json, prompt_json,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::build::engine;

const RECIPES: [Recipe; 4] = [Recipe::Session, Recipe::Change, Recipe::Workflow, Recipe::Reply];
const FORMATS: [Format; 3] = [Format::Text, Format::Xml, Format::Messages];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

fn build(root: &Path, recipe: Recipe, text: &str, format: Option<Format>) -> Result<Built, SessionError> {
    let document = Document::from_json(recipe, text)?;
    let options = BuildOptions { format, ..BuildOptions::default() };
    engine(root).build(document, &ChangeFlags::default(), &options, &|_| {})
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

fn any_change() -> impl Strategy<Value = (Recipe, Value)> {
    let item = (prop::sample::select(&["file", "artifact", "thought"][..]), any_text(), any_text())
        .prop_map(|(kind, name, content)| json!({ "type": kind, "name": name, "content": content }));
    (any_text(), prop::option::of(any_text()), prop::collection::vec(item, 0..4)).prop_map(
        |(instructions, system_prompt, context)| {
            let document =
                json!({ "instructions": instructions, "system_prompt": system_prompt, "context": context });
            (Recipe::Change, document)
        },
    )
}

fn any_reply() -> impl Strategy<Value = (Recipe, Value)> {
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
            (Recipe::Reply, document)
        },
    )
}

fn any_session() -> impl Strategy<Value = (Recipe, Value)> {
    let phase = prop::sample::select(&["initialized", "planning", "generating", "reviewing", "revising"][..]);
    (phase, 1..4u32, any_text(), prop::option::of(any_text()), any::<bool>(), any::<bool>()).prop_map(
        |(phase, iteration, prompt, feedback, system_prompt, attachments)| {
            let document = json!({
                "session_dir": "s", "phase": phase, "iteration": iteration, "profile_prompt": prompt,
                "feedback": feedback, "supports_system_prompt": system_prompt,
                "supports_file_attachments": attachments,
            });
            (Recipe::Session, document)
        },
    )
}

fn any_workflow() -> impl Strategy<Value = (Recipe, Value)> {
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
            (Recipe::Workflow, document)
        },
    )
}

proptest! {
    #[test]
    fn no_text_makes_a_recipe_or_a_parser_panic(
        recipe in prop::sample::select(&RECIPES[..]),
        input in any_input(),
    ) {
        let root = aiwf_testkit::scratch_dir();
        let text = String::from_utf8_lossy(&input);
        if let Ok(mut built) = build(root.path(), recipe, &text, None) {
            drop(serde_json::to_value(prompt_json(&mut built, SectionContent::Included, None)).unwrap());
        }
        drop(parse_file_markers(&text));
        drop(parse_fenced_files(&text));
        drop(parse_review_meta(&text));
        drop(parse_verdict_tag(&text));
        drop(parse_task_status(&text));
        drop(parse_tool_calls(&text));
        drop(parse_front_matter(&text));
    }

    #[test]
    fn build_preview_and_json_are_the_same_bytes(
        (recipe, document) in prop_oneof![any_change(), any_reply(), any_session(), any_workflow()],
        format in prop::sample::select(&FORMATS[..]),
    ) {
        let root = aiwf_testkit::scratch_dir();
        fs::create_dir_all(root.path().join("s/iteration-1/code")).unwrap();
        fs::write(root.path().join("s/plan.md"), "# Plan").unwrap();
        fs::write(root.path().join("s/iteration-1/code/a.rs"), "fn a() {}").unwrap();
        fs::write(root.path().join("s/iteration-1/code/b.md"), "```\n").unwrap();
        let mut built = build(root.path(), recipe, &document.to_string(), Some(format)).unwrap();
        let mut printed = Vec::new();
        built.prompt.write_to(&mut printed).unwrap();
        let shown = serde_json::to_value(prompt_json(&mut built, SectionContent::Included, None)).unwrap();
        prop_assert_eq!(shown["full_prompt"].as_str().unwrap().as_bytes(), &printed);
        let mut again = build(root.path(), recipe, &document.to_string(), Some(format)).unwrap();
        let preview = serde_json::to_value(preview_json(&mut again, SectionContent::Included, None)).unwrap();
        prop_assert_eq!(preview["prompt"].as_str().unwrap().as_bytes(), &printed);
        prop_assert_eq!(shown["metadata"]["sha256"].as_str().unwrap(), hex(&Sha256::digest(&printed)));
        prop_assert_eq!(&preview["metadata"], &shown["metadata"]);
        prop_assert_eq!(&preview["sections"], &shown["sections"]);
    }
}
