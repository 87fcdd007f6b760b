//! Waits, but no longer than it may take and not after a stop.

use std::pin::pin;
use std::time::{Duration, Instant};

use super::retry::MAX_ASKED_WAIT;
use crate::ask::Usage;
use crate::ask_error::{AskError, Wait};
use crate::limit::{Clock, Limit};
use crate::provider_setting::Timeouts;
use aiwf_process::Stop;

/// Looks at the time and at the stop while a call waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch<'a> {
    pub(super) provider: &'a str,
    pub(super) stop: &'a Stop,
    pub(super) timeouts: Timeouts,
    pub(super) started_at: Instant,
}

/// Until when something is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    wait: Wait,
    since: Instant,
    after: Duration,
}

impl Deadline {
    fn remaining(self) -> Duration {
        self.after.saturating_sub(self.since.elapsed())
    }
}

impl Watch<'_> {
    /// The end of the whole call.
    pub(super) fn total(&self) -> Deadline {
        Deadline { wait: Wait::Total, since: self.started_at, after: self.timeouts.total }
    }

    /// The first byte of an attempt, or the end of the whole call if that is sooner.
    pub(super) fn first_byte(&self, attempt_at: Instant) -> Deadline {
        let first_byte =
            Deadline { wait: Wait::FirstByte, since: attempt_at, after: self.timeouts.first_byte };
        let total = self.total();
        if first_byte.remaining() < total.remaining() { first_byte } else { total }
    }

    /// Whether a server's wait is short enough to try again within this call.
    pub(super) fn may_wait(&self, wait: Duration) -> bool {
        wait <= MAX_ASKED_WAIT.min(self.total().remaining())
    }

    /// The failure of a call whose limit is lifted only after it.
    pub(super) fn limit_reached(&self, wait: Duration, message: String, usage: Option<Usage>) -> AskError {
        AskError::LimitReached {
            provider: self.provider.to_owned(),
            until: Limit::after(wait, &Clock::of_system()).until,
            message,
            usage: usage.map(Box::new),
        }
    }

    pub(super) fn timed_out(&self, wait: Wait, after: Duration) -> AskError {
        AskError::TimedOut { provider: self.provider.to_owned(), wait, after }
    }

    /// Waits for something.
    pub(super) async fn until<T>(
        &self,
        deadline: Deadline,
        future: impl Future<Output = T>,
    ) -> Result<T, AskError> {
        let mut future = pin!(future);
        loop {
            if self.stop.is_raised() {
                return Err(AskError::Stopped { provider: self.provider.to_owned() });
            }
            let remaining = deadline.remaining();
            if remaining.is_zero() {
                return Err(self.timed_out(deadline.wait, deadline.after));
            }
            if let Ok(value) = tokio::time::timeout(remaining.min(Stop::EVERY), future.as_mut()).await {
                return Ok(value);
            }
        }
    }
}
