//! Child processes: the one way a program is started.
//!
//! No shell, a process group of its own (but for one that may need the terminal), and one thread: what the child reads, prints and complains about goes through
//! pipes that never block us, so a child that writes before it reads, or never reads, holds nothing up. Whatever ends a
//! call early — a limit, a stop, an error, a panic — ends the whole group, and a supervisor ends it when we are killed. A
//! process that leaves its group on purpose (`setsid`) is out of reach; it cannot hold the call up either.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, test_kill_process_group, waitid,
};

use crate::stop::Stop;
use crate::supervisor;

/// How much is read at once.
pub const CHUNK: usize = 64 * 1024;
/// How much of what a child complains about is kept: the end of it.
const STDERR_TAIL: usize = 8 * 1024;
/// How long a child has to end after it was told to.
const TERM_GRACE: Duration = Duration::from_millis(1_500);
/// How long the pipes may stay open after the child ended, while a process it left behind holds them.
const PIPE_GRACE: Duration = Duration::from_millis(500);
/// How much is read after that: more than any pipe holds.
const MAX_LEFTOVER: usize = 1024 * 1024;
/// How long the processes of a group may take to be gone after they were killed.
const GONE_GRACE: Duration = Duration::from_millis(100);

/// What is started.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The program: a path, or a name that is looked up as the system does.
    pub path: &'a OsStr,
    /// Its arguments.
    pub args: &'a [OsString],
    /// Which of our variables it gets.
    pub environment: Environment,
    /// Variables it gets beside those.
    pub env: &'a [(String, String)],
    /// Variables of ours that it does not get.
    pub env_removed: &'a [&'static str],
    /// Where it works; where we do when not said.
    pub directory: Option<&'a Path>,
    /// Where its standard error goes.
    pub stderr: Stderr,
    /// Whether it stays in our process group: only a group in front may ask its user on the terminal. Then it is
    /// ended alone, without what it started.
    pub is_in_front: bool,
}

impl<'a> Program<'a> {
    /// A program in a group of its own, with our environment and working directory.
    pub const fn new(path: &'a OsStr, args: &'a [OsString]) -> Self {
        Self {
            path,
            args,
            environment: Environment::Inherited,
            env: &[],
            env_removed: &[],
            directory: None,
            stderr: Stderr::Tail,
            is_in_front: false,
        }
    }
}

/// Which of our variables a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// All of them.
    Inherited,
    /// None of them.
    Cleared,
}

/// Where a program's standard error goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stderr {
    /// Its end is kept in [`Ended::stderr`].
    Tail,
    /// Into the same pipe as standard output, in the order of its writes; it counts towards the limits.
    Merged,
}

/// How long it may take and how much it may print.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until its first byte.
    pub first_byte: Duration,
    /// Until its end.
    pub total: Duration,
    /// How many bytes it may print.
    pub max_bytes: u64,
}

/// Which wait took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For the first byte.
    FirstByte,
    /// For the end.
    Total,
}

/// Why a child gave no whole output; its group is gone.
#[derive(Debug)]
pub enum ChildError {
    /// The program or its working directory is not there, or may not be used.
    NotStarted(io::Error),
    /// The [`Stop`] was raised.
    Stopped,
    /// It took too long.
    TimedOut {
        /// What was waited for.
        wait: Wait,
        /// How long.
        after: Duration,
    },
    /// It printed too much.
    TooLarge {
        /// How many bytes it may print.
        limit: u64,
    },
    /// Its pipes cannot be used.
    Pipe(io::Error),
}

/// How a child ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The exit code; `None` when it was killed by a signal.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether we ended it, or hung up on it: then how it ended says nothing.
    pub is_our_doing: bool,
    /// The end of what it complained about.
    pub stderr: String,
    /// When the first byte came.
    pub first_byte: Option<Duration>,
    /// When the last byte came, else when it ended.
    pub total: Duration,
}

/// A child that runs, or ran and is not yet reaped.
#[derive(Debug)]
pub struct Child<'a> {
    process: std::process::Child,
    /// The process, and its group where it leads one.
    id: Pid,
    leads_group: bool,
    is_supervised: bool,
    limits: Limits,
    stop: &'a Stop,
    stderr_place: Stderr,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    unsent: VecDeque<u8>,
    closes_stdin: bool,
    stderr_tail: VecDeque<u8>,
    started_at: Instant,
    first_byte: Option<Duration>,
    last_byte: Option<Duration>,
    n_bytes: u64,
    looked_at: Instant,
    exited_at: Option<Instant>,
    n_leftover: Option<usize>,
    status: Option<ExitStatus>,
}

impl<'a> Child<'a> {
    /// Starts a program.
    pub fn start(program: &Program<'_>, limits: Limits, stop: &'a Stop) -> Result<Self, ChildError> {
        let (mut command, is_supervised) =
            supervisor::command(program.path, program.args, program.is_in_front);
        if !program.is_in_front {
            command.process_group(0);
        }
        command.stdin(Stdio::piped());
        let merged = redirect_output(&mut command, program.stderr).map_err(ChildError::Pipe)?;
        if program.environment == Environment::Cleared {
            command.env_clear();
        }
        for name in program.env_removed {
            command.env_remove(name);
        }
        command.envs(program.env.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = program.directory {
            // A missing directory would be reported as a missing program.
            std::fs::metadata(directory).map_err(ChildError::NotStarted)?;
            command.current_dir(directory);
        }
        let started_at = Instant::now();
        let mut process = command.spawn().map_err(ChildError::NotStarted)?;
        // It holds the writing ends of a merged pipe.
        drop(command);
        let child = Self {
            id: Pid::from_child(&process),
            leads_group: !program.is_in_front,
            is_supervised,
            limits,
            stop,
            stderr_place: program.stderr,
            stdin: process.stdin.take(),
            stdout: merged.or_else(|| process.stdout.take()),
            stderr: process.stderr.take(),
            process,
            unsent: VecDeque::new(),
            closes_stdin: false,
            stderr_tail: VecDeque::new(),
            started_at,
            first_byte: None,
            last_byte: None,
            n_bytes: 0,
            looked_at: started_at,
            exited_at: None,
            n_leftover: None,
            status: None,
        };
        child.unblock().map_err(ChildError::Pipe)?;
        Ok(child)
    }

    fn unblock(&self) -> io::Result<()> {
        let ends = [
            self.stdin.as_ref().map(AsFd::as_fd),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        ends.into_iter().flatten().try_for_each(|end| Ok(ioctl_fionbio(end, true)?))
    }

    /// The process, which is also the group.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Puts bytes in line for the child's standard input.
    pub fn send(&mut self, bytes: Vec<u8>) {
        if self.stdin.is_some() {
            if self.unsent.is_empty() {
                self.unsent = bytes.into();
            } else {
                self.unsent.extend(bytes);
            }
        }
    }

    /// Closes the child's standard input once everything in line is sent.
    pub fn close_stdin(&mut self) {
        self.closes_stdin = true;
    }

    /// Waits for output and reads some of it; 0 when the child ended and everything was read.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ChildError> {
        let read = self.next_bytes(buffer);
        if read.is_err() {
            self.terminate();
        }
        read
    }

    fn next_bytes(&mut self, buffer: &mut [u8]) -> Result<usize, ChildError> {
        let mut pause = Duration::from_millis(1);
        loop {
            self.check_limits()?;
            self.look();
            if self.exited_at.is_some() && self.stdout.is_none() && self.stderr.is_none() {
                return self.start_error().map_or(Ok(0), |error| Err(ChildError::NotStarted(error)));
            }
            if self.exited_at.is_some_and(|at| at.elapsed() >= PIPE_GRACE) && self.n_leftover.is_none() {
                self.signal(Signal::KILL);
                self.n_leftover = Some(0);
            }
            self.write_some();
            self.read_stderr();
            match self.read_stdout(buffer).map_err(ChildError::Pipe)? {
                Some(0) | None => {}
                Some(n_read) => {
                    if self.stderr_place == Stderr::Merged
                        && self.is_supervised
                        && self.first_byte.is_none()
                        && let Some(error) = supervisor::start_error(buffer.get(..n_read).unwrap_or_default())
                    {
                        return Err(ChildError::NotStarted(error));
                    }
                    self.count(n_read)?;
                    return Ok(n_read);
                }
            }
            if self.n_leftover.is_some() {
                // Nobody of the group is left to write; someone outside of it may hold the pipes for good.
                self.stdout = None;
                self.stderr = None;
                continue;
            }
            self.wait(&mut pause)?;
        }
    }

    /// Why a supervisor could not start the program.
    fn start_error(&mut self) -> Option<io::Error> {
        let is_silent = self.is_supervised && self.first_byte.is_none();
        is_silent.then(|| supervisor::start_error(self.stderr_tail.make_contiguous())).flatten()
    }

    fn check_limits(&self) -> Result<(), ChildError> {
        if self.stop.is_raised() {
            return Err(ChildError::Stopped);
        }
        let elapsed = self.started_at.elapsed();
        let Limits { first_byte, total, .. } = self.limits;
        if elapsed >= total {
            return Err(ChildError::TimedOut { wait: Wait::Total, after: total });
        }
        if self.first_byte.is_none() && elapsed >= first_byte {
            return Err(ChildError::TimedOut { wait: Wait::FirstByte, after: first_byte });
        }
        Ok(())
    }

    fn count(&mut self, n_read: usize) -> Result<(), ChildError> {
        let elapsed = self.started_at.elapsed();
        self.first_byte.get_or_insert(elapsed);
        self.last_byte = Some(elapsed);
        self.n_bytes = self.n_bytes.saturating_add(n_read as u64);
        if self.n_bytes > self.limits.max_bytes {
            return Err(ChildError::TooLarge { limit: self.limits.max_bytes });
        }
        if let Some(n_leftover) = &mut self.n_leftover {
            *n_leftover += n_read;
            if *n_leftover >= MAX_LEFTOVER {
                self.stdout = None;
            }
        }
        Ok(())
    }

    /// Looks whether the child ended; it stays unreaped, so that its group's number belongs to nobody else.
    fn look(&mut self) {
        let is_due = self.stdout.is_none() || self.looked_at.elapsed() >= Stop::EVERY;
        if self.exited_at.is_none() && is_due {
            self.looked_at = Instant::now();
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            if !matches!(waitid(WaitId::Pid(self.id), options), Ok(None)) {
                self.exited_at = Some(Instant::now());
            }
        }
    }

    /// Sends what the child takes now; a child that takes no more is no error.
    fn write_some(&mut self) {
        while let Some(stdin) = &mut self.stdin {
            let (bytes, _) = self.unsent.as_slices();
            if bytes.is_empty() {
                if self.closes_stdin {
                    self.stdin = None;
                }
                return;
            }
            match stdin.write(bytes) {
                Ok(n_sent) => drop(self.unsent.drain(..n_sent)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    self.stdin = None;
                    self.unsent = VecDeque::new();
                }
            }
        }
    }

    fn read_stdout(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(stdout) = &mut self.stdout else { return Ok(None) };
        let read = try_read(stdout, buffer)?;
        if read == Some(0) {
            self.stdout = None;
        }
        Ok(read)
    }

    fn read_stderr(&mut self) {
        let mut buffer = [0; 4096];
        let Some(stderr) = &mut self.stderr else { return };
        // One piece at a time: a child that floods this pipe must not keep us from the other.
        match try_read(stderr, &mut buffer) {
            Ok(Some(0)) | Err(_) => self.stderr = None,
            Ok(Some(n_read)) => {
                self.stderr_tail.extend(buffer.iter().take(n_read));
                let n_over = self.stderr_tail.len().saturating_sub(STDERR_TAIL);
                self.stderr_tail.drain(..n_over);
            }
            Ok(None) => {}
        }
    }

    /// Waits until a pipe can be used, or until it is time to look at the limits again.
    fn wait(&self, pause: &mut Duration) -> Result<(), ChildError> {
        let mut ends = Vec::with_capacity(3);
        if let Some(stdin) = self.stdin.as_ref().filter(|_| !self.unsent.is_empty()) {
            ends.push(PollFd::new(stdin, PollFlags::OUT));
        }
        if let Some(stdout) = &self.stdout {
            ends.push(PollFd::new(stdout, PollFlags::IN));
        }
        if let Some(stderr) = &self.stderr {
            ends.push(PollFd::new(stderr, PollFlags::IN));
        }
        // With its output closed a child is about to end, and nothing but looking tells when.
        let longest = if self.stdout.is_none() { *pause } else { Stop::EVERY };
        *pause = (*pause * 2).min(Stop::EVERY);
        if ends.is_empty() {
            std::thread::sleep(longest);
            return Ok(());
        }
        let timeout = Timespec { tv_sec: 0, tv_nsec: longest.subsec_nanos().into() };
        match poll(&mut ends, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(ChildError::Pipe(error.into())),
        }
    }

    fn signal(&self, signal: Signal) {
        // Who is gone already is where it should be.
        if self.status.is_none() {
            let _ = if self.leads_group {
                kill_process_group(self.id, signal)
            } else {
                kill_process(self.id, signal)
            };
        }
    }

    /// Ends the whole group: asks it first, then makes it.
    fn terminate(&mut self) {
        self.stdin = None;
        if self.status.is_none() && self.exited_at.is_none() {
            self.signal(Signal::TERM);
            self.await_exit(TERM_GRACE);
        }
        self.reap();
    }

    /// Waits for the end of the child and throws away what it still prints, which could hold it up.
    fn await_exit(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut buffer = [0; 4096];
        while Instant::now() < deadline {
            while matches!(self.read_stdout(&mut buffer), Ok(Some(1..))) && Instant::now() < deadline {}
            self.read_stderr();
            self.looked_at = self.started_at;
            self.look();
            if self.exited_at.is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn reap(&mut self) {
        if self.status.is_none() {
            // Before the child is reaped: as long as it is not, its number stands for this group and no other.
            self.signal(Signal::KILL);
            self.status = self.process.wait().ok();
            // The others of the group die on their own time; a zombie that nobody reaps is not waited for.
            let deadline = Instant::now() + GONE_GRACE;
            let is_there = || self.leads_group && test_kill_process_group(self.id).is_ok();
            while is_there() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Ends the call: a child that still runs has that long to go by itself after its input is closed.
    pub fn end(mut self, patience: Duration) -> Ended {
        self.write_some();
        self.stdin = None;
        if self.exited_at.is_none() {
            self.await_exit(patience);
        }
        let is_our_doing = !self.closes_stdin || self.exited_at.is_none();
        self.terminate();
        let (front, back) = self.stderr_tail.as_slices();
        Ended {
            code: self.status.and_then(|status| status.code()),
            signal: self.status.and_then(|status| status.signal()),
            is_our_doing,
            stderr: String::from_utf8_lossy(&[front, back].concat()).into_owned(),
            first_byte: self.first_byte,
            total: self.last_byte.unwrap_or_else(|| self.started_at.elapsed()),
        }
    }
}

impl Drop for Child<'_> {
    fn drop(&mut self) {
        self.reap();
    }
}

/// Pipes both outputs; returns the reading end where both go into one pipe.
fn redirect_output(command: &mut Command, stderr: Stderr) -> io::Result<Option<ChildStdout>> {
    match stderr {
        Stderr::Tail => {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            Ok(None)
        }
        Stderr::Merged => {
            let (reader, writer) = io::pipe()?;
            command.stdout(writer.try_clone()?).stderr(writer);
            Ok(Some(OwnedFd::from(reader).into()))
        }
    }
}

fn try_read(pipe: &mut impl Read, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    loop {
        match pipe.read(buffer) {
            Ok(n_read) => return Ok(Some(n_read)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Runs a program that prints little, and gives what it printed.
pub fn output(program: &Program<'_>, limits: Limits, stop: &Stop) -> Result<(Vec<u8>, Ended), ChildError> {
    let mut child = Child::start(program, limits, stop)?;
    child.close_stdin();
    let mut printed = Vec::new();
    let mut buffer = vec![0; CHUNK];
    loop {
        match child.read(&mut buffer)? {
            0 => return Ok((printed, child.end(Duration::ZERO))),
            n_read => printed.extend(buffer.iter().take(n_read)),
        }
    }
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
