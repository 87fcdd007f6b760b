use insta::assert_snapshot;

use super::*;

fn check(reply: &str) -> String {
    let ReviewMeta { verdict, issues_total, issues_critical, missing_inputs } =
        parse_review_meta(reply).value;
    let verdict = verdict.map(MetaVerdict::as_str);
    let values = format!("{verdict:?} {issues_total:?} {issues_critical:?} {missing_inputs:?}");
    let problems = parse_review_meta(reply).problems.into_iter().map(|problem| format!("\n{problem}"));
    problems.fold(values, |text, problem| text + &problem)
}

fn block(verdict: &str, total: &str, critical: &str, missing: &str) -> String {
    format!(
        "@@@REVIEW_META\nverdict: {verdict}\nissues_total: {total}\nissues_critical: {critical}\nmissing_inputs: {missing}\n@@@\n"
    )
}

#[test]
fn reads_the_four_values() {
    assert_snapshot!(check(&format!("# Review\n\n{}\nBye", block("FAIL", "3", "1", "0"))), @r#"Some("FAIL") Some(3) Some(1) Some(0)"#);
}

#[test]
fn order_case_spaces_and_unknown_keys_do_not_matter() {
    let reply = "  @@@review_meta  \r\n\r\n- Missing_Inputs : 0\r\nreviewer: me\r\nISSUES_TOTAL:2\r\nno colon\r\n\
                 * issues_critical: 0\r\nVerdict: pass\r\n @@@ \r\n";
    assert_snapshot!(check(reply), @r#"Some("PASS") Some(2) Some(0) Some(0)"#);
}

#[test]
fn no_block_is_a_problem() {
    assert_snapshot!(check("verdict: PASS"), @"
    None None None None
    line 1, column 1: no `@@@REVIEW_META` block: write a line `@@@REVIEW_META`, then `verdict`, `issues_total`, `issues_critical` and `missing_inputs`, then a line `@@@`
    ");
    assert_snapshot!(check("see @@@REVIEW_META below"), @"
    None None None None
    line 1, column 1: no `@@@REVIEW_META` block: write a line `@@@REVIEW_META`, then `verdict`, `issues_total`, `issues_critical` and `missing_inputs`, then a line `@@@`
    ");
}

#[test]
fn a_missing_or_invalid_value_is_a_problem() {
    assert_snapshot!(check("x\n  @@@REVIEW_META\n@@@"), @"
    None None None None
    line 2, column 3: `@@@REVIEW_META` block has no `verdict`: add a line like `verdict: FAIL`, with `PASS` or `FAIL`
    line 2, column 3: `@@@REVIEW_META` block has no `issues_total`: add a line like `issues_total: 0`, with a whole number, 0 or more
    line 2, column 3: `@@@REVIEW_META` block has no `issues_critical`: add a line like `issues_critical: 0`, with a whole number, 0 or more
    line 2, column 3: `@@@REVIEW_META` block has no `missing_inputs`: add a line like `missing_inputs: 0`, with a whole number, 0 or more
    ");
    assert_snapshot!(check(&block("OK", "-1", "two", "")), @"
    None None None None
    line 2, column 1: `verdict` is `OK`: write `PASS` or `FAIL`
    line 3, column 1: `issues_total` is `-1`: write a whole number, 0 or more
    line 4, column 1: `issues_critical` is `two`: write a whole number, 0 or more
    line 5, column 1: `missing_inputs` is empty: write a whole number, 0 or more
    ");
    assert_snapshot!(check(&block("PASS", "1.5", "+0", "99999999999")), @r#"
    Some("PASS") None None None
    line 3, column 1: `issues_total` is `1.5`: write a whole number, 0 or more
    line 4, column 1: `issues_critical` is `+0`: write a whole number, 0 or more
    line 5, column 1: `missing_inputs` is `99999999999`: write a whole number, 0 or more
    "#);
}

#[test]
fn a_block_that_is_not_closed_is_a_problem() {
    assert_snapshot!(check(block("PASS", "0", "0", "0").trim_end_matches("@@@\n")), @r#"
    Some("PASS") Some(0) Some(0) Some(0)
    line 1, column 1: `@@@REVIEW_META` block is not closed: end it with a line `@@@`
    "#);
    assert_snapshot!(check("@@@REVIEW_META\nverdict: PASS\n"), @r#"
    Some("PASS") None None None
    line 1, column 1: `@@@REVIEW_META` block is not closed: end it with a line `@@@`
    line 1, column 1: `@@@REVIEW_META` block has no `issues_total`: add a line like `issues_total: 0`, with a whole number, 0 or more
    line 1, column 1: `@@@REVIEW_META` block has no `issues_critical`: add a line like `issues_critical: 0`, with a whole number, 0 or more
    line 1, column 1: `@@@REVIEW_META` block has no `missing_inputs`: add a line like `missing_inputs: 0`, with a whole number, 0 or more
    "#);
}

#[test]
fn values_that_contradict_each_other_are_a_problem() {
    assert_snapshot!(check(&block("PASS", "2", "1", "0")), @r#"
    Some("PASS") Some(2) Some(1) Some(0)
    line 1, column 1: `verdict` is `PASS` but `issues_critical` is 1: write `FAIL`, or 0 critical issues
    "#);
    assert_snapshot!(check(&block("FAIL", "1", "2", "0")), @r#"
    Some("FAIL") Some(1) Some(2) Some(0)
    line 1, column 1: `issues_critical` is 2 but `issues_total` is 1: count critical issues in both
    "#);
    assert_snapshot!(check("@@@REVIEW_META\nverdict: PASS\nverdict: FAIL\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@"), @r#"
    Some("FAIL") Some(0) Some(0) Some(0)
    line 3, column 1: `verdict` occurs again, so the worst value is used: write each key once
    "#);
}

#[test]
fn the_worst_of_several_blocks_is_taken() {
    assert_snapshot!(check(&(block("PASS", "3", "0", "0") + &block("FAIL", "1", "1", "2"))), @r#"
    Some("FAIL") Some(3) Some(1) Some(2)
    line 7, column 1: 2 `@@@REVIEW_META` blocks instead of one, so the worst of each value is used: write one block
    "#);
    let unclosed = "@@@REVIEW_META\nverdict: PASS\n";
    assert_snapshot!(check(&(unclosed.to_owned() + &block("FAIL", "1", "1", "2"))), @r#"
    Some("FAIL") Some(1) Some(1) Some(2)
    line 1, column 1: `@@@REVIEW_META` block is not closed: end it with a line `@@@`
    line 1, column 1: `@@@REVIEW_META` block has no `issues_total`: add a line like `issues_total: 0`, with a whole number, 0 or more
    line 1, column 1: `@@@REVIEW_META` block has no `issues_critical`: add a line like `issues_critical: 0`, with a whole number, 0 or more
    line 1, column 1: `@@@REVIEW_META` block has no `missing_inputs`: add a line like `missing_inputs: 0`, with a whole number, 0 or more
    line 3, column 1: 2 `@@@REVIEW_META` blocks instead of one, so the worst of each value is used: write one block
    "#);
}

#[test]
fn a_fenced_block_counts_when_there_is_none_outside() {
    let fenced = |text: &str| format!("```\n{text}```\n");
    assert_snapshot!(check(&fenced(&block("PASS", "0", "0", "0"))), @r#"Some("PASS") Some(0) Some(0) Some(0)"#);
    assert_snapshot!(check(&(fenced(&block("FAIL", "9", "9", "9")) + &block("PASS", "0", "0", "0"))), @r#"Some("PASS") Some(0) Some(0) Some(0)"#);
    assert_snapshot!(check(&fenced("@@@REVIEW_META\nverdict: PASS\n")), @r#"
    Some("PASS") None None None
    line 2, column 1: `@@@REVIEW_META` block is not closed: end it with a line `@@@`
    line 2, column 1: `@@@REVIEW_META` block has no `issues_total`: add a line like `issues_total: 0`, with a whole number, 0 or more
    line 2, column 1: `@@@REVIEW_META` block has no `issues_critical`: add a line like `issues_critical: 0`, with a whole number, 0 or more
    line 2, column 1: `@@@REVIEW_META` block has no `missing_inputs`: add a line like `missing_inputs: 0`, with a whole number, 0 or more
    "#);
}

#[test]
fn a_quoted_or_thought_about_block_never_counts() {
    let quoted = format!("> {}\n", block("FAIL", "9", "9", "9").trim_end().replace('\n', "\n> "));
    assert_snapshot!(check(&(quoted.clone() + &block("PASS", "0", "0", "0"))), @r#"Some("PASS") Some(0) Some(0) Some(0)"#);
    assert_snapshot!(check(&quoted), @"
    None None None None
    line 1, column 1: this `@@@REVIEW_META` block does not count because it is quoted or a thought: write it as plain text
    ");
    let thought = format!("<thought>\n{}</thought>\n", block("FAIL", "9", "9", "9"));
    assert_snapshot!(check(&(thought.clone() + &block("PASS", "0", "0", "0"))), @r#"Some("PASS") Some(0) Some(0) Some(0)"#);
    assert_snapshot!(check(&thought), @"
    None None None None
    line 2, column 1: this `@@@REVIEW_META` block does not count because it is quoted or a thought: write it as plain text
    ");
    assert_snapshot!(check(&("<thought>\n".to_owned() + &block("PASS", "0", "0", "0"))), @"
    None None None None
    line 1, column 1: `<thought>` is not closed, so nothing after it counts: end it with `</thought>`
    line 2, column 1: this `@@@REVIEW_META` block does not count because it is quoted or a thought: write it as plain text
    ");
}
