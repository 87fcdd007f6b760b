//! Runs of the small package of the test kit, and what their requests say.

use aiwf_testkit::model_server::{SeenRequest, Turn};
use aiwf_testkit::{ModelServer, SmallPackage};
use serde_json::{Value, json};

use crate::scene::Scene;

/// A project with a package behind a model API.
pub(crate) fn in_package(package: &SmallPackage, kind: &str, server: &ModelServer, more: &str) -> Scene {
    let scene = Scene::of_api(kind, server, more);
    package.write(&scene.project, "pkg");
    scene
}

/// Begins a run that ends with this exit code.
#[track_caller]
pub(crate) fn run(scene: &Scene, code: i32) -> Value {
    scene.answers("workflow run pkg --provider model --input 'Go.'", code)
}

/// What the tools answered in a request, in their order; Gemini wants an object around what is text.
pub(crate) fn results(request: &SeenRequest) -> Vec<Value> {
    let unwrapped = |text: &String| {
        let value: Value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        let inner = ["result", "error"].into_iter().find_map(|kind| value.get(kind)?.as_str());
        inner.map_or_else(|| value.clone(), |text| serde_json::from_str(text).unwrap())
    };
    request.tool_results().iter().map(unwrapped).collect()
}

/// The code of the last result's error.
pub(crate) fn last_code(request: &SeenRequest) -> String {
    let results = results(request);
    let last = results.last().unwrap();
    assert!(last["error"]["code"].is_string(), "no error in {last:#}");
    last["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// The last user text that begins with a header.
pub(crate) fn block(request: &SeenRequest, header: &str) -> Option<String> {
    request.user_texts().into_iter().rev().find(|text| text.starts_with(header))
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
