//! Decides at a gate in a short dialogue on a terminal: look, then approve, reject, edit, hand over, or leave.
//!
//! In: the state of a session. Out: whether something was decided. It shows the engine's data and calls the same
//! decisions as the commands; it has no state of its own. Each choice is one key.

use std::path::PathBuf;

use aiwf_engine::machine::{LineRange, VersionOutcome};
use aiwf_engine::{
    ApplyOptions, ApplyReport, ApproveOptions, CommentTarget, Decided, Engine, PromptApproval, SeenGate,
    SessionError, SessionReport, SessionStatus, WaitsFor, read_text,
};
use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::clipboard;
use crate::coloured_diff::coloured;
use crate::command_error::CommandError;
use crate::commands::apply::{warn_about, warn_overlaps};
use crate::commands::{checks, comment};
use crate::escape::escaped_line;
use crate::failure::Failure;
use crate::gate_view;
use crate::key_press::{self, KeyPress};
use crate::output::{self, Output, Span};
use crate::pager;

/// The result of a dialogue.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The result of a decision; the session may have continued.
    Decided(Result<(), SessionError>),
    /// The user left; nothing changed.
    Leave,
}

/// A key and its effect, in the order of display.
type Choice = (char, &'static str);

const LEAVE: Choice = ('q', "leave; all progress is saved");
/// Ends the dialogue if a terminal keeps sending invalid input.
const MAX_WRONG: usize = 100;

/// Asks the user what to do next with a session.
pub(crate) fn ask(engine: &Engine, report: &SessionReport, output: &Output<'_>) -> Result<Answer, Failure> {
    let choices = choices(report);
    if choices.is_empty() {
        return Ok(Answer::Leave);
    }
    let mut gate = Gate::look(engine, report.clone())?;
    gate_view::show(engine, &gate.report)?;
    for _ in 0..MAX_WRONG {
        let Some(key) = read_key(&choices)? else { return Ok(Answer::Leave) };
        if key == LEAVE.0 {
            return Ok(Answer::Leave);
        }
        match gate.follow(key, engine, output) {
            Ok(Some(done)) => return Ok(Answer::Decided(done.map(drop))),
            Ok(None) => {}
            // A failed view decides nothing: the gate is still open.
            Err(failure) => output::note_failure(&failure),
        }
    }
    Ok(Answer::Leave)
}

/// A gate as it was shown.
struct Gate {
    report: SessionReport,
    /// A decision is about what was on the screen.
    seen: SeenGate,
}

impl Gate {
    fn look(engine: &Engine, report: SessionReport) -> Result<Self, Failure> {
        let seen = engine.seen_gate(Some(report.session_id.as_str()))?;
        Ok(Self { report, seen })
    }

    /// Performs a key's action; `None` if it was not a decision.
    fn follow(
        &mut self,
        key: char,
        engine: &Engine,
        output: &Output<'_>,
    ) -> Result<Option<Result<Decided, SessionError>>, Failure> {
        let id = self.report.session_id.clone();
        let id = Some(id.as_str());
        let deciding = engine.clone().deciding_on(self.seen.clone());
        let done = match key {
            'a' if self.report.waits_for == Some(WaitsFor::Decision) => deciding.accept(id),
            'a' => deciding.approve(id, &ApproveOptions::default()),
            'n' => match read_line("note for the next phases: ")?.filter(|note| !note.is_empty()) {
                Some(note) => {
                    deciding.approve(id, &ApproveOptions { note: Some(note), ..ApproveOptions::default() })
                }
                None => return Ok(None),
            },
            'c' if self.report.waits_for == Some(WaitsFor::ReplyApproval) => {
                comment(engine, &self.report)?;
                *self = Self::look(engine, engine.session_report(id)?)?;
                return Ok(None);
            }
            'r' if self.report.open_comments > 0 => {
                match read_line("feedback (Enter alone sends the open comments): ")? {
                    Some(feedback) => deciding.reject(id, &feedback),
                    None => return Ok(None),
                }
            }
            'r' => match read_feedback(engine)? {
                Some(feedback) => deciding.reject(id, &feedback),
                None => return Ok(None),
            },
            't' => deciding.retry(id, None),
            'g' => deciding.run_session(id),
            's' => match choose_provider(engine, self.report.provider.as_deref())? {
                Some(provider) => deciding.retry(id, Some(&provider)),
                None => return Ok(None),
            },
            'c' => {
                checks::allow_pending(engine, output)?;
                deciding.run_session(id)
            }
            'y' | 'f' => match read_reply(key, engine)? {
                Some(reply) => deciding
                    .respond_with(id, &reply, None, PromptApproval::Implied)
                    .and_then(|_| engine.run_session(id)),
                None => return Ok(None),
            },
            'p' => {
                copy_prompt(engine, &self.report)?;
                return Ok(None);
            }
            'e' => {
                engine.edit_pending(id)?;
                *self = Self::look(engine, engine.session_report(id)?)?;
                gate_view::show(engine, &self.report)?;
                return Ok(None);
            }
            'd' => {
                gate_view::show_diff(engine, &self.report)?;
                return Ok(None);
            }
            'v' => {
                gate_view::show_prompt(engine, &self.report)?;
                return Ok(None);
            }
            _ => return Ok(None),
        };
        Ok(Some(done))
    }
}

/// The choices in the current state.
fn choices(report: &SessionReport) -> Vec<Choice> {
    match report.waits_for {
        Some(WaitsFor::PromptApproval) => vec![
            ('a', "approve the prompt"),
            ('e', "edit it"),
            ('r', "reject with feedback"),
            ('v', "view prompt"),
            ('p', "copy prompt"),
            ('s', "switch agent"),
            LEAVE,
        ],
        Some(WaitsFor::Reply) => vec![
            ('p', "copy prompt"),
            ('v', "view prompt"),
            ('y', "paste the reply"),
            ('f', "reply from a file"),
            ('s', "switch agent"),
            LEAVE,
        ],
        Some(WaitsFor::ReplyApproval) => vec![
            ('a', "approve"),
            ('n', "approve with a note"),
            ('c', "comment on a line"),
            ('e', "edit"),
            ('r', "reject with feedback"),
            ('d', "diff"),
            ('v', "view prompt"),
            ('s', "switch agent"),
            ('t', "ask again"),
            LEAVE,
        ],
        Some(WaitsFor::Retry) => {
            vec![('t', "ask again"), ('v', "view prompt"), ('s', "switch agent"), LEAVE]
        }
        Some(WaitsFor::CheckConsent) => {
            vec![('c', "review the commands and allow them"), ('d', "diff"), LEAVE]
        }
        Some(WaitsFor::Decision) if report.status == SessionStatus::Paused => {
            let mut choices = vec![('a', "accept it as it is"), ('r', "reject with feedback"), ('d', "diff")];
            if report.checks.iter().any(|check| !check.passed) {
                choices.push(('t', "run the checks again"));
            }
            choices.push(LEAVE);
            choices
        }
        Some(WaitsFor::Decision) => vec![('r', "start over with feedback"), LEAVE],
        Some(WaitsFor::NextPhase) => vec![('g', "continue with this phase"), LEAVE],
        Some(WaitsFor::Budget | WaitsFor::Answer) | None => Vec::new(),
    }
}

/// Shows the result of a complete session and asks where to apply it; `None` to leave it in the session.
pub(crate) fn ask_apply(
    engine: &Engine,
    id: &str,
    options: &ApplyOptions,
    output: &Output<'_>,
) -> Result<Option<ApplyOptions>, Failure> {
    debug_assert!(!output.is_json(), "a dialogue needs a person");
    let dry = ApplyOptions { is_dry_run: true, ..options.clone() };
    let report = engine.apply(Some(id), &dry)?;
    let diff: String = report.files.iter().map(|file| file.diff.as_str()).collect();
    pager::show(engine, &coloured(&diff))?;
    warn_about(&report);
    warn_overlaps(&report.overlaps);
    warn_conflicts(&report);
    let is_branch = report.branch.is_some();
    let mut choices = vec![('a', if is_branch { "write it to the branch" } else { "apply to your files" })];
    if !is_branch && engine.has_repository() {
        choices.push(('b', "write it to a new branch"));
        if !options.commits {
            choices.push(('c', "apply and commit"));
        }
    }
    choices.extend([('d', "diff"), LEAVE]);
    let n_files = report.files.len();
    let files = if n_files == 1 { "1 file".to_owned() } else { format!("{n_files} files") };
    let place = report.branch.as_deref().map(|branch| format!(" for branch {}", escaped_line(branch)));
    output::note_styled(&[(
        Style::new().bold(),
        format!("\ncomplete: {files} to apply{}\n", place.unwrap_or_default()),
    )]);
    for _ in 0..MAX_WRONG {
        match read_key(&choices)? {
            Some('a') => return Ok(Some(options.clone())),
            // An empty name means one made from the request.
            Some('b') => return Ok(Some(ApplyOptions { branch: Some(String::new()), ..options.clone() })),
            Some('c') => return Ok(Some(ApplyOptions { commits: true, ..options.clone() })),
            Some('d') => pager::show(engine, &coloured(&diff))?,
            _ => break,
        }
    }
    output::note(&format!(
        "nothing was applied; `aiwf apply {id}` applies it later, with `--branch` on a new branch, with `--commit` in a commit\n"
    ));
    Ok(None)
}

fn warn_conflicts(report: &ApplyReport) {
    let files: Vec<String> = report.conflicts().map(|file| escaped_line(&file.target)).collect();
    if !files.is_empty() && report.branch.is_none() {
        output::warn(&format!("these files changed since the agent read them\n  {}", files.join("\n  ")));
    }
}

/// Shows the keys until one is pressed; `None` if the user leaves.
fn read_key(choices: &[Choice]) -> Result<Option<char>, Failure> {
    let offer = offered(choices, output::screen().columns);
    for _ in 0..MAX_WRONG {
        let pressed = key_press::press(|| output::note_styled(&offer)).map_err(no_terminal)?;
        match pressed {
            KeyPress::End => {
                output::note("\n");
                return Ok(None);
            }
            KeyPress::Key(key) if choices.iter().any(|(known, _)| *known == key) => {
                output::note(&format!("{key}\n"));
                return Ok(Some(key));
            }
            KeyPress::Key(_) | KeyPress::Other => output::note("press one of the keys above\n"),
        }
    }
    Ok(None)
}

fn no_terminal(error: std::io::Error) -> Failure {
    CommandError::NoTerminal(error.into()).into()
}

/// The keys with their effects, wrapped between entries.
fn offered(choices: &[Choice], width: usize) -> Vec<Span> {
    let mut spans = vec![(Style::new(), "\n".to_owned())];
    let mut column = 0;
    for (index, (key, what)) in choices.iter().enumerate() {
        let n_columns = 2 + what.width();
        if index > 0 && column + 3 + n_columns > width {
            spans.push((Style::new(), "\n".to_owned()));
            column = 0;
        } else if index > 0 {
            spans.push((Style::new(), " · ".to_owned()));
            column += 3;
        }
        spans.extend([(Style::new().bold(), key.to_string()), (Style::new(), format!(" {what}"))]);
        column += n_columns;
    }
    spans.push((Style::new(), "\n> ".to_owned()));
    spans
}

/// Reads feedback as a line or from the editor; `None` if there is none.
fn read_feedback(engine: &Engine) -> Result<Option<String>, Failure> {
    const TEMPLATE: &str = "\n# What should change? Lines that start with `#` are ignored.\n";
    let Some(line) = read_line("feedback (Enter alone opens your editor): ")? else { return Ok(None) };
    let feedback =
        if line.is_empty() { without_comments(&engine.edit_text("feedback.md", TEMPLATE)?) } else { line };
    if feedback.is_empty() {
        output::note("no feedback: nothing was rejected\n");
        return Ok(None);
    }
    Ok(Some(feedback))
}

/// A text from an editor without the lines that explain it.
pub(crate) fn without_comments(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.join("\n").trim().to_owned()
}

/// A comment on lines of the reply at the gate, or of a file that it changes.
fn comment(engine: &Engine, report: &SessionReport) -> Result<(), Failure> {
    let id = Some(report.session_id.as_str());
    let versions = engine.session_versions(id)?;
    let pending = versions.iter().find(|version| version.outcome == VersionOutcome::Pending);
    let Some(pending) = pending else {
        output::note("there is no reply to comment on\n");
        return Ok(());
    };
    let Some(typed) = read_line("line or range, FILE:LINE, or Enter for all of it: ")? else { return Ok(()) };
    let place = if typed.is_empty() {
        pending.name.clone()
    } else if LineRange::parse(&typed).is_some() {
        format!("{}:{typed}", pending.name)
    } else {
        typed
    };
    let Some(text) = read_line("comment: ")?.filter(|text| !text.is_empty()) else {
        output::note("no comment was added\n");
        return Ok(());
    };
    let done = engine.add_comment(id, &CommentTarget::parse(&place)?, &text)?;
    output::note(&comment::shown(&done.comment));
    Ok(())
}

/// A provider that works, by its number or its name.
fn choose_provider(engine: &Engine, current: Option<&str>) -> Result<Option<String>, Failure> {
    output::note("looking for working providers\n");
    let mut providers = engine.providers(None)?;
    providers.retain(|provider| {
        let can_work = provider.can_be_asked && provider.can_start;
        can_work && Some(provider.name.as_str()) != current
    });
    for (number, provider) in (1..).zip(&providers) {
        let name = escaped_line(&provider.name);
        output::note(&format!("{number:>3}  {name:14} {}\n", escaped_line(provider.description)));
    }
    let Some(line) = read_line("agent (number or name): ")? else { return Ok(None) };
    let number = line.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    Ok(match number.and_then(|index| providers.get(index)) {
        Some(provider) => Some(provider.name.clone()),
        // A wrong name is refused with the nearest ones.
        None => Some(line).filter(|line| !line.is_empty()),
    })
}

/// Reads a reply from the user: pasted, or from a file.
fn read_reply(key: char, engine: &Engine) -> Result<Option<String>, Failure> {
    if key == 'f' {
        let Some(path) = read_line("file: ")?.filter(|path| !path.is_empty()) else { return Ok(None) };
        return Ok(Some(read_text(&engine.settings().current_dir.join(PathBuf::from(path)))?));
    }
    let ask = || {
        output::note("paste the reply; finish with a line that is only . or with Ctrl-D; Ctrl-C cancels\n");
    };
    let Some(bytes) = key_press::paste(ask).map_err(no_terminal)? else {
        output::note("\ndropped\n");
        return Ok(None);
    };
    match String::from_utf8(bytes) {
        Ok(text) if text.trim().is_empty() => output::note("the reply is empty\n"),
        Ok(text) => return Ok(Some(text)),
        Err(_) => output::note("the reply is not UTF-8: save it to a file and press f\n"),
    }
    Ok(None)
}

fn copy_prompt(engine: &Engine, report: &SessionReport) -> Result<(), Failure> {
    let text = engine.preview_session(Some(report.session_id.as_str()))?.text();
    let path = report.prompt_path.as_deref().map(escaped_line).unwrap_or_default();
    output::note(&match clipboard::copy(&text) {
        Ok(how) => format!("{how}; if it does not paste, open {path}\n"),
        Err(error) => format!("{error}: open {path}\n"),
    });
    Ok(())
}

/// A line as typed; `None` at the end of the input.
fn read_line(prompt: &str) -> Result<Option<String>, Failure> {
    output::note(prompt);
    let mut line = String::new();
    let n_read = std::io::stdin().read_line(&mut line).map_err(no_terminal)?;
    Ok((n_read > 0).then(|| line.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_wrapped_between_them() {
        let choices = [('a', "approve"), ('r', "reject with feedback"), ('d', "diff"), LEAVE];
        let text: String = offered(&choices, 40).into_iter().map(|(_, text)| text).collect();
        assert_eq!(text, "\na approve · r reject with feedback\nd diff · q leave; all progress is saved\n> ");
        assert!(text.lines().all(|line| line.width() <= 40));
    }

    #[test]
    fn lines_that_explain_are_no_part_of_a_text() {
        assert_eq!(without_comments("\n# what?\nAdd a flag\n\n  # kept\n# end\n"), "Add a flag\n\n  # kept");
        assert_eq!(without_comments("# only\n\n"), "");
    }
}
