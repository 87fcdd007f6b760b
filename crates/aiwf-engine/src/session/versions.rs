//! The versions of a session's artifacts: listed, read, and compared.

use aiwf_session::{Actor, PhaseSpec, State, Surface, Version, VersionName, VersionOutcome};
use aiwf_store::sha256_hex;
use serde::Serialize;

use super::diff::unified;
use super::journal;
use crate::Engine;
use crate::ledger::{SessionLedger, SessionRef};
use crate::session::session_error::SessionError;

/// A version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VersionReport {
    /// The artifact with the number: `plan@2`.
    pub name: String,
    pub artifact: String,
    pub version: u32,
    pub outcome: VersionOutcome,
    pub iteration: u32,
    pub sha256: String,
    /// The reopened version that it was made from, while that is not approved again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub built_on: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<NoteReport>,
}

/// What a person said with an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoteReport {
    pub text: String,
    pub by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<Surface>,
}

impl Engine {
    /// The versions of every artifact, in the order of the flow, oldest first.
    pub fn session_versions<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<Vec<VersionReport>, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        Ok(version_reports(&folded(&ledger)?))
    }

    /// The name and the text of a version, such as `plan@2`; without a number, of the newest.
    pub fn version_text<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        name: &VersionName,
    ) -> Result<(String, String), SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let state = folded(&ledger)?;
        let (spec, version) = find_version(&ledger, &state, name)?;
        let text = lossy(&version_bytes(&ledger, &state, spec, version)?);
        Ok((state.version_name(spec.name, version.number), text))
    }

    /// The unified diff between two versions of an artifact; without numbers, of the last two.
    pub fn diff_versions<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        artifact: &str,
        versions: Option<(u32, u32)>,
    ) -> Result<String, SessionError> {
        let ledger = journal::find_any(self.settings(), given)?;
        let state = folded(&ledger)?;
        let named = |version| VersionName { artifact: artifact.to_owned(), version };
        let (spec, newest) = find_version(&ledger, &state, &named(None))?;
        let (from, to) = versions.unwrap_or((newest.number.saturating_sub(1), newest.number));
        let bytes = |number: u32| {
            let (spec, version) = find_version(&ledger, &state, &named(Some(number)))?;
            version_bytes(&ledger, &state, spec, version)
        };
        // The first version is compared with nothing.
        let old = if from == 0 { None } else { Some(bytes(from)?) };
        Ok(unified(&spec.artifact, old.as_deref(), Some(&bytes(to)?)))
    }

    /// The diff between a version of an artifact and the one before it.
    pub fn diff_version<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
        name: &VersionName,
    ) -> Result<String, SessionError> {
        let versions = name.version.map(|number| (number.saturating_sub(1), number));
        self.diff_versions(given, &name.artifact, versions)
    }
}

pub(super) fn folded(ledger: &SessionLedger) -> Result<State, SessionError> {
    Ok(State::fold(ledger.journal()?.lines().iter().map(|line| &line.event)))
}

/// A text for people; bytes that are not UTF-8 are replaced.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The name and the surface of somebody who decided.
pub(super) fn by_whom(by: &Actor) -> (String, Option<Surface>) {
    match by {
        Actor::Person(person) => (person.name.clone(), person.surface),
        Actor::Provider(name) => (name.clone(), None),
        Actor::OpenGate => ("open gate".to_owned(), None),
    }
}

pub(super) fn version_reports(state: &State) -> Vec<VersionReport> {
    let of_phase = |spec: &'_ PhaseSpec| {
        let report = |version: &Version| VersionReport {
            name: state.version_name(spec.name, version.number),
            artifact: spec.artifact.clone(),
            version: version.number,
            outcome: version.outcome,
            iteration: version.iteration,
            sha256: version.sha256.clone(),
            built_on: version.stale.map(|(phase, number)| state.version_name(phase, number)),
            note: version.note.as_ref().map(|note| {
                let (by, surface) = by_whom(&note.by);
                NoteReport { text: note.text.clone(), by, surface }
            }),
        };
        state.versions_of(spec.name).iter().map(report).collect::<Vec<_>>()
    };
    state.flow.phases.iter().flat_map(of_phase).collect()
}

/// The version that was reopened and is made again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReopenedReport {
    /// `plan@2`.
    pub name: String,
    pub artifact: String,
    pub by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<Surface>,
    pub reason: String,
}

/// The version of the current phase that a person reopened, until there is a new one.
pub(super) fn reopened_version(state: &State) -> Option<&Version> {
    state.versions_of(state.phase).last().filter(|newest| newest.outcome == VersionOutcome::Reopened)
}

pub(super) fn reopened_report(state: &State) -> Option<ReopenedReport> {
    let version = reopened_version(state)?;
    let feedback = state.feedback.as_ref()?;
    let (by, surface) = by_whom(&feedback.by);
    Some(ReopenedReport {
        name: state.version_name(state.phase, version.number),
        artifact: state.flow.spec(state.phase)?.artifact.clone(),
        by,
        surface,
        reason: feedback.text.clone(),
    })
}

/// Approved artifacts that were made from a reopened version, each with that version.
pub(super) fn stale_artifacts(state: &State) -> Vec<StaleArtifact> {
    let named =
        |(phase, version, (of, number)): (aiwf_session::Phase, &Version, (aiwf_session::Phase, u32))| {
            StaleArtifact {
                name: state.version_name(phase, version.number),
                built_on: state.version_name(of, number),
            }
        };
    state.stale_versions().into_iter().map(named).collect()
}

/// An approved artifact that was made from a reopened version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct StaleArtifact {
    /// `implementation@1`.
    pub name: String,
    /// `plan@1`.
    pub built_on: String,
}

/// The artifacts that have a version, in the order of the flow.
fn with_versions(state: &State) -> Vec<String> {
    let phases = state.flow.phases.iter().filter(|spec| !state.versions_of(spec.name).is_empty());
    phases.map(|spec| spec.artifact.clone()).collect()
}

pub(super) fn find_version<'s>(
    ledger: &SessionLedger,
    state: &'s State,
    name: &VersionName,
) -> Result<(&'s PhaseSpec, &'s Version), SessionError> {
    let spec = state.flow.phase_of_artifact(&name.artifact);
    let known: Vec<u32> = spec
        .map(|spec| state.versions_of(spec.name).iter().map(|version| version.number).collect())
        .unwrap_or_default();
    let (Some(spec), Some(newest)) = (spec, known.last()) else {
        return Err(SessionError::NoArtifact {
            artifact: name.artifact.clone(),
            id: ledger.label().to_owned(),
            known: with_versions(state),
        });
    };
    let number = name.version.unwrap_or(*newest);
    let version = state.versions_of(spec.name).iter().find(|version| version.number == number);
    let missing = || SessionError::NoVersion {
        artifact: spec.artifact.clone(),
        id: ledger.label().to_owned(),
        version: number,
        known,
    };
    Ok((spec, version.ok_or_else(missing)?))
}

/// The bytes of a version. One at its gate is what is on disk, edited or not.
pub(super) fn version_bytes(
    ledger: &SessionLedger,
    state: &State,
    spec: &PhaseSpec,
    version: &Version,
) -> Result<Vec<u8>, SessionError> {
    let is_at_gate = version.outcome == VersionOutcome::Pending && state.phase == spec.name;
    if is_at_gate && let Some(bytes) = ledger.read(&version.path)? {
        return Ok(bytes);
    }
    if let Some(bytes) = ledger.kept(&version.sha256) {
        return Ok(bytes);
    }
    // Sessions of 0.1.0 keep rejected replies only as files.
    let file = ledger.read(&version.path)?.filter(|bytes| sha256_hex(bytes) == version.sha256);
    file.ok_or_else(|| SessionError::NothingApproved { path: ledger.shown(&version.path) })
}
