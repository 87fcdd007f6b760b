use std::path::Path;

use insta::assert_snapshot;

use super::*;
use crate::flags::Flags;
use crate::layer_reader;
use crate::origin::ConfigFile;

fn check(text: &str, flags: &Flags) -> String {
    check_file(ConfigFile::Project, text, flags)
}

fn check_file(file: ConfigFile, text: &str, flags: &Flags) -> String {
    let (layer, problems) = layer_reader::read(file, Path::new("/project"), text);
    assert_eq!(problems, []);
    match Config::resolve([layer], flags).check_providers(&["manual", "openai", "replay"]) {
        Ok(()) => "ok".to_owned(),
        Err(error) => error.with_hint(),
    }
}

#[test]
fn built_in_names_and_names_with_a_table_exist() {
    let text = "[roles]\ndefault = \"openai\"\nplanner = \"mine\"\n[gates]\ndefault = \"ai:mine\"\n\
                [providers.mine]\ntype = \"openai\"\n[providers.replay]\ndir = \"tapes\"\n";
    assert_eq!(check("", &Flags::default()), "ok");
    assert_eq!(check(text, &Flags::default()), "ok");
}

#[test]
fn an_unknown_provider_of_a_role_is_named_once_with_its_place() {
    assert_snapshot!(check("[roles]\ndefault = \"opnai\"\n", &Flags::default()), @"
    error: unknown provider `opnai`
     --> .aiwf/config.toml:2
    hint: did you mean `openai`? <ListProviders> lists all; a table `[providers.NAME]` adds one
    ");
}

#[test]
fn an_unknown_provider_of_a_flag_names_the_flag() {
    let flags = Flags { roles: [(aiwf_session::Role::PLANNER, "zzz".to_owned())].into(), ..Flags::default() };
    assert_snapshot!(check("", &flags), @"
    error: unknown provider `zzz`
     --> --planner
    hint: <ListProviders> lists all; a table `[providers.NAME]` adds one
    ");
}

#[test]
fn an_unknown_provider_of_a_gate_is_named() {
    assert_snapshot!(check("[gates]\n\"planning.prompt\" = \"ai:judge\"\n", &Flags::default()), @"
    error: unknown provider `judge`
     --> .aiwf/config.toml:2
    hint: <ListProviders> lists all; a table `[providers.NAME]` adds one
    ");
}

#[test]
fn a_project_cannot_redefine_a_built_in_provider() {
    let text = "[providers.openai]\ntype = \"replay\"\ndir = \"tapes\"\n";
    assert_snapshot!(check(text, &Flags::default()), @"
    error: provider `openai` is built in: a project cannot change its type to `replay`
     --> .aiwf/config.toml:2
    hint: choose another name, as in `[providers.my-provider]`
    ");
    assert_eq!(check_file(ConfigFile::User, text, &Flags::default()), "ok");
    assert_eq!(check("[providers.openai]\ntype = \"openai\"\nmodel = \"x\"\n", &Flags::default()), "ok");
}

#[test]
fn an_unknown_type_names_the_known_ones() {
    assert_snapshot!(check("[providers.x]\ntype = \"opnai\"\n", &Flags::default()), @"
    error: provider `x` has unknown type `opnai`
     --> .aiwf/config.toml:2
    hint: did you mean `openai`? known: `manual`, `openai`, `replay`
    ");
}

#[test]
fn a_custom_provider_needs_a_type() {
    assert_snapshot!(check("[providers.local]\nfs_ability = \"none\"\n", &Flags::default()), @"
    error: provider `local` has no `type`
     --> .aiwf/config.toml:1
    hint: add `type`, one of `manual`, `openai`, `replay`
    ");
}

#[test]
fn all_problems_are_reported_together() {
    assert_snapshot!(check("[roles]\nplanner = \"a\"\n[providers.b]\ntype = \"c\"\n", &Flags::default()), @"
    error: configuration has 2 problems
      .aiwf/config.toml:2: unknown provider `a`
      .aiwf/config.toml:4: provider `b` has unknown type `c`
    hint: start with the first: <ListProviders> lists all; a table `[providers.NAME]` adds one
    ");
}
