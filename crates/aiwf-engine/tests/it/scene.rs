//! A project and a home of one test, and an engine that works in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use aiwf_engine::config::{Environment, Flags, Settings};
use aiwf_engine::provider::Ask;
use aiwf_engine::{ApproveOptions, Decided, Engine, SessionError, SessionReport};
use aiwf_testkit::TestProject;
use serde_json::{Map, Value, json};

use crate::fake_provider::{FakeProvider, MODEL};

pub(crate) const REVIEW_PASS: &str =
    "@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";

/// The user's configuration.
pub(crate) const CONFIG: &str = "~/.aiwf/config.toml";

pub(crate) struct Scene {
    /// The directories; no program is run in them.
    pub(crate) project: TestProject,
    pub(crate) engine: Engine,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let project = TestProject::new("").dir(".aiwf");
        let engine = engine_of(&project.root(), &project.home());
        Self { project, engine }
    }

    /// A project of a user with this configuration.
    pub(crate) fn configured(config: &str) -> Self {
        Self::new().file(CONFIG, config)
    }

    /// A project whose every role is a provider that calls tools by its own means, as model APIs do.
    pub(crate) fn of_model(model: &FakeProvider, more: &str) -> Self {
        Self::configured(&format!("{ROLES}{}{more}", model_table("model")))
            .with_provider("model", model.clone())
    }

    /// A project whose every role is a provider that is asked for text.
    pub(crate) fn of_agent(agent: &FakeProvider, more: &str) -> Self {
        Self::configured(&format!("{ROLES}{more}")).with_provider("model", agent.clone())
    }

    /// An engine that has only what is configured, as another process would.
    pub(crate) fn fresh_engine(&self) -> Engine {
        engine_of(&self.root(), &self.home())
    }

    /// The same project in the hands of another user.
    pub(crate) fn other_user(&self) -> Engine {
        let home = self.other_home();
        self.project.write(&home.join("here").display().to_string(), "");
        engine_of(&self.root(), &home)
    }

    pub(crate) fn other_home(&self) -> PathBuf {
        self.world().join("other")
    }

    /// The directory of the project and of every home.
    pub(crate) fn world(&self) -> PathBuf {
        self.root().parent().unwrap().to_owned()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.project.root()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.project.home()
    }

    /// The same with a provider that the test brings.
    pub(crate) fn with_provider(mut self, name: &str, provider: impl Ask + Send + Sync + 'static) -> Self {
        self.engine = self.engine.with_provider(name, provider);
        self
    }

    /// The same, and its user agrees to every server that is started.
    pub(crate) fn agreeing(mut self) -> Self {
        self.engine = self.engine.agreeing_to_servers(|_, _| ());
        self
    }

    /// Writes a file of the project, of the home (`~/`), or one that an absolute path names.
    pub(crate) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.write(path, text);
        self
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        self.project.write(path, text);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(self.project.read(path)).unwrap()
    }

    /// Creates a session of the profile `react-component`.
    pub(crate) fn create(&self) -> Result<String, SessionError> {
        let flags = Flags::default();
        let new = self.engine.new_session("react-component", given(), &flags)?;
        Ok(self.engine.create_session(new)?.id)
    }

    /// Approves the prompt, gives the reply, and shows how the session stands before the reply is approved.
    #[track_caller]
    pub(crate) fn reply(&self, reply: &str) -> SessionReport {
        self.approve();
        self.engine.respond(None::<&str>, reply, None).unwrap().report
    }

    #[track_caller]
    pub(crate) fn approve(&self) -> Decided {
        self.engine.approve(None::<&str>, &ApproveOptions::default()).unwrap()
    }

    /// The prompt that the only session waits with.
    #[track_caller]
    pub(crate) fn prompt(&self) -> String {
        self.engine.preview_session(None::<&str>).unwrap().prompt
    }
}

const ROLES: &str = "[roles]\ndefault = \"model\"\n";

/// A table for a provider that calls tools by its own means.
pub(crate) fn model_table(name: &str) -> String {
    format!("[providers.{name}]\ntype = \"openai\"\nmodel = \"{MODEL}\"\n")
}

pub(crate) fn engine_of(root: &Path, home: &Path) -> Engine {
    let environment = Environment {
        current_dir: root.to_owned(),
        home: Some(home.to_owned()),
        cache_home: Some(home.join("cache")),
        ..Environment::default()
    };
    Engine::new(Settings::resolve(Some(root), environment).unwrap())
}

/// Every file below a directory, with its bytes; what the engine remembers of the user's own ledgers apart.
pub(crate) fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.ends_with(".aiwf/state") {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                waiting.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

fn given() -> Map<String, Value> {
    let Value::Object(given) = json!({ "component": "Button" }) else { unreachable!() };
    given
}
