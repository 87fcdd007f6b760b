//! Rejects journal events with invalid values.
//!
//! In: the state before an event, and the event. Out: the first invalid value. A journal can come with a checkout, and
//! its hash chain proves only that its author could compute hashes. So every path, number, hash and name in it is
//! checked like any other input before it is used.

use crate::call::Call;
use crate::change::{Agent, Artifact, ChangeSetup};
use crate::comment::{CommentSubject, MAX_COMMENTS, MAX_QUOTE_BYTES, MAX_REMARK_BYTES, NewComment};
use crate::event::{Event, FileHash, Outcome};
use crate::setup::{Approver, Setup};
use crate::state::State;

/// The longest path that a journal names.
const MAX_PATH_BYTES: usize = 4_096;
/// The longest name of a provider, profile or template.
const MAX_NAME_BYTES: usize = 255;
/// Files of the engine at the top of a session that no event names.
const ENGINE_FILES: [&str; 4] = ["journal.jsonl", "session.json", ".lock", "objects"];

/// What is wrong with an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventFault {
    /// A path that leaves the session or the project, or names a file of the engine.
    #[error("it names the path `{}`, which {problem}", path.escape_debug())]
    Path { path: String, problem: &'static str },
    /// An invalid hash.
    #[error("`{}` is not a SHA-256", sha256.escape_debug())]
    Hash { sha256: String },
    /// An invalid name.
    #[error("`{}` is not a valid name", name.escape_debug())]
    Name { name: String },
    /// An invalid flow.
    #[error("its flow has a problem: {}", problem.escape_debug())]
    Flow { problem: String },
    /// An iteration out of sequence.
    #[error("it is about iteration {found}, and the session is in iteration {expected}")]
    Iteration {
        found: u32,
        /// What the lines before it say.
        expected: u32,
    },
    /// A comment, a note or a version that cannot follow the lines before it.
    #[error("it has {what}")]
    Remark { what: &'static str },
}

type Checked = Result<(), EventFault>;

impl State {
    /// Returns why an event cannot follow this state; `None` if it can be folded.
    pub fn fault(&self, event: &Event) -> Option<EventFault> {
        self.check(event).err()
    }

    fn check(&self, event: &Event) -> Checked {
        match event {
            Event::SessionCreated { setup } => check_setup(setup),
            Event::PromptWritten { iteration, prompt, system_prompt, seen, .. } => {
                // Iterations are consecutive, so an absurd number is detected however large it is.
                if *iteration != self.iteration {
                    return Err(EventFault::Iteration { found: *iteration, expected: self.iteration });
                }
                // A person may name files anywhere for a prompt to show. They are only compared.
                seen.iter().try_for_each(|file| hash(&file.sha256))?;
                files(std::iter::once(prompt).chain(system_prompt))
            }
            Event::PromptApproved { files: approved, .. } => files(approved),
            Event::PromptRejected { kept, .. }
            | Event::ResponseRejected { kept, .. }
            | Event::Retried { kept, .. } => files(kept),
            Event::GateAsked { provider, payload_sha256, .. } => {
                name(provider)?;
                hash(payload_sha256)
            }
            Event::PromptSent { provider, payload_sha256, parts, .. } => {
                name(provider)?;
                hash(payload_sha256)?;
                parts.iter().flat_map(|parts| parts.hashes()).try_for_each(|sha256| hash(sha256))
            }
            Event::ToolCalled(used) => hash(&used.sha256),
            Event::AskedAgain { provider, payload_sha256, call, parts, .. } => {
                name(provider)?;
                hash(payload_sha256)?;
                parts.iter().flat_map(|parts| parts.hashes()).try_for_each(|sha256| hash(sha256))?;
                check_call(call)
            }
            Event::ReplyReceived { response, call, changes } => {
                file(response)?;
                files(changes)?;
                call.as_deref().map_or(Ok(()), check_call)
            }
            Event::AskFailed { call, .. } => call.as_deref().map_or(Ok(()), check_call),
            Event::ReplyRefused { response, .. } => file(response),
            Event::OutputsIntended { files: intended } => files(intended),
            Event::ResponseApproved { response, outcome, note, .. } => {
                file(response)?;
                note.iter().try_for_each(|note| remark(note))?;
                match outcome {
                    Outcome::Plan { plan } => file(plan),
                    Outcome::Code { files: code } => files(code),
                    Outcome::Artifact(artifact) => check_artifact(artifact),
                    Outcome::Pass | Outcome::Fail => Ok(()),
                }
            }
            Event::GateAnswered { reply, call } => {
                files(reply)?;
                call.as_deref().map_or(Ok(()), check_call)
            }
            Event::GateUndecided { provider, .. } => name(provider),
            Event::AgentChosen { agent, .. } => check_agent(agent),
            Event::Rebound { files: bound, .. } => files(bound),
            Event::Revised { phase, reason, .. } => {
                if self.approved_version(*phase).is_none() {
                    return Err(EventFault::Remark { what: "a phase that gave nothing to reopen" });
                }
                remark(reason)
            }
            Event::CommentAdded(comment) => self.check_comment(comment),
            Event::CommentResolved { number, .. } | Event::CommentRemoved { number, .. } => {
                if self.comments.contains_key(number) {
                    return Ok(());
                }
                Err(EventFault::Remark { what: "the number of a comment that does not exist" })
            }
            Event::CheckRan(result) => {
                check_name(&result.name)?;
                file(&result.output)
            }
            Event::ChecksHeld { names } => names.iter().try_for_each(|text| check_name(text)),
            Event::Committed(commit) => commit_id(&commit.id),
            Event::ApplyIntended { files, .. } => files.iter().try_for_each(|file| {
                target(&file.target)?;
                file.before.iter().try_for_each(|sha256| hash(sha256))?;
                file.after.iter().try_for_each(|sha256| hash(sha256))
            }),
            Event::FilesAdded { patterns, .. } => patterns.iter().try_for_each(|text| pattern(text)),
            Event::BudgetReached { .. }
            | Event::BudgetRaised
            | Event::CapRaised { .. }
            | Event::ChecksFinished
            | Event::SentBack { .. }
            | Event::PromptWithdrawn { .. }
            | Event::Accepted { .. }
            | Event::InstructionsAdded { .. }
            | Event::WriteAllowed
            | Event::GatesOpened { .. }
            | Event::Reopened { .. }
            | Event::Cancelled { .. }
            | Event::Applied
            | Event::ApplyUndone => Ok(()),
        }
    }

    fn check_comment(&self, comment: &NewComment) -> Checked {
        let faulty = |what: &'static str| Err(EventFault::Remark { what });
        if comment.number != self.n_comments.saturating_add(1) || comment.number > MAX_COMMENTS {
            return faulty("a comment with a number out of sequence");
        }
        if comment.lines.is_some_and(|lines| lines.first == 0 || lines.first > lines.last) {
            return faulty("a comment on lines that no text has");
        }
        if comment.quoted.len() > MAX_QUOTE_BYTES {
            return faulty("a comment whose quote is too long");
        }
        match &comment.on {
            CommentSubject::Artifact { phase, version } => {
                let is_known = self.versions_of(*phase).iter().any(|known| known.number == *version);
                if !is_known {
                    return faulty("a comment on a version that does not exist");
                }
            }
            CommentSubject::File { path } => project_path(path)?,
        }
        hash(&comment.sha256)?;
        remark(&comment.text)
    }
}

/// A text of a person.
fn remark(text: &str) -> Checked {
    if text.trim().is_empty() || text.len() > MAX_REMARK_BYTES {
        return Err(EventFault::Remark { what: "a text of a person that is empty or too long" });
    }
    Ok(())
}

impl Call {
    /// Returns what is invalid in a call; `None` if it can be folded.
    pub fn fault(&self) -> Option<EventFault> {
        check_call(self).err()
    }
}

fn check_setup(setup: &Setup) -> Checked {
    name(&setup.session_id)?;
    setup.name.iter().try_for_each(|text| session_name(text))?;
    if let Some(flow) = &setup.flow {
        name(&flow.name)?;
        if let Some(problem) = flow.problems().into_iter().next() {
            return Err(EventFault::Flow { problem: problem.message.chars().take(200).collect() });
        }
    }
    // A session that began with a request has no profile.
    if !setup.profile.is_empty() {
        name(&setup.profile)?;
    }
    setup.roles.values().try_for_each(|provider| name(provider))?;
    setup.agents.values().try_for_each(check_agent)?;
    for gate in setup.gates.values() {
        if let Approver::Ai(provider) = &gate.approver {
            name(provider)?;
        }
    }
    files(setup.standards.iter().chain(&setup.inputs))?;
    setup.change.as_deref().map_or(Ok(()), check_change)
}

fn check_change(change: &ChangeSetup) -> Checked {
    let patterns = change.files.iter().chain(change.phase_files.values().flatten());
    patterns.chain(&change.project_files).try_for_each(|text| pattern(text))?;
    change.agents.values().try_for_each(check_agent)
}

fn check_agent(agent: &Agent) -> Checked {
    name(&agent.provider)?;
    agent.template.iter().try_for_each(|template| name(template))
}

fn check_artifact(artifact: &Artifact) -> Checked {
    files([&artifact.file, &artifact.copy])?;
    for new in &artifact.files {
        project_path(&new.path)?;
        hash(&new.sha256)?;
        new.before.iter().try_for_each(|sha256| hash(sha256))?;
    }
    for removed in &artifact.removed {
        project_path(&removed.path)?;
        removed.renamed_to.iter().try_for_each(|path| project_path(path))?;
        removed.before.iter().try_for_each(|sha256| hash(sha256))?;
    }
    artifact.edited.iter().try_for_each(|file| inside(&file.path, "leaves the project"))
}

fn check_call(call: &Call) -> Checked {
    files(&call.kept)?;
    call.touched.iter().try_for_each(|file| inside(&file.path, "leaves the project"))
}

fn files<'a>(files: impl IntoIterator<Item = &'a FileHash>) -> Checked {
    files.into_iter().try_for_each(file)
}

/// A file of the session that is not one of the engine's own.
fn file(file: &FileHash) -> Checked {
    inside(&file.path, "leaves the session")?;
    let first = file.path.split('/').next().unwrap_or_default();
    if ENGINE_FILES.iter().any(|name| first.eq_ignore_ascii_case(name)) {
        return Err(fault(&file.path, "is a file of the engine itself"));
    }
    hash(&file.sha256)
}

/// A file of the project, or an absolute path typed on a command line.
fn target(path: &str) -> Checked {
    match path.strip_prefix('/') {
        Some(below_root) => inside(below_root, "is not a plain path"),
        None => project_path(path),
    }
}

fn project_path(path: &str) -> Checked {
    inside(path, "leaves the project")?;
    let is_protected = |part: &str| part.eq_ignore_ascii_case(".git") || part.eq_ignore_ascii_case(".aiwf");
    if path.split('/').any(is_protected) {
        return Err(fault(path, "is in `.git` or `.aiwf`"));
    }
    Ok(())
}

fn inside(path: &str, problem: &'static str) -> Checked {
    if path.len() > MAX_PATH_BYTES {
        return Err(fault(path.get(..64).unwrap_or_default(), "is too long"));
    }
    if path.contains('\0') || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(fault(path, problem));
    }
    Ok(())
}

/// A file pattern. A pattern that the user typed may lead out of the project; that is checked when files are read.
fn pattern(text: &str) -> Checked {
    if text.len() > MAX_PATH_BYTES {
        return Err(fault(text.get(..64).unwrap_or_default(), "is too long"));
    }
    if text.is_empty() || text.contains('\0') {
        return Err(fault(text, "names no file"));
    }
    Ok(())
}

fn fault(path: &str, problem: &'static str) -> EventFault {
    EventFault::Path { path: path.to_owned(), problem }
}

/// The name of a check. For a check typed as a command, that is the command.
fn check_name(text: &str) -> Checked {
    let is_fine = !text.is_empty() && text.len() <= MAX_NAME_BYTES && !text.chars().any(char::is_control);
    if is_fine { Ok(()) } else { Err(EventFault::Name { name: text.chars().take(80).collect() }) }
}

/// A full git commit id.
fn commit_id(id: &str) -> Checked {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if matches!(id.len(), 40 | 64) && id.bytes().all(is_hex) {
        return Ok(());
    }
    Err(EventFault::Hash { sha256: id.chars().take(80).collect() })
}

fn hash(sha256: &str) -> Checked {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if sha256.len() == 64 && sha256.bytes().all(is_hex) {
        return Ok(());
    }
    Err(EventFault::Hash { sha256: sha256.chars().take(80).collect() })
}

/// A session name: one word that needs no quoting in a shell.
fn session_name(text: &str) -> Checked {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_fine = !text.is_empty()
        && text.len() <= 64
        && text.chars().all(is_plain)
        && !text.starts_with(['.', '-'])
        && !text.eq_ignore_ascii_case("latest");
    if is_fine { Ok(()) } else { Err(EventFault::Name { name: text.chars().take(80).collect() }) }
}

/// A single path component that is safe to print on a terminal.
fn name(name: &str) -> Checked {
    let is_fine = !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && !matches!(name, "." | "..")
        && !name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\'));
    if is_fine { Ok(()) } else { Err(EventFault::Name { name: name.chars().take(80).collect() }) }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
