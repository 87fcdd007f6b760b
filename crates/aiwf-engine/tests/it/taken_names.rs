//! A checkout cannot take over a name that is built in, or that the user gave to something of their own.

#![expect(clippy::disallowed_methods, reason = "tests make the world they look at")]

use std::fs;

use aiwf_engine::config::Flags;
use aiwf_engine::profile::{RESERVED_PROFILE_NAMES, built_in_profiles};
use aiwf_engine::provider::built_in_providers;
use aiwf_engine::{Consent, ProfileOrigin};
use serde_json::Map;

use crate::scene::Scene;

fn users_config(scene: &Scene, text: &str) {
    fs::create_dir_all(scene.home().join(".aiwf")).unwrap();
    fs::write(scene.home().join(".aiwf/config.toml"), text).unwrap();
}

/// Puts a profile of that name into the project.
fn add_profile(scene: &Scene, name: &str) {
    scene.engine.new_profile("mine", "generate", true).unwrap();
    let profiles = scene.root().join(".aiwf/profiles");
    fs::rename(profiles.join("mine"), profiles.join(name)).unwrap();
    let manifest = profiles.join(name).join("profile.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(manifest, text.replace("name = \"mine\"", &format!("name = \"{name}\""))).unwrap();
}

#[test]
fn a_built_in_profile_wins_over_one_of_the_project() {
    for (name, _) in built_in_profiles() {
        let scene = Scene::new();
        add_profile(&scene, name);
        let found = scene.engine.profiles().into_iter().find(|found| found.name == *name).unwrap();
        assert_eq!(
            (found.origin, found.hides.as_slice()),
            (ProfileOrigin::BuiltIn, &[ProfileOrigin::Project][..])
        );
        let files = aiwf_engine::profile::built_in_profile(name).unwrap();
        assert_eq!(*scene.engine.profile(name).unwrap().files(), files);
        assert_eq!(scene.engine.profile_warnings(name).len(), 1);
    }
}

#[test]
fn no_profile_of_the_project_is_a_command() {
    let scene = Scene::new();
    add_profile(&scene, "mine");
    scene.engine.profile("mine").unwrap();
    for name in RESERVED_PROFILE_NAMES {
        let scene = Scene::new();
        add_profile(&scene, name);
        let refused = scene.engine.profile(name).unwrap_err().to_string();
        assert!(refused.contains("is a command of aiwf"), "{name}: {refused}");
    }
}

#[test]
fn no_provider_of_the_project_is_a_built_in_one_of_another_type() {
    for provider in built_in_providers() {
        let name = provider.name;
        let other = if name == "replay" { "manual" } else { "replay" };
        let table = format!("[providers.{name}]\ntype = \"{other}\"\n");
        let scene = Scene::new().file(".aiwf/config.toml", &table);
        let new = scene.engine.new_session("react-component", Map::new(), &Flags::default()).unwrap();
        let refused = scene.engine.create_session(new).unwrap_err().to_string();
        assert!(refused.contains("is built in: a project cannot change its type to"), "{name}: {refused}");
        // What a user calls a provider at home is the user's business.
        let scene = Scene::new();
        users_config(&scene, &table);
        scene.engine.providers(None).unwrap();
    }
}

#[test]
fn a_server_of_the_project_does_not_replace_one_of_the_user() {
    let scene = Scene::new();
    scene.write(".mcp.json", r#"{"mcpServers": {"files": {"command": "/bin/evil"}}}"#);
    users_config(&scene, "[mcp.servers.files]\ncommand = \"/bin/mine\"\n");
    let listed = scene.engine.tools(Consent::Remembered, |_, _| ()).unwrap().list(None).unwrap();
    let commands: Vec<&str> = listed.iter().map(|server| server.command.as_str()).collect();
    assert!(commands.len() == 1 && commands[0].contains("/bin/mine"), "{commands:?}");
}

#[test]
fn a_table_of_the_user_without_a_command_agrees_to_nothing() {
    let scene = Scene::new();
    let started = scene.root().join("started");
    let server = format!(r#"{{"mcpServers": {{"files": {{"command": "touch", "args": [{started:?}]}}}}}}"#);
    scene.write(".mcp.json", &server);
    users_config(&scene, "[mcp.servers.files]\nenv = { TOKEN = \"1\" }\n");
    let listed = scene.engine.tools(Consent::Remembered, |_, _| ()).unwrap().list(None).unwrap();
    let error = listed[0].error.as_ref().unwrap().to_string();
    assert!(error.contains("server `files` is not trusted yet"), "{error}");
    assert!(!started.exists());
}
