//! Properties that hold for any text, and round trips of replies written from known parts.

use aiwf_reply::{
    FileBlock, Parser, parse_fenced_files, parse_file_markers, parse_front_matter, parse_tool_calls,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::parsed_json::parse;

/// Pieces of every syntax that a parser looks for, combined at random.
const FRAGMENTS: [&str; 68] = [
    "<<<EDIT: a.rs>>>",
    "<<<<<<< SEARCH\n",
    "=======\n",
    ">>>>>>> REPLACE\n",
    "<<<RENAME: a -> b>>>",
    "```diff\n--- a/x\n+++ b/x\n",
    "@@ -1,2 +1 @@\n",
    "<<<FILE: a.rs>>>",
    "<<<FILE:",
    ">>>",
    "<<<END>>>",
    "<<<FILE: >>>",
    "```",
    "```json",
    "````",
    "~~~",
    "`",
    "``",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "    ",
    "\t",
    "> ",
    "- ",
    "1. ",
    "# ",
    "<thought>",
    "</thought>",
    "<think>",
    "</think>",
    "<review>",
    "</review>",
    "PASS",
    "REJECTED",
    "<review>PASS</review>",
    "<task_status id=\"1\">",
    "</task_status>",
    "COMPLETED",
    "FAILED",
    "@@@REVIEW_META",
    "@@@",
    "verdict: PASS",
    "issues_total: 1",
    "issues_critical:",
    "<tool_call>",
    "</tool_call>",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ":",
    ",",
    "{\"tool_calls\": [",
    "{\"name\": \"a\", \"arguments\": {}}",
    "\"name\": \"b\"",
    "\"arguments\": \"{}\"",
    "null",
    "---",
    "a: 1",
    "&x *x",
    "// src/a.rs",
    "é",
    "😀",
    "\u{feff}",
];

fn reply() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&FRAGMENTS[..]), 0..60).prop_map(|pieces| pieces.concat())
}

fn entries<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap()
}

/// Checks the properties that hold for every parser and text.
fn check(text: &str) -> Result<(), TestCaseError> {
    for parser in Parser::ALL {
        let (value, problems) = parse(parser, text);
        let n_lines = text.split('\n').count();
        for problem in &problems {
            let line = text.split('\n').nth(problem.line - 1);
            prop_assert!(problem.line <= n_lines, "{parser}: {problem}");
            let n_columns = line.map_or(0, |line| line.chars().count());
            prop_assert!((1..=n_columns + 1).contains(&problem.column), "{parser}: {problem}");
            let is_capital = problem.message.starts_with(|c: char| c.is_uppercase());
            prop_assert!(!is_capital && !problem.message.ends_with('.'), "{parser}: {problem}");
            prop_assert!(!problem.message.contains('\n'), "{parser}: {problem}");
        }
        let places: Vec<_> = problems.iter().map(|problem| (problem.line, problem.column)).collect();
        prop_assert!(places.is_sorted(), "{parser}: {places:?}");
        for file in entries(&value, "files") {
            let content = text_at(file, "content");
            prop_assert!(!text_at(file, "path").is_empty());
            prop_assert!(content.is_empty() || content.ends_with('\n'));
        }
        for call in entries(&value, "calls") {
            prop_assert!(!text_at(call, "name").trim().is_empty());
        }
        for task in entries(&value, "tasks") {
            prop_assert!(!text_at(task, "id").is_empty());
        }
        let is_empty = |key: &str| value.get(key).is_some_and(|list| list == &json!([]) || list.is_null());
        let is_missing = is_empty("files") || is_empty("tasks") || is_empty("verdict");
        prop_assert!(!is_missing || !problems.is_empty(), "{parser} found nothing and said nothing");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn any_mix_of_marks_is_read(text in reply()) {
        check(&text)?;
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn files_after_markers_round_trip(files in files()) {
        let reply = files.iter().map(|file| format!("<<<FILE: {}>>>\n{}", file.path, file.content));
        let parsed = parse_file_markers(&format!("Here:\n\n{}", reply.collect::<Vec<_>>().concat()));
        prop_assert_eq!((parsed.value, parsed.problems), (files, vec![]));
    }

    #[test]
    fn files_in_fences_round_trip(files in files()) {
        let reply = files.iter().map(|file| format!("~~~~~\n// File: {}\n{}~~~~~\n", file.path, file.content));
        let parsed = parse_fenced_files(&format!("Here:\n\n{}", reply.collect::<Vec<_>>().concat()));
        prop_assert_eq!((parsed.value, parsed.problems), (files, vec![]));
    }

    #[test]
    fn calls_in_every_place_round_trip(name in "[a-z_.]{1,12}", arguments in arguments()) {
        let call = json!({ "name": name, "arguments": arguments });
        let list = json!({ "tool_calls": [call] });
        let api = json!({ "id": "1", "type": "function", "function": { "name": name, "arguments": arguments_text(&arguments) } });
        for reply in [
            call.to_string(),
            list.to_string(),
            api.to_string(),
            format!("Some {{prose}} [1] before {call} and {{after}}"),
            format!("```json\n{list:#}\n```"),
            format!("Hm.\n<tool_call>\n{call:#}\n</tool_call>"),
            format!("~~~\n[{api}]\n~~~"),
        ] {
            let parsed = parse_tool_calls(&reply);
            prop_assert_eq!(parsed.problems, vec![], "{}", &reply);
            prop_assert_eq!(parsed.value.calls.len(), 1, "{}", &reply);
            let read = &parsed.value.calls[0];
            prop_assert_eq!((&read.name, &read.arguments), (&name, &arguments), "{}", &reply);
        }
        for quoted in [format!("> {call}"), format!("<thought>\n{call}\n</thought>")] {
            prop_assert_eq!(parse_tool_calls(&quoted).value.calls.len(), 0);
        }
    }

    #[test]
    fn data_in_front_matter_round_trips(data in arguments(), body in any::<String>()) {
        // JSON is YAML, and a string in quotes means the same in both.
        let parsed = parse_front_matter(&format!("---\n{}\n---\n{body}", Value::Object(data.clone())));
        prop_assert_eq!(parsed.problems, vec![]);
        prop_assert_eq!(parsed.value.data, Value::Object(data));
        prop_assert_eq!(parsed.value.body, body);
    }
}

/// Files with different paths and contents that a marker, a fence or indentation cannot change.
fn files() -> impl Strategy<Value = Vec<FileBlock>> {
    let line = "[a-zA-Z<>#`{}/* ]{0,20}[a-z;]";
    let content = prop::collection::vec(line, 0..6).prop_map(|lines| {
        let lines: Vec<String> = lines.into_iter().map(|line| format!("x{line}\n")).collect();
        lines.concat()
    });
    let files = prop::collection::vec(("[a-z]{1,8}(/[a-zA-Z]{1,8}){0,3}\\.[a-z]{1,4}", content), 1..5);
    files.prop_map(|files| {
        let mut files: Vec<FileBlock> =
            files.into_iter().map(|(path, content)| FileBlock { path, content }).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        files
    })
}

fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é\n\t😀<>`]{0,20}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a-z]{1,6}", value, 0..4).prop_map(|map| map.into_iter().collect())
}

fn arguments_text(arguments: &Map<String, Value>) -> String {
    Value::Object(arguments.clone()).to_string()
}
