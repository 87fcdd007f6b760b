//! The reference servers from npm. See `cargo xtask test mcp`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use aiwf_testkit::real_mcp_server;
use aiwf_tools::{Launch, ServerSpec, Servers, ToolResult, ToolsError};
use serde_json::{Value, json};

use crate::fixture::{Fixture, eventually, is_running, tool};

fn stdio(fixture: &Fixture, name: &str, program: &Path, args: &[&str]) -> ServerSpec {
    ServerSpec::new(
        name,
        Launch::Stdio {
            command: program.display().to_string(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::new(),
            cwd: fixture.directory.path().canonicalize().unwrap(),
        },
    )
}

fn everything(fixture: &Fixture) -> Option<Servers> {
    let program = real_mcp_server("mcp-server-everything")?;
    Some(Servers::new([stdio(fixture, "all", &program, &["stdio"])], &fixture.options()))
}

fn call(
    fixture: &Fixture,
    servers: &Servers,
    name: &str,
    arguments: Value,
) -> Result<ToolResult, ToolsError> {
    fixture.call(servers, &tool(servers, "all", name), arguments)
}

fn check_everything(fixture: &Fixture, servers: &Servers) {
    let listed = servers.tools("all", &|| false).unwrap();
    assert!(listed.tools.len() >= 10 && listed.problems.is_empty(), "{listed:?}");
    let text = |name: &str, arguments: Value| call(fixture, servers, name, arguments).unwrap().text;
    assert_eq!(text("echo", json!({"message": "hällo"})), "Echo: hällo");
    assert_eq!(text("get-sum", json!({"a": 1, "b": 2})), "The sum of 1 and 2 is 3.");

    let image = call(fixture, servers, "get-tiny-image", json!({})).unwrap();
    assert!(image.text.contains("[image image/png, "), "{}", image.text);
    assert_eq!(image.attachments.len(), 1);
    assert!(image.path.is_some_and(|path| path.is_file()));

    let structured =
        call(fixture, servers, "get-structured-content", json!({"location": "Chicago"})).unwrap();
    assert!(structured.structured.is_some_and(|value| value.get("temperature").is_some()));

    let links = call(fixture, servers, "get-resource-links", json!({"count": 2})).unwrap();
    assert_eq!(links.attachments.len(), 2, "{links:?}");
    let resource = text("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1}));
    assert!(resource.contains("[resource demo://"), "{resource}");

    let heard = Mutex::new(0);
    let operation = tool(servers, "all", "trigger-long-running-operation");
    let result =
        fixture.call_with(servers, &operation, json!({"duration": 1, "steps": 4}), &|| false, &|_| {
            *heard.lock().unwrap() += 1;
        });
    assert!(result.unwrap().text.contains("Duration: 1 seconds"));
    assert!(*heard.lock().unwrap() >= 3, "{heard:?}");

    // The server refuses it by its own schema, if the call gets there.
    let error =
        call(fixture, servers, "get-sum", json!({"a": "one"})).map(|result| (result.is_error, result.text));
    assert!(matches!(&error, Ok((true, text)) if text.contains('a')) || error.is_err(), "{error:?}");
}

#[test]
fn everything_works_over_stdio() {
    let fixture = Fixture::new();
    let Some(servers) = everything(&fixture) else { return };
    check_everything(&fixture, &servers);
    let process_id = servers.process_id("all").unwrap();
    drop(servers);
    assert!(!is_running(process_id));
}

#[test]
fn a_node_server_gets_none_of_our_secrets() {
    let fixture = Fixture::new();
    let Some(servers) = everything(&fixture) else { return };
    let text = call(&fixture, &servers, "get-env", json!({})).unwrap().text;
    assert!(text.contains("HOME") && !text.contains("AIWF_SLOW") && !text.contains("CARGO"), "{text}");
}

#[test]
fn a_large_result_is_truncated_and_saved() {
    let fixture = Fixture::new();
    let Some(servers) = everything(&fixture) else { return };
    let message = "0123456789".repeat(500_000);
    let result = call(&fixture, &servers, "echo", json!({"message": message})).unwrap();
    assert!(result.is_cut && result.text.len() < 2_000);
    assert_eq!(result.bytes, 5_000_006);
    assert_eq!(std::fs::read_to_string(result.path.unwrap()).unwrap(), format!("Echo: {message}"));
}

#[test]
fn a_call_can_be_cancelled_and_the_next_one_works() {
    let fixture = Fixture::new();
    let Some(servers) = everything(&fixture) else { return };
    let operation = tool(&servers, "all", "trigger-long-running-operation");
    let started_at = Instant::now();
    let is_stopped = || started_at.elapsed() > Duration::from_millis(500);
    let arguments = json!({"duration": 6000, "steps": 6000});
    let error = fixture.call_with(&servers, &operation, arguments, &is_stopped, &|_| ()).unwrap_err();
    assert!(error.is_stopped() && matches!(error, ToolsError::Unanswered { .. }), "{error}");
    assert_eq!(call(&fixture, &servers, "echo", json!({"message": "x"})).unwrap().text, "Echo: x");
}

#[test]
fn a_server_killed_during_a_call_fails_it_at_once_and_is_restarted_three_times() {
    let fixture = Fixture::new();
    let Some(servers) = everything(&fixture) else { return };
    let operation = tool(&servers, "all", "trigger-long-running-operation");
    for _ in 0..4 {
        let arguments = json!({"duration": 6000, "steps": 12000});
        let heard = |_: &aiwf_tools::Progress| kill(&servers);
        let error = fixture.call_with(&servers, &operation, arguments, &|| false, &heard).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`all__trigger-long-running-operation` was sent, outcome unknown: server `all` ended: it was killed by signal 9"
        );
    }
    let error = fixture.call(&servers, &operation, json!({})).unwrap_err();
    assert!(matches!(error, ToolsError::GaveUp { starts: 4, .. }), "{error}");
}

fn kill(servers: &Servers) {
    if let Some(process_id) = servers.process_id("all") {
        let status = command("kill").args(["-9", &process_id.to_string()]).stderr(Stdio::null()).status();
        drop(status);
    }
}

#[test]
fn files_are_read_and_written_within_the_directory_and_not_outside() {
    let fixture = Fixture::new();
    let Some(program) = real_mcp_server("mcp-server-filesystem") else { return };
    let root = fixture.directory.path().canonicalize().unwrap();
    let spec = stdio(&fixture, "all", &program, &[root.to_str().unwrap()]);
    let servers = Servers::new([spec], &fixture.options());
    let listed = servers.tools("all", &|| false).unwrap();
    assert!(listed.tools.len() >= 12 && listed.problems.is_empty(), "{:?}", listed.problems);
    let reading: Vec<&str> = listed
        .tools
        .iter()
        .filter(|tool| tool.annotations.read_only_hint == Some(true))
        .map(|tool| tool.name.as_str())
        .collect();
    assert!(reading.contains(&"read_text_file") && !reading.contains(&"write_file"), "{reading:?}");

    let path = root.join("note.md");
    let arguments = json!({"path": path, "content": "one\ntwo\n"});
    assert!(!call(&fixture, &servers, "write_file", arguments).unwrap().is_error);
    let result = call(&fixture, &servers, "read_text_file", json!({"path": path})).unwrap();
    assert_eq!(result.text, "one\ntwo\n");
    let outside = call(&fixture, &servers, "read_text_file", json!({"path": "/etc/passwd"})).unwrap();
    assert!(outside.is_error && outside.text.contains("Access denied"), "{outside:?}");
}

/// The server at an address; killed when dropped.
struct HttpServer {
    child: Child,
    url: String,
}

impl HttpServer {
    fn start(program: &Path) -> Self {
        // It binds every interface, so it runs only where there is no other than loopback.
        let devices = std::fs::read_to_string("/proc/net/dev").unwrap();
        let n_reachable =
            devices.lines().filter(|line| line.contains(':') && !line.trim().starts_with("lo:")).count();
        assert_eq!(n_reachable, 0, "run this through `cargo xtask test mcp`");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = command(program.to_str().unwrap())
            .arg("streamableHttp")
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        eventually("the server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { child, url: format!("http://127.0.0.1:{port}/mcp") }
    }

    fn servers(&self, fixture: &Fixture) -> Servers {
        let headers = BTreeMap::from([("X-Token".to_owned(), "${TOKEN}".to_owned())]);
        Servers::new(
            [ServerSpec::new("all", Launch::Http { url: self.url.clone(), headers })],
            &fixture.options(),
        )
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[expect(clippy::disallowed_methods, reason = "this test is about programs that somebody else started")]
fn command(program: &str) -> Command {
    Command::new(program)
}

#[test]
fn everything_works_over_http() {
    let fixture = Fixture::new();
    let Some(program) = real_mcp_server("mcp-server-everything") else { return };
    let server = HttpServer::start(&program);
    let servers = server.servers(&fixture);
    check_everything(&fixture, &servers);
    let message = "0123456789".repeat(300_000);
    let result = call(&fixture, &servers, "echo", json!({"message": message}));
    match result {
        Ok(result) => assert_eq!(result.bytes, 3_000_006),
        // The server accepts only requests up to 100 kB.
        Err(error) => assert!(error.to_string().contains("413"), "{error}"),
    }
    drop(servers);
}

#[test]
fn an_http_server_that_dies_during_a_call_fails_it_soon() {
    let fixture = Fixture::new();
    let Some(program) = real_mcp_server("mcp-server-everything") else { return };
    let server = Mutex::new(HttpServer::start(&program));
    let servers = server.lock().unwrap().servers(&fixture);
    let operation = tool(&servers, "all", "trigger-long-running-operation");
    let arguments = json!({"duration": 6000, "steps": 12000});
    let heard = |_: &aiwf_tools::Progress| server.lock().unwrap().kill();
    let error = fixture.call_with(&servers, &operation, arguments, &|| false, &heard).unwrap_err();
    assert!(matches!(error, ToolsError::Unanswered { .. }), "{error:?}");
}
