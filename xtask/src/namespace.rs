//! A network namespace: what runs inside reaches the loopback interface and nothing else.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::test::{frozen_snapshots, has_nextest};
use crate::workspace::{self, Workspace};

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

/// A network namespace, made in the way that this machine allows.
pub(crate) struct Namespace {
    flag: &'static str,
}

impl Namespace {
    pub(crate) fn available() -> Result<Self, Failure> {
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

    /// Runs the tests with `name` in their path inside, with `programs_dir` in the variable `variable`.
    pub(crate) fn test(
        &self,
        workspace: &Workspace,
        name: &str,
        variable: &str,
        programs_dir: &Path,
    ) -> Result<(), Failure> {
        // What has to be fetched is fetched before the network is gone.
        let mut build = workspace.cargo();
        build.args(if has_nextest(workspace) { ["nextest", "run"] } else { ["test", "--tests"] });
        workspace::run(build.args(["--no-run", "--workspace", "--locked"]))?;

        let mut tests = workspace.cargo();
        if has_nextest(workspace) {
            tests.args(["nextest", "run", "--workspace", "--locked", "--offline", "--profile", "slow"]);
            tests.args(["-E", &format!("test({name})")]);
        } else {
            tests.args(["test", "--workspace", "--locked", "--offline", "--tests", "--", name]);
        }
        tests.env("AIWF_SLOW", "1").env(variable, programs_dir);
        let tests = frozen_snapshots(&mut tests);
        println!("   with the loopback interface only: {}", workspace::shown(tests));
        workspace::run(&mut self.around(tests))
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
