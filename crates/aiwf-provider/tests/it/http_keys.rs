//! Where a key goes and where it does not, and settings that are refused before anything is sent.

use aiwf_provider::{BaseUrl, KeySource, ProviderSetting, Stop, ToolSpec, open};
use insta::assert_snapshot;

use crate::asking::{Recorder, ask, ask_into, payload, setting, shown, variable};
use crate::server::{Server, hello};

#[test]
fn a_key_does_not_go_where_only_a_project_says() {
    let server = Server::answering(&[&hello()]);
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("was-run");
    let mut setting = setting("openai", &server);
    // The name is this machine's, and nobody can know that from the name.
    let url = format!("{}/v1", server.url().replace("127.0.0.1", "0.0.0.0"));
    setting.base_url = Some(BaseUrl { url, is_users: false });
    setting.key = KeySource::Command(vec!["touch".to_owned(), mark.display().to_string()]);
    let (_, reply) = ask(setting.clone());
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    let error = reply.unwrap_err();
    assert_snapshot!(format!("{error}\n{}", error.advice().worded(|action, _| format!("{action:?}"))).replace(&port, "PORT"), @"
    the key of provider `local` is not sent to `http://0.0.0.0:PORT/v1`: only the project's configuration names it
    name the same `base_url` in `[providers.local]` of `~/.aiwf/config.toml` if you trust it
    ");
    let found: Vec<String> =
        open(setting).unwrap().check().into_iter().map(|check| check.what.to_owned()).collect();
    assert_eq!(found, ["key"]);
    assert_eq!(server.received().len(), 0);
    assert!(!mark.exists(), "the key command was run");
}

#[test]
fn a_key_command_is_run_for_this_machine() {
    let server = Server::answering(&[&hello()]);
    let mut setting = setting("openai", &server);
    setting.key = KeySource::Command(vec!["echo".to_owned(), "sk-2".to_owned()]);
    ask(setting).1.unwrap();
    assert_eq!(server.received()[0].header("authorization"), Some("Bearer sk-2"));
}

#[test]
fn no_key_means_no_header() {
    let server = Server::answering(&[&hello()]);
    ask(setting("openai", &server)).1.unwrap();
    assert_eq!(server.received()[0].header("authorization"), None);
}

#[test]
fn a_key_that_is_not_there_is_missed_before_anything_is_sent() {
    let server = Server::answering(&[]);
    let mut setting = setting("openai", &server);
    setting.key = KeySource::Variable { name: "MY_KEY".to_owned(), value: None };
    let (_, reply) = ask(setting);
    assert_eq!(server.received().len(), 0);
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    there is no key for provider `local`: the variable `MY_KEY` is not set
    set `MY_KEY`, or name another variable as `api_key_env` in `[providers.local]`
    ");
}

#[test]
fn a_setting_that_makes_no_sense_is_refused_when_it_is_opened() {
    let opened = |model: Option<&str>, url: &str| {
        let mut setting = ProviderSetting::new("local", "anthropic");
        setting.model = model.map(str::to_owned);
        setting.key = variable("sk-1");
        setting.base_url = Some(BaseUrl { url: url.to_owned(), is_users: true });
        let error = open(setting).err().unwrap();
        format!("{error}\n{}", error.advice().worded(|action, _| format!("{action:?}")))
    };
    let urls = ["evil", "http://127.0.0.1:pw@evil.example", "ftp://x", "http://x/#y"];
    let mut texts = vec![opened(None, "http://127.0.0.1")];
    texts.extend(urls.map(|url| opened(Some("m"), url)));
    assert_snapshot!(texts.join("\n"), @"
    provider `local` cannot be asked: `model` is not set
    set `model`, the model that answers, in `[providers.local]`
    provider `local` cannot be asked: `base_url` is not a URL: relative URL without a base
    set `base_url` to an address like `https://api.anthropic.com`
    provider `local` cannot be asked: `base_url` contains a user name or a password
    set `base_url` to an address like `https://api.anthropic.com`
    provider `local` cannot be asked: `base_url` starts with `ftp:`, not `http:` or `https:`
    set `base_url` to an address like `https://api.anthropic.com`
    provider `local` cannot be asked: `base_url` contains a `#`
    set `base_url` to an address like `https://api.anthropic.com`
    ");
}

#[test]
fn a_tool_whose_name_no_api_takes_is_refused() {
    let server = Server::answering(&[]);
    for name in ["", "read file", "9lives", "é", "a.b", &"x".repeat(65)] {
        let mut payload = payload();
        let tool = ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: serde_json::Value::Null,
        };
        payload.tools.push(tool);
        let result =
            ask_into(setting("gemini", &server), &payload, &Stop::default(), &mut Recorder::default());
        let error = result.unwrap_err();
        if name == "read file" {
            assert_snapshot!(shown(&error, &server), @"
            provider `local` cannot be asked: its API does not accept a tool named `read file`
            name it with at most 64 letters, digits, `_` and `-`, starting with a letter or `_`
            ");
        }
    }
    assert_eq!(server.received().len(), 0);
}
