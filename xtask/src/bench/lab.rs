//! What every bench needs: the built binary, a scratch folder, and programs started alike.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::measure::{self, Prepare, Times};
use crate::failure::Failure;
use crate::workspace::{self, Workspace};

/// The place where benches run. Its scratch folder is removed at the end.
#[derive(Debug)]
pub(super) struct Lab<'a> {
    workspace: &'a Workspace,
    pub(super) target_dir: PathBuf,
    scratch: tempfile::TempDir,
    /// Built when the first bench asks, since not every bench does.
    binary: OnceCell<PathBuf>,
    effort: Effort,
}

/// How much work the benches do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// The release binary, full sizes, many turns: the figures mean something.
    Measure,
    /// The debug binary, small sizes, one turn: shows only that every bench still runs.
    Smoke,
}

impl<'a> Lab<'a> {
    pub(super) fn open(workspace: &'a Workspace, effort: Effort) -> Result<Self, Failure> {
        let scratch = tempfile::Builder::new()
            .prefix("aiwf-bench-")
            .tempdir()
            .map_err(|error| Failure::io("make a scratch folder", &error))?;
        Ok(Self { workspace, target_dir: workspace.target_dir()?, scratch, binary: OnceCell::new(), effort })
    }

    /// A size of what is measured: `full`, or a hundredth of it in a smoke run.
    pub(super) fn scaled(&self, full: usize) -> usize {
        match self.effort {
            Effort::Measure => full,
            Effort::Smoke => (full / 100).max(1),
        }
    }

    /// Runs the programs in turns, `n_turns` times each, or once in a smoke run.
    pub(super) fn take_turns<const N: usize>(
        &self,
        n_turns: usize,
        programs: [Prepare<'_>; N],
    ) -> Result<[Times; N], Failure> {
        let n_turns = match self.effort {
            Effort::Measure => n_turns,
            Effort::Smoke => 1,
        };
        measure::take_turns(n_turns, programs)
    }

    /// A path in the scratch folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(super) fn dir(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        create_dir(&path)?;
        Ok(path)
    }

    /// A call of the binary that sees neither this machine's home nor its caches.
    pub(super) fn aiwf(&self) -> Result<Command, Failure> {
        if self.binary.get().is_none() {
            self.build(&["-p", "aiwf"])?;
        }
        let binary = self.binary.get_or_init(|| self.target_dir.join(self.profile_dir()).join("aiwf"));
        let mut command = self.program(binary);
        command.env("XDG_CACHE_HOME", self.path("cache")).env("NO_COLOR", "1");
        Ok(command)
    }

    /// Builds an example of a crate, runs it, and returns what it printed.
    pub(super) fn example(&self, package: &str, name: &str, args: &[&OsStr]) -> Result<String, Failure> {
        self.build(&["-p", package, "--example", name])?;
        let path = self.target_dir.join(self.profile_dir()).join("examples").join(name);
        workspace::capture(self.program(path).args(args))
    }

    /// A program whose home is a folder of the scratch folder and whose output goes nowhere.
    pub(super) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("HOME", self.home()).stdout(Stdio::null());
        command
    }

    /// Writes the user's own configuration, which later calls of the binary read.
    ///
    /// A provider that only a project names would need the user's consent.
    pub(super) fn configure(&self, text: &str) -> Result<(), Failure> {
        let dir = self.home().join(".aiwf");
        create_dir(&dir)?;
        write(&dir.join("config.toml"), text)
    }

    fn home(&self) -> PathBuf {
        self.path("home")
    }

    fn profile_dir(&self) -> &'static str {
        match self.effort {
            Effort::Measure => "release",
            Effort::Smoke => "debug",
        }
    }

    /// `cat` of the files given, into one: the least that packing files can cost.
    pub(super) fn cat(&self, dir: &Path, files: &[PathBuf], out: &Path) -> Result<Command, Failure> {
        let out = fs::File::create(out)
            .map_err(|error| Failure::io(format!("make `{}`", out.display()), &error))?;
        let mut command = self.program("cat");
        command.current_dir(dir).args(files).stdout(out);
        Ok(command)
    }

    fn build(&self, what: &[&str]) -> Result<(), Failure> {
        let mut command = self.workspace.cargo();
        command.args(["build", "--quiet", "--locked"]).args(what);
        if self.effort == Effort::Measure {
            command.arg("--release");
        }
        workspace::run(&mut command)
    }

    /// Cargo, for what is installed beside the workspace.
    pub(super) fn cargo(&self) -> Command {
        self.workspace.cargo()
    }

    /// The compiler of the workspace's toolchain.
    pub(super) fn rustc(&self) -> Command {
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command.current_dir(&self.workspace.root);
        command
    }
}

pub(super) fn create_dir(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::io(format!("make `{}`", path.display()), &error))
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::io(format!("write `{}`", path.display()), &error))
}

pub(super) fn size(path: &Path) -> Result<u64, Failure> {
    fs::metadata(path)
        .map(|metadata| metadata.len())
        .map_err(|error| Failure::io(format!("read the size of `{}`", path.display()), &error))
}
