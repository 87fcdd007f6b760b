//! Whole replies: `cases/<parser>/<name>.md`, each with the parsed result next to it in `<name>.snap`.

use std::fs;
use std::path::Path;

use aiwf_reply::Parser;

use crate::parsed_json::parse;

fn check(parser: Parser) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases").join(parser.as_str());
    let mut names: Vec<String> = fs::read_dir(&dir)
        .expect("each parser has a directory of cases")
        .map(|entry| entry.expect("a readable directory").file_name().into_string().expect("a name in UTF-8"))
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no case in {}", dir.display());
    for name in names {
        let text = fs::read_to_string(dir.join(&name).with_extension("md")).expect("a case in UTF-8");
        let (value, problems) = parse(parser, &text);
        let problems = problems.iter().map(|problem| format!("\n{problem}"));
        let value = serde_json::to_string_pretty(&value).expect("JSON can be written");
        let snapshot = problems.fold(value, |text, problem| text + &problem);
        insta::with_settings!({
            snapshot_path => &dir,
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, snapshot);
        });
    }
}

#[test]
fn edits() {
    check(Parser::Edits);
}

#[test]
fn file_markers() {
    check(Parser::FileMarkers);
}

#[test]
fn fenced_files() {
    check(Parser::FencedFiles);
}

#[test]
fn review_meta() {
    check(Parser::ReviewMeta);
}

#[test]
fn verdict_tag() {
    check(Parser::VerdictTag);
}

#[test]
fn task_status() {
    check(Parser::TaskStatus);
}

#[test]
fn tool_calls() {
    check(Parser::ToolCalls);
}

#[test]
fn front_matter() {
    check(Parser::FrontMatter);
}
