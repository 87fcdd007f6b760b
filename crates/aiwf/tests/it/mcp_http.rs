//! The MCP server over HTTP, driven by raw requests: who gets in, and who does not.

#![expect(clippy::disallowed_methods, reason = "tests send signals with `kill`")]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command};

use aiwf_testkit::{Run, TestProject};
use serde_json::{Value, json};

use crate::mcp::initialize;
use crate::project;
use crate::session::Session;

pub(crate) const TOKEN: &str = "0123456789abcdef";

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    port: u16,
}

impl Server {
    pub(crate) fn start(project: &TestProject) -> Self {
        Self::of(project.command("mcp --http 127.0.0.1:0").env("AIWF_MCP_TOKEN", TOKEN))
    }

    fn of(run: Run<'_>) -> Self {
        let mut child = run.spawn_piped();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("listening on http://127.0.0.1:").unwrap();
        let port = port.strip_suffix("/mcp").unwrap().parse().unwrap();
        Self { child, stderr, port }
    }

    /// Sends a request with these headers, and the body's length.
    fn send(&self, start: &str, headers: &[&str], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head =
            format!("{start} HTTP/1.1\r\n{}\r\nContent-Length: {}\r\n\r\n", headers.join("\r\n"), body.len());
        stream.write_all(head.as_bytes()).unwrap();
        // A server may answer and close before it has read everything.
        drop(stream.write_all(body.as_bytes()));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    fn post(&self, headers: &[&str], body: &Value) -> (u16, String) {
        let accept = [
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            "Connection: close",
        ];
        self.send("POST /mcp", &[&accept, headers].concat(), &body.to_string())
    }

    #[track_caller]
    fn request(&self, method: &str, params: Value) -> Value {
        let authorization = format!("Authorization: Bearer {TOKEN}");
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let version = "MCP-Protocol-Version: 2025-06-18";
        let (status, body) = self.post(&[&self.host(), &authorization, version], &request);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Sends a signal and awaits the end: the exit code.
    fn signal(mut self, name: &str) -> Option<i32> {
        Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize("2025-06-18") })
}

#[test]
fn several_clients_are_served_at_once() {
    let session = Session::new("");
    let server = Server::start(&session.project);
    let answer = server.request("initialize", initialize("2025-06-18"));
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let call = json!({ "name": "session_status", "arguments": { "session": "latest" } });
                    let answer = server.request("tools/call", call);
                    assert_eq!(answer["result"]["structuredContent"]["session_id"], session.id.as_str());
                }
            });
        }
    });
}

#[test]
fn no_request_is_accepted_without_the_token() {
    let project = project();
    let server = Server::start(&project);
    let host = server.host();
    let right = format!("Authorization: Bearer {TOKEN}");
    assert_eq!(server.post(&[&host, &right], &ping()).0, 200);
    for wrong in [
        "X-None: 1",
        "Authorization: Bearer",
        "Authorization: Bearer 0123456789abcdeg",
        "Authorization: Bearer 0123456789abcdef0",
        "Authorization: Basic 0123456789abcdef",
    ] {
        assert_eq!(server.post(&[&host, wrong], &ping()).0, 401, "{wrong}");
    }
    assert_eq!(server.post(&[&host, &right, &right], &ping()).0, 401);
    let (status, _) = server.send(&format!("POST /mcp?token={TOKEN}"), &[&host, "Connection: close"], "{}");
    assert_eq!(status, 401);
    let (status, _) = server.send("OPTIONS /mcp", &[&host, "Connection: close"], "");
    assert_eq!(status, 401);
    assert_eq!(server.send("GET /", &[&host, &right, "Connection: close"], "").0, 404);
    assert_eq!(server.send("PUT /mcp", &[&host, &right, "Connection: close"], "").0, 405);
}

#[test]
fn no_page_gets_in_by_another_name() {
    let project = project();
    let server = Server::start(&project);
    let port = server.port;
    let right = format!("Authorization: Bearer {TOKEN}");
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        assert_eq!(server.post(&[&format!("Host: {host}"), &right], &ping()).0, 200, "{host}");
    }
    for host in
        ["evil.example", "localhost.evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example"]
    {
        assert_eq!(server.post(&[&format!("Host: {host}"), &right], &ping()).0, 403, "{host}");
    }
    let host = server.host();
    for origin in [format!("http://localhost:{port}"), format!("http://127.0.0.1:{port}")] {
        assert_eq!(server.post(&[&host, &right, &format!("Origin: {origin}")], &ping()).0, 200, "{origin}");
    }
    for origin in ["http://evil.example", "null", "http://localhost", "http://localhost:1", "file://", "x"] {
        assert_eq!(server.post(&[&host, &right, &format!("Origin: {origin}")], &ping()).0, 403, "{origin}");
    }
}

#[test]
fn a_request_that_is_too_large_is_refused() {
    let project = project();
    let server = Server::start(&project);
    let (host, right) = (server.host(), format!("Authorization: Bearer {TOKEN}"));
    let body = json!({ "reply": "x".repeat(17 * 1024 * 1024) });
    let (status, _) = server.post(&[&host, &right], &body);
    assert_eq!(status, 413);
    assert_eq!(server.post(&[&host, &right], &ping()).0, 200);
}

#[test]
fn a_token_is_made_and_printed_once() {
    let project = project();
    let mut server = Server::of(project.command("mcp --http 0"));
    let mut line = String::new();
    server.stderr.read_line(&mut line).unwrap();
    let token = line.trim().strip_prefix("token ").unwrap();
    assert_eq!(token.len(), 64);
    let authorization = format!("Authorization: Bearer {token}");
    assert_eq!(server.post(&[&server.host(), &authorization], &ping()).0, 200);
}

#[test]
fn a_token_comes_from_a_file_before_the_environment() {
    let project = project().file("token", "from-a-file-0123456789\n");
    let run = project.command("mcp --http 0 --token-file token").env("AIWF_MCP_TOKEN", TOKEN);
    let server = Server::of(run);
    let host = server.host();
    assert_eq!(server.post(&[&host, "Authorization: Bearer from-a-file-0123456789"], &ping()).0, 200);
    assert_eq!(server.post(&[&host, &format!("Authorization: Bearer {TOKEN}")], &ping()).0, 401);
}

#[test]
fn a_signal_ends_it_cleanly() {
    let project = project();
    assert_eq!(Server::start(&project).signal("INT"), Some(130));
    assert_eq!(Server::start(&project).signal("TERM"), Some(130));
}

#[test]
fn only_loopback_is_listened_on() {
    let project = project().file("token", "short").file("good", TOKEN);
    let mut said = String::new();
    for line in [
        "mcp --http 0.0.0.0:8765",
        "mcp --http example.com:8765",
        "mcp --http nonsense",
        "mcp --http 0 --token-file token",
        "mcp --http 0 --token-file absent",
    ] {
        let _ = write!(said, "$ aiwf {line}\n{}\n\n", project.run(line));
    }
    insta::assert_snapshot!(said, @"
    $ aiwf mcp --http 0.0.0.0:8765
    --- stderr
    error: `0.0.0.0:8765` can be reached from other machines

    hint: listen on `127.0.0.1:PORT`; from another machine, connect through `ssh -L PORT:127.0.0.1:PORT`
    --- exit code 1

    $ aiwf mcp --http example.com:8765
    --- stderr
    error: `example.com:8765` can be reached from other machines

    hint: listen on `127.0.0.1:PORT`; from another machine, connect through `ssh -L PORT:127.0.0.1:PORT`
    --- exit code 1

    $ aiwf mcp --http nonsense
    --- stderr
    error: `nonsense` is not an address

    hint: write it like `8765`, `127.0.0.1:8765`, `localhost:8765` or `[::1]:8765`
    --- exit code 1

    $ aiwf mcp --http 0 --token-file token
    --- stderr
    error: the token has 5 characters but needs 16 or more

    hint: omit it to have one generated, or create one with `openssl rand -hex 32`
    --- exit code 1

    $ aiwf mcp --http 0 --token-file absent
    --- stderr
    error: could not read `absent`
      caused by: no such file in `[project]`

    hint: check the spelling of `absent`
    --- exit code 1
    ");
    let server = Server::start(&project);
    let outcome = project.run(&format!("mcp --http {} --token-file good", server.port));
    assert_eq!(outcome.exit_code(), 1);
    assert!(outcome.stderr_text().contains("caused by: address already in use"), "{outcome}");
}
