use super::*;

#[test]
fn the_table_reaches_every_phase_and_both_ends() {
    let table = transition_table();
    for words in [
        "the planning prompt waits for approval",
        "the generating reply waits for approval",
        "the reviewing reply has problems",
        "the revising reply is awaited",
        "the last allowed iteration failed its review",
        "the session is complete",
        "the session is cancelled",
    ] {
        assert!(table.contains(words), "{words} is missing in\n{table}");
    }
}

#[test]
fn the_table_of_changes_reaches_every_phase_and_both_ends() {
    let table = change_transition_table();
    for words in [
        "the plan prompt waits for approval",
        "the challenge said no",
        "the challenge asked for another round, and no more are allowed",
        "the implement reply waits for approval",
        "the review reply has problems",
        "the archive reply is awaited",
        "the change is complete",
        "the change is cancelled",
    ] {
        assert!(table.contains(words), "{words} is missing in\n{table}");
    }
    // Nothing leads from a challenge that did not pass to an implementation.
    let skips = |line: &&str| {
        line.contains("the challenge") && line.ends_with("the implement prompt is yet to be written |")
    };
    let skipping: Vec<&str> = table.lines().filter(skips).collect();
    assert!(skipping.iter().all(|line| line.contains("approve (verdict PASS)")), "{skipping:#?}");
}

fn check(mark: &str, made: &str) {
    let page = include_str!("../../../ARCHITECTURE.md");
    let (_, rest) = page.split_once(&format!("<!-- {mark} -->\n\n")).unwrap();
    let (table, _) = rest.split_once(&format!("\n<!-- /{mark} -->")).unwrap();
    assert!(
        table == made,
        "put the output of `cargo run -p aiwf-session --example {mark}` between the marks:\n{made}"
    );
}

#[test]
fn the_architecture_page_holds_the_tables() {
    check("transitions", &transition_table());
    check("change_transitions", &change_transition_table());
}
