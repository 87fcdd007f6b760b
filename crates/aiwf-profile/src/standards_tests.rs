use serde_json::json;

use super::*;

fn files<'a>(entries: &'a [(&'a str, &'a str)]) -> RuleFiles<'a> {
    entries.iter().map(|(path, text)| (*path, file(text.as_bytes()))).collect()
}

fn file(bytes: &[u8]) -> RuleFile<'_> {
    RuleFile { bytes, source: None }
}

fn config(provider: Provider) -> StandardsConfig {
    StandardsConfig { root: "standards".to_owned(), line: 7, provider }
}

fn layered() -> StandardsConfig {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let layers = BTreeMap::from([
        (UNIVERSAL.to_owned(), list(&["java.md", "names.md"])),
        ("entity".to_owned(), list(&["entity.md", "names.md"])),
        ("service".to_owned(), list(&["service.md"])),
    ]);
    let when =
        vec![Condition { key: "with_tests".to_owned(), value: json!(true), files: list(&["tests.md"]) }];
    config(Provider::ScopedLayerFs { layers, when })
}

fn scopes() -> Vec<Scope> {
    let scope = |name: &str, layers: &[&str], rules: &[&str]| Scope {
        name: name.to_owned(),
        help: String::new(),
        layers: layers.iter().map(|layer| (*layer).to_owned()).collect(),
        rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
    };
    vec![
        scope("domain", &["entity"], &["JPA-"]),
        scope("full", &["service", "entity"], &[]),
        scope("odd", &[], &["ZZ-"]),
    ]
}

fn context(scope: &str) -> Map<String, Value> {
    json!({"scope": scope, "with_tests": scope == "full"}).as_object().unwrap().clone()
}

fn shown(problems: &[ProfileProblem]) -> String {
    let shown = |problem: &ProfileProblem| format!("{problem} / {}", problem.hint);
    problems.iter().map(shown).collect::<Vec<_>>().join("\n")
}

#[test]
fn files_are_in_scope_order_and_occur_once() {
    let all = [
        ("java.md", "java"),
        ("names.md", "names\n"),
        ("entity.md", "entity\n"),
        ("service.md", "service"),
        ("tests.md", "tests"),
    ];
    let bundle = |scope: &str| {
        layered().bundle(&context(scope), &scopes(), files(&all), &ProjectStandards::default()).unwrap()
    };
    insta::assert_snapshot!(bundle("domain"), @r"
    --- java.md ---
    java
    --- names.md ---
    names
    --- entity.md ---
    entity
    ");
    insta::assert_snapshot!(bundle("full"), @r"
    --- java.md ---
    java
    --- names.md ---
    names
    --- service.md ---
    service
    --- entity.md ---
    entity
    --- tests.md ---
    tests
    ");
}

#[test]
fn files_that_are_missing_or_not_text_are_reported_by_name() {
    let some: RuleFiles<'_> = BTreeMap::from([
        ("java.md", file(b"a\n\xff")),
        ("entity.md", file(b"x")),
        ("service.md", file(b"x")),
    ]);
    insta::assert_snapshot!(shown(&layered().check(&some)), @"
    standards/java.md:2: not UTF-8 text / save the file as UTF-8
    profile.toml:7: standards file `standards/names.md` does not exist / known: `entity.md`, `java.md`, `service.md`
    profile.toml:7: standards file `standards/tests.md` does not exist / did you mean `entity.md`? known: `entity.md`, `java.md`, `service.md`
    ");
    insta::assert_snapshot!(shown(&layered().bundle(&context("domain"), &scopes(), some.clone(), &ProjectStandards::default()).unwrap_err()), @"
    standards/java.md:2: not UTF-8 text / save the file as UTF-8
    profile.toml:7: standards file `standards/names.md` does not exist / known: `entity.md`, `java.md`, `service.md`
    ");
}

#[test]
fn rules_are_grouped_by_category_and_filtered_by_scope() {
    let rules = [
        ("jpa_mapping.rules.yml", "keys:\n  JPA-001: \"C: first\"\n  deep:\n    JPA-002: 'm: second'\n"),
        (
            "service.rules.yml",
            "title: Services\nlist:\n- {id: SVC-001, severity: M, text: third}\n- id: SVC-002\n  text: >\n    fourth\n    rule\n",
        ),
        ("README.md", "not a rule"),
    ];
    let bundle = |scope: &str| {
        config(Provider::YamlRules).bundle(
            &context(scope),
            &scopes(),
            files(&rules),
            &ProjectStandards::default(),
        )
    };
    insta::assert_snapshot!(bundle("domain").unwrap(), @r"
    Severity: C = critical, M = major, m = minor.

    ### JPA Mapping Standards

    - **JPA-001** (C): first
    - **JPA-002** (m): second
    ");
    insta::assert_snapshot!(bundle("full").unwrap(), @r"
    Severity: C = critical, M = major, m = minor.

    ### JPA Mapping Standards

    - **JPA-001** (C): first
    - **JPA-002** (m): second

    ### Services

    - **SVC-001** (M): third
    - **SVC-002** (M): fourth rule
    ");
    insta::assert_snapshot!(shown(&bundle("odd").unwrap_err()), @"standards: no rule is for scope `odd` / check `rules` of the scope in `profile.toml`");
    insta::assert_snapshot!(shown(&bundle("ful").unwrap_err()), @"profile.toml: unknown scope `ful` / did you mean `full`? known: `domain`, `full`, `odd`");
}

#[test]
fn a_profile_without_scopes_gets_all_rules() {
    let rules = [("a.rules.yml", "A-1: \"C: x\"\n"), ("b.rules.yaml", "- {id: B-1, text: y}\n")];
    let bundle = config(Provider::YamlRules)
        .bundle(&Map::new(), &[], files(&rules), &ProjectStandards::default())
        .unwrap();
    insta::assert_snapshot!(bundle, @r"
    Severity: C = critical, M = major, m = minor.

    ### A Standards

    - **A-1** (C): x

    ### B Standards

    - **B-1** (M): y
    ");
}

#[test]
fn project_rules_join_the_profiles_with_their_source_and_scope() {
    let rules =
        [("names.rules.yml", "JV-1: \"C: old\"\n"), ("service.rules.yml", "SVC-1: \"m: of services\"\n")];
    let rule = |name: &str, text: &str| ProjectRule {
        name: name.to_owned(),
        source: format!(".aiwf/standards/{name}"),
        text: text.to_owned(),
    };
    let scopes = [
        Scope { name: "domain".to_owned(), rules: vec!["JV-".to_owned()], ..scopes()[0].clone() },
        Scope { name: "service".to_owned(), rules: vec!["SVC-".to_owned()], ..scopes()[0].clone() },
    ];
    let project = ProjectStandards {
        files: vec![
            rule("acme.rules.yml", "ACME-1: \"C: ours\"\nSVC-2: \"M: ours for services\"\n"),
            rule("names.rules.yml", "JV-1: \"C: new\"\n"),
            rule("team.md", "Be kind.\n"),
        ],
        replace: vec!["names.rules.yml".to_owned()],
        exclude: Vec::new(),
    };
    let bundle =
        |scope: &str| config(Provider::YamlRules).bundle(&context(scope), &scopes, files(&rules), &project);
    insta::assert_snapshot!(bundle("domain").unwrap(), @r"
    Severity: C = critical, M = major, m = minor.

    ### Names Standards (.aiwf/standards/names.rules.yml)

    - **JV-1** (C): new

    ### Acme Standards (.aiwf/standards/acme.rules.yml)

    - **ACME-1** (C): ours

    --- .aiwf/standards/team.md ---
    Be kind.
    ");
    insta::assert_snapshot!(bundle("service").unwrap(), @r"
    Severity: C = critical, M = major, m = minor.

    ### Service Standards (service.rules.yml of the profile)

    - **SVC-1** (m): of services

    ### Acme Standards (.aiwf/standards/acme.rules.yml)

    - **ACME-1** (C): ours
    - **SVC-2** (M): ours for services

    --- .aiwf/standards/team.md ---
    Be kind.
    ");
    // A rule with the id of another is a clash, unless its file replaces the other's.
    let clash = ProjectStandards { replace: Vec::new(), ..project.clone() };
    let error = config(Provider::YamlRules).bundle(&context("domain"), &scopes, files(&rules), &clash);
    insta::assert_snapshot!(shown(&error.unwrap_err()), @".aiwf/standards/names.rules.yml:1: rule `JV-1` is also in `standards/names.rules.yml` line 1 / give each rule its own id");
}
