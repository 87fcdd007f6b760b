//! Providers that judge at gates, on the command line: what is printed, and what signals leave.

use aiwf_testkit::ModelServer;
use aiwf_testkit::model_server::Turn;

use crate::scene::{KEY, Scene, api_table, eventually};
use crate::session::{PLAN, at};

const PASS: &str = "All is well.\n<review>PASS</review>";

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

    hint: check the key: `aiwf validate providers` shows where aiwf looks for it
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
    assert_eq!(waiting["remark"], "judge: the call was interrupted, so you decide");
    assert_eq!(at(&scene.done("approve")), ("generating", "prompt", 1));
    assert_eq!(court.judge.asks().len(), 1);
}
