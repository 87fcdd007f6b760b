use super::*;
use crate::provider_setting::BaseUrl;

const VENDOR: &str = "https://api.openai.com/v1";

/// Where a project may send a key.
const GOOD: [&str; 9] = [
    "https://api.openai.com/v1",
    "https://API.OpenAI.com:443/v1",
    "http://127.0.0.1:11434/v1",
    "http://127.255.0.9/v1",
    "http://[::1]:8080/v1",
    "http://LOCALHOST:1234/v1",
    "https://localhost/v1",
    "http://localhost",
    "http://127.0.0.1:8080?x=1",
];

/// Where only a user may: elsewhere, or written so that programs could read it in more than one way.
const FOREIGN: [&str; 18] = [
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
    "http://127.1/v1",
    "http://2130706433",
    "http://127.0.0.1\\@evil.example/v1",
    "http:/127.0.0.1/v1",
    "http://local\thost/v1",
];

/// What nobody may name.
const BAD: [&str; 11] = [
    "http://127.0.0.1@evil.example/v1",
    "http://127.0.0.1:80@evil.example",
    "http://localhost:pw@evil.example",
    "http://localhost%00.evil.example",
    "http://localhost evil",
    "file:///etc/passwd",
    "evil",
    "//localhost",
    "localhost:80",
    "http://x/v1#y",
    "http://",
];

fn setting(url: &str, is_users: bool) -> ProviderSetting {
    let base_url = Some(BaseUrl { url: url.to_owned(), is_users });
    ProviderSetting { base_url, ..ProviderSetting::new("p", "openai") }
}

fn address(url: &str, is_users: bool) -> Result<Address, AskError> {
    Address::of(&setting(url, is_users), VENDOR)
}

#[test]
fn a_project_s_address_gets_a_key_only_on_this_machine_or_at_the_vendor_s() {
    for url in GOOD {
        assert!(address(url, false).unwrap().may_have_key(), "{url}");
    }
    for url in FOREIGN {
        assert!(!address(url, false).unwrap().may_have_key(), "{url}");
        assert!(address(url, true).unwrap().may_have_key(), "{url}");
    }
}

#[test]
fn an_address_with_a_user_name_or_of_another_kind_is_refused() {
    for url in BAD {
        assert!(address(url, true).is_err(), "{url}");
    }
    // The parser reads a backslash as browsers do: the host is what stands before.
    assert!(address("http://127.0.0.1\\@evil.example/v1", false).unwrap().is_loopback);
}

#[test]
fn a_login_follows_the_same_rule() {
    for url in GOOD {
        assert!(check_login(&setting(url, false), &[VENDOR]).is_ok(), "{url}");
    }
    for url in FOREIGN.iter().chain(&BAD) {
        assert!(check_login(&setting(url, false), &[VENDOR]).is_err(), "{url}");
    }
}

#[test]
fn what_the_user_names_is_trusted_in_variables_too() {
    let mut setting = setting("https://proxy.example", true);
    setting.env.insert("ANTHROPIC_BASE_URL".to_owned(), "https://proxy.example/".to_owned());
    assert!(check_login(&setting, &[]).is_ok());
    setting.env.insert("no_proxy".to_owned(), "localhost,internal.example".to_owned());
    assert!(check_login(&setting, &[]).is_ok());
    setting.env.insert("https_proxy".to_owned(), "https://evil.example".to_owned());
    assert!(check_login(&setting, &[]).is_err());
}

#[test]
fn neither_a_query_nor_a_password_is_shown() {
    assert_eq!(address("http://x/v1/?code=secret", true).unwrap().shown(), "http://x/v1");
    let error = check_login(&setting("https://me:secret@evil.example", false), &[]).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}
