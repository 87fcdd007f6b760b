//! Reads the block that ends a review:
//!
//! ```text
//! @@@REVIEW_META
//! verdict: FAIL
//! issues_total: 3
//! issues_critical: 1
//! missing_inputs: 0
//! @@@
//! ```
//!
//! A block in plain text counts. Models often put it into a code fence, so one in a fence counts if there is none
//! outside. One in a `>` quote or in a thought never counts.

use std::fmt;
use std::ops::Range;

use crate::findings::{Findings, shown};
use crate::line::{Line, covers};
use crate::outline::Outline;
use crate::problem::Parsed;
use crate::prose::Prose;

const HEADER: &str = "@@@REVIEW_META";
const FOOTER: &str = "@@@";

/// The metadata of a review; a field is `None` if the block has no valid value for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReviewMeta {
    pub verdict: Option<MetaVerdict>,
    pub issues_total: Option<u32>,
    /// Number of critical issues.
    pub issues_critical: Option<u32>,
    /// Number of inputs that the reviewer was missing.
    pub missing_inputs: Option<u32>,
}

/// The verdict of a review block, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MetaVerdict {
    /// The code must be revised.
    Fail,
    /// The code is good.
    Pass,
}

impl MetaVerdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "FAIL",
            Self::Pass => "PASS",
        }
    }
}

impl fmt::Display for MetaVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads the `@@@REVIEW_META` block of a review.
///
/// Case is ignored and the keys may be in any order; other keys and lines without a colon are ignored. If there are
/// several blocks, or a key occurs twice, the worst value is used and the repetition reported.
pub fn parse_review_meta(reply: &str) -> Parsed<ReviewMeta> {
    let outline = Outline::new(reply);
    let prose = Prose::new(&outline);
    let mut findings = Findings::new(reply);
    findings.extend(prose.thoughts.found);

    let hidden = &prose.thoughts.ranges;
    let plain: Vec<_> =
        outline.prose.iter().flat_map(|lines| headers(&outline, lines.clone(), hidden)).collect();
    let blocks: Vec<Range<usize>> = if plain.is_empty() {
        let fences = outline.fences.iter();
        fences
            .flat_map(|fence| {
                let headers = headers(&outline, fence.body.clone(), hidden);
                headers.into_iter().map(|header| header..fence.body.end).collect::<Vec<_>>()
            })
            .collect()
    } else {
        plain.into_iter().map(|header| header..outline.lines.len()).collect()
    };

    // A block ends where the next one starts, so that many unclosed blocks are each read once.
    let ends = blocks.iter().skip(1).map(|next| next.start).chain([outline.lines.len()]);
    let mut meta = ReviewMeta::default();
    for (block, end) in blocks.iter().zip(ends) {
        let lines = outline.lines_at(block.start..block.end.min(end));
        meta = meta.worst(read_block(lines, hidden, &mut findings));
    }
    let at = |block: &Range<usize>| outline.lines.get(block.start).map_or(0, Line::content_start);
    if let Some(second) = blocks.get(1) {
        let n_blocks = blocks.len();
        let message = format!(
            "{n_blocks} `{HEADER}` blocks instead of one, so the worst of each value is used: write one block"
        );
        findings.add(at(second), message);
    }
    match (blocks.first(), quoted_header(&outline)) {
        (Some(first), _) => check_counts(meta, at(first), &mut findings),
        (None, Some(quoted)) => findings.add(
            quoted,
            format!("this `{HEADER}` block does not count because it is quoted or a thought: write it as plain text"),
        ),
        (None, None) => findings.add(
            0,
            format!(
                "no `{HEADER}` block: write a line `{HEADER}`, then `verdict`, `issues_total`, `issues_critical` and \
                 `missing_inputs`, then a line `{FOOTER}`"
            ),
        ),
    }
    findings.finish(meta)
}

impl ReviewMeta {
    /// The worse value of each field.
    fn worst(self, other: Self) -> Self {
        Self {
            verdict: [self.verdict, other.verdict].into_iter().flatten().min(),
            issues_total: self.issues_total.max(other.issues_total),
            issues_critical: self.issues_critical.max(other.issues_critical),
            missing_inputs: self.missing_inputs.max(other.missing_inputs),
        }
    }
}

/// The lines in a range that start a block outside of thoughts.
fn headers(outline: &Outline<'_>, range: Range<usize>, hidden: &[Range<usize>]) -> Vec<usize> {
    let lines = outline.lines_at(range.clone());
    range
        .zip(lines)
        .filter(|(_, line)| {
            line.trimmed().eq_ignore_ascii_case(HEADER) && !covers(hidden, line.content_start())
        })
        .map(|(idx, _)| idx)
        .collect()
}

/// Finds the header of a block that is quoted or part of a thought.
fn quoted_header(outline: &Outline<'_>) -> Option<usize> {
    let is_header = |line: &&Line<'_>| line.text.trim_matches(['>', ' ', '\t']).eq_ignore_ascii_case(HEADER);
    outline.lines.iter().find(is_header).map(Line::content_start)
}

/// Reads a block from its lines, the first of which is the header.
fn read_block(lines: &[Line<'_>], hidden: &[Range<usize>], findings: &mut Findings<'_>) -> ReviewMeta {
    let mut meta = ReviewMeta::default();
    let Some((header, body)) = lines.split_first() else { return meta };
    let header_at = header.content_start();
    let footer = body.iter().position(|line| line.trimmed() == FOOTER);
    if footer.is_none() {
        findings.add(header_at, format!("`{HEADER}` block is not closed: end it with a line `{FOOTER}`"));
    }
    let mut missing = Key::ALL.to_vec();
    for line in body.iter().take(footer.unwrap_or(body.len())) {
        let Some((key, value)) = key_and_value(line.trimmed()) else { continue };
        let at = line.content_start();
        if covers(hidden, at) {
            continue;
        }
        match key.read(value) {
            Ok(one) => meta = meta.worst(one),
            Err(message) => findings.add(at, message),
        }
        if missing.contains(&key) {
            missing.retain(|other| *other != key);
        } else {
            let name = key.as_str();
            findings
                .add(at, format!("`{name}` occurs again, so the worst value is used: write each key once"));
        }
    }
    for key in missing {
        let (name, allowed) = (key.as_str(), key.allowed());
        let example = if key == Key::Verdict { "FAIL" } else { "0" };
        let message =
            format!("`{HEADER}` block has no `{name}`: add a line like `{name}: {example}`, with {allowed}");
        findings.add(header_at, message);
    }
    meta
}

/// Reads `key: value`, which may be a list item.
fn key_and_value(line: &str) -> Option<(Key, &str)> {
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    let (key, value) = line.split_once(':')?;
    Some((Key::from_name(key.trim())?, value.trim()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Verdict,
    IssuesTotal,
    IssuesCritical,
    MissingInputs,
}

impl Key {
    const ALL: [Self; 4] = [Self::Verdict, Self::IssuesTotal, Self::IssuesCritical, Self::MissingInputs];

    fn as_str(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::IssuesTotal => "issues_total",
            Self::IssuesCritical => "issues_critical",
            Self::MissingInputs => "missing_inputs",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.as_str().eq_ignore_ascii_case(name))
    }

    fn allowed(self) -> &'static str {
        match self {
            Self::Verdict => "`PASS` or `FAIL`",
            Self::IssuesTotal | Self::IssuesCritical | Self::MissingInputs => "a whole number, 0 or more",
        }
    }

    /// Reads a value into the field of this key; the error is the message of the problem.
    fn read(self, value: &str) -> Result<ReviewMeta, String> {
        let verdict = [MetaVerdict::Fail, MetaVerdict::Pass]
            .into_iter()
            .find(|verdict| verdict.as_str().eq_ignore_ascii_case(value));
        let number = Some(value).filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
        let number: Option<u32> = number.and_then(|value| value.parse().ok());
        let empty = ReviewMeta::default();
        let (is_good, meta) = match self {
            Self::Verdict => (verdict.is_some(), ReviewMeta { verdict, ..empty }),
            Self::IssuesTotal => (number.is_some(), ReviewMeta { issues_total: number, ..empty }),
            Self::IssuesCritical => (number.is_some(), ReviewMeta { issues_critical: number, ..empty }),
            Self::MissingInputs => (number.is_some(), ReviewMeta { missing_inputs: number, ..empty }),
        };
        let (name, value, allowed) = (self.as_str(), shown(value), self.allowed());
        if is_good { Ok(meta) } else { Err(format!("`{name}` is {value}: write {allowed}")) }
    }
}

/// Reports contradictory values.
fn check_counts(meta: ReviewMeta, at: usize, findings: &mut Findings<'_>) {
    let critical = meta.issues_critical.unwrap_or_default();
    if meta.verdict == Some(MetaVerdict::Pass) && critical > 0 {
        let message = format!(
            "`verdict` is `PASS` but `issues_critical` is {critical}: write `FAIL`, or 0 critical issues"
        );
        findings.add(at, message);
    }
    if let Some(total) = meta.issues_total.filter(|total| *total < critical) {
        let message = format!(
            "`issues_critical` is {critical} but `issues_total` is {total}: count critical issues in both"
        );
        findings.add(at, message);
    }
}

#[cfg(test)]
#[path = "review_meta_tests.rs"]
mod tests;
