use serde_json::json;

use super::*;

fn result(value: Value) -> CallToolResult {
    serde_json::from_value(value).unwrap()
}

fn read(value: Value, max_bytes: u64) -> (ToolResult, Option<String>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep");
    let results = ResultsDir { path: &path, shown: "kept" };
    let given = ToolResult::new(&result(value), Cap { max_bytes, results }).unwrap();
    let kept = given.path.as_ref().map(|path| std::fs::read_to_string(path).unwrap());
    // The file is named by the hash of its content.
    let name = given.path.as_ref().map(|path| path.strip_prefix(directory.path().join("deep")).unwrap());
    assert_eq!(
        name.map(|name| name.display().to_string()),
        kept.as_ref().map(|it| sha256_hex(it.as_bytes()))
    );
    (given, kept)
}

#[test]
fn every_kind_of_content_appears_in_the_text() {
    let (given, kept) = read(
        json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGVsbG8h", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "aGVsbG8="}},
            {"type": "resource_link", "uri": "file:///c", "name": "c", "description": "a file"},
            {"type": "text", "text": "two"},
        ]}),
        10_000,
    );
    insta::assert_snapshot!(given.text, @r"
    one
    [image image/png, 5 bytes]
    [audio audio/wav, 6 bytes]
    [resource file:///a text/plain]
    inside
    [resource file:///b, 5 bytes]
    [resource link file:///c c: a file]
    two
    ");
    let kinds: Vec<&str> = given.attachments.iter().map(|attachment| attachment.kind.as_str()).collect();
    assert_eq!(kinds, ["image", "audio", "resource", "resource_link"]);
    assert!(!given.is_error && !given.is_cut);
    assert!(kept.unwrap().contains("aGVsbG8="));
}

#[test]
fn a_structured_result_is_text_when_there_is_no_other() {
    let (given, kept) = read(json!({"structuredContent": {"a": 1}}), 10_000);
    assert_eq!(given.text, "{\n  \"a\": 1\n}");
    assert_eq!(given.structured, Some(json!({"a": 1})));
    assert_eq!(kept, None);
    let both = json!({"content": [{"type": "text", "text": "a is 1"}], "structuredContent": {"a": 1}});
    assert_eq!(read(both, 10_000).0.text, "a is 1");
}

#[test]
fn a_failure_of_the_tool_keeps_its_text() {
    let (given, _) =
        read(json!({"content": [{"type": "text", "text": "no such file"}], "isError": true}), 100);
    assert!(given.is_error);
    assert_eq!(given.text, "no such file");
}

#[test]
fn a_large_result_is_truncated_at_a_character_and_saved_in_full() {
    let whole = "ä".repeat(1000);
    let (given, kept) = read(json!({"content": [{"type": "text", "text": whole}]}), 101);
    assert!(given.is_cut);
    assert_eq!((given.bytes, given.sha256), (2000, sha256_hex(whole.as_bytes())));
    let (start, note) = given.text.split_once('\n').unwrap();
    assert_eq!(start, "ä".repeat(50));
    assert!(
        note.starts_with("[truncated: the first 100 of 2000 bytes; the complete result is in `"),
        "{note}"
    );
    assert_eq!(kept.unwrap(), whole);
}

#[test]
fn a_large_structured_result_is_only_in_the_file() {
    let large = json!({"a": "x".repeat(1000)});
    let value = json!({"content": [{"type": "text", "text": "short"}], "structuredContent": large});
    let (given, kept) = read(value, 100);
    assert_eq!((given.text.as_str(), given.is_cut, given.structured), ("short", false, None));
    assert!(kept.unwrap().contains(&"x".repeat(1000)));
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_truncated_text_is_a_prefix_within_its_limit(text in ".*", limit in 0..40_u64) {
            let (given, kept) = read(json!({"content": [{"type": "text", "text": text}]}), limit);
            if given.is_cut {
                prop_assert_eq!(kept.as_ref(), Some(&text));
                let shown = given.text.rsplit_once("\n[truncated: ").map(|(start, _)| start).unwrap();
                prop_assert!(shown.len() as u64 <= limit && text.starts_with(shown));
            } else {
                prop_assert_eq!(given.text, text);
            }
        }
    }
}
