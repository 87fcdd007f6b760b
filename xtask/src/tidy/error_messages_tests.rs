use super::error_messages;
use crate::tidy::tests::check;
use crate::tidy::tree::Tree;

fn check_message(message: &str, expected: &[&str]) {
    check(error_messages, &Tree::of(&[("a.rs", &format!("#[error({message})]\nA,\n"))]), expected);
}

#[test]
fn lower_case_names_and_values_pass() {
    for message in [
        r#""could not read `{path}`""#,
        r#""`{0}` is unknown""#,
        r#""{0} is unknown""#,
        r#""JSON does not fit""#,
        r#""OpenAI answered late""#,
        r#""UTF-8 is needed""#,
        "transparent",
        r#""reads `..`""#,
    ] {
        check_message(message, &[]);
    }
}

#[test]
fn a_capital_fails() {
    check_message(
        r#""Failed to read""#,
        &["a.rs:1: error message `Failed to read` starts with a capital; use lower case"],
    );
    check_message(
        "\n    \"A file is missing\",\n    path",
        &["a.rs:1: error message `A file is missing` starts with a capital; use lower case"],
    );
}

#[test]
fn a_final_mark_fails() {
    check_message(
        r#""prompt too long!""#,
        &["a.rs:1: error message `prompt too long!` ends like a sentence; remove the final mark"],
    );
    check_message(
        r##"r#"is "odd"."#"##,
        &["a.rs:1: error message `is \"odd\".` ends like a sentence; remove the final mark"],
    );
}
