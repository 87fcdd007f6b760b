#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[track_caller]
fn check_value(expression: Value, variables: Value, expected: Value) {
    let value = evaluate(expression.as_object().unwrap(), variables.as_object().unwrap());
    assert_eq!(value, Ok(expected), "{expression}");
}

#[test]
fn variables_are_found_by_dotted_paths() {
    let data = json!({ "kind": "a", "deep": { "list": [1, { "x": 2 }] }, "nothing": null });
    check_value(json!({ "var": "kind" }), data.clone(), json!("a"));
    check_value(json!({ "var": ["deep.list.1.x"] }), data.clone(), json!(2));
    check_value(json!({ "var": ["none", 7] }), data.clone(), json!(7));
    check_value(json!({ "var": ["nothing", 7] }), data.clone(), json!(7));
    check_value(json!({ "var": "variables.kind" }), data.clone(), json!("a"));
    check_value(
        json!({ "var": "variables.kind" }),
        json!({ "variables": { "kind": "b" }, "kind": "a" }),
        json!("b"),
    );
    check_value(json!({ "var": "" }), json!({ "a": 1 }), json!({ "a": 1 }));
    check_value(json!({ "missing": ["kind", "b"] }), data.clone(), json!(["b"]));
    check_value(json!({ "missing_some": [1, ["kind", "b"]] }), data.clone(), json!([]));
    check_value(json!({ "missing_some": [2, ["kind", "b"]] }), data, json!(["b"]));
}

#[test]
fn truth_and_equality_follow_jsonlogic() {
    for (value, truth) in [
        (json!(0), false),
        (json!(""), false),
        (json!("0"), true),
        (json!([]), false),
        (json!([0]), true),
        (json!(null), false),
        (json!(-1), true),
    ] {
        check_value(json!({ "!!": [value] }), json!({}), json!(truth));
        check_value(json!({ "!": [value] }), json!({}), json!(!truth));
    }
    for (a, b, loose, strict) in [
        (json!(1), json!("1"), true, false),
        (json!(0), json!(false), true, false),
        (json!(1), json!(1.0), true, true),
        (json!("a"), json!("a"), true, true),
        (json!(null), json!(0), false, false),
        (json!("x"), json!(0), false, false),
    ] {
        check_value(json!({ "==": [a, b] }), json!({}), json!(loose));
        check_value(json!({ "!=": [a, b] }), json!({}), json!(!loose));
        check_value(json!({ "===": [a, b] }), json!({}), json!(strict));
        check_value(json!({ "!==": [a, b] }), json!({}), json!(!strict));
    }
}

#[test]
fn every_operator_is_implemented() {
    for (expression, expected) in [
        (json!({ "if": [false, 1, true, 2, 3] }), json!(2)),
        (json!({ "if": [false, 1] }), json!(null)),
        (json!({ "?:": [true, 1, 2] }), json!(1)),
        (json!({ "and": [1, "a", 0, 2] }), json!(0)),
        (json!({ "or": [0, "", "a"] }), json!("a")),
        (json!({ ">": [2, 1] }), json!(true)),
        (json!({ ">=": [2, "2"] }), json!(true)),
        (json!({ "<": [1, 2, 3] }), json!(true)),
        (json!({ "<": [1, 3, 3] }), json!(false)),
        (json!({ "<=": [1, 3, 3] }), json!(true)),
        (json!({ "<": ["a", "b"] }), json!(true)),
        (json!({ "<": ["a", 1] }), json!(false)),
        (json!({ "max": [1, 3, 2] }), json!(3)),
        (json!({ "min": [1.5, 3, 2] }), json!(1.5)),
        (json!({ "+": ["3", 4] }), json!(7)),
        (json!({ "+": "3.5" }), json!(3.5)),
        (json!({ "-": [2] }), json!(-2)),
        (json!({ "-": [5, 2] }), json!(3)),
        (json!({ "*": [2, 3, 4] }), json!(24)),
        (json!({ "/": [1, 4] }), json!(0.25)),
        (json!({ "/": [1, 0] }), json!(null)),
        (json!({ "%": [7, 3] }), json!(1)),
        (json!({ "map": [[1, 2], { "*": [{ "var": "" }, 2] }] }), json!([2, 4])),
        (json!({ "filter": [[1, 2, 3], { ">": [{ "var": "" }, 1] }] }), json!([2, 3])),
        (
            json!({ "reduce": [[1, 2, 3], { "+": [{ "var": "current" }, { "var": "accumulator" }] }, 0] }),
            json!(6),
        ),
        (json!({ "all": [[1, 2], { ">": [{ "var": "" }, 0] }] }), json!(true)),
        (json!({ "all": [[], true] }), json!(false)),
        (json!({ "some": [[0, 2], { ">": [{ "var": "" }, 1] }] }), json!(true)),
        (json!({ "none": [[], true] }), json!(true)),
        (json!({ "merge": [[1], 2, [3, 4]] }), json!([1, 2, 3, 4])),
        (json!({ "in": ["a", ["a", "b"]] }), json!(true)),
        (json!({ "in": ["Spring", "Springfield"] }), json!(true)),
        (json!({ "cat": ["a", 1, true] }), json!("a1true")),
        (json!({ "substr": ["jsonlogic", 4] }), json!("logic")),
        (json!({ "substr": ["jsonlogic", -5] }), json!("logic")),
        (json!({ "substr": ["jsonlogic", 1, 3] }), json!("son")),
        (json!({ "substr": ["jsonlogic", 4, -2] }), json!("log")),
        (json!({ "substr": ["äöü", 1, 1] }), json!("ö")),
        (json!({ "log": ["x"] }), json!("x")),
    ] {
        check_value(expression, json!({}), expected);
    }
}

#[test]
fn invalid_conditions_are_errors() {
    let problem = |expression: Value| evaluate(expression.as_object().unwrap(), &Map::new()).unwrap_err();
    assert_eq!(problem(json!({})), ConditionError::NotAnOperation);
    assert_eq!(problem(json!({ "a": 1, "b": 2 })), ConditionError::NotAnOperation);
    assert_eq!(
        problem(json!({ "!": [{ "exec": "x" }] })),
        ConditionError::UnknownOperator { name: "exec".to_owned() }
    );
    let deep = (0..100).fold(json!(1), |inner, _| json!({ "!": [inner] }));
    assert_eq!(problem(deep), ConditionError::TooDeep);
}

#[test]
fn no_expression_exceeds_the_work_budget() {
    let list: Vec<u32> = (0..200).collect();
    let nested = (0..8).fold(json!(1), |inner, _| json!({ "map": [list, inner] }));
    assert_eq!(evaluate(nested.as_object().unwrap(), &Map::new()), Err(ConditionError::TooLong));
    let doubling =
        json!({ "reduce": [list, { "cat": [{ "var": "accumulator" }, { "var": "accumulator" }] }, "x"] });
    assert_eq!(evaluate(doubling.as_object().unwrap(), &Map::new()), Err(ConditionError::TooLong));
    let growing =
        json!({ "reduce": [list, { "merge": [{ "var": "accumulator" }, { "var": "accumulator" }] }, [1]] });
    assert_eq!(evaluate(growing.as_object().unwrap(), &Map::new()), Err(ConditionError::TooLong));
}

proptest! {
    #[test]
    fn no_arguments_crash_an_operator(operator in 0..OPERATORS.len(), args in prop::collection::vec("(null|true|-1|1e300|\"\"|\"a\"|\\[\\]|\\[1,\"x\"\\]|\\{\\}|\\{\"var\":\"a\"\\})", 0..4)) {
        let text = format!("{{\"{}\":[{}]}}", OPERATORS[operator], args.join(","));
        let expression: Map<String, Value> = serde_json::from_str(&text).unwrap();
        prop_assert!(evaluate(&expression, &Map::new()).is_ok());
    }
}
