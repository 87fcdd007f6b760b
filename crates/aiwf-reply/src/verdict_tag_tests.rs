use insta::assert_snapshot;

use super::*;

fn check(reply: &str) -> String {
    let parsed = parse_verdict_tag(reply);
    let verdict = parsed.value.map_or("none", Verdict::as_str);
    let problems = parsed.problems.iter().map(|problem| format!("\n{problem}"));
    problems.fold(verdict.to_owned(), |text, problem| text + &problem)
}

#[test]
fn reads_each_of_the_five_verdicts() {
    for verdict in Verdict::ALL {
        assert_eq!(check(&format!("Done.\n\n<review>{verdict}</review>\n")), verdict.as_str());
    }
}

#[test]
fn verdicts_are_ordered_worst_first() {
    assert!(Verdict::ALL.is_sorted());
    assert_eq!(Verdict::ALL.into_iter().min(), Some(Verdict::Rejected));
}

#[test]
fn case_spaces_and_attributes_do_not_matter() {
    assert_snapshot!(check("<Review status=\"final\" by='a > b'>\n  needs revision\n</REVIEW>"), @"NEEDS_REVISION");
    assert_snapshot!(check("**<review>Major-Issues</review>**"), @"MAJOR_ISSUES");
    assert_snapshot!(check("\u{feff}<review>pass</review >"), @"PASS");
}

#[test]
fn no_tag_is_a_problem() {
    assert_snapshot!(check(""), @"
    none
    line 1, column 1: no verdict: write `<review>VERDICT</review>` with `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
    assert_snapshot!(check("All good, I approve.\nPASS"), @"
    none
    line 1, column 1: no verdict: write `<review>VERDICT</review>` with `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
    assert_snapshot!(check("<reviewer>PASS</reviewer>"), @"
    none
    line 1, column 1: no verdict: write `<review>VERDICT</review>` with `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
}

#[test]
fn an_unknown_verdict_is_a_problem() {
    assert_snapshot!(check("ok\n  <review>APPROVED</review>"), @"
    none
    line 2, column 3: unknown verdict `APPROVED`: write `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
    assert_snapshot!(check("<review></review>"), @"
    none
    line 1, column 1: verdict is empty: write `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
    assert_snapshot!(check("<review/>"), @"
    none
    line 1, column 1: verdict is empty: write `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
    assert_snapshot!(check("<review>PASS</review> <review>LGTM</review>"), @"
    PASS
    line 1, column 23: unknown verdict `LGTM`: write `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
    assert_snapshot!(check("<review>\nVerdict: PASS\nbecause all is well and nothing is left to be said about this\n</review>"), @"
    none
    line 1, column 1: unknown verdict `Verdict: PASS because all is well and nothing is left to be …`: write `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
}

#[test]
fn a_conflict_is_settled_by_the_worst() {
    assert_snapshot!(check("<review>PASS</review>\n<review>NEEDS_REVISION</review>\n<review>PASS</review>"), @"
    NEEDS_REVISION
    line 2, column 1: verdicts `NEEDS_REVISION`, `PASS` conflict, so the worst, `NEEDS_REVISION`, is used: write one verdict
    ");
    assert_snapshot!(check("<review>NEEDS_CHANGES</review> <review>PASS</review> <review>REJECTED</review>"), @"
    REJECTED
    line 1, column 32: verdicts `REJECTED`, `NEEDS_CHANGES`, `PASS` conflict, so the worst, `REJECTED`, is used: write one verdict
    ");
    assert_snapshot!(check("<review>PASS</review> and again <review>pass</review>"), @"PASS");
}

#[test]
fn a_quoted_tag_does_not_count() {
    assert_snapshot!(check("```\n<review>PASS</review>\n```\n"), @"
    none
    line 2, column 1: this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text
    ");
    assert_snapshot!(check("Write `<review>PASS</review>` when done."), @"
    none
    line 1, column 8: this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text
    ");
    assert_snapshot!(check("Write ``a ` <review>PASS</review>`` when\ndone."), @"
    none
    line 1, column 13: this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text
    ");
    assert_snapshot!(check("> <review>PASS</review>\n"), @"
    none
    line 1, column 3: this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text
    ");
    assert_snapshot!(check("  - > <review>PASS</review>\n   > <review>PASS</review>"), @"
    none
    line 1, column 7: this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text
    ");
    assert_snapshot!(check("<thought>\n<review>PASS</review>\n</thought>"), @"
    none
    line 2, column 1: this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text
    ");
    assert_snapshot!(check("~~~text\n<review>PASS</review>\n```\n~~~~\n<review>REJECTED</review>"), @"REJECTED");
    assert_snapshot!(check("`<review>REJECTED</review>` or\n> <review>REJECTED</review>\n\n<review>PASS</review>"), @"PASS");
}

#[test]
fn a_fence_in_a_list_item_hides_its_tags() {
    assert_snapshot!(check("- ```\n  <review>REJECTED</review>\n  ```\n<review>PASS</review>"), @"PASS");
    assert_snapshot!(check("12. * ~~~xml\n       <review>REJECTED</review>\n       ~~~\n<review>PASS</review>"), @"PASS");
}

#[test]
fn a_missing_tag_is_reported_with_other_problems() {
    assert_snapshot!(check("hm</thought>"), @"
    none
    line 1, column 1: no verdict: write `<review>VERDICT</review>` with `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    line 1, column 3: `</thought>` closes nothing: write `<thought>` before it
    ");
}

#[test]
fn the_line_after_a_quote_is_not_quoted() {
    assert_snapshot!(check("> Please fix it.\n<review>PASS</review>"), @"PASS");
}

#[test]
fn a_stray_backtick_quotes_nothing_beyond_its_paragraph() {
    assert_snapshot!(check("a stray ` here\n\n<review>PASS</review>\n\nanother ` there"), @"PASS");
    assert_snapshot!(check("a stray ` here\n<review>PASS</review>\nanother ` there"), @"
    none
    line 2, column 1: this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text
    ");
    assert_snapshot!(check(r"an escaped \` here <review>PASS</review> and ` there"), @"PASS");
}

#[test]
fn thoughts_nest_and_have_several_names() {
    assert_snapshot!(check("<thought>a <thought>b</thought> <review>REJECTED</review></thought><review>PASS</review>"), @"PASS");
    assert_snapshot!(check("<think><thought></think> <review>PASS</review>"), @"PASS");
    assert_snapshot!(check("<thinking name=\"x\">\n<review>REJECTED</review>\n</thinking>\n<review>PASS</review>"), @"PASS");
    assert_snapshot!(check("<thought/> <review>PASS</review>"), @"PASS");
}

#[test]
fn a_type_parameter_is_not_a_tag() {
    assert_snapshot!(check("Use Vec<Thought> or Option::<Review>.\n<review>PASS</review>"), @"PASS");
}

#[test]
fn a_fence_in_a_thought_does_not_end_it() {
    let reply =
        "<thought>\n```\n</thought>\n<review>PASS</review>\n```\n</thought>\n<review>REJECTED</review>";
    assert_snapshot!(check(reply), @"REJECTED");
}

#[test]
fn a_stray_backtick_in_a_thought_stays_there() {
    assert_snapshot!(check("<thought>\nuse ` for code\n</thought>\n<review>PASS</review> for `x`"), @"PASS");
}

#[test]
fn a_thought_that_is_not_closed_is_a_problem() {
    assert_snapshot!(check("<thought>\nhm\n<review>PASS</review>"), @"
    none
    line 1, column 1: `<thought>` is not closed, so nothing after it counts: end it with `</thought>`
    line 3, column 1: this `<review>` does not count because it is quoted, code or a thought: write the verdict as plain text
    ");
    assert_snapshot!(check("<review>PASS</review>\n<thought>and now?"), @"
    PASS
    line 2, column 1: `<thought>` is not closed, so nothing after it counts: end it with `</thought>`
    ");
    assert_snapshot!(check("hm\n</thought>\n<review>PASS</review>"), @"
    PASS
    line 2, column 1: `</thought>` closes nothing: write `<thought>` before it
    ");
}

#[test]
fn a_tag_that_is_not_closed_is_a_problem_if_it_may_be_a_verdict() {
    assert_snapshot!(check("<review>PASS"), @"
    none
    line 1, column 1: `<review>` is not closed: write `<review>PASS</review>`
    ");
    assert_snapshot!(check("<review>PASS</review> <review>REJECTED</b>"), @"
    REJECTED
    line 1, column 23: `<review>` is not closed: write `<review>REJECTED</review>`
    line 1, column 23: verdicts `REJECTED`, `PASS` conflict, so the worst, `REJECTED`, is used: write one verdict
    ");
    assert_snapshot!(check("I put it in a <review> tag.\n<review>PASS</review>"), @"PASS");
    assert_snapshot!(check("I put it in a <review> tag."), @"
    none
    line 1, column 15: `<review>` is not closed: write one verdict, like `<review>PASS</review>`
    ");
    assert_snapshot!(check("<review\n"), @"
    none
    line 1, column 1: no verdict: write `<review>VERDICT</review>` with `PASS`, `NEEDS_REVISION`, `NEEDS_CHANGES`, `MAJOR_ISSUES` or `REJECTED`
    ");
}
