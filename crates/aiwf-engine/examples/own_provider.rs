//! A provider of the program's own: the engine asks it like any other, in sessions and for single prompts.

use std::error::Error;
use std::path::Path;

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::prompt::Recipe;
use aiwf_engine::provider::{Answer, Ask, AskError, Check, Reply, Request, Sink};
use aiwf_engine::{BuildOptions, ChangeFlags, Document, Engine};

/// Says how long the prompt was.
struct Measure;

impl Ask for Measure {
    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        let n_bytes: usize = request.payload.messages.iter().map(|message| message.text().len()).sum();
        sink.text(&format!("The prompt has {n_bytes} bytes.")).map_err(|error| AskError::Setting {
            provider: "measure".to_owned(),
            message: error.to_string(),
            hint: "free some space".to_owned(),
        })?;
        Ok(Answer::Reply(Reply::default()))
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}

/// Sends one prompt to the provider and gives back its reply.
pub(crate) fn ask_in(project: &Path) -> Result<String, Box<dyn Error>> {
    let environment = Environment { current_dir: project.to_owned(), ..Environment::default() };
    let settings = Settings::resolve(Some(project), environment)?;
    let engine = Engine::new(settings).with_provider("measure", Measure);
    let document =
        Document::from_json(Recipe::Reply, r#"{"request": {"aiMessage": "Is it done?"}, "mode": "api"}"#)?;
    let options = BuildOptions { provider: Some("measure".to_owned()), ..BuildOptions::default() };
    let built = engine.build(document, &ChangeFlags::default(), &options, &|_| ())?;
    let sent = engine.send(&built, "measure", None)?;
    Ok(std::fs::read_to_string(sent.reply_path())?)
}

/// Runs the example in the current directory.
#[expect(clippy::disallowed_methods, reason = "a program decides itself where it works")]
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let reply = ask_in(&std::env::current_dir()?)?;
    assert!(reply.starts_with("The prompt has "));
    Ok(())
}
