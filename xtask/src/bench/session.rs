//! Building a session's prompt from its folder: against `cat`, in memory, and as the session grows.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::corpus::{prose, write_corpus};
use crate::bench::lab::{self, Lab};
use crate::bench::table::Row;
use crate::failure::Failure;

const FILE_BYTES: usize = 4 * 1024;
const MEGABYTE: usize = 1_000_000;
const CODE_DIR: &str = "iteration-1/code";

/// A session folder as a review finds it.
struct SessionFiles {
    dir: PathBuf,
    profile_prompt: PathBuf,
    /// All that goes into the prompt, relative to the folder.
    files: Vec<PathBuf>,
}

pub(super) fn session(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let files = write_session(lab, "session", 1000, MEGABYTE)?;
    let out = lab.path("session.prompt");
    let cat_out = lab.path("session.cat");
    let [ours, cat] =
        lab.take_turns(15, [&|| build(lab, &files, &out), &|| lab.cat(&files.dir, &files.files, &cat_out)])?;
    let prompt_bytes = bytes(lab::size(&out)?);
    let usage = lab.usage(&|| build(lab, &files, &out))?;
    let peak = usage.as_ref().map(|[peak, _]| peak);
    let memory = Row::of_memory(peak, "prompt", prompt_bytes).at_most(4.0);
    Ok(vec![Row::of_times("1,000 files + 2 MB", &ours, ("cat", &cat)).at_most(2.0), memory])
}

/// Ten times the files may cost twelve times the time.
pub(super) fn session_linear(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    // Small plans, so that the files are what is measured.
    let [hundred, thousand, ten_thousand] = [100, 1000, 10_000]
        .map(|n_files| write_session(lab, &format!("session-{n_files}"), n_files, FILE_BYTES));
    let (hundred, thousand, ten_thousand) = (hundred?, thousand?, ten_thousand?);
    // One output each: cutting down a large file left by another turn would count as work.
    let out = |files: &SessionFiles| files.dir.with_extension("prompt");
    let build_small = || build(lab, &hundred, &out(&hundred));
    let build_middle = || build(lab, &thousand, &out(&thousand));
    let build_large = || build(lab, &ten_thousand, &out(&ten_thousand));
    let [small, middle, large] = lab.take_turns(9, [&build_small, &build_middle, &build_large])?;
    Ok(vec![
        Row::of_times("1,000 files", &middle, ("100 files", &small)).at_most(12.0),
        Row::of_times("10,000 files", &large, ("1,000 files", &middle)).at_most(12.0),
    ])
}

fn write_session(
    lab: &Lab<'_>,
    name: &str,
    n_files: usize,
    plan_bytes: usize,
) -> Result<SessionFiles, Failure> {
    let dir = lab.dir(name)?;
    let code = write_corpus(&dir.join(CODE_DIR), lab.scaled(n_files), |_| FILE_BYTES)?;
    let texts = ["plan.md", "standards-bundle.md"];
    for (seed, text) in (1..).zip(texts) {
        lab::write(&dir.join(text), &prose(seed, plan_bytes))?;
    }
    let profile_prompt = lab.path("profile-prompt.md");
    lab::write(&profile_prompt, "Review the code against the plan and the standards.\n")?;
    let code_files = code.files.iter().map(|file| Path::new(CODE_DIR).join(file));
    let files = texts.iter().map(PathBuf::from).chain(code_files).collect();
    Ok(SessionFiles { dir, profile_prompt, files })
}

fn build(lab: &Lab<'_>, files: &SessionFiles, out: &Path) -> Result<Command, Failure> {
    let mut command = lab.aiwf()?;
    command.args(["prompt", "build", "session", "--phase", "reviewing", "--iteration", "1"]);
    command.arg("--session-dir").arg(&files.dir);
    command.arg("--profile-prompt").arg(&files.profile_prompt);
    command.arg("--out").arg(out);
    Ok(command)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of a few megabytes are exact in a float")]
fn bytes(n: u64) -> f64 {
    n as f64
}
