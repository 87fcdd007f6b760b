//! The phases of a session that a profile defines prompts for, and the parsers of their replies.

use aiwf_reply::{
    FileBlock, MetaVerdict, Problem, Verdict, parse_fenced_files, parse_file_markers, parse_review_meta,
    parse_verdict_tag,
};

/// A phase that asks a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Writes a plan.
    Planning,
    /// Writes the code of the approved plan.
    Generating,
    /// Reviews the code.
    Reviewing,
    /// Fixes the code after a review.
    Revising,
}

impl Phase {
    /// All phases, in the order of a session.
    pub const ALL: [Self; 4] = [Self::Planning, Self::Generating, Self::Reviewing, Self::Revising];

    /// The phase of a role: `planner`, `generator`, `reviewer` or `reviser`.
    pub fn of_role(role: &str) -> Option<Self> {
        match role {
            "planner" => Some(Self::Planning),
            "generator" => Some(Self::Generating),
            "reviewer" => Some(Self::Reviewing),
            "reviser" => Some(Self::Revising),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Generating => "generating",
            Self::Reviewing => "reviewing",
            Self::Revising => "revising",
        }
    }

    /// The parsers that can read the reply of this phase.
    pub(crate) fn parsers(self) -> &'static [ReplyParser] {
        match self {
            Self::Planning => &[ReplyParser::Plain],
            Self::Generating | Self::Revising => {
                &[ReplyParser::FileMarkers, ReplyParser::FencedFiles, ReplyParser::Edits]
            }
            Self::Reviewing => &[ReplyParser::ReviewMeta, ReplyParser::VerdictTag],
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A parser that a phase may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyParser {
    /// The reply is the plan; a blank one is a problem.
    Plain,
    /// `<<<FILE: name>>>`
    FileMarkers,
    /// Code fences that name their file.
    FencedFiles,
    /// Edits, new files, deletions and renames of the project's files. The engine reads them: it knows the files.
    Edits,
    ReviewMeta,
    /// `<review>…</review>`
    VerdictTag,
}

impl ReplyParser {
    /// The name, like `file-markers`.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::FileMarkers => "file-markers",
            Self::FencedFiles => "fenced-files",
            Self::Edits => "edits",
            Self::ReviewMeta => "review-meta",
            Self::VerdictTag => "verdict-tag",
        }
    }

    /// Reads a reply; the flag tells whether the parser found what it looks for.
    fn read(self, reply: &str) -> (PhaseReply, Found) {
        match self {
            Self::Plain => plan(reply),
            Self::FileMarkers | Self::Edits => files(self, parse_file_markers(reply)),
            Self::FencedFiles => {
                let mut parsed = parse_fenced_files(reply);
                for file in &mut parsed.value {
                    file.content = dedented(&file.content);
                }
                files(self, parsed)
            }
            Self::ReviewMeta => {
                let parsed = parse_review_meta(reply);
                let meta = parsed.value;
                let review = Review {
                    verdict: meta.verdict.map(|verdict| match verdict {
                        MetaVerdict::Pass => ReviewVerdict::Pass,
                        MetaVerdict::Fail => ReviewVerdict::Fail,
                    }),
                    issues_total: meta.issues_total,
                    issues_critical: meta.issues_critical,
                    missing_inputs: meta.missing_inputs,
                };
                verdict(self, review, parsed.problems)
            }
            Self::VerdictTag => {
                let parsed = parse_verdict_tag(reply);
                let found = parsed.value.map(|verdict| match verdict {
                    Verdict::Pass => ReviewVerdict::Pass,
                    Verdict::Rejected
                    | Verdict::MajorIssues
                    | Verdict::NeedsChanges
                    | Verdict::NeedsRevision => ReviewVerdict::Fail,
                });
                verdict(self, Review { verdict: found, ..Review::default() }, parsed.problems)
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Something,
    Nothing,
}

/// The parsed reply of a phase, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseReply {
    pub value: PhaseValue,
    /// Problems in the order of the text; a reply with problems must not be used.
    pub problems: Vec<Problem>,
    pub parser: ReplyParser,
}

/// The content of a reply, by the kind of phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PhaseValue {
    /// The plan, byte for byte as in the reply.
    Plan(String),
    /// The files that the reply wants to write; their paths are not validated here.
    Files(Vec<FileBlock>),
    Review(Review),
}

/// The metadata of a review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// Whether the code passed; `None` if the review does not say.
    pub verdict: Option<ReviewVerdict>,
    /// Number of issues, if the parser can tell.
    pub issues_total: Option<u32>,
    /// Number of critical issues.
    pub issues_critical: Option<u32>,
    /// Number of inputs that the reviewer was missing.
    pub missing_inputs: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewVerdict {
    Pass,
    Fail,
}

/// Reads a reply with the first parser that finds something, otherwise with the first one.
pub(crate) fn read_reply(parsers: &[ReplyParser], reply: &str) -> PhaseReply {
    let mut first = None;
    for parser in parsers {
        let (read, found) = parser.read(reply);
        if found == Found::Something {
            return read;
        }
        first.get_or_insert(read);
    }
    // Invariant: a loaded profile names at least one parser per phase.
    first.unwrap_or_else(|| plan(reply).0)
}

fn plan(reply: &str) -> (PhaseReply, Found) {
    let is_blank = reply.trim().is_empty();
    let message = "the plan is empty: write the plan as text".to_owned();
    let problems = if is_blank { vec![Problem { line: 1, column: 1, message }] } else { Vec::new() };
    let value = PhaseValue::Plan(reply.to_owned());
    let found = if is_blank { Found::Nothing } else { Found::Something };
    (PhaseReply { value, problems, parser: ReplyParser::Plain }, found)
}

fn files(parser: ReplyParser, parsed: aiwf_reply::Parsed<Vec<FileBlock>>) -> (PhaseReply, Found) {
    let found = if parsed.value.is_empty() { Found::Nothing } else { Found::Something };
    let value = PhaseValue::Files(parsed.value);
    (PhaseReply { value, problems: parsed.problems, parser }, found)
}

/// Removes the leading white space that all lines share, if it is at least four spaces or a tab.
///
/// The marker parser does so itself; the fence parser keeps content as it is.
fn dedented(content: &str) -> String {
    let lines = || content.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines().next() else { return content.to_owned() };
    let first_indent = first.len() - first.trim_start_matches([' ', '\t']).len();
    let mut shared = first.get(..first_indent).unwrap_or_default();
    for line in lines() {
        let length = shared.bytes().zip(line.bytes()).take_while(|(a, b)| a == b).count();
        shared = shared.get(..length).unwrap_or_default();
    }
    if !shared.starts_with("    ") && !shared.starts_with('\t') {
        return content.to_owned();
    }
    content
        .split_inclusive('\n')
        .map(|line| line.strip_prefix(shared).unwrap_or(line.trim_start_matches([' ', '\t'])))
        .collect()
}

fn verdict(parser: ReplyParser, review: Review, problems: Vec<Problem>) -> (PhaseReply, Found) {
    let found = if review == Review::default() { Found::Nothing } else { Found::Something };
    (PhaseReply { value: PhaseValue::Review(review), problems, parser }, found)
}

#[cfg(test)]
#[path = "phase_tests.rs"]
mod tests;
