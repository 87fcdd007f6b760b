//! The book: every command in `docs/src/` is run, and what it prints is what the page shows.
//!
//! A block marked `console` holds commands (`$ …`, gone on with by `> …`) and their output; a block with
//! `file=PATH` is written to that path when its place is reached; `one` says that only its first line is a command. A chapter is one project, from its first line to
//! its last. Ids, times, hashes and ports may differ; a line `…` stands for any number of lines; an exit code
//! that is not 0 stands below the output. `AIWF_BOOK=write` puts in what is printed now.

#![expect(clippy::disallowed_methods, reason = "the book's own files are read, and written when asked for")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use aiwf_testkit::TestProject;
use regex_lite::Regex;

use crate::book_agents::{change_stand_ins, stand_ins, workflow_stand_in};

macro_rules! chapters {
    ($(fn $name:ident() => $file:literal $(with $set_up:ident)?,)*) => {
        $(
            #[test]
            fn $name() {
                let project = reader();
                $($set_up(&project);)?
                walk($file, &project);
            }
        )*
        /// The chapters with something to run.
        const RUN: &[&str] = &[$($file),*];
    };
}

chapters! {
    fn agents() => "agents.md" with stand_ins,
    fn anatomy() => "anatomy.md",
    fn bring() => "bring.md",
    fn budgets() => "budgets.md",
    fn caching() => "caching.md",
    fn changes() => "changes.md" with change_stand_ins,
    fn checks() => "checks.md",
    fn comments() => "comments.md",
    fn files() => "files.md",
    fn first_change() => "first-change.md" with git_user,
    fn flows() => "flows.md",
    fn gates() => "gates.md",
    fn getting_started() => "getting-started.md",
    fn mcp() => "mcp.md",
    fn packages() => "packages.md",
    fn page() => "page.md",
    fn profiles() => "profiles.md",
    fn prompts() => "prompts.md",
    fn recording() => "recording.md",
    fn scripting() => "scripting.md",
    fn security() => "security.md",
    fn standards() => "standards.md",
    fn testing() => "testing.md",
    fn web_chat() => "web-chat.md",
    fn workflows() => "workflows.md" with workflow_stand_in,
}

fn source_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

/// A reader's machine: `aiwf` is on the path, and nothing else that is not everywhere.
fn reader() -> TestProject {
    TestProject::new("/bin/sh").link("~/bin/aiwf", env!("CARGO_BIN_EXE_aiwf"))
}

/// Gives the reader a name, without which git makes no commit.
fn git_user(project: &TestProject) {
    project.write("~/.gitconfig", "[user]\n\tname = Me\n\temail = me@example.com\n");
}

/// A fenced block of a chapter.
struct Block {
    info: String,
    /// The index of the first line inside.
    start: usize,
    lines: Vec<String>,
}

impl Block {
    fn has(&self, word: &str) -> bool {
        self.info.split(',').any(|part| part == word)
    }

    fn file(&self) -> Option<&str> {
        self.info.split(',').find_map(|part| part.strip_prefix("file="))
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, Block)> = None;
    for (idx, line) in text.lines().enumerate() {
        match &mut open {
            Some((fence, block)) => {
                if line == fence {
                    blocks.extend(open.take().map(|(_, block)| block));
                } else {
                    block.lines.push(line.to_owned());
                }
            }
            None if line.starts_with("```") => {
                let info = line.trim_start_matches('`');
                let fence = "`".repeat(line.len() - info.len());
                open = Some((fence, Block { info: info.to_owned(), start: idx + 1, lines: Vec::new() }));
            }
            None => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// A command and what the page says it prints.
#[derive(Default)]
struct Step {
    shown: Vec<String>,
    command: String,
    expected: Vec<String>,
}

fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in &block.lines {
        // What the demo prints has such lines, too.
        let is_output = block.has("one") && !steps.is_empty();
        if let Some(command) = line.strip_prefix("$ ").filter(|_| !is_output) {
            steps.push(Step { shown: vec![line.clone()], command: command.to_owned(), expected: Vec::new() });
        } else {
            assert!(!steps.is_empty(), "a block begins with a command, not with `{line}`");
            let step = steps.last_mut().unwrap();
            match line.strip_prefix("> ").filter(|_| step.expected.is_empty()) {
                Some(more) => {
                    step.shown.push(line.clone());
                    step.command = format!("{}\n{more}", step.command);
                }
                None => step.expected.push(line.clone()),
            }
        }
    }
    steps
}

/// Runs a chapter from its first block to its last.
fn walk(file: &str, project: &TestProject) {
    let path = source_dir().join(file);
    let text = fs::read_to_string(&path).unwrap();
    let mut written: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_writing = std::env::var_os("AIWF_BOOK").is_some_and(|word| word == "write");
    let mut directory = String::new();
    let mut differences = String::new();
    let mut n_added = 0_isize;
    for block in blocks(&text) {
        if let Some(target) = block.file() {
            let lines = block.lines.join("\n") + "\n";
            project.write(&Path::new(&directory).join(target).to_string_lossy(), lines);
            continue;
        }
        if !block.has("console") || block.has("no_run") {
            continue;
        }
        let mut printed = Vec::new();
        for step in steps(&block) {
            printed.extend(step.shown.clone());
            if let Some(target) = step.command.strip_prefix("cd ") {
                directory = Path::new(&directory).join(target).to_string_lossy().into_owned();
                assert!(project.path(&directory).is_dir(), "{file}: there is no `{directory}`");
                continue;
            }
            let actual = run(project, &directory, &step.command);
            let is_whole = !step.expected.iter().any(|line| line.trim() == "…");
            if is_shown_by(&step.expected, &actual) {
                // Written anew as a whole, a page has the ids of one run.
                printed.extend(if is_writing && is_whole { actual } else { step.expected });
            } else {
                let (was, is) = (step.expected.join("\n"), actual.join("\n"));
                let command = &step.command;
                let _ = write!(differences, "$ {command}\n--- the page\n{was}\n--- the run\n{is}\n\n");
                printed.extend(actual);
            }
        }
        let start = usize::try_from(isize::try_from(block.start).unwrap() + n_added).unwrap();
        n_added += isize::try_from(printed.len()).unwrap() - isize::try_from(block.lines.len()).unwrap();
        written.splice(start..start + block.lines.len(), printed);
    }
    if is_writing {
        fs::write(&path, written.join("\n") + "\n").unwrap();
    } else {
        assert!(
            differences.is_empty(),
            "{file} is out of date (`AIWF_BOOK=write` puts in what is printed):\n\n{differences}"
        );
    }
}

/// What a command prints, as a reader would see it.
fn run(project: &TestProject, directory: &str, command: &str) -> Vec<String> {
    let path = format!("{}:/usr/bin:/bin", project.home().join("bin").display());
    let script = format!("exec 2>&1\n{command}");
    let run = project.command_args(["-c", &script]).env("PATH", path).env("USER", "me").in_dir(directory);
    let outcome = run.run();
    let text = outcome
        .stdout_text()
        .replace("[project]", "/home/me/project")
        .replace("[home]", "/home/me")
        .replace(&*project.root().to_string_lossy(), "/home/me/project")
        .replace(&*project.home().to_string_lossy(), "/home/me");
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    if outcome.exit_code() != 0 {
        lines.push(format!("(exit code {})", outcome.exit_code()));
    }
    lines
}

/// Whether a page's lines show what was printed.
fn is_shown_by(expected: &[String], actual: &[String]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=actual.len()).any(|n_skipped| is_shown_by(rest, &actual[n_skipped..]))
        }
        Some((first, rest)) => match actual.split_first() {
            Some((line, more)) => steady(first) == steady(line) && is_shown_by(rest, more),
            None => false,
        },
    }
}

/// A line without what differs from run to run.
fn steady(line: &str) -> String {
    const CHANGING: &[(&str, &str)] = &[
        (r"\d{8}-\d{6}-[0-9a-f]{4}", "[id]"),
        (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z| UTC)?", "[time]"),
        (r"[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d{2}:\d{2}:\d{2} \d{4} [+-]\d{4}", "[time]"),
        (r"\b[0-9a-f]{64}\b", "[sha256]"),
        (r"\b[0-9a-f]{40}\b", "[commit]"),
        (r"^\* [0-9a-f]{7,40} ", "* [commit] "),
        (r"\b[0-9a-f]{8,16}\b", "[hash]"),
        (r"\b\d+(\.\d+)? ?(ms|s)\b", "[duration]"),
        (r"127\.0\.0\.1:\d+", "[address]"),
    ];
    CHANGING.iter().fold(line.trim_end().to_owned(), |line, (pattern, name)| {
        Regex::new(pattern).unwrap().replace_all(&line, *name).into_owned()
    })
}

/// The pages that the summary links, in order.
fn pages() -> Vec<String> {
    let summary = fs::read_to_string(source_dir().join("SUMMARY.md")).unwrap();
    let link = Regex::new(r"\]\(([^)]+\.md)\)").unwrap();
    link.captures_iter(&summary).map(|found| found[1].to_owned()).collect()
}

#[test]
fn every_page_is_in_the_summary_and_every_command_is_run() {
    let pages = pages();
    for page in &pages {
        let text = fs::read_to_string(source_dir().join(page)).unwrap_or_default();
        assert!(text.starts_with("# "), "{page} is missing or has no title");
        let lines: Vec<&str> = text.lines().collect();
        for block in blocks(&text) {
            let language = block.info.split(',').next().unwrap_or_default();
            assert!(!["sh", "bash", "shell"].contains(&language), "{page}: mark commands `console`");
            if let Some(file) = block.file() {
                let before: Vec<&str> = lines[..block.start - 1].iter().rev().take(4).copied().collect();
                let is_named = before.join("\n").contains(&format!("`{file}`"));
                assert!(is_named, "{page}: name `{file}` before its block, for who reads it");
            }
            if block.has("no_run") {
                let before = lines[..block.start - 1].iter().rev().find(|line| !line.is_empty());
                let has_reason = before.is_some_and(|line| line.starts_with("<!-- not run: "));
                assert!(has_reason, "{page}: say why with `<!-- not run: … -->` before the block");
            } else if language == "console" {
                assert!(
                    RUN.contains(&page.as_str()),
                    "{page} has commands and is not run; add it to book.rs"
                );
            }
        }
    }
    for page in RUN {
        assert!(pages.iter().any(|known| known == page), "{page} is not in SUMMARY.md");
    }
    for entry in fs::read_dir(source_dir()).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_page = Path::new(&name).extension().is_some_and(|end| end == "md");
        assert!(!is_page || name == "SUMMARY.md" || pages.contains(&name), "{name} is not in SUMMARY.md");
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)#:]+)(#[^)]*)?\)").unwrap();
    for page in pages() {
        let path = source_dir().join(&page);
        let text = fs::read_to_string(&path).unwrap_or_default();
        for include in Regex::new(r"\{\{#include ([^}]+)\}\}").unwrap().captures_iter(&text) {
            let file = include[1].split(':').next().unwrap_or_default();
            assert!(source_dir().join(file).is_file(), "{page} includes {file}");
        }
        for found in link.captures_iter(&text) {
            let target = path.parent().unwrap().join(&found[1]);
            assert!(target.exists(), "{page} links to {}, which is not there", &found[1]);
        }
    }
}

#[test]
fn the_picture_shows_what_the_demo_prints() {
    let project = reader();
    let story: Vec<String> = run(&project, "", "aiwf demo").iter().map(|line| steady(line)).collect();
    let svg = fs::read_to_string(source_dir().join("demo.svg")).unwrap();
    let line = Regex::new(r">([^<]+)</text>").unwrap();
    let shown: Vec<String> = line
        .captures_iter(&svg)
        .map(|found| found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        .collect();
    assert!(shown.len() > 20, "{shown:?}");
    for line in shown.iter().skip(1).filter(|line| *line != "…") {
        // A long line is cut, sometimes in the middle of a hash.
        let (begin, is_cut) = line.strip_suffix('…').map_or((line.as_str(), false), |begin| (begin, true));
        let begin = if is_cut { begin.rsplit_once(' ').map_or(begin, |(begin, _)| begin) } else { begin };
        let begin = steady(begin);
        let is_printed =
            story.iter().any(|told| if is_cut { told.starts_with(&begin) } else { *told == begin });
        assert!(is_printed, "the demo does not print `{line}`; `cargo xtask docs` draws it anew");
    }
}

#[test]
fn a_page_shows_a_run_when_only_what_changes_differs() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let shown = lines("session 20260101-000000-abcd\n…\nlast");
    assert!(is_shown_by(&shown, &lines("session 20261116-031721-b6fe\na\nb\nlast")));
    assert!(is_shown_by(&shown, &lines("session 20261116-031721-b6fe\nlast")));
    assert!(!is_shown_by(&shown, &lines("session other\nlast")));
    assert!(!is_shown_by(&shown, &lines("session 20261116-031721-b6fe\nlast\nmore")));
}
