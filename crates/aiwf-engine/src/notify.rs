//! Notifies the user through a program of their own that a session waits or has ended.
//!
//! In: an event. Out: nothing, or why the program could not be started, as a note. Only the user's own configuration
//! sets the program (`[notify] run`). It keeps running when aiwf exits, has ten seconds, and its output is discarded.

use std::ffi::OsString;
use std::time::Duration;

use aiwf_config::{Config, Flags};
use aiwf_process::detached::start_detached;
use serde_json::json;

use crate::Engine;

const LIMIT: Duration = Duration::from_secs(10);
/// Longer texts are cut.
const MAX_CHARACTERS: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyEvent {
    /// A session waits for a decision or a reply.
    Waiting,
    Ended,
}

impl NotifyEvent {
    /// The value of `AIWF_EVENT`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Ended => "ended",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification<'a> {
    pub event: NotifyEvent,
    pub session: &'a str,
    pub title: &'a str,
    /// What it waits for, or how it ended.
    pub what: &'a str,
}

impl Engine {
    /// Starts the user's program, if one is configured; returns why it could not be started.
    pub fn notify(&self, notification: Notification<'_>) -> Option<String> {
        // An unreadable configuration is reported by the command itself.
        let config = Config::load(self.settings(), &Flags::default()).ok()?;
        self.notify_as(&config, notification)
    }

    /// Like [`Self::notify`], with a configuration that was read before.
    pub(crate) fn notify_as(&self, config: &Config, notification: Notification<'_>) -> Option<String> {
        let home = self.settings().home.as_ref()?;
        let run = &config.notify.run.as_ref()?.value;
        let (title, what) = (one_line(notification.title), one_line(notification.what));
        let (event, session) = (notification.event.as_str(), one_line(notification.session));
        let project = self.settings().project_root.to_string_lossy();
        let input = json!({
            "event": event, "session": session, "title": title, "what": what, "project": project,
        });
        let env = [("AIWF_EVENT", event.to_owned()), ("AIWF_SESSION", session), ("AIWF_TITLE", title)];
        let env = env.map(|(name, value)| (name.to_owned(), value));
        let words: Vec<OsString> = run.iter().map(OsString::from).collect();
        // In the home directory, so that a relative path does not mean a program of the project.
        let started = start_detached(&words, &env, home, format!("{input}\n").as_bytes(), LIMIT);
        let program = run.first().map(String::as_str).unwrap_or_default();
        started.err().map(|error| format!("could not start `{program}` of `[notify] run`: {}", plain(&error)))
    }
}

/// Text without control characters, cut to the length of a notification.
fn one_line(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().map(plain).take(MAX_CHARACTERS).collect()
}

/// The system's message without its number.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let mut characters = text.split(" (os error").next().unwrap_or_default().chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

#[cfg(test)]
#[path = "notify_tests.rs"]
mod tests;
