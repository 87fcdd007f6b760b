//! Files that nobody typed stay in the project: what a checkout's configuration, profiles and journals name.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use aiwf_engine::config::Flags;
use aiwf_engine::prompt::Recipe;
use aiwf_engine::provider::{Answer, Ask, AskError, Check, Reply, Request, Sink};
use aiwf_engine::{
    BuildOptions, ChangeFlags, Document, NewChange, PhaseOptions, Sent, SessionError, SessionPreview,
    SessionRef,
};
use serde_json::{Map, Value, json};

use crate::scene::Scene;

const SECRET: &str = "machine example.com password hunter2";

/// A project with links that lead to a secret of the user.
fn checkout() -> Scene {
    let scene = Scene::new().file("src/main.rs", "fn main() {}\n").file("docs/notes.md", "a note\n");
    fs::create_dir(scene.home().join("keys")).unwrap();
    for secret in [".netrc", "keys/id_rsa"] {
        fs::write(scene.home().join(secret), SECRET).unwrap();
    }
    symlink(scene.home().join(".netrc"), scene.root().join("link.md")).unwrap();
    symlink(scene.home().join("keys"), scene.root().join("keys")).unwrap();
    symlink("docs", scene.root().join("inner")).unwrap();
    scene
}

fn change(scene: &Scene, files: &[&str]) -> Result<SessionPreview, SessionError> {
    let files = files.iter().map(|file| (*file).to_owned()).collect();
    let new =
        NewChange { name: "x".to_owned(), request: "change it".to_owned(), files, ..NewChange::default() };
    scene.engine.create_change(new)?;
    scene.engine.preview_session(SessionRef::Change("x"))
}

#[track_caller]
fn expect_left_out(preview: &SessionPreview, names: &[&str]) {
    assert!(!preview.prompt.contains("hunter2"), "{}", preview.prompt);
    let left_out: Vec<(&str, &str)> =
        preview.left_out.iter().map(|left_out| (left_out.id.as_str(), left_out.reason.as_str())).collect();
    assert_eq!(left_out.iter().map(|(what, _)| *what).collect::<Vec<_>>(), names, "{left_out:?}");
}

#[test]
fn files_of_a_projects_configuration_stay_in_the_project() {
    let scene = checkout();
    let absolute = scene.home().join(".netrc").display().to_string();
    let files =
        ["../home/.netrc", "../home/**", &absolute, "inner/*.md", "keys", "keys/*", "link.md", "src/**"];
    scene.write(".aiwf/config.toml", format!("[change]\nfiles = {files:?}\n"));
    let preview = change(&scene, &[]).unwrap();
    expect_left_out(&preview, &["../home/**", "../home/.netrc", &absolute, "keys", "keys/*", "link.md"]);
    assert!(
        preview.prompt.contains("fn main() {}") && preview.prompt.contains("a note"),
        "{}",
        preview.prompt
    );
}

#[test]
fn files_that_a_user_typed_or_configured_may_be_anywhere() {
    let scene = checkout();
    let preview = change(&scene, &["../home/.netrc"]).unwrap();
    assert!(preview.prompt.contains("hunter2"), "{}", preview.prompt);
    assert_eq!(preview.left_out, Vec::new());

    let scene = checkout();
    let own = format!("[change]\nfiles = [{:?}]\n", scene.home().join(".netrc"));
    fs::create_dir_all(scene.home().join(".aiwf")).unwrap();
    fs::write(scene.home().join(".aiwf/config.toml"), own).unwrap();
    assert!(change(&scene, &[]).unwrap().prompt.contains("hunter2"));
}

#[test]
fn patterns_typed_by_another_user_stay_in_the_project() {
    let scene = checkout();
    let name = SessionRef::Change("x");
    change(&scene, &["../home/.netrc", "src/**"]).unwrap();
    let more = PhaseOptions { files: vec!["link.md".to_owned()], ..PhaseOptions::default() };
    scene.engine.run_phase("x", "plan", more.clone()).unwrap();
    assert!(scene.engine.preview_session(name).unwrap().prompt.contains("hunter2"), "the user's own goes on");
    // As the change is before its first prompt, in the hands of somebody else.
    let id = scene.engine.session_report(name).unwrap().session_id;
    let session = scene.root().join(".aiwf/sessions").join(id);
    let journal = session.join("journal.jsonl");
    let lines = fs::read_to_string(&journal).unwrap();
    let begun: Vec<&str> = lines.lines().filter(|line| !line.contains("prompt-written")).collect();
    assert_eq!(begun.len() + 1, lines.lines().count(), "{lines}");
    fs::write(&journal, begun.join("\n") + "\n").unwrap();
    fs::remove_file(session.join("session.json")).unwrap();

    let other = scene.other_user();
    expect_left_out(&other.preview_session(name).unwrap(), &["../home/.netrc", "link.md"]);
    let adoption = other.adoption("x").unwrap();
    assert_eq!(adoption.outside_paths, ["../home/.netrc"]);
    other.adopt(&adoption).unwrap();
    expect_left_out(&other.preview_session(name).unwrap(), &["../home/.netrc", "link.md"]);
    let refused = other.run_phase("x", "plan", PhaseOptions { files: vec!["keys".to_owned()], ..more });
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("`keys` is outside the project"), "{refused}");
    other.run_phase("x", "plan", PhaseOptions::default()).unwrap();
    expect_left_out(&other.preview_session(name).unwrap(), &["../home/.netrc", "link.md"]);
}

#[test]
fn a_default_file_of_a_profile_stays_in_the_project() {
    let scene = checkout();
    scene.engine.new_profile("leaky", "generate", true).unwrap();
    let manifest = scene.read(".aiwf/profiles/leaky/profile.toml");
    let create = |given: Value| {
        let Value::Object(given) = given else { return Err("an object".to_owned()) };
        let new = scene.engine.new_session("leaky", Map::from_iter(given), &Flags::default());
        let created = scene.engine.create_session(new.map_err(|error| error.to_string())?);
        let id = created.map_err(|error| {
            if let SessionError::Params { problems, .. } = &error {
                format!("{problems:?}")
            } else {
                error.to_string()
            }
        })?;
        Ok(scene.engine.preview_session(Some(id.id.as_str())).map_err(|error| error.to_string())?.prompt)
    };
    let absolute = scene.home().join(".netrc").display().to_string();
    for default in ["../home/.netrc", &absolute, "link.md", "keys/id_rsa", "../home/none"] {
        let input = "input = \"NOTES_TEXT\"\n";
        let leaky = manifest.replace(input, &format!("{input}default = {default:?}\n"));
        scene.write(".aiwf/profiles/leaky/profile.toml", &leaky);
        let refused = create(json!({ "request": "x" })).unwrap_err();
        assert!(refused.contains("it is not in the project"), "{default}: {refused}");
        assert!(create(json!({ "request": "x", "notes": "docs/notes.md" })).unwrap().contains("a note"));
        if default != "../home/none" {
            assert!(
                create(json!({ "request": "x", "notes": default })).unwrap().contains("hunter2"),
                "typed"
            );
        }
    }
}

/// Says something, prints something, and fails when it is told to.
struct Talker {
    fails: bool,
}

impl Ask for Talker {
    fn ask(&self, _request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        sink.text("half a reply").unwrap();
        sink.raw(b"what the agent prints").unwrap();
        if self.fails {
            return Err(AskError::Stopped { provider: "talker".to_owned() });
        }
        Ok(Answer::Reply(Reply::default()))
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}

fn send(fails: bool) -> Result<Sent, SessionError> {
    let scene = Scene::new().with_provider("talker", Talker { fails });
    let document = Document::from_json(Recipe::Change, r#"{"instructions": "x"}"#).unwrap();
    let options = BuildOptions { provider: Some("talker".to_owned()), ..BuildOptions::default() };
    let built = scene.engine.build(document, &ChangeFlags::default(), &options, &|_| {}).unwrap();
    scene.engine.send(&built, "talker", None)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn temporary_files_of_a_prompt_that_is_sent_are_the_users_alone_and_go() {
    let sent = send(false).unwrap();
    let path = sent.reply_path().to_owned();
    let directory = path.parent().unwrap();
    assert_eq!((mode(directory), mode(&path)), (0o700, 0o600));
    for entry in fs::read_dir(directory).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    drop(sent);
    assert!(!directory.exists());
}

#[test]
fn of_a_prompt_that_failed_only_half_a_reply_stays() {
    let SessionError::SendFailed { kept, .. } = send(true).unwrap_err() else { unreachable!("it stopped") };
    let path = Path::new(&kept);
    let directory = path.parent().unwrap();
    let names: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [path]);
    assert_eq!((mode(directory), mode(path)), (0o700, 0o600));
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_arrives_is_not_streamed_through_a_link() {
    let scene = Scene::new().with_provider("talker", Talker { fails: false });
    scene.write(".aiwf/config.toml", "[roles]\ndefault = \"talker\"\n");
    let id = scene.create().unwrap();
    let iteration = scene.root().join(".aiwf/sessions").join(&id).join("iteration-1");
    let elsewhere = scene.home().join("elsewhere");
    fs::rename(&iteration, &elsewhere).unwrap();
    symlink(&elsewhere, &iteration).unwrap();
    let before = fs::read_dir(&elsewhere).unwrap().count();
    let refused = scene.engine.approve(None::<&str>, &aiwf_engine::ApproveOptions::default());
    assert!(refused.is_err());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), before);
}
