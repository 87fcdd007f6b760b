//! `aiwf comment`: comments on lines of an artifact or of a changed file.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};

use aiwf_engine::machine::{LineRange, Resolution, VersionName};
use aiwf_engine::prompt::nearest;
use aiwf_engine::{
    CommentFilter, CommentReport, CommentState, CommentTarget, Commented, Engine, LineChange, Purpose,
    read_stdin,
};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::call_args::TrustArgs;
use crate::escape::escaped_line;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::gate_dialogue::without_comments;
use crate::output::{self, Output};
use crate::typed_path::from_project;
use crate::usage_error::UsageError;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CommentArgs {
    #[command(subcommand)]
    action: Option<CommentAction>,
    /// Session id, unique prefix or suffix, name, or `latest` [default: the only one that qualifies].
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Artifact or changed file, with lines: plan, plan:12, plan@1:12-14, src/list.rs:7.
    #[arg(value_name = "PLACE")]
    place: Option<String>,
    /// Comment [default: stdin, or your editor on a terminal].
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    #[command(flatten)]
    trust: TrustArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CommentAction {
    /// List comments with where their lines are now.
    #[command(after_help = "Example: aiwf comment list latest --open")]
    List {
        /// Session id, unique prefix or suffix, name, or `latest` [default: the only one that qualifies].
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// List only open comments.
        #[arg(long)]
        open: bool,
    },
    /// Mark a comment as resolved.
    #[command(after_help = "Example: aiwf comment resolve latest 2 --dismiss")]
    Resolve {
        /// Session id, unique prefix or suffix, name, or `latest` [default: the only one that qualifies].
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// Number of the comment.
        #[arg(value_name = "N")]
        number: Option<String>,
        /// Dismiss it instead: nothing will be done about it.
        #[arg(long)]
        dismiss: bool,
        #[command(flatten)]
        trust: TrustArgs,
    },
    /// Remove a comment.
    #[command(after_help = "Example: aiwf comment rm latest 2")]
    Rm {
        /// Session id, unique prefix or suffix, name, or `latest` [default: the only one that qualifies].
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// Number of the comment.
        #[arg(value_name = "N")]
        number: Option<String>,
        #[command(flatten)]
        trust: TrustArgs,
    },
}

impl CommentArgs {
    pub(crate) fn name(&self) -> &'static str {
        match self.action {
            None => "comment",
            Some(CommentAction::List { .. }) => "comment list",
            Some(CommentAction::Resolve { .. }) => "comment resolve",
            Some(CommentAction::Rm { .. }) => "comment rm",
        }
    }

    /// Whether it changes the session.
    pub(crate) fn acts(&self) -> bool {
        !matches!(self.action, Some(CommentAction::List { .. }))
    }
}

pub(super) fn run(args: &CommentArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    match &args.action {
        None => add(args, &args.trust.engine(engine.clone()), output),
        Some(CommentAction::List { id, open }) => list(id.as_deref(), *open, engine, output),
        Some(CommentAction::Resolve { id, number, dismiss, trust }) => {
            let (id, number) = numbered(id.as_deref(), number.as_deref(), "resolve")?;
            let how = if *dismiss { Resolution::Dismissed } else { Resolution::Resolved };
            let done = trust.engine(engine.clone()).resolve_comment(id, number, how)?;
            let verb = if *dismiss { "dismissed" } else { "resolved" };
            commented(&done, &format!("comment {number} {verb}"), output)
        }
        Some(CommentAction::Rm { id, number, trust }) => {
            let (id, number) = numbered(id.as_deref(), number.as_deref(), "rm")?;
            let done = trust.engine(engine.clone()).remove_comment(id, number)?;
            commented(&done, &format!("comment {number} removed"), output)
        }
    }
}

/// The number of a comment is the last word; a session may stand before it.
fn numbered<'a>(
    id: Option<&'a str>,
    number: Option<&'a str>,
    action: &str,
) -> Result<(Option<&'a str>, u32), UsageError> {
    let (id, number) = if number.is_none() { (None, id) } else { (id, number) };
    let given = number.ok_or_else(|| UsageError::Missing {
        missing: vec!["<N>".to_owned()],
        command: format!("aiwf comment {action}"),
        takes_input: false,
        example: Some(format!("aiwf comment {action} 2")),
    })?;
    let number = given.parse().map_err(|_not_a_number| UsageError::UnfitValue {
        flag: "<N>".to_owned(),
        value: given.to_owned(),
        reason: "expected the number of a comment, such as 2".to_owned(),
        command: "aiwf comment".to_owned(),
    })?;
    Ok((id, number))
}

fn add(args: &CommentArgs, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    refuse_misspelt(args, engine)?;
    let (id, place, text) = words(args, engine)?;
    let mut target = CommentTarget::parse(&place)?;
    target.on.artifact = from_place(&target.on, engine);
    let text = match text {
        Some(text) if text != "-" => text,
        None if std::io::stdin().is_terminal() => {
            without_comments(&engine.edit_text("comment.md", COMMENT_TEMPLATE)?)
        }
        _ => read_stdin()?,
    };
    let done = engine.add_comment(id.as_deref(), &target, &text)?;
    let said = format!("comment {} on {}", done.comment.number, placed(&done.comment));
    commented(&done, &said, output)
}

/// One word that is close to a command and names nothing to comment on is a spelling mistake.
fn refuse_misspelt(args: &CommentArgs, engine: &Engine) -> Result<(), UsageError> {
    const KNOWN: [&str; 3] = ["list", "resolve", "rm"];
    let (Some(word), None) = (&args.id, &args.place) else { return Ok(()) };
    let is_name = word.chars().all(char::is_alphabetic);
    let Some(close) = nearest(word, KNOWN).filter(|_| is_name) else { return Ok(()) };
    let is_place = || {
        let versions = engine.session_versions(None::<&str>).unwrap_or_default();
        versions.iter().any(|version| version.artifact == *word)
            || engine.settings().current_dir.join(word).exists()
    };
    if is_place() {
        return Ok(());
    }
    Err(UsageError::UnknownArgument {
        given: word.clone(),
        near: Some(format!("aiwf comment {close}")),
        command: "aiwf comment".to_owned(),
    })
}

/// What an editor shows for a new comment.
pub(crate) const COMMENT_TEMPLATE: &str =
    "\n# What should change here? Lines that start with `#` are ignored.\n";

/// A path is typed from the current directory; an artifact is a name without one.
fn from_place(on: &VersionName, engine: &Engine) -> String {
    let is_name = !on.artifact.contains(['/', '.']);
    if is_name { on.artifact.clone() } else { from_project(&on.artifact, engine.settings()) }
}

/// The words of a comment. A session may stand before the place, and a text after it.
fn words(
    args: &CommentArgs,
    engine: &Engine,
) -> Result<(Option<String>, String, Option<String>), UsageError> {
    match (args.id.clone(), args.place.clone(), args.text.clone()) {
        (None, ..) => Err(UsageError::Missing {
            missing: vec!["<PLACE>".to_owned()],
            command: "aiwf comment".to_owned(),
            takes_input: false,
            example: Some("aiwf comment plan:12 'Why a new table?'".to_owned()),
        }),
        (Some(place), None, _) => Ok((None, place, None)),
        (id, Some(place), Some(text)) => Ok((id, place, Some(text))),
        (Some(first), Some(second), None) => {
            let is_place = CommentTarget::parse(&first)
                .is_ok_and(|target| target.lines.is_some() || target.on.version.is_some());
            let is_session = || engine.resolve_session(Some(&first), Purpose::Look).is_ok();
            if !is_place && is_session() {
                Ok((Some(first), second, None))
            } else {
                Ok((None, first, Some(second)))
            }
        }
    }
}

fn commented(done: &Commented, said: &str, output: &Output<'_>) -> Result<Exit, Failure> {
    if output.is_json() {
        let value = json!({ "comment": done.comment, "prompt_rewritten": done.is_prompt_rewritten });
        return output.json(value, Exit::Done);
    }
    output::print(|out| {
        writeln!(out, "{}", escaped_line(said))?;
        out.write_all(quoted(&done.comment.quoted).as_bytes())
    })?;
    if done.is_prompt_rewritten {
        output::note("rebuilt the waiting prompt\n");
    }
    Ok(Exit::Done)
}

fn list(id: Option<&str>, is_open: bool, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let filter = if is_open { CommentFilter::Open } else { CommentFilter::All };
    let comments = engine.comments(id, filter)?;
    if output.is_json() {
        return output.json(json!({ "comments": comments }), Exit::Done);
    }
    output::print(|out| {
        if comments.is_empty() {
            return writeln!(out, "{}", if is_open { "no open comments" } else { "no comments" });
        }
        for (index, comment) in comments.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            out.write_all(shown(comment).as_bytes())?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// A comment as people read it.
pub(crate) fn shown(comment: &CommentReport) -> String {
    let state = match (comment.state, &comment.settled_by) {
        (CommentState::Open, _) | (_, None) => comment.state.as_str().to_owned(),
        (_, Some(by)) => format!("{} by {by}", comment.state.as_str()),
    };
    let mut text = format!("{:>3}  {}\n", comment.number, escaped_line(&placed(comment)));
    // Writing to a string does not fail.
    let _ = writeln!(text, "     {}, {}, {}", escaped_line(&comment.by), comment.at, escaped_line(&state));
    text.push_str(&quoted(&comment.quoted));
    for line in comment.text.lines() {
        let _ = writeln!(text, "     {}", escaped_line(line));
    }
    text
}

fn quoted(quoted: &str) -> String {
    quoted.lines().fold(String::new(), |mut text, line| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "   > {}", escaped_line(line));
        text
    })
}

/// Where a comment is: `plan@1, line 12; now plan@2, line 14 (edited)`.
fn placed(comment: &CommentReport) -> String {
    let was = with_lines(&comment.on, comment.lines);
    let now = &comment.now;
    let is_same = now.on == comment.on && now.lines == comment.lines && now.fate == LineChange::Unchanged;
    match now.fate {
        _ if is_same => was,
        LineChange::Unchanged => format!("{was}; now {}", with_lines(&now.on, now.lines)),
        LineChange::Edited => format!("{was}; now {} (edited)", with_lines(&now.on, now.lines)),
        LineChange::Deleted if now.on == comment.on => format!("{was} (deleted)"),
        LineChange::Deleted => format!("{was}; deleted in {}", now.on),
    }
}

fn with_lines(on: &str, lines: Option<LineRange>) -> String {
    match lines {
        None => on.to_owned(),
        Some(lines) if lines.first == lines.last => format!("{on}, line {lines}"),
        Some(lines) => format!("{on}, lines {lines}"),
    }
}
