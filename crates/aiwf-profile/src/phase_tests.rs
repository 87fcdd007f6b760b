use super::*;

#[test]
fn the_first_parser_that_finds_something_counts() {
    let fenced = "```java\n// A.java\nclass A {}\n```\n";
    let both = [ReplyParser::FileMarkers, ReplyParser::FencedFiles];
    let read = read_reply(&both, fenced);
    assert_eq!((read.parser, read.problems.len()), (ReplyParser::FencedFiles, 0));
    let marked = format!("<<<FILE: B.java>>>\nclass B {{}}\n\n{fenced}");
    assert_eq!(read_reply(&both, &marked).parser, ReplyParser::FileMarkers);
}

#[test]
fn if_no_parser_finds_anything_the_first_one_reports_its_problems() {
    let read = read_reply(&[ReplyParser::FileMarkers, ReplyParser::FencedFiles], "nothing");
    assert_eq!(read.parser, ReplyParser::FileMarkers);
    assert_eq!(read.value, PhaseValue::Files(Vec::new()));
    assert_eq!(read.problems.len(), 1);
}

#[test]
fn a_blank_plan_is_a_problem() {
    let read = read_reply(&[ReplyParser::Plain], "\n \n");
    insta::assert_snapshot!(read.problems[0].to_string(), @"line 1, column 1: the plan is empty: write the plan as text");
}

#[test]
fn every_verdict_but_pass_fails() {
    for verdict in Verdict::ALL {
        let read = read_reply(&[ReplyParser::VerdictTag], &format!("<review>{verdict}</review>"));
        let expected = if verdict == Verdict::Pass { ReviewVerdict::Pass } else { ReviewVerdict::Fail };
        assert_eq!(read.value, PhaseValue::Review(Review { verdict: Some(expected), ..Review::default() }));
        assert_eq!(read.problems, []);
    }
}

#[test]
fn a_review_may_use_the_tag_when_the_block_is_missing() {
    let parsers = [ReplyParser::ReviewMeta, ReplyParser::VerdictTag];
    assert_eq!(read_reply(&parsers, "<review>PASS</review>").parser, ReplyParser::VerdictTag);
    let empty = read_reply(&parsers, "looks good");
    assert_eq!((empty.parser, empty.problems.len()), (ReplyParser::ReviewMeta, 1));
}

#[test]
fn shared_indentation_is_removed_in_markers_and_fences() {
    let code = "    class A {\n\n        int a;\n    }\n";
    let replies = [format!("<<<FILE: A.java>>>\n{code}"), format!("```java\n// A.java\n{code}```\n")];
    for reply in replies {
        let read = read_reply(&[ReplyParser::FileMarkers, ReplyParser::FencedFiles], &reply);
        let content = "class A {\n\n    int a;\n}\n".to_owned();
        assert_eq!(read.value, PhaseValue::Files(vec![FileBlock { path: "A.java".to_owned(), content }]));
    }
    for kept in ["a\n    b\n", "  a\n", "", "\n", "\ta\n    b\n"] {
        assert_eq!(dedented(kept), kept);
    }
}
