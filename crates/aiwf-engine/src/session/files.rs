//! The files of a session, for commands that only read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use aiwf_session::{CommonArtifact, Gives, PhaseRecipe, PhaseSpec, State, VersionName, code_file, code_path};
use aiwf_worktree::Worktree;
use serde_json::{Map, Value};

use super::journal;
use super::open_session::OpenSession;
use super::versions::{find_version, lossy, version_bytes};
use crate::Engine;
use crate::ledger::{SessionLedger, SessionRef};
use crate::session::session_error::SessionError;

/// A file of a session that the journal names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionArtifact {
    /// Relative to the session.
    pub path: String,
    pub n_bytes: u64,
}

/// The inputs and results of a session.
#[derive(Clone, Debug)]
pub struct SessionValues {
    pub context: Map<String, Value>,
    /// The contents of input files, by key.
    pub inputs: BTreeMap<String, String>,
    /// The newest approved code, by path relative to `code/`. Binary files are left out.
    pub code: Vec<(String, String)>,
}

impl Engine {
    /// The inputs and results of a profile session.
    pub fn session_values<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        profile: &str,
    ) -> Result<SessionValues, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let state = fold(&ledger)?;
        let setup =
            state.setup.clone().ok_or_else(|| SessionError::EmptySession { id: ledger.id.clone() })?;
        if setup.profile != profile {
            return Err(SessionError::OtherProfile {
                id: ledger.id,
                found: setup.profile,
                wanted: profile.to_owned(),
            });
        }
        let mut inputs = BTreeMap::new();
        let of_profile =
            setup.inputs.iter().filter_map(|file| Some((file, file.path.strip_prefix("inputs/")?)));
        for (file, key) in of_profile {
            let key = key.to_owned();
            let missing = || SessionError::Missing { path: ledger.shown(&file.path) };
            inputs.insert(key, ledger.read_text(&file.path)?.ok_or_else(missing)?);
        }
        let prefix = newest_code(&state);
        let code = state
            .bound
            .keys()
            .filter_map(|path| Some((path.strip_prefix(&prefix)?.to_owned(), path)))
            .filter_map(|(name, path)| Some((name, ledger.read_text(path).ok()??)))
            .collect();
        Ok(SessionValues { context: setup.context, inputs, code })
    }

    /// The files that the journal names and that exist: prompts, replies, plan, standards, inputs, code.
    pub fn session_artifacts<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<Vec<SessionArtifact>, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let state = fold(&ledger)?;
        let current = [state.prompt_path(), state.response_path()];
        let written = state.written.iter().map(|file| file.path.clone());
        let paths: BTreeSet<String> =
            state.bound.keys().cloned().chain(written).chain(current.into_iter().flatten()).collect();
        let files_dir = ledger.files()?;
        let artifact = |path: String| {
            let n_bytes = files_dir.n_bytes(&path).ok()??;
            Some(SessionArtifact { path, n_bytes })
        };
        Ok(paths.into_iter().filter_map(artifact).collect())
    }

    /// A file of a session, by kind (plan, standards, prompt, response, review, code) or by path.
    pub fn session_file<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        artifact: &str,
    ) -> Result<(String, String), SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let state = fold(&ledger)?;
        let name = VersionName::parse(artifact);
        if name.version.is_some() && state.flow.phase_of_artifact(&name.artifact).is_some() {
            let (spec, version) = find_version(&ledger, &state, &name)?;
            let bytes = version_bytes(&ledger, &state, spec, version)?;
            return Ok((ledger.shown(&version.path), lossy(&bytes)));
        }
        let gathered = match CommonArtifact::from_name(artifact) {
            Some(CommonArtifact::Checks) => {
                let checks = OpenSession::open_read_only(self, ledger.clone())?.checks_artifact()?;
                checks.map(|checks| (checks.path, checks.text))
            }
            Some(CommonArtifact::Worktree) => {
                // One that is damaged or not complete is made again by the next call.
                let root = Worktree::root_at(&self.worktree_path(&ledger.id)?).ok().flatten();
                root.map(|root| root.display().to_string()).map(|path| (path.clone(), format!("{path}\n")))
            }
            Some(CommonArtifact::Code) => all_code(&ledger, &state)?,
            Some(
                CommonArtifact::Standards
                | CommonArtifact::Prompt
                | CommonArtifact::Response
                | CommonArtifact::Latest,
            )
            | None => None,
        };
        match gathered {
            Some(gathered) => Ok(gathered),
            None => one_file(artifact, &ledger, &state),
        }
    }
}

/// The newest approved code, each file after a line with its name; `None` if there is none.
fn all_code(ledger: &SessionLedger, state: &State) -> Result<Option<(String, String)>, SessionError> {
    let prefix = newest_code(state);
    let mut text = String::new();
    for path in state.bound.keys().filter(|path| path.starts_with(&prefix)) {
        let missing = || SessionError::Missing { path: ledger.shown(path) };
        let content = ledger.read_text(path)?.ok_or_else(missing)?;
        let _ = writeln!(text, "<<<FILE: {}>>>\n{content}", path.trim_start_matches(&prefix));
    }
    Ok((!text.is_empty()).then(|| (ledger.shown(&prefix), text)))
}

/// The file that an artifact's name or a path leads to.
fn one_file(artifact: &str, ledger: &SessionLedger, state: &State) -> Result<(String, String), SessionError> {
    let relative = artifact_path(artifact, ledger, state).unwrap_or_else(|| {
        let whole = format!("{}/", ledger.path.display());
        let below = artifact.strip_prefix(&ledger.shown("")).or_else(|| artifact.strip_prefix(&whole));
        below.unwrap_or(artifact).to_owned()
    });
    let missing = || SessionError::NoArtifact {
        artifact: artifact.to_owned(),
        id: ledger.label().to_owned(),
        known: artifact_names(ledger, state),
    };
    if relative.is_empty() {
        return Err(missing());
    }
    // The same error whether the file exists or not.
    let outside = || SessionError::OutsideSession { path: artifact.to_owned() };
    let relative = plain(&relative).ok_or_else(outside)?;
    match ledger.read_text(&relative)? {
        Some(text) => Ok((ledger.shown(&relative), text)),
        None => Err(missing()),
    }
}

/// Normalizes a path; `None` if it leads out of its directory.
pub(super) fn plain(relative: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in relative.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            // A leading slash means an absolute path.
            "" if parts.is_empty() => return None,
            "." | "" => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn fold(ledger: &SessionLedger) -> Result<State, SessionError> {
    Ok(State::fold(ledger.journal()?.lines().iter().map(|line| &line.event)))
}

/// The session path for an artifact's name; empty if it does not exist yet, `None` if there is no such artifact.
fn artifact_path(artifact: &str, ledger: &SessionLedger, state: &State) -> Option<String> {
    let path = match CommonArtifact::from_name(artifact) {
        Some(CommonArtifact::Standards) => Some("standards-bundle.md".to_owned()),
        Some(CommonArtifact::Prompt) => {
            let written = state.written.first().map(|file| file.path.clone());
            state.prompt_path().or(written)
        }
        Some(CommonArtifact::Response) => state
            .response_path()
            .or_else(|| newest_bound(state, |path| state.flow.phase_of_response(path).is_some())),
        Some(CommonArtifact::Latest) if state.is_request() => Some(newest_artifact(state)),
        Some(CommonArtifact::Code) => newest_bound(state, |path| path.starts_with(&newest_code(state))),
        Some(CommonArtifact::Latest | CommonArtifact::Checks | CommonArtifact::Worktree) => return None,
        None => {
            let spec = state.flow.phase_of_artifact(artifact)?;
            match (spec.recipe, spec.gives) {
                (PhaseRecipe::Session, Gives::Verdict | Gives::Files | Gives::Edits) => {
                    // A reply that waits at its gate is the newest.
                    let waiting =
                        state.response_path().filter(|path| state.phase == spec.name && ledger.is_file(path));
                    let is_reply = |path: &str| state.flow.phase_of_response(path) == Some(spec.name);
                    waiting.or_else(|| newest_bound(state, is_reply))
                }
                (PhaseRecipe::Session, Gives::Text) | (PhaseRecipe::Change, _) => Some(spec.artifact_file()),
            }
        }
    };
    Some(path.unwrap_or_default())
}

/// The artifacts that can be shown now.
pub(super) fn artifact_names(ledger: &SessionLedger, state: &State) -> Vec<String> {
    let of_phase = |spec: &PhaseSpec| match (spec.recipe, spec.gives) {
        (PhaseRecipe::Session, Gives::Files | Gives::Edits) => None,
        (PhaseRecipe::Session, Gives::Verdict) => Some(spec.file.clone()),
        (PhaseRecipe::Session, Gives::Text) | (PhaseRecipe::Change, _) => Some(spec.artifact.clone()),
    };
    let is_there = |name: &String| {
        artifact_path(name, ledger, state).is_some_and(|path| !path.is_empty() && ledger.is_file(&path))
    };
    let common =
        [CommonArtifact::Standards, CommonArtifact::Prompt, CommonArtifact::Response, CommonArtifact::Code];
    let common = common.map(|artifact| artifact.as_str().to_owned());
    state.flow.phases.iter().filter_map(of_phase).chain(common).filter(is_there).collect()
}

/// The most recently approved file that satisfies a test.
fn newest_bound(state: &State, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let wanted = state.bound.iter().filter(|(path, _)| is_wanted(path));
    wanted.max_by_key(|(path, bound)| (bound.rank, *path)).map(|(path, _)| path.clone())
}

/// The iterations with approved code.
pub(super) fn iterations_with_code(state: &State) -> Vec<u32> {
    let iterations = state.bound.keys().filter_map(|path| Some(code_file(path)?.0));
    iterations.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// The code directory of the last iteration with approved code.
pub(super) fn newest_code(state: &State) -> String {
    code_path(*iterations_with_code(state).last().unwrap_or(&1), "")
}

/// The most recently approved result, or the prompt.
fn newest_artifact(state: &State) -> String {
    let artifacts = state.flow.phases.iter().map(PhaseSpec::artifact_file);
    let bound = artifacts.filter_map(|file| Some((state.bound.get(&file)?.rank, file)));
    match bound.max() {
        Some((_, file)) => file,
        None => state.prompt_path().unwrap_or_default(),
    }
}
