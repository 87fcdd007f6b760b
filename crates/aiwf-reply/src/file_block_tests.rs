use insta::assert_snapshot;

use super::*;

fn check(path: &str, lines: &str) -> String {
    let (content, problem) = block_content(path, lines);
    match problem {
        Some(problem) => format!("{content:?} {problem:?}"),
        None => format!("{content:?}"),
    }
}

#[test]
fn content_ends_with_exactly_one_line_ending() {
    assert_snapshot!(check("a.rs", "x\ny"), @r#""x\ny\n""#);
    assert_snapshot!(check("a.rs", "x\n\n \t\n\n"), @r#""x\n""#);
    assert_snapshot!(check("a.rs", "x\r\n\r\n"), @r#""x\r\n""#);
    assert_snapshot!(check("a.rs", "x  \n"), @r#""x  \n""#);
    assert_snapshot!(check("a.rs", "\n\nx\n"), @r#""\n\nx\n""#);
    assert_snapshot!(check("a.rs", " \n\t\n"), @r#""""#);
    assert_snapshot!(check("a.rs", ""), @r#""""#);
}

#[test]
fn shared_indentation_is_removed() {
    assert_snapshot!(check("a.rs", "    a {\n        b\n\n  \n    }\n"), @r#""a {\n    b\n\n\n}\n""#);
    assert_snapshot!(check("a.rs", "\ta {\n\t\tb\n\t}\n"), @r#""a {\n\tb\n}\n""#);
    assert_snapshot!(check("a.rs", "      a\n        b\n"), @r#""a\n  b\n""#);
}

#[test]
fn other_indentation_stays() {
    assert_snapshot!(check("a.rs", "   a\n   b\n"), @r#""   a\n   b\n""#);
    assert_snapshot!(check("a.rs", "    a\nb\n"), @r#""    a\nb\n""#);
    assert_snapshot!(check("a.rs", "    a\n\tb\n"), @r#""    a\n\tb\n""#);
    assert_snapshot!(check("a.rs", "    a\n  \n      b\n   c"), @r#""    a\n  \n      b\n   c\n""#);
}

#[test]
fn a_fence_around_the_content_is_removed() {
    assert_snapshot!(check("a.rs", "```rust\nfn a() {}\n```\n\n"), @r#""fn a() {}\n""#);
    assert_snapshot!(check("a.rs", "\n    ~~~\n    fn a() {}\n    ~~~\n"), @r#""fn a() {}\n""#);
    assert_snapshot!(check("a.rs", "```\n    fn a() {}\n```"), @r#""fn a() {}\n""#);
    assert_snapshot!(check("a.rs", "```\n```"), @r#""""#);
    assert_snapshot!(check("a.md", "```markdown\n# A\n```\n"), @r##""# A\n""##);
    assert_snapshot!(check("a.md", "```markdown\n# A\n```sh\nx\n```\n```\n"), @r##""# A\n```sh\nx\n```\n""##);
}

#[test]
fn fences_of_a_text_file_stay() {
    assert_snapshot!(check("a.md", "```sh\nx\n```\n"), @r#""```sh\nx\n```\n""#);
    assert_snapshot!(check("a.md", "```\nx\n```\n\nText\n"), @r#""```\nx\n```\n\nText\n""#);
    assert_snapshot!(check("a.md", "```\nx\n"), @r#""```\nx\n""#);
    assert_snapshot!(check("A.MD", "# A\n```\nx\n```\n"), @r##""# A\n```\nx\n```\n""##);
}

#[test]
fn text_after_the_fence_of_a_file_is_reported() {
    assert_snapshot!(check("a.rs", "```\nx\n```\nThat is all.\n"), @r#""x\n" TextAfter { closing: "three backticks" }"#);
    assert_snapshot!(check("a.rs", "````\nx\n"), @r#""x\n" NotClosed { closing: "four backticks" }"#);
}
