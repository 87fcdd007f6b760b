use aiwf_provider::{Check, KeySource, Secret, open};

use crate::fake_agent::FakeAgent;

fn shown(checks: &[Check]) -> String {
    let lines = checks.iter().map(|check| {
        let hint = check.advice.as_ref().map_or_else(String::new, |advice| {
            format!("\n  hint: {}", advice.worded(|action, _| format!("{action:?}")))
        });
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

/// An agent whose search path holds only these programs, all of which do what a script says.
fn on_search_path(kind: &str, programs: &[&str], script: &str) -> FakeAgent {
    let mut agent = FakeAgent::new(kind, script);
    let stand_in = agent.setting.program.take().unwrap();
    let dir = agent.dir().join("bin");
    std::fs::create_dir(&dir).unwrap();
    for program in programs {
        std::os::unix::fs::symlink(&stand_in, dir.join(program)).unwrap();
    }
    agent.setting.env.insert("PATH".to_owned(), dir.display().to_string());
    agent
}

const AGENTS: [&str; 3] = ["claude-code", "codex", "gemini-cli"];

#[test]
fn a_program_that_is_not_there_says_which_version_to_install_on_the_node_that_is() {
    let hints = |programs: &[&str], script: &str| {
        let hint = |kind| shown(&open(on_search_path(kind, programs, script).setting).unwrap().check());
        AGENTS.map(hint).join("\n")
    };
    insta::assert_snapshot!(hints(&["node"], "echo v20.20.2"), @"
    BAD program: `claude`: there is no such program
      hint: install it with `npm install -g @anthropic-ai/claude-code@2.1.325`, or set `program` in `[providers.claude-code]`
    BAD program: `codex`: there is no such program
      hint: install it with `npm install -g @openai/codex@0.166.0`, or set `program` in `[providers.codex]`
    BAD program: `gemini`: there is no such program
      hint: install it with `npm install -g @google/gemini-cli@0.61.0`, or set `program` in `[providers.gemini-cli]`
    ");
    insta::assert_snapshot!(hints(&["node"], "echo v18.19.1"), @"
    BAD program: `claude`: there is no such program
      hint: install node 20 or newer (node 18 is too old for it), then run `npm install -g @anthropic-ai/claude-code@2.1.325`; or set `program` in `[providers.claude-code]`
    BAD program: `codex`: there is no such program
      hint: install it with `npm install -g @openai/codex@0.166.0`, or set `program` in `[providers.codex]`
    BAD program: `gemini`: there is no such program
      hint: install node 20 or newer (node 18 is too old for it), then run `npm install -g @google/gemini-cli@0.61.0`; or set `program` in `[providers.gemini-cli]`
    ");
    insta::assert_snapshot!(hints(&[], ""), @"
    BAD program: `claude`: there is no such program
      hint: install node 20 or newer (it is not installed), then run `npm install -g @anthropic-ai/claude-code@2.1.325`; or set `program` in `[providers.claude-code]`
    BAD program: `codex`: there is no such program
      hint: install node 16 or newer (it is not installed), then run `npm install -g @openai/codex@0.166.0`; or set `program` in `[providers.codex]`
    BAD program: `gemini`: there is no such program
      hint: install node 20 or newer (it is not installed), then run `npm install -g @google/gemini-cli@0.61.0`; or set `program` in `[providers.gemini-cli]`
    ");
}

/// The options in the help of Claude Code 2.1.197, which lacks one that aiwf needs.
const OLD_HELP: &str = "if [ $1 = --version ]; then echo '2.1.197 (Claude Code)'; else echo '\
  --strict-mcp-config, --disable-slash-commands, --no-session-persistence, --restricted-not, --input-format <format>, \
  --output-format <format>, --permission-mode <mode>, --tools <tools...>, --allowedTools, --allowed-tools <tools...>'; fi";

#[test]
fn a_program_without_an_option_that_is_needed_is_too_old() {
    let agent = on_search_path("claude-code", &["claude"], OLD_HELP);
    let provider = open(agent.setting.clone()).unwrap();
    insta::assert_snapshot!(shown(&provider.check()), @"
    BAD program: `claude` 2.1.197 (Claude Code) is too old: it has no option `--restricted`
      hint: install the version that aiwf is tested with: `npm install -g @anthropic-ai/claude-code@2.1.325`
    ");
    let program = provider.program().unwrap();
    assert_eq!(program.version.as_deref(), Some("2.1.197"));
    assert_eq!(program.path, Some(agent.dir().join("bin/claude")));
    let newer = OLD_HELP.replace("--restricted-not", "--restricted").replace("2.1.197", "2.1.325");
    let agent = on_search_path("claude-code", &["claude"], &newer);
    let provider = open(agent.setting.clone()).unwrap();
    insta::assert_snapshot!(shown(&provider.check()), @"ok  program: `claude` 2.1.325 (Claude Code)");
}

#[test]
fn options_are_looked_for_where_each_agent_lists_them() {
    let codex = "case \"$*\" in --version) echo codex-cli 0.60.0;; 'exec --help') echo '--json --ephemeral';; *) exit 1;; esac";
    let gemini =
        "case \"$*\" in --version) echo 0.20.0;; --help) echo '--acp --extensions';; *) exit 1;; esac";
    for (kind, program, script, missing) in [
        (
            "codex",
            "codex",
            codex,
            "`codex` codex-cli 0.60.0 is too old: it has no option `--skip-git-repo-check`",
        ),
        (
            "gemini-cli",
            "gemini",
            gemini,
            "`gemini` 0.20.0 is too old: it has no option `--allowed-mcp-server-names`",
        ),
    ] {
        let agent = on_search_path(kind, &[program], script);
        let checks = open(agent.setting.clone()).unwrap().check();
        assert_eq!(checks[0].found, missing);
    }
}

#[test]
fn a_help_text_that_names_none_of_the_options_proves_nothing() {
    for help in ["echo wrapper of mine", "exit 3", "head -c 100000 /dev/zero"] {
        let script = format!(
            "if [ $1 = --version ]; then echo '2.1.325 (Claude Code)'; else PATH=/bin:/usr/bin; {help}; fi"
        );
        let agent = on_search_path("claude-code", &["claude"], &script);
        let checks = open(agent.setting.clone()).unwrap().check();
        assert_eq!(shown(&checks), "ok  program: `claude` 2.1.325 (Claude Code)", "{help}");
    }
}

#[test]
fn a_command_is_looked_up_and_not_run() {
    let mut agent = FakeAgent::new("command", "");
    insta::assert_snapshot!(checked(&agent), @"ok  program: `PROGRAM` is installed");
    assert!(!agent.dir().join("pid").exists());
    agent.setting.argv = vec!["sh".to_owned()];
    insta::assert_snapshot!(checked(&agent), @"ok  program: `sh` is installed");
    agent.setting.argv = vec!["no-such-program-of-anyone".to_owned()];
    insta::assert_snapshot!(checked(&agent), @r"
    BAD program: `no-such-program-of-anyone`: there is no such program
      hint: install it, or change `argv` in `[providers.command]`
    ");
}
