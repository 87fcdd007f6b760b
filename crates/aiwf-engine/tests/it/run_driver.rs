//! Drives runs and conversations by calls of the engine; what they report is looked at as the JSON that programs read.

use std::fmt::Write as _;
use std::path::Path;

use aiwf_engine::{NewConversation, NewRun, Run, RunError, RunReport};
use aiwf_testkit::SmallPackage;
use serde_json::{Value, json};

use crate::fake_provider::{Asked, FakeProvider, Turn};
use crate::scene::Scene;

/// A project with a package behind a model.
pub(crate) fn in_package(package: &SmallPackage, model: &FakeProvider, more: &str) -> Scene {
    let scene = Scene::of_model(model, more);
    package.write(&scene.project, "pkg");
    scene
}

/// A project with the small package as it is.
pub(crate) fn small(model: &FakeProvider, more: &str) -> Scene {
    in_package(&SmallPackage::new(), model, more)
}

/// A project with the branching example package.
pub(crate) fn bug_triage(model: &FakeProvider, more: &str) -> Scene {
    let scene = Scene::of_model(model, more);
    aiwf_testkit::copy_example_package(&scene.project, "bug-triage", "pkg");
    scene
}

/// The run that begins when nothing else is said.
pub(crate) fn new_run(scene: &Scene) -> NewRun<'static> {
    assert!(scene.project.path("pkg").is_dir(), "the package is there");
    NewRun {
        package: Path::new("pkg"),
        workflow: None,
        agent: None,
        provider: Some("model"),
        is_autopilot: false,
    }
}

/// How runs stand when they wait for the user, are complete, and when the last request failed.
pub(crate) const WAITING: &str = "waiting-user";
pub(crate) const COMPLETED: &str = "completed";
pub(crate) const FAILED: &str = "failed";

/// Begins a run of the package, which then stands so.
#[track_caller]
pub(crate) fn run(scene: &Scene, phase: &str) -> Value {
    let report = run_with(scene, &new_run(scene), Some("Go.")).unwrap();
    assert_eq!(report["phase"], phase, "{report:#}");
    report
}

pub(crate) fn run_with(scene: &Scene, new: &NewRun<'_>, input: Option<&str>) -> Result<Value, RunError> {
    // An engine takes the paths of a command line relative to the project.
    let package = scene.root().join(new.package);
    let mut run = scene.engine.start_run(&NewRun { package: &package, ..*new })?;
    Ok(as_json(&run.start(input)?))
}

/// Does something with the newest run or conversation.
pub(crate) fn in_latest(
    scene: &Scene,
    act: impl FnOnce(&mut Run<'_>) -> Result<RunReport, RunError>,
) -> Result<Value, RunError> {
    let mut run = scene.engine.open_run("latest", None)?;
    Ok(as_json(&act(&mut run)?))
}

#[track_caller]
pub(crate) fn say(scene: &Scene, text: &str) -> Value {
    in_latest(scene, |run| run.say(text)).unwrap()
}

#[track_caller]
pub(crate) fn resume(scene: &Scene) -> Value {
    in_latest(scene, |run| run.resume(None)).unwrap()
}

/// Says one thing to an agent of the package.
#[track_caller]
pub(crate) fn talk_to(scene: &Scene, agent: &str, text: &str) -> Value {
    let package = scene.root().join("pkg");
    converse(scene, Some(&package), Some(agent), text)
}

/// Says one thing to the model.
#[track_caller]
pub(crate) fn chat(scene: &Scene, text: &str) -> Value {
    converse(scene, None, None, text)
}

#[track_caller]
pub(crate) fn converse(scene: &Scene, package: Option<&Path>, agent: Option<&str>, text: &str) -> Value {
    let new = NewConversation { package, agent, provider: Some("model") };
    let mut run = scene.engine.start_conversation(&new).unwrap();
    as_json(&run.say(text).unwrap())
}

#[track_caller]
pub(crate) fn status(scene: &Scene) -> Value {
    serde_json::to_value(scene.engine.run_status("latest").unwrap()).unwrap()
}

#[track_caller]
pub(crate) fn preview(scene: &Scene, input: Option<&str>) -> Value {
    serde_json::to_value(scene.engine.preview_run("latest", input).unwrap()).unwrap()
}

pub(crate) fn as_json(report: &RunReport) -> Value {
    serde_json::to_value(report).unwrap()
}

/// The directory of the only run, relative to the project.
pub(crate) fn run_dir(scene: &Scene) -> String {
    let names = scene.project.names_in(".aiwf/sessions");
    let id = names.iter().find(|name| !name.starts_with('.')).unwrap();
    format!(".aiwf/sessions/{id}")
}

/// The state file of the only run.
pub(crate) fn state(scene: &Scene) -> String {
    scene.read(&format!("{}/state/workflow.md", run_dir(scene)))
}

/// The journal of the only run.
pub(crate) fn journal_text(scene: &Scene) -> String {
    scene.read(&format!("{}/journal.jsonl", run_dir(scene)))
}

/// The lines of the log of tools.
pub(crate) fn log(scene: &Scene) -> Vec<Value> {
    let text = scene.read(&format!("{}/state/logs/execution.jsonl", run_dir(scene)));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the tools answered in a request, in their order.
pub(crate) fn results(request: &Asked) -> Vec<Value> {
    let read = |text: &String| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
    request.tool_results().iter().map(read).collect()
}

/// The code of the last result's error.
#[track_caller]
pub(crate) fn last_code(request: &Asked) -> String {
    let results = results(request);
    let last = results.last().unwrap();
    last["error"]["code"].as_str().unwrap_or_else(|| panic!("no error in {last:#}")).to_owned()
}

/// The last user text that begins with a header.
pub(crate) fn block(request: &Asked, header: &str) -> Option<String> {
    request.user_texts().into_iter().rev().find(|text| text.starts_with(header))
}

/// How many user texts begin with a header.
pub(crate) fn n_blocks(request: &Asked, header: &str) -> usize {
    request.user_texts().iter().filter(|text| text.starts_with(header)).count()
}

pub(crate) fn complete(node: &str, more: Value) -> Turn {
    let mut args = json!({ "nodeId": node });
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Turn::tool_call("workflow_complete_node", args)
}

pub(crate) fn write(path: &str, content: &str) -> Turn {
    Turn::tool_call("fs_write", json!({ "path": path, "content": content }))
}

pub(crate) fn read(path: &str) -> Turn {
    Turn::tool_call("fs_read", json!({ "path": path }))
}

pub(crate) fn patch(update: Value) -> Turn {
    Turn::tool_call(
        "fs_apply_patch",
        json!({ "path": "@state/workflow.md", "patch": { "operation": "updateFrontmatter", "update": update } }),
    )
}

/// A reply that calls tools in its text.
pub(crate) fn calls(calls: &[(&str, Value)]) -> String {
    let calls: Vec<Value> =
        calls.iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments})).collect();
    format!("Let me look.\n\n```json\n{}\n```\n", json!({ "tool_calls": calls }))
}

/// A request for a person to read: what was said by whom, and the tools.
pub(crate) fn shown(request: &Asked, scene: &Scene) -> String {
    let mut text = format!("[system]\n{}\n", request.payload.system.join("\n"));
    for user in request.user_texts() {
        write!(text, "\n[user]\n{user}\n").unwrap();
    }
    write!(text, "\n[tools]\n{}\n", request.tool_names().join("\n")).unwrap();
    check_no_real_path(&text, scene);
    text
}

/// Nobody outside of this machine learns where things lie on it.
#[track_caller]
pub(crate) fn check_no_real_path(text: &str, scene: &Scene) {
    for path in [scene.root(), scene.home(), scene.project.cache()] {
        assert!(!text.contains(&path.display().to_string()), "a real path is in:\n{text}");
    }
}

/// No request had a real path in it.
#[track_caller]
pub(crate) fn check_no_real_path_was_sent(model: &FakeProvider, scene: &Scene) {
    for request in model.asks() {
        check_no_real_path(&request.whole(), scene);
    }
}

/// Every call of a request has one result, right behind it.
#[track_caller]
pub(crate) fn check_pairs(request: &Asked) {
    let mut open: Vec<&str> = Vec::new();
    for turn in &request.payload.turns {
        match turn {
            aiwf_provider::Turn::Tool { id, .. } => {
                let position = open.iter().position(|open| open == id);
                open.remove(position.unwrap_or_else(|| panic!("a result without its call: {turn:?}")));
            }
            aiwf_provider::Turn::Assistant { tool_calls, .. } => {
                assert!(open.is_empty(), "calls without results before {turn:?}");
                open = tool_calls.iter().map(|call| call.id.as_str()).collect();
            }
            aiwf_provider::Turn::User { .. } => assert!(open.is_empty(), "calls without results: {open:?}"),
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}
