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
fn the_architecture_page_holds_the_table() {
    let page = include_str!("../../../ARCHITECTURE.md");
    let (_, rest) = page.split_once("<!-- transitions -->\n\n").unwrap();
    let (table, _) = rest.split_once("\n<!-- /transitions -->").unwrap();
    let made = transition_table();
    assert!(
        table == made,
        "put the output of `cargo run -p aiwf-session --example transitions` between the marks:\n{made}"
    );
}
