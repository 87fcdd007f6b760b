//! Words open comments and notes for prompts.
//!
//! Every quote and every text of a person stands in a fence that its content cannot close.

use std::fmt::Write as _;

use aiwf_prompt::fenced;
use aiwf_session::{Actor, CommentSubject, NewComment, PhaseSpec};

use super::comments::{CommentPlace, LineChange, Places, subject_name};
use super::open_session::{OpenSession, UNKNOWN_PERSON};
use super::versions::by_whom;
use crate::session::session_error::SessionError;

/// The longest name of a person in a prompt.
const MAX_NAME_CHARS: usize = 100;

/// What people said, for the prompt of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Remarks {
    pub(super) comments: Option<String>,
    pub(super) notes: Option<String>,
}

impl OpenSession<'_> {
    /// The open comments on what a phase reads or makes, and the notes of what it reads.
    pub(super) fn remarks(&self, spec: &PhaseSpec) -> Result<Remarks, SessionError> {
        let comments = self.state.open_comments().filter(|comment| self.is_read_by(&comment.on, spec));
        let comments: Vec<&NewComment> = comments.collect();
        let places = Places::of(self, &comments)?;
        let comments: Vec<String> =
            comments.into_iter().map(|comment| self.comment_text(comment, &places.place(comment))).collect();
        let notes = self.state.flow.phases.iter().filter(|other| spec.reads.contains(&other.name));
        let note = |other: &PhaseSpec| {
            let version = self.state.approved_version(other.name)?;
            let note = version.note.as_ref()?;
            let name = self.state.version_name(other.name, version.number);
            let by = by_name(&note.by).replacen(", by", ", approved by", 1);
            Some(format!("### {}{by}\n\n{}", one_line(&name), text_of(&note.text)))
        };
        let notes: Vec<String> = notes.filter_map(note).collect();
        let joined = |introduction: &str, parts: Vec<String>| {
            (!parts.is_empty()).then(|| format!("{introduction}\n\n{}", parts.join("\n\n")))
        };
        Ok(Remarks {
            comments: joined(
                "People commented on these lines. Make each change that a comment asks for, or say in your reply \
                 why you do not.",
                comments,
            ),
            notes: joined("People approved these artifacts with a note. Follow it.", notes),
        })
    }

    /// Whether a phase reads or makes what a comment is about.
    pub(super) fn is_read_by(&self, on: &CommentSubject, spec: &PhaseSpec) -> bool {
        match on {
            CommentSubject::Artifact { phase, .. } => *phase == spec.name || spec.reads.contains(phase),
            CommentSubject::File { .. } => {
                spec.gives.changes_files() || self.state.flow.judges_files(spec.name)
            }
        }
    }

    /// Whether the prompt of the current phase would have comments.
    pub(super) fn has_comments(&self) -> bool {
        let Ok(spec) = self.spec() else { return false };
        self.state.open_comments().any(|comment| self.is_read_by(&comment.on, spec))
    }

    fn comment_text(&self, comment: &NewComment, place: &CommentPlace) -> String {
        let was_on = subject_name(&self.state, &comment.on);
        let mut text =
            format!("### Comment {} on {}", comment.number, one_line(&heading(comment, &was_on, place)));
        text.push_str(&by_name(&comment.by));
        if !comment.quoted.is_empty() {
            let _ = write!(text, "\n\n{}", text_of(&comment.quoted));
        }
        let _ = write!(text, "\n\nThe comment:\n\n{}", text_of(&comment.text));
        text
    }
}

/// Where a comment is, in words: `plan@2, line 12`, `plan@2, line 12 (edited since plan@1)`.
fn heading(comment: &NewComment, was_on: &str, place: &CommentPlace) -> String {
    let lines = |lines: aiwf_session::LineRange| {
        if lines.first == lines.last { format!("line {lines}") } else { format!("lines {lines}") }
    };
    match (comment.lines, place.lines, place.fate) {
        (None, _, LineChange::Deleted) => format!("{was_on} (no longer part of the changes)"),
        (None, ..) => place.on.clone(),
        (Some(was), _, LineChange::Deleted) if place.on == was_on => {
            format!("{was_on}, {} (deleted)", lines(was))
        }
        (Some(was), None, _) | (Some(was), _, LineChange::Deleted) => {
            format!("{was_on}, {} (deleted in {})", lines(was), place.on)
        }
        (Some(_), Some(now), LineChange::Unchanged) => format!("{}, {}", place.on, lines(now)),
        (Some(_), Some(now), LineChange::Edited) if place.on == was_on => {
            format!("{}, {} (edited since)", place.on, lines(now))
        }
        (Some(_), Some(now), LineChange::Edited) => {
            format!("{}, {} (edited since {was_on})", place.on, lines(now))
        }
    }
}

fn text_of(text: &str) -> String {
    fenced("text", text)
}

/// `, by ann`; empty if nobody knows the name.
fn by_name(actor: &Actor) -> String {
    let (name, _) = by_whom(actor);
    if name == UNKNOWN_PERSON {
        return String::new();
    }
    format!(", by {}", one_line(&name.chars().take(MAX_NAME_CHARS).collect::<String>()))
}

/// A name on one line: what a journal calls somebody or something cannot begin a line of its own.
fn one_line(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}
