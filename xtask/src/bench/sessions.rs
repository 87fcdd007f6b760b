//! What sessions cost: looking at one, listing many, approving, and a whole one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::lab::{Lab, create_dir, write};
use crate::bench::table::Row;
use crate::failure::Failure;
use crate::workspace;

const SCHEMA: &str = "CREATE TABLE customer (id BIGINT PRIMARY KEY, tenant_id BIGINT NOT NULL);\n";
const INIT: &str =
    "jpa-mt init --entity Customer --table customer --bounded-context sales --schema-file schema.sql";
const CODE: &str = "<<<FILE: Customer.java>>>\npackage com.example.sales;\n\nclass Customer {}\n";

/// How many sessions the list has.
const N_SESSIONS: usize = 10_000;

fn project(lab: &Lab<'_>, name: &str) -> Result<PathBuf, Failure> {
    let root = lab.build_path(name);
    create_dir(&root.join(".aiwf"))?;
    write(&root.join("schema.sql"), SCHEMA)?;
    Ok(root)
}

fn aiwf(lab: &Lab<'_>, root: &Path, line: &str) -> Result<Command, Failure> {
    let mut command = lab.aiwf()?;
    command.current_dir(root).args(line.split(' '));
    Ok(command)
}

/// `status` against the version.
pub(super) fn status(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    lab.for_each_build(|| {
        let root = project(lab, "status")?;
        workspace::run(&mut aiwf(lab, &root, INIT)?)
    })?;
    let ours = |line: &str| aiwf(lab, &lab.build_path("status"), line);
    let [ours, version] = lab.take_turns(51, [&|| ours("status latest"), &|| ours("--version")])?;
    Ok(vec![Row::of_times("aiwf status", &ours, ("aiwf --version", &version)).at_most(3.0)])
}

/// `list` of many sessions against reading their snapshots.
pub(super) fn list(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    lab.for_each_build(|| write_sessions(lab, &project(lab, "list")?))?;
    let sessions = lab.path("list/.aiwf/sessions");
    let snapshots: Vec<PathBuf> = (0..lab.scaled(N_SESSIONS))
        .map(|number| PathBuf::from(session_id(number)).join("session.json"))
        .collect();
    let out = lab.path("snapshots");
    let ours = || aiwf(lab, &lab.build_path("list"), "list --limit 10");
    let [ours, cat] = lab.take_turns(9, [&ours, &|| lab.cat(&sessions, &snapshots, &out)])?;
    Ok(vec![Row::of_times("aiwf list, 10,000 sessions", &ours, ("cat of the snapshots", &cat)).at_most(3.0)])
}

fn session_id(number: usize) -> String {
    format!("20260101-{number:06}-0000")
}

/// Makes one session with the build in use, and copies of it.
pub(super) fn write_sessions(lab: &Lab<'_>, root: &Path) -> Result<(), Failure> {
    workspace::run(&mut aiwf(lab, root, INIT)?)?;
    let sessions = root.join(".aiwf/sessions");
    let failed = |error: &std::io::Error| Failure::io("copy a session", error);
    let mut entries = fs::read_dir(&sessions)
        .map_err(|error| failed(&error))?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir());
    let first = entries.next().ok_or_else(|| Failure::new("`init` made no session"))?;
    let id = first.file_name().to_string_lossy().into_owned();
    let read = |name: &str| fs::read_to_string(first.path().join(name)).map_err(|error| failed(&error));
    let (journal, snapshot) = (read("journal.jsonl")?, read("session.json")?);
    for number in 0..lab.scaled(N_SESSIONS) {
        let name = session_id(number);
        let directory = sessions.join(&name);
        create_dir(&directory)?;
        write(&directory.join("journal.jsonl"), &journal)?;
        write(&directory.join("session.json"), &snapshot.replace(&id, &name))?;
    }
    Ok(())
}

/// `approve` against writing and syncing as many files as it must.
pub(super) fn approve(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let turn = std::cell::Cell::new(0);
    let scratch = lab.dir("synced")?;
    let [ours, synced] = lab.take_turns(
        21,
        [
            &|| {
                turn.set(turn.get() + 1);
                let root = project(lab, &format!("approve-{}", turn.get()))?;
                workspace::run(&mut aiwf(lab, &root, INIT)?)?;
                aiwf(lab, &root, "approve")
            },
            // One kept prompt and two lines of the journal are synced.
            &|| {
                let mut command = lab.program("sh");
                command.current_dir(&scratch).args([
                    "-c",
                    "for f in 1 2 3; do dd if=/dev/zero of=$f bs=10k count=1 conv=fsync status=none; done",
                ]);
                Ok(command)
            },
        ],
    )?;
    Ok(vec![Row::of_times("aiwf approve (a prompt)", &ours, ("three synced writes of dd", &synced))])
}

/// A whole manual session against as many starts of the program.
pub(super) fn whole(lab: &Lab<'_>) -> Result<Vec<Row>, Failure> {
    let verdict = |verdict: &str, critical: u32| {
        format!(
            "@@@REVIEW_META\nverdict: {verdict}\nissues_total: {critical}\nissues_critical: {critical}\nmissing_inputs: 0\n@@@\n"
        )
    };
    let replies = lab.dir("replies")?;
    for (name, text) in [
        ("1", "# Plan\n".to_owned()),
        ("2", CODE.to_owned()),
        ("3", verdict("FAIL", 1)),
        ("4", CODE.to_owned()),
        ("5", verdict("PASS", 0)),
    ] {
        write(&replies.join(name), &text)?;
    }
    let script = format!(
        "$0 {INIT} && for r in 1 2 3 4 5; do $0 approve && $0 respond --file {}/$r && $0 approve || exit 1; done \
         && $0 status latest && $0 events latest && $0 diff latest && $0 apply latest && $0 verify latest && $0 list",
        replies.display()
    );
    let n_commands = 1 + 5 * 3 + 6;
    let turn = std::cell::Cell::new(0);
    let shell = |script: &str, directory: &Path| {
        let aiwf = lab.aiwf()?;
        let mut command = lab.program("sh");
        command.current_dir(directory).args(["-c", script]).arg(aiwf.get_program());
        Ok(command)
    };
    let starts = format!("for i in $(seq {n_commands}); do $0 --version; done");
    let [ours, started] = lab.take_turns(
        7,
        [
            &|| {
                turn.set(turn.get() + 1);
                shell(&script, &project(lab, &format!("whole-{}", turn.get()))?)
            },
            &|| shell(&starts, &replies),
        ],
    )?;
    let what = format!("a manual session, {n_commands} commands");
    Ok(vec![Row::of_times(&what, &ours, ("as many `--version`", &started))])
}
