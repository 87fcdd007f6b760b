use serde_json::json;

use super::*;

fn passing(message: &str) -> Fault {
    Fault { message: message.to_owned(), is_passing: true, is_limit: false }
}

fn lasting(message: &str) -> Fault {
    Fault { message: message.to_owned(), is_passing: false, is_limit: false }
}

#[test]
fn each_api_s_own_shape_is_read() {
    let anthropic = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(fault(&anthropic), Some(passing("Overloaded")));
    let openai =
        json!({"error": {"message": "bad", "type": "invalid_request_error", "param": null, "code": null}});
    assert_eq!(fault(&openai), Some(lasting("bad")));
    let gemini = json!([{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}]);
    assert_eq!(fault(&gemini), Some(passing("busy")));
    assert_eq!(fault(&json!({"error": "model not found"})), Some(lasting("model not found")));
    assert_eq!(fault(&json!({"error": null, "choices": []})), None);
    assert_eq!(fault(&json!({"choices": []})), None);
}

#[test]
fn limits_are_distinguished_from_other_temporary_failures() {
    for error in [
        json!({"error": {"type": "rate_limit_error", "message": "m"}}),
        json!({"error": {"code": "rate_limit_exceeded", "message": "m"}}),
        json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "m"}}]),
    ] {
        assert_eq!(fault(&error), Some(Fault { is_limit: true, ..passing("m") }), "{error}");
    }
}

#[test]
fn a_quota_that_is_used_up_does_not_pass() {
    let body =
        json!({"error": {"message": "quota", "type": "insufficient_quota", "code": "insufficient_quota"}});
    assert_eq!(fault(&body), Some(lasting("quota")));
    let fault = fault_of_body(body.to_string().as_bytes(), 429);
    assert_eq!(fault, Some(Fault { is_limit: true, ..lasting("quota") }));
}

#[test]
fn a_body_of_any_form_gives_a_message() {
    assert_eq!(fault_of_body(br#"{"detail": "no such path"}"#, 404), Some(lasting("no such path")));
    assert_eq!(fault_of_body(br#"{"message": "busy"}"#, 503), Some(passing("busy")));
    assert_eq!(fault_of_body(b"<h1>bad gateway</h1>\n", 502), Some(passing("<h1>bad gateway</h1>")));
    assert_eq!(fault_of_body(b" \n", 500), None);
    assert_eq!(fault_of_body(b"{\"error\": {\"mess", 400), Some(lasting("{\"error\": {\"mess")));
}

#[test]
fn a_text_is_shown_without_the_key_on_one_line_and_bounded() {
    assert_eq!(shown("Bearer sk-1\r\nis  not\u{7}known", Some("sk-1")), "Bearer [key] is not known");
    let long = format!("{}sk-secret", "é".repeat(498));
    assert_eq!(shown(&long, Some("sk-secret")).chars().count(), 501);
    assert!(!shown(&long, Some("sk-secret")).contains("sk"));
}
