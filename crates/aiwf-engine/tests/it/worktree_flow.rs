//! What an agent does to files in its worktree, until it is in the project and taken back.

#![expect(clippy::disallowed_methods, reason = "the agent of these tests works on files")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aiwf_engine::provider::{Answer, Ask, AskError, Check, Reply, Request, Sink};
use aiwf_engine::{
    ApplyChange, ApplyOptions, CallEvent, CheckState, NewRequest, RemovalFilter, SessionReport,
    SessionStatus, WaitsFor,
};

use crate::driver::yes;
use crate::fake_provider::FakeProvider;
use crate::scene::{CONFIG, Scene};

/// An agent that edits files itself, in a worktree because its table says so.
const WRITER: &str =
    "[roles]\ndefault = \"model\"\n[providers.model]\ntype = \"command\"\nargv = [\"agent\"]\nwrite = true\n";
const PLAN: &str = "# Plan\n";
const PASS: &str = "<review>PASS</review>\n";

type Work = dyn Fn(&Path, &str) + Send + Sync;

/// Plans, does what a test says when it implements, and lets every review pass.
#[derive(Clone)]
struct Agent(Arc<Work>);

impl Agent {
    /// The work gets the directory and the name of the call: `implement-1`.
    fn doing(work: impl Fn(&Path, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(work))
    }
}

impl Ask for Agent {
    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        let phase = request.name.split('-').next().unwrap();
        let text = match phase {
            "plan" => PLAN,
            "implement" => {
                (self.0)(request.directory, request.name);
                "Done.\n"
            }
            _ => PASS,
        };
        sink.text(text).map_err(AskError::Sink)?;
        Ok(Answer::Reply(Reply::default()))
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}

fn scene(agent: Agent) -> Scene {
    let scene = Scene::new().file(CONFIG, WRITER).with_provider("model", agent);
    let scene = scene
        .file("plain.sh", "echo plain\n")
        .file("tool.sh", "echo tool\n")
        .file("edited.sh", "echo one\n")
        .file("moved.sh", "echo moved, and long enough to be found again\n")
        .file("gone.sh", "echo gone\n");
    for name in ["tool.sh", "edited.sh", "moved.sh", "gone.sh"] {
        set_mode(&scene.root().join(name), 0o755);
    }
    scene
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Every file of the project itself: what is in it, and whether it can be executed.
fn files(scene: &Scene) -> BTreeMap<String, (String, bool)> {
    let entries = fs::read_dir(scene.root()).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let file = |entry: fs::DirEntry| {
        let is_executable = entry.metadata().unwrap().permissions().mode() & 0o111 != 0;
        let text = fs::read_to_string(entry.path()).unwrap();
        (entry.file_name().into_string().unwrap(), (text, is_executable))
    };
    files.map(file).collect()
}

#[track_caller]
fn walk(scene: &Scene, checks: &[&str]) -> SessionReport {
    let new = NewRequest {
        flow: "do".to_owned(),
        request: "Tidy the scripts".to_owned(),
        checks: checks.iter().map(|check| (*check).to_owned()).collect(),
        flags: yes(),
        ..NewRequest::default()
    };
    let id = scene.engine.start_flow(&new).unwrap().id;
    scene.engine.session_report(Some(id.as_str())).unwrap()
}

#[test]
fn executable_bits_renames_and_deletions_reach_the_project_and_are_taken_back() {
    let agent = Agent::doing(|directory, _| {
        set_mode(&directory.join("plain.sh"), 0o755);
        set_mode(&directory.join("tool.sh"), 0o644);
        fs::write(directory.join("edited.sh"), "echo two\n").unwrap();
        fs::rename(directory.join("moved.sh"), directory.join("there.sh")).unwrap();
        fs::remove_file(directory.join("gone.sh")).unwrap();
        fs::write(directory.join("new.sh"), "echo new\n").unwrap();
        set_mode(&directory.join("new.sh"), 0o755);
    });
    let scene = scene(agent);
    let before = files(&scene);
    let report = walk(&scene, &[]);
    assert_eq!(report.status, SessionStatus::Complete);
    assert_eq!(files(&scene), before);

    let id = Some(report.session_id.as_str());
    let applied = scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    let shown: Vec<(&str, ApplyChange)> =
        applied.files.iter().map(|file| (file.target.as_str(), file.change)).collect();
    assert_eq!(
        shown,
        [
            ("edited.sh", ApplyChange::Changed),
            ("gone.sh", ApplyChange::Deleted),
            ("moved.sh", ApplyChange::Deleted),
            ("new.sh", ApplyChange::New),
            ("plain.sh", ApplyChange::Changed),
            ("there.sh", ApplyChange::New),
            ("tool.sh", ApplyChange::Changed),
        ]
    );
    let after = files(&scene);
    let file = |text: &str, is_executable| (text.to_owned(), is_executable);
    assert_eq!(after["plain.sh"], file("echo plain\n", true));
    assert_eq!(after["tool.sh"], file("echo tool\n", false));
    assert_eq!(after["edited.sh"], file("echo two\n", true));
    assert_eq!(after["there.sh"], before["moved.sh"]);
    assert_eq!(after["new.sh"], file("echo new\n", true));
    assert_eq!(after.len(), 5);

    scene.engine.undo(id).unwrap();
    assert_eq!(files(&scene), before);
}

#[test]
fn a_second_apply_that_writes_nothing_leaves_undo_whole() {
    let agent = Agent::doing(|directory, _| fs::write(directory.join("plain.sh"), "echo two\n").unwrap());
    let scene = scene(agent);
    let before = files(&scene);
    let report = walk(&scene, &[]);
    let id = Some(report.session_id.as_str());
    scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    let again = scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    assert!(again.files.iter().all(|file| file.change == ApplyChange::Same));
    scene.engine.undo(id).unwrap();
    assert_eq!(files(&scene), before);
}

#[test]
fn links_of_an_agent_are_refused_and_the_project_stays_as_it_is() {
    let n_asked = AtomicUsize::new(0);
    let agent = Agent::doing(move |directory, _| {
        if n_asked.fetch_add(1, Ordering::SeqCst) == 0 {
            symlink("/etc/passwd", directory.join("link")).unwrap();
            fs::remove_file(directory.join("plain.sh")).unwrap();
            symlink("tool.sh", directory.join("plain.sh")).unwrap();
        }
        fs::write(directory.join("edited.sh"), "echo two\n").unwrap();
    });
    let scene = scene(agent);
    let before = files(&scene);
    let new = NewRequest {
        flow: "do".to_owned(),
        request: "Tidy the scripts".to_owned(),
        flags: yes(),
        ..NewRequest::default()
    };
    let error = scene.engine.start_flow(&new).unwrap_err().to_string();
    for name in ["link", "plain.sh"] {
        assert!(
            error.contains(&format!("`{name}` is a symbolic link that was created or changed")),
            "{error}"
        );
    }
    let report = scene.engine.session_report(None::<&str>).unwrap();
    assert_eq!(report.waits_for, Some(WaitsFor::ReplyApproval));
    assert_eq!(files(&scene), before);
    // Turned down, the agent begins with the files as they were; its links are gone.
    let id = Some(report.session_id.as_str());
    let report = scene.engine.reject(id, "no links").unwrap().report;
    assert_eq!(report.status, SessionStatus::Complete);
    let applied = scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    assert_eq!(applied.files.iter().map(|file| file.target.as_str()).collect::<Vec<_>>(), ["edited.sh"]);
}

#[test]
fn a_later_round_keeps_the_bits_and_names_of_an_earlier_one() {
    let agent = Agent::doing(|directory, name| {
        if name == "implement-1" {
            set_mode(&directory.join("plain.sh"), 0o755);
            fs::rename(directory.join("moved.sh"), directory.join("there.sh")).unwrap();
        } else {
            assert!(directory.join("there.sh").exists() && !directory.join("moved.sh").exists());
            fs::write(directory.join("plain.sh"), "echo ok\n").unwrap();
        }
    });
    let scene = scene(agent);
    let before = files(&scene);
    let report = walk(&scene, &["grep -q ok plain.sh && test -x plain.sh && test -x there.sh"]);
    assert_eq!((report.status, report.iteration), (SessionStatus::Complete, 2));
    let id = Some(report.session_id.as_str());
    scene.engine.apply(id, &ApplyOptions::default()).unwrap();
    let after = files(&scene);
    assert_eq!(after["plain.sh"], ("echo ok\n".to_owned(), true));
    assert_eq!(after["there.sh"], before["moved.sh"]);
    assert!(!after.contains_key("moved.sh"));
    scene.engine.undo(id).unwrap();
    assert_eq!(files(&scene), before);
}

#[test]
fn nothing_is_left_in_the_cache_once_a_session_is_removed() {
    let scene = scene(Agent::doing(|directory, _| fs::write(directory.join("new.sh"), "new\n").unwrap()));
    let report = walk(&scene, &[]);
    let worktrees = scene.home().join("cache/aiwf/worktrees");
    let projects: Vec<_> = fs::read_dir(&worktrees).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [project] = projects.as_slice() else { panic!("{projects:?}") };
    // What a killed process leaves: a worktree, one that was about to be removed, and the clone of a branch.
    for name in ["", ".tmp", ".branch"] {
        fs::create_dir_all(project.join(format!("{}{name}/tree", report.session_id))).unwrap();
    }
    let filter = RemovalFilter { typed: vec![report.session_id], ..RemovalFilter::default() };
    for entry in scene.engine.sessions_to_remove(&filter).unwrap() {
        scene.engine.remove_session(&entry).unwrap();
    }
    let left: Vec<_> = fs::read_dir(project).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_check_that_ended_does_not_run_again_after_a_crash() {
    let model = FakeProvider::saying([PLAN, "<<<FILE: new.sh>>>\nnew\n", PASS]);
    let scene = Scene::of_agent(&model, "");
    let log = scene.home().join("ran");
    let (first, second) =
        (format!("echo first >> '{}'", log.display()), "test -e new.sh # second".to_owned());
    let engine = scene.engine.clone().watched_by(|event| {
        // One that panics stands for a process that dies.
        assert!(
            !matches!(event, CallEvent::Check { name, state: CheckState::Started { .. } } if name.contains("second")),
            "killed"
        );
    });
    let new = NewRequest {
        flow: "do".to_owned(),
        request: "Add a script".to_owned(),
        checks: vec![first, second],
        flags: yes(),
        ..NewRequest::default()
    };
    catch_unwind(AssertUnwindSafe(|| engine.start_flow(&new))).unwrap_err();
    let report = scene.fresh_engine().with_provider("model", model).run_session(None::<&str>).unwrap().report;
    assert_eq!(report.status, SessionStatus::Complete);
    let ran = fs::read_to_string(&log).unwrap();
    assert_eq!(ran.matches("first").count(), 1, "{ran}");
    assert_eq!(report.checks.iter().map(|check| check.passed).collect::<Vec<_>>(), [true, true]);
}
