//! When a limit is lifted, in the words of those that set it.
//!
//! In: a text, and the time it was said. Out: a time, or nothing. Nothing here looks at a clock, and no text makes it
//! fail: agents word this in many ways, and change them.

use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

/// When something was said, and where.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// The time, in the zone of the user.
    pub(crate) now: Zoned,
    /// Zones by name, such as `Asia/Tokyo`.
    pub(crate) zone: fn(&str) -> Option<TimeZone>,
}

impl Clock {
    /// The clock of the system.
    pub(crate) fn of_system() -> Self {
        Self { now: Zoned::now(), zone: |name| TimeZone::get(name).ok() }
    }

    pub(super) fn after(&self, wait: Duration) -> Option<Timestamp> {
        self.now.timestamp().checked_add(wait).ok()
    }
}

/// How much of a text is read after a word that announces a time.
const MAX_PHRASE: usize = 100;
/// How many words that say nothing may stand before a time: `resets again at about 3pm`.
const MAX_FILLERS: usize = 4;
/// How long ago a time of day may be to mean today: a limit may have been lifted while an agent ended.
const GRACE: Duration = Duration::from_mins(10);

/// What announces a time in prose.
const ANNOUNCED_BY: [&str; 5] = ["reset", "try again", "retry", "wait", "available again"];

const FILLERS: [&str; 14] =
    ["s", "ing", "will", "is", "are", "at", "in", "on", "after", "again", "about", "until", "for", "please"];

/// Keys of JSON that hold a number of seconds or a span to wait.
const SPAN_KEYS: [&str; 5] =
    ["resets_in_seconds", "retrydelay", "quotaresetdelay", "retry_after", "retry-after"];

/// Keys of JSON that hold a time.
const TIME_KEYS: [&str; 3] = ["resets_at", "resetsat", "quotaresettimestamp"];

/// When a limit is lifted, as a text says it; the most exact of what it says.
pub(super) fn reset_time(text: &str, clock: &Clock) -> Option<Timestamp> {
    // Same length, so that places in one are places in the other.
    let lower = text.to_ascii_lowercase();
    let after_keys = |keys: &[&str]| -> Vec<usize> {
        keys.iter().flat_map(|key| lower.match_indices(*key).map(|(at, _)| at + key.len())).collect()
    };
    let value = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        // The value of a key, in JSON that may stand in a text of JSON.
        rest.trim_start_matches(|letter: char| letter.is_whitespace() || "\"\\:=".contains(letter))
    };
    let time = after_keys(&TIME_KEYS).into_iter().find_map(|at| instant(value(at)));
    let span = || after_keys(&SPAN_KEYS).into_iter().find_map(|at| clock.after(span(value(at))?));
    let bare = || text.match_indices('|').find_map(|(at, _)| epoch(value(at + 1)));
    let prose = || {
        let mut places = after_keys(&ANNOUNCED_BY);
        places.sort_unstable();
        places.into_iter().find_map(|at| phrase(bounded(text.get(at..)?), clock))
    };
    time.or_else(span).or_else(bare).or_else(prose)
}

/// A span that is the whole text: `7`, `6m0s`, `34.07s`.
pub(super) fn whole_span(text: &str) -> Option<Duration> {
    let tokens = tokens(bounded(text));
    match tokens.as_slice() {
        [Token { kind: Kind::Number(number), .. }] => seconds(*number),
        _ => spelled_span(&tokens).filter(|(_, n_read)| *n_read == tokens.len()).map(|(span, _)| span),
    }
}

/// A time in seconds or milliseconds since 1970, or as RFC 3339.
pub(super) fn instant(text: &str) -> Option<Timestamp> {
    epoch(text).or_else(|| rfc3339(text))
}

/// The start of a text, cut where a letter ends.
fn bounded(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_PHRASE).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn epoch(text: &str) -> Option<Timestamp> {
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .map_or(text, |end| text.get(..end).unwrap_or_default());
    let number: i64 = digits.parse().ok()?;
    match digits.len() {
        10 => Timestamp::from_second(number).ok(),
        13 => Timestamp::from_millisecond(number).ok(),
        _ => None,
    }
}

fn rfc3339(text: &str) -> Option<Timestamp> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-:+.".contains(letter);
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    text.get(..end)?.trim_end_matches('.').parse().ok()
}

/// A span at the start of a text; a number without a unit has seconds.
fn span(text: &str) -> Option<Duration> {
    let tokens = tokens(bounded(text));
    spelled_span(&tokens).map(|(span, _)| span).or_else(|| match tokens.first()?.kind {
        Kind::Number(number) => seconds(number),
        Kind::Word(_) | Kind::Other(_) => None,
    })
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind<'t> {
    Number(f64),
    Word(&'t str),
    Other(char),
}

#[derive(Clone, Copy, Debug)]
struct Token<'t> {
    kind: Kind<'t>,
    /// Where it begins and ends in the text.
    start: usize,
    end: usize,
}

impl Token<'_> {
    fn is_word(&self, words: &[&str]) -> bool {
        matches!(self.kind, Kind::Word(word) if words.iter().any(|known| known.eq_ignore_ascii_case(word)))
    }

    fn is(&self, letter: char) -> bool {
        self.kind == Kind::Other(letter)
    }

    /// A whole number of at most four digits.
    fn whole(&self) -> Option<i16> {
        let Kind::Number(number) = self.kind else { return None };
        let is_small = number.fract() == 0.0 && (0.0..10_000.0).contains(&number);
        #[expect(clippy::cast_possible_truncation, reason = "it was just found to fit")]
        is_small.then_some(number as i16)
    }
}

/// Numbers, words and other letters; white space is left out.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text.get(start..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(start..).unwrap_or_default();
        let run = |is_part: &dyn Fn(char) -> bool| {
            rest.find(|letter| !is_part(letter)).map_or(rest, |end| rest.get(..end).unwrap_or_default())
        };
        let (kind, n_bytes) = if first.is_ascii_digit() {
            let digits = run(&|letter| letter.is_ascii_digit() || letter == '.');
            // A number that ends a sentence takes its period along.
            let digits = digits.trim_end_matches('.');
            (digits.parse().map_or(Kind::Other(first), Kind::Number), digits.len())
        } else if first.is_ascii_alphabetic() {
            let word = run(&|letter| letter.is_ascii_alphabetic());
            (Kind::Word(word), word.len())
        } else {
            (Kind::Other(first), first.len_utf8())
        };
        if !first.is_whitespace() {
            tokens.push(Token { kind, start, end: start + n_bytes });
        }
        start += n_bytes;
    }
    tokens
}

/// A time after a word that announces one: a span, a time of day, or a date.
fn phrase(text: &str, clock: &Clock) -> Option<Timestamp> {
    let tokens = tokens(text);
    let mut rest = tokens.as_slice();
    for _ in 0..=MAX_FILLERS {
        let first = rest.first()?;
        if let Some((span, _)) = spelled_span(rest) {
            return clock.after(span);
        }
        if rest.iter().take(3).map(|token| token.kind).eq(["less", "than", "a"].map(Kind::Word)) {
            return clock.after(Duration::from_mins(1));
        }
        if let Some(time) = text.get(first.start..).and_then(instant) {
            return Some(time);
        }
        if let Some((date, time, n_read)) = date_and_time(rest) {
            let end = rest.get(n_read.checked_sub(1)?)?.end;
            let zone = zone_after(text.get(end..).unwrap_or_default(), clock);
            return next(date, time, &zone, clock);
        }
        if !first.is_word(&FILLERS) && !first.is(':') {
            return None;
        }
        rest = rest.get(1..)?;
    }
    None
}

/// A span in numbers with units, `2 hours, 5 minutes and 3 seconds` or `3h12m5s`, and how many tokens it has.
fn spelled_span(tokens: &[Token<'_>]) -> Option<(Duration, usize)> {
    let mut sum = Duration::ZERO;
    let mut n_read = 0;
    let mut n_parts = 0;
    loop {
        let mut rest = tokens.get(n_read..)?;
        let mut n_more = 0;
        while n_parts > 0 && rest.first().is_some_and(|token| token.is(',') || token.is_word(&["and"])) {
            rest = rest.get(1..)?;
            n_more += 1;
        }
        let part = match rest {
            [number, unit, ..] => match (number.kind, unit.kind) {
                (Kind::Number(number), Kind::Word(unit)) => Some((number, unit)),
                (Kind::Word("a" | "an" | "one"), Kind::Word(unit)) => Some((1.0, unit)),
                _ => None,
            },
            _ => None,
        };
        let Some(of_unit) = part.and_then(|(number, unit)| seconds(number * unit_seconds(unit)?)) else {
            return (n_parts > 0).then_some((sum, n_read));
        };
        sum = sum.checked_add(of_unit)?;
        n_read += n_more + 2;
        n_parts += 1;
    }
}

fn unit_seconds(unit: &str) -> Option<f64> {
    let unit = unit.to_ascii_lowercase();
    Some(match unit.as_str() {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    })
}

/// A date, which may be without a year.
#[derive(Clone, Copy, Debug)]
struct WrittenDate {
    year: Option<i16>,
    month: i8,
    day: i8,
}

/// A date, a time of day, or both, and how many tokens they have: `3pm`, `Oct 9th, 2026 3:05 PM`.
fn date_and_time(tokens: &[Token<'_>]) -> Option<(Option<WrittenDate>, jiff::civil::Time, usize)> {
    let Some((day, n_read)) = written_date(tokens) else {
        let (time, n_read) = time_of_day(tokens)?;
        return Some((None, time, n_read));
    };
    let rest = tokens.get(n_read..)?;
    let n_joints = rest.iter().take_while(|token| token.is(',') || token.is_word(&["at"])).count();
    match rest.get(n_joints..).and_then(time_of_day) {
        Some((time, n_more)) => Some((Some(day), time, n_read + n_joints + n_more)),
        None => Some((Some(day), jiff::civil::Time::midnight(), n_read)),
    }
}

/// `Oct 9`, `October 9th, 2026`.
fn written_date(tokens: &[Token<'_>]) -> Option<(WrittenDate, usize)> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let Kind::Word(name) = tokens.first()?.kind else { return None };
    let name = name.to_ascii_lowercase();
    let month = MONTHS.iter().position(|month| name.starts_with(month))?;
    let month = i8::try_from(month + 1).ok()?;
    let number = tokens.get(1)?.whole()?;
    let day = i8::try_from(number).ok().filter(|day| (1..=31).contains(day))?;
    let mut n_read = 2;
    let skip = |n_read: &mut usize, is_skipped: &dyn Fn(&Token<'_>) -> bool| {
        if tokens.get(*n_read).is_some_and(is_skipped) {
            *n_read += 1;
        }
    };
    skip(&mut n_read, &|token| token.is_word(&["st", "nd", "rd", "th"]));
    let mut after_comma = n_read;
    skip(&mut after_comma, &|token| token.is(','));
    let year = tokens.get(after_comma).and_then(Token::whole).filter(|year| (2_000..3_000).contains(year));
    if year.is_some() {
        n_read = after_comma + 1;
    }
    Some((WrittenDate { year, month, day }, n_read))
}

/// `3pm`, `3:05 PM`, `15:00`, `15:00:30`.
fn time_of_day(tokens: &[Token<'_>]) -> Option<(jiff::civil::Time, usize)> {
    let small =
        |at: usize| tokens.get(at).and_then(Token::whole).and_then(|number| i8::try_from(number).ok());
    let has_colon = |at: usize| tokens.get(at).is_some_and(|token| token.is(':'));
    let mut hour = small(0)?;
    let mut n_read = 1;
    let mut parts = [0, 0];
    for part in &mut parts {
        match small(n_read + 1).filter(|_| has_colon(n_read)) {
            Some(number) => *part = number,
            None => break,
        }
        n_read += 2;
    }
    if let Some(half) = tokens.get(n_read).filter(|token| token.is_word(&["am", "pm"])) {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if half.is_word(&["pm"]) { 12 } else { 0 };
        n_read += 1;
    } else if n_read == 1 {
        // A number alone is anything.
        return None;
    }
    let [minute, second] = parts;
    Some((jiff::civil::Time::new(hour, minute, second, 0).ok()?, n_read))
}

/// The zone in parentheses after a time; the user's own when none is named or known.
fn zone_after(text: &str, clock: &Clock) -> TimeZone {
    let name = text.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let zone = name.and_then(|(name, _)| (clock.zone)(name.trim()));
    zone.unwrap_or_else(|| clock.now.time_zone().clone())
}

/// The next moment with this date and time.
fn next(
    day: Option<WrittenDate>,
    time: jiff::civil::Time,
    zone: &TimeZone,
    clock: &Clock,
) -> Option<Timestamp> {
    let now = clock.now.timestamp();
    let today = zone.to_datetime(now).date();
    let at = |date: Date| Some(date.to_datetime(time).to_zoned(zone.clone()).ok()?.timestamp());
    let earliest = now.checked_sub(GRACE).ok()?;
    match day {
        None => {
            let at_today = at(today)?;
            if at_today >= earliest { Some(at_today) } else { at(today.checked_add(1.day()).ok()?) }
        }
        Some(WrittenDate { year: Some(year), month, day }) => at(Date::new(year, month, day).ok()?),
        Some(WrittenDate { year: None, month, day }) => {
            // Around the end of a year the date may be of the next one.
            let of_year = |year: i16| at(Date::new(year, month, day).ok()?);
            let day_before = now.checked_sub(Duration::from_hours(24)).ok()?;
            of_year(today.year())
                .filter(|found| *found >= day_before)
                .or_else(|| of_year(today.year().checked_add(1)?))
        }
    }
}

#[cfg(test)]
#[path = "reset_time_tests.rs"]
mod tests;
