//! `Engine::build`: who decides what, and what comes back.

#![expect(clippy::disallowed_methods, reason = "tests make files of their own")]

use std::fs;
use std::path::Path;

use aiwf_engine::config::{Environment, Settings};
use aiwf_engine::prompt::{Format, FsAbility, Recipe, Tokens};
use aiwf_engine::{BuildOptions, Built, ChangeFlags, Document, Engine, SessionError};

pub(crate) fn engine(root: &Path) -> Engine {
    let environment = Environment {
        current_dir: root.to_owned(),
        cache_home: Some(root.join("cache")),
        ..Environment::default()
    };
    Engine::new(Settings::resolve(Some(root), environment).unwrap())
}

#[expect(clippy::needless_pass_by_value, reason = "tests make the options where they call")]
fn build(root: &Path, recipe: Recipe, json: &str, options: BuildOptions) -> Result<Built, SessionError> {
    let document = Document::from_json(recipe, json).unwrap();
    engine(root).build(document, &ChangeFlags::default(), &options, &|_| {})
}

const STEP: &str = r#"{"session_dir": ".", "phase": "planning", "iteration": 1, "profile_prompt": "Plan it", "fs_ability": "local-read"}"#;

#[test]
fn each_recipe_has_its_natural_format() {
    let root = tempfile::tempdir().unwrap();
    let natural =
        |recipe, json| build(root.path(), recipe, json, BuildOptions::default()).unwrap().prompt.format();
    assert_eq!(natural(Recipe::Session, STEP), Format::Text);
    assert_eq!(natural(Recipe::Change, r#"{"instructions": "x"}"#), Format::Xml);
    assert_eq!(
        natural(Recipe::Workflow, r#"{"mode": "chat", "agentDefinition": {"id": "a"}}"#),
        Format::Messages
    );
    assert_eq!(natural(Recipe::Reply, r#"{"request": {"aiMessage": "x"}, "mode": "api"}"#), Format::Text);
}

#[test]
fn options_win_over_the_document_and_the_document_over_the_provider() {
    let root = tempfile::tempdir().unwrap();
    let anthropic = Some("anthropic".to_owned());
    let last_line = |options| {
        let built = build(root.path(), Recipe::Session, STEP, options).unwrap();
        built.prompt.full_prompt().lines().last().unwrap().to_owned()
    };
    let of_document =
        BuildOptions { provider: anthropic, supports_system_prompt: Some(false), ..BuildOptions::default() };
    assert_eq!(last_line(of_document.clone()), "Name your output file `planning-response.md`");
    let of_options = BuildOptions { fs_ability: Some(FsAbility::WriteOnly), ..of_document };
    assert_eq!(last_line(of_options), "Create a downloadable file named `planning-response.md`");
}

#[test]
fn a_default_holds_only_for_a_receiver_that_does_not_say() {
    let root = tempfile::tempdir().unwrap();
    let json = STEP.replace(r#", "fs_ability": "local-read""#, "");
    let last_line = |provider: &str, default_fs_ability, fs_ability| {
        let provider = Some(provider.to_owned());
        let options = BuildOptions { provider, default_fs_ability, fs_ability, ..BuildOptions::default() };
        let built = build(root.path(), Recipe::Session, &json, options).unwrap();
        built.prompt.full_prompt().lines().last().unwrap().to_owned()
    };
    let none = Some(FsAbility::None);
    let saves = "Save your complete response to `iteration-1/planning-response.md`";
    assert_eq!(last_line("manual", None, None), saves);
    assert_eq!(last_line("manual", none, None), "Plan it");
    assert_eq!(last_line("manual", none, Some(FsAbility::LocalWrite)), saves);
    fs::create_dir(root.path().join(".aiwf")).unwrap();
    let config = root.path().join(".aiwf/config.toml");
    fs::write(config, "[providers.manual]\nfs_ability = \"write-only\"\n").unwrap();
    assert_eq!(last_line("manual", none, None), "Create a downloadable file named `planning-response.md`");
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("standards-bundle.md"), "Rule 1").unwrap();
    let built = || build(root.path(), Recipe::Session, STEP, BuildOptions::default()).unwrap();
    assert_eq!(built().prompt.full_prompt(), built().prompt.full_prompt());
    assert_eq!(built().metadata(), built().metadata());
}

#[test]
fn an_error_has_one_thing_to_do() {
    let root = tempfile::tempdir().unwrap();
    let options = BuildOptions { budget: Some(Tokens(1)), ..BuildOptions::default() };
    let error = build(root.path(), Recipe::Change, r#"{"instructions": "x"}"#, options).unwrap_err();
    let expected = "shorten that section, or set a larger budget with `--budget`";
    assert_eq!(error.advice(), Some(expected.into()));
}

#[test]
fn files_and_thoughts_that_a_program_adds_stand_after_those_of_the_document() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a.rs"), "fn a() {}\n").unwrap();
    let document = Document::from_json(
        Recipe::Change,
        r#"{"instructions": "x", "context": [{"type": "thought", "content": "t"}]}"#,
    );
    let flags = ChangeFlags {
        files: vec!["*.rs".to_owned()],
        thoughts: vec!["u".to_owned()],
        ..ChangeFlags::default()
    };
    let built =
        engine(root.path()).build(document.unwrap(), &flags, &BuildOptions::default(), &|_| {}).unwrap();
    let section = built.prompt.sections().remove(0);
    let names: Vec<String> = section.parts.into_iter().map(|part| part.id).collect();
    assert_eq!(names, ["thought-1", "a.rs", "thought-2"]);
}
