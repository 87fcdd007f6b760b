use aiwf_session::Call;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::run::event::{Block, RunEvent, RunPhase, ToolExec};
use crate::run::record::Record;

const NATIVE: View = View { is_complete: false, is_native: true };

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "fs_read".to_owned(), arguments: json!({}), signature: None }
}

fn said(node: Option<&str>, input: Option<&str>) -> RunEvent {
    let mut blocks = Vec::new();
    let mut push =
        |layer, text: String| blocks.push(Block { layer, text: text.into(), left_out: Vec::new() });
    if let Some(node) = node {
        push(Layer::RunDirective, format!("RUN_DIRECTIVE\n- currentNodeId: {node}"));
        push(Layer::NodeBrief, format!("NODE_BRIEF\n- currentNodeId: {node} (type=step)"));
    } else {
        push(Layer::RunDirective, "RUN_DIRECTIVE\n- intent: x".to_owned());
    }
    if let Some(input) = input {
        let for_node = node.map(|node| format!("\n- forNodeId: {node}")).unwrap_or_default();
        let text = format!("USER_INPUT{for_node}\n\n```\n{input}\n```");
        push(Layer::UserInput, text);
    }
    RunEvent::Said { blocks, input: input.map(str::to_owned), node: node.map(str::to_owned), agent: None }
}

fn replied(calls: Vec<ToolCall>) -> RunEvent {
    RunEvent::RunReplied { text: "words".into(), tool_calls: calls, call: Box::new(Call::default()) }
}

fn ran(id: &str) -> RunEvent {
    let exec = ToolExec {
        tool_call_id: id.to_owned(),
        tool_name: "fs.read".to_owned(),
        agent_id: None,
        input: json!({}),
        output: json!({}),
        duration_ms: 0,
    };
    RunEvent::ToolRan { exec: Box::new(exec), content: "{}".into(), is_error: false, left_out: None }
}

fn turns(events: &[RunEvent], view: View) -> Vec<Turn> {
    render_entries(&Record::fold(events).entries, view)
        .into_iter()
        .flat_map(|rendered| rendered.turns)
        .collect()
}

#[test]
fn a_result_follows_the_call_it_answers() {
    let events = [said(Some("a"), None), replied(vec![call("1"), call("2")]), ran("1"), ran("2")];
    let turns = turns(&events, NATIVE);
    assert!(is_protocol_complete(&turns));
    assert!(matches!(&turns[..], [
        Turn::User { .. },
        Turn::User { .. },
        Turn::Assistant { tool_calls, .. },
        Turn::Tool { id: first, .. },
        Turn::Tool { id: second, .. },
    ] if tool_calls.len() == 2 && first == "1" && second == "2"));
}

#[test]
fn what_is_half_a_group_is_seen() {
    let half = [said(Some("a"), None), replied(vec![call("1"), call("2")]), ran("1")];
    assert!(!is_protocol_complete(&turns(&half, NATIVE)));
    let orphan = [said(Some("a"), None), ran("1")];
    assert!(!is_protocol_complete(&turns(&orphan, NATIVE)));
}

#[test]
fn after_completion_no_message_names_a_node() {
    let events = [
        said(Some("secret-node"), Some("hello")),
        replied(vec![call("1")]),
        ran("1"),
        said(Some("other-node"), None),
        replied(Vec::new()),
        said(None, Some("thanks")),
    ];
    let view = View { is_complete: true, is_native: true };
    let texts: Vec<String> = turns(&events, view)
        .iter()
        .filter(|turn| matches!(turn, Turn::User { .. }))
        .map(|turn| turn.content().to_owned())
        .collect();
    assert_eq!(
        texts,
        ["USER_INPUT\n\n```\nhello\n```", "RUN_DIRECTIVE\n- intent: x", "USER_INPUT\n\n```\nthanks\n```"]
    );
}

#[test]
fn a_reopened_run_is_no_longer_told_that_it_is_complete() {
    let events =
        [said(Some("a"), None), replied(Vec::new()), said(None, Some("more")), said(Some("a"), None)];
    let texts: Vec<String> = turns(&events, NATIVE).iter().map(|turn| turn.content().to_owned()).collect();
    assert!(!texts.iter().any(|text| text.contains("intent: x")), "{texts:?}");
}

#[test]
fn without_tools_of_its_own_a_model_reads_calls_and_results_as_text() {
    let events = [said(Some("a"), None), replied(vec![call("1")]), ran("1")];
    let view = View { is_complete: false, is_native: false };
    let texts: Vec<String> = turns(&events, view).iter().map(|turn| turn.content().to_owned()).collect();
    insta::assert_snapshot!(texts.join("\n----\n"), @"
    RUN_DIRECTIVE
    - currentNodeId: a
    ----
    NODE_BRIEF
    - currentNodeId: a (type=step)
    ----
    ## Your reply 1
    ----
    words
    ----
    ## Result of fs_read (1)

    ```json
    {}
    ```
    ");
}

/// A history with a kill anywhere: every prefix is a journal that a process may have left.
fn history() -> impl Strategy<Value = Vec<RunEvent>> {
    let round = (any::<bool>(), 0_usize..4, any::<bool>());
    prop::collection::vec(round, 1..8).prop_map(|rounds| {
        let mut events = Vec::new();
        for (number, (is_user, n_calls, ends)) in rounds.into_iter().enumerate() {
            let input = is_user.then_some("input");
            events.push(said(Some("node"), input));
            let ids: Vec<String> = (0..n_calls).map(|index| format!("{number}-{index}")).collect();
            events.push(replied(ids.iter().map(|id| call(id)).collect()));
            events.extend(ids.iter().map(|id| ran(id)));
            if ends {
                events.push(RunEvent::RunStopped {
                    phase: RunPhase::WaitingUser,
                    fault: None,
                    question: None,
                });
            }
        }
        events
    })
}

proptest! {
    #[test]
    fn a_killed_run_can_always_be_resumed(events in history(), cut in any::<prop::sample::Index>()) {
        let mut events = events;
        events.truncate(cut.index(events.len() + 1));
        let open = Record::fold(&events).open_calls;
        events.extend(open.iter().map(|call| ran(&call.id)));
        events.push(said(Some("node"), Some("go on")));
        prop_assert!(is_protocol_complete(&turns(&events, NATIVE)));
    }
}

#[test]
fn a_name_that_no_api_takes_goes_back_in_a_form_that_all_take() {
    let odd = |name: &str| ToolCall { name: name.to_owned(), ..call("1") };
    for (name, expected) in [("fs.read", "fs_read"), ("no such tool!", "no_such_tool_"), ("", "unnamed")] {
        let turns = turns(&[said(Some("a"), None), replied(vec![odd(name)]), ran("1")], NATIVE);
        assert!(matches!(&turns[2..], [Turn::Assistant { tool_calls, .. }, Turn::Tool { name, .. }]
            if tool_calls[0].name == expected && name == expected));
    }
}

#[test]
fn after_completion_a_text_keeps_words_and_no_calls_of_the_workflow() {
    let words =
        "Let me look.\n\n```json\n{\"tool_calls\": [{\"name\": \"fs.read\", \"arguments\": {}}]}\n```\n";
    let with_words = RunEvent::RunReplied {
        text: words.into(),
        tool_calls: vec![call("1")],
        call: Box::new(Call::default()),
    };
    let later = RunEvent::RunReplied {
        text: words.into(),
        tool_calls: vec![call("2")],
        call: Box::new(Call::default()),
    };
    let events = [said(Some("a"), None), with_words, ran("1"), said(None, None), later, ran("2")];
    let view = View { is_complete: true, is_native: false };
    let texts: Vec<String> = turns(&events, view).iter().map(|turn| turn.content().to_owned()).collect();
    assert_eq!(
        texts,
        [
            "## Your reply 1",
            "Let me look.",
            "RUN_DIRECTIVE\n- intent: x",
            "## Your reply 2",
            words,
            "## Result of fs_read (2)\n\n```json\n{}\n```",
        ]
    );
}

#[test]
fn an_answer_to_something_else_is_no_answer() {
    let stopped = RunEvent::RunStopped { phase: RunPhase::WaitingUser, fault: None, question: None };
    let mut events = vec![said(Some("a"), None), replied(Vec::new()), stopped];
    assert_eq!(Record::fold(&events).reply.as_deref(), Some("words"));
    events.push(said(Some("a"), Some("next")));
    assert_eq!(Record::fold(&events).reply, None);
}
