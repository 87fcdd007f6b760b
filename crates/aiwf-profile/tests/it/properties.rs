//! Properties that hold for any files, any SQL and any names.

use std::collections::BTreeMap;

use aiwf_profile::{Files, Phase, Profile, component_preview, ddl, highlight};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::shipped::{jpa_context, profile, settle};

/// Text that resembles a manifest often enough to pass the first check.
fn toml_like() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("name = \"x\"".to_owned()),
        Just("description = \"d\"".to_owned()),
        "\\[(params|phases|scopes|layers|standards|commands|apply)(\\.[a-z]{1,8}){0,2}\\]",
        "(type|template|parser|action|default|choices|pattern|input|layers|help|of|target|root) = (\"[ -~]{0,12}\"|[0-9]{1,3}|true|\\[\"[a-z]{0,5}\"\\])",
        "[ -~]{0,30}",
        any::<String>(),
    ];
    prop::collection::vec(line, 0..25).prop_map(|lines| lines.join("\n"))
}

fn sql_like() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("CREATE TABLE".to_owned()),
        Just("ALTER TABLE".to_owned()),
        Just("ADD CONSTRAINT".to_owned()),
        Just("PRIMARY KEY".to_owned()),
        Just("FOREIGN KEY".to_owned()),
        Just("REFERENCES".to_owned()),
        Just("NOT NULL".to_owned()),
        Just("DEFAULT".to_owned()),
        Just("CHECK (".to_owned()),
        Just("varchar(20)".to_owned()),
        Just("tenant_id bigint".to_owned()),
        "[a-z]{1,6}",
        "[(),;.'\"`\\[\\]$#/*+=-]{1,4}",
        Just("\n".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn loading_never_panics(
        manifest in toml_like(),
        files in prop::collection::btree_map("[a-z/.]{1,12}", prop::collection::vec(any::<u8>(), 0..60), 0..5),
    ) {
        let mut files: Files = files;
        files.insert("profile.toml".to_owned(), manifest.into_bytes());
        if let Err(error) = Profile::load(files) {
            prop_assert!(!error.problems.is_empty());
            let _text = error.to_string();
        }
    }

    #[test]
    fn loading_a_damaged_profile_never_panics(
        which in 0_usize..100,
        at in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let mut files = aiwf_profile::built_in_profile("jpa-mt").unwrap();
        let n_files = files.len();
        let (_, content) = files.iter_mut().nth(which % n_files).unwrap();
        let at = at.index(content.len() + 1);
        let end = (at + bytes.len()).min(content.len());
        content.splice(at..end, bytes);
        if let Ok(profile) = Profile::load(files) {
            let _findings = profile.lint();
            let _bundle = profile.standards(&jpa_context("domain"), &aiwf_profile::ProjectStandards::default());
            for phase in Phase::ALL {
                let _prompt = profile.prompt(phase, &jpa_context("full"), &BTreeMap::new());
            }
        }
    }

    #[test]
    fn settling_never_panics_and_gives_prompts(value in any::<String>(), entity in "[A-Z][a-zA-Z0-9]{0,20}") {
        let profile = profile("jpa-mt");
        let mut given = Map::new();
        given.insert("entity".to_owned(), Value::String(value));
        prop_assert!(profile.settle(&given, &BTreeMap::new(), &BTreeMap::new()).is_err());
        let given = serde_json::json!({
            "entity": entity, "table": "t", "bounded-context": "c", "schema-file": "s.sql",
        });
        let settled = settle(profile, given, "create table t (id int);");
        for phase in Phase::ALL {
            let prompt = profile.prompt(phase, &settled.context, &settled.inputs).unwrap();
            prop_assert!(prompt.contains(&entity));
        }
    }

    #[test]
    fn reading_ddl_never_panics(sql in sql_like(), table in prop::option::of("[a-z]{0,5}")) {
        let report = ddl(&sql, table.as_deref(), &["tenant_id".to_owned()]);
        let _text = report.text();
        let n_lines = sql.matches('\n').count() + 1;
        prop_assert!(report.problems.iter().all(|problem| (1..=n_lines).contains(&problem.line)));
    }

    #[test]
    fn paths_in_the_project_stay_in_the_project(
        names in prop::collection::vec(prop_oneof!["[A-Za-z./\\\\:]{0,20}", any::<String>()], 1..4),
        content in prop_oneof![
            "package [a-z./ ]{0,20};",
            Just("package a.b;".to_owned()),
            any::<String>(),
        ],
        component in any::<String>(),
    ) {
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), content.as_str())).collect();
        let mut context = jpa_context("domain");
        context.insert("component".to_owned(), Value::String(component));
        for profile in [profile("jpa-mt"), profile("react-component")] {
            let Ok(paths) = profile.apply_paths(&files, &context) else { continue };
            prop_assert_eq!(paths.len(), files.len());
            for path in paths {
                prop_assert!(!path.starts_with(['/', '\\']) && !path.contains('\\') && !path.contains('\0'));
                prop_assert!(path.as_bytes().get(1) != Some(&b':'));
                let is_plain = |segment: &str| !matches!(segment, "" | "." | "..");
                prop_assert!(path.split('/').all(is_plain), "{}", path);
            }
        }
    }

    #[test]
    fn a_preview_never_panics_and_tokens_are_the_source(
        source in prop_oneof![
            any::<String>(),
            "(interface|type|export|const|function|[A-Za-z]{1,6}|[{}()<>:;,=?&|.'\"`/*\n ]){0,60}",
        ],
    ) {
        let joined: String = highlight(&source).iter().map(|(_, text)| *text).collect();
        prop_assert_eq!(&joined, &source);
        let with_type = format!("interface ButtonProps {{ {source} }} export function Button({{ {source} }}) {{}}");
        for text in [source.as_str(), with_type.as_str()] {
            if let Ok(preview) = component_preview(&[("Button.tsx", text)], Some("Button")) {
                let html = preview.html();
                prop_assert!(!html.contains("<script"));
                let _text = preview.text();
            }
        }
    }
}
