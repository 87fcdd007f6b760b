use aiwf_prompt::Format;

use super::*;
use crate::testing::subject::Piece;

/// A prompt of sections that are joined as in the recipe `session`.
fn prompt(sections: &[(&str, &str)]) -> PromptSubject {
    let mut text = String::new();
    let mut pieces = Vec::new();
    for (index, (id, body)) in sections.iter().enumerate() {
        let start = text.len();
        if index > 0 {
            text.push_str("\n\n---\n\n");
        }
        text.push_str(body);
        pieces.push(Piece { section: (*id).to_owned(), range: start..text.len() });
    }
    PromptSubject {
        format: Format::Text,
        text,
        pieces,
        sections: Vec::new(),
        tools: Vec::new(),
        size: None,
        preview: None,
        roots: Vec::new(),
    }
}

const PLAN: (&str, &str) = ("approved-plan", "## Approved Plan\n\nAdd login.\n");
const STANDARDS: (&str, &str) = ("standards-bundle", "## Standards Bundle\n\nNo panics.\n");
const TASK: (&str, &str) = ("profile-prompt", "Review the code.");

#[track_caller]
fn check(old: &[(&str, &str)], new: &[(&str, &str)], section: &str, changes: &[&str]) -> String {
    let difference = compare(&prompt(old).text, &prompt(new)).unwrap();
    assert_eq!(difference.section.as_deref(), Some(section));
    assert_eq!(difference.changes, changes);
    difference.diff
}

#[test]
fn the_same_text_has_no_difference() {
    let same = prompt(&[PLAN, STANDARDS]);
    assert_eq!(compare(&same.text, &same), None);
}

#[test]
fn a_changed_section_is_named_with_its_lines() {
    let new = ("standards-bundle", "## Standards Bundle\n\nNo panics, ever.\n");
    let diff = check(
        &[PLAN, STANDARDS, TASK],
        &[PLAN, new, TASK],
        "standards-bundle",
        &["section `standards-bundle` changed"],
    );
    assert_eq!(diff, "@@ -1,3 +1,3 @@\n ## Standards Bundle\n \n-No panics.\n+No panics, ever.\n");
}

#[test]
fn the_first_and_the_last_section_are_named_too() {
    check(
        &[PLAN, TASK],
        &[("approved-plan", "## Plan"), TASK],
        "approved-plan",
        &["section `approved-plan` changed"],
    );
    check(
        &[PLAN, TASK],
        &[PLAN, ("profile-prompt", "Go.")],
        "profile-prompt",
        &["section `profile-prompt` changed"],
    );
}

#[test]
fn a_moved_section_is_called_moved() {
    let difference =
        compare(&prompt(&[PLAN, STANDARDS, TASK]).text, &prompt(&[STANDARDS, PLAN, TASK])).unwrap();
    let moved = ["section `standards-bundle` moved", "section `approved-plan` moved"];
    assert_eq!(difference.changes.len(), 1, "{difference:?}");
    assert!(moved.contains(&difference.changes[0].as_str()), "{difference:?}");
}

#[test]
fn a_new_section_is_called_new() {
    check(
        &[PLAN, TASK],
        &[PLAN, STANDARDS, TASK],
        "standards-bundle",
        &["section `standards-bundle` is new"],
    );
    check(&[PLAN], &[PLAN, TASK], "profile-prompt", &["section `profile-prompt` is new"]);
}

#[test]
fn a_removed_section_is_named_by_its_heading() {
    let difference = compare(&prompt(&[PLAN, STANDARDS, TASK]).text, &prompt(&[PLAN, TASK])).unwrap();
    assert_eq!(difference.changes, ["`## Standards Bundle` was removed"]);
    let difference = compare(&prompt(&[PLAN, STANDARDS, TASK]).text, &prompt(&[TASK])).unwrap();
    assert_eq!(difference.changes, ["`## Approved Plan` was removed"]);
}

#[test]
fn several_changes_are_all_named() {
    check(
        &[PLAN, STANDARDS, TASK],
        &[("approved-plan", "## Approved Plan\n\nAdd logout.\n"), STANDARDS, ("profile-prompt", "Go on.")],
        "approved-plan",
        &["section `approved-plan` changed", "section `profile-prompt` changed"],
    );
}

#[test]
fn a_long_difference_is_cut() {
    let lines =
        |first: usize| (first..first + 500).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
    let (old, new) = (lines(0), lines(1_000));
    let shown = diff(&old, &new);
    assert!(shown.lines().count() == MAX_DIFF_LINES + 1, "{}", shown.lines().count());
    assert!(shown.ends_with("more lines\n"), "{shown}");
    // A difference far into a text of many bytes is found as well.
    let long = "x\n".repeat(MAX_DIFF_BYTES);
    let shown = diff(&format!("{long}é old\n"), &format!("{long}é new\n"));
    assert!(shown.contains("-é old\n+é new\n"), "{shown}");
}
