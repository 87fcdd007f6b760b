use crate::flow::Flow;
use crate::flow_file::parse_flow;
use crate::flow_graph::{flow_mermaid, flow_text};

const GOOD: &str = r#"
title = "Specify, implement, review"
gates = { "*.prompt" = "skip" }
[[phase]]
name = "specify"
role = "planner"
template = "specify.md"
gives = "text"
next = "implement"
[[phase]]
name = "implement"
role = "generator"
reads = ["specify"]
gives = "files"
access = "write"
next = "review"
[[phase]]
name = "review"
role = "critic"
reads = ["specify", "implement"]
gives = "verdict"
on = { PASS = "complete", NEEDS_CHANGES = "implement", REJECTED = "stop" }
max_rounds = 3
"#;

/// The problems of the good flow after a replacement.
fn check(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    match parse_flow("mine", &GOOD.replacen(from, to, 1), &mut |template| template != "gone.md") {
        Ok(_) => "fine".to_owned(),
        Err(problems) => {
            let line = |line: Option<usize>| line.map(|line| format!("{line}: ")).unwrap_or_default();
            let problems =
                problems.iter().map(|it| format!("{}{}\n  hint: {}", line(it.line), it.message, it.hint));
            problems.collect::<Vec<_>>().join("\n")
        }
    }
}

#[test]
fn shipped_flows_have_no_problems() {
    assert_eq!(Flow::built_in().len(), 4);
    for flow in Flow::built_in() {
        assert_eq!(
            parse_flow(&flow.name, Flow::built_in_text(&flow.name).unwrap(), &mut |_| true).as_ref(),
            Ok(flow.as_ref())
        );
        insta::assert_snapshot!(
            format!("graph_{}", flow.name),
            format!("{}\n{}", flow_text(flow), flow_mermaid(flow))
        );
        // What a journal keeps is what was read.
        let json = serde_json::to_string(flow.as_ref()).unwrap();
        assert_eq!(serde_json::from_str::<Flow>(&json).unwrap(), **flow);
    }
    assert_eq!(check("title", "title"), "fine");
}

#[test]
fn every_problem_names_its_line_and_what_to_change() {
    let cases = [
        ("next = \"implement\"", "next = \"review\""),
        ("next = \"implement\"", "next = \"implemnt\""),
        ("next = \"implement\"", ""),
        ("next = \"review\"", "next = \"specify\""),
        ("PASS = \"complete\"", "PASS = \"implement\""),
        ("PASS = \"complete\", ", ""),
        ("REJECTED = \"stop\"", "FAIL = \"stop\""),
        ("max_rounds = 3", ""),
        ("max_rounds = 3", "max_rounds = 0"),
        ("reads = [\"specify\"]", "reads = [\"idea\"]"),
        ("access = \"write\"", ""),
        ("gives = \"text\"", "gives = \"text\"\naccess = \"write\""),
        ("name = \"implement\"", "name = \"specify\""),
        ("name = \"specify\"", "name = \"complete\""),
        ("name = \"specify\"", "name = \"Spec ify\""),
        ("gives = \"text\"", "gives = \"edits\""),
        ("gives = \"text\"", "gives = \"text\"\nparser = \"verdict-tag\""),
        ("gives = \"text\"", "gives = \"text\"\nrecipe = \"session\"\nmax_round = 3"),
        ("role = \"critic\"", "role = \"critic\"\nrecipe = \"session\""),
        ("\"*.prompt\" = \"skip\"", "\"*.prompt\" = \"maybe\""),
        ("\"*.prompt\" = \"skip\"", "\"plan.prompt\" = \"skip\""),
        ("template = \"specify.md\"", "template = \"gone.md\""),
        ("template = \"specify.md\"", "artifact = \"code\""),
        ("template = \"specify.md\"", "file = \"review\""),
        ("gives = \"text\"", "gives = \"files\"\naccess = \"write\""),
        ("title = \"Specify", "title = Specify"),
    ];
    let text: Vec<String> =
        cases.iter().map(|(from, to)| format!("## {from} → {to}\n{}\n", check(from, to))).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn a_flow_without_phases_is_refused() {
    let problems = parse_flow("empty", "title = \"x\"", &mut |_| true).unwrap_err();
    assert_eq!(problems[0].message, "the flow has no phase");
    assert!(parse_flow("large", &"#".repeat(300 * 1024), &mut |_| true).is_err());
}
