use serde_json::json;

use super::*;
use crate::tool::tests::tool;

fn check(schema: Value, arguments: Value) -> Result<(), String> {
    let mut tool = tool("s", "t");
    tool.input_schema = schema;
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    check_arguments(&tool, &arguments).map_err(|error| error.to_string())
}

#[test]
fn valid_arguments_pass() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    assert_eq!(check(schema, json!({"a": 1})), Ok(()));
    assert_eq!(check(json!({"type": "object"}), json!({})), Ok(()));
    assert_eq!(check(json!({}), json!({"anything": [1]})), Ok(()));
}

#[test]
fn violations_are_reported_with_their_position() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"enum": ["x"]}}},
        "required": ["a"], "additionalProperties": false,
    });
    let error = check(schema, json!({"b": ["y"], "c": 1})).unwrap_err();
    assert!(error.starts_with("invalid arguments for `s__t`: "), "{error}");
    for part in ["\"a\" is a required property", "at `/b/0`: \"y\" is not one of", "'c' was unexpected"] {
        assert!(error.contains(part), "{part} in {error}");
    }
}

#[test]
fn an_invalid_schema_is_a_clear_error() {
    let bad = |schema: Value| check(schema, json!({})).unwrap_err();
    assert!(bad(json!({"type": "wrong"})).starts_with("the schema of `s__t` cannot be used: "));
    assert_eq!(bad(json!([])), "the schema of `s__t` cannot be used: it is not an object");
    let deep = (0..100).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
    assert_eq!(bad(deep), "the schema of `s__t` cannot be used: it is nested more than 64 deep");
}

#[test]
fn nothing_is_fetched() {
    for reference in ["https://example.com/schema.json", "file:///etc/passwd", "other.json"] {
        let error = check(json!({"$ref": reference}), json!({})).unwrap_err();
        assert!(error.starts_with("the schema of `s__t` cannot be used: "), "{error}");
    }
}

#[test]
fn a_recursive_schema_is_followed_as_deep_as_the_arguments() {
    let tree = json!({
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}, "name": {"type": "string"}},
    });
    assert_eq!(check(tree.clone(), json!({"children": [{"children": [{"name": "leaf"}]}]})), Ok(()));
    let error = check(tree, json!({"children": [{"children": [{"name": 1}]}]})).unwrap_err();
    assert!(error.contains("at `/children/0/children/0/name`"), "{error}");
}

#[test]
fn a_schema_that_never_ends_is_refused() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"not": {"$ref": "#"}}),
    ] {
        let error = check(schema.clone(), json!({})).unwrap_err();
        assert!(error.contains("refers to itself without end"), "{schema}: {error}");
    }
}

#[test]
fn arguments_nested_too_deeply_are_refused() {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let error = check(json!({}), json!({"a": deep})).unwrap_err();
    assert_eq!(error, "invalid arguments for `s__t`: they are nested more than 64 deep");
}

#[test]
fn a_catastrophic_pattern_terminates() {
    let schema = json!({"properties": {"a": {"pattern": "^(a+)+(?=b)$"}}});
    assert!(check(schema, json!({"a": "a".repeat(40)})).is_err());
}
