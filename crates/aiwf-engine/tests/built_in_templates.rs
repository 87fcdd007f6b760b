//! Built-in templates render in the process itself. A program of its own: the helper is set once per process.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]
#![allow(clippy::unwrap_used, reason = "helper functions of tests stop at the first surprise")]

use std::fs;
use std::path::Path;

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::prompt::Recipe;
use aiwf_engine::{BuildOptions, ChangeFlags, Document, Engine};

fn engine(root: &Path) -> Engine {
    let environment = Environment {
        current_dir: root.to_owned(),
        cache_home: Some(root.join("cache")),
        ..Environment::default()
    };
    Engine::new(Settings::resolve(Some(root), environment).unwrap())
}

fn build(root: &Path, recipe: Recipe, json: &str) -> Result<String, String> {
    let document = Document::from_json(recipe, json).unwrap();
    let built = engine(root).build(document, &ChangeFlags::default(), &BuildOptions::default(), &|_| {});
    built.map(|built| built.prompt.full_prompt()).map_err(|error| error.to_string())
}

/// The helper would be this test program, which answers no request: whatever needs the helper fails.
#[test]
fn built_in_templates_start_no_helper() {
    assert!(aiwf_engine::helper::serve_if_asked(["aiwf".into()]).is_none());
    let root = tempfile::tempdir().unwrap();
    let session = r#"{"session_dir": ".", "phase": "planning", "iteration": 1, "profile_prompt": "Plan it"}"#;
    let change = r#"{"instructions": "x", "phase": "plan"}"#;
    build(root.path(), Recipe::Session, session).unwrap();
    build(root.path(), Recipe::Change, change).unwrap();
    for profile in engine(root.path()).validate_profiles() {
        assert!(profile.passed, "{profile:?}");
    }

    let template = root.path().join(".aiwf/templates/system/BASE-plan.md");
    fs::create_dir_all(template.parent().unwrap()).unwrap();
    fs::write(template, "A template of the project's own").unwrap();
    let error = build(root.path(), Recipe::Change, change).unwrap_err();
    assert!(error.contains("template `.aiwf/templates/system/BASE-plan.md` was not rendered"), "{error}");
}
