//! Each real agent completes a turn, and its tool call comes back: the server speaks what they expect.

#![expect(clippy::disallowed_methods, reason = "these tests start the agents, each in a home of its own")]

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aiwf_testkit::model_server::{ModelServer, SeenRequest, Turn};
use aiwf_testkit::real_agent;
use serde_json::{Value, json};
use tempfile::TempDir;

/// White space at both ends, another line ending, a control character, markup, more than one byte per character.
const PROMPT: &str = " \n<task>\r\n\tsay \u{1} hello to é and \u{1d11e}</task>\n\n ";

/// A home and a project for one run of an agent.
struct World {
    directory: TempDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a test needs a temporary directory");
        for name in ["home", "project"] {
            fs::create_dir(directory.path().join(name)).expect("a test needs its directories");
        }
        fs::write(directory.path().join("project/note.txt"), "noted\n").expect("a test writes its files");
        Self { directory }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join(relative)
    }

    /// Runs an agent in the project with the prompt on its standard input.
    fn run(&self, program: &Path, settings: &[(&str, &str)], words: &[&str]) -> Output {
        fs::write(self.path("prompt"), PROMPT).expect("a test writes its files");
        let output = Command::new(program)
            .args(words)
            .current_dir(self.path("project"))
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.directory.path())
            .envs(settings.iter().copied())
            .stdin(File::open(self.path("prompt")).expect("the prompt was written"))
            .output()
            .expect("the agent starts");
        assert!(output.status.success(), "{}: {output:#?}", program.display());
        output
    }
}

/// The model calls a tool, and answers when it has seen the result.
fn script(name: &str, args: Value) -> ModelServer {
    ModelServer::script_when(has_prompt, [Turn::tool_call(name, args), Turn::text("the answer is here")])
}

fn has_prompt(request: &SeenRequest) -> bool {
    request.user_texts().iter().any(|text| text == PROMPT)
}

#[track_caller]
fn check(server: &ModelServer, output: &Output, system: &str) {
    let asks: Vec<SeenRequest> = server.asks().into_iter().filter(has_prompt).collect();
    assert_eq!(asks.len(), 2, "{:#?}", server.requests());
    for request in &asks {
        assert!(request.system_text().contains(system), "{}", request.system_text());
    }
    let results = asks.last().map(SeenRequest::tool_results).unwrap_or_default();
    assert!(results.iter().any(|result| result.contains("noted")), "{results:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("the answer is here"), "{stdout}");
}

#[test]
fn codex_completes_a_turn() {
    let Some(program) = real_agent("codex") else { return };
    let server = script("exec_command", json!({"cmd": "cat note.txt"}));
    let world = World::new();
    let base_url = format!("model_providers.scripted.base_url={}", server.openai_url());
    let words = [
        "exec",
        "--json",
        "--ephemeral",
        "--skip-git-repo-check",
        "-s",
        "read-only",
        "-m",
        "scripted-model",
        "-c",
        "model_provider=scripted",
        "-c",
        "model_providers.scripted.name=scripted",
        "-c",
        &base_url,
        "-c",
        "model_providers.scripted.wire_api=responses",
        "-c",
        "model_providers.scripted.env_key=SCRIPTED_KEY",
        "-c",
        "developer_instructions='be short'",
        "-",
    ];
    let output = world.run(&program, &[("SCRIPTED_KEY", "no secret")], &words);
    check(&server, &output, "be short");
    let stdout = String::from_utf8_lossy(&output.stdout);
    // Two steps, each with the server's usage.
    assert!(stdout.contains(r#""input_tokens":296,"cached_input_tokens":80"#), "{stdout}");
}

#[test]
fn claude_completes_a_turn() {
    let Some(program) = real_agent("claude") else { return };
    let world = World::new();
    let server = script("Read", json!({"file_path": world.path("project/note.txt")}));
    let url = server.url();
    let settings = [("ANTHROPIC_BASE_URL", url.as_str()), ("ANTHROPIC_API_KEY", "no secret")];
    let words = [
        "-p",
        "--restricted",
        "--tools",
        "Read",
        "--permission-mode",
        "dontAsk",
        "--no-session-persistence",
        "--output-format",
        "json",
        "--model",
        "sonnet",
        "--system-prompt",
        "be short",
    ];
    let output = world.run(&program, &settings, &words);
    check(&server, &output, "be short");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains(r#""cache_read_input_tokens":80"#), "{stdout}");
}

#[test]
fn gemini_completes_a_turn() {
    let Some(program) = real_agent("gemini") else { return };
    let world = World::new();
    let server = script("read_file", json!({"file_path": world.path("project/note.txt")}));
    // Without this file a base URL makes it look for another way to log in.
    fs::create_dir(world.path("home/.gemini")).expect("a test needs its directories");
    let own_settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}}).to_string();
    fs::write(world.path("home/.gemini/settings.json"), own_settings).expect("a test writes its files");
    fs::write(world.path("system.md"), "be short").expect("a test writes its files");
    let (url, system) = (server.url(), world.path("system.md").display().to_string());
    let settings = [
        ("GOOGLE_GEMINI_BASE_URL", url.as_str()),
        ("GEMINI_API_KEY", "no secret"),
        ("GEMINI_SYSTEM_MD", system.as_str()),
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ];
    let output = world.run(&program, &settings, &["-m", "scripted-model", "--skip-trust", "-o", "json"]);
    check(&server, &output, "be short");
}
