use serde_json::json;

use super::*;

fn param(kind: ParamKind) -> Param {
    Param { name: "some-name".to_owned(), help: String::new(), kind, is_required: false, default: None }
}

fn pattern(text: &str, help: Option<&str>) -> Pattern {
    Pattern::new(text, help.map(str::to_owned)).unwrap()
}

/// The result of reading each value, one per line.
fn check(param: &Param, values: &[Value]) -> String {
    let read = |value: &Value| match param.read(value) {
        Ok(read) => format!("{read}"),
        Err(fault) => match fault.hint {
            Some(hint) => format!("{} / {hint}", fault.message),
            None => fault.message,
        },
    };
    values.iter().map(read).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_text_must_match_the_whole_pattern() {
    let java =
        param(ParamKind::String { pattern: Some(pattern("[A-Z]\\w*|x", Some("a class name such as `A`"))) });
    let values = [
        json!("Customer"),
        json!("customer"),
        json!("x"),
        json!("A b"),
        json!("A\nB"),
        json!(3),
        json!("x".repeat(9000)),
    ];
    insta::assert_snapshot!(check(&java, &values), @r#"
    "Customer"
    is `customer`, not a class name such as `A`
    "x"
    is `A b`, not a class name such as `A`
    has a line break or another control character
    is a number, not text
    has 9000 bytes, more than 8192
    "#);
    let plain = param(ParamKind::String { pattern: Some(pattern("a+", None)) });
    insta::assert_snapshot!(check(&plain, &[json!("b")]), @"is `b`, not something that matches `a+`");
}

#[test]
fn a_text_without_pattern_must_not_be_blank() {
    let text = param(ParamKind::String { pattern: None });
    insta::assert_snapshot!(check(&text, &[json!("a b"), json!("  "), json!("")]), @r#"
    "a b"
    is empty
    is empty
    "#);
}

#[test]
fn an_integer_is_a_number_or_its_text_within_bounds() {
    let number = param(ParamKind::Integer { minimum: Some(1), maximum: Some(9) });
    let values = [json!(3), json!("7"), json!(0), json!(10), json!("x"), json!(1.5), json!(true)];
    insta::assert_snapshot!(check(&number, &values), @r"
    3
    7
    is 0, less than 1
    is 10, more than 9
    is `x`, not a whole number
    is `1.5`, not a whole number
    is `true`, not a whole number
    ");
}

#[test]
fn a_boolean_is_true_or_false() {
    let switch = param(ParamKind::Boolean { negation: None });
    insta::assert_snapshot!(check(&switch, &[json!(true), json!("false"), json!("yes"), json!(1)]), @r"
    true
    false
    is `yes`, not true or false
    is `1`, not true or false
    ");
}

#[test]
fn a_choice_takes_names_and_aliases() {
    let choice = |name: &str, aliases: &[&str]| Choice {
        name: name.to_owned(),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        ..Choice::default()
    };
    let scope = param(ParamKind::Choice {
        choices: vec![choice("domain", &[]), choice("full", &["vertical"])],
        input: None,
    });
    insta::assert_snapshot!(check(&scope, &[json!("full"), json!("vertical"), json!("domian"), json!("zzz")]), @r#"
    "full"
    "full"
    is `domian`, not one of `domain`, `full` / did you mean `domain`?
    is `zzz`, not one of `domain`, `full`
    "#);
}

#[test]
fn a_list_is_one_string_or_several() {
    let tags = param(ParamKind::List { pattern: Some(pattern("[a-z]+", Some("a word"))) });
    insta::assert_snapshot!(check(&tags, &[json!(["a", "b"]), json!("a"), json!(["a", "B"]), json!([1])]), @r#"
    ["a","b"]
    ["a"]
    is `B`, not a word
    is a number, not text
    "#);
}

#[test]
fn names_become_keys_and_variables() {
    let param = param(ParamKind::Path);
    assert_eq!((param.key(), param.variable()), ("some_name".to_owned(), "SOME_NAME".to_owned()));
}

#[test]
fn a_pattern_that_is_invalid_or_too_large_is_refused_with_a_reason() {
    let reason = |text: &str| Pattern::new(text, None).unwrap_err();
    let reasons = [reason("[a-"), reason("(?P<n>a"), reason("a{1000}{1000}"), reason(&"(".repeat(200))];
    insta::assert_snapshot!(reasons.join("\n"), @r"
    invalid range in character class
    found open group without closing ')'
    compiled regex exceeded size limit
    pattern has too much nesting
    ");
}
