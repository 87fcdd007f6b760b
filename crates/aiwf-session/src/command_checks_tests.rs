//! Checks between phases, providers that change, and applies that are reversed.

use super::*;
use crate::transitions::{outcomes, sample_check, sample_setup};

impl Driven {
    /// One whole phase of a project that has checks.
    fn walk_with_checks(&mut self) {
        self.write_prompt();
        self.approve_prompt();
        self.ask();
        let (response, outcome) = (self.response(), outcomes(&self.state).remove(0));
        self.run(Command::ApproveResponse { by: person(), response, outcome, has_checks: true, note: None })
            .unwrap();
    }
}

/// A session that follows `do`, with an approved implementation whose checks are to run.
fn at_checks() -> Driven {
    let flow = Flow::find_built_in("do").unwrap();
    let mut session = Driven::new(sample_setup(&flow));
    for phase in ["plan", "implement"] {
        assert_eq!(session.state.phase.as_str(), phase);
        session.walk_with_checks();
    }
    session
}

fn checked(session: &mut Driven, exit_codes: &[i32]) {
    for code in exit_codes {
        session.run(Command::RecordCheck(Box::new(sample_check(*code)))).unwrap();
    }
    session.run(Command::FinishChecks).unwrap();
}

#[test]
fn checks_run_between_the_files_and_the_review() {
    let mut session = at_checks();
    assert_eq!(next_effect(&session.state), Some(Effect::RunChecks));
    checked(&mut session, &[0, 0]);
    assert_eq!(session.state.step, Step::PromptWanted { phase: phase("review"), iteration: 1 });
    // The review is shown how they ended.
    assert_eq!(session.state.checks.len(), 2);
}

#[test]
fn failing_checks_send_the_phase_back_up_to_its_cap_and_then_a_person_decides() {
    let mut session = at_checks();
    for iteration in 2..=3 {
        checked(&mut session, &[0, 1]);
        assert_eq!(session.state.step, Step::PromptWanted { phase: phase("implement"), iteration });
        session.walk_with_checks();
    }
    checked(&mut session, &[1]);
    assert_eq!(session.state.step, Step::Paused(Pause::Checks));
    assert_eq!(session.state.status(), Status::Paused);

    let mut again = session.clone();
    again.run(Command::Retry { by: person(), kept: Vec::new() }).unwrap();
    assert_eq!((&again.state.step, again.state.checks.len()), (&Step::ChecksWanted, 0));

    let mut accepted = session.clone();
    accepted.run(Command::Accept { by: person() }).unwrap();
    assert_eq!(accepted.state.phase.as_str(), "review");

    session
        .run(Command::RejectResponse { by: person(), feedback: "fix it".to_owned(), kept: Vec::new() })
        .unwrap();
    assert_eq!(session.state.step, Step::PromptWanted { phase: phase("implement"), iteration: 4 });
    assert_eq!(session.state.feedback.as_ref().map(|it| it.text.as_str()), Some("fix it"));
}

#[test]
fn checks_without_consent_wait_and_then_run() {
    let mut session = at_checks();
    session.run(Command::HoldChecks { names: vec!["tests".to_owned()] }).unwrap();
    assert_eq!(session.state.step, Step::Paused(Pause::CheckConsent));
    assert_eq!(next_effect(&session.state), None);
    checked(&mut session, &[0]);
    assert_eq!(session.state.phase.as_str(), "review");
}

#[test]
fn a_phase_without_checks_continues_at_once() {
    let flow = Flow::find_built_in("do").unwrap();
    let mut session = Driven::new(sample_setup(&flow));
    session.walk_with_checks();
    // A plan has nothing to check, whatever is configured.
    assert_eq!(session.state.phase.as_str(), "implement");
}

#[test]
fn another_provider_gets_the_same_prompt_or_a_new_one() {
    let agent = |name: &str| Agent { provider: name.to_owned(), template: None };
    let hand_over = |phase: Phase, name: &str, rebuilds_prompt: bool| Command::HandOver {
        by: person(),
        phase,
        agent: agent(name),
        rebuilds_prompt,
        kept: Vec::new(),
    };
    let flow = Flow::find_built_in("do").unwrap();
    let mut session = Driven::new(sample_setup(&flow));
    session.write_prompt();
    session.approve_prompt();
    session.run(sent(false)).unwrap();
    session
        .run(Command::RecordFailure { message: "limit".to_owned(), call: None, limit_until: Some(9) })
        .unwrap();
    assert!(matches!(session.state.step, Step::AskFailed { limit_until: Some(9), .. }));

    let mut same = session.clone();
    same.run(hand_over(phase("plan"), "other", false)).unwrap();
    assert_eq!(same.state.step, Step::AskWanted);
    assert_eq!(same.state.provider(phase("plan")), "other");

    session.run(hand_over(phase("plan"), "other", true)).unwrap();
    assert_eq!(session.state.step, Step::PromptWanted { phase: phase("plan"), iteration: 1 });
    session.run(hand_over(phase("review"), "third", true)).unwrap();
    assert_eq!(session.state.provider(phase("review")), "third");
    assert_eq!(session.state.step, Step::PromptWanted { phase: phase("plan"), iteration: 1 });
}

#[test]
fn an_apply_can_be_reversed_once() {
    let mut session = Driven::new(sample_setup(&Flow::find_built_in("do").unwrap()));
    session.state.phase = Phase::COMPLETE;
    session.state.step = Step::Ended;
    assert!(session.run(Command::IntendUndo { files: Vec::new() }).is_err());
    session.run(Command::IntendApply { files: Vec::new() }).unwrap();
    session.run(Command::RecordApplied).unwrap();
    assert!(session.state.is_applied);
    session.run(Command::IntendUndo { files: Vec::new() }).unwrap();
    session.run(Command::RecordApplied).unwrap();
    assert!(!session.state.is_applied);
}
