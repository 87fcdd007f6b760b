//! Comments and versions, as pages show them: a version by name with its comments where their lines are now.

use aiwf_engine::machine::VersionName;
use aiwf_engine::{CommentFilter, CommentReport, CommentState, Engine, LineChange, VersionReport};
use serde::Serialize;

use crate::words::{Refusal, in_address, minute, sha256_hex};

/// A comment with its place.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Remark {
    pub(crate) number: u32,
    /// What it was made on: `plan@1:3-4`.
    on: String,
    href: String,
    text: String,
    quoted: String,
    by: String,
    at: String,
    is_open: bool,
    state: &'static str,
    settled_by: Option<String>,
    /// Where its lines are now, if that is somewhere else.
    now: Option<String>,
}

impl Remark {
    fn of(id: &str, report: &CommentReport) -> Self {
        let lines = |lines: &Option<aiwf_engine::machine::LineRange>| {
            lines.as_ref().map(|lines| format!(":{lines}")).unwrap_or_default()
        };
        let on = format!("{}{}", report.on, lines(&report.lines));
        let now = match report.now.fate {
            LineChange::Deleted => Some(format!("its lines were deleted in {}", report.now.on)),
            LineChange::Edited => Some(format!("edited in {}{}", report.now.on, lines(&report.now.lines))),
            LineChange::Unchanged => Some(format!("now {}{}", report.now.on, lines(&report.now.lines))),
        };
        let first = report.lines.as_ref().map(|lines| format!("#L{}", lines.first)).unwrap_or_default();
        Self {
            number: report.number,
            href: format!("/s/{}/v/{}{first}", in_address(id), in_address(&report.on)),
            now: now.filter(|_| report.now.on != report.on || report.now.fate != LineChange::Unchanged),
            on,
            text: report.text.clone(),
            quoted: report.quoted.clone(),
            by: report.by.clone(),
            at: minute(&report.at),
            is_open: report.state == CommentState::Open,
            state: report.state.as_str(),
            settled_by: report.settled_by.clone(),
        }
    }
}

/// The comments of a session, in whatever version they were made.
#[derive(Debug)]
pub(crate) struct Remarks<'i> {
    id: &'i str,
    reports: Vec<CommentReport>,
}

impl<'i> Remarks<'i> {
    pub(crate) fn of(engine: &Engine, id: &'i str) -> Self {
        Self { id, reports: engine.comments(Some(id), CommentFilter::All).unwrap_or_default() }
    }

    pub(crate) fn all(&self) -> Vec<Remark> {
        self.reports.iter().map(|report| Remark::of(self.id, report)).collect()
    }

    /// Those on one text, by the line where they are now; 0 for all of it.
    pub(crate) fn on(&self, on: &str) -> Vec<(usize, Remark)> {
        let line_of = |report: &CommentReport| {
            let lines = if report.on == on { report.lines } else { report.now.lines };
            let is_here = report.on == on || report.now.on == on;
            is_here.then(|| lines.and_then(|lines| usize::try_from(lines.last).ok()).unwrap_or(0))
        };
        let here = self.reports.iter().filter_map(|report| Some((line_of(report)?, report)));
        here.map(|(line, report)| (line, Remark::of(self.id, report))).collect()
    }
}

/// A version in a switch.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Choice {
    pub(crate) name: String,
    href: String,
    outcome: String,
    is_here: bool,
    /// The page with the difference to the version before.
    diff: Option<String>,
}

pub(crate) fn choices(id: &str, versions: &[VersionReport], here: &str) -> Vec<Choice> {
    let artifact = VersionName::parse(here).artifact;
    let of_artifact = versions.iter().filter(|version| version.artifact == artifact);
    of_artifact
        .map(|version| {
            let href = format!("/s/{}/v/{}", in_address(id), in_address(&version.name));
            Choice {
                diff: (version.version > 1).then(|| format!("{href}?diff=1")),
                href,
                outcome: serde_json::to_value(version.outcome)
                    .ok()
                    .and_then(|outcome| Some(outcome.as_str()?.replace('-', " ")))
                    .unwrap_or_default(),
                is_here: version.name == here,
                name: version.name.clone(),
            }
        })
        .collect()
}

/// Refuses a comment on a text that is not the one on the screen.
pub(crate) fn refuse_moved(engine: &Engine, id: &str, on: &str, shown: &str) -> Result<(), Refusal> {
    let moved = || crate::decide::moved(&format!("`{on}`"));
    if let Ok((_, text)) = engine.version_text(Some(id), &VersionName::parse(on)) {
        return if sha256_hex(text.as_bytes()) == shown { Ok(()) } else { Err(moved()) };
    }
    let files = engine.file_changes(Some(id))?;
    let after = files.iter().find(|file| file.path == on).and_then(|file| file.after.as_deref());
    let text = after.map(String::from_utf8_lossy).ok_or_else(moved)?;
    if sha256_hex(text.as_bytes()) == shown { Ok(()) } else { Err(moved()) }
}
