//! Whether a failure is a usage limit, and when that is lifted.
//!
//! In: the words of an agent, or the headers and the body of an answer. Out: a [`Limit`], or nothing when it is another
//! failure. What is said to be past, or a long time away, is brought within bounds, so that whoever waits neither
//! asks at once and again nor waits for years.

mod reset_time;

use std::time::Duration;

use jiff::Timestamp;

pub(crate) use self::reset_time::Clock;
use self::reset_time::{instant, reset_time, whole_span};

/// The shortest wait: an agent that says how long has tried again by itself already.
const MIN_WAIT: Duration = Duration::from_mins(1);
/// The longest wait.
const MAX_WAIT: Duration = Duration::from_hours(31 * 24);

/// What may be used is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// When it is lifted, in seconds since 1970.
    pub(crate) until: Option<i64>,
}

impl Limit {
    /// A limit that is lifted at a time that somebody named.
    pub(crate) fn until(time: Option<Timestamp>, clock: &Clock) -> Self {
        let bounded = |time: Timestamp| {
            let earliest = clock.after(MIN_WAIT)?;
            let latest = clock.after(MAX_WAIT)?;
            Some(time.clamp(earliest, latest).as_second())
        };
        Self { until: time.and_then(bounded) }
    }

    /// A limit that is lifted after a wait.
    pub(crate) fn after(wait: Duration, clock: &Clock) -> Self {
        Self::until(clock.after(wait.min(MAX_WAIT)), clock)
    }

    /// What the words of a failure say; what else was said may know the time.
    fn of_words(words: &str, details: Option<&str>, clock: &Clock) -> Self {
        let time = reset_time(words, clock).or_else(|| reset_time(details?, clock));
        Self::until(time, clock)
    }
}

/// The limit that Claude Code says it has reached.
pub(crate) fn of_claude_code(words: &str, details: Option<&str>, clock: &Clock) -> Option<Limit> {
    // `Context limit reached` and limits of turns are no limits of use.
    const LIMITS: [&str; 9] =
        ["usage", "hour", "session", "daily", "weekly", "monthly", "opus", "sonnet", "rate"];
    const OTHERS: [&str; 3] = ["rate_limit_error", "exceed your account's rate limit", "out of extra usage"];
    let lower = words.to_ascii_lowercase();
    let is_named = |at: usize| {
        let before = lower.get(..at).unwrap_or_default();
        let word = before.trim_end().rsplit(|letter: char| !letter.is_ascii_alphanumeric()).next();
        word.is_some_and(|word| LIMITS.contains(&word))
    };
    let is_reached = lower.match_indices("limit reached").any(|(at, _)| is_named(at));
    let is_hit = ["hit your ", "reached your "].iter().any(|start| {
        lower.match_indices(start).any(|(at, _)| {
            let rest = lower.get(at + start.len()..).unwrap_or_default();
            rest.split_whitespace().take(4).any(|word| word.trim_end_matches(['.', ',']) == "limit")
        })
    });
    let is_limit = is_reached || is_hit || OTHERS.iter().any(|other| lower.contains(other));
    is_limit.then(|| Limit::of_words(words, details, clock))
}

/// The limit that Codex says it has reached.
pub(crate) fn of_codex(words: &str, details: Option<&str>, clock: &Clock) -> Option<Limit> {
    has_any(
        words,
        &[
            "usage limit",
            "usage_limit_reached",
            "rate limit reached",
            "rate_limit_exceeded",
            "429 too many requests",
        ],
    )
    .then(|| Limit::of_words(words, details, clock))
}

/// The limit that Gemini CLI says it has reached.
pub(crate) fn of_gemini_cli(words: &str, details: Option<&str>, clock: &Clock) -> Option<Limit> {
    let is_limit = has_any(
        words,
        &[
            "quota will reset",
            "exhausted your",
            "quota exceeded",
            "exceeded your current quota",
            "resource_exhausted",
            "resource has been exhausted",
            "too many requests",
            "rate limit",
            "(code 429)",
        ],
    );
    is_limit.then(|| Limit::of_words(words, details, clock))
}

fn has_any(words: &str, known: &[&str]) -> bool {
    let lower = words.to_ascii_lowercase();
    known.iter().any(|known| lower.contains(known))
}

/// How long a text asks to wait.
pub(crate) fn wait_of_text(text: &str, clock: &Clock) -> Option<Duration> {
    reset_time(text, clock).map(|time| wait_from_now(time, clock))
}

fn wait_from_now(time: Timestamp, clock: &Clock) -> Duration {
    Duration::try_from(time.duration_since(clock.now.timestamp())).unwrap_or(Duration::ZERO)
}

/// How long the headers of an answer ask to wait, by what is left of each limit and when it is full again.
///
/// A limit of which something is left is not the one that was reached. In: names in lower case, with values.
pub(crate) fn wait_of_headers<'h>(
    headers: impl IntoIterator<Item = (&'h str, &'h str)>,
    clock: &Clock,
) -> Option<Duration> {
    let headers: Vec<(&str, &str)> = headers.into_iter().collect();
    let resets = headers.iter().filter_map(|(name, value)| {
        let limit = name_with(name, "reset")?;
        let of_limit = |word: &str| {
            let is_its = |(name, _): &&(&str, &str)| name_with(name, word).as_ref() == Some(&limit);
            headers.iter().find(is_its).map(|(_, value)| value.trim())
        };
        let is_used_up = of_limit("remaining")
            .map(|remaining| remaining == "0")
            .or_else(|| of_limit("status").map(|status| status == "rejected"));
        Some((is_used_up, wait_until(value.trim(), clock)?))
    });
    let resets: Vec<(Option<bool>, Duration)> = resets.collect();
    let longest = |wanted: Option<bool>| {
        resets.iter().filter(|(is_used_up, _)| *is_used_up == wanted).map(|(_, wait)| *wait).max()
    };
    longest(Some(true)).or_else(|| longest(None))
}

/// The limit that a header is about, when it says this word of it: `tokens` in `anthropic-ratelimit-tokens-reset`.
///
/// Vendors put the limit before or after the word; one without a name has an empty one.
fn name_with(header: &str, word: &str) -> Option<String> {
    let rest = header.strip_prefix("anthropic-").or_else(|| header.strip_prefix("x-")).unwrap_or(header);
    let rest = rest.strip_prefix("ratelimit")?;
    let parts: Vec<&str> = rest.split('-').filter(|part| !part.is_empty()).collect();
    let (_, name): (Vec<&str>, Vec<&str>) = parts.iter().partition(|part| **part == word);
    (name.len() < parts.len()).then(|| name.join("-"))
}

/// A wait from what vendors write into such a header: a time, a span, or a number of seconds.
fn wait_until(value: &str, clock: &Clock) -> Option<Duration> {
    instant(value).map(|time| wait_from_now(time, clock)).or_else(|| whole_span(value))
}

#[cfg(test)]
#[path = "limit_tests.rs"]
mod tests;
