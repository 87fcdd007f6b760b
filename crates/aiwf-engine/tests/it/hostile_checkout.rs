//! What a checkout may contain: sessions whose files are links, pipes or somebody else's, and journals with a valid
//! chain that say what no aiwf would have written.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test changes one kind of event and leaves the others")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use aiwf_engine::machine::{AppliedFile, Event, FileHash, Outcome};
use aiwf_engine::{ApplyOptions, ApproveOptions, Engine, SessionError, SessionStatus};
use aiwf_store::Journal;
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::scene::{Scene, tree};

const SECRET: &str = "machine example.com password hunter2\n";

/// A project with one session, and a file of the user outside of it.
struct Checkout {
    scene: Scene,
    id: String,
}

impl Checkout {
    fn new() -> Self {
        let scene = Scene::new();
        let id = scene.create().unwrap();
        fs::write(scene.home().join(".netrc"), SECRET).unwrap();
        Self { scene, id }
    }

    fn engine(&self) -> &Engine {
        &self.scene.engine
    }

    fn session(&self) -> PathBuf {
        self.scene.root().join(".aiwf/sessions").join(&self.id)
    }

    /// Writes the journal anew, every event changed, with a chain that is right.
    fn forge(&self, change: impl FnMut(Event) -> Event) {
        let path = self.session().join("journal.jsonl");
        let events: Vec<Event> = Journal::<Event>::open_path(&path)
            .unwrap()
            .lines()
            .iter()
            .map(|line| line.event.clone())
            .collect();
        fs::remove_file(&path).unwrap();
        let mut journal = Journal::<Event>::open_path(&path).unwrap();
        journal.append("2026-01-02T03:04:05Z", events.into_iter().map(change).collect()).unwrap();
        fs::remove_file(self.session().join("session.json")).ok();
    }

    fn add(&self, events: Vec<Event>) {
        let mut journal = Journal::<Event>::open_path(&self.session().join("journal.jsonl")).unwrap();
        journal.append("2026-01-02T03:04:05Z", events).unwrap();
    }

    /// Every command, with what it says when it is refused.
    fn try_everything(&self) -> Vec<(&'static str, Option<String>)> {
        let id = Some(self.id.as_str());
        let said = |result: Result<(), SessionError>| result.err().map(|error| error.to_string());
        let dry = ApplyOptions { is_dry_run: true, ..ApplyOptions::default() };
        let engine = self.engine();
        vec![
            ("status", said(engine.session_report(id).map(drop))),
            ("events", said(engine.session_events(id).map(drop))),
            ("verify", said(engine.verify(id).map(drop))),
            ("preview", said(engine.preview_session(id).map(drop))),
            ("show", said(engine.session_file(id, "prompt").map(drop))),
            ("diff", said(engine.diff_session(id, None).map(drop))),
            ("apply --dry-run", said(engine.apply(id, &dry).map(drop))),
            ("step", said(engine.step_session(id).map(drop))),
            ("run", said(engine.run_session(id).map(drop))),
            ("approve", said(engine.approve(id, &ApproveOptions::default()).map(drop))),
            ("restore", said(engine.restore(id, "../../../../home/.netrc"))),
            ("cancel", said(engine.cancel(id, None).map(drop))),
            ("apply", said(engine.apply(id, &ApplyOptions::default()).map(drop))),
        ]
    }

    #[track_caller]
    fn expect_all_refused(&self, problem: &str) {
        for (command, said) in self.try_everything() {
            let said = said.unwrap_or_else(|| "not refused".to_owned());
            assert!(said.contains(problem), "{command}: {said}");
        }
        self.expect_untouched();
    }

    #[track_caller]
    fn expect_untouched(&self) {
        assert_eq!(fs::read_to_string(self.scene.home().join(".netrc")).unwrap(), SECRET);
    }
}

fn outside() -> FileHash {
    FileHash { path: "../../../../home/.netrc".to_owned(), sha256: aiwf_store::sha256_hex(SECRET.as_bytes()) }
}

#[test]
fn a_journal_that_names_files_outside_of_its_session_is_refused_by_every_command() {
    let checkout = Checkout::new();
    checkout.forge(|event| match event {
        Event::PromptWritten { phase, iteration, system_prompt, seen, .. } => Event::PromptWritten {
            phase,
            iteration,
            prompt: outside(),
            system_prompt,
            seen,
            fs_ability: None,
            left_out: Vec::new(),
        },
        event => event,
    });
    checkout.expect_all_refused("it names the path `../../../../home/.netrc`, which leaves the session");

    let checkout = Checkout::new();
    checkout.forge(|event| match event {
        Event::SessionCreated { mut setup } => {
            setup.inputs.push(outside());
            Event::SessionCreated { setup }
        }
        event => event,
    });
    checkout.expect_all_refused("line 1 of the journal was not written by aiwf");

    let checkout = Checkout::new();
    let absolute = FileHash { path: "/etc/passwd".to_owned(), ..outside() };
    checkout.add(vec![Event::OutputsIntended { files: vec![absolute] }]);
    checkout.expect_all_refused("leaves the session");
}

#[test]
fn a_journal_that_is_about_to_copy_code_elsewhere_touches_nothing() {
    let intended = |target: &str| {
        let after = aiwf_store::sha256_hex(SECRET.as_bytes());
        vec![Event::ApplyIntended {
            files: vec![AppliedFile {
                target: target.to_owned(),
                before: None,
                after: Some(after),
                executable: None,
            }],
            is_undo: false,
        }]
    };
    let checkout = Checkout::new();
    checkout.add(intended("../home/.netrc"));
    checkout.expect_all_refused("leaves the project");
    // An absolute target is what `apply --to` writes; only who names its directory again touches it.
    let checkout = Checkout::new();
    checkout.add(intended(checkout.scene.home().join(".netrc").to_str().unwrap()));
    checkout.try_everything();
    checkout.expect_untouched();
}

#[test]
fn an_absurd_iteration_is_refused_at_once() {
    let checkout = Checkout::new();
    checkout.forge(|event| match event {
        Event::PromptWritten { phase, prompt, system_prompt, seen, .. } => Event::PromptWritten {
            phase,
            iteration: u32::MAX,
            prompt,
            system_prompt,
            seen,
            fs_ability: None,
            left_out: Vec::new(),
        },
        event => event,
    });
    checkout.expect_all_refused("iteration 4294967295");
    assert_eq!(checkout.engine().list_sessions().unwrap()[0].status, SessionStatus::Unreadable);
}

#[test]
fn a_hash_that_is_a_path_is_refused() {
    let checkout = Checkout::new();
    let plan = FileHash { path: "plan.md".to_owned(), sha256: "../../../../../home/.netrc".to_owned() };
    let response = FileHash { path: "iteration-1/planning-response.md".to_owned(), ..outside() };
    let by = aiwf_engine::machine::Actor::OpenGate;
    checkout.add(vec![Event::ResponseApproved {
        by,
        response,
        outcome: Outcome::Plan { plan },
        runs_checks: false,
        note: None,
    }]);
    checkout.expect_all_refused("is not a SHA-256");
}

#[test]
fn a_session_in_a_directory_of_another_name_is_refused_and_is_not_the_latest() {
    let checkout = Checkout::new();
    let sessions = checkout.scene.root().join(".aiwf/sessions");
    fs::create_dir(sessions.join("99991231-235959-ffff")).unwrap();
    for name in ["journal.jsonl", "session.json"] {
        fs::copy(checkout.session().join(name), sessions.join("99991231-235959-ffff").join(name)).unwrap();
    }
    let engine = checkout.engine();
    assert_eq!(engine.session_report(Some("latest")).unwrap().session_id, checkout.id);
    let refused = engine.session_report(Some("99991231-235959-ffff")).unwrap_err().to_string();
    assert!(refused.contains(&format!("it is the journal of `{}`", checkout.id)), "{refused}");
    assert!(engine.cancel(Some("99991231-235959-ffff"), None).is_err());
}

#[test]
fn links_in_the_place_of_the_files_of_a_session_are_not_followed() {
    for name in ["session.json", ".lock", "journal.jsonl", "objects", "iteration-1"] {
        let checkout = Checkout::new();
        let path = checkout.session().join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap_or(());
        }
        let target = checkout.scene.home();
        symlink(if name.contains('-') || name == "objects" { target } else { target.join(".netrc") }, &path)
            .unwrap();
        let before = tree(&checkout.scene.home());
        checkout.try_everything();
        checkout.engine().list_sessions().unwrap();
        assert_eq!(tree(&checkout.scene.home()), before, "{name}");
        checkout.expect_untouched();
    }
}

#[test]
fn a_bound_file_that_became_a_link_is_neither_hashed_nor_restored_through() {
    let checkout = Checkout::new();
    let bundle = checkout.session().join("standards-bundle.md");
    fs::remove_file(&bundle).unwrap();
    symlink(checkout.scene.home().join(".netrc"), &bundle).unwrap();
    let report = checkout.engine().session_report(Some(checkout.id.as_str())).unwrap();
    assert_eq!((report.stale.len(), report.stale[0].found.as_deref()), (1, None));
    let refused = checkout.engine().restore(Some(checkout.id.as_str()), "standards-bundle.md").unwrap_err();
    assert!(refused.to_string().contains("it is a link"), "{refused}");
    checkout.expect_untouched();
}

#[test]
fn the_place_of_sessions_does_not_lead_out_of_the_project() {
    let scene = Scene::new();
    fs::remove_dir_all(scene.root().join(".aiwf")).unwrap();
    symlink(scene.home(), scene.root().join(".aiwf")).unwrap();
    let refused = scene.create().unwrap_err().to_string();
    assert!(refused.contains("outside the project"), "{refused}");
    assert!(!scene.home().join("sessions").exists());
}

#[test]
fn pipes_are_refused_instead_of_waited_for() {
    for name in ["session.json", ".lock", "journal.jsonl", "iteration-1/planning-prompt.md"] {
        let checkout = Checkout::new();
        let path = checkout.session().join(name);
        fs::remove_file(&path).unwrap_or(());
        mkfifoat(CWD, &path, Mode::from_raw_mode(0o600)).unwrap();
        checkout.engine().list_sessions().unwrap();
        checkout.try_everything();
    }
}

#[test]
fn looking_at_a_session_changes_nothing() {
    let checkout = Checkout::new();
    let id = Some(checkout.id.as_str());
    // A prompt that is yet to be written, a half-written file, a snapshot that is behind, a reply that waits.
    checkout.engine().approve(id, &ApproveOptions::default()).unwrap();
    checkout
        .scene
        .write(&format!(".aiwf/sessions/{}/iteration-1/planning-response.md", checkout.id), "# Plan\n");
    fs::write(checkout.session().join(".tmp-9-code"), "half").unwrap();
    fs::remove_file(checkout.session().join("session.json")).unwrap();
    let before = tree(&checkout.scene.world());
    let engine = checkout.engine();
    engine.session_report(id).unwrap();
    engine.list_sessions().unwrap();
    engine.preview_session(id).unwrap();
    engine.explain_session(id).unwrap();
    engine.session_file(id, "prompt").unwrap();
    engine.session_events(id).unwrap();
    engine.verify(id).unwrap();
    drop(engine.diff_session(id, None));
    drop(engine.apply(id, &ApplyOptions { is_dry_run: true, ..ApplyOptions::default() }));
    let after = tree(&checkout.scene.world());
    let changed: Vec<&PathBuf> = after.keys().filter(|path| before.get(*path) != after.get(*path)).collect();
    assert_eq!(changed, Vec::<&PathBuf>::new());
    assert_eq!(before.len(), after.len());
}

#[test]
fn a_preview_of_a_prompt_that_is_yet_to_be_written_is_the_prompt_that_is_written() {
    let checkout = Checkout::new();
    let id = Some(checkout.id.as_str());
    let written = checkout.engine().preview_session(id).unwrap();
    let path = checkout.session().join("journal.jsonl");
    // As a process leaves it that dies after the first line.
    let first = fs::read_to_string(&path).unwrap().lines().next().unwrap().to_owned();
    fs::write(&path, first + "\n").unwrap();
    fs::remove_file(checkout.session().join("session.json")).unwrap();
    let wanted = checkout.engine().preview_session(id).unwrap();
    assert_eq!(wanted.text(), written.text());
    assert_eq!(wanted.metadata.payload_sha256, written.metadata.payload_sha256);
}

#[test]
fn verify_looks_at_the_bytes_that_are_kept() {
    let checkout = Checkout::new();
    let id = Some(checkout.id.as_str());
    assert_eq!(checkout.engine().verify(id).unwrap().problems, Vec::<String>::new());
    let objects = checkout.session().join("objects");
    let object = fs::read_dir(&objects).unwrap().next().unwrap().unwrap().path();
    fs::write(&object, "other bytes").unwrap();
    let problems = checkout.engine().verify(id).unwrap().problems;
    assert!(problems.len() == 1 && problems[0].contains("was changed"), "{problems:?}");
    fs::remove_dir_all(&objects).unwrap();
    let problems = checkout.engine().verify(id).unwrap().problems;
    assert!(problems.iter().any(|problem| problem.contains("`standards-bundle.md`")), "{problems:?}");
}
