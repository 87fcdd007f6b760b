//! Waits for usage limits of providers to end, and asks again.

use super::decisions::Decided;
use crate::Engine;
use crate::session::session_error::SessionError;

impl Engine {
    /// Waits for every usage limit that stops a command, as often as it takes; `announce` hears until when.
    ///
    /// Returns the error of the limit if the wait was interrupted, and every other error at once.
    pub fn wait_for_limits(
        &self,
        given: Option<&str>,
        mut done: Result<Decided, SessionError>,
        announce: &dyn Fn(u64),
    ) -> Result<Decided, SessionError> {
        loop {
            let Err(error) = done else { return done };
            let limit = self.session_report(given).ok().and_then(|report| report.limit_until);
            let Some(until) = limit else { return Err(error) };
            announce(until);
            let Some(next) = self.retry_after_limit(given, until) else { return Err(error) };
            done = next;
        }
    }

    /// Waits until a usage limit has ended, in seconds since 1970, and sends the same prompt again; `None` if the wait
    /// was interrupted.
    pub fn retry_after_limit(
        &self,
        given: Option<&str>,
        until: u64,
    ) -> Option<Result<Decided, SessionError>> {
        if !self.wait_until(until) {
            return None;
        }
        // The gate that the command saw at its start has changed since by the command's own doing.
        let seen = self.seen_gate(given);
        Some(seen.and_then(|seen| self.clone().deciding_on(seen).expecting(None).retry(given, None)))
    }
}
