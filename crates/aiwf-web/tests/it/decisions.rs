//! Decisions through forms: what the journal says afterwards, and what is refused.

use aiwf_web::Access;
use axum::http::StatusCode;

use crate::browser::{Visit, form};

const PLAN: &str = "# Plan\n\n1. Write `src/login.py`.\n";
const CODE: &str = "Adds it.\n\n<<<FILE: src/login.py>>>\nprint('login')\n";
const PASS: &str = "Good.\n\n<review>PASS</review>\n";

/// A session that is complete and not applied yet.
fn complete(visit: &Visit) -> String {
    let id = visit.begin("Add a login");
    for reply in [PLAN, CODE, PASS] {
        visit.decide(&id, "approve", &[]);
        assert_eq!(visit.decide(&id, "respond", &[("text", reply)]).status, StatusCode::SEE_OTHER);
        assert_eq!(visit.decide(&id, "approve", &[]).status, StatusCode::SEE_OTHER);
    }
    assert_eq!(visit.engine.session_report(Some(id.as_str())).unwrap().status.as_str(), "complete");
    id
}

#[test]
fn a_session_is_walked_from_its_request_into_the_project_and_back() {
    let visit = Visit::entered();
    let inbox = visit.get("/");
    let started =
        visit.submit(&inbox, "/new", &[("request", "Add a login"), ("flow", "do"), ("provider", "manual")]);
    assert_eq!(started.status, StatusCode::SEE_OTHER, "{}", started.text);
    let id = started.header("location").trim_start_matches("/s/").to_owned();
    visit.get("/").has("Add a login").has("your approval of the prompt");
    visit.decide(&id, "approve", &[]);
    visit
        .get(&format!("/s/{id}"))
        .has("Save the prompt as a file")
        .has("Respond")
        .has("a reply from your chat");
    visit.decide(&id, "respond", &[("text", PLAN)]);
    visit.get(&format!("/s/{id}")).has("<h3>Plan</h3>").has("Approve");
    visit.decide(&id, "approve", &[]);
    for reply in [CODE, PASS] {
        visit.decide(&id, "approve", &[]);
        visit.decide(&id, "respond", &[("text", reply)]);
        visit.decide(&id, "approve", &[]);
    }
    visit.get(&format!("/s/{id}")).has("Apply to the project").has("PASS");
    visit.get(&format!("/s/{id}/code")).has("src/login.py").has("added").has("print(");
    let dry_run = visit.get(&format!("/s/{id}/apply"));
    dry_run.has("src/login.py").has("Nothing has been written yet");
    assert!(!visit.project.root().join("src/login.py").exists());
    let applied = visit.submit(&dry_run, &format!("/s/{id}/decide/apply"), &[]);
    assert_eq!(applied.status, StatusCode::SEE_OTHER, "{}", applied.text);
    assert_eq!(visit.project.read("src/login.py"), b"print('login')\n");
    assert_eq!(visit.decide(&id, "undo", &[]).status, StatusCode::SEE_OTHER);
    assert!(!visit.project.root().join("src/login.py").exists());
    // Each decision says where it was made.
    let lines = visit.engine.session_events(Some(id.as_str())).unwrap();
    let journal = serde_json::to_string(&lines.iter().map(|line| &line.event).collect::<Vec<_>>()).unwrap();
    assert!(journal.contains("\"surface\":\"page\"") && !journal.contains("\"surface\":\"terminal\""));
}

#[test]
fn a_decision_on_bytes_that_moved_is_refused_and_shows_the_new_ones() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    visit.decide(&id, "approve", &[]);
    visit.decide(&id, "respond", &[("text", PLAN)]);
    let page = visit.get(&format!("/s/{id}"));
    let path = visit.engine.session_report(Some(id.as_str())).unwrap().response_path.unwrap();
    visit.project.write(&path, "# Another plan\n\nDrop the tables.\n");
    let before = visit.events(&id);
    for (verb, filled) in [("approve", vec![]), ("reject", vec![("text", "no")]), ("cancel", vec![])] {
        let answer = visit.submit(&page, &format!("/s/{id}/decide/{verb}"), &filled);
        assert_eq!(answer.status, StatusCode::CONFLICT, "{verb}");
        answer.has("Drop the tables.").has("role=\"alert\"");
    }
    assert_eq!(visit.events(&id), before);
    assert_eq!(visit.decide(&id, "approve", &[]).status, StatusCode::SEE_OTHER);
}

#[test]
fn of_two_browsers_the_second_decision_is_refused() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    let page = visit.get(&format!("/s/{id}"));
    let action = format!("/s/{id}/decide/approve");
    assert_eq!(visit.submit(&page, &action, &[]).status, StatusCode::SEE_OTHER);
    assert_eq!(visit.submit(&page, &action, &[]).status, StatusCode::CONFLICT);
    assert_eq!(visit.events(&id).iter().filter(|name| **name == "prompt-approved").count(), 1);
}

#[test]
fn an_apply_of_what_was_not_shown_is_refused() {
    let visit = Visit::entered();
    let id = complete(&visit);
    let dry_run = visit.get(&format!("/s/{id}/apply"));
    visit.project.write("src/login.py", "print('mine')\n");
    let action = format!("/s/{id}/decide/apply");
    let answer = visit.submit(&dry_run, &action, &[]);
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert_eq!(visit.project.read("src/login.py"), b"print('mine')\n");
    visit.get(&format!("/s/{id}/apply")).has("conflict: the file changed since").has_not("decide/apply");
}

#[test]
fn a_rejection_needs_words_and_they_are_in_the_next_prompt() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    visit.decide(&id, "approve", &[]);
    visit.decide(&id, "respond", &[("text", PLAN)]);
    let empty = visit.decide(&id, "reject", &[("text", "  ")]);
    assert_eq!(empty.status, StatusCode::BAD_REQUEST);
    empty.has("the text is empty");
    assert_eq!(visit.decide(&id, "reject", &[("text", "name the table")]).status, StatusCode::SEE_OTHER);
    visit.get(&format!("/s/{id}")).has("name the table");
    visit.get(&format!("/s/{id}/prompt")).has("instructions").has("person").has("a cache misses from byte");
}

#[test]
fn a_reply_is_checked_before_it_is_taken() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    for reply in ["", PLAN] {
        visit.decide(&id, "approve", &[]);
        if !reply.is_empty() {
            visit.decide(&id, "respond", &[("text", reply)]);
            visit.decide(&id, "approve", &[]);
            visit.decide(&id, "approve", &[]);
        }
    }
    let page = visit.get(&format!("/s/{id}"));
    let before = visit.events(&id);
    let hidden = page.form(&format!("/s/{id}/decide/respond"));
    let check = |text: &str| {
        let mut fields: Vec<(&str, &str)> =
            hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.push(("text", text));
        visit.send("POST", &format!("/s/{id}/decide/check"), &[], &form(&fields))
    };
    let broken = "<<<EDIT: src/none.py>>>\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
    let answer = check(broken);
    assert_eq!(answer.status, StatusCode::OK);
    answer.has("problem").has("src/none.py").has("&lt;&lt;&lt;EDIT");
    check(CODE).has("It has not been submitted yet");
    assert_eq!(visit.events(&id), before);
}

#[test]
fn a_page_that_only_reads_offers_no_decision_and_takes_none() {
    let visit = Visit::with_access(Access::ReadOnly).let_in();
    let id = visit.begin("Add a login");
    let page = visit.get(&format!("/s/{id}"));
    page.has("waiting for").has_not("<form method=\"post\"");
    visit.get("/").has_not("<form method=\"post\"").has("Add a login");
    let before = visit.events(&id);
    for path in [format!("/s/{id}/decide/approve"), "/new".to_owned(), "/project/pin".to_owned()] {
        let answer = visit.send("POST", &path, &[], "token=x");
        assert!(answer.status.is_client_error(), "{path}");
    }
    assert_eq!(visit.events(&id), before);
}

#[test]
fn a_cancelled_session_has_ended_with_its_reason() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    assert_eq!(visit.decide(&id, "cancel", &[("text", "not needed")]).status, StatusCode::SEE_OTHER);
    visit.get(&format!("/s/{id}")).has("cancelled").has("not needed").has_not("decide/cancel");
    visit.get("/").has("cancelled");
}
