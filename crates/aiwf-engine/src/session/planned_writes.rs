//! The files that a session plans to write, for sessions that show each other.
//!
//! In: the state, and the reply at the gate. Out: names, without reading the project or applying any edit, so that a list
//! of sessions stays cheap.

use aiwf_reply::{Edit, EditKind, parse_edits};
use aiwf_session::{Gives, Phase, State, Step};

use super::changes::changed_names;
use super::files::{newest_code, plain};
use crate::ledger::SessionLedger;

/// The most planned files that a summary lists.
const MAX_WRITES: usize = 1_000;

/// The files that an approved result or the reply at the gate writes, and that are not written yet.
pub(crate) fn planned_writes(ledger: &SessionLedger, state: &State) -> Vec<String> {
    if state.is_applied || state.phase == Phase::CANCELLED {
        return Vec::new();
    }
    let code = newest_code(state);
    let generated = state.bound.keys().filter_map(|path| path.strip_prefix(&code)).map(str::to_owned);
    let mut files: Vec<String> = if state.is_request() {
        let removed = state.change.removed.iter().map(|file| file.path.clone());
        state.change.files.iter().map(|file| file.path.clone()).chain(removed).collect()
    } else {
        generated.collect()
    };
    files.extend(written_by_reply(ledger, state));
    files.sort();
    files.dedup();
    files.truncate(MAX_WRITES);
    files
}

/// Whose names the planned files have: empty for files of the project, else a profile that names files by its own rules.
pub(crate) fn names_of_writes(state: &State) -> String {
    let is_in_project = state.flow.phases.iter().any(|spec| spec.gives == Gives::Edits);
    let profile = state.setup.as_ref().map(|setup| setup.profile.as_str()).unwrap_or_default();
    if is_in_project { String::new() } else { profile.to_owned() }
}

/// The files that the reply at the gate changes. What cannot be read plans nothing; the gate reports it.
fn written_by_reply(ledger: &SessionLedger, state: &State) -> Vec<String> {
    let gives_edits = state.flow.spec(state.phase).is_some_and(|spec| spec.gives == Gives::Edits);
    if !gives_edits || !matches!(state.step, Step::ReplyReady { .. }) {
        return Vec::new();
    }
    if let Some(file) = &state.changes {
        return changed_names(&ledger.kept(&file.sha256).unwrap_or_default());
    }
    let reply = state.response_path().and_then(|path| ledger.read(&path).ok().flatten()).unwrap_or_default();
    parse_edits(&String::from_utf8_lossy(&reply))
        .value
        .into_iter()
        .flat_map(names_of_edit)
        .filter_map(|path| plain(&path))
        .collect()
}

fn names_of_edit(edit: Edit) -> Vec<String> {
    match edit.kind {
        EditKind::Write(file) => vec![file.path],
        EditKind::Change { path, .. } | EditKind::Delete { path } => vec![path],
        EditKind::Rename { from, to } => vec![from, to],
    }
}
