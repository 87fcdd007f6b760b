use super::*;

/// The problems of rule files, one per line.
fn problems(files: &[(&str, &str)]) -> String {
    let files: RuleFiles<'_> =
        files.iter().map(|(path, text)| (*path, RuleFile { bytes: text.as_bytes(), source: None })).collect();
    let problems = read_rules(&files, &[], "standards").unwrap_err();
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_same_id_twice_is_an_error_that_names_both_places() {
    insta::assert_snapshot!(
        problems(&[
            ("a.rules.yml", "x:\n  JPA-1: \"C: one\"\ny:\n  JPA-1: \"C: again\"\n"),
            ("b.rules.yml", "# b\nJPA-1: \"M: two\"\n"),
        ]),
        @r"
        standards/a.rules.yml:4: rule `JPA-1` occurs twice in this file
        standards/b.rules.yml:2: rule `JPA-1` is also in `standards/a.rules.yml` line 2
        "
    );
}

#[test]
fn an_entry_that_is_not_a_rule_is_an_error() {
    insta::assert_snapshot!(
        problems(&[
            ("a.rules.yml", "JPA-1: \"C: one\"\nnote: text\nJPA-2: \"\"\nJPA-3: {severity: X, text: t}\nJPA-4: {txt: t}\n"),
            ("b.rules.yml", "- plain\n- {text: t}\n- {id: nope, text: t}\n"),
            ("c.rules.yml", "just text"),
            ("d.rules.yml", "a: [\n"),
            ("e.rules.yml", "title: Nothing\n"),
        ]),
        @r"
        standards/a.rules.yml:2: `note` is neither a rule with an id like `JPA-001` nor a group
        standards/a.rules.yml:3: rule `JPA-2` is empty
        standards/a.rules.yml:4: severity of rule `JPA-3` is `X`, not `C`, `M` or `m`
        standards/a.rules.yml:5: rule `JPA-4` has unknown key `txt`
        standards/a.rules.yml:5: rule `JPA-4` has no `text`
        standards/b.rules.yml: an item of a list is not a rule with `id`, `severity` and `text`
        standards/b.rules.yml: a rule in a list has no `id`
        standards/b.rules.yml:3: `nope` is not a rule id like `JPA-001`
        standards/c.rules.yml:1: not a mapping of rules
        standards/d.rules.yml:1: not valid YAML: unclosed bracket '[' at line 1, column 4
        standards/e.rules.yml:1: no rule in this file
        "
    );
}

#[test]
fn no_rule_file_at_all_is_an_error() {
    insta::assert_snapshot!(problems(&[("a.md", "x")]), @"standards: no `*.rules.yml` file in the directory of the standards");
}

#[test]
fn hostile_yaml_is_refused_quickly() {
    let nested = "[".repeat(5000);
    assert!(!problems(&[("a.rules.yml", &nested)]).is_empty());
    let bomb = "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d]\n";
    assert!(!problems(&[("a.rules.yml", bomb)]).is_empty());
}

#[test]
fn ids_and_titles_are_distinguished_from_other_words() {
    for id in ["JPA-001", "JPA-ID-2", "A1-9"] {
        assert!(is_rule_id(id), "{id}");
    }
    for other in ["jpa-1", "JPA", "JPA-", "-1", "JPA-1a", "JPA--1", "mapping"] {
        assert!(!is_rule_id(other), "{other}");
    }
    assert_eq!(title_of("standards/jpa_mapping.rules.yml"), "JPA Mapping Standards");
    assert_eq!(title_of("x/rest-api.rules.yaml"), "REST API Standards");
}
