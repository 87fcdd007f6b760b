//! The everyday profiles, each walked through a whole session by recorded replies on a small project of its language, whose
//! checks really run: a check fails, a review fails, and the result changes a file that was there.

#![expect(
    clippy::disallowed_methods,
    reason = "tests look for the programs of checks, and put a link into a project"
)]
#![expect(clippy::print_stderr, reason = "a skipped check says so")]

use std::path::{Path, PathBuf};

use aiwf_engine::config::Flags;
use aiwf_engine::{
    ApplyChange, ApplyOptions, NewRequest, NewSession, SessionError, SessionReport, SessionStatus, WaitsFor,
};
use serde_json::{Map, Value, json};

use crate::driver::{review, yes};
use crate::fake_provider::FakeProvider;
use crate::scene::{REVIEW_PASS, Scene};

/// More files than a parameter may name.
const MANY: usize = 201;
const PLAN: &str = "# Plan\n\nSum the prices, and nothing for no items.\n";

/// A small project of one language.
struct Language {
    profile: &'static str,
    /// The project before the session.
    files: &'static [(&'static str, &'static str)],
    /// What `--file` is given, and the one file that it names.
    patterns: &'static [&'static str],
    changed: &'static str,
    /// The program without which the check cannot run, and the check.
    program: &'static str,
    check: &'static str,
    /// A reply whose check fails, the line in its output that says so, and its correction.
    wrong: &'static str,
    failure: &'static str,
    right: &'static str,
    /// What a review that failed is answered with.
    revised: &'static str,
    /// A new file of the replies, and what the changed file says in the end.
    new: &'static str,
    result: &'static str,
}

const PYTHON: Language = Language {
    profile: "python-module",
    files: &[
        ("shop/__init__.py", ""),
        ("shop/cart.py", "def total(items):\n    raise NotImplementedError\n"),
    ],
    patterns: &["shop/c*.py"],
    changed: "shop/cart.py",
    program: "python3",
    check: "python3 -B -m unittest",
    wrong: "Sums the prices.\n\n<<<EDIT: shop/cart.py>>>\n<<<<<<< SEARCH\n    raise NotImplementedError\n=======\n    return sum(item.price for item in items) + 1\n>>>>>>> REPLACE\n\n<<<FILE: tests/__init__.py>>>\n<<<FILE: tests/test_cart.py>>>\nimport unittest\n\nfrom shop.cart import total\n\n\nclass Total(unittest.TestCase):\n    def test_no_items_cost_nothing(self):\n        self.assertEqual(total([]), 0)\n",
    failure: "test_no_items_cost_nothing",
    right: "<<<EDIT: shop/cart.py>>>\n<<<<<<< SEARCH\n    return sum(item.price for item in items) + 1\n=======\n    return sum(item.price for item in items)\n>>>>>>> REPLACE\n",
    revised: "<<<EDIT: shop/cart.py>>>\n<<<<<<< SEARCH\ndef total(items):\n=======\ndef total(items):\n    \"\"\"Return the sum of all prices.\"\"\"\n>>>>>>> REPLACE\n",
    new: "tests/test_cart.py",
    result: "def total(items):\n    \"\"\"Return the sum of all prices.\"\"\"\n    return sum(item.price for item in items)\n",
};

const RUST: Language = Language {
    profile: "rust-crate",
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
        ),
        (".gitignore", "target\n"),
        ("src/lib.rs", "pub fn total(_prices: &[u64]) -> u64 {\n    todo!()\n}\n"),
    ],
    patterns: &["src"],
    changed: "src/lib.rs",
    program: "cargo",
    check: "CARGO_TARGET_DIR=target cargo test --offline --quiet --test total",
    wrong: "<<<EDIT: src/lib.rs>>>\n<<<<<<< SEARCH\npub fn total(_prices: &[u64]) -> u64 {\n    todo!()\n=======\npub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum::<u64>() + 1\n>>>>>>> REPLACE\n\n<<<FILE: tests/total.rs>>>\n#[test]\nfn no_items_cost_nothing() {\n    assert_eq!(shop::total(&[]), 0);\n}\n",
    failure: "no_items_cost_nothing",
    right: "<<<EDIT: src/lib.rs>>>\n<<<<<<< SEARCH\n    prices.iter().sum::<u64>() + 1\n=======\n    prices.iter().sum()\n>>>>>>> REPLACE\n",
    revised: "<<<EDIT: src/lib.rs>>>\n<<<<<<< SEARCH\npub fn total(prices: &[u64]) -> u64 {\n=======\n/// Returns the sum of all prices.\npub fn total(prices: &[u64]) -> u64 {\n>>>>>>> REPLACE\n",
    new: "tests/total.rs",
    result: "/// Returns the sum of all prices.\npub fn total(prices: &[u64]) -> u64 {\n    prices.iter().sum()\n}\n",
};

/// Node before 22.18 does not take types out of TypeScript, so the project brings what does it for such plain code; the tests
/// run as JavaScript.
const TYPESCRIPT: Language = Language {
    profile: "typescript-module",
    files: &[
        ("package.json", "{ \"type\": \"module\" }\n"),
        (
            "types.mjs",
            "import { register } from \"node:module\";\n\nconst hooks = `\n  import { readFileSync } from \"node:fs\";\n  import { fileURLToPath } from \"node:url\";\n\n  export async function load(url, context, next) {\n    if (!url.endsWith(\".ts\")) return next(url, context);\n    const text = readFileSync(fileURLToPath(url), \"utf8\");\n    const source = text.replace(/([)\\\\w]): (readonly )?(number|string|boolean|void)(\\\\[\\\\])?/g, \"$1\");\n    return { format: \"module\", source, shortCircuit: true };\n  }\n`;\nregister(`data:text/javascript,${encodeURIComponent(hooks)}`);\n",
        ),
        (
            "src/cart.ts",
            "export function total(prices: readonly number[]): number {\n  throw new Error(\"not written\");\n}\n",
        ),
    ],
    patterns: &["src/**/*.ts"],
    changed: "src/cart.ts",
    program: "node",
    check: "node --import ./types.mjs src/cart.test.ts",
    wrong: "<<<EDIT: src/cart.ts>>>\n<<<<<<< SEARCH\n  throw new Error(\"not written\");\n=======\n  return prices.reduce((sum, price) => sum + price, 1);\n>>>>>>> REPLACE\n\n<<<FILE: src/cart.test.ts>>>\nimport assert from \"node:assert/strict\";\nimport { test } from \"node:test\";\n\nimport { total } from \"./cart.ts\";\n\ntest(\"no items cost nothing\", () => assert.equal(total([]), 0));\n",
    failure: "no items cost nothing",
    right: "<<<EDIT: src/cart.ts>>>\n<<<<<<< SEARCH\n  return prices.reduce((sum, price) => sum + price, 1);\n=======\n  return prices.reduce((sum, price) => sum + price, 0);\n>>>>>>> REPLACE\n",
    revised: "<<<EDIT: src/cart.ts>>>\n<<<<<<< SEARCH\nexport function total(prices: readonly number[]): number {\n=======\n/** The sum of all prices, in cents. */\nexport function total(prices: readonly number[]): number {\n>>>>>>> REPLACE\n",
    new: "src/cart.test.ts",
    result: "/** The sum of all prices, in cents. */\nexport function total(prices: readonly number[]): number {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n",
};

/// Where a program is, if this machine has it.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
}

fn scene(model: &FakeProvider, language: &Language, more: &str) -> Scene {
    let scene = Scene::of_agent(model, more);
    language.files.iter().fold(scene, |scene, (path, text)| scene.file(path, text))
}

fn given(value: Value) -> Map<String, Value> {
    let Value::Object(given) = value else { unreachable!() };
    given
}

fn create(scene: &Scene, profile: &str, value: Value, flags: &Flags) -> Result<SessionReport, SessionError> {
    let new: NewSession = scene.engine.new_session(profile, given(value), flags)?;
    let id = scene.engine.create_session(new)?.id;
    scene.engine.session_report(Some(id.as_str()))
}

/// The problems with the parameters of a session that is refused.
#[track_caller]
fn problems(scene: &Scene, value: Value) -> String {
    match create(scene, "python-module", value, &yes()) {
        Err(SessionError::Params { problems, .. }) => {
            problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("\n")
        }
        other => panic!("{other:?}"),
    }
}

fn walk(language: &Language) {
    let has_program = program(language.program).is_some();
    let failed = review("FAIL", 1);
    let mut replies = vec![PLAN, language.wrong, language.right, &failed, language.revised, REVIEW_PASS];
    let mut config = format!("[[checks]]\nname = \"tests\"\nrun = {:?}\n", language.check);
    if !has_program {
        eprintln!("the check of {} is skipped: there is no `{}`", language.profile, language.program);
        config.clear();
        // Without a check nothing sends the first reply back; both are then one.
        replies.remove(2);
    }
    let model = FakeProvider::saying(replies);
    let scene = scene(&model, language, &config);
    let request = json!({ "request": "Sum the prices", "file": language.patterns });
    let report = create(&scene, language.profile, request, &yes()).unwrap();
    let id = Some(report.session_id.as_str());
    assert_eq!((report.status, &report.problems), (SessionStatus::Complete, &Vec::new()), "{report:#?}");
    assert_eq!(scene.read(language.changed), text_of(language, language.changed), "nothing is written yet");

    let prompts = model.prompts();
    let original = text_of(language, language.changed).trim_end();
    for prompt in &prompts[..2] {
        assert!(
            prompt.contains(&format!("### {}\n", language.changed)) && prompt.contains(original),
            "{prompt}"
        );
    }
    assert!(
        prompts[1].contains("## Format of your answer") && prompts[1].contains("<<<EDIT: "),
        "{}",
        prompts[1]
    );
    if has_program {
        // The next round is shown what the check printed, and the code as it was then.
        let again = &prompts[2];
        assert!(again.contains("## Checks") && again.contains(language.failure), "{again}");
        assert!(again.contains("## Previous Code") && !again.contains("## Project Files"), "{again}");
        assert!(report.checks.iter().all(|check| check.passed), "{:?}", report.checks);
        assert!(prompts[3].contains("## Changes") && prompts[3].contains("## Checks"), "{}", prompts[3]);
        assert_eq!(prompts[3].matches("## Changes\n").count(), 1, "{}", prompts[3]);
        assert!(prompts[4].contains("The table is not named."), "{}", prompts[4]);
        let events = scene.engine.session_events(id).unwrap();
        let n_ran = events.iter().filter(|line| line.event.name() == "check-ran").count();
        assert_eq!(n_ran, 3);
        // Each file is a part of its own, so the journal knows which bytes the model was shown.
        let is_shown = |line: &str| line.contains("prompt-written") && line.contains(language.changed);
        let journal = scene.read(&format!(".aiwf/sessions/{}/journal.jsonl", report.session_id));
        assert!(journal.lines().any(is_shown), "{journal}");
        let applied = scene.engine.apply(id, &ApplyOptions::default()).unwrap();
        let change = |path: &str| {
            applied.files.iter().find(|file| file.target == path).unwrap_or_else(|| panic!("{path}")).change
        };
        assert_eq!(change(language.changed), ApplyChange::Changed);
        assert_eq!(change(language.new), ApplyChange::New);
        assert_eq!(scene.read(language.changed), language.result);
        assert!(scene.engine.verify(id).unwrap().differences.is_empty());
    }
}

fn text_of(language: &Language, path: &str) -> &'static str {
    language.files.iter().find(|(file, _)| *file == path).unwrap().1
}

#[test]
fn python_is_changed_until_unittest_and_the_review_pass() {
    walk(&PYTHON);
}

#[test]
fn rust_is_changed_until_cargo_test_and_the_review_pass() {
    walk(&RUST);
}

#[test]
fn typescript_is_changed_until_its_tests_and_the_review_pass() {
    walk(&TYPESCRIPT);
}

#[test]
fn a_check_of_the_project_waits_for_consent_in_a_profile_session_too() {
    let model = FakeProvider::saying([PLAN, PYTHON.wrong, REVIEW_PASS]);
    let checks = "[[checks]]\nname = \"tests\"\nrun = \"touch ran\"\n";
    let scene = scene(&model, &PYTHON, "").file(".aiwf/config.toml", checks);
    let report =
        create(&scene, "python-module", json!({ "request": "x", "file": ["shop"] }), &yes()).unwrap();
    assert_eq!(report.waits_for, Some(WaitsFor::CheckConsent));
    assert!(!scene.root().join("ran").exists());
}

#[test]
fn edits_apply_to_the_files_as_the_prompts_showed_them_and_later_changes_are_a_conflict() {
    let model = FakeProvider::saying([PLAN, PYTHON.wrong, REVIEW_PASS]);
    let scene = scene(&model, &PYTHON, "");
    let gates = crate::driver::gates(&["planning.*=skip", "generating.prompt=skip", "reviewing.*=skip"]);
    let report =
        create(&scene, "python-module", json!({ "request": "x", "file": ["shop/cart.py"] }), &gates).unwrap();
    let id = Some(report.session_id.as_str());
    assert_eq!(report.waits_for, Some(WaitsFor::ReplyApproval));
    // Somebody works on the same file before the reply is approved.
    let before = text_of(&PYTHON, "shop/cart.py");
    scene.write("shop/cart.py", format!("# Carts.\n\n\n{before}"));
    let report = scene.engine.approve(id, &aiwf_engine::ApproveOptions::default()).unwrap().report;
    assert_eq!(report.status, SessionStatus::Complete);
    let error = scene.engine.apply(id, &ApplyOptions::default()).unwrap_err();
    assert!(matches!(error, SessionError::Conflicts { .. }), "{error}");
    let merging = ApplyOptions { merges: true, ..ApplyOptions::default() };
    scene.engine.apply(id, &merging).unwrap();
    let merged = scene.read("shop/cart.py");
    assert!(merged.starts_with("# Carts.") && merged.contains("return sum("), "{merged}");
}

#[test]
fn sessions_of_other_kinds_show_each_other_as_soon_as_a_reply_plans_the_same_file() {
    let model = FakeProvider::saying([PLAN, PYTHON.wrong, REVIEW_PASS, PLAN, PYTHON.wrong, PYTHON.right]);
    let scene = scene(&model, &PYTHON, "");
    let request = json!({ "request": "x", "file": ["shop/cart.py"] });
    let one = create(&scene, "python-module", request, &yes()).unwrap().session_id;
    let new = NewRequest {
        flow: "do".to_owned(),
        request: "Sum the prices".to_owned(),
        flags: crate::driver::gates(&["plan.*=skip", "implement.prompt=skip"]),
        ..NewRequest::default()
    };
    let two = scene.engine.start_flow(&new).unwrap().id;
    let report = scene.engine.session_report(Some(two.as_str())).unwrap();
    assert_eq!(report.waits_for, Some(WaitsFor::ReplyApproval));
    let planned = ["shop/cart.py", "tests/__init__.py", "tests/test_cart.py"];
    let shown = |report: &SessionReport| {
        let overlap = |overlap: &aiwf_engine::Overlap| (overlap.session_id.clone(), overlap.files.clone());
        report.overlaps.iter().map(overlap).collect::<Vec<_>>()
    };
    assert_eq!(shown(&report), [(one.clone(), planned.map(str::to_owned).to_vec())]);
    let report = scene.engine.session_report(Some(one.as_str())).unwrap();
    assert_eq!(shown(&report), [(two.clone(), planned.map(str::to_owned).to_vec())]);
    assert_eq!(scene.engine.overlaps_before_apply(Some(one.as_str())).unwrap()[0].session_id, two);
    // A list says the same from the snapshots and from the journals.
    for is_from_journal in [false, true] {
        let mut listed = scene.engine.list_all().unwrap();
        if is_from_journal {
            for entry in &listed {
                scene.write(&format!("{}/session.json", entry.directory), "{}");
            }
            listed = scene.engine.list_all().unwrap();
        }
        scene.engine.mark_overlaps(&mut listed);
        assert!(listed.iter().all(|entry| entry.overlaps[0].n_files == 3), "{listed:#?}");
    }
    // What is rejected is planned no more; the next reply changes less.
    let report = scene.engine.reject(Some(two.as_str()), "Without tests").unwrap().report;
    assert_eq!(shown(&report).len(), 0, "a report after a decision names no other sessions");
    let report = scene.engine.session_report(Some(two.as_str())).unwrap();
    assert_eq!(shown(&report), [(one, vec!["shop/cart.py".to_owned()])]);
}

#[test]
fn a_file_that_only_the_plan_names_can_be_edited() {
    let plan = "# Plan\n\n1. Change shop/cart.py.\n";
    let model = FakeProvider::saying([plan, PYTHON.wrong, REVIEW_PASS]);
    let scene = scene(&model, &PYTHON, "");
    let report = create(&scene, "python-module", json!({ "request": "Sum the prices" }), &yes()).unwrap();
    assert_eq!(report.status, SessionStatus::Complete);
    let prompts = model.prompts();
    assert!(!prompts[0].contains("NotImplementedError") && prompts[1].contains("NotImplementedError"));
}

#[test]
fn an_edit_that_does_not_fit_is_a_problem_with_its_line() {
    let wrong = PYTHON.wrong.replace("    raise NotImplementedError", "    raise Nothing");
    let model = FakeProvider::saying([PLAN, &wrong]);
    let scene = scene(&model, &PYTHON, "");
    let error = create(&scene, "python-module", json!({ "request": "x", "file": ["shop/cart.py"] }), &yes())
        .unwrap_err();
    assert!(error.to_string().contains("edit of `shop/cart.py`"), "{error}");
}

#[test]
fn patterns_stay_in_the_project_obey_ignore_rules_and_match_something() {
    let model = FakeProvider::saying([PLAN]);
    let scene = scene(&model, &PYTHON, "")
        .file(".gitignore", "build/\n")
        .file("build/out.py", "ignored\n")
        .file("shop/logo.png", b"\x89PNG\0".as_slice())
        .file("~/secret.py", "hunter2\n");
    std::os::unix::fs::symlink(scene.home().join("secret.py"), scene.root().join("shop/link.py")).unwrap();
    let with = |patterns: Value| json!({ "request": "x", "file": patterns });
    assert_eq!(
        problems(&scene, with(json!(["shop/*.pyy"]))),
        "`--file` names `shop/*.pyy`, which matches no file"
    );
    assert_eq!(
        problems(&scene, with(json!(["build/*.py"]))),
        "`--file` names `build/*.py`, which matches no file"
    );
    for outside in ["../home/secret.py", "/etc/passwd", "shop/link.py"] {
        assert_eq!(
            problems(&scene, with(json!([outside]))),
            format!("`--file` names `{outside}`, which is outside the project")
        );
    }
    assert!(problems(&scene, with(json!(["shop/logo.png"]))).contains("no file that can be shown"));
    assert!(problems(&scene, with(json!(["shop/[*.py"]))).contains("`--file` cannot be used"));

    // What a pattern finds and no prompt can show is told with every prompt.
    let gates = crate::driver::gates(&["planning.response=manual"]);
    let report = create(&scene, "python-module", with(json!(["shop/*", "shop/cart.py"])), &gates).unwrap();
    assert_eq!(report.context["file"], json!(["shop/__init__.py", "shop/cart.py"]));
    let left_out: Vec<&str> = report.left_out.iter().map(|left_out| left_out.id.as_str()).collect();
    assert_eq!(left_out, ["shop/link.py", "shop/logo.png"], "{:?}", report.left_out);
    let preview = scene.engine.preview_session(Some(report.session_id.as_str())).unwrap();
    assert!(preview.prompt.contains("### shop/cart.py") && !preview.prompt.contains("hunter2"));
    assert!(preview.sections.iter().any(|section| section.id == "project-files"), "{:?}", preview.sections);
}

#[test]
fn too_many_and_too_large_files_are_refused_before_they_are_read() {
    let model = FakeProvider::saying([PLAN]);
    let scene = scene(&model, &PYTHON, "");
    for number in 0..MANY {
        scene.write(&format!("many/{number}.py"), "x\n");
    }
    let with = |pattern: &str| json!({ "request": "x", "file": [pattern] });
    assert_eq!(problems(&scene, with("many")), format!("`--file` matches {MANY} files, more than 200"));
    scene.write("large.py", vec![b'x'; 3 * 1024 * 1024]);
    assert_eq!(
        problems(&scene, with("large.py")),
        "`--file` matches files with 3145728 bytes, more than 2097152"
    );
}

#[test]
fn new_profiles_work_at_once_whatever_they_are_made_from() {
    for from in ["generate", "python-module"] {
        let model = FakeProvider::saying([PLAN, PYTHON.wrong, REVIEW_PASS]);
        let scene = scene(&model, &PYTHON, "");
        scene.engine.new_profile("ours", from, true).unwrap();
        assert!(scene.engine.validate_profiles().iter().all(|result| result.passed), "{from}");
        let report = create(&scene, "ours", json!({ "request": "x", "file": ["shop"] }), &yes()).unwrap();
        assert_eq!(report.status, SessionStatus::Complete, "{from}");
        let applied = scene.engine.apply(None::<&str>, &ApplyOptions::default()).unwrap();
        assert!(applied.conflicts().next().is_none());
        assert!(Path::new(&scene.root()).join("tests/test_cart.py").is_file());
    }
    let error = Scene::new().engine.new_profile("ours", "pyton-module", true).unwrap_err();
    assert_eq!(error.to_string(), "a profile cannot be made from `pyton-module`");
}

#[test]
fn a_profile_whose_flow_and_parsers_disagree_is_told_so() {
    let scene = Scene::new();
    scene.engine.new_profile("ours", "generate", true).unwrap();
    let flow = "title = \"T\"\n[[phase]]\nname = \"write\"\nrole = \"generator\"\nrecipe = \"session\"\ngives = \"files\"\naccess = \"write\"\nnext = \"complete\"\n";
    scene.write(".aiwf/profiles/ours/flow.toml", flow);
    let error = scene.engine.new_session("ours", given(json!({ "request": "x" })), &yes()).unwrap_err();
    assert!(
        error.to_string().contains("gives files, which the parser in `profile.toml` does not read"),
        "{error}"
    );
    scene.write(".aiwf/profiles/ours/flow.toml", flow.replace("\"files\"", "\"edits\""));
    scene.engine.new_session("ours", given(json!({ "request": "x" })), &yes()).unwrap();
}
