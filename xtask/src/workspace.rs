//! Where the workspace is, what is in it, and how its programs are started.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// The workspace that this task runner belongs to.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    cargo: OsString,
}

/// A member of the workspace, as its manifest has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Relative to the root, with `/`.
    pub(crate) dir: String,
    /// Every package it is built from, ours or not; dev-dependencies are left out.
    pub(crate) dependencies: BTreeSet<String>,
}

impl Workspace {
    pub(crate) fn locate() -> Result<Self, Failure> {
        let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest_dir
            .parent()
            .ok_or_else(|| Failure::new("the task runner's crate has no parent directory"))?
            .to_path_buf();
        // Cargo names itself, so the same toolchain is used all the way down.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Ok(Self { root, cargo })
    }

    /// A cargo call in the root, without arguments yet.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        command.current_dir(&self.root);
        // What `cargo run` says about this task runner: build scripts that look at it would all run again.
        for (name, _) in std::env::vars_os() {
            let told = name.to_string_lossy();
            if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    pub(crate) fn members(&self) -> Result<Vec<Member>, Failure> {
        members(&self.metadata()?)
    }

    pub(crate) fn target_dir(&self) -> Result<PathBuf, Failure> {
        let metadata = self.metadata()?;
        let dir = metadata.get("target_directory").and_then(Value::as_str);
        dir.map(PathBuf::from).ok_or_else(|| Failure::new("`cargo metadata` names no target directory"))
    }

    fn metadata(&self) -> Result<Value, Failure> {
        let output =
            capture(self.cargo().args(["metadata", "--no-deps", "--format-version", "1", "--locked"]))?;
        serde_json::from_str(&output).map_err(|error| {
            Failure::new("`cargo metadata` printed no JSON").detail(format!("caused by: {error}"))
        })
    }
}

/// Reads the members out of what `cargo metadata` printed, sorted by name.
fn members(metadata: &Value) -> Result<Vec<Member>, Failure> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned();
    let root = text(metadata, "workspace_root");
    let packages = list(metadata, "packages").ok_or_else(|| Failure::new("no package in the workspace"))?;
    let mut members: Vec<Member> = packages
        .iter()
        .map(|package| Member {
            name: text(package, "name"),
            dir: text(package, "manifest_path")
                .trim_start_matches(&root)
                .trim_end_matches("Cargo.toml")
                .trim_matches('/')
                .to_owned(),
            dependencies: list(package, "dependencies")
                .unwrap_or_default()
                .iter()
                .filter(|dependency| text(dependency, "kind") != "dev")
                .map(|dependency| text(dependency, "name"))
                .collect(),
        })
        .collect();
    members.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(members)
}

/// Runs a program to its end and returns what it printed; anything but success is a failure with its words.
pub(crate) fn capture(command: &mut Command) -> Result<String, Failure> {
    let output = command.stdout(Stdio::piped()).output().map_err(|error| could_not_start(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(Failure::new(format!("`{}` ended with {}", shown(command), output.status))
        .detail(String::from_utf8_lossy(&output.stderr)))
}

/// Runs a program that prints for itself; anything but success is a failure.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| could_not_start(command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` ended with {status}", shown(command))))
}

/// A command the way a person would type it, with the environment it needs in front.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let settings = command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)))
        .map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(&value.to_string_lossy())));
    let words =
        std::iter::once(program).chain(command.get_args()).map(|word| quoted(&word.to_string_lossy()));
    settings.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a program of this name stands on the search path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn could_not_start(command: &Command, error: &std::io::Error) -> Failure {
    Failure::io(format!("start `{}`", shown(command)), error)
}

#[cfg(test)]
#[path = "workspace_tests.rs"]
mod tests;
