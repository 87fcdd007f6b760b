//! Programs from npm, in fixed versions, in the user's cache: once per machine, not once per clone.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::workspace::{self, is_installed};

/// A program as npm has it.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) program: &'static str,
}

/// Programs that are installed together.
pub(crate) struct Set {
    /// What they are, in the name of their directory.
    pub(crate) name: &'static str,
    /// How much there is to fetch, for people.
    pub(crate) size: &'static str,
    pub(crate) packages: &'static [Package],
    /// Whether a program that was just installed can be used.
    pub(crate) check: fn(&Package, &Path) -> Result<(), Failure>,
}

/// In the name of a directory whose install is not complete; the number of its process follows.
const PARTIAL: &str = ".partial-";

impl Set {
    /// Installs the programs where they are not yet; the directory that holds them.
    pub(crate) fn ensure_installed(&self) -> Result<PathBuf, Failure> {
        let cache_dir = cache_dir()?;
        let dir = cache_dir.join(self.dir_name());
        let programs_dir = |dir: &Path| dir.join("node_modules").join(".bin");
        if dir.is_dir() {
            return Ok(programs_dir(&dir));
        }
        let failed = |what: &str| {
            let what = format!("{what} in `{}`", cache_dir.display());
            move |error: io::Error| Failure::io(what, &error)
        };
        fs::create_dir_all(&cache_dir).map_err(failed("make a directory"))?;
        // Two clones may want them at the same time; the second waits and finds them.
        let lock =
            File::create(cache_dir.join(format!("{}.lock", self.name))).map_err(failed("make a lock"))?;
        lock.lock().map_err(failed("take the lock"))?;
        if dir.is_dir() {
            return Ok(programs_dir(&dir));
        }
        ensure_npm()?;
        // Only a whole install gets the name. Each has a directory of its own until then, since the npm of one that
        // was interrupted may still be writing.
        self.remove_interrupted(&cache_dir).map_err(failed("remove an interrupted install"))?;
        let partial_dir = cache_dir.join(format!("{}{PARTIAL}{}", self.dir_name(), std::process::id()));
        fs::create_dir(&partial_dir).map_err(failed("make a directory"))?;
        println!("   installing {} from npm ({}, once) into `{}`", self.name, self.size, dir.display());
        let mut install = Command::new("npm");
        install
            .args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"])
            .arg(&partial_dir);
        install.args(self.packages.iter().map(|package| format!("{}@{}", package.name, package.version)));
        workspace::run(&mut install)
            .map_err(|failure| failure.hint("npm must reach its registry, once; see what it says above"))?;
        for package in self.packages {
            (self.check)(package, &programs_dir(&partial_dir))?;
        }
        fs::rename(&partial_dir, &dir).map_err(failed("name the install"))?;
        Ok(programs_dir(&dir))
    }

    fn remove_interrupted(&self, cache_dir: &Path) -> io::Result<()> {
        for entry in fs::read_dir(cache_dir)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(&format!("{}-", self.name)) && name.contains(PARTIAL) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }

    /// Named after the versions, so that others are installed beside them.
    fn dir_name(&self) -> String {
        let add = |name: String, package: &Package| name + "-" + package.program + "-" + package.version;
        self.packages.iter().fold(self.name.to_owned(), add)
    }
}

pub(crate) fn cache_dir() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .map(|dir| dir.join("aiwf"))
        .ok_or_else(|| {
            Failure::new("there is no cache directory: neither `XDG_CACHE_HOME` nor `HOME` is set")
        })
}

fn ensure_npm() -> Result<(), Failure> {
    if is_installed("npm") {
        return Ok(());
    }
    let is_root = workspace::capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let hint = "install node 20 or newer with npm (on Debian `apt-get install -y nodejs npm`)";
    if !is_root || !is_installed("apt-get") {
        return Err(Failure::new("npm is not installed").hint(hint));
    }
    println!("   npm is not installed: installing Debian's packages");
    let install = |words: &[&str]| workspace::run(Command::new("apt-get").args(words).stdout(Stdio::null()));
    install(&["update", "-qq"])
        .and_then(|()| install(&["install", "-y", "-qq", "nodejs", "npm"]))
        .map_err(|failure| failure.hint(hint))
}
