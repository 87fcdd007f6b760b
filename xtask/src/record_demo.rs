//! `cargo xtask record-demo`: records the demo's answers anew, after a template or a standard has changed.
//!
//! In: `examples/shop/replies/*.md`. Out: `examples/shop/cassette/*.json`. A manual session is driven through the
//! program itself, so what is recorded is what the demo asks for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
const CONFIG: &str = "[providers.manual]\nfs_ability = \"none\"\n";

pub(crate) fn run(workspace: &Workspace, words: &[String]) -> Result<(), Failure> {
    if let Some(word) = words.first() {
        return Err(Failure::usage(format!("`record-demo` takes no `{word}`")));
    }
    workspace::run(workspace.cargo().args(["build", "--quiet", "--locked", "-p", "aiwf"]))?;
    let program = workspace.target_dir()?.join("debug/aiwf");
    let shop = workspace.root.join("examples/shop");
    let project = tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error))?;
    for name in ["README.md", "schema.sql", "design/customer.md"] {
        copy(&shop.join(name), &project.path().join(name))?;
    }
    // In the user's own configuration: what only a project names needs consent.
    let home = tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error))?;
    write(&home.path().join(".aiwf/config.toml"), CONFIG.as_bytes())?;
    let aiwf = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(words).current_dir(project.path()).env("HOME", home.path());
        workspace::capture(&mut command)
    };
    let recorded = project.path().join("cassette");
    aiwf(INIT)?;
    for reply in sorted(&shop.join("replies"))? {
        aiwf(&["approve"])?;
        aiwf(&["respond", "--file", &reply.to_string_lossy(), "--record", &recorded.to_string_lossy()])?;
        aiwf(&["approve"])?;
    }
    for path in sorted(&recorded)? {
        // The key is inside the file; its name in the project stays the same from recording to recording.
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.rsplit_once('-').map_or(name.as_str(), |(name, _)| name).to_owned();
        copy(&path, &shop.join("cassette").join(format!("{name}.json")))?;
        println!("recorded {name}");
    }
    Ok(())
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
