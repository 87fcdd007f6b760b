use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::call::{TouchedFile, Usage};
use crate::effect::{Effect, next_effect};
use crate::setup::GateSetting;
use crate::state::Status;

fn person() -> Actor {
    Actor::Person("ann".to_owned())
}

fn file(path: &str, content: &str) -> FileHash {
    FileHash { path: path.to_owned(), sha256: format!("sha-of-{content}") }
}

fn setup(gates: &[(&str, GateSetting)], max_iterations: u32) -> Setup {
    Setup {
        session_id: "s".to_owned(),
        profile: "p".to_owned(),
        profile_sha256: "0".to_owned(),
        context: serde_json::Map::new(),
        roles: BTreeMap::new(),
        gates: gates.iter().map(|(name, gate)| ((*name).to_owned(), gate.clone())).collect(),
        max_iterations,
        hash_prompts: true,
        standards: file("standards-bundle.md", "standards"),
        inputs: Vec::new(),
    }
}

/// A session that is driven by hand.
struct Driven {
    state: State,
    events: Vec<Event>,
}

impl Driven {
    fn new(setup: Setup) -> Self {
        let mut driven = Self { state: State::default(), events: Vec::new() };
        driven.run(Command::Create(Box::new(setup))).unwrap();
        driven
    }

    fn run(&mut self, command: Command) -> Result<(), Refusal> {
        let events = decide(&self.state, command)?;
        for event in events {
            self.state = std::mem::take(&mut self.state).evolve(&event);
            self.events.push(event);
        }
        Ok(())
    }

    fn response(&self) -> FileHash {
        file(&self.state.phase.response_path(self.state.iteration).unwrap(), "reply")
    }

    fn write_prompt(&mut self) {
        let Step::PromptWanted { phase, iteration } = self.state.step.clone() else {
            panic!("no prompt is wanted: {:?}", self.state.step)
        };
        let prompt = file(&phase.prompt_path(iteration).unwrap(), "prompt");
        self.run(Command::RecordPrompt { prompt, system_prompt: None }).unwrap();
    }

    fn approve_prompt(&mut self) {
        let files = self.state.written.clone();
        self.run(Command::ApprovePrompt { by: person(), files, is_checked: None }).unwrap();
    }

    fn ask(&mut self) {
        let sent = Command::RecordSent {
            provider: "manual".to_owned(),
            payload_sha256: "payload".to_owned(),
            is_free: true,
        };
        self.run(sent).unwrap();
        let response = self.response();
        self.run(Command::RecordReply { response, call: None }).unwrap();
    }

    fn approve_response(&mut self, outcome: Outcome) {
        let response = self.response();
        self.run(Command::ApproveResponse { by: person(), response, outcome }).unwrap();
    }

    /// One whole phase.
    fn walk(&mut self, outcome: Outcome) {
        self.write_prompt();
        self.approve_prompt();
        self.ask();
        self.approve_response(outcome);
    }

    fn at(&self) -> (Phase, Option<Stage>, u32) {
        (self.state.phase, self.state.stage, self.state.iteration)
    }
}

fn plan() -> Outcome {
    Outcome::Plan { plan: file("plan.md", "plan") }
}

fn code(iteration: u32) -> Outcome {
    Outcome::Code { files: vec![file(&format!("iteration-{iteration}/code/A.java"), "code")] }
}

#[test]
fn a_session_walks_through_plan_generate_review_revise_and_ends() {
    let mut session = Driven::new(setup(&[], 5));
    session.walk(plan());
    assert_eq!(session.at(), (Phase::Generating, Some(Stage::Prompt), 1));
    session.walk(code(1));
    assert_eq!(session.at(), (Phase::Reviewing, Some(Stage::Prompt), 1));
    session.walk(Outcome::Fail);
    assert_eq!(session.at(), (Phase::Revising, Some(Stage::Prompt), 2));
    session.walk(code(2));
    assert_eq!(session.at(), (Phase::Reviewing, Some(Stage::Prompt), 2));
    session.walk(Outcome::Pass);
    assert_eq!(session.at(), (Phase::Complete, None, 2));
    assert_eq!(session.state.status(), Status::Complete);
}

#[test]
fn the_last_iteration_that_fails_pauses_until_a_person_decides() {
    let mut session = Driven::new(setup(&[], 1));
    session.walk(plan());
    session.walk(code(1));
    session.walk(Outcome::Fail);
    assert_eq!(session.state.status(), Status::Paused);
    assert_eq!(
        session.run(Command::RaiseCap { max_iterations: 1 }),
        Err(Refusal::CapTooLow { iteration: 1, given: 1 })
    );
    session.run(Command::RaiseCap { max_iterations: 2 }).unwrap();
    assert_eq!(session.at(), (Phase::Revising, Some(Stage::Prompt), 2));
}

#[test]
fn a_person_can_take_code_whose_review_failed() {
    let mut session = Driven::new(setup(&[], 1));
    session.walk(plan());
    session.walk(code(1));
    session.walk(Outcome::Fail);
    session.run(Command::Accept { by: person() }).unwrap();
    assert_eq!(session.state.phase, Phase::Complete);
}

#[test]
fn an_approval_binds_the_bytes_as_they_are_then() {
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    let edited = file("iteration-1/planning-prompt.md", "edited");
    session
        .run(Command::ApprovePrompt { by: person(), files: vec![edited.clone()], is_checked: None })
        .unwrap();
    assert_eq!(session.state.bound["iteration-1/planning-prompt.md"].sha256, edited.sha256);
    assert!(matches!(session.events.last(), Some(Event::PromptApproved { is_edited: true, .. })));
}

#[test]
fn a_rejected_reply_leads_back_to_a_prompt_that_carries_the_feedback() {
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    session.approve_prompt();
    session.ask();
    let kept = vec![file("iteration-1/planning-response.rejected-1.md", "reply")];
    let reject = |feedback: &str| Command::RejectResponse {
        by: person(),
        feedback: feedback.to_owned(),
        kept: kept.clone(),
    };
    assert_eq!(session.run(reject("  ")), Err(Refusal::NoFeedback));
    session.run(reject("too long")).unwrap();
    assert_eq!(session.at(), (Phase::Planning, Some(Stage::Prompt), 1));
    let feedback = session.state.feedback.clone().unwrap();
    assert_eq!((feedback.text.as_str(), feedback.rejected_reply), ("too long", Some(kept[0].clone())));
    // The next prompt still has it; the next approved reply ends it.
    session.write_prompt();
    assert!(session.state.feedback.is_some());
    session.approve_prompt();
    session.ask();
    session.approve_response(plan());
    assert_eq!(session.state.feedback, None);
}

#[test]
fn a_provider_at_a_gate_gives_up_after_its_retries_and_a_person_decides() {
    let judge =
        GateSetting { approver: Approver::Ai("judge".to_owned()), max_retries: 1, allow_rewrite: false };
    let mut session = Driven::new(setup(&[("planning.response", judge)], 5));
    let rejected = || Command::RejectResponse {
        by: Actor::Provider("judge".to_owned()),
        feedback: "no".to_owned(),
        kept: Vec::new(),
    };
    session.write_prompt();
    session.approve_prompt();
    session.ask();
    assert_eq!(
        next_effect(&session.state),
        Some(Effect::Judge { stage: Stage::Response, provider: "judge".to_owned() })
    );
    session.run(rejected()).unwrap();
    session.write_prompt();
    session.approve_prompt();
    session.ask();
    session.run(rejected()).unwrap();
    assert!(matches!(session.events.last(), Some(Event::GateUndecided { .. })));
    assert_eq!(next_effect(&session.state), None);
    session.approve_response(plan());
    assert_eq!(session.state.phase, Phase::Generating);
}

#[test]
fn an_agent_that_touched_the_project_is_looked_at_by_a_person_whatever_the_gate() {
    let mut session = Driven::new(setup(&[("planning.response", GateSetting::SKIP)], 5));
    session.write_prompt();
    session.approve_prompt();
    session.run(sent(false)).unwrap();
    let touched = vec![TouchedFile { path: "src/a.rs".to_owned(), before: None, after: None }];
    let call = Some(Box::new(Call { touched, millis: 5, ..Call::default() }));
    let response = session.response();
    session.run(Command::RecordReply { response, call }).unwrap();
    assert_eq!(next_effect(&session.state), None);
    assert!(matches!(&session.state.step, Step::ReplyReady { problems } if problems.len() == 1));
}

#[test]
fn a_call_that_may_cost_too_much_waits_until_more_may_be_spent() {
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    session.approve_prompt();
    session.run(Command::PauseForBudget { message: "40 of 40 calls".to_owned() }).unwrap();
    assert_eq!(session.state.status(), Status::Paused);
    assert_eq!(next_effect(&session.state), None);
    assert_eq!(session.state.remark.as_deref(), Some("40 of 40 calls"));
    session.run(Command::RaiseBudget).unwrap();
    assert_eq!(next_effect(&session.state), Some(Effect::Ask { provider: "manual".to_owned() }));
}

#[test]
fn calls_that_may_cost_are_counted_whether_they_answer_or_not() {
    let usage = Usage { input_tokens: Some(7), output_tokens: Some(3), ..Usage::default() };
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    session.approve_prompt();
    session.run(sent(false)).unwrap();
    let call = Some(Box::new(Call { usage: Some(usage), ..Call::default() }));
    session.run(Command::RecordFailure { message: "cut".to_owned(), call }).unwrap();
    session.run(Command::Retry { by: person(), kept: Vec::new() }).unwrap();
    session.run(sent(false)).unwrap();
    let total = session.state.total();
    assert_eq!((total.calls, total.input_tokens, total.calls_without_tokens), (2, Some(7), 1));
    // A call that costs nothing is none.
    session.run(Command::Retry { by: person(), kept: Vec::new() }).unwrap();
    session.run(sent(true)).unwrap();
    assert_eq!(session.state.total().calls, 2);
}

#[test]
fn a_judge_is_asked_once_and_counted() {
    let judge = GateSetting { approver: Approver::Ai("judge".to_owned()), ..GateSetting::MANUAL };
    let mut session = Driven::new(setup(&[("planning.prompt", judge)], 5));
    session.write_prompt();
    let asked = || Command::RecordGateAsked {
        provider: "judge".to_owned(),
        payload_sha256: "h".to_owned(),
        is_free: false,
    };
    let answer = || Command::RecordGateAnswer { reply: Some(file("iteration-1/gate.md", "no")), call: None };
    assert!(session.run(answer()).is_err());
    session.run(asked()).unwrap();
    assert!(session.run(asked()).is_err());
    session.run(answer()).unwrap();
    assert_eq!(session.state.total().calls, 1);
}

fn sent(is_free: bool) -> Command {
    Command::RecordSent { provider: "agent".to_owned(), payload_sha256: "h".to_owned(), is_free }
}

#[test]
fn a_skip_gate_is_passed_by_the_engine() {
    let mut session = Driven::new(setup(&[("planning.prompt", GateSetting::SKIP)], 5));
    session.write_prompt();
    assert_eq!(next_effect(&session.state), Some(Effect::PassGate { stage: Stage::Prompt }));
}

#[test]
fn an_interrupted_call_waits_for_a_person_and_can_be_retried() {
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    session.approve_prompt();
    let sent = || Command::RecordSent {
        provider: "agent".to_owned(),
        payload_sha256: "payload".to_owned(),
        is_free: false,
    };
    session.run(sent()).unwrap();
    assert!(session.state.is_interrupted());
    assert_eq!(next_effect(&session.state), None);
    session.run(Command::Retry { by: person(), kept: Vec::new() }).unwrap();
    session.run(sent()).unwrap();
    assert!(matches!(session.events.last(), Some(Event::PromptSent { n_earlier: 1, .. })));
}

#[test]
fn accepted_edits_mark_what_was_derived_and_rebuild_the_waiting_prompt() {
    let mut session = Driven::new(setup(&[], 5));
    session.walk(plan());
    session.walk(code(1));
    session.write_prompt();
    session.run(Command::Rebind { by: person(), files: vec![file("plan.md", "edited")] }).unwrap();
    assert_eq!(session.state.bound["plan.md"].sha256, "sha-of-edited");
    assert!(session.state.outdated.contains("iteration-1/code/A.java"));
    assert!(!session.state.outdated.contains("standards-bundle.md"));
    assert!(matches!(session.state.step, Step::PromptWanted { phase: Phase::Reviewing, .. }));
    let unknown = Command::Rebind { by: person(), files: vec![file("other.md", "x")] };
    assert_eq!(session.run(unknown), Err(Refusal::NotBound { path: "other.md".to_owned() }));
}

#[test]
fn refusals_say_what_is_possible() {
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    let refusal = session.run(Command::Accept { by: person() }).unwrap_err();
    insta::assert_snapshot!(format!("{refusal}\n{}", refusal.hint()), @r"
    cannot accept now: the planning prompt waits for approval
    possible now: `aiwf approve`, `aiwf reject`, `aiwf cancel`
    ");
    session.run(Command::Cancel { by: person() }).unwrap();
    let refusal = session.run(Command::Cancel { by: person() }).unwrap_err();
    insta::assert_snapshot!(format!("{refusal}\n{}", refusal.hint()), @r"
    cannot cancel now: the session is cancelled
    `aiwf status` shows the session; nothing can be changed any more
    ");
}

fn random_command(pick: u8, state: &State) -> Command {
    let by = person();
    let judge = Actor::Provider("judge".to_owned());
    let phase_file = |path: Option<String>| file(&path.unwrap_or_else(|| "none.md".to_owned()), "x");
    let response = phase_file(state.phase.response_path(state.iteration));
    match pick % 24 {
        0 => Command::Create(Box::new(setup(&[], 2))),
        1 | 2 => Command::RecordPrompt {
            prompt: phase_file(state.phase.prompt_path(state.iteration)),
            system_prompt: None,
        },
        3 | 4 => Command::ApprovePrompt { by, files: state.written.clone(), is_checked: None },
        5 => Command::RejectPrompt { by, feedback: "no".to_owned(), kept: Vec::new() },
        6 => Command::RecordSent { provider: "p".to_owned(), payload_sha256: "h".to_owned(), is_free: true },
        7 => Command::RecordSent { provider: "p".to_owned(), payload_sha256: "h".to_owned(), is_free: false },
        8 | 9 => Command::RecordReply { response, call: None },
        10 => Command::RecordFailure { message: "m".to_owned(), call: None },
        11 => Command::RefuseReply { response, problems: vec!["p".to_owned()] },
        12 => Command::ApproveResponse { by, response, outcome: plan() },
        13 => Command::ApproveResponse { by, response, outcome: code(state.iteration) },
        14 => Command::ApproveResponse { by, response, outcome: Outcome::Pass },
        15 => Command::ApproveResponse { by, response, outcome: Outcome::Fail },
        16 => Command::RejectResponse { by: judge, feedback: "no".to_owned(), kept: Vec::new() },
        17 => Command::Retry { by, kept: Vec::new() },
        18 => Command::RaiseCap { max_iterations: state.iteration + 1 },
        19 => Command::PauseForBudget { message: "m".to_owned() },
        20 => Command::RaiseBudget,
        21 => Command::RecordGateAsked {
            provider: "judge".to_owned(),
            payload_sha256: "h".to_owned(),
            is_free: false,
        },
        22 => Command::RecordGateAnswer { reply: Some(file("iteration-1/gate.md", "g")), call: None },
        _ => Command::Rebind { by, files: state.bound.keys().take(1).map(|path| file(path, "y")).collect() },
    }
}

mod properties {
    use super::*;

    proptest! {
        #[test]
        fn any_sequence_of_commands_keeps_the_promises(picks in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut session = Driven::new(setup(&[], 2));
            for pick in picks {
                let before = session.state.clone();
                let command = random_command(pick, &session.state);
                if let Err(refusal) = session.run(command) {
                    prop_assert_eq!(&session.state, &before);
                    prop_assert!(!refusal.hint().is_empty());
                }
                // What is done stays done.
                if before.phase.is_final() {
                    prop_assert_eq!(session.state.phase, before.phase);
                }
                prop_assert!(session.state.iteration >= before.iteration);
                let cap = session.state.setup.as_ref().unwrap().max_iterations;
                prop_assert!(session.state.iteration <= cap);
                // Exactly one of them: something to do, somebody to wait for, or the end.
                let has_effect = next_effect(&session.state).is_some();
                let is_over = session.state.step == Step::Ended;
                prop_assert!(!(has_effect && is_over));
            }
            // The state is the fold of the events, and events survive the journal.
            let lines: Vec<String> =
                session.events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
            let read: Vec<Event> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            prop_assert_eq!(State::fold(&read), session.state.clone());
            // No phase of an iteration is finished twice, and nothing is approved that was not asked for.
            let mut n_sent = 0;
            let mut state = State::default();
            let mut finished = Vec::new();
            for event in &session.events {
                if let Event::PromptWritten { .. } = event {
                    n_sent = 0;
                } else if let Event::PromptSent { .. } = event {
                    n_sent += 1;
                    prop_assert!(
                        matches!(state.step, Step::AskWanted | Step::Asked { is_free: true }),
                        "sent too early"
                    );
                } else if let Event::ResponseApproved { .. } = event {
                    prop_assert!(n_sent > 0);
                    let done = (state.phase, state.iteration);
                    prop_assert!(!finished.contains(&done));
                    finished.push(done);
                }
                state = state.evolve(event);
            }
        }
    }
}
