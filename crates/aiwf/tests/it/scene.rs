//! A project whose sessions ask providers: model APIs on the loopback interface, or scripts.

use std::time::Duration;

use aiwf_testkit::{ModelServer, Outcome, Run, TestProject};
use serde_json::Value;

use crate::session::{CODE, INIT, PLAN, REVISED, SCHEMA, review};
use crate::{json, project};

/// The key that is in the environment of every run; it must be seen nowhere but in a header.
pub(crate) const KEY: &str = "sk-test-1234567890";
/// The model that the configurations name.
pub(crate) const MODEL: &str = "scripted-model";

/// A project, and the environment its runs see.
pub(crate) struct Scene {
    pub(crate) project: TestProject,
}

impl Scene {
    /// A project of a user with this configuration.
    pub(crate) fn new(config: &str) -> Self {
        let project = project().file("schema.sql", SCHEMA).dir(".aiwf");
        Self { project: project.file("~/.aiwf/config.toml", config) }
    }

    /// A project that somebody else made, with this configuration in it.
    pub(crate) fn checkout(config: &str) -> Self {
        Self { project: project().file("schema.sql", SCHEMA).file(".aiwf/config.toml", config) }
    }

    /// A project whose every role is one model API.
    pub(crate) fn of_api(kind: &str, server: &ModelServer, more: &str) -> Self {
        Self::new(&format!("[roles]\ndefault = \"model\"\n{}{more}", api_table("model", kind, server)))
    }

    pub(crate) fn command(&self, line: &str) -> Run<'_> {
        self.project.command(line).env("MODEL_KEY", KEY).env("PATH", "/usr/local/bin:/usr/bin:/bin")
    }

    pub(crate) fn run(&self, line: &str) -> Outcome {
        self.command(line).run()
    }

    /// Runs a line that must end with this exit code.
    #[track_caller]
    pub(crate) fn exits(&self, line: &str, code: i32) -> Outcome {
        let outcome = self.run(line);
        assert_eq!(outcome.exit_code(), code, "{line}\n{outcome}");
        outcome
    }

    /// Runs a line with `--json` that must succeed.
    #[track_caller]
    pub(crate) fn done(&self, line: &str) -> Value {
        self.answers(line, 0)
    }

    /// Runs a line with `--json` that must end with this exit code.
    #[track_caller]
    pub(crate) fn answers(&self, line: &str, code: i32) -> Value {
        json(&self.exits(&format!("{line} --json"), code))
    }

    /// Begins a session that must begin, and gives its report.
    #[track_caller]
    pub(crate) fn init(&self, flags: &str) -> Value {
        self.done(&format!("{INIT} {flags}"))
    }

    /// The events of the only session, whole.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        let events = self.done("events latest");
        events["events"].as_array().unwrap().iter().map(|line| line["event"].clone()).collect()
    }

    #[track_caller]
    pub(crate) fn event_names(&self) -> Vec<String> {
        self.events().iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect()
    }

    /// The last event with a name.
    #[track_caller]
    pub(crate) fn event(&self, name: &str) -> Value {
        let events = self.events();
        let found = events.iter().rev().find(|event| event["event"] == name).cloned();
        assert!(found.is_some(), "no `{name}` in {events:#?}");
        found.unwrap()
    }

    /// The directory of the only session, relative to the project.
    pub(crate) fn session_dir(&self) -> String {
        let names = self.project.names_in(".aiwf/sessions");
        let id = names.iter().find(|name| !name.starts_with('.')).unwrap();
        format!(".aiwf/sessions/{id}")
    }

    /// A file of the only session.
    #[track_caller]
    pub(crate) fn text(&self, relative: &str) -> String {
        String::from_utf8(self.project.read(&format!("{}/{relative}", self.session_dir()))).unwrap()
    }

    /// The names of the files of an iteration.
    pub(crate) fn names(&self, relative: &str) -> Vec<String> {
        self.project.names_in(&format!("{}/{relative}", self.session_dir()))
    }

    /// An outcome without what differs from run to run.
    pub(crate) fn shown(&self, outcome: &Outcome) -> String {
        let id = self.session_dir().rsplit('/').next().unwrap_or_default().to_owned();
        plain(&outcome.to_string().replace(&id, "[id]"))
    }
}

/// A table for a provider behind a server.
pub(crate) fn api_table(name: &str, kind: &str, server: &ModelServer) -> String {
    let url = if kind == "openai" { server.openai_url() } else { server.url() };
    format!(
        "[providers.{name}]\ntype = \"{kind}\"\nbase_url = \"{url}\"\nmodel = \"{MODEL}\"\napi_key_env = \"MODEL_KEY\"\n"
    )
}

/// The replies of a session that revises once.
pub(crate) fn replies() -> Vec<String> {
    vec![PLAN.to_owned(), CODE.to_owned(), review("FAIL", 1), REVISED.to_owned(), review("PASS", 0)]
}

/// Text without ports and hashes, which differ from run to run.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("127.0.0.1:") {
        let (before, after) = rest.split_at(start + "127.0.0.1:".len());
        plain.push_str(before);
        plain.push_str("[port]");
        rest = after.trim_start_matches(|character: char| character.is_ascii_digit());
    }
    plain + rest
}

/// Waits until something holds; a test that waits in vain is ended as a hang, which shows `what`.
#[expect(clippy::print_stdout, reason = "the runner shows it when the test fails")]
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    println!("waiting for {what}");
    while !holds() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process with this id is there.
pub(crate) fn is_there(id: &str) -> bool {
    // A process that ended and was not waited for is a zombie: nothing of it runs.
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}
