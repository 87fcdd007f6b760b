//! What a server can do wrong, what is made again, and what is said.

use std::io::{Read, Write};
use std::net::TcpListener;

use aiwf_provider::{AskError, BaseUrl, Progress, ProviderSetting};
use insta::assert_snapshot;

use crate::asking::{ask, setting, shown, variable};
use crate::server::{EVENTS, Server, answer, events, hello, piece};

const NOW: &str = "retry-after: 0\r\n";

#[test]
fn a_reply_that_was_cut_before_a_word_is_asked_for_again() {
    let server = Server::answering(&[EVENTS, &hello()]);
    let (recorder, reply) = ask(setting("openai", &server));
    assert_eq!(reply.unwrap().n_attempts, 2);
    assert_eq!(recorder.text, "hello");
    assert_eq!(recorder.n_retries(), 1);
    let received = server.received();
    assert_eq!(received[0].body, received[1].body);
}

#[test]
fn a_reply_that_was_cut_after_a_word_is_kept_and_not_asked_for_again() {
    let server = Server::answering(&[&format!("{}data: {{\"cho", events(&[&piece("hel")])), &hello()]);
    let (recorder, reply) = ask(setting("openai", &server));
    assert_eq!(recorder.text, "hel");
    assert_eq!(server.received().len(), 1);
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    the reply from `local` was cut off: the stream ended before the reply did
    Retry asks again
    ");
}

#[test]
fn a_connection_that_breaks_in_the_middle_is_a_cut() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n";
    let server = Server::answering(&[&format!("{head}data: {}\n\n", piece("hel"))]);
    let (recorder, reply) = ask(setting("openai", &server));
    assert_eq!(recorder.text, "hel");
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    the reply from `local` was cut off: end of file before message length reached
    Retry asks again
    ");
}

#[test]
fn an_anthropic_reply_without_its_last_event_is_a_cut() {
    let server = Server::answering(&[&events(&[
        r#"{"type":"message_start","message":{"model":"m","usage":{"input_tokens":5}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
    ])]);
    let (_, reply) = ask(setting("anthropic", &server));
    let error = reply.unwrap_err();
    assert!(matches!(error, AskError::Cut { .. }));
    assert_eq!(error.usage().unwrap().input_tokens, Some(5));
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let busy = answer(429, NOW, r#"{"error":{"message":"slow down","type":"rate_limit_exceeded"}}"#);
    let server = Server::answering(&[&busy, &hello()]);
    let (recorder, reply) = ask(setting("openai", &server));
    assert_eq!(reply.unwrap().n_attempts, 2);
    let retry = Progress::Retry { attempt: 2, wait: std::time::Duration::ZERO };
    assert_eq!(recorder.progress, [retry, Progress::Bytes(5)]);
}

#[test]
fn a_wait_that_is_too_long_is_named_and_not_waited_for() {
    let server = Server::answering(&[&answer(503, "retry-after: 30\r\n", "")]);
    let mut impatient = setting("openai", &server);
    impatient.timeouts.total = std::time::Duration::from_secs(20);
    assert!(ask(impatient).1.unwrap_err().to_string().ends_with("it asks to wait 30 s"));
    let date = "date: Tue, 06 Jan 2026 10:00:00 GMT\r\nretry-after: Tue, 06 Jan 2026 11:00:00 GMT\r\n";
    let server = Server::answering(&[&answer(503, date, "")]);
    let (_, reply) = ask(setting("openai", &server));
    assert_snapshot!(shown(&reply.unwrap_err(), &server), @"
    `local` answered 503: service unavailable; it asks to wait 3600 s
    Retry asks again
    ");
}

#[test]
fn a_temporary_failure_is_tried_four_times_and_then_reported() {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let busy = answer(status, NOW, "<html>\nbusy</html>");
        let server = Server::answering(&[&busy, &busy, &busy, &busy, &hello()]);
        let (recorder, reply) = ask(setting("openai", &server));
        assert_eq!((server.received().len(), recorder.n_retries()), (4, 3), "{status}");
        let error = reply.unwrap_err();
        assert!(matches!(error, AskError::Status { status: found, .. } if found == status));
        if status == 529 {
            assert_snapshot!(shown(&error, &server), @"
            `local` answered 529: <html> busy</html>
            Retry asks again
            ");
        }
    }
}

#[test]
fn what_does_not_pass_is_tried_once() {
    let mut messages = Vec::new();
    for status in [400, 401, 403, 404, 413, 418] {
        let body = r#"{"type":"error","error":{"type":"x","message":"it is not allowed"}}"#;
        let server = Server::answering(&[&answer(status, NOW, body), &hello()]);
        let (_, reply) = ask(setting("anthropic", &server));
        assert_eq!(server.received().len(), 1, "{status}");
        messages.push(shown(&reply.unwrap_err(), &server));
    }
    assert_snapshot!(messages.join("\n"), @"
    `local` answered 400: it is not allowed
    fix the reported setting: `model` and `max_output_tokens` of the provider, or the prompt's size
    `local` answered 401: it is not allowed
    check the key: ValidateProviders shows where aiwf looks for it
    `local` answered 403: it is not allowed
    check the key: ValidateProviders shows where aiwf looks for it
    `local` answered 404: it is not allowed
    check `model` and `base_url` of the provider
    `local` answered 413: it is not allowed
    fix the reported setting: `model` and `max_output_tokens` of the provider, or the prompt's size
    `local` answered 418: it is not allowed
    Retry asks again
    ");
}

#[test]
fn a_quota_that_is_used_up_is_not_asked_for_again() {
    let body = r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let server = Server::answering(&[&answer(429, NOW, body), &hello()]);
    assert!(ask(setting("openai", &server)).1.is_err());
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_key_is_never_shown_even_if_the_server_says_it() {
    let key = "sk-very-secret-0123456789";
    let told = format!(r#"{{"error":{{"message":"key {key} is wrong","type":"x"}}}}"#);
    let located = format!("location: http://evil.example/{key}\r\n");
    for answer in [
        answer(401, "", &told),
        answer(401, "", &format!("{} {key}", "x".repeat(490))),
        answer(302, &located, ""),
        events(&[&told]),
        events(&[&piece("a"), &told]),
        events(&[&format!("no JSON {key}")]),
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{told}"),
    ] {
        let server = Server::answering(&[&answer]);
        let mut setting = setting("openai", &server);
        setting.key = variable(key);
        assert!(!format!("{setting:?}").contains(key));
        let error = ask(setting).1.unwrap_err();
        let all = format!("{error} {error:?} {}", error.advice().worded(|action, _| format!("{action:?}")));
        assert!(!all.contains("sk-very"), "{all}");
        assert_eq!(server.received()[0].header("authorization"), Some(&*format!("Bearer {key}")));
    }
    let server = Server::answering(&[&hello().replace("m-2026", key)]);
    let mut setting = setting("openai", &server);
    setting.key = variable(key);
    assert_eq!(ask(setting).1.unwrap().model.as_deref(), Some("[key]"));
}

#[test]
fn a_redirect_is_not_followed() {
    let other = Server::answering(&[&hello()]);
    let moved = answer(307, &format!("location: {}/v1/chat/completions\r\n", other.url()), "");
    let server = Server::answering(&[&moved]);
    let mut setting = setting("openai", &server);
    setting.key = variable("sk-1");
    let (_, reply) = ask(setting);
    assert_eq!(other.received().len(), 0);
    assert_snapshot!(shown(&reply.unwrap_err(), &server).replace(&other.url(), "http://OTHER"), @"
    `local` answered 307: it redirects to `http://OTHER/v1/chat/completions`, which is not followed
    set `base_url` to the address of the server
    ");
}

#[test]
fn a_server_that_is_not_there_is_tried_four_times() {
    let server = Server::answering(&[]);
    let setting = setting("openai", &server);
    let url = server.url();
    drop(server);
    let (recorder, reply) = ask(setting);
    assert_eq!(recorder.n_retries(), 3);
    let error = reply.unwrap_err();
    let shown = format!("{error}\n{}", error.advice().worded(|action, _| format!("{action:?}")))
        .replace(&url, "http://SERVER");
    assert_snapshot!(shown, @"
    `local` failed: could not connect to `http://SERVER/v1`: Connection refused
    check the network and `base_url` of the provider, then Retry
    ");
}

#[test]
fn a_server_that_speaks_no_tls_is_tried_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // The rest of what was sent is read, so that the answer is not lost with the connection.
        drop(stream.read_to_end(&mut Vec::new()));
    });
    let mut setting = ProviderSetting::new("local", "openai");
    setting.model = Some("m-1".to_owned());
    setting.base_url = Some(BaseUrl { url: url.clone(), is_users: false });
    let (recorder, reply) = ask(setting);
    server.join().unwrap();
    assert_eq!(recorder.n_retries(), 0);
    assert_snapshot!(reply.unwrap_err().to_string().replace(&url, "https://SERVER/v1"), @"`local` failed: could not connect to `https://SERVER/v1`: received corrupt message of type InvalidContentType");
}

#[test]
fn a_server_that_closes_without_a_word_is_tried_again() {
    let server = Server::answering(&["", &hello()]);
    let (_, reply) = ask(setting("openai", &server));
    assert_eq!(reply.unwrap().n_attempts, 2);
}

#[test]
fn a_response_that_is_not_an_event_stream_is_reported() {
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n\r\n<h1>hi";
    let server = Server::answering(&[page]);
    assert_snapshot!(shown(&ask(setting("openai", &server)).1.unwrap_err(), &server), @"
    the reply from `local` cannot be read: it is `text/html` , not a stream of events
    check that `type`, `base_url` and `reply` of the provider fit together
    ");
    let error = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"error\":\"no such model\"}";
    let server = Server::answering(&[error]);
    assert_snapshot!(shown(&ask(setting("openai", &server)).1.unwrap_err(), &server), @"
    `local` failed: no such model
    fix what it reports, then Retry
    ");
    let server = Server::answering(&[&events(&["hello"])]);
    assert_snapshot!(shown(&ask(setting("openai", &server)).1.unwrap_err(), &server), @"
    the reply from `local` cannot be read: an event is not JSON (expected value at line 1 column 1): hello
    check that `type`, `base_url` and `reply` of the provider fit together
    ");
}
