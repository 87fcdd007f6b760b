//! Whatever a model, a reply, a file name or a request says is text on every page.

use crate::browser::Visit;

const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg/onload=alert(1)> {{ 7*7 }} {% raw %} \u{1b}[31mred\u{1b}[0m \u{202e}evil ]]> --> <!--";

#[test]
fn hostile_text_is_shown_and_does_nothing() {
    let visit = Visit::entered();
    let id = visit.begin(HOSTILE);
    visit.decide(&id, "approve", &[]);
    let plan = format!(
        "# {HOSTILE}\n\n[x](javascript:alert(1)) ![p](http://evil.example/p.png)\n\n{HOSTILE}\n\n```\n{HOSTILE}\n```\n"
    );
    visit.decide(&id, "respond", &[("text", &plan)]);
    visit.decide(&id, "reject", &[("text", HOSTILE)]);
    visit.decide(&id, "approve", &[]);
    visit.decide(&id, "respond", &[("text", &plan)]);
    visit.decide(&id, "approve", &[]);
    visit.decide(&id, "approve", &[]);
    let long = "x".repeat(1 << 20);
    let code = format!("{HOSTILE}\n\n<<<FILE: src/<script>alert(1).py>>>\n{HOSTILE}\n{long}\n");
    visit.decide(&id, "respond", &[("text", &code)]);
    let report = visit.engine.session_report(Some(id.as_str())).unwrap();
    let path = report.response_path.unwrap();
    let relative = path.split_once(&format!("{id}/")).unwrap().1;
    for path in [
        "/".to_owned(),
        format!("/?q={}", "%3Cscript%3Ealert(1)"),
        format!("/s/{id}"),
        format!("/s/{id}/events?from=0"),
        format!("/s/{id}/prompt"),
        format!("/s/{id}/code"),
        format!("/s/{id}/code?mode=split"),
        format!("/s/{id}/a/{relative}"),
        format!("/s/{id}/a/{relative}?as=source"),
        "/s/%3Cscript%3Ealert(1)".to_owned(),
    ] {
        let page = visit.get(&path);
        for mark in [
            "<script>alert",
            "<img",
            "<svg/",
            "onerror=alert(1)>\"",
            "href=\"javascript",
            ">49<",
            "src=\"http",
        ] {
            page.has_not(mark);
        }
        // Marks that turn text around or steer terminals are shown as signs, except where text is copied or sent back.
        let outside_fields: String =
            page.text.split("<textarea").map(|part| part.rsplit("</textarea>").next().unwrap()).collect();
        assert!(!outside_fields.contains(['\u{202e}', '\u{1b}']), "{path}");
        assert!(page.text.len() < 3_000_000, "{path}: {}", page.text.len());
    }
}

#[test]
fn raw_bytes_are_a_download_and_never_a_page() {
    let visit = Visit::entered();
    let id = visit.begin("Add a login");
    visit.decide(&id, "approve", &[]);
    visit.decide(&id, "respond", &[("text", "<html><script>alert(1)</script>")]);
    let path = visit.engine.session_report(Some(id.as_str())).unwrap().response_path.unwrap();
    let relative = path.split_once(&format!("{id}/")).unwrap().1;
    let raw = visit.get(&format!("/s/{id}/raw/{relative}"));
    assert!(raw.text.starts_with("<html>"));
    assert_eq!(raw.header("content-type"), "application/octet-stream");
    assert_eq!(raw.header("x-content-type-options"), "nosniff");
    assert!(raw.header("content-disposition").starts_with("attachment; filename=\""));
}
