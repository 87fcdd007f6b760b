//! A checkout that a stranger made: looking at it changes nothing, shows nothing of the user's, and ends.
//!
//! Every kind of poison is put into a project that holds a finished session, an open session and a change of a
//! stranger, and every call is made over it: those that look, and those that would act and must be refused.

#![expect(clippy::disallowed_methods, reason = "tests put links, pipes and forged files into a checkout")]

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use aiwf_engine::config::{Config, Flags};
use aiwf_engine::machine::Event;
use aiwf_engine::prompt::Recipe;
use aiwf_engine::{
    ApplyOptions, BuildOptions, ChangeFlags, Consent, Document, Engine, NewChange, PhaseOptions,
};
use aiwf_store::Journal;
use aiwf_testkit::{Tree, replace_with_link};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde_json::json;

use crate::driver::{CODE, PLAN, Session, approve, new_change, review};

/// What the user keeps at home and nobody may see.
const SECRET: &str = "machine example.org login me password hunter2-f00d";

/// A user with a home, and a project that a stranger made.
struct Victim {
    session: Session,
    /// The engine of the user, who has nothing to do with the stranger.
    engine: Engine,
    done: String,
}

/// What a call gave, or why it was refused.
type Said = (&'static str, Result<String, String>);

fn said<T: Debug, E: std::error::Error>(call: &'static str, result: Result<T, E>) -> Said {
    (call, result.map(|given| format!("{given:?}")).map_err(|error| error.to_string()))
}

impl Victim {
    fn new() -> Self {
        // What grows without end fails, and not the machine.
        let bytes = Some(8 << 30);
        setrlimit(Resource::As, Rlimit { current: bytes, maximum: bytes }).unwrap();
        let done = Session::new();
        done.answer(PLAN);
        done.answer(CODE);
        done.answer(&review("PASS", 0));
        let Session { scene, id: done } = done;
        let session = Session::in_scene(scene, &Flags::default());
        session.answer(PLAN);
        let poisoned = NewChange { files: Vec::new(), ..new_change("poisoned", Flags::default()) };
        session.engine().create_change(poisoned).unwrap();
        let engine = session.scene.other_user();
        let home = session.scene.other_home();
        fs::write(home.join(".netrc"), SECRET).unwrap();
        fs::write(home.join(".bashrc"), format!("# {SECRET}\n")).unwrap();
        Self { session, engine, done }
    }

    fn home(&self) -> PathBuf {
        self.session.scene.other_home()
    }

    /// A path below the open session.
    fn in_open(&self, relative: &str) -> PathBuf {
        self.session.scene.project.path(self.session.path(relative))
    }

    fn looks(&self) -> Vec<Said> {
        let (engine, open, done) = (&self.engine, self.session.which(), Some(self.done.as_str()));
        let poisoned = Some("poisoned");
        let document = Document::from_json(Recipe::Change, r#"{"instructions": "x"}"#).unwrap();
        let dry = ApplyOptions { is_dry_run: true, ..ApplyOptions::default() };
        let mut all = engine.list_all().unwrap_or_default();
        engine.mark_foreign(&mut all);
        vec![
            said("list", engine.list_all()),
            said("list changes", engine.list_changes()),
            said("list runs", engine.runs()),
            said("status OPEN", engine.session_report(open)),
            said("status DONE", engine.session_report(done)),
            said("status poisoned", engine.session_report(poisoned)),
            said("usage OPEN", engine.session_usage(open)),
            said("show OPEN", engine.session_file(open, "prompt")),
            said("show OPEN plan", engine.session_file(open, "plan")),
            said("show DONE plan", engine.session_file(done, "plan")),
            said("show DONE code", engine.session_file(done, "code")),
            said("artifacts DONE", engine.session_artifacts(done)),
            said("preview OPEN", engine.preview_session(open)),
            said("preview poisoned", engine.preview_session(poisoned)),
            said("events OPEN", engine.session_events(open)),
            said("verify OPEN", engine.verify(open)),
            said("verify DONE", engine.verify(done)),
            said("diff DONE", engine.diff_session(done, None)),
            said("apply DONE --dry-run", engine.apply(done, &dry)),
            said("adopt OPEN", engine.adoption(&self.session.id)),
            ("validate config", Ok(format!("{:?}", engine.validate_config()))),
            ("validate providers", Ok(format!("{:?}", engine.validate_providers()))),
            ("validate profiles", Ok(format!("{:?}", engine.validate_profiles()))),
            ("validate flows", Ok(format!("{:?}", engine.validate_flows()))),
            ("validate standards", Ok(format!("{:?}", engine.validate_standards()))),
            said("providers", engine.providers(None)),
            ("profiles", Ok(format!("{:?}", engine.profiles().len()))),
            said("config", Config::load(engine.settings(), &Flags::default())),
            said("templates", engine.list_templates()),
            said(
                "tools",
                engine.tools(Consent::Remembered, |_, _| ()).and_then(|tools| Ok(tools.list(None)?.len())),
            ),
            said("package check", engine.check_package(&self.session.scene.root()).map(|_| "checked")),
            said(
                "prompt preview",
                engine
                    .build(document, &ChangeFlags::default(), &BuildOptions::default(), &|_| ())
                    .map(|built| built.payload()),
            ),
        ]
    }

    fn acts(&self) -> Vec<Said> {
        let (engine, open, done) = (&self.engine, self.session.which(), Some(self.done.as_str()));
        let phase = |name: &str| engine.run_phase("poisoned", name, PhaseOptions::default());
        vec![
            said("approve OPEN", approve(engine, open)),
            said("step OPEN", engine.step_session(open)),
            said("run OPEN", engine.run_session(open)),
            said("reject OPEN", engine.reject(open, "no")),
            said("cancel OPEN", engine.cancel(open, None)),
            said("retry OPEN", engine.retry(open, None)),
            said("respond OPEN", engine.respond(open, PLAN, None)),
            said("restore OPEN plan.md", engine.restore(open, "plan.md")),
            said("rebind OPEN", engine.rebind(open)),
            said("accept OPEN", engine.accept(open)),
            said("apply DONE", engine.apply(done, &ApplyOptions::default())),
            said("cancel poisoned", engine.cancel(Some("poisoned"), None)),
            said("change plan poisoned", phase("plan")),
            said("change run poisoned", engine.run_change("poisoned", None)),
        ]
    }

    /// What a call could have changed: the project and all of the home.
    fn tree(&self) -> Tree {
        Tree::of(&[self.session.scene.root(), self.home()])
    }

    /// Looks in every way, then tries to act in every way.
    #[track_caller]
    fn looks_and_is_refused(&self, poison: &str) {
        let before = self.tree();
        let looked = self.looks();
        self.expect_untouched(&before, poison, &looked);
        let acted = self.acts();
        self.expect_untouched(&before, poison, &acted);
        for (call, said) in acted {
            assert!(said.is_err(), "a stranger's session was acted on: {poison}: {call}: {said:?}");
        }
    }

    #[track_caller]
    fn expect_untouched(&self, before: &Tree, poison: &str, all: &[Said]) {
        for (call, said) in all {
            assert!(!format!("{said:?}").contains("hunter2-f00d"), "{poison}: {call}: {said:?}");
        }
        let after = self.tree();
        let changed = before.changed(&after);
        assert!(changed.is_empty(), "{poison}: changed {changed:?}");
    }

    /// Adds a forged event to the open session's journal, its chain intact.
    fn forge(&self, event: &serde_json::Value) {
        let event: Event = serde_json::from_value(event.clone()).unwrap();
        let mut journal = Journal::<Event>::open_path(&self.in_open("journal.jsonl")).unwrap();
        journal.append("2026-01-02T03:04:05Z", vec![event]).unwrap();
        // A list believes a snapshot that is as new as its journal.
        fs::remove_file(self.in_open("session.json")).unwrap();
    }
}

fn pipe(path: &Path) {
    drop(fs::remove_file(path));
    mkfifoat(CWD, path, Mode::from_raw_mode(0o600)).unwrap();
}

#[test]
fn a_session_of_a_stranger_is_only_looked_at() {
    let victim = Victim::new();
    victim.looks_and_is_refused("nothing but foreign");
    // Without poison everything that looks has something to show.
    let refused: Vec<Said> = victim.looks().into_iter().filter(|(_, said)| said.is_err()).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn links_in_the_place_of_engine_files_are_not_followed() {
    for name in
        ["session.json", "journal.jsonl", ".lock", "plan.md", "objects", "iteration-1", "standards-bundle.md"]
    {
        let victim = Victim::new();
        let home = victim.home();
        let target = if ["objects", "iteration-1"].contains(&name) { home } else { home.join(".netrc") };
        replace_with_link(target, &victim.in_open(name));
        victim.looks_and_is_refused(&format!("{name} is a link"));
    }
}

#[test]
fn a_second_hard_link_of_a_file_at_home_is_not_written() {
    for name in ["session.json", ".lock", "plan.md"] {
        let victim = Victim::new();
        let path = victim.in_open(name);
        drop(fs::remove_file(&path));
        fs::hard_link(victim.home().join(".bashrc"), &path).unwrap();
        let before = victim.tree();
        victim.acts();
        assert_eq!(before, victim.tree(), "{name}");
    }
}

#[test]
fn pipes_and_devices_in_the_place_of_engine_files_hold_nothing_up() {
    for name in ["session.json", "journal.jsonl", ".lock", "plan.md", "standards-bundle.md"] {
        let victim = Victim::new();
        pipe(&victim.in_open(name));
        victim.looks_and_is_refused(&format!("{name} is a pipe"));
        let victim = Victim::new();
        replace_with_link("/dev/zero", &victim.in_open(name));
        victim.looks_and_is_refused(&format!("{name} is a device"));
    }
}

#[test]
fn pipes_and_devices_in_the_project_hold_nothing_up() {
    for name in [".mcp.json", ".aiwf/config.toml", ".aiwf/project.md", "AGENTS.md"] {
        let victim = Victim::new();
        pipe(&victim.session.scene.project.path(name));
        victim.looks_and_is_refused(&format!("{name} is a pipe"));
        let victim = Victim::new();
        replace_with_link("/dev/zero", &victim.session.scene.project.path(name));
        victim.looks_and_is_refused(&format!("{name} is a device"));
    }
}

#[test]
fn a_journal_that_never_ends_is_refused() {
    let victim = Victim::new();
    let file = fs::OpenOptions::new().write(true).open(victim.in_open("journal.jsonl")).unwrap();
    file.set_len(1 << 40).unwrap();
    victim.looks_and_is_refused("a journal of a terabyte");
}

#[test]
fn events_that_name_paths_outside_are_refused() {
    let hash = "a".repeat(64);
    let netrc = "../../../../other/.netrc";
    for path in [netrc, "/etc/passwd", "iteration-1/../../../../../other/.bashrc"] {
        let file = json!({ "path": path, "sha256": hash });
        for event in [
            json!({ "event": "prompt-written", "phase": "generating", "iteration": 1, "prompt": file }),
            json!({ "event": "outputs-intended", "files": [file] }),
            json!({ "event": "apply-intended", "files": [{ "target": path, "after": hash }] }),
            json!({ "event": "rebound", "by": { "person": "x" }, "files": [file] }),
        ] {
            let victim = Victim::new();
            victim.forge(&event);
            victim.looks_and_is_refused(&event.to_string());
        }
    }
}

#[test]
fn absurd_numbers_are_refused() {
    let file = json!({ "path": "iteration-1/x.md", "sha256": "a".repeat(64) });
    for event in [
        json!({ "event": "prompt-written", "phase": "generating", "iteration": u32::MAX, "prompt": file }),
        json!({ "event": "cap-raised", "max_iterations": u32::MAX }),
    ] {
        let victim = Victim::new();
        victim.forge(&event);
        victim.looks_and_is_refused(&event.to_string());
    }
}
