//! Isolates a check from the network.
//!
//! In: nothing. Out: a command prefix that runs a command with only a loopback interface, or why this system does not
//! allow it. Linux only: `unshare` creates the namespace, as root or in a user namespace, in which a second one gives
//! the check its own user back.

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;
use std::time::Duration;

use aiwf_process::{Limits, Program, Stop, output};
use rustix::process::{getgid, getuid};

/// Brings the loopback interface up and executes the command.
///
/// Not every machine has `ip`. `0x8914` is `SIOCSIFFLAGS`, `0x41` is `IFF_UP` and `IFF_RUNNING`.
const WITH_LOOPBACK: &str = r#"(
PATH="$PATH:/usr/sbin:/sbin"
ip link set lo up || ifconfig lo up ||
perl -e 'use Socket; socket(my $s, PF_INET, SOCK_DGRAM, 0) or die; ioctl($s, 0x8914, pack("Z16 s x22", "lo", 0x41)) or die' ||
python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 0x41))'
) > /dev/null 2>&1 && exec "$@""#;

/// Limits for the test whether the system allows it.
const LIMITS: Limits =
    Limits { first_byte: Duration::from_secs(10), total: Duration::from_secs(10), max_bytes: 64 * 1024 };

static PREFIX: OnceLock<Option<Vec<String>>> = OnceLock::new();

/// The prefix of a command that may use only loopback, or why there is none.
pub(crate) fn loopback_only() -> Result<&'static [String], &'static str> {
    if !cfg!(target_os = "linux") {
        return Err("this system has no network namespaces");
    }
    let prefix = PREFIX.get_or_init(|| candidates().into_iter().find(|prefix| works(prefix)));
    prefix.as_deref().ok_or("`unshare` cannot create a network namespace here")
}

/// The possible prefixes, best first.
fn candidates() -> Vec<Vec<String>> {
    let around = |flag| ["unshare", flag, "--", "sh", "-c", WITH_LOOPBACK, "sh"].map(str::to_owned).to_vec();
    if getuid().is_root() {
        return vec![around("-n"), around("-rn")];
    }
    // Without the second namespace, the check would seem to run as root, which some programs refuse.
    let own_user = [
        "unshare".to_owned(),
        format!("--map-user={}", getuid().as_raw()),
        format!("--map-group={}", getgid().as_raw()),
        "--".to_owned(),
    ];
    vec![around("-rn").into_iter().chain(own_user).collect(), around("-rn")]
}

fn works(prefix: &[String]) -> bool {
    let words: Vec<OsString> = prefix.iter().map(OsString::from).chain(["true".into()]).collect();
    let Some((program, args)) = words.split_first() else { return false };
    let program: &OsStr = program;
    output(&Program::new(program, args), LIMITS, &Stop::default())
        .is_ok_and(|(_, ended)| ended.code == Some(0))
}
