//! The slow suite `faults`: every command that changes a session, a change, a profile, a run or a repository, disturbed at every
//! call that changes the disk.
//!
//! For each such call once the process is killed there, and once the call fails. Afterwards the journal must be
//! intact, `status` must work, no profile may be broken, and running the command again must lead where an undisturbed
//! run leads. A second part lets two processes race for one session. `AIWF_FAULTS=WORD` takes only the cases with that
//! word in their names. The commands about a repository make so many calls that an even sample of theirs is taken, unless
//! `AIWF_FAULTS_EVERY_CALL` is set.

mod changes;
mod runs;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;

use crate::failure::Failure;
use crate::workspace::{self, Workspace, is_installed};

/// The calls that change the disk.
const CALLS: [&str; 13] = [
    "write",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "linkat",
    "mkdir",
    "mkdirat",
    "unlink",
    "unlinkat",
    "ftruncate",
    "rmdir",
];
/// What each call fails with when it is made to fail.
const FULL: &str = "ENOSPC";
const BROKEN: &str = "EIO";
/// The variable that asks for every call where a sample is taken.
const EVERY_CALL: &str = "AIWF_FAULTS_EVERY_CALL";
/// Rounds of two processes racing for one session.
const RACES: usize = 100;
/// How many faults are tried at the same time.
const WORKERS: usize = 4;

const INIT: &[&str] = &[
    "jpa-mt",
    "init",
    "--entity",
    "Customer",
    "--table",
    "customer",
    "--bounded-context",
    "sales",
    "--schema-file",
    "schema.sql",
];
const SCHEMA: &str = "CREATE TABLE customer (id BIGINT PRIMARY KEY, tenant_id BIGINT NOT NULL);\n";
const CODE: &str = "<<<FILE: Customer.java>>>\npackage com.example.sales;\n\nclass Customer {}\n";
const PASS: &str =
    "@@@REVIEW_META\nverdict: PASS\nissues_total: 0\nissues_critical: 0\nmissing_inputs: 0\n@@@\n";

const FAIL: &str =
    "@@@REVIEW_META\nverdict: FAIL\nissues_total: 1\nissues_critical: 1\nmissing_inputs: 0\n@@@\n";
/// One iteration, so that the first failed review pauses the session.
const ONE_ITERATION: &str = "[session]\nmax_iterations = 1\n";
/// A profile of the project, to be added to the installed ones.
const PROFILE: &str = ".aiwf/profiles/notes";

/// A command to disturb, and how a project gets to where it makes sense.
struct Case {
    name: &'static str,
    before: &'static [Act],
    words: &'static [&'static str],
    stdin: &'static str,
}

/// One step on the way to a case.
#[derive(Clone, Copy)]
enum Act {
    Init,
    Approve,
    Respond(&'static str),
    /// Somebody changes the approved plan.
    EditPlan,
    /// Somebody allows one iteration only.
    AllowOne,
    /// An approval that leaves the session paused.
    Pause,
    NewProfile,
    AddProfile,
    /// Somebody changes the project's profile.
    EditProfile,
    /// A command about the change, which may leave it waiting.
    Change(&'static [&'static str]),
    /// A reply for the change.
    Reply(&'static str),
    /// A workflow package and a model.
    Package,
    /// A command about a run, which may leave it waiting.
    Workflow(&'static [&'static str]),
    /// A repository, and an agent that works in it.
    Repository,
    /// A command about a change in a repository, which may leave it waiting.
    Do(&'static [&'static str]),
    /// The same, killed where a fault says.
    Killed(&'static str, &'static [&'static str]),
}

use Act::{
    AddProfile, AllowOne, Approve, Change, EditPlan, EditProfile, Init, Killed, NewProfile, Package, Pause,
    Reply, Respond, Workflow,
};

const TO_REPLY: &[Act] = &[Init, Approve];
const TO_PLAN: &[Act] = &[Init, Approve, Respond("# Plan\n")];
const REVISE: &[&str] = &["revise", "latest", "plan", "--reason", "smaller"];
const TO_COMMENT: &[Act] =
    &[Init, Approve, Respond("# Plan\n"), Change(&["comment", "latest", "plan:1", "Why?"])];
const TO_CODE: &[Act] = &[Init, Approve, Respond("# Plan\n"), Approve, Approve, Respond(CODE)];
const TO_EDIT: &[Act] = &[Init, Approve, Respond("# Plan\n"), Approve, EditPlan];
const TO_END: &[Act] = &[
    Init,
    Approve,
    Respond("# Plan\n"),
    Approve,
    Approve,
    Respond(CODE),
    Approve,
    Approve,
    Respond(PASS),
    Approve,
];

const TO_PAUSE: &[Act] = &[
    AllowOne,
    Init,
    Approve,
    Respond("# Plan\n"),
    Approve,
    Approve,
    Respond(CODE),
    Approve,
    Approve,
    Respond(FAIL),
    Pause,
];

const CASES: &[Case] = &[
    Case { name: "init", before: &[], words: INIT, stdin: "" },
    Case { name: "approve a prompt", before: &[Init], words: &["approve"], stdin: "" },
    Case { name: "respond", before: TO_REPLY, words: &["respond"], stdin: "# Plan\n" },
    Case { name: "approve a plan", before: TO_PLAN, words: &["approve"], stdin: "" },
    Case { name: "approve code", before: TO_CODE, words: &["approve"], stdin: "" },
    Case { name: "reject", before: TO_PLAN, words: &["reject", "--feedback", "shorter"], stdin: "" },
    Case { name: "comment", before: TO_PLAN, words: &["comment", "latest", "plan:1", "Why?"], stdin: "" },
    Case {
        name: "comment from stdin",
        before: TO_PLAN,
        words: &["comment", "latest", "plan"],
        stdin: "Why?\n",
    },
    Case {
        name: "resolve a comment",
        before: TO_COMMENT,
        words: &["comment", "resolve", "latest", "1", "--dismiss"],
        stdin: "",
    },
    Case {
        name: "remove a comment",
        before: TO_COMMENT,
        words: &["comment", "rm", "latest", "1"],
        stdin: "",
    },
    Case { name: "reject with comments", before: TO_COMMENT, words: &["reject"], stdin: "" },
    Case {
        name: "approve with a note",
        before: TO_PLAN,
        words: &["approve", "--note", "Be brief"],
        stdin: "",
    },
    Case { name: "revise", before: TO_CODE, words: REVISE, stdin: "" },
    Case { name: "revise a complete session", before: TO_END, words: REVISE, stdin: "" },
    Case { name: "retry", before: TO_PLAN, words: &["retry"], stdin: "" },
    Case { name: "restore", before: TO_EDIT, words: &["restore", "latest", "plan.md"], stdin: "" },
    Case { name: "rebind", before: TO_EDIT, words: &["approve", "--rebind"], stdin: "" },
    Case { name: "cancel", before: &[Init], words: &["cancel"], stdin: "" },
    Case { name: "accept", before: TO_PAUSE, words: &["approve", "--accept"], stdin: "" },
    Case {
        name: "raise the limit",
        before: TO_PAUSE,
        words: &["approve", "--max-iterations", "2"],
        stdin: "",
    },
    Case { name: "apply", before: TO_END, words: &["apply", "latest"], stdin: "" },
];

const PROFILE_CASES: &[Case] = &[
    Case { name: "profile new", before: &[], words: &["profile", "new", "notes"], stdin: "" },
    Case { name: "profile add", before: &[NewProfile], words: &["profile", "add", PROFILE], stdin: "" },
    Case {
        name: "profile add, once more",
        before: &[NewProfile, AddProfile, EditProfile],
        words: &["profile", "add", PROFILE],
        stdin: "",
    },
];

const NEW_CHANGE: &[&str] = &["change", "new", "login", "Greet", "--file", "schema.sql"];
const APPROVE_CHANGE: &[&str] = &["approve", "login"];
const PLAN_CHANGE: &[&str] = &["change", "plan", "login"];
const CHALLENGE_CHANGE: &[&str] = &["change", "challenge", "login", "--yes"];
const IMPLEMENT_CHANGE: &[&str] = &["change", "implement", "login", "--yes"];
const REVIEW_CHANGE: &[&str] = &["change", "review", "login", "--yes"];
const IMPLEMENTATION: &str = "<task_status id=\"1.1\">COMPLETED</task_status>\n<<<FILE: schema.sql>>>\n-- none\n<<<FILE: b.txt>>>\nb\n";

/// A second plan is at its gate; approving it writes over the first.
const TO_SECOND_PLAN: &[Act] = &[
    Change(NEW_CHANGE),
    Change(PLAN_CHANGE),
    Change(APPROVE_CHANGE),
    Reply("# Plan\n"),
    Change(APPROVE_CHANGE),
    Change(CHALLENGE_CHANGE),
    Reply("<review>NEEDS_REVISION</review>\n"),
    Change(CHALLENGE_CHANGE),
    Change(PLAN_CHANGE),
    Change(APPROVE_CHANGE),
    Reply("# Another plan\n"),
];
const TO_IMPLEMENTATION: &[Act] = &[
    Change(NEW_CHANGE),
    Change(PLAN_CHANGE),
    Change(APPROVE_CHANGE),
    Reply("# Plan\n"),
    Change(APPROVE_CHANGE),
    Change(CHALLENGE_CHANGE),
    Reply("<review>PASS</review>\n"),
    Change(CHALLENGE_CHANGE),
    Change(IMPLEMENT_CHANGE),
    Reply(IMPLEMENTATION),
];
const TO_REVIEWED: &[Act] = &[
    Change(NEW_CHANGE),
    Change(PLAN_CHANGE),
    Change(APPROVE_CHANGE),
    Reply("# Plan\n"),
    Change(APPROVE_CHANGE),
    Change(CHALLENGE_CHANGE),
    Reply("<review>PASS</review>\n"),
    Change(CHALLENGE_CHANGE),
    Change(IMPLEMENT_CHANGE),
    Reply(IMPLEMENTATION),
    Change(IMPLEMENT_CHANGE),
    Change(REVIEW_CHANGE),
    Reply("<review>PASS</review>\n"),
    Change(REVIEW_CHANGE),
];

const CHANGE_CASES: &[Case] = &[
    Case { name: "change new", before: &[], words: NEW_CHANGE, stdin: "" },
    Case {
        name: "change plan",
        before: &[Change(NEW_CHANGE)],
        words: &["change", "plan", "login", "--instructions", "be brief", "--yes"],
        stdin: "",
    },
    Case { name: "approve a second plan", before: TO_SECOND_PLAN, words: APPROVE_CHANGE, stdin: "" },
    Case { name: "approve an implementation", before: TO_IMPLEMENTATION, words: APPROVE_CHANGE, stdin: "" },
    Case { name: "apply", before: TO_REVIEWED, words: &["apply", "login"], stdin: "" },
];

/// What a case changes, and what is looked at afterwards.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Session,
    Change,
    Profiles,
    Run,
    Repository,
}

pub(crate) fn run(workspace: &Workspace) -> Result<(), Failure> {
    ensure_strace()?;
    workspace::run(workspace.cargo().args(["build", "--quiet", "--locked", "-p", "aiwf"]))?;
    let program = workspace.target_dir()?.join("debug/aiwf");
    let mut n_faults = 0;
    let sessions = CASES.iter().map(|case| (case, Subject::Session));
    let changes = CHANGE_CASES.iter().map(|case| (case, Subject::Change));
    let profiles = PROFILE_CASES.iter().map(|case| (case, Subject::Profiles));
    let runs = runs::CASES.iter().map(|case| (case, Subject::Run));
    let repositories = changes::CASES.iter().map(|case| (case, Subject::Repository));
    let wanted = std::env::var("AIWF_FAULTS").unwrap_or_default();
    let cases = sessions.chain(changes).chain(profiles).chain(runs).chain(repositories);
    for (case, subject) in cases.filter(|(case, _)| case.name.contains(&wanted)) {
        let started_at = Instant::now();
        let is_sampled = subject == Subject::Repository && std::env::var_os(EVERY_CALL).is_none();
        let sample = if is_sampled { changes::MAX_FAULTS } else { usize::MAX };
        let n = disturb(&program, case, subject, sample)?;
        println!("   {}: {n} faults in {:.1} s", case.name, started_at.elapsed().as_secs_f64());
        n_faults += n;
    }
    println!("   {n_faults} faults survived");
    if wanted.is_empty() {
        race(&program)?;
        println!("   {RACES} races survived");
    }
    Ok(())
}

fn ensure_strace() -> Result<(), Failure> {
    if is_installed("strace") {
        return Ok(());
    }
    println!("   strace is not installed: installing Debian's package");
    let install = |words: &[&str]| workspace::run(Command::new("apt-get").args(words).stdout(Stdio::null()));
    install(&["update", "-qq"])
        .and_then(|()| install(&["install", "-y", "-qq", "strace"]))
        .map_err(|failure| failure.hint("install strace, then run `cargo xtask test faults`"))
}

/// A project of its own.
struct World {
    directory: tempfile::TempDir,
    program: PathBuf,
}

impl World {
    fn new(program: &Path) -> Result<Self, Failure> {
        let directory = tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error))?;
        for name in ["project/.aiwf", "home"] {
            fs::create_dir_all(directory.path().join(name))
                .map_err(|error| Failure::io("make a directory", &error))?;
        }
        let world = Self { directory, program: program.to_owned() };
        write(&world.project().join("schema.sql"), SCHEMA)?;
        Ok(world)
    }

    /// A world where some steps have been taken.
    fn after(program: &Path, acts: &[Act]) -> Result<Self, Failure> {
        let world = Self::new(program)?;
        for act in acts {
            let output = match act {
                Init => world.aiwf(INIT, ""),
                Approve => world.aiwf(&["approve"], ""),
                Respond(reply) => world.aiwf(&["respond"], reply),
                EditPlan => {
                    write(&world.newest_session()?.join("plan.md"), "# Another plan\n")?;
                    continue;
                }
                AllowOne => {
                    write(&world.project().join(".aiwf/config.toml"), ONE_ITERATION)?;
                    continue;
                }
                Pause => {
                    let output = world.aiwf(&["approve"], "")?;
                    if output.status.code() != Some(3) {
                        return Err(Failure::new("a failed review did not pause the session"));
                    }
                    continue;
                }
                NewProfile => world.aiwf(&["profile", "new", "notes", "--project"], ""),
                AddProfile => world.aiwf(&["profile", "add", PROFILE], ""),
                Package => {
                    runs::lay_out(&world)?;
                    continue;
                }
                Act::Repository => {
                    changes::lay_out(&world)?;
                    continue;
                }
                Killed(fault, words) => {
                    let output = world.traced(&["-e", fault], words, "")?;
                    if output.status.code().is_some_and(|code| code < 128) {
                        return Err(Failure::new("a command was to be killed and ended by itself"));
                    }
                    continue;
                }
                Change(words) | Workflow(words) | Act::Do(words) => {
                    expect_done_or_waiting(&world.aiwf(words, "")?, "a step before the case")?;
                    continue;
                }
                Reply(reply) => world.aiwf(&["respond", "login"], reply),
                EditProfile => {
                    let template = world.project().join(PROFILE).join("templates/plan.md");
                    write(&template, "Plan the notes, briefly.\n")?;
                    continue;
                }
            }?;
            expect_success(&output, "a step before the case")?;
        }
        Ok(world)
    }

    /// The same project and home in another place.
    fn copy(&self) -> Result<Self, Failure> {
        let directory = tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error))?;
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(self.project()).arg(self.home()).arg(directory.path());
        workspace::run(&mut copy)?;
        let copied = Self { directory, program: self.program.clone() };
        changes::adopt_worktrees(&copied)?;
        Ok(copied)
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn newest_session(&self) -> Result<PathBuf, Failure> {
        let entries = fs::read_dir(self.project().join(".aiwf/sessions"))
            .map_err(|error| Failure::io("list the sessions", &error))?;
        let mut paths: Vec<PathBuf> =
            entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        paths.sort();
        paths.pop().ok_or_else(|| Failure::new("there is no session"))
    }

    fn aiwf(&self, words: &[&str], stdin: &str) -> Result<Output, Failure> {
        let mut command = Command::new(&self.program);
        command.args(words);
        self.run(command, stdin)
    }

    fn traced(&self, options: &[&str], words: &[&str], stdin: &str) -> Result<Output, Failure> {
        let mut command = Command::new("strace");
        command.args(["-f", "-o"]).arg(self.directory.path().join("trace")).args(options);
        command.arg(&self.program).args(words);
        self.run(command, stdin)
    }

    fn run(&self, mut command: Command, stdin: &str) -> Result<Output, Failure> {
        let input = self.directory.path().join("stdin");
        let failed = |error: &std::io::Error| Failure::io("run a command of the suite", error);
        fs::write(&input, stdin).map_err(|error| failed(&error))?;
        let input = fs::File::open(&input).map_err(|error| failed(&error))?;
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .stdin(input);
        command.output().map_err(|error| failed(&error))
    }

    /// How things stand: what a person sees, and every file that is not a log of times.
    fn standing(&self, subject: Subject) -> Result<String, Failure> {
        match subject {
            Subject::Session => self.newest_standing(),
            Subject::Change => {
                let report = self.report(&["status", "login", "--json"])?;
                let mut files = BTreeMap::new();
                collect(&self.project(), &self.project(), &mut files);
                // What bears a temporary name is removed by the next command that works on the change.
                files.retain(|path, _| !path.contains("/.tmp-"));
                // One that begins again has another id.
                let id = report.get("session_id").and_then(Value::as_str).unwrap_or("login").to_owned();
                Ok(format!("{report:#}\n{files:#?}").replace(&id, "ID"))
            }
            Subject::Profiles => self.profiles(),
            Subject::Run => runs::standing(self),
            Subject::Repository => changes::standing(self),
        }
    }

    /// The profiles, of which none may be broken, and every file of the project and the user.
    fn profiles(&self) -> Result<String, Failure> {
        let report = self.report(&["profiles", "--json"])?;
        let found = report.get("profiles").and_then(Value::as_array);
        if let Some(broken) = found.into_iter().flatten().find(|found| found.get("error").is_some()) {
            return Err(Failure::new("a profile is broken after a fault").detail(broken.to_string()));
        }
        let mut files = BTreeMap::new();
        collect(self.directory.path(), &self.project(), &mut files);
        collect(self.directory.path(), &self.home(), &mut files);
        Ok(format!("{report:#}\n{files:#?}"))
    }

    /// What a command that only looks says.
    fn report(&self, words: &[&str]) -> Result<Value, Failure> {
        let output = self.aiwf(words, "")?;
        let command = words.first().copied().unwrap_or_default();
        expect_success(&output, &format!("`{command}` after a fault"))?;
        let mut report: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
            Failure::new(format!("`{command}` printed no JSON")).detail(error.to_string())
        })?;
        // A prompt names its session, so its hash is another one in every session.
        if let Some(gate) = report.get_mut("gate").and_then(Value::as_object_mut) {
            gate.remove("sha256");
        }
        Ok(report)
    }

    fn newest_standing(&self) -> Result<String, Failure> {
        let report = self.report(&["status", "latest", "--json"])?;
        let id = report.get("session_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut files = BTreeMap::new();
        collect(&self.project(), &self.project(), &mut files);
        let text = format!("{report:#}\n{files:#?}");
        Ok(text.replace(&id, "SESSION"))
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::io("write a file", &error))
}

/// Every file by path, with its length, without those that hold times, temporary names or kept bytes.
fn collect(root: &Path, directory: &Path, files: &mut BTreeMap<String, u64>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "objects" {
                collect(root, &path, files);
            }
        } else if !["journal.jsonl", "session.json", ".lock"].contains(&name.as_str())
            && !name.starts_with("journal.torn")
        {
            let relative = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            // A prompt names its own session, so its text differs from run to run; its length does not.
            files.insert(relative, entry.metadata().map_or(0, |metadata| metadata.len()));
        }
    }
}

fn expect_success(output: &Output, what: &str) -> Result<(), Failure> {
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("{what} ended with {}", output.status))
        .detail(String::from_utf8_lossy(&output.stderr)))
}

/// The same for a command that may leave somebody awaited.
fn expect_done_or_waiting(output: &Output, what: &str) -> Result<(), Failure> {
    if output.status.code() == Some(3) { Ok(()) } else { expect_success(output, what) }
}

/// Disturbs a case at every call, or at an even sample of so many; the number of faults it survived.
fn disturb(program: &Path, case: &Case, subject: Subject, sample: usize) -> Result<usize, Failure> {
    let before = World::after(program, case.before)?;
    let calm = before.copy()?;
    let trace = format!("trace={}", CALLS.join(","));
    expect_done_or_waiting(&calm.traced(&["-e", &trace], case.words, case.stdin)?, case.name)?;
    let log = fs::read_to_string(calm.directory.path().join("trace")).unwrap_or_default();
    let expected = calm.standing(subject)?;
    let mut faults = Vec::new();
    for call in CALLS {
        let error = if call.starts_with('f') { BROKEN } else { FULL };
        for number in 1..=most_calls(&log, call) {
            faults.push((call, format!("inject={call}:signal=SIGKILL:when={number}")));
            faults.push((call, format!("inject={call}:error={error}:when={number}")));
        }
    }
    let faults = sampled(faults, sample);
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), Failure> {
        while let Some((call, inject)) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            let world = before.copy()?;
            let trace = format!("trace={call}");
            world.traced(&["--seccomp-bpf", "-e", &trace, "-e", inject], case.words, case.stdin)?;
            let survived = match subject {
                Subject::Session => survive(&world, case, &expected),
                Subject::Change => survive_change(&world, case, &expected),
                Subject::Profiles => survive_profiles(&world, case, &expected),
                Subject::Run => runs::survive(&world, case),
                Subject::Repository => changes::survive(&world, case, &expected),
            };
            survived.map_err(|failure| failure.detail(format!("case `{}`, {inject}", case.name)))?;
        }
        Ok(())
    };
    // Mostly they wait for the disk, each in a world of its own.
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| Err(Failure::new("a worker of the suite stopped")))
        });
        joined.collect::<Result<Vec<()>, Failure>>()
    })?;
    Ok(faults.len())
}

/// An even sample of at most so many: of the kills, and of the calls that fail.
fn sampled(mut all: Vec<(&str, String)>, most: usize) -> Vec<(&str, String)> {
    all.sort_by_key(|(_, inject)| inject.contains(":error="));
    let n_all = all.len();
    let is_taken = |idx: usize| n_all <= most || idx * most / n_all != (idx + 1) * most / n_all;
    all.into_iter().enumerate().filter(|(idx, _)| is_taken(*idx)).map(|(_, one)| one).collect()
}

/// How often one thread made a call at most: a fault is counted for each thread by itself.
fn most_calls(log: &str, call: &str) -> usize {
    let mut n_calls: BTreeMap<&str, usize> = BTreeMap::new();
    for (thread, rest) in log.lines().filter_map(|line| line.split_once(' ')) {
        if rest.trim_start().starts_with(&format!("{call}(")) {
            *n_calls.entry(thread).or_default() += 1;
        }
    }
    n_calls.into_values().max().unwrap_or(0)
}

fn survive(world: &World, case: &Case, expected: &str) -> Result<(), Failure> {
    let has_session = case.name != "init" || world.aiwf(&["status", "latest"], "")?.status.success();
    if has_session {
        let is_edited = case.before.iter().any(|act| matches!(act, EditPlan));
        if !is_edited {
            expect_success(&world.aiwf(&["verify", "latest"], "")?, "`verify` after a fault")?;
        }
        // Whatever needs no decision is finished first; then the command is needed only if it had not happened.
        world.aiwf(&["run", "latest"], "")?;
        if world.standing(Subject::Session)? == expected {
            return Ok(());
        }
    }
    run_again(world, case)?;
    expect_success(&world.aiwf(&["verify", "latest"], "")?, "`verify` in the end")?;
    expect_same(expected, &world.standing(Subject::Session)?)
}

fn survive_change(world: &World, case: &Case, expected: &str) -> Result<(), Failure> {
    let exists = world.aiwf(&["status", "login"], "")?.status.success();
    if !exists && case.name != "change new" {
        return Err(Failure::new("the change is gone after a fault"));
    }
    if exists {
        expect_success(&world.aiwf(&["verify", "login"], "")?, "`verify` after a fault")?;
        if world.standing(Subject::Change)? == expected {
            return Ok(());
        }
    }
    run_again(world, case)?;
    expect_success(&world.aiwf(&["verify", "login"], "")?, "`verify` in the end")?;
    expect_same(expected, &world.standing(Subject::Change)?)
}

fn survive_profiles(world: &World, case: &Case, expected: &str) -> Result<(), Failure> {
    if world.standing(Subject::Profiles)? == expected {
        return Ok(());
    }
    run_again(world, case)?;
    expect_same(expected, &world.standing(Subject::Profiles)?)
}

fn run_again(world: &World, case: &Case) -> Result<(), Failure> {
    expect_done_or_waiting(&world.aiwf(case.words, case.stdin)?, "running the command again")
}

fn expect_same(expected: &str, reached: &str) -> Result<(), Failure> {
    if reached == expected {
        return Ok(());
    }
    Err(Failure::new("running the command again leads elsewhere than an undisturbed run")
        .detail(difference(expected, reached)))
}

fn difference(expected: &str, reached: &str) -> String {
    let old: Vec<&str> = expected.lines().collect();
    let new: Vec<&str> = reached.lines().collect();
    let missing = old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}"));
    let added = new.iter().filter(|line| !old.contains(line)).map(|line| format!("+ {line}"));
    missing.chain(added).take(20).collect::<Vec<_>>().join("\n")
}

/// Two processes approve one prompt at the same time: it is approved once, and the chain holds.
fn race(program: &Path) -> Result<(), Failure> {
    for round in 0..RACES {
        let world = World::after(program, &[Init])?;
        let start = || {
            Command::new(program)
                .arg("approve")
                .current_dir(world.project())
                .env_clear()
                .env("HOME", world.directory.path().join("home"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|error| Failure::io("start a racer", &error))
        };
        let mut racers = [start()?, start()?];
        let mut codes = Vec::new();
        for racer in &mut racers {
            let status = racer.wait().map_err(|error| Failure::io("wait for a racer", &error))?;
            codes.push(status.code().unwrap_or(-1));
        }
        codes.sort_unstable();
        // The second is refused, or comes so late that it finds the reply missing.
        if codes != [0, 1] && codes != [0, 3] {
            return Err(Failure::new(format!("race {round} ended with {codes:?}")));
        }
        let events = world.aiwf(&["events", "latest"], "")?;
        let approvals = String::from_utf8_lossy(&events.stdout).matches("prompt-approved").count();
        expect_success(&world.aiwf(&["verify", "latest"], "")?, "`verify` after a race")?;
        if approvals != 1 {
            return Err(Failure::new(format!("race {round} approved the prompt {approvals} times")));
        }
    }
    Ok(())
}
