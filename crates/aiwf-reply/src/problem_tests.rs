//! Every problem a reply can have, each triggered by a reply, listed in one place for review.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::Location;
use std::path::Path;

use crate::{
    Parser, Problem, parse_edits, parse_fenced_files, parse_file_markers, parse_front_matter,
    parse_review_meta, parse_task_status, parse_tool_calls, parse_verdict_tag,
};

thread_local! {
    /// The source locations, as file and line, that reported a problem in this thread.
    static PLACES: RefCell<BTreeSet<(String, usize)>> = const { RefCell::new(BTreeSet::new()) };
}

pub(crate) fn note_place(place: &Location<'_>) {
    let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let line = usize::try_from(place.line()).unwrap();
    PLACES.with_borrow_mut(|places| places.insert((file, line)));
}

/// Replies with problems, by the parser that reports them.
fn replies(parser: Parser) -> &'static [&'static str] {
    match parser {
        Parser::FileMarkers => &[
            "no files at all",
            "<<<file: a.rs>>>\nx\n",
            "<<<FILE: >>>\nx\n",
            "<<<FILE: a.rs>>>\nx\n<<<FILE: a.rs>>>\ny\n",
            "<<<FILE: a.rs>>>\n```rust\nx\n",
            "<<<FILE: a.rs>>>\nx\n```\n",
            "<<<FILE: a.rs>>>\n```rust\nx\n```\nThat was it.\n",
            "```\n<<<FILE: a.rs>>>\nx\n",
            "```\n<<<FILE: a.md>>>\n# a\n```\n<<<FILE: b.md>>>\ny\n```\n",
            "<thinking>\n",
            "</thinking>\n<<<FILE: a.rs>>>\nx\n",
        ],
        Parser::FencedFiles => &[
            "no files at all",
            "```rust src/a.rs\n// src/b.rs\nx\n```\n",
            "```rust\n// src/a.rs\nx\n",
            "```markdown\n<!-- a.md -->\n```rust\nx\n```\n```\n",
            "```rust\n// src/a.rs\nx\n```\n```rust\n// src/a.rs\ny\n```\n",
        ],
        Parser::Edits => &[
            "no edits at all",
            "<<<edit: a.rs>>>\n",
            "<<<EDIT: a.rs>>>\nnothing\n",
            "<<<EDIT: a.rs>>>\n<<<<<<< SEARCH\nx\n",
            "<<<EDIT: a.rs>>>\n<<<<<<< SEARCH\nx\n=======\ny\n",
            "<<<EDIT: a.rs>>>\n<<<<<<< SEARCH\nx\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n",
            "<<<RENAME: a.rs>>>\n",
            "<<<END>>>\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n",
            "<<<DELETE: a.rs>>>\n<<<FILE: a.rs>>>\nx\n",
            "<<<FILE: a.rs>>>\n```rust\nx\n",
            "```diff\n@@ -1 +1 @@\n-x\n+y\n```\n",
            "```diff\n--- a/x\n+++ b/x\n```\n",
            "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n*y\n+y\n",
            "```diff\n--- /dev/null\n+++ /dev/null\nBinary files a and b differ\n```\n",
            "<thinking>\n",
        ],
        Parser::ReviewMeta => &[
            "no verdict at all",
            "> @@@REVIEW_META\n",
            "@@@REVIEW_META\nverdict: MAYBE\nissues_total: few\n",
            "@@@REVIEW_META\nverdict: PASS\nverdict: FAIL\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n",
            "@@@REVIEW_META\nverdict: PASS\nissues_total: 1\nissues_critical: 2\nmissing_inputs: 0\n@@@\n",
            "@@@REVIEW_META\n@@@\n@@@REVIEW_META\n@@@\n",
        ],
        Parser::VerdictTag => &[
            "no verdict at all",
            "> <review>PASS</review>",
            "<review>PASS",
            "<review></review>",
            "<review>FINE</review>",
            "The tag is <review> and more",
            "<review>PASS</review> <review>REJECTED</review>",
        ],
        Parser::TaskStatus => &[
            "no status at all",
            "> <task_status id=\"1\">COMPLETED</task_status>",
            "<task_status id=\"1\">FAILED",
            "<task_status>COMPLETED</task_status>",
            "<task_status id=\"1\">DONE</task_status>",
            "<task_status id=\"1\">COMPLETED</task_status><task_status id=\"1\">FAILED</task_status>",
            "The tag is <task_status id=\"1\"> and more",
        ],
        Parser::ToolCalls => &[
            "<tool_call>{\"name\": \"a\",}</tool_call>",
            "<tool_call></tool_call>",
            "```json\n{\"tool_calls\": 7}\n```",
            "<tool_call>[7]</tool_call>",
            "<tool_call>{\"name\": \" \"}</tool_call>",
            "<tool_call>{\"name\": 7}</tool_call>",
            "<tool_call>{\"arguments\": {}}</tool_call>",
            "<tool_call>{\"name\": \"a\", \"arguments\": [1]}</tool_call>",
            "<tool_call>{\"name\": \"a\", \"arguments\": \"{\"}</tool_call>",
        ],
        Parser::FrontMatter => {
            &["no front matter", "\n---\na: 1\n---\n", "---\na: 1\n", "---\na: [\n---\n", "---\n- a\n---\n"]
        }
    }
}

fn problems(parser: Parser, reply: &str) -> Vec<Problem> {
    match parser {
        Parser::FileMarkers => parse_file_markers(reply).problems,
        Parser::FencedFiles => parse_fenced_files(reply).problems,
        Parser::Edits => parse_edits(reply).problems,
        Parser::ReviewMeta => parse_review_meta(reply).problems,
        Parser::VerdictTag => parse_verdict_tag(reply).problems,
        Parser::TaskStatus => parse_task_status(reply).problems,
        Parser::ToolCalls => parse_tool_calls(reply).problems,
        Parser::FrontMatter => parse_front_matter(reply).problems,
    }
}

/// Whether a message suggests an action: a verb follows its last colon.
fn suggests_an_action(message: &str) -> bool {
    let verbs = [
        "add", "close", "copy", "correct", "count", "end", "give", "keep", "name", "open", "put", "remove",
        "start", "write",
    ];
    message.split(": ").skip(1).any(|rest| verbs.contains(&rest.split(' ').next().unwrap_or_default()))
}

#[test]
fn every_problem_is_listed_and_says_what_to_write() {
    let (mut page, mut faults) = (String::new(), String::new());
    for parser in Parser::ALL {
        let _ = writeln!(page, "── {parser}");
        for reply in replies(parser) {
            let found = problems(parser, reply);
            if found.is_empty() {
                let _ = writeln!(faults, "nothing is wrong with {reply:?}");
            }
            for problem in found {
                if !suggests_an_action(&problem.message) {
                    let _ = writeln!(faults, "{problem}");
                }
                let _ = writeln!(page, "{problem}");
            }
        }
        page.push('\n');
    }
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("problems", page);
    });
    let mut unread = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() || file.ends_with("_tests.rs") || file == "findings.rs" {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let adds = text.lines().enumerate().filter(|(_, line)| line.contains(".add("));
        unread.extend(adds.map(|(idx, _)| (file.clone(), idx + 1)));
    }
    PLACES.with_borrow(|places| unread.retain(|place| !places.contains(place)));
    assert!(unread.is_empty(), "add replies that have the problems of {unread:?}");
    assert!(faults.is_empty(), "{faults}");
}
