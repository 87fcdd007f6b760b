//! Sessions that plan to write the same files.
//!
//! A list reads only the index; a session that plans to write nothing is compared with none.

use std::collections::BTreeMap;

use serde::Serialize;

use super::index::{SessionEntry, all_of};
use super::resolve::Scope;
use crate::Engine;
use crate::session::session_error::SessionError;

/// Files that are listed of one overlap; the others are counted.
const MAX_FILES: usize = 20;
/// Sessions that are listed for one session.
const MAX_SESSIONS: usize = 20;

/// Another session that plans to write some of the same files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overlap {
    pub session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Relative to the project, or named by the rules of a profile; at most 20.
    pub files: Vec<String>,
    pub n_files: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_foreign: bool,
}

impl Engine {
    /// The other sessions that plan to write files of this one, most files first. `writes_of` is the profile that names
    /// the files, if they are not files of the project.
    pub(crate) fn overlaps_of(
        &self,
        id: &str,
        writes_of: &str,
        writes: &[String],
    ) -> Result<Vec<Overlap>, SessionError> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in all_of(self.settings(), Scope::Any)? {
            // Names of a profile say nothing about the files of others.
            if entry.id == id || entry.writes_of != writes_of {
                continue;
            }
            let files: Vec<&String> = entry.writes.iter().filter(|file| writes.contains(file)).collect();
            if !files.is_empty() {
                let files = files.into_iter().cloned().collect();
                found.push(self.overlap(&entry, files));
            }
        }
        Ok(sorted(found))
    }

    /// Marks the sessions of a list that plan to write the same files.
    pub fn mark_overlaps(&self, entries: &mut [SessionEntry]) {
        let key = |entry: &SessionEntry, file: &String| (entry.writes_of.clone(), file.clone());
        let mut writers: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            for file in &entry.writes {
                writers.entry(key(entry, file)).or_default().push(index);
            }
        }
        let mut shared: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        for ((_, file), writers) in writers.iter().filter(|(_, writers)| writers.len() > 1) {
            let writers: Vec<usize> = writers.iter().copied().take(MAX_SESSIONS).collect();
            for one in &writers {
                for other in writers.iter().filter(|other| *other != one) {
                    shared.entry((*one, *other)).or_default().push(file.clone());
                }
            }
        }
        let mut overlaps: BTreeMap<usize, Vec<Overlap>> = BTreeMap::new();
        for ((one, other), files) in shared {
            if let Some(entry) = entries.get(other) {
                overlaps.entry(one).or_default().push(self.overlap(entry, files));
            }
        }
        for (index, overlaps) in overlaps {
            if let Some(entry) = entries.get_mut(index) {
                entry.overlaps = sorted(overlaps);
            }
        }
    }

    fn overlap(&self, entry: &SessionEntry, mut files: Vec<String>) -> Overlap {
        let n_files = files.len();
        files.truncate(MAX_FILES);
        Overlap {
            session_id: entry.id.clone(),
            name: entry.name.clone(),
            files,
            n_files,
            is_foreign: crate::trust::is_foreign(self.settings(), &entry.ledger(self.settings())),
        }
    }
}

fn sorted(mut overlaps: Vec<Overlap>) -> Vec<Overlap> {
    overlaps.sort_by(|a, b| b.n_files.cmp(&a.n_files).then_with(|| a.session_id.cmp(&b.session_id)));
    overlaps.truncate(MAX_SESSIONS);
    overlaps
}
