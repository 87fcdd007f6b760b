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
    same(
        &aiwf_config::Role::ALL.map(aiwf_config::Role::as_str),
        &aiwf_session::Role::ALL.map(aiwf_session::Role::as_str),
    );
}

#[test]
fn the_verdicts_that_are_read_are_those_that_decide() {
    same(
        &aiwf_reply::Verdict::ALL.map(aiwf_reply::Verdict::as_str),
        &aiwf_session::Verdict::ALL.map(aiwf_session::Verdict::as_str),
    );
}
