//! What `check` finds, and what it says to do.

use aiwf_provider::{Check, KeySource, ProviderSetting, open};
use insta::assert_snapshot;

use crate::asking::{setting, variable};
use crate::server::{Server, answer};

fn found(setting: ProviderSetting, server: &Server) -> String {
    let line = |check: &Check| {
        let word = if check.is_ok { "ok" } else { "bad" };
        let hint = check.advice.as_ref().map_or_else(String::new, |advice| {
            format!("\n  {}", advice.worded(|action, _| format!("{action:?}")))
        });
        format!("{} {word}: {}{hint}", check.what, check.found)
    };
    let checks = open(setting).unwrap().check();
    checks.iter().map(line).collect::<Vec<_>>().join("\n").replace(&server.url(), "http://SERVER")
}

/// What is found when the list of models is answered so.
fn judged(kind: &str, key: KeySource, answer: &str) -> String {
    let server = Server::answering(&[answer]);
    let mut setting = setting(kind, &server);
    setting.key = key;
    found(setting, &server)
}

#[test]
fn each_api_is_asked_for_its_models() {
    for (kind, path, header) in [
        ("anthropic", "GET /v1/models HTTP/1.1", "x-api-key"),
        ("openai", "GET /v1/models HTTP/1.1", "authorization"),
        ("gemini", "GET /v1beta/models HTTP/1.1", "x-goog-api-key"),
    ] {
        let server = Server::answering(&[&answer(200, "", "{}")]);
        let mut setting = setting(kind, &server);
        setting.key = variable("sk-1");
        assert!(found(setting, &server).starts_with("key ok: it is in `MY_KEY`\nurl ok: "), "{kind}");
        let received = server.received();
        assert_eq!(received[0].head.lines().next(), Some(path));
        assert!(received[0].header(header).unwrap().ends_with("sk-1"));
    }
}

#[test]
fn a_server_without_a_list_answers_all_the_same() {
    assert_snapshot!(judged("openai", KeySource::None, &answer(404, "", "not found")), @"
    key ok: none is sent
    url ok: `http://SERVER/v1` answers
    ");
}

#[test]
fn a_key_that_is_turned_down_is_a_finding() {
    let body = r#"{"error":{"message":"sk-1 is not known"}}"#;
    assert_snapshot!(judged("openai", variable("sk-1"), &answer(401, "", body)), @"
    key bad: it was rejected (401): [key] is not known
      put a key there that `http://SERVER/v1` accepts
    url ok: `http://SERVER/v1` answers
    ");
    assert_snapshot!(judged("openai", KeySource::None, &answer(401, "", "")), @"
    key bad: none is sent, but one is required (401)
      set `api_key_env` or `api_key_command` in `[providers.local]`
    url ok: `http://SERVER/v1` answers
    ");
    let body = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}"#;
    assert_snapshot!(judged("gemini", variable("sk-1"), &answer(400, "", body)), @"
    key bad: it was rejected (400): API key not valid.
      put a key there that `http://SERVER` accepts
    url ok: `http://SERVER` answers
    ");
}

#[test]
fn a_server_that_is_not_well_is_a_finding() {
    let command = KeySource::Command(vec!["echo".to_owned(), "sk-1".to_owned()]);
    assert_snapshot!(judged("openai", command, &answer(503, "", "busy")), @"
    key ok: `echo` prints it
    url bad: `http://SERVER/v1` answers 503: busy
      try again later, or check `base_url`
    ");
    assert_snapshot!(judged("openai", KeySource::None, &answer(301, "location: http://x\r\n", "")), @"
    key ok: none is sent
    url bad: `http://SERVER/v1` redirects (301), and the key is not sent along
      set `base_url` to the address of the server
    ");
}

#[test]
fn a_server_that_is_not_there_is_a_finding() {
    let server = Server::answering(&[]);
    let setting = setting("openai", &server);
    let other = Server::answering(&[]);
    let url = server.url();
    drop(server);
    assert_snapshot!(found(setting, &other).replace(&url, "http://SERVER"), @"
    key ok: none is sent
    url bad: `local` failed: could not connect to `http://SERVER/v1`: Connection refused
      check the network and `base_url` of the provider
    ");
}

#[test]
fn a_key_that_is_not_there_is_a_finding() {
    let missing = KeySource::Variable { name: "MY_KEY".to_owned(), value: None };
    assert_snapshot!(judged("openai", missing, ""), @"
    key bad: there is no key for provider `local`: the variable `MY_KEY` is not set
      set `MY_KEY`, or name another variable as `api_key_env` in `[providers.local]`
    ");
}
