use aiwf_prompt::Role;

use super::*;
use crate::payload::PayloadMessage;
use crate::sink::TextSink;
use aiwf_process::Stop;

fn section(id: &str, sha256: &str) -> SectionHash {
    SectionHash { id: id.to_owned(), source: String::new(), bytes: 0, sha256: sha256.to_owned(), key: None }
}

fn payload(session: &str, text: &str) -> Payload {
    Payload {
        messages: vec![PayloadMessage::new(
            Role::User,
            format!("save to .aiwf/sessions/{session}/x: {text}"),
        )],
        sections: vec![section("standards", "same"), section("task", text)],
        session_id: Some(session.to_owned()),
        ..Payload::default()
    }
}

fn ask(replay: &Replay, payload: &Payload) -> Result<(String, Answer), AskError> {
    ask_in(Path::new("."), Permission::ReadOnly, replay, payload)
}

fn ask_in(
    directory: &Path,
    permission: Permission,
    replay: &Replay,
    payload: &Payload,
) -> Result<(String, Answer), AskError> {
    let request = Request {
        name: "planning-1",
        payload,
        directory,
        response_path: None,
        permission,
        stop: &Stop::default(),
    };
    let mut sink = TextSink::new(1_000);
    let answer = replay.ask(&request, &mut sink)?;
    Ok((sink.into_text(), answer))
}

fn record(cassette: &Cassette, payload: &Payload, reply: &Reply) {
    let answered = Answered {
        name: "planning-1",
        provider: "agent",
        capability: None,
        text: "the plan",
        reply,
        changes: None,
        keeps_texts: false,
    };
    cassette.record(payload, answered).unwrap();
}

#[test]
fn another_session_with_the_same_inputs_gets_the_recorded_answer() {
    let directory = tempfile::tempdir().unwrap();
    let cassette = Cassette::in_directory(directory.path().join("cassette"));
    let usage = Usage { input_tokens: Some(12), ..Usage::default() };
    let reply = Reply { usage: Some(usage), model: Some("m".to_owned()), ..Reply::default() };
    record(&cassette, &payload("session-a", "plan it"), &reply);
    let (text, answer) = ask(&Replay::new(cassette), &payload("session-b", "plan it")).unwrap();
    assert_eq!(text, "the plan");
    assert_eq!(answer, Answer::Reply(reply));
}

#[test]
fn a_request_that_was_not_recorded_names_the_nearest_and_the_first_difference() {
    let directory = tempfile::tempdir().unwrap();
    let cassette = Cassette::in_directory(directory.path());
    record(&cassette, &payload("s", "plan it"), &Reply::default());
    let error = ask(&Replay::new(cassette), &payload("s", "plan more")).unwrap_err();
    insta::assert_snapshot!(format!("{error}\n{}", error.advice().worded(|action, _| format!("{action:?}"))), @r"
    no recording answers this request
      nearest: `planning-1`; the first section that differs is `task`
    restore the inputs that were recorded, or use a live provider
    ");
}

#[test]
fn recordings_that_are_not_there_are_an_error() {
    let error = ask(&Replay::new(Cassette::in_directory("no/such/dir")), &payload("s", "x")).unwrap_err();
    assert!(matches!(error, AskError::Unreadable { .. }));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test makes the files that are changed")]
fn a_call_that_may_write_makes_the_changes_that_were_recorded() {
    let world = tempfile::tempdir().unwrap();
    let [recorded, replayed] = ["recorded", "replayed"].map(|name| world.path().join(name));
    for directory in [&recorded, &replayed] {
        std::fs::create_dir(directory).unwrap();
        std::fs::write(directory.join("a.txt"), "a").unwrap();
    }
    let touched = crate::touched::Touched::before_with_hashes(&recorded, &[]);
    std::fs::write(recorded.join("a.txt"), "changed").unwrap();
    let files = touched.after().touched;
    let cassette = Cassette::in_directory(world.path().join("cassette"));
    record(&cassette, &payload("s", "plan it"), &Reply::default());
    assert!(!cassette.has_changes());
    let answered = Answered {
        name: "implement-1",
        provider: "agent",
        capability: None,
        text: "done",
        reply: &Reply::default(),
        changes: Some(ChangedFiles { directory: &recorded, files: &files }),
        keeps_texts: false,
    };
    let payload = payload("s", "do it");
    cassette.record(&payload, answered).unwrap();
    assert!(cassette.has_changes());
    let replay = Replay::new(cassette);
    let text = || std::fs::read_to_string(replayed.join("a.txt")).unwrap();
    let (_, answer) = ask_in(&replayed, Permission::ReadOnly, &replay, &payload).unwrap();
    assert_eq!(text(), "a");
    let note = "the recorded file changes are not applied: this call may not write".to_owned();
    assert_eq!(answer, Answer::Reply(Reply { notes: vec![note], ..Reply::default() }));
    let (text_of_reply, answer) = ask_in(&replayed, Permission::WriteDirectory, &replay, &payload).unwrap();
    assert_eq!((text_of_reply.as_str(), answer), ("done", Answer::Reply(Reply::default())));
    assert_eq!(text(), "changed");
}
