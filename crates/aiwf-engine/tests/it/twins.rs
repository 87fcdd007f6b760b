//! Words that have a type in two crates are the same words, in the same order.

fn same(one: &[&str], other: &[&str]) {
    assert_eq!(one, other);
}

#[test]
fn what_settings_may_say_is_what_the_pipeline_knows() {
    same(
        &aiwf_config::FsAbility::ALL.map(aiwf_config::FsAbility::as_str),
        &aiwf_prompt::FsAbility::ALL.map(aiwf_prompt::FsAbility::as_str),
    );
}

#[test]
fn the_verdicts_that_are_read_are_those_that_decide() {
    // A review block has a word of its own for "no".
    let decide =
        aiwf_session::Verdict::ALL.into_iter().filter(|verdict| *verdict != aiwf_session::Verdict::Fail);
    let decide: Vec<&str> = decide.map(aiwf_session::Verdict::as_str).collect();
    same(&aiwf_reply::Verdict::ALL.map(aiwf_reply::Verdict::as_str), &decide);
}
