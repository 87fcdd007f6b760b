//! Which failures are worth another try, and how long to wait before it.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use crate::ask_error::AskError;

/// How many requests one call makes at most.
pub(super) const MAX_ATTEMPTS: u32 = 4;

/// The longest wait that a server may ask for.
pub(super) const MAX_ASKED_WAIT: Duration = Duration::from_mins(1);

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// Why an attempt gave no reply, and whether another may.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: AskError,
    pub(super) retry: Retry,
}

/// Whether an attempt is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    /// It would fail again, or something of the reply was handed over already.
    Never,
    /// After a wait that grows.
    BackOff,
    /// After the wait that the server asks for.
    After(Duration),
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self { error, retry: Retry::Never }
    }
}

/// How long to wait after an attempt; `None` when there is no other one.
pub(super) fn wait(retry: Retry, n_attempts: u32) -> Option<Duration> {
    match retry {
        _ if n_attempts >= MAX_ATTEMPTS => None,
        Retry::Never => None,
        Retry::BackOff => Some(back_off(n_attempts).mul_f64(chance())),
        Retry::After(wait) => Some(wait),
    }
}

fn back_off(n_attempts: u32) -> Duration {
    let doubled = 2u32.saturating_pow(n_attempts.saturating_sub(1));
    FIRST_WAIT.saturating_mul(doubled).min(LONGEST_WAIT)
}

/// A number from 0 to 1 that differs between processes, so that many of them do not come back at once.
fn chance() -> f64 {
    // `RandomState` is the standard library's own randomness; nothing here needs a better one.
    let random = RandomState::new().hash_one(0) >> 32;
    f64::from(u32::try_from(random).unwrap_or_default()) / f64::from(u32::MAX)
}

/// What `retry-after` asks for, in seconds or as a date.
///
/// A date is held against the server's own `date`, not against a clock here that may be wrong.
pub(super) fn asked_wait(retry_after: &str, date: Option<&str>) -> Option<Duration> {
    let text = retry_after.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let time = |text: &str| -> Option<Timestamp> { DateTimeParser::new().parse_timestamp(text.trim()).ok() };
    let wait = time(text)?.duration_since(time(date?)?);
    Some(Duration::try_from(wait).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_asked_for_in_seconds_or_as_a_date() {
        let date = Some("Tue, 06 Jan 2026 10:00:00 GMT");
        assert_eq!(asked_wait("7", None), Some(Duration::from_secs(7)));
        assert_eq!(asked_wait(" 0.5 ", None), Some(Duration::from_millis(500)));
        assert_eq!(asked_wait("Tue, 06 Jan 2026 10:01:30 GMT", date), Some(Duration::from_secs(90)));
        assert_eq!(asked_wait("Tue, 06 Jan 2026 09:00:00 GMT", date), Some(Duration::ZERO));
        assert_eq!(asked_wait("Tue, 06 Jan 2026 10:01:30 GMT", None), None);
        assert_eq!(asked_wait("-1", date), None);
        assert_eq!(asked_wait("NaN", date), None);
        assert_eq!(asked_wait("soon", date), None);
    }

    #[test]
    fn waits_grow_within_bounds_and_end() {
        let waits: Vec<u128> = (1..8).map(|n_attempts| back_off(n_attempts).as_millis()).collect();
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
        assert!(wait(Retry::BackOff, 1).unwrap() <= FIRST_WAIT);
        assert_eq!(wait(Retry::After(Duration::ZERO), 3), Some(Duration::ZERO));
        assert_eq!(wait(Retry::BackOff, MAX_ATTEMPTS), None);
        assert_eq!(wait(Retry::Never, 1), None);
    }

    #[test]
    fn chances_differ_and_stay_between_none_and_all() {
        let chances: Vec<f64> = (0..50).map(|_| chance()).collect();
        assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
        assert!(chances.iter().any(|chance| *chance < 0.5) && chances.iter().any(|chance| *chance > 0.5));
    }
}
