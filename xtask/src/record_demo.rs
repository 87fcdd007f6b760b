//! `cargo xtask record-demo`: records the answers of both demos anew, after a template or a standard has changed.
//!
//! In: `examples/shop/replies/*.md`, `examples/todo/answers/`. Out: the recordings beside them, `cassette/*.json`. The
//! sessions are driven through the program itself, so what is recorded is what the demo asks for. Nothing in a recording
//! depends on the time, the machine or the session.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::failure::Failure;
use crate::workspace::{self, Workspace};

const INIT: &[&str] = &[
    "jpa-mt",
    "init",
    "--entity",
    "Customer",
    "--table",
    "customer",
    "--bounded-context",
    "sales",
    "--base-package",
    "com.example.shop",
    "--schema-file",
    "schema.sql",
    "--design",
    "design/customer.md",
];

/// A recording answers with text alone; so must the one who is recorded.
const TEXT_ONLY: &str = "[providers.manual]\nfs_ability = \"none\"\n";

/// The check of `aiwf demo`, as it types it.
const CHECK: &str = "sh tests.sh";

pub(crate) fn run(workspace: &Workspace, words: &[String]) -> Result<(), Failure> {
    if let Some(word) = words.first() {
        return Err(Failure::usage(format!("`record-demo` takes no `{word}`")));
    }
    workspace::run(workspace.cargo().args(["build", "--quiet", "--locked", "-p", "aiwf"]))?;
    let program = workspace.target_dir()?.join("debug/aiwf");
    record_todo(&Scene::new(&program)?, &workspace.root.join("examples/todo"))?;
    record_shop(&Scene::new(&program)?, &workspace.root.join("examples/shop"))
}

/// A project and a home of their own, and the program to record.
struct Scene<'p> {
    program: &'p Path,
    project: TempDir,
    home: TempDir,
}

impl<'p> Scene<'p> {
    fn new(program: &'p Path) -> Result<Self, Failure> {
        let directory = || tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error));
        Ok(Self { program, project: directory()?, home: directory()? })
    }

    /// In the user's own configuration: what only a project names needs consent.
    fn configure(&self, text: &str) -> Result<(), Failure> {
        write(&self.home.path().join(".aiwf/config.toml"), text.as_bytes())
    }

    fn aiwf(&self, words: &[&str]) -> Result<String, Failure> {
        let mut command = Command::new(self.program);
        command.args(words).current_dir(self.project.path()).env("HOME", self.home.path());
        workspace::capture(command.env_remove("XDG_CACHE_HOME"))
    }

    fn cassette(&self) -> PathBuf {
        self.home.path().join("cassette")
    }

    /// Copies the recordings to an example, under names that stay the same: the key is inside the file.
    fn keep(&self, cassette: &Path) -> Result<(), Failure> {
        let ids = sorted(&self.project.path().join(".aiwf/sessions"))?;
        for path in sorted(&self.cassette())?.iter().filter(|path| path.extension().is_some()) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let name = name.rsplit_once('-').map_or(name.as_str(), |(name, _)| name).to_owned();
            let read = fs::read_to_string(path);
            let mut text = read.map_err(|error| Failure::io(format!("read `{}`", path.display()), &error))?;
            for id in ids.iter().filter_map(|path| path.file_name()?.to_str()) {
                text = text.replace(id, "SESSION");
            }
            write(&cassette.join(format!("{name}.json")), text.as_bytes())?;
            println!("recorded {name}");
        }
        Ok(())
    }
}

/// Records `aiwf demo`: an agent is played by a script that edits files.
fn record_todo(scene: &Scene<'_>, todo: &Path) -> Result<(), Failure> {
    for path in sorted(&todo.join("project"))? {
        copy(&path, &scene.project.path().join(path.file_name().unwrap_or_default()))?;
    }
    let home = scene.home.path();
    let argv = [todo.join("answer.sh"), todo.join("answers"), home.join("counter")];
    // A text in quotes, as TOML reads it.
    let [script, answers, counter] = argv.map(|path| format!("{:?}", path.to_string_lossy()));
    scene.configure(&format!(
        "[providers.scripted]\ntype = \"command\"\nargv = [\"sh\", {script}, {answers}, {counter}]\nwrite = true\n"
    ))?;
    let request = todo.join("request.txt");
    let request = fs::read_to_string(&request)
        .map_err(|error| Failure::io(format!("read `{}`", request.display()), &error))?;
    let cassette = scene.cassette();
    let record = cassette.to_string_lossy();
    scene.aiwf(&[
        "do",
        request.trim_end(),
        "--provider",
        "scripted",
        "--check",
        CHECK,
        "--yes",
        "--record",
        &record,
    ])?;
    scene.keep(&todo.join("cassette"))
}

/// Records `aiwf demo --profile`: a person gives the replies.
fn record_shop(scene: &Scene<'_>, shop: &Path) -> Result<(), Failure> {
    for name in ["README.md", "schema.sql", "design/customer.md"] {
        copy(&shop.join(name), &scene.project.path().join(name))?;
    }
    scene.configure(TEXT_ONLY)?;
    let cassette = scene.cassette();
    let record = cassette.to_string_lossy();
    scene.aiwf(INIT)?;
    for reply in sorted(&shop.join("replies"))? {
        scene.aiwf(&["approve"])?;
        scene.aiwf(&["respond", "--file", &reply.to_string_lossy(), "--record", &record])?;
        scene.aiwf(&["approve"])?;
    }
    scene.keep(&shop.join("cassette"))
}

fn sorted(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(directory).map_err(|error| Failure::io("list a directory", &error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let bytes = fs::read(from).map_err(|error| Failure::io(format!("read `{}`", from.display()), &error))?;
    write(to, &bytes)
}

fn write(to: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let parent = to.parent().unwrap_or(to);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(to, bytes))
        .map_err(|error| Failure::io(format!("write `{}`", to.display()), &error))
}
