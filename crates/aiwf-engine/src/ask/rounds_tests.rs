use serde_json::json;

use super::{CallResult, CutShort, Limit, Rounds};

fn round(tool_loop: &mut Rounds, n: u32) -> bool {
    let fresh = CallResult::new("read", &json!({ "file": n }), false);
    tool_loop.begin_round() && tool_loop.end_round(&[fresh]) && tool_loop.may_ask_again()
}

#[test]
fn after_the_last_round_the_model_answers_and_calls_nothing() {
    let mut tool_loop = Rounds::new(Limit::Rounds(2));
    assert!(round(&mut tool_loop, 1) && round(&mut tool_loop, 2));
    assert_eq!(tool_loop.cut_short(), None);
    assert!(!tool_loop.begin_round());
    assert_eq!((tool_loop.n_rounds(), tool_loop.cut_short()), (2, Some(CutShort::Limit)));
}

#[test]
fn the_calls_of_the_last_request_are_run() {
    let mut tool_loop = Rounds::new(Limit::Requests(2));
    assert!(round(&mut tool_loop, 1));
    assert!(!round(&mut tool_loop, 2));
    assert_eq!((tool_loop.n_rounds(), tool_loop.cut_short()), (2, Some(CutShort::Limit)));
}

#[test]
fn the_same_failure_ends_every_loop_at_the_third_time() {
    for limit in [Limit::Rounds(10), Limit::Requests(10)] {
        let mut tool_loop = Rounds::new(limit);
        let failed = [CallResult::new("read", &json!({}), true)];
        let mut ends = (0..3).map(|_| tool_loop.begin_round() && tool_loop.end_round(&failed));
        assert_eq!(ends.next().into_iter().chain(ends).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!(tool_loop.cut_short(), Some(CutShort::Loop));
    }
}
