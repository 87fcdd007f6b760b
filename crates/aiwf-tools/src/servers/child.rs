//! The process of a server: in its own group, watched, and killed with the whole group.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::server_spec::Launch;

/// Interval between checks of a process.
const EVERY: Duration = Duration::from_millis(25);
/// How long a server may take to end after its stdin was closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(1_500);

/// The program that starts servers for us and ends them if this process is killed.
#[derive(Debug)]
struct Supervisor {
    executable: PathBuf,
    argument: &'static str,
}

static SUPERVISOR: OnceLock<Supervisor> = OnceLock::new();

/// Gives every server from now on a supervisor: this executable with this first argument, followed by the id of this
/// process and the server's command line.
pub fn supervise_with(executable: &Path, argument: &'static str) {
    SUPERVISOR.get_or_init(|| Supervisor { executable: executable.to_owned(), argument });
}

/// The error of a supervisor that could not start the program.
pub(super) fn supervisor_error(stderr: &str) -> Option<io::Error> {
    let code = stderr.strip_prefix("\0aiwf-supervise: os error ")?.parse().ok()?;
    SUPERVISOR.get().map(|_| io::Error::from_raw_os_error(code))
}

/// A running or finished process.
#[derive(Debug)]
pub(super) struct Process {
    group: Pid,
    ended: watch::Receiver<Option<String>>,
    /// Dropping it tells the watcher to end the process.
    end: Arc<watch::Sender<bool>>,
}

pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// Starts a program with exactly these variables.
pub(super) fn start(launch: &Launch, variables: &[(String, String)]) -> io::Result<Option<(Process, Pipes)>> {
    let Launch::Stdio { command: program, args, env, cwd } = launch else { return Ok(None) };
    // A missing directory would be reported as a missing program.
    if !std::fs::metadata(cwd).is_ok_and(|metadata| metadata.is_dir()) {
        let message = format!("there is no directory `{}`", cwd.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
    }
    let supervisor = SUPERVISOR.get();
    let mut command = Command::new(supervisor.map_or(OsStr::new(program), |it| it.executable.as_os_str()));
    if let Some(Supervisor { argument, .. }) = supervisor {
        command.arg(argument).arg(std::process::id().to_string()).arg(program);
    }
    command.args(args).current_dir(cwd).env_clear().process_group(0).kill_on_drop(true);
    command.envs(variables.iter().map(|(name, value)| (name, value))).envs(env);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let pipes = Pipes {
        stdin: child.stdin.take().ok_or_else(missing)?,
        stdout: child.stdout.take().ok_or_else(missing)?,
        stderr: child.stderr.take().ok_or_else(missing)?,
    };
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let group = id.ok_or_else(missing)?;
    let (told, ended) = watch::channel(None);
    let (end, ending) = watch::channel(false);
    tokio::spawn(watch_over(child, group, told, ending));
    Ok(Some((Process { group, ended, end: Arc::new(end) }, pipes)))
}

/// Waits until the process ends or is to end; afterwards nothing of its group is left.
async fn watch_over(
    mut child: Child,
    group: Pid,
    told: watch::Sender<Option<String>>,
    mut ending: watch::Receiver<bool>,
) {
    let has_exited = || {
        // It stays a zombie, so that the id of its group is not reused.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(group), options), Ok(None))
    };
    let exit = async {
        while !has_exited() {
            sleep(EVERY).await;
        }
    };
    let asked = async {
        // An error means that the process was dropped.
        drop(ending.wait_for(|is_ending| *is_ending).await);
    };
    tokio::select! {
        () = exit => {}
        () = asked => {
            // Its stdin is closed by now, and most servers end on their own.
            for signal in [None, Some(Signal::TERM)] {
                if let Some(signal) = signal {
                    let _ = kill_process_group(group, signal);
                }
                let waited = timeout(GRACE, async {
                    while !has_exited() {
                        sleep(EVERY).await;
                    }
                });
                if waited.await.is_ok() {
                    break;
                }
            }
        }
    }
    // Kills the rest of the group, and with it whoever holds the pipes; an error means that the group is gone.
    let _ = kill_process_group(group, Signal::KILL);
    let how = match timeout(GRACE, child.wait()).await {
        Ok(Ok(status)) => shown(status),
        Ok(Err(_)) | Err(_) => "its exit status is unknown".to_owned(),
    };
    told.send_replace(Some(how));
}

fn shown(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was killed by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}

impl Process {
    pub(super) fn id(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    /// How it ended; `None` if it still runs after a moment.
    pub(super) async fn how_it_ended(&self) -> Option<String> {
        let mut ended = self.ended.clone();
        // The connection may close shortly before the process ends.
        match timeout(Duration::from_millis(500), ended.wait_for(Option::is_some)).await {
            Ok(Ok(how)) => how.clone(),
            Ok(Err(_)) | Err(_) => None,
        }
    }

    pub(super) fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut ended = self.ended.clone();
        async move { drop(ended.wait_for(Option::is_some).await) }
    }

    /// Ends the process and waits for it; its stdin must be closed already.
    pub(super) async fn stop(&self) {
        self.end.send_replace(true);
        drop(timeout(GRACE * 4, self.ended()).await);
    }
}
