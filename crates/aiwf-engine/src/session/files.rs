//! What a session holds, for commands that only look.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use aiwf_session::{Flow, Phase, State};
use serde_json::{Map, Value};

use super::directory::{self, SessionDirectory, Which};
use crate::Engine;
use crate::session_error::SessionError;

/// A file of a session that the journal knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionArtifact {
    /// Its path, relative to the session.
    pub path: String,
    /// How large it is.
    pub n_bytes: u64,
}

/// What a session was given and has made.
#[derive(Clone, Debug)]
pub struct SessionValues {
    /// What the profile was given.
    pub context: Map<String, Value>,
    /// The texts that files gave, by key.
    pub inputs: BTreeMap<String, String>,
    /// The newest approved code, by path below `code/`; files that are not text are left out.
    pub code: Vec<(String, String)>,
}

impl Engine {
    /// What a session of a profile was given and has made.
    pub fn session_values<'a>(
        &self,
        given: impl Into<Which<'a>>,
        profile: &str,
    ) -> Result<SessionValues, SessionError> {
        let directory = directory::find(self.settings(), given)?;
        let state = fold(&directory)?;
        let setup =
            state.setup.clone().ok_or_else(|| SessionError::EmptySession { id: directory.id.clone() })?;
        if setup.profile != profile {
            return Err(SessionError::OtherProfile {
                id: directory.id,
                found: setup.profile,
                wanted: profile.to_owned(),
            });
        }
        let mut inputs = BTreeMap::new();
        for file in &setup.inputs {
            let key = file.path.trim_start_matches("inputs/").to_owned();
            let missing = || SessionError::Missing { path: directory.shown(&file.path) };
            inputs.insert(key, directory.read_text(&file.path)?.ok_or_else(missing)?);
        }
        let prefix = newest_code(&state);
        let code = state
            .bound
            .keys()
            .filter_map(|path| Some((path.strip_prefix(&prefix)?.to_owned(), path)))
            .filter_map(|(name, path)| Some((name, directory.read_text(path).ok()??)))
            .collect();
        Ok(SessionValues { context: setup.context, inputs, code })
    }

    /// The files of a session that the journal knows and that are there: prompts, replies, plan, standards, inputs, code.
    pub fn session_artifacts(&self, given: Option<&str>) -> Result<Vec<SessionArtifact>, SessionError> {
        let directory = directory::find(self.settings(), given)?;
        let state = fold(&directory)?;
        let current = [state.phase.prompt_path(state.iteration), state.phase.response_path(state.iteration)];
        let written = state.written.iter().map(|file| file.path.clone());
        let paths: BTreeSet<String> =
            state.bound.keys().cloned().chain(written).chain(current.into_iter().flatten()).collect();
        let ledger = directory.ledger()?;
        let artifact = |path: String| {
            let n_bytes = ledger.n_bytes(&path).ok()??;
            Some(SessionArtifact { path, n_bytes })
        };
        Ok(paths.into_iter().filter_map(artifact).collect())
    }

    /// A file of a session by what it is (plan, standards, prompt, response, review, code) or by its path.
    pub fn session_file<'a>(
        &self,
        given: impl Into<Which<'a>>,
        artifact: &str,
    ) -> Result<(String, String), SessionError> {
        let directory = directory::find(self.settings(), given)?;
        let state = fold(&directory)?;
        let current = |path: Option<String>| path.unwrap_or_default();
        let relative = match artifact {
            "plan" => "plan.md".to_owned(),
            "standards" => "standards-bundle.md".to_owned(),
            "prompt" => current(state.phase.prompt_path(state.iteration)),
            "response" => current(state.phase.response_path(state.iteration)),
            "review" if state.flow() == Flow::Session => {
                // One that waits at its gate is the newest.
                let current = state.phase.response_path(state.iteration);
                let waiting =
                    current.filter(|path| state.phase == Phase::Reviewing && directory.is_file(path));
                waiting.or_else(|| newest_review(&state)).unwrap_or_default()
            }
            "latest" if state.flow() == Flow::Change => newest_artifact(&state),
            "challenge" | "implementation" | "review" | "archive" => format!("{artifact}.md"),
            path => {
                let whole = format!("{}/", directory.path.display());
                let below = path.strip_prefix(&directory.shown("")).or_else(|| path.strip_prefix(&whole));
                below.unwrap_or(path).to_owned()
            }
        };
        if artifact == "code" {
            let prefix = newest_code(&state);
            let mut text = String::new();
            for path in state.bound.keys().filter(|path| path.starts_with(&prefix)) {
                let missing = || SessionError::Missing { path: directory.shown(path) };
                let content = directory.read_text(path)?.ok_or_else(missing)?;
                let _ = writeln!(text, "<<<FILE: {}>>>\n{content}", path.trim_start_matches(&prefix));
            }
            if !text.is_empty() {
                return Ok((directory.shown(&prefix), text));
            }
        }
        let missing = || SessionError::NoArtifact { artifact: artifact.to_owned(), id: directory.id.clone() };
        if relative.is_empty() {
            return Err(missing());
        }
        // Whatever is there or not: it is no business of the session.
        let outside = || SessionError::OutsideSession { path: artifact.to_owned() };
        let relative = plain(&relative).ok_or_else(outside)?;
        match directory.read_text(&relative)? {
            Some(text) => Ok((directory.shown(&relative), text)),
            None => Err(missing()),
        }
    }
}

/// A path below the directory it is relative to, without detours; nothing when it leads out of it.
fn plain(relative: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in relative.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            // A path that begins with a slash is absolute.
            "" if parts.is_empty() => return None,
            "" => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn fold(directory: &SessionDirectory) -> Result<State, SessionError> {
    Ok(State::fold(directory.journal()?.lines().iter().map(|line| &line.event)))
}

/// The code directory of the last iteration that has approved code.
pub(super) fn newest_code(state: &State) -> String {
    let has_code = |iteration: &u32| {
        let prefix = format!("iteration-{iteration}/code/");
        state.bound.keys().any(|path| path.starts_with(&prefix))
    };
    let newest = (1..=state.iteration).rev().find(has_code).unwrap_or(1);
    format!("iteration-{newest}/code/")
}

/// What was approved last of a change, else its prompt.
fn newest_artifact(state: &State) -> String {
    let artifacts = aiwf_session::Phase::CHANGE.into_iter().filter_map(aiwf_session::Phase::artifact);
    let bound = artifacts.filter_map(|file| Some((state.bound.get(file)?.rank, file)));
    match bound.max() {
        Some((_, file)) => file.to_owned(),
        None => state.phase.prompt_path(state.iteration).unwrap_or_default(),
    }
}

fn newest_review(state: &State) -> Option<String> {
    (1..=state.iteration)
        .rev()
        .map(|iteration| format!("iteration-{iteration}/review-response.md"))
        .find(|path| state.bound.contains_key(path))
}
