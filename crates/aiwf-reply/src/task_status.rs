//! Reads the outcome of each task from `<task_status id="1.2">COMPLETED</task_status>`.
//!
//! The same places count as for a verdict: plain text only. A task with two different outcomes counts as failed and is
//! reported.

use std::collections::BTreeMap;
use std::fmt;

use crate::element::{elements, quoted_element};
use crate::findings::{Findings, excerpt, shown};
use crate::outline::Outline;
use crate::problem::Parsed;
use crate::prose::Prose;

/// A task and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStatus {
    /// The id as written, like `1.2`; never empty.
    pub id: String,
    pub status: TaskOutcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskOutcome {
    Failed,
    Completed,
}

impl TaskOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "FAILED",
            Self::Completed => "COMPLETED",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Failed, Self::Completed]
            .into_iter()
            .find(|outcome| outcome.as_str().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for TaskOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads the status of each task, in the order of first mention; a text without any is a problem.
pub fn parse_task_status(reply: &str) -> Parsed<Vec<TaskStatus>> {
    let outline = Outline::new(reply);
    let prose = Prose::new(&outline);
    let mut findings = Findings::new(reply);
    findings.extend(prose.thoughts.found);

    let elements = elements(reply, &prose.plain, "task_status");
    if elements.is_empty() {
        report_missing(reply, &mut findings);
    }
    let mut tasks: Vec<TaskStatus> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut mentions = Vec::new();
    for element in elements {
        let at = element.tag.start;
        let id = element.tag.attribute("id").unwrap_or_default();
        let status = TaskOutcome::from_name(element.content);
        if !element.is_closed && status.is_none() {
            mentions.push(at);
            continue;
        }
        if !element.is_closed {
            findings.add(at, "`<task_status>` is not closed: end it with `</task_status>`");
            // Half a tag is enough for a failure, but not for a success.
            if status == Some(TaskOutcome::Completed) {
                continue;
            }
        }
        if id.is_empty() {
            findings.add(
                at,
                "`<task_status>` has no id: write `<task_status id=\"1.2\">` with the id of the task",
            );
            continue;
        }
        let Some(status) = status else {
            let (id, status) = (excerpt(id), shown(element.content));
            findings.add(at, format!("status of task `{id}` is {status}: write `COMPLETED` or `FAILED`"));
            continue;
        };
        match places.get(id).and_then(|place| tasks.get_mut(*place)) {
            Some(task) if task.status != status => {
                task.status = TaskOutcome::Failed;
                let id = excerpt(id);
                let message = format!(
                    "task `{id}` is both `COMPLETED` and `FAILED`, so `FAILED` is used: write one status for each task"
                );
                findings.add(at, message);
            }
            Some(_) => {}
            None => {
                places.insert(id, tasks.len());
                tasks.push(TaskStatus { id: id.to_owned(), status });
            }
        }
    }
    if tasks.is_empty() {
        for at in mentions {
            findings.add(
                at,
                "`<task_status>` is not closed: write `COMPLETED` or `FAILED`, then `</task_status>`",
            );
        }
    }
    findings.finish(tasks)
}

fn report_missing(reply: &str, findings: &mut Findings<'_>) {
    match quoted_element(reply, "task_status") {
        Some(at) => findings.add(
            at,
            "this `<task_status>` does not count because it is quoted, code or a thought: write it as plain text",
        ),
        None => findings.add(
            0,
            "no task status: write `<task_status id=\"1.2\">COMPLETED</task_status>` or `FAILED` for each task",
        ),
    }
}

#[cfg(test)]
#[path = "task_status_tests.rs"]
mod tests;
