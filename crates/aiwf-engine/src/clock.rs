//! The time, from the one place that may ask for it.

/// Now, as RFC 3339 in UTC with milliseconds.
pub(crate) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// Now, in a form that sorts by time and can stand in a file name.
pub(crate) fn stamp() -> String {
    jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// The moment a while ago, as [`now`] writes it; `None` when there is none.
pub(crate) fn before_now(a_while: std::time::Duration) -> Option<String> {
    let earlier = jiff::Timestamp::now().checked_sub(a_while).ok()?;
    Some(format!("{earlier:.3}"))
}

/// The seconds since 1970 of a time as [`now`] writes it; `None` when it is none.
pub fn seconds_of(at: &str) -> Option<u64> {
    let at: jiff::Timestamp = at.parse().ok()?;
    u64::try_from(at.as_second()).ok()
}

/// How often a wait looks whether it was interrupted.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(200);

/// What a wait for a usage limit goes by.
pub trait WaitClock: Send + Sync {
    /// The time since 1970.
    fn now(&self) -> std::time::Duration;
    fn sleep(&self, how_long: std::time::Duration);
}

/// The clock of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemClock;

impl WaitClock for SystemClock {
    fn now(&self) -> std::time::Duration {
        let seconds = u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0);
        std::time::Duration::from_secs(seconds)
    }

    fn sleep(&self, how_long: std::time::Duration) {
        std::thread::sleep(how_long);
    }
}

impl crate::Engine {
    /// The same engine; waits for usage limits go by this clock.
    #[must_use]
    pub fn with_wait_clock(mut self, clock: impl WaitClock + 'static) -> Self {
        self.call_context_mut().wait_clock = std::sync::Arc::new(clock);
        self
    }

    /// Waits until a time in seconds since 1970; returns whether it came, rather than an interruption.
    pub(crate) fn wait_until(&self, until: u64) -> bool {
        let context = self.call_context();
        while self.now().as_secs() < until {
            if context.stop.is_raised() {
                return false;
            }
            context.wait_clock.sleep(LOOK_EVERY);
        }
        true
    }

    /// The time since 1970.
    pub fn now(&self) -> std::time::Duration {
        self.call_context().wait_clock.now()
    }
}

/// A time in seconds since 1970 as a person reads it, in the time zone of the system.
pub fn local_time(at: u64) -> String {
    let timestamp = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_second(at).ok());
    timestamp.map_or_else(
        || format!("{at} s after 1970"),
        |timestamp| {
            let zoned = timestamp.to_zoned(jiff::tz::TimeZone::system());
            zoned.strftime("%Y-%m-%d %H:%M").to_string()
        },
    )
}
