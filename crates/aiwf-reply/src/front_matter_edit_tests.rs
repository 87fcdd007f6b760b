#![allow(clippy::needless_pass_by_value, reason = "values are written inline at the call")]

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn edit(text: &str, changes: Value) -> Result<String, EditError> {
    edit_front_matter(text, |_| changes.as_object().unwrap().clone())
}

#[test]
fn only_the_lines_of_changed_keys_change() {
    let text =
        "\u{feff}---\n# head\na: 1 # one\n\n# about b\nb:\n- x\n- y\n# about c\nc: {d: e}\n---\nbody\n";
    assert_eq!(
        edit(text, json!({ "b": ["z"] })).unwrap(),
        "\u{feff}---\n# head\na: 1 # one\n\n# about b\nb:\n  - z\n# about c\nc: {d: e}\n---\nbody\n"
    );
    assert_eq!(edit(text, json!({ "a": 1 })).unwrap(), text);
}

#[test]
fn new_keys_go_to_the_end_and_line_endings_stay() {
    assert_eq!(
        edit("---\r\na: 1\r\n---\r\nbody", json!({ "b": 2 })).unwrap(),
        "---\r\na: 1\r\nb: 2\r\n---\r\nbody"
    );
    assert_eq!(edit("---\n---", json!({ "b": 2 })).unwrap(), "---\nb: 2\n---");
}

#[test]
fn yaml_with_references_between_keys_is_rewritten() {
    let text = "---\na: &x [1]\nb: *x\n---\nbody";
    assert_eq!(edit(text, json!({ "a": [2] })).unwrap(), "---\na:\n  - 2\nb:\n  - 1\n---\nbody");
}

#[test]
fn a_file_without_front_matter_is_refused() {
    for text in ["", "text", "---\na: 1\n", "\n---\na: 1\n---\n", "---\n- a\n---\n", "---\na: [\n---\n"] {
        assert!(matches!(edit(text, json!({ "a": 2 })), Err(EditError::Unreadable { .. })), "{text:?}");
    }
}

proptest! {
    #[test]
    fn an_edit_reads_back_and_keeps_the_body(
        keys in prop::collection::btree_map("[a-d]", "[a-z0-9:#'\" -]{0,6}", 0..4),
        changes in prop::collection::btree_map("[a-f]", any::<String>(), 0..4),
        body in "(---|[a-z\\r\\n#: -]){0,20}",
    ) {
        let yaml = keys.iter().map(|(key, value)| format!("{key}: {}\n", json!(value))).collect::<Vec<_>>().concat();
        let text = format!("---\n{yaml}---\n{body}");
        let edited = edit(&text, json!(changes)).unwrap();
        let read = parse_front_matter(&edited);
        let mut expected = keys;
        expected.extend(changes);
        prop_assert_eq!(&read.value.data, &json!(expected));
        prop_assert_eq!(read.value.body, body);
    }
}
