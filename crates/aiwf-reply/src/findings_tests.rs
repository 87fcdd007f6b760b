use insta::assert_snapshot;

use super::*;

fn check(text: &str, offsets: &[usize]) -> String {
    let mut findings = Findings::new(text);
    for offset in offsets {
        findings.add(*offset, format!("byte {offset}"));
    }
    let problems = findings.finish(()).problems;
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn columns_count_characters_and_lines_end_at_newlines() {
    assert_snapshot!(check("aé😀b\r\nc\n", &[7, 0, 3, 10, 12]), @"
    line 1, column 1: byte 0
    line 1, column 3: byte 3
    line 1, column 4: byte 7
    line 2, column 1: byte 10
    line 3, column 1: byte 12
    ");
}

#[test]
fn problems_come_in_the_order_of_the_text() {
    assert_snapshot!(check("one\ntwo\nthree", &[8, 0, 4]), @"
    line 1, column 1: byte 0
    line 2, column 1: byte 4
    line 3, column 1: byte 8
    ");
}

#[test]
fn a_byte_order_mark_is_not_a_column() {
    assert_snapshot!(check("\u{feff}ab", &[3, 4]), @"
    line 1, column 1: byte 3
    line 1, column 2: byte 4
    ");
}

#[test]
fn an_offset_beyond_the_text_is_its_end() {
    assert_snapshot!(check("ab\n", &[99]), @"line 2, column 1: byte 99");
}

#[test]
fn an_excerpt_is_short_and_on_one_line() {
    assert_snapshot!(excerpt(&format!(" a\nb\t{}", "x".repeat(100))), @"a b xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…");
}
