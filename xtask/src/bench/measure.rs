//! Wall time of programs that take turns, and what one run used.
//!
//! Turns are A, B, A, B …: whatever else the machine does, it does to both. The ratio is the median of the
//! ratios of neighbouring runs, which one disturbed run does not move.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::failure::Failure;
use crate::workspace;

/// Makes the command of one run; what it does itself is not part of the time.
pub(super) type Prepare<'a> = &'a dyn Fn() -> Result<Command, Failure>;

/// The times of one program, in seconds, in the order of the turns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Times(Vec<f64>);

impl Times {
    pub(super) fn median(&self) -> f64 {
        median(&self.0)
    }

    /// How many times as long these runs took as those of `reference`.
    pub(super) fn ratio_to(&self, reference: &Self) -> f64 {
        let ratios: Vec<f64> = self.0.iter().zip(&reference.0).map(|(ours, theirs)| ours / theirs).collect();
        median(&ratios)
    }
}

/// Runs the programs in turns, `n_turns` times each after one run to warm up.
pub(super) fn take_turns<const N: usize>(
    n_turns: usize,
    programs: [Prepare<'_>; N],
) -> Result<[Times; N], Failure> {
    let mut times = std::array::from_fn(|_| Times(Vec::with_capacity(n_turns)));
    for turn in 0..=n_turns {
        for (prepare, times) in programs.iter().zip(&mut times) {
            let mut command = prepare()?;
            let seconds = run_once(&mut command)?;
            if turn > 0 {
                times.0.push(seconds);
            }
        }
    }
    Ok(times)
}

/// Runs a program to its end and returns the seconds it took.
pub(super) fn run_once(command: &mut Command) -> Result<f64, Failure> {
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let started_at = Instant::now();
    let output = command
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .map_err(|error| Failure::io(format!("run `{}`", workspace::shown(command)), &error))?;
    let seconds = started_at.elapsed().as_secs_f64();
    if output.status.success() {
        return Ok(seconds);
    }
    Err(Failure::new(format!("`{}` ended with {}", abridged(&workspace::shown(command)), output.status))
        .detail(String::from_utf8_lossy(&output.stderr)))
}

/// The command as shown, without a thousand file names.
fn abridged(shown: &str) -> String {
    if shown.chars().count() <= 300 {
        return shown.to_owned();
    }
    shown.chars().take(300).chain("…".chars()).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |idx: usize| sorted.get(idx).copied().unwrap_or(f64::NAN);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { at(middle) } else { f64::midpoint(at(middle.wrapping_sub(1)), at(middle)) }
}

/// What one run of a program used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Usage {
    pub(super) peak_bytes: f64,
    /// Processor seconds over wall seconds: near 2 when both cores of two are busy.
    pub(super) cores: f64,
}

/// Prints `<peak KiB> <user s> <system s> <wall s>` of the program given, as GNU time does below.
const PYTHON_TIME: &str = "\
import resource, subprocess, sys, time
start = time.monotonic()
status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime, used.ru_stime, time.monotonic() - start, file=sys.stderr)
sys.exit(status)
";

/// Runs a program once under GNU time, else under Python; `None` where the machine has neither.
///
/// The kernel's own count of the child is the only exact one, and asking for it directly needs unsafe code.
pub(super) fn usage(command: &Command) -> Result<Option<Usage>, Failure> {
    let mut wrapper = if workspace::is_installed("time") {
        let mut wrapper = Command::new("time");
        wrapper.args(["-f", "%M %U %S %e"]);
        wrapper
    } else if workspace::is_installed("python3") {
        let mut wrapper = Command::new("python3");
        wrapper.args(["-c", PYTHON_TIME]);
        wrapper
    } else {
        return Ok(None);
    };
    wrapper.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null()).stdout(Stdio::null());
    wrapper.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(dir) = command.get_current_dir() {
        wrapper.current_dir(dir);
    }
    let output = wrapper
        .output()
        .map_err(|error| Failure::io(format!("run `{}`", workspace::shown(&wrapper)), &error))?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(Failure::new(format!("`{}` ended with {}", workspace::shown(command), output.status))
            .detail(report));
    }
    Ok(report.lines().last().and_then(parse_usage))
}

fn parse_usage(line: &str) -> Option<Usage> {
    let numbers: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let &[peak_kib, user, system, wall] = numbers.as_slice() else {
        return None;
    };
    Some(Usage { peak_bytes: peak_kib * 1024.0, cores: (user + system) / wall })
}

#[cfg(test)]
#[path = "measure_tests.rs"]
mod tests;
