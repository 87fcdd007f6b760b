//! A separate process to render templates that are not built in: they come from a checkout, and one operator may
//! request any amount of memory.
//!
//! The process is this executable with [`ARGUMENT`]. It starts with the first such template, renders the next ones too,
//! and ends when its input does. Requests and answers are lines of JSON. A template that exceeds a limit ends the
//! process, which reports the limit; the next template gets a new process.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use aiwf_prompt::{TemplateError, TemplateHost, TemplateSource, check_template_here, render_template_here};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first argument of a template process.
pub(crate) const ARGUMENT: &str = "__templates";
/// Default memory limit of a template, in addition to its input.
const DEFAULT_MEMORY: u64 = 64 * 1024 * 1024;
/// How many copies of its input may exist: as JSON, as values of two kinds, and as output.
const MAX_COPIES: u64 = 6;
/// Seconds of processor time per template. Steps are limited, but one step may use all of its memory.
const MAX_SECONDS: u64 = 20;

#[derive(Serialize, Deserialize)]
enum TemplateRequest {
    Render { template: TemplateSource, variables: BTreeMap<String, Value> },
    Check { template: TemplateSource, defined: Vec<String> },
}

type Answer = Result<String, Vec<TemplateError>>;

/// Renders templates from stdin, line by line, until the input ends.
pub(crate) fn serve() -> ExitCode {
    // A template that ends this process must leave no core dump.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => return ExitCode::SUCCESS,
            Ok(_) => {}
            Err(_) => return ExitCode::FAILURE,
        }
        let Some((memory, request)) = split(&line) else { return ExitCode::FAILURE };
        if limit_resources(memory, line.len() as u64).is_err() {
            return ExitCode::FAILURE;
        }
        let answer = match serde_json::from_slice(request) {
            Ok(TemplateRequest::Render { template, variables }) => {
                render_template_here(&template, &variables).map_err(|error| vec![error])
            }
            Ok(TemplateRequest::Check { template, defined }) => {
                let defined: Vec<&str> = defined.iter().map(String::as_str).collect();
                check_template_here(&template, &defined).map(|()| String::new())
            }
            Err(_) => return ExitCode::FAILURE,
        };
        #[expect(clippy::disallowed_methods, reason = "a pipe to aiwf, never a terminal")]
        let mut output = io::stdout().lock();
        let is_told = serde_json::to_writer(&mut output, &answer).is_ok()
            && output.write_all(b"\n").and_then(|()| output.flush()).is_ok();
        if !is_told || lift_memory_limit().is_err() {
            return ExitCode::FAILURE;
        }
    }
}

/// Splits a request into its memory limit and its body: the limit must be known before the body is parsed.
fn split(line: &[u8]) -> Option<(u64, &[u8])> {
    let at = line.iter().position(|byte| *byte == b' ')?;
    let (memory, request) = line.split_at(at);
    Some((std::str::from_utf8(memory).ok()?.parse().ok()?, request))
}

/// Limits the memory of the next template, in addition to what this process already uses.
fn limit_resources(memory: u64, n_given: u64) -> io::Result<()> {
    if let Some(used) = address_space() {
        let current = used.saturating_add(memory).saturating_add(n_given.saturating_mul(MAX_COPIES));
        set_current(Resource::As, Some(current))?;
    }
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    set_current(Resource::Cpu, Some(u64::try_from(used).unwrap_or(0) + MAX_SECONDS))
}

/// Removes the limit, so that the next request can be read, however large it is.
fn lift_memory_limit() -> io::Result<()> {
    set_current(Resource::As, getrlimit(Resource::As).maximum)
}

fn set_current(resource: Resource, wanted: Option<u64>) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum;
    // A limit set by the parent process stays.
    let current = match (wanted, maximum) {
        (Some(wanted), Some(maximum)) => Some(wanted.min(maximum)),
        (wanted, maximum) => wanted.or(maximum),
    };
    Ok(setrlimit(resource, Rlimit { current, maximum })?)
}

/// The address space of this process; `None` where the system does not report it like Linux does.
fn address_space() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let n_pages: u64 = sizes.split(' ').next()?.parse().ok()?;
    n_pages.checked_mul(rustix::param::page_size() as u64)
}

/// The engine's side: sends templates to the process and starts it when needed.
#[derive(Debug)]
pub(crate) struct TemplateProcess {
    executable: PathBuf,
    memory: AtomicU64,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl TemplateProcess {
    pub(crate) fn new(executable: PathBuf) -> Self {
        Self { executable, memory: AtomicU64::new(DEFAULT_MEMORY), running: Mutex::default() }
    }

    /// Sets the memory limit per template, in bytes.
    pub(crate) fn set_memory(&self, memory: u64) {
        self.memory.store(memory, Ordering::Relaxed);
    }

    fn ask(&self, name: &str, wanted: &TemplateRequest) -> Answer {
        let no_host = |message: String| vec![TemplateError::NoHost { name: name.to_owned(), message }];
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let mut process = match running.take() {
            Some(process) => process,
            None => start(&self.executable).map_err(|error| no_host(error.to_string()))?,
        };
        let memory = self.memory.load(Ordering::Relaxed);
        let exchanged = exchange(&mut process, memory, wanted);
        if let Ok(answer) = exchanged {
            *running = Some(process);
            return answer;
        }
        let Running { mut child, stdin, stdout } = process;
        drop((stdin, stdout));
        let ended = child.wait().map_err(|error| no_host(error.to_string()))?;
        let name = name.to_owned();
        Err(match ended.signal().and_then(Signal::from_named_raw) {
            Some(Signal::XCPU) => vec![TemplateError::TooSlow { name, limit_s: MAX_SECONDS }],
            // A failed allocation aborts; a stack that cannot grow causes a fault.
            Some(Signal::ABORT | Signal::SEGV) => {
                vec![TemplateError::TooMuchMemory { name, limit: memory }]
            }
            _ => no_host(format!("the process that renders templates ended ({ended})")),
        })
    }
}

impl TemplateHost for TemplateProcess {
    fn render(
        &self,
        template: &TemplateSource,
        variables: &BTreeMap<String, Value>,
    ) -> Result<String, TemplateError> {
        let name = &template.name;
        let wanted = TemplateRequest::Render { template: template.clone(), variables: variables.clone() };
        self.ask(name, &wanted).map_err(|errors| {
            let no_error = || TemplateError::NoHost { name: name.clone(), message: "no reason".to_owned() };
            errors.into_iter().next().unwrap_or_else(no_error)
        })
    }

    fn check(&self, template: &TemplateSource, defined: &[&str]) -> Result<(), Vec<TemplateError>> {
        let defined = defined.iter().map(|name| (*name).to_owned()).collect();
        self.ask(&template.name, &TemplateRequest::Check { template: template.clone(), defined }).map(drop)
    }
}

#[expect(clippy::disallowed_methods, reason = "starts no other program than this one")]
fn start(executable: &PathBuf) -> io::Result<Running> {
    let mut command = Command::new(executable);
    command.arg(ARGUMENT).env_clear().process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let stdin = child.stdin.take().ok_or_else(missing)?;
    let stdout = BufReader::new(child.stdout.take().ok_or_else(missing)?);
    Ok(Running { child, stdin, stdout })
}

fn exchange(process: &mut Running, memory: u64, wanted: &TemplateRequest) -> io::Result<Answer> {
    let mut line = format!("{memory} ").into_bytes();
    serde_json::to_writer(&mut line, wanted)?;
    line.push(b'\n');
    // The process reads a whole request before it answers, so neither side waits for the other.
    process.stdin.write_all(&line)?;
    process.stdin.flush()?;
    line.clear();
    process.stdout.read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}
