use std::path::Path;

use aiwf_session::{GatePattern, Role};

use super::*;

fn layer(file: ConfigFile, text: &str) -> ConfigLayer {
    let (layer, problems) = layer_reader::read(file, Path::new("/base"), text);
    assert_eq!(problems, []);
    layer
}

fn resolve(user: &str, project: &str, flags: &Flags) -> Config {
    Config::resolve([layer(ConfigFile::User, user), layer(ConfigFile::Project, project)], flags)
}

/// One entry as `value (origin)`.
fn shown(config: &Config, key: &str) -> String {
    let gate =
        key.strip_prefix("gates.\"").and_then(|key| GatePattern::parse(key.strip_suffix('"')?)?.gate());
    if let Some((phase, stage)) = gate {
        let gate = config.gates.get(phase, stage);
        return format!("{} ({})", gate.value, gate.origin);
    }
    let entries = config.entries();
    let entry = entries.iter().find(|entry| entry.key == key).expect("the setting has a value");
    format!("{} ({})", entry.value, entry.origin)
}

fn check(user: &str, project: &str, key: &str, expected: &str) {
    assert_eq!(shown(&resolve(user, project, &Flags::default()), key), expected);
}

#[test]
fn without_files_everything_is_a_default() {
    let entries = resolve("", "", &Flags::default()).entries();
    let listed: Vec<String> =
        entries.iter().map(|entry| format!("{} = {} ({})", entry.key, entry.value, entry.origin)).collect();
    insta::assert_snapshot!(listed.join("\n"), @"
    change.max_rounds = 3 (default)
    change.write = false (default)
    defaults.edit_form = search-replace (default)
    gates.default = manual (default)
    mcp.allow_unknown = false (default)
    roles.default = manual (default)
    roles.generator = manual (default)
    roles.planner = manual (default)
    roles.reviewer = manual (default)
    roles.reviser = manual (default)
    session.hash_prompts = true (default)
    session.max_iterations = 5 (default)
    session.max_template_mb = 64 (default)
    tools.enabled = true (default)
    tools.max_result_bytes = 32768 (default)
    tools.max_rounds = 10 (default)
    trust.adopt = ask (default)
    workflow.conditions = warn (default)
    workflow.files = true (default)
    workflow.max_read_bytes = 524288 (default)
    workflow.max_turns = 50 (default)
    workflow.max_write_bytes = 2097152 (default)
    workflow.result_preview_bytes = 65536 (default)
    ");
    assert!(entries.is_sorted());
}

#[test]
fn the_project_overrides_the_user() {
    let user = "[session]\nmax_iterations = 3\nhash_prompts = false\nbudget_tokens = 7";
    let project = "[session]\nmax_iterations = 4\n";
    check(user, "", "session.max_iterations", "3 (~/.aiwf/config.toml:2)");
    check(user, project, "session.max_iterations", "4 (.aiwf/config.toml:2)");
    check(user, project, "session.hash_prompts", "false (~/.aiwf/config.toml:3)");
    check(user, project, "session.budget_tokens", "7 (~/.aiwf/config.toml:4)");
}

#[test]
fn a_named_role_overrides_a_default_in_a_stronger_file() {
    let user = "[roles]\ndefault = \"a\"\ngenerator = \"b\"\n";
    let project = "[roles]\ndefault = \"c\"\n";
    check(user, project, "roles.generator", "b (~/.aiwf/config.toml:3)");
    check(user, project, "roles.planner", "c (.aiwf/config.toml:2)");
    check(user, "", "roles.planner", "a (~/.aiwf/config.toml:2)");
    let flags = Flags { roles: [(Role::GENERATOR, "d".to_owned())].into(), ..Flags::default() };
    assert_eq!(shown(&resolve(user, project, &flags), "roles.generator"), "d (--generator)");
}

#[test]
fn a_default_role_leaves_the_providers_alone() {
    let project = "[roles]\ndefault = \"x\"\n[providers.x]\nfs_ability = \"none\"\n";
    check("", project, "providers.x.fs_ability", "none (.aiwf/config.toml:4)");
}

#[test]
fn a_gate_comes_as_a_whole_from_the_strongest_file_that_names_it() {
    let user = "[gates]\n\"planning.prompt\" = { approver = \"ai:x\", max_retries = 2 }\n";
    let project = "[gates]\ndefault = \"skip\"\n";
    let key = "gates.\"planning.prompt\"";
    let options = "{ approver = \"ai:x\", max_retries = 2, allow_rewrite = false }";
    check(user, project, key, &format!("{options} (~/.aiwf/config.toml:2)"));
    check(user, project, "gates.\"revising.response\"", "skip (.aiwf/config.toml:2)");
    check(user, "[gates]\n\"planning.prompt\" = \"ai:y\"\n", key, "ai:y (.aiwf/config.toml:2)");
}

#[test]
fn the_narrowest_pattern_applies_and_a_flag_overrides_all() {
    let user =
        "[gates]\n\"planning.prompt\" = \"manual\"\n\"*.response\" = \"ai:x\"\n\"review.*\" = \"ai:y\"\n";
    let project = "[gates]\n\"*.prompt\" = \"skip\"\n";
    check(user, project, "gates.\"planning.prompt\"", "manual (~/.aiwf/config.toml:2)");
    check(user, project, "gates.\"plan.prompt\"", "skip (.aiwf/config.toml:2)");
    check(user, project, "gates.\"plan.response\"", "ai:x (~/.aiwf/config.toml:3)");
    check(user, project, "gates.\"review.response\"", "ai:y (~/.aiwf/config.toml:4)");
    check(user, project, "gates.\"review.prompt\"", "ai:y (~/.aiwf/config.toml:4)");
    let gates = [crate::parse_gate_flag("*=skip").unwrap()].into();
    let flagged = resolve(user, project, &Flags { gates, ..Flags::default() });
    assert_eq!(shown(&flagged, "gates.\"planning.prompt\""), "skip (--gate)");
}

#[test]
fn yes_skips_every_gate_without_its_own_flag() {
    let gates = [crate::parse_gate_flag("planning.prompt=manual").unwrap()].into();
    let flags = Flags { is_yes: true, gates, ..Flags::default() };
    let config = resolve("", "[gates]\n\"generating.response\" = \"ai:x\"\n", &flags);
    assert_eq!(shown(&config, "gates.\"generating.response\""), "skip (--yes)");
    assert_eq!(shown(&config, "gates.\"planning.prompt\""), "manual (--gate)");
}

#[test]
fn a_provider_is_merged_key_by_key() {
    let user = "[providers.x]\ntype = \"replay\"\ndir = \"tapes\"\nsupports_system_prompt = true\n";
    let project = "[providers.x]\nsupports_system_prompt = false\n";
    check(user, project, "providers.x.type", "replay (~/.aiwf/config.toml:2)");
    check(user, project, "providers.x.dir", "/base/tapes (~/.aiwf/config.toml:3)");
    check(user, project, "providers.x.supports_system_prompt", "false (.aiwf/config.toml:2)");
}

#[test]
fn a_providers_own_ability_overrides_the_default_and_the_flag_both() {
    let user = "[providers.x]\nfs_ability = \"none\"\n";
    let project = "[defaults]\nfs_ability = \"local-read\"\n[providers.y]\n";
    let ability = |flags: &Flags, provider: &str| {
        let config = resolve(user, project, flags);
        let own = config.providers.get(provider).and_then(|provider| provider.fs_ability.as_ref());
        let ability = own.or(config.defaults.fs_ability.as_ref());
        ability.map(|ability| (ability.value, ability.origin.to_string()))
    };
    let expect = |ability, origin: &str| Some((ability, origin.to_owned()));
    let none = Flags::default();
    assert_eq!(ability(&none, "x"), expect(FsAbility::None, "~/.aiwf/config.toml:2"));
    assert_eq!(ability(&none, "y"), expect(FsAbility::LocalRead, ".aiwf/config.toml:2"));
    assert_eq!(resolve("", "", &none).defaults.fs_ability, None);
}
