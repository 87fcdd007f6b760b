//! What every bench needs: the built binary, a scratch folder, and programs started alike.

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::bench::examples::number;
use crate::bench::measure::{self, Prepare, Samples, Switch, Usage, Which};
use crate::bench::revision::Revision;
use crate::failure::Failure;
use crate::workspace::{self, Workspace};

/// The place where benches run. Its scratch folder is removed at the end.
#[derive(Debug)]
pub(super) struct Lab<'a> {
    workspace: &'a Workspace,
    pub(super) target_dir: PathBuf,
    scratch: tempfile::TempDir,
    /// The revision that `--against` names.
    other: Option<&'a Revision>,
    switch: Switch,
    /// Built when the first bench asks, since not every bench does.
    present_binary: OnceCell<PathBuf>,
    other_binary: OnceCell<PathBuf>,
    effort: Effort,
}

/// How often what is not timed in turns is measured with each of two builds.
const N_SAMPLES: usize = 5;

/// How much work the benches do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// The release binary, full sizes, many turns: the figures mean something.
    Measure,
    /// The debug binary, small sizes, one turn: shows only that every bench still runs.
    Smoke,
}

impl<'a> Lab<'a> {
    pub(super) fn open(
        workspace: &'a Workspace,
        effort: Effort,
        other: Option<&'a Revision>,
    ) -> Result<Self, Failure> {
        let scratch = tempfile::Builder::new()
            .prefix("aiwf-bench-")
            .tempdir()
            .map_err(|error| Failure::io("make a scratch folder", &error))?;
        Ok(Self {
            workspace,
            target_dir: workspace.target_dir()?,
            scratch,
            other,
            switch: Switch::new(other.is_some()),
            present_binary: OnceCell::new(),
            other_binary: OnceCell::new(),
            effort,
        })
    }

    /// A size of what is measured: `full`, or a hundredth of it in a smoke run.
    pub(super) fn scaled(&self, full: usize) -> usize {
        match self.effort {
            Effort::Measure => full,
            Effort::Smoke => (full / 100).max(1),
        }
    }

    /// How often something is measured: `full` times, or once in a smoke run.
    pub(super) fn turns(&self, full: usize) -> usize {
        match self.effort {
            Effort::Measure => full,
            Effort::Smoke => 1,
        }
    }

    pub(super) fn effort(&self) -> Effort {
        self.effort
    }

    /// Runs the programs in turns, `n_turns` times each, or once in a smoke run.
    pub(super) fn take_turns<const N: usize>(
        &self,
        n_turns: usize,
        programs: [Prepare<'_>; N],
    ) -> Result<[Samples; N], Failure> {
        measure::take_turns(self.turns(n_turns), &self.switch, programs)
    }

    /// Runs an example and reads numbers of what it prints; with `--against`, both builds in turns.
    pub(super) fn example_numbers<const N: usize>(
        &self,
        package: &str,
        name: &str,
        keys: [&str; N],
    ) -> Result<[Samples; N], Failure> {
        let sampled = self.sample(|| {
            let printed = self.example(package, name, &[])?;
            let mut numbers = [0.0; N];
            for (value, key) in numbers.iter_mut().zip(keys) {
                *value = number(&printed, key)?;
            }
            Ok(numbers)
        })?;
        Ok(measure::columns(sampled))
    }

    /// Peak bytes and cores of a program; with `--against`, both builds in turns.
    ///
    /// `None` where this machine cannot measure them.
    pub(super) fn usage(&self, prepare: Prepare<'_>) -> Result<Option<[Samples; 2]>, Failure> {
        let sampled = self.sample(|| measure::usage(&prepare()?))?;
        let numbers = |(build, usage): (Which, Option<Usage>)| {
            usage.map(|Usage { peak_bytes, cores }| (build, [peak_bytes, cores]))
        };
        let measured: Option<Vec<_>> = sampled.into_iter().map(numbers).collect();
        Ok(measured.map(measure::columns))
    }

    /// Measures the present build once, or both builds several times in turns.
    fn sample<T>(&self, measure: impl Fn() -> Result<T, Failure>) -> Result<Vec<(Which, T)>, Failure> {
        let n_samples = if self.is_comparing() && self.effort == Effort::Measure { N_SAMPLES } else { 1 };
        let mut sampled = Vec::new();
        for turn in 0..n_samples {
            for &build in self.switch.order(turn) {
                let measured = self.switch.prepare(build, &measure)?;
                sampled.extend(measured.map(|measured| (build, measured)));
            }
        }
        Ok(sampled)
    }

    /// Runs `set_up` for the present build, and for the other one when there is one.
    pub(super) fn for_each_build(&self, set_up: impl Fn() -> Result<(), Failure>) -> Result<(), Failure> {
        for &build in self.switch.order(0) {
            self.switch.prepare(build, &set_up)?;
        }
        Ok(())
    }

    /// Whether two builds are compared with each other.
    pub(super) fn is_comparing(&self) -> bool {
        self.other.is_some()
    }

    /// A path in the scratch folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// A path that belongs to the build in use: two builds may write files that the other does not read.
    pub(super) fn build_path(&self, name: &str) -> PathBuf {
        match self.switch.use_current() {
            Which::Present => self.path(name),
            Which::Other => self.path("other").join(name),
        }
    }

    pub(super) fn dir(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.path(name);
        create_dir(&path)?;
        Ok(path)
    }

    /// A call of the binary that sees neither this machine's home nor its caches.
    pub(super) fn aiwf(&self) -> Result<Command, Failure> {
        let binary = match self.switch.use_current() {
            Which::Present => &self.present_binary,
            Which::Other => &self.other_binary,
        };
        if binary.get().is_none() {
            self.build(&["-p", "aiwf"])?;
        }
        let binary = binary.get_or_init(|| self.built("aiwf"));
        let mut command = self.program(binary);
        command.env("XDG_CACHE_HOME", self.build_path("cache")).env("NO_COLOR", "1");
        Ok(command)
    }

    /// Builds an example of a crate, runs it, and returns what it printed.
    pub(super) fn example(&self, package: &str, name: &str, args: &[&OsStr]) -> Result<String, Failure> {
        self.build(&["-p", package, "--example", name])?;
        workspace::capture(self.program(self.built("examples").join(name)).args(args))
    }

    /// A program whose home is a folder of the scratch folder and whose output goes nowhere.
    pub(super) fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("HOME", self.home(self.switch.current())).stdout(Stdio::null());
        command
    }

    /// Writes the user's own configuration, which later calls of the binary read.
    ///
    /// A provider that only a project names would need the user's consent.
    pub(super) fn configure(&self, text: &str) -> Result<(), Failure> {
        for &build in self.switch.order(0) {
            let dir = self.home(build).join(".aiwf");
            create_dir(&dir)?;
            write(&dir.join("config.toml"), text)?;
        }
        Ok(())
    }

    fn home(&self, build: Which) -> PathBuf {
        match build {
            Which::Present => self.path("home"),
            Which::Other => self.path("other-home"),
        }
    }

    /// Where the build in use puts a program or the folder `examples`.
    fn built(&self, name: &str) -> PathBuf {
        let target_dir = match (self.switch.use_current(), self.other) {
            (Which::Other, Some(revision)) => &revision.target_dir,
            _ => &self.target_dir,
        };
        let profile = match self.effort {
            Effort::Measure => "release",
            Effort::Smoke => "debug",
        };
        target_dir.join(profile).join(name)
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
        command.args(["build", "--locked"]).args(what);
        if self.effort == Effort::Measure {
            command.arg("--release");
        }
        if let (Which::Other, Some(revision)) = (self.switch.use_current(), self.other) {
            command.current_dir(&revision.source_dir).env("CARGO_TARGET_DIR", &revision.target_dir);
        }
        // Cargo shows its own progress: the first build of a revision takes minutes.
        if self.is_comparing() {
            eprintln!("   {}", workspace::shown(&command));
        } else {
            command.arg("--quiet");
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
