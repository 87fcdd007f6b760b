//! Requests that are not from the user's own browser, or not from the page: none is answered with anything private.

use axum::http::StatusCode;

use crate::browser::{HOST, Visit, form};

/// Every kind of address.
const PATHS: [&str; 12] = [
    "/",
    "/project",
    "/live",
    "/s/one",
    "/s/one/live",
    "/s/one/prompt",
    "/s/one/code",
    "/s/one/a/plan.md",
    "/s/one/raw/plan.md",
    "/assets/page.css",
    "/enter",
    "/nothing/here",
];

#[test]
fn without_the_cookie_every_path_is_the_entry_page() {
    let visit = Visit::new();
    for path in PATHS {
        for method in ["GET", "HEAD"] {
            let answer = visit.send(method, path, &[], "");
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {path}");
            if method == "GET" {
                answer.has("One-time code").has("name=\"code\"").has_not(&visit.secret).has_not(&visit.code);
            }
        }
    }
    for path in ["/new", "/s/one/decide/approve", "/project/pin"] {
        assert_eq!(visit.send("POST", path, &[], "").status, StatusCode::UNAUTHORIZED, "{path}");
    }
    for cookie in ["aiwf-8765=", "aiwf-8765=0123456789abcdef", &format!("aiwf-8765={}", visit.secret)] {
        assert_eq!(visit.send("GET", "/", &[("cookie", cookie)], "").status, StatusCode::UNAUTHORIZED);
    }
}

#[test]
fn a_forged_host_is_refused_before_anything_else() {
    let visit = Visit::entered();
    for host in [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:8766",
        "127.0.0.1.evil.example:8765",
    ] {
        for (method, path) in [("GET", "/"), ("POST", "/enter"), ("GET", "/assets/page.css")] {
            let answer = visit.send(method, path, &[("host", host)], "");
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{host} {method} {path}");
            answer.has("the request is for another host");
        }
    }
    // A rebound name sends an origin that fits its host.
    let rebound = [
        ("host", "evil.example:8765"),
        ("origin", "http://evil.example:8765"),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(visit.send("GET", "/", &rebound, "").status, StatusCode::FORBIDDEN);
}

#[test]
fn another_site_cannot_send_anything() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    let page = visit.get(&format!("/s/{id}"));
    let action = format!("/s/{id}/decide/approve");
    let fields = page.form(&action);
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let before = visit.events(&id);
    for headers in [
        [("origin", "http://evil.example"), ("x", "1")],
        [("origin", "null"), ("x", "1")],
        [("origin", "null"), ("sec-fetch-site", "cross-site")],
        [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
        [("sec-fetch-site", "same-site"), ("x", "1")],
    ] {
        let answer = visit.send("POST", &action, &headers, &form(&fields));
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    assert_eq!(visit.events(&id), before);
    // A link elsewhere may lead here; the browser then sends no cookie, and the entry page is all there is.
    let link = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
        ("cookie", ""),
    ];
    assert_eq!(visit.send("GET", "/", &link, "").status, StatusCode::UNAUTHORIZED);
    let framed =
        [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
    assert_eq!(visit.send("GET", "/", &framed, "").status, StatusCode::FORBIDDEN);
}

#[test]
fn a_form_needs_the_token_of_its_browser() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    let page = visit.get(&format!("/s/{id}"));
    let action = format!("/s/{id}/decide/approve");
    let gate = page.form(&action).into_iter().find(|(name, _)| name == "gate").unwrap().1;
    let before = visit.events(&id);
    for token in ["", "0", &"0".repeat(64), &visit.secret] {
        let answer = visit.send("POST", &action, &[], &form(&[("gate", &gate), ("token", token)]));
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{token}");
        answer.has("the form did not come from this page");
    }
    let without = visit.send("POST", &action, &[], &form(&[("gate", &gate)]));
    assert_eq!(without.status, StatusCode::FORBIDDEN);
    assert_eq!(visit.events(&id), before);
}

#[test]
fn the_secret_and_the_code_let_in_and_nothing_else_does() {
    let visit = Visit::new();
    for wrong in ["", "0", &visit.secret[1..], &visit.secret.to_uppercase(), "aaaa-aaaa"] {
        let answer = visit.send("POST", "/enter", &[], &form(&[("code", wrong)]));
        assert_eq!((answer.status, answer.header("set-cookie")), (StatusCode::UNAUTHORIZED, ""), "{wrong}");
        answer.has("That code is wrong");
    }
    let by_code = visit.send("POST", "/enter", &[], &form(&[("code", &visit.code), ("next", "/s/one")]));
    assert_eq!((by_code.status, by_code.header("location")), (StatusCode::SEE_OTHER, "/s/one"));
    let again = visit.send("POST", "/enter", &[], &form(&[("code", &visit.code)]));
    assert_eq!(again.status, StatusCode::UNAUTHORIZED);
    let by_secret = visit.send("POST", "/enter", &[], &form(&[("code", &visit.secret)]));
    let cookie = by_secret.header("set-cookie");
    assert!(
        cookie.starts_with("aiwf-8765=") && cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict")
    );
    assert!(!cookie.contains(&visit.secret));
}

#[test]
fn the_way_in_leads_nowhere_else() {
    let visit = Visit::new();
    for next in
        ["//evil.example", "http://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nb: c", ""]
    {
        let answer = visit.send("POST", "/enter", &[], &form(&[("code", &visit.secret), ("next", next)]));
        assert_eq!(answer.header("location"), "/", "{next}");
    }
}

#[test]
fn the_headers_of_every_answer_keep_it_in_its_box() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    let pages = ["/", "/project", &format!("/s/{id}"), &format!("/s/{id}/prompt"), "/nothing"];
    for path in pages {
        let answer = visit.get(path);
        let policy = answer.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none';") && policy.contains("frame-ancestors 'none'"),
            "{path}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.has_not(&visit.secret).has_not(visit.cookie().split('=').nth(1).unwrap());
        // Nothing in a page is a script, a style or a handler of its own.
        for mark in ["<style", " style=", " onclick=", "javascript:", "http://www", "https://"] {
            answer.has_not(mark);
        }
    }
    let entry = Visit::new().get("/");
    let policy = entry.header("content-security-policy");
    assert!(policy.contains("script-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
}

#[test]
fn paths_lead_to_no_other_file() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    visit.project.write("secret.txt", "TOP SECRET");
    for path in [
        "../secret.txt",
        "../../../secret.txt",
        "%2e%2e/%2e%2e/%2e%2e/secret.txt",
        "..%2f..%2f..%2fsecret.txt",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "iteration-1/../../../../secret.txt",
        "plan.md%00.txt",
        ".lock/../journal.jsonl/../../../../secret.txt",
    ] {
        for view in ["a", "raw"] {
            let answer = visit.get(&format!("/s/{id}/{view}/{path}"));
            assert!(answer.status.is_client_error(), "{view} {path}: {}", answer.status);
            answer.has_not("TOP SECRET").has_not("root:");
        }
    }
    for id in ["..", "%2e%2e", "..%2f..", "%00", "one%0d%0atwo", "'%22%3E%3Cscript%3E", "%ff"] {
        let answer = visit.get(&format!("/s/{id}"));
        assert!(answer.status.is_client_error(), "{id}: {}", answer.status);
        answer.has_not("<script>");
    }
}

#[test]
fn other_methods_and_unknown_decisions_are_refused() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"] {
        let answer = visit.send(method, "/", &[], "");
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
    let page = visit.get(&format!("/s/{id}"));
    let fields = page.form(&format!("/s/{id}/decide/approve"));
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = visit.send("POST", &format!("/s/{id}/decide/explode"), &[], &form(&fields));
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[test]
fn a_form_that_is_too_large_is_refused() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    let body = format!("token=x&text={}", "a".repeat(33 * 1024 * 1024));
    let answer = visit.send("POST", &format!("/s/{id}/decide/respond"), &[], &body);
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    let stranger = Visit::new();
    let answer = stranger.send("POST", "/enter", &[("host", HOST)], &format!("code={}", "a".repeat(5_000)));
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[test]
fn a_thousand_requests_get_right_answers() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    for number in 0..1_000 {
        let answer = match number % 3 {
            0 => visit.send("GET", "/", &[("cookie", "aiwf-8765=wrong")], ""),
            1 => visit.get(&format!("/s/{id}/events")),
            _ => visit.get("/nothing"),
        };
        let expected = [StatusCode::UNAUTHORIZED, StatusCode::OK, StatusCode::NOT_FOUND][number % 3];
        assert_eq!(answer.status, expected);
    }
}
