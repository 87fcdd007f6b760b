//! Waits that take too long, and calls that someone ends. Every silent connection has to be closed by us, or the
//! server of the test does not end.

use std::time::Duration;

use aiwf_provider::{AskError, Progress, Sink, Stop};
use insta::assert_snapshot;

use crate::asking::{Recorder, ask, ask_into, payload, setting, shown};
use crate::server::{Server, Step, answer, events, piece};

const SHORT: Duration = Duration::from_millis(150);

#[test]
fn a_server_that_says_nothing_is_given_up_at_the_first_byte() {
    let server = Server::new(vec![vec![Step::UntilClosed]]);
    let mut setting = setting("openai", &server);
    setting.timeouts.first_byte = SHORT;
    let (_, reply) = ask(setting);
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    nothing received from `local` within 150 ms
    Retry asks again; `first_byte_timeout` of the provider sets how long to wait
    ");
}

#[test]
fn a_head_is_not_a_byte_of_a_reply() {
    let head = events(&[]).into_bytes();
    let server = Server::new(vec![vec![Step::Write(head), Step::UntilClosed]]);
    let mut setting = setting("openai", &server);
    setting.timeouts.first_byte = SHORT;
    assert!(matches!(ask(setting).1, Err(AskError::TimedOut { wait: aiwf_provider::Wait::FirstByte, .. })));
}

#[test]
fn a_reply_that_stops_half_way_is_given_up_in_the_end_and_kept() {
    let begun = events(&[&piece("hel")]).into_bytes();
    let server = Server::new(vec![vec![Step::Write(begun), Step::UntilClosed]]);
    let mut setting = setting("openai", &server);
    setting.timeouts.first_byte = Duration::from_mins(100);
    setting.timeouts.total = Duration::from_secs(3);
    let (recorder, reply) = ask(setting);
    assert_eq!(recorder.text, "hel");
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    no complete reply from `local` within 3 s
    Retry asks again; `timeout` of the provider sets how long to wait
    ");
}

#[test]
fn a_server_that_cannot_agree_on_a_connection_is_given_up() {
    // Someone listens, and says nothing of TLS.
    let server = Server::new(vec![vec![Step::UntilClosed]]);
    let mut setting = setting("openai", &server);
    if let Some(base_url) = &mut setting.base_url {
        base_url.url = base_url.url.replace("http:", "https:");
    }
    setting.timeouts.connect = SHORT;
    let (_, reply) = ask(setting);
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    could not connect to `local` within 150 ms
    Retry asks again; `connect_timeout` of the provider sets how long to wait
    ");
}

#[test]
fn a_stop_ends_a_call_that_waits_for_more() {
    let begun = events(&[&piece("hel")]).into_bytes();
    let server = Server::new(vec![vec![Step::Write(begun), Step::UntilClosed]]);
    let stop = Stop::default();
    let raised = stop.clone();
    let mut recorder = Recorder { on_text: Some(Box::new(move || raised.raise())), ..Recorder::default() };
    let result = ask_into(setting("openai", &server), &payload(), &stop, &mut recorder);
    assert_eq!(recorder.text, "hel");
    assert_snapshot!(shown(&result.unwrap_err(), &server), @"
    the call to `local` was interrupted
    Retry asks again
    ");
}

/// Raises a stop when a call is to be made again.
struct StopsRetries(Stop);

impl Sink for StopsRetries {
    fn text(&mut self, _: &str) -> std::io::Result<()> {
        Ok(())
    }

    fn restart(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn progress(&mut self, progress: Progress) {
        if matches!(progress, Progress::Retry { .. }) {
            self.0.raise();
        }
    }
}

#[test]
fn a_stop_ends_the_wait_before_another_attempt() {
    let server = Server::answering(&[&answer(503, "retry-after: 50\r\n", "")]);
    let stop = Stop::default();
    let mut sink = StopsRetries(stop.clone());
    let result = ask_into(setting("openai", &server), &payload(), &stop, &mut sink);
    assert!(matches!(result, Err(AskError::Stopped { .. })));
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_stop_that_was_raised_before_lets_nothing_be_sent() {
    let server = Server::answering(&[]);
    let stop = Stop::default();
    stop.raise();
    let result = ask_into(setting("openai", &server), &payload(), &stop, &mut Recorder::default());
    assert!(matches!(result, Err(AskError::Stopped { .. })));
    assert_eq!(server.received().len(), 0);
}
