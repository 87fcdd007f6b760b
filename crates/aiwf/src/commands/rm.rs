//! `aiwf rm`: removes sessions that have ended.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use aiwf_engine::{Engine, RemovalFilter, SessionEntry};
use clap::{ArgGroup, Args};
use serde_json::json;

use super::adopt::ask;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("selection").args(["ids", "older_than"]).multiple(true)))]
pub(crate) struct RmArgs {
    /// Sessions that have ended or cannot be read: ids, unique parts of ids, names, or `latest` [default: the only one
    /// that has ended].
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Remove only sessions without activity for this long: 30d, 12h, 90m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    older_than: Option<Duration>,
    /// Remove without asking; needs an ID or `--older-than`.
    #[arg(long, requires = "selection")]
    yes: bool,
}

pub(crate) fn run(args: &RmArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let filter = RemovalFilter { typed: args.ids.clone(), older_than: args.older_than };
    let sessions = engine.sessions_to_remove(&filter)?;
    let is_removed = !sessions.is_empty() && (args.yes || ask(&shown(&sessions), "Remove them?", output));
    if is_removed {
        for session in &sessions {
            engine.remove_session(session)?;
        }
    }
    let exit = if is_removed || sessions.is_empty() { Exit::Done } else { Exit::Waiting };
    if output.is_json() {
        return output.json(json!({ "removed": is_removed, "sessions": sessions }), exit);
    }
    output::print(|out| {
        if sessions.is_empty() {
            return writeln!(out, "no session to remove");
        }
        if args.yes || !output::can_ask(output) {
            out.write_all(shown(&sessions).as_bytes())?;
        }
        let count = match sessions.len() {
            1 => "1 session".to_owned(),
            n_sessions => format!("{n_sessions} sessions"),
        };
        if is_removed {
            writeln!(out, "removed {count}")
        } else {
            writeln!(out, "nothing removed; `--yes` removes {count}")
        }
    })?;
    Ok(exit)
}

fn shown(sessions: &[SessionEntry]) -> String {
    sessions.iter().fold(String::new(), |mut text, session| {
        let (id, title) = (escaped_line(&session.id), escaped_line(&session.title));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{id}  {:10} {title}", session.status);
        text
    })
}

/// Reads a number of days, hours or minutes.
fn duration(typed: &str) -> Result<Duration, String> {
    let units = [('d', 86_400), ('h', 3_600), ('m', 60)];
    let read =
        |(unit, seconds): (char, u64)| typed.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(seconds);
    let seconds = units.into_iter().find_map(read);
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "write a number and a unit, like 30d, 12h or 90m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_days_hours_or_minutes() {
        assert_eq!(duration("30d"), Ok(Duration::from_hours(30 * 24)));
        assert_eq!(duration("12h"), Ok(Duration::from_hours(12)));
        assert_eq!(duration("0m"), Ok(Duration::ZERO));
        for wrong in ["", "30", "d", "-1d", "1w", "99999999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
