//! Programs that continue when this process ends, and are ended when their time is up.
//!
//! aiwf starts its own executable with [`ARGUMENT`], a time limit and the program's command line. That helper begins a
//! session of its own, starts the program, says on its standard output whether that worked, and ends the program with
//! everything it started once the time is up. What the program prints is thrown away.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_process_group, setsid, waitid,
};

use crate::child::{CHUNK, Child, ChildError, Limits, Program};
use crate::stop::Stop;
use crate::supervisor;

/// The first argument of a process that is to start a program and let go of it.
pub const ARGUMENT: &str = "__detach";
/// How long a program has to end after it was told to.
const GRACE: Duration = Duration::from_millis(500);
/// How often it is looked at.
const EVERY: Duration = Duration::from_millis(20);
/// The most that is sent to a program: less than any pipe holds, so that sending never waits.
pub const MAX_INPUT: usize = 32 * 1024;

/// Starts a program that gets `input` and has `limit` to end; returns once it has started.
///
/// Without the executable of [`supervisor::supervise_with`] nobody could end it later, so it is waited for.
pub fn start_detached(
    words: &[OsString],
    env: &[(String, String)],
    directory: &Path,
    input: &[u8],
    limit: Duration,
) -> io::Result<()> {
    let input = input.get(..MAX_INPUT).unwrap_or(input);
    let Some(executable) = supervisor::executable() else {
        return run_to_its_end(words, env, directory, input, limit);
    };
    #[expect(clippy::disallowed_methods, reason = "this crate starts programs")]
    let mut command = Command::new(executable);
    command.arg(ARGUMENT).arg(limit.as_millis().to_string()).args(words);
    command.envs(env.iter().map(|(name, value)| (name, value))).current_dir(directory);
    let mut helper = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = helper.stdin.take() {
        // A program that does not read is no failure.
        drop(stdin.write_all(input));
    }
    let mut told = Vec::new();
    if let Some(stdout) = helper.stdout.take() {
        stdout.take(1024).read_to_end(&mut told)?;
    }
    // Nobody else reaps it while this process continues.
    drop(std::thread::Builder::new().spawn(move || helper.wait()));
    supervisor::start_error(&told).map_or(Ok(()), Err)
}

fn run_to_its_end(
    words: &[OsString],
    env: &[(String, String)],
    directory: &Path,
    input: &[u8],
    limit: Duration,
) -> io::Result<()> {
    let Some((program, args)) = words.split_first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let program: &OsStr = program;
    let program = Program { env, directory: Some(directory), ..Program::new(program, args) };
    let limits = Limits { first_byte: limit, total: limit, max_bytes: u64::MAX };
    let stop = Stop::default();
    let ran = Child::start(&program, limits, &stop).and_then(|mut child| {
        child.send(input.to_vec());
        child.close_stdin();
        let mut buffer = vec![0; CHUNK];
        while child.read(&mut buffer)? > 0 {}
        Ok(())
    });
    match ran {
        Err(ChildError::NotStarted(error) | ChildError::Pipe(error)) => Err(error),
        Err(ChildError::Stopped | ChildError::TimedOut { .. } | ChildError::TooLarge { .. }) | Ok(()) => {
            Ok(())
        }
    }
}

/// Plays the helper: `arguments` are what follows [`ARGUMENT`].
pub fn serve(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let limit = arguments.next().and_then(|text| text.to_str()?.parse().ok()).map(Duration::from_millis);
    let (Some(limit), Some(program)) = (limit, arguments.next()) else { return ExitCode::from(2) };
    let started = start(&program, arguments);
    #[expect(clippy::disallowed_methods, reason = "a pipe to aiwf, never a terminal")]
    let mut stdout = io::stdout();
    let told = match &started {
        Ok(_) => Ok(()),
        Err(error) => stdout.write_all(supervisor::not_started(error).as_bytes()),
    };
    // aiwf waits for the end of this pipe.
    let let_go = told.and_then(|()| stdout.flush()).and_then(|()| supervisor::let_go_of_pipes());
    let Ok(child) = started else { return ExitCode::from(127) };
    let deadline = if let_go.is_ok() { Instant::now() + limit } else { Instant::now() };
    if !has_ended(child, deadline) {
        end_group(Signal::TERM);
        has_ended(child, Instant::now() + GRACE);
    }
    // What it left behind, this process included.
    end_group(Signal::KILL);
    ExitCode::SUCCESS
}

/// Starts the program in a session of its own, which the end of a terminal does not reach.
fn start(program: &OsStr, arguments: impl Iterator<Item = OsString>) -> io::Result<Pid> {
    // Whoever leads a group already, as when a shell starts it, cannot start a session and needs none.
    if getpgrp() != getpid() {
        setsid()?;
    }
    // The whole group is told to end; a handler, unlike an ignored signal, is not inherited.
    signal_hook::flag::register(Signal::TERM.as_raw(), Arc::new(AtomicBool::new(false)))?;
    #[expect(clippy::disallowed_methods, reason = "this crate starts programs")]
    let child = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(Pid::from_child(&child))
}

/// Whether the program ends before a moment.
fn has_ended(child: Pid, deadline: Instant) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    loop {
        if !matches!(waitid(WaitId::Pid(child), options), Ok(None)) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(EVERY);
    }
}

fn end_group(signal: Signal) {
    let _ = kill_process_group(getpid(), signal);
}
