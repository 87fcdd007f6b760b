//! Parses replies that change project files, or reads the changes of an agent's worktree.
//!
//! Edits apply to the bytes that the prompt showed. Each round continues the last one, so the changes are those of the
//! whole session. The artifact is the report and one diff, which shows a reviewer every changed line.

use aiwf_reply::{Edit, parse_edits, strip_thoughts};
use aiwf_session::{Gives, Outcome, PhaseSpec, Step};

use super::change_reply::{Given, read_tasks};
use super::changes::ProjectChanges;
use super::open_session::OpenSession;
use crate::prompt::read::into_text;
use crate::session::session_error::SessionError;

impl OpenSession<'_> {
    /// Writes the results of a reply. Returns `None` if it has problems, which are added to the list.
    pub(super) fn take_edits(
        &mut self,
        spec: &PhaseSpec,
        reply: &str,
        problems: &mut Vec<String>,
    ) -> Result<Option<Outcome>, SessionError> {
        let may_write = self.setup()?.may_write_project(&self.state.flow, spec.name);
        let (report, changes) = match &self.state.changes {
            Some(file) => (reply.to_owned(), self.read_changes(file)?),
            None => self.edited_by_reply(reply, may_write, problems)?,
        };
        let stripped = strip_thoughts(&report);
        problems.extend(stripped.problems.iter().map(ToString::to_string));
        let mut given = Given::default();
        if spec.reports_tasks() {
            given.tasks = read_tasks(&stripped.value, &mut given.notes, problems);
        }
        let plan = changes.plan(problems);
        if problems.is_empty() && changes.is_empty() && !may_write {
            let who = if self.state.changes.is_some() { "agent changed" } else { "reply changes" };
            problems.push(format!("the {who} no file"));
        }
        if !problems.is_empty() {
            return Ok(None);
        }
        let diff = changes.diff(|sha256| self.ledger.kept(sha256));
        given.text = artifact_text(&stripped.value, &diff);
        given.plan = plan.filter(|plan| plan.files().next().is_some());
        (given.files, given.removed) = changes.recorded();
        if may_write {
            given.edited.clone_from(&self.state.change.edited);
        }
        self.put_artifact(given).map(Some)
    }

    /// The changes of the reply at the gate, or the last approved ones.
    pub(super) fn pending_changes(&self) -> Result<ProjectChanges, SessionError> {
        let gives_edits =
            self.state.flow.spec(self.state.phase).is_some_and(|spec| spec.gives == Gives::Edits);
        let is_reply = matches!(self.state.step, Step::ReplyReady { .. });
        if !(gives_edits && is_reply) {
            return self.approved_changes();
        }
        if let Some(file) = &self.state.changes {
            return self.read_changes(file);
        }
        let path = self.response_path()?;
        let text = into_text(self.read(&path)?, &self.ledger.file(&path))?;
        Ok(self.edited_by_reply(&text, true, &mut Vec::new())?.1)
    }

    /// The changes of a reply on top of the last round, and the text before them.
    pub(super) fn edited_by_reply(
        &self,
        reply: &str,
        may_write: bool,
        problems: &mut Vec<String>,
    ) -> Result<(String, ProjectChanges), SessionError> {
        let mut changes = self.approved_changes()?;
        let parsed = parse_edits(reply);
        // An agent that edits the project directly need not list its edits.
        if may_write && parsed.value.is_empty() {
            return Ok((reply.to_owned(), changes));
        }
        problems.extend(parsed.problems.iter().map(ToString::to_string));
        let base = |path: &str| self.shown_file(path);
        changes.edit(&parsed.value, &self.project_names(), &base, problems)?;
        changes.keep_executable_bits(&|path| self.is_executable(path));
        Ok((prose_before(reply, &parsed.value), changes))
    }
}

/// The text of a reply before its first edit.
fn prose_before(reply: &str, edits: &[Edit]) -> String {
    let Some(first) = edits.iter().map(|edit| edit.line).min() else { return reply.to_owned() };
    let mut lines: Vec<&str> = reply.lines().take(first.saturating_sub(1)).collect();
    // The fence around a diff, and the header of the diff.
    let is_frame = |line: &str| {
        line.trim_start().starts_with("```") || line.starts_with("--- ") || line.starts_with("diff --git ")
    };
    while lines.last().is_some_and(|line| line.trim().is_empty() || is_frame(line)) {
        lines.pop();
    }
    lines.join("\n")
}

/// The heading of the diff in an artifact.
pub(super) const CHANGES_HEADING: &str = "## Changes";

/// The report, then the diff in a fence that its content cannot close.
fn artifact_text(report: &str, diff: &str) -> String {
    let report = report.trim();
    if diff.is_empty() {
        return format!("{report}\n");
    }
    let longest = diff.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let separator = if report.is_empty() { "" } else { "\n\n" };
    let diff = diff.trim_end_matches('\n');
    format!("{report}{separator}{CHANGES_HEADING}\n\n{fence}diff\n{diff}\n{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_before_the_first_edit_is_the_report() {
        let check = |reply: &str| prose_before(reply, &parse_edits(reply).value);
        assert_eq!(check("Done.\n\n<<<DELETE: a.rs>>>\n"), "Done.");
        assert_eq!(check("Done.\n\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n"), "Done.");
        assert_eq!(check("nothing to do"), "nothing to do");
    }

    #[test]
    fn no_line_of_a_diff_closes_its_fence() {
        let text = artifact_text("Done.", "+````\n");
        assert_eq!(text, "Done.\n\n## Changes\n\n`````diff\n+````\n`````\n");
        assert_eq!(artifact_text(" Done. ", ""), "Done.\n");
    }
}
