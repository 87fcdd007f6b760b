//! Makes a worktree of a project and prints how long that takes, and what differs in it: `worktree PROJECT DIRECTORY`.
//!
//! Run it twice: the second time it opens the worktree that is there.

#![expect(clippy::print_stdout, reason = "an example shows what it made")]

use std::path::PathBuf;
use std::time::Instant;

use aiwf_process::Stop;
use aiwf_worktree::{CreateOptions, Worktree};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(project), Some(at)) = (arguments.next(), arguments.next()) else {
        return Err("give a project and a directory for the worktree".into());
    };
    let stop = Stop::default();
    let started_at = Instant::now();
    let worktree = match Worktree::open(&at)? {
        Some(worktree) => worktree,
        None => Worktree::create(&project, &at, &CreateOptions::default(), &stop)?,
    };
    println!("{} after {:?}", worktree.root().display(), started_at.elapsed());
    let started_at = Instant::now();
    let changes = worktree.changes(&stop)?;
    println!("{} changes after {:?}", changes.changes.len(), started_at.elapsed());
    for change in changes.changes {
        println!("  {} {:?}", change.path, change.kind);
    }
    Ok(())
}
