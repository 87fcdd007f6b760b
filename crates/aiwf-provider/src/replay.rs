//! Recorded answers: a directory with one file for each request.
//!
//! A recording is found by the key of its payload. One that is not there is an error that names the nearest and the
//! first section that differs, so a changed input is seen and never answered with something else.

use std::path::{Path, PathBuf};

use aiwf_store::{Durability, StoreError, create_dir, write_atomic};
use serde::{Deserialize, Serialize};

use crate::ask::{Answer, Ask, AskError};
use crate::payload::{Payload, SectionHash};

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The version of this format.
    pub version: u32,
    /// What it is called in messages, such as `planning-1`.
    pub name: String,
    /// The key of the payload.
    pub key: String,
    /// Who answered.
    pub provider: String,
    /// What the prompt was made of.
    pub sections: Vec<SectionHash>,
    /// The answer, as it came.
    pub reply: String,
}

/// A directory of recordings.
#[derive(Clone, Debug)]
pub struct Cassette {
    directory: PathBuf,
}

const VERSION: u32 = 1;

impl Cassette {
    /// The recordings in a directory.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Keeps a request and its answer.
    pub fn record(
        &self,
        name: &str,
        provider: &str,
        payload: &Payload,
        reply: &str,
    ) -> Result<(), StoreError> {
        let recording = Recording {
            version: VERSION,
            name: name.to_owned(),
            key: payload.key(),
            provider: provider.to_owned(),
            sections: payload.sections.clone(),
            reply: reply.to_owned(),
        };
        create_dir(&self.directory)?;
        let short = recording.key.get(..12).unwrap_or(&recording.key);
        let path = self.directory.join(format!("{name}-{short}.json"));
        write_atomic(&path, Durability::PowerLoss, |out| {
            serde_json::to_writer_pretty(&mut *out, &recording)?;
            out.write_all(b"\n")
        })
    }

    fn recordings(&self) -> Result<Vec<Recording>, AskError> {
        let unreadable = |message: String| AskError::Unreadable {
            directory: self.directory.display().to_string(),
            message,
        };
        let entries = std::fs::read_dir(&self.directory).map_err(|error| unreadable(error.to_string()))?;
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        paths.sort();
        paths.iter().map(|path| read(path).map_err(unreadable)).collect()
    }
}

fn read(path: &Path) -> Result<Recording, String> {
    let name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", name()))?;
    let recording: Recording = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", name()))?;
    if recording.version > VERSION {
        return Err(format!("{}: format {} is newer than this program", name(), recording.version));
    }
    Ok(recording)
}

/// A provider that answers from recordings, offline.
#[derive(Clone, Debug)]
pub struct Replay {
    cassette: Cassette,
}

impl Replay {
    /// Answers from these recordings.
    pub fn new(cassette: Cassette) -> Self {
        Self { cassette }
    }
}

impl Ask for Replay {
    fn is_free(&self) -> bool {
        true
    }

    fn ask(&self, payload: &Payload) -> Result<Answer, AskError> {
        let key = payload.key();
        let recordings = self.cassette.recordings()?;
        if let Some(found) = recordings.iter().find(|recording| recording.key == key) {
            return Ok(Answer::Reply(found.reply.clone()));
        }
        let nearest = recordings.iter().max_by_key(|recording| n_alike(recording, payload));
        Err(AskError::NotRecorded {
            nearest: nearest.map(|recording| recording.name.clone()),
            differs: nearest.and_then(|recording| first_difference(recording, payload)),
        })
    }
}

fn n_alike(recording: &Recording, payload: &Payload) -> usize {
    payload.sections.iter().filter(|section| has(&recording.sections, section)).count()
}

/// Where a section comes from may differ from session to session; what it says decides.
fn has(sections: &[SectionHash], wanted: &SectionHash) -> bool {
    sections.iter().any(|section| section.id == wanted.id && section.sha256 == wanted.sha256)
}

fn first_difference(recording: &Recording, payload: &Payload) -> Option<String> {
    let differs = payload.sections.iter().find(|section| !has(&recording.sections, section));
    let missing = || recording.sections.iter().find(|section| !has(&payload.sections, section));
    differs.or_else(missing).map(|section| section.id.clone())
}

#[cfg(test)]
mod tests {
    use aiwf_prompt::{Message, Role};

    use super::*;

    fn section(id: &str, sha256: &str) -> SectionHash {
        SectionHash { id: id.to_owned(), source: String::new(), bytes: 0, sha256: sha256.to_owned() }
    }

    fn payload(session: &str, text: &str) -> Payload {
        Payload {
            system: None,
            messages: vec![Message {
                role: Role::User,
                content: format!("save to .aiwf/sessions/{session}/x: {text}"),
            }],
            sections: vec![section("standards", "same"), section("task", text)],
            session_id: Some(session.to_owned()),
        }
    }

    #[test]
    fn another_session_with_the_same_inputs_gets_the_recorded_answer() {
        let directory = tempfile::tempdir().unwrap();
        let cassette = Cassette::in_directory(directory.path().join("cassette"));
        cassette.record("planning-1", "agent", &payload("session-a", "plan it"), "the plan").unwrap();
        let replay = Replay::new(cassette);
        assert_eq!(replay.ask(&payload("session-b", "plan it")), Ok(Answer::Reply("the plan".to_owned())));
    }

    #[test]
    fn a_request_that_was_not_recorded_names_the_nearest_and_the_first_difference() {
        let directory = tempfile::tempdir().unwrap();
        let cassette = Cassette::in_directory(directory.path());
        cassette.record("planning-1", "agent", &payload("s", "plan it"), "the plan").unwrap();
        let error = Replay::new(cassette).ask(&payload("s", "plan more")).unwrap_err();
        insta::assert_snapshot!(format!("{error}\n{}", error.hint()), @r"
        no recording answers this request
          nearest: `planning-1`; the first section that differs is `task`
        bring the inputs back to what was recorded, or use a provider that can answer
        ");
    }

    #[test]
    fn recordings_that_are_not_there_are_an_error() {
        let error = Replay::new(Cassette::in_directory("no/such/dir")).ask(&payload("s", "x")).unwrap_err();
        assert!(matches!(error, AskError::Unreadable { .. }));
    }
}
