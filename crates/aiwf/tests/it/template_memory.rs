//! Templates of a checkout that ask for more memory than there is: each fails with its name and the limit.

use aiwf_testkit::TestProject;

use crate::project;

const HUNGRY: [(&str, &str); 11] = [
    ("replace", "{% set x = 'a' * 100000 %}{{ x | replace('a', x) }}"),
    ("format", "{{ '%300000000d' | format(1) }}"),
    (
        "range",
        "{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = [ns.x, range(90000) | list] %}{% endfor %}",
    ),
    ("indent", "{% set x = 'a\n' * 40000 %}{{ x | indent(40000) }}"),
    ("join", "{% set x = 'a' * 100000 %}{{ range(10000) | list | join(x) }}"),
    ("repeated lists", "{% set x = ['a' * 100000] * 1000 %}{{ x | join | length }}"),
    ("constants", "{{ ['a' * 100000 ~ 'b', 'a' * 100000 ~ 'c'] }}"),
    (
        "concatenation",
        "{% set ns = namespace(x='a' * 1000) %}{% for i in range(10000) %}{% set ns.x = ns.x ~ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' * 1000 %}{% endfor %}",
    ),
    (
        "doubling in a namespace",
        "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    ),
    (
        "lists that double",
        "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = (ns.x + ns.x) | list %}{% endfor %}",
    ),
    (
        "a macro that calls itself",
        "{% macro m(x) %}{{ m(x ~ x ~ x ~ x ~ x ~ x ~ x ~ x) }}{% endmacro %}{{ m('aaaaaaaaaaaaaaaa' * 1000) }}",
    ),
];

fn with_template(text: &str) -> TestProject {
    project().file(".aiwf/templates/system/BASE-plan.md", text)
}

const BUILD: &str = "prompt build change --phase plan --instructions x";

#[test]
fn a_template_that_needs_too_much_memory_is_named_with_the_limit() {
    for (what, text) in HUNGRY {
        // Many constants add up: each tag of a template is short.
        let text = if what == "constants" { text.repeat(2_000) } else { text.to_owned() };
        let failed = with_template(&text).run(BUILD);
        let told = "error: template `.aiwf/templates/system/BASE-plan.md` needs more than 64 MB of memory";
        assert!(failed.code == Some(1) && failed.stderr_text().contains(told), "{what}: {failed}");
    }
}

/// 12 MB, and more while it grows.
const MODEST: &str = "{% set x = 'a' * 100000 %}{% set y = x | replace('a', 'a' * 120) %}{{ y | length }}";

#[test]
fn the_user_sets_how_much_memory_templates_may_take_and_a_project_only_less() {
    let of = |user: &str, project: &str| {
        let limit = |mb: &str| {
            if mb.is_empty() { String::new() } else { format!("[session]\nmax_template_mb = {mb}\n") }
        };
        let project = with_template(MODEST)
            .file("~/.aiwf/config.toml", limit(user))
            .file(".aiwf/config.toml", limit(project));
        let outcome = project.run(BUILD);
        match outcome.code {
            Some(0) => "rendered".to_owned(),
            _ => outcome
                .stderr_text()
                .lines()
                .find(|line| line.starts_with("error"))
                .unwrap_or_default()
                .to_owned(),
        }
    };
    let too_much = |mb: u32| {
        format!("error: template `.aiwf/templates/system/BASE-plan.md` needs more than {mb} MB of memory")
    };
    assert_eq!(of("", ""), "rendered");
    assert_eq!(of("8", ""), too_much(8));
    assert_eq!(of("", "8"), too_much(8));
    assert_eq!(of("8", "200"), too_much(8));
    assert_eq!(of("200", "100"), "rendered");
}

#[test]
fn a_template_over_a_limit_does_not_stop_the_check_of_others() {
    let project = with_template(&"{{ ['a' * 100000 ~ 'b', 'a' * 100000 ~ 'c'] }}".repeat(2_000))
        .file(".aiwf/templates/system/BASE-review.md", "{{ NOT_THERE }} <review>");
    let checked = project.run("template check");
    let text = checked.to_string();
    assert!(text.contains("BASE-plan.md` needs more than 64 MB of memory"), "{text}");
    assert!(text.contains("variable `NOT_THERE` is not defined"), "{text}");
}

#[test]
fn a_template_of_the_project_renders_as_a_built_in_one_does() {
    let project =
        with_template("Plan for {{ AGENT }}: {% for n in range(3) %}{{ n }} {% endfor %}\n\u{1F600}");
    let built = project.run(BUILD).success().stdout_text();
    assert!(built.contains("Plan for BASE: 0 1 2 \n\u{1F600}"), "{built}");
    let project = with_template("one\n{{ NOT_THERE }}");
    let failed = project.run(BUILD).stderr_text();
    assert!(
        failed.contains(
            "error: variable `NOT_THERE` is not defined\n --> .aiwf/templates/system/BASE-plan.md:2:4"
        ),
        "{failed}"
    );
}
