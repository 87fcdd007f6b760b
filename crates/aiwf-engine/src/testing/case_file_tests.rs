use super::*;

#[track_caller]
fn problems(text: &str, expected: &[(Option<usize>, &str)]) {
    let found = parse_case_file(text).map(drop).unwrap_err();
    let found: Vec<(Option<usize>, &str)> =
        found.iter().map(|problem| (problem.line, problem.message.as_str())).collect();
    assert_eq!(found, expected);
}

const CASE: &str = "[[case]]\nname = \"a\"\nrecipe = \"change\"\ndocument = { instructions = \"x\" }\n";

#[test]
fn the_example_of_the_documentation_is_read() {
    let file = parse_case_file(
        r#"
[[case]]
name = "the review prompt carries plan and code"
recipe = "session"
input = "inputs/review.json"
for = ["claude-code", "openai"]
reply = "replies/review.md"
[[case.assert]]
type = "section.present"
section = "approved-plan"
[[case.assert]]
type = "tokens.max"
value = 4000
[[case.assert]]
type = "golden"
[[case.assert]]
type = "not_verdict"
value = "FAIL"
"#,
    );
    let file = file.unwrap();
    let case = &file.cases[0];
    assert_eq!((case.line, case.asserts.len()), (3, 4));
    assert_eq!(case.asserts[3].line, 17);
    assert!(case.asserts[3].is_negated && case.asserts[3].is_about_reply());
    assert_eq!(case.reply, ReplyFrom::File("replies/review.md".to_owned()));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    problems(
        "[[case]]\nname = \"a\"\n",
        &[(Some(2), "a case needs `recipe`, `profile` or `flow`: what is built")],
    );
    problems(
        &format!("{CASE}[[case.assert]]\ntype = \"contain\"\nvalue = \"x\"\n"),
        &[(Some(6), "unknown assertion `contain`; did you mean `contains`?")],
    );
    problems(
        &format!("{CASE}[[case.assert]]\ntype = \"tokens.max\"\nvalue = \"many\"\n"),
        &[(Some(6), "`tokens.max` needs a number of tokens as `value`")],
    );
    problems(
        &format!("{CASE}[[case.assert]]\ntype = \"is_json\"\nthreshold = 0.5\n"),
        &[(Some(6), "`is_json` takes no `threshold`")],
    );
    problems(
        &format!("{CASE}format = \"yaml\"\n"),
        &[(Some(5), "unknown format `yaml`; known: `text`, `xml`, `messages`")],
    );
    problems(&format!("{CASE}{CASE}"), &[(Some(6), "line 2 has a case named `a` already")]);
    problems(
        &format!("{CASE}[[case.assert]]\ntype = \"regex\"\nvalue = \"(\"\n"),
        &[(Some(6), "`(` is not a regular expression: error: unclosed group")],
    );
    problems(
        &format!("{CASE}[[case.assert]]\ntype = \"latency\"\nvalue = \"soon\"\n"),
        &[(Some(6), "`soon` is not a duration; write one such as `5s`, `300ms` or `2m`")],
    );
}

#[test]
fn patterns_of_files_stay_in_the_project_and_nothing_is_ignored() {
    for pattern in ["/etc/passwd", "../x", "src/../../x", "~/x"] {
        problems(
            &format!("{CASE}files = [\"{pattern}\"]\n"),
            &[(Some(2), &format!("`{pattern}` in `files` leads out of the project"))],
        );
    }
    problems(
        "[[case]]\nname = \"a\"\nflow = \"do\"\nrequest = \"x\"\nbudget = 5\n",
        &[(Some(2), "`budget` belongs to a case with `recipe`: a session has its own")],
    );
}

#[test]
fn a_key_that_is_not_known_is_an_error() {
    let found = parse_case_file("[[case]]\nname = \"a\"\nrecipie = \"change\"\n").map(drop).unwrap_err();
    assert_eq!(found[0].line, Some(3));
    assert!(found[0].message.starts_with("unknown field `recipie`"), "{}", found[0].message);
}

#[test]
fn every_assertion_of_the_documentation_is_read() {
    let asserts = [
        ("golden", ""),
        ("section.absent", "section = [\"a\", \"b\"]"),
        ("section.order", "value = [\"a\", \"b\"]"),
        ("section.source", "section = \"a\"\nvalue = \"file:*\""),
        ("section.contains", "section = \"a\"\nvalue = \"x\""),
        ("section.regex", "value = \"x+\""),
        ("section.max_tokens", "section = \"a\"\nvalue = 5"),
        ("section.share", "section = \"a\"\nvalue = 0.5"),
        ("tokens.exact", "value = 5"),
        ("stable_prefix.min", "value = 0.5"),
        ("no_paths", ""),
        ("cost.max", "value = 0.5\nmodel = \"gpt-5\""),
        ("lint", "value = [\"schema\"]"),
        ("equals_preview", ""),
        ("contains", "value = [\"a\", \"b\"]"),
        ("icontains", "value = \"a\""),
        ("contains_any", "value = [\"a\", \"b\"]"),
        ("regex", "value = \"a\""),
        ("equals", "file = \"expected.md\""),
        ("starts_with", "value = \"a\""),
        ("is_json", ""),
        ("json_schema", "value = { type = \"object\" }"),
        ("json_schema", "value = \"schema.json\""),
        ("parses_as", "value = \"edits\"\nproblems.max = 2"),
        ("verdict", "value = \"PASS\""),
        ("files", "value = [\"src/**\"]"),
        ("applies", ""),
        ("checks", ""),
        ("tokens", "value = 5"),
        ("cost", "value = 0.1"),
        ("latency", "value = \"5s\""),
        ("similar", "value = \"a\"\nthreshold = 0.9"),
        ("rubric", "value = \"polite\"\nprovider = \"openai\"\nthreshold = 0.9"),
        ("run", "value = [\"./check.sh\"]\ntimeout = \"5s\""),
    ];
    for (kind, fields) in asserts {
        for kind in [kind.to_owned(), format!("not_{kind}")] {
            let text = format!("{CASE}[[case.assert]]\ntype = \"{kind}\"\n{fields}\n");
            let file = parse_case_file(&text).unwrap_or_else(|problems| panic!("{kind}: {problems:?}"));
            assert_eq!(file.cases[0].asserts[0].name, kind);
        }
    }
}

#[test]
fn nothing_runs_twice() {
    problems(&format!("{CASE}for = [\"a\", \"b\", \"a\"]\n"), &[(Some(2), "`for` has `a` twice")]);
    problems(&format!("{CASE}format = [\"xml\", \"xml\"]\n"), &[(Some(2), "`format` has `xml` twice")]);
    let rows = "[[matrix]]\nmodel = \"x\"\n[[matrix]]\nname = \"x\"\n";
    problems(rows, &[(None, "two `[[matrix]]` entries are named `x`: set `name`")]);
}

#[test]
fn a_budget_of_nothing_is_no_budget_without_a_limit() {
    for (key, value) in [
        ("max_calls", "0"),
        ("max_tokens", "0"),
        ("max_cost", "0.0"),
        ("max_cost", "nan"),
        ("max_cost", "-1.0"),
        ("max_cost", "inf"),
    ] {
        let message = format!("`{key}` in `[budget]` is a number above 0; nothing is asked without `--live`");
        problems(&format!("[budget]\n{key} = {value}\n"), &[(None, &message)]);
    }
}

#[test]
fn a_key_of_another_kind_of_case_is_refused() {
    let flow = "flow = \"do\"\nrequest = \"x\"";
    for (kind, key, message) in [
        (flow, "input = \"a.json\"", "`input` belongs to a case with `recipe`, not `flow`"),
        (flow, "document = { a = 1 }", "`document` belongs to a case with `recipe`, not `flow`"),
        (flow, "params = { a = 1 }", "`params` belongs to a case with `profile`, not `flow`"),
        ("profile = \"p\"", "request = \"x\"", "`request` belongs to a case with `flow`, not `profile`"),
        ("profile = \"p\"", "input = \"a.json\"", "`input` belongs to a case with `recipe`, not `profile`"),
        (
            "recipe = \"change\"",
            "params = { a = 1 }",
            "`params` belongs to a case with `profile`, not `recipe`",
        ),
        (
            "recipe = \"change\"",
            "phase = \"plan\"",
            "`phase` belongs to a case with `profile` or `flow`, not `recipe`",
        ),
    ] {
        problems(&format!("[[case]]\nname = \"a\"\n{kind}\n{key}\n"), &[(Some(2), message)]);
    }
}

#[test]
fn a_verdict_is_one_that_a_review_can_give() {
    let message = "unknown verdict `PASSED`; did you mean `PASS`? known: `FAIL`, `REJECTED`, `MAJOR_ISSUES`, \
        `NEEDS_CHANGES`, `NEEDS_REVISION`, `PASS`";
    problems(
        &format!("{CASE}[[case.assert]]\ntype = \"not_verdict\"\nvalue = \"PASSED\"\n"),
        &[(Some(6), message)],
    );
}

#[test]
fn what_cannot_fail_is_refused() {
    let section = "a `section` that is not empty";
    let value = "a `value` that is not empty";
    for (kind, fields, needed) in [
        ("section.present", "section = []", section),
        ("section.absent", "section = [\"\"]", section),
        ("golden", "section = \"\"", section),
        ("section.contains", "value = \"\"", value),
        ("section.regex", "value = \"\"", value),
        ("contains", "value = \"\"", value),
        ("contains", "value = []", value),
        ("contains_any", "value = [\"a\", \"\"]", value),
        ("icontains", "value = [\"\"]", value),
        ("starts_with", "value = \"\"", value),
        ("regex", "value = \"\"", value),
        ("files", "value = []", value),
        ("similar", "value = \"a\"\nthreshold = 0.0", "a `threshold` above 0, up to 1"),
    ] {
        let text = format!("{CASE}[[case.assert]]\ntype = \"{kind}\"\n{fields}\n");
        problems(&text, &[(Some(6), &format!("`{kind}` needs {needed}"))]);
    }
    let message = "a case without `[[case.assert]]` checks nothing: add one, such as `golden`";
    problems(CASE, &[(Some(2), message)]);
}
