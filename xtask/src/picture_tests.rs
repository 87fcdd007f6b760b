use super::*;

#[test]
fn the_steps_that_tell_the_story_are_picked_and_gaps_are_shown() {
    let story = "a sample project\n\n$ aiwf x init\nprompt\n\n$ aiwf approve\nquiet\n\n$ aiwf approve\n  | verdict: FAIL\n\n\
                 $ aiwf verify\n  3 events intact\n\nlook around: here\n";
    let shown = picked(story);
    let expected = [
        "$ aiwf demo",
        "",
        "$ aiwf x init",
        "prompt",
        "…",
        "$ aiwf approve",
        "  | verdict: FAIL",
        "",
        "$ aiwf verify",
        "  3 events intact",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn pictures_of_two_runs_are_the_same() {
    let picture = |id: &str| svg(&[format!("  plan  file:.aiwf/sessions/{id}/plan.md")]);
    assert_eq!(without_ids(&picture("20260101-000000-0001")), without_ids(&picture("20260202-111111-0002")));
    assert_ne!(without_ids(&picture("a")), without_ids(&svg(&["other".to_owned()])));
}

#[test]
fn long_lines_are_cut_and_markup_is_text() {
    assert_eq!(shortened(&"x".repeat(COLUMNS + 9)).chars().count(), COLUMNS);
    let svg = svg(&["<<<FILE: a & b>>>".to_owned()]);
    assert!(svg.contains(">&lt;&lt;&lt;FILE: a &amp; b&gt;&gt;&gt;</text>"), "{svg}");
}
