//! Waiting for usage limits, by a clock that a test turns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aiwf_engine::provider::Stop;
use aiwf_engine::{NewRequest, SessionStatus, WaitClock, WaitsFor};

use crate::driver::yes;
use crate::fake_provider::{FakeProvider, Turn, limit_until};
use crate::scene::Scene;

const PLAN: &str = "# Plan\n";
const FILE: &str = "Done.\n\n<<<FILE: a.txt>>>\na\n";
const PASS: &str = "<review>PASS</review>\n";
/// Where the clock starts.
const START: u64 = 1_000_000;

/// Sleeping moves it on by a minute; it raises a stop when somebody waits beyond a time.
#[derive(Clone)]
struct TurnedClock {
    seconds: Arc<AtomicU64>,
    stop: Stop,
    stops_at: u64,
}

impl TurnedClock {
    fn new(stop: &Stop, stops_at: u64) -> Self {
        Self { seconds: Arc::new(AtomicU64::new(START)), stop: stop.clone(), stops_at }
    }
}

impl WaitClock for TurnedClock {
    fn now(&self) -> Duration {
        Duration::from_secs(self.seconds.load(Ordering::SeqCst))
    }

    fn sleep(&self, _how_long: Duration) {
        if self.seconds.fetch_add(60, Ordering::SeqCst) + 60 >= self.stops_at {
            self.stop.raise();
        }
    }
}

fn request() -> NewRequest {
    NewRequest {
        flow: "do".to_owned(),
        request: "Add a file".to_owned(),
        flags: yes(),
        ..NewRequest::default()
    }
}

#[test]
fn every_limit_is_waited_for_and_the_same_prompt_is_sent_again() {
    let turns = [
        Turn::text(PLAN),
        limit_until(START + 3_600),
        limit_until(START + 9_000),
        Turn::text(FILE),
        Turn::text(PASS),
    ];
    let model = FakeProvider::script(turns);
    let scene = Scene::of_agent(&model, "");
    let stop = Stop::default();
    let clock = TurnedClock::new(&stop, u64::MAX);
    let engine = scene.engine.clone().stopped_by(stop).with_wait_clock(clock.clone());
    let error = engine.start_flow(&request()).unwrap_err();
    let report = engine.session_report(None::<&str>).unwrap();
    assert_eq!((report.waits_for, report.limit_until), (Some(WaitsFor::Retry), Some(START + 3_600)));

    let announced = Mutex::new(Vec::new());
    let announce = |until| announced.lock().unwrap().push(until);
    // As a command does it that saw the gate when it began.
    let seen = engine.seen_gate(None::<&str>).unwrap();
    let engine = engine.deciding_on(seen);
    let done = engine.wait_for_limits(None, Err(error), &announce).unwrap();
    assert_eq!(done.report.status, SessionStatus::Complete);
    assert_eq!(*announced.lock().unwrap(), [START + 3_600, START + 9_000]);
    assert!(clock.now().as_secs() >= START + 9_000);
    let asks = model.asks();
    assert_eq!(asks[1].whole(), asks[2].whole());
    assert_eq!(asks[1].whole(), asks[3].whole());
}

#[test]
fn an_interrupted_wait_keeps_the_session_as_it_is() {
    let model = FakeProvider::script([limit_until(START + 3_600), Turn::text(PLAN)]);
    let scene = Scene::of_agent(&model, "");
    let stop = Stop::default();
    let engine = scene.engine.clone().stopped_by(stop.clone());
    let engine = engine.with_wait_clock(TurnedClock::new(&stop, START + 600));
    let error = engine.start_flow(&request()).unwrap_err();
    let error = engine.wait_for_limits(None, Err(error), &|_| ()).unwrap_err();
    assert!(error.to_string().contains("usage limit"), "{error}");
    assert_eq!(model.asks().len(), 1);
    let report = engine.session_report(None::<&str>).unwrap();
    assert_eq!((report.waits_for, report.limit_until), (Some(WaitsFor::Retry), Some(START + 3_600)));
}

#[test]
fn a_failure_that_is_no_limit_is_not_waited_for() {
    let model = FakeProvider::script([Turn::status_with_body(500, "down")]);
    let scene = Scene::of_agent(&model, "");
    let error = scene.engine.start_flow(&request()).unwrap_err();
    let announce = |until: u64| panic!("waits until {until}");
    let error = scene.engine.wait_for_limits(None, Err(error), &announce).unwrap_err();
    assert!(error.to_string().contains("down"), "{error}");
}
