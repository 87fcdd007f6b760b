//! A program that stands for an agent: a shell script that prints what the real one would.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use aiwf_prompt::Role;
use aiwf_provider::{
    Answer, AskError, Payload, PayloadMessage, Permission, Progress, ProviderSetting, Reply, Request, Sink,
    Stop, open,
};

/// A sink that keeps everything.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) text: String,
    pub(crate) raw: Vec<u8>,
    pub(crate) n_bytes: u64,
    pub(crate) n_restarts: usize,
}

impl Sink for Kept {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.text.push_str(text);
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.text.clear();
        self.n_restarts += 1;
        Ok(())
    }

    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.raw.extend_from_slice(bytes);
        Ok(())
    }

    fn progress(&mut self, progress: Progress) {
        if let Progress::Bytes(n_bytes) = progress {
            self.n_bytes = n_bytes;
        }
    }
}

/// A script in a directory of its own, which is also the project.
pub(crate) struct FakeAgent {
    dir: tempfile::TempDir,
    pub(crate) setting: ProviderSetting,
    pub(crate) payload: Payload,
    pub(crate) permission: Permission,
    pub(crate) response_path: Option<PathBuf>,
    /// Where it works; in its own directory when not given.
    pub(crate) works_in: Option<PathBuf>,
    pub(crate) stop: Stop,
}

impl FakeAgent {
    /// An agent of a kind that does what a script says; `$FAKE_DIR` is its directory.
    pub(crate) fn new(kind: &str, script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let script_path = dir.path().join("script.sh");
        fs::write(&script_path, format!("echo $$ > \"$FAKE_DIR/pid\"\n{script}")).unwrap();
        let mut setting = ProviderSetting::new(kind, kind);
        // Never written while tests run: a file that is open for writing anywhere cannot be executed.
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fake-agent.sh");
        setting.argv = vec![program.display().to_string()];
        setting.program = Some(program);
        setting.env.insert("FAKE_SCRIPT".to_owned(), script_path.display().to_string());
        setting.env.insert("FAKE_DIR".to_owned(), dir.path().display().to_string());
        Self {
            dir,
            setting,
            payload: prompt("the prompt"),
            permission: Permission::ReadOnly,
            response_path: None,
            works_in: None,
            stop: Stop::default(),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A file that the script wrote.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.dir().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn ask(&self) -> (Kept, Result<Reply, AskError>) {
        let mut kept = Kept::default();
        let reply = self.ask_into(&mut kept);
        (kept, reply)
    }

    pub(crate) fn ask_into(&self, sink: &mut dyn Sink) -> Result<Reply, AskError> {
        let request = Request {
            name: "planning-1",
            payload: &self.payload,
            directory: self.works_in.as_deref().unwrap_or(self.dir()),
            response_path: self.response_path.as_deref(),
            permission: self.permission,
            stop: &self.stop,
        };
        let answer = open(self.setting.clone()).and_then(|provider| provider.ask(&request, sink));
        let reply = answer.map(|answer| match answer {
            Answer::Reply(reply) => reply,
            Answer::AwaitsPerson => panic!("a program is no person"),
        });
        self.assert_group_is_gone();
        reply
    }

    /// Asks and shows the error with its hint.
    pub(crate) fn error(&self) -> String {
        let (_, reply) = self.ask();
        let error = reply.expect_err("there is a reply");
        let mut shown =
            format!("{error}\nhint: {}", error.advice().worded(|action, _| format!("{action:?}")));
        if let Some(usage) = error.usage() {
            write!(shown, "\n{}", serde_json::to_string(usage).unwrap()).unwrap();
        }
        shown.replace(self.setting.program.as_ref().unwrap().to_str().unwrap(), "PROGRAM")
    }

    fn assert_group_is_gone(&self) {
        let Ok(group) = fs::read_to_string(self.dir().join("pid")) else { return };
        let left = processes_of(group.trim());
        assert_eq!(left, Vec::<String>::new(), "processes of group {group} are left");
    }
}

/// The processes of a group, zombies left out: those are nobody's any more.
pub(crate) fn processes_of(group: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats
        .filter(|stat| {
            let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
            fields.first() != Some(&"Z") && fields.get(2) == Some(&group)
        })
        .collect()
}

/// A payload of one message.
pub(crate) fn prompt(text: &str) -> Payload {
    let message = PayloadMessage::new(Role::User, text.to_owned());
    Payload { messages: vec![message], ..Payload::default() }
}
