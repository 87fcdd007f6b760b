use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::config::Config;
use crate::error::ConfigError;
use crate::flags::Flags;
use crate::origin::Origin;

/// The entries of a file, or its error and hint.
fn check(text: &str) -> String {
    let (layer, problems) = read(ConfigFile::Project, Path::new("/project"), text);
    if !problems.is_empty() {
        let error = ConfigError::invalid(problems);
        return error.with_hint();
    }
    let set = Config::resolve([layer], &Flags::default())
        .entries()
        .into_iter()
        .filter(|entry| entry.origin != Origin::Default);
    let lines: Vec<String> =
        set.map(|entry| format!("{} = {}  # {}", entry.key, entry.value, entry.origin)).collect();
    lines.join("\n")
}

#[test]
fn every_table_is_read() {
    assert_snapshot!(check(
        r#"
[roles]
default = "manual"
generator = "claude-code"
[gates]
"planning.prompt" = "skip"
"generating.response" = { approver = "ai:reviewer-model", max_retries = 2, allow_rewrite = true }
"revising.response" = { approver = "manual" }
[defaults]
fs_ability = "local-read"
[providers.claude-code]
fs_ability = "local-write"
supports_system_prompt = true
supports_file_attachments = false
[providers."tape.1"]
type = "replay"
dir = "recorded/one"
[session]
max_iterations = 0x10
hash_prompts = false
budget_tokens = 100_000
"#
    ), @r#"
    defaults.fs_ability = local-read  # .aiwf/config.toml:10
    gates."generating.response" = { approver = "ai:reviewer-model", max_retries = 2, allow_rewrite = true }  # .aiwf/config.toml:7
    gates."planning.prompt" = skip  # .aiwf/config.toml:6
    gates."revising.response" = manual  # .aiwf/config.toml:8
    providers."tape.1".dir = /project/recorded/one  # .aiwf/config.toml:17
    providers."tape.1".type = replay  # .aiwf/config.toml:16
    providers.claude-code.fs_ability = local-write  # .aiwf/config.toml:12
    providers.claude-code.supports_file_attachments = false  # .aiwf/config.toml:14
    providers.claude-code.supports_system_prompt = true  # .aiwf/config.toml:13
    roles.default = manual  # .aiwf/config.toml:3
    roles.generator = claude-code  # .aiwf/config.toml:4
    roles.planner = manual  # .aiwf/config.toml:3
    roles.reviewer = manual  # .aiwf/config.toml:3
    roles.reviser = manual  # .aiwf/config.toml:3
    session.budget_tokens = 100000  # .aiwf/config.toml:21
    session.hash_prompts = false  # .aiwf/config.toml:20
    session.max_iterations = 16  # .aiwf/config.toml:19
    "#);
}

#[test]
fn an_empty_file_sets_nothing() {
    assert_eq!(check(""), "");
    assert_eq!(check("# nothing yet\n[roles]\n[gates]\n[session]\n"), "");
    assert_eq!(
        check("\u{feff}[session]\nhash_prompts = true"),
        "session.hash_prompts = true  # .aiwf/config.toml:2"
    );
}

#[test]
fn an_unknown_key_suggests_the_closest() {
    assert_snapshot!(check("[session]\n  max_iteration = 3\n"), @"
    error: unknown key `max_iteration` in `[session]`
     --> .aiwf/config.toml:2:3
    hint: did you mean `max_iterations`? known: `max_iterations`, `hash_prompts`, `budget_tokens`, `max_template_mb`
    ");
    assert_snapshot!(check("[gates]\n\"planing.prompt\" = \"skip\"\n"), @r#"gates."planing.prompt" = skip  # .aiwf/config.toml:2"#);
    assert_snapshot!(check("[providers.x]\nsupports_system_promt = true\n"), @"
    error: unknown key `supports_system_promt` in `[providers.x]`
     --> .aiwf/config.toml:2:1
    hint: did you mean `supports_system_prompt`? known: `type`, `model`, `program`, `argv`, `reply`, `write`, `base_url`, `api_key_env`, `api_key_command`, `env`, `dir`, `timeout`, `connect_timeout`, `first_byte_timeout`, `max_output_tokens`, `context_window`, `max_reply_bytes`, `fs_ability`, `edit_form`, `supports_system_prompt`, `supports_file_attachments`
    ");
    assert_snapshot!(check("[sesion]\n"), @"
    error: unknown key `sesion`
     --> .aiwf/config.toml:1:2
    hint: did you mean `session`? known: `roles`, `gates`, `session`, `standards`, `context`, `change`, `workflow`, `checks`, `worktree`, `notify`, `budget`, `prices`, `defaults`, `providers`, `mcp`, `tools`, `trust`
    ");
    assert_snapshot!(check("[gates]\ndefault = { approver = \"skip\", retries = 2 }\n"), @"
    error: unknown key `retries` in `[gates.default]`
     --> .aiwf/config.toml:2:32
    hint: did you mean `max_retries`? known: `approver`, `max_retries`, `allow_rewrite`
    ");
}

#[test]
fn an_unknown_key_without_a_close_match_lists_the_known_ones() {
    assert_snapshot!(check("[roles]\nqqq = \"manual\"\n"), @"roles.qqq = manual  # .aiwf/config.toml:2");
}

#[test]
fn a_key_in_the_wrong_table_names_the_right_one() {
    assert_snapshot!(check("[roles]\nmax_iterations = 3\n"), @"
    error: unknown key `max_iterations` in `[roles]`
     --> .aiwf/config.toml:2:1
    hint: `max_iterations` belongs in `[session]`
    ");
    assert_snapshot!(check("fs_ability = \"none\"\n"), @"
    error: unknown key `fs_ability`
     --> .aiwf/config.toml:1:1
    hint: `fs_ability` belongs in `[defaults]`
    ");
}

#[test]
fn a_program_under_the_name_that_another_table_uses_finds_its_key() {
    assert_snapshot!(check("[providers.mine]\ntype = \"command\"\ncommand = [\"my-agent\"]\n"), @"
    error: unknown key `command` in `[providers.mine]`
     --> .aiwf/config.toml:3:1
    hint: did you mean `argv`? known: `type`, `model`, `program`, `argv`, `reply`, `write`, `base_url`, `api_key_env`, `api_key_command`, `env`, `dir`, `timeout`, `connect_timeout`, `first_byte_timeout`, `max_output_tokens`, `context_window`, `max_reply_bytes`, `fs_ability`, `edit_form`, `supports_system_prompt`, `supports_file_attachments`
    ");
    assert_snapshot!(check("[[checks]]\nname = \"unit\"\nargv = \"make test\"\n"), @"
    error: unknown key `argv` in `[[checks]]`
     --> .aiwf/config.toml:3:1
    hint: did you mean `run`? known: `name`, `run`, `after`, `timeout`, `max_output`, `network`, `env`
    ");
}

#[test]
fn a_gate_without_quotes_is_explained() {
    assert_snapshot!(check("[gates]\nplanning.prompt = \"skip\"\n"), @r#"
    error: `gates.planning` is not a gate
     --> .aiwf/config.toml:2:1
    hint: write the gate's name in quotes: `"planning.prompt"`
    "#);
}

#[test]
fn an_invalid_value_names_the_setting_and_the_valid_ones() {
    assert_snapshot!(check("[defaults]\nfs_ability = \"write\"\n"), @r#"
    error: `defaults.fs_ability` is `"write"`, not one of `local-write`, `local-read`, `write-only`, `none`
     --> .aiwf/config.toml:2:14
    hint: did you mean `write-only`? fix the value, or remove the line
    "#);
    assert_snapshot!(check("[providers.x]\nfs_ability = true\n"), @"
    error: `providers.x.fs_ability` is `true`, not one of `local-write`, `local-read`, `write-only`, `none`
     --> .aiwf/config.toml:2:14
    hint: fix the value, or remove the line
    ");
    assert_snapshot!(check("[gates]\n\"planning.prompt\" = \"ai\"\n"), @r#"
    error: `gates."planning.prompt"` is `"ai"`, not one of `manual`, `skip`, `ai:<provider>`
     --> .aiwf/config.toml:2:21
    hint: did you mean `ai:<provider>`? fix the value, or remove the line
    "#);
    assert_snapshot!(check("[gates]\ndefault = { approver = \"ai:a b\" }\n"), @r#"
    error: `gates.default.approver` is `"ai:a b"`, not one of `manual`, `skip`, `ai:<provider>`
     --> .aiwf/config.toml:2:24
    hint: fix the value, or remove the line
    "#);
    assert_snapshot!(check("[roles]\nplanner = \"\"\n"), @r#"
    error: `roles.planner` is `""`, not a name of 1 to 64 letters, digits, `-`, `_` or `.`
     --> .aiwf/config.toml:2:11
    hint: fix the value, or remove the line
    "#);
    assert_snapshot!(check("[providers.tape]\ndir = \"~/tapes\"\n"), @r#"
    error: `providers.tape.dir` is `"~/tapes"`, not a path without `~`, absolute or relative to the directory of `.aiwf/`
     --> .aiwf/config.toml:2:7
    hint: fix the value, or remove the line
    "#);
}

#[test]
fn a_number_out_of_range_is_refused() {
    assert_snapshot!(check("[session]\nmax_iterations = 0\n"), @"
    error: `session.max_iterations` is `0`, not a whole number from 1 to 4294967295
     --> .aiwf/config.toml:2:18
    hint: fix the value, or remove the line
    ");
    for number in ["-1", "4294967296", "99999999999999999999", "1.5", "\"5\""] {
        assert!(check(&format!("[session]\nbudget_tokens = {number}\n")).contains(number));
    }
    assert_snapshot!(check("[gates]\ndefault = { approver = \"skip\", max_retries = -1 }\n"), @"
    error: `gates.default.max_retries` is `-1`, not a whole number from 0 to 4294967295
     --> .aiwf/config.toml:2:46
    hint: fix the value, or remove the line
    ");
}

#[test]
fn a_wrong_type_is_refused() {
    assert_snapshot!(check("[session]\nhash_prompts = \"yes\"\n"), @r#"
    error: `session.hash_prompts` is `"yes"`, not `true` or `false`
     --> .aiwf/config.toml:2:16
    hint: fix the value, or remove the line
    "#);
    assert_snapshot!(check("session = 5\n"), @"
    error: `session` is `5`, not a table
     --> .aiwf/config.toml:1:11
    hint: start the table with a line `[session]`
    ");
    assert_snapshot!(check("[[roles]]\nplanner = \"manual\"\n"), @"
    error: `roles` is `[[roles]]`, not a table
     --> .aiwf/config.toml:1:1
    hint: start the table with a line `[roles]`
    ");
    assert_snapshot!(check("[providers]\ncodex = \"codex\"\n"), @r#"
    error: `providers.codex` is `"codex"`, not a table
     --> .aiwf/config.toml:2:9
    hint: start the table with a line `[providers.codex]`
    "#);
}

#[test]
fn a_gate_needs_an_approver() {
    assert_snapshot!(check("[gates]\n\"planning.prompt\" = { max_retries = 2 }\n"), @r#"
    error: `gates."planning.prompt"` has no `approver`
     --> .aiwf/config.toml:2:1
    hint: add `approver`, one of `manual`, `skip`, `ai:<provider>`
    "#);
}

#[test]
fn a_provider_needs_a_usable_name() {
    assert_snapshot!(check("[providers.\"my agent\"]\n"), @"
    error: `my agent` is not a valid provider name
     --> .aiwf/config.toml:1:12
    hint: a provider name is 1 to 64 letters, digits, `-`, `_` or `.`
    ");
}

#[test]
fn malformed_toml_has_line_and_column() {
    assert_snapshot!(check("[session]\nmax_iterations = = 5\n"), @"
    error: configuration has 2 problems
      .aiwf/config.toml:2:18: not valid TOML: extra `=`, expected nothing
      .aiwf/config.toml:2:20: not valid TOML: unexpected key or value, expected newline, `#`
    hint: start with the first: fix the line: text needs quotes, and a table starts with its name in brackets
    ");
    assert_snapshot!(check("[roles]\nplanner = \"a\"\nplanner = \"b\"\n"), @"
    error: not valid TOML: duplicate key
     --> .aiwf/config.toml:3:1
    hint: fix the line: text needs quotes, and a table starts with its name in brackets
    ");
    assert_snapshot!(check("[roles\n"), @"
    error: not valid TOML: unclosed table, expected `]`
     --> .aiwf/config.toml:1:7
    hint: fix the line: text needs quotes, and a table starts with its name in brackets
    ");
    assert_snapshot!(check("[roles]\nplanner = manual\n"), @"
    error: not valid TOML: string values must be quoted, expected literal string
     --> .aiwf/config.toml:2:11
    hint: fix the line: text needs quotes, and a table starts with its name in brackets
    ");
}

#[test]
fn all_problems_of_a_file_are_reported_together() {
    assert_snapshot!(check(
        "[session]\nmax_iteration = 3\nhash_prompts = 1\n[defaults]\nfs_ability = \"all\"\n[rolls]\n"
    ), @r#"
    error: configuration has 4 problems
      .aiwf/config.toml:2:1: unknown key `max_iteration` in `[session]` (did you mean `max_iterations`?)
      .aiwf/config.toml:3:16: `session.hash_prompts` is `1`, not `true` or `false`
      .aiwf/config.toml:5:14: `defaults.fs_ability` is `"all"`, not one of `local-write`, `local-read`, `write-only`, `none`
      .aiwf/config.toml:6:2: unknown key `rolls` (did you mean `roles`?)
    hint: start with the first: did you mean `max_iterations`? known: `max_iterations`, `hash_prompts`, `budget_tokens`, `max_template_mb`
    "#);
}

#[test]
fn many_problems_are_truncated() {
    let lines: Vec<String> = (0..500).map(|idx| format!("key{idx} = 1")).collect();
    let shown = check(&lines.join("\n"));
    assert!(shown.contains("  … and 80 more\nhint: start with the first: known: `roles`"), "{shown}");
}

#[test]
fn a_large_hostile_file_ends_in_problems() {
    // Large enough that anything quadratic would hit the time limit of tests.
    const SIZE: usize = 256 * 1024;
    for piece in ["[", "=\n", "a.", "{a=", "\"", "x={},", "[a]\n", "é"] {
        assert!(check(&piece.repeat(SIZE / piece.len())).starts_with("error: "), "{piece}");
    }
    let many: Vec<String> = (0..30_000).map(|idx| format!("k{idx}=1")).collect();
    assert!(
        check(&format!("gates={{{}}}", many.join(","))).starts_with("error: configuration has 100 problems")
    );
}

fn toml_piece() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "[roles]\n",
            "[gates]\n",
            "[session]\n",
            "[providers.x]\n",
            "[defaults]\n",
            "default",
            "planner",
            "\"planning.prompt\"",
            "approver",
            "max_iterations",
            "hash_prompts",
            "fs_ability",
            "dir",
            "type",
            " = ",
            "\"ai:x\"",
            "\"none\"",
            "{ ",
            " }",
            "[",
            "]",
            "true",
            "-1",
            "5",
            "1e9",
            "'''",
            "\"\"\"",
            "\n",
            ",",
            ".",
            "#",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn nothing_like_toml_makes_it_panic(pieces in prop::collection::vec(toml_piece(), 0..30)) {
        check(&pieces.concat());
    }

    #[test]
    fn any_value_is_read_or_reported_at_its_line(
        key in prop::sample::select(vec![
            "roles.planner", "gates.default", "gates.\"planning.prompt\"", "defaults.fs_ability", "providers.x",
            "providers.x.dir", "session.max_iterations", "session.hash_prompts", "gates.default.approver",
        ]),
        value in prop::sample::select(vec![
            "1", "-1", "1.5", "nan", "true", "\"\"", "\"x\"", "[]", "[[1]]", "{}", "{ a = 1 }", "1979-05-27",
        ]),
    ) {
        let text = format!("\n\n{key} = {value}\n");
        let (_, problems) = read(ConfigFile::User, Path::new("/project"), &text);
        for problem in problems {
            prop_assert_eq!(problem.origin, Origin::File { file: ConfigFile::User, line: 3 });
        }
    }
}

#[test]
fn providers_budget_prices_and_changes_are_read() {
    assert_snapshot!(check(
        r#"
[providers.local-model]
type = "openai"
base_url = "http://127.0.0.1:11434/v1/"
model = "some model"
api_key_env = "OPENAI_API_KEY"
timeout = "10m"
connect_timeout = "500ms"
first_byte_timeout = "2 h"
max_output_tokens = 4_096
context_window = 128_000
max_reply_bytes = 1_000_000
env = { OPENAI_LOG_LEVEL = "" }
[providers.my-agent]
type = "command"
argv = ["my-agent", "--print"]
reply = "json:/result/text"
program = "agent"
[budget]
max_calls = 40
max_tokens = 2_000_000
max_cost = 5
[prices."model-name"]
input = 3.0
output = 15
cached_input = 0.3
[change]
agents = { plan = "manual", implement = "my-agent" }
files = ["src/**"]
max_rounds = 2
write = true
"#
    ), @r#"
    budget.max_calls = 40  # .aiwf/config.toml:20
    budget.max_cost = 5  # .aiwf/config.toml:22
    budget.max_tokens = 2000000  # .aiwf/config.toml:21
    change.agents.implement = my-agent  # .aiwf/config.toml:28
    change.agents.plan = manual  # .aiwf/config.toml:28
    change.files = ["src/**"]  # .aiwf/config.toml:29
    change.max_rounds = 2  # .aiwf/config.toml:30
    change.write = true  # .aiwf/config.toml:31
    prices."model-name".cached_input = 0.3  # .aiwf/config.toml:23
    prices."model-name".input = 3  # .aiwf/config.toml:23
    prices."model-name".output = 15  # .aiwf/config.toml:23
    providers.local-model.api_key_env = OPENAI_API_KEY  # .aiwf/config.toml:6
    providers.local-model.base_url = http://127.0.0.1:11434/v1  # .aiwf/config.toml:4
    providers.local-model.connect_timeout = 500ms  # .aiwf/config.toml:8
    providers.local-model.context_window = 128000  # .aiwf/config.toml:11
    providers.local-model.env.OPENAI_LOG_LEVEL =   # .aiwf/config.toml:13
    providers.local-model.first_byte_timeout = 7200000ms  # .aiwf/config.toml:9
    providers.local-model.max_output_tokens = 4096  # .aiwf/config.toml:10
    providers.local-model.max_reply_bytes = 1000000  # .aiwf/config.toml:12
    providers.local-model.model = some model  # .aiwf/config.toml:5
    providers.local-model.timeout = 600000ms  # .aiwf/config.toml:7
    providers.local-model.type = openai  # .aiwf/config.toml:3
    providers.my-agent.argv = ["my-agent", "--print"]  # .aiwf/config.toml:16
    providers.my-agent.program = agent  # .aiwf/config.toml:18
    providers.my-agent.reply = json:/result/text  # .aiwf/config.toml:17
    providers.my-agent.type = command  # .aiwf/config.toml:15
    "#);
}

#[test]
fn values_of_provider_settings_are_checked() {
    assert_snapshot!(check(
        r#"
[providers.p]
type = "openai"
base_url = "ftp://x"
api_key = "sk-1"
api_key_env = "not a name"
api_key_command = ["pass", "openai"]
timeout = "ten minutes"
argv = []
reply = "json:pointer"
env = { "1A" = "x", TZ = 1 }
max_output_tokens = 0
[budget]
max_cost = -1
[prices."m"]
input = 1.0
[change]
agents = { planning = "manual" }
"#
    ), @r#"
    error: configuration has 13 problems
      .aiwf/config.toml:4:12: `providers.p.base_url` is `"ftp://x"`, not a URL that starts with `https://` or `http://`
      .aiwf/config.toml:5:1: `providers.p.api_key`: API keys do not belong in files
      .aiwf/config.toml:6:15: `providers.p.api_key_env` is `"not a name"`, not the name of a variable, such as `OPENAI_API_KEY`
      .aiwf/config.toml:7:1: `providers.p.api_key_command` can only be set in your own configuration
      .aiwf/config.toml:8:11: `providers.p.timeout` is `"ten minutes"`, not a duration such as `500ms`, `90s`, `10m` or `1h`
      .aiwf/config.toml:9:8: `providers.p.argv` is `[]`, not a list of strings, such as `["a", "b"]`
      .aiwf/config.toml:10:9: `providers.p.reply` is `"json:pointer"`, not one of `stdout`, `file`, `json:/pointer`
      .aiwf/config.toml:11:9: `providers.p.env.1A` is not a valid variable name
      .aiwf/config.toml:11:26: `providers.p.env.TZ` is `1`, not a string
      .aiwf/config.toml:12:21: `providers.p.max_output_tokens` is `0`, not a whole number from 1
      .aiwf/config.toml:14:12: `budget.max_cost` is `-1`, not a number of dollars, such as `5.00`
      .aiwf/config.toml:15:9: `prices.m` needs both `input` and `output`
      .aiwf/config.toml:18:12: unknown key `planning` in `[change.agents]` (did you mean `plan`?)
    hint: start with the first: fix the value, or remove the line
    "#);
}

#[test]
fn a_key_command_is_allowed_in_the_users_file() {
    let text = "[providers.p]\ntype = \"openai\"\napi_key_command = [\"pass\", \"x\"]\nbase_url = \"https://a.example/v1\"";
    let (layer, problems) = read(ConfigFile::User, Path::new("/home"), text);
    assert!(problems.is_empty());
    let provider = &layer.providers["p"];
    assert!(provider.api_key_command.is_some());
    let config = Config::resolve([layer.clone()], &Flags::default());
    assert!(config.users_base_urls.contains("https://a.example/v1"));
}
