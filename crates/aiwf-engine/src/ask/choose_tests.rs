use std::cell::RefCell;
use std::path::Path;

use aiwf_config::{Environment, Settings};
use aiwf_store::{Durability, write_atomic};

use super::*;

fn config(user: &str, project: &str) -> Config {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in [("home/.aiwf", user), ("project/.aiwf", project)] {
        let directory = root.path().join(path);
        aiwf_store::create_dir(&directory).unwrap();
        write_atomic(&directory.join("config.toml"), Durability::Process, |out| {
            out.write_all(text.as_bytes())
        })
        .unwrap();
    }
    let environment = Environment {
        current_dir: root.path().join("project"),
        home: Some(root.path().join("home")),
        ..Environment::default()
    };
    let settings = Settings::resolve(None::<&Path>, environment).unwrap();
    providers::load_config(&settings, &Flags::default()).unwrap()
}

/// What is chosen where these agents are installed and these keys are set, and what was looked at for it.
#[track_caller]
fn check(
    flag: Option<&str>,
    config: &Config,
    (installed, keys): (&[&str], &[&str]),
    expected: (&str, &str),
    expected_looks: &[&str],
) {
    let looks = RefCell::new(Vec::new());
    let version = |name: &str| {
        looks.borrow_mut().push(name.to_owned());
        installed.contains(&name).then(|| "2.1.325".to_owned())
    };
    let key = |name: &str| {
        looks.borrow_mut().push(name.to_owned());
        keys.contains(&name).then(|| format!("{}_API_KEY", name.to_uppercase()))
    };
    let chosen = choose(flag, config, &Lookups { version: &version, key: &key });
    assert_eq!((chosen.provider.as_str(), chosen.why.as_str()), expected);
    assert_eq!(looks.into_inner(), expected_looks);
}

const EVERYTHING: (&[&str], &[&str]) = (&AGENTS, &APIS);

#[test]
fn a_flag_wins_and_nothing_is_looked_at() {
    let config = config("[roles]\ngenerator = \"codex\"\n", "");
    check(Some("gemini"), &config, EVERYTHING, ("gemini", "you named it"), &[]);
}

#[test]
fn the_configuration_wins_over_what_is_installed() {
    let generator = ("codex", "`[roles] generator` sets it");
    check(
        None,
        &config("[roles]\ngenerator = \"codex\"\ndefault = \"gemini\"\n", ""),
        EVERYTHING,
        generator,
        &[],
    );
    check(None, &config("", "[roles]\ngenerator = \"codex\"\n"), EVERYTHING, generator, &[]);
    let default = ("gemini", "`[roles] default` sets it");
    check(
        None,
        &config("[roles]\ndefault = \"gemini\"\nreviewer = \"codex\"\n", ""),
        EVERYTHING,
        default,
        &[],
    );
    let person = ("manual", "`[roles] default` sets it");
    check(None, &config("[roles]\ndefault = \"manual\"\n", ""), EVERYTHING, person, &[]);
}

#[test]
fn claude_means_claude_code_unless_it_is_configured() {
    assert_eq!(full_name("claude", &config("", "")), "claude-code");
    assert_eq!(full_name("gemini", &config("", "")), "gemini");
    let own = config("[providers.claude]\ntype = \"command\"\nargv = [\"cat\"]\n", "");
    assert_eq!(full_name("claude", &own), "claude");
}

#[test]
fn the_first_agent_that_starts_is_next() {
    let config = config("", "");
    let claude = ("claude-code", "claude-code 2.1 is installed");
    check(None, &config, EVERYTHING, claude, &["claude-code"]);
    let gemini = ("gemini-cli", "gemini-cli 2.1 is installed");
    check(None, &config, (&["gemini-cli"], &APIS), gemini, &AGENTS);
}

#[test]
fn an_api_with_a_key_is_next_and_a_person_last() {
    let config = config("", "");
    let openai = ("openai", "no agent was found, and `OPENAI_API_KEY` is set");
    let looks = ["claude-code", "codex", "gemini-cli", "anthropic", "openai"];
    check(None, &config, (&[], &["openai", "gemini"]), openai, &looks);
    let manual = ("manual", "no agent and no API key was found");
    let looks = ["claude-code", "codex", "gemini-cli", "anthropic", "openai", "gemini"];
    check(None, &config, (&[], &[]), manual, &looks);
}

#[test]
fn what_a_checkout_redirects_is_not_looked_at() {
    let redirected = "[providers.claude-code]\nbase_url = \"https://elsewhere.test\"\n[providers.openai]\nbase_url = \"https://elsewhere.test\"\n";
    let looks = ["codex", "gemini-cli", "anthropic", "gemini"];
    let gemini = ("gemini", "no agent was found, and `GEMINI_API_KEY` is set");
    check(None, &config("", redirected), (&["claude-code"], &["openai", "gemini"]), gemini, &looks);
}

#[test]
fn a_version_is_shortened() {
    for (version, expected) in
        [("2.1.325", "2.1"), ("0.166", "0.166"), ("3", "3"), ("", ""), ("1.2.3.4", "1.2")]
    {
        assert_eq!(short(version), expected);
    }
}
