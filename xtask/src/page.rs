//! The slow suite `page`: what `aiwf ui` serves, in a real browser.
//!
//! Drives Debian's chromium, which it installs when it is missing, through every view and decision: with scripts and
//! without, with keys only, on a narrow window, in dark and light; with agents that answer, fail and ask; and with hostile
//! text and forged requests. Each view is scanned with rules of our own (`page/accessible.js`), and
//! the browser may complain about nothing. `--update` also takes the pictures of the book.

mod agents;
mod attacks;
mod hostile;
mod keys;
mod scene;
mod tabs;
pub(crate) mod visitor;
mod walk;
mod web_driver;

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::workspace::{self, Workspace, is_installed};

/// Whether the pictures of the book are taken anew.
static UPDATES: AtomicBool = AtomicBool::new(false);

pub(crate) fn update_pictures() {
    UPDATES.store(true, Ordering::Relaxed);
}

pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    install()?;
    workspace::run(workspace.cargo().args(["build", "--locked", "-p", "aiwf"]))?;
    let binary = workspace.target_dir()?.join("debug/aiwf");
    let pictures: Option<PathBuf> = UPDATES.load(Ordering::Relaxed).then(|| workspace.root.join("docs/src"));
    walk::all(&workspace.root, &binary, pictures.as_deref())
}

/// Installs the browser and its driver from Debian's packages.
fn install() -> Result<(), Failure> {
    if is_installed("chromium") && is_installed("chromedriver") {
        return Ok(());
    }
    println!("   installs Debian's packages chromium and chromium-driver with apt-get");
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends", "chromium", "chromium-driver"]);
    command.env("DEBIAN_FRONTEND", "noninteractive");
    workspace::run(&mut command).map_err(|failure| {
        failure
            .hint("install chromium and chromedriver yourself; `apt-get` needs Debian, the network and root")
    })
}
