use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use aiwf_tools::{Launch, ServerSpec, Servers, ToolsError};
use serde_json::json;

use crate::fixture::{Fixture, eventually, is_running, tool};

#[test]
fn all_pages_of_tools_are_listed_and_a_tool_is_called() {
    let fixture = Fixture::new();
    let servers = fixture.servers("plain", "");
    let listed = servers.tools("fake", &|| false).unwrap();
    let names: Vec<String> = listed.tools.iter().map(aiwf_tools::Tool::full_name).collect();
    assert_eq!(names, ["fake__echo", "fake__read"]);
    assert_eq!(listed.tools[1].annotations.read_only_hint, Some(true));
    assert!(listed.problems.is_empty());
    let result = fixture.call(&servers, &listed.tools[0], json!({})).unwrap();
    assert_eq!((result.text.as_str(), result.is_error), ("done", false));
}

#[test]
fn a_server_starts_when_it_is_needed_and_ends_with_the_pool() {
    let fixture = Fixture::new();
    let servers = fixture.servers("plain", "");
    assert_eq!(servers.process_id("fake"), None);
    servers.tools("fake", &|| false).unwrap();
    let process_id = servers.process_id("fake").unwrap();
    assert!(is_running(process_id));
    drop(servers);
    assert!(!is_running(process_id));
}

#[test]
fn nothing_is_started_before_the_user_agreed() {
    let fixture = Fixture::new();
    let path = fixture.path("starts");
    let spec = fixture.spec("starts", path.to_str().unwrap());
    let options = aiwf_tools::ServersOptions { is_trusted: Arc::new(|_| Ok(false)), ..fixture.options() };
    let error = Servers::new([spec.clone()], &options).tools("fake", &|| false).unwrap_err();
    assert!(
        matches!(&error, ToolsError::Untrusted { shown_command, .. } if *shown_command == spec.shown_command())
    );
    assert!(!path.exists());
}

#[test]
fn a_server_gets_few_variables_and_its_own() {
    let fixture = Fixture::new();
    let mut spec = fixture.spec("environment", "");
    if let Launch::Stdio { env, .. } = &mut spec.launch {
        env.insert("GIVEN".to_owned(), "a ${TOKEN}".to_owned());
    }
    let servers = Servers::new([spec.clone()], &fixture.options());
    let echo = tool(&servers, "fake", "echo");
    let text = fixture.call(&servers, &echo, json!({})).unwrap().text;
    assert!(text.starts_with("HOME=/home/test GIVEN=a secret SECRET=none PWD=/"), "{text}");

    if let Launch::Stdio { env, .. } = &mut spec.launch {
        env.insert("GIVEN".to_owned(), "${MISSING}".to_owned());
    }
    let error = Servers::new([spec], &fixture.options()).tools("fake", &|| false).unwrap_err();
    assert_eq!(error.to_string(), "server `fake` needs the variable `MISSING`, which is not set");
}

#[test]
fn progress_is_reported() {
    let fixture = Fixture::new();
    let servers = fixture.servers("progress", "");
    let echo = tool(&servers, "fake", "echo");
    let heard = Mutex::new(Vec::new());
    let result = fixture.call_with(&servers, &echo, json!({}), &|| false, &|progress| {
        heard.lock().unwrap().push(progress.clone());
    });
    assert_eq!(result.unwrap().text, "done");
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!((heard[0].total, heard[0].message.as_deref()), (Some(2.0), Some("half")));
}

#[test]
fn stderr_goes_to_the_log_and_not_to_the_terminal() {
    let fixture = Fixture::new();
    let servers = fixture.servers("complain", "");
    servers.tools("fake", &|| false).unwrap();
    eventually("the last line is logged", || {
        fixture.lines.lock().unwrap().last().is_some_and(|line| line == "fake: complaint 1999")
    });
}

#[test]
fn a_change_that_the_server_announces_stops_the_next_call() {
    let fixture = Fixture::new();
    let path = fixture.path("description");
    aiwf_store::write_atomic(&path, aiwf_store::Durability::Process, |out| out.write_all(b"Says it."))
        .unwrap();
    let servers = fixture.servers("changing", path.to_str().unwrap());
    let echo = tool(&servers, "fake", "echo");
    assert_eq!(echo.description.as_deref(), Some("Says it."));
    assert_eq!(fixture.call(&servers, &echo, json!({})).unwrap().text, "done");
    eventually("the change is noticed", || {
        tool(&servers, "fake", "echo").description.as_deref() == Some("Says it again, and tells on you.")
    });
    let error = fixture.call(&servers, &echo, json!({})).unwrap_err();
    assert!(matches!(error, ToolsError::Changed { .. }), "{error}");
}

#[test]
fn an_interrupted_call_is_cancelled_at_the_server() {
    let fixture = Fixture::new();
    let path = fixture.path("cancelled");
    let servers = fixture.servers("slow", path.to_str().unwrap());
    let echo = tool(&servers, "fake", "echo");
    let called = fixture.path("cancelled.called");
    let is_stopped = || called.exists();
    let error = fixture.call_with(&servers, &echo, json!({}), &is_stopped, &|_| ()).unwrap_err();
    assert!(error.is_stopped() && matches!(error, ToolsError::Unanswered { .. }), "{error}");
    eventually("the server hears of it", || path.exists());
}

#[test]
fn a_call_that_takes_too_long_is_cancelled_at_the_server() {
    let fixture = Fixture::new();
    let path = fixture.path("cancelled");
    let spec = ServerSpec { timeout: Duration::from_secs(2), ..fixture.spec("slow", path.to_str().unwrap()) };
    let servers = Servers::new([spec], &fixture.options());
    let echo = tool(&servers, "fake", "echo");
    let error = fixture.call(&servers, &echo, json!({})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`fake__echo` was sent, outcome unknown: `fake__echo` did not return within 2 s"
    );
    eventually("the server hears of it", || path.exists());
    assert!(servers.process_id("fake").is_some());
}

#[test]
fn unusable_tools_are_ignored_and_named() {
    let fixture = Fixture::new();
    let listed = fixture.servers("odd", "").tools("fake", &|| false).unwrap();
    assert_eq!(listed.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["echo"]);
    assert_eq!(
        listed.problems,
        [
            "`fake__bad name` is ignored: its name contains invalid characters",
            "`fake__echo` is listed twice",
            "`fake__loop` is ignored: its schema is invalid: `#` refers to itself without end",
        ]
    );
}

#[test]
fn an_unknown_server_is_named_with_the_known_ones() {
    let fixture = Fixture::new();
    let error = fixture.servers("plain", "").tools("fakee", &|| false).unwrap_err();
    assert_eq!(
        (error.to_string(), error.hint()),
        ("there is no tool server `fakee`".to_owned(), "use one of `fake`".to_owned())
    );
}

#[test]
fn an_address_without_a_listener_is_a_clear_error() {
    let fixture = Fixture::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let spec = ServerSpec::new("web", Launch::Http { url, headers: BTreeMap::new() });
    let error = Servers::new([spec], &fixture.options()).tools("web", &|| false).unwrap_err();
    assert!(matches!(error, ToolsError::NotStarted { .. }), "{error}");
    assert!(error.to_string().to_lowercase().contains("connection refused"), "{error}");
}
