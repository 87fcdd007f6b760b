//! The files of a reply: their paths below `code/`, and which of them tools run automatically.

use std::collections::BTreeSet;

use aiwf_reply::{parse_fenced_files, parse_file_markers};
use aiwf_session::{State, Step};
use serde::Serialize;

use super::files::newest_code;
use crate::ledger::SessionLedger;
use crate::prompt::read::read_text;

/// A file that a tool runs or obeys automatically.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SelfRunning {
    /// The path in the reply or the project.
    pub path: String,
    pub run_by: &'static str,
}

impl SelfRunning {
    /// `None` for ordinary files.
    pub(super) fn of(path: &str) -> Option<Self> {
        Some(Self { path: path.to_owned(), run_by: aiwf_store::run_by(path)? })
    }

    /// Those of the reply at the gate, the newest code, and direct edits of agents.
    pub(super) fn all(ledger: &SessionLedger, state: &State) -> Vec<Self> {
        let pending = pending_paths(ledger, state);
        let prefix = newest_code(state);
        let code = state.bound.keys().filter_map(|path| Some(path.strip_prefix(&prefix)?.to_owned()));
        let files = state.change.files.iter().map(|file| file.path.clone());
        let edited = state.change.edited.iter().map(|file| file.path.clone());
        let paths: BTreeSet<String> = pending.into_iter().chain(code).chain(files).chain(edited).collect();
        paths.iter().filter_map(|path| Self::of(path)).collect()
    }
}

/// The paths in the reply at the gate, in any syntax.
///
/// Used for warnings before a decision, so one too many is better than one too few.
fn pending_paths(ledger: &SessionLedger, state: &State) -> Vec<String> {
    let gives_files = state.flow.gives_files(state.phase);
    let may_have_reply = matches!(state.step, Step::ReplyReady { .. } | Step::Asked { is_free: true });
    let Some(path) = state.response_path().filter(|_| gives_files && may_have_reply) else {
        return Vec::new();
    };
    let path = ledger.file(&path);
    if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Vec::new();
    }
    let Ok(reply) = read_text(&path) else { return Vec::new() };
    let blocks = parse_file_markers(&reply).value.into_iter().chain(parse_fenced_files(&reply).value);
    blocks.map(|block| path_below_code(&block.path, &ledger.shown(""), state.iteration)).collect()
}

/// The path of a reply's file below `code/`.
///
/// Prompts show code with its path in the session, so a model may use that path. The session's own prefix is removed
/// once. `session` is the session's directory as prompts show it.
pub(super) fn path_below_code(path: &str, session: &str, iteration: u32) -> String {
    let session = session.trim_end_matches('/');
    let below = path.strip_prefix(session).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    let name = below.strip_prefix("iteration-").and_then(|rest| {
        let (number, name) = rest.split_once("/code/")?;
        let is_own = number.parse::<u32>().is_ok_and(|number| (1..=iteration).contains(&number));
        (is_own && !name.is_empty()).then_some(name)
    });
    name.unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = ".aiwf/sessions/20261118-1-abc/";

    #[test]
    fn the_sessions_own_prefix_is_taken_off_once() {
        for (given, expected) in [
            ("iteration-1/code/src/A.java", "src/A.java"),
            ("iteration-2/code/A.java", "A.java"),
            (".aiwf/sessions/20261118-1-abc/iteration-2/code/.gitignore", ".gitignore"),
            ("iteration-1/code/iteration-1/code/A.java", "iteration-1/code/A.java"),
        ] {
            assert_eq!(path_below_code(given, SESSION, 2), expected);
        }
    }

    #[test]
    fn other_paths_stay_as_they_are() {
        for path in [
            "A.java",
            "code/A.java",
            "iteration-3/code/A.java",
            "iteration-x/code/A.java",
            "iteration-1/code/",
            "iteration-1/plan.md",
            "a/iteration-1/code/A.java",
            ".aiwf/sessions/other/iteration-1/code/A.java",
            ".aiwf/sessions/20261118-1-abc/journal.jsonl",
        ] {
            assert_eq!(path_below_code(path, SESSION, 2), path);
        }
    }
}
