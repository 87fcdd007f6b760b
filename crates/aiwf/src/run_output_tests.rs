use aiwf_engine::advice::{Action, Advice};
use aiwf_engine::package::NodeType;
use aiwf_engine::{NodeProgress, PreviewLayer, PreviewPayload};

use super::*;

fn report(kind: RunKind, phase: RunPhase, code: Option<&str>) -> RunReport {
    RunReport {
        left_out: Vec::new(),
        run_id: "r1".to_owned(),
        kind,
        package: Some("flow".to_owned()),
        workflow: None,
        phase,
        node: Some("draft".to_owned()),
        agent: None,
        reply: None,
        question: None,
        error: code.map(|code| Fault { code: code.to_owned(), message: "it broke".to_owned(), hint: None }),
        warnings: Vec::new(),
        usage: Usage::default(),
    }
}

#[test]
fn the_exit_code_shows_the_status_of_a_run() {
    let exit = |kind, phase, code| exit_of(&report(kind, phase, code)).code();
    let run = RunKind::Run;
    assert_eq!(exit(run, RunPhase::Completed, None), 0);
    assert_eq!(exit(run, RunPhase::Cancelled, None), 0);
    assert_eq!(exit(run, RunPhase::WaitingUser, None), 3);
    assert_eq!(exit(run, RunPhase::WaitingUser, Some("ENGINE_LOOP_DETECTED")), 3);
    assert_eq!(exit(run, RunPhase::Failed, Some("ENGINE_MAX_TURNS_EXCEEDED")), 1);
    assert_eq!(exit(run, RunPhase::Failed, None), 1);
    assert_eq!(exit(run, RunPhase::Failed, Some("LLM_RATE_LIMITED")), 4);
    assert_eq!(exit(run, RunPhase::Failed, Some("ENGINE_ABORTED")), 130);
    for conversation in [RunKind::Agent, RunKind::Chat] {
        assert_eq!(exit(conversation, RunPhase::WaitingUser, None), 0);
        assert_eq!(exit(conversation, RunPhase::Failed, Some("LLM_TIMEOUT")), 4);
        assert_eq!(exit(conversation, RunPhase::Failed, Some("ENGINE_ABORTED")), 130);
    }
}

fn status_of(phase: RunPhase) -> RunStatus {
    let node = |id: &str, title: &str, status| NodeProgress {
        id: id.to_owned(),
        title: title.to_owned(),
        node_type: NodeType::Step,
        status,
    };
    RunStatus {
        report: RunReport {
            question: Some(json!({ "widgetId": "w", "type": "confirmation", "message": "Sure?\u{1b}[2J" })),
            ..report(RunKind::Run, phase, None)
        },
        interrupted: false,
        is_busy: false,
        created_at: "2026-01-01T00:00:00Z".to_owned(),
        updated_at: "2026-01-01T00:01:00Z".to_owned(),
        provider: "model".to_owned(),
        nodes: vec![
            node("start", "start", NodeStatus::Completed),
            node("draft", "Draft it", NodeStatus::Current),
        ],
        picture: None,
        menu: Vec::new(),
        variables: json!({ "kind": "bug" }).as_object().cloned().unwrap_or_default(),
        decisions: vec![json!({ "from": "start", "to": "draft", "label": "go", "reason": "asked for" })],
        artifacts: vec!["artifacts/a.md".to_owned()],
        n_calls: 2,
        n_tool_calls: 5,
        forked_from: None,
        directory: ".aiwf/sessions/r1".to_owned(),
        next: Some(Advice::from(Action::Say).about_session("r1")),
    }
}

#[test]
fn a_status_in_words_has_all_of_it_and_nothing_a_terminal_obeys() {
    insta::assert_snapshot!(status_words(&status_of(RunPhase::WaitingUser)), @r#"
    run       r1
    package   flow
    provider  model
    phase     waiting-user
    node      [x] start (step)
    node      [>] draft: Draft it (step)
    variable  kind = "bug"
    decision  start → draft (go): asked for
    artifact  artifacts/a.md
    calls     2, 5 to tools
    started   2026-01-01T00:00:00Z
    changed   2026-01-01T00:01:00Z
    files     .aiwf/sessions/r1
    asks      Sure?\u{1b}[2J
    next      aiwf workflow say r1 TEXT
    "#);
}

#[test]
fn the_anatomy_of_a_request_has_a_line_for_each_layer() {
    let layer = |layer: &str, role, tokens| PreviewLayer {
        role,
        layer: layer.to_owned(),
        tokens,
        sha256: "0123456789abcdef".to_owned(),
    };
    let preview = RunPreview {
        left_out: Vec::new(),
        run_id: "r1".to_owned(),
        provider: "model".to_owned(),
        tokenizer: "estimate".to_owned(),
        is_exact: false,
        payload_sha256: "ffff".to_owned(),
        canonical: String::new(),
        payload: PreviewPayload::default(),
        layers: vec![layer("base-rules", "system", 300), layer("user-input", "user", 12)],
        cache_breakpoints: Some(vec!["base-rules".to_owned()]),
        n_tools: 1,
        tool_tokens: 40,
        tokens: 352,
        window: Some(1000),
        n_left_out: 3,
        tokens_left_out: 700,
        warnings: Vec::new(),
    };
    insta::assert_snapshot!(anatomy(&preview), @"
    next request of r1 to model: 352 of 1000 tokens (estimate), payload_sha256 ffff
      base-rules  system          300  0123456789ab
      user-input  user             12  0123456789ab
      tools       1 in all         40
      cache breakpoint after `base-rules`
    ");
}
