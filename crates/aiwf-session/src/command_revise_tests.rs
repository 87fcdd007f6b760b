//! Versions, comments, notes and reopened artifacts, in every shipped flow.

use super::*;
use crate::transitions::{outcomes, sample_setup};
use crate::versions::VersionOutcome;

impl Driven {
    fn revise(&mut self, of: &str) -> Result<(), Refusal> {
        self.run(Command::Revise { by: person(), phase: phase(of), reason: "smaller".to_owned() })
    }

    fn comment(&mut self, on: CommentSubject, text: &str) -> Result<(), Refusal> {
        self.run(Command::Comment {
            by: person(),
            on,
            sha256: "0".repeat(64),
            lines: LineRange::parse("2"),
            quoted: "b".to_owned(),
            text: text.to_owned(),
        })
    }

    /// Runs a phase with a reply of its own, and passes.
    fn pass(&mut self, content: &str) {
        self.write_prompt();
        self.approve_prompt();
        self.reply(content);
        let response = file(&self.state.response_path().unwrap(), content);
        let outcome = outcomes(&self.state)[0].clone();
        let approve =
            Command::ApproveResponse { by: person(), response, outcome, has_checks: false, note: None };
        self.run(approve).unwrap();
    }

    fn reply(&mut self, content: &str) {
        let sent = Command::RecordSent {
            provider: "manual".to_owned(),
            payload_sha256: "payload".to_owned(),
            is_free: true,
            parts: None,
        };
        if self.state.step == Step::AskWanted {
            self.run(sent).unwrap();
        }
        let response = file(&self.state.response_path().unwrap(), content);
        self.run(Command::RecordReply { response, call: None, changes: None }).unwrap();
    }

    /// Passes every phase until the session is complete.
    fn finish(&mut self, content: &str) {
        while self.state.phase != Phase::COMPLETE {
            self.pass(content);
        }
    }

    fn versions(&self, of: &str) -> Vec<String> {
        let shown = |version: &crate::Version| {
            format!("{} {} {}", version.number, version.sha256, version.outcome.as_str())
        };
        self.state.versions_of(phase(of)).iter().map(shown).collect()
    }
}

#[test]
fn every_reply_at_its_gate_is_a_version() {
    let mut session = Driven::new(setup(&[], 5));
    session.write_prompt();
    session.approve_prompt();
    session.reply("one");
    session.reply("one");
    assert_eq!(session.versions("planning"), ["1 sha-of-one pending"]);
    session.reply("two");
    let kept = vec![file("iteration-1/planning-response.rejected-1.md", "two edited")];
    session.run(Command::RejectResponse { by: person(), feedback: "no".to_owned(), kept }).unwrap();
    session.write_prompt();
    session.approve_prompt();
    session.reply("three");
    session.run(Command::Retry { by: person(), kept: Vec::new() }).unwrap();
    session.reply("four");
    let response = file(&session.state.response_path().unwrap(), "four edited");
    let approve = Command::ApproveResponse {
        by: person(),
        response,
        outcome: outcomes(&session.state)[0].clone(),
        has_checks: false,
        note: Some("mind the tests".to_owned()),
    };
    session.run(approve).unwrap();
    assert_eq!(
        session.versions("planning"),
        [
            "1 sha-of-one replaced",
            "2 sha-of-two edited rejected",
            "3 sha-of-three replaced",
            "4 sha-of-four edited approved",
        ]
    );
    let note = session.state.approved_version(phase("planning")).unwrap().note.clone().unwrap();
    assert_eq!(note.text, "mind the tests");
}

#[test]
fn a_complete_session_of_every_flow_is_reopened_and_walked_again() {
    for flow in Flow::built_in() {
        let mut session = Driven::new(sample_setup(flow));
        session.finish("one");
        let first = flow.first();
        let iteration = session.state.iteration;
        session.revise(first.as_str()).unwrap();
        assert_eq!(session.at(), (first, Some(Stage::Prompt), iteration + 1), "{}", flow.name);
        let stale: Vec<Phase> = session.state.stale_versions().iter().map(|(phase, ..)| *phase).collect();
        assert!(!stale.is_empty() && !stale.contains(&first), "{}: {stale:?}", flow.name);
        // It is reopened once, and what follows is made again before it can be reopened.
        assert!(matches!(session.revise(first.as_str()), Err(Refusal::NotApproved { .. })));
        let writes = flow.phases.iter().find(|spec| spec.gives.changes_files()).unwrap().name;
        assert!(matches!(session.revise(writes.as_str()), Err(Refusal::NotApproved { .. })));
        session.pass("two");
        assert_ne!(session.state.phase, first);
        session.finish("two");
        assert!(session.state.stale_versions().is_empty(), "{}", flow.name);
        assert_eq!(session.versions(first.as_str()), ["1 sha-of-one reopened", "2 sha-of-two approved"]);
    }
}

#[test]
fn an_applied_session_is_undone_before_it_is_reopened() {
    let mut session = Driven::new(sample_setup(&Flow::find_built_in("do").unwrap()));
    session.finish("one");
    session.run(Command::IntendApply { files: Vec::new() }).unwrap();
    assert_eq!(session.revise("plan"), Err(Refusal::Applied));
    session.run(Command::RecordApplied).unwrap();
    assert_eq!(session.revise("plan"), Err(Refusal::Applied));
    session.run(Command::IntendUndo { files: Vec::new() }).unwrap();
    session.run(Command::RecordApplied).unwrap();
    assert!(matches!(session.revise("review"), Err(Refusal::Verdict { .. })));
    session.revise("plan").unwrap();
}

#[test]
fn what_waits_elsewhere_is_replaced_when_an_artifact_is_reopened() {
    let mut session = Driven::new(sample_setup(&Flow::find_built_in("do").unwrap()));
    session.pass("one");
    session.write_prompt();
    session.approve_prompt();
    session.reply("code");
    session.revise("plan").unwrap();
    assert_eq!(session.versions("implement"), ["1 sha-of-code replaced"]);
    // A flow whose phase reads its own result does not get it twice.
    assert_eq!(session.state.feedback.as_ref().unwrap().rejected_reply, None);
    assert_eq!(session.state.feedback.as_ref().unwrap().text, "smaller");
}

#[test]
fn an_approved_version_stays_stale_until_another_one_is_approved() {
    // The same reply again, and another one.
    for again in ["one", "two"] {
        let mut session = Driven::new(sample_setup(&Flow::find_built_in("do").unwrap()));
        session.finish("one");
        session.revise("plan").unwrap();
        session.pass("two");
        session.write_prompt();
        session.approve_prompt();
        let stale = |session: &Driven| {
            let stale = session.state.stale_versions();
            stale.iter().any(|(of, version, on)| {
                (*of, version.number, *on) == (phase("implement"), 1, (phase("plan"), 1))
            })
        };
        session.reply(again);
        assert!(stale(&session), "{again}");
        let pending = format!("2 sha-of-{again} pending");
        assert_eq!(session.versions("implement"), ["1 sha-of-one approved", &pending]);
        session.reply("three");
        let replaced = format!("2 sha-of-{again} replaced");
        assert_eq!(
            session.versions("implement"),
            ["1 sha-of-one approved", &replaced, "3 sha-of-three pending"]
        );
        assert!(stale(&session), "{again}");
        let reject = Command::RejectResponse { by: person(), feedback: "no".to_owned(), kept: Vec::new() };
        session.run(reject).unwrap();
        assert!(stale(&session), "{again}");
        session.pass("four");
        assert!(!stale(&session), "{again}");
    }
}

#[test]
fn comments_are_numbered_resolved_once_and_bounded() {
    let mut session = Driven::new(sample_setup(&Flow::find_built_in("do").unwrap()));
    session.pass("one");
    let plan = || CommentSubject::Artifact { phase: phase("plan"), version: 1 };
    session.comment(plan(), "why?").unwrap();
    session.comment(CommentSubject::File { path: "src/a.rs".to_owned() }, "here too").unwrap();
    let resolve = |number| Command::ResolveComment { by: person(), number, how: Resolution::Resolved };
    session.run(resolve(1)).unwrap();
    assert_eq!(
        session.run(resolve(1)),
        Err(Refusal::CommentSettled { number: 1, resolution: Resolution::Resolved })
    );
    session.run(Command::RemoveComment { by: person(), number: 2 }).unwrap();
    assert_eq!(session.run(resolve(2)), Err(Refusal::NoComment { number: 2, known: vec![1] }));
    // A number is never used again.
    session.comment(plan(), "and now?").unwrap();
    assert_eq!(session.state.open_comments().map(|open| open.number).collect::<Vec<_>>(), [3]);
    assert_eq!(session.comment(plan(), " \n"), Err(Refusal::EmptyRemark));
    assert!(matches!(session.comment(plan(), &"x".repeat(9_000)), Err(Refusal::LongRemark { .. })));
    for _ in 3..1_000 {
        session.comment(plan(), "more").unwrap();
    }
    assert_eq!(session.comment(plan(), "more"), Err(Refusal::TooManyComments { max: 1_000 }));
    assert_eq!(VersionOutcome::Approved, session.state.versions_of(phase("plan"))[0].outcome);
}

#[test]
fn a_session_without_new_events_has_versions_too() {
    // The events of 0.1.0 are enough to count them.
    let mut session = Driven::new(change_setup(3));
    session.walk_change(None);
    assert_eq!(session.versions("plan"), ["1 sha-of-reply approved"]);
}
