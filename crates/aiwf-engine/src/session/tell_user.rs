//! Tells the user, through their own program, what a session waits for or how it ended.
//!
//! Once per command, when the session is closed and only if the command moved it, whichever surface the command came from.

use super::open_session::OpenSession;
use super::perform::Performed;
use super::report::limit_until;
use super::snapshot::waits_for;
use crate::ledger::{SessionStatus, WaitsFor};
use crate::notify::{Notification, NotifyEvent};
use crate::{clock, session::change_prompt::request_of};

impl OpenSession<'_> {
    pub(super) fn tell_user(&self) {
        // Who pressed Ctrl-C knows.
        if self.config().notify.run.is_none() || self.engine.call_context().stop.is_raised() {
            return;
        }
        let phase = self.state.phase;
        let (event, what) = if phase.is_final() {
            (NotifyEvent::Ended, phase.to_string())
        } else {
            let Some(awaited) = self.awaited() else { return };
            (NotifyEvent::Waiting, format!("{phase}: {awaited}"))
        };
        let title = self.setup().map(request_of).unwrap_or_default();
        let told = Notification { event, session: &self.ledger.id, title: &title, what: &what };
        if let Some(message) = self.engine.notify_as(self.config(), told) {
            self.notify(&Performed::Noted { message });
        }
    }

    /// What this session waits for, in words; `None` if it can continue.
    fn awaited(&self) -> Option<String> {
        let status = SessionStatus::from(self.state.status());
        if status == SessionStatus::InProgress && !self.is_phase_over() {
            return None;
        }
        let text = match waits_for(&self.state)? {
            WaitsFor::PromptApproval => "waiting for your approval of the prompt",
            WaitsFor::ReplyApproval => "waiting for your approval of the reply",
            WaitsFor::Reply => "waiting for a reply",
            WaitsFor::NextPhase => "waiting for you to start this phase",
            WaitsFor::Budget => "waiting for a larger budget",
            WaitsFor::CheckConsent => "waiting for your consent to the checks",
            WaitsFor::Decision | WaitsFor::Answer => "waiting for your decision",
            WaitsFor::Retry => match limit_until(&self.state) {
                Some(until) => {
                    return Some(format!("waiting for a usage limit until {}", clock::local_time(until)));
                }
                None => "the call failed; you can retry it",
            },
        };
        Some(text.to_owned())
    }
}
