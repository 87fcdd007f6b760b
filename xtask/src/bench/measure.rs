//! Wall time of programs that take turns, and what one run used.
//!
//! Turns are A, B, A, B …: whatever else the machine does, it does to both. The ratio is the median of the
//! ratios of neighbouring runs, which one disturbed run does not move.
//! With `--against`, every run of the present build has a neighbour too: the same run with the other build.

use std::cell::Cell;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::failure::Failure;
use crate::workspace;

/// Makes the command of one run; what it does itself is not part of the time.
pub(super) type Prepare<'a> = &'a dyn Fn() -> Result<Command, Failure>;

/// What was measured in each turn: seconds of a program, bytes it used, a number it printed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Samples {
    present: Vec<f64>,
    /// The same with the other build; empty without `--against`, and for programs that are not ours.
    other: Vec<f64>,
}

impl Samples {
    pub(super) fn push(&mut self, build: Which, value: f64) {
        match build {
            Which::Present => self.present.push(value),
            Which::Other => self.other.push(value),
        }
    }

    /// The middle value of the present build.
    pub(super) fn median(&self) -> f64 {
        median(&self.present)
    }

    /// The middle value of the other build; `None` when there is none to compare with.
    pub(super) fn other_median(&self) -> Option<f64> {
        (!self.other.is_empty()).then(|| median(&self.other))
    }

    /// How many times as much the present build took as `reference`.
    pub(super) fn ratio_to(&self, reference: &Self) -> f64 {
        median_ratio(&self.present, &reference.present)
    }

    /// How many times as much the present build took as the other one.
    pub(super) fn ratio_to_other(&self) -> f64 {
        median_ratio(&self.present, &self.other)
    }
}

/// What was measured in the same runs, one `Samples` for each number.
pub(super) fn columns<const N: usize>(runs: Vec<(Which, [f64; N])>) -> [Samples; N] {
    let mut columns = std::array::from_fn(|_| Samples::default());
    for (build, values) in runs {
        for (samples, value) in columns.iter_mut().zip(values) {
            samples.push(build, value);
        }
    }
    columns
}

/// One of the two builds that take turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Which {
    /// The work tree as it is.
    #[default]
    Present,
    /// The revision that `--against` names.
    Other,
}

/// Says which build a bench prepares its commands for.
#[derive(Debug, Default)]
pub(super) struct Switch {
    has_other: bool,
    current: Cell<Which>,
    is_used: Cell<bool>,
}

impl Switch {
    pub(super) fn new(has_other: bool) -> Self {
        Self { has_other, ..Self::default() }
    }

    /// The build to prepare for, when a command depends on it.
    pub(super) fn use_current(&self) -> Which {
        self.is_used.set(true);
        self.current.get()
    }

    pub(super) fn current(&self) -> Which {
        self.current.get()
    }

    /// The builds in the order of this turn. The order changes every turn, so that neither always runs second.
    pub(super) fn order(&self, turn: usize) -> &'static [Which] {
        match (self.has_other, turn % 2) {
            (false, _) => &[Which::Present],
            (true, 0) => &[Which::Present, Which::Other],
            (true, _) => &[Which::Other, Which::Present],
        }
    }

    /// Calls `prepare` for one build; `None` when the result is for the other build and does not depend on it.
    pub(super) fn prepare<T>(
        &self,
        build: Which,
        prepare: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        self.current.set(build);
        self.is_used.set(false);
        let prepared = prepare();
        self.current.set(Which::Present);
        let is_wanted = build == Which::Present || self.is_used.get();
        prepared.map(|prepared| is_wanted.then_some(prepared)).map_err(|failure| blame(build, failure))
    }
}

/// Says that a failure belongs to the other build, whose commands and files look like those of the present one.
fn blame(build: Which, failure: Failure) -> Failure {
    match build {
        Which::Present => failure,
        Which::Other => failure.detail("in the build that `--against` names"),
    }
}

/// Runs the programs in turns, `n_turns` times each after one run to warm up.
pub(super) fn take_turns<const N: usize>(
    n_turns: usize,
    switch: &Switch,
    programs: [Prepare<'_>; N],
) -> Result<[Samples; N], Failure> {
    let mut times = std::array::from_fn(|_| Samples::default());
    for turn in 0..=n_turns {
        for (prepare, times) in programs.iter().zip(&mut times) {
            for &build in switch.order(turn) {
                let Some(mut command) = switch.prepare(build, prepare)? else { continue };
                let seconds = run_once(&mut command).map_err(|failure| blame(build, failure))?;
                if turn > 0 {
                    times.push(build, seconds);
                }
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

fn median_ratio(values: &[f64], references: &[f64]) -> f64 {
    let ratios: Vec<f64> =
        values.iter().zip(references).map(|(value, reference)| value / reference).collect();
    median(&ratios)
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
