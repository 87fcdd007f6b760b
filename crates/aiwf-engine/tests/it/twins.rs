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

#[test]
fn the_documented_defaults_of_providers_are_those_in_force() {
    let tables = aiwf_config::setting_docs();
    let providers = tables.iter().find(|table| table.table == "[providers.NAME]").unwrap();
    let documented = |key: &str| {
        let setting = providers.settings.iter().find(|setting| setting.key == key).unwrap();
        setting.default.clone()
    };
    let setting = aiwf_provider::ProviderSetting::new("mine", "command");
    let timeouts = setting.timeouts;
    assert_eq!(documented("timeout"), format!("{}m", timeouts.total.as_secs() / 60));
    assert_eq!(documented("first_byte_timeout"), format!("{}m", timeouts.first_byte.as_secs() / 60));
    assert_eq!(documented("connect_timeout"), format!("{}s", timeouts.connect.as_secs()));
    assert_eq!(documented("max_reply_bytes"), setting.max_reply_bytes.to_string());
}
