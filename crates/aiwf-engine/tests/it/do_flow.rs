//! A request walked through the flow `do`: edits, checks, other providers, and the way into the project and back.

use aiwf_engine::config::Flags;
use aiwf_engine::machine::Delivery;
use aiwf_engine::{
    ApplyChange, ApplyOptions, ApproveOptions, Engine, NewRequest, SessionError, SessionReport,
    SessionStatus, WaitsFor,
};

use crate::driver::yes;
use crate::fake_provider::{FakeProvider, Turn};
use crate::scene::Scene;

const LIST: &str = "def list_items():\n    return []\n";
const EDIT: &str = "Adds the flag.\n\n<<<EDIT: src/list.py>>>\n<<<<<<< SEARCH\ndef list_items():\n=======\ndef list_items(as_json=False):\n>>>>>>> REPLACE\n";
const PLAN: &str = "# Plan\n\n1. Change src/list.py.\n";
const PASS: &str = "Good.\n\n<review>PASS</review>\n";

fn scene(model: &FakeProvider) -> Scene {
    Scene::of_agent(model, "").file("src/list.py", LIST).file("old.py", "old\n").file("run.sh", "echo hi\n")
}

fn request(checks: &[&str], flags: Flags) -> NewRequest {
    NewRequest {
        flow: "do".to_owned(),
        request: "Add a --json flag".to_owned(),
        checks: checks.iter().map(|check| (*check).to_owned()).collect(),
        flags,
        ..NewRequest::default()
    }
}

/// Runs a session without gates until it waits or ends.
#[track_caller]
fn walk(engine: &Engine, new: &NewRequest) -> SessionReport {
    let id = engine.start_flow(new).unwrap().id;
    engine.session_report(Some(id.as_str())).unwrap()
}

#[test]
fn edits_deletions_and_renames_reach_the_project_and_are_taken_back() {
    let reply = format!(
        "{EDIT}\n<<<DELETE: old.py>>>\n\n<<<RENAME: run.sh -> bin/run.sh>>>\n\n<<<FILE: docs/json.md>>>\n# JSON\n"
    );
    let model = FakeProvider::saying([PLAN, &reply, PASS]);
    let scene = scene(&model);
    let report = walk(&scene.engine, &request(&[], yes()));
    assert_eq!(report.status, SessionStatus::Complete);
    // Nothing is in the project before it is applied.
    assert_eq!(scene.read("src/list.py"), LIST);

    let id = Some(report.session_id.as_str());
    let applied = scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    let shown: Vec<(&str, ApplyChange)> =
        applied.files.iter().map(|file| (file.target.as_str(), file.change)).collect();
    assert_eq!(
        shown,
        [
            ("bin/run.sh", ApplyChange::New),
            ("docs/json.md", ApplyChange::New),
            ("old.py", ApplyChange::Deleted),
            ("run.sh", ApplyChange::Deleted),
            ("src/list.py", ApplyChange::Changed),
        ]
    );
    assert!(scene.read("src/list.py").contains("as_json=False"));
    assert_eq!(scene.read("bin/run.sh"), "echo hi\n");
    assert!(!scene.root().join("old.py").exists() && !scene.root().join("run.sh").exists());

    let undone = scene.engine.undo(id).unwrap();
    assert_eq!(undone.files.len(), 5);
    assert_eq!((scene.read("src/list.py").as_str(), scene.read("old.py").as_str()), (LIST, "old\n"));
    assert!(!scene.root().join("docs/json.md").exists());
    assert!(matches!(scene.engine.undo(id), Err(SessionError::Refused(_))));
}

#[test]
fn undo_without_an_id_means_the_only_applied_session() {
    let model = FakeProvider::saying([PLAN, EDIT, PASS, PLAN]);
    let scene = scene(&model);
    let applied = walk(&scene.engine, &request(&[], yes())).session_id;
    scene.engine.apply(Some(applied.as_str()), &ApplyOptions::default()).unwrap();
    // Another session is at its first gate.
    let other = walk(&scene.engine, &request(&[], Flags::default()));
    assert_eq!(other.waits_for, Some(WaitsFor::ReplyApproval));
    assert_eq!(scene.engine.undo(None::<&str>).unwrap().session_id, applied);
    assert_eq!(scene.read("src/list.py"), LIST);
}

#[test]
fn undo_keeps_files_that_changed_since() {
    let model = FakeProvider::saying([PLAN, EDIT, PASS]);
    let scene = scene(&model);
    let report = walk(&scene.engine, &request(&[], yes()));
    let id = Some(report.session_id.as_str());
    scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    scene.write("src/list.py", "mine\n");
    let error = scene.engine.undo(id).unwrap_err();
    assert!(error.to_string().contains("src/list.py"), "{error}");
    assert_eq!(scene.read("src/list.py"), "mine\n");
}

#[test]
fn failing_checks_go_back_with_their_output_and_the_review_sees_how_they_ended() {
    let second = "<<<EDIT: src/list.py>>>\n<<<<<<< SEARCH\ndef list_items(as_json=False):\n=======\ndef list_items(as_json=False): # ok\n>>>>>>> REPLACE\n";
    let model = FakeProvider::saying([PLAN, EDIT, second, PASS]);
    let scene = scene(&model);
    let check = "echo looking at the list; grep -q ok src/list.py";
    let report = walk(&scene.engine, &request(&[check], yes()));
    assert_eq!((report.status, report.iteration), (SessionStatus::Complete, 2));
    assert_eq!(report.checks.iter().map(|check| check.passed).collect::<Vec<_>>(), [true]);
    let prompts = model.prompts();
    // The second round is shown the output, and the file as the first one left it.
    assert!(prompts[2].contains("looking at the list"), "{}", prompts[2]);
    assert!(prompts[2].contains("def list_items(as_json=False):"), "{}", prompts[2]);
    assert!(prompts[3].contains("1 check passed") || prompts[3].contains("Check passed"), "{}", prompts[3]);
    // The changes of all rounds are reviewed together.
    assert!(prompts[3].contains("-def list_items():"), "{}", prompts[3]);
    assert!(prompts[3].contains("+def list_items(as_json=False): # ok"), "{}", prompts[3]);
    let events = scene.engine.session_events(Some(report.session_id.as_str())).unwrap();
    let n_ran = events.iter().filter(|line| line.event.name() == "check-ran").count();
    assert_eq!(n_ran, 2);
}

#[test]
fn checks_that_keep_failing_are_for_a_person() {
    let again = "<<<FILE: note.md>>>\nstill wrong\n";
    let model = FakeProvider::saying([PLAN, EDIT, again, again, PASS]);
    let scene = scene(&model);
    let report = walk(&scene.engine, &request(&["exit 3"], yes()));
    assert_eq!((report.status, report.waits_for), (SessionStatus::Paused, Some(WaitsFor::Decision)));
    assert_eq!(report.checks[0].exit_code, Some(3));
    let id = Some(report.session_id.as_str());
    let accepted = scene.engine.accept(id).unwrap().report;
    assert_eq!(accepted.status, SessionStatus::Complete);
}

#[test]
fn a_check_of_the_project_runs_only_after_consent() {
    let model = FakeProvider::saying([PLAN, EDIT, PASS]);
    let scene =
        scene(&model).file(".aiwf/config.toml", "[[checks]]\nname = \"tests\"\nrun = \"touch ran\"\n");
    let report = walk(&scene.engine, &request(&[], yes()));
    assert_eq!((report.status, report.waits_for), (SessionStatus::Paused, Some(WaitsFor::CheckConsent)));
    let checks = scene.engine.checks().unwrap();
    scene.engine.agree_to_checks(&checks).unwrap();
    let report = scene.engine.run_session(Some(report.session_id.as_str())).unwrap().report;
    assert_eq!(report.status, SessionStatus::Complete);
    assert!(report.checks[0].passed, "{:?}", report.checks);
    // It ran on a copy.
    assert!(!scene.root().join("ran").exists());
}

#[test]
fn a_file_that_the_plan_names_is_shown_to_who_implements_it() {
    let model = FakeProvider::saying([PLAN, EDIT, PASS]);
    let scene = scene(&model);
    walk(&scene.engine, &request(&[], yes()));
    let prompts = model.prompts();
    assert!(!prompts[0].contains("return []"), "{}", prompts[0]);
    assert!(prompts[1].contains("<file path=\"src/list.py\">"), "{}", prompts[1]);
    assert!(!prompts[1].contains("old\n"), "{}", prompts[1]);
}

#[test]
fn edits_apply_to_what_was_shown_and_both_changes_can_be_merged() {
    let model = FakeProvider::saying([PLAN, EDIT, PASS]);
    let scene = scene(&model);
    let gates = crate::driver::gates(&["plan.*=skip", "review.*=skip", "implement.prompt=skip"]);
    let report = walk(&scene.engine, &request(&[], gates));
    assert_eq!(report.waits_for, Some(WaitsFor::ReplyApproval));
    let id = Some(report.session_id.as_str());
    // Meanwhile somebody works on the same file.
    scene.write("src/list.py", format!("{LIST}\n\n\ndef other():\n    pass\n"));
    let diff = scene.engine.pending_diff(id).unwrap().unwrap();
    assert!(diff.contains("+def list_items(as_json=False):"), "{diff}");
    assert_eq!(scene.engine.diff_session(id, None).unwrap(), diff);
    let done = scene.engine.approve(id, &ApproveOptions::default()).unwrap().report;
    assert_eq!(done.status, SessionStatus::Complete);
    let error = scene.engine.apply(id, &ApplyOptions::default()).unwrap_err();
    assert!(matches!(error, SessionError::Conflicts { is_mergeable: true, .. }), "{error}");
    let merging = ApplyOptions { merges: true, ..ApplyOptions::default() };
    let report = scene.engine.apply(id, &merging).unwrap();
    assert_eq!(report.files[0].change, ApplyChange::Merged);
    let text = scene.read("src/list.py");
    assert!(text.contains("as_json=False") && text.contains("def other():"), "{text}");
}

#[test]
fn an_edit_that_fits_nowhere_is_a_problem_and_the_next_try_hears_of_it() {
    let wrong = EDIT.replace("def list_items():", "def list_all():");
    let model = FakeProvider::saying([PLAN, &wrong, EDIT, PASS]);
    let scene = scene(&model);
    let new = request(&[], yes());
    let error = scene.engine.start_flow(&new).unwrap_err();
    assert!(error.to_string().contains("edit of `src/list.py`"), "{error}");
    let report = scene.engine.session_report(None::<&str>).unwrap();
    assert_eq!(report.waits_for, Some(WaitsFor::ReplyApproval));
    let id = Some(report.session_id.as_str());
    let report = scene.engine.reject(id, &report.problems.join("\n")).unwrap().report;
    assert_eq!(report.status, SessionStatus::Complete);
    assert!(model.prompts()[2].contains("nearest"), "{}", model.prompts()[2]);
}

#[test]
fn a_phase_can_be_handed_to_another_provider_with_the_same_prompt() {
    let model = FakeProvider::script([Turn::status_with_body(500, "down")]);
    let other = FakeProvider::saying([PLAN, EDIT, PASS]);
    let scene = scene(&model).with_provider("other", other.clone());
    let error = scene.engine.start_flow(&request(&[], yes())).unwrap_err();
    assert!(error.to_string().contains("down"), "{error}");
    let report = scene.engine.session_report(None::<&str>).unwrap();
    let id = Some(report.session_id.as_str());
    let to_other = |phase: &str| (phase.to_owned(), "other".to_owned());
    scene.engine.assign(id, &[to_other("implement"), to_other("review")]).unwrap();
    let done = scene.engine.retry(id, Some("other")).unwrap().report;
    assert_eq!(done.status, SessionStatus::Complete);
    assert_eq!(other.asks()[0].payload.canonical(), model.asks()[0].payload.canonical());
    let error = scene.engine.assign(id, &[to_other("deploy")]).unwrap_err();
    assert!(matches!(error, SessionError::NoSuchPhase { .. } | SessionError::Refused(_)), "{error}");
}

#[test]
fn a_pasted_reply_approves_the_prompt_it_answers() {
    let scene = Scene::new().file("src/list.py", LIST);
    let new = NewRequest { provider: Some("manual".to_owned()), ..request(&[], Flags::default()) };
    // Nobody has approved the prompt: the flow skips it only for those who do not read it.
    let gates = crate::driver::gates(&["*.prompt=manual"]);
    let id = scene.engine.begin_flow(&NewRequest { flags: gates, ..new }).unwrap().id;
    let id = Some(id.as_str());
    let approval = aiwf_engine::PromptApproval::Implied;
    let refused = scene.engine.respond(id, PLAN, None).unwrap_err();
    assert!(matches!(refused, SessionError::NotAwaited { .. }), "{refused}");
    for reply in [PLAN, EDIT, PASS] {
        let taken = scene.engine.respond_with(id, reply, None, approval).unwrap().report;
        assert_eq!(taken.waits_for, Some(WaitsFor::ReplyApproval));
        scene.engine.approve(id, &ApproveOptions::default()).unwrap();
    }
    assert_eq!(scene.engine.session_report(id).unwrap().status, SessionStatus::Complete);
}

#[test]
fn files_that_tools_run_by_themselves_stop_an_unattended_apply() {
    let reply = "<<<FILE: .github/workflows/ci.yml>>>\non: push\n";
    let model = FakeProvider::saying([PLAN, reply, PASS]);
    let scene = scene(&model);
    let report = walk(&scene.engine, &request(&[], yes()));
    let id = Some(report.session_id.as_str());
    let unattended = ApplyOptions { refuses_self_running: true, ..ApplyOptions::default() };
    let error = scene.engine.apply(id, &unattended).unwrap_err();
    assert!(matches!(error, SessionError::SelfRunningFiles { .. }), "{error}");
    assert!(!scene.root().join(".github").exists());
    scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    assert_eq!(scene.read(".github/workflows/ci.yml"), "on: push\n");
}

/// The end of the prompt that asks for the implementation, under a configuration.
#[track_caller]
fn taught(config: &str) -> String {
    let model = FakeProvider::saying([PLAN, EDIT, PASS]);
    let scene = Scene::of_agent(&model, config).file("src/list.py", LIST);
    assert_eq!(walk(&scene.engine, &request(&[], yes())).status, SessionStatus::Complete);
    let prompt = model.prompts().swap_remove(1);
    let (before, _) = prompt.split_once("After a short report").unwrap();
    prompt.split_at(before.len()).1.to_owned()
}

#[test]
fn one_edit_form_is_taught_and_every_form_is_accepted() {
    let default = taught("");
    insta::assert_snapshot!("search_replace_form", default);
    insta::assert_snapshot!("diff_form", taught("[defaults]\nedit_form = \"diff\"\n"));
    insta::assert_snapshot!("files_form", taught("[defaults]\nedit_form = \"files\"\n"));
}

#[test]
fn a_provider_has_an_edit_form_of_its_own() {
    let config = "[defaults]\nedit_form = \"files\"\n[providers.model]\ntype = \"openai\"\nmodel = \"m\"\nedit_form = \"diff\"\n";
    assert!(taught(config).contains("unified diff"));
}

#[test]
fn a_branch_or_commit_that_cannot_be_made_is_refused_before_any_work() {
    let model = FakeProvider::saying([PLAN, EDIT, PASS]);
    let scene = scene(&model);
    let refused = |branch: Option<&str>, commits| {
        let delivery = Delivery { branch: branch.map(str::to_owned), commits };
        let new = NewRequest { delivery, ..request(&[], yes()) };
        scene.engine.start_flow(&new).unwrap_err().to_string()
    };
    assert!(refused(Some(""), false).contains("git repository"), "{}", refused(Some(""), false));
    assert!(refused(None, true).contains("git repository"));
    assert!(scene.engine.create_repository(&["src/list.py"], "First").unwrap(), "git is installed");
    assert_eq!(refused(Some("bad name"), false), "`bad name` is not a valid branch name");
    assert_eq!(refused(Some("main"), false), "branch `main` already exists");
    assert!(model.asks().is_empty());
    assert!(scene.engine.list_sessions().unwrap().is_empty());
}
