//! A project and a home for one test, and the way to run the program in them.

#![expect(
    clippy::disallowed_methods,
    reason = "this crate writes test files and starts the program under test"
)]

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;

use tempfile::TempDir;

use crate::outcome::Outcome;
use crate::scratch_dir::scratch_dir;

/// A project directory and a home, gone with the value.
#[derive(Debug)]
pub struct TestProject {
    world: TempDir,
    program: PathBuf,
}

impl TestProject {
    /// An empty project for a program, which the test binary names: `env!("CARGO_BIN_EXE_aiwf")`.
    ///
    /// # Panics
    ///
    /// When the directories cannot be made.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self::within(scratch_dir(), program)
    }

    /// An empty project below the system's temporary directory, for programs whose own sandbox hides the memory-backed one.
    ///
    /// # Panics
    ///
    /// When the directories cannot be made.
    #[must_use]
    pub fn on_disk(program: impl Into<PathBuf>) -> Self {
        Self::within(tempfile::tempdir().expect("a test needs a temporary directory"), program)
    }

    fn within(world: TempDir, program: impl Into<PathBuf>) -> Self {
        let project = Self { world, program: program.into() };
        for directory in [project.root(), project.home(), project.cache()] {
            fs::create_dir_all(directory).expect("a test needs its directories");
        }
        project
    }

    /// The project's directory, where the program runs.
    pub fn root(&self) -> PathBuf {
        self.real_world().join("project")
    }

    /// The home that the program sees.
    pub fn home(&self) -> PathBuf {
        self.real_world().join("home")
    }

    /// The directory for things that can be made again.
    pub fn cache(&self) -> PathBuf {
        self.real_world().join("cache")
    }

    /// Links resolved, since the program prints real paths.
    fn real_world(&self) -> PathBuf {
        self.world.path().canonicalize().unwrap_or_else(|_| self.world.path().to_owned())
    }

    /// The path of something in the project.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root().join(relative)
    }

    /// Writes a file of the project; `~/` stands for the home.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    #[must_use]
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self
    }

    /// Writes a file of the project in a test that continues.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.resolve(path);
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("the directory can be made");
        fs::write(&path, content).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }

    /// Writes a script of the project that can be run.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    pub fn script(&self, path: &str, content: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(path, content);
        let rights = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.resolve(path), rights).expect("a file of ours can be made a program");
    }

    /// Makes a directory of the project.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    #[must_use]
    pub fn dir(self, path: &str) -> Self {
        fs::create_dir_all(self.resolve(path)).expect("the directory can be made");
        self
    }

    /// Makes a link in the project; the target is taken as it is given.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    #[must_use]
    pub fn link(self, path: &str, target: impl AsRef<Path>) -> Self {
        let path = self.resolve(path);
        fs::create_dir_all(path.parent().unwrap_or(&path)).expect("the directory can be made");
        std::os::unix::fs::symlink(target, path).expect("the link can be made");
        self
    }

    /// The bytes of a file of the project.
    ///
    /// # Panics
    ///
    /// When it cannot be read.
    pub fn read(&self, path: &str) -> Vec<u8> {
        let path = self.resolve(path);
        fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    }

    /// The names in a directory of the project, sorted.
    ///
    /// # Panics
    ///
    /// When it cannot be listed.
    pub fn names_in(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.resolve(path)).expect("the directory can be listed");
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn resolve(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(in_home) => self.home().join(in_home),
            None => self.path(path),
        }
    }

    /// Prepares a run with words as a shell would split them: blanks part them, single quotes hold them together.
    pub fn command(&self, line: &str) -> Run<'_> {
        self.command_args(split(line))
    }

    /// Prepares a run with these arguments.
    pub fn command_args<A: Into<OsString>>(&self, arguments: impl IntoIterator<Item = A>) -> Run<'_> {
        Run {
            project: self,
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            directory: self.root(),
            stdin: Vec::new(),
            stdout: None,
        }
    }

    /// Runs the program with a line of words and an empty input.
    pub fn run(&self, line: &str) -> Outcome {
        self.command(line).run()
    }

    /// Runs the program with these arguments and an empty input.
    pub fn run_args<A: Into<OsString>>(&self, arguments: impl IntoIterator<Item = A>) -> Outcome {
        self.command_args(arguments).run()
    }

    /// Runs the program with a line of words and an input.
    pub fn run_with_input(&self, line: &str, stdin: impl Into<Vec<u8>>) -> Outcome {
        self.command(line).stdin(stdin).run()
    }

    /// What a test's directories are called in snapshots; the inner ones first.
    fn names(&self) -> Vec<(String, &'static str)> {
        [(self.root(), "[project]"), (self.home(), "[home]"), (self.cache(), "[cache]")]
            .map(|(path, name)| (path.to_string_lossy().into_owned(), name))
            .to_vec()
    }
}

/// A run of the program, before it starts.
#[derive(Debug)]
#[must_use = "a run does nothing until it is started"]
pub struct Run<'p> {
    project: &'p TestProject,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    directory: PathBuf,
    stdin: Vec<u8>,
    stdout: Option<File>,
}

impl Run<'_> {
    /// Adds an argument as it is.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// What the program reads.
    pub fn stdin(mut self, stdin: impl Into<Vec<u8>>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Runs below the project's root.
    pub fn in_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = self.project.path(directory);
        self
    }

    /// Sends the standard output to a file or device instead of the test.
    ///
    /// # Panics
    ///
    /// When it cannot be opened.
    pub fn stdout_to(mut self, path: impl AsRef<Path>) -> Self {
        let file = File::options().write(true).open(path).expect("the output can be opened");
        self.stdout = Some(file);
        self
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn run(mut self) -> Outcome {
        let stdout = self.stdout.take().map_or_else(Stdio::piped, Stdio::from);
        let input = std::mem::take(&mut self.stdin);
        self.start(stdout, move |pipe| pipe.write_all(&input))
    }

    /// Starts the program and leaves it running, all its streams in the test's hands.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn spawn_piped(self) -> Child {
        self.prepare(Stdio::piped()).spawn().expect("the program can be started")
    }

    /// Runs the program with an input that is made while it is read.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn run_fed_by(
        self,
        feed: impl FnOnce(&mut dyn io::Write) -> io::Result<()> + Send + 'static,
    ) -> Outcome {
        self.start(Stdio::piped(), feed)
    }

    /// Runs the program, reads this many bytes of its output and then closes the pipe, like `| head -c N`.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn run_into_closing_pipe(self, n_bytes: usize) -> Outcome {
        let mut child = self.prepare(Stdio::piped()).spawn().expect("the program can be started");
        drop(child.stdin.take());
        let mut head = vec![0; n_bytes];
        if let Some(mut stdout) = child.stdout.take() {
            io::Read::read_exact(&mut stdout, &mut head).expect("the program prints that much");
        }
        let mut output = child.wait_with_output().expect("the program ends");
        output.stdout = head;
        Outcome::new(output, self.project.names())
    }

    /// Starts the program and lets it run; what it prints is read at its end, so it must not be much.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    #[must_use]
    pub fn spawn(self) -> Running {
        let mut child = self.prepare(Stdio::piped()).spawn().expect("the program can be started");
        drop(child.stdin.take());
        Running { child, names: self.project.names() }
    }

    fn start(
        &self,
        stdout: Stdio,
        feed: impl FnOnce(&mut dyn io::Write) -> io::Result<()> + Send + 'static,
    ) -> Outcome {
        let mut child = self.prepare(stdout).spawn().expect("the program can be started");
        let stdin = child.stdin.take();
        // Beside the reading, so that neither side waits for the other with a full pipe.
        let writer = thread::spawn(move || {
            if let Some(mut pipe) = stdin {
                // A program that stops reading is no fault of the test.
                drop(feed(&mut pipe));
            }
        });
        let output = child.wait_with_output().expect("the program ends");
        drop(writer.join());
        Outcome::new(output, self.project.names())
    }

    fn prepare(&self, stdout: Stdio) -> Command {
        let mut command = Command::new(&self.project.program);
        command
            .args(&self.arguments)
            .env_clear()
            .env("HOME", self.project.home())
            .env("XDG_CACHE_HOME", self.project.cache())
            .envs(self.environment.iter().cloned())
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::piped());
        command
    }
}

/// A program that runs; it ends with the value.
#[derive(Debug)]
pub struct Running {
    child: Child,
    names: Vec<(String, &'static str)>,
}

impl Running {
    /// Sends a signal to the program, and to nobody else: `INT`, `KILL`.
    ///
    /// # Panics
    ///
    /// When it cannot be sent.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(sent.is_ok_and(|status| status.success()), "the signal can be sent");
    }

    /// Waits until the program has ended.
    ///
    /// # Panics
    ///
    /// When its output cannot be read.
    #[must_use]
    pub fn wait(mut self) -> Outcome {
        let mut output = Output { status: ExitStatus::default(), stdout: Vec::new(), stderr: Vec::new() };
        if let Some(mut stdout) = self.child.stdout.take() {
            io::Read::read_to_end(&mut stdout, &mut output.stdout).expect("the output can be read");
        }
        if let Some(mut stderr) = self.child.stderr.take() {
            io::Read::read_to_end(&mut stderr, &mut output.stderr).expect("the errors can be read");
        }
        output.status = self.child.wait().expect("the program ends");
        Outcome::new(output, std::mem::take(&mut self.names))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for character in line.chars() {
        match character {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' | '\n' if !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_blanks_and_held_by_quotes() {
        assert_eq!(split("a  b 'c d' '' e'f g'"), ["a", "b", "c d", "", "ef g"]);
    }

    #[test]
    fn the_program_sees_only_what_the_test_gives_it() {
        let project = TestProject::new("/usr/bin/env");
        let outcome = project.command("").env("A", "b").run().success();
        let mut names: Vec<String> = outcome
            .stdout_text()
            .lines()
            .map(|line| line.split('=').next().unwrap_or_default().to_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["A", "HOME", "XDG_CACHE_HOME"]);
    }

    #[test]
    fn an_outcome_is_one_text_with_the_directories_named() {
        let project = TestProject::new("/bin/sh").file("a.txt", "text");
        let outcome = project.run("-c 'pwd; cat a.txt >&2; exit 3'");
        assert_eq!(outcome.to_string(), "--- stdout\n[project]\n--- stderr\ntext⏎\n--- exit code 3");
    }

    #[test]
    fn input_and_output_larger_than_a_pipe_get_through() {
        let project = TestProject::new("/bin/cat");
        let outcome = project.run_with_input("", vec![b'x'; 1 << 20]).success();
        assert_eq!(outcome.stdout.len(), 1 << 20);
    }
}
