//! Comments on lines, versions of what they are on, notes, and what is reopened.

use axum::http::StatusCode;

use crate::browser::Visit;

const PLAN: &str = "# Plan\n\n1. Write the parser.\n2. Write the tests.\n";
const BETTER: &str = "# Plan\n\n0. Read the grammar.\n1. Write the parser.\n2. Write the tests.\n";

/// A session whose plan waits for its approval.
fn planned(visit: &Visit) -> String {
    let id = visit.begin("Add a parser");
    visit.decide(&id, "approve", &[]);
    visit.decide(&id, "respond", &[("text", PLAN)]);
    id
}

fn comment(visit: &Visit, id: &str, line: &str, text: &str) -> StatusCode {
    let page = visit.get(&format!("/s/{id}/v/plan@1?line={line}"));
    let action = format!("/s/{id}/decide/comment");
    visit.submit(&page, &action, &[("from", line), ("to", line), ("text", text)]).status
}

#[test]
fn a_line_leads_to_a_form_and_its_comment_stands_at_the_line() {
    let visit = Visit::entered();
    let id = planned(&visit);
    let reply = visit.get(&format!("/s/{id}/a/iteration-1/plan-response.md"));
    reply.has("href=\"?line=3#comment\" aria-label=\"Line 3\"");
    assert_eq!(comment(&visit, &id, "3", "which grammar?"), StatusCode::SEE_OTHER);
    for page in [format!("/s/{id}"), format!("/s/{id}/v/plan@1"), format!("/s/{id}/v/plan@1?as=source")] {
        visit.get(&page).has("which grammar?").has("1. Write the parser.");
    }
    assert!(visit.events(&id).contains(&"comment-added"));
}

#[test]
fn open_comments_are_sent_with_a_rejection_and_follow_into_the_next_version() {
    let visit = Visit::entered();
    let id = planned(&visit);
    comment(&visit, &id, "3", "which grammar?");
    visit.get(&format!("/s/{id}")).has("1 open comment will be sent with Reject");
    assert_eq!(visit.decide(&id, "reject", &[("text", "")]).status, StatusCode::SEE_OTHER);
    visit.get(&format!("/s/{id}/prompt/copy")).has("which grammar?");
    visit.decide(&id, "approve", &[]);
    visit.decide(&id, "respond", &[("text", BETTER)]);
    visit.get(&format!("/s/{id}/v/plan@2")).has("which grammar?").has("now plan@2:4").has("plan@1");
    visit
        .get(&format!("/s/{id}/v/plan@2?diff=1"))
        .has("Read the grammar")
        .has("Differences from the previous version");
    let page = visit.get(&format!("/s/{id}"));
    let resolved = visit.submit(&page, &format!("/s/{id}/decide/resolve"), &[]);
    assert_eq!(resolved.status, StatusCode::SEE_OTHER);
    visit.get(&format!("/s/{id}/v/plan@2")).has("resolved").has_not("decide/dismiss");
}

#[test]
fn a_comment_on_a_text_that_moved_is_refused() {
    let visit = Visit::entered();
    let id = planned(&visit);
    let page = visit.get(&format!("/s/{id}/v/plan@1?line=3"));
    visit.project.write(&format!(".aiwf/sessions/{id}/iteration-1/plan-response.md"), "# Other\n\nx\n");
    let answer = visit.submit(&page, &format!("/s/{id}/decide/comment"), &[("from", "3"), ("text", "why?")]);
    assert_eq!(answer.status, StatusCode::CONFLICT);
    answer.has("changed since this page was loaded");
    assert!(!visit.events(&id).contains(&"comment-added"));
}

#[test]
fn a_note_goes_with_the_approval_and_what_is_reopened_has_a_reason() {
    let visit = Visit::entered();
    let id = planned(&visit);
    assert_eq!(visit.decide(&id, "approve", &[("text", "keep it small")]).status, StatusCode::SEE_OTHER);
    visit.get(&format!("/s/{id}")).has("plan@1").has("keep it small");
    let page = visit.get(&format!("/s/{id}"));
    let action = format!("/s/{id}/decide/revise");
    assert_eq!(
        visit.submit(&page, &action, &[("artifact", "plan"), ("text", "")]).status,
        StatusCode::BAD_REQUEST
    );
    let revised = visit.submit(&page, &action, &[("artifact", "plan"), ("text", "the grammar changed")]);
    assert_eq!(revised.status, StatusCode::SEE_OTHER);
    visit.get(&format!("/s/{id}")).has("the grammar changed");
    assert!(visit.events(&id).contains(&"revised"));
}
