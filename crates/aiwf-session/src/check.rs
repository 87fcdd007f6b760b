//! What no line of a journal may say, whoever wrote it.
//!
//! In: the state before an event, and the event. Out: the first fact that is wrong with it. A journal can come with a
//! checkout, and a chain of hashes only proves that its author could count. So every path, number, hash and name in it
//! is checked like any other input, before anything is read or written by it.

use crate::call::Call;
use crate::change::{Agent, Artifact, ChangeSetup};
use crate::event::{Event, FileHash, Outcome};
use crate::setup::{Approver, Setup};
use crate::state::State;

/// The longest path that a journal names.
const MAX_PATH_BYTES: usize = 4_096;
/// The longest name of a provider, profile or template.
const MAX_NAME_BYTES: usize = 255;
/// What the engine keeps at the top of a session beside the files that events name.
const ENGINE_FILES: [&str; 4] = ["journal.jsonl", "session.json", ".lock", "objects"];

/// What is wrong with an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventFault {
    /// A path that leaves the session or the project, or names a file of the engine.
    #[error("it names the path `{}`, which {problem}", path.escape_debug())]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A hash that is none.
    #[error("it gives `{}` as a SHA-256", sha256.escape_debug())]
    Hash {
        /// What it gives.
        sha256: String,
    },
    /// A name that cannot be one.
    #[error("it gives `{}` as a name", name.escape_debug())]
    Name {
        /// What it gives.
        name: String,
    },
    /// A flow that cannot be followed.
    #[error("its flow has a problem: {}", problem.escape_debug())]
    Flow {
        /// What is wrong with it.
        problem: String,
    },
    /// An iteration that does not follow.
    #[error("it is about iteration {found}, and the session is in iteration {expected}")]
    Iteration {
        /// What it says.
        found: u32,
        /// What the lines before it say.
        expected: u32,
    },
}

type Checked = Result<(), EventFault>;

impl State {
    /// What is wrong with an event that follows; nothing when it can be folded.
    pub fn fault(&self, event: &Event) -> Option<EventFault> {
        self.check(event).err()
    }

    fn check(&self, event: &Event) -> Checked {
        match event {
            Event::SessionCreated { setup } => check_setup(setup),
            Event::PromptWritten { iteration, prompt, system_prompt, seen, .. } => {
                // Iterations follow each other, so an absurd one is noticed however large it may be.
                if *iteration != self.iteration {
                    return Err(EventFault::Iteration { found: *iteration, expected: self.iteration });
                }
                // What a prompt shows can be anywhere a person has named, and is only compared.
                seen.iter().try_for_each(|file| hash(&file.sha256))?;
                files(std::iter::once(prompt).chain(system_prompt))
            }
            Event::PromptApproved { files: approved, .. } => files(approved),
            Event::PromptRejected { kept, .. }
            | Event::ResponseRejected { kept, .. }
            | Event::Retried { kept, .. } => files(kept),
            Event::PromptSent { provider, payload_sha256, .. }
            | Event::GateAsked { provider, payload_sha256, .. } => {
                name(provider)?;
                hash(payload_sha256)
            }
            Event::ToolCalled(used) => hash(&used.sha256),
            Event::AskedAgain { provider, payload_sha256, call, .. } => {
                name(provider)?;
                hash(payload_sha256)?;
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
            Event::ResponseApproved { response, outcome, .. } => {
                file(response)?;
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
}

impl Call {
    /// What is wrong with a call that a journal reports; nothing when it can be folded.
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

/// A file of the project, or an absolute path that somebody named on a command line.
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

/// A pattern of files. It may lead out of the project, for the user who typed it; whoever reads the files decides.
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

/// The name of a check: of one that was typed, its command.
fn check_name(text: &str) -> Checked {
    let is_fine = !text.is_empty() && text.len() <= MAX_NAME_BYTES && !text.chars().any(char::is_control);
    if is_fine { Ok(()) } else { Err(EventFault::Name { name: text.chars().take(80).collect() }) }
}

/// A commit's id, as git prints it in full.
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

/// What a user can call a session: a word that can be typed as it is.
fn session_name(text: &str) -> Checked {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_fine = !text.is_empty()
        && text.len() <= 64
        && text.chars().all(is_plain)
        && !text.starts_with(['.', '-'])
        && !text.eq_ignore_ascii_case("latest");
    if is_fine { Ok(()) } else { Err(EventFault::Name { name: text.chars().take(80).collect() }) }
}

/// A name that is one part of a path, and that a terminal can show.
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
