//! `aiwf demo`: a change from request to commit in a fresh directory, with recorded answers: no key, no network, no
//! server.
//!
//! It makes the decisions that a person would make and prints the command for each. `--profile` shows a session of a
//! profile instead.

mod profile;
mod sample;
mod story;

use std::path::{Path, PathBuf};

use aiwf_engine::machine::Delivery;
use aiwf_engine::prompt::Sha256Hex;
use aiwf_engine::{
    ApplyChange, ApplyOptions, ApplyReport, ApproveOptions, CheckReport, Engine, NewRequest, SessionReport,
    SessionStatus,
};
use clap::Args;
use serde_json::json;

use self::sample::{CONFIG, File};
use self::story::{Story, shell_word};
use crate::escape::escaped;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Where the sample is made when no directory is named.
const DIRECTORY: &str = "aiwf-demo";

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Directory to create [default: aiwf-demo].
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Show a session of a profile instead: JPA code from a table.
    #[arg(long)]
    profile: bool,
    /// The same as DIR.
    #[arg(long, hide = true, value_name = "DIR", conflicts_with = "directory")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(args: &DemoArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let directory = args.directory.clone().or_else(|| args.dir.clone()).unwrap_or_else(|| DIRECTORY.into());
    if args.profile {
        return profile::run(&directory, engine, output);
    }
    let demo = Demo::make(&directory, engine, output)?;
    demo.run(output)
}

macro_rules! todo_list {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_bytes!(concat!("../../../../examples/todo/", $path)))),*]
    };
}

/// The sample project.
static PROJECT: &[File] = todo_list!["project/README.md", "project/tests.sh", "project/todo.sh"];

/// The recorded answers; `cargo xtask record-demo` records them again after a prompt has changed.
static CASSETTE: &[File] = todo_list![
    "cassette/plan-1.json",
    "cassette/implement-1.json",
    "cassette/implement-2.json",
    "cassette/review-2.json",
];

/// The files that the agent of the recordings wrote; a recording names them by their hash.
static WRITTEN: &[&str] = &[
    include_str!("../../../../examples/todo/answers/2-implement/README.md"),
    include_str!("../../../../examples/todo/answers/2-implement/tests.sh"),
    include_str!("../../../../examples/todo/answers/2-implement/todo.sh"),
    include_str!("../../../../examples/todo/answers/3-implement/todo.sh"),
];

/// The recordings answer only this request.
const REQUEST: &str = include_str!("../../../../examples/todo/request.txt");
const CHECK: &str = "sh tests.sh";

/// A session needs fewer decisions than this.
const MAX_DECISIONS: usize = 8;
/// How many lines of the plan are shown.
const N_LINES: usize = 4;

/// The sample project, and the progress of the demo.
struct Demo {
    engine: Engine,
    directory: String,
    /// Whether the result goes to a branch: only where git is installed.
    has_git: bool,
    story: Story,
}

impl Demo {
    fn make(directory: &Path, engine: &Engine, output: &Output<'_>) -> Result<Self, Failure> {
        let written = WRITTEN.iter().map(|text| {
            let sha256 = Sha256Hex::of([*text]);
            (format!(".aiwf/cassette/files/{sha256}"), text.as_bytes())
        });
        let cassette = CASSETTE.iter().map(|(name, bytes)| (format!(".aiwf/{name}"), *bytes));
        let config = [(".aiwf/config.toml", CONFIG), (".aiwf/.gitignore", "/sessions/\n")]
            .map(|(path, text)| (path.to_owned(), text.as_bytes()));
        let project =
            PROJECT.iter().map(|(path, bytes)| (path.trim_start_matches("project/").to_owned(), *bytes));
        let files: Vec<(String, &[u8])> = project.chain(cassette).chain(written).chain(config).collect();
        let engine = sample::make(directory, files.iter().cloned(), engine)?;
        let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        let has_git = engine.create_repository(&paths, "A to-do list for the shell")?;
        let directory = shell_word(&directory.display().to_string());
        Ok(Self { engine, directory, has_git, story: Story::new(output.is_json()) })
    }

    fn run(mut self, output: &Output<'_>) -> Result<Exit, Failure> {
        self.begin();
        let branch = self.has_git.then(String::new);
        let created = self.engine.begin_flow(&NewRequest {
            flow: "do".to_owned(),
            request: REQUEST.trim_end().to_owned(),
            checks: vec![CHECK.to_owned()],
            delivery: Delivery { branch, commits: false },
            ..NewRequest::default()
        })?;
        let id = created.id;
        self.engine.run_session(Some(&id))?;
        for _ in 0..MAX_DECISIONS {
            let report = self.engine.session_report(Some(&id))?;
            if report.stage.is_none() {
                break;
            }
            self.gate(&report)?;
            self.story.command("approve");
            self.engine.approve(Some(&id), &ApproveOptions::default())?;
        }
        let report = self.engine.session_report(Some(&id))?;
        if report.status != SessionStatus::Complete {
            return Err(Failure::bug("the demo did not finish as expected"));
        }
        let applied = self.apply(&id)?;
        let verified = self.engine.verify(Some(&id))?;
        if !verified.differences.is_empty() {
            return Err(Failure::bug("the demo did not finish as expected"));
        }
        if output.is_json() {
            let value = json!({
                "directory": self.engine.settings().project_root,
                "session": report,
                "branch": applied.branch,
                "commit": applied.commit,
                "events": verified.n_events,
            });
            return output.json(value, Exit::Done);
        }
        self.story
            .say("\nThe journal has every prompt, reply and decision; hashes show that nothing changed.\n");
        self.story.command("verify");
        self.story.say(&format!("  {}\n", super::journal::summary(&verified)));
        self.end(&applied);
        self.story.end()
    }

    fn begin(&mut self) {
        let Self { directory, has_git, .. } = self;
        let (repository, branch) = if *has_git {
            (",\na git repository of its own", " --branch")
        } else {
            ("; git is\nnot installed, so there is no branch", "")
        };
        let request = REQUEST.trim_end();
        let text = format!(
            "`aiwf do` makes a change in a repository. Here is one from request to commit,\n\
             offline: recorded replies stand in for an agent. On a terminal `aiwf do` asks you\n\
             at each gate; the demo shows the command for each decision instead.\n\
             \n\
             The project is a to-do list in shell script, in {directory}{repository}.\n\
             \n\
             $ cd {directory}\n\
             $ aiwf do '{request}' --check '{CHECK}'{branch}\n"
        );
        self.story.say(&text);
    }

    /// Tells what happened before a gate, and shows what is decided there.
    fn gate(&mut self, report: &SessionReport) -> Result<(), Failure> {
        let phase = report.phase.as_str();
        let id = Some(report.session_id.as_str());
        let reply = || -> Result<String, Failure> { Ok(self.engine.session_file(id, "response")?.1) };
        match (phase, report.checks.first()) {
            ("plan", _) => {
                let plan = reply()?;
                self.story.say("\nThe agent proposes a plan. No code is written before you approve it.\n\n");
                self.story.quote(plan.lines().take(N_LINES).chain(["…"]));
            }
            ("implement", None) => {
                self.story.say(
                    "\nThe agent has edited files in a worktree, a copy outside the project. `aiwf do`\n\
                     shows you the diff; your own files are unchanged.\n\n",
                );
                self.show_changes(id)?;
            }
            ("implement", Some(check)) => {
                let failed = self.failures(id, check)?;
                self.story
                    .say("\nThe check runs in the worktree. It fails, and the agent gets its output.\n\n");
                self.story.say(&format!("  {}: {}\n", check.command, check.outcome));
                self.story.quote(failed.iter().map(String::as_str));
                self.story.say("\nThe agent has fixed the code in a second round.\n\n");
                self.show_changes(id)?;
            }
            (_, check) => {
                let review = reply()?;
                let verdict = review.lines().next_back().unwrap_or_default();
                self.story.say(
                    "\nThe check passes. A review compares the result with the request and the plan.\n\n",
                );
                if let Some(check) = check {
                    self.story.say(&format!("  {}: {}\n", check.command, check.outcome));
                }
                self.story.quote(review.lines().take(1).chain(["…", verdict]));
            }
        }
        Ok(())
    }

    /// How many lines the reply at the gate adds and removes, for each file.
    fn show_changes(&mut self, id: Option<&str>) -> Result<(), Failure> {
        let diff = self.engine.pending_diff(id)?.unwrap_or_default();
        let mut files: Vec<(&str, usize, usize)> = Vec::new();
        for line in diff.lines() {
            if let Some(path) = line.strip_prefix("+++ ") {
                files.push((path.strip_prefix("b/").unwrap_or(path), 0, 0));
            } else if let Some(file) = files.last_mut().filter(|_| !line.starts_with("--- ")) {
                file.1 += usize::from(line.starts_with('+'));
                file.2 += usize::from(line.starts_with('-'));
            }
        }
        for (path, n_added, n_removed) in files {
            self.story.say(&format!("  {path:12} +{n_added} -{n_removed}\n"));
        }
        Ok(())
    }

    /// The failure in a check's output.
    fn failures(&self, id: Option<&str>, check: &CheckReport) -> Result<Vec<String>, Failure> {
        let (_, printed) = self.engine.session_file(id, &check.output)?;
        let is_told = |line: &&str| line.starts_with("FAILED") || line.starts_with(' ');
        Ok(printed.lines().filter(is_told).map(escaped).collect())
    }

    fn apply(&mut self, id: &str) -> Result<ApplyReport, Failure> {
        let applied = self.engine.apply(Some(id), &ApplyOptions::default())?;
        self.story.say(if applied.branch.is_some() {
            "\nThe review passed. The result becomes a commit on a new branch; your checkout is\nunchanged.\n"
        } else {
            "\nThe review passed. The result is written into the project, all files or none.\n"
        });
        self.story.command("apply");
        for file in applied.files.iter().filter(|file| file.change != ApplyChange::Same) {
            self.story.say(&format!("  changed   {}\n", file.target));
        }
        if let Some(branch) = &applied.branch {
            let commit = applied.commit.as_deref().unwrap_or_default();
            self.story.say(&format!("  branch    {branch}\n"));
            self.story.say(&format!("  commit    {}\n", commit.get(..12).unwrap_or(commit)));
        }
        Ok(applied)
    }

    fn end(&mut self, applied: &ApplyReport) {
        let directory = &self.directory;
        let merge = match &applied.branch {
            Some(branch) => format!("merge it:         git merge {branch}\n"),
            None => String::new(),
        };
        let text = format!(
            "\nexplore:          cd {directory}; aiwf events; aiwf show plan; aiwf diff\n\
             {merge}\
             undo it:          aiwf undo\n\
             your repository:  aiwf do 'what should change'\n\
             a profile:        aiwf demo --profile shop\n"
        );
        self.story.say(&text);
    }
}
