use proptest::prelude::*;

use super::*;

fn hunk(search: &[&str], replace: &[&str]) -> Hunk {
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    Hunk { line: 2, search: owned(search), replace: owned(replace), at: None }
}

fn check(text: &str, hunks: &[Hunk], expected: Result<&str, &str>) {
    let applied = apply_hunks("a.rs", text, hunks);
    let applied = applied.map_err(|problems| problems[0].message.clone());
    assert_eq!(applied.as_deref().map_err(String::as_str), expected);
}

#[test]
fn a_hunk_replaces_its_lines_and_nothing_else() {
    check("a\nb\nc\n", &[hunk(&["b"], &["x", "y"])], Ok("a\nx\ny\nc\n"));
    check("a\nb\nc", &[hunk(&["c"], &["x"])], Ok("a\nb\nx"));
    check("a\r\nb\r\n", &[hunk(&["b"], &["x", "y"])], Ok("a\r\nx\r\ny\r\n"));
    check("", &[hunk(&[], &["x"])], Ok("x\n"));
    check("a\n", &[hunk(&["a"], &[])], Ok(""));
}

#[test]
fn hunks_apply_in_order_and_see_earlier_results() {
    check("a\nb\n", &[hunk(&["a"], &["x"]), hunk(&["x", "b"], &["done"])], Ok("done\n"));
}

#[test]
fn a_hunk_must_match_exactly_once() {
    check(
        "a\nb\na\n",
        &[hunk(&["a"], &["x"])],
        Err(
            "edit of `a.rs`: the SEARCH lines occur 2 times in the file (lines 1, 3): add more of the surrounding lines",
        ),
    );
    check(
        "fn main() {\n\tgo();\n}\n",
        &[hunk(&["fn main() {", "    go();"], &[])],
        Err(
            "edit of `a.rs`: the SEARCH lines are not in the file; nearest: line 2, which differs in white space: `go();`",
        ),
    );
    check(
        "one\ntwo\n",
        &[hunk(&["one", "three"], &[])],
        Err(
            "edit of `a.rs`: the SEARCH lines are not in the file; nearest: line 2, which is `two`, not `three`",
        ),
    );
    check(
        "a\n",
        &[hunk(&[], &["x"])],
        Err("edit of `a.rs`: the SEARCH part is empty: copy lines from the file"),
    );
}

#[test]
fn the_line_number_of_a_diff_decides_between_equal_places() {
    let mut second = hunk(&["a"], &["x"]);
    second.at = Some(3);
    check("a\nb\na\n", &[second], Ok("a\nb\nx\n"));
}

fn numbered(line: usize) -> String {
    format!("line {line} of some fifty characters, as code has them")
}

#[test]
fn many_edits_of_a_large_file_take_linear_time() {
    let text: String = (0..20_000).fold(String::new(), |text, line| text + &numbered(line) + "\n");
    let hunks: Vec<Hunk> = (0..1_000)
        .map(|edit| {
            let line = numbered(edit * 20);
            Hunk { line: edit, search: vec![line.clone()], replace: vec![line + "!"], at: None }
        })
        .collect();
    let applied = apply_hunks("a", &text, &hunks).unwrap();
    assert_eq!(applied.matches("them!\n").count(), 1_000);
}

proptest! {
    /// A single matching hunk does the same as replacing the text once.
    #[test]
    fn a_match_is_replaced_like_text(lines in prop::collection::vec("[a-c]{1,2}", 1..12), start in 0usize..12, n in 1usize..4) {
        let start = start.min(lines.len() - 1);
        let end = (start + n).min(lines.len());
        let search: Vec<String> = lines[start..end].to_vec();
        let text = lines.join("\n") + "\n";
        let places = lines.windows(search.len()).filter(|window| *window == search.as_slice()).count();
        let hunk = Hunk { line: 1, search: search.clone(), replace: vec!["NEW".to_owned()], at: None };
        let applied = apply_hunks("a", &text, &[hunk]);
        prop_assert_eq!(applied.is_ok(), places == 1);
        if let Ok(applied) = applied {
            let mut expected = lines.clone();
            expected.splice(start..end, ["NEW".to_owned()]);
            prop_assert_eq!(applied, expected.join("\n") + "\n");
        }
    }
}
