use insta::assert_snapshot;

use super::*;

fn check(reply: &str) -> String {
    let parsed = parse_fenced_files(reply);
    let files = parsed.value.iter().map(|file| format!("{} {:?}", file.path, file.content));
    let problems = parsed.problems.iter().map(ToString::to_string);
    files.chain(problems).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_path_comment_is_not_part_of_the_file() {
    let reply = "Here:\n\n```rust\n// src/a.rs\nfn a() {}\n\n// end\n```\n\nand\n\n~~~\n# b.py\n~~~\n";
    assert_snapshot!(check(reply), @r#"
    src/a.rs "fn a() {}\n\n// end\n"
    b.py ""
    "#);
}

#[test]
fn the_path_may_be_in_the_info_string() {
    assert_snapshot!(check("```java src/A.java\nclass A {}\n```\n```src/b.rs\n```"), @r#"
    src/A.java "class A {}\n"
    src/b.rs ""
    "#);
    assert_snapshot!(check("```java src/A.java\n// src/A.java\nclass A {}\n```"), @r#"src/A.java "class A {}\n""#);
    assert_snapshot!(check("```java title=\"A.java\"\n// src/A.java\nclass A {}\n```"), @r#"src/A.java "class A {}\n""#);
    assert_snapshot!(check("```java src/A.java\n// B.java\nclass A {}\n```"), @r#"
    src/A.java "// B.java\nclass A {}\n"
    line 1, column 1: the code fence names file `src/A.java` but its first line names `B.java`, so `src/A.java` is used: name one path
    "#);
}

#[test]
fn a_line_that_must_stay_first_may_come_before_the_comment() {
    assert_snapshot!(check("```php\n<?php\n// src/A.php\nclass A {}\n```"), @r#"src/A.php "<?php\nclass A {}\n""#);
    assert_snapshot!(check("```sh\n#!/bin/sh\n# bin/run.sh\necho\n```"), @r##"bin/run.sh "#!/bin/sh\necho\n""##);
    assert_snapshot!(check("```html\n<!DOCTYPE html>\n<!-- a.html -->\n<p>\n```"), @r#"a.html "<!DOCTYPE html>\n<p>\n""#);
}

#[test]
fn fences_without_a_path_are_not_files() {
    assert_snapshot!(check("```sh\ncargo run\n```\n```rust\n// a.rs\n```\n```\n```"), @r#"a.rs """#);
    assert_snapshot!(check("```sh\ncargo run\n```\n"), @"line 1, column 1: no file block: start the text in each code fence with a comment that contains the path, like `// src/a.rs`");
    assert_snapshot!(check("no fence"), @"line 1, column 1: no file block: start the text in each code fence with a comment that contains the path, like `// src/a.rs`");
    assert_snapshot!(check(""), @"line 1, column 1: no file block: start the text in each code fence with a comment that contains the path, like `// src/a.rs`");
}

#[test]
fn a_longer_fence_contains_shorter_ones() {
    assert_snapshot!(check("````markdown\n<!-- README.md -->\n# A\n```sh\n// b.rs\n```\n````\n"), @r##"README.md "# A\n```sh\n// b.rs\n```\n""##);
}

#[test]
fn a_fence_that_ends_too_early_is_a_problem() {
    assert_snapshot!(check("```markdown\n<!-- README.md -->\n# A\n```sh\nx\n```\nmore\n```\n"), @r##"
    README.md "# A\n```sh\nx\n"
    line 4, column 1: file block `README.md` contains a code fence as long as its own, so it ends too early: open and close it with more than three backticks
    "##);
}

#[test]
fn an_unclosed_file_is_a_problem_and_kept() {
    assert_snapshot!(check("ok\n\n  ```rust\n  // src/a.rs\n  fn a() {\n    b\n"), @r#"
    src/a.rs "fn a() {\n  b\n"
    line 3, column 3: file block `src/a.rs` is not closed: end it with a line of three backticks
    "#);
    assert_snapshot!(check("```rust\n// src/a.rs\nfn a()"), @r#"
    src/a.rs "fn a()\n"
    line 1, column 1: file block `src/a.rs` is not closed: end it with a line of three backticks
    "#);
}

#[test]
fn an_indented_closing_fence_in_the_content_closes_nothing() {
    assert_snapshot!(check("```python\n# a.py\n\"\"\"\n    ```\n    x\n    ```\n\"\"\"\n```\n"), @r#"a.py "\"\"\"\n    ```\n    x\n    ```\n\"\"\"\n""#);
}

#[test]
fn fences_in_lists_lose_their_indentation() {
    assert_snapshot!(check("1. First\n\n    ```rust\n    // a.rs\n    fn a() {\n        b\n    }\n\n    ```\n"), @r#"a.rs "fn a() {\n    b\n}\n\n""#);
}

#[test]
fn the_first_of_two_files_with_one_path_is_kept() {
    assert_snapshot!(check("```\n// a.rs\none\n```\n```\n// a.rs\ntwo\n```\n"), @r#"
    a.rs "one\n"
    line 5, column 1: file `a.rs` occurs again; only the first is kept: write each file once
    "#);
}

#[test]
fn quoted_and_thought_about_files_do_not_count() {
    let reply = "> ```\n> // a.rs\n> ```\n\n<thought>\n```\n// b.rs\n```\n</thought>\n\n```\n// c.rs\n```\n";
    assert_snapshot!(check(reply), @r#"c.rs """#);
    assert_snapshot!(check("<thought>\n```\n// b.rs\n```\n"), @"
    line 1, column 1: `<thought>` is not closed, so nothing after it counts: end it with `</thought>`
    line 1, column 1: no file block: start the text in each code fence with a comment that contains the path, like `// src/a.rs`
    ");
}

#[test]
fn line_endings_and_blanks_are_kept() {
    assert_snapshot!(check("```\r\n// a.rs\r\n\r\nx \r\n\ty\r\n\r\n```\r\n"), @r#"a.rs "\r\nx \r\n\ty\r\n\r\n""#);
}
