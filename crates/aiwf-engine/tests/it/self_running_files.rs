//! Dotfiles are written like any file; those that a tool runs by itself are marked wherever somebody decides.

use aiwf_engine::{ApplyOptions, NewChange, PhaseOptions, SessionError, SessionRef};

use crate::scene::{REVIEW_PASS, Scene};

const FILES: &str = "<<<FILE: .github/workflows/ci.yml>>>\non: push\n\n<<<FILE: .gitignore>>>\ntarget\n\n<<<FILE: Button.tsx>>>\nexport {}\n";

#[test]
fn a_session_writes_dotfiles_and_marks_what_tools_run() {
    let scene = Scene::new();
    scene.create().unwrap();
    scene.reply("# Plan\n");
    scene.approve();
    let report = scene.reply(FILES);
    let marks: Vec<(&str, &str)> =
        report.self_running.iter().map(|file| (file.path.as_str(), file.run_by)).collect();
    assert_eq!(marks, [(".github/workflows/ci.yml", "GitHub Actions")], "at the gate");
    let after = scene.approve().report;
    assert_eq!(after.self_running, report.self_running, "after it");
    scene.reply(REVIEW_PASS);
    scene.approve();

    let options = ApplyOptions { to: Some(".".into()), ..ApplyOptions::default() };
    let applied = scene.engine.apply(Some("latest"), &options).unwrap();
    let workflow = applied.files.iter().find(|file| file.name.ends_with("ci.yml")).unwrap();
    assert_eq!(workflow.run_by, Some("GitHub Actions"));
    assert!(
        workflow.diff.starts_with("# run automatically by GitHub Actions\n--- /dev/null\n"),
        "{}",
        workflow.diff
    );
    assert_eq!(applied.files.iter().filter(|file| file.run_by.is_some()).count(), 1);
    assert_eq!(scene.read(".github/workflows/ci.yml"), "on: push\n");
    assert_eq!(scene.read(".gitignore"), "target\n");
    let diff = scene.engine.diff_session(Some("latest"), None).unwrap();
    assert!(diff.contains("# run automatically by GitHub Actions\n"), "{diff}");
}

#[test]
fn git_and_aiwf_are_refused_as_a_problem_of_the_reply() {
    let scene = Scene::new();
    scene.create().unwrap();
    scene.reply("# Plan\n");
    scene.approve();
    scene.reply("<<<FILE: web/.GIT/hooks/pre-commit>>>\nx\n\n<<<FILE: .aiwf/config.toml>>>\nx\n");
    let refused = scene.engine.approve(None::<&str>, &aiwf_engine::ApproveOptions::default()).unwrap_err();
    let SessionError::ReplyProblems { problems, .. } = refused else { unreachable!("{refused}") };
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.contains("in `.git` or `.aiwf`")), "{problems:?}");
}

#[test]
fn a_name_that_repeats_the_sessions_own_prefix_is_not_nested_again() {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    scene.reply("# Plan\n");
    scene.approve();
    scene.reply(&format!(
        "<<<FILE: iteration-1/code/Button.tsx>>>\nexport {{}}\n\n<<<FILE: .aiwf/sessions/{id}/iteration-1/code/ui/Icon.tsx>>>\nexport {{}}\n"
    ));
    scene.approve();
    let code = scene.root().join(format!(".aiwf/sessions/{id}/iteration-1/code"));
    assert!(code.join("Button.tsx").is_file() && code.join("ui/Icon.tsx").is_file());
    assert!(!code.join("iteration-1").exists());
}

#[test]
fn a_change_does_both_too() {
    let scene = Scene::new();
    let new = NewChange { name: "ci".to_owned(), request: "Add CI".to_owned(), ..NewChange::default() };
    scene.engine.create_change(new).unwrap();
    let which = SessionRef::Change("ci");
    let walk = |phase, reply: &str| {
        scene
            .engine
            .run_phase("ci", phase, PhaseOptions { opens_gates: true, ..Default::default() })
            .unwrap();
        let at_gate = scene.engine.respond(which, reply, None).unwrap().report;
        scene.engine.approve(which, &aiwf_engine::ApproveOptions::default()).unwrap();
        at_gate
    };
    walk("plan", "# Plan\n");
    walk("challenge", "<review>PASS</review>\n");
    let at_gate = walk(
        "implement",
        "<task_status id=\"1.1\">COMPLETED</task_status>\n<<<FILE: iteration-1/code/.envrc>>>\nexport A=1\n",
    );
    let marks: Vec<(&str, &str)> =
        at_gate.self_running.iter().map(|file| (file.path.as_str(), file.run_by)).collect();
    assert_eq!(marks, [(".envrc", "direnv")]);
    let report = scene.engine.session_report(which).unwrap();
    assert_eq!(report.change.unwrap().files[0].path, ".envrc");
}
