//! Tells the user that a session waits or has ended, through a program of their own choice.
//!
//! In: what happened. Out: nothing, or why the program could not be started, as a note. Only the user's own configuration
//! names the program (`[notify] run`). It goes on when aiwf ends, has ten seconds, and what it prints is thrown away.

use std::ffi::OsString;
use std::time::Duration;

use aiwf_config::{Config, Flags};
use aiwf_process::detached::start_detached;
use serde_json::json;

use crate::Engine;

/// How long the program has.
const LIMIT: Duration = Duration::from_secs(10);
/// The most of a text that is passed on.
const MAX_CHARACTERS: usize = 500;

/// What a user is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyEvent {
    /// A session waits for a decision or a reply.
    Waiting,
    /// A session has ended.
    Ended,
}

impl NotifyEvent {
    /// As the program gets it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Ended => "ended",
        }
    }
}

/// Something a user is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification<'a> {
    /// What happened.
    pub event: NotifyEvent,
    /// The session.
    pub session: &'a str,
    /// What the session is about.
    pub title: &'a str,
    /// What it waits for, or how it ended.
    pub what: &'a str,
}

impl Engine {
    /// Starts the user's program for notifications, if there is one; returns why that did not work.
    pub fn notify(&self, notification: Notification<'_>) -> Option<String> {
        let home = self.settings().home.as_ref()?;
        // A configuration that cannot be read is reported by the command itself.
        let run = Config::load(self.settings(), &Flags::default()).ok()?.notify.run?.value;
        let (title, what) = (one_line(notification.title), one_line(notification.what));
        let (event, session) = (notification.event.as_str(), one_line(notification.session));
        let project = self.settings().project_root.to_string_lossy();
        let input = json!({
            "event": event, "session": session, "title": title, "what": what, "project": project,
        });
        let env = [("AIWF_EVENT", event.to_owned()), ("AIWF_SESSION", session), ("AIWF_TITLE", title)];
        let env = env.map(|(name, value)| (name.to_owned(), value));
        let words: Vec<OsString> = run.iter().map(OsString::from).collect();
        // In the home, so that a relative path does not name a program of the project.
        let started = start_detached(&words, &env, home, format!("{input}\n").as_bytes(), LIMIT);
        let program = run.first().map(String::as_str).unwrap_or_default();
        started.err().map(|error| format!("could not start `{program}` of `[notify] run`: {}", plain(&error)))
    }
}

/// Text without control characters, cut to a length that a notification can show.
fn one_line(text: &str) -> String {
    let plain = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().map(plain).take(MAX_CHARACTERS).collect()
}

/// What the system says, without its number.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let mut characters = text.split(" (os error").next().unwrap_or_default().chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

#[cfg(test)]
#[path = "notify_tests.rs"]
mod tests;
