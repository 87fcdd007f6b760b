//! Tests of prompts and replies as a program that embeds the engine runs them: a case of a file, the report, and that
//! looking writes nothing.

#![expect(clippy::disallowed_methods, reason = "a test puts a link where golden files would be")]

use std::path::PathBuf;

use aiwf_engine::{AgreementKind, TestError, TestOptions, TestOutcome, TestReport, TestResult};

use crate::fake_provider::{FakeProvider, Turn};
use crate::scene::{Scene, model_table, tree};

const FILE: &str = ".aiwf/tests/prompts.toml";

/// A project with these cases.
fn scene(cases: &str) -> Scene {
    Scene::new().file(FILE, cases)
}

fn run(scene: &Scene) -> TestReport {
    run_with(scene, TestOptions::default())
}

#[track_caller]
fn run_with(scene: &Scene, options: TestOptions) -> TestReport {
    scene.engine.test(&options, &|_| ()).unwrap()
}

#[track_caller]
fn update(scene: &Scene) {
    let report = run_with(scene, TestOptions { update: true, ..TestOptions::default() });
    assert!(report.is_passed(), "{:#?}", report.results);
}

/// The only failure of a run.
#[track_caller]
fn failure(report: &TestReport) -> (TestOutcome, Option<&str>, &str) {
    let failures: Vec<_> = report.results.iter().flat_map(TestResult::failures).collect();
    assert_eq!(failures.len(), 1, "{:#?}", report.results);
    (failures[0].outcome, failures[0].section.as_deref(), &failures[0].message)
}

#[track_caller]
fn passes(scene: &Scene) {
    let report = run(scene);
    let failures: Vec<_> = report.results.iter().flat_map(TestResult::failures).collect();
    assert!(report.is_passed() && failures.is_empty() && report.counts.passed > 0, "{:#?}", report.results);
}

const CHANGE: &str = r#"
[[case]]
name = "the plan"
recipe = "change"
document = { phase = "plan", instructions = "Add login", context = [{ type = "file", name = "src/a.rs", content = "fn a() {}" }] }
for = ["none+system"]
format = "text"
[[case.assert]]
type = "golden"
"#;

#[test]
fn a_broken_template_is_named_as_the_section_that_changed() {
    let scene =
        scene(CHANGE).file(".aiwf/templates/system/BASE-plan.md", "Plan well.\n\nSay what you change.\n");
    let report = run(&scene);
    assert_eq!(
        failure(&report),
        (TestOutcome::Failed, None, "there is no golden file yet; `--update` writes it")
    );
    update(&scene);
    passes(&scene);
    scene.write(".aiwf/templates/system/BASE-plan.md", "Plan well.\n\nSay what you chang.\n");
    let report = run(&scene);
    assert_eq!(failure(&report).1, Some("system-template"));
    let diff = report.results[0].assertions[0].diff.clone().unwrap();
    assert!(diff.contains("-Say what you change.\n+Say what you chang.\n"), "{diff}");
}

const PROFILE: &str = r#"
[[case]]
name = "generating"
profile = "react-component"
params = { component = "Button" }
phase = "generating"
scenario = "replies"
for = ["none"]
[[case.assert]]
type = "golden"
[[case.assert]]
type = "section.order"
value = ["approved-plan", "standards-bundle", "profile-prompt"]
[[case.assert]]
type = "section.contains"
section = "approved-plan"
value = "A button"
[[case.assert]]
type = "equals_preview"
[[case.assert]]
type = "no_paths"
"#;

#[test]
fn a_broken_standard_is_named_as_the_section_that_changed() {
    let scene = scene(PROFILE)
        .file(".aiwf/tests/replies/planning.md", "# Plan\n\nA button.\n")
        .file(".aiwf/standards/house.md", "Never use inline styles.\n");
    update(&scene);
    passes(&scene);
    scene.write(".aiwf/standards/house.md", "Use inline styles.\n");
    let report = run(&scene);
    assert_eq!(
        failure(&report),
        (TestOutcome::Failed, Some("standards-bundle"), "section `standards-bundle` changed")
    );
}

/// A reply to an agent, with a tool and the orders of components.
fn reply_document(schema: &str, components: &str) -> String {
    format!(
        r#"{{ "mode": "cli", "request": {{ "ai_message": "Done.", "user_context": "Be brief.", "include_mcp_tools": true }},
            "settings": {{ "system_prompt": "You review.", "components": {components} }},
            "mcp_tools": [{{ "name": "search", "description": "Finds text.", "input_schema": {schema} }}] }}"#
    )
}

const REPLY: &str = r#"
[[case]]
name = "the reply"
recipe = "reply"
input = "reply.json"
for = ["none"]
[[case.assert]]
type = "golden"
"#;

const SCHEMA: &str = r#"{ "type": "object", "properties": { "text": { "type": "string" } } }"#;

#[test]
fn a_broken_tool_schema_is_named_as_the_section_that_changed() {
    let scene = scene(REPLY).file(".aiwf/tests/reply.json", reply_document(SCHEMA, "[]"));
    update(&scene);
    passes(&scene);
    let broken = SCHEMA.replace("\"text\"", "\"txt\"");
    scene.write(".aiwf/tests/reply.json", reply_document(&broken, "[]"));
    assert_eq!(failure(&run(&scene)).1, Some("mcp-tools"));
}

#[test]
fn a_changed_section_order_is_named_with_the_section_that_moved() {
    let order =
        "\n[[case.assert]]\ntype = \"section.order\"\nvalue = [\"system-prompt\", \"user-context\"]\n";
    let scene =
        scene(&format!("{REPLY}{order}")).file(".aiwf/tests/reply.json", reply_document(SCHEMA, "[]"));
    update(&scene);
    passes(&scene);
    let moved = reply_document(SCHEMA, r#"[{ "id": "user-context", "order": 5 }]"#);
    scene.write(".aiwf/tests/reply.json", moved);
    let report = run(&scene);
    let failures: Vec<_> = report.results[0].failures().collect();
    let named: Vec<&str> = failures.iter().filter_map(|failure| failure.section.as_deref()).collect();
    assert_eq!(failures.len(), 2, "{failures:#?}");
    assert_eq!(failures[0].message, "section `user-context` moved");
    assert_eq!(named, ["user-context", "user-context"]);
}

#[test]
fn prompts_are_checked_in_every_capability_by_default_without_the_users_configuration() {
    let cases = r#"
[[case]]
name = "everywhere"
recipe = "change"
document = { instructions = "Add login" }
[[case.assert]]
type = "section.present"
section = "instructions"
[[case.assert]]
type = "section.absent"
section = "system-template"
[[case.assert]]
type = "tokens.max"
value = 200
[[case.assert]]
type = "section.share"
section = "instructions"
value = 1.0
[[case.assert]]
type = "cost.max"
model = "gpt-5"
value = 0.01
[[case.assert]]
type = "lint"
[[case.assert]]
type = "not_section.contains"
value = "logout"
"#;
    let scene = scene(cases).file("~/.aiwf/templates/system/BASE-plan.md", "Mine.");
    let report = run(&scene);
    let receivers: Vec<&str> = report.results.iter().map(|result| result.receiver.as_str()).collect();
    assert_eq!(receivers, ["local-write", "local-write+system", "none+system", "none"]);
    assert!(report.is_passed(), "{:#?}", report.results);
}

#[test]
fn every_failing_assertion_says_what_is_there_instead() {
    let case = |assert: &str| {
        format!("{}\n[[case.assert]]\n{assert}\n", CHANGE.replace("[[case.assert]]\ntype = \"golden\"\n", ""))
    };
    let check = |assert: &str, section: Option<&str>, message: &str| {
        let scene = scene(&case(assert)).file(".aiwf/templates/system/BASE-plan.md", "Plan well.");
        let report = run(&scene);
        assert_eq!(failure(&report), (TestOutcome::Failed, section, message), "{assert}");
    };
    check(
        "type = \"section.present\"\nsection = \"review\"",
        Some("review"),
        "section `review` is not in the prompt, which has `system-template`, `context`, `instructions`",
    );
    check(
        "type = \"section.order\"\nvalue = [\"instructions\", \"system-template\"]",
        Some("system-template"),
        "section `system-template` stands before section `instructions`; the order is `system-template`, `context`, `instructions`",
    );
    check(
        "type = \"section.source\"\nsection = \"system-template\"\nvalue = \"template:built-in*\"",
        Some("system-template"),
        "section `system-template` comes from `template:.aiwf/templates/system/BASE-plan.md`",
    );
    check(
        "type = \"section.contains\"\nsection = \"instructions\"\nvalue = \"logout\"",
        Some("instructions"),
        "section `instructions` does not contain `logout`",
    );
    check(
        "type = \"tokens.exact\"\nvalue = 1000",
        None,
        &format!(
            "the prompt has {} tokens (estimated); expected 1000",
            tokens(&case("type = \"tokens.max\"\nvalue = 1"))
        ),
    );
}

/// The size of the prompt of the only case.
fn tokens(cases: &str) -> u64 {
    let scene = scene(cases).file(".aiwf/templates/system/BASE-plan.md", "Plan well.");
    run(&scene).results[0].prompt_tokens.unwrap()
}

#[test]
fn looking_writes_nothing_and_update_writes_only_golden_files() {
    let scene = scene(PROFILE).file(".aiwf/tests/replies/planning.md", "# Plan\n\nA button.\n");
    let before = tree(&scene.world());
    run(&scene);
    assert_eq!(tree(&scene.world()), before);
    let report = run_with(&scene, TestOptions { update: true, ..TestOptions::default() });
    assert_eq!(report.updated, [".aiwf/tests/goldens/generating.none.text"]);
    let after = tree(&scene.world());
    let new: Vec<PathBuf> = after.keys().filter(|path| !before.contains_key(*path)).cloned().collect();
    assert_eq!(new, [scene.root().join(".aiwf/tests/goldens/generating.none.text")]);
    assert!(before.iter().all(|(path, bytes)| after.get(path) == Some(bytes)));
}

#[test]
fn paths_of_a_test_file_stay_in_its_project() {
    let secret = "/etc/hostname";
    let outside = "../../../secret.md";
    for path in [secret, outside] {
        let cases = format!(
            "[[case]]\nname = \"a\"\nrecipe = \"change\"\ndocument = {{ instructions = \"x\" }}\nfor = [\"none\"]\nreply = \"{path}\"\n\
             [[case.assert]]\ntype = \"contains\"\nvalue = \"x\"\n"
        );
        let scene = scene(&cases);
        scene.write(&scene.world().join("secret.md").display().to_string(), "x");
        let report = run(&scene);
        let (outcome, _, message) = failure(&report);
        assert_eq!(outcome, TestOutcome::Error);
        assert!(message.contains("leads out of"), "{message}");
    }
    // A session directory elsewhere is not read either.
    let cases = "[[case]]\nname = \"a\"\nrecipe = \"session\"\nfor = [\"none\"]\n\
        document = { session_dir = \"/etc\", phase = \"planning\", iteration = 1, profile_prompt = \"x\" }\n\
        [[case.assert]]\ntype = \"no_paths\"\n";
    let report = run(&scene(cases));
    assert!(failure(&report).2.contains("leads out of"), "{:?}", failure(&report));
}

#[test]
fn a_golden_file_behind_a_link_is_neither_read_nor_written_through() {
    let scene = scene(CHANGE).file(".aiwf/templates/system/BASE-plan.md", "Plan well.");
    let elsewhere = scene.world().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scene.root().join(".aiwf/tests/goldens")).unwrap();
    let report = run_with(&scene, TestOptions { update: true, ..TestOptions::default() });
    assert!(!report.is_passed());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_test_file_that_is_a_link_is_not_found() {
    let scene = scene(CHANGE);
    scene.write(&scene.world().join("other.toml").display().to_string(), CHANGE);
    let link = scene.root().join(".aiwf/tests/link.toml");
    std::os::unix::fs::symlink(scene.world().join("other.toml"), link).unwrap();
    assert_eq!(scene.engine.test_files(&[]).unwrap(), [scene.root().join(FILE)]);
}

#[test]
fn a_broken_file_is_an_error_and_the_others_run() {
    let scene = scene(CHANGE)
        .file(".aiwf/templates/system/BASE-plan.md", "x")
        .file(".aiwf/tests/broken.toml", "[[case]]\nname = \"b\"\n");
    update_ignoring(&scene);
    let report = run(&scene);
    assert_eq!((report.counts.passed, report.counts.errors), (1, 1));
    assert_eq!(
        failure(&report),
        (TestOutcome::Error, None, "a case needs `recipe`, `profile` or `flow`: what is built")
    );
    assert!(!report.only_providers_failed());
}

fn update_ignoring(scene: &Scene) {
    run_with(scene, TestOptions { update: true, ..TestOptions::default() });
}

const REVIEW: &str = r#"
[[case]]
name = "the review"
flow = "do"
request = "Add a farewell to greet.txt"
phase = "review"
scenario = "replies"
files = ["greet.txt"]
for = ["none+system"]
[[case.assert]]
type = "section.contains"
value = "+Goodbye"
[[case.assert]]
type = "verdict"
value = "PASS"
[[case.assert]]
type = "parses_as"
value = "verdict-tag"
"#;

const EDIT: &str = "Adds a farewell.\n\n<<<EDIT: greet.txt>>>\n<<<<<<< SEARCH\nHello\n=======\nHello\nGoodbye\n>>>>>>> REPLACE\n";

#[test]
fn a_flow_is_walked_to_its_review_by_a_scenario() {
    let scene = scene(REVIEW)
        .file("greet.txt", "Hello\n")
        .file(".aiwf/config.toml", "[[checks]]\nname = \"never\"\nrun = \"exit 1\"\n")
        .file(".aiwf/tests/replies/plan.md", "# Plan\n\nAdd a line.\n")
        .file(".aiwf/tests/replies/implement.md", EDIT)
        .file(".aiwf/tests/replies/review.md", "Fine.\n\n<review>PASS</review>\n");
    passes(&scene);
    assert_eq!(scene.read("greet.txt"), "Hello\n");
}

#[test]
fn edits_of_a_reply_apply_to_the_files_of_the_project_or_say_why_not() {
    let case = |reply: &str| {
        format!(
            "[[case]]\nname = \"edits\"\nrecipe = \"change\"\ndocument = {{ instructions = \"x\" }}\nfor = [\"none\"]\nreply = \"{reply}\"\n\
             [[case.assert]]\ntype = \"applies\"\n[[case.assert]]\ntype = \"files\"\nvalue = [\"*.txt\"]\n"
        )
    };
    let scene = scene(&case("edit.md")).file("greet.txt", "Hello\n").file(".aiwf/tests/edit.md", EDIT);
    passes(&scene);
    scene.write("greet.txt", "Hi\n");
    let report = run(&scene);
    assert_eq!(failure(&report).0, TestOutcome::Failed);
    assert!(failure(&report).2.contains("greet.txt"), "{}", failure(&report).2);
}

const LIVE: &str = r#"
[[case]]
name = "asked"
recipe = "change"
document = { instructions = "Add login" }
for = ["model"]
recording = "cassette"
[[case.assert]]
type = "contains"
value = "login"
"#;

/// A project whose provider `model` answers with a script.
fn live_scene(cases: &str, model: &FakeProvider) -> Scene {
    Scene::configured(&model_table("model")).with_provider("model", model.clone()).file(FILE, cases)
}

fn live() -> TestOptions {
    TestOptions { live: true, record_missing: true, ..TestOptions::default() }
}

#[test]
fn missing_recordings_are_asked_for_once_and_a_miss_names_the_section_and_the_byte() {
    let model = FakeProvider::saying(["the login page"]);
    let scene = live_scene(LIVE, &model);
    let report = run(&scene);
    assert_eq!(failure(&report).0, TestOutcome::Failed);
    assert!(failure(&report).2.starts_with("no recording answers this request"), "{}", failure(&report).2);
    let report = run_with(&scene, live());
    assert!(report.is_passed(), "{:#?}", report.results);
    assert_eq!((model.asks().len(), report.n_calls), (1, 1));
    passes(&scene);
    assert_eq!(model.asks().len(), 1);
    scene.write(FILE, LIVE.replace("Add login", "Add logout"));
    let report = run(&scene);
    let message = failure(&report).2;
    assert!(
        message.contains("nearest: `change`; the first section that differs is `instructions`, from byte"),
        "{message}"
    );
}

#[test]
fn a_provider_that_fails_is_told_from_a_failed_case() {
    let model = FakeProvider::script([Turn::status_with_body(500, "down")]);
    let scene = live_scene(&LIVE.replace("recording = \"cassette\"\n", ""), &model);
    let skipped = run(&scene);
    assert_eq!((skipped.counts.skipped, skipped.is_passed()), (1, true));
    let report = run_with(&scene, TestOptions { live: true, ..TestOptions::default() });
    assert_eq!(report.results[0].outcome, TestOutcome::ProviderFailed);
    assert!(report.only_providers_failed() && !report.is_passed());
}

#[test]
fn the_budget_of_a_file_stops_calls_of_the_whole_run() {
    let model = FakeProvider::answering(|_| Turn::text("login"));
    let cases = format!("[budget]\nmax_calls = 2\n{}", LIVE.replace("recording = \"cassette\"\n", ""));
    let scene = live_scene(&cases, &model);
    let report =
        run_with(&scene, TestOptions { live: true, repeat: 5, min_pass: 0.4, ..TestOptions::default() });
    assert_eq!(model.asks().len(), 2);
    assert_eq!((report.counts.passed, report.counts.errors), (2, 3));
    assert!(!report.is_passed(), "a share does not cover what was not checked");
}

#[test]
fn a_judge_scores_a_reply_and_what_it_was_asked_is_kept() {
    let model = FakeProvider::saying(["the login page", "{\"score\": 0.4, \"reason\": \"too short\"}"]);
    let rubric = "[[case.assert]]\ntype = \"rubric\"\nvalue = \"names every step\"\nprovider = \"model\"\nthreshold = 0.5\n";
    let scene = live_scene(&format!("{LIVE}{rubric}"), &model);
    let report = run_with(&scene, live());
    assert_eq!(failure(&report).2, "the judge gives 0.40 of at least 0.50: too short");
    let judge = report.results[0].assertions[1].judge.clone().unwrap();
    assert!(
        judge.prompt.contains("names every step") && judge.prompt.contains("the login page"),
        "{}",
        judge.prompt
    );
    // The judge is recorded as well, and gives the same score again.
    assert_eq!(failure(&run(&scene)).2, "the judge gives 0.40 of at least 0.50: too short");
    assert_eq!(model.asks().len(), 2);
}

const PROGRAM: &str = r#"
[[case]]
name = "program"
recipe = "change"
document = { instructions = "x" }
for = ["none"]
reply = "reply.md"
[[case.assert]]
type = "run"
value = "grep -q '\"reply\":\"yes\\\\n\"' && touch ran"
"#;

#[test]
fn a_program_of_a_test_runs_only_after_consent_to_exactly_its_command() {
    let scene = scene(PROGRAM).file(".aiwf/tests/reply.md", "yes\n");
    let report = run(&scene);
    assert_eq!(failure(&report).0, TestOutcome::Error);
    assert!(failure(&report).2.starts_with("you have not agreed to the program"), "{}", failure(&report).2);
    assert!(!scene.root().join(".aiwf/tests/ran").exists());
    let programs = scene.engine.test_programs(&TestOptions::default()).unwrap();
    assert_eq!((programs.len(), programs[0].kind), (1, AgreementKind::Test));
    scene.engine.agree(&programs[0]).unwrap();
    passes(&scene);
    assert!(scene.root().join(".aiwf/tests/ran").exists());
    scene.write(FILE, PROGRAM.replace("touch ran", "touch other"));
    assert_eq!(failure(&run(&scene)).0, TestOutcome::Error);
    scene.write(".aiwf/tests/reply.md", "no\n");
    scene.write(FILE, PROGRAM);
    assert_eq!(failure(&run(&scene)), (TestOutcome::Failed, None, "the program failed with exit code 1"));
}

#[test]
fn variants_of_a_matrix_run_next_to_each_other_and_a_drop_is_found() {
    let cases = r#"
[[matrix]]
name = "short"
template = "short"
[[matrix]]
name = "long"
template = "long"
[[case]]
name = "the plan"
recipe = "change"
document = { phase = "plan", instructions = "Add login" }
for = ["none"]
[[case.assert]]
type = "tokens.max"
value = 60
"#;
    let scene = scene(cases)
        .file(".aiwf/tests/short/system/BASE-plan.md", "Plan.")
        .file(".aiwf/tests/long/system/BASE-plan.md", "Plan.");
    let before = run(&scene);
    assert!(before.is_passed(), "{:#?}", before.results);
    let names: Vec<&str> = before.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["short", "long"]);
    scene.write("before.json", serde_json::to_string(&before).unwrap());
    scene.write(".aiwf/tests/long/system/BASE-plan.md", "Plan well. ".repeat(100));
    let options =
        TestOptions { baseline: Some(PathBuf::from("before.json")), min_pass: 0.0, ..TestOptions::default() };
    let report = run_with(&scene, options);
    assert_eq!((report.variants[0].passed, report.variants[1].passed), (1, 0));
    assert_eq!(report.drops.len(), 1);
    assert_eq!(report.drops[0].variant.as_deref(), Some("long"));
    assert!(!report.is_passed());
}

#[test]
fn tests_of_a_profile_run_from_its_directory_even_if_a_built_in_one_has_its_name() {
    let profile = |text: &str| {
        Scene::new()
            .file("packs/rust-crate/profile.toml", "name = \"rust-crate\"\ndescription = \"x\"\nversion = \"1.0.0\"\n[phases.planning]\ntemplate = \"templates/plan.md\"\nparser = \"plain\"\n[phases.generating]\ntemplate = \"templates/plan.md\"\nparser = \"file-markers\"\n[phases.reviewing]\ntemplate = \"templates/plan.md\"\nparser = \"review-meta\"\n[phases.revising]\ntemplate = \"templates/plan.md\"\nparser = \"file-markers\"\n")
            .file("packs/rust-crate/templates/plan.md", text)
            .file(
                "packs/rust-crate/tests/planning.toml",
                "[[case]]\nname = \"planning\"\nprofile = \"rust-crate\"\nfor = [\"none\"]\n[[case.assert]]\ntype = \"section.contains\"\nsection = \"profile-prompt\"\nvalue = \"Ours\"\n",
            )
    };
    let options = |path: &str| TestOptions { paths: vec![PathBuf::from(path)], ..TestOptions::default() };
    let scene = profile("Ours.\n");
    // The profile itself, the directory of profiles, and the file.
    for path in
        ["packs/rust-crate", "packs", "packs/rust-crate/tests/planning.toml", "packs/rust-crate/tests"]
    {
        let report = run_with(&scene, options(path));
        assert!(report.is_passed() && report.counts.passed == 1, "{path}: {:#?}", report.results);
    }
    let report = run_with(&profile("Theirs.\n"), options("packs"));
    assert_eq!(failure(&report).1, Some("profile-prompt"));
}

#[test]
fn nothing_to_run_is_an_error_that_says_what_was_looked_for() {
    let empty = Scene::new();
    let options = TestOptions::default();
    assert!(matches!(empty.engine.test(&options, &|_| ()), Err(TestError::NoTests { .. })));
    let scene = scene(CHANGE);
    let options = |filter: &str| TestOptions { filter: Some(filter.to_owned()), ..TestOptions::default() };
    assert!(matches!(
        scene.engine.test(&options("review"), &|_| ()),
        Err(TestError::NothingMatches { n_cases: 1, .. })
    ));
    assert!(matches!(scene.engine.test(&options("("), &|_| ()), Err(TestError::BadFilter { .. })));
}

#[test]
fn a_change_of_an_input_is_seen_and_one_of_a_golden_file_is_not() {
    let scene = scene(REPLY).file(".aiwf/tests/reply.json", reply_document(SCHEMA, "[]"));
    let seen = || scene.engine.test_fingerprint(&TestOptions::default()).unwrap();
    let first = seen();
    update(&scene);
    assert_eq!(seen(), first);
    scene.write(".aiwf/tests/reply.json", reply_document("{}", "[]"));
    assert_ne!(seen(), first);
}

#[test]
fn a_report_is_never_written_through_a_link_of_the_project() {
    let outside = Scene::new().file("victim", "theirs");
    let scene = scene(CHANGE);
    std::os::unix::fs::symlink(outside.root().join("victim"), scene.root().join("results.xml")).unwrap();
    std::os::unix::fs::symlink(outside.root(), scene.root().join("out")).unwrap();
    for path in ["results.xml", "out/victim", "out/new.xml", "./out/../out/new.xml"] {
        let written = scene.engine.write_test_report(&PathBuf::from(path), b"<xml/>");
        assert!(written.is_err(), "{path}");
    }
    assert_eq!(std::fs::read_to_string(outside.root().join("victim")).unwrap(), "theirs");
    assert!(!outside.root().join("new.xml").exists());
    scene.engine.write_test_report(&PathBuf::from("real.xml"), b"<xml/>").unwrap();
    assert_eq!(std::fs::read_to_string(scene.root().join("real.xml")).unwrap(), "<xml/>");
}

#[test]
fn cases_that_make_too_many_runs_are_refused_before_any_of_them() {
    let rows: Vec<String> = (0..400).map(|row| format!("[[matrix]]\nname = \"v{row}\"\n")).collect();
    let rows = rows.concat();
    let scene = scene(&format!("{rows}{CHANGE}"));
    let options = TestOptions { repeat: 1000, update: true, ..TestOptions::default() };
    let error = scene.engine.test(&options, &|_| ()).unwrap_err();
    let message = "the cases up to line 803 of `.aiwf/tests/prompts.toml` make more than 100000 runs";
    assert_eq!(error.to_string(), message);
    assert!(!scene.root().join(".aiwf/tests/goldens").exists());
}

#[test]
fn a_scenario_that_is_missing_is_an_error_even_if_nothing_needs_it() {
    let cases = CHANGE.replace("type = \"golden\"", "type = \"no_paths\"");
    let named = cases.replace("recipe =", "scenario = \"gone\"\nrecipe =");
    let report = run(&scene(&named));
    assert_eq!(failure(&report), (TestOutcome::Error, None, "there is no `gone` beside the test file"));
    let report = run(&scene(&named).file(".aiwf/tests/gone", "a file"));
    assert_eq!(failure(&report), (TestOutcome::Error, None, "the scenario `gone` is no directory"));
}

#[test]
fn what_is_not_there_does_not_hold_with_not_either() {
    let assert = |assert: &str| {
        let cases =
            CHANGE.replace("type = \"golden\"", assert).replace("format =", "reply = \"r.md\"\nformat =");
        run(&scene(&cases).file(".aiwf/tests/r.md", "Looks good, Plan.\n"))
    };
    for void in [
        "type = \"not_golden\"",
        "type = \"not_golden\"\nsection = \"gone\"",
        "type = \"not_section.contains\"\nsection = \"gone\"\nvalue = \"x\"",
        "type = \"not_section.regex\"\nsection = \"gone\"\nvalue = \"x\"",
        "type = \"not_section.max_tokens\"\nsection = \"gone\"\nvalue = 5",
        "type = \"not_section.source\"\nsection = \"gone\"\nvalue = \"x\"",
        "type = \"not_verdict\"\nvalue = \"FAIL\"",
        "type = \"not_json_schema\"\nvalue = { type = \"object\" }",
        "type = \"not_checks\"",
    ] {
        assert_eq!(failure(&assert(void)).0, TestOutcome::Error, "{void}");
    }
    assert!(assert("type = \"not_section.present\"\nsection = \"gone\"").is_passed());
    for some in [
        "type = \"not_contains\"\nvalue = [\"gone\", \"Plan\"]",
        "type = \"not_icontains\"\nvalue = [\"gone\", \"plan\"]",
        "type = \"not_section.contains\"\nvalue = [\"gone\", \"Add login\"]",
    ] {
        assert_eq!(failure(&assert(some)).0, TestOutcome::Failed, "{some}");
    }
    assert!(assert("type = \"not_contains\"\nvalue = [\"gone\", \"away\"]").is_passed());
}

#[test]
fn variants_and_cases_never_share_a_golden_file() {
    let rows = "[[matrix]]\nname = \"a b\"\n[[matrix]]\nname = \"a-b\"\n";
    let two = CHANGE.replace("the plan", "The plan!");
    for (cases, whom) in [
        (format!("{rows}{CHANGE}"), "`the plan` (none+system, a b)"),
        (format!("{CHANGE}{two}"), "`the plan` (none+system)"),
        (
            format!(
                "{CHANGE}[[case.assert]]\ntype = \"golden\"\nsection = \"a b\"\n[[case.assert]]\ntype = \"golden\"\nsection = \"a-b\"\n"
            ),
            "`the plan` (none+system)",
        ),
    ] {
        let scene = scene(&cases);
        let report = run_with(&scene, TestOptions { update: true, repeat: 2, ..TestOptions::default() });
        let message = format!(
            "its golden file is that of {whom} in .aiwf/tests/prompts.toml: rename the case or the variant"
        );
        assert_eq!(failure(&report), (TestOutcome::Error, None, message.as_str()));
        assert!(!report.is_passed());
    }
    // A filter does not hide the other case.
    let filtered = scene(&format!("{CHANGE}{two}"));
    update_ignoring(&filtered);
    let only = TestOptions { update: true, filter: Some("!$".to_owned()), ..TestOptions::default() };
    assert_eq!(failure(&run_with(&filtered, only)).0, TestOutcome::Error);
    // Without golden files, nothing is shared.
    let cases = format!("{CHANGE}{two}").replace("type = \"golden\"", "type = \"no_paths\"");
    passes(&scene(&cases));
    let other = CHANGE.replace("the plan", "The plan!").replace("none+system", "none");
    let both = scene(&format!("{CHANGE}{other}"));
    update(&both);
    passes(&both);
}

#[test]
fn tests_behind_a_linked_directory_are_not_found() {
    let elsewhere =
        scene(CHANGE).file(".aiwf/profiles/p/profile.toml", "").file(".aiwf/profiles/p/tests/a.toml", CHANGE);
    let from = |place: &str| elsewhere.root().join(place);
    for (link, target) in [
        (".aiwf", ".aiwf"),
        (".aiwf/tests", ".aiwf/tests"),
        (".aiwf/profiles", ".aiwf/profiles"),
        (".aiwf/profiles/p", ".aiwf/profiles/p"),
        (".aiwf/flows/p", ".aiwf/profiles/p"),
    ] {
        let scene = Scene::new();
        let link_path = scene.root().join(link);
        std::fs::create_dir_all(link_path.parent().unwrap()).unwrap();
        if link_path.exists() {
            std::fs::remove_dir_all(&link_path).unwrap();
        }
        std::os::unix::fs::symlink(from(target), &link_path).unwrap();
        let found = scene.engine.test_files(&[]);
        assert!(matches!(found, Err(TestError::NoTests { .. })), "{link}: {found:?}");
    }
}
