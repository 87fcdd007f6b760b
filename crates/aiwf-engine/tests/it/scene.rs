//! A project in a directory of its own, and an engine that works in it.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use aiwf_engine::config::{Environment, Flags, Settings};
use aiwf_engine::provider::{Answer, Ask, AskError, Check, PayloadMessage, Reply, Request, Sink};
use aiwf_engine::{ApproveOptions, Decided, Engine, SessionError, SessionReport};
use serde_json::{Map, Value, json};

pub(crate) const REVIEW_PASS: &str =
    "@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";

pub(crate) struct Scene {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) engine: Engine,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (root, home) = (directory.path().join("project"), directory.path().join("home"));
        fs::create_dir_all(root.join(".aiwf")).unwrap();
        fs::create_dir_all(&home).unwrap();
        let engine = engine_of(&root, &home);
        Self { directory, engine }
    }

    /// The same project in the hands of another user.
    pub(crate) fn other_user(&self) -> Engine {
        let home = self.other_home();
        fs::create_dir_all(&home).unwrap();
        engine_of(&self.root(), &home)
    }

    pub(crate) fn other_home(&self) -> PathBuf {
        self.directory.path().join("other")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The same with a provider that the test brings.
    pub(crate) fn with_provider(mut self, name: &str, provider: impl Ask + Send + Sync + 'static) -> Self {
        self.engine = self.engine.with_provider(name, provider);
        self
    }

    /// Writes a file of the project, or one that an absolute path names.
    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
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

fn engine_of(root: &Path, home: &Path) -> Engine {
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

/// A model that answers what it was told to, one reply after the other, and remembers what it was asked.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedModel {
    replies: Arc<Mutex<VecDeque<String>>>,
    prompts: Arc<Mutex<Vec<String>>>,
}

impl ScriptedModel {
    pub(crate) fn new<'a>(replies: impl IntoIterator<Item = &'a str>) -> Self {
        let replies = replies.into_iter().map(str::to_owned).collect();
        Self { replies: Arc::new(Mutex::new(replies)), prompts: Arc::default() }
    }

    /// What it was asked so far.
    pub(crate) fn prompts(&self) -> Vec<String> {
        self.prompts.lock().unwrap().clone()
    }
}

impl Ask for ScriptedModel {
    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        let system = request.payload.system_text().unwrap_or_default();
        let texts: Vec<String> = request.payload.messages.iter().map(PayloadMessage::text).collect();
        self.prompts.lock().unwrap().push(format!("{system}{}", texts.concat()));
        match self.replies.lock().unwrap().pop_front() {
            Some(reply) => {
                sink.text(&reply).unwrap();
                Ok(Answer::Reply(Reply::default()))
            }
            None => Err(AskError::Stopped { provider: "model".to_owned() }),
        }
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}
