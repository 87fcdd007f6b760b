//! What the real agents write when they may write to the directory they work in: `cargo xtask test agents`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use aiwf_provider::{BaseUrl, KeySource, Permission, ProviderSetting, Request, Secret, Stop, open};
use aiwf_testkit::model_server::{ModelServer, Piece, SeenRequest, Turn};
use aiwf_testkit::real_agent;
use serde_json::json;

use crate::fake_agent::{Kept, prompt};

const KEY: &str = "no-secret-at-all";

/// Where an agent works, and what is around it. Not below `/tmp`, which agents know and treat in their own way.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for directory in ["home", "project/src", "worktree/src", "worktree/.git/hooks"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        for directory in ["project", "worktree"] {
            fs::write(root.path().join(directory).join("src/main.rs"), "fn main() {}\n").unwrap();
        }
        symlink(root.path().join("project/src"), root.path().join("worktree/link")).unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }
}

/// Writes a file by the agent's own tool, or by its shell where it has no other.
fn write(provider: &str, path: &Path) -> Piece {
    let path = path.display().to_string();
    let (name, args) = match provider {
        "claude-code" => ("Write", json!({ "file_path": path, "content": "written\n" })),
        "gemini-cli" => ("write_file", json!({ "file_path": path, "content": "written\n" })),
        _ => ("exec_command", json!({ "cmd": format!("echo written > '{path}'") })),
    };
    Piece::ToolCall { name: name.to_owned(), args }
}

/// Lets an agent write inside of its directory, beside it, into the project, and where everybody's files are.
fn writes_only_its_directory(provider: &str, program: &str) {
    let Some(program) = real_agent(program) else { return };
    let world = World::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = [
        world.path("project/src/stray.rs"),
        world.path("project/src/main.rs"),
        world.path("beside.txt"),
        world.path("worktree/../dots.txt"),
        world.path("worktree/link/through.rs"),
        world.path("worktree/.git/hooks/post-commit"),
        world.path("home/.profile"),
        elsewhere.path().join("tmp.txt"),
    ];
    let inside = world.path("worktree/src/new.rs");
    let attempts = outside.iter().map(|path| Turn::Pieces(vec![write(provider, path)]));
    let turns = std::iter::once(Turn::Pieces(vec![write(provider, &inside)]))
        .chain(attempts)
        .chain([Turn::text("All is written.")]);
    let server = ModelServer::script(turns);
    let mut setting = ProviderSetting::new(provider, provider);
    let url = if provider == "codex" { server.openai_url() } else { server.url() };
    setting.base_url = Some(BaseUrl { url, is_users: true });
    setting.model = Some("scripted-model".to_owned());
    setting.key = KeySource::Variable { name: "SCRIPTED_KEY".to_owned(), value: Some(Secret::new(KEY)) };
    setting.program = Some(program);
    setting.env.insert("HOME".to_owned(), world.path("home").display().to_string());
    setting.timeouts.total = std::time::Duration::from_mins(90);
    let stop = Stop::default();
    let request = Request {
        name: "implement-1",
        payload: &prompt("Write it."),
        directory: &world.path("worktree"),
        response_path: None,
        permission: Permission::WriteDirectory,
        stop: &stop,
    };
    let mut kept = Kept::default();
    let asked = open(setting).unwrap().ask(&request, &mut kept);
    let results = server.asks().last().map(SeenRequest::tool_results).unwrap_or_default();
    asked.unwrap_or_else(|error| panic!("{error}: {results:#?}"));
    assert_eq!(kept.text, "All is written.");
    assert_eq!(fs::read_to_string(&inside).unwrap(), "written\n", "{results:#?}");
    for path in outside {
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(!found.contains("written"), "{}: {results:#?}", path.display());
    }
}

#[test]
fn claude_code_writes_only_its_directory() {
    writes_only_its_directory("claude-code", "claude");
}

#[test]
fn codex_writes_only_its_directory() {
    writes_only_its_directory("codex", "codex");
}

#[test]
fn gemini_cli_writes_only_its_directory() {
    writes_only_its_directory("gemini-cli", "gemini");
}
