//! Differences: of a file before and after, and of the code of two iterations.

use std::collections::BTreeSet;

use aiwf_session::{Gives, Step};

use super::files::{artifact_names, iterations_with_code};
use super::journal;
use super::open_session::OpenSession;
use crate::Engine;
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

impl Engine {
    /// The difference between the code of two iterations; the last two when none are named.
    pub fn diff_session<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        iterations: Option<(u32, u32)>,
    ) -> Result<String, SessionError> {
        let session = OpenSession::open_read_only(self, journal::find_any(self.settings(), given)?)?;
        let known = iterations_with_code(&session.state);
        if known.is_empty() {
            return Err(SessionError::NoArtifact {
                artifact: "code".to_owned(),
                id: session.ledger.label().to_owned(),
                known: artifact_names(&session.ledger, &session.state),
            });
        }
        let mut asked = iterations.into_iter().flat_map(|(from, to)| [from, to]);
        if let Some(iteration) = asked.find(|asked| !known.contains(asked)) {
            return Err(SessionError::NoIteration {
                id: session.ledger.label().to_owned(),
                iteration,
                known,
            });
        }
        let newest = session.state.iteration;
        let (from, to) = iterations.unwrap_or((newest.saturating_sub(1), newest));
        let (old, new) = (session.code(from)?, session.code(to)?);
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        Ok(names
            .into_iter()
            .filter(|name| old.get(*name) != new.get(*name))
            .map(|name| unified(name, old.get(name).map(Vec::as_slice), new.get(name).map(Vec::as_slice)))
            .collect())
    }
}

impl Engine {
    /// What the reply at the gate, or the last approved one, changes in the project; nothing when it changes no files.
    pub fn pending_diff<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Option<String>, SessionError> {
        let session = OpenSession::open_read_only(self, journal::find_any(self.settings(), given)?)?;
        let changes = session.pending_changes()?;
        Ok((!changes.is_empty()).then(|| changes.diff(|sha256| session.ledger.kept(sha256))))
    }

    /// What the reply at the gate changes; nothing when it is no reply of a phase that edits files, or changes none.
    pub fn reply_diff<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Option<String>, SessionError> {
        let session = OpenSession::open_read_only(self, journal::find_any(self.settings(), given)?)?;
        let spec = session.state.flow.spec(session.state.phase);
        let gives_edits = spec.is_some_and(|spec| spec.gives == Gives::Edits);
        if !(gives_edits && matches!(session.state.step, Step::ReplyReady { .. })) {
            return Ok(None);
        }
        let changes = session.pending_changes()?;
        Ok((!changes.is_empty()).then(|| changes.diff(|sha256| session.ledger.kept(sha256))))
    }

    /// Lets the user edit the prompt or the reply at the gate, in their editor.
    pub fn edit_pending<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<(), SessionError> {
        let ledger = journal::find(self.settings(), given)?;
        let session = OpenSession::open(self, ledger)?;
        let path = session
            .state
            .files_at_gate()
            .into_iter()
            .next()
            .ok_or(SessionError::NoPrompt { phase: session.state.phase })?;
        session.refuse_links(&path)?;
        let file = session.ledger.file(&path);
        // The lock is not held while a person writes.
        drop(session);
        Ok(self.edit_file(&file)?)
    }
}

/// A file before and after as a unified diff; nothing stands for a file that is not there.
///
/// A file that a tool runs by itself is marked in a line before its header, which programs that read patches skip.
pub(super) fn unified(name: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let header = |side: &str, bytes: Option<&[u8]>| match bytes {
        Some(_) => format!("{side}/{name}"),
        None => "/dev/null".to_owned(),
    };
    let mark = aiwf_store::run_by(name).map(|tool| format!("# {tool} runs this file by itself\n"));
    let diff = similar::TextDiff::from_lines(text(before).as_str(), text(after).as_str())
        .unified_diff()
        .header(&header("a", before), &header("b", after))
        .to_string();
    format!("{}{diff}", mark.filter(|_| !diff.is_empty()).unwrap_or_default())
}
