use std::fmt::Write as _;

use insta::assert_snapshot;

use super::*;

fn shown(reply: &str) -> String {
    let parsed = parse_edits(reply);
    let mut text = String::new();
    for edit in parsed.value {
        let what = match edit.kind {
            EditKind::Write(file) => format!("write {} {:?}", file.path, file.content),
            EditKind::Change { path, hunks } => {
                let hunk = |hunk: &Hunk| {
                    let at = hunk.at.map(|at| format!(" at {at}")).unwrap_or_default();
                    format!("\n  line {}{at}: {:?} -> {:?}", hunk.line, hunk.search, hunk.replace)
                };
                format!("change {path}{}", hunks.iter().map(hunk).collect::<String>())
            }
            EditKind::Delete { path } => format!("delete {path}"),
            EditKind::Rename { from, to } => format!("rename {from} to {to}"),
        };
        let _ = writeln!(text, "line {}: {what}", edit.line);
    }
    parsed.problems.iter().fold(text, |text, problem| format!("{text}problem: {problem}\n"))
}

#[test]
fn every_kind_of_edit_is_read() {
    let reply = "\
I change three files.

<<<EDIT: src/list.py>>>
<<<<<<< SEARCH
def list_items():
=======
def list_items(as_json=False):
>>>>>>> REPLACE
<<<<<<< SEARCH
    return items
=======
>>>>>>> REPLACE
<<<DELETE: src/old.py>>>
<<<RENAME: src/a.py -> src/b.py>>>
<<<FILE: src/new.py>>>
x = 1
";
    assert_snapshot!(shown(reply), @r#"
    line 3: change src/list.py
      line 4: ["def list_items():"] -> ["def list_items(as_json=False):"]
      line 9: ["    return items"] -> []
    line 13: delete src/old.py
    line 14: rename src/a.py to src/b.py
    line 15: write src/new.py "x = 1\n"
    "#);
}

#[test]
fn a_fence_around_the_answer_or_around_a_hunk_does_not_matter() {
    let hunk = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    for reply in
        [format!("```\n<<<EDIT: a.py>>>\n{hunk}```\n"), format!("<<<EDIT: a.py>>>\n```python\n{hunk}```\n")]
    {
        let parsed = parse_edits(&reply);
        assert_eq!((parsed.value.len(), parsed.problems.len()), (1, 0), "{reply}");
    }
}

#[test]
fn longer_marks_contain_shorter_ones() {
    let reply =
        "<<<EDIT: a.md>>>\n<<<<<<<< SEARCH\n<<<<<<< SEARCH\n=======\n========\n=======\n>>>>>>>> REPLACE\n";
    assert_snapshot!(shown(reply), @r#"
    line 1: change a.md
      line 2: ["<<<<<<< SEARCH", "======="] -> ["======="]
    "#);
}

#[test]
fn markers_in_a_closed_hunk_are_content() {
    let reply =
        "<<<EDIT: a.md>>>\n<<<<<<< SEARCH\n<<<FILE: x>>>\n=======\n<<<DELETE: x>>>\n>>>>>>> REPLACE\n";
    assert_snapshot!(shown(reply), @r#"
    line 1: change a.md
      line 2: ["<<<FILE: x>>>"] -> ["<<<DELETE: x>>>"]
    "#);
}

#[test]
fn a_unified_diff_gives_the_same_edits() {
    let reply = "\
```diff
--- a/src/a.rs
+++ b/src/a.rs
@@ -10,3 +10,3 @@ fn main() {
 one
-two
+TWO

--- a/gone.rs
+++ /dev/null
@@ -1 +0,0 @@
-x
--- /dev/null
+++ b/new.rs
@@ -0,0 +1,2 @@
+a
+b
\\ No newline at end of file
```
";
    assert_snapshot!(shown(reply), @r#"
    line 2: change src/a.rs
      line 4 at 10: ["one", "two", ""] -> ["one", "TWO", ""]
    line 9: delete gone.rs
    line 13: write new.rs "a\nb\n"
    "#);
}

#[test]
fn blocks_of_one_file_are_one_edit_and_contradictions_are_problems() {
    let hunk = |text: &str| format!("<<<EDIT: a>>>\n<<<<<<< SEARCH\n{text}\n=======\n>>>>>>> REPLACE\n");
    assert_snapshot!(shown(&format!("{}{}<<<DELETE: a>>>\n", hunk("x"), hunk("y"))), @r#"
    line 1: change a
      line 2: ["x"] -> []
      line 7: ["y"] -> []
    problem: line 11, column 1: `a` is deleted here and changed before: keep only one of them
    "#);
}

#[test]
fn an_open_hunk_is_named_with_its_line() {
    let reply = "<<<EDIT: a>>>\n<<<<<<< SEARCH\nx\n=======\ny\n<<<DELETE: b>>>\n";
    assert_snapshot!(shown(reply), @r"
    line 6: delete b
    problem: line 2, column 1: hunk of `a` has no end: write a line `>>>>>>> REPLACE`
    ");
}
