//! The slow suite `agents`: the tests that start the real agents, where only the loopback interface can be reached.
//!
//! The agents come from npm, in the versions below, into the user's cache: once per machine, not once per clone. The
//! tests named `real_agents` then run in a network namespace of their own, so that an agent that ignores the address
//! it was given talks to nobody.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::test::{frozen_snapshots, has_nextest};
use crate::workspace::{self, Workspace, is_installed};

/// An agent as npm has it.
struct Agent {
    package: &'static str,
    version: &'static str,
    program: &'static str,
}

/// The one place where their versions stand.
const AGENTS: [Agent; 3] = [
    Agent { package: "@openai/codex", version: "0.166.0", program: "codex" },
    Agent { package: "@google/gemini-cli", version: "0.61.0", program: "gemini" },
    Agent { package: "@anthropic-ai/claude-code", version: "2.1.325", program: "claude" },
];

/// The part of a test's path that says it starts a real agent.
const TESTS: &str = "real_agents";

/// In the name of a directory whose install is not complete; the number of its process follows.
const PARTIAL: &str = ".partial-";

/// Brings the loopback interface up, then becomes the command.
///
/// Not every machine has `ip`; perl is on every Debian, where `ip` may be missing. `0x8914` is `SIOCSIFFLAGS`,
/// `0x41` is `IFF_UP` and `IFF_RUNNING`.
const WITH_LOOPBACK: &str = r#"
PATH="$PATH:/usr/sbin:/sbin"
if command -v ip > /dev/null; then
    ip link set lo up
elif command -v perl > /dev/null; then
    perl -e 'use Socket; socket(my $s, PF_INET, SOCK_DGRAM, 0) or die "socket: $!\n";
        my $flags = pack("Z16 s x22", "lo", 0x41); ioctl($s, 0x8914, $flags) or die "lo: $!\n";'
else
    echo "neither ip nor perl is there to bring the loopback interface up" >&2
    false
fi && exec "$@"
"#;

pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    let namespace = Namespace::available()?;
    let programs_dir = ensure_installed()?;
    // What has to be fetched is fetched before the network is gone.
    let mut build = workspace.cargo();
    build.args(if has_nextest(workspace) { ["nextest", "run"] } else { ["test", "--tests"] });
    workspace::run(build.args(["--no-run", "--workspace", "--locked"]))?;

    let mut tests = workspace.cargo();
    if has_nextest(workspace) {
        tests.args(["nextest", "run", "--workspace", "--locked", "--offline", "--profile", "slow"]);
        tests.args(["-E", &format!("test({TESTS})")]);
    } else {
        tests.args(["test", "--workspace", "--locked", "--offline", "--tests", "--", TESTS]);
    }
    tests.env("AIWF_SLOW", "1").env("AIWF_AGENTS_BIN", programs_dir);
    let tests = frozen_snapshots(&mut tests);
    println!("   with the loopback interface only: {}", workspace::shown(tests));
    workspace::run(&mut namespace.around(tests))
}

/// A network namespace, made in the way that this machine allows.
struct Namespace {
    flag: &'static str,
}

impl Namespace {
    fn available() -> Result<Self, Failure> {
        // Root makes one as it is; others become root in a user namespace first.
        let works = |flag: &&'static str| {
            let mut attempt = Self { flag }.around(&Command::new("true"));
            attempt.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        let flag = ["-n", "-rn"].into_iter().find(works).ok_or_else(|| {
            Failure::new("could not make a network namespace with a loopback interface")
                .detail("tried `unshare -n` and `unshare -rn`")
                .hint("run it as root, or where user namespaces are allowed")
        })?;
        Ok(Self { flag })
    }

    /// The same command, inside.
    fn around(&self, command: &Command) -> Command {
        let mut inside = Command::new("unshare");
        inside.args([self.flag, "sh", "-c", WITH_LOOPBACK, "sh"]).arg(command.get_program());
        inside.args(command.get_args());
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(dir) = command.get_current_dir() {
            inside.current_dir(dir);
        }
        inside
    }
}

/// Installs the agents where they are not yet; the directory of their programs.
fn ensure_installed() -> Result<PathBuf, Failure> {
    let cache_dir = cache_dir()?;
    let dir = cache_dir.join(dir_name());
    let programs_dir = |dir: &Path| dir.join("node_modules").join(".bin");
    if dir.is_dir() {
        return Ok(programs_dir(&dir));
    }
    let failed = |what: &str| {
        let what = format!("{what} in `{}`", cache_dir.display());
        move |error: io::Error| Failure::io(what, &error)
    };
    fs::create_dir_all(&cache_dir).map_err(failed("make a directory"))?;
    // Two clones may want the agents at the same time; the second waits and finds them.
    let lock = File::create(cache_dir.join("agents.lock")).map_err(failed("make a lock"))?;
    lock.lock().map_err(failed("take the lock"))?;
    if dir.is_dir() {
        return Ok(programs_dir(&dir));
    }
    ensure_npm()?;
    // Only a whole install gets the name. Each has a directory of its own until then, since the npm of one that was
    // interrupted may still be writing.
    remove_interrupted(&cache_dir).map_err(failed("remove an interrupted install"))?;
    let partial_dir = cache_dir.join(format!("{}{PARTIAL}{}", dir_name(), std::process::id()));
    fs::create_dir(&partial_dir).map_err(failed("make a directory"))?;
    println!("   installing the agents (1 GB, once) into `{}`", dir.display());
    let mut install = Command::new("npm");
    install.args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]).arg(&partial_dir);
    install.args(AGENTS.map(|agent| format!("{}@{}", agent.package, agent.version)));
    workspace::run(&mut install)
        .map_err(|failure| failure.hint("npm must reach its registry, once; see what it says above"))?;
    for agent in &AGENTS {
        check_version(agent, &programs_dir(&partial_dir))?;
    }
    fs::rename(&partial_dir, &dir).map_err(failed("name the install"))?;
    Ok(programs_dir(&dir))
}

fn remove_interrupted(cache_dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(cache_dir)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().contains(PARTIAL) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Named after the versions, so that others are installed beside them.
fn dir_name() -> String {
    AGENTS.iter().fold("agents".to_owned(), |name, agent| name + "-" + agent.program + "-" + agent.version)
}

fn cache_dir() -> Result<PathBuf, Failure> {
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

/// Starts the agent once: a package without its program, or a node too old for it, shows here and not in a test.
fn check_version(agent: &Agent, programs_dir: &Path) -> Result<(), Failure> {
    let mut command = Command::new(programs_dir.join(agent.program));
    let version = workspace::capture(command.arg("--version")).map_err(|failure| {
        failure.hint("the agents need node 20 or newer; `node --version` says which it is")
    })?;
    if version.contains(agent.version) {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` says it is not version {}", agent.program, agent.version)).detail(version))
}
