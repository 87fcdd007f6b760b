use insta::assert_snapshot;

use super::*;

fn found(key: KeySource) -> Result<Option<String>, String> {
    let mut setting = ProviderSetting::new("local", "openai");
    setting.key = key;
    find(&setting, &Stop::default())
        .map(|key| key.map(|key| key.expose().to_owned()))
        .map_err(|error| format!("{error}\n{}", error.advice().worded(|action, _| format!("{action:?}"))))
}

fn variable(value: Option<&str>) -> KeySource {
    KeySource::Variable { name: "MY_KEY".to_owned(), value: value.map(Secret::new) }
}

fn command(script: &str) -> KeySource {
    KeySource::Command(vec!["sh".to_owned(), "-c".to_owned(), script.to_owned()])
}

#[test]
fn a_key_comes_from_a_variable_or_from_what_a_program_prints() {
    assert_eq!(found(KeySource::None), Ok(None));
    assert_eq!(found(variable(Some("sk-1\n"))), Ok(Some("sk-1".to_owned())));
    assert_eq!(found(command("echo warning >&2; echo ' sk-2 '")), Ok(Some("sk-2".to_owned())));
}

#[test]
fn a_key_that_is_not_there_names_the_place() {
    assert_snapshot!(found(variable(None)).unwrap_err(), @"
    there is no key for provider `local`: the variable `MY_KEY` is not set
    set `MY_KEY`, or name another variable as `api_key_env` in `[providers.local]`
    ");
    assert_snapshot!(found(variable(Some(" "))).unwrap_err(), @"
    there is no key for provider `local`: the variable `MY_KEY` is empty
    put the key there, and nothing else
    ");
    assert_snapshot!(found(command("printf 'sk\n1'")).unwrap_err(), @"
    there is no key for provider `local`: what `sh` prints contains characters that are not valid in a key
    put the key there, and nothing else
    ");
    assert_snapshot!(found(command("echo sk-secret; echo; echo 'is locked' >&2; echo more >&2; exit 3")).unwrap_err(), @"
    there is no key for provider `local`: `sh` ended with exit code 3: is locked
    run the `api_key_command` of `[providers.local]` yourself: it prints the key and ends
    ");
    let nothing = KeySource::Command(vec!["no-such-program-anywhere".to_owned()]);
    assert_snapshot!(found(nothing).unwrap_err(), @"
    there is no key for provider `local`: `no-such-program-anywhere` cannot be started: there is no such program
    run the `api_key_command` of `[providers.local]` yourself: it prints the key and ends
    ");
}

#[test]
fn a_raised_stop_ends_a_key_command() {
    let mut setting = ProviderSetting::new("local", "openai");
    setting.key = command("exec sleep 600");
    let stop = Stop::default();
    stop.raise();
    assert!(matches!(find(&setting, &stop), Err(AskError::Stopped { .. })));
}
