//! Asks a provider, and keeps what it did.

use std::io;
use std::path::Path;

use aiwf_prompt::Role;
use aiwf_provider::{
    Answer, AskError, BaseUrl, KeySource, Payload, PayloadMessage, Permission, Progress, ProviderSetting,
    Reply, Request, Secret, Sink, Stop, open,
};

use crate::server::Server;

/// A setting that asks the server; it is the project's, as loopback may be.
pub(crate) fn setting(kind: &str, server: &Server) -> ProviderSetting {
    let mut setting = ProviderSetting::new("local", kind);
    let path = if kind == "openai" { "/v1" } else { "" };
    setting.base_url = Some(BaseUrl { url: format!("{}{path}", server.url()), is_users: false });
    setting.model = Some("m-1".to_owned());
    setting
}

pub(crate) fn variable(key: &str) -> KeySource {
    KeySource::Variable { name: "MY_KEY".to_owned(), value: Some(Secret::new(key)) }
}

pub(crate) fn payload() -> Payload {
    Payload {
        system: vec!["be brief".to_owned()],
        messages: vec![PayloadMessage::new(Role::User, "say hello\n".to_owned())],
        ..Payload::default()
    }
}

/// A sink that keeps everything, and does something when text arrives.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) text: String,
    pub(crate) progress: Vec<Progress>,
    pub(crate) on_text: Option<Box<dyn FnMut()>>,
}

impl Sink for Recorder {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.text.push_str(text);
        if let Some(on_text) = &mut self.on_text {
            on_text();
        }
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.text.clear();
        Ok(())
    }

    fn progress(&mut self, progress: Progress) {
        self.progress.push(progress);
    }
}

impl Recorder {
    /// How often the call was made again.
    pub(crate) fn n_retries(&self) -> usize {
        let is_retry = |progress: &&Progress| matches!(progress, Progress::Retry { .. });
        self.progress.iter().filter(is_retry).count()
    }
}

/// Asks with a sink and a stop of the test's own.
pub(crate) fn ask_into(
    setting: ProviderSetting,
    payload: &Payload,
    stop: &Stop,
    sink: &mut dyn Sink,
) -> Result<Reply, AskError> {
    let provider = open(setting)?;
    let request = Request {
        name: "planning-1",
        payload,
        directory: Path::new("."),
        response_path: None,
        permission: Permission::ReadOnly,
        stop,
    };
    provider.refuse(&request)?;
    match provider.ask(&request, sink)? {
        Answer::Reply(reply) => Ok(reply),
        Answer::AwaitsPerson => panic!("an API is no person"),
    }
}

/// Asks, and gives what arrived with what came back.
pub(crate) fn ask(setting: ProviderSetting) -> (Recorder, Result<Reply, AskError>) {
    let mut recorder = Recorder::default();
    let result = ask_into(setting, &payload(), &Stop::default(), &mut recorder);
    (recorder, result)
}

/// An error as a user meets it, with a fixed word for the server's address.
pub(crate) fn shown(error: &AskError, server: &Server) -> String {
    format!("{error}\n{}", error.advice().worded(|action, _| format!("{action:?}")))
        .replace(&server.url(), "http://SERVER")
}
