use super::*;

#[test]
fn the_story_is_shown_from_its_first_command_to_its_end() {
    let story = "What this is.\n\n$ cd aiwf-demo\n$ aiwf do x\n\nA plan.\n\n$ aiwf approve\n\n\
                 $ aiwf verify\n  journal intact\n\nexplore:      here\nmore\n";
    let expected = [
        "$ aiwf demo",
        "…",
        "$ aiwf do x",
        "",
        "A plan.",
        "",
        "$ aiwf approve",
        "",
        "$ aiwf verify",
        "  journal intact",
    ];
    assert_eq!(picked(story), expected);
}

#[test]
fn pictures_of_two_runs_are_the_same() {
    let picture = |id: &str, end: &str| svg(&[format!("  commit    {id}"), end.to_owned()]);
    assert_eq!(without_ids(&picture("0123456789ab", "end")), without_ids(&picture("ba9876543210", "end")));
    assert_ne!(without_ids(&picture("0123456789ab", "end")), without_ids(&picture("0123456789ab", "other")));
}

#[test]
fn long_lines_are_cut_and_markup_is_text() {
    assert_eq!(shortened(&"x".repeat(COLUMNS + 9)).chars().count(), COLUMNS);
    let svg = svg(&["<<<FILE: a & b>>>".to_owned()]);
    assert!(svg.contains(">&lt;&lt;&lt;FILE: a &amp; b&gt;&gt;&gt;</text>"), "{svg}");
}
