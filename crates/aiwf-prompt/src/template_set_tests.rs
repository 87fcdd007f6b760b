use std::collections::BTreeMap;

use super::*;
use crate::template::{TemplateSource, check_template, render_template};

const AGENTS: [&str; 4] = ["BASE", "CLAUDE", "CODEX", "GEMINI"];
const PHASES: [&str; 5] = ["archive", "challenge", "implement", "plan", "review"];

fn render(file: &str, leave_out: Option<&str>) -> Result<String, crate::template::TemplateError> {
    let variables: BTreeMap<String, serde_json::Value> = TEMPLATE_VARIABLES
        .into_iter()
        .filter(|name| Some(*name) != leave_out)
        .map(|name| (name.to_owned(), format!("the {name} of the test").into()))
        .collect();
    let text = built_in_template(file).unwrap().to_owned();
    render_template(&TemplateSource { name: file.to_owned(), text }, &variables)
}

#[test]
fn every_agent_has_a_template_for_every_phase() {
    let mut expected: Vec<String> = AGENTS
        .iter()
        .flat_map(|agent| PHASES.iter().map(move |phase| format!("{agent}-{phase}.md")))
        .collect();
    // The gate prompt is the same for every agent.
    expected.push("BASE-gate.md".to_owned());
    expected.sort();
    let files: Vec<&str> = built_in_templates().iter().map(|(file, _)| *file).collect();
    assert_eq!(files, expected);
}

#[test]
fn every_template_renders_with_the_documented_variables_and_no_others() {
    for (file, text) in built_in_templates() {
        let rendered = render(file, None).unwrap();
        assert!(!rendered.contains("{{") && !rendered.contains("{%"), "{file} has a tag left");
        let source = TemplateSource { name: (*file).to_owned(), text: (*text).to_owned() };
        assert_eq!(check_template(&source, &TEMPLATE_VARIABLES), Ok(()), "{file}");
        for variable in TEMPLATE_VARIABLES {
            let is_used = text.contains(&format!("{{{{{variable}}}}}"));
            assert_eq!(
                rendered.contains(&format!("the {variable} of the test")),
                is_used,
                "{file} {variable}"
            );
            assert_eq!(render(file, Some(variable)).is_err(), is_used, "{file} without {variable}");
        }
    }
}

#[test]
fn every_template_has_the_four_sections_and_knows_agent_phase_and_project() {
    for (file, text) in built_in_templates() {
        let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(
            headings,
            ["## Identity & Role", "## Core Principles", "## Context Placeholders", "## Workflow Context"],
            "{file}"
        );
        for variable in ["AGENT", "PHASE", "PROJECT_CONTEXT"] {
            assert!(text.contains(&format!("{{{{{variable}}}}}")), "{file} {variable}");
        }
    }
}

#[test]
fn every_template_asks_for_the_markers_of_its_phase() {
    for (file, text) in built_in_templates() {
        let phase = file.trim_end_matches(".md").split_once('-').unwrap().1;
        let (wanted, unwanted): (&[&str], &[&str]) = match phase {
            "challenge" => (
                &["<review>PASS</review>", "<review>NEEDS_REVISION</review>", "<review>REJECTED</review>"],
                &["NEEDS_CHANGES</review>", "MAJOR_ISSUES</review>", "<task_status id"],
            ),
            "gate" => (
                &["<review>PASS</review>", "<review>NEEDS_REVISION</review>"],
                &["NEEDS_CHANGES</review>", "MAJOR_ISSUES</review>", "<task_status id"],
            ),
            "review" => (
                &["<review>PASS</review>", "<review>NEEDS_CHANGES</review>", "<review>MAJOR_ISSUES</review>"],
                &["NEEDS_REVISION</review>", "REJECTED</review>", "<task_status id"],
            ),
            "implement" => (
                &[
                    "<task_status id=\"1.1\">COMPLETED</task_status>",
                    "<task_status id=\"1.2\">FAILED</task_status>",
                    "<<<FILE: ",
                ],
                &["</review>"],
            ),
            _ => (&[], &["</review>", "<task_status id"]),
        };
        for marker in wanted.iter().chain(&["<thought>"]) {
            assert!(text.contains(marker), "{file} lacks {marker}");
        }
        for marker in unwanted {
            assert!(!text.contains(marker), "{file} asks for {marker}");
        }
    }
}

#[test]
fn a_template_is_plain_text_with_one_final_newline() {
    for (file, text) in built_in_templates() {
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{file}");
        assert!(!text.contains('\r') && !text.contains('\t'), "{file}");
        assert!(text.starts_with("# "), "{file}");
    }
}

#[track_caller]
fn check_files(agent: Option<&str>, phase: &str, expected: &[&str]) {
    assert_eq!(TemplateName::new(agent, phase).unwrap().files(), expected);
}

#[test]
fn the_agents_own_file_takes_precedence_over_the_base() {
    check_files(Some("claude"), "plan", &["CLAUDE-plan.md", "BASE-plan.md"]);
    check_files(Some("My_Agent-2"), "plan", &["MY_AGENT-2-plan.md", "BASE-plan.md"]);
    check_files(None, "review", &["BASE-review.md"]);
    check_files(Some("base"), "review", &["BASE-review.md"]);
}

#[test]
fn a_phase_keeps_its_spelling() {
    check_files(None, "Plan", &["BASE-Plan.md"]);
    assert_eq!(built_in_template("BASE-Plan.md"), None);
}

#[test]
fn names_that_could_leave_the_directory_are_refused() {
    let long = "x".repeat(65);
    for name in [
        "",
        ".",
        "..",
        "../secret",
        "a/b",
        "a\\b",
        "/etc/passwd",
        "C:x",
        "a.b",
        "a b",
        "a\0b",
        "a\nb",
        "-rf",
        "_x",
        "~",
        "é",
        long.as_str(),
    ] {
        assert_eq!(TemplateName::new(Some(name), "plan"), None, "agent {name:?}");
        assert_eq!(TemplateName::new(None, name), None, "phase {name:?}");
    }
    assert!(TemplateName::new(Some(&"x".repeat(64)), "plan").is_some());
}
