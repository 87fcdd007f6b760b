//! Changes as a person drives them: every phase is a call, every promise is looked at on disk.

#![expect(clippy::disallowed_methods, reason = "tests move and remove files as a person would")]

use std::fs;
use std::path::Path;

use aiwf_engine::config::Flags;
use aiwf_engine::{ApplyOptions, NewChange, PhaseOptions};
use serde_json::{Value, json};

use crate::driver::{Change, IMPLEMENTATION, TASKS, approve, message, new_change, verdict, yes};
use crate::scene::{CONFIG, Scene};

fn at(report: &Value) -> (&str, &str, u64) {
    (
        report["phase"].as_str().unwrap(),
        report["status"].as_str().unwrap(),
        report["iteration"].as_u64().unwrap(),
    )
}

#[test]
fn a_recorded_change_replays_without_a_person() {
    let config = "[providers.tape]\ntype = \"replay\"\ndir = \"tape\"\n";
    let change = Change::in_scene(Scene::new().file(".aiwf/config.toml", config), Flags::default());
    let phases = [
        ("plan", TASKS.to_owned()),
        ("challenge", verdict("PASS")),
        ("implement", IMPLEMENTATION.to_owned()),
        ("review", verdict("PASS")),
        ("archive", "# Record\n".to_owned()),
    ];
    for (phase, reply) in &phases {
        change.phase(phase);
        change.approve();
        change.done(|engine, id| engine.respond(id, reply, Some(Path::new("tape"))));
        change.approve();
    }
    change.scene.write(".aiwf/config.toml", format!("{config}[roles]\ndefault = \"tape\"\n"));
    let again = change.engine().create_change(new_change("again", yes())).unwrap().session_id;
    let files =
        ["plan.md", "implementation.md", "iteration-1/code/src/new.txt", "iteration-1/review-prompt.md"];
    let recorded = files.map(|file| change.text(file));
    let change = change.other(again);
    assert_eq!(at(&change.run()), ("complete", "complete", 1));
    assert_eq!(files.map(|file| change.text(file)), recorded);
    let changes = change.engine().list_changes().unwrap();
    let names: Vec<Option<&str>> = changes.iter().map(|change| change.name.as_deref()).collect();
    assert_eq!(names, [Some("again"), Some("login")]);
    assert_eq!(changes[0].context["request"], "Greet the world");
}

#[test]
fn a_plan_that_needs_revision_is_planned_again_until_the_cap() {
    let change = Change::configured("[change]\nmax_rounds = 2\n");
    change.walk("plan", TASKS);
    let report = change.walk("challenge", &verdict("NEEDS_REVISION"));
    assert_eq!(at(&report), ("plan", "in-progress", 2));
    assert_eq!(report["verdicts"]["challenge"], "NEEDS_REVISION");
    assert!(change.refused_phase("implement").contains("cannot work on phase `implement` now"));
    change.walk("plan", "# Plan two\n");
    assert_eq!(change.text("plan.md"), "# Plan two\n");
    assert!(change.text("iteration-1/plan.md").starts_with("# Plan\n"));
    let prompt = change.text("iteration-2/plan-prompt.md");
    assert!(prompt.contains("<artifact name=\"challenge\">"), "{prompt}");
    change.reply("challenge", &verdict("NEEDS_REVISION"));
    let paused = change.approve();
    assert_eq!(paused["status"], "paused");
    change.run();
    assert!(change.refused(|engine, id| engine.accept(id)).contains("cannot accept now"));
    assert!(change.refused(|engine, id| engine.raise_cap(id, 2)).contains("more than 2 and at most 1000"));
    assert_eq!(at(&change.done(|engine, id| engine.raise_cap(id, 3))), ("plan", "in-progress", 3));
    change.walk("plan", "# Plan three\n");
    change.walk("challenge", &verdict("PASS"));
    // The other loop begins anew.
    change.walk("implement", IMPLEMENTATION);
    let report = change.walk("review", &verdict("NEEDS_CHANGES"));
    assert_eq!((at(&report), report["round"].as_u64()), (("implement", "in-progress", 4), Some(2)));
}

#[test]
fn raising_a_limit_in_the_configuration_resumes_a_change() {
    let change = Change::configured("[change]\nmax_rounds = 1\n");
    change.walk("plan", TASKS);
    change.reply("challenge", &verdict("NEEDS_REVISION"));
    change.approve();
    change.scene.write(CONFIG, "[change]\nmax_rounds = 2\n");
    let report = change.phase("plan");
    assert_eq!((at(&report), report["max_rounds"].as_u64()), (("plan", "waiting", 2), Some(2)));
}

#[test]
fn major_issues_stop_until_a_person_accepts_or_replans() {
    let change = Change::new();
    change.walk("plan", TASKS);
    change.walk("challenge", &verdict("PASS"));
    change.walk("implement", IMPLEMENTATION);
    change.reply("review", &verdict("MAJOR_ISSUES"));
    assert_eq!(change.approve()["verdicts"]["review"], "MAJOR_ISSUES");
    assert_eq!(at(&change.done(|engine, id| engine.accept(id))), ("archive", "in-progress", 1));
    assert_eq!(change.event("accepted")["event"], "accepted");
}

#[test]
fn a_missing_marker_is_a_problem_and_never_a_pass() {
    let change = Change::in_scene(Scene::new(), yes());
    change.phase("plan");
    change.respond(TASKS);
    assert_eq!(at(&change.phase("plan")), ("challenge", "in-progress", 1));
    change.phase("challenge");
    change.respond("Looks good to me, PASS.\n");
    assert!(change.refused_phase("challenge").contains("no verdict"));
    assert_eq!(change.status()["phase"], "challenge");
    // An example in a fence is none either.
    change.respond("Like this:\n```\n<review>PASS</review>\n```\n");
    assert!(change.refused(approve).contains("does not count"));
    change.respond("<review>PASS</review> and <review>NEEDS_REVISION</review>\n");
    let report = change.approve();
    assert_eq!(at(&report), ("plan", "in-progress", 2));
    assert!(report["notes"][0].as_str().unwrap().contains("the worst"), "{report:#}");
}

#[test]
fn an_implementation_needs_the_status_of_its_tasks_and_stays_inside_the_project() {
    let change = Change::new();
    change.walk("plan", TASKS);
    change.walk("challenge", &verdict("PASS"));
    change.reply("implement", "done\n<<<FILE: src/greet.txt>>>\nhi\n");
    assert!(change.refused(approve).contains("no task status"));
    let status = "<task_status id=\"1.1\">COMPLETED</task_status>\n";
    change.respond(status);
    assert!(change.refused(approve).contains("no file marker"));
    for path in ["../out.txt", "/etc/passwd", ".git/config", "~/.aiwf/config.toml", "a\\b"] {
        change.respond(&format!("{status}<<<FILE: {path}>>>\nx\n"));
        let refusal = change.refused(approve);
        assert!(refusal.contains("the reply has 1 problem"), "{path}: {refusal}");
    }
    assert!(!change.scene.project.path(change.path("iteration-1/code")).exists());
    change.respond(&format!("{status}<<<FILE: src/greet.txt>>>\nhi\n"));
    assert_eq!(change.approve()["phase"], "review");
}

#[test]
fn what_changed_in_the_project_since_the_implementation_is_not_written_over() {
    let change = Change::new().implemented();
    change.scene.write("src/greet.txt", "hello, you\n");
    let refusal = change.refused(|engine, id| engine.apply(id, &ApplyOptions::default()));
    assert!(refusal.contains("project files would be overwritten"), "{refusal}");
    assert_eq!(change.scene.project.names_in("src"), ["greet.txt"]);
    let options = ApplyOptions { is_forced: true, ..ApplyOptions::default() };
    change.engine().apply(change.which(), &options).unwrap();
    assert_eq!(change.scene.project.read("src/greet.txt.orig"), b"hello, you\n");
    assert_eq!(change.scene.project.read("src/greet.txt"), b"hello, world\n");
}

#[test]
fn an_edit_between_the_prompt_and_the_reply_is_a_conflict_too() {
    let change = Change::new();
    change.walk("plan", TASKS);
    change.walk("challenge", &verdict("PASS"));
    change.reply("implement", IMPLEMENTATION);
    change.scene.write("src/greet.txt", "hello, you\n");
    change.approve();
    change.walk("review", &verdict("PASS"));
    assert!(
        change
            .refused(|engine, id| engine.apply(id, &ApplyOptions::default()))
            .contains("project files would be overwritten")
    );
}

#[test]
fn an_artifact_that_was_edited_stops_what_builds_on_it() {
    let change = Change::new();
    change.walk("plan", TASKS);
    change.write("plan.md", "# Mine\n");
    let refusal = change.refused_phase("challenge");
    assert!(refusal.contains("approved files were changed after their approval\n  plan.md"), "{refusal}");
    assert!(!change.is_intact());
    change.rebind();
    change.phase("challenge");
    assert!(change.text("iteration-1/challenge-prompt.md").contains("# Mine"));
    change.write("plan.md", "# Another\n");
    change.engine().restore(change.which(), "plan.md").unwrap();
    assert_eq!(change.text("plan.md"), "# Mine\n");
}

#[test]
fn a_crash_while_an_artifact_is_written_loses_and_repeats_nothing() {
    let change = Change::new();
    change.walk("plan", TASKS);
    change.walk("challenge", &verdict("NEEDS_REVISION"));
    let before = change.text("plan.md");
    change.reply("plan", "# Plan two\n");
    change.approve();
    // As if the process had died before the approval was in the journal.
    let journal = change.text("journal.jsonl");
    let kept = journal.trim_end().rsplit_once('\n').unwrap().0;
    assert!(kept.lines().last().unwrap().contains("outputs-intended"));
    change.write("journal.jsonl", format!("{kept}\n"));
    // Nor was it remembered.
    fs::remove_dir_all(change.scene.home().join(".aiwf/state")).unwrap();
    change.engine().adopt(&change.engine().adoption("login").unwrap()).unwrap();
    let status = change.status();
    assert_eq!((status["stale"].as_array().unwrap().len(), at(&status)), (0, ("plan", "waiting", 2)));
    // A rejection does not keep what nobody approved.
    change.reject("shorter");
    assert_eq!(change.text("plan.md"), before);
    change.approve();
    change.respond("# Plan two\n");
    assert_eq!(at(&change.approve()), ("challenge", "in-progress", 2));
    assert_eq!(change.text("plan.md"), "# Plan two\n");
}

#[test]
fn a_rejection_goes_into_the_next_prompt_with_the_reply_it_is_about() {
    let change = Change::new();
    change.reply("plan", "# A plan nobody wants\n");
    let report = change.reject("name the file");
    assert_eq!(at(&report), ("plan", "waiting", 1));
    let prompt = change.text("iteration-1/plan-prompt.md");
    assert!(prompt.contains("name the file"), "{prompt}");
    assert!(prompt.contains("<artifact name=\"rejected-reply\"># A plan nobody wants"), "{prompt}");
}

/// A phase whose work somebody in particular does.
fn by(agent: &str) -> PhaseOptions {
    PhaseOptions { agent: Some(agent.to_owned()), ..PhaseOptions::default() }
}

#[test]
fn an_agent_is_chosen_for_a_phase_by_family_or_provider() {
    let change = Change::new();
    change.phase("plan");
    let manual = change.text("iteration-1/plan-prompt.md");
    assert!(manual.contains("Agent: BASE"), "{manual}");
    change.write("iteration-1/plan-prompt.md", "my words\n");
    let briefly = || PhaseOptions { instructions: Some("be brief".to_owned()), ..by("codex") };
    let report = change.phase_with("plan", briefly());
    assert_eq!(report["agents"]["plan"], json!({ "provider": "codex", "template": "CODEX" }));
    assert_eq!(report["agents"]["challenge"]["provider"], "manual");
    let prompt = change.text("iteration-1/plan-prompt.md");
    assert!(prompt.contains("Agent: CODEX") && prompt.contains("be brief"), "{prompt}");
    assert_eq!(change.text("iteration-1/plan-prompt.rejected-1.md"), "my words\n");
    let preview = change.preview();
    assert_eq!(preview["prompt"], prompt.as_str());
    assert!(preview.get("system_prompt").is_none(), "{preview:#}");
    let n_events = change.events().len();
    change.phase_with("plan", briefly());
    assert_eq!(change.events().len(), n_events);
    let refusal = change.refused(|engine, id| engine.run_phase(id.unwrap(), "plan", by("cladue")));
    assert!(refusal.contains("`cladue`"), "{refusal}");
    change.phase_with("plan", by("manual"));
    change.approve();
    let refusal = change.refused(|engine, id| engine.run_phase(id.unwrap(), "plan", by("codex")));
    assert!(refusal.contains("can no longer change"), "{refusal}");
}

#[test]
fn agents_of_the_configuration_serve_their_phases() {
    let config = "[providers.mine]\ntype = \"anthropic\"\n[change]\nagents = { challenge = \"mine\" }\nfiles = [\"no/such/**\"]\n[gates]\n\"plan.prompt\" = \"skip\"\n";
    let change = Change::configured(config);
    let report = change.phase("plan");
    assert_eq!(report["agents"]["challenge"], json!({ "provider": "mine", "template": "CLAUDE" }));
    // The prompt's gate is open; the reply's is not.
    assert_eq!(report["awaiting"][0], change.path("iteration-1/plan-response.md"));
    change.respond(TASKS);
    assert_eq!(change.phase("plan")["gate"]["kind"], "manual");
}

#[test]
fn an_agent_that_may_write_edits_the_project_and_every_file_is_on_record() {
    let script = "printf 'edited\\n' > src/greet.txt; cat > /dev/null; echo '<task_status id=\"1.1\">COMPLETED</task_status>'";
    let config =
        format!("[providers.hand]\ntype = \"command\"\nargv = [\"/bin/sh\", \"-c\", '''{script}''']\n");
    let change = Change::configured(&config);
    change.walk("plan", TASKS);
    change.walk("challenge", &verdict("PASS"));
    let report =
        change.phase_with("implement", PhaseOptions { may_write: true, opens_gates: true, ..by("hand") });
    assert_eq!(at(&report), ("review", "in-progress", 1));
    assert_eq!(report["edited"][0]["path"], "src/greet.txt");
    assert!(report["edited"][0]["before"].is_string() && report["edited"][0]["after"].is_string());
    let prompt = change.text("iteration-1/implement-prompt.md");
    assert!(prompt.contains("You may edit the project"), "{prompt}");
    let outcome = &change.event("response-approved")["outcome"]["artifact"];
    assert_eq!(outcome["edited"][0]["path"], "src/greet.txt");
    // The review sees the project as it is.
    change.walk("review", &verdict("PASS"));
    assert!(change.text("iteration-1/review-prompt.md").contains("edited"));
    let refusal = change.refused(|engine, id| engine.apply(id, &ApplyOptions::default()));
    assert!(refusal.contains("has no files to apply"), "{refusal}");
}

#[test]
fn an_agent_that_may_not_write_and_does_is_a_problem() {
    let script = "cat > /dev/null; printf 'edited\\n' > src/greet.txt; echo '# Plan'";
    let config =
        format!("[providers.hand]\ntype = \"command\"\nargv = [\"/bin/sh\", \"-c\", '''{script}''']\n");
    let change = Change::configured(&config);
    let report = change.phase_with("plan", PhaseOptions { opens_gates: true, ..by("hand") });
    assert!(report["problems"][0].as_str().unwrap().contains("src/greet.txt"), "{report:#}");
}

#[test]
fn names_are_plain_and_taken_once() {
    let change = Change::new();
    let begin = |name: &str, request: &str, files: &str| {
        let new = NewChange {
            request: request.to_owned(),
            files: vec![files.to_owned()],
            ..new_change(name, Flags::default())
        };
        message(&change.engine().create_change(new).unwrap_err())
    };
    assert!(begin("login", "again", "src/*").contains("an open session named `login`"));
    for name in ["a/b", "..", ".hidden", "latest", "nul", "a b"] {
        let refusal = begin(name, "x", "src/*");
        assert!(refusal.contains("is not a valid session name"), "{name}: {refusal}");
    }
    assert!(begin("other", " ", "src/*").contains("the request is empty"));
    assert!(begin("other", "x", "no/such/*").contains("no/such/*"));
    let refusal = message(&change.engine().session_report(Some("lgoin")).unwrap_err());
    assert_eq!(refusal, "no session `lgoin`");
    assert_eq!(change.scene.project.names_in(".aiwf/sessions").len(), 2, "the lock and the change");
    // A change is a session like every other.
    assert_eq!(change.engine().list_all().unwrap().len(), 1);
}

#[test]
fn the_second_writer_is_refused() {
    let change = Change::new();
    let lock = fs::File::open(change.scene.project.path(change.path(".lock"))).unwrap();
    lock.lock().unwrap();
    let refusal = change.refused_phase("plan");
    assert!(refusal.contains("another aiwf process is working on this session"), "{refusal}");
}

#[test]
fn a_cancelled_change_stays_cancelled() {
    let change = Change::new();
    change.done(|engine, id| engine.cancel(id, None));
    assert!(change.refused_phase("plan").contains("the session is cancelled"));
    let hasty = change.engine().clone().skipping_gates(true);
    for engine in [&hasty, change.engine()] {
        let refusal = message(&engine.run_change("login", None).unwrap_err());
        assert!(refusal.contains("session `login` was cancelled"), "{refusal}");
    }
}
