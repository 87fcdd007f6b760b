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
