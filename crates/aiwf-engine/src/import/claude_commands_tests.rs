use super::*;

fn body(text: &str) -> (String, Vec<String>) {
    let mut converted = Converted::default();
    let body = Body { path: "commands/x.md", first_line: 5, is_from_one: counts_from_one(text) };
    let made = body.convert(text, 0, &mut converted);
    let left = converted.not_carried.into_iter().map(|one| format!("{}: {}", one.line.unwrap(), one.what));
    (made, left.collect())
}

#[test]
fn arguments_become_the_request_and_the_rest_is_literal() {
    let (made, left) = body("Fix {{it}} for $ARGUMENTS.");
    assert_eq!(made, "Fix {{ \"{{\" }}it}} for {{ request }}.");
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(body("Look around").0, "Look around\n\nThe request: {{ request }}");
}

#[test]
fn positions_count_from_one_unless_the_command_uses_zero() {
    let first = "{{ (request | split)[0] | default(\"\") }}";
    let second = "{{ (request | split)[1] | default(\"\") }}";
    assert_eq!(body("$1 and $2").0, format!("{first} and {second}"));
    assert_eq!(body("$0 and $1").0, format!("{first} and {second}"));
    assert_eq!(body("$ARGUMENTS[0] and $1").0, format!("{first} and {second}"));
    assert_eq!(body("a $5000 bill, {$x}").0, "a $5000 bill, {$x}\n\nThe request: {{ request }}");
}

#[test]
fn commands_are_named_and_files_are_mentioned() {
    let (made, left) = body("State:\n!`git status`\nSee @src/main.rs, and mail me@example.com. $ARGUMENTS");
    assert_eq!(
        made,
        "State:\n(output of `git status`)\nSee `src/main.rs`, and mail me@example.com. {{ request }}"
    );
    assert_eq!(left, ["6: the output of `git status`", "7: the content of `src/main.rs`"]);
}

mod properties {
    use std::collections::BTreeMap;

    use aiwf_prompt::{TemplateSource, render_template_here};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_command_renders(parts in proptest::collection::vec(
            prop_oneof!["\\{", "\\}", "%", "#", "\\$", "[0-9]", "\\$ARGUMENTS", "\\[", "\\]", "!`", "`", "@", "/", "\\.", "\n", " ", "---\n", "\\PC{0,4}"],
            0..40,
        )) {
            let text = parts.concat();
            let read = document(&text);
            let mut converted = Converted::default();
            let flow = convert_one("x", "x", "commands/x.md", &read, &mut converted);
            let template = flow.files.iter().find(|file| file.path == "work.md").unwrap();
            let variables = ["request", "PROJECT_CONTEXT", "PROJECT_STRUCTURE", "STANDARDS"]
                .map(|name| (name.to_owned(), "one two".into()));
            let source = TemplateSource { name: "work.md".to_owned(), text: template.text.clone() };
            prop_assert!(render_template_here(&source, &BTreeMap::from(variables)).is_ok(), "{}", template.text);
        }
    }
}
