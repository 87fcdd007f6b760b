use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::run::event::RunEvent;

/// A journal line of a reply, as 0.1.0 wrote it.
const REPLIED: &str = r#"{"event":"run-replied","text":"a\nb","tool_calls":[{"id":"1","name":"fs_read","arguments":{"z":1,"a":2}}],"call":{}}"#;

/// An event with serde's own tag.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum BySerde {
    Rewound {
        from: String,
        to: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

#[test]
fn an_event_is_written_as_serde_writes_a_tag() {
    for reason in [None, Some("a \"b\"".to_owned())] {
        let (from, to) = ("a".to_owned(), "b".to_owned());
        let by_serde = BySerde::Rewound { from: from.clone(), to: to.clone(), reason: reason.clone() };
        let ours = RunEvent::Rewound { from, to, reason };
        assert_eq!(serde_json::to_string(&ours).unwrap(), serde_json::to_string(&by_serde).unwrap());
    }
}

#[test]
fn the_tag_may_be_anywhere_and_unknown_keys_are_skipped() {
    let read = |text: &str| serde_json::from_str::<RunEvent>(text).unwrap();
    let first = read(REPLIED);
    let RunEvent::RunReplied { text, tool_calls, .. } = &first else { panic!("{first:?}") };
    assert_eq!(text.as_str(), "a\nb");
    assert_eq!(tool_calls[0].arguments, json!({ "z": 1, "a": 2 }));
    let rest = REPLIED.replace(r#""event":"run-replied","#, "");
    let last = rest.replace(r#""call":{}}"#, r#""call":{},"new":[1],"event":"run-replied"}"#);
    assert_eq!(read(&last), first);
    let middle = rest.replace(r#""tool_calls""#, r#""event":"run-replied","tool_calls""#);
    assert_eq!(read(&middle), first);
    assert_eq!(serde_json::from_value::<RunEvent>(serde_json::from_str(&last).unwrap()).unwrap(), first);
}

#[test]
fn errors_read_as_those_of_serde() {
    let message = |text: &str| {
        let error = serde_json::from_str::<RunEvent>(text).unwrap_err().to_string();
        error.split(" at line").next().unwrap().to_owned()
    };
    assert_eq!(message("{}"), "missing field `event`");
    assert_eq!(message(r#"{"from":"a"}"#), "missing field `event`");
    assert_eq!(message(r#"{"event":"rewound","to":"b"}"#), "missing field `from`");
    assert_eq!(message(r#"{"to":"b","event":"rewound"}"#), "missing field `from`");
    assert_eq!(message(r#"{"event":"rewound","from":"a","from":"b"}"#), "duplicate field `from`");
    assert!(
        message(r#"{"event":"gone"}"#).starts_with("unknown variant `gone`, expected one of `run-created`")
    );
    assert!(message("[]").starts_with("invalid type: sequence, expected an object with the key `event`"));
}
