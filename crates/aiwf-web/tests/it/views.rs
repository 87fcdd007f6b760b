//! What the pages show: that it is what the engine says, and that it has an end.

use axum::http::StatusCode;

use crate::browser::Visit;

#[test]
fn the_inbox_is_searched_and_paged() {
    let visit = Visit::entered();
    for number in 0..30 {
        visit.begin(&format!("Request {number}"));
    }
    let first = visit.get("/");
    first
        .has("Waiting for you <span class=\"count\">30</span>")
        .has("Request 29")
        .has_not("Request 0<")
        .has("1–25 of 30");
    visit.get("/?waiting=25").has("Request 0<").has_not("Request 29").has("26–30 of 30");
    visit.get("/?q=request+17").has("Request 17").has_not("Request 18").has("<span class=\"count\">1</span>");
    visit.get("/?flow=generate").has_not("Request 17");
    visit.get("/?waiting=99999999").has("26–30 of 30");
}

#[test]
fn an_artifact_has_a_link_for_every_line_rendered_or_not() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    visit.decide(&id, "approve", &[]);
    let plan: String = (1..=20).fold(String::new(), |text, number| text + &format!("- step {number}\n"));
    visit.decide(&id, "respond", &[("text", &plan)]);
    visit.decide(&id, "approve", &[]);
    for address in [format!("/s/{id}/a/plan.md"), format!("/s/{id}/a/plan.md?as=source")] {
        let page = visit.get(&address);
        for number in 1..=20 {
            page.has(&format!("aria-label=\"Line {number}\""));
        }
    }
    visit.get(&format!("/s/{id}/a/plan.md")).has("<li>step 20</li>");
    assert_eq!(visit.get(&format!("/s/{id}/a/none.md")).status, StatusCode::NOT_FOUND);
}

#[test]
fn the_anatomy_names_the_owner_of_every_section() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    let page = visit.get(&format!("/s/{id}/prompt"));
    page.has("owner-person").has("owner-engine").has("stable prefix").has("required").has("payload sha256");
    let preview = visit.engine.preview_session(Some(id.as_str())).unwrap();
    page.has(&preview.metadata.payload_sha256);
    let opened = visit.get(&format!("/s/{id}/prompt?section=0"));
    opened.has("id=\"opened\"");
    let saved = visit.get(&format!("/s/{id}/prompt/copy"));
    assert_eq!(saved.text, preview.text());
    assert!(saved.header("content-disposition").starts_with("attachment"));
}

#[test]
fn the_journal_is_shown_page_by_page() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    visit.get(&format!("/s/{id}/events")).has("session-created").has("prompt-written");
    visit.get(&format!("/s/{id}/events?from=100000")).has("session-created");
}

#[test]
fn a_session_is_found_by_what_names_it() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    visit.get("/s/latest").has(&format!("/s/{id}/prompt"));
    let missing = visit.get("/s/20200101-000000-nothing");
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    missing.has("Back to the inbox");
}

#[test]
fn the_project_page_shows_flows_providers_and_findings() {
    let visit = Visit::entered();
    visit
        .get("/project")
        .has("Validation")
        .has("jpa-mt")
        .has("manual")
        .has("plan → implement")
        .has("Spent by day");
}

#[test]
fn a_page_and_its_assets_are_light() {
    let visit = Visit::entered();
    visit.begin("Add a login");
    let page = visit.get("/");
    let assets: Vec<&str> = page.text.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert_eq!(assets.len(), 3);
    let mut weight = page.text.len();
    for asset in assets {
        let answer = visit.get(asset);
        assert_eq!(answer.status, StatusCode::OK, "{asset}");
        assert!(answer.header("cache-control").contains("immutable"));
        weight += answer.text.len();
    }
    assert!(weight <= 150 * 1024, "{weight}");
    assert_eq!(visit.get("/assets/page.css").status, StatusCode::NOT_FOUND);
}

const CODE: &str = "Adds it.\n\n<<<FILE: src/login.py>>>\nprint('login')\nprint('again')\n\n<<<FILE: src/deep/er/x.py>>>\nx = 1\n";

/// A session whose code waits for its approval.
fn with_code(visit: &Visit) -> String {
    let id = visit.begin("Add a login");
    for reply in ["# Plan\n\nWrite it.\n", CODE] {
        visit.decide(&id, "approve", &[]);
        visit.decide(&id, "respond", &[("text", reply)]);
        if reply != CODE {
            visit.decide(&id, "approve", &[]);
        }
    }
    id
}

#[test]
fn a_change_is_shown_where_it_is_decided_on() {
    let visit = Visit::entered();
    let id = with_code(&visit);
    let page = visit.get(&format!("/s/{id}"));
    page.has("The change").has("decide/approve").has("print(&#39;login&#39;)").has("aria-label=\"Line 2\"");
    // Its blocks are no Markdown.
    page.has_not("<h3>FILE").has("The reply as it is written");
    visit.get(&format!("/s/{id}/code")).has("deep/er/").has(">x.py<").has("to the decision");
}

#[test]
fn a_line_of_a_change_takes_a_comment_in_either_view() {
    let visit = Visit::entered();
    let id = with_code(&visit);
    for (mode, line) in [("", "1"), ("mode=split&amp;", "2")] {
        let query = mode.replace("&amp;", "&");
        let page = visit.get(&format!("/s/{id}/code?{query}on=1&line={line}"));
        page.has(&format!("href=\"/s/{id}/code?{mode}on=1&amp;line=2#comment\""));
        let action = format!("/s/{id}/decide/comment");
        let text = format!("said at {line}");
        let answer = visit.submit(&page, &action, &[("from", line), ("to", line), ("text", &text)]);
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        assert!(answer.header("location").starts_with(&format!("/s/{id}/code")), "{:?}", answer.headers);
        for view in ["", "/code", "/code?mode=split"] {
            visit.get(&format!("/s/{id}{view}")).has(&text);
        }
    }
    visit.get(&format!("/s/{id}")).has("data-send-comments");
}

#[test]
fn a_file_that_the_project_changed_since_is_marked_before_an_apply() {
    let visit = Visit::entered();
    let id = with_code(&visit);
    assert_eq!(visit.decide(&id, "approve", &[]).status, StatusCode::SEE_OTHER);
    visit.get(&format!("/s/{id}/code")).has_not("changed in the project since");
    visit.project.write("src/login.py", "print('mine')\n");
    visit.get(&format!("/s/{id}/code")).has("changed in the project since").has("an apply has to merge");
    visit.project.write("src/login.py", "print('login')\nprint('again')\n");
    visit.get(&format!("/s/{id}/code")).has_not("changed in the project since");
}
