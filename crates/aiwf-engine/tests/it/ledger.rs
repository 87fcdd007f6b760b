//! Sessions of every kind in one place: created, named, found, listed and removed.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use aiwf_engine::advice::{Action, Advice};
use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::{
    Engine, NewChange, NewConversation, NewRequest, PhaseOptions, RemovalFilter, SessionEntry, SessionError,
    SessionRef, SessionStatus, TrustError, WaitsFor,
};

use crate::scene::Scene;

impl Scene {
    fn change(&self, name: &str) -> Result<String, SessionError> {
        let request = format!("Add {name}");
        let new = NewChange { name: name.to_owned(), request, ..NewChange::default() };
        Ok(self.engine.create_change(new)?.session_id)
    }

    fn chat(&self) -> String {
        let new = NewConversation { package: None, agent: None, provider: Some("anthropic") };
        self.engine.start_conversation(&new).unwrap().id().to_owned()
    }

    fn place(&self) -> PathBuf {
        self.root().join(".aiwf/sessions")
    }

    /// Puts a session where 0.1.0 would have created it.
    fn make_old(&self, id: &str, place: &str) {
        let old = self.root().join(".aiwf").join(place);
        fs::create_dir_all(&old).unwrap();
        fs::rename(self.place().join(id), old.join(id)).unwrap();
    }

    fn remove(&self, typed: &str) -> Result<(), SessionError> {
        let filter = RemovalFilter { typed: vec![typed.to_owned()], older_than: None };
        let [session] = self.engine.sessions_to_remove(&filter)?.try_into().unwrap();
        self.engine.remove_session(&session)
    }

    fn records(&self) -> usize {
        let state = self.home().join(".aiwf/state");
        let count = |kind| fs::read_dir(state.join(kind)).map_or(0, Iterator::count);
        ["sessions", "changes", "runs"].into_iter().map(count).sum()
    }
}

fn with_provider() -> Scene {
    Scene::new().file(
        ".aiwf/config.toml",
        "[providers.anthropic]\ntype = \"anthropic\"\nmodel = \"claude-sonnet-4-5\"\napi_key_env = \"NO_KEY\"\n",
    )
}

fn ids(entries: &[SessionEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

#[test]
fn sessions_of_every_kind_are_created_in_one_place_and_listed_together() {
    let scene = with_provider();
    let (session, change, chat) = (scene.create().unwrap(), scene.change("login").unwrap(), scene.chat());
    let mut names: Vec<String> = fs::read_dir(scene.place())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".lock")
        .collect();
    names.sort();
    let mut expected = [session.clone(), change.clone(), chat.clone()];
    expected.sort();
    assert_eq!(names, expected);

    let mut all = scene.engine.list_all().unwrap();
    scene.engine.mark_foreign(&mut all);
    let of = |id: &str| all.iter().find(|entry| entry.id == id).unwrap();
    let shown = |entry: &SessionEntry| {
        (entry.flow.clone(), entry.title.clone(), entry.status, entry.waits_for, entry.is_foreign)
    };
    let text = str::to_owned;
    let (flow, title, status, waits_for, is_foreign) = shown(of(&session));
    assert!(title.starts_with("react-component ") && title.contains("component=Button"), "{title}");
    assert_eq!(
        (flow, status, waits_for),
        (text("generate"), SessionStatus::Waiting, Some(WaitsFor::PromptApproval))
    );
    assert!(!is_foreign);
    assert_eq!(of(&change).name.as_deref(), Some("login"));
    let (flow, title, _, waits_for, _) = shown(of(&change));
    assert_eq!((flow, title, waits_for), (text("change"), text("Add login"), Some(WaitsFor::NextPhase)));
    let (flow, _, status, waits_for, _) = shown(of(&chat));
    assert_eq!((flow, status, waits_for), (text("package"), SessionStatus::Waiting, Some(WaitsFor::Answer)));
}

#[test]
fn what_is_looked_at_in_one_moment_is_of_that_moment() {
    let scene = with_provider();
    let id = scene.change("login").unwrap();
    let n_events = |engine: &aiwf_engine::Engine| engine.session_events(Some(id.as_str())).unwrap().len();
    let before = n_events(&scene.engine);
    let seen = scene.engine.at_one_moment(|engine| {
        let first = n_events(engine);
        // Somebody else goes on meanwhile.
        std::thread::scope(|scope| {
            scope.spawn(|| scene.engine.cancel(Some(id.as_str()), None).unwrap());
        });
        (first, n_events(engine))
    });
    assert_eq!(seen, (before, before));
    assert_eq!(n_events(&scene.engine), before + 1);
}

#[test]
fn a_name_is_taken_until_its_session_has_ended() {
    let scene = Scene::new();
    let first = scene.change("login").unwrap();
    assert!(matches!(scene.change("login"), Err(SessionError::ChangeExists { .. })));
    scene.engine.cancel(SessionRef::Change("login"), None).unwrap();
    let report = scene.engine.session_report(SessionRef::Change("login")).unwrap();
    assert_eq!((report.session_id.as_str(), report.status), (first.as_str(), SessionStatus::Cancelled));
    let second = scene.change("login").unwrap();
    assert_ne!(first, second);
    let found = |typed: &str| scene.engine.session_report(SessionRef::Change(typed)).unwrap().session_id;
    assert_eq!(found("login"), second);
    assert_eq!(found(&first), first);
    // The common verbs find it by its name too.
    assert_eq!(scene.engine.session_report(Some("login")).unwrap().session_id, second);
}

#[test]
fn a_change_is_talked_about_by_its_name_and_its_files_by_their_real_place() {
    let scene = Scene::new();
    let id = scene.change("login").unwrap();
    let report = scene.engine.session_report(SessionRef::Change("login")).unwrap();
    assert_eq!(report.next, Advice::from(Action::Run).about_session("login"));
    assert_eq!(report.change.unwrap().name, "login");
    let preview = scene.engine.preview_session(SessionRef::Change("login")).unwrap();
    assert_eq!(preview.session_id, id);
    let journal = scene.read(&format!(".aiwf/sessions/{id}/journal.jsonl"));
    assert!(journal.contains("\"name\":\"login\""), "{journal}");
}

#[test]
fn sessions_in_the_old_directories_are_found_listed_and_resumed_there() {
    let scene = with_provider();
    let (change, chat) = (scene.change("login").unwrap(), scene.chat());
    scene.make_old(&change, "changes");
    scene.make_old(&chat, "runs");
    let all = scene.engine.list_all().unwrap();
    let mut directories: Vec<&str> = all.iter().map(|entry| entry.directory.as_str()).collect();
    directories.sort_unstable();
    assert_eq!(directories, [format!(".aiwf/changes/{change}"), format!(".aiwf/runs/{chat}")]);
    // The name is taken by the old one.
    assert!(matches!(scene.change("login"), Err(SessionError::ChangeExists { .. })));
    scene.engine.cancel(SessionRef::Change("login"), None).unwrap();
    scene.engine.cancel_run(&chat, None).unwrap();
    assert!(scene.root().join(".aiwf/changes").join(&change).join("journal.jsonl").is_file());
    assert_eq!(scene.engine.run_status("latest").unwrap().directory, format!(".aiwf/runs/{chat}"));
    assert_eq!(scene.engine.runs().unwrap().len(), 1);
}

#[test]
fn the_first_event_decides_the_kind_and_not_the_directory() {
    let scene = with_provider();
    let (session, chat) = (scene.create().unwrap(), scene.chat());
    scene.make_old(&session, "runs");
    assert_eq!(scene.engine.session_report(Some(session.as_str())).unwrap().session_id, session);
    assert_eq!(scene.engine.list_sessions().unwrap().len(), 1);
    assert_eq!(scene.engine.runs().unwrap()[0].run_id, chat);
    let refused = scene.engine.session_report(Some(chat.as_str())).unwrap_err();
    assert!(matches!(refused, SessionError::OtherKind { .. }), "{refused}");
    let refused = scene.engine.run_status(&session).unwrap_err().to_string();
    assert_eq!(refused, format!("`{session}` is a session"));
}

#[test]
fn latest_is_the_newest_of_what_a_command_works_on_and_no_impostor() {
    let scene = with_provider();
    let session = scene.create().unwrap();
    let change = scene.change("login").unwrap();
    let chat = scene.chat();
    let copy = scene.place().join("99991231-235959-ffff");
    fs::create_dir(&copy).unwrap();
    for name in ["journal.jsonl", "session.json"] {
        fs::copy(scene.place().join(&session).join(name), copy.join(name)).unwrap();
    }
    assert_eq!(scene.engine.session_report(Some("latest")).unwrap().session_id, change);
    assert_eq!(scene.engine.run_status("latest").unwrap().report.run_id, chat);
}

#[test]
fn ambiguous_words_list_the_candidates_with_their_titles() {
    let scene = Scene::new();
    scene.change("login").unwrap();
    scene.change("logout").unwrap();
    let refused = scene.engine.session_report(Some("20")).unwrap_err().to_string();
    assert!(refused.starts_with("`20` matches 2 sessions\n"), "{refused}");
    assert!(refused.contains("login: Add login") && refused.contains("logout: Add logout"), "{refused}");
    let refused = scene.engine.cancel(None::<&str>, None).unwrap_err().to_string();
    assert!(refused.contains("login: Add login"), "{refused}");
}

#[test]
fn only_sessions_that_have_ended_are_removed_with_their_record() {
    let scene = with_provider();
    let (session, chat) = (scene.create().unwrap(), scene.chat());
    scene.change("login").unwrap();
    assert_eq!(scene.records(), 3);
    for typed in [session.as_str(), "login", chat.as_str()] {
        assert!(matches!(scene.remove(typed), Err(SessionError::NotEnded { .. })), "{typed}");
    }
    assert_eq!(scene.engine.sessions_to_remove(&RemovalFilter::default()).unwrap().len(), 0);
    scene.engine.cancel(Some(session.as_str()), None).unwrap();
    scene.engine.cancel(SessionRef::Change("login"), None).unwrap();
    scene.engine.cancel_run(&chat, None).unwrap();
    let old = RemovalFilter { older_than: Some(Duration::from_hours(1)), ..RemovalFilter::default() };
    assert_eq!(ids(&scene.engine.sessions_to_remove(&old).unwrap()), [""; 0]);
    // Without a word one of several is not chosen.
    let several = scene.engine.sessions_to_remove(&RemovalFilter::default()).unwrap_err();
    assert!(matches!(several, SessionError::SeveralEndedSessions { .. }), "{several}");
    let named = RemovalFilter { typed: vec![session, "login".to_owned(), chat], older_than: None };
    let all = scene.engine.sessions_to_remove(&named).unwrap();
    assert_eq!(all.len(), 3);
    for entry in &all {
        scene.engine.remove_session(entry).unwrap();
    }
    assert!(scene.engine.list_all().unwrap().is_empty());
    assert_eq!(scene.records(), 0);
    assert_eq!(fs::read_dir(scene.place()).unwrap().count(), 1, "only the lock is left");
}

#[test]
fn a_wrong_snapshot_removes_nothing() {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    let path = scene.place().join(&id).join("session.json");
    let lie = fs::read_to_string(&path).unwrap().replace("\"waiting\"", "\"complete\"");
    fs::write(&path, lie).unwrap();
    assert_eq!(scene.engine.list_all().unwrap()[0].status, SessionStatus::Complete);
    assert!(scene.engine.sessions_to_remove(&RemovalFilter::default()).unwrap().is_empty());
    assert!(matches!(scene.remove(&id), Err(SessionError::NotEnded { .. })));
}

#[test]
fn removing_follows_no_link_and_a_foreign_session_that_ended_can_go() {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    scene.engine.cancel(Some(id.as_str()), None).unwrap();
    fs::write(scene.home().join("precious"), "x").unwrap();
    symlink(scene.home(), scene.place().join(&id).join("link")).unwrap();
    let other = Environment {
        current_dir: scene.root(),
        home: Some(scene.world().join("other")),
        ..Environment::default()
    };
    let other = Engine::new(Settings::resolve(Some(&scene.root()), other).unwrap());
    assert!(other.sessions_to_remove(&RemovalFilter::default()).unwrap().is_empty());
    let named = RemovalFilter { typed: vec![id.clone()], older_than: None };
    let [mut entry]: [SessionEntry; 1] = other.sessions_to_remove(&named).unwrap().try_into().unwrap();
    other.mark_foreign(std::slice::from_mut(&mut entry));
    assert!(entry.is_foreign);
    other.remove_session(&entry).unwrap();
    assert!(!scene.place().join(&id).exists());
    assert!(scene.home().join("precious").is_file());
}

#[test]
fn a_removal_that_was_cut_short_leaves_nothing_that_counts_as_a_session() {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    scene.engine.cancel(Some(id.as_str()), None).unwrap();
    // The process died after the directory got its temporary name.
    fs::rename(scene.place().join(&id), scene.place().join(format!(".tmp-{id}"))).unwrap();
    assert!(scene.engine.list_all().unwrap().is_empty());
    assert!(matches!(scene.remove(&id), Err(SessionError::NoSession { .. })));
    let next = scene.create().unwrap();
    let names: Vec<String> = fs::read_dir(scene.place())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".lock")
        .collect();
    assert_eq!(names, [next]);
}

#[test]
fn gitignore_is_written_once_and_never_changed() {
    let scene = Scene::new();
    // A directory that somebody else created is theirs.
    scene.create().unwrap();
    assert!(!scene.root().join(".aiwf/.gitignore").exists());
    fs::remove_dir_all(scene.root().join(".aiwf")).unwrap();
    scene.create().unwrap();
    let ignored = scene.read(".aiwf/.gitignore");
    for line in ["/sessions/", "/changes/", "/runs/", "/cache/", "/tool-results/"] {
        assert!(ignored.lines().any(|found| found == line), "{line} in {ignored}");
    }
    scene.write(".aiwf/.gitignore", "mine\n");
    scene.create().unwrap();
    assert_eq!(scene.read(".aiwf/.gitignore"), "mine\n");
}

#[test]
fn a_session_that_came_with_a_checkout_keeps_no_name() {
    let scene = Scene::new();
    let first = scene.change("login").unwrap();
    assert!(scene.change("login").is_err());
    let other = scene.other_user();
    let new = NewChange { name: "login".to_owned(), request: "again".to_owned(), ..NewChange::default() };
    let second = other.create_change(new).unwrap().session_id;
    assert_ne!(first, second);
}

impl Scene {
    /// Damages the journal of a session so that nothing after its first line can be read.
    fn damage(&self, id: &str) {
        let path = self.place().join(id).join("journal.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{}\nnot json\n", text.lines().next().unwrap())).unwrap();
    }
}

#[test]
fn without_a_word_an_unreadable_session_does_not_qualify_and_a_foreign_one_only_alone() {
    let scene = Scene::new();
    let damaged = scene.create().unwrap();
    scene.damage(&damaged);
    let found = |engine: &Engine| engine.session_report(None::<&str>).map(|report| report.session_id);
    assert!(matches!(found(&scene.engine), Err(SessionError::NoOpenSession)));
    let first = scene.create().unwrap();
    assert_eq!(found(&scene.engine).unwrap(), first);
    // Another user may look at it, is told whose it is when acting, and works on sessions of their own.
    let other = scene.other_user();
    assert_eq!(found(&other).unwrap(), first);
    assert!(matches!(other.cancel(None::<&str>, None), Err(SessionError::Trust(TrustError::Foreign { .. }))));
    let new = NewChange { name: "login".to_owned(), request: "again".to_owned(), ..NewChange::default() };
    let own = other.create_change(new).unwrap().session_id;
    assert_eq!(found(&other).unwrap(), own);
}

#[test]
fn an_unreadable_session_is_removed_only_when_it_is_named() {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    scene.damage(&id);
    assert!(scene.engine.sessions_to_remove(&RemovalFilter::default()).unwrap().is_empty());
    let named = RemovalFilter { typed: vec![id.clone()], older_than: None };
    let entries = scene.engine.sessions_to_remove(&named).unwrap();
    assert_eq!(entries[0].status, SessionStatus::Unreadable);
    scene.engine.remove_session(&entries[0]).unwrap();
    assert!(!scene.place().join(&id).exists());
}

#[test]
fn the_only_ended_session_is_removed_without_a_word() {
    let scene = Scene::new();
    let ended = scene.create().unwrap();
    scene.engine.cancel(Some(ended.as_str()), None).unwrap();
    scene.create().unwrap();
    let entries = scene.engine.sessions_to_remove(&RemovalFilter::default()).unwrap();
    assert_eq!(ids(&entries), [ended.as_str()]);
}

#[test]
fn a_phase_of_a_change_is_refused_in_a_session_of_another_flow() {
    let scene = Scene::new();
    let request = NewRequest {
        flow: "do".to_owned(),
        request: "Add login".to_owned(),
        provider: Some("manual".to_owned()),
        ..NewRequest::default()
    };
    let id = scene.engine.start_flow(&request).unwrap().id;
    let before = scene.engine.session_events(Some(id.as_str())).unwrap().len();
    let phases = ["plan", "challenge", "implement", "review", "archive"];
    let of_phases = phases.map(|phase| scene.engine.run_phase(&id, phase, PhaseOptions::default()));
    for refused in of_phases.into_iter().chain([scene.engine.run_change(&id, None)]) {
        let refused = refused.unwrap_err();
        assert!(matches!(&refused, SessionError::NotAChange { flow, .. } if flow == "do"), "{refused}");
        let actions: Vec<Action> = refused.advice().unwrap().actions().cloned().collect();
        assert_eq!(actions, [Action::Run, Action::Approve]);
    }
    assert_eq!(scene.engine.session_events(Some(id.as_str())).unwrap().len(), before);
}

#[test]
fn the_only_changed_file_is_restored_without_a_word() {
    let scene = Scene::new();
    let id = scene.create().unwrap();
    assert!(matches!(scene.engine.only_stale_file(None), Err(SessionError::NoStaleFile)));
    let bundle = format!(".aiwf/sessions/{id}/standards-bundle.md");
    let approved = scene.read(&bundle);
    scene.write(&bundle, "changed");
    let (session, file) = scene.engine.only_stale_file(None).unwrap();
    assert_eq!((session.as_str(), file.as_str()), (id.as_str(), "standards-bundle.md"));
    scene.engine.restore(Some(session.as_str()), &file).unwrap();
    assert_eq!(scene.read(&bundle), approved);

    let other = scene.create().unwrap();
    for id in [&id, &other] {
        scene.write(&format!(".aiwf/sessions/{id}/standards-bundle.md"), "changed");
    }
    assert!(matches!(scene.engine.only_stale_file(None), Err(SessionError::SeveralStaleFiles { .. })));
    assert_eq!(scene.engine.only_stale_file(Some(other.as_str())).unwrap().0, other);
}

#[test]
fn a_forged_snapshot_shows_no_other_name_than_the_journal() {
    let scene = Scene::new();
    let id = scene.change("login").unwrap();
    let path = scene.place().join(&id).join("session.json");
    let forged = fs::read_to_string(&path).unwrap().replace("\"name\": \"login\"", "\"name\": \"logout\"");
    assert!(forged.contains("logout"), "{forged}");
    fs::write(&path, forged).unwrap();
    assert_eq!(scene.engine.list_all().unwrap()[0].name.as_deref(), Some("login"));
    assert!(scene.engine.session_report(Some("logout")).is_err());
}
