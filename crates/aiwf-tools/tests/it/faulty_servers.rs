use std::path::PathBuf;
use std::time::{Duration, Instant};

use aiwf_tools::{Launch, Servers, ToolsError};
use serde_json::json;

use crate::fixture::{Fixture, eventually, is_running, tool};

fn list_error(fixture: &Fixture, mode: &str) -> ToolsError {
    fixture.servers(mode, "").tools("fake", &|| false).unwrap_err()
}

#[test]
fn a_missing_program_or_directory_is_named() {
    let fixture = Fixture::new();
    let check = |change: fn(&mut String, &mut PathBuf), expected: &str| {
        let mut spec = fixture.spec("plain", "");
        if let Launch::Stdio { command, cwd, .. } = &mut spec.launch {
            change(command, cwd);
        }
        let error = Servers::new([spec], &fixture.options()).tools("fake", &|| false).unwrap_err();
        assert_eq!(error.to_string(), format!("server `fake` cannot be started: {expected}"));
    };
    check(|command, _| *command = "no-such-program".to_owned(), "there is no program `no-such-program`");
    check(|_, cwd| *cwd = PathBuf::from("/no/such"), "there is no directory `/no/such`");
}

#[test]
fn a_server_that_exits_at_start_is_quoted() {
    let fixture = Fixture::new();
    let error = list_error(&fixture, "exit");
    assert_eq!(error.to_string(), "server `fake` cannot be started: it ended with exit code 3");
    assert_eq!(error.hint(), "run its command by hand to see why; its last output: cannot find my settings");
}

#[test]
fn a_server_that_hangs_at_start_is_killed() {
    for mode in ["hang", "silent-garbage"] {
        let fixture = Fixture { start_timeout: Duration::from_millis(500), ..Fixture::new() };
        let error = list_error(&fixture, mode);
        assert!(matches!(error, ToolsError::StartTimedOut { .. }), "{error}");
    }
}

#[test]
fn a_start_can_be_interrupted() {
    let fixture = Fixture::new();
    let servers = fixture.servers("hang", "");
    let started_at = Instant::now();
    let is_stopped = || started_at.elapsed() > Duration::from_millis(300);
    let error = servers.tools("fake", &is_stopped).unwrap_err();
    assert!(matches!(error, ToolsError::Stopped { .. }), "{error}");
    drop(servers);
}

#[test]
fn a_server_that_talks_garbage_is_a_clear_error() {
    let fixture = Fixture::new();
    let error = list_error(&fixture, "garbage");
    assert_eq!(error.to_string(), "server `fake` cannot be started: its output is not the MCP protocol");
}

#[test]
fn a_server_that_returns_an_error_is_quoted() {
    let fixture = Fixture::new();
    let error = list_error(&fixture, "refuse");
    assert_eq!(error.to_string(), "server `fake` cannot be started: it returned error -32000: not today");
}

#[test]
fn a_list_without_end_is_an_error() {
    let fixture = Fixture::new();
    let error = list_error(&fixture, "endless");
    assert_eq!(
        error.to_string(),
        "server `fake` violated the protocol: its list of tools has more than 100 pages"
    );
}

#[test]
fn a_call_fails_at_once_when_its_server_dies_and_no_process_is_left() {
    for mode in ["dies", "leaves-child"] {
        let fixture = Fixture::new();
        let servers = fixture.servers(mode, "");
        let echo = tool(&servers, "fake", "echo");
        let group = servers.process_id("fake").unwrap();
        let error = fixture.call(&servers, &echo, json!({})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`fake__echo` was sent, outcome unknown: server `fake` ended: it was killed by signal 9",
            "{mode}"
        );
        eventually("the group is gone", || !has_group(group));
    }
}

fn has_group(group: u32) -> bool {
    let of = |entry: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let rest = stat.rsplit_once(") ")?.1.to_owned();
        let words: Vec<&str> = rest.split(' ').collect();
        (words.first() != Some(&"Z")).then_some(())?;
        (words.get(2)?.parse() == Ok(group)).then_some(())
    };
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| of(entry).is_some())
}

#[test]
fn a_server_that_crashes_is_restarted_three_times() {
    let fixture = Fixture::new();
    let path = fixture.path("starts");
    let servers = fixture.servers("starts", path.to_str().unwrap());
    let echo = tool(&servers, "fake", "echo");
    for _ in 0..4 {
        let error = fixture.call(&servers, &echo, json!({})).unwrap_err();
        assert!(matches!(error, ToolsError::Unanswered { .. }), "{error}");
    }
    let error = fixture.call(&servers, &echo, json!({})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "server `fake` was started 4 times and keeps ending: it was killed by signal 9"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 4);
}

#[test]
fn excessive_output_ends_the_server_with_a_reason() {
    let fixture = Fixture::new();
    let servers = fixture.servers("flood", "");
    let echo = tool(&servers, "fake", "echo");
    let error = fixture.call(&servers, &echo, json!({})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`fake__echo` was sent, outcome unknown: server `fake` ended: it printed more than 64 MiB for one request"
    );
}

#[test]
fn a_result_of_100_mb_is_an_error_at_once_and_one_of_1_mb_is_cut() {
    let fixture = Fixture::new();
    let servers = fixture.servers("big", "100000000");
    let echo = tool(&servers, "fake", "echo");
    let error = fixture.call(&servers, &echo, json!({})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`fake__echo` was sent, outcome unknown: server `fake` ended: it sent a message larger than 16 MiB"
    );

    let servers = fixture.servers("big", "1000000");
    let echo = tool(&servers, "fake", "echo");
    let result = fixture.call(&servers, &echo, json!({})).unwrap();
    assert!(result.is_cut && result.text.len() < 2000);
    assert_eq!(result.bytes, 1_000_000);
    assert_eq!(std::fs::metadata(result.path.unwrap()).unwrap().len(), 1_000_000);
}

#[test]
fn an_invalid_response_is_an_error() {
    let fixture = Fixture::new();
    for (mode, expected) in [
        ("error", "server `fake` returned error -32602: no such tool"),
        (
            "nonsense",
            "`fake__echo` was sent, outcome unknown: server `fake` violated the protocol: its response is not a tool \
             result",
        ),
    ] {
        let servers = fixture.servers(mode, "");
        let echo = tool(&servers, "fake", "echo");
        assert_eq!(fixture.call(&servers, &echo, json!({})).unwrap_err().to_string(), expected);
        assert!(is_running(servers.process_id("fake").unwrap()));
    }
}
