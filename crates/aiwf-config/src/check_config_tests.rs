use std::path::Path;

use insta::assert_snapshot;

use super::*;
use crate::config::Config;
use crate::error::ConfigError;
use crate::flags::Flags;
use crate::layer_reader;

fn resolve(user: &str, project: &str) -> Result<Config, String> {
    let mut layers = Vec::new();
    let mut problems = Vec::new();
    for (file, text) in [(ConfigFile::User, user), (ConfigFile::Project, project)] {
        let (layer, more) = layer_reader::read(file, Path::new("/base"), text);
        layers.push(layer);
        problems.extend(more);
    }
    if problems.is_empty() {
        return Ok(Config::resolve(layers, &Flags::default()));
    }
    Err(ConfigError::invalid(problems).with_hint())
}

fn shown(user: &str, project: &str) -> String {
    match resolve(user, project) {
        Ok(config) => {
            let set = config.entries().into_iter().filter(|entry| entry.origin != Origin::Default);
            let lines = set.map(|entry| format!("{} = {} ({})", entry.key, entry.value, entry.origin));
            lines.collect::<Vec<_>>().join("\n")
        }
        Err(error) => error,
    }
}

fn names(config: &Config) -> Vec<&str> {
    config.checks.iter().filter_map(ListedTable::name).collect()
}

#[test]
fn checks_are_read_with_their_origins_and_keep_their_order() {
    let project = r#"
[[checks]]
name = "tests"
run = "cargo test --locked"
after = "implement"
timeout = "20m"
max_output = 1000
network = "loopback"
env = ["DATABASE_URL"]

[[checks]]
name = "lint"
run = ["cargo", "clippy", "--", "-D", "warnings"]
"#;
    assert_snapshot!(shown("", project), @r#"
    checks.lint.name = lint (.aiwf/config.toml:12)
    checks.lint.run = ["cargo", "clippy", "--", "-D", "warnings"] (.aiwf/config.toml:13)
    checks.tests.after = implement (.aiwf/config.toml:5)
    checks.tests.env = ["DATABASE_URL"] (.aiwf/config.toml:9)
    checks.tests.max_output = 1000 (.aiwf/config.toml:7)
    checks.tests.name = tests (.aiwf/config.toml:3)
    checks.tests.network = loopback (.aiwf/config.toml:8)
    checks.tests.run = cargo test --locked (.aiwf/config.toml:4)
    checks.tests.timeout = 1200000ms (.aiwf/config.toml:6)
    "#);
    let config = resolve("", project).unwrap();
    assert_eq!(names(&config), ["tests", "lint"]);
    assert_eq!(config.checks[0].origin, Origin::File { file: ConfigFile::Project, line: 2 });
}

#[test]
fn a_projects_check_replaces_the_whole_check_of_the_user_with_that_name() {
    let user = "[[checks]]\nname = \"tests\"\nrun = \"make test\"\nenv = [\"TOKEN\"]\n[[checks]]\nname = \"fmt\"\nrun = \"x\"";
    let config = resolve(user, "[[checks]]\nname = \"tests\"\nrun = \"./steal\"").unwrap();
    assert_eq!(names(&config), ["fmt", "tests"]);
    assert_eq!(config.checks[1].env, None);
    assert!(config.checks[0].is_users_own());
    assert!(!config.checks[1].is_users_own());
}

#[test]
fn consent_covers_one_setting_per_line_and_only_what_matters() {
    let one = |text: &str| resolve("", text).unwrap().checks[0].shown();
    let text =
        "[[checks]]\nname = \"a\"\nrun = \"echo \\\"x\\\" \u{202e}\"\nafter = \"implement\"\nenv = [\"A\"]";
    assert_snapshot!(one(text), @r#"
    run = "echo \"x\" \u{202e}"
    env = ["A"]
    "#);
    // A shell command line differs from a program whose name contains spaces.
    let of = |run: &str| one(&format!("[[checks]]\nname = \"a\"\nrun = {run}"));
    assert_ne!(of("\"make test\""), of("[\"make test\"]"));
    assert_ne!(of("\"['make']\""), of("['make']"));
}

#[test]
fn invalid_checks_are_reported() {
    assert_snapshot!(shown("", "checks = 5"), @"
    error: `checks` is `5`, not a list of tables, each of which starts with `[[checks]]`
     --> .aiwf/config.toml:1:10
    hint: fix the value, or remove the line
    ");
    assert_snapshot!(shown("", "[checks]\nname = \"a\""), @"
    error: `checks` is `[checks]`, not a list of tables, each of which starts with `[[checks]]`
     --> .aiwf/config.toml:1:1
    hint: fix the value, or remove the line
    ");
    assert_snapshot!(shown("", "[[checks]]\nrun = \"x\""), @r#"
    error: `[[checks]]` has no `name`
     --> .aiwf/config.toml:1:1
    hint: add `name = "NAME"`
    "#);
    assert_snapshot!(shown("", "\n[[checks]]\nname = \"x\""), @r#"
    error: `[[checks]]` has no `run`
     --> .aiwf/config.toml:2:1
    hint: add `run = "COMMAND"`
    "#);
    assert_snapshot!(shown("", "[[checks]]\nname = \"x\"\nrun = \"a\"\n[[checks]]\nname = \"x\"\nrun = \"b\""), @"
    error: `checks` has two tables named `x`
     --> .aiwf/config.toml:4:1
    hint: rename one of them
    ");
    assert_snapshot!(shown("", "[[checks]]\nname = \"x\"\ntiemout = \"a\"\nrun = \"b\""), @"
    error: unknown key `tiemout` in `[[checks]]`
     --> .aiwf/config.toml:3:1
    hint: did you mean `timeout`? known: `name`, `run`, `after`, `timeout`, `max_output`, `network`, `env`
    ");
}

#[test]
fn wrong_values_are_reported_one_by_one() {
    let text = r#"
[[checks]]
name = "-x"
run = "two\nlines"
after = "no phase"
timeout = "soon"
max_output = 100_000_000
network = "none"
env = ["A B"]
[[checks]]
name = "y"
run = []
[[checks]]
name = "z"
run = ""
"#;
    assert_snapshot!(shown("", text), @r#"
    error: configuration has 9 problems
      .aiwf/config.toml:3:8: `[checks].name` is `"-x"`, not a name of 1 to 64 letters, digits, `-`, `_` or `.`, starting with a letter or digit
      .aiwf/config.toml:4:7: `[checks].run` is `"two\nlines"`, not a command on one line, or a list such as `["cargo", "test"]`
      .aiwf/config.toml:5:9: `[checks].after` is `"no phase"`, not the name of a phase, such as `implement`
      .aiwf/config.toml:6:11: `[checks].timeout` is `"soon"`, not a duration such as `500ms`, `90s`, `10m` or `1h`
      .aiwf/config.toml:7:14: `[checks].max_output` is `100_000_000`, not a whole number from 1 to 67108864
      .aiwf/config.toml:8:11: `[checks].network` is `"none"`, not one of `loopback`
      .aiwf/config.toml:9:7: `[checks].env` is `["A B"]`, not a list of variables, such as `["DATABASE_URL"]`
      .aiwf/config.toml:12:7: `[checks].run` is `[]`, not a command on one line, or a list such as `["cargo", "test"]`
      .aiwf/config.toml:15:7: `[checks].run` is `""`, not a command on one line, or a list such as `["cargo", "test"]`
    hint: start with the first: fix the value, or remove the line
    "#);
}

#[test]
fn a_worktree_takes_paths_of_the_project_and_only_the_user_links() {
    assert_snapshot!(shown("[worktree]\nlink = [\"target\"]", "[worktree]\ncopy = [\"node_modules\", \".venv/\"]"), @r#"
    worktree.copy = ["node_modules", ".venv/"] (.aiwf/config.toml:2)
    worktree.link = ["target"] (~/.aiwf/config.toml:2)
    "#);
    assert_snapshot!(shown("", "[worktree]\nlink = [\"target\"]"), @"
    error: `worktree.link` can only be set in your own configuration
     --> .aiwf/config.toml:2:1
    hint: move the line to `~/.aiwf/config.toml`
    ");
    for outside in ["/etc", "..", "a/../..", "./a", ""] {
        let refused = shown(&format!("[worktree]\nlink = [\"{outside}\"]"), "");
        assert!(refused.contains("not a list of paths in the project"), "{outside}: {refused}");
    }
}

#[test]
fn only_the_user_sets_notifications() {
    assert_snapshot!(shown("[notify]\nrun = [\"notify-send\", \"aiwf\"]", ""), @r#"
    notify.run = ["notify-send", "aiwf"] (~/.aiwf/config.toml:2)
    "#);
    assert_snapshot!(shown("", "[notify]\nrun = [\"curl\"]"), @"
    error: `notify.run` can only be set in your own configuration
     --> .aiwf/config.toml:2:1
    hint: move the line to `~/.aiwf/config.toml`
    ");
}
