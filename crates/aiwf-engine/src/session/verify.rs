//! Whether approved files are what they were.

use aiwf_session::State;
use aiwf_store::sha256_hex;

use super::directory::{self, SessionDirectory, Which};
use super::snapshot;
use crate::Engine;
use crate::session_error::SessionError;

/// An approved file that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The file, relative to the session.
    pub path: String,
    /// SHA-256 of what was approved.
    pub approved: String,
    /// SHA-256 of what is there; nothing when nothing is.
    pub found: Option<String>,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The session.
    pub session_id: String,
    /// How many events the journal holds, all of them intact.
    pub n_events: usize,
    /// How many approved files were compared.
    pub n_files: usize,
    /// The files that differ.
    pub differences: Vec<Difference>,
    /// Bytes of a last line that was never finished.
    pub torn_bytes: Option<usize>,
}

impl Engine {
    /// Checks the chain of the journal and every approved file.
    pub fn verify<'a>(&self, given: impl Into<Which<'a>>) -> Result<Verified, SessionError> {
        let directory = directory::find(self.settings(), given)?;
        let journal = directory.journal()?;
        journal.refuse_shorter(snapshot::journal_bytes(&directory))?;
        let state = State::fold(journal.lines().iter().map(|line| &line.event));
        Ok(Verified {
            session_id: directory.id.clone(),
            n_events: journal.lines().len(),
            n_files: state.bound.len(),
            differences: stale(&directory, &state),
            torn_bytes: journal.torn().map(|torn| torn.n_bytes),
        })
    }
}

/// The approved files that are not what they were.
pub(crate) fn stale(directory: &SessionDirectory, state: &State) -> Vec<Difference> {
    state
        .bound
        .iter()
        .filter(|(_, bound)| bound.is_checked)
        .filter_map(|(path, bound)| {
            let found = std::fs::read(directory.file(path)).ok().map(|bytes| sha256_hex(&bytes));
            // What a command that was cut short wrote is no edit; the next one writes it again.
            let is_intended =
                state.intended.iter().any(|file| file.path == *path && Some(&file.sha256) == found.as_ref());
            (found.as_deref() != Some(bound.sha256.as_str()) && !is_intended).then(|| Difference {
                path: path.clone(),
                approved: bound.sha256.clone(),
                found,
            })
        })
        .collect()
}
