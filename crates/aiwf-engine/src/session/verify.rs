//! Checks that approved files are unchanged.

use std::collections::BTreeMap;

use aiwf_session::State;

use super::journal;
use crate::Engine;
use crate::ledger::{SessionLedger, SessionRef};
use crate::session::session_error::SessionError;
use crate::trust;

/// An approved file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Relative to the session.
    pub path: String,
    /// SHA-256 of the approved bytes.
    pub approved: String,
    /// SHA-256 of the current bytes; `None` if the file is missing.
    pub found: Option<String>,
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct Verified {
    pub session_id: String,
    /// All intact.
    pub n_events: usize,
    /// Approved files that were compared.
    pub n_files: usize,
    pub differences: Vec<Difference>,
    /// The size of an unfinished last line.
    pub torn_bytes: Option<usize>,
    /// Missing or damaged files in `objects/`.
    pub problems: Vec<String>,
}

impl Engine {
    /// Checks the hash chain of the journal and every approved file.
    pub fn verify<'a>(&self, given: impl Into<SessionRef<'a>>) -> Result<Verified, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let journal = ledger.journal()?;
        journal.refuse_shorter(None)?;
        trust::refuse_lost(self.settings(), ledger.kind(), &ledger.id, journal.lines())?;
        let state = State::fold(journal.lines().iter().map(|line| &line.event));
        Ok(Verified {
            session_id: ledger.id.clone(),
            n_events: journal.lines().len(),
            n_files: state.bound.len(),
            differences: stale(&ledger, &state),
            torn_bytes: journal.torn().map(|torn| torn.n_bytes),
            problems: object_problems(&ledger, &state)?,
        })
    }
}

/// Missing or damaged copies of approved bytes.
fn object_problems(ledger: &SessionLedger, state: &State) -> Result<Vec<String>, SessionError> {
    let store = ledger.ledger()?;
    let damaged = store.damaged().map_err(|error| ledger.unusable("objects", error))?;
    let mut problems: Vec<String> = damaged
        .iter()
        .map(|name| {
            format!(
                "`{}` was changed: its name is the SHA-256 of other bytes",
                ledger.shown(&format!("objects/{name}"))
            )
        })
        .collect();
    for (path, bound) in &state.bound {
        if !damaged.contains(&bound.sha256) && ledger.kept(&bound.sha256).is_none() {
            problems.push(format!("the approved bytes of `{path}` are no longer stored"));
        }
    }
    Ok(super::take_reply::capped(problems))
}

/// The approved files that changed.
pub(crate) fn stale(ledger: &SessionLedger, state: &State) -> Vec<Difference> {
    let intended: BTreeMap<&str, &String> =
        state.intended.iter().map(|file| (file.path.as_str(), &file.sha256)).collect();
    state
        .bound
        .iter()
        .filter(|(_, bound)| bound.is_checked)
        .filter_map(|(path, bound)| {
            let found = ledger.sha256(path);
            // A write of an interrupted command is not an edit; the next command repeats it.
            let is_intended = found.is_some() && intended.get(path.as_str()).copied() == found.as_ref();
            (found.as_deref() != Some(bound.sha256.as_str()) && !is_intended).then(|| Difference {
                path: path.clone(),
                approved: bound.sha256.clone(),
                found,
            })
        })
        .collect()
}
