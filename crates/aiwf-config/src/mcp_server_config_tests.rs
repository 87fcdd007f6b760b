use std::path::Path;

use insta::assert_snapshot;

use crate::config::Config;
use crate::error::ConfigError;
use crate::flags::Flags;
use crate::layer_reader;
use crate::origin::{ConfigFile, Origin};

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
    let error = ConfigError::invalid(problems);
    Err(error.with_hint())
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

#[test]
fn servers_and_tools_are_read_with_their_origins() {
    assert_snapshot!(shown("[mcp]\nallow_unknown = true\n[tools]\nmax_rounds = 5\n", r#"
[mcp.servers.files]
command = "npx"
args = ["-y", "server", "."]
env = { TOKEN = "${TOKEN}" }
cwd = "sub"
timeout = "90s"
read_only = ["read_file"]
[mcp.servers.web]
url = "https://tools.example/mcp/"
headers = { Authorization = "Bearer ${KEY}", X-Team = "a" }
[tools]
enabled = true
max_result_bytes = 1000
timeout = "30s"
[tools.grant]
planning = ["files__read_file"]
reply = []
"#), @r#"
    mcp.allow_unknown = true (~/.aiwf/config.toml:2)
    mcp.servers.files.args = ["-y", "server", "."] (.aiwf/config.toml:4)
    mcp.servers.files.command = npx (.aiwf/config.toml:3)
    mcp.servers.files.cwd = /base/sub (.aiwf/config.toml:6)
    mcp.servers.files.env.TOKEN = ${TOKEN} (.aiwf/config.toml:5)
    mcp.servers.files.read_only = ["read_file"] (.aiwf/config.toml:8)
    mcp.servers.files.timeout = 90000ms (.aiwf/config.toml:7)
    mcp.servers.web.headers.Authorization = Bearer ${KEY} (.aiwf/config.toml:11)
    mcp.servers.web.headers.X-Team = a (.aiwf/config.toml:11)
    mcp.servers.web.url = https://tools.example/mcp/ (.aiwf/config.toml:10)
    tools.enabled = true (.aiwf/config.toml:13)
    tools.grant.planning = ["files__read_file"] (.aiwf/config.toml:17)
    tools.grant.reply = [] (.aiwf/config.toml:18)
    tools.max_result_bytes = 1000 (.aiwf/config.toml:14)
    tools.max_rounds = 5 (~/.aiwf/config.toml:4)
    tools.timeout = 30000ms (.aiwf/config.toml:15)
    "#);
}

#[test]
fn a_checkout_cannot_trust_itself() {
    assert_snapshot!(shown("", "[mcp]\nallow_unknown = true"), @"
    error: `mcp.allow_unknown` can only be set in your own configuration
     --> .aiwf/config.toml:2:1
    hint: move the line to `~/.aiwf/config.toml`
    ");
}

#[test]
fn a_checkout_cannot_enable_what_the_user_disabled() {
    let enabled = |user: &str, project: &str| resolve(user, project).unwrap().tools.enabled.value;
    assert!(enabled("", ""));
    assert!(!enabled("[tools]\nenabled = false", "[tools]\nenabled = true"));
    assert!(!enabled("[tools]\nenabled = true", "[tools]\nenabled = false"));
    assert!(enabled("[tools]\nenabled = true", ""));
}

#[test]
fn a_server_is_the_users_own_only_if_no_other_file_determines_what_runs() {
    let is_own = |user: &str, project: &str| {
        resolve(user, project).unwrap().mcp.servers.get("a").unwrap().is_users_own()
    };
    let users = "[mcp.servers.a]\ncommand = \"x\"\nenv = { A = \"1\" }";
    assert!(is_own(users, ""));
    assert!(is_own(users, "[mcp.servers.a]\ntimeout = \"1s\"\nread_only = [\"t\"]"));
    assert!(!is_own(users, "[mcp.servers.a]\nargs = [\"--all\"]"));
    assert!(!is_own(users, "[mcp.servers.a]\nenv = { B = \"${SECRET}\" }"));
    assert!(!is_own("", users));
    assert!(!is_own("[mcp.servers.a]\ntimeout = \"1s\"", ""));
    // In that case `.mcp.json` determines what runs.
    assert!(!is_own("[mcp.servers.a]\nenv = { A = \"1\" }", ""));
    assert!(!is_own("[mcp.servers.a]\nargs = [\"1\"]", ""));
}

#[test]
fn a_file_that_sets_how_a_server_is_reached_replaces_all_of_it() {
    let users = "[mcp.servers.a]\ncommand = \"x\"\nargs = [\"1\"]\nenv = { A = \"1\" }\ntimeout = \"9s\"";
    assert_snapshot!(shown(users, "[mcp.servers.a]\nurl = \"http://localhost/mcp\""), @r"
    mcp.servers.a.timeout = 9000ms (~/.aiwf/config.toml:5)
    mcp.servers.a.url = http://localhost/mcp (.aiwf/config.toml:2)
    ");
}

#[test]
fn problems_are_reported_with_their_position() {
    assert_snapshot!(shown("", "[mcp.servers.a__b]\ncommand = \"x\""), @"
    error: `a__b` is not a valid server name
     --> .aiwf/config.toml:1:14
    hint: a server name is 1 to 32 letters, digits, `-` or single `_` inside
    ");
    assert_snapshot!(shown("", "[mcp.servers.a]\ncommand = \"x\"\nurl = \"http://y\""), @r"
    error: `mcp.servers.a` has both `command` and `url`
     --> .aiwf/config.toml:1:14
    hint: keep `command` for a program, or `url` for an address
    ");
    assert_snapshot!(shown("", "[mcp.servers.a]\ncomand = \"x\""), @r"
    error: unknown key `comand` in `[mcp.servers.a]`
     --> .aiwf/config.toml:2:1
    hint: did you mean `command`? known: `command`, `args`, `env`, `cwd`, `url`, `headers`, `timeout`, `read_only`
    ");
    assert_snapshot!(shown("", "[mcp.servers.a]\nargs = \"x\"\nheaders = { \"a b\" = \"x\" }\nenv = { A = 1 }"), @r#"
    error: configuration has 3 problems
      .aiwf/config.toml:2:8: `mcp.servers.a.args` is `"x"`, not a list of strings, such as `["a", "b"]`
      .aiwf/config.toml:3:13: `mcp.servers.a.headers."a b"` is not a valid header name
      .aiwf/config.toml:4:13: `mcp.servers.a.env.A` is `1`, not a string on one line
    hint: start with the first: fix the value, or remove the line
    "#);
    assert_snapshot!(shown("", "[tools.grant]\nplaning = []"), @"
    error: unknown key `planing` in `[tools.grant]`
     --> .aiwf/config.toml:2:1
    hint: did you mean `planning`? known: `planning`, `generating`, `reviewing`, `revising`, `plan`, `challenge`, `implement`, `review`, `archive`, `reply`, `workflow`, `agent`, `chat`
    ");
    assert_snapshot!(shown("", "[tools.grant]\nplanning = [\"files\"]"), @"
    error: `tools.grant.planning` names `files`, which is not a full tool name
     --> .aiwf/config.toml:2:12
    hint: tools are named `SERVER__TOOL`; <ListTools> lists them
    ");
    assert_snapshot!(shown("", "[tools]\nmax_rounds = 0"), @"
    error: `tools.max_rounds` is `0`, not a whole number from 1 to 4294967295
     --> .aiwf/config.toml:2:14
    hint: fix the value, or remove the line
    ");
}
