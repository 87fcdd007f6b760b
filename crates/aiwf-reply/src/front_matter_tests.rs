use insta::assert_snapshot;

use super::*;

fn check(text: &str) -> String {
    let parsed = parse_front_matter(text);
    let value = format!("{} {:?}", parsed.value.data, parsed.value.body);
    let problems = parsed.problems.iter().map(|problem| format!("\n{problem}"));
    problems.fold(value, |text, problem| text + &problem)
}

fn check_yaml(yaml: &str) -> String {
    check(&format!("---\n{yaml}\n---\n"))
}

#[test]
fn reads_a_mapping_and_keeps_the_body_as_it_is() {
    assert_snapshot!(check("---\nid: step-1\nnodes: [a, b]\n---\n\n# Body\n---\n \r\n"), @r#"{"id":"step-1","nodes":["a","b"]} "\n# Body\n---\n \r\n""#);
    assert_snapshot!(check("\u{feff}---\r\nid: 1\r\ntext: |\r\n  a\r\n  b\r\n---\r\nBody\r\n"), @r#"{"id":1,"text":"a\nb\n"} "Body\r\n""#);
    assert_snapshot!(check("--- \nid: 1\n---\t\nBody"), @r#"{"id":1} "Body""#);
    assert_snapshot!(check("---\nid: 1\n---"), @r#"{"id":1} """#);
}

#[test]
fn empty_front_matter_is_an_empty_object() {
    assert_snapshot!(check("---\n---\nBody"), @r#"{} "Body""#);
    assert_snapshot!(check("---\n\n# nothing\n---\n"), @r#"{} """#);
}

#[test]
fn missing_front_matter_is_a_problem() {
    assert_snapshot!(check("# Title\n---\n"), @r##"
    {} "# Title\n---\n"
    line 1, column 1: no front matter: start the file with a line `---`, YAML, and another line `---`
    "##);
    assert_snapshot!(check(""), @r#"
    {} ""
    line 1, column 1: no front matter: start the file with a line `---`, YAML, and another line `---`
    "#);
    assert_snapshot!(check("----\na: 1\n----\n"), @r#"
    {} "----\na: 1\n----\n"
    line 1, column 1: no front matter: start the file with a line `---`, YAML, and another line `---`
    "#);
    assert_snapshot!(check("---a: 1\n---\n"), @r#"
    {} "---a: 1\n---\n"
    line 1, column 1: no front matter: start the file with a line `---`, YAML, and another line `---`
    "#);
}

#[test]
fn white_space_before_it_is_a_problem() {
    assert_snapshot!(check("\n\n---\na: 1\n---\nBody"), @r#"
    {"a":1} "Body"
    line 3, column 1: front matter does not start the file: remove the blank lines and spaces before this `---`
    "#);
    assert_snapshot!(check("  ---\na: 1\n---\nBody"), @r#"
    {"a":1} "Body"
    line 1, column 3: front matter does not start the file: remove the blank lines and spaces before this `---`
    "#);
}

#[test]
fn unclosed_front_matter_is_a_problem() {
    assert_snapshot!(check("---\na: 1\n"), @r#"
    {} "---\na: 1\n"
    line 1, column 1: front matter is not closed: end it with a line `---`
    "#);
    assert_snapshot!(check("---\na: 1\n ---\n"), @r#"
    {} "---\na: 1\n ---\n"
    line 1, column 1: front matter is not closed: end it with a line `---`
    "#);
    assert_snapshot!(check("---"), @r#"
    {} "---"
    line 1, column 1: front matter is not closed: end it with a line `---`
    "#);
}

#[test]
fn anything_but_a_mapping_is_a_problem() {
    assert_snapshot!(check_yaml("- a\n- b"), @r#"
    {} ""
    line 2, column 1: front matter is a list: write `key: value` lines
    "#);
    assert_snapshot!(check_yaml("just text"), @r#"
    {} ""
    line 2, column 1: front matter is text: write `key: value` lines
    "#);
    assert_snapshot!(check_yaml("5"), @r#"
    {} ""
    line 2, column 1: front matter is a number: write `key: value` lines
    "#);
    assert_snapshot!(check_yaml("true"), @r#"
    {} ""
    line 2, column 1: front matter is a boolean: write `key: value` lines
    "#);
}

#[test]
fn broken_yaml_is_a_problem_where_it_breaks() {
    assert_snapshot!(check_yaml("a: 1\nb: [1,\nc: 2"), @r#"
    {} ""
    line 3, column 4: front matter is not valid YAML (unclosed bracket '['): correct this line
    "#);
    assert_snapshot!(check_yaml("é: b: c"), @r#"
    {} ""
    line 2, column 5: front matter is not valid YAML (mapping values are not allowed in this context): correct this line
    "#);
    assert_snapshot!(check_yaml("a: 1\na: 2"), @r#"
    {} ""
    line 3, column 1: front matter is not valid YAML (key `a` occurs twice): correct this line
    "#);
    assert_snapshot!(check_yaml("a: *x"), @r#"
    {} ""
    line 2, column 4: front matter is not valid YAML (reference to unknown value): correct this line
    "#);
    assert_snapshot!(check_yaml("a: &x {b: *x}"), @r#"
    {} ""
    line 2, column 11: front matter is not valid YAML (recursive reference not allowed here): correct this line
    "#);
    assert_snapshot!(check_yaml("a: 1\n--- b"), @r#"
    {} ""
    line 3, column 5: front matter is not valid YAML (only single YAML document expected but multiple found): correct this line
    "#);
    assert_snapshot!(check_yaml("a:\n\tb: 1"), @r#"
    {} ""
    line 3, column 2: front matter is not valid YAML (tabs disallowed within this context (block indentation)): correct this line
    "#);
    assert_snapshot!(check("\u{feff}---\r\na: 1\r\nb: @c\r\n---\r\n"), @r#"
    {} ""
    line 3, column 4: front matter is not valid YAML (unexpected character: `@'): correct this line
    "#);
}

#[test]
fn scalars_keep_their_meaning() {
    assert_snapshot!(check_yaml("date: 2026-11-15\ntime: 2026-11-15T10:00:00Z\nyes: yes\non: off\nb: true\nn: ~\nf: 1.5\ni: -3\nq: '1'\nt: 1:30"), @r#"{"date":"2026-11-15","time":"2026-11-15T10:00:00Z","yes":"yes","on":"off","b":true,"n":null,"f":1.5,"i":-3,"q":"1","t":"1:30"} """#);
    assert_snapshot!(check_yaml("1: a\ntrue: b\n1.5: c"), @r#"{"1":"a","true":"b","1.5":"c"} """#);
    assert_snapshot!(check_yaml("big: 99999999999999999999999"), @r#"{"big":1e+23} """#);
}

#[test]
fn values_that_json_cannot_represent_are_problems() {
    assert_snapshot!(check_yaml("a: .nan"), @r#"
    {} ""
    line 2, column 4: front matter is not valid YAML (value `.nan` is not a finite number): correct this line
    "#);
    assert_snapshot!(check_yaml("a: -.inf"), @r#"
    {} ""
    line 2, column 4: front matter is not valid YAML (value `-.inf` is not a finite number): correct this line
    "#);
    assert_snapshot!(check_yaml("? [a, b]\n: c"), @r#"
    {} ""
    line 2, column 3: front matter is not valid YAML (expected string scalar): correct this line
    "#);
    assert_snapshot!(check_yaml("~: a"), @r#"
    {} ""
    line 2, column 1: front matter is not valid YAML (null is not allowed here): correct this line
    "#);
}

#[test]
fn expanding_aliases_are_a_problem() {
    let level = |level: usize| {
        let item = if level == 0 { "x".to_owned() } else { format!("*a{}", level - 1) };
        format!("a{level}: &a{level} [{}]", vec![item; 10].join(", "))
    };
    let bomb = (0..10).map(level).collect::<Vec<_>>().join("\n");
    assert_snapshot!(check_yaml(&bomb), @r#"
    {} ""
    line 5, column 45: front matter is not valid YAML (its aliases repeat more than 10000 values): correct this line
    "#);
    assert_snapshot!(check_yaml(&format!("a: {}1{}", "[".repeat(100), "]".repeat(100))), @r#"
    {} ""
    line 2, column 68: front matter is not valid YAML (recursion limit exceeded): correct this line
    "#);
    assert_snapshot!(check_yaml(&format!("a: {}", "- ".repeat(100))), @r#"
    {} ""
    line 2, column 4: front matter is not valid YAML (block sequence entries are not allowed in this context): correct this line
    "#);
    let deep = (0..100).map(|depth| format!("{}a:", " ".repeat(depth))).collect::<Vec<_>>().join("\n");
    assert_snapshot!(check_yaml(&deep), @r#"
    {} ""
    line 66, column 65: front matter is not valid YAML (it has too many values or is nested too deeply): correct this line
    "#);
}
