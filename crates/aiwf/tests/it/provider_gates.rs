//! Providers that judge at gates: what they see, what their word does, and when a person decides.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;

use crate::scene::{KEY, Scene, api_table, eventually, replies};
use crate::session::{PLAN, at};

const PASS: &str = "All is well.\n<review>PASS</review>";
const NO: &str = "<thought>hm</thought>\nThe table is not named.\n<review>NEEDS_REVISION</review>";

/// A project with a worker and a judge, each behind a server of its own.
struct Court {
    worker: ModelServer,
    judge: ModelServer,
    scene: Scene,
}

fn court(
    work: impl IntoIterator<Item = Turn>,
    verdicts: impl IntoIterator<Item = Turn>,
    gates: &str,
) -> Court {
    let (worker, judge) = (ModelServer::script(work), ModelServer::script(verdicts));
    let config = format!(
        "[roles]\ndefault = \"worker\"\n{}{}[gates]\n{gates}",
        api_table("worker", "anthropic", &worker),
        api_table("judge", "openai", &judge)
    );
    Court { scene: Scene::new(&config), worker, judge }
}

fn texts(texts: &[&str]) -> Vec<Turn> {
    texts.iter().map(|text| Turn::text(*text)).collect()
}

#[test]
fn a_judge_lets_a_whole_session_pass() {
    let work: Vec<Turn> = replies().into_iter().map(Turn::Text).collect();
    let verdicts = vec![Turn::text(PASS); 10];
    let court = court(work, verdicts, "default = \"ai:judge\"\n");
    assert_eq!(at(&court.scene.init("")), ("complete", "-", 2));
    assert_eq!((court.worker.asks().len(), court.judge.asks().len()), (5, 10));
    for approval in
        court.scene.events().iter().filter(|event| {
            ["prompt-approved", "response-approved"].contains(&event["event"].as_str().unwrap())
        })
    {
        assert_eq!(approval["by"], serde_json::json!({"provider": "judge"}));
    }
    let usage = court.scene.done("status latest --usage")["usage"].clone();
    assert_eq!(usage["total"]["calls"], 15);
    assert_eq!(usage["calls"][0]["is_gate"], true);
    assert_eq!(court.scene.run("verify latest").exit_code(), 0);
}

#[test]
fn a_judge_sees_what_it_judges_and_what_it_was_made_from() {
    let court = court(
        texts(&[PLAN]),
        texts(&[PASS]),
        "\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"ai:judge\"\n",
    );
    court.scene.init("");
    let ask = &court.judge.asks()[0];
    let user = ask.user_texts();
    assert_eq!((user.len(), ask.system_text().as_str()), (1, ""));
    assert!(user[0].contains("<artifact name=\"reply\">"));
    assert!(user[0].contains("One entity."), "the reply itself");
    let prompt = court.scene.text("iteration-1/planning-prompt.md");
    let standards = court.scene.text("standards-bundle.md");
    assert!(user[0].contains(&prompt) && user[0].contains(&standards));
    // The long parts are what they are elsewhere.
    let shown = user[0].replace(&prompt, "[prompt]").replace(&standards, "[standards]");
    insta::assert_snapshot!("gate_prompt", shown);
    let asked = court.scene.event("gate-asked");
    assert_eq!(asked["provider"], "judge");
    assert_eq!(asked["payload_sha256"].as_str().unwrap().len(), 64);
    let reply = court.scene.event("gate-answered")["reply"]["path"].as_str().unwrap().to_owned();
    assert_eq!(court.scene.text(&reply), PASS);
}

#[test]
fn a_judge_that_says_no_sends_it_back_with_its_words() {
    let second = "# Plan\n\nOne entity, with its table.\n";
    let court = court(
        texts(&[PLAN, second]),
        texts(&[NO, PASS]),
        "\"planning.prompt\" = \"skip\"\n\"planning.response\" = { approver = \"ai:judge\", max_retries = 1 }\n",
    );
    let report = court.scene.init("");
    assert_eq!(at(&report), ("generating", "prompt", 1));
    assert_eq!(court.scene.text("plan.md"), second);
    let asks = court.worker.asks();
    assert_eq!(asks.len(), 2);
    let retried = &asks[1].user_messages()[0];
    assert!(retried.contains("The table is not named."), "the feedback is in the next prompt");
    assert!(retried.contains("One entity."), "and the reply it is about");
    assert!(!retried.contains("<review>") && !retried.contains("hm"));
    let rejected = court.scene.event("response-rejected");
    assert_eq!(rejected["by"], serde_json::json!({"provider": "judge"}));
    assert_eq!(rejected["feedback"], "The table is not named.");
}

#[test]
fn after_its_retries_a_person_decides() {
    let court = court(
        texts(&[PLAN, PLAN]),
        texts(&[NO, NO]),
        "\"planning.prompt\" = \"skip\"\n\"planning.response\" = { approver = \"ai:judge\", max_retries = 1 }\n",
    );
    let scene = &court.scene;
    scene.init("");
    assert_eq!((court.worker.asks().len(), court.judge.asks().len()), (2, 2));
    insta::assert_snapshot!(scene.shown(&scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for your approval
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    remark    judge: The table is not named.
    next      aiwf approve [id]
    --- exit code 3
    ");
    let undecided = scene.event("gate-undecided");
    assert_eq!(undecided["provider"], "judge");
    assert_eq!(at(&scene.done("approve")), ("generating", "prompt", 1));
    let approved = scene.event("response-approved");
    assert!(approved["by"]["person"].is_string(), "{approved}");
}

#[test]
fn each_gate_of_a_phase_counts_for_itself() {
    let court = court(
        texts(&[PLAN, PLAN]),
        texts(&[NO, PASS, NO, PASS, PASS]),
        "\"planning.prompt\" = { approver = \"ai:judge\", max_retries = 1 }\n\"planning.response\" = { approver = \"ai:judge\", max_retries = 1 }\n",
    );
    assert_eq!(at(&court.scene.init("")), ("generating", "prompt", 1));
    assert_eq!((court.worker.asks().len(), court.judge.asks().len()), (2, 5));
}

#[test]
fn an_answer_without_a_verdict_leaves_it_to_a_person() {
    let court = court(
        texts(&[PLAN]),
        texts(&["It looks good to me. `<review>PASS</review>`"]),
        "\"planning.prompt\" = \"skip\"\n\"planning.response\" = { approver = \"ai:judge\", max_retries = 3 }\n",
    );
    court.scene.init("");
    insta::assert_snapshot!(court.scene.shown(&court.scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for your approval
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    remark    judge: its answer has no verdict, so a person decides
    next      aiwf approve [id]
    --- exit code 3
    ");
    assert_eq!(court.judge.asks().len(), 1);
    assert_eq!(at(&court.scene.done("approve")), ("generating", "prompt", 1));
}

#[test]
fn a_judge_that_fails_leaves_it_to_a_person() {
    let court = court(
        texts(&[PLAN]),
        [Turn::status(401)],
        "\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"ai:judge\"\n",
    );
    let scene = &court.scene;
    let outcome = scene.run(crate::session::INIT);
    insta::assert_snapshot!(scene.shown(&outcome), @"
    --- stderr
    planning: wrote the prompt iteration-1/planning-prompt.md
    planning: prompt gate skipped
    reply saved to iteration-1/planning-response.md
    error: `judge` answered 401: scripted status 401
      session `[id]`, phase `planning`

    hint: check the key: `aiwf validate providers` says where it is looked for
    --- exit code 4
    ");
    assert!(!outcome.to_string().contains(KEY));
    insta::assert_snapshot!(scene.shown(&scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for your approval
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    remark    judge: `judge` answered 401: scripted status 401
    next      aiwf approve [id]
    --- exit code 3
    ");
    assert_eq!(at(&scene.done("approve")), ("generating", "prompt", 1));
    assert_eq!(court.judge.asks().len(), 1);
}

#[test]
fn a_judge_may_rewrite_a_prompt_where_that_is_allowed_and_a_person_looks_at_it() {
    let rewriting = "Too long.\n<rewrite>\nPlan it, briefly.\n</rewrite>\n<review>NEEDS_REVISION</review>";
    let court = court(
        texts(&[PLAN]),
        texts(&[rewriting]),
        "\"planning.prompt\" = { approver = \"ai:judge\", max_retries = 1, allow_rewrite = true }\n",
    );
    let scene = &court.scene;
    scene.init("");
    assert!(court.judge.asks()[0].user_texts()[0].contains("between <rewrite> and </rewrite>"));
    assert_eq!(scene.text("iteration-1/planning-prompt.md"), "Plan it, briefly.\n");
    insta::assert_snapshot!(scene.shown(&scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, prompt (iteration 1)
    status    waiting for your approval
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    remark    judge: it rewrote the prompt, which is kept as iteration-1/planning-prompt.rejected-1.md
    next      aiwf approve [id]
    --- exit code 3
    ");
    assert!(scene.text("iteration-1/planning-prompt.rejected-1.md").contains("CREATE TABLE customer"));
    scene.done("approve");
    assert_eq!(court.worker.asks()[0].user_texts(), ["Plan it, briefly.\n"]);
    assert_eq!(scene.event("prompt-approved")["is_edited"], true);
}

#[test]
fn a_judge_may_not_rewrite_where_nobody_said_so() {
    let rewriting = "Too long.\n<rewrite>\nPlan it, briefly.\n</rewrite>\n<review>NEEDS_REVISION</review>";
    let court = court(
        texts(&[PLAN]),
        texts(&[rewriting, PASS]),
        "\"planning.prompt\" = { approver = \"ai:judge\", max_retries = 1 }\n",
    );
    court.scene.init("");
    let asks = court.judge.asks();
    assert!(!asks[0].user_messages()[0].contains("<rewrite>"));
    let sent = &court.worker.asks()[0].user_messages()[0];
    assert!(sent.contains("Too long.") && !sent.contains("briefly"));
}

#[test]
fn a_manual_judge_is_a_person() {
    let court =
        court(texts(&[PLAN]), [], "\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"ai:manual\"\n");
    court.scene.init("");
    insta::assert_snapshot!(court.scene.shown(&court.scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for your approval
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    remark    manual: a person decides
    next      aiwf approve [id]
    --- exit code 3
    ");
    assert_eq!(at(&court.scene.done("approve")), ("generating", "prompt", 1));
}

#[test]
fn an_open_gate_with_a_manual_provider_waits() {
    let scene = Scene::new("");
    assert_eq!(at(&scene.init("--yes")), ("planning", "response", 1));
    insta::assert_snapshot!(scene.shown(&scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    waiting for a reply
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    awaiting  .aiwf/sessions/[id]/iteration-1/planning-response.md
    next      save the reply, then aiwf approve [id]
    --- exit code 3
    ");
    scene.project.write(&format!("{}/iteration-1/planning-response.md", scene.session_dir()), PLAN);
    let waiting = scene.answers("run", 3);
    assert_eq!(at(&waiting), ("generating", "response", 1));
}

#[test]
fn a_judge_whose_money_is_gone_waits_for_more_and_a_person_may_decide() {
    let gates = "\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"ai:judge\"\n";
    let court = court(texts(&[PLAN]), texts(&[PASS]), &format!("{gates}[budget]\nmax_calls = 1\n"));
    let scene = &court.scene;
    let report = scene.answers(crate::session::INIT, 3);
    assert_eq!(report["status"], "paused");
    insta::assert_snapshot!(scene.shown(&scene.exits("run", 3)), @"
    --- stdout
    session   [id]
    profile   jpa-mt entity=Customer table=customer bounded_context=sales scope=domain schema_file=schema.sql base_package=com.example conventions=layered
    phase     planning, response (iteration 1)
    status    paused, gate ai:judge pending
    prompt    .aiwf/sessions/[id]/iteration-1/planning-prompt.md
    reply     .aiwf/sessions/[id]/iteration-1/planning-response.md
    remark    1 of 1 calls are used
    next      raise `[budget]` in .aiwf/config.toml, then aiwf run [id], or aiwf approve [id]
    --- exit code 3
    ");
    assert_eq!(court.judge.asks().len(), 0);
    let config = String::from_utf8(scene.project.read("~/.aiwf/config.toml")).unwrap();
    scene.project.write("~/.aiwf/config.toml", config.replace("max_calls = 1", "max_calls = 2"));
    assert_eq!(at(&scene.answers("run", 3)), ("generating", "prompt", 1));
    assert_eq!(court.judge.asks().len(), 1);
}

#[test]
fn a_person_may_decide_instead_of_a_judge_that_is_too_dear() {
    let gates = "\"planning.prompt\" = \"skip\"\n\"planning.response\" = \"ai:judge\"\n";
    let court = court(texts(&[PLAN]), [], &format!("{gates}[budget]\nmax_calls = 1\n"));
    court.scene.answers(crate::session::INIT, 3);
    assert_eq!(at(&court.scene.done("approve")), ("generating", "prompt", 1));
    assert_eq!(court.judge.asks().len(), 0);
}

#[test]
fn a_judge_that_cannot_be_asked_is_found_before_the_session_begins() {
    let scene = Scene::new(
        "[gates]\n\"planning.response\" = \"ai:mine\"\n[providers.mine]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:9\"\n",
    );
    insta::assert_snapshot!(scene.exits(crate::session::INIT, 1).to_string(), @"
    --- stderr
    error: provider `mine` cannot be asked: `model` is not set

    hint: set `model`, the model that answers, in `[providers.mine]`
    --- exit code 1
    ");
    let scene = Scene::new("");
    let unknown = scene.run(&format!("{} --gate planning.response=ai:antropic", crate::session::INIT));
    insta::assert_snapshot!(unknown.to_string(), @"
    --- stderr
    error: unknown provider `antropic` for gate `planning.response`

    hint: did you mean `anthropic`? `aiwf providers` lists all; a table `[providers.NAME]` adds one
    --- exit code 1
    ");
}

#[test]
fn a_judge_that_is_stopped_is_asked_again() {
    let slow = Turn::TextSlowly {
        chunks: vec!["Hm.".to_owned(), "\n".to_owned()],
        delay: std::time::Duration::from_mins(1),
    };
    let court = court(texts(&[PLAN]), [slow, Turn::text(PASS)], "\"planning.response\" = \"ai:judge\"\n");
    let scene = &court.scene;
    scene.init("");
    let running = scene.command("approve").spawn();
    let partial = scene.project.path(scene.session_dir()).join("iteration-1/planning-gate.partial-1.md");
    eventually("the judge's first word", || partial.metadata().is_ok_and(|found| found.len() > 0));
    running.signal("INT");
    assert_eq!(running.wait().code, Some(130));
    assert_eq!(scene.done("status latest")["gate"]["kind"], "ai:judge");
    assert_eq!(at(&scene.answers("run", 3)), ("generating", "prompt", 1));
    assert_eq!((court.worker.asks().len(), court.judge.asks().len()), (1, 2));
}

#[test]
fn a_judge_whose_call_was_killed_is_not_asked_again_by_itself() {
    let slow = Turn::TextSlowly {
        chunks: vec!["Hm.".to_owned(), "\n".to_owned()],
        delay: std::time::Duration::from_mins(1),
    };
    let court = court(texts(&[PLAN]), [slow], "\"planning.response\" = \"ai:judge\"\n");
    let scene = &court.scene;
    scene.init("");
    let running = scene.command("approve").spawn();
    let partial = scene.project.path(scene.session_dir()).join("iteration-1/planning-gate.partial-1.md");
    eventually("the judge's first word", || partial.metadata().is_ok_and(|found| found.len() > 0));
    running.signal("KILL");
    assert_eq!(running.wait().code, None);
    let waiting = scene.answers("run", 3);
    assert_eq!(waiting["remark"], "judge: the call was interrupted, so a person decides");
    assert_eq!(at(&scene.done("approve")), ("generating", "prompt", 1));
    assert_eq!(court.judge.asks().len(), 1);
}
