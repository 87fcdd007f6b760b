use super::*;
use crate::event::{Actor, AppliedFile};
use crate::phase::Phase;

fn sha256() -> String {
    "ab".repeat(32)
}

fn hashed(path: &str) -> FileHash {
    FileHash { path: path.to_owned(), sha256: sha256() }
}

fn check(event: &Event) -> String {
    State::default().fault(event).map(|fault| fault.to_string()).unwrap_or_default()
}

fn approved(path: &str) -> Event {
    Event::Rebound { by: Actor::OpenGate, files: vec![hashed(path)] }
}

fn applied(target: &str) -> Event {
    let file =
        AppliedFile { target: target.to_owned(), before: None, after: Some(sha256()), executable: None };
    Event::ApplyIntended { files: vec![file], is_undo: false }
}

#[test]
fn a_file_of_a_session_is_in_the_session() {
    for path in ["plan.md", "iteration-1/code/.github/ci.yml", "iteration-12/plan-prompt.md"] {
        assert_eq!(check(&approved(path)), "", "{path}");
    }
    for path in ["../x", "/etc/passwd", "a/../../x", "a//b", "./a", "", "a\0b"] {
        assert!(check(&approved(path)).contains("leaves the session"), "{path}");
    }
    for path in ["journal.jsonl", "SESSION.json", ".lock", "objects/x"] {
        assert!(check(&approved(path)).contains("the engine itself"), "{path}");
    }
    assert!(check(&approved(&"a/".repeat(5_000))).contains("is too long"));
}

#[test]
fn every_event_with_files_is_checked() {
    let bad = || hashed("../../.netrc");
    let by = || Actor::OpenGate;
    let (phase, iteration) = (Phase::from_name("planning").unwrap(), 1);
    let response_approved = |outcome| Event::ResponseApproved {
        by: by(),
        response: hashed("r.md"),
        outcome,
        runs_checks: false,
        note: None,
    };
    let events = [
        Event::PromptWritten {
            phase,
            iteration,
            prompt: bad(),
            system_prompt: None,
            seen: Vec::new(),
            fs_ability: None,
            left_out: Vec::new(),
        },
        Event::PromptWritten {
            phase,
            iteration,
            prompt: hashed("p.md"),
            system_prompt: Some(bad()),
            seen: Vec::new(),
            fs_ability: None,
            left_out: Vec::new(),
        },
        Event::PromptApproved { by: by(), files: vec![bad()], is_edited: false, is_checked: true },
        Event::PromptRejected { by: by(), feedback: String::new(), kept: vec![bad()] },
        Event::ReplyReceived { response: bad(), call: None, changes: None },
        Event::ReplyReceived {
            changes: None,
            response: hashed("r.md"),
            call: Some(Box::new(Call { kept: vec![bad()], ..Call::default() })),
        },
        Event::ReplyRefused { response: bad(), problems: Vec::new() },
        Event::OutputsIntended { files: vec![bad()] },
        response_approved(Outcome::Plan { plan: bad() }),
        response_approved(Outcome::Code { files: vec![bad()] }),
        Event::ResponseRejected { by: by(), feedback: String::new(), kept: vec![bad()] },
        Event::GateAnswered { reply: Some(bad()), call: None },
        Event::Retried { by: by(), kept: vec![bad()] },
    ];
    for event in &events {
        assert!(check(event).contains("leaves the session"), "{event:?}");
    }
}

#[test]
fn code_is_applied_to_the_project_or_to_a_typed_directory() {
    for target in ["src/a.rs", ".github/workflows/ci.yml", "/srv/out/a.rs"] {
        assert_eq!(check(&applied(target)), "", "{target}");
    }
    for target in ["../x", "/srv/../etc/x", ".git/hooks/pre-commit", "a/.AIWF/config.toml", "//x"] {
        assert!(!check(&applied(target)).is_empty(), "{target}");
    }
}

#[test]
fn hashes_and_names_look_like_hashes_and_names() {
    let file = FileHash { path: "a".to_owned(), sha256: "../../x".to_owned() };
    let event = Event::Rebound { by: Actor::OpenGate, files: vec![file] };
    assert_eq!(check(&event), "`../../x` is not a SHA-256");
    let undecided = |provider: &str| {
        check(&Event::GateUndecided { provider: provider.to_owned(), message: String::new() })
    };
    assert_eq!(undecided("claude-code"), "");
    assert_eq!(undecided("../x"), "`../x` is not a valid name");
    assert_eq!(undecided("a\u{1b}[2J"), "`a\\u{1b}[2J` is not a valid name");
}

#[test]
fn iterations_follow_each_other() {
    let event = Event::PromptWritten {
        phase: Phase::from_name("planning").unwrap(),
        iteration: u32::MAX,
        prompt: hashed("p.md"),
        system_prompt: None,
        seen: Vec::new(),
        fs_ability: None,
        left_out: Vec::new(),
    };
    assert_eq!(check(&event), "it is about iteration 4294967295, and the session is in iteration 1");
}
