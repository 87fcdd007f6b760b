//! `aiwf apply` and `aiwf undo`: what a session made, into the project and back.

use std::io::Write as _;
use std::path::PathBuf;

use aiwf_engine::{ApplyChange, ApplyOptions, ApplyReport, Engine, SessionError, SessionRef};
use clap::Args;

use super::session::SessionId;
use crate::call_args::TrustArgs;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(super) session: SessionId,
    /// A directory in place of the profile's targets.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Only show what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Replace files that exist with other content; each is kept as FILE.orig.
    #[arg(long)]
    force: bool,
    /// Merge files that changed meanwhile, where that is clean.
    #[arg(long)]
    merge: bool,
    /// Put the result on a new branch instead [default name: aiwf/ and the request].
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with_all = ["to", "force"])]
    branch: Option<String>,
    /// Commit the result.
    #[arg(long, conflicts_with = "to")]
    commit: bool,
    #[command(flatten)]
    pub(super) trust: TrustArgs,
}

impl ApplyArgs {
    /// How to apply, as the flags say.
    pub(super) fn options(&self) -> ApplyOptions {
        ApplyOptions {
            to: self.to.clone(),
            is_dry_run: self.dry_run,
            is_forced: self.force,
            merges: self.merge,
            branch: self.branch.clone(),
            commits: self.commit,
            refuses_self_running: false,
        }
    }
}

pub(super) fn apply(
    which: SessionRef<'_>,
    options: &ApplyOptions,
    engine: &Engine,
    output: &Output<'_>,
) -> Result<Exit, Failure> {
    let outcome = engine.apply(which, options);
    if let Ok(report) = &outcome {
        warn_about(report);
    }
    if let Err(SessionError::Conflicts { report }) = &outcome {
        show_conflicts(report, output);
    }
    let report = outcome?;
    if output.is_json() {
        return output.json(&report, Exit::Done);
    }
    output::print(|out| {
        for file in &report.files {
            match file.change {
                ApplyChange::Same => writeln!(out, "{}: already there", file.target)?,
                ApplyChange::New
                | ApplyChange::Changed
                | ApplyChange::Deleted
                | ApplyChange::Merged
                | ApplyChange::Conflict => {
                    out.write_all(file.diff.as_bytes())?;
                }
            }
        }
        let n_changed = report.files.iter().filter(|file| file.change != ApplyChange::Same).count();
        let verb = if report.applied { "written" } else { "would be written" };
        if let Some(branch) = &report.branch {
            writeln!(out, "branch    {}", escaped_line(branch))?;
        }
        if let Some(commit) = &report.commit {
            writeln!(out, "commit    {}", commit.get(..12).unwrap_or(commit))?;
        }
        writeln!(out, "{n_changed} of {} files {verb}", report.files.len())
    })?;
    Ok(Exit::Done)
}

pub(super) fn undo(which: SessionRef<'_>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let report = engine.undo(which)?;
    if output.is_json() {
        return output.json(&report, Exit::Done);
    }
    output::print(|out| {
        report.files.iter().try_for_each(|file| writeln!(out, "put back  {}", escaped_line(file)))?;
        match &report.commit {
            Some(commit) => writeln!(out, "commit    {}", commit.get(..12).unwrap_or(commit)),
            None => Ok(()),
        }
    })?;
    Ok(Exit::Done)
}

/// Warns of what a long diff may hide.
pub(crate) fn warn_about(report: &ApplyReport) {
    warn_outdated(report);
    warn_self_running(report);
}

/// Shows the differences that are in the way.
pub(super) fn show_conflicts(report: &ApplyReport, output: &Output<'_>) {
    warn_outdated(report);
    if !output.is_json() {
        // The refusal is what counts; whoever does not read the differences still gets it.
        drop(output::print(|out| {
            report.conflicts().try_for_each(|file| out.write_all(file.diff.as_bytes()))
        }));
    }
}

/// Names the files that take effect without anybody starting them, which a long diff may hide.
fn warn_self_running(report: &ApplyReport) {
    let files: Vec<String> = report
        .files
        .iter()
        .filter(|file| file.change != ApplyChange::Same)
        .filter_map(|file| Some(format!("{} ({})", file.target, file.run_by?)))
        .collect();
    if !files.is_empty() {
        output::warn(&format!("tools run these files by themselves\n  {}", files.join("\n  ")));
    }
}

/// Says that the code was made from something that is no longer so.
fn warn_outdated(report: &ApplyReport) {
    if !report.outdated.is_empty() {
        let files = report.outdated.join("\n  ");
        output::warn(&format!("these are outdated: what they were made from changed later\n  {files}"));
    }
}
