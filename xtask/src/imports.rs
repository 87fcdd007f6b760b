//! The slow suite `imports`: the tests that let spec-kit and OpenSpec set up a repository and import it, where only the
//! loopback interface can be reached.
//!
//! OpenSpec comes from npm, spec-kit from `PyPI` into a virtual environment, in the versions below. Both bring their
//! templates with them, so a set-up needs no network.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::namespace::Namespace;
use crate::npm::{Package, Set, cache_dir};
use crate::workspace::{self, Workspace};

const OPENSPEC: Set = Set {
    name: "imports",
    size: "40 MB",
    packages: &[Package { name: "@fission-ai/openspec", version: "1.13.2", program: "openspec" }],
    check: check_program,
};
const SPEC_KIT: &str = "specify-cli";
const SPEC_KIT_VERSION: &str = "1.2.3";

/// The part of a test's path that says it starts a real tool.
const TESTS: &str = "real_setups";

pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let namespace = Namespace::available()?;
    let openspec_dir = OPENSPEC.ensure_installed()?;
    let programs_dir = ensure_spec_kit(&openspec_dir)?;
    namespace.test(workspace, TESTS, "AIWF_SETUPS_BIN", &programs_dir)
}

fn check_program(package: &Package, programs_dir: &Path) -> Result<(), Failure> {
    workspace::capture(Command::new(programs_dir.join(package.program)).arg("--version")).map(drop).map_err(
        |failure| failure.hint("OpenSpec needs node 20.19 or newer; `node --version` says which it is"),
    )
}

/// Installs spec-kit where it is not yet, with OpenSpec beside it; the directory of both programs.
fn ensure_spec_kit(openspec_dir: &Path) -> Result<PathBuf, Failure> {
    let cache_dir = cache_dir()?;
    // Scripts of a virtual environment contain its path, so it is made in its place and marked when it is whole.
    let dir = cache_dir.join(format!("imports-{SPEC_KIT}-{SPEC_KIT_VERSION}"));
    let whole = dir.join("whole");
    let failed = |what: &str| {
        let what = format!("{what} in `{}`", cache_dir.display());
        move |error: io::Error| Failure::io(what, &error)
    };
    let lock = File::create(cache_dir.join("imports-pip.lock")).map_err(failed("make a lock"))?;
    lock.lock().map_err(failed("take the lock"))?;
    let programs_dir = dir.join("bin");
    if !whole.is_file() {
        if dir.is_dir() {
            fs::remove_dir_all(&dir).map_err(failed("remove an interrupted install"))?;
        }
        println!("   installing {SPEC_KIT} from PyPI (40 MB, once) into `{}`", dir.display());
        workspace::run(Command::new("python3").args(["-m", "venv"]).arg(&dir)).map_err(|failure| {
            failure.hint("install python3 with venv (on Debian `apt-get install -y python3-venv`)")
        })?;
        let mut install = Command::new(programs_dir.join("pip"));
        install.args(["install", "--quiet", "--disable-pip-version-check"]);
        workspace::run(install.arg(format!("{SPEC_KIT}=={SPEC_KIT_VERSION}")))
            .map_err(|failure| failure.hint("pip must reach its index, once; see what it says above"))?;
        fs::write(&whole, "").map_err(failed("mark the install"))?;
    }
    let link = programs_dir.join("openspec");
    if !link.exists() {
        std::os::unix::fs::symlink(openspec_dir.join("openspec"), &link).map_err(failed("link a program"))?;
    }
    Ok(programs_dir)
}
