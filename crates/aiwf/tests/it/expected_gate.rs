//! `--expect HASH`: a decision names the gate it is about.

use crate::session::{PLAN, Session, at};

fn gate_hash(session: &Session) -> String {
    session.done("status latest")["gate"]["sha256"].as_str().unwrap().to_owned()
}

#[test]
fn the_right_hash_decides_whole_or_shortened_and_in_any_case() {
    for shorten in [64, 8] {
        let session = Session::new("");
        let hash = gate_hash(&session).to_uppercase();
        let approved = session.done(&format!("approve --expect {}", hash.get(..shorten).unwrap()));
        assert_eq!(at(&approved), ("planning", "response", 1));
    }
}

#[test]
fn the_wrong_hash_decides_nothing_and_the_gate_that_is_there_is_named() {
    let session = Session::new("");
    let hash = gate_hash(&session);
    let events = session.events();
    session.project.write("reply.md", PLAN);
    let wrong = "0".repeat(64);
    for line in ["approve", "reject --feedback no", "retry", "respond --file reply.md"] {
        let refusal = session.refused(&format!("{line} --expect {wrong}"));
        let found = format!("it is now planning prompt, iteration 1 ({})", hash.get(..12).unwrap());
        assert!(refusal.contains(&found), "{line}: {refusal}");
        assert!(refusal.contains("nothing was decided"), "{line}: {refusal}");
    }
    assert_eq!(session.events(), events);
}

#[test]
fn a_prefix_that_is_too_short_or_no_hash_is_refused() {
    let session = Session::new("");
    let short = gate_hash(&session).get(..7).unwrap().to_owned();
    for given in [short.as_str(), "", "planning"] {
        let outcome = session.run(&format!("approve --expect={given}"));
        assert_eq!(outcome.exit_code(), 1, "{outcome}");
        assert!(outcome.stderr_text().contains("at least 8 digits"), "{outcome}");
    }
}

/// A script that runs its line twice approves one gate, not two.
#[test]
fn of_two_approvals_that_name_the_same_gate_one_decides() {
    let session = Session::new("");
    session.done("approve");
    session.respond(PLAN);
    let line = format!("approve --expect {}", gate_hash(&session));
    assert_eq!(at(&session.done(&line)), ("generating", "prompt", 1));
    let refusal = session.refused(&line);
    assert!(refusal.contains("generating prompt, iteration 1"), "{refusal}");
    assert_eq!(at(&session.done("status latest")), ("generating", "prompt", 1));
}

#[test]
fn a_reply_names_the_prompt_that_it_answers() {
    let session = Session::new("");
    let hash = gate_hash(&session);
    session.done("approve");
    session.project.write("reply.md", PLAN);
    session.refused(&format!("respond --file reply.md --expect {}", "0".repeat(64)));
    session.done(&format!("respond --file reply.md --expect {hash}"));
    assert_eq!(at(&session.done("status latest")), ("planning", "response", 1));
}
