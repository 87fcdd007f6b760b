//! Runs of a workflow package, disturbed: the model is a program that answers by where the run stands.
//!
//! The same prompt gets the same reply, so a run that was cut off is led on by saying that it should continue. What an
//! undisturbed run comes to is known beforehand: its artifact, on record once, and a log with every call.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Act, Case, World, expect_success, write};
use crate::failure::Failure;

/// Awk, for one process without files of its own: a write of the model's is not one of ours.
const CONFIG: &str = "[workflow]\nprovider = \"model\"\n\n[providers.model]\ntype = \"command\"\nargv = [\"awk\", \"-f\", \"model.awk\"]\nfs_ability = \"none\"\n";

/// Works on the node it was told last: writes its file and completes it. It waits when it is told to.
const MODEL: &str = r#"
/^- currentNodeId: / { node = $3 }
/Protocol \(post-run\)/ { node = "" }
/Wait for me/ { waits = 1 }
/Go on/ { waits = 0 }
END {
    if (waits) { print "Ready."; exit }
    if (node == "") { print "All done."; exit }
    write = "{\"name\":\"fs.write\",\"arguments\":{\"path\":\"@project/artifacts/" node ".md\",\"content\":\"the file of " node "\"}},"
    if (node == "done") { write = "" }
    print "```json\n{\"tool_calls\":[" write "{\"name\":\"workflow.complete_node\",\"arguments\":{\"nodeId\":\"" node "\"}}]}\n```"
}
"#;

const PACKAGE: &[(&str, &str)] = &[
    (
        "bmad.json",
        r#"{"schemaVersion": "1.1", "name": "walk", "version": "1.0.0", "entry": {"workflow": "workflow.md", "graph": "workflow.graph.json", "agents": "agents.json"}}"#,
    ),
    (
        "workflow.md",
        "---\nschemaVersion: \"1.1\"\nworkflowType: walk\nstepsCompleted: []\ncurrentNodeId: \"\"\nvariables: {}\ndecisionLog: []\nartifacts: []\n---\n\n# Walk\n",
    ),
    (
        "workflow.graph.json",
        r#"{"schemaVersion": "1.1", "entryNodeId": "one", "nodes": [
            {"id": "one", "type": "step", "file": "steps/one.md", "outputs": ["artifacts/one.md"]},
            {"id": "done", "type": "end", "file": "steps/done.md"}],
        "edges": [{"from": "one", "to": "done", "label": "next"}]}"#,
    ),
    (
        "agents.json",
        r#"{"schemaVersion": "1.1", "agents": [{"id": "dev", "metadata": {"name": "Dev", "title": "Developer", "icon": "D"},
            "persona": {"role": "Developer", "identity": "I write", "communication_style": "direct", "principles": ["Ship"]},
            "tools": {"fs": {"enabled": true}}}]}"#,
    ),
    ("steps/one.md", "---\nschemaVersion: \"1.1\"\nnodeId: one\ntype: step\n---\n\n# One\n"),
    ("steps/done.md", "---\nschemaVersion: \"1.1\"\nnodeId: done\ntype: end\n---\n\n# Done\n"),
];

const BEGIN: &[&str] = &["workflow", "run", "pkg", "--autopilot", "--input", "Wait for me."];
const GO_ON: &[&str] = &["workflow", "say", "latest", "Go on."];
const BEGUN: &[Act] = &[Act::Package, Act::Workflow(BEGIN)];
const COMPLETED: &[Act] = &[Act::Package, Act::Workflow(BEGIN), Act::Workflow(GO_ON)];
/// Killed while the first artifact gets its name: a call without a result, and a state file that is not replaced.
const CUT_OFF: &[Act] =
    &[Act::Package, Act::Workflow(BEGIN), Act::Killed("inject=renameat:signal=SIGKILL:when=1", GO_ON)];

pub(super) const CASES: &[Case] = &[
    Case { name: "workflow run", before: &[Act::Package], words: BEGIN, stdin: "" },
    Case { name: "workflow say", before: BEGUN, words: GO_ON, stdin: "" },
    Case {
        name: "workflow resume",
        before: CUT_OFF,
        words: &["workflow", "resume", "latest", "Go on."],
        stdin: "",
    },
    Case {
        name: "workflow rewind",
        before: COMPLETED,
        words: &["workflow", "rewind", "latest", "--to", "one", "--reason", "once more"],
        stdin: "",
    },
    Case { name: "cancel", before: COMPLETED, words: &["cancel", "latest"], stdin: "" },
    Case {
        name: "workflow fork",
        before: COMPLETED,
        words: &["workflow", "fork", "latest", "--at", "done"],
        stdin: "",
    },
];

/// Puts the package and the model into a project.
pub(super) fn lay_out(world: &World) -> Result<(), Failure> {
    let project = world.project();
    fs::create_dir_all(project.join("pkg/steps")).map_err(|error| Failure::io("make a directory", &error))?;
    for (name, text) in PACKAGE {
        write(&project.join("pkg").join(name), text)?;
    }
    write(&project.join("model.awk"), MODEL)?;
    // In the user's own configuration: what only a project names needs consent.
    let users = world.home().join(".aiwf");
    std::fs::create_dir_all(&users).map_err(|error| Failure::io("make a directory", &error))?;
    write(&users.join("config.toml"), CONFIG)
}

/// How all runs stand, without what differs from run to run.
pub(super) fn standing(world: &World) -> Result<String, Failure> {
    let mut text = String::new();
    for run in runs(world)? {
        let status = world.report(&["status", &run, "--json"])?;
        for key in ["phase", "node", "artifacts", "nodes", "warnings"] {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{key}: {}", status.get(key).unwrap_or(&Value::Null));
        }
    }
    Ok(text)
}

/// The ids of all runs, oldest first; every one can be read.
fn runs(world: &World) -> Result<Vec<String>, Failure> {
    let list = world.report(&["list", "--flow", "package", "--json"])?;
    let runs = list.get("sessions").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut ids = Vec::new();
    for run in runs {
        if let Some(problem) = run.get("error").filter(|problem| !problem.is_null()) {
            return Err(Failure::new("a run cannot be read after a fault").detail(problem.to_string()));
        }
        ids.extend(run.get("session_id").and_then(Value::as_str).map(str::to_owned));
    }
    ids.sort();
    Ok(ids)
}

/// After a fault every run is whole, the command can be given again, and every run comes to its end.
pub(super) fn survive(world: &World, case: &Case) -> Result<(), Failure> {
    for run in runs(world)? {
        check_whole(world, &run)?;
    }
    // A turn that was cut off is resumed; what begins a run is needed only when there is none yet.
    let n_wanted = if case.name == "workflow fork" { 2 } else { 1 };
    let is_begun = ["workflow run", "workflow fork"].contains(&case.name) && runs(world)?.len() == n_wanted;
    let is_turn = ["workflow say", "workflow resume"].contains(&case.name);
    if !is_turn && !is_begun {
        super::run_again(world, case)?;
    }
    for run in runs(world)? {
        match phase(world, &run)?.as_str() {
            "cancelled" if case.name == "cancel" => return Ok(()),
            "completed" if case.name != "cancel" => {}
            _ => expect_success(&world.aiwf(&["workflow", "say", &run, "Go on."], "")?, "going on")?,
        }
        check_whole(world, &run)?;
        check_complete(world, &run)?;
    }
    Ok(())
}

fn phase(world: &World, run: &str) -> Result<String, Failure> {
    let status = world.report(&["status", run, "--json"])?;
    Ok(status.get("phase").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// The journal can be read, and the state file is one that it knows.
fn check_whole(world: &World, run: &str) -> Result<(), Failure> {
    let status = world.report(&["status", run, "--json"])?;
    let warnings = status.get("warnings").and_then(Value::as_array);
    if warnings.is_some_and(Vec::is_empty) {
        return Ok(());
    }
    Err(Failure::new("a run is not whole after a fault").detail(status.to_string()))
}

fn check_complete(world: &World, run: &str) -> Result<(), Failure> {
    let status = world.report(&["status", run, "--json"])?;
    let wrong = |what: &str| Err(Failure::new(what).detail(status.to_string()));
    if status.get("phase").and_then(Value::as_str) != Some("completed") {
        return wrong("a run is not complete in the end");
    }
    let artifacts: Vec<&str> = status
        .get("artifacts")
        .and_then(Value::as_array)
        .map(|artifacts| artifacts.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    if artifacts != ["artifacts/one.md"] {
        return wrong("the artifact is not on record, or twice");
    }
    let text = fs::read_to_string(world.project().join("artifacts/one.md"));
    if text.ok().as_deref() != Some("the file of one") {
        return wrong("the artifact is lost or not whole");
    }
    let directory = world.project().join(".aiwf/sessions").join(run);
    let called = called(&directory)?;
    let logged = strings(&directory.join("state/logs/execution.jsonl"), |line| {
        line.get("toolCallId").into_iter().cloned().collect()
    })?;
    if called == logged { Ok(()) } else { wrong("the log does not have one line for each call") }
}

/// The ids of all calls that a model made.
fn called(directory: &Path) -> Result<Vec<String>, Failure> {
    strings(&directory.join("journal.jsonl"), |line| {
        let calls = line.pointer("/event/tool_calls").and_then(Value::as_array);
        calls.into_iter().flatten().filter_map(|call| call.get("id").cloned()).collect()
    })
}

fn strings(path: &Path, of_line: impl Fn(&Value) -> Vec<Value>) -> Result<Vec<String>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::io("read a file of a run", &error))?;
    let mut found = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line)
            .map_err(|error| Failure::new("a line is no JSON").detail(error.to_string()))?;
        found.extend(of_line(&line).iter().filter_map(Value::as_str).map(str::to_owned));
    }
    Ok(found)
}
