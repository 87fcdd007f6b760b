//! Texts made to be slow: a search that restarted at every mark would exceed the time limit of a test.

use aiwf_reply::Parser;

use crate::parsed_json::parse;

/// Long enough that a search which restarts at every mark takes minutes.
const LENGTH: usize = 80_000;

/// Repeats `piece` and runs every parser on it, alone and after the syntax the parser looks for.
fn check(piece: &str) {
    let text = piece.repeat(LENGTH / piece.len());
    let n_lines = text.lines().count() + 3;
    for parser in Parser::ALL {
        let beginning = match parser {
            Parser::FileMarkers => "<<<FILE: a>>>\n",
            Parser::FencedFiles => "```\n// a.rs\n",
            Parser::Edits => "<<<EDIT: a>>>\n<<<<<<< SEARCH\n",
            Parser::ReviewMeta => "@@@REVIEW_META\n",
            Parser::VerdictTag => "<review>",
            Parser::TaskStatus => "<task_status id=\"1\">",
            Parser::ToolCalls => "<tool_call>{\"a\": ",
            Parser::FrontMatter => "---\n",
        };
        for text in [&text, &(beginning.to_owned() + &text)] {
            let (_, problems) = parse(parser, text);
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
fn broken_edits() {
    for piece in [
        "<<<<<<< SEARCH\n",
        "<<<<<<< SEARCH\n=======\n",
        "<<<EDIT: a>>>\n<<<<<<< SEARCH\n",
        "<<<EDIT: a>>>\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n",
        "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n",
    ] {
        check(piece);
    }
}

#[test]
fn broken_calls() {
    for piece in [
        "{\"tool_calls\":",
        "{\"tool_calls\":[}\n",
        "{\"tool_calls\":]}",
        "{\"tool_calls\":<x]}",
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

#[test]
fn two_megabytes_of_the_slowest() {
    for (parser, piece) in [
        (Parser::FileMarkers, "<<<FILE:\n"),
        (Parser::FencedFiles, "```\n// a.rs\n"),
        (Parser::ReviewMeta, "@@@REVIEW_META\n"),
        (Parser::VerdictTag, "` `` "),
        (Parser::VerdictTag, "<thought a='"),
        (Parser::TaskStatus, "<task_status id=\"1\">"),
        (Parser::ToolCalls, "[{"),
        (Parser::FrontMatter, "---\n"),
    ] {
        parse(parser, &piece.repeat(2_000_000 / piece.len()));
    }
}
