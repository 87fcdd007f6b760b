//! Texts made to be slow: each parser must get through megabytes of them, so a search that starts again at every
//! mark would not come to an end here within the time a test run has.

use aiwf_reply::Parser;

use crate::parsed_json::parse;

const LENGTH: usize = 2_000_000;

/// Repeats `piece` and runs every parser on it, also behind beginnings that change what it means.
fn check(piece: &str) {
    for beginning in ["", "---\n", "<<<FILE: a>>>\n", "```\n", "<tool_call>", "{\"a\": ", "@@@REVIEW_META\n"]
    {
        let text = beginning.to_owned() + &piece.repeat(LENGTH / piece.len());
        for parser in Parser::ALL {
            let (_, problems) = parse(parser, &text);
            let n_lines = text.lines().count() + 1;
            assert!(problems.iter().all(|problem| problem.line <= n_lines), "{parser} on {piece:?}");
        }
    }
}

#[test]
fn braces_and_brackets() {
    for piece in
        ["{", "[", "{\"a\":", "[{", "{\"a\":[", "{\"\":{}", "{\"a\":1,", "[{}", "{}", "[{\"name\":\"a\","]
    {
        check(piece);
    }
}

#[test]
fn broken_calls() {
    for piece in [
        "{\"tool_calls\":",
        "{\"tool_calls\":[}\n",
        "{tool_calls",
        "{\"name\":\"a\",\"arguments\":{}} ",
        "{\"tool_calls\":\"<thought ",
    ] {
        check(piece);
    }
}

#[test]
fn backticks_and_fences() {
    for piece in
        ["`", "``x`", "\\`", "` `` ", "```\n", "```a\n", "~~~\n", "- ", "1. ", "> ", "```\n// a.rs\n"]
    {
        check(piece);
    }
}

#[test]
fn tags() {
    for piece in [
        "<",
        "<thought>",
        "</thought>",
        "<thought ",
        "<thought a='",
        "<thought>\n",
        "<tool_call>",
        "</tool_call>",
        "<tool_call>{",
        "<tool_call>{}",
        "<review>",
        "<review>PASS</review><review>REJECTED</review>",
        "<task_status id=\"1\">",
        "<task_status id=\"1\">FAILED</task_status>",
    ] {
        check(piece);
    }
}

#[test]
fn markers_and_blocks() {
    for piece in [
        "<<<FILE:",
        "<<<FILE: a>>>\n",
        "<<<FILE:\n",
        "@@@REVIEW_META\n",
        "@@@\n",
        "verdict: PASS\n",
        "---\n",
        "<<<",
    ] {
        check(piece);
    }
}

#[test]
fn blanks_and_long_lines() {
    for piece in [" ", "\n", "\t\n", "\r\n", "x", "é", "    x\n", "\u{feff}", "{ ", "\"", "\\", "[ \n"] {
        check(piece);
    }
}

#[test]
fn yaml() {
    for piece in
        ["a: ", "- ", "&a ", "*a ", "? ", "\"", "'", "a: 'b'\n", "{a: ", "!", "# x\n", "|\n", "- a\n"]
    {
        check(piece);
    }
}
