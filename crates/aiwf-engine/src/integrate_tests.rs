#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs;

use aiwf_config::{Environment, Settings};

use super::*;

struct World {
    directory: tempfile::TempDir,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        let (root, home) = (path.join("project"), path.join("home"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&home).unwrap();
        let environment =
            Environment { current_dir: root.clone(), home: Some(home), ..Environment::default() };
        let engine = Engine::new(Settings::resolve(Some(&root), environment).unwrap());
        Self { directory, engine }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn run(&self, agent: &str, removes: bool) -> Vec<(String, IntegrationEffect)> {
        let plan = self.engine.plan_integration(agent, None, removes).unwrap();
        self.engine.write_integration(&plan).unwrap();
        plan.files.into_iter().map(|file| (file.path, file.effect)).collect()
    }
}

#[test]
fn every_agent_is_integrated_and_taken_back_without_a_trace() {
    for agent in ["claude", "codex", "gemini"] {
        let world = World::new();
        let added = world.run(agent, false);
        assert!(added.iter().all(|(_, effect)| *effect == IntegrationEffect::Created), "{added:?}");
        let again = world.engine.plan_integration(agent, None, false).unwrap();
        assert!(!again.has_changes(), "{again:?}");
        let removed = world.run(agent, true);
        assert!(removed.iter().all(|(_, effect)| *effect == IntegrationEffect::Removed), "{removed:?}");
        assert_eq!(fs::read_dir(world.path("project")).unwrap().count(), 0, "{agent}");
        let left: Vec<_> =
            fs::read_dir(world.path("home")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".aiwf"], "{agent}");
    }
}

#[test]
fn files_that_were_there_are_the_same_bytes_again() {
    let world = World::new();
    let json = "{ // mine\n\t\"mcpServers\" : { },\n\t\"b\": {\"ü\": [1]}, \"a\":2 }\r\n\n";
    let toml = "# mine\nmodel = 'x'\n[mcp_servers]\n# the end";
    world.write("project/.mcp.json", json);
    world.write("project/.gemini/settings.json", "{}");
    world.write("home/.codex/config.toml", toml);
    for agent in ["claude", "gemini", "codex"] {
        world.run(agent, false);
    }
    assert!(world.read("project/.mcp.json").contains("\"aiwf\""));
    for agent in ["codex", "claude", "gemini"] {
        world.run(agent, true);
    }
    assert_eq!(world.read("project/.mcp.json"), json);
    assert_eq!(world.read("project/.gemini/settings.json"), "{}");
    assert_eq!(world.read("home/.codex/config.toml"), toml);
}

#[test]
fn from_a_file_that_changed_since_only_our_entry_is_taken() {
    let world = World::new();
    world.run("claude", false);
    let with_more = world.read("project/.mcp.json").replacen("{\n", "{\n  \"more\": true,\n", 1);
    world.write("project/.mcp.json", with_more);
    world.write("project/.claude/commands/aiwf.md", "mine now");
    let removed = world.run("claude", true);
    assert_eq!(
        removed,
        [
            (".mcp.json".to_owned(), IntegrationEffect::Changed),
            (".claude/commands/aiwf.md".to_owned(), IntegrationEffect::Kept)
        ]
    );
    assert_eq!(world.read("project/.mcp.json").split_whitespace().collect::<String>(), "{\"more\":true}");
    assert_eq!(world.read("project/.claude/commands/aiwf.md"), "mine now");
}

#[test]
fn without_a_record_our_entry_is_still_found() {
    let world = World::new();
    world.write("project/.mcp.json", "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}\n");
    world.run("claude", false);
    fs::remove_dir_all(world.path("home/.aiwf")).unwrap();
    world.run("claude", true);
    assert_eq!(
        world.read("project/.mcp.json").split_whitespace().collect::<String>(),
        "{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}"
    );
    assert!(!world.path("project/.claude/commands/aiwf.md").exists());
}

#[test]
fn a_record_that_does_not_fit_removes_nothing() {
    let world = World::new();
    world.write("project/.mcp.json", "{}\n");
    world.run("claude", false);
    let path = "home/.aiwf/state/integrations.json";
    let record = world.read(path).replace("\"offset\": 1", "\"offset\": 99999");
    world.write(path, record);
    let text = world.read("project/.mcp.json");
    world.run("claude", true);
    assert!(world.path("project/.mcp.json").exists() && !text.is_empty());
}

#[test]
fn what_is_not_ours_is_neither_overwritten_nor_removed() {
    let world = World::new();
    world.write("project/.claude/commands/aiwf.md", "mine");
    let error = world.engine.plan_integration("claude", None, false).unwrap_err();
    assert!(
        matches!(&error, IntegrateError::Exists { path } if path == ".claude/commands/aiwf.md"),
        "{error}"
    );
    world.write("project/.gemini/settings.json", "{\"mcpServers\": {\"aiwf\": {\"command\": \"docker\"}}}");
    let error = world.engine.plan_integration("gemini", None, false).unwrap_err();
    assert!(matches!(&error, IntegrateError::EntryExists { found, .. } if found == "docker"), "{error}");
    let removed = world.run("gemini", true);
    assert_eq!(removed[0].1, IntegrationEffect::Kept);
    world.write("home/.codex/config.toml", "model = ");
    let error = world.engine.plan_integration("codex", None, false).unwrap_err();
    assert!(matches!(error, IntegrateError::Unparsable { .. }), "{error}");
}

#[test]
fn a_file_that_changes_after_it_was_shown_is_refused() {
    let world = World::new();
    world.write("project/.mcp.json", "{}\n");
    let plan = world.engine.plan_integration("claude", None, false).unwrap();
    world.write("project/.mcp.json", "{\"a\": 1}\n");
    let error = world.engine.write_integration(&plan).unwrap_err();
    assert!(matches!(error, IntegrateError::Unwritable { .. }), "{error}");
    assert_eq!(world.read("project/.mcp.json"), "{\"a\": 1}\n");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_of_the_project() {
    let world = World::new();
    world.write("home/secret.json", "{}");
    std::os::unix::fs::symlink(world.path("home/secret.json"), world.path("project/.mcp.json")).unwrap();
    let error = world.engine.plan_integration("claude", None, false).unwrap_err();
    assert!(matches!(error, IntegrateError::Unwritable { .. }), "{error}");
    fs::create_dir_all(world.path("outside")).unwrap();
    std::os::unix::fs::symlink(world.path("outside"), world.path("project/.gemini")).unwrap();
    let error = world.engine.plan_integration("gemini", None, false).unwrap_err();
    assert!(matches!(error, IntegrateError::Unwritable { .. }), "{error}");
}

#[test]
fn unknown_agents_and_scopes_are_refused() {
    let world = World::new();
    let refused = |agent: &str, scope| world.engine.plan_integration(agent, scope, false).unwrap_err();
    assert!(matches!(refused("cluade", None), IntegrateError::UnknownAgent { .. }));
    assert!(matches!(refused("codex", Some(IntegrationScope::Project)), IntegrateError::NoScope { .. }));
}

#[test]
fn the_user_scope_writes_to_the_home() {
    let world = World::new();
    world.write("home/.claude.json", "{\"numStartups\": 3}\n");
    let plan = world.engine.plan_integration("claude", Some(IntegrationScope::User), false).unwrap();
    let paths: Vec<&str> = plan.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["~/.claude.json", "~/.claude/commands/aiwf.md"]);
    world.engine.write_integration(&plan).unwrap();
    assert!(world.read("home/.claude.json").contains("\"numStartups\": 3"));
    assert!(world.read("home/.claude.json").contains("\"type\": \"stdio\""));
}
