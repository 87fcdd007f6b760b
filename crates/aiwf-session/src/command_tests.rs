use std::collections::BTreeMap;

use super::*;
use crate::call::{ToolOutcome, TouchedFile, Usage};
use crate::change::{Agent, Artifact, ChangeSetup, Task, TaskStatus};
use crate::effect::{Effect, next_effect};
use crate::event::Person;
use crate::flow::{Flow, Gives, PhaseRecipe, PhaseSpec};
use crate::phase::Stage;
use crate::setup::{Approver, GateSetting};
use crate::step::{Pause, Status};
use crate::verdict::Verdict;

fn phase(name: &str) -> Phase {
    Phase::from_name(name).unwrap()
}

fn person() -> Actor {
    Actor::Person(Person { name: "ann".to_owned(), surface: None })
}

fn file(path: &str, content: &str) -> FileHash {
    FileHash { path: path.to_owned(), sha256: format!("sha-of-{content}") }
}

fn setup(gates: &[(&str, GateSetting)], max_iterations: u32) -> Setup {
    Setup {
        session_id: "s".to_owned(),
        name: None,
        flow: None,
        profile: "p".to_owned(),
        profile_sha256: "0".to_owned(),
        context: serde_json::Map::new(),
        roles: BTreeMap::new(),
        agents: BTreeMap::new(),
        gates: gates.iter().map(|(name, gate)| ((*name).to_owned(), gate.clone())).collect(),
        max_iterations,
        hash_prompts: true,
        standards: Some(file("standards-bundle.md", "standards")),
        inputs: Vec::new(),
        left_out: Vec::new(),
        change: None,
    }
}

fn change_setup(max_rounds: u32) -> Setup {
    let change = ChangeSetup { request: "add a login".to_owned(), ..ChangeSetup::default() };
    Setup {
        profile: String::new(),
        standards: None,
        change: Some(Box::new(change)),
        ..setup(&[], max_rounds)
    }
}

/// A session driven command by command.
#[derive(Clone)]
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
        file(&self.state.response_path().unwrap(), "reply")
    }

    fn write_prompt(&mut self) {
        let Step::PromptWanted { phase, iteration } = self.state.step.clone() else {
            panic!("no prompt is wanted: {:?}", self.state.step)
        };
        let prompt = file(&self.state.flow.prompt_path(phase, iteration).unwrap(), "prompt");
        self.run(Command::RecordPrompt {
            prompt,
            system_prompt: None,
            seen: Vec::new(),
            fs_ability: None,
            left_out: Vec::new(),
        })
        .unwrap();
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
            parts: None,
        };
        self.run(sent).unwrap();
        let response = self.response();
        self.run(Command::RecordReply { response, call: None, changes: None }).unwrap();
    }

    fn approve_response(&mut self, outcome: Outcome) {
        let response = self.response();
        self.run(Command::ApproveResponse { by: person(), response, outcome, has_checks: false, note: None })
            .unwrap();
    }

    /// Runs one phase from prompt to approval.
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

fn artifact(phase: Phase, iteration: u32, verdict: Option<Verdict>) -> Artifact {
    let flow = Flow::find_built_in(Flow::CHANGE).unwrap();
    let name = flow.spec(phase).map_or("none.md".to_owned(), PhaseSpec::artifact_file);
    let task = Task { id: "1.1".to_owned(), status: TaskStatus::Completed };
    let new = crate::NewFile {
        path: "src/a.rs".to_owned(),
        sha256: "a".to_owned(),
        before: None,
        executable: None,
    };
    let is_implementation = flow.gives_files(phase);
    Artifact {
        file: file(&name, "artifact"),
        copy: file(&format!("iteration-{iteration}/{name}"), "artifact"),
        verdict,
        tasks: is_implementation.then_some(task).into_iter().collect(),
        files: is_implementation.then_some(new).into_iter().collect(),
        removed: Vec::new(),
        edited: Vec::new(),
        notes: Vec::new(),
    }
}

impl Driven {
    /// Runs one phase of a change from prompt to approval.
    fn walk_change(&mut self, verdict: Option<Verdict>) {
        self.write_prompt();
        self.approve_prompt();
        self.ask();
        let artifact = artifact(self.state.phase, self.state.iteration, verdict);
        self.approve_response(Outcome::Artifact(Box::new(artifact)));
    }

    fn begin(&mut self, phase: Phase, choice: PhaseChoice) -> Result<(), Refusal> {
        self.run(Command::BeginPhase { by: person(), phase, choice: Box::new(choice) })
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
    assert_eq!(session.at(), (phase("generating"), Some(Stage::Prompt), 1));
    session.walk(code(1));
    assert_eq!(session.at(), (phase("reviewing"), Some(Stage::Prompt), 1));
    session.walk(Outcome::Fail);
    assert_eq!(session.at(), (phase("revising"), Some(Stage::Prompt), 2));
    session.walk(code(2));
    assert_eq!(session.at(), (phase("reviewing"), Some(Stage::Prompt), 2));
    session.walk(Outcome::Pass);
    assert_eq!(session.at(), (Phase::COMPLETE, None, 2));
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
        Err(Refusal::CapTooLow { round: 1, given: 1 })
    );
    session.run(Command::RaiseCap { max_iterations: 2 }).unwrap();
    assert_eq!(session.at(), (phase("revising"), Some(Stage::Prompt), 2));
}

#[test]
fn a_person_can_take_code_whose_review_failed() {
    let mut session = Driven::new(setup(&[], 1));
    session.walk(plan());
    session.walk(code(1));
    session.walk(Outcome::Fail);
    session.run(Command::Accept { by: person() }).unwrap();
    assert_eq!(session.state.phase, Phase::COMPLETE);
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
    assert_eq!(session.at(), (phase("planning"), Some(Stage::Prompt), 1));
    let feedback = session.state.feedback.clone().unwrap();
    assert_eq!((feedback.text.as_str(), feedback.rejected_reply), ("too long", Some(kept[0].clone())));
    // The feedback stays until the next reply is approved.
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
    assert_eq!(session.state.phase, phase("generating"));
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
    session.run(Command::RecordReply { response, call, changes: None }).unwrap();
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
    session.run(Command::RecordFailure { message: "cut".to_owned(), call, limit_until: None }).unwrap();
    session.run(Command::Retry { by: person(), kept: Vec::new() }).unwrap();
    session.run(sent(false)).unwrap();
    let total = session.state.total();
    assert_eq!((total.calls, total.input_tokens, total.calls_without_tokens), (2, Some(7), 1));
    // A free call is not counted.
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
    Command::RecordSent { provider: "agent".to_owned(), payload_sha256: "h".to_owned(), is_free, parts: None }
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
        parts: None,
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
    assert_eq!(
        session.state.step,
        Step::PromptWanted { phase: phase("reviewing"), iteration: session.state.iteration }
    );
    let unknown = Command::Rebind { by: person(), files: vec![file("other.md", "x")] };
    assert_eq!(session.run(unknown), Err(Refusal::NotBound { path: "other.md".to_owned() }));
}

#[test]
fn refusals_say_what_is_possible() {
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    let refusal = session.run(Command::Accept { by: person() }).unwrap_err();
    insta::assert_snapshot!(format!("{refusal}\n{:?}", refusal.advice()), @"
    cannot accept now: the planning prompt is waiting for approval
    [Approve, Reject, Cancel]
    ");
    session.run(Command::Cancel { by: person(), reason: None }).unwrap();
    let refusal = session.run(Command::Cancel { by: person(), reason: None }).unwrap_err();
    insta::assert_snapshot!(format!("{refusal}\n{:?}", refusal.advice()), @"
    cannot cancel now: the session is cancelled
    []
    ");
}

#[test]
fn a_change_walks_through_its_phases_and_back_where_a_verdict_says_so() {
    let mut change = Driven::new(change_setup(3));
    assert_eq!(change.at(), (phase("plan"), Some(Stage::Prompt), 1));
    change.walk_change(None);
    change.walk_change(Some(Verdict::NeedsRevision));
    assert_eq!(change.at(), (phase("plan"), Some(Stage::Prompt), 2));
    change.walk_change(None);
    change.walk_change(Some(Verdict::Pass));
    assert_eq!((change.at(), change.state.round), ((phase("implement"), Some(Stage::Prompt), 2), 1));
    change.walk_change(None);
    change.walk_change(Some(Verdict::NeedsChanges));
    assert_eq!((change.at(), change.state.round), ((phase("implement"), Some(Stage::Prompt), 3), 2));
    change.walk_change(None);
    assert!(!change.state.can_apply());
    change.walk_change(Some(Verdict::Pass));
    assert_eq!(change.at(), (phase("archive"), Some(Stage::Prompt), 3));
    assert!(change.state.can_apply());
    change.walk_change(None);
    assert_eq!(change.at(), (Phase::COMPLETE, None, 3));
    assert_eq!(change.state.bound["iteration-3/code/src/a.rs"].sha256, "a");
}

#[test]
fn each_loop_of_a_change_has_its_own_cap() {
    let mut change = Driven::new(change_setup(1));
    change.walk_change(None);
    change.walk_change(Some(Verdict::NeedsRevision));
    assert_eq!(change.state.step, Step::Paused(Pause::IterationCap));
    // A plan that did not pass cannot be accepted.
    assert!(change.run(Command::Accept { by: person() }).is_err());
    let refusal = change.run(Command::RaiseCap { max_iterations: 1 }).unwrap_err();
    insta::assert_snapshot!(format!("{refusal}\n{:?}", refusal.advice()), @"
    the limit must be more than 1 and at most 1000, not 1
    [RaiseCap { rounds: 2 }]
    ");
    change.run(Command::RaiseCap { max_iterations: 2 }).unwrap();
    assert_eq!(change.at(), (phase("plan"), Some(Stage::Prompt), 2));
    change.walk_change(None);
    change.walk_change(Some(Verdict::Pass));
    change.walk_change(None);
    change.walk_change(Some(Verdict::NeedsChanges));
    change.walk_change(None);
    change.walk_change(Some(Verdict::NeedsChanges));
    assert_eq!(change.state.step, Step::Paused(Pause::IterationCap));
    change.run(Command::Accept { by: person() }).unwrap();
    assert_eq!(change.at(), (phase("archive"), Some(Stage::Prompt), 3));
}

#[test]
fn a_rejecting_verdict_stops_until_a_person_replans() {
    let mut change = Driven::new(change_setup(3));
    change.walk_change(None);
    change.walk_change(Some(Verdict::Rejected));
    assert_eq!(change.state.status(), Status::Rejected);
    assert_eq!(next_effect(&change.state), None);
    let refusal = change.begin(phase("implement"), PhaseChoice::default()).unwrap_err();
    insta::assert_snapshot!(format!("{refusal}\n{:?}", refusal.advice()), @"
    cannot work on phase `implement` now: the verdict of phase challenge is REJECTED
    [Reopen, Cancel]
    ");
    let choice =
        PhaseChoice { instructions: Some("keep the old login".to_owned()), ..PhaseChoice::default() };
    change.begin(phase("plan"), choice).unwrap();
    assert_eq!((change.at(), change.state.round), ((phase("plan"), Some(Stage::Prompt), 2), 1));
    let setup = change.state.setup.as_ref().unwrap().change.as_ref().unwrap();
    assert_eq!(setup.instructions_of(phase("plan")), ["keep the old login"]);
}

#[test]
fn a_missing_marker_is_never_a_pass() {
    let mut change = Driven::new(change_setup(3));
    change.walk_change(None);
    change.write_prompt();
    change.approve_prompt();
    change.ask();
    let response = change.response();
    let approve = |artifact: Artifact| Command::ApproveResponse {
        by: person(),
        response: response.clone(),
        outcome: Outcome::Artifact(Box::new(artifact)),
        has_checks: false,
        note: None,
    };
    assert_eq!(
        change.run(approve(artifact(phase("challenge"), 1, None))),
        Err(Refusal::Markers { phase: phase("challenge"), marker: "<review>" })
    );
    assert!(change.run(approve(artifact(phase("plan"), 1, None))).is_err());
    let code = Command::ApproveResponse {
        by: person(),
        response: response.clone(),
        outcome: code(1),
        has_checks: false,
        note: None,
    };
    assert!(change.run(code).is_err());
    change.run(approve(artifact(phase("challenge"), 1, Some(Verdict::Pass)))).unwrap();
    change.write_prompt();
    change.approve_prompt();
    change.ask();
    let response = change.response();
    let silent = Artifact { tasks: Vec::new(), ..artifact(phase("implement"), 1, None) };
    let outcome = Outcome::Artifact(Box::new(silent));
    assert_eq!(
        change.run(Command::ApproveResponse {
            by: person(),
            response,
            outcome,
            has_checks: false,
            note: None
        }),
        Err(Refusal::Markers { phase: phase("implement"), marker: "<task_status>" })
    );
}

#[test]
fn a_phase_command_out_of_order_is_refused_and_names_what_is_possible() {
    let mut change = Driven::new(change_setup(3));
    let refusal = change.begin(phase("implement"), PhaseChoice::default()).unwrap_err();
    insta::assert_snapshot!(format!("{refusal}\n{:?}", refusal.advice()), @"
    cannot work on phase `implement` now: the plan prompt has not been written yet
    [Step, Run, Cancel]
    ");
    change.walk_change(None);
    let refusal = change.begin(phase("plan"), PhaseChoice::default()).unwrap_err();
    insta::assert_snapshot!(format!("{refusal}\n{:?}", refusal.advice()), @"
    cannot work on phase `plan` now: the challenge prompt has not been written yet
    [Step, Run, Cancel]
    ");
    let mut session = Driven::new(setup(&[], 3));
    assert!(session.begin(phase("plan"), PhaseChoice::default()).is_err());
}

#[test]
fn options_of_a_phase_command_apply_once_and_rebuild_a_waiting_prompt() {
    let mut change = Driven::new(change_setup(3));
    let choice = || PhaseChoice {
        agent: Some(Agent { provider: "codex".to_owned(), template: Some("CODEX".to_owned()) }),
        instructions: Some("be brief".to_owned()),
        files: vec!["src/**".to_owned()],
        may_write: true,
        opens_gates: true,
    };
    change.write_prompt();
    change.begin(phase("plan"), choice()).unwrap();
    assert_eq!(
        change.state.step,
        Step::PromptWanted { phase: phase("plan"), iteration: change.state.iteration }
    );
    let n_events = change.events.len();
    // A plan phase never gets write access, however often it is asked for.
    assert!(!change.events.contains(&Event::WriteAllowed));
    change.begin(phase("plan"), choice()).unwrap();
    assert_eq!(change.events.len(), n_events);
    let setup = change.state.setup.as_ref().unwrap();
    assert_eq!(change.state.provider(phase("plan")), "codex");
    assert_eq!(change.state.provider(phase("challenge")), "manual");
    assert_eq!(setup.change.as_ref().unwrap().files_of(phase("plan")), ["src/**"]);
    change.write_prompt();
    assert_eq!(next_effect(&change.state), Some(Effect::PassGate { stage: Stage::Prompt }));
    change.approve_prompt();
    let other = PhaseChoice { instructions: Some("be long".to_owned()), ..PhaseChoice::default() };
    assert_eq!(change.begin(phase("plan"), other), Err(Refusal::Settled { phase: phase("plan") }));
    change.begin(phase("plan"), choice()).unwrap();
}

#[test]
fn an_agent_that_may_write_edits_the_project_and_it_is_on_record() {
    let mut change = Driven::new(change_setup(3));
    change.walk_change(None);
    change.walk_change(Some(Verdict::Pass));
    change.begin(phase("implement"), PhaseChoice { may_write: true, ..PhaseChoice::default() }).unwrap();
    change.write_prompt();
    change.approve_prompt();
    let touch = |path: &str, before: &str, after: &str| {
        let touched = vec![TouchedFile {
            path: path.to_owned(),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        }];
        Some(Box::new(Call { touched, ..Call::default() }))
    };
    change.run(sent(false)).unwrap();
    change
        .run(Command::RecordFailure {
            message: "cut".to_owned(),
            call: touch("src/a.rs", "1", "2"),
            limit_until: None,
        })
        .unwrap();
    change.run(Command::Retry { by: person(), kept: Vec::new() }).unwrap();
    change.run(sent(false)).unwrap();
    let response = change.response();
    change.run(Command::RecordReply { response, call: touch("src/a.rs", "2", "3"), changes: None }).unwrap();
    assert_eq!(change.state.step, Step::ReplyReady { problems: Vec::new() });
    let edited = &change.state.change.edited[0];
    assert_eq!((edited.before.as_deref(), edited.after.as_deref()), (Some("1"), Some("3")));
    // The rules of the project are not editable.
    let response = change.response();
    change
        .run(Command::RecordReply { response, call: touch(".aiwf/config.toml", "1", "2"), changes: None })
        .unwrap();
    assert!(matches!(&change.state.step, Step::ReplyReady { problems } if problems.len() == 1));
    assert_eq!(change.state.change.edited.len(), 1);
}

#[path = "command_checks_tests.rs"]
mod checks;

#[path = "command_revise_tests.rs"]
mod revise;

#[path = "command_properties_tests.rs"]
mod properties;

fn tool_use() -> ToolUse {
    ToolUse {
        id: "call-1".to_owned(),
        server: Some("files".to_owned()),
        tool: "files__read".to_owned(),
        arguments: serde_json::json!({"path": "a"}),
        duration_ms: 3,
        bytes: 5,
        sha256: "h".to_owned(),
        outcome: ToolOutcome::Done,
        message: None,
    }
}

#[test]
fn every_request_of_a_loop_with_tools_counts_and_nothing_else_changes() {
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    session.approve_prompt();
    let again = |is_free| Command::RecordAskedAgain {
        provider: "p".to_owned(),
        payload_sha256: "h2".to_owned(),
        is_free,
        call: Box::new(Call { millis: 7, ..Call::default() }),
        parts: None,
    };
    assert!(session.run(Command::RecordToolCalls { calls: vec![tool_use()] }).is_err());
    assert!(session.run(again(false)).is_err());
    session.run(sent(false)).unwrap();
    session.run(Command::RecordToolCalls { calls: vec![tool_use(), tool_use()] }).unwrap();
    assert!(session.run(again(true)).is_err());
    session.run(again(false)).unwrap();
    assert_eq!(session.state.step, Step::Asked { is_free: false });
    assert_eq!((session.state.total().calls, session.state.spent[0].millis), (2, Some(7)));
    let line = r#"{"event":"tool-called","id":"call-1","server":"files","tool":"files__read","arguments":{"path":"a"},"duration_ms":3,"bytes":5,"sha256":"h","outcome":"done"}"#;
    let event = Event::ToolCalled(Box::new(tool_use()));
    assert_eq!(serde_json::to_string(&event).unwrap(), line);
    assert_eq!(serde_json::from_str::<Event>(line).unwrap(), event);
}
