use super::super::api::api;
use super::*;
use crate::built_in::Kind;
use crate::provider_setting::BaseUrl;

fn address(url: &str, is_users: bool) -> Result<Address, AskError> {
    let mut setting = ProviderSetting::new("p", "openai");
    setting.base_url = Some(BaseUrl { url: url.to_owned(), is_users });
    Address::of(&setting, api(Kind::OpenAi).unwrap())
}

#[test]
fn a_project_s_address_gets_a_key_only_on_this_machine_or_at_the_vendor_s() {
    for url in [
        "https://api.openai.com/v1",
        "https://API.OpenAI.com:443/v1",
        "http://127.0.0.1:11434/v1",
        "http://127.255.0.9/v1",
        "http://127.1/v1",
        "http://[::1]:8080/v1",
        "http://LOCALHOST:1234/v1",
        "https://localhost/v1",
    ] {
        assert!(address(url, false).unwrap().may_have_key(), "{url}");
    }
    for url in [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com/v1",
        "https://evil.example/?https://api.openai.com",
        "http://localhost.evil.example/v1",
        "http://127.0.0.1.evil.example/v1",
        "http://128.0.0.1/v1",
        "http://[::2]/v1",
        "http://[::ffff:8.8.8.8]/v1",
        "http://0.0.0.0/v1",
        "http://192.168.0.1/v1",
        "https://api.anthropic.com",
    ] {
        assert!(!address(url, false).unwrap().may_have_key(), "{url}");
        assert!(address(url, true).unwrap().may_have_key(), "{url}");
    }
}

#[test]
fn an_address_with_a_user_name_or_of_another_kind_is_refused() {
    for url in [
        "http://127.0.0.1@evil.example/v1",
        "http://localhost:pw@evil.example",
        "file:///etc/passwd",
        "evil",
        "http://x/v1#y",
        "http://",
    ] {
        assert!(address(url, true).is_err(), "{url}");
    }
    // A backslash and white space are read as browsers read them: the host is what stands before.
    assert!(address("http://127.0.0.1\\@evil.example/v1", false).unwrap().is_loopback);
}

#[test]
fn the_path_of_a_base_stays_and_its_slash_is_not_doubled() {
    let join =
        |url: &str| super::super::api::join(&address(url, true).unwrap().base, &["models"]).to_string();
    assert_eq!(join("http://x/v1"), "http://x/v1/models");
    assert_eq!(join("http://x/v1/"), "http://x/v1/models");
    assert_eq!(join("http://x"), "http://x/models");
    assert_eq!(join("http://x/v1?api-version=2"), "http://x/v1/models?api-version=2");
    assert_eq!(address("http://x/v1/?code=secret", true).unwrap().shown(), "http://x/v1");
    let base = address("http://x", true).unwrap().base;
    let gemini = |model: &str| (api(Kind::Gemini).unwrap().ask_url)(&base, model).to_string();
    assert_eq!(gemini("g-1"), "http://x/v1beta/models/g-1:streamGenerateContent?alt=sse");
    assert_eq!(gemini("tunedModels/t"), "http://x/v1beta/tunedModels/t:streamGenerateContent?alt=sse");
    assert_eq!(gemini("a/../../x"), "http://x/v1beta/a/..%2F..%2Fx:streamGenerateContent?alt=sse");
}
