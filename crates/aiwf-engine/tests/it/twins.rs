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
    let roles = aiwf_session::Role::ALL.map(|role| aiwf_config::Role::from_name(role.as_str()).unwrap());
    assert_eq!(roles, aiwf_config::Role::ALL);
}

#[test]
fn the_verdicts_that_are_read_are_those_that_decide() {
    same(
        &aiwf_reply::Verdict::ALL.map(aiwf_reply::Verdict::as_str),
        &aiwf_session::Verdict::ALL.map(aiwf_session::Verdict::as_str),
    );
}
