use super::*;

#[test]
fn every_shipped_flow_is_walked_from_end_to_end() {
    for flow in Flow::built_in() {
        let table = transition_table(flow);
        for spec in &flow.phases {
            assert!(
                table.contains(&format!("the {} reply is waiting for approval", spec.name)),
                "{}:\n{table}",
                flow.name
            );
        }
        assert!(table.contains("| the session is complete |"), "{table}");
        assert!(table.contains("| the session is cancelled |"), "{table}");
        insta::assert_snapshot!(format!("transitions_{}", flow.name), table);
    }
}

#[test]
fn nothing_leads_from_a_challenge_that_did_not_pass_to_an_implementation() {
    let table = transition_table(&Flow::find_built_in("change").unwrap());
    let skips = |line: &&str| {
        line.contains("the challenge reply")
            && line.ends_with("the implement prompt has not been written yet |")
    };
    let skipping: Vec<&str> = table.lines().filter(skips).collect();
    assert!(skipping.iter().all(|line| line.contains("approve (verdict PASS)")), "{skipping:#?}");
    assert!(!skipping.is_empty());
}
