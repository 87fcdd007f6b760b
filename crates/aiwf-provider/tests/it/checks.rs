use aiwf_provider::{Check, KeySource, ProviderSetting, Secret, open};

use crate::fake_agent::FakeAgent;

fn shown(checks: &[Check]) -> String {
    let lines = checks.iter().map(|check| {
        let hint = check.hint.as_deref().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
        format!("{} {}: {}{hint}", if check.is_ok { "ok " } else { "BAD" }, check.what, check.found)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn checked(agent: &FakeAgent) -> String {
    let program = agent.setting.program.as_ref().unwrap().display().to_string();
    shown(&open(agent.setting.clone()).unwrap().check()).replace(&program, "PROGRAM")
}

#[test]
fn a_program_says_its_version() {
    let mut agent = FakeAgent::new("claude-code", "[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)'");
    agent.setting.key = KeySource::Variable { name: "SOME_KEY".to_owned(), value: Some(Secret::new("k")) };
    insta::assert_snapshot!(checked(&agent), @r"
    ok  program: `PROGRAM` 2.1.325 (Claude Code)
    ok  key: `SOME_KEY` is set
    ");
}

#[test]
fn a_program_that_fails_is_shown_with_its_words() {
    let mut agent = FakeAgent::new("codex", "echo 'node is too old' >&2; exit 1");
    agent.setting.key = KeySource::Variable { name: "SOME_KEY".to_owned(), value: None };
    insta::assert_snapshot!(checked(&agent), @r"
    BAD program: `PROGRAM --version` failed: node is too old
      hint: run `PROGRAM --version` yourself to see what is wrong
    ok  key: `SOME_KEY` is not set; the program's own login is used
    ");
}

#[test]
fn a_program_that_is_not_there_says_what_to_install() {
    let found = ["claude-code", "codex", "gemini-cli"].map(|kind| {
        let mut setting = ProviderSetting::new(kind, kind);
        setting.program = Some("no-such-program-of-anyone".into());
        shown(&open(setting).unwrap().check())
    });
    insta::assert_snapshot!(found.join("\n"), @r"
    BAD program: `no-such-program-of-anyone`: there is no such program
      hint: install it with `npm install -g @anthropic-ai/claude-code`, or set `program` in `[providers.claude-code]`
    BAD program: `no-such-program-of-anyone`: there is no such program
      hint: install it with `npm install -g @openai/codex`, or set `program` in `[providers.codex]`
    BAD program: `no-such-program-of-anyone`: there is no such program
      hint: install it with `npm install -g @google/gemini-cli`, or set `program` in `[providers.gemini-cli]`
    ");
}

#[test]
fn a_command_is_looked_up_and_not_run() {
    let mut agent = FakeAgent::new("command", "");
    insta::assert_snapshot!(checked(&agent), @"ok  program: `PROGRAM` is there");
    assert!(!agent.dir().join("pid").exists());
    agent.setting.argv = vec!["sh".to_owned()];
    insta::assert_snapshot!(checked(&agent), @"ok  program: `sh` is there");
    agent.setting.argv = vec!["no-such-program-of-anyone".to_owned()];
    insta::assert_snapshot!(checked(&agent), @r"
    BAD program: `no-such-program-of-anyone`: there is no such program
      hint: install it, or change `argv` in `[providers.command]`
    ");
}
