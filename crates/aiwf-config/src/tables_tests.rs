use std::path::Path;

use insta::assert_snapshot;

use crate::config::Config;
use crate::error::ConfigError;
use crate::flags::Flags;
use crate::layer_reader;
use crate::origin::ConfigFile;

fn resolve(user: &str, project: &str) -> Result<Config, String> {
    let mut layers = Vec::new();
    let mut problems = Vec::new();
    for (file, text) in [(ConfigFile::User, user), (ConfigFile::Project, project)] {
        let (layer, more) = layer_reader::read(file, Path::new("/base"), text);
        layers.push(layer);
        problems.extend(more);
    }
    let checked = if problems.is_empty() {
        let config = Config::resolve(layers, &Flags::default());
        config.check_providers(&["manual", "openai"]).map(|()| config)
    } else {
        Err(ConfigError::invalid(problems))
    };
    checked.map_err(|error| error.with_hint())
}

fn shown(user: &str, project: &str) -> String {
    match resolve(user, project) {
        Ok(config) => {
            let listed = config.entries().into_iter().filter(|entry| entry.key.starts_with("workflow."));
            let lines = listed.map(|entry| format!("{} = {} ({})", entry.key, entry.value, entry.origin));
            lines.collect::<Vec<_>>().join("\n")
        }
        Err(error) => error,
    }
}

#[test]
fn unset_keys_have_defaults() {
    assert_snapshot!(shown("", ""), @"
    workflow.conditions = warn (default)
    workflow.files = true (default)
    workflow.max_read_bytes = 524288 (default)
    workflow.max_turns = 50 (default)
    workflow.max_write_bytes = 2097152 (default)
    workflow.result_preview_bytes = 65536 (default)
    ");
}

#[test]
fn the_table_is_read_with_its_origins() {
    let user = "[workflow]\nprovider = \"openai\"\nmax_turns = 7\nconditions = \"enforce\"\n";
    assert_snapshot!(shown(user, "
[workflow]
max_turns = 8
context_tokens = 64_000
result_preview_bytes = 100
max_read_bytes = 1000
max_write_bytes = 2000
files = false
"), @"
    workflow.conditions = enforce (~/.aiwf/config.toml:4)
    workflow.context_tokens = 64000 (.aiwf/config.toml:4)
    workflow.files = false (.aiwf/config.toml:8)
    workflow.max_read_bytes = 1000 (.aiwf/config.toml:6)
    workflow.max_turns = 8 (.aiwf/config.toml:3)
    workflow.max_write_bytes = 2000 (.aiwf/config.toml:7)
    workflow.provider = openai (~/.aiwf/config.toml:2)
    workflow.result_preview_bytes = 100 (.aiwf/config.toml:5)
    ");
}

#[test]
fn a_checkout_cannot_enable_files_that_the_user_disabled() {
    let files = |user: &str, project: &str| resolve(user, project).unwrap().workflow.files.value;
    assert!(!files("[workflow]\nfiles = false", "[workflow]\nfiles = true"));
    assert!(!files("[workflow]\nfiles = true", "[workflow]\nfiles = false"));
    assert!(files("[workflow]\nfiles = true", ""));
}

#[test]
fn wrong_values_and_keys_are_reported_with_their_position() {
    assert_snapshot!(shown("", r#"
[workflow]
conditions = "strict"
max_turns = 0
context_tokens = 0
result_preview_bytes = -1
provider = "no name"
max_read_bytes = 0
max_write_bytes = "2 MB"
files = "yes"
turns = 5
"#), @r#"
    error: configuration has 9 problems
      .aiwf/config.toml:3:14: `workflow.conditions` is `"strict"`, not one of `warn`, `enforce`
      .aiwf/config.toml:4:13: `workflow.max_turns` is `0`, not a whole number from 1 to 4294967295
      .aiwf/config.toml:5:18: `workflow.context_tokens` is `0`, not a whole number from 1 to 4294967295
      .aiwf/config.toml:6:24: `workflow.result_preview_bytes` is `-1`, not a whole number from 1
      .aiwf/config.toml:7:12: `workflow.provider` is `"no name"`, not a name of 1 to 64 letters, digits, `-`, `_` or `.`
      .aiwf/config.toml:8:18: `workflow.max_read_bytes` is `0`, not a whole number from 1
      .aiwf/config.toml:9:19: `workflow.max_write_bytes` is `"2 MB"`, not a whole number from 1
      .aiwf/config.toml:10:9: `workflow.files` is `"yes"`, not `true` or `false`
      .aiwf/config.toml:11:1: unknown key `turns` in `[workflow]`
    hint: start with the first: fix the value, or remove the line
    "#);
    assert_snapshot!(shown("", "[workflow]\nmax_turn = 5"), @"
    error: unknown key `max_turn` in `[workflow]`
     --> .aiwf/config.toml:2:1
    hint: did you mean `max_turns`? known: `conditions`, `max_turns`, `context_tokens`, `result_preview_bytes`, `provider`, `max_read_bytes`, `max_write_bytes`, `files`
    ");
    assert_snapshot!(shown("", "[workflow]\nconditions = \"enforced\""), @r#"
    error: `workflow.conditions` is `"enforced"`, not one of `warn`, `enforce`
     --> .aiwf/config.toml:2:14
    hint: did you mean `enforce`? fix the value, or remove the line
    "#);
    assert_snapshot!(shown("", "workflow = true"), @"
    error: `workflow` is `true`, not a table
     --> .aiwf/config.toml:1:12
    hint: start the table with a line `[workflow]`
    ");
}

#[test]
fn a_misplaced_key_names_its_table() {
    assert_snapshot!(shown("", "[budget]\nresult_preview_bytes = 5"), @"
    error: unknown key `result_preview_bytes` in `[budget]`
     --> .aiwf/config.toml:2:1
    hint: `result_preview_bytes` belongs in `[workflow]`
    ");
}

#[test]
fn its_provider_must_exist() {
    assert_snapshot!(shown("", "[workflow]\nprovider = \"opnai\""), @"
    error: unknown provider `opnai`
     --> .aiwf/config.toml:2
    hint: did you mean `openai`? <ListProviders> lists all; a table `[providers.NAME]` adds one
    ");
    assert!(resolve("", "[workflow]\nprovider = \"mine\"\n[providers.mine]\ntype = \"openai\"").is_ok());
}

#[test]
fn runs_agents_and_chats_can_be_granted_tools() {
    let text = "[tools.grant]\nworkflow = [\"a__b\"]\nagent = [\"a__c\"]\nchat = []";
    let grants = resolve("", text).unwrap().tools.grants;
    let grants: Vec<(&str, usize)> =
        grants.iter().map(|(phase, names)| (phase.as_str(), names.value.len())).collect();
    assert_eq!(grants, [("agent", 1), ("chat", 0), ("workflow", 1)]);
}
