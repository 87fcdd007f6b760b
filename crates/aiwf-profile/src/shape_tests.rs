use super::*;
use crate::manifest_file::manifest_schema;

/// The problems of a manifest's shape, one per line.
fn problems(text: &str) -> String {
    let (document, syntax) = TomlDocument::parse("profile.toml", text);
    let shape = check_shape(&document, &manifest_schema());
    syntax
        .iter()
        .chain(&shape)
        .map(|problem| format!("{problem} / {}", problem.hint))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn unknown_keys_are_named_with_the_nearest_known_one() {
    insta::assert_snapshot!(
        problems("nam = \"x\"\n\n[phases.planning]\ntemplat = \"a.md\"\nparser = \"plain\"\n\n[params.x]\ntype = \"string\"\nrequierd = true\n"),
        @"
    profile.toml:1: unknown key `nam` / did you mean `name`? known: `name`, `description`, `version`, `params`, `scopes`, `layers`, `phases`, `standards`, `commands`, `apply`
    profile.toml:9: unknown key `requierd` in `params.x` / did you mean `required`? known: `type`, `help`, `required`, `default`, `pattern`, `pattern_help`, `choices`, `aliases`, `sets`, `input`, `negation`, `multiline`, `minimum`, `maximum`
    profile.toml:4: unknown key `templat` in `phases.planning` / did you mean `template`? known: `template`, `parser`
    profile.toml:3: `phases.planning` has no `template` / add `template`
    profile.toml:3: `phases` has no `generating` / add `generating`
    profile.toml:3: `phases` has no `reviewing` / add `reviewing`
    profile.toml:3: `phases` has no `revising` / add `revising`
    profile.toml:1: the manifest has no `name` / add `name`
    profile.toml:1: the manifest has no `description` / add `description`
    "
    );
}

#[test]
fn values_of_the_wrong_type_name_both_types() {
    insta::assert_snapshot!(
        problems(
            "name = 3\ndescription = [\"a\"]\nparams = \"no\"\n[phases]\nplanning = 1.5\n\
             generating = {template = true, parser = 1}\nreviewing = {template = \"a\", parser = [1]}\nrevising = 1979-05-27\n\
             [scopes.a]\nlayers = \"entity\"\n"
        ),
        @"
    profile.toml:2: `description` is a list, not a string / write a string there
    profile.toml:1: `name` is a whole number, not a string / write a string there
    profile.toml:3: `params` is a string, not a table / write a table there
    profile.toml:6: `phases.generating.parser` is a whole number, not a string or a list / write a string or a list there
    profile.toml:6: `phases.generating.template` is true or false, not a string / write a string there
    profile.toml:5: `phases.planning` is a number with a fraction, not a table / write a table there
    profile.toml:7: `phases.reviewing.parser` is a whole number, not a string / write a string there
    profile.toml:8: `phases.revising` is a date or time, not a table / write a table there
    profile.toml:10: `scopes.a.layers` is a string, not a list / write a list there
    "
    );
}

#[test]
fn values_outside_of_a_list_are_named_with_the_list() {
    insta::assert_snapshot!(
        problems(
            "name = \"x\"\ndescription = \"d\"\n[params.a]\ntype = \"strng\"\n[commands.c]\naction = \"sql\"\n\
             [standards]\nprovider = \"yaml-rule\"\n[phases]\nplanning = {template = \"a\", parser = \"plain\"}\n"
        ),
        @"
    profile.toml:6: `commands.c.action` is `sql`, which is unknown / known: `ddl`, `component-preview`, `list`
    profile.toml:4: `params.a.type` is `strng`, which is unknown / did you mean `string`? known: `string`, `integer`, `boolean`, `choice`, `file`, `files`, `path`, `list`
    profile.toml:9: `phases` has no `generating` / add `generating`
    profile.toml:9: `phases` has no `reviewing` / add `reviewing`
    profile.toml:9: `phases` has no `revising` / add `revising`
    profile.toml:8: `standards.provider` is `yaml-rule`, which is unknown / did you mean `yaml-rules`? known: `scoped-layer-fs`, `yaml-rules`
    "
    );
}

#[test]
fn all_syntax_errors_are_reported() {
    insta::assert_snapshot!(problems("name = \n[params\nx = 1\nx = 2\n"), @"
    profile.toml:2: not valid TOML: unclosed table, expected `]` / correct the line; strings need quotes, and a table starts with a name in brackets
    profile.toml:1: not valid TOML: string values must be quoted, expected literal string / correct the line; strings need quotes, and a table starts with a name in brackets
    profile.toml:4: unknown key `x` / known: `name`, `description`, `version`, `params`, `scopes`, `layers`, `phases`, `standards`, `commands`, `apply`
    profile.toml:1: the manifest has no `description` / add `description`
    profile.toml:1: the manifest has no `phases` / add `phases`
    ");
}

#[test]
fn defaults_and_sets_accept_every_type_of_value() {
    let text = "name = \"x\"\ndescription = \"d\"\n\
        [params.a]\ntype = \"choice\"\ndefault = \"p\"\nchoices = [\"p\"]\ninput = \"SET\"\n\
        sets = {p = {text = \"t\", number = 1, flag = true, list = [\"a\"], table = {k = \"v\"}}}\n\
        [params.b]\ntype = \"integer\"\ndefault = 3\n[params.c]\ntype = \"list\"\ndefault = [\"a\"]\n\
        [phases]\nplanning = {template = \"a\", parser = \"plain\"}\n\
        generating = {template = \"a\", parser = [\"file-markers\"]}\nreviewing = {template = \"a\", parser = \"review-meta\"}\n\
        revising = {template = \"a\", parser = \"file-markers\"}\n";
    assert_eq!(problems(text), "");
}
