//! Words, numbers and templates: how the page says things.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt::Write as _;
use std::sync::OnceLock;

use aiwf_engine::{RunError, RunPhase, SessionError, SessionStatus, WaitsFor};
use axum::http::StatusCode;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, Output, State, Value};
use serde::{Serialize, Serializer};

use crate::advice_words;
use crate::site::is_missing;

/// Why a page or a decision was refused, for a person.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Refusal {
    #[serde(serialize_with = "number")]
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn number<S: Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { status, message: message.into(), hint }
    }

    pub(crate) fn not_found(message: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, message, Some("the inbox lists every session".to_owned()))
    }

    pub(crate) fn invalid(message: &str, hint: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, Some(hint.to_owned()))
    }

    pub(crate) fn busy() -> Self {
        Self::new(
            StatusCode::CONFLICT,
            "aiwf is still working on this session",
            Some("wait until it is done, or stop it".to_owned()),
        )
    }

    pub(crate) fn bug() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal error in aiwf",
            Some("please report it with what you did".to_owned()),
        )
    }
}

/// The error with its causes, each on a line.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str("\ncaused by: ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl From<SessionError> for Refusal {
    fn from(error: SessionError) -> Self {
        let status = if is_missing(&error) { StatusCode::NOT_FOUND } else { StatusCode::CONFLICT };
        let hint = error.advice().map(|advice| advice_words::worded(&advice));
        let message = match error.source() {
            // A transparent error would be said twice.
            Some(source) if source.to_string() == error.to_string() => error.to_string(),
            _ => with_causes(&error),
        };
        Self::new(status, message, hint)
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        Self::new(StatusCode::CONFLICT, with_causes(&error), None)
    }
}

/// The templates, made once.
pub(crate) fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.set_formatter(|out, state, value| write_escaped(out, state, value));
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.unwrap_or_default());
        for (name, source) in TEMPLATES {
            if let Err(error) = environment.add_template(name, source) {
                debug_assert!(false, "{name}: {error:#}");
            }
        }
        environment.add_filter("thousands", thousands);
        environment.add_filter("exact", |text: &str| exact(text));
        environment.add_filter("short", short);
        environment.add_filter("plural", plural);
        environment.add_filter("minute", |at: &str| minute(at));
        environment
    })
}

/// Writes a value into a page: whatever could be markup is escaped, and nothing is written for what is not there.
fn write_escaped(out: &mut Output<'_>, state: &State<'_, '_>, value: &Value) -> Result<(), Error> {
    if value.is_undefined() || value.is_none() {
        return Ok(());
    }
    let text = value.to_string();
    if value.is_safe() || !matches!(state.auto_escape(), AutoEscape::Html) {
        return Ok(out.write_str(&text)?);
    }
    Ok(out.write_str(&escaped(&visible(&text)))?)
}

/// Text that is no markup, every character of it kept: for fields that are sent back.
fn exact(text: &str) -> Value {
    Value::from_safe_string(escaped(text))
}

fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + text.len() / 8);
    for character in text.chars() {
        match character {
            '&' => written.push_str("&amp;"),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '"' => written.push_str("&quot;"),
            '\'' => written.push_str("&#39;"),
            other => written.push(other),
        }
    }
    written
}

/// The text with a sign in place of each character that would change how others are shown.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |character: char| match character {
        '\n' | '\t' | '\r' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    };
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let sign = |character: char| match u32::from(character) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}').to_string(),
        0x7f => '\u{2421}'.to_string(),
        code => format!("\u{27ea}U+{code:04X}\u{27eb}"),
    };
    let shown = |character: char| if is_hidden(character) { sign(character) } else { character.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

macro_rules! templates {
    ($($name:literal),+ $(,)?) => { &[$(($name, include_str!(concat!("templates/", $name)))),+] };
}

const TEMPLATES: &[(&str, &str)] = templates![
    "anatomy.html",
    "apply.html",
    "artifact.html",
    "base.html",
    "checks.html",
    "code.html",
    "decisions.html",
    "diff.html",
    "entry.html",
    "events.html",
    "files.html",
    "inbox.html",
    "pending.html",
    "project.html",
    "refusal.html",
    "remarks.html",
    "run.html",
    "session.html",
];

/// A number with separators.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    use sha2::{Digest as _, Sha256};
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The beginning of a hash.
fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

/// `1 file`, `2 files`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(count)) }
}

/// A time to the minute, in UTC as journals have it.
pub(crate) fn minute(at: &str) -> String {
    match (at.get(..10), at.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time}"),
        _ => at.to_owned(),
    }
}

/// A duration in words: `12 s`, `3 min`, `2 h 5 min`, `3 days`.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 if seconds % 3_600 < 60 => format!("{} h", seconds / 3_600),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => plural(seconds / 86_400, "day"),
    }
}

pub(crate) fn dollars(amount: f64) -> String {
    if amount >= 0.01 || amount <= 0.0 { format!("${amount:.2}") } else { format!("${amount:.4}") }
}

/// A size in bytes, as people say it.
#[expect(clippy::cast_precision_loss, reason = "a size is shown with one digit")]
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => plural(bytes, "byte"),
        1_024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1_024.0),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

/// What a session needs, as the inbox says it.
pub(crate) fn needs(waits_for: WaitsFor) -> &'static str {
    match waits_for {
        WaitsFor::PromptApproval => "your approval of the prompt",
        WaitsFor::Reply => "a reply from your chat",
        WaitsFor::ReplyApproval => "your approval of the reply",
        WaitsFor::NextPhase => "the start of its next phase",
        WaitsFor::Retry => "a retry: the call failed",
        WaitsFor::Budget => "a larger budget",
        WaitsFor::Decision => "your decision",
        WaitsFor::Answer => "your answer",
        WaitsFor::CheckConsent => "your consent to its checks",
    }
}

pub(crate) fn run_words(phase: RunPhase) -> &'static str {
    match phase {
        RunPhase::Running => "running",
        RunPhase::WaitingUser => "waiting for you",
        RunPhase::Completed => "complete",
        RunPhase::Failed => "failed",
        RunPhase::Cancelled => "cancelled",
    }
}

pub(crate) fn status_words(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::InProgress => "in progress",
        SessionStatus::Waiting => "waiting",
        SessionStatus::Paused => "paused",
        SessionStatus::Rejected => "rejected",
        SessionStatus::Failed => "failed",
        SessionStatus::Complete => "complete",
        SessionStatus::Cancelled => "cancelled",
        SessionStatus::Unreadable => "unreadable",
    }
}

/// The last line that says something, as one line of a list.
pub(crate) fn last_line(text: &str) -> String {
    const LENGTH: usize = 160;
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match line.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// A path as part of an address.
pub(crate) fn in_address(path: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');
    utf8_percent_encode(path, KEPT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_well_formed() {
        for (name, _) in TEMPLATES {
            assert!(environment().get_template(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_would_change_how_other_text_is_shown_is_shown_itself() {
        assert_eq!(visible("plain\ttext\n"), "plain\ttext\n");
        assert_eq!(visible("a\u{1b}[31m\u{202e}b\u{7f}"), "a\u{241b}[31m\u{27ea}U+202E\u{27eb}b\u{2421}");
    }

    #[test]
    fn numbers_and_times_read_as_people_write_them() {
        assert_eq!((thousands(0).as_str(), thousands(1_234_567).as_str()), ("0", "1,234,567"));
        assert_eq!((plural(1, "file").as_str(), plural(2_000, "file").as_str()), ("1 file", "2,000 files"));
        assert_eq!(minute("2026-11-19T04:25:26Z"), "2026-11-19 04:25");
        for (seconds, text) in [
            (0, "0 s"),
            (61, "1 min"),
            (3_600, "1 h"),
            (7_500, "2 h 5 min"),
            (90_000, "1 day"),
            (260_000, "3 days"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(
            (dollars(0.0), dollars(0.0042), dollars(1.5)),
            ("$0.00".into(), "$0.0042".into(), "$1.50".into())
        );
        assert_eq!(
            (size(1), size(2_048), size(6 << 20)),
            ("1 byte".into(), "2.0 KB".into(), "6.0 MB".into())
        );
    }

    #[test]
    fn the_last_line_is_the_last_that_says_something() {
        assert_eq!(last_line("one\n  two \n\n  \n"), "two");
        assert_eq!(last_line(""), "");
        assert_eq!(last_line(&"ä".repeat(500)).chars().count(), 161);
    }

    #[test]
    fn a_path_cannot_leave_its_place_in_an_address() {
        assert_eq!(in_address("a b/ü?#\"<.md"), "a%20b/%C3%BC%3F%23%22%3C.md");
    }
}
