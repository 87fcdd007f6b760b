//! `cargo xtask docs`: makes the parts of the book that come from the code, and builds the book.
//!
//! In: the program, `docs/`. Out: the reference pages and the README's picture in `docs/src/` (committed, and
//! compared by tests), the book, the man pages and the completion scripts below the target directory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::picture;
use crate::workspace::{self, Workspace};

/// The version that builds the book; installed below the target directory when it is not there.
const MDBOOK_VERSION: &str = "0.5.4";

const SHELLS: &[&str] = &["bash", "elvish", "fish", "powershell", "zsh"];

pub(crate) fn run(workspace: &Workspace, words: &[String]) -> Result<(), Failure> {
    let is_without_book = match words {
        [] => false,
        [word] if word == "--no-book" => true,
        [word, ..] => {
            return Err(
                Failure::usage(format!("`docs` takes no `{word}`")).hint("the flags here: `--no-book`")
            );
        }
    };
    write_made_pages(workspace)?;
    workspace::run(workspace.cargo().args(["build", "--quiet", "--locked", "-p", "aiwf"]))?;
    let target = workspace.target_dir()?;
    let program = target.join("debug/aiwf");
    picture::draw(&program, &workspace.root.join("docs/src/demo.svg"))?;
    println!("   drew docs/src/demo.svg from a run of `aiwf demo`");
    let out = target.join("docs");
    write_man_pages(&program, &out.join("man"))?;
    write_completions(&program, &out.join("completions"))?;
    if is_without_book {
        return Ok(());
    }
    let mdbook = mdbook(workspace, &target)?;
    let book = out.join("book");
    workspace::run(
        std::process::Command::new(mdbook).arg("build").arg(workspace.root.join("docs")).arg("-d").arg(&book),
    )?;
    println!("   the book is in {}", book.join("index.html").display());
    Ok(())
}

/// Lets the tests that compare the reference pages write them instead.
fn write_made_pages(workspace: &Workspace) -> Result<(), Failure> {
    let mut command = workspace.cargo();
    command.args(["test", "--quiet", "--locked", "-p", "aiwf", "--test", "it", "reference::"]);
    workspace::capture(command.env("AIWF_BOOK", "write"))?;
    println!("   wrote docs/src/reference/ from the program and its code");
    Ok(())
}

fn write_man_pages(program: &Path, dir: &Path) -> Result<(), Failure> {
    let home = tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error))?;
    let mut command = std::process::Command::new(program);
    workspace::capture(
        command.args(["man", "--dir"]).arg(dir).current_dir(home.path()).env("HOME", home.path()),
    )?;
    println!("   man pages are in {}", dir.display());
    Ok(())
}

fn write_completions(program: &Path, dir: &Path) -> Result<(), Failure> {
    let home = tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error))?;
    fs::create_dir_all(dir).map_err(|error| Failure::io("make a directory", &error))?;
    for shell in SHELLS {
        let mut command = std::process::Command::new(program);
        command.args(["completions", shell]).current_dir(home.path()).env("HOME", home.path());
        let script = workspace::capture(&mut command)?;
        fs::write(dir.join(format!("aiwf.{shell}")), script)
            .map_err(|error| Failure::io("write a completion script", &error))?;
    }
    println!("   completion scripts are in {}", dir.display());
    Ok(())
}

/// The program that builds the book, installed once.
fn mdbook(workspace: &Workspace, target: &Path) -> Result<PathBuf, Failure> {
    let root = target.join(format!("tools/mdbook-{MDBOOK_VERSION}"));
    let program = root.join("bin/mdbook");
    if program.is_file() {
        return Ok(program);
    }
    println!("   installing mdbook {MDBOOK_VERSION} into {}, once; this takes minutes", root.display());
    let mut install = workspace.cargo();
    install
        .args(["install", "mdbook", "--locked", "--version", MDBOOK_VERSION])
        // It is only asked to build: no server, no watching.
        .args(["--no-default-features", "--features", "search", "--root"])
        .arg(&root);
    workspace::run(&mut install).map_err(|failure| {
        failure.hint("it needs the network for the first time; `--no-book` makes everything but the book")
    })?;
    Ok(program)
}
