//! What the page costs: its views against the commands that read the same, the way of a change to it, and idle tabs.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::bench::lab::{self, Effort, Lab, create_dir, write};
use crate::bench::measure::{Samples, Which, run_once};
use crate::bench::sessions::write_sessions;
use crate::bench::table::{Quantity, Row};
use crate::failure::Failure;
use crate::page::visitor::Served;
use crate::workspace;

/// The bytes of the prompt whose anatomy is shown.
const PROMPT_BYTES: usize = 6_000_000;
/// Events of the long journal.
const N_EVENTS: usize = 100_000;
/// Lines of the long difference.
const N_LINES: usize = 50_000;
const N_TABS: usize = 20;
/// How long idle tabs are watched.
const IDLE: Duration = Duration::from_secs(10);
const TICKS_PER_SECOND: f64 = 100.0;

/// The page of a project.
struct Place<'l> {
    lab: &'l Lab<'l>,
    root: PathBuf,
    page: Served,
}

impl<'l> Place<'l> {
    fn serve(lab: &'l Lab<'l>, root: PathBuf) -> Result<Self, Failure> {
        let mut command = lab.aiwf()?;
        command.current_dir(&root);
        Ok(Self { lab, page: Served::start(command)?, root })
    }

    fn aiwf(&self, line: &str) -> Result<Command, Failure> {
        aiwf(self.lab, &self.root, line)
    }

    /// The time of a view and that of a command, in turns.
    fn against(&self, path: &str, line: &str, n_turns: usize) -> Result<(Samples, Samples), Failure> {
        let (mut ours, mut theirs) = (Samples::default(), Samples::default());
        for turn in 0..=self.lab.turns(n_turns) {
            let started_at = Instant::now();
            self.page.get(path)?;
            let seconds = started_at.elapsed().as_secs_f64();
            let reference = run_once(&mut self.aiwf(line)?)?;
            // The first turn warms up.
            if turn > 0 || self.lab.effort() == Effort::Smoke {
                ours.push(Which::Present, seconds);
                theirs.push(Which::Present, reference);
            }
        }
        Ok((ours, theirs))
    }
}

fn aiwf(lab: &Lab<'_>, root: &Path, line: &str) -> Result<Command, Failure> {
    let mut command = lab.aiwf()?;
    command.current_dir(root).args(line.split(' '));
    Ok(command)
}

fn project(lab: &Lab<'_>, name: &str) -> Result<PathBuf, Failure> {
    let root = lab.path(name);
    create_dir(&root.join(".aiwf"))?;
    write(&root.join("schema.sql"), "CREATE TABLE customer (id BIGINT PRIMARY KEY);\n")?;
    Ok(root)
}

pub(super) fn page(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let mut rows = vec![inbox(lab)?, session(lab)?, anatomy(lab)?, long_journal(lab)?, long_diff(lab)?];
    rows.push(latency(lab)?);
    rows.extend(idle(lab)?);
    Ok(rows)
}

fn inbox(lab: &Lab<'_>) -> Result<Row, Failure> {
    let root = project(lab, "page-inbox")?;
    write_sessions(lab, &root)?;
    let place = Place::serve(lab, root)?;
    let (ours, list) = place.against("/", "list --json", 9)?;
    Ok(Row::of_times("the inbox, 10,000 sessions", &ours, ("aiwf list --json", &list)).at_most(2.0))
}

fn session(lab: &Lab<'_>) -> Result<Row, Failure> {
    let root = project(lab, "page-session")?;
    begin(lab, &root, "schema.sql")?;
    let place = Place::serve(lab, root)?;
    let (ours, status) = place.against("/s/latest", "status latest", 31)?;
    Ok(Row::of_times("a session", &ours, ("aiwf status", &status)).at_most(3.0))
}

fn anatomy(lab: &Lab<'_>) -> Result<Row, Failure> {
    let root = project(lab, "page-anatomy")?;
    let text =
        "a line of a large file that is shown to the model\n".repeat(lab.scaled(PROMPT_BYTES) / 50 + 1);
    write(&root.join("large.txt"), &text)?;
    begin(lab, &root, "large.txt")?;
    let place = Place::serve(lab, root)?;
    let (ours, preview) = place.against("/s/latest/prompt", "preview latest", 9)?;
    Ok(Row::of_times("the anatomy of 6 MB", &ours, ("aiwf preview", &preview)).at_most(2.0))
}

fn long_journal(lab: &Lab<'_>) -> Result<Row, Failure> {
    let root = project(lab, "page-journal")?;
    begin(lab, &root, "schema.sql")?;
    lengthen(&journal_of(&root)?, lab.scaled(N_EVENTS))?;
    let place = Place::serve(lab, root)?;
    let (ours, status) = place.against("/s/latest", "status latest", 5)?;
    Ok(Row::of_times("a session, 100,000 events", &ours, ("aiwf status", &status)))
}

/// A reply that writes a file of 50,000 lines, as its session's page and its code show it.
fn long_diff(lab: &Lab<'_>) -> Result<Row, Failure> {
    let root = project(lab, "page-diff")?;
    begin(lab, &root, "schema.sql")?;
    let lines =
        (0..lab.scaled(N_LINES)).fold(String::new(), |text, n| text + &format!("line {n} of a file\n"));
    write(&root.join("plan.md"), "# Plan\n\nWrite it.\n")?;
    write(&root.join("code.md"), &format!("<<<FILE: large.txt>>>\n{lines}"))?;
    for line in ["respond latest --file plan.md", "approve latest", "respond latest --file code.md"] {
        // Each stops at the gate that follows.
        drop(workspace::capture(&mut aiwf(lab, &root, line)?));
    }
    let place = Place::serve(lab, root)?;
    let answer = place.page.get("/s/latest/code?file=0")?;
    if !answer.text.contains("line 7 of a file") {
        return Err(Failure::new("the page does not show the difference").detail(answer.text));
    }
    let (ours, diff) = place.against("/s/latest/code?file=0", "diff latest", 5)?;
    Ok(Row::of_times("a difference of 50,000 lines", &ours, ("aiwf diff", &diff)))
}

/// From the journal's new line, which another process wrote, to the page that a browser shows next.
fn latency(lab: &Lab<'_>) -> Result<Row, Failure> {
    let root = project(lab, "page-latency")?;
    begin(lab, &root, "schema.sql")?;
    let journal = journal_of(&root)?;
    write(&root.join("plan.md"), "# Plan\n\nWrite it.\n")?;
    drop(workspace::capture(&mut aiwf(lab, &root, "respond latest --file plan.md")?));
    let place = Place::serve(lab, root)?;
    let mut stream = place.page.stream("/s/latest/live")?;
    wait_for(&mut stream, "event: here")?;
    let mut times = Samples::default();
    for turn in 0..lab.turns(21) {
        let n_before = n_bytes(&journal);
        let mut command = place.aiwf(&format!("comment latest plan:1 again-{turn}"))?;
        command.stderr(std::process::Stdio::null());
        let mut child = command.spawn().map_err(|error| Failure::io("start `aiwf comment`", &error))?;
        while n_bytes(&journal) == n_before {
            if child.try_wait().is_ok_and(|ended| ended.is_some()) && n_bytes(&journal) == n_before {
                return Err(Failure::new("`aiwf comment` added no line to the journal"));
            }
            std::hint::spin_loop();
        }
        let written_at = Instant::now();
        wait_for(&mut stream, "event: changed")?;
        place.page.get("/s/latest")?;
        times.push(Which::Present, written_at.elapsed().as_secs_f64());
        drop(child.wait());
    }
    let aim = Quantity::Seconds(0.1);
    let median = times.median();
    Ok(Row::new("from a journal's line to the page", Quantity::Seconds(median), ("aim", aim), median / 0.1))
}

/// Twenty tabs that nothing happens in.
fn idle(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let root = project(lab, "page-idle")?;
    begin(lab, &root, "schema.sql")?;
    let place = Place::serve(lab, root)?;
    let mut tabs = Vec::new();
    for _ in 0..N_TABS {
        place.page.get("/s/latest")?;
        let mut stream = place.page.stream("/s/latest/live")?;
        wait_for(&mut stream, "event: here")?;
        tabs.push(stream);
    }
    let Some(before) = place.page.used() else { return Ok(Vec::new()) };
    let watched = if lab.effort() == Effort::Smoke { Duration::from_millis(200) } else { IDLE };
    std::thread::sleep(watched);
    let Some(after) = place.page.used() else { return Ok(Vec::new()) };
    drop(tabs);
    let cores = number(after.ticks - before.ticks) / TICKS_PER_SECOND / watched.as_secs_f64();
    let bytes = number(after.bytes);
    let of = |what: &str, ours, limit, ratio| Row::new(what, ours, ("limit", limit), ratio).at_most(1.0);
    Ok(vec![
        of("20 idle tabs", Quantity::Cores(cores), Quantity::Cores(0.01), cores / 0.01),
        of("20 idle tabs, memory", Quantity::Bytes(bytes), Quantity::Bytes(60e6), bytes / 60e6),
    ])
}

fn begin(lab: &Lab<'_>, root: &Path, file: &str) -> Result<(), Failure> {
    let mut command = aiwf(lab, root, "do Measure --provider manual --file")?;
    command.arg(file);
    // It stops where it waits for the reply.
    drop(workspace::capture(&mut command));
    journal_of(root).map(drop)
}

fn journal_of(root: &Path) -> Result<PathBuf, Failure> {
    let entries = std::fs::read_dir(root.join(".aiwf/sessions"));
    let entries = entries.map_err(|error| Failure::io("find the session", &error))?;
    let mut journals = entries.flatten().map(|entry| entry.path().join("journal.jsonl"));
    journals.find(|path| path.is_file()).ok_or_else(|| Failure::new("`aiwf do` made no session"))
}

fn n_bytes(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// Adds events that change nothing, each with the hash of the one before.
fn lengthen(journal: &Path, n_events: usize) -> Result<(), Failure> {
    let io = |error: std::io::Error| Failure::io("lengthen a journal", &error);
    let mut text = std::fs::read_to_string(journal).map_err(io)?;
    let last = text.lines().last().and_then(|line| line.get(11..75)).unwrap_or_default();
    let mut prev = last.to_owned();
    for seq in text.lines().count() + 1..=n_events {
        let body = format!(
            "{{\"v\":1,\"seq\":{seq},\"prev\":\"{prev}\",\"at\":\"2026-01-02T03:04:05Z\",\"event\":{{\"event\":\"budget-raised\"}}}}"
        );
        prev = sha256_hex(&body);
        text.extend(["{\"sha256\":\"", &prev, "\",", body.get(1..).unwrap_or_default(), "\n"]);
    }
    lab::write(journal, &text)
}

fn sha256_hex(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    Sha256::digest(text).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Reads a stream up to a line.
fn wait_for(stream: &mut BufReader<TcpStream>, wanted: &str) -> Result<(), Failure> {
    let mut line = String::new();
    loop {
        line.clear();
        let n_read =
            stream.read_line(&mut line).map_err(|error| Failure::io("read the page's stream", &error))?;
        if n_read == 0 {
            return Err(Failure::new(format!("the page's stream ended before `{wanted}`")));
        }
        if line.trim_end() == wanted {
            return Ok(());
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes of a few megabytes are exact in a float")]
fn number(n: u64) -> f64 {
    n as f64
}
