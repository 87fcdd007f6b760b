//! The versions of a session's artifacts: `plan@1`, `plan@2`.
//!
//! Every reply that reached its gate is a version of what its phase gives. Versions are counted over all iterations and
//! folded from events; the same bytes again are no new version, unless these bytes are approved.

use serde::Serialize;

use crate::event::{Actor, FileHash};
use crate::flow::{Flow, PhaseSpec, Target};
use crate::phase::Phase;
use crate::session_path::is_rejected_version;
use crate::state::State;
use crate::verdict::Verdict;

/// What became of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VersionOutcome {
    /// It is at its gate.
    Pending,
    Approved,
    Rejected,
    /// The phase was asked again before anybody decided.
    Replaced,
    /// It was approved, and a person reopened it.
    Reopened,
}

impl VersionOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Replaced => "replaced",
            Self::Reopened => "reopened",
        }
    }
}

/// What a person said with an approval, for the phases that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub by: Actor,
    pub text: String,
}

/// A version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Starts at 1.
    pub number: u32,
    /// Its bytes. For an approved version, the bytes that were approved.
    pub sha256: String,
    /// A file with these bytes, relative to the session. The bytes are also stored by their hash.
    pub path: String,
    pub iteration: u32,
    pub outcome: VersionOutcome,
    pub note: Option<Note>,
    /// A reopened version that this one was made from.
    pub stale: Option<(Phase, u32)>,
    /// The number of the event that approved it; 0 before.
    pub(crate) approved_at: u64,
}

/// An artifact as a person names it: `plan`, `plan@2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionName {
    pub artifact: String,
    /// `None` for the newest.
    pub version: Option<u32>,
}

impl VersionName {
    pub fn parse(text: &str) -> Self {
        let named = text.rsplit_once('@').and_then(|(artifact, number)| Some((artifact, positive(number)?)));
        match named.filter(|(artifact, _)| !artifact.is_empty()) {
            Some((artifact, number)) => Self { artifact: artifact.to_owned(), version: Some(number) },
            None => Self { artifact: text.to_owned(), version: None },
        }
    }

    /// Parses two versions to compare: `plan@1..3`. `None` if the text names no two versions.
    pub fn parse_pair(text: &str) -> Option<(String, u32, u32)> {
        let (artifact, numbers) = text.rsplit_once('@')?;
        let (from, to) = numbers.split_once("..")?;
        (!artifact.is_empty()).then_some((artifact.to_owned(), positive(from)?, positive(to)?))
    }
}

fn positive(text: &str) -> Option<u32> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number > 0)
}

impl Flow {
    /// The phase that gives an artifact: by the artifact's name, the phase's name, or the prefix of its files.
    pub fn phase_of_artifact(&self, name: &str) -> Option<&PhaseSpec> {
        let by = |is_it: &dyn Fn(&&PhaseSpec) -> bool| self.phases.iter().find(is_it);
        by(&|spec| spec.artifact == name)
            .or_else(|| by(&|spec| spec.name.as_str() == name))
            .or_else(|| by(&|spec| spec.file == name))
    }

    /// The phases whose results are made from that of a phase, directly or through others.
    pub(crate) fn readers_of(&self, phase: Phase) -> Vec<Phase> {
        let mut readers = vec![phase];
        let mut n_known = 0;
        while n_known < readers.len() {
            n_known = readers.len();
            for spec in &self.phases {
                if !readers.contains(&spec.name) && spec.reads.iter().any(|read| readers.contains(read)) {
                    readers.push(spec.name);
                }
            }
        }
        readers.retain(|reader| *reader != phase);
        readers
    }

    /// Whether a session in phase `current` has finished phase `earlier` in this pass, so that it can be reopened.
    pub(crate) fn is_behind(&self, earlier: Phase, current: Phase) -> bool {
        let index = |phase: Phase| self.names().position(|name| name == phase);
        if current.is_final() || index(earlier) <= index(current) {
            return true;
        }
        // A loop can lead back in the file: a revision comes before its review.
        let mut phase = earlier;
        for _ in &self.phases {
            let Some(spec) = self.spec(phase) else { return false };
            match spec.on.get(&Verdict::Pass).or(spec.next.as_ref()) {
                Some(Target::Phase(next)) if *next == current => return true,
                Some(Target::Phase(next)) => phase = *next,
                Some(Target::Complete | Target::Stop) | None => return false,
            }
        }
        false
    }
}

impl State {
    /// The versions of what a phase gives, oldest first.
    pub fn versions_of(&self, phase: Phase) -> &[Version] {
        self.versions.get(&phase).map(Vec::as_slice).unwrap_or_default()
    }

    /// The version that later phases read: the last one, if it is approved.
    pub fn approved_version(&self, phase: Phase) -> Option<&Version> {
        self.versions_of(phase).last().filter(|version| version.outcome == VersionOutcome::Approved)
    }

    fn pending(&mut self) -> Option<&mut Version> {
        let newest = self.versions.get_mut(&self.phase)?.last_mut()?;
        (newest.outcome == VersionOutcome::Pending).then_some(newest)
    }

    /// A reply has reached its gate.
    pub(crate) fn version_arrived(&mut self, response: &FileHash) {
        let iteration = self.iteration;
        let versions = self.versions.entry(self.phase).or_default();
        if let Some(newest) = versions.last_mut() {
            // What is approved stays so until another version is.
            if newest.sha256 == response.sha256 && newest.outcome != VersionOutcome::Approved {
                newest.outcome = VersionOutcome::Pending;
                newest.path.clone_from(&response.path);
                newest.iteration = iteration;
                newest.stale = None;
                return;
            }
            if newest.outcome == VersionOutcome::Pending {
                newest.outcome = VersionOutcome::Replaced;
            }
        }
        versions.push(Version {
            number: u32::try_from(versions.len()).unwrap_or(u32::MAX).saturating_add(1),
            sha256: response.sha256.clone(),
            path: response.path.clone(),
            iteration,
            outcome: VersionOutcome::Pending,
            note: None,
            stale: None,
            approved_at: 0,
        });
    }

    /// The reply at the gate was read again: what a person edited is part of it.
    pub(crate) fn version_read(&mut self, response: &FileHash) {
        match self.pending() {
            Some(version) => {
                version.sha256.clone_from(&response.sha256);
                version.path.clone_from(&response.path);
            }
            None => self.version_arrived(response),
        }
    }

    pub(crate) fn version_approved(&mut self, response: &FileHash, by: &Actor, note: Option<&String>) {
        self.version_read(response);
        let approved_at = self.n_events;
        let note = note.map(|text| Note { by: by.clone(), text: text.clone() });
        if let Some(version) = self.pending() {
            version.outcome = VersionOutcome::Approved;
            version.approved_at = approved_at;
            version.note = note;
            // It takes the place of the versions before it.
            for version in self.versions.get_mut(&self.phase).into_iter().flatten() {
                version.stale = None;
            }
        }
    }

    /// The reply at the gate was rejected or replaced. `kept` are the copies of its files.
    pub(crate) fn version_dropped(&mut self, kept: &[FileHash], outcome: VersionOutcome) {
        let response = self.response_path().unwrap_or_default();
        let copy = kept.iter().find(|file| is_rejected_version(&file.path, &response));
        if let Some(version) = self.pending() {
            version.outcome = outcome;
            if let Some(copy) = copy {
                version.sha256.clone_from(&copy.sha256);
                version.path.clone_from(&copy.path);
            }
        }
    }

    /// Reopens an approved version and marks what was made from it. Returns the file with its bytes.
    pub(crate) fn version_reopened(&mut self, phase: Phase) -> Option<FileHash> {
        let reopened = self.versions.get_mut(&phase)?.last_mut()?;
        reopened.outcome = VersionOutcome::Reopened;
        let (number, approved_at) = (reopened.number, reopened.approved_at);
        let file = FileHash { path: reopened.path.clone(), sha256: reopened.sha256.clone() };
        for reader in self.flow.readers_of(phase) {
            let versions = self.versions.get_mut(&reader).map(Vec::as_mut_slice).unwrap_or_default();
            let standing = standing(versions).and_then(|index| versions.get_mut(index));
            if let Some(version) = standing.filter(|version| version.approved_at > approved_at) {
                version.stale.get_or_insert((phase, number));
            }
        }
        Some(file)
    }

    /// Approved results that were made from a reopened version, with that version.
    pub fn stale_versions(&self) -> Vec<(Phase, &Version, (Phase, u32))> {
        let mut stale = Vec::new();
        for (phase, versions) in &self.versions {
            let standing = standing(versions).and_then(|index| versions.get(index));
            stale.extend(standing.and_then(|version| Some((*phase, version, version.stale?))));
        }
        stale
    }

    /// A session that is complete has made everything again that it needs.
    pub(crate) fn settle_versions(&mut self) {
        for version in self.versions.values_mut().flatten() {
            version.stale = None;
        }
    }

    /// The name of a version: `plan@2`.
    pub fn version_name(&self, phase: Phase, number: u32) -> String {
        let artifact = self.flow.spec(phase).map_or_else(|| phase.to_string(), |spec| spec.artifact.clone());
        format!("{artifact}@{number}")
    }
}

/// The index of the approved version that stands, also while a newer one is not approved; none if it was reopened.
fn standing(versions: &[Version]) -> Option<usize> {
    let is_decided =
        |version: &Version| matches!(version.outcome, VersionOutcome::Approved | VersionOutcome::Reopened);
    let index = versions.iter().rposition(is_decided)?;
    versions.get(index).filter(|version| version.outcome == VersionOutcome::Approved).map(|_| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_named_by_its_number() {
        let check = |text: &str| {
            let name = VersionName::parse(text);
            (name.artifact, name.version)
        };
        assert_eq!(check("plan@2"), ("plan".to_owned(), Some(2)));
        assert_eq!(check("plan"), ("plan".to_owned(), None));
        for other in ["plan@", "plan@0", "plan@x", "@2", "a@b.c", "plan@+1"] {
            assert_eq!(check(other), (other.to_owned(), None));
        }
        assert_eq!(VersionName::parse_pair("plan@1..3"), Some(("plan".to_owned(), 1, 3)));
        for other in ["plan", "plan@1", "plan@1..", "plan@0..1", "1..3"] {
            assert_eq!(VersionName::parse_pair(other), None, "{other}");
        }
    }

    #[test]
    fn what_reads_a_result_is_built_on_it() {
        let flow = Flow::find_built_in("spec").unwrap();
        let names = |phase: &str| {
            let readers = flow.readers_of(Phase::from_name(phase).unwrap());
            readers.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names("specify"), ["plan", "tasks", "implement", "review"]);
        assert_eq!(names("tasks"), ["implement", "review"]);
    }

    #[test]
    fn only_what_is_finished_in_this_pass_is_behind() {
        let flow = Flow::find_built_in(Flow::GENERATE).unwrap();
        let phase = |name: &str| Phase::from_name(name).unwrap();
        assert!(flow.is_behind(phase("planning"), phase("revising")));
        assert!(flow.is_behind(phase("revising"), phase("reviewing")));
        assert!(flow.is_behind(phase("generating"), Phase::COMPLETE));
        assert!(!flow.is_behind(phase("generating"), phase("planning")));
        assert!(!flow.is_behind(phase("reviewing"), phase("generating")));
    }
}
