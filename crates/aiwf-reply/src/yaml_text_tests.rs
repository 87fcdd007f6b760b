use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::front_matter::parse_front_matter;

#[test]
fn values_are_written_in_blocks() {
    let value = json!({ "a": "text", "b": [1, "two", { "c": true, "d": [] }, [1, "x"]], "e": {}, "f": null });
    insta::assert_snapshot!(entry("key", &value), @r#"
    key:
      a: text
      b:
        - 1
        - two
        - c: true
          d: []
        - [1,"x"]
      e: {}
      f: null
    "#);
}

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<String>().prop_map(|value| json!(value)),
        "(yes|no|null|~|1e3|0x1f|2026-01-01|- a|a: b|#x|'|\"|\\||>|&a|\\*a|!!int|%|@|`| x|x |\\t|\u{85}|\u{2028}|\u{feff})".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn written_values_read_back_unchanged(value in any_value()) {
        let text = format!("---\n{}---\n", entry("key", &value));
        let read = parse_front_matter(&text);
        prop_assert_eq!(read.problems.len(), 0, "{}: {:?}", text, read.problems);
        prop_assert_eq!(&read.value.data["key"], &value, "{}", text);
    }
}
