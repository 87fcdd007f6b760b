//! The process between aiwf and an agent: it ends the agent when aiwf dies in a way that it cannot see coming.
//!
//! aiwf starts its own executable with [`ARGUMENT`], the number of its own process, and the agent's command line. The
//! supervisor starts the agent with the pipes it was given, lets go of them, and waits. It leads the process group
//! that aiwf ends as a whole, ignores the signals that are meant for the agent, and exits exactly as the agent does.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpgrp, getpid, getppid,
    kill_process, kill_process_group, setrlimit, waitid,
};

/// The first argument of a process that is to be a supervisor.
pub const ARGUMENT: &str = "__supervise";
/// Starts the one line that a supervisor prints itself: why it could not start the program.
const NOT_STARTED: &str = "\0aiwf-supervise: os error ";
/// How long an agent has to end after it was told to, when aiwf is gone.
const GRACE: Duration = Duration::from_millis(1_500);
/// How often the parent is looked at where the system does not tell when a process ends.
const EVERY: Duration = Duration::from_millis(100);

static EXECUTABLE: OnceLock<PathBuf> = OnceLock::new();

/// From now on every agent gets a supervisor: this executable, which hands [`ARGUMENT`] over to [`supervise`].
pub fn supervise_with(executable: &Path) {
    EXECUTABLE.get_or_init(|| executable.to_owned());
}

/// The executable that can play a helper's role.
pub(crate) fn executable() -> Option<&'static Path> {
    EXECUTABLE.get().map(PathBuf::as_path)
}

/// A command that starts a program, under a supervisor where there is one; whether there is.
pub(crate) fn command(program: &OsStr, args: &[OsString], is_in_front: bool) -> (Command, bool) {
    // A program that may ask on the terminal is a direct child in our own group, and never works for long.
    let supervisor = EXECUTABLE.get().filter(|_| !is_in_front);
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts programs")]
    let mut command = Command::new(supervisor.map_or(program, |path| path.as_os_str()));
    if supervisor.is_some() {
        command.arg(ARGUMENT).arg(getpid().as_raw_nonzero().to_string()).arg(program);
    }
    command.args(args);
    (command, supervisor.is_some())
}

/// Why the supervisor could not start the program, if that is what it printed.
pub(crate) fn start_error(stderr: &[u8]) -> Option<io::Error> {
    let text = std::str::from_utf8(stderr).ok()?;
    let code = text.strip_prefix(NOT_STARTED)?.trim_end().parse().ok()?;
    Some(io::Error::from_raw_os_error(code))
}

/// What a helper prints that could not start its program.
pub(crate) fn not_started(error: &io::Error) -> String {
    format!("{NOT_STARTED}{}\n", error.raw_os_error().unwrap_or(0))
}

/// Runs a program on behalf of aiwf and ends as it does.
///
/// `arguments` are what follows [`ARGUMENT`]: the process that waits for the program, the program, its arguments.
pub fn supervise(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let parent = arguments.next().and_then(|text| text.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let (Some(parent), Some(program)) = (parent, arguments.next()) else { return ExitCode::from(2) };
    if getppid() != Some(parent) {
        return ExitCode::FAILURE;
    }
    match run(parent, &program, arguments) {
        Ok(status) => end_like(&status),
        Err(error) => {
            // Nobody is left to tell when this fails, too.
            #[expect(clippy::disallowed_methods, reason = "a pipe to aiwf, never a terminal")]
            let mut told = io::stderr();
            // One write: what others print into the same pipe must not come in between.
            drop(told.write_all(not_started(&error).as_bytes()));
            ExitCode::from(127)
        }
    }
}

fn run(parent: Pid, program: &OsStr, arguments: impl Iterator<Item = OsString>) -> io::Result<WaitIdStatus> {
    // They are sent to the whole group and mean the agent; a handler, unlike an ignored signal, is not inherited.
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        signal_hook::flag::register(signal.as_raw(), Arc::new(AtomicBool::new(false)))?;
    }
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts programs")]
    let child = Command::new(program).args(arguments).spawn()?;
    let child = Pid::from_child(&child);
    let watcher = std::thread::Builder::new().spawn(move || {
        await_end_of(parent);
        end_group(child);
    });
    if let Err(error) = watcher.and_then(|_| let_go_of_pipes()) {
        let _ = kill_process(child, Signal::KILL);
        return Err(error);
    }
    let status = ended(child, WaitIdOptions::empty())?.ok_or(io::ErrorKind::NotFound)?;
    if getppid() != Some(parent) {
        end_group(child);
    }
    // Not every init process reaps what is left to it. The watcher signals our own group, so the child's number
    // may be given away now.
    if leads_group() {
        let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(child), WaitIdOptions::EXITED));
    }
    Ok(status)
}

/// Whoever else holds an end of a pipe keeps aiwf from seeing that the agent closed it.
pub(crate) fn let_go_of_pipes() -> io::Result<()> {
    let nothing = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

/// How a child ended. It stays unreaped, so that the number of its process belongs to nobody else.
fn ended(child: Pid, options: WaitIdOptions) -> io::Result<Option<WaitIdStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | options;
    Ok(rustix::io::retry_on_intr(|| waitid(WaitId::Pid(child), options))?)
}

#[cfg(target_os = "linux")]
fn await_end_of(parent: Pid) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{PidfdFlags, pidfd_open};

    // Its number may have gone to another process before it was opened; then it is not our parent any more.
    if let Ok(process) = pidfd_open(parent, PidfdFlags::empty())
        && getppid() == Some(parent)
        && rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&process, PollFlags::IN)], None)).is_ok()
    {
        return;
    }
    look_for_end_of(parent);
}

#[cfg(not(target_os = "linux"))]
fn await_end_of(parent: Pid) {
    look_for_end_of(parent);
}

fn look_for_end_of(parent: Pid) {
    while getppid() == Some(parent) {
        std::thread::sleep(EVERY);
    }
}

fn leads_group() -> bool {
    getpgrp() == getpid()
}

/// Ends the agent and everything in its group, this process included.
fn end_group(child: Pid) {
    let send = |signal| {
        let _ =
            if leads_group() { kill_process_group(getpid(), signal) } else { kill_process(child, signal) };
    };
    send(Signal::TERM);
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline && matches!(ended(child, WaitIdOptions::NOHANG), Ok(None)) {
        std::thread::sleep(Duration::from_millis(5));
    }
    send(Signal::KILL);
}

/// Ends this process with the agent's exit code, or by the signal that ended it.
fn end_like(status: &WaitIdStatus) -> ExitCode {
    let Some(signal) = status.terminating_signal() else {
        let code = status.exit_status().and_then(|code| u8::try_from(code & 0xff).ok());
        return ExitCode::from(code.unwrap_or(1));
    };
    // The agent has left its own core dump.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    drop(signal_hook::low_level::emulate_default_handler(signal));
    if let Some(signal) = Signal::from_named_raw(signal) {
        let _ = kill_process(getpid(), signal);
    }
    ExitCode::from(u8::try_from(128 + (signal & 0x7f)).unwrap_or(u8::MAX))
}
