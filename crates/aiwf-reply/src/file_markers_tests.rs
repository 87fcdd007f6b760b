use insta::assert_snapshot;

use super::*;

fn check(reply: &str) -> String {
    let parsed = parse_file_markers(reply);
    let files = parsed.value.iter().map(|file| format!("{} {:?}", file.path, file.content));
    let problems = parsed.problems.iter().map(ToString::to_string);
    files.chain(problems).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_file_ends_at_the_next_marker() {
    let reply = "Here are the files.\n\n<<<FILE: A.java>>>\nclass A {}\n\n\n  <<<FILE:  src/B.java  >>>  \nclass B {}\n";
    assert_snapshot!(check(reply), @r#"
    A.java "class A {}\n"
    src/B.java "class B {}\n"
    "#);
}

#[test]
fn quotes_around_a_path_are_removed() {
    assert_snapshot!(check("<<<FILE: `a b.rs`>>>\n<<<FILE: \"c\">>>\n<<<FILE: ''>>>\n"), @r#"
    a b.rs ""
    c ""
    line 3, column 1: file marker has no path, so the text after it is ignored: write `<<<FILE: path/to/file>>>`
    "#);
}

#[test]
fn content_may_be_empty_or_anything_but_markers() {
    let reply = "<<<FILE: a>>>\n<<<FILE: b.md>>>\n<thought>\n> x\n```\nsee <<<FILE: x>>> and\n<<<<<<< HEAD\n<<<grid, 1>>>\n";
    assert_snapshot!(check(reply), @r#"
    a ""
    b.md "<thought>\n> x\n```\nsee <<<FILE: x>>> and\n<<<<<<< HEAD\n<<<grid, 1>>>\n"
    "#);
}

#[test]
fn line_endings_are_kept() {
    assert_snapshot!(check("<<<FILE: a>>>\r\nx\r\n\r\n<<<FILE: b>>>\r\ny\r\n"), @r#"
    a "x\r\n"
    b "y\r\n"
    "#);
    assert_snapshot!(check("\u{feff}<<<FILE: a>>>\nx"), @r#"a "x\n""#);
}

#[test]
fn an_end_marker_ends_a_file() {
    let reply = "<<<FILE: a>>>\nx\n<<<END>>>\nNow the next:\n<<<FILE: b>>>\ny\n<<<END FILE>>>\nDone.\n";
    assert_snapshot!(check(reply), @r#"
    a "x\n"
    b "y\n"
    "#);
}

#[test]
fn no_marker_is_a_problem() {
    assert_snapshot!(check("class A {}"), @"line 1, column 1: no file marker: write a line `<<<FILE: path/to/file>>>` before the content of each file");
    assert_snapshot!(check("see <<<FILE: a>>>"), @"line 1, column 1: no file marker: write a line `<<<FILE: path/to/file>>>` before the content of each file");
    assert_snapshot!(check("<<<END>>>"), @"line 1, column 1: no file marker: write a line `<<<FILE: path/to/file>>>` before the content of each file");
    assert_snapshot!(check(""), @"line 1, column 1: no file marker: write a line `<<<FILE: path/to/file>>>` before the content of each file");
}

#[test]
fn a_malformed_marker_is_a_problem_and_ends_the_file_before() {
    assert_snapshot!(check("<<<FILE: a.java>>>\nx\n  <<<FILE: b.java>>\ny\n"), @r#"
    a.java "x\n"
    b.java "y\n"
    line 3, column 3: file marker `<<<FILE: b.java>>` is malformed: write `<<<FILE: b.java>>>` alone on its line
    "#);
    assert_snapshot!(check("<<<FILE: a.java>>> // first\nx\n"), @r#"
    a.java "x\n"
    line 1, column 1: file marker `<<<FILE: a.java>>> // first` is malformed: write `<<<FILE: a.java>>>` alone on its line
    "#);
    assert_snapshot!(check("<<<File: a.java>>>\nx\n<<< FILE: b>>>\n<<<FILE c>>>\n<<<FILE=d\n<<<FILE: e>>>>\n"), @r#"
    a.java "x\n"
    b ""
    c ""
    d ""
    e ""
    line 1, column 1: file marker `<<<File: a.java>>>` is malformed: write `<<<FILE: a.java>>>` alone on its line
    line 3, column 1: file marker `<<< FILE: b>>>` is malformed: write `<<<FILE: b>>>` alone on its line
    line 4, column 1: file marker `<<<FILE c>>>` is malformed: write `<<<FILE: c>>>` alone on its line
    line 5, column 1: file marker `<<<FILE=d` is malformed: write `<<<FILE: d>>>` alone on its line
    line 6, column 1: file marker `<<<FILE: e>>>>` is malformed: write `<<<FILE: e>>>` alone on its line
    "#);
    assert_snapshot!(check("<<<FILE: a>>>\nx\n<<<FILE: >>>\ny\n<<<FILE>>>\nz\n<<<FILENAME: q>>>\n"), @r#"
    a "x\n"
    q ""
    line 3, column 1: file marker has no path, so the text after it is ignored: write `<<<FILE: path/to/file>>>`
    line 5, column 1: file marker has no path, so the text after it is ignored: write `<<<FILE: path/to/file>>>`
    line 7, column 1: file marker `<<<FILENAME: q>>>` is malformed: write `<<<FILE: q>>>` alone on its line
    "#);
}

#[test]
fn a_decorated_marker_is_a_problem() {
    assert_snapshot!(check("### <<<FILE: a>>>\nx\n**<<<FILE: b>>>**\ny\n<<<FileName: c>>>\n"), @r#"
    a "x\n"
    b "y\n"
    c ""
    line 1, column 1: file marker `### <<<FILE: a>>>` is malformed: write `<<<FILE: a>>>` alone on its line
    line 3, column 1: file marker `**<<<FILE: b>>>**` is malformed: write `<<<FILE: b>>>` alone on its line
    line 5, column 1: file marker `<<<FileName: c>>>` is malformed: write `<<<FILE: c>>>` alone on its line
    "#);
    assert_snapshot!(check("I write\n- <<<FILE: a>>>\n\n<<<FILE: a>>>\n# <<<x>>>\n"), @r##"a "# <<<x>>>\n""##);
}

#[test]
fn the_first_of_two_files_with_one_path_is_kept() {
    assert_snapshot!(check("<<<FILE: a>>>\none\n<<<FILE: a >>>\ntwo\n"), @r#"
    a "one\n"
    line 3, column 1: file `a` occurs again; only the first is kept: write each file once
    "#);
}

#[test]
fn a_fence_around_a_file_is_removed() {
    assert_snapshot!(check("<<<FILE: a.rs>>>\n```rust\nx\n```\n\n<<<FILE: b.rs>>>\n```rust\ny\n```"), @r#"
    a.rs "x\n"
    b.rs "y\n"
    "#);
    assert_snapshot!(check("<<<FILE: a.rs>>>\n```rust\nx\n```\nThat is all."), @r#"
    a.rs "x\n"
    line 1, column 1: text after the code fence of file `a.rs` is ignored: put nothing between its closing three backticks and the next marker
    "#);
    assert_snapshot!(check("<<<FILE: a.rs>>>\n```rust\nx\n"), @r#"
    a.rs "x\n"
    line 1, column 1: code fence of file `a.rs` is not closed: end it with a line of three backticks
    "#);
}

#[test]
fn a_fence_that_only_closes_is_a_problem() {
    assert_snapshot!(check("<<<FILE: a>>>\n```\nx\n```\n```java\n<<<FILE: B.java>>>\ny\n```\n"), @r#"
    a "x\n"
    B.java "y\n"
    line 1, column 1: text after the code fence of file `a` is ignored: put nothing between its closing three backticks and the next marker
    line 6, column 1: file `B.java` ends with three backticks that close nothing and are ignored: close only fences that you opened
    "#);
    assert_snapshot!(check("<<<FILE: a.py>>>\nx = 1\n```\n\n```\n<<<FILE: b.md>>>\ny\n```\n"), @r#"
    a.py "x = 1\n```\n\n```\n"
    b.md "y\n```\n"
    "#);
}

#[test]
fn an_answer_wrapped_in_fences_counts() {
    assert_snapshot!(check("Sure:\n```\n<<<FILE: a>>>\nx\n\n<<<FILE: b>>>\ny\n```\nBye\n"), @r#"
    a "x\n"
    b "y\n"
    "#);
    assert_snapshot!(check("```java\n<<<FILE: A>>>\nx\n```\n\n```java\n<<<FILE: B>>>\ny\n```\n"), @r#"
    A "x\n"
    B "y\n"
    "#);
    assert_snapshot!(check("```\n<<<FILE: a>>>\nx\n"), @r#"
    a "x\n"
    line 1, column 1: code fence around the file markers is not closed: end it with a line of three backticks
    "#);
}

#[test]
fn a_quoted_example_does_not_count() {
    assert_snapshot!(check("I write:\n```\n<<<FILE: name>>>\n```\n> <<<FILE: x>>>\n\n<<<FILE: a>>>\nx\n"), @r#"a "x\n""#);
    assert_snapshot!(check("<thought>\n<<<FILE: draft>>>\nx\n</thought>\n<<<FILE: a>>>\nx\n"), @r#"a "x\n""#);
    assert_snapshot!(check("<thought>\n<<<FILE: a>>>\nx\n"), @"
    line 1, column 1: `<thought>` is not closed, so nothing after it counts: end it with `</thought>`
    line 1, column 1: no file marker: write a line `<<<FILE: path/to/file>>>` before the content of each file
    ");
}

#[test]
fn a_wrapping_fence_that_ends_too_early_is_a_problem() {
    assert_snapshot!(check("```\n<<<FILE: README.md>>>\n# A\n```sh\nx\n```\n<<<FILE: b>>>\ny\n```\n"), @r#"
    b "y\n"
    line 1, column 1: the file markers in this code fence are ignored because there are others outside it: write all files without a fence around them, or use a longer fence
    line 7, column 1: file `b` ends with three backticks that close nothing and are ignored: close only fences that you opened
    "#);
}

#[test]
fn thoughts_in_files_are_content() {
    assert_snapshot!(check("<<<FILE: a.html>>>\n<thought>\n<<<FILE: b.html>>>\n</thought>\n"), @r#"
    a.html "<thought>\n"
    b.html "</thought>\n"
    "#);
}
