//! Addresses that do not return valid results.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use aiwf_tools::{Launch, ServerSpec, Servers, ToolsError};
use serde_json::{Value, json};

use crate::fixture::{Fixture, NEVER, tool};

/// Writes the response to a request, given its body and the connection.
type Answer = fn(&Value, &mut TcpStream);

/// Serves one kind of response forever, on a thread that ends with the test.
fn serve(answer: Answer) -> ServerSpec {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            std::thread::spawn(move || {
                let mut connection = connection.unwrap();
                if let Some(body) = read_request(&connection) {
                    answer(&body, &mut connection);
                }
            });
        }
    });
    let headers = BTreeMap::from([("Authorization".to_owned(), "Bearer ${TOKEN}".to_owned())]);
    ServerSpec { timeout: NEVER, ..ServerSpec::new("web", Launch::Http { url, headers }) }
}

fn read_request(connection: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(connection);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|n_read| n_read > 2) {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).unwrap_or(Value::Null))
}

fn respond(connection: &mut TcpStream, status: &str, kind: &str, body: &str) {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    drop(connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(body.as_bytes())));
}

fn result(connection: &mut TcpStream, request: &Value, result: &Value) {
    let body = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
    respond(connection, "200 OK", "application/json", &body);
}

/// A server that does everything right except calls.
fn greet(request: &Value, connection: &mut TcpStream) -> bool {
    match request["method"].as_str() {
        Some("initialize") => result(
            connection,
            request,
            &json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}),
        ),
        Some("tools/list") => {
            result(
                connection,
                request,
                &json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            );
        }
        Some("tools/call") => return false,
        Some(_) => respond(connection, "202 Accepted", "text/plain", ""),
        None => respond(connection, "405 Method Not Allowed", "text/plain", ""),
    }
    true
}

fn call_error(answer: Answer) -> ToolsError {
    let fixture = Fixture::new();
    let servers = Servers::new([serve(answer)], &fixture.options());
    let echo = tool(&servers, "web", "echo");
    fixture.call(&servers, &echo, json!({})).unwrap_err()
}

fn list_error(answer: Answer) -> ToolsError {
    let fixture = Fixture::new();
    Servers::new([serve(answer)], &fixture.options()).tools("web", &|| false).unwrap_err()
}

#[test]
fn a_plain_json_response_is_enough() {
    let fixture = Fixture::new();
    let spec = serve(|request, connection| {
        if !greet(request, connection) {
            result(connection, request, &json!({"content": [{"type": "text", "text": "done"}]}));
        }
    });
    let servers = Servers::new([spec], &fixture.options());
    let echo = tool(&servers, "web", "echo");
    assert_eq!(fixture.call(&servers, &echo, json!({})).unwrap().text, "done");
}

#[test]
fn a_response_of_100_mb_is_not_read_to_its_end() {
    let error = call_error(|request, connection| {
        if !greet(request, connection) {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{";
            drop(connection.write_all(head.as_bytes()));
            while connection.write_all(&[b' '; 8192]).is_ok() {}
        }
    });
    assert_eq!(
        error.to_string(),
        "`web__echo` was sent, outcome unknown: server `web` ended: it sent a message larger than 16 MiB"
    );
}

#[test]
fn an_event_without_end_is_not_read_to_its_end() {
    let error = call_error(|request, connection| {
        if !greet(request, connection) {
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: ";
            drop(connection.write_all(head.as_bytes()));
            while connection.write_all(&[b'x'; 8192]).is_ok() {}
        }
    });
    assert!(matches!(error, ToolsError::Unanswered { .. } | ToolsError::Refused { .. }), "{error:?}");
}

#[test]
fn anything_but_an_mcp_server_is_quoted() {
    let error = list_error(|_, connection| respond(connection, "200 OK", "text/html", "<html>"));
    assert_eq!(
        error.to_string(),
        "server `web` cannot be started: Unexpected content type: Some(\"text/html\")"
    );
    let error = list_error(|_, connection| {
        respond(connection, "401 Unauthorized", "text/plain", "who are you");
    });
    assert_eq!(
        error.to_string(),
        "server `web` cannot be started: it responded with 401 Unauthorized: who are you; its `headers` must contain the credentials"
    );
    let error = list_error(|_, connection| respond(connection, "500 Oops", "text/plain", ""));
    assert_eq!(
        error.to_string(),
        "server `web` cannot be started: it responded with 500 Internal Server Error"
    );
    let error = list_error(|_, connection| respond(connection, "200 OK", "application/json", "{}"));
    assert!(error.to_string().starts_with("server `web` cannot be started: "), "{error}");
}

#[test]
fn an_address_that_never_responds_times_out() {
    let fixture = Fixture { start_timeout: Duration::from_millis(500), ..Fixture::new() };
    let silent = serve(|_, _| std::thread::sleep(NEVER));
    let error = Servers::new([silent], &fixture.options()).tools("web", &|| false).unwrap_err();
    assert!(matches!(error, ToolsError::StartTimedOut { .. }), "{error}");
}

#[test]
fn a_redirect_is_not_followed_with_our_headers() {
    let error = list_error(|_, connection| {
        let head =
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
        drop(connection.write_all(head.as_bytes()));
    });
    assert_eq!(error.to_string(), "server `web` cannot be started: it responded with 307 Temporary Redirect");
}
