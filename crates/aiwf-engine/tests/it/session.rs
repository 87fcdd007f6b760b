//! Sessions as a person drives them: every decision is a call, every promise is looked at on disk.

#![expect(clippy::disallowed_methods, reason = "tests move and remove files as a person would")]

use aiwf_engine::config::Flags;
use aiwf_engine::machine::Role;
use aiwf_engine::prompt::FsAbility;
use aiwf_engine::{ApplyChange, ApplyOptions, ApproveOptions, Performed, SessionError};
use serde_json::json;

use crate::driver::{CODE, PLAN, REVISED, Session, approve, at, begin, message, review, yes};
use crate::scene::Scene;

#[test]
fn the_prompt_on_disk_holds_what_the_engine_assembled() {
    let session = Session::new();
    session.answer(PLAN);
    let prompt = session.text("iteration-1/generation-prompt.md");
    assert!(prompt.starts_with("## Approved Plan\n\n# Plan\n\nOne entity.\n"));
    assert!(prompt.contains("\n\n---\n\n## Standards Bundle\n\n"));
    assert!(prompt.contains("CREATE TABLE customer"));
    let save =
        format!("Save your complete response to `{}`", session.path("iteration-1/generation-response.md"));
    assert!(prompt.ends_with(&format!("## Output\n\n{save}")));
}

#[test]
fn an_edited_prompt_is_approved_sent_and_reported() {
    let session = Session::new();
    let path = session.path("iteration-1/planning-prompt.md");
    session.scene.write(&path, "Plan it, briefly.\n");
    let preview = session.preview();
    assert_eq!(preview["prompt"], "Plan it, briefly.\n");
    session.approve();
    assert_eq!(session.event("prompt-approved")["is_edited"], true);
    assert_eq!(session.event("prompt-sent")["payload_sha256"], preview["metadata"]["payload_sha256"]);
}

#[test]
fn a_file_edited_after_its_approval_stops_what_builds_on_it() {
    let session = Session::new();
    session.answer(PLAN);
    session.write("plan.md", "# Another plan\n");
    let status = session.status();
    assert_eq!(status["stale"][0]["path"], session.path("plan.md"));
    let refusal = session.refused(approve);
    assert!(refusal.contains("approved files were changed after their approval\n  plan.md"), "{refusal}");
    let verified = session.engine().verify(session.which()).unwrap();
    let changed: Vec<&str> = verified.differences.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["plan.md"]);
    session.engine().restore(session.which(), "plan.md").unwrap();
    assert_eq!(session.text("plan.md"), PLAN);
    assert!(session.is_intact());
}

#[test]
fn accepted_edits_are_bound_and_the_waiting_prompt_is_built_again() {
    let session = Session::new();
    session.answer(PLAN);
    session.write("plan.md", "# Another plan\n");
    session.rebind();
    assert!(
        session.text("iteration-1/generation-prompt.md").starts_with("## Approved Plan\n\n# Another plan")
    );
    assert!(session.is_intact());
    assert!(session.event_names().contains(&"rebound".to_owned()));
}

#[test]
fn edited_standards_count_as_changed() {
    let session = Session::new();
    session.write("standards-bundle.md", "no rules\n");
    assert!(session.refused(approve).contains("standards-bundle.md"));
}

#[test]
fn a_prompt_that_is_not_hashed_may_change() {
    let session = Session::new();
    let options = ApproveOptions { hash_prompts: Some(false), ..ApproveOptions::default() };
    session.done(|engine, id| engine.approve(id, &options));
    session.write("iteration-1/planning-prompt.md", "later notes\n");
    assert!(session.is_intact());
    assert_eq!(session.status()["stale"], json!([]));
}

#[test]
fn a_reply_with_problems_stays_where_it_is_until_it_is_mended() {
    let session = Session::new();
    session.answer(PLAN);
    session.approve();
    session.respond("<<<FILE: ../escape.java>>>\nclass X {}\n<<<FILE: /etc/passwd>>>\nx\n");
    let refusal = session.refused(approve);
    assert!(refusal.contains("the reply has 2 problems"), "{refusal}");
    assert!(refusal.contains("`../escape.java` ") && refusal.contains("`/etc/passwd` is absolute"));
    let status = session.status();
    assert_eq!(at(&status), ("generating", "response", 1));
    assert_eq!(status["problems"].as_array().unwrap().len(), 2);
    assert!(!session.scene.project.path(session.path("iteration-1/code")).exists());
    session.write("iteration-1/generation-response.md", CODE);
    assert_eq!(at(&session.approve()), ("reviewing", "prompt", 1));
}

#[test]
fn passing_with_critical_issues_is_a_problem() {
    let session = Session::new();
    session.answer(PLAN);
    session.answer(CODE);
    session.approve();
    session.respond(&review("PASS", 1));
    assert!(session.refused(approve).contains("critical"));
}

#[test]
fn a_rejection_goes_into_the_next_prompt_and_nothing_is_lost() {
    let session = Session::new();
    session.approve();
    session.respond("# A plan nobody wants\n");
    let back = session.reject("name the table");
    assert_eq!(at(&back), ("planning", "prompt", 1));
    let prompt = session.text("iteration-1/planning-prompt.md");
    assert!(prompt.contains("## Feedback\n\nname the table"), "{prompt}");
    assert!(prompt.contains("A plan nobody wants"), "the rejected reply is in the next prompt: {prompt}");
    assert_eq!(session.text("iteration-1/planning-response.rejected-1.md"), "# A plan nobody wants\n");
    // The rejected reply is not taken for the next one.
    session.approve();
    assert!(session.refused(approve).contains("there is no reply yet"));
    session.respond(PLAN);
    assert_eq!(at(&session.approve()), ("generating", "prompt", 1));
}

#[test]
fn a_rejected_prompt_is_rebuilt_and_an_edited_one_is_kept() {
    let session = Session::new();
    session.write("iteration-1/planning-prompt.md", "my own words\n");
    session.reject("shorter");
    assert_eq!(session.text("iteration-1/planning-prompt.rejected-1.md"), "my own words\n");
    assert!(session.text("iteration-1/planning-prompt.md").contains("## Feedback\n\nshorter"));
}

fn for_ability(ability: FsAbility) -> ApproveOptions {
    ApproveOptions { fs_ability: Some(ability), ..ApproveOptions::default() }
}

#[test]
fn an_approval_can_change_what_the_receiver_does_with_files() {
    let session = Session::new();
    let prompt = "iteration-1/planning-prompt.md";
    session.done(|engine, id| engine.approve(id, &for_ability(FsAbility::WriteOnly)));
    assert!(session.text(prompt).ends_with("Create a downloadable file named `planning-response.md`"));
    let edited = Session::new();
    edited.write(prompt, "my own words\n");
    let refusal = edited.refused(|engine, id| engine.approve(id, &for_ability(FsAbility::None)));
    assert!(refusal.contains("was edited"), "{refusal}");
}

#[test]
fn what_comes_too_early_or_too_late_is_refused() {
    let session = Session::new();
    let refusal = session.refused(|engine, id| engine.respond(id, "x", None));
    assert!(refusal.contains("no reply is expected now"), "{refusal}");
    assert_eq!(at(&session.step()), ("planning", "prompt", 1));
    session.approve();
    assert!(session.refused(approve).contains("there is no reply yet"));
    session.done(|engine, id| engine.cancel(id, None));
    assert!(session.refused(approve).contains("the session is cancelled"));
    let refusal = session.refused(|engine, id| engine.cancel(id, None));
    assert!(refusal.contains("the session is cancelled"), "{refusal}");
}

#[test]
fn the_limit_pauses_until_a_person_raises_it_or_accepts() {
    let scene = Scene::new().file(".aiwf/config.toml", "[session]\nmax_iterations = 1\n");
    let session = Session::in_scene(scene, &Flags::default());
    session.answer(PLAN);
    session.answer(CODE);
    assert_eq!(session.answer(&review("FAIL", 1))["status"], "paused");
    assert_eq!(session.run()["status"], "paused");
    let refusal = session.refused(|engine, id| engine.raise_cap(id, 1));
    assert!(refusal.contains("the limit must be more than 1"), "{refusal}");
    let report = session.done(|engine, id| engine.raise_cap(id, 2));
    assert_eq!(at(&report), ("revising", "prompt", 2));
    session.answer(REVISED);
    assert_eq!(session.answer(&review("FAIL", 1))["status"], "paused");
    assert_eq!(session.done(|engine, id| engine.accept(id))["phase"], "complete");
    assert!(session.event_names().contains(&"accepted".to_owned()));
}

#[test]
fn a_session_is_found_by_a_part_of_its_name() {
    let session = Session::new();
    let beginning = session.id.get(..session.id.len() - 2).unwrap();
    let report = |typed: &str| session.engine().session_report(Some(typed));
    for name in [session.id.as_str(), beginning, "latest"] {
        assert_eq!(report(name).unwrap().session_id, session.id);
    }
    let refusal = |typed: &str| message(&report(typed).unwrap_err());
    assert_eq!(refusal("nope"), "no session `nope`");
    assert!(refusal("../../etc").contains("no session"));
    begin(&session.scene, &Flags::default()).unwrap();
    let refused = approve(session.engine(), None).unwrap_err().to_string();
    assert!(refused.contains("2 sessions are open"), "{refused}");
    assert!(refusal("2").contains("`2` matches 2 sessions"), "{}", refusal("2"));
}

#[test]
fn the_second_writer_is_refused_and_changes_nothing() {
    let session = Session::new();
    let lock = std::fs::File::open(session.scene.project.path(session.path(".lock"))).unwrap();
    lock.lock().unwrap();
    let refusal = session.refused(approve);
    assert!(refusal.contains("another aiwf process is working on this session"), "{refusal}");
    drop(lock);
    session.approve();
}

/// What every command of a person says that is refused.
fn every_refusal(session: &Session) -> Vec<String> {
    vec![
        session.refused(|engine, id| engine.verify(id)),
        session.refused(|engine, id| engine.step_session(id)),
        session.refused(|engine, id| engine.run_session(id)),
        session.refused(approve),
        session.refused(|engine, id| engine.retry(id, None)),
        session.refused(|engine, id| engine.cancel(id, None)),
        session.refused(|engine, id| engine.apply(id, &ApplyOptions::default())),
    ]
}

/// Why the only session cannot be read, as lists say it.
fn listed_error(session: &Session) -> String {
    session.engine().list_all().unwrap()[0].error.clone().unwrap_or_default()
}

#[test]
fn a_journal_that_lost_its_end_is_noticed() {
    let session = Session::new();
    let whole = session.text("journal.jsonl");
    session.write("journal.jsonl", whole.split_inclusive('\n').next().unwrap());
    for refusal in every_refusal(&session) {
        assert!(refusal.contains("is incomplete: it has 1 of the 2 events you last saw"), "{refusal}");
    }
    let error = session.engine().verify(session.which()).unwrap_err();
    let advice = error.advice().unwrap().worded(|action, _| format!("{action:?}"));
    assert!(advice.contains("restore its `journal.jsonl` from a backup"), "{advice}");
    let status = session.status();
    assert!(status["not_trusted"].as_str().unwrap().contains("is incomplete"), "{status:#}");
    assert!(listed_error(&session).contains("is incomplete"));
    session.write("journal.jsonl", "");
    let refusal = session.refused(|engine, id| engine.verify(id));
    assert!(refusal.contains("it has 0 bytes and had 1"), "{refusal}");
    assert!(listed_error(&session).contains("the end of the journal is missing"));
    session.write("journal.jsonl", whole);
    assert!(session.is_intact());
}

#[test]
fn a_changed_journal_is_refused_by_every_command_and_listed_with_the_reason() {
    let session = Session::new();
    let text = session.text("journal.jsonl").replace("Customer", "Customers");
    session.write("journal.jsonl", text);
    let looks = [
        message(&session.engine().session_report(session.which()).unwrap_err()),
        message(&session.engine().session_events(session.which()).unwrap_err()),
    ];
    for refusal in looks.into_iter().chain([
        message(&approve(session.engine(), session.which()).unwrap_err()),
        message(&session.engine().verify(session.which()).unwrap_err()),
    ]) {
        assert!(refusal.contains("line 1 of the journal was modified"), "{refusal}");
    }
    assert!(listed_error(&session).contains("was modified"));
}

#[test]
fn a_damaged_snapshot_does_no_harm() {
    let session = Session::new();
    session.write("session.json", "{");
    assert_eq!(session.engine().list_all().unwrap().len(), 1);
    session.approve();
    assert!(session.text("session.json").contains("\"planning\""));
}

#[test]
fn generated_code_is_applied_once_shown_and_never_over_something_else() {
    let session = Session::new();
    session.answer(PLAN);
    session.answer(CODE);
    session.answer(&review("PASS", 0));
    let target = "src/main/java/com/example/sales/Customer.java";
    let apply = |options: ApplyOptions| session.engine().apply(session.which(), &options);
    let dry = apply(ApplyOptions { is_dry_run: true, ..ApplyOptions::default() }).unwrap();
    assert!(dry.files[0].diff.contains(&format!("+++ b/{target}")), "{}", dry.files[0].diff);
    assert!(!session.scene.project.path(target).exists());
    session.scene.write(target, "mine\n");
    let Err(SessionError::Conflicts { report, .. }) = apply(ApplyOptions::default()) else {
        panic!("it is mine")
    };
    assert_eq!(report.conflicts().map(|file| file.target.as_str()).collect::<Vec<_>>(), [target]);
    assert!(!session.scene.project.path("src/main/java/com/example/sales/Other.java").exists());
    apply(ApplyOptions { is_forced: true, ..ApplyOptions::default() }).unwrap();
    assert!(session.scene.read(target).contains("class Customer"));
    assert_eq!(session.scene.read(&format!("{target}.orig")), "mine\n");
    let again = apply(ApplyOptions::default()).unwrap();
    assert!(again.files.iter().all(|file| file.change == ApplyChange::Same), "{again:?}");
}

#[test]
fn a_link_on_the_way_into_the_project_is_refused() {
    let session = Session::new();
    session.answer(PLAN);
    session.answer(CODE);
    session.answer(&review("PASS", 0));
    let outside = session.scene.project.home();
    std::os::unix::fs::symlink(&outside, session.scene.project.path("src")).unwrap();
    let refusal = session.refused(|engine, id| engine.apply(id, &ApplyOptions::default()));
    assert!(refusal.contains("leads outside the target directory"), "{refusal}");
    assert!(!outside.join("main").exists());
}

#[test]
fn skip_gates_run_until_a_person_must_answer() {
    let session = Session::with(&yes());
    let status = session.status();
    assert_eq!(at(&status), ("planning", "response", 1));
    assert_eq!(status["gate"]["kind"], "skip");
    session.write("iteration-1/planning-response.md", PLAN);
    let report = session.run();
    assert_eq!((at(&report), &report["status"]), (("generating", "response", 1), &json!("waiting")));
}

#[test]
fn a_prompt_over_the_budget_is_not_sent() {
    let scene = Scene::new().file(".aiwf/config.toml", "[session]\nbudget_tokens = 20000\n");
    let session = Session::in_scene(scene, &Flags::default());
    session.write("iteration-1/planning-prompt.md", "word ".repeat(20_000));
    let refusal = session.refused(approve);
    assert!(refusal.contains("the prompt has 25,000 tokens but the budget is 20,000"), "{refusal}");
    assert!(!session.event_names().contains(&"prompt-sent".to_owned()));
}

#[test]
fn unknown_files_are_listed_and_left_alone() {
    let session = Session::new();
    session.write("notes.txt", "mine");
    assert_eq!(session.status()["unknown"][0], session.path("notes.txt"));
    session.answer(PLAN);
    assert_eq!(session.text("notes.txt"), "mine");
}

#[test]
fn what_a_session_made_can_be_shown() {
    let session = Session::new();
    let show =
        |artifact: &str| session.engine().session_file(session.which(), artifact).map(|(_, text)| text);
    let refusal = |artifact: &str| message(&show(artifact).unwrap_err());
    assert!(refusal("code").contains("has no `code` yet"));
    session.answer(PLAN);
    session.answer(CODE);
    assert_eq!(show("plan").unwrap(), PLAN);
    assert!(show("code").unwrap().starts_with("<<<FILE: Customer.java>>>"));
    assert!(refusal("../../../schema.sql").contains("inside the session"));
    // A review that waits at its gate is what its reader has to judge.
    assert!(refusal("review").contains("has no `review` yet"));
    session.approve();
    session.respond(&review("PASS", 0));
    assert_eq!(show("review").unwrap(), review("PASS", 0));
}

#[test]
fn a_preview_names_the_owner_of_every_byte_after_an_edit_too() {
    let session = Session::new();
    let ids = |session: &Session| {
        let preview = session.preview();
        let sections = preview["sections"].as_array().unwrap().clone();
        let n_bytes: u64 = sections.iter().map(|section| section["bytes"].as_u64().unwrap()).sum();
        assert_eq!(n_bytes, preview["prompt"].as_str().unwrap().len() as u64);
        sections.iter().map(|section| section["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&session), ["standards-bundle", "profile-prompt", "output-instructions"]);
    let prompt = session.text("iteration-1/planning-prompt.md");
    session.write("iteration-1/planning-prompt.md", format!("Read this first.\n\n{prompt}"));
    assert_eq!(ids(&session), ["edited", "standards-bundle", "profile-prompt", "output-instructions"]);
}

#[test]
fn a_refused_retry_or_rejection_changes_no_file() {
    let session = Session::new();
    session.approve();
    session.write("iteration-1/planning-response.md", PLAN);
    let before = session.scene.project.names_in(&session.path("iteration-1"));
    assert!(session.refused(|engine, id| engine.retry(id, None)).contains("cannot retry now"));
    assert_eq!(session.scene.project.names_in(&session.path("iteration-1")), before);
    assert!(session.refused(|engine, id| engine.reject(id, "")).contains("a rejection needs feedback"));
    assert_eq!(session.scene.project.names_in(&session.path("iteration-1")), before);
}

#[test]
fn every_rejected_reply_has_a_copy_of_its_own() {
    let session = Session::new();
    session.approve();
    for (number, reply) in [(1, "one\n"), (2, "two\n")] {
        session.respond(reply);
        session.done(|engine, id| engine.retry(id, None));
        assert_eq!(session.text(&format!("iteration-1/planning-response.rejected-{number}.md")), reply);
    }
}

#[test]
fn feedback_adds_up_until_a_reply_is_approved() {
    let session = Session::new();
    session.approve();
    session.respond("# A plan nobody wants\n");
    session.reject("name the table");
    session.reject("and be brief");
    let prompt = session.text("iteration-1/planning-prompt.md");
    assert!(prompt.contains("name the table\n\nand be brief"), "{prompt}");
    assert!(prompt.contains("A plan nobody wants"), "{prompt}");
}

#[test]
fn a_person_does_not_lose_an_edited_prompt_when_other_edits_are_accepted() {
    let session = Session::new();
    session.answer(PLAN);
    session.write("iteration-1/generation-prompt.md", "my own words\n");
    session.write("plan.md", "# Another plan\n");
    session.rebind();
    assert_eq!(session.text("iteration-1/generation-prompt.rejected-1.md"), "my own words\n");
}

#[test]
fn nothing_is_written_through_a_link_inside_a_session() {
    let session = Session::new();
    session.answer(PLAN);
    session.approve();
    session.respond(CODE);
    let inside = session.scene.project.path(session.path("iteration-1"));
    let outside = session.scene.project.home().join("elsewhere");
    std::fs::rename(&inside, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &inside).unwrap();
    session.refused(approve);
    assert!(!outside.join("code").exists());
}

#[test]
fn a_prompt_that_is_gone_can_be_built_again() {
    let session = Session::new();
    std::fs::remove_file(session.scene.project.path(session.path("iteration-1/planning-prompt.md"))).unwrap();
    assert!(session.refused(approve).contains("planning-prompt.md` is missing"));
    session.reject("write it again");
    assert!(session.text("iteration-1/planning-prompt.md").contains("write it again"));
}

#[test]
fn what_was_derived_from_an_accepted_edit_is_marked() {
    let session = Session::new();
    session.answer(PLAN);
    session.answer(CODE);
    session.write("plan.md", "# Another plan\n");
    let status = session.rebind();
    let outdated = status["outdated"].as_array().unwrap();
    assert!(outdated.contains(&session.path("iteration-1/code/Customer.java").into()), "{status:#}");
}

#[test]
fn a_session_whose_first_prompt_cannot_be_built_has_not_begun() {
    let scene = Scene::new().file(".aiwf/config.toml", "[session]\nbudget_tokens = 10\n");
    begin(&scene, &Flags::default()).unwrap_err();
    assert!(scene.engine.list_all().unwrap().is_empty());
}

#[test]
fn a_provider_that_is_not_there_is_found_at_the_beginning() {
    let scene = Scene::new();
    let flags = Flags { roles: [(Role::PLANNER, "nope".to_owned())].into(), ..Flags::default() };
    let refusal = message(&begin(&scene, &flags).unwrap_err());
    assert!(refusal.contains("`nope`"), "{refusal}");
    assert!(scene.engine.list_all().unwrap().is_empty());
}

#[test]
fn a_profile_that_changes_during_a_session_is_reported() {
    let scene = Scene::new();
    scene.engine.new_profile("notes", "generate", true).unwrap();
    let given = json!({ "request": "cats" }).as_object().cloned().unwrap();
    let new = scene.engine.new_session("notes", given, &Flags::default()).unwrap();
    let id = scene.engine.create_session(new).unwrap().id;
    let session = Session { scene, id };
    let template = ".aiwf/profiles/notes/templates/generate.md";
    let text = session.scene.read(template);
    session.scene.write(template, format!("{text}\nOne more rule.\n"));
    session.approve();
    session.respond(PLAN);
    let decided = approve(session.engine(), session.which()).unwrap();
    let changed = Performed::ProfileChanged { name: "notes".to_owned() };
    assert!(decided.performed.contains(&changed), "{:?}", decided.performed);
}
