//! `aiwf list` and `aiwf status` without an id: all sessions of the project, and what is waiting for the user.

use std::io::Write as _;
use std::time::Duration;

use aiwf_engine::{Engine, SessionEntry, SessionStatus, WaitsFor};
use clap::Args;
use clap::builder::TypedValueParser;
use serde_json::{Value, json};

use super::prompt::name_parser;
use crate::advice_words;
use crate::columns::{cut, display_width, padded};
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::session_output;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List only sessions that are waiting for you.
    #[arg(long)]
    waiting: bool,
    /// List only sessions that follow this flow: generate, change, package, or one of your own.
    #[arg(long, value_name = "FLOW")]
    flow: Option<String>,
    /// List only sessions of this profile.
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// Filter by status.
    #[arg(long, default_value = ALL, value_parser = status_parser())]
    status: StatusFilter,
    /// Maximum number of sessions to show.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// The sessions that a list shows, by their status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusFilter {
    All,
    Only(SessionStatus),
}

/// The name of [`StatusFilter::All`].
pub(crate) const ALL: &str = "all";

impl StatusFilter {
    fn from_name(name: &str) -> Option<Self> {
        if name == ALL { Some(Self::All) } else { SessionStatus::from_name(name).map(Self::Only) }
    }

    pub(crate) fn accepts(self, status: SessionStatus) -> bool {
        match self {
            Self::All => true,
            Self::Only(wanted) => status == wanted,
        }
    }
}

fn status_parser() -> impl TypedValueParser<Value = StatusFilter> {
    let listed = SessionStatus::ALL.into_iter().filter(|status| *status != SessionStatus::Unreadable);
    name_parser(listed.map(SessionStatus::as_str).chain([ALL]), StatusFilter::from_name)
}

/// Changes cannot fail: only runs do.
pub(super) fn change_status_parser() -> impl TypedValueParser<Value = StatusFilter> {
    let listed = SessionStatus::ALL
        .into_iter()
        .filter(|status| !matches!(status, SessionStatus::Unreadable | SessionStatus::Failed));
    name_parser(listed.map(SessionStatus::as_str).chain([ALL]), StatusFilter::from_name)
}

pub(crate) fn run(args: &ListArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut sessions = engine.list_all()?;
    engine.mark_overlaps(&mut sessions);
    sessions.retain(|session| args.flow.as_ref().is_none_or(|flow| *flow == session.flow));
    sessions.retain(|session| args.profile.is_none() || args.profile == session.profile);
    sessions.retain(|session| args.status.accepts(session.status));
    sessions.retain(|session| !args.waiting || session.waits_for.is_some());
    let total = sessions.len();
    sessions.truncate(args.limit);
    engine.mark_foreign(&mut sessions);
    if output.is_json() {
        return output.json(json!({ "sessions": sessions, "total": total }), Exit::Done);
    }
    let now = engine.now();
    let width = output::width();
    output::print(|out| {
        if sessions.is_empty() {
            return writeln!(out, "no sessions");
        }
        sessions.iter().try_for_each(|session| write_line(out, session, now, width))
    })?;
    if total > sessions.len() {
        output::note(&format!("{} more; `--limit {total}` shows all\n", total - sessions.len()));
    }
    Ok(Exit::Done)
}

/// What is waiting for the user, most recent first, with the command for each.
pub(crate) fn waiting(engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut sessions = engine.list_all()?;
    let n_all = sessions.len();
    sessions.retain(|session| session.waits_for.is_some());
    engine.mark_foreign(&mut sessions);
    if output.is_json() {
        let sessions: Vec<Value> = sessions
            .iter()
            .map(|session| {
                let mut fields = serde_json::to_value(session).unwrap_or_default();
                if let Some(fields) = fields.as_object_mut() {
                    fields.insert("next".to_owned(), Value::from(advice_words::next(&session.next())));
                }
                fields
            })
            .collect();
        return output.json(json!({ "waiting": sessions }), Exit::Done);
    }
    let now = engine.now();
    let width = output::width();
    output::print(|out| {
        if sessions.is_empty() {
            let more = if n_all == 0 { "" } else { "; `aiwf list` shows all sessions" };
            return writeln!(out, "nothing is waiting for you{more}");
        }
        for session in &sessions {
            write_line(out, session, now, width)?;
            writeln!(out, "  next: {}", advice_words::next(&session.next()))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn write_line(
    out: &mut dyn std::io::Write,
    session: &SessionEntry,
    now: Duration,
    width: usize,
) -> std::io::Result<()> {
    let state = session
        .waits_for
        .map_or_else(|| session.status.as_str().replace('-', " "), |it| waits(it).to_owned());
    let age = age(&session.updated_at, now);
    let line = format!(
        "{} {age:>7} {} {} {state:11} ",
        padded(&escaped_line(&session.id), 20),
        padded(&cut(&escaped_line(&session.flow), 8), 8),
        padded(&cut(&escaped_line(&session.phase), 11), 11)
    );
    let title = match &session.name {
        Some(name) => format!("{}: {}", escaped_line(name), escaped_line(&session.title)),
        None => escaped_line(&session.title),
    };
    let room = width.saturating_sub(display_width(&line)).max(12);
    writeln!(out, "{line}{}", cut(&title, room))?;
    if let Some(error) = &session.error {
        writeln!(out, "  {}", error.replace('\n', "\n  "))?;
    } else if session.is_foreign {
        writeln!(out, "  not yours: `aiwf adopt {}` shows what it contains", session.id)?;
    }
    for stale in &session.stale_artifacts {
        writeln!(out, "  {}", escaped_line(&session_output::stale_artifact(stale)))?;
    }
    for overlap in &session.overlaps {
        writeln!(out, "  {}", escaped_line(&session_output::overlap(overlap)))?;
    }
    Ok(())
}

/// What a session waits for, in a few words.
fn waits(waits_for: WaitsFor) -> &'static str {
    match waits_for {
        WaitsFor::PromptApproval | WaitsFor::ReplyApproval => "approval",
        WaitsFor::Reply => "reply",
        WaitsFor::NextPhase => "next phase",
        WaitsFor::Retry => "retry",
        WaitsFor::Budget => "budget",
        WaitsFor::Decision => "decision",
        WaitsFor::CheckConsent => "consent to checks",
        WaitsFor::Answer => "answer",
    }
}

/// How long ago something happened, in a few letters: `3 min`, `2 h`, `5 d`.
fn age(at: &str, now: Duration) -> String {
    let Some(at) = aiwf_engine::seconds_of(at) else { return "?".to_owned() };
    let seconds = now.as_secs().saturating_sub(at);
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        86_400..31_536_000 => format!("{} d", seconds / 86_400),
        _ => format!("{} y", seconds / 31_536_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_a_few_letters() {
        let now = Duration::from_secs(aiwf_engine::seconds_of("2026-11-18T10:00:00Z").unwrap());
        for (at, expected) in [
            ("2026-11-18T09:59:30Z", "now"),
            ("2026-11-18T09:57:00Z", "3 min"),
            ("2026-11-18T07:59:59Z", "2 h"),
            ("2026-11-13T10:00:00Z", "5 d"),
            ("2024-11-13T10:00:00Z", "2 y"),
            ("2027-01-01T00:00:00Z", "now"),
            ("", "?"),
        ] {
            assert_eq!(age(at, now), expected, "{at}");
        }
    }
}
