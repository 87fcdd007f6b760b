use serde_json::{Value, json};

use super::{CallResult, Repeats};

fn failed(name: &str, arguments: &Value) -> CallResult {
    CallResult::new(name, arguments, true)
}

#[test]
fn the_same_failure_in_three_rounds_is_a_loop() {
    let mut repeats = Repeats::default();
    let (one, same) = (json!({ "a": 1, "b": 2 }), json!({ "b": 2, "a": 1 }));
    assert!(!repeats.take_round(&[failed("fs.read", &one)]));
    assert!(!repeats.take_round(&[failed("fs.read", &same)]));
    assert!(repeats.take_round(&[failed("fs.read", &one)]));
}

#[test]
fn failures_of_other_calls_do_not_hide_a_loop() {
    let mut repeats = Repeats::default();
    let nothing = json!({});
    for name in ["a", "b", "a", "b"] {
        assert!(!repeats.take_round(&[failed(name, &nothing)]), "{name}");
    }
    assert!(repeats.take_round(&[failed("a", &nothing)]));
}

#[test]
fn a_call_that_works_starts_the_count_again() {
    let mut repeats = Repeats::default();
    let nothing = json!({});
    assert!(!repeats.take_round(&[failed("a", &nothing)]));
    assert!(!repeats.take_round(&[failed("a", &nothing)]));
    assert!(!repeats.take_round(&[CallResult::new("b", &nothing, false), failed("a", &nothing)]));
    assert!(!repeats.take_round(&[failed("a", &nothing)]));
    assert!(repeats.take_round(&[failed("a", &nothing)]));
}

#[test]
fn calls_side_by_side_count_once() {
    let mut repeats = Repeats::default();
    let nothing = json!({});
    let three = [failed("a", &nothing), failed("a", &nothing), failed("a", &nothing)];
    assert!(!repeats.take_round(&three));
    assert!(!repeats.take_round(&three));
    assert!(repeats.take_round(&three));
}

#[test]
fn what_cannot_be_read_counts_like_a_call() {
    let mut repeats = Repeats::default();
    assert!(!repeats.take_round(&[CallResult::unreadable("the block is not closed")]));
    assert!(!repeats.take_round(&[CallResult::unreadable("the block is not closed")]));
    assert!(repeats.take_round(&[CallResult::unreadable("the block is not closed")]));
}
