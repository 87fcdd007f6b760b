//! What a person looks at before deciding: the files of a change with their bytes, a prompt with the owner of every
//! byte, what arrives right now. Reads only.

use std::collections::BTreeMap;

use aiwf_config::Flags;
use aiwf_profile::PhaseValue;
use aiwf_prompt::{Metadata, OwnedText, SectionReport};
use aiwf_reply::{parse_fenced_files, parse_file_markers};
use aiwf_session::{Gives, LeftOut, Phase, PhaseRecipe, State, Step, Total};
use aiwf_store::{WritePlan, sha256_hex};

use super::apply::read_target;
use super::files::iterations_with_code;
use super::journal;
use super::open_session::OpenSession;
use super::reply_files::path_below_code;
use super::take_reply::capped;
use crate::Engine;
use crate::ask::providers::{self, load_config};
use crate::ledger::{Candidates, Scope, SessionLedger, SessionRef, resolve};
use crate::session::session_error::SessionError;
use crate::trust::LedgerKind;

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChangeKind {
    Added,
    Changed,
    Deleted,
    Renamed,
}

/// The change of one file with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the project, or to `code/` for a profile's code.
    pub path: String,
    pub kind: FileChangeKind,
    /// The old path of a renamed file.
    pub from: Option<String>,
    /// `None` if there was no file, or its bytes are not known.
    pub before: Option<Vec<u8>>,
    /// `None` if the file is deleted.
    pub after: Option<Vec<u8>>,
    /// Executable bit after; `None` if unchanged.
    pub executable: Option<bool>,
    /// The tool that runs it automatically, if any.
    pub run_by: Option<&'static str>,
    /// Whether the project's own file changed since, so that an apply must merge or refuse.
    pub is_outdated: bool,
}

/// The current prompt, section by section.
#[derive(Debug)]
pub struct PromptAnatomy {
    pub sections: Vec<SectionReport>,
    pub metadata: Metadata,
    /// The texts in the order they are sent.
    pub texts: Vec<OwnedText>,
    pub left_out: Vec<LeftOut>,
}

/// The end of what arrives during a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveText {
    /// Relative to the session.
    pub path: String,
    pub n_bytes: u64,
    /// The last part of it, from the start of a line if possible.
    pub tail: String,
}

/// Where a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPlace {
    pub id: String,
    pub kind: LedgerKind,
    /// Relative to the project.
    pub directory: String,
}

/// What a list shows of a session beside its entry.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionGlance {
    pub provider: Option<String>,
    pub total: Total,
    /// Whether an aiwf process works on it now.
    pub is_busy: bool,
}

/// The default of `max_reply_bytes`.
const MAX_REPLY_BYTES: u64 = 32 * 1024 * 1024;
/// The number of calls of one phase whose partial replies are looked for.
const MAX_PARTIAL: u32 = 200;

impl Engine {
    /// The files that the reply at the gate changes, or those of the last approved round.
    pub fn file_changes<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<Vec<FileChange>, SessionError> {
        let session = OpenSession::open_read_only(self, journal::find_any(self.settings(), given)?)?;
        let changes = session.project_changes()?;
        if !changes.is_empty() {
            return Ok(changes);
        }
        session.code_changes()
    }

    /// Whether the reply at the gate is files or edits, and not a text to read.
    pub fn reply_gives_files<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<bool, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let journal = ledger.journal()?;
        let state = State::fold(journal.lines().iter().map(|line| &line.event));
        let given_form = state.flow.spec(state.phase).map(|spec| spec.gives);
        Ok(matches!(state.step, Step::ReplyReady { .. })
            && matches!(given_form, Some(Gives::Files | Gives::Edits)))
    }

    /// The current prompt as it is built now, with the owner of every byte.
    pub fn prompt_anatomy<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<PromptAnatomy, SessionError> {
        let mut session = OpenSession::open_read_only(self, journal::find(self.settings(), given)?)?;
        let (phase, iteration) = match session.state.step {
            Step::PromptWanted { phase, iteration } => (phase, iteration),
            Step::NotCreated
            | Step::PromptReady
            | Step::AskWanted
            | Step::Asked { .. }
            | Step::AskFailed { .. }
            | Step::ReplyReady { .. }
            | Step::ChecksWanted
            | Step::Paused(_)
            | Step::Ended => (session.state.phase, session.state.iteration),
        };
        if phase.is_final() {
            return Err(SessionError::NoPrompt { phase });
        }
        let flag = session.prompt_flag();
        let mut built = session.build_prompt(phase, iteration, flag)?;
        let metadata = built.metadata();
        Ok(PromptAnatomy {
            sections: built.prompt.sections(),
            texts: built.prompt.owned(),
            left_out: built.left_out.clone(),
            metadata,
        })
    }

    /// Bytes that a session stored, by their hash; `None` if it has none that are whole.
    pub fn stored_bytes<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        sha256: &str,
    ) -> Result<Option<Vec<u8>>, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(if is_hash { ledger.kept(sha256) } else { None })
    }

    /// The end of the reply that is arriving; `None` if nothing is being asked.
    pub fn live_text<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        max_bytes: usize,
    ) -> Result<Option<LiveText>, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        if !ledger.is_locked() {
            return Ok(None);
        }
        let session = OpenSession::open_read_only(self, ledger)?;
        session.newest_partial(max_bytes)
    }

    /// A session in the list of all: who works in its phase, and what it cost so far.
    pub fn session_glance<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<SessionGlance, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let journal = ledger.journal()?;
        let state = State::fold(journal.lines().iter().map(|line| &line.event));
        let provider = (!state.phase.is_final()).then(|| state.provider(state.phase).to_owned());
        Ok(SessionGlance { provider, total: state.total(), is_busy: ledger.is_locked() })
    }

    /// How long the journal of a session or run is, in bytes; it only grows.
    pub fn journal_bytes(&self, id: &str) -> Option<u64> {
        resolve(self.settings(), Some(id), Scope::Any, Candidates::All).ok()?.n_journal_bytes()
    }

    /// The largest reply that any configured provider may give.
    pub fn max_reply_bytes(&self) -> u64 {
        let Ok(config) = load_config(self.settings(), &Flags::default()) else { return MAX_REPLY_BYTES };
        let sizes = config.providers.keys().map(|name| providers::setting(name, &config).max_reply_bytes);
        sizes.chain([MAX_REPLY_BYTES]).max().unwrap_or(MAX_REPLY_BYTES)
    }

    /// What would be wrong with a reply to the current prompt; stores nothing.
    pub fn reply_problems<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        reply: &str,
    ) -> Result<Vec<String>, SessionError> {
        let mut session = OpenSession::open_read_only(self, journal::find(self.settings(), given)?)?;
        if session.spec()?.recipe == PhaseRecipe::Change {
            return session.problems_of_change(reply);
        }
        let phase = session.profile_phase(session.state.phase)?;
        let read = session.profile()?.read(phase, reply);
        let mut problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
        match read.value {
            PhaseValue::Files(blocks) => {
                let (place, iteration) = (session.ledger.shown(""), session.state.iteration);
                let files = blocks.into_iter().map(|block| {
                    (path_below_code(&block.path, &place, iteration), block.content.into_bytes())
                });
                let faults = WritePlan::check(files).err().unwrap_or_default();
                problems.extend(faults.iter().map(ToString::to_string));
            }
            PhaseValue::Review(review) if review.verdict.is_none() && problems.is_empty() => {
                problems.push("the review gives no verdict".to_owned());
            }
            PhaseValue::Plan(_) | PhaseValue::Review(_) => {}
        }
        Ok(capped(problems))
    }

    /// Where a session or run is, by its id or what else names it.
    pub fn session_place(&self, which: &str) -> Result<SessionPlace, SessionError> {
        let ledger = resolve(self.settings(), Some(which), Scope::Any, Candidates::All)?;
        Ok(SessionPlace {
            kind: ledger.kind(),
            directory: ledger.shown("").trim_end_matches('/').to_owned(),
            id: ledger.id,
        })
    }

    /// Whether an aiwf process is working on a session.
    pub fn is_session_busy<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<bool, SessionError> {
        Ok(journal::find_any(self.settings(), given)?.is_locked())
    }
}

impl OpenSession<'_> {
    fn project_changes(&self) -> Result<Vec<FileChange>, SessionError> {
        let changes = self.pending_changes()?;
        let before = |sha256: &Option<String>| sha256.as_deref().and_then(|sha256| self.ledger.kept(sha256));
        let mut files: BTreeMap<String, FileChange> = BTreeMap::new();
        let mut renamed = Vec::new();
        for (path, file) in changes.iter() {
            if let Some(to) = &file.renamed_to {
                renamed.push((path.to_owned(), to.clone(), before(&file.before)));
                continue;
            }
            let kind = match (&file.before, &file.content) {
                (None, _) => FileChangeKind::Added,
                (Some(_), Some(_)) => FileChangeKind::Changed,
                (Some(_), None) => FileChangeKind::Deleted,
            };
            files.insert(
                path.to_owned(),
                FileChange {
                    path: path.to_owned(),
                    kind,
                    from: None,
                    before: before(&file.before),
                    after: file.content.clone(),
                    executable: file.executable,
                    run_by: aiwf_store::run_by(path),
                    is_outdated: self.is_outdated(path, file.before.as_deref(), file.content.as_deref()),
                },
            );
        }
        for (from, to, before) in renamed {
            if let Some(file) = files.get_mut(&to) {
                (file.kind, file.from, file.before) = (FileChangeKind::Renamed, Some(from), before);
            }
        }
        Ok(files.into_values().collect())
    }

    /// Whether the project has neither the bytes that a change was made from nor those that it gives.
    fn is_outdated(&self, path: &str, made_from: Option<&str>, content: Option<&[u8]>) -> bool {
        if self.state.is_applied || self.state.phase == Phase::CANCELLED {
            return false;
        }
        let base = self.base(None);
        // What cannot be read is reported by the apply itself.
        let Ok(found) = read_target(&base, path, &base.join(path)) else { return false };
        found.as_deref() != content && found.as_deref().map(sha256_hex).as_deref() != made_from
    }

    /// The files of a profile's code: those of the reply at the gate, or of the last round, against the round before.
    fn code_changes(&self) -> Result<Vec<FileChange>, SessionError> {
        let rounds = iterations_with_code(&self.state);
        let spec = self.state.flow.spec(self.state.phase);
        let gives_files = spec.is_some_and(|spec| spec.gives == Gives::Files);
        let (old, new) = if gives_files && matches!(self.state.step, Step::ReplyReady { .. }) {
            let old = rounds.last().map(|round| self.code(*round)).transpose()?.unwrap_or_default();
            let mut new = old.clone();
            new.extend(self.files_of_reply()?);
            (old, new)
        } else {
            let Some(last) = rounds.last() else { return Ok(Vec::new()) };
            let before = rounds.iter().rev().nth(1).map(|round| self.code(*round)).transpose()?;
            (before.unwrap_or_default(), self.code(*last)?)
        };
        let change = |(path, content): (&String, &Vec<u8>)| {
            let before = old.get(path);
            (before != Some(content)).then(|| FileChange {
                path: path.clone(),
                kind: if before.is_some() { FileChangeKind::Changed } else { FileChangeKind::Added },
                from: None,
                before: before.cloned(),
                after: Some(content.clone()),
                executable: None,
                run_by: aiwf_store::run_by(path),
                is_outdated: false,
            })
        };
        Ok(new.iter().filter_map(change).collect())
    }

    /// The files of the reply at the gate, in either syntax, by path below `code/`.
    fn files_of_reply(&self) -> Result<BTreeMap<String, Vec<u8>>, SessionError> {
        let path = self.response_path()?;
        let Some(reply) = self.ledger.read_text(&path)? else { return Ok(BTreeMap::new()) };
        let marked = parse_file_markers(&reply).value;
        let blocks = if marked.is_empty() { parse_fenced_files(&reply).value } else { marked };
        let below = |path: &str| path_below_code(path, &self.ledger.shown(""), self.state.iteration);
        Ok(blocks.into_iter().map(|block| (below(&block.path), block.content.into_bytes())).collect())
    }

    fn newest_partial(&self, max_bytes: usize) -> Result<Option<LiveText>, SessionError> {
        let Ok(spec) = self.spec() else { return Ok(None) };
        let stem = format!("iteration-{}/{}-response", self.state.iteration, spec.file);
        let names = (1..=MAX_PARTIAL).map(|number| format!("{stem}.partial-{number}.md"));
        let newest = names.take_while(|name| self.ledger.is_file(name)).last();
        let Some(path) = newest else { return Ok(None) };
        tail(&self.ledger, path, max_bytes)
    }
}

fn tail(ledger: &SessionLedger, path: String, max_bytes: usize) -> Result<Option<LiveText>, SessionError> {
    let Some(bytes) = ledger.read(&path)? else { return Ok(None) };
    let start = bytes.len().saturating_sub(max_bytes);
    let end = bytes.get(start..).unwrap_or_default();
    let from_line = match end.iter().position(|byte| *byte == b'\n') {
        Some(line_end) if start > 0 => end.get(line_end + 1..).unwrap_or_default(),
        _ => end,
    };
    let tail = String::from_utf8_lossy(from_line).into_owned();
    Ok(Some(LiveText { path, n_bytes: bytes.len() as u64, tail }))
}
