#![expect(clippy::disallowed_methods, reason = "tests make the files that an agent works on")]

use std::fs;

use aiwf_config::{Environment, Flags};
use aiwf_prompt::Role;
use aiwf_provider::{Check, PayloadMessage};

use super::*;
use crate::ask::providers::{Duty, ability, load_config, writes_files};

/// An agent that does what a test says, given the directory it works in.
struct Agent<F>(F);

impl<F: Fn(&Path) + Send + Sync> Ask for Agent<F> {
    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        (self.0)(request.directory);
        sink.text("done").map_err(AskError::Sink)?;
        Ok(Answer::Reply(Reply::default()))
    }

    fn check(&self) -> Vec<Check> {
        Vec::new()
    }
}

/// A project, a worktree of it, and a place for calls.
struct World {
    root: tempfile::TempDir,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for directory in ["project/.aiwf", "worktree", "ledger"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        for directory in ["project", "worktree"] {
            fs::write(root.path().join(directory).join("a.txt"), "a").unwrap();
        }
        let tables = "[providers.agent]\ntype = \"command\"\nargv = [\"agent\"]\nwrite = true\n\
                      [providers.tape]\ntype = \"replay\"\ndir = \"../tape\"\n";
        fs::create_dir_all(root.path().join("home/.aiwf")).unwrap();
        fs::write(root.path().join("home/.aiwf/config.toml"), tables).unwrap();
        let environment = Environment {
            current_dir: root.path().join("project"),
            home: Some(root.path().join("home")),
            ..Environment::default()
        };
        let engine = Engine::new(aiwf_config::Settings::resolve(None, environment).unwrap());
        Self { root, engine }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Lets a provider work; nothing of the project is ignored for it.
    fn ask(
        &self,
        engine: &Engine,
        provider: &str,
        permission: Permission,
        directory: Option<&str>,
    ) -> Result<Box<Call>, AskError> {
        let config = load_config(engine.settings(), &Flags::default()).unwrap();
        let message = PayloadMessage::new(Role::User, "do it".to_owned());
        let order = Order {
            name: "implement-1".to_owned(),
            payload: Rc::new(Payload { messages: vec![message], ..Payload::default() }),
            ability: ability(provider, &config, None, Duty::Write, "implement-1").unwrap(),
            permission,
            directory: directory.map(|name| self.path(name)),
            response_path: None,
        };
        let ledger = Arc::new(LedgerDir::at_private(&self.path("ledger")).unwrap());
        let files = CallFiles::free(ledger, |n| format!("text-{n}"), |n| format!("output-{n}"));
        let opened = engine.open_provider(provider, &config).unwrap();
        order.refuse(opened.as_ref(), engine).unwrap();
        match order.make(provider, opened.as_ref(), &files, engine, &config) {
            Ok(CallOutcome::Replied { call, .. }) => Ok(call),
            Ok(CallOutcome::AwaitsPerson) => panic!("nobody is a person"),
            Err(failure) => Err(failure.error),
        }
    }
}

fn touched(call: &Call) -> Vec<(&str, bool)> {
    call.touched.iter().map(|file| (file.path.as_str(), file.before.is_some())).collect()
}

#[test]
fn project_changes_during_a_worktree_call_are_reported() {
    let world = World::new();
    let project = world.path("project");
    let agent = Agent(move |directory: &Path| {
        fs::write(directory.join("a.txt"), "changed").unwrap();
        fs::write(project.join("b.txt"), "stray").unwrap();
    });
    let engine = world.engine.clone().with_provider("agent", agent);
    let call = world.ask(&engine, "agent", Permission::WriteDirectory, Some("worktree")).unwrap();
    assert!(call.touched.is_empty());
    assert_eq!(call.notes, ["changed in the project during the call: b.txt"]);
    assert_eq!(fs::read_to_string(world.path("worktree/a.txt")).unwrap(), "changed");
    assert_eq!(fs::read_to_string(world.path("project/a.txt")).unwrap(), "a");
}

#[test]
fn many_changes_in_the_project_are_named_in_part_and_counted() {
    let world = World::new();
    let project = world.path("project");
    let agent = Agent(move |_: &Path| {
        for number in 0..60 {
            fs::write(project.join(format!("stray-{number:02}.txt")), "stray").unwrap();
        }
    });
    let engine = world.engine.clone().with_provider("agent", agent);
    let call = world.ask(&engine, "agent", Permission::WriteDirectory, Some("worktree")).unwrap();
    assert!(call.notes[0].ends_with("stray-49.txt and 10 more"), "{:?}", call.notes);
}

#[test]
fn an_agent_that_may_edit_the_project_itself_leaves_hashes_of_what_was() {
    let world = World::new();
    let agent = Agent(|directory: &Path| fs::write(directory.join("a.txt"), "changed").unwrap());
    let engine = world.engine.clone().with_provider("agent", agent);
    let call = world.ask(&engine, "agent", Permission::WriteDirectory, None).unwrap();
    assert_eq!(touched(&call), [("a.txt", true)]);
    assert_eq!(call.touched[0].before.as_deref(), Some(aiwf_store::sha256_hex(b"a").as_str()));
}

#[test]
fn a_recorded_agent_edits_files_again_wherever_it_works() {
    let world = World::new();
    let agent = Agent(|directory: &Path| {
        fs::write(directory.join("a.txt"), "changed").unwrap();
        fs::create_dir(directory.join("src")).unwrap();
        fs::write(directory.join("src/new.txt"), "new").unwrap();
    });
    let engine = world.engine.clone().with_provider("agent", agent).recording_to(Some(world.path("tape")));
    let call = world.ask(&engine, "agent", Permission::WriteDirectory, Some("worktree")).unwrap();
    assert_eq!(call.notes, Vec::<String>::new());
    fs::create_dir(world.path("elsewhere")).unwrap();
    fs::write(world.path("elsewhere/a.txt"), "a").unwrap();
    world.ask(&world.engine, "tape", Permission::WriteDirectory, Some("elsewhere")).unwrap();
    for path in ["a.txt", "src/new.txt"] {
        let text = |directory: &str| fs::read_to_string(world.path(directory).join(path)).unwrap();
        assert_eq!(text("elsewhere"), text("worktree"));
    }
    // Where the files are other ones, it is not the recorded call.
    fs::write(world.path("elsewhere/a.txt"), "mine").unwrap();
    let again = world.ask(&world.engine, "tape", Permission::WriteDirectory, Some("elsewhere"));
    assert!(matches!(again, Err(AskError::FileDiffers { path, .. }) if path == "a.txt"));
}

#[test]
fn a_call_that_only_reads_is_recorded_without_files() {
    let world = World::new();
    let agent = Agent(|directory: &Path| fs::write(directory.join("a.txt"), "changed").unwrap());
    let engine = world.engine.clone().with_provider("agent", agent).recording_to(Some(world.path("tape")));
    world.ask(&engine, "agent", Permission::ReadOnly, None).unwrap();
    let config = load_config(engine.settings(), &Flags::default()).unwrap();
    assert!(!writes_files("tape", &config));
    assert!(!world.path("tape/files").exists());
    world.ask(&engine, "agent", Permission::WriteDirectory, Some("worktree")).unwrap();
    assert!(writes_files("tape", &config));
}
