//! Comments on lines of an artifact or of a file that the session changes.
//!
//! A comment belongs to one version and stores the lines it quotes. Where these lines are in later versions is derived
//! when somebody looks ([`crate::follow_through`]), and never stored.

use serde::{Deserialize, Serialize};

use crate::event::Actor;
use crate::follow::LineRange;
use crate::phase::Phase;
use crate::refusal::Refusal;
use crate::state::State;

/// The most comments of a session, those that were removed included.
pub(crate) const MAX_COMMENTS: u32 = 1_000;
/// The longest text of a comment, a note or a reason.
pub const MAX_REMARK_BYTES: usize = 8_192;
/// The longest quote; the rest of a longer one is left out.
pub const MAX_QUOTE_BYTES: usize = 4_096;

/// What a comment is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommentSubject {
    Artifact {
        phase: Phase,
        version: u32,
    },
    /// A file that the session changes.
    File {
        /// Relative to the project, or to the code of a profile session.
        path: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewComment {
    /// Starts at 1 in each session.
    pub number: u32,
    pub by: Actor,
    pub on: CommentSubject,
    /// The text that was commented on; its bytes are stored by this hash.
    pub sha256: String,
    /// `None` for a comment on the whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// These lines, cut to a readable size.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quoted: String,
    pub text: String,
}

/// How a comment was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    Resolved,
    /// It asks for nothing that will be done.
    Dismissed,
}

impl Resolution {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::Dismissed => "dismissed",
        }
    }
}

/// A comment, and how it was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub new: NewComment,
    /// `None` while it is open.
    pub resolution: Option<(Resolution, Actor)>,
}

impl State {
    /// The comments that nobody settled, in the order they were made.
    pub fn open_comments(&self) -> impl Iterator<Item = &NewComment> {
        self.comments.values().filter(|comment| comment.resolution.is_none()).map(|comment| &comment.new)
    }

    /// Whether a person may comment here, and the number of the next comment.
    pub(crate) fn next_comment(&self, text: &str) -> Result<u32, Refusal> {
        check_remark(text)?;
        let number = self.n_comments.saturating_add(1);
        if number > MAX_COMMENTS {
            return Err(Refusal::TooManyComments { max: MAX_COMMENTS });
        }
        Ok(number)
    }

    /// Refuses a number that no open comment has.
    pub(crate) fn check_open_comment(&self, number: u32) -> Result<(), Refusal> {
        match self.comments.get(&number) {
            Some(Comment { resolution: Some((resolution, _)), .. }) => {
                Err(Refusal::CommentSettled { number, resolution: *resolution })
            }
            Some(_) => Ok(()),
            None => Err(self.no_comment(number)),
        }
    }

    pub(crate) fn no_comment(&self, number: u32) -> Refusal {
        Refusal::NoComment { number, known: self.comments.keys().copied().take(20).collect() }
    }
}

/// Refuses an empty or overlong text of a person.
pub(crate) fn check_remark(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::EmptyRemark);
    }
    if text.len() > MAX_REMARK_BYTES {
        return Err(Refusal::LongRemark { n_bytes: text.len(), max: MAX_REMARK_BYTES });
    }
    Ok(())
}

/// The lines that a comment stores, cut at a line or a character if they are too long.
pub fn quote(text: &str, lines: LineRange) -> Option<String> {
    let quoted = lines.of(text)?;
    if quoted.len() <= MAX_QUOTE_BYTES {
        return Some(quoted);
    }
    let end = (0..=MAX_QUOTE_BYTES - 4).rev().find(|end| quoted.is_char_boundary(*end)).unwrap_or(0);
    Some(format!("{}…", quoted.get(..end).unwrap_or_default()))
}
