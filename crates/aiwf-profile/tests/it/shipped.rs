//! The shipped profiles: what they offer, their rules, and how they read replies.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use aiwf_profile::{
    Action, ListOf, MatchedFile, Phase, PhaseValue, Profile, ReadFile, ReviewVerdict, Settled,
    built_in_profile, built_in_profiles,
};
use serde_json::{Map, Value, json};

/// A shipped profile, loaded once.
pub(crate) fn profile(name: &str) -> &'static Profile {
    static LOADED: LazyLock<BTreeMap<&str, Profile>> = LazyLock::new(|| {
        let load = |name: &str| Profile::load(built_in_profile(name).unwrap()).unwrap();
        built_in_profiles().iter().map(|(name, _)| (*name, load(name))).collect()
    });
    LOADED.get(name).unwrap()
}

/// Settles the given arguments, with `text` as the content of every wanted file.
pub(crate) fn settle(profile: &Profile, given: Value, text: &str) -> Settled {
    let Value::Object(given) = given else { panic!("not an object") };
    let files: BTreeMap<String, ReadFile> = profile
        .wanted_files(&given)
        .into_iter()
        .map(|file| (file.key, Ok(text.as_bytes().to_vec())))
        .collect();
    let matched: BTreeMap<String, Vec<MatchedFile>> = profile
        .wanted_patterns(&given)
        .into_iter()
        .map(|wanted| {
            let file = |path| MatchedFile { path, text: text.to_owned() };
            (wanted.key, wanted.patterns.into_iter().map(file).collect())
        })
        .collect();
    profile.settle(&given, &files, &matched).unwrap_or_else(|problems| panic!("{problems:?}"))
}

pub(crate) fn jpa_context(scope: &str) -> Map<String, Value> {
    settle(
        profile("jpa-mt"),
        json!({
            "entity": "Customer", "table": "customer", "bounded-context": "sales",
            "schema-file": "schema.sql", "scope": scope,
        }),
        "create table customer (id bigint primary key);",
    )
    .context
}

/// The files below a directory, by path with `/`.
fn files_below(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let relative = path.strip_prefix(root).unwrap();
                found.push(relative.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_file_of_the_profiles_directory_is_in_the_binary() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    // The tests of a profile are for its authors.
    let is_test = |file: &String| file.split('/').nth(1) == Some("tests");
    let on_disk: Vec<String> = files_below(&root).into_iter().filter(|file| !is_test(file)).collect();
    let embedded: Vec<String> = built_in_profiles()
        .iter()
        .flat_map(|(name, files)| files.iter().map(move |(path, _)| format!("{name}/{path}")))
        .collect();
    assert_eq!(on_disk, embedded);
}

#[test]
fn each_scope_gets_the_rules_of_its_prefixes_only() {
    let profile = profile("jpa-mt");
    let ids = |scope: &str| -> Vec<String> {
        let bundle = profile
            .standards(&jpa_context(scope), &aiwf_profile::ProjectStandards::default())
            .unwrap()
            .unwrap();
        let ids = bundle.lines().filter_map(|line| line.strip_prefix("- **")?.split_once('-'));
        let mut prefixes: Vec<String> = ids.map(|(prefix, _)| prefix.to_owned()).collect();
        prefixes.sort();
        prefixes.dedup();
        prefixes
    };
    assert_eq!(ids("domain"), ["DOM", "JPA", "JV", "MT", "NAM", "PKG"]);
    assert_eq!(ids("service"), ["JV", "MT", "NAM", "PKG", "SVC"]);
    assert_eq!(ids("api"), ["API", "CTL", "DTO", "JV", "MAP", "MT", "NAM", "PKG"]);
    let all = ["API", "CTL", "DOM", "DTO", "JPA", "JV", "MAP", "MT", "NAM", "PKG", "SVC"];
    assert_eq!(ids("full"), all);
}

#[test]
fn bundles_of_the_shipped_profiles() {
    let jpa = profile("jpa-mt");
    insta::assert_snapshot!(
        "standards_jpa_mt_full",
        jpa.standards(&jpa_context("full"), &aiwf_profile::ProjectStandards::default()).unwrap().unwrap()
    );
    let react = profile("react-component");
    let typescript = settle(react, json!({"component": "Button", "with-tests": true}), "").context;
    insta::assert_snapshot!(
        "standards_react_component_typescript_tests",
        react.standards(&typescript, &aiwf_profile::ProjectStandards::default()).unwrap().unwrap()
    );
    let javascript = settle(react, json!({"component": "Button", "typescript": false}), "").context;
    let bundle = react.standards(&javascript, &aiwf_profile::ProjectStandards::default()).unwrap().unwrap();
    let names: Vec<&str> = bundle.lines().filter(|line| line.starts_with("--- ")).collect();
    let expected = ["component.md", "accessibility.md", "styling.md", "javascript.md"];
    assert_eq!(names, expected.map(|name| format!("--- {name} ---")));
}

#[test]
fn everyday_profiles_change_the_project_under_short_standards_that_name_their_sources() {
    for name in ["python-module", "rust-crate", "typescript-module"] {
        let profile = profile(name);
        assert!(profile.gives_edits(Phase::Generating) && profile.gives_edits(Phase::Revising), "{name}");
        let context = settle(profile, json!({"request": "x"}), "").context;
        let bundle =
            profile.standards(&context, &aiwf_profile::ProjectStandards::default()).unwrap().unwrap();
        assert!(bundle.lines().count() <= 60, "{name}: {} lines", bundle.lines().count());
        assert_eq!(bundle.matches("\nSources: ").count(), 2, "{name}");
        insta::assert_snapshot!(format!("standards_{}", name.replace('-', "_")), bundle);
        let given = json!({"request": "x", "with-tests": false});
        let without = profile
            .standards(&settle(profile, given, "").context, &aiwf_profile::ProjectStandards::default());
        assert!(!without.unwrap().unwrap().contains("--- testing.md ---"), "{name}");
    }
}

#[test]
fn scopes_and_layers_are_listed_with_each_other() {
    let profile = profile("jpa-mt");
    let shown = |of: ListOf| -> Vec<String> {
        profile.list(of).iter().map(|row| format!("{}: {}", row.name, row.related.join(" "))).collect()
    };
    insta::assert_snapshot!(shown(ListOf::Scopes).join("\n"), @r"
    domain: entity repository
    service: service
    api: controller dto mapper
    full: entity repository service controller dto mapper
    ");
    insta::assert_snapshot!(shown(ListOf::Layers).join("\n"), @r"
    entity: domain full
    repository: domain full
    service: service full
    controller: api full
    dto: api full
    mapper: api full
    ");
}

#[test]
fn the_commands_use_shared_actions() {
    let shown: Vec<String> = ["jpa-mt", "react-component"]
        .into_iter()
        .flat_map(|name| {
            let profile = profile(name);
            let shown = |command: &aiwf_profile::Command| {
                format!("{name} {}: {}", command.name, command.action.as_str())
            };
            profile.commands().iter().map(shown).collect::<Vec<_>>()
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    jpa-mt scopes: list
    jpa-mt layers: list
    jpa-mt schema-info: ddl
    react-component preview: component-preview
    ");
    let jpa = profile("jpa-mt");
    let schema_info = jpa.commands().iter().find(|command| command.name == "schema-info").unwrap();
    assert!(matches!(&schema_info.action, Action::Ddl { schema, .. } if schema == "schema-file"));
}

#[test]
fn vertical_is_another_name_for_full() {
    assert_eq!(jpa_context("vertical").get("scope"), Some(&json!("full")));
}

#[test]
fn javascript_negates_typescript() {
    let profile = profile("react-component");
    let param = profile.params().iter().find(|param| param.name == "typescript").unwrap();
    assert_eq!(param.negation(), Some("javascript"));
    assert_eq!(param.default, Some(json!(true)));
}

#[test]
fn a_plan_is_any_text_that_is_not_blank() {
    let profile = profile("jpa-mt");
    let reply = profile.read(Phase::Planning, "# Plan\n");
    assert_eq!((reply.value, reply.problems.len()), (PhaseValue::Plan("# Plan\n".to_owned()), 0));
    assert_eq!(profile.read(Phase::Planning, " \n\t\n").problems.len(), 1);
}

#[test]
fn code_is_read_from_markers_or_from_fences() {
    let profile = profile("jpa-mt");
    let markers = "<<<FILE: Customer.java>>>\n    package a;\n\n    class Customer {}\n";
    let fences = "Here:\n\n```java\n// Customer.java\npackage a;\n\nclass Customer {}\n```\n";
    for reply in [markers, fences] {
        let read = profile.read(Phase::Generating, reply);
        assert_eq!(read.problems, []);
        let PhaseValue::Files(files) = read.value else { panic!("no files") };
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].path, "Customer.java");
        assert_eq!(files[0].content, "package a;\n\nclass Customer {}\n");
    }
    let read = profile.read(Phase::Generating, "I cannot do that.");
    assert_eq!(read.value, PhaseValue::Files(Vec::new()));
    assert_eq!(read.problems.len(), 1);
}

#[test]
fn a_pass_with_critical_issues_is_a_problem() {
    let profile = profile("jpa-mt");
    let reply = |verdict: &str, critical: u32| {
        format!(
            "@@@REVIEW_META\nverdict: {verdict}\nissues_total: 2\nissues_critical: {critical}\nmissing_inputs: 0\n@@@\n"
        )
    };
    let good = profile.read(Phase::Reviewing, &reply("PASS", 0));
    assert_eq!(good.problems, []);
    let PhaseValue::Review(review) = good.value else { panic!("no review") };
    assert_eq!(review.verdict, Some(ReviewVerdict::Pass));
    assert_eq!(review.issues_total, Some(2));
    assert_eq!(profile.read(Phase::Reviewing, &reply("PASS", 1)).problems.len(), 1);
    assert_eq!(profile.read(Phase::Reviewing, &reply("FAIL", 1)).problems, []);
}

#[test]
fn generated_files_go_where_the_profile_says() {
    let jpa = profile("jpa-mt");
    let context = jpa_context("domain");
    let files = [
        ("Customer.java", "package com.example.sales.entity;\nclass Customer {}\n"),
        (
            "CustomerRepository.java",
            "package com.example.sales.repository;\ninterface CustomerRepository {}\n",
        ),
    ];
    assert_eq!(
        jpa.apply_paths(&files, &context).unwrap(),
        [
            "src/main/java/com/example/sales/entity/Customer.java",
            "src/main/java/com/example/sales/repository/CustomerRepository.java"
        ]
    );
    let react = profile("react-component");
    let context = settle(react, json!({"component": "Button"}), "").context;
    let files = [("Button.tsx", ""), ("Button.module.css", ""), ("index.ts", "")];
    assert_eq!(
        react.apply_paths(&files, &context).unwrap(),
        [
            "src/components/Button/Button.tsx",
            "src/components/Button/Button.module.css",
            "src/components/Button/index.ts"
        ]
    );
}

#[test]
fn the_published_schema_is_unchanged() {
    let schema = serde_json::to_string_pretty(&aiwf_profile::manifest_schema()).unwrap();
    insta::assert_snapshot!("manifest_schema", schema);
}
