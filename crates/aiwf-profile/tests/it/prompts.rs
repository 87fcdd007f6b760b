//! Every prompt of the shipped profiles, one file per phase and scope or variant, reviewed as a diff.

use aiwf_profile::{Phase, Profile};
use serde_json::{Value, json};

use crate::shipped::{profile, settle};

const DDL: &str = "\
CREATE TABLE customer (
    id         BIGINT PRIMARY KEY,
    tenant_id  BIGINT NOT NULL,
    email      VARCHAR(254) NOT NULL,
    UNIQUE (tenant_id, email)
);
";

/// Snapshots the prompts of all phases.
fn check(profile: &Profile, name: &str, given: &Value) {
    let settled = settle(profile, given.clone(), DDL);
    for phase in Phase::ALL {
        let prompt = profile
            .prompt(phase, &settled.context, &settled.inputs)
            .unwrap_or_else(|error| panic!("{error}"));
        insta::assert_snapshot!(format!("{}_{name}_{phase}", profile.name().replace('-', "_")), prompt);
    }
}

fn jpa(more: &Value) -> Value {
    let mut given = json!({
        "entity": "Customer", "table": "customer", "bounded-context": "sales", "schema-file": "schema.sql",
    });
    given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    given
}

#[test]
fn jpa_mt_per_scope() {
    let profile = profile("jpa-mt");
    for scope in ["domain", "service", "api", "full"] {
        check(profile, scope, &jpa(&json!({"scope": scope})));
    }
}

#[test]
fn jpa_mt_per_conventions() {
    let profile = profile("jpa-mt");
    check(
        profile,
        "full_feature",
        &jpa(&json!({"scope": "full", "conventions": "feature", "base-package": "org.shop"})),
    );
    check(
        profile,
        "full_lombok_design",
        &jpa(&json!({"scope": "full", "conventions": "lombok", "design": "d.md"})),
    );
}

#[test]
fn react_component_per_variant() {
    let profile = profile("react-component");
    for variant in ["primary", "secondary", "ghost", "link"] {
        check(profile, variant, &json!({"component": "Button", "variant": variant}));
    }
}

#[test]
fn react_component_with_tests_and_in_javascript() {
    let profile = profile("react-component");
    check(
        profile,
        "javascript_tests",
        &json!({"component": "Badge", "typescript": false, "with-tests": true, "purpose": "shows a count", "design": "d.md"}),
    );
}

const REQUEST: &str = "Add a flag.\n\nIt prints JSON.";

#[test]
fn everyday_profiles_with_and_without_files_and_tests() {
    let all = [
        ("python-module", "src/list.py", json!({"python": "3.12", "test-runner": "unittest"})),
        ("rust-crate", "src/list.rs", json!({"edition": "2021", "dependencies": true})),
        ("typescript-module", "src/list.ts", json!({"runtime": "any", "test-runner": "node"})),
    ];
    for (name, file, more) in all {
        let profile = profile(name);
        check(profile, "defaults", &json!({"request": REQUEST, "file": [file, "README.md"]}));
        let mut given = more;
        given
            .as_object_mut()
            .unwrap()
            .extend([("request".to_owned(), json!(REQUEST)), ("with-tests".to_owned(), json!(false))]);
        check(profile, "no_tests", &given);
    }
}

#[test]
fn no_prompt_has_blank_gaps_or_leftovers() {
    for (name, given) in [
        ("jpa-mt", jpa(&json!({"scope": "full"}))),
        ("jpa-mt", jpa(&json!({"scope": "service"}))),
        ("react-component", json!({"component": "Button"})),
        ("python-module", json!({"request": REQUEST, "file": ["src/list.py"]})),
        ("rust-crate", json!({"request": REQUEST, "with-tests": false})),
        ("typescript-module", json!({"request": REQUEST, "file": ["src/list.ts"]})),
        ("react-component", json!({"component": "Button", "javascript": true, "with-tests": true})),
    ] {
        let profile = profile(name);
        let mut given = given;
        given.as_object_mut().unwrap().remove("javascript");
        let settled = settle(profile, given, DDL);
        for phase in Phase::ALL {
            let prompt = profile.prompt(phase, &settled.context, &settled.inputs).unwrap();
            assert!(!prompt.contains("\n\n\n"), "{name} {phase}: two blank lines");
            assert!(!prompt.contains("{{") && !prompt.contains("{%"), "{name} {phase}: template syntax");
            assert!(
                !prompt.lines().any(|line| line.ends_with(' ')),
                "{name} {phase}: blanks at the end of a line"
            );
            assert!(prompt.ends_with('\n') && !prompt.starts_with('\n'), "{name} {phase}: ends");
        }
    }
}
