//! Every kind of problem, each triggered by a profile, listed in one place for review.

use std::fmt::Write as _;

use serde_json::json;

use super::ProfileProblemKind as Kind;
use crate::problem::ProfileProblem;
use crate::profile::{Files, MAX_FILE_BYTES, MAX_FILES, MAX_PROFILE_BYTES, Profile};

const HEAD: &str = "name = \"notes\"\ndescription = \"Notes\"\n";
const PHASES: &str = r#"[phases]
planning = {template = "plan.md", parser = "plain"}
generating = {template = "write.md", parser = "file-markers"}
reviewing = {template = "review.md", parser = "review-meta"}
revising = {template = "write.md", parser = "file-markers"}
"#;
const YAML: &str = "[standards]\nprovider = \"yaml-rules\"\n";
const LAYERED: &str =
    "[standards]\nprovider = \"scoped-layer-fs\"\n[standards.layers]\n_universal = [\"a.md\"]\n";

fn with_manifest(text: &str) -> Files {
    let files = [("profile.toml", text), ("plan.md", "Plan"), ("write.md", "Write"), ("review.md", "Review")];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect()
}

/// A profile with additions to its manifest.
fn with(more: &str) -> Files {
    with_manifest(&format!("{HEAD}{PHASES}{more}"))
}

fn and(mut files: Files, path: &str, bytes: impl AsRef<[u8]>) -> Files {
    files.insert(path.to_owned(), bytes.as_ref().to_vec());
    files
}

fn without(mut files: Files, path: &str) -> Files {
    files.remove(path);
    files
}

fn rules(text: &str) -> Files {
    and(with(YAML), "standards/a.rules.yml", text)
}

/// Profiles with the problem; a new kind does not compile without one.
fn profiles_with(kind: Kind) -> Vec<Files> {
    let choice = |more: &str| with(&format!("[params.a]\ntype = \"choice\"\n{more}"));
    let scoped = |more: &str| {
        with(&format!("[layers.entity]\n[scopes.domain]\nlayers = [\"entity\"]\nrules = [\"JPA\"]\n{more}"))
    };
    match kind {
        Kind::NoManifest => vec![without(with(""), "profile.toml")],
        Kind::NotUtf8 => vec![
            and(with(""), "profile.toml", [0xff]),
            and(with(""), "plan.md", [b'a', 0xff]),
            and(with(LAYERED), "standards/a.md", [b'a', 0xff]),
            and(with(YAML), "standards/a.rules.yml", [b'a', 0xff]),
        ],
        Kind::TooManyFiles => vec![(0..=MAX_FILES).map(|idx| (format!("f{idx}"), Vec::new())).collect()],
        Kind::TooLarge => {
            let large = (0..=MAX_PROFILE_BYTES / MAX_FILE_BYTES)
                .fold(with(""), |files, idx| and(files, &format!("{idx}.bin"), vec![0; MAX_FILE_BYTES]));
            vec![and(with(""), "big.bin", vec![0; MAX_FILE_BYTES + 1]), large]
        }
        Kind::BadPath => vec![
            and(with(""), "../x", ""),
            with_manifest(&format!("{HEAD}{PHASES}").replace("plan.md", "/plan.md")),
            with("[standards]\nprovider = \"yaml-rules\"\nroot = \"/abs\"\n"),
            with(&LAYERED.replace("a.md", "../a.md")),
        ],
        Kind::NotToml => vec![with_manifest("name = \n")],
        Kind::UnknownKey => vec![
            with("[params.a]\ntyp = \"string\"\ntype = \"string\"\n"),
            rules("JPA-001: {text: a, level: b}"),
        ],
        Kind::MissingKey => vec![with_manifest(PHASES), with("[params.a]\n")],
        Kind::WrongType => vec![with_manifest(&format!("name = 7\ndescription = \"d\"\n{PHASES}"))],
        Kind::UnknownValue => vec![with("[params.a]\ntype = \"strng\"\n")],
        Kind::NoDescription => {
            vec![with_manifest(&format!("name = \"notes\"\ndescription = \" \"\n{PHASES}"))]
        }
        Kind::BadName => vec![
            with_manifest(&format!("name = \"My Notes\"\ndescription = \"d\"\n{PHASES}")),
            with("[params.Entity]\ntype = \"string\"\n"),
            with("[params.a]\ntype = \"boolean\"\nnegation = \"NO\"\n"),
        ],
        Kind::TakenName => vec![
            with_manifest(&format!("name = \"status\"\ndescription = \"d\"\n{PHASES}")),
            with("[params.json]\ntype = \"boolean\"\n"),
            scoped("[commands.info]\naction = \"list\"\nof = \"layers\"\n"),
        ],
        Kind::UselessKey => vec![
            with("[params.a]\ntype = \"path\"\nminimum = 1\n"),
            with("[params.a]\ntype = \"string\"\nmultiline = true\npattern = \"x\"\n"),
            with_manifest(&format!(
                "{HEAD}{}[apply]\ntarget = \"flat\"\n",
                PHASES.replace("file-markers", "edits")
            )),
            scoped("[params.scope]\ntype = \"choice\"\nchoices = [\"domain\"]\ndefault = \"domain\"\n"),
            scoped("[commands.a]\naction = \"list\"\nof = \"layers\"\ntable = \"x\"\n"),
            with(&LAYERED.replace("scoped-layer-fs", "yaml-rules")),
        ],
        Kind::UnknownLayer => vec![
            with("[layers.entity]\n[scopes.domain]\nlayers = [\"entty\"]\n"),
            with(&LAYERED.replace("_universal", "entity")),
        ],
        Kind::RepeatedLayer => {
            vec![with("[layers.entity]\n[scopes.domain]\nlayers = [\"entity\", \"entity\"]\n")]
        }
        Kind::NoLayer => vec![with("[layers.entity]\n[scopes.domain]\nlayers = []\n")],
        Kind::UnfitParser => {
            vec![with_manifest(&format!("{HEAD}{PHASES}").replace("\"plain\"", "\"review-meta\""))]
        }
        Kind::MixedParsers => {
            vec![with_manifest(&format!("{HEAD}{PHASES}").replacen("\"file-markers\"", "\"edits\"", 1))]
        }
        Kind::NoParser => vec![with_manifest(&format!("{HEAD}{PHASES}").replace("\"plain\"", "[]"))],
        Kind::NoTemplate => vec![without(with(""), "plan.md")],
        Kind::EmptyTemplate => vec![and(with(""), "plan.md", " \n")],
        Kind::BadTemplate => vec![
            and(with(""), "plan.md", "\n{{ TOPIK }}"),
            and(with(""), "plan.md", "{% if %}"),
            and(with(""), "plan.md", format!("{{{{ {}1{} }}}}", "(".repeat(1000), ")".repeat(1000))),
        ],
        Kind::NothingToList => vec![with("[commands.a]\naction = \"list\"\n")],
        Kind::EmptyList => vec![with("[commands.a]\naction = \"list\"\nof = \"layers\"\n")],
        Kind::NoSchema => vec![with("[commands.a]\naction = \"ddl\"\n")],
        Kind::SchemaNotAFile => {
            vec![with("[params.a]\ntype = \"string\"\n[commands.a]\naction = \"ddl\"\nschema = \"a\"\n")]
        }
        Kind::UnknownParameter => {
            vec![with("[commands.a]\naction = \"component-preview\"\ncomponent = \"x\"\n")]
        }
        Kind::NoScopeParameter => vec![scoped("")],
        Kind::ScopeNotAChoice => vec![scoped("[params.scope]\ntype = \"string\"\n")],
        Kind::NoScopeDefault => vec![scoped("[params.scope]\ntype = \"choice\"\n")],
        Kind::BadDefault => vec![
            choice("choices = [\"x\"]\ndefault = \"q\"\n"),
            with("[params.a]\ntype = \"integer\"\ndefault = \"four\"\n"),
        ],
        Kind::DefaultOfRequired => {
            vec![with("[params.a]\ntype = \"string\"\nrequired = true\ndefault = \"x\"\n")]
        }
        Kind::MinimumOverMaximum => vec![with("[params.a]\ntype = \"integer\"\nminimum = 5\nmaximum = 3\n")],
        Kind::SetsWithoutInput => vec![choice("choices = [\"x\"]\ninput = \"SET\"\n")],
        Kind::BadPattern => vec![with("[params.a]\ntype = \"string\"\npattern = \"[a-\"\n")],
        Kind::NoChoices => vec![choice("")],
        Kind::BadChoices => vec![choice("choices = [\"x\", \"x\"]\n"), choice("choices = [\"x\", \"\"]\n")],
        Kind::BadAlias => vec![
            choice("choices = [\"x\"]\naliases = {y = \"z\"}\n"),
            choice("choices = [\"x\"]\naliases = {x = \"x\"}\n"),
        ],
        Kind::BadSets => {
            let sets = |sets: &str| choice(&format!("choices = [\"p\", \"q\"]\ninput = \"SET\"\n{sets}"));
            vec![
                sets("[params.a.sets.p]\nx = \"1\"\n"),
                sets("[params.a.sets.p]\nx = \"1\"\n[params.a.sets.q]\n"),
                sets("[params.a.sets.p]\n[params.a.sets.q]\n[params.a.sets.z]\n"),
            ]
        }
        Kind::SharedFlag => {
            vec![with("[params.a]\ntype = \"boolean\"\nnegation = \"b\"\n[params.b]\ntype = \"string\"\n")]
        }
        Kind::BadVariable => vec![with("[params.a]\ntype = \"file\"\ninput = \"lower\"\n")],
        Kind::SharedVariable => vec![with("[params.layers]\ntype = \"list\"\n")],
        Kind::NoStandards => vec![with("[standards]\nprovider = \"scoped-layer-fs\"\n")],
        Kind::BadCondition => {
            let when = |condition: &str| {
                let params = "[params.tests]\ntype = \"boolean\"\n[params.topic]\ntype = \"string\"\n";
                with(&format!("{params}{LAYERED}[standards.when]\n\"{condition}\" = []\n"))
            };
            vec![when("test"), when("tests=maybe"), when("topic=a")]
        }
        Kind::NoStandardsFile => vec![and(with(LAYERED), "standards/b.md", "")],
        // A problem of a session rather than of files: see below.
        Kind::UnknownScope | Kind::NoRulesForScope => {
            let scope = "[params.scope]\ntype = \"choice\"\ndefault = \"domain\"\n";
            vec![and(scoped(&format!("{scope}{YAML}")), "standards/a.rules.yml", "REST-001: \"C: a\"")]
        }
        Kind::BadTarget => {
            let targets = ["srcs", "src/{name", "src/{nam}/{path}", "/abs/{name}"];
            let target = |target: &str| with(&format!("[apply]\ntarget = \"{target}\"\n"));
            let mut profiles: Vec<Files> = targets.into_iter().map(target).collect();
            profiles.push(with("[apply]\ntarget = \"src/{name}\"\nroot = \"x\"\n"));
            profiles.push(with("[apply]\ntarget = \"flat\"\nroot = \"/x\"\n"));
            profiles
        }
        Kind::NotYaml => vec![rules("a: [")],
        Kind::NotARule => vec![
            rules("7"),
            rules("JPA: \"C: a\""),
            rules("- 7"),
            rules("- {text: a}"),
            rules("- {id: jpa, text: a}"),
        ],
        Kind::EmptyRule => vec![rules("JPA-001: \"C: \""), rules("JPA-001: {severity: C}")],
        Kind::BadSeverity => vec![rules("JPA-001: {severity: X, text: a}")],
        Kind::RepeatedRule => vec![
            rules("a:\n  JPA-001: \"C: a\"\nb:\n  JPA-001: \"C: b\""),
            and(rules("JPA-001: \"C: a\""), "standards/b.rules.yml", "JPA-001: \"C: b\""),
        ],
        Kind::NoRules => vec![rules("title: Nothing"), and(with(YAML), "standards/a.md", "")],
    }
}

/// The problems of a profile, or of what a session builds from it.
fn problems_of(files: Files, kind: Kind) -> Vec<ProfileProblem> {
    let profile = match Profile::load(files) {
        Ok(profile) => profile,
        Err(error) => return error.problems,
    };
    let scope = if kind == Kind::UnknownScope { "domian" } else { "domain" };
    let context = json!({ "scope": scope });
    match profile.standards(context.as_object().unwrap(), &crate::ProjectStandards::default()) {
        Ok(_) => Vec::new(),
        Err(error) => error.problems,
    }
}

#[test]
fn every_problem_is_listed_with_one_thing_to_do() {
    let (mut page, mut lost) = (String::new(), String::new());
    for kind in Kind::ALL {
        let _ = writeln!(page, "── {kind:?}");
        for files in profiles_with(*kind) {
            let problems = problems_of(files, *kind);
            let found: Vec<_> = problems.iter().filter(|problem| problem.kind == *kind).collect();
            if found.is_empty() {
                let _ = writeln!(lost, "{kind:?}: {problems:#?}");
            }
            for problem in found {
                let _ = writeln!(page, "{problem}\n  hint: {}", problem.hint);
                for text in [&problem.message, &problem.hint] {
                    let is_plain = !text.is_empty() && !text.contains('\n') && !text.ends_with('.');
                    assert!(is_plain && !text.starts_with(char::is_uppercase), "{text}");
                }
            }
        }
        page.push('\n');
    }
    assert!(lost.is_empty(), "{lost}");
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("problems", page);
    });
}
