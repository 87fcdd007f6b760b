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
    let marked = Payload { n_stable_blocks: 3, ..payload() };
    assert!(!marked.breakpoints().is_empty());
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

fn stable(n_system: usize, n_blocks: usize, n_stable_blocks: usize) -> Payload {
    let blocks = |n: usize| (0..n).map(|n| format!("block {n}")).collect::<Vec<_>>();
    Payload {
        system: blocks(n_system),
        messages: vec![PayloadMessage { role: Role::User, blocks: blocks(n_blocks) }],
        n_stable_blocks,
        ..Payload::default()
    }
}

#[test]
fn marks_stand_at_the_borders_of_stable_sections_and_are_four_at_most() {
    for (n_system, n_blocks, n_stable, marks) in [
        (0, 3, 0, vec![]),
        (0, 3, 1, vec![0]),
        (0, 3, 2, vec![0, 1]),
        // Only the end of the system text, and the last borders after it.
        (2, 3, 4, vec![1, 2, 3]),
        (3, 9, 10, vec![2, 7, 8, 9]),
        (3, 2, 2, vec![1]),
        (0, 2, 9, vec![0, 1]),
    ] {
        assert_eq!(
            stable(n_system, n_blocks, n_stable).breakpoints(),
            marks,
            "{n_system} {n_blocks} {n_stable}"
        );
    }
}

#[test]
fn an_exchange_with_tools_has_a_mark_at_the_end_of_its_prompt_and_leaves_two_for_turns() {
    let tools = payload().tools;
    let first = Payload { tools, ..stable(1, 6, 5) };
    assert_eq!(first.breakpoints(), [0, 3, 4, 6]);
    let later = Payload { turns: payload().turns, ..first };
    assert_eq!(later.breakpoints(), [0, 4]);
}

#[test]
fn requests_of_one_session_share_a_cache_key_and_so_do_those_with_the_same_stable_text() {
    let of_session = |id: &str| Payload { session_id: Some(id.to_owned()), ..stable(1, 2, 1) }.cache_key();
    assert_eq!(of_session("a"), of_session("a"));
    assert_ne!(of_session("a"), of_session("b"));
    let mut other_task = stable(1, 2, 1);
    other_task.messages[0].blocks[1].push('!');
    assert_eq!(other_task.cache_key(), stable(1, 2, 1).cache_key());
    assert_ne!(stable(1, 2, 2).cache_key(), stable(1, 2, 1).cache_key());
    assert_eq!(stable(1, 2, 0).cache_key(), None);
    assert!(of_session("a").unwrap().len() <= 64);
}
