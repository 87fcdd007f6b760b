use serde_json::json;

use super::*;

fn payload() -> Payload {
    Payload {
        system: vec!["Rules.\n\n".to_owned(), "More rules.".to_owned()],
        files: vec![AttachedFile { path: "plan.md".to_owned(), text: "The plan.".to_owned() }],
        messages: vec![PayloadMessage {
            role: Role::User,
            blocks: vec!["One.\n\n".to_owned(), "Two.".to_owned()],
        }],
        turns: vec![
            Turn::Assistant {
                content: "I look.".into(),
                tool_calls: vec![ToolCall {
                    id: "1".to_owned(),
                    name: "read".to_owned(),
                    arguments: json!({ "path": "a" }),
                    signature: None,
                }],
            },
            Turn::Tool { id: "1".to_owned(), name: "read".to_owned(), content: "a".into(), is_error: true },
            Turn::User { content: "Go on.".into() },
        ],
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "Reads a file".to_owned(),
            parameters: json!({ "type": "object" }),
        }],
        ..Payload::default()
    }
}

#[test]
fn the_canonical_form_keeps_blocks_apart() {
    insta::assert_snapshot!(payload().canonical());
    assert_eq!(payload().sha256(), Sha256Hex::of([payload().canonical().as_str()]).to_string());
}

#[test]
fn marks_for_a_cache_are_no_part_of_the_hash() {
    let marked = Payload { is_system_stable: true, n_stable_messages: 1, ..payload() };
    assert_eq!(marked.sha256(), payload().sha256());
}

#[test]
fn every_part_counts_in_the_hash() {
    let changes: [fn(&mut Payload); 6] = [
        |payload| payload.system[1].push('!'),
        |payload| payload.files[0].text.push('!'),
        |payload| payload.messages[0].blocks[0].push('!'),
        |payload| payload.messages[0].blocks = vec![payload.messages[0].text()],
        |payload| payload.turns.truncate(2),
        |payload| payload.tools.clear(),
    ];
    for change in changes {
        let mut other = payload();
        change(&mut other);
        assert_ne!(other.sha256(), payload().sha256(), "{other:?}");
    }
}

#[test]
fn a_recording_is_found_wherever_its_blocks_end() {
    let mut joined = payload();
    joined.messages = vec![PayloadMessage::new(Role::User, "One.\n\nTwo.")];
    assert_eq!(joined.key(), payload().key());
}
