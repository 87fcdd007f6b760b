use super::*;

fn variables() -> BTreeMap<String, serde_json::Value> {
    [
        ("name", serde_json::json!("Ann <ann@example.org>")),
        ("task", serde_json::json!({ "id": 7, "tags": ["a", "b"] })),
        ("none", serde_json::Value::Null),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn source(text: &str) -> TemplateSource {
    TemplateSource { name: "t.md".to_owned(), text: text.to_owned() }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(render_template(&source(text), &variables()).as_deref(), Ok(expected));
}

/// The undefined variable of an error, with its line and column.
#[track_caller]
fn undefined_at(error: &TemplateError) -> String {
    match error {
        TemplateError::UndefinedVariable { variable, place, .. } => {
            format!("{variable} {}:{}", place.line, place.column)
        }
        TemplateError::Invalid { .. }
        | TemplateError::TooManySteps { .. }
        | TemplateError::TooLarge { .. }
        | TemplateError::TooMuchMemory { .. }
        | TemplateError::TooSlow { .. }
        | TemplateError::NoHost { .. } => {
            panic!("{error}")
        }
    }
}

#[track_caller]
fn check_undefined(text: &str, expected: &str, line: usize, column: usize) {
    let error = render_template(&source(text), &variables()).unwrap_err();
    assert_eq!(undefined_at(&error), format!("{expected} {line}:{column}"), "{text}");
}

#[test]
fn variables_loops_and_conditions_are_filled_in() {
    check("{{ name }} has task {{ task.id }}", "Ann <ann@example.org> has task 7");
    check("{% for tag in task.tags %}{{ loop.index }}{{ tag }} {% endfor %}", "1a 2b ");
    check("{% if none is none %}nothing{% endif %}", "nothing");
    check("{{ missing|default('-') }}{{ missing is defined }}", "-False");
}

#[test]
fn text_is_unchanged() {
    check("no tags, {one brace}, 100 %\r\n", "no tags, {one brace}, 100 %\r\n");
    check("ends with a newline\n", "ends with a newline\n");
    check("", "");
    check("{{ name|upper }}", "ANN <ANN@EXAMPLE.ORG>");
}

#[test]
fn a_value_is_never_a_template() {
    let variables = [("x".to_owned(), serde_json::json!("{{ y }}{% for %}"))].into();
    assert_eq!(render_template(&source("{{ x }}"), &variables).as_deref(), Ok("{{ y }}{% for %}"));
}

#[test]
fn an_undefined_variable_is_named_with_its_position() {
    check_undefined("{{ nmae }}", "nmae", 1, 4);
    check_undefined("a\nbé {{ nmae }}", "nmae", 2, 7);
    check_undefined("{% if nmae == 'x' %}{% endif %}", "nmae", 1, 7);
    check_undefined("{% for x in nmae %}{% endfor %}", "nmae", 1, 13);
    check_undefined("{{ nmae.first }}", "nmae", 1, 4);
    check_undefined("{{ task.title }}", "task.title", 1, 4);
    check_undefined("{{ task.owner.name }}", "task.owner", 1, 4);
    check_undefined("{{ task['title'] }}", "task['title']", 1, 4);
}

#[test]
fn an_undefined_variable_is_named_and_not_the_operation() {
    check_undefined("{{ nmae|upper }}", "nmae", 1, 4);
    check_undefined("{{ nmae|trim|upper }}", "nmae", 1, 4);
    check_undefined("{{ nmae + 1 }}", "nmae", 1, 4);
    check_undefined("{{ -nmae }}", "nmae", 1, 5);
    check_undefined("{{ nmae() }}", "nmae", 1, 4);
    check_undefined("{{ range(nmae) }}", "nmae", 1, 10);
    check_undefined("{{ task.title|length }}", "task.title", 1, 4);
    check_undefined("{% set x = nmae %}\n{{ x }}", "nmae", 2, 4);
    check_undefined("{{ 'nmae' ~ task.nmae ~ nmae }}", "task.nmae", 1, 13);
    check_undefined("{{ 'nmae' ~ nmae }}", "nmae", 1, 13);
}

#[test]
fn other_errors_name_their_position() {
    for (text, expected) in [
        ("a\n{{ name|shout }}", (2, 9)),
        ("{{ range(99999999) }}", (1, 4)),
        ("{{ name", (1, 4)),
        ("{% endfor %}", (1, 4)),
        ("{% include 'x' %}", (1, 4)),
        ("{% extends 'x' %}", (1, 4)),
        ("{% import 'x' as y %}", (1, 4)),
    ] {
        let error = render_template(&source(text), &variables()).unwrap_err();
        let TemplateError::Invalid { place, .. } = error else { panic!("{text}: {error}") };
        assert_eq!((place.line, place.column), expected, "{text}");
    }
}

#[test]
fn steps_are_bounded() {
    let text = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}";
    let error = render_template(&source(text), &variables()).unwrap_err();
    assert!(matches!(error, TemplateError::TooManySteps { .. }), "{error}");
}

#[test]
fn output_is_bounded() {
    let text = format!("{{% for a in range(90000) %}}{}{{% endfor %}}", "x".repeat(1000));
    let error = render_template(&source(&text), &variables()).unwrap_err();
    assert!(matches!(error, TemplateError::TooLarge { .. }), "{error}");
}

#[test]
fn nesting_is_bounded() {
    let recursive = "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}";
    assert!(render_template(&source(recursive), &variables()).is_err());
    let parentheses = format!("{{{{ {}1{} }}}}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(render_template(&source(&parentheses), &variables()).is_err());
    let loops = format!("{}{}", "{% if true %}".repeat(5_000), "{% endif %}".repeat(5_000));
    drop(render_template(&source(&loops), &variables()));
}

#[test]
fn a_check_knows_the_variables_without_their_values() {
    assert_eq!(
        check_template(&source("{{ name }} {{ range(3) }} {% set x = 1 %}{{ x }}"), &["name"]),
        Ok(())
    );
    let errors = check_template(&source("{{ zulu }} {{ alpha }} {{ zulu }}"), &["name"]).unwrap_err();
    let names: Vec<String> = errors.iter().map(undefined_at).collect();
    assert_eq!(names, ["alpha 1:15", "zulu 1:4"]);
}

#[test]
fn a_check_points_into_a_tag_and_not_into_prose_comments_attributes_or_literals() {
    let text = "title {# title #} {{ name.title }} {{ 'title' }}{ {{ title }}";
    let errors = check_template(&source(text), &["name"]).unwrap_err();
    let names: Vec<String> = errors.iter().map(undefined_at).collect();
    assert_eq!(names, [format!("title 1:{}", text.rfind("title").unwrap() + 1)]);
}

#[test]
fn a_chain_that_would_overflow_the_stack_is_refused() {
    let deep =
        TemplateSource { name: "deep.md".to_owned(), text: format!("{{{{ 1{} }}}}", " + 1".repeat(100_000)) };
    let error = render_template(&deep, &BTreeMap::new()).unwrap_err();
    assert!(error.to_string().starts_with("template is invalid: a tag has "), "{error}");
    assert!(check_template(&deep, &[]).is_err());
}
