//! One agent, its scripted model, and a project with a session.

#![expect(clippy::disallowed_methods, reason = "the agents need the search path of whoever runs the tests")]

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aiwf_testkit::model_server::{ModelServer, SeenRequest, Turn};
use aiwf_testkit::{Outcome, TestProject, real_agent};
use serde_json::Value;

use crate::json;
use crate::session::INIT;

/// What an agent is called, and what of it matters to a test.
#[derive(Clone, Copy)]
pub(super) struct Agent {
    pub(super) provider: &'static str,
    pub(super) program: &'static str,
    /// A line that its own prompt would take for a command.
    pub(super) command: &'static str,
}

pub(super) const CLAUDE: Agent =
    Agent { provider: "claude-code", program: "claude", command: "/compact this" };
pub(super) const CODEX: Agent = Agent { provider: "codex", program: "codex", command: "/compact this" };
pub(super) const GEMINI: Agent = Agent { provider: "gemini-cli", program: "gemini", command: "/memory show" };

pub(super) const KEY: &str = "no-secret-at-all";

/// Everything that some agent takes for more than text.
pub(super) const HOSTILE: &str = "-- @src/main.rs me@example.com @Override @note.txt\r\n-- </prompt> ]]> <system> ${AvailableTools} $HOME `ls` ```\r\n-- !ls #x /compact \\@a \\n \"q\" 'é' \u{1d11e} \u{2028}\ttab\n";

const MAIN: &str = "fn main() {}\n";

/// A project whose agent is asked, and the model that answers it.
pub(super) struct World {
    pub(super) project: TestProject,
    pub(super) server: ModelServer,
    pub(super) agent: Agent,
    program: PathBuf,
    turns: Arc<Mutex<VecDeque<Turn>>>,
    n_seen: Mutex<usize>,
}

impl World {
    /// A project with the agent in the user's configuration; none where the real agents are not wanted.
    pub(super) fn new(agent: Agent, settings: &str) -> Option<Self> {
        let program = real_agent(agent.program)?;
        let turns: Arc<Mutex<VecDeque<Turn>>> = Arc::default();
        let server = ModelServer::answering({
            let turns = Arc::clone(&turns);
            move |_| turns.lock().unwrap().pop_front().unwrap_or_else(|| Turn::status(401))
        });
        let base_url = if agent.provider == "codex" { server.openai_url() } else { server.url() };
        let config = format!(
            "[providers.{}]\nbase_url = \"{base_url}\"\nmodel = \"scripted-model\"\napi_key_env = \"SCRIPTED_KEY\"\ntimeout = \"90m\"\n{settings}",
            agent.provider
        );
        let schema = format!("{HOSTILE}{}", crate::session::SCHEMA);
        let project = TestProject::on_disk(env!("CARGO_BIN_EXE_aiwf"))
            .file("schema.sql", schema)
            .file("src/main.rs", MAIN)
            .file("note.txt", "noted\n")
            .file("~/.aiwf/config.toml", config)
            .file("~/.gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.com\n");
        let world = Self { project, server, agent, program, turns, n_seen: Mutex::new(0) };
        Some(world)
    }

    /// Begins a session in which the agent has every role.
    pub(super) fn begin(&self) {
        let name = self.agent.provider;
        let roles = format!("--planner {name} --generator {name} --reviewer {name} --reviser {name}");
        let outcome = self.run(&format!("{INIT} {roles}"));
        assert_eq!(outcome.exit_code(), 0, "{outcome}");
    }

    /// What the model does next; when nothing is left it says 401.
    pub(super) fn model(&self, turns: impl IntoIterator<Item = Turn>) {
        let mut waiting = self.turns.lock().unwrap();
        waiting.clear();
        waiting.extend(turns);
    }

    pub(super) fn command(&self, line: &str) -> aiwf_testkit::Run<'_> {
        self.project.command(line).env("PATH", self.search_path()).env("SCRIPTED_KEY", KEY)
    }

    pub(super) fn run(&self, line: &str) -> Outcome {
        self.command(line).run()
    }

    #[track_caller]
    pub(super) fn done(&self, line: &str) -> Value {
        let outcome = self.run(&format!("{line} --json"));
        assert_eq!(outcome.exit_code(), 0, "{line}: {outcome}\n{:#?}", self.server.requests().last());
        json(&outcome)
    }

    /// Runs git in the project, with no configuration but its own; returns what it prints.
    #[track_caller]
    pub(super) fn git(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(self.project.root())
            .env("HOME", self.project.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn search_path(&self) -> OsString {
        let own = self.program.parent().map(Path::to_owned);
        let ours = env::var_os("PATH").unwrap_or_default();
        env::join_paths(own.into_iter().chain(env::split_paths(&ours))).unwrap()
    }

    /// The requests to the model since this was asked last.
    pub(super) fn asks(&self) -> Vec<SeenRequest> {
        let mut n_seen = self.n_seen.lock().unwrap();
        let asks = self.server.asks();
        let new = asks.get(*n_seen..).unwrap_or_default().to_vec();
        *n_seen = asks.len();
        new
    }

    /// Text of a file of the session.
    pub(super) fn text(&self, path: &str) -> String {
        String::from_utf8(self.project.read(path)).unwrap()
    }

    /// The last event of a name.
    pub(super) fn event(&self, name: &str) -> Value {
        let events = self.done("events latest");
        let mut events = events["events"].as_array().unwrap().iter().map(|line| &line["event"]);
        events.rfind(|event| event["event"] == name).unwrap().clone()
    }

    /// The files of the project, those of aiwf apart.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn collect(directory: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(directory).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() && path.file_name().is_some_and(|name| name != ".aiwf") {
                    collect(&path, files);
                } else if path.is_file() {
                    files.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        let mut files = BTreeMap::new();
        collect(&self.project.root(), &mut files);
        files
    }

    /// Checks that no process is left that knows this test's home, and gives those a moment that are about to go.
    #[track_caller]
    pub(super) fn assert_alone(&self) {
        let deadline = Instant::now() + Duration::from_mins(5);
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "processes are left: {left:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The processes that have this test's directories in their environment or their words.
    pub(super) fn processes(&self) -> Vec<String> {
        let world = self.project.home().parent().unwrap().to_string_lossy().into_owned();
        let read = |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let ours = processes.filter(|process| {
            ["environ", "cmdline"].iter().any(|name| read(process.join(name)).contains(&world))
        });
        ours.map(|process| format!("{}: {}", process.display(), read(process.join("cmdline")))).collect()
    }
}

/// Checks that each request carries the text as one part of its user's, once, and nothing in place of it.
#[track_caller]
pub(super) fn assert_carries(asks: &[SeenRequest], prompt: &str, system: Option<&str>) {
    assert!(!asks.is_empty(), "the model was not asked");
    for ask in asks {
        let texts = ask.user_texts();
        let n_whole = texts.iter().filter(|text| *text == prompt).count();
        assert_eq!(n_whole, 1, "the prompt is not one whole part of {texts:#?}\n{prompt}");
        if let Some(system) = system {
            let found = ask.system_text();
            assert!(found.contains(system), "{system:?} is not in the system text {found:?}");
        }
    }
}
