use std::collections::BTreeSet;
use std::time::Duration;

use aiwf_tools::{
    Access, Call, CallError, ExecuteOptions, Grant, Offered, Outcome, PinState, Policy, Refusal, ResultsDir,
    Rules, Servers, execute_tools, format_results_prompt,
};
use serde_json::{Value, json};

use crate::fixture::{Fixture, object};

fn policy(servers: &Servers, granted: &[&str]) -> Policy {
    let listed = servers.tools("fake", &|| false).unwrap();
    let offered: Vec<Offered> = listed
        .tools
        .into_iter()
        .map(|tool| Offered { tool, pin: PinState::Same, is_marked_read_only: false })
        .collect();
    let names: BTreeSet<String> = granted.iter().map(|name| (*name).to_owned()).collect();
    Policy::new(Rules::default(), &Grant { access: Access::Full, names }, &offered)
}

fn run(fixture: &Fixture, servers: &Servers, policy: &Policy, calls: &[(&str, &str, Value)]) -> Vec<Outcome> {
    let calls: Vec<Call> = calls
        .iter()
        .map(|(id, name, arguments)| Call {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            arguments: object(arguments.clone()),
        })
        .collect();
    let options = ExecuteOptions {
        results: ResultsDir { path: &fixture.path("results"), shown: "results" },
        is_stopped: &|| false,
        on_progress: &|_, _| (),
    };
    execute_tools(&calls, policy, servers, &options)
}

#[test]
fn calls_run_in_parallel_and_return_in_order_with_their_ids() {
    let fixture = Fixture::new();
    // Each responds once all three have been called.
    let calls = fixture.path("calls");
    let specs = ["fake", "two", "three"].map(|name| aiwf_tools::ServerSpec {
        name: name.to_owned(),
        ..fixture.spec("together", calls.to_str().unwrap())
    });
    let servers = Servers::new(specs, &fixture.options());
    let mut offered = Vec::new();
    for server in ["fake", "two", "three"] {
        for tool in servers.tools(server, &|| false).unwrap().tools {
            offered.push(Offered { tool, pin: PinState::Same, is_marked_read_only: false });
        }
    }
    let names = ["fake__echo", "two__echo", "three__echo"].map(str::to_owned).into();
    let policy = Policy::new(Rules::default(), &Grant { access: Access::Full, names }, &offered);
    let outcomes = run(
        &fixture,
        &servers,
        &policy,
        &[("c", "three__echo", json!({})), ("a", "fake__echo", json!({})), ("b", "two__echo", json!({}))],
    );
    assert_eq!(outcomes.iter().map(|outcome| outcome.id.as_str()).collect::<Vec<_>>(), ["c", "a", "b"]);
    assert!(outcomes.iter().all(Outcome::is_success), "{outcomes:?}");
}

#[test]
fn unknown_refused_or_invalid_calls_never_reach_a_server() {
    let fixture = Fixture::new();
    let servers = fixture.servers("dies", "");
    let policy = policy(&servers, &["fake__echo"]);
    let outcomes = run(
        &fixture,
        &servers,
        &policy,
        &[
            ("1", "fake__read", json!({})),
            ("2", "fake__nothing", json!({})),
            ("3", "echo", json!({})),
            ("4", "fake__echo", json!({"text": 1})),
        ],
    );
    assert!(matches!(&outcomes[0].result, Err(CallError::Refused(Refusal::NotGranted { .. }))));
    assert!(matches!(&outcomes[1].result, Err(CallError::Refused(Refusal::Unknown { .. }))));
    assert!(matches!(&outcomes[2].result, Err(CallError::Refused(Refusal::Unknown { .. }))));
    assert_eq!(
        outcomes[3].text(),
        "invalid arguments for `fake__echo`: at `/text`: 1 is not of type \"string\""
    );
    assert!(outcomes.iter().all(|outcome| !outcome.is_success()));
    let servers_of: Vec<_> = outcomes.iter().map(|outcome| outcome.server.as_deref()).collect();
    assert_eq!(servers_of, [Some("fake"), Some("fake"), None, Some("fake")]);
    // This server dies on any call.
    assert!(servers.process_id("fake").is_some());
    let prompt = format_results_prompt(&outcomes, &[]);
    assert!(prompt.contains("### Result 4 of `fake__echo`, call `4`: not run"), "{prompt}");
}

#[test]
fn a_call_that_was_sent_but_not_answered_is_never_reported_as_not_run() {
    for (mode, timeout, why) in [
        ("dies", Duration::from_mins(100), "server `fake` ended: it was killed by signal 9"),
        ("slow", Duration::from_millis(300), "`fake__echo` did not return within 0.3 s"),
    ] {
        let fixture = Fixture::new();
        let spec = fixture.spec(mode, fixture.path("cancelled").to_str().unwrap());
        let servers = Servers::new([aiwf_tools::ServerSpec { timeout, ..spec }], &fixture.options());
        let policy = policy(&servers, &["fake__echo"]);
        let outcomes = run(&fixture, &servers, &policy, &[("1", "fake__echo", json!({}))]);
        let text = format!("`fake__echo` was sent, outcome unknown: {why}");
        assert_eq!((outcomes[0].text(), outcomes[0].is_unknown()), (text, true));
        let prompt = format_results_prompt(&outcomes, &[]);
        assert!(prompt.contains("call `1`: sent, outcome unknown\n"), "{prompt}");
        assert!(!prompt.contains("not run"), "{prompt}");
    }
}

#[test]
fn no_calls_give_no_outcomes() {
    let fixture = Fixture::new();
    let servers = fixture.servers("plain", "");
    assert!(run(&fixture, &servers, &Policy::nothing(), &[]).is_empty());
}
