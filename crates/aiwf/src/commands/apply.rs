//! `aiwf apply` and `aiwf undo`: write a session's result into the project, and restore it.

use std::io::Write as _;
use std::path::PathBuf;

use aiwf_engine::{ApplyChange, ApplyOptions, ApplyReport, Engine, Overlap, SessionError, SessionRef};
use clap::Args;

use super::session::SessionId;
use crate::call_args::TrustArgs;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::session_output;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(super) session: SessionId,
    /// Copy into this directory instead of the profile's targets.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Show what would be written, without writing.
    #[arg(long)]
    dry_run: bool,
    /// Replace existing files that differ, keeping each as FILE.orig.
    #[arg(long)]
    force: bool,
    /// Merge files that changed in the meantime, if they merge cleanly.
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
    // Somebody else's plan is known before anything is written.
    warn_overlaps(&engine.overlaps_before_apply(which)?);
    let outcome = engine.apply(which, options);
    if let Ok(report) = &outcome {
        warn_about(report);
    }
    if let Err(SessionError::Conflicts { report, .. }) = &outcome {
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
        report.files.iter().try_for_each(|file| writeln!(out, "restored  {}", escaped_line(file)))?;
        match &report.commit {
            Some(commit) => writeln!(out, "commit    {}", commit.get(..12).unwrap_or(commit)),
            None => Ok(()),
        }
    })?;
    Ok(Exit::Done)
}

/// Warns about changes that are easy to miss in a long diff.
pub(crate) fn warn_about(report: &ApplyReport) {
    warn_outdated(report);
    warn_self_running(report);
}

/// Names the other sessions that plan to write the same files.
pub(crate) fn warn_overlaps(overlaps: &[Overlap]) {
    for overlap in overlaps {
        output::warn(&escaped_line(&session_output::overlap(overlap)));
    }
}

/// Shows the differences that are in the way.
pub(super) fn show_conflicts(report: &ApplyReport, output: &Output<'_>) {
    warn_outdated(report);
    if !output.is_json() {
        // The refusal is the result, even if the diff could not be printed.
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
        output::warn(&format!("tools run these files automatically\n  {}", files.join("\n  ")));
    }
}

/// Says that the code was made from something that is no longer so.
fn warn_outdated(report: &ApplyReport) {
    if !report.outdated.is_empty() {
        let files = report.outdated.join("\n  ");
        output::warn(&format!("these files are outdated, because their inputs have changed\n  {files}"));
    }
}
