//! Comments: added, listed with where their lines are now, settled, and removed.
//!
//! The surfaces word them; `comment_text` words them for prompts.

use std::collections::BTreeMap;

use aiwf_session::{
    Command, Comment, CommentSubject, Event, LineMap, LineRange, NewComment, Place, Resolution, State, Step,
    Surface, VersionName, VersionOutcome, quote,
};
use aiwf_store::{Line, sha256_hex};
use serde::Serialize;

use super::changes::ProjectChanges;
use super::files::{newest_code, plain};
use super::journal;
use super::open_session::OpenSession;
use super::versions::{by_whom, find_version, lossy, version_bytes};
use crate::Engine;
use crate::ledger::{SessionLedger, SessionRef};
use crate::session::session_error::SessionError;

/// What a person comments on: `plan`, `plan:12`, `plan@1:12-14`, `src/list.rs:7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentTarget {
    pub on: VersionName,
    /// `None` for all of it.
    pub lines: Option<LineRange>,
}

impl CommentTarget {
    pub fn parse(text: &str) -> Result<Self, SessionError> {
        let is_range = |lines: &str| {
            lines.starts_with(|c: char| c.is_ascii_digit())
                && lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        };
        match text.rsplit_once(':').filter(|(on, lines)| !on.is_empty() && is_range(lines)) {
            Some((on, lines)) => {
                let range = LineRange::parse(lines);
                let range = range.ok_or_else(|| SessionError::NotLines { given: lines.to_owned() })?;
                Ok(Self { on: VersionName::parse(on), lines: Some(range) })
            }
            None => Ok(Self { on: VersionName::parse(text), lines: None }),
        }
    }
}

/// Which comments are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentFilter {
    All,
    Open,
}

/// A comment with where its lines are now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommentReport {
    pub number: u32,
    /// The version or the file: `plan@1`, `src/list.rs`.
    pub on: String,
    /// `None` for a comment on all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub quoted: String,
    pub text: String,
    pub by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<Surface>,
    pub at: String,
    /// Where it is now.
    pub now: CommentPlace,
    pub state: CommentState,
    /// Who settled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<String>,
}

/// Where a comment is in the newest version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommentPlace {
    /// `plan@2`.
    pub on: String,
    /// `None` for a comment on all of it, or if the lines are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    pub fate: LineChange,
}

/// What became of the lines of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineChange {
    Unchanged,
    Edited,
    Deleted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommentState {
    Open,
    Resolved,
    Dismissed,
}

impl CommentState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Resolved => "resolved",
            Self::Dismissed => "dismissed",
        }
    }
}

/// A comment that was added or settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commented {
    pub comment: CommentReport,
    /// Whether the prompt at the gate was written again because of it.
    pub is_prompt_rewritten: bool,
}

impl Engine {
    /// Adds a comment to lines of an artifact, or of a file that the session changes.
    pub fn add_comment<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        target: &CommentTarget,
        text: &str,
    ) -> Result<Commented, SessionError> {
        let mut session = OpenSession::open(self, journal::find_any(self.settings(), given)?)?;
        let (on, bytes) = session.subject(&target.on)?;
        let shown = lossy(&bytes);
        let quoted = match target.lines {
            Some(lines) => quote(&shown, lines).ok_or_else(|| SessionError::NoSuchLines {
                id: session.ledger.label().to_owned(),
                shown: session.shown_as(&on, &bytes),
                on: target.on.artifact.clone(),
                lines: lines.to_string(),
                n_lines: shown.lines().count(),
            })?,
            None => String::new(),
        };
        let by = session.person();
        let sha256 = session.ledger.keep(&bytes)?;
        let text = text.trim().to_owned();
        session.commit(Command::Comment { by, on, sha256, lines: target.lines, quoted, text })?;
        let number = session.state.comments.keys().copied().last().unwrap_or_default();
        session.commented(number)
    }

    /// The comments of a session with where their lines are now. Changes nothing.
    pub fn comments<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        filter: CommentFilter,
    ) -> Result<Vec<CommentReport>, SessionError> {
        let session = OpenSession::open_read_only(self, journal::find_any(self.settings(), given)?)?;
        let mut reports = session.comment_reports()?;
        reports.retain(|report| filter == CommentFilter::All || report.state == CommentState::Open);
        Ok(reports)
    }

    pub fn resolve_comment<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        number: u32,
        how: Resolution,
    ) -> Result<Commented, SessionError> {
        let mut session = OpenSession::open(self, journal::find_any(self.settings(), given)?)?;
        let by = session.person();
        session.commit(Command::ResolveComment { by, number, how })?;
        session.commented(number)
    }

    /// Removes a comment; the journal keeps it. Returns it as it was.
    pub fn remove_comment<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        number: u32,
    ) -> Result<Commented, SessionError> {
        let mut session = OpenSession::open(self, journal::find_any(self.settings(), given)?)?;
        let by = session.person();
        let removed = session.comment_reports()?.into_iter().find(|report| report.number == number);
        let on = session.state.comments.get(&number).map(|comment| comment.new.on.clone());
        session.commit(Command::RemoveComment { by, number })?;
        let is_prompt_rewritten = on.is_some_and(|on| session.rewrite_for_comment(&on));
        let lost = || SessionError::NothingApproved { path: format!("comment {number}") };
        Ok(Commented { comment: removed.ok_or_else(lost)?, is_prompt_rewritten })
    }
}

impl OpenSession<'_> {
    /// What a name stands for, with its bytes.
    fn subject(&self, name: &VersionName) -> Result<(CommentSubject, Vec<u8>), SessionError> {
        let (ledger, state) = (&self.ledger, &self.state);
        let spec = state.flow.phase_of_artifact(&name.artifact);
        let has_versions = spec.is_some_and(|spec| !state.versions_of(spec.name).is_empty());
        // A path can contain an `@`.
        let whole = match name.version {
            Some(number) => format!("{}@{number}", name.artifact),
            None => name.artifact.clone(),
        };
        if !has_versions
            && let Some(path) = plain(&whole)
            && let Some(bytes) = self.changed_file(&self.pending_changes()?, &path)?
        {
            return Ok((CommentSubject::File { path }, bytes));
        }
        let (spec, version) = find_version(ledger, state, name)?;
        let bytes = version_bytes(ledger, state, spec, version)?;
        Ok((CommentSubject::Artifact { phase: spec.name, version: version.number }, bytes))
    }

    /// What `show` calls a subject; `None` if it does not print these bytes.
    fn shown_as(&self, on: &CommentSubject, bytes: &[u8]) -> Option<String> {
        match on {
            CommentSubject::Artifact { .. } => Some(subject_name(&self.state, on)),
            CommentSubject::File { path } => {
                let code = format!("{}{path}", newest_code(&self.state));
                let stored = self.ledger.read(&code).ok().flatten();
                stored.is_some_and(|stored| stored == bytes).then_some(code)
            }
        }
    }

    /// A file as this session changes it: at the gate, or approved.
    fn changed_file(&self, changes: &ProjectChanges, path: &str) -> Result<Option<Vec<u8>>, SessionError> {
        if let Some((_, file)) = changes.iter().find(|(name, _)| *name == path) {
            return Ok(file.content.clone());
        }
        let code = format!("{}{path}", newest_code(&self.state));
        if self.state.bound.contains_key(&code) { self.read(&code).map(Some) } else { Ok(None) }
    }

    fn commented(&mut self, number: u32) -> Result<Commented, SessionError> {
        let on = self.state.comments.get(&number).map(|comment| comment.new.on.clone());
        let is_prompt_rewritten = on.is_some_and(|on| self.rewrite_for_comment(&on));
        let found = self.comment_reports()?.into_iter().find(|report| report.number == number);
        let lost = || SessionError::NothingApproved { path: format!("comment {number}") };
        Ok(Commented { comment: found.ok_or_else(lost)?, is_prompt_rewritten })
    }

    /// Writes the prompt at the gate again if it is about what was commented on, and no person edited it.
    ///
    /// A prompt that cannot be built now stays as it is: the next one has the comment.
    fn rewrite_for_comment(&mut self, on: &CommentSubject) -> bool {
        let Ok(spec) = self.spec().cloned() else { return false };
        let is_about = self.is_read_by(on, &spec);
        if self.state.step != Step::PromptReady || !is_about || !self.edited_prompt_files().is_empty() {
            return false;
        }
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        self.write_prompt(phase, iteration, self.prompt_flag()).is_ok()
    }

    /// All comments, in the order they were made.
    pub(super) fn comment_reports(&self) -> Result<Vec<CommentReport>, SessionError> {
        let journal = self.ledger.journal()?;
        let times = comment_times(journal.lines());
        let all: Vec<&NewComment> = self.state.comments.values().map(|comment| &comment.new).collect();
        let places = Places::of(self, &all)?;
        let report = |comment: &Comment| {
            let new = &comment.new;
            let (by, surface) = by_whom(&new.by);
            let resolution = comment.resolution.as_ref();
            CommentReport {
                number: new.number,
                on: subject_name(&self.state, &new.on),
                lines: new.lines,
                quoted: new.quoted.clone(),
                text: new.text.clone(),
                by,
                surface,
                at: times.get(&new.number).cloned().unwrap_or_default(),
                now: places.place(new),
                state: match resolution {
                    None => CommentState::Open,
                    Some((Resolution::Resolved, _)) => CommentState::Resolved,
                    Some((Resolution::Dismissed, _)) => CommentState::Dismissed,
                },
                settled_by: resolution.map(|(_, by)| by_whom(by).0),
            }
        };
        Ok(self.state.comments.values().map(report).collect())
    }
}

/// The name of what a comment is about.
pub(super) fn subject_name(state: &State, on: &CommentSubject) -> String {
    match on {
        CommentSubject::Artifact { phase, version } => state.version_name(*phase, *version),
        CommentSubject::File { path } => path.clone(),
    }
}

/// When each comment was made.
fn comment_times(lines: &[Line<Event>]) -> BTreeMap<u32, String> {
    let added = |line: &Line<Event>| {
        let Event::CommentAdded(comment) = &line.event else { return None };
        Some((comment.number, line.at.clone()))
    };
    lines.iter().filter_map(added).collect()
}

/// The texts that comments lead through, and the current place of each comment.
pub(super) struct Places<'s> {
    state: &'s State,
    /// The places of the comments, by number.
    places: BTreeMap<u32, CommentPlace>,
}

impl<'s> Places<'s> {
    pub(super) fn of(session: &'s OpenSession<'_>, comments: &[&NewComment]) -> Result<Self, SessionError> {
        let state = &session.state;
        // A reply is parsed once, however many comments are on its files.
        let is_on_file = |comment: &&NewComment| matches!(comment.on, CommentSubject::File { .. });
        let changes = if comments.iter().any(is_on_file) {
            session.pending_changes()?
        } else {
            ProjectChanges::default()
        };
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        let mut ways: Vec<(&NewComment, Way)> = Vec::new();
        for comment in comments.iter().copied() {
            ways.push((comment, session.way_of(comment, &changes, &mut texts)?));
        }
        // Two versions are compared once, however many comments lead through them.
        let mut maps: BTreeMap<(&str, &str), LineMap<'_>> = BTreeMap::new();
        let mut places = BTreeMap::new();
        for (comment, Way { texts: way, on, may_delete }) in &ways {
            let original = comment.lines.map(|lines| Place::Unchanged { lines });
            let mut place = original;
            for (old, new) in way.iter().zip(way.iter().skip(1)) {
                let (Some(old_text), Some(new_text)) = (texts.get(old), texts.get(new)) else { continue };
                let map = maps.entry((old, new)).or_insert_with(|| LineMap::between(old_text, new_text));
                place = place.map(|place| map.follow(place));
            }
            if place == Some(Place::Deleted) && !may_delete {
                place = original;
            }
            let fate = match place {
                _ if on.is_none() => LineChange::Deleted,
                None | Some(Place::Unchanged { .. }) => LineChange::Unchanged,
                Some(Place::Edited { .. }) => LineChange::Edited,
                Some(Place::Deleted) => LineChange::Deleted,
            };
            let on = on.clone().unwrap_or_else(|| subject_name(state, &comment.on));
            let lines = place.and_then(Place::lines).filter(|_| fate != LineChange::Deleted);
            places.insert(comment.number, CommentPlace { on, lines, fate });
        }
        Ok(Self { state, places })
    }

    pub(super) fn place(&self, comment: &NewComment) -> CommentPlace {
        self.places.get(&comment.number).cloned().unwrap_or_else(|| CommentPlace {
            on: subject_name(self.state, &comment.on),
            lines: comment.lines,
            fate: LineChange::Unchanged,
        })
    }
}

/// How the lines of a comment are followed.
struct Way {
    /// The hashes of the texts from the one that was commented on to the newest.
    texts: Vec<String>,
    /// The newest's name. `None` if the session deletes the file or does not change it any more.
    on: Option<String>,
    /// Whether lines that the newest does not have are deleted. They are not before the session made it again.
    may_delete: bool,
}

impl OpenSession<'_> {
    fn way_of(
        &self,
        comment: &NewComment,
        changes: &ProjectChanges,
        texts: &mut BTreeMap<String, String>,
    ) -> Result<Way, SessionError> {
        let (ledger, state): (&SessionLedger, &State) = (&self.ledger, &self.state);
        let mut way: Vec<String> = Vec::new();
        let mut add = |bytes: Option<Vec<u8>>, known: Option<&String>| {
            let sha256 = match (known, &bytes) {
                (Some(sha256), _) => sha256.clone(),
                (None, Some(bytes)) => sha256_hex(bytes),
                (None, None) => return,
            };
            if let Some(bytes) = bytes {
                texts.entry(sha256.clone()).or_insert_with(|| lossy(&bytes));
            }
            if texts.contains_key(&sha256) && way.last() != Some(&sha256) {
                way.push(sha256);
            }
        };
        add(ledger.kept(&comment.sha256), Some(&comment.sha256));
        let mut may_delete = true;
        let on = match &comment.on {
            CommentSubject::Artifact { phase, version } => {
                let Some(spec) = state.flow.spec(*phase) else {
                    return Ok(Way { texts: way, on: None, may_delete });
                };
                let later = state.versions_of(*phase).iter().filter(|known| known.number >= *version);
                let mut newest = *version;
                for version in later {
                    newest = version.number;
                    // A version whose bytes are lost is passed over.
                    add(version_bytes(ledger, state, spec, version).ok(), None);
                }
                Some(state.version_name(*phase, newest))
            }
            CommentSubject::File { path } => {
                let is_changed = changes.iter().any(|(name, _)| name == path);
                let mut current = self.changed_file(changes, path)?;
                if current.is_none() && !is_changed {
                    may_delete = !self.awaits_files();
                    current = self.unchanged_file(comment, path, may_delete);
                }
                let is_there = current.is_some() || !may_delete;
                add(current, None);
                is_there.then(|| path.clone())
            }
        };
        Ok(Way { texts: way, on, may_delete })
    }

    /// The lines of a file that the session does not change are those of the project.
    fn unchanged_file(&self, comment: &NewComment, path: &str, is_made: bool) -> Option<Vec<u8>> {
        // A comment on all of a file was about its changes.
        if !self.state.is_request() || (is_made && comment.lines.is_none()) {
            return None;
        }
        // What cannot be read now does not keep anybody from reading the comments.
        self.find_shown_file(path).ok().flatten()
    }

    /// Whether changes were dropped and are not made again yet.
    fn awaits_files(&self) -> bool {
        let state = &self.state;
        let makers = state.flow.phases.iter().filter(|spec| spec.gives.changes_files());
        let mut newest = makers.filter_map(|spec| state.versions_of(spec.name).last());
        newest.any(|version| match version.outcome {
            VersionOutcome::Rejected | VersionOutcome::Replaced | VersionOutcome::Reopened => true,
            VersionOutcome::Pending | VersionOutcome::Approved => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_names_a_version_and_lines() {
        let check = |text: &str, artifact: &str, version: Option<u32>, lines: Option<&str>| {
            let target = CommentTarget::parse(text).unwrap();
            assert_eq!((target.on.artifact.as_str(), target.on.version), (artifact, version), "{text}");
            assert_eq!(target.lines, lines.and_then(LineRange::parse), "{text}");
        };
        check("plan", "plan", None, None);
        check("plan:12", "plan", None, Some("12"));
        check("plan@1:12-14", "plan", Some(1), Some("12-14"));
        check("src/a.rs:7", "src/a.rs", None, Some("7"));
        check("a:b", "a:b", None, None);
        for wrong in ["plan:0", "plan:5-3", "plan:1-2-3"] {
            assert!(matches!(CommentTarget::parse(wrong), Err(SessionError::NotLines { .. })), "{wrong}");
        }
    }
}
