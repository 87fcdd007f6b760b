//! Words the events of a session: who did what to which version, and what they said.
//!
//! In: the events from the first one on. Out: a line for each, which does not repeat the event's name. The numbers of
//! versions are not in the events; they come from folding them.

use aiwf_session::{Actor, CommentSubject, Event, NewComment, Outcome, Phase, Resolution, State};

/// What people said is cut to this length; `--json` has all of it.
const MAX_SAID_CHARS: usize = 120;

/// A line about each event. Texts of people and models are on one line, but not escaped.
pub fn event_texts<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<String> {
    let mut state = State::default();
    let text = |event: &Event| {
        let phase = state.phase;
        state = std::mem::take(&mut state).evolve(event);
        event_text(event, phase, &state)
    };
    events.into_iter().map(text).collect()
}

/// `phase` is the one before the event.
fn event_text(event: &Event, phase: Phase, after: &State) -> String {
    // The newest version of the phase that the event is about.
    let version = || match after.versions_of(phase).last() {
        Some(version) => after.version_name(phase, version.number),
        None => phase.to_string(),
    };
    match event {
        Event::SessionCreated { setup } if setup.profile.is_empty() => format!("flow {}", after.flow.name),
        Event::SessionCreated { setup } => format!("profile {}", setup.profile),
        Event::PromptWritten { phase, iteration, left_out, .. } => {
            let left_out = match left_out.len() {
                0 => String::new(),
                1 => ", 1 part left out".to_owned(),
                n_parts => format!(", {n_parts} parts left out"),
            };
            format!("{phase}, iteration {iteration}{left_out}")
        }
        Event::PromptApproved { by, is_edited, .. } => {
            format!("{phase}{}{}", if *is_edited { ", edited" } else { "" }, by_whom(by))
        }
        Event::PromptRejected { by, feedback, .. } => said(&format!("{phase}{}", by_whom(by)), feedback),
        Event::PromptSent { provider, n_earlier, .. } => {
            format!("{phase} to {provider}{}", if *n_earlier > 0 { ", again" } else { "" })
        }
        Event::ToolCalled(tool) => match &tool.server {
            Some(server) => format!("{} of {server}", tool.tool),
            None => tool.tool.clone(),
        },
        Event::AskedAgain { provider, .. } => format!("{phase} to {provider}, with the results of tools"),
        Event::ReplyReceived { .. } => version(),
        Event::AskFailed { message, .. } => said(phase.as_str(), message),
        Event::BudgetReached { message } => one_line(message),
        Event::ReplyRefused { problems, .. } => {
            let first = problems.first().map(String::as_str).unwrap_or_default();
            let more = problems.len().saturating_sub(1);
            said(&version(), &if more > 0 { format!("{first} (and {more} more)") } else { first.to_owned() })
        }
        Event::OutputsIntended { files } => n_files(files.len()),
        Event::ResponseApproved { by, outcome, note, .. } => {
            let text = format!("{}{}{}", version(), verdict(outcome), by_whom(by));
            note.as_ref().map_or(text.clone(), |note| said(&format!("{text}, with a note"), note))
        }
        Event::CheckRan(check) => {
            format!("{} {}", check.name, if check.is_passed() { "passed" } else { "failed" })
        }
        Event::ChecksHeld { names } => names.join(", "),
        Event::SentBack { by, feedback } | Event::ResponseRejected { by, feedback, .. } => {
            said(&format!("{}{}", version(), by_whom(by)), feedback)
        }
        Event::GateAsked { provider, .. } => format!("{phase} to {provider}"),
        Event::GateUndecided { provider, message } => said(&format!("{phase}, by {provider}"), message),
        Event::PromptWithdrawn { by } | Event::Retried { by, .. } | Event::Accepted { by } => {
            format!("{phase}{}", by_whom(by))
        }
        Event::CapRaised { max_iterations } => format!("to {max_iterations} iterations"),
        Event::AgentChosen { phase, agent } => format!("{phase}: {}", agent.provider),
        Event::InstructionsAdded { phase, text } => said(phase.as_str(), text),
        Event::FilesAdded { phase, patterns } => said(phase.as_str(), &patterns.join(", ")),
        Event::GatesOpened { phases } => {
            let names: Vec<&str> = phases.iter().map(Phase::as_str).collect();
            names.join(", ")
        }
        Event::Reopened { by, feedback } => {
            maybe_said(&format!("{}{}", after.phase, by_whom(by)), feedback.as_ref())
        }
        Event::Revised { by, phase, reason } => {
            let version = after.versions_of(*phase).last().map_or(0, |version| version.number);
            said(&format!("{}{}", after.version_name(*phase, version), by_whom(by)), reason)
        }
        Event::CommentAdded(comment) => comment_text(comment, after),
        Event::CommentResolved { by, number, how } => {
            let dismissed = if *how == Resolution::Dismissed { " dismissed" } else { "" };
            format!("comment {number}{dismissed}{}", by_whom(by))
        }
        Event::CommentRemoved { by, number } => format!("comment {number}{}", by_whom(by)),
        Event::Rebound { by, files } => format!("{}{}", n_files(files.len()), by_whom(by)),
        Event::Cancelled { by, reason } => maybe_said(by_whom(by).trim_start_matches(", "), reason.as_ref()),
        Event::ApplyIntended { files, is_undo } => {
            format!("{}{}", if *is_undo { "undo " } else { "" }, n_files(files.len()))
        }
        Event::Committed(commit) => {
            let branch = commit.branch.as_ref().map(|branch| format!(" on {branch}")).unwrap_or_default();
            format!("{}{branch}", commit.id.get(..12).unwrap_or(&commit.id))
        }
        Event::BudgetRaised
        | Event::ChecksFinished
        | Event::GateAnswered { .. }
        | Event::WriteAllowed
        | Event::Applied
        | Event::ApplyUndone => String::new(),
    }
}

/// `comment 2 on plan@1, lines 3-4, by ann: Why?`
fn comment_text(comment: &NewComment, state: &State) -> String {
    let on = match &comment.on {
        CommentSubject::Artifact { phase, version } => state.version_name(*phase, *version),
        CommentSubject::File { path } => path.clone(),
    };
    let lines = match comment.lines {
        None => String::new(),
        Some(lines) if lines.first == lines.last => format!(", line {lines}"),
        Some(lines) => format!(", lines {lines}"),
    };
    said(&format!("comment {} on {on}{lines}{}", comment.number, by_whom(&comment.by)), &comment.text)
}

fn verdict(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Plan { .. } | Outcome::Code { .. } => String::new(),
        Outcome::Pass => " PASS".to_owned(),
        Outcome::Fail => " FAIL".to_owned(),
        Outcome::Artifact(artifact) => {
            artifact.verdict.map(|verdict| format!(" {}", verdict.as_str())).unwrap_or_default()
        }
    }
}

fn by_whom(actor: &Actor) -> String {
    match actor {
        Actor::Person(person) => format!(", by {}", one_line(&person.name)),
        Actor::Provider(provider) => format!(", by {provider}"),
        Actor::OpenGate => ", gate skipped".to_owned(),
    }
}

fn said(what: &str, text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() { what.to_owned() } else { format!("{what}: {text}") }
}

fn maybe_said(what: &str, text: Option<&String>) -> String {
    said(what, text.map(String::as_str).unwrap_or_default())
}

fn n_files(n_files: usize) -> String {
    if n_files == 1 { "1 file".to_owned() } else { format!("{n_files} files") }
}

/// The words of a text on one line, cut to a readable length.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(MAX_SAID_CHARS).collect();
    let text = words.join(" ");
    match text.char_indices().nth(MAX_SAID_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}
