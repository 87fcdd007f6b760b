//! A directory, servers in it, and calls to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aiwf_tools::{
    CallOptions, Launch, Progress, ResultsDir, ServerSpec, Servers, ServersOptions, Tool, ToolResult,
    ToolsError,
};
use serde_json::{Map, Value};

/// Longer than a test may run: anything that waits this long hangs, on any machine.
pub(crate) const NEVER: Duration = Duration::from_mins(100);

pub(crate) struct Fixture {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) lines: Arc<Mutex<Vec<String>>>,
    pub(crate) start_timeout: Duration,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), lines: Arc::default(), start_timeout: NEVER }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The fake server in one of its modes.
    pub(crate) fn spec(&self, mode: &str, argument: &str) -> ServerSpec {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fake_server.sh");
        let args = [script.display().to_string(), mode.to_owned(), argument.to_owned()];
        let launch = Launch::Stdio {
            command: "sh".to_owned(),
            args: args.into(),
            env: BTreeMap::new(),
            cwd: self.directory.path().canonicalize().unwrap(),
        };
        ServerSpec { timeout: NEVER, ..ServerSpec::new("fake", launch) }
    }

    pub(crate) fn options(&self) -> ServersOptions {
        let lines = Arc::clone(&self.lines);
        ServersOptions {
            lookup: Arc::new(|name| match name {
                "PATH" => Some(search_path()),
                "HOME" => Some("/home/test".to_owned()),
                "TOKEN" => Some("secret".to_owned()),
                _ => None,
            }),
            is_trusted: Arc::new(|_| Ok(true)),
            log: Some(Arc::new(move |server, line| lines.lock().unwrap().push(format!("{server}: {line}")))),
            start_timeout: self.start_timeout,
        }
    }

    pub(crate) fn servers(&self, mode: &str, argument: &str) -> Servers {
        Servers::new([self.spec(mode, argument)], &self.options())
    }

    pub(crate) fn call(
        &self,
        servers: &Servers,
        tool: &Tool,
        arguments: Value,
    ) -> Result<ToolResult, ToolsError> {
        self.call_with(servers, tool, arguments, &|| false, &|_| ())
    }

    pub(crate) fn call_with(
        &self,
        servers: &Servers,
        tool: &Tool,
        arguments: Value,
        is_stopped: &(dyn Fn() -> bool + Sync),
        on_progress: &(dyn Fn(&Progress) + Sync),
    ) -> Result<ToolResult, ToolsError> {
        let options = CallOptions {
            timeout: None,
            max_result_bytes: 1024,
            results: ResultsDir { path: &self.path("results"), shown: "results" },
            is_stopped,
            on_progress,
        };
        servers.call(tool, &object(arguments), &options)
    }
}

#[expect(clippy::disallowed_methods, reason = "servers of tests are found where the tests' own programs are")]
fn search_path() -> String {
    std::env::var("PATH").unwrap()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("{value} is no object") };
    map
}

/// A tool of a server by its name.
pub(crate) fn tool(servers: &Servers, server: &str, name: &str) -> Tool {
    let listed = servers.tools(server, &|| false).unwrap();
    listed.tools.into_iter().find(|tool| tool.name == name).unwrap()
}

/// Whether a process is running and not a zombie.
pub(crate) fn is_running(process_id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process_id}/stat"))
        .is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z')))
}

/// Waits until something holds; a test that waits in vain is killed as a hang, which shows `what`.
#[expect(clippy::print_stdout, reason = "the runner shows it when the test fails")]
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    println!("waiting until {what}");
    while !holds() {
        std::thread::sleep(Duration::from_millis(25));
    }
}
