//! Providers that judge at gates: what they see, what their verdict does, and when a person decides.

use aiwf_engine::config::Flags;
use serde_json::json;

use crate::driver::{CODE, PLAN, REVISED, Session, at, review, yes};
use crate::fake_provider::{FakeProvider, Turn};
use crate::scene::{Scene, model_table};

const PASS: &str = "All is well.\n<review>PASS</review>";
const NO: &str = "<thought>hm</thought>\nThe table is not named.\n<review>NEEDS_REVISION</review>";
const REWRITE: &str = "Too long.\n<rewrite>\nPlan it, briefly.\n</rewrite>\n<review>NEEDS_REVISION</review>";

/// A session with a worker and a judge.
struct Court {
    worker: FakeProvider,
    judge: FakeProvider,
    session: Session,
}

fn court(work: &[&str], verdicts: &[&str], gates: &str) -> Court {
    let script = |texts: &[&str]| FakeProvider::script(texts.iter().map(|text| Turn::text(*text)));
    let (worker, judge) = (script(work), script(verdicts));
    let tables = format!("{}{}", model_table("worker"), model_table("judge"));
    let scene = Scene::configured(&format!("[roles]\ndefault = \"worker\"\n{tables}[gates]\n{gates}"))
        .with_provider("worker", worker.clone())
        .with_provider("judge", judge.clone());
    Court { session: Session::in_scene(scene, &Flags::default()), worker, judge }
}

impl Court {
    /// How often the worker and the judge were asked.
    fn n_asks(&self) -> (usize, usize) {
        (self.worker.asks().len(), self.judge.asks().len())
    }

    /// The session waits for a person at a gate, with this remark; running it changes nothing.
    #[track_caller]
    fn waits_for_a_person(&self, stage: &str, remark: &str) {
        let before = self.n_asks();
        for report in [self.session.status(), self.session.run()] {
            assert_eq!(at(&report), ("planning", stage, 1), "{report:#}");
            assert_eq!(report["gate"]["state"], "pending");
            let waits_for = if stage == "prompt" { "prompt-approval" } else { "reply-approval" };
            assert_eq!(report["waits_for"], waits_for);
            assert_eq!(report["remark"], remark);
        }
        assert_eq!(self.n_asks(), before);
    }

    /// A person approves instead of the judge.
    #[track_caller]
    fn a_person_approves(&self) {
        assert_eq!(at(&self.session.approve()), ("generating", "prompt", 1));
    }
}

#[test]
fn a_judge_lets_a_whole_session_pass() {
    let (fail, pass) = (review("FAIL", 1), review("PASS", 0));
    let court = court(&[PLAN, CODE, &fail, REVISED, &pass], &[PASS; 10], "default = \"ai:judge\"\n");
    assert_eq!(at(&court.session.status()), ("complete", "-", 2));
    assert_eq!(court.n_asks(), (5, 10));
    let approvals = ["prompt-approved", "response-approved"];
    let events = court.session.events();
    let approved: Vec<_> =
        events.iter().filter(|event| approvals.contains(&event["event"].as_str().unwrap())).collect();
    assert_eq!(approved.len(), 10);
    assert!(approved.iter().all(|event| event["by"] == json!({"provider": "judge"})), "{approved:#?}");
    let usage = court.session.engine().session_usage(court.session.which()).unwrap();
    let usage = serde_json::to_value(&usage).unwrap();
    assert_eq!(usage["total"]["calls"], 15);
    assert_eq!(usage["calls"][0]["is_gate"], true);
    assert!(court.session.is_intact());
}

#[test]
fn a_judge_sees_what_it_judges_and_what_it_was_made_from() {
    let gates = "\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"ai:judge\"\n";
    let court = court(&[PLAN], &[PASS], gates);
    let ask = &court.judge.asks()[0];
    let user = ask.user_messages();
    assert_eq!((user.len(), ask.system_text().as_str()), (1, ""));
    assert!(user[0].contains("<artifact name=\"reply\">"));
    assert!(user[0].contains("One entity."), "the reply itself");
    let prompt = court.session.text("iteration-1/planning-prompt.md");
    let standards = court.session.text("standards-bundle.md");
    assert!(user[0].contains(&prompt) && user[0].contains(&standards));
    // The long parts are what they are elsewhere.
    let shown = user[0].replace(&prompt, "[prompt]").replace(&standards, "[standards]");
    insta::assert_snapshot!("gate_prompt", shown);
    let asked = court.session.event("gate-asked");
    assert_eq!(asked["provider"], "judge");
    assert_eq!(asked["payload_sha256"].as_str().unwrap().len(), 64);
    let reply = court.session.event("gate-answered")["reply"]["path"].as_str().unwrap().to_owned();
    assert_eq!(court.session.text(&reply), PASS);
}

#[test]
fn a_judge_that_says_no_sends_it_back_with_its_words() {
    let second = "# Plan\n\nOne entity, with its table.\n";
    let gates = "\"planning.prompt\" = \"skip\"\n\"planning.response\" = { approver = \"ai:judge\", max_retries = 1 }\n";
    let court = court(&[PLAN, second], &[NO, PASS], gates);
    assert_eq!(at(&court.session.status()), ("generating", "prompt", 1));
    assert_eq!(court.session.text("plan.md"), second);
    let asks = court.worker.asks();
    assert_eq!(asks.len(), 2);
    let retried = &asks[1].user_messages()[0];
    assert!(retried.contains("The table is not named."), "the feedback is in the next prompt");
    assert!(retried.contains("One entity."), "and the reply it is about");
    assert!(!retried.contains("<review>") && !retried.contains("hm"));
    let rejected = court.session.event("response-rejected");
    assert_eq!(rejected["by"], json!({"provider": "judge"}));
    assert_eq!(rejected["feedback"], "The table is not named.");
}

#[test]
fn after_the_retries_of_a_judge_a_person_decides() {
    let gates = "\"planning.prompt\" = \"skip\"\n\"planning.response\" = { approver = \"ai:judge\", max_retries = 1 }\n";
    let court = court(&[PLAN, PLAN], &[NO, NO], gates);
    assert_eq!(court.n_asks(), (2, 2));
    court.waits_for_a_person("response", "judge: The table is not named.");
    assert_eq!(court.session.event("gate-undecided")["provider"], "judge");
    court.a_person_approves();
    let approved = court.session.event("response-approved");
    assert!(approved["by"]["person"].is_string(), "{approved}");
}

#[test]
fn each_gate_of_a_phase_counts_its_own_retries() {
    let judged = "{ approver = \"ai:judge\", max_retries = 1 }";
    let gates = format!("\"planning.prompt\" = {judged}\n\"planning.response\" = {judged}\n");
    let court = court(&[PLAN, PLAN], &[NO, PASS, NO, PASS, PASS], &gates);
    assert_eq!(at(&court.session.status()), ("generating", "prompt", 1));
    assert_eq!(court.n_asks(), (2, 5));
}

#[test]
fn an_answer_without_a_verdict_leaves_the_decision_to_a_person() {
    let gates = "\"planning.prompt\" = \"skip\"\n\"planning.response\" = { approver = \"ai:judge\", max_retries = 3 }\n";
    let court = court(&[PLAN], &["It looks good to me. `<review>PASS</review>`"], gates);
    court.waits_for_a_person("response", "judge: its answer has no verdict, so you decide");
    assert_eq!(court.judge.asks().len(), 1);
    court.a_person_approves();
}

#[test]
fn a_judge_may_rewrite_a_prompt_where_that_is_allowed_and_a_person_looks_at_it() {
    let gates = "\"planning.prompt\" = { approver = \"ai:judge\", max_retries = 1, allow_rewrite = true }\n";
    let court = court(&[PLAN], &[REWRITE], gates);
    let session = &court.session;
    assert!(court.judge.asks()[0].user_messages()[0].contains("between <rewrite> and </rewrite>"));
    assert_eq!(session.text("iteration-1/planning-prompt.md"), "Plan it, briefly.\n");
    court.waits_for_a_person(
        "prompt",
        "judge: it rewrote the prompt, which is kept as iteration-1/planning-prompt.rejected-1.md",
    );
    assert!(session.text("iteration-1/planning-prompt.rejected-1.md").contains("CREATE TABLE customer"));
    session.approve();
    assert_eq!(court.worker.asks()[0].user_messages(), ["Plan it, briefly.\n"]);
    assert_eq!(session.event("prompt-approved")["is_edited"], true);
}

#[test]
fn a_judge_may_not_rewrite_a_prompt_by_default() {
    let gates = "\"planning.prompt\" = { approver = \"ai:judge\", max_retries = 1 }\n";
    let court = court(&[PLAN], &[REWRITE, PASS], gates);
    assert!(!court.judge.asks()[0].user_messages()[0].contains("<rewrite>"));
    let sent = &court.worker.asks()[0].user_messages()[0];
    assert!(sent.contains("Too long.") && !sent.contains("briefly"));
}

#[test]
fn a_manual_judge_is_a_person() {
    let gates = "\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"ai:manual\"\n";
    let court = court(&[PLAN], &[], gates);
    court.waits_for_a_person("response", "manual: a person decides");
    court.a_person_approves();
}

#[test]
fn a_skipped_gate_with_a_manual_provider_waits_for_its_reply() {
    let session = Session::with(&yes());
    for report in [session.status(), session.run()] {
        assert_eq!(at(&report), ("planning", "response", 1));
        assert_eq!(report["waits_for"], "reply", "{report:#}");
        assert_eq!(report["awaiting"], json!([session.path("iteration-1/planning-response.md")]));
    }
    session.write("iteration-1/planning-response.md", PLAN);
    assert_eq!(at(&session.run()), ("generating", "response", 1));
}

#[test]
fn a_person_may_decide_instead_of_a_judge_over_budget() {
    let gates = "\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"ai:judge\"\n";
    let court = court(&[PLAN], &[], &format!("{gates}[budget]\nmax_calls = 1\n"));
    assert_eq!(court.session.status()["status"], "paused");
    court.a_person_approves();
    assert_eq!(court.judge.asks().len(), 0);
}

#[test]
fn a_provider_of_the_configuration_can_judge_at_a_gate_of_a_flag() {
    let config = "[providers.judge]\ntype = \"replay\"\ndir = \"answers\"\n";
    let session =
        Session::in_scene(Scene::configured(config), &crate::driver::gates(&["reviewing.response=ai:judge"]));
    assert_eq!(at(&session.status()), ("planning", "prompt", 1));
}
