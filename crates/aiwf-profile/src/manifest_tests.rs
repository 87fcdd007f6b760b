use super::*;

/// The parts that every manifest needs, after `head`.
fn with_phases(head: &str) -> String {
    format!(
        "{head}\n[phases]\nplanning = {{template = \"t.md\", parser = \"plain\"}}\n\
         generating = {{template = \"t.md\", parser = \"file-markers\"}}\n\
         reviewing = {{template = \"t.md\", parser = \"review-meta\"}}\n\
         revising = {{template = \"t.md\", parser = \"file-markers\"}}\n"
    )
}

fn shown(problems: &[ProfileProblem]) -> String {
    let shown =
        |problem: &ProfileProblem| format!("{}: {} / {}", problem.line, problem.message, problem.hint);
    problems.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// The problems of a manifest with that head, as `line: message / hint`.
fn problems(head: &str) -> String {
    shown(&read_manifest(&with_phases(head), Shape::Unknown).1)
}

const NAMED: &str = "name = \"x\"\ndescription = \"d\"\n";

#[test]
fn names_of_profiles_are_plain_and_not_commands() {
    let name = |name: &str| problems(&format!("name = \"{name}\"\ndescription = \" \"\n"));
    insta::assert_snapshot!([name("Jpa MT"), name("a--b"), name("status")].join("\n"), @"
    1: `Jpa MT` cannot name a profile / use lower-case letters, digits and hyphens, starting with a letter
    2: the description is empty / describe in one line what the profile makes
    1: `a--b` cannot name a profile / use lower-case letters, digits and hyphens, starting with a letter
    2: the description is empty / describe in one line what the profile makes
    1: `status` is a command of aiwf and cannot name a profile / choose another name
    2: the description is empty / describe in one line what the profile makes
    ");
}

#[test]
fn invalid_parameters_are_reported() {
    let head = format!(
        "{NAMED}\
         [params.Entity]\ntype = \"string\"\n\
         [params.a]\ntype = \"string\"\npattern = \"[a-\"\nchoices = [\"x\"]\n\
         [params.b]\ntype = \"choice\"\n\
         [params.c]\ntype = \"choice\"\nchoices = [\"x\", \"x\", \"\"]\naliases = {{y = \"z\", x = \"x\"}}\ndefault = \"q\"\n\
         [params.d]\ntype = \"integer\"\nminimum = 5\nmaximum = 3\ndefault = \"four\"\n\
         [params.e]\ntype = \"boolean\"\nrequired = true\ndefault = true\nnegation = \"NO\"\n\
         [params.f]\ntype = \"file\"\ninput = \"lower\"\n\
         [params.g]\ntype = \"path\"\nminimum = 1\n"
    );
    insta::assert_snapshot!(problems(&head), @"
    3: `Entity` is not a name / use lower-case letters, digits and hyphens, starting with a letter
    8: a parameter of type `string` does not accept `choices` / remove the key
    7: pattern of `a` is not a regular expression: invalid range in character class / correct `pattern`
    9: choice `b` has no `choices` / list its values in `choices`
    13: choice `c` has the same value twice / write each value once; values cannot be empty
    13: choice `c` has an empty value / write each value once; values cannot be empty
    14: alias `x` is a value itself / make it refer to a value, with a name of its own
    14: alias `y` refers to unknown value `z` / make it refer to one of ``, `x`
    15: default of `c` is `q`, not one of `x`, `x`, `` / correct `default`, or remove it
    18: `minimum` is 5, but `maximum` is 3 / swap the two, or correct one of them
    20: default of `d` is `four`, not a whole number / correct `default`, or remove it
    25: `NO` is not a valid flag name / use lower-case letters, digits and hyphens, starting with a letter
    23: parameter `e` has a default, so it cannot be required / remove one of them
    31: a parameter of type `path` does not accept `minimum` / remove the key
    28: `lower` is not a valid variable name / use upper-case letters, digits and `_`
    ");
}

#[test]
fn flags_and_variables_have_one_meaning() {
    let head = format!(
        "{NAMED}\
         [params.json]\ntype = \"boolean\"\n\
         [params.layers]\ntype = \"list\"\n\
         [params.a]\ntype = \"boolean\"\nnegation = \"b\"\n\
         [params.b]\ntype = \"string\"\n\
         [params.c]\ntype = \"file\"\ninput = \"B\"\n"
    );
    insta::assert_snapshot!(problems(&head), @"
    3: `--json` is a flag of every `init` / choose another name
    5: variable `LAYERS` has two meanings / give the parameter another name, or set its `input`
    10: two parameters have the flag `--b` / give one of them another name
    12: variable `B` has two meanings / give the parameter another name, or set its `input`
    ");
}

#[test]
fn sets_of_a_choice_have_the_same_keys() {
    let head = format!(
        "{NAMED}\
         [params.a]\ntype = \"choice\"\nchoices = [\"p\", \"q\", \"r\"]\ninput = \"SET\"\n\
         [params.a.sets.p]\nx = \"1\"\nt = {{u = \"1\"}}\n\
         [params.a.sets.q]\nt = {{v = \"1\"}}\n\
         [params.a.sets.z]\nx = \"1\"\n\
         [params.b]\ntype = \"choice\"\nchoices = [\"p\"]\ninput = \"OTHER\"\n"
    );
    insta::assert_snapshot!(problems(&head), @"
    7: value `r` of `a` has no set / give every value a set, and every set the same keys
    7: set `p` has no `t.v`, which other sets have / give every value a set, and every set the same keys
    10: set `q` has no `t.u`, which other sets have / give every value a set, and every set the same keys
    10: set `q` has no `x`, which other sets have / give every value a set, and every set the same keys
    12: set `z` belongs to no value of `a` / give every value a set, and every set the same keys
    12: set `z` has no `t.u`, which other sets have / give every value a set, and every set the same keys
    12: set `z` has no `t.v`, which other sets have / give every value a set, and every set the same keys
    14: choice `b` needs both `sets` and `input`, or neither / add the other one, or remove both
    ");
}

#[test]
fn scopes_need_known_layers_and_their_parameter() {
    let head = format!(
        "{NAMED}\
         [layers.entity]\n[layers.Repo]\n\
         [scopes.domain]\nlayers = [\"entity\", \"entity\", \"repositry\"]\n\
         [scopes.none]\nlayers = []\n"
    );
    insta::assert_snapshot!(problems(&head), @r#"
    4: `Repo` is not a name / use lower-case letters, digits and hyphens, starting with a letter
    6: scope `domain` has layer `entity` twice / name each layer once
    6: scope `domain` has unknown layer `repositry` / did you mean `Repo`? known: `Repo`, `entity`
    8: scope `none` has no layer / name the layers of the scope in `layers`
    5: the profile has scopes but no parameter `scope` / add `[params.scope]` with `type = "choice"` and a default
    "#);
    let scope = |more: &str| {
        problems(&format!(
            "{NAMED}[layers.entity]\n[scopes.domain]\nlayers = [\"entity\"]\n[params.scope]\n{more}"
        ))
    };
    let faults = [
        scope("type = \"string\"\n"),
        scope("type = \"choice\"\nchoices = [\"domain\"]\ndefault = \"domain\"\n"),
        scope("type = \"choice\"\n"),
        scope("type = \"choice\"\ndefault = \"domian\"\n"),
    ];
    insta::assert_snapshot!(faults.join("\n"), @"
    7: the type of parameter `scope` must be `choice` / set its `type` to `choice`
    8: the choices of `scope` are the scopes, so it does not accept `choices` / remove the key
    6: parameter `scope` needs a default, or must be required / add `default` with the name of a scope, or `required = true`
    8: default of `scope` is `domian`, not one of `domain` / correct `default`, or remove it
    ");
}

#[test]
fn parsers_must_fit_their_phase() {
    let text = format!(
        "{NAMED}[phases]\nplanning = {{template = \"/t.md\", parser = \"review-meta\"}}\n\
         generating = {{template = \"../t.md\", parser = [\"file-marker\", \"fenced-files\"]}}\n\
         reviewing = {{template = \"t.md\", parser = []}}\n\
         revising = {{template = \"t.md\", parser = \"plain\"}}\n"
    );
    insta::assert_snapshot!(shown(&read_manifest(&text, Shape::Unknown).1), @"
    4: parser `review-meta` cannot read the reply of phase planning / known: `plain`
    4: template path `/t.md` is absolute / use a path below the directory, with `/` as the separator
    5: parser `file-marker` cannot read the reply of phase generating / did you mean `file-markers`? known: `file-markers`, `fenced-files`, `edits`
    5: template path `../t.md` leaves its directory / use a path below the directory, with `/` as the separator
    6: phase reviewing has no parser / name one in `parser`
    7: parser `plain` cannot read the reply of phase revising / known: `file-markers`, `fenced-files`, `edits`
    ");
}

#[test]
fn commands_name_actions_with_what_they_need() {
    let head = format!(
        "{NAMED}\
         [params.schema]\ntype = \"file\"\n[params.entity]\ntype = \"string\"\n\
         [commands.info]\naction = \"list\"\nof = \"scopes\"\n\
         [commands.a]\naction = \"list\"\n\
         [commands.b]\naction = \"ddl\"\nof = \"layers\"\n\
         [commands.c]\naction = \"ddl\"\nschema = \"entity\"\ntable = \"tabel\"\n\
         [commands.d]\naction = \"component-preview\"\ncomponent = \"entty\"\n\
         [commands.E]\naction = \"ddl\"\nschema = \"schema\"\n"
    );
    insta::assert_snapshot!(problems(&head), @r#"
    7: `info` is a command of every profile / choose another name
    9: command `info` lists something the profile does not have / add what it lists, or remove the command
    10: command `a` does not say what to list / add `of = "scopes"` or `of = "layers"`
    14: action `ddl` does not accept `of` / remove it: the action accepts `schema`, `table`, `tenant_columns`
    12: command `b` does not say which parameter contains the schema / add `schema` with the name of a file parameter
    17: parameter `entity` is not a file, so it cannot contain a schema / name a parameter of type `file`
    18: unknown parameter `tabel` / known: `schema`, `entity`
    21: unknown parameter `entty` / did you mean `entity`? known: `schema`, `entity`
    22: `E` is not a name / use lower-case letters, digits and hyphens, starting with a letter
    "#);
}

#[test]
fn standards_and_target_are_checked() {
    let head = format!(
        "{NAMED}\
         [params.tests]\ntype = \"boolean\"\n[params.topic]\ntype = \"string\"\n\
         [standards]\nprovider = \"scoped-layer-fs\"\nroot = \"/abs\"\n\
         [standards.layers]\n_universal = [\"../x.md\"]\nentity = []\n\
         [standards.when]\n\"tests=maybe\" = []\n\"test\" = []\n\"topic=a\" = []\n\
         [apply]\ntarget = \"srcs\"\n"
    );
    insta::assert_snapshot!(problems(&head), @"
    9: path `/abs` is absolute / use a path below the directory, with `/` as the separator
    12: standards for unknown layer `entity` / known: `_universal`
    15: unknown parameter `test` / did you mean `tests`? known: `tests`, `topic`
    14: value of `tests` is `maybe`, not true or false / write it like `PARAMETER=VALUE`, with a boolean or a choice
    16: parameter `topic` is neither a boolean nor a choice / write it like `PARAMETER=VALUE`, with a boolean or a choice
    11: path `../x.md` of `_universal` leaves its directory / use a path below the directory, with `/` as the separator
    18: target `srcs` is unknown and has neither `{name}` nor `{path}` / known: `java-package`, `flat`
    ");
    let yaml = format!(
        "{NAMED}[standards]\nprovider = \"yaml-rules\"\n[standards.layers]\n_universal = [\"a.md\"]\n"
    );
    insta::assert_snapshot!(problems(&yaml), @"5: provider `yaml-rules` does not accept `layers` / remove the key");
    let empty = format!("{NAMED}[standards]\nprovider = \"scoped-layer-fs\"\n");
    insta::assert_snapshot!(problems(&empty), @r#"3: provider `scoped-layer-fs` needs `layers` / add `[standards.layers]` with `_universal = ["FILE.md"]`"#);
}

#[test]
fn problems_of_shape_and_of_values_are_reported_together() {
    insta::assert_snapshot!(problems("name = \"status\"\ndescription = \"d\"\nauthor = \"me\"\n"), @r"
    3: unknown key `author` / known: `name`, `description`, `version`, `params`, `scopes`, `layers`, `phases`, `standards`, `commands`, `apply`
    1: `status` is a command of aiwf and cannot name a profile / choose another name
    ");
}

#[test]
fn parameters_keep_the_order_of_the_text() {
    let head = format!(
        "{NAMED}[params.z]\ntype = \"string\"\n[params.a]\ntype = \"string\"\n[params.m]\ntype = \"path\"\n"
    );
    let (manifest, problems) = read_manifest(&with_phases(&head), Shape::Unknown);
    assert_eq!(problems, []);
    let names: Vec<String> = manifest.unwrap().params.into_iter().map(|param| param.name).collect();
    assert_eq!(names, ["z", "a", "m"]);
}

#[test]
fn a_switch_that_is_on_can_be_switched_off() {
    let head = format!("{NAMED}[params.color]\ntype = \"boolean\"\ndefault = true\n");
    let (manifest, _) = read_manifest(&with_phases(&head), Shape::Unknown);
    assert_eq!(manifest.unwrap().params[0].negation(), Some("no-color"));
}

#[test]
fn a_manifest_with_too_many_parameters_is_refused_before_they_are_checked() {
    let params: Vec<String> =
        (0..20_000).map(|number| format!("[params.p{number}]\ntype = \"string\"\nhelp = \"h\"\n")).collect();
    let text = format!("name = \"many\"\ndescription = \"d\"\n{}", params.concat());
    let (manifest, problems) = read_manifest(&text, Shape::Unknown);
    assert!(manifest.is_none());
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["it has 20000 parameters, more than 1000"]);
}

/// The reported number of problems of a manifest with `n` of something, listed and in total.
fn told(text: &str) -> (usize, usize) {
    let (_, problems) = read_manifest(&with_phases(text), Shape::Unknown);
    let n_more = problems.last().and_then(|last| {
        let rest = last.message.strip_prefix("it has ")?.strip_suffix(" more problems")?;
        rest.parse::<usize>().ok()
    });
    let n_hint_bytes = problems.iter().map(|problem| problem.hint.len()).max().unwrap_or(0);
    assert!(n_hint_bytes < 5_000, "{n_hint_bytes}");
    match n_more {
        Some(n_more) => (problems.len() - 1, problems.len() - 1 + n_more),
        None => (problems.len(), problems.len()),
    }
}

#[test]
fn a_manifest_of_a_megabyte_is_read_despite_repetition() {
    const N: usize = 10_000;
    let all = |one: &dyn Fn(usize) -> String| (0..N).map(one).collect::<Vec<_>>();
    let of_choice = "[params.x]\ntype = \"choice\"\n";
    let values = all(&|n| format!("\"v{n}\"")).join(", ");
    let aliases = all(&|n| format!("a{n} = \"v{n}\"\n")).concat();
    let choice = format!("{NAMED}{of_choice}choices = [{values}]\n[params.x.aliases]\n{aliases}");
    assert_eq!(told(&choice), (0, 0));
    let (manifest, _) = read_manifest(&with_phases(&choice), Shape::Unknown);
    let last = manifest.unwrap().params[0].choices()[N - 1].clone();
    assert_eq!((last.name.as_str(), last.aliases), ("v9999", vec!["a9999".to_owned()]));

    let astray = all(&|n| format!("a{n} = \"w{n}\"\n")).concat();
    let text = format!("{NAMED}{of_choice}choices = [{values}]\n[params.x.aliases]\n{astray}");
    assert_eq!(told(&text), (MAX_PROBLEMS, N));

    // Each of these sets lacks the keys of all the others.
    let sets = all(&|n| format!("v{n} = {{ k{n} = 1 }}\n")).concat();
    let text = format!("{NAMED}{of_choice}input = \"X_SET\"\nchoices = [{values}]\n[params.x.sets]\n{sets}");
    assert_eq!(told(&text), (MAX_PROBLEMS, 11 * N));

    let layers = all(&|n| format!("[layers.l{n}]\nhelp = \"h\"\n")).concat();
    let unknown = all(&|n| format!("\"m{n}\"")).join(", ");
    let scopes = format!("[scopes.s]\nhelp = \"h\"\nlayers = [{unknown}]\n");
    let scope = "[params.scope]\ntype = \"choice\"\nrequired = true\n";
    assert_eq!(told(&format!("{NAMED}{scope}{layers}{scopes}")), (MAX_PROBLEMS, N));
}

#[test]
fn the_maximum_number_of_parameters_is_read_in_order() {
    let params: Vec<String> =
        (0..MAX_PARAMS).rev().map(|n| format!("[params.p{n}]\ntype = \"string\"\n")).collect();
    let (manifest, problems) =
        read_manifest(&with_phases(&format!("{NAMED}{}", params.concat())), Shape::Unknown);
    assert_eq!(problems, []);
    let names: Vec<String> = manifest.unwrap().params.into_iter().map(|param| param.name).collect();
    assert_eq!((names.len(), names[0].as_str(), names[999].as_str()), (1_000, "p999", "p0"));
}

#[test]
fn an_error_lists_the_first_problems_and_counts_the_rest() {
    let unknown = (0..250).map(|n| format!("key{n} = 1\n")).collect::<Vec<_>>().concat();
    let (_, problems) = read_manifest(&with_phases(&format!("{unknown}{NAMED}")), Shape::Unknown);
    let error = crate::problem::ProfileError::new(None, problems).to_string();
    assert!(error.starts_with("profile has 250 problems\n"), "{error}");
    assert!(error.ends_with("\n  and 150 more") && error.lines().count() == 102, "{error}");
}
