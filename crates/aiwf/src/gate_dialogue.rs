//! Decides at a gate in a short dialogue on a terminal: look, then approve, reject, edit, hand over, or leave.
//!
//! In: where a session stands. Out: whether something was decided. It shows what the engine gives and calls the same
//! decisions as the commands; it keeps no state of its own.

use std::io::BufRead as _;

use aiwf_engine::{ApplyOptions, ApproveOptions, Engine, SessionReport, SessionStatus, WaitsFor};

use crate::advice_words;
use crate::commands::checks;
use crate::escape::escaped;
use crate::failure::Failure;
use crate::output::{self, Output};

/// What came of a dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Something was decided; the session may have gone on.
    Decided,
    /// Everything stays as it is.
    Leave,
}

/// A key, what it does, in the order they are offered.
type Choice = (char, &'static str);

/// How often a wrong key is answered before the dialogue ends.
const MAX_WRONG: usize = 20;

/// Asks what to do where a session stands.
pub(crate) fn ask(engine: &Engine, report: &SessionReport, output: &Output<'_>) -> Result<Answer, Failure> {
    let id = report.session_id.as_str();
    let choices = choices(report);
    if choices.is_empty() {
        return Ok(Answer::Leave);
    }
    show(engine, report)?;
    for _ in 0..MAX_WRONG {
        let Some(key) = read_key(&choices) else { return Ok(Answer::Leave) };
        // A decision is about what was on the screen.
        let seen = engine.seen_gate(Some(id))?;
        let engine = &engine.clone().deciding_on(seen);
        match key {
            'a' if report.waits_for == Some(WaitsFor::Decision) => {
                return decided(engine.accept(Some(id)).map(drop));
            }
            'a' => return decided(engine.approve(Some(id), &ApproveOptions::default()).map(drop)),
            'r' => {
                if let Some(feedback) = read_line("feedback: ") {
                    return decided(engine.reject(Some(id), &feedback).map(drop));
                }
            }
            't' => return decided(engine.retry(Some(id)).map(drop)),
            's' => {
                if let Some(provider) = read_line("provider: ") {
                    return decided(engine.retry_with(Some(id), Some(&provider)).map(drop));
                }
            }
            'c' => {
                checks::allow_pending(engine, output)?;
                return decided(engine.run_session(Some(id)).map(drop));
            }
            'e' => {
                engine.edit_pending(Some(id))?;
                show(engine, &engine.session_report(Some(id))?)?;
            }
            'd' => match engine.pending_diff(Some(id))? {
                Some(diff) => output::note(&escaped(&diff)),
                None => output::note("this reply changes no files\n"),
            },
            'v' => {
                let (path, text) = engine.session_file(Some(id), "prompt")?;
                output::note(&format!("{path}\n\n{}\n", escaped(&text)));
            }
            _ => return Ok(Answer::Leave),
        }
    }
    Ok(Answer::Leave)
}

/// Asks whether a complete session is applied, after showing what would be done.
pub(crate) fn ask_apply(engine: &Engine, id: &str, output: &Output<'_>) -> Result<bool, Failure> {
    let dry = ApplyOptions { is_dry_run: true, ..ApplyOptions::default() };
    let report = engine.apply(Some(id), &dry)?;
    for file in &report.files {
        output::note(&escaped(&file.diff));
    }
    debug_assert!(!output.is_json(), "a dialogue is for people");
    Ok(read_key(&[('a', "apply these changes to the project"), ('q', "leave them in the session")])
        == Some('a'))
}

/// A decision that failed ends the dialogue; the failure says what to do.
fn decided(done: Result<(), aiwf_engine::SessionError>) -> Result<Answer, Failure> {
    done?;
    Ok(Answer::Decided)
}

/// What can be done where a session stands.
fn choices(report: &SessionReport) -> Vec<Choice> {
    let leave = ('q', "leave; everything is kept");
    match report.waits_for {
        Some(WaitsFor::PromptApproval) => vec![
            ('a', "approve the prompt"),
            ('e', "edit it"),
            ('v', "view it"),
            ('r', "reject with feedback"),
            leave,
        ],
        Some(WaitsFor::ReplyApproval) => vec![
            ('a', "approve"),
            ('r', "reject with feedback"),
            ('d', "diff"),
            ('e', "edit the reply"),
            ('v', "view the prompt"),
            ('t', "ask again"),
            ('s', "switch agent"),
            leave,
        ],
        Some(WaitsFor::Retry) => vec![('t', "ask again"), ('s', "switch agent"), leave],
        Some(WaitsFor::CheckConsent) => vec![('c', "look at the commands and agree"), leave],
        Some(WaitsFor::Decision) if report.status == SessionStatus::Paused => vec![
            ('a', "accept the files as they are"),
            ('r', "send it back with feedback"),
            ('d', "diff"),
            leave,
        ],
        Some(WaitsFor::Decision) => vec![('r', "begin again with feedback"), leave],
        Some(WaitsFor::Reply | WaitsFor::NextPhase | WaitsFor::Budget | WaitsFor::Answer) | None => {
            Vec::new()
        }
    }
}

/// Shows what waits, and what is to be decided on.
fn show(engine: &Engine, report: &SessionReport) -> Result<(), Failure> {
    output::note(&format!("\n{}: {}\n", report.phase, advice_words::next(&report.next)));
    for check in &report.checks {
        output::note(&format!("check {}: {}\n", escaped(&check.name), escaped(&check.outcome)));
    }
    for problem in &report.problems {
        output::note(&format!("problem: {}\n", escaped(problem)));
    }
    if report.waits_for == Some(WaitsFor::ReplyApproval) {
        let id = Some(report.session_id.as_str());
        let text = match engine.pending_diff(id)? {
            Some(diff) => diff,
            None => engine.session_file(id, "response")?.1,
        };
        output::note(&format!("\n{}\n", escaped(&text)));
    }
    Ok(())
}

/// Offers keys until one of them is typed; nothing at the end of the input.
fn read_key(choices: &[Choice]) -> Option<char> {
    let offer: Vec<String> = choices.iter().map(|(key, what)| format!("{key} {what}")).collect();
    for _ in 0..MAX_WRONG {
        let line = read_line(&format!("\n{}\n> ", offer.join(" · ")))?;
        let key = line.trim().chars().next().map(|key| key.to_ascii_lowercase());
        if let Some(key) = key.filter(|key| choices.iter().any(|(known, _)| known == key)) {
            return Some(key);
        }
    }
    None
}

/// A line of the terminal; nothing when it is empty, or at the end of the input.
fn read_line(prompt: &str) -> Option<String> {
    output::note(prompt);
    let mut line = String::new();
    let n_read = std::io::stdin().lock().read_line(&mut line).ok()?;
    let line = line.trim_end().to_owned();
    (n_read > 0 && !line.is_empty()).then_some(line)
}
