#![expect(clippy::disallowed_methods, reason = "tests write the configuration they read")]

use aiwf_config::Environment;

use super::*;

/// An engine with this configuration of its user.
fn engine(tables: &str) -> (tempfile::TempDir, Engine) {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("home/.aiwf")).unwrap();
    std::fs::write(root.path().join("home/.aiwf/config.toml"), tables).unwrap();
    let environment = Environment {
        current_dir: root.path().to_owned(),
        home: Some(root.path().join("home")),
        ..Environment::default()
    };
    let engine = Engine::new(Settings::resolve(Some(root.path()), environment).unwrap());
    (root, engine)
}

fn config(engine: &Engine) -> Config {
    load_config(engine.settings(), &Flags::default()).unwrap()
}

#[test]
fn agents_and_commands_that_say_so_edit_files() {
    let tables = "[providers.mine]\ntype = \"command\"\nargv = [\"mine\"]\nwrite = true\n\
                  [providers.reader]\ntype = \"command\"\nargv = [\"reader\"]\n\
                  [providers.alias]\ntype = \"codex\"\n";
    let (_root, engine) = engine(tables);
    let config = config(&engine);
    let writers = ["claude-code", "codex", "gemini-cli", "mine", "alias"];
    let others = ["manual", "anthropic", "openai", "gemini", "reader", "command", "replay", "unknown"];
    assert!(writers.iter().all(|name| writes_files(name, &config)));
    assert!(!others.iter().any(|name| writes_files(name, &config)));
}

#[test]
fn a_model_that_a_flag_names_is_that_of_one_provider() {
    let (_root, engine) = engine("[providers.openai]\nmodel = \"configured\"\n");
    let model = |engine: &Engine, name: &str| setting(name, &config(engine)).model;
    assert_eq!(model(&engine, "openai").as_deref(), Some("configured"));
    let flagged = engine.clone().with_model_of("openai", "flagged").with_model_of("claude-code", "opus");
    assert_eq!(model(&flagged, "openai").as_deref(), Some("flagged"));
    assert_eq!(model(&flagged, "claude-code").as_deref(), Some("opus"));
    assert_eq!(model(&flagged, "codex"), None);
    assert_eq!(model(&flagged, "gemini"), model(&engine, "gemini"));
    assert_eq!(model(&engine, "openai").as_deref(), Some("configured"));
    let unknown = engine.with_model_of("opnai", "m");
    assert!(refuse_unknown("opnai", &config(&unknown), String::new).is_err());
}

#[test]
fn a_default_ability_is_that_of_receivers_that_do_not_say() {
    let (_root, engine) = engine("[providers.claude-code]\nfs_ability = \"local-read\"\n");
    let config = config(&engine);
    let of = |name: &str, flag: Option<FsAbility>| {
        let wanted = RequestedAbility {
            fs_ability: flag,
            default_fs_ability: Some(FsAbility::None),
            ..RequestedAbility::default()
        };
        let ability = resolve(Some(name), &config, wanted, Duty::Read, "plan-1").unwrap();
        (ability.capability.fs_ability, ability.permission)
    };
    assert_eq!(of("manual", None), (Some(FsAbility::None), Permission::ReadOnly));
    assert_eq!(of("manual", Some(FsAbility::LocalWrite)).0, Some(FsAbility::LocalWrite));
    assert_eq!(of("claude-code", None).0, Some(FsAbility::LocalRead));
    let without = ability("manual", &config, None, Duty::Read, "plan-1").unwrap();
    assert_eq!(without.capability.fs_ability, Some(FsAbility::LocalWrite));
}
