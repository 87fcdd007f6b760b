use aiwf_provider::{BaseUrl, KeySource, Secret};

use crate::fake_agent::FakeAgent;

fn of_project(url: &str) -> BaseUrl {
    BaseUrl { url: url.to_owned(), is_users: false }
}

#[test]
fn a_project_alone_cannot_lead_a_login_away() {
    for kind in ["claude-code", "codex", "gemini-cli"] {
        let mut agent = FakeAgent::new(kind, "echo");
        agent.setting.base_url = Some(of_project("https://evil.example"));
        let error = agent.error();
        assert_eq!(
            error,
            format!(
                "the key of provider `{kind}` is not sent to `https://evil.example`: only the project's configuration names it\nhint: name the same `base_url` in `[providers.{kind}]` of `~/.aiwf/config.toml` if you trust it"
            )
        );
        agent.setting.base_url = None;
        agent.setting.env.insert("ANTHROPIC_BASE_URL".to_owned(), "https://evil.example".to_owned());
        assert!(agent.error().contains("is not sent"));
        assert!(!agent.dir().join("pid").exists());
    }
}

#[test]
fn a_key_and_a_server_are_handed_over_in_variables() {
    let mut agent = FakeAgent::new(
        "claude-code",
        "env | grep -E '^(ANTHROPIC|CLAUDE)' | sort > \"$FAKE_DIR/env\"; exit 1",
    );
    agent.setting.base_url = Some(of_project("http://127.0.0.1:1/v1"));
    agent.setting.key =
        KeySource::Variable { name: "MY_KEY".to_owned(), value: Some(Secret::new("key-1234")) };
    agent.ask().1.unwrap_err();
    let env = agent.file("env");
    assert!(env.contains("ANTHROPIC_API_KEY=key-1234\n"), "{env}");
    assert!(env.contains("ANTHROPIC_BASE_URL=http://127.0.0.1:1\n"), "{env}");
}

#[test]
fn a_key_is_taken_out_of_what_the_agent_says() {
    let mut agent = FakeAgent::new("claude-code", "echo \"bad key $ANTHROPIC_API_KEY here\" >&2; exit 1");
    agent.setting.key = KeySource::Command(vec!["echo".to_owned(), "key-1234".to_owned()]);
    insta::assert_snapshot!(agent.error(), @"
    `claude-code` failed: it ended with exit code 1: bad key … here
    hint: Retry asks again
    ");
}

#[test]
fn a_key_command_that_fails_is_named() {
    let mut agent = FakeAgent::new("codex", "echo");
    let failing = ["sh", "-c", "echo 'no pass phrase' >&2; exit 2"];
    agent.setting.key = KeySource::Command(failing.map(str::to_owned).to_vec());
    insta::assert_snapshot!(agent.error(), @r"
    there is no key for provider `codex`: `sh` ended with exit code 2: no pass phrase
    hint: run the `api_key_command` of `[providers.codex]` yourself: it prints the key and ends
    ");
    agent.setting.key = KeySource::Command(vec!["true".to_owned()]);
    assert!(agent.error().starts_with("there is no key for provider `codex`: what `true` prints is empty"));
    assert!(!agent.dir().join("pid").exists());
}
