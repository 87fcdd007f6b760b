//! What every bench needs: the built binary, a scratch folder, and programs started alike.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
}

impl<'a> Lab<'a> {
    pub(super) fn open(workspace: &'a Workspace) -> Result<Self, Failure> {
        let scratch = tempfile::Builder::new()
            .prefix("aiwf-bench-")
            .tempdir()
            .map_err(|error| Failure::io("make a scratch folder", &error))?;
        Ok(Self { workspace, target_dir: workspace.target_dir()?, scratch, binary: OnceCell::new() })
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

    /// A call of the release binary that sees neither this machine's home nor its caches.
    pub(super) fn aiwf(&self) -> Result<Command, Failure> {
        if self.binary.get().is_none() {
            self.build(&["-p", "aiwf"])?;
        }
        let binary = self.binary.get_or_init(|| self.target_dir.join("release/aiwf"));
        let mut command = self.program(binary);
        command.env("XDG_CACHE_HOME", self.path("cache")).env("NO_COLOR", "1");
        Ok(command)
    }

    /// Builds an example of a crate, runs it, and returns what it printed.
    pub(super) fn example(&self, package: &str, name: &str, args: &[&OsStr]) -> Result<String, Failure> {
        self.build(&["-p", package, "--example", name])?;
        let path = self.target_dir.join("release/examples").join(name);
        workspace::capture(self.program(path).args(args))
    }

    /// A program whose home is the scratch folder and whose output goes nowhere.
    pub(super) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("HOME", self.scratch.path()).stdout(Stdio::null());
        command
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
        workspace::run(self.workspace.cargo().args(["build", "--quiet", "--release", "--locked"]).args(what))
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
