//! Parses replies with the recipe `change`: markers, files, and the artifact for later phases.

use std::collections::BTreeMap;

use aiwf_reply::{
    FileBlock, TaskOutcome, parse_fenced_files, parse_file_markers, parse_review_meta, parse_task_status,
    parse_verdict_tag, split_files, split_report_after, strip_thoughts,
};
use aiwf_session::{
    Artifact, Command, FileHash, Gives, NewFile, Outcome, PhaseSpec, RemovedFile, ReplyParser, Task,
    TaskStatus, TouchedFile, Verdict,
};
use aiwf_store::{WritePlan, sha256_hex};

use super::open_session::OpenSession;
use super::reply_files::path_below_code;
use super::take_reply::capped;
use crate::session::session_error::SessionError;

/// The parsed result of a phase.
#[derive(Default)]
pub(super) struct Given {
    /// The artifact for later phases.
    pub(super) text: String,
    pub(super) verdict: Option<Verdict>,
    pub(super) tasks: Vec<Task>,
    /// Code files of the iteration.
    pub(super) plan: Option<WritePlan>,
    pub(super) files: Vec<NewFile>,
    pub(super) removed: Vec<RemovedFile>,
    pub(super) edited: Vec<TouchedFile>,
    /// Oddities that need no decision.
    pub(super) notes: Vec<String>,
}

/// A parsed reply, before anything is written.
#[derive(Default)]
struct Read {
    /// The artifact for later phases.
    text: String,
    verdict: Option<Verdict>,
    tasks: Vec<Task>,
    files: Option<WritePlan>,
    /// Oddities that need no decision.
    notes: Vec<String>,
}

impl OpenSession<'_> {
    /// Writes the results of a reply. Returns `None` if it has problems, which are added to the list.
    pub(crate) fn take_artifact(
        &mut self,
        reply: &str,
        problems: &mut Vec<String>,
    ) -> Result<Option<Outcome>, SessionError> {
        let phase = self.state.phase;
        let spec = self.spec()?.clone();
        if spec.gives == Gives::Edits {
            return self.take_edits(&spec, reply, problems);
        }
        let may_write = self.setup()?.may_write_project(&self.state.flow, phase);
        let name_of = self.project_names();
        let read = read(&spec, reply, may_write, &name_of, problems);
        if !problems.is_empty() {
            return Ok(None);
        }
        let files = self.new_files(read.files.as_ref());
        let edited = if may_write { self.state.change.edited.clone() } else { Vec::new() };
        self.put_artifact(Given {
            text: read.text,
            verdict: read.verdict,
            tasks: read.tasks,
            plan: read.files,
            files,
            edited,
            notes: read.notes,
            removed: Vec::new(),
        })
        .map(Some)
    }

    /// What would be wrong with a reply; nothing is written.
    pub(super) fn problems_of_change(&self, reply: &str) -> Result<Vec<String>, SessionError> {
        let mut problems = Vec::new();
        let spec = self.spec()?.clone();
        if spec.gives == Gives::Edits {
            let changes = self.edited_by_reply(reply, false, &mut problems)?.1;
            changes.plan(&mut problems);
        } else {
            let may_write = self.setup()?.may_write_project(&self.state.flow, self.state.phase);
            read(&spec, reply, may_write, &self.project_names(), &mut problems);
        }
        Ok(capped(problems))
    }

    /// Maps the paths of a reply to project paths: models often use the path of the session's copy.
    pub(super) fn project_names(&self) -> impl Fn(&str) -> String + use<> {
        let (session, iteration) = (self.ledger.shown(""), self.state.iteration);
        let root = self.engine.settings().project_root.clone();
        move |path: &str| {
            let name = path_below_code(path, &session, iteration);
            // The project may really have a directory with this name.
            let is_projects = name != path && root.join(path).parent().is_some_and(std::path::Path::is_dir);
            if is_projects && !path.starts_with(&session) { path.to_owned() } else { name }
        }
    }

    pub(super) fn put_artifact(&mut self, given: Given) -> Result<Outcome, SessionError> {
        let name = self.spec()?.artifact_file();
        let iteration = format!("iteration-{}", self.state.iteration);
        let text = given.text.as_bytes();
        let sha256 = sha256_hex(text);
        let file = FileHash { path: name.clone(), sha256: sha256.clone() };
        let copy = FileHash { path: format!("{iteration}/{name}"), sha256 };
        let code = given.files.iter().map(|new| FileHash {
            path: format!("{iteration}/code/{}", new.path),
            sha256: new.sha256.clone(),
        });
        if given.plan.is_some() {
            self.refuse_links(&format!("{iteration}/code"))?;
            self.refuse_unexpected_files(&iteration)?;
        }
        // Announce, write, approve: repeating an interrupted command does the same again.
        let intended = [file.clone(), copy.clone()].into_iter().chain(code).collect();
        self.commit(Command::IntendOutputs { files: intended })?;
        self.ledger.keep(text)?;
        self.write(&copy.path, text)?;
        if let Some(plan) = &given.plan {
            self.ledger.keep_all(plan.files().map(|(_, content)| content))?;
            self.put_code(&iteration, plan)?;
        }
        self.write(&name, text)?;
        Ok(Outcome::Artifact(Box::new(Artifact {
            file,
            copy,
            verdict: given.verdict,
            tasks: given.tasks,
            files: given.files,
            removed: given.removed,
            edited: given.edited,
            notes: given.notes,
        })))
    }

    /// The files of an implementation, each with the hash of the version it was made from.
    fn new_files(&self, plan: Option<&WritePlan>) -> Vec<NewFile> {
        let root = &self.engine.settings().project_root;
        let seen: BTreeMap<&str, &String> =
            self.state.change.seen.iter().map(|file| (file.path.as_str(), &file.sha256)).collect();
        plan.into_iter()
            .flat_map(WritePlan::hashes)
            .map(|(path, sha256)| {
                // The version shown in the prompt counts; a file that was not shown counts as it is now.
                let shown = seen.get(path).map(|sha256| (*sha256).clone());
                let found = || aiwf_store::sha256_file(&root.join(path)).ok();
                NewFile { path: path.to_owned(), sha256, before: shown.or_else(found), executable: None }
            })
            .collect()
    }

    /// Restores an approved artifact that an interrupted command overwrote.
    pub(crate) fn undo_intended(&self) -> Result<(), SessionError> {
        for file in &self.state.intended {
            let Some(bound) = self.state.bound.get(&file.path) else { continue };
            if bound.sha256 != file.sha256
                && let Some(found) = self.ledger.sha256(&file.path)
                && let Some(approved) = self.approved_instead(&file.path, &found)
            {
                self.write(&file.path, &approved)?;
            }
        }
        Ok(())
    }

    /// The approved bytes of a file that an interrupted command overwrote.
    pub(crate) fn approved_instead(&self, path: &str, found: &str) -> Option<Vec<u8>> {
        let bound = self.state.bound.get(path)?;
        let is_intended = |file: &FileHash| file.path == path && file.sha256 == found;
        if bound.sha256 == found || !self.state.intended.iter().any(is_intended) {
            return None;
        }
        self.ledger.kept(&bound.sha256)
    }
}

fn read(
    spec: &PhaseSpec,
    reply: &str,
    may_write: bool,
    name_of: &dyn Fn(&str) -> String,
    problems: &mut Vec<String>,
) -> Read {
    // Tags inside file contents are not markers.
    let gives_files = spec.gives == Gives::Files;
    if gives_files && spec.parser == ReplyParser::FencedFiles {
        return read_fenced(reply, name_of, problems);
    }
    let (before, files) = if gives_files { split_files(reply) } else { (reply, "") };
    let are_statuses_missing = spec.reports_tasks() && parse_task_status(before).value.is_empty();
    let (files, after) = split_report_after(files, are_statuses_missing);
    // The text around the files, with line numbers unchanged.
    let report = &format!("{before}{}{after}", "\n".repeat(files.matches('\n').count()));
    let stripped = strip_thoughts(report);
    problems.extend(stripped.problems.iter().map(ToString::to_string));
    let text = format!("{}{files}{}", strip_thoughts(before).value, strip_thoughts(after).value);
    let mut read = Read { text, ..Read::default() };
    let needs_words = !gives_files || spec.reports_tasks();
    if needs_words && stripped.value.trim().is_empty() && problems.is_empty() {
        problems.push("the reply has no text".to_owned());
    }
    if !problems.is_empty() {
        return read;
    }
    if spec.gives == Gives::Verdict {
        let found: Vec<String> = if spec.parser == ReplyParser::ReviewMeta {
            let parsed = parse_review_meta(report);
            read.verdict = parsed.value.verdict.and_then(|verdict| Verdict::from_name(verdict.as_str()));
            parsed.problems.iter().map(ToString::to_string).collect()
        } else {
            let parsed = parse_verdict_tag(report);
            read.verdict = parsed.value.and_then(|verdict| Verdict::from_name(verdict.as_str()));
            parsed.problems.iter().map(ToString::to_string).collect()
        };
        // The worst of several verdicts counts and is noted; none at all is a problem.
        if read.verdict.is_some() { read.notes.extend(found) } else { problems.extend(found) }
    }
    if gives_files && !spec.reports_tasks() && (!files.is_empty() || !may_write) {
        read.files = read_files(reply, name_of, problems);
    }
    if spec.reports_tasks() {
        read.tasks = read_tasks(report, &mut read.notes, problems);
        let has_done_something = read.tasks.iter().any(|task| task.status == TaskStatus::Completed);
        if !files.is_empty() || (has_done_something && !may_write) {
            let reply = reply.strip_suffix(after).unwrap_or(reply);
            read.files = read_files(reply, name_of, problems);
        }
    }
    read
}

/// The status of each task; a report without any is a problem.
pub(super) fn read_tasks(report: &str, notes: &mut Vec<String>, problems: &mut Vec<String>) -> Vec<Task> {
    let parsed = parse_task_status(report);
    let found = parsed.problems.iter().map(ToString::to_string);
    if parsed.value.is_empty() {
        problems.extend(found);
    } else {
        notes.extend(found);
    }
    let status = |outcome: TaskOutcome| match outcome {
        TaskOutcome::Completed => TaskStatus::Completed,
        TaskOutcome::Failed => TaskStatus::Failed,
    };
    parsed.value.into_iter().map(|task| Task { id: task.id, status: status(task.status) }).collect()
}

/// Reads files from fenced code blocks.
fn read_fenced(reply: &str, name_of: &dyn Fn(&str) -> String, problems: &mut Vec<String>) -> Read {
    let parsed = parse_fenced_files(reply);
    problems.extend(parsed.problems.iter().map(ToString::to_string));
    let files = checked(parsed.value, name_of, problems);
    Read { text: strip_thoughts(reply).value, files, ..Read::default() }
}

fn checked(
    blocks: Vec<FileBlock>,
    name_of: &dyn Fn(&str) -> String,
    problems: &mut Vec<String>,
) -> Option<WritePlan> {
    let files = blocks.into_iter().map(|block| (name_of(&block.path), block.content.into_bytes()));
    match WritePlan::check(files) {
        Ok(plan) => Some(plan),
        Err(faults) => {
            problems.extend(faults.iter().map(ToString::to_string));
            None
        }
    }
}

fn read_files(
    reply: &str,
    name_of: &dyn Fn(&str) -> String,
    problems: &mut Vec<String>,
) -> Option<WritePlan> {
    let parsed = parse_file_markers(reply);
    problems.extend(parsed.problems.iter().map(ToString::to_string));
    checked(parsed.value, name_of, problems)
}

#[cfg(test)]
mod tests {
    use aiwf_session::{Flow, Phase};

    use super::*;

    fn spec(phase: &str) -> PhaseSpec {
        let flow = Flow::find_built_in(Flow::CHANGE).unwrap();
        flow.spec(Phase::from_name(phase).unwrap()).unwrap().clone()
    }

    fn check(phase: &str, reply: &str) -> (Read, Vec<String>) {
        let mut problems = Vec::new();
        let read = read(&spec(phase), reply, false, &str::to_owned, &mut problems);
        (read, problems)
    }

    #[test]
    fn the_worst_of_several_verdicts_counts_and_is_reported() {
        let (read, problems) = check("review", "<review>PASS</review>\n\n<review>NEEDS_CHANGES</review>\n");
        assert_eq!((read.verdict, problems.len()), (Some(Verdict::NeedsChanges), 0));
        assert!(read.notes[0].contains("conflict"), "{:?}", read.notes);
    }

    #[test]
    fn a_missing_marker_is_a_problem() {
        assert!(check("challenge", "looks good to me").1[0].contains("no verdict"));
        assert!(check("implement", "<<<FILE: a.rs>>>\nx\n").1[0].contains("has no text"));
        assert!(check("implement", "done\n<<<FILE: a.rs>>>\nx\n").1[0].contains("no task status"));
        assert_eq!(check("plan", "# Plan\n").1, Vec::<String>::new());
        assert!(check("plan", "<thought>hm</thought>\n").1[0].contains("has no text"));
    }

    #[test]
    fn tags_in_a_file_are_no_answer() {
        let reply = "<task_status id=\"1.1\">COMPLETED</task_status>\n<<<FILE: a.md>>>\n<task_status id=\"9.9\">FAILED</task_status>\n<thought>kept</thought>\n";
        let (read, problems) = check("implement", reply);
        assert_eq!((read.tasks.len(), problems.len()), (1, 0));
        assert!(read.text.contains("<thought>kept</thought>"));
    }

    #[test]
    fn statuses_may_follow_the_files() {
        for end in ["", "<<<END>>>\n"] {
            let reply = format!(
                "Done.\n<<<FILE: a.md>>>\nhello\n{end}\n<task_status id=\"1.1\">COMPLETED</task_status>\n"
            );
            let (read, problems) = check("implement", &reply);
            assert_eq!((read.tasks.len(), problems), (1, Vec::<String>::new()), "{reply}");
            let files: Vec<_> = read.files.iter().flat_map(WritePlan::files).collect();
            assert_eq!(files, [("a.md", b"hello\n".as_slice())]);
        }
        // Where no words stand before the files either.
        let reply = "<<<FILE: a.md>>>\nx\n<task_status id=\"1\">FAILED</task_status>";
        assert_eq!(check("implement", reply).1, Vec::<String>::new());
    }

    #[test]
    fn work_that_is_done_gives_files_unless_the_agent_edits_the_project() {
        let done = "<task_status id=\"1.1\">COMPLETED</task_status>\n";
        assert!(check("implement", done).1[0].contains("no file marker"));
        let failed = "<task_status id=\"1.1\">FAILED</task_status>\n";
        assert_eq!(check("implement", failed).1, Vec::<String>::new());
        let mut problems = Vec::new();
        read(&spec("implement"), done, true, &str::to_owned, &mut problems);
        assert_eq!(problems, Vec::<String>::new());
    }
}
