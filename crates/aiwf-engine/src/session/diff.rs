//! Diffs of a file, and of the code of two iterations.

use std::collections::BTreeSet;

use aiwf_session::{Gives, Step};

use super::files::{artifact_names, iterations_with_code};
use super::journal;
use super::open_session::OpenSession;
use crate::Engine;
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

impl Engine {
    /// The diff between the code of two iterations; the last two by default. Of a session that edits the project, the
    /// default is everything it changes, with the reply at the gate.
    pub fn diff_session<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        iterations: Option<(u32, u32)>,
    ) -> Result<String, SessionError> {
        let session = OpenSession::open_read_only(self, journal::find_any(self.settings(), given)?)?;
        if iterations.is_none() && session.state.flow.phases.iter().any(|spec| spec.gives == Gives::Edits) {
            let changes = session.pending_changes()?;
            if !changes.is_empty() {
                return Ok(changes.diff(|sha256| session.ledger.kept(sha256)));
            }
        }
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
    /// The changes of the reply at the gate, or of the last approved one; `None` if it changes no files.
    pub fn pending_diff<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Option<String>, SessionError> {
        let session = OpenSession::open_read_only(self, journal::find_any(self.settings(), given)?)?;
        let changes = session.pending_changes()?;
        Ok((!changes.is_empty()).then(|| changes.diff(|sha256| session.ledger.kept(sha256))))
    }

    /// The changes of the reply at the gate; `None` if it changes no files.
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

    /// Opens the prompt or reply at the gate in the user's editor.
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
        // The session is not locked while the editor is open.
        drop(session);
        Ok(self.edit_file(&file)?)
    }
}

/// A unified diff of a file; `None` means that it does not exist.
///
/// Files that tools run automatically are marked in a line before the header, which programs that read patches skip.
pub(crate) fn unified(name: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let header = |side: &str, bytes: Option<&[u8]>| match bytes {
        Some(_) => format!("{side}/{name}"),
        None => "/dev/null".to_owned(),
    };
    let mark = aiwf_store::run_by(name).map(|tool| format!("# run automatically by {tool}\n"));
    let diff = similar::TextDiff::from_lines(text(before).as_str(), text(after).as_str())
        .unified_diff()
        .header(&header("a", before), &header("b", after))
        .to_string();
    format!("{}{diff}", mark.filter(|_| !diff.is_empty()).unwrap_or_default())
}
