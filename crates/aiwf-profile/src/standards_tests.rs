use serde_json::json;

use super::*;

fn files<'a>(entries: &'a [(&'a str, &'a str)]) -> RuleFiles<'a> {
    entries.iter().map(|(path, text)| (*path, text.as_bytes())).collect()
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
fn files_stand_in_scope_order_and_only_once() {
    let all = [
        ("java.md", "java"),
        ("names.md", "names\n"),
        ("entity.md", "entity\n"),
        ("service.md", "service"),
        ("tests.md", "tests"),
    ];
    let bundle =
        |scope: &str| layered().bundle(&context(scope), &scopes(), "standards", &files(&all)).unwrap();
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
fn files_that_are_missing_or_no_text_are_reported_with_their_names() {
    let some: RuleFiles<'_> =
        BTreeMap::from([("java.md", &b"a\n\xff"[..]), ("entity.md", b"x"), ("service.md", b"x")]);
    insta::assert_snapshot!(shown(&layered().check(&some)), @"
    standards/java.md:2: not UTF-8 text / save the file as UTF-8
    profile.toml:7: standards file `standards/names.md` does not exist / known: `entity.md`, `java.md`, `service.md`
    profile.toml:7: standards file `standards/tests.md` does not exist / did you mean `entity.md`? known: `entity.md`, `java.md`, `service.md`
    ");
    insta::assert_snapshot!(shown(&layered().bundle(&context("domain"), &scopes(), "standards", &some).unwrap_err()), @"
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
        config(Provider::YamlRules).bundle(&context(scope), &scopes(), "standards", &files(&rules))
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
    insta::assert_snapshot!(shown(&bundle("odd").unwrap_err()), @"standards: no rule is for scope `odd` / look at `rules` of the scope in `profile.toml`");
    insta::assert_snapshot!(shown(&bundle("ful").unwrap_err()), @"profile.toml: unknown scope `ful` / did you mean `full`? known: `domain`, `full`, `odd`");
}

#[test]
fn a_profile_without_scopes_gets_all_rules() {
    let rules = [("a.rules.yml", "A-1: \"C: x\"\n"), ("b.rules.yaml", "- {id: B-1, text: y}\n")];
    let bundle = config(Provider::YamlRules).bundle(&Map::new(), &[], "standards", &files(&rules)).unwrap();
    insta::assert_snapshot!(bundle, @r"
    Severity: C = critical, M = major, m = minor.

    ### A Standards

    - **A-1** (C): x

    ### B Standards

    - **B-1** (M): y
    ");
}
