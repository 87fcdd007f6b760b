//! Every declared setting is read, documented, defaulted and confined as its declaration says.

use std::path::Path;

use super::*;
use crate::checkout::{self, Checkout};
use crate::config::Config;
use crate::fault::ConfigFault;
use crate::flags::Flags;
use crate::layer_reader;
use crate::mcp_server_config::McpServerConfig;
use crate::origin::{ConfigFile, Origin};
use crate::problem::ConfigProblem;
use crate::setting::SettingDoc;

/// Every setting with the name of its table.
fn every_setting() -> impl Iterator<Item = (&'static str, &'static SettingDoc)> {
    setting_docs().iter().flat_map(|doc| doc.settings.iter().map(|setting| (doc.table.as_str(), setting)))
}

/// A file that sets one key of a table.
fn file(table: &str, key: &str, value: &str) -> String {
    let header =
        table.replace("NAME", "x").replace("\"PHASE.STAGE\"", "\"planning.prompt\"").replace("MODEL", "m");
    // A value with several parts needs the others too.
    let others = match (table, key) {
        ("[prices.\"MODEL\"]", "input") => "output = 1\n",
        ("[prices.\"MODEL\"]", "output") => "input = 1\n",
        ("[prices.\"MODEL\"]", _) => "input = 1\noutput = 1\n",
        ("[gates.\"PHASE.STAGE\"]", "max_retries" | "allow_rewrite") => "approver = \"ai:x\"\n",
        ("[[checks]]", "name") => "run = \"x\"\n",
        ("[[checks]]", "run") => "name = \"x\"\n",
        ("[[checks]]", _) => "name = \"x\"\nrun = \"x\"\n",
        _ => "",
    };
    format!("{header}\n{key} = {value}\n{others}")
}

/// Two values of a kind, the smaller or tighter one first.
fn samples(setting: &SettingDoc) -> (&'static str, &'static str) {
    match setting.kind.as_str() {
        "number" => ("1", "1000000000"),
        "number up to 67108864" => ("1", "67108864"),
        "dollars" => ("0.5", "2.5"),
        "true or false" => ("false", "true"),
        "duration" => ("\"1s\"", "\"9h\""),
        "string"
        | "string or list of strings"
        | "provider"
        | "provider type"
        | "program"
        | "path"
        | "name"
        | "phase" => ("\"a\"", "\"b\""),
        "URL" => ("\"https://a.example\"", "\"https://b.example\""),
        "variable" => ("\"A\"", "\"B\""),
        "list of tools" => ("[\"a__b\"]", "[\"a__b\", \"a__c\"]"),
        "list of strings"
        | "list of paths"
        | "list of names"
        | "list of patterns"
        | "list of variables"
        | "list of paths in the project" => ("[\"a\"]", "[\"b\"]"),
        "table of variable = string" => ("{ LANG = \"a\" }", "{ LANG = \"b\" }"),
        "table of name = string" => ("{ A = \"a\" }", "{ A = \"b\" }"),
        "table of phase = provider" => ("{ plan = \"a\" }", "{ plan = \"b\" }"),
        "table of phase = list of tools" => ("{ plan = [\"a__b\"] }", "{ plan = [\"a__b\", \"a__c\"] }"),
        "tables" => ("{ x = {} }", "{ x = { timeout = \"1s\" } }"),
        "gate" | "`manual`, `skip` or `ai:PROVIDER`" => ("\"manual\"", "\"skip\""),
        "`stdout`, `file` or `json:/pointer`" => ("\"stdout\"", "\"file\""),
        "`local-write`, `local-read`, `write-only` or `none`" => ("\"none\"", "\"local-write\""),
        "`search-replace`, `diff` or `files`" => ("\"diff\"", "\"files\""),
        "`warn` or `enforce`" => ("\"enforce\"", "\"warn\""),
        "`loopback`" => ("\"loopback\"", "\"loopback\""),
        "`ask` or `always`" => ("\"ask\"", "\"always\""),
        kind => panic!("no samples of {kind}"),
    }
}

struct Loaded {
    config: Config,
    problems: Vec<ConfigProblem>,
}

fn load(user: &str, project: &str) -> Loaded {
    let root = Path::new("/project");
    let (user, mut problems) = layer_reader::read(ConfigFile::User, root, user);
    let (project, more) = layer_reader::read(ConfigFile::Project, root, project);
    problems.extend(more);
    let (project, checkout) = checkout::confine(&user, project, root, &[]);
    Loaded { config: Config { checkout, ..Config::resolve([user, project], &Flags::default()) }, problems }
}

impl Loaded {
    /// Whether any value comes from that file.
    fn has_from(&self, wanted: ConfigFile) -> bool {
        let is_from = |origin: Origin| matches!(origin, Origin::File { file, .. } if file == wanted);
        self.config.entries().iter().any(|entry| is_from(entry.origin))
    }

    fn is_user_only(&self) -> bool {
        matches!(self.problems.as_slice(), [ConfigProblem { fault: ConfigFault::UsersOnly { .. }, .. }])
    }

    fn checkout(&self) -> &Checkout {
        assert_eq!(self.problems, []);
        &self.config.checkout
    }
}

#[test]
fn every_setting_is_documented() {
    for (table, setting) in every_setting() {
        assert!(
            setting.help.starts_with(|first: char| first.is_uppercase() || first == '`'),
            "{table} {setting:?}"
        );
        assert!(!setting.kind.is_empty(), "{table} {setting:?}");
    }
}

#[test]
fn every_setting_is_read_from_the_users_file() {
    for (table, setting) in every_setting() {
        let (tight, loose) = samples(setting);
        for value in [tight, loose] {
            let loaded = load(&file(table, setting.key, value), "");
            assert_eq!(loaded.problems, [], "{table} {}", setting.key);
            // A server is listed by its settings, so an empty one is not.
            let is_listed = loaded.has_from(ConfigFile::User) || value == "{ x = {} }";
            assert!(is_listed, "{table} {}", setting.key);
        }
    }
}

#[test]
fn a_wrong_value_of_any_setting_is_a_problem() {
    for (table, setting) in every_setting() {
        let loaded = load(&file(table, setting.key, "[[1]]"), "");
        let is_reported = |problem: &ConfigProblem| {
            matches!(problem.fault, ConfigFault::WrongValue { .. } | ConfigFault::NotATable { .. })
        };
        assert!(loaded.problems.iter().any(is_reported), "{table} {}: {:?}", setting.key, loaded.problems);
    }
}

#[test]
fn documented_defaults_are_in_force_by_default() {
    let entries = Config::resolve([], &Flags::default()).entries();
    for (table, setting) in every_setting() {
        let path = format!("{}.{}", table.trim_matches(['[', ']']), setting.key);
        let in_force = entries.iter().find(|entry| entry.key == path).map(|entry| entry.value.as_str());
        // Named roles follow `default`; a named table has no defaults before it exists.
        if (table == "[roles]" && setting.key != "default")
            || table.contains(['"'])
            || table.contains("NAME")
            || table.starts_with("[[")
        {
            continue;
        }
        assert_eq!(in_force.unwrap_or_default(), setting.default, "{path}");
    }
}

#[test]
fn every_setting_obeys_its_rule_in_a_project() {
    for (table, setting) in every_setting() {
        let (tight, loose) = samples(setting);
        let (tight, loose) = (file(table, setting.key, tight), file(table, setting.key, loose));
        let is_loosened = |user: &str, project: &str| !load(user, project).checkout().loosened.is_empty();
        let counts = |user: &str, project: &str| load(user, project).has_from(ConfigFile::Project);
        let name = format!("{table} {}", setting.key);
        let rules =
            if setting.project.is_empty() { Vec::new() } else { setting.project.split("; ").collect() };
        if rules.is_empty() && table != "[gates.\"PHASE.STAGE\"]" && !table.starts_with("[tools.grant") {
            for project in [&tight, &loose] {
                assert!(counts("", project) || setting.kind == "tables", "{name}");
                assert!(!is_loosened("", project), "{name}");
            }
        }
        for rule in &rules {
            match *rule {
                "not allowed" => {
                    assert!(load("", &tight).is_user_only() && load("", &loose).is_user_only(), "{name}");
                }
                "needs consent" if table.starts_with("[providers") => {
                    assert!(load("", &tight).checkout().providers.contains_key("x"), "{name}");
                    assert!(load(&tight, "").checkout().providers.is_empty(), "{name}");
                }
                "needs consent" if table == "[[checks]]" => {
                    let shown = |user: &str, project: &str| load(user, project).config.checks[0].shown();
                    let is_users =
                        |user: &str, project: &str| load(user, project).config.checks[0].is_users_own();
                    assert!(shown("", &tight).contains(setting.key), "{name}");
                    assert!(is_users(&tight, "") && !is_users("", &tight), "{name}");
                }
                "needs consent" => {
                    let is_users = |user: &str, project: &str| {
                        load(user, project)
                            .config
                            .mcp
                            .servers
                            .get("x")
                            .is_some_and(McpServerConfig::is_users_own)
                    };
                    let command = "[mcp.servers.x]\ncommand = \"a\"\n";
                    assert!(is_users(command, "") && !is_users(command, &tight), "{name}");
                }
                "raising it needs consent"
                | "anything looser than yours needs consent"
                | "writing where you allow none needs consent"
                | "undoing your `enforce` needs consent"
                | "adding to it needs consent" => {
                    assert!(is_loosened(&tight, &loose) && !counts(&tight, &loose), "{name}");
                    assert!(!is_loosened(&loose, &tight) && counts(&loose, &tight), "{name}");
                }
                "`true` needs consent" => {
                    assert!(is_loosened("", &loose) && !is_loosened("", &tight), "{name}");
                }
                "`false` needs consent" => {
                    assert!(is_loosened("", &tight) && !is_loosened("", &loose), "{name}");
                }
                "cannot undo your `false`" => {
                    assert!(!counts(&tight, &loose) && counts(&loose, &tight), "{name}");
                }
                "only inside the project" | "a name, not a path" => {
                    let outside = file(table, setting.key, "\"/elsewhere/a\"");
                    assert!(
                        load("", &outside).is_user_only() && load(&outside, "").problems.is_empty(),
                        "{name}"
                    );
                    assert!(!load("", &tight).is_user_only(), "{name}");
                }
                rule => panic!("no test of the rule `{rule}` of {name}"),
            }
        }
    }
}

#[test]
fn a_key_belongs_in_the_first_table_that_has_it() {
    assert_eq!(table_of_key("fs_ability"), Some("[defaults]"));
    assert_eq!(table_of_key("max_rounds"), Some("[change]"));
    assert_eq!(table_of_key("headers"), Some("[mcp.servers.NAME]"));
    // Parts of a single value, and user-defined names, are not settings of a table.
    for other in ["approver", "cached_input", "chat"] {
        assert_eq!(table_of_key(other), None, "{other}");
    }
}
