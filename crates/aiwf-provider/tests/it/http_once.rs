//! What is made once and used by every call: connections and keys.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use aiwf_provider::{Ask, AskError, KeySource, Permission, Request, Stop, open};

use crate::asking::{Recorder, ask, payload, setting};
use crate::server::{STOP, Server, Step, answer, events_kept_alive, hello, piece};

fn write(bytes: &str) -> Step {
    Step::Write(bytes.as_bytes().to_vec())
}

fn ask_opened(provider: &dyn Ask) -> Result<String, AskError> {
    let (payload, stop) = (payload(), Stop::default());
    let request = Request {
        name: "planning-1",
        payload: &payload,
        directory: Path::new("."),
        response_path: None,
        permission: Permission::ReadOnly,
        stop: &stop,
    };
    let mut recorder = Recorder::default();
    provider.ask(&request, &mut recorder).map(|_| recorder.text)
}

#[test]
fn calls_of_a_process_share_a_connection_that_the_server_keeps() {
    let told = events_kept_alive(&[&piece("hello"), STOP, "[DONE]"]);
    let server = Server::new(vec![vec![
        write(&told),
        Step::NextRequest,
        write(&told),
        Step::NextRequest,
        write(&hello()),
    ]]);
    // Every call opens the provider anew: the client is the process's, and no key stays in it.
    for key in ["sk-1", "sk-2", "sk-3"] {
        let mut setting = setting("openai", &server);
        setting.key = crate::asking::variable(key);
        let (recorder, reply) = ask(setting);
        assert_eq!(recorder.text, "hello");
        assert_eq!(reply.unwrap().n_attempts, 1);
    }
    let received = server.received();
    let keys: Vec<_> = received.iter().map(|request| request.header("authorization").unwrap()).collect();
    assert_eq!(keys, ["Bearer sk-1", "Bearer sk-2", "Bearer sk-3"]);
}

#[test]
fn a_connection_that_the_server_closed_meanwhile_does_no_harm() {
    let told = events_kept_alive(&[&piece("hello"), STOP, "[DONE]"]);
    // Each list is a connection, closed after it.
    let server = Server::new(vec![vec![write(&told)], vec![write(&told)]]);
    for _ in 0..2 {
        let (recorder, reply) = ask(setting("openai", &server));
        reply.unwrap();
        assert_eq!(recorder.text, "hello");
    }
    assert_eq!(server.received().len(), 2);
}

#[test]
fn a_key_command_is_run_once_and_again_when_its_key_expired() {
    let directory = tempfile::tempdir().unwrap();
    let (program, runs) = (directory.path().join("key.sh"), directory.path().join("runs"));
    let script = format!(
        "#!/bin/sh\necho run >> '{runs}'\necho \"sk-$(wc -l < '{runs}' | tr -d ' ')\"\n",
        runs = runs.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let expired = answer(401, "", r#"{"error":{"message":"expired"}}"#);
    let server = Server::answering(&[&hello(), &hello(), &expired, &hello(), &expired, &expired]);
    let mut setting = setting("openai", &server);
    setting.key = KeySource::Command(vec![program.display().to_string()]);
    let provider = open(setting).unwrap();
    for _ in 0..3 {
        assert_eq!(ask_opened(provider.as_ref()).unwrap(), "hello");
    }
    // A fresh key that is turned down too is the answer.
    let error = ask_opened(provider.as_ref()).unwrap_err();
    assert!(matches!(error, AskError::Status { status: 401, .. }), "{error}");
    let received = server.received();
    let keys: Vec<_> = received.iter().map(|request| request.header("authorization").unwrap()).collect();
    let expected = ["sk-1", "sk-1", "sk-1", "sk-2", "sk-2", "sk-3"].map(|key| format!("Bearer {key}"));
    assert_eq!(keys, expected);
    assert_eq!(fs::read_to_string(runs).unwrap().lines().count(), 3);
}
