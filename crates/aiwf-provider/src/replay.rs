//! Recorded answers: a directory with one file for each request.
//!
//! A recording is found by the key of its payload. One that is not there is an error that names the nearest and the
//! first section that differs, so a changed input is seen and never answered with something else.

use std::path::{Path, PathBuf};

use aiwf_store::{Durability, StoreError, create_dir, write_atomic};
use serde::{Deserialize, Serialize};

use crate::ask::{Answer, Ask, Check, Permission, Reply, Request, ToolCall, Usage};
use crate::ask_error::AskError;
use crate::payload::{Payload, SectionHash};
use crate::recorded_files::{self, ChangedFiles, RecordedFile};
use crate::sink::Sink;

/// One request and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recording {
    /// The version of this format.
    pub(crate) version: u32,
    /// What it is called in messages, such as `planning-1`.
    pub(crate) name: String,
    /// The key of the payload.
    pub(crate) key: String,
    /// Who answered.
    pub(crate) provider: String,
    /// What it could take, so that a replay asks with the same prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) capability: Option<RecordedCapability>,
    /// What the prompt was made of.
    pub(crate) sections: Vec<SectionHash>,
    /// The text of each section, where a miss is to say which byte differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) texts: Option<Vec<String>>,
    /// The answer, as it came.
    pub(crate) reply: String,
    /// The tools the model wanted used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<ToolCall>,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    /// What the agent changed, when it might write to its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<Vec<RecordedFile>>,
}

/// What the provider of a recording could take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each says one thing it could do or not")]
pub struct RecordedCapability {
    /// What it could do with files.
    pub fs_ability: String,
    /// Whether it took system text apart from the user's.
    pub supports_system_prompt: bool,
    /// Whether files were named as `@path` instead of standing in the prompt.
    pub supports_file_attachments: bool,
    /// Whether the files that were named so travelled with the request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sends_files: bool,
    /// The agent whose system templates it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_agent: Option<String>,
    /// Whether it called tools by its own means.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_native_tools: bool,
}

/// An answer that is to be kept.
#[derive(Clone, Debug)]
pub struct Answered<'a> {
    /// What the call is called in messages, such as `planning-1`.
    pub name: &'a str,
    /// Who answered.
    pub provider: &'a str,
    /// What it could take.
    pub capability: Option<RecordedCapability>,
    /// The text, as it came.
    pub text: &'a str,
    /// What else came.
    pub reply: &'a Reply,
    /// What the agent changed, when it might write to its directory.
    pub changes: Option<ChangedFiles<'a>>,
    /// Whether the text of each section is kept beside its hash.
    pub keeps_texts: bool,
}

/// A recorded answer.
#[derive(Clone, Debug)]
pub struct RecordedReply {
    /// The name of the recording.
    pub name: String,
    /// Who answered.
    pub provider: String,
    /// The model that answered.
    pub model: Option<String>,
    /// The text, as it came.
    pub text: String,
    /// What it used.
    pub usage: Option<Usage>,
}

/// A directory of recordings.
#[derive(Clone, Debug)]
pub struct Cassette {
    directory: PathBuf,
}

/// The format of recordings without changes of files, of those with them, and of those with texts.
const VERSION: u32 = 1;
const VERSION_WITH_CHANGES: u32 = 2;
const VERSION_WITH_TEXTS: u32 = 3;

impl Cassette {
    /// The recordings in a directory.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// Keeps a request and its answer.
    pub fn record(&self, payload: &Payload, answered: Answered<'_>) -> Result<(), StoreError> {
        let name = answered.name;
        create_dir(&self.directory)?;
        let changes =
            answered.changes.map(|changes| recorded_files::record(&self.directory, changes)).transpose()?;
        let recording = Recording {
            version: match (answered.keeps_texts, changes.is_some()) {
                (true, _) => VERSION_WITH_TEXTS,
                (false, true) => VERSION_WITH_CHANGES,
                (false, false) => VERSION,
            },
            name: name.to_owned(),
            key: payload.key(),
            provider: answered.provider.to_owned(),
            capability: answered.capability,
            sections: payload.sections.iter().map(comparable).collect(),
            texts: answered.keeps_texts.then(|| payload.section_texts()),
            reply: answered.text.to_owned(),
            tool_calls: answered.reply.tool_calls.clone(),
            model: answered.reply.model.clone(),
            usage: answered.reply.usage.clone(),
            changes,
        };
        let short = recording.key.get(..12).unwrap_or(&recording.key);
        let path = self.directory.join(format!("{name}-{short}.json"));
        write_atomic(&path, Durability::PowerLoss, |out| {
            serde_json::to_writer_pretty(&mut *out, &recording)?;
            out.write_all(b"\n")
        })
    }

    /// What the provider of a call could take: of the recording with its name, else of its phase, else of the first.
    pub fn capability(&self, name: &str) -> Option<RecordedCapability> {
        let recordings = self.recordings().ok()?;
        let phase = |recording: &&Recording| recording.name == name;
        // Another round of the same phase says more than a call of another one.
        let phase_of =
            |name: &str| name.rsplit_once('-').map_or(name.to_owned(), |(phase, _)| phase.to_owned());
        let of_phase = || recordings.iter().find(|recording| phase_of(&recording.name) == phase_of(name));
        let of_call = recordings.iter().find(phase).or_else(of_phase);
        of_call.or_else(|| recordings.first()).and_then(|recording| recording.capability.clone())
    }

    /// Whether a call is recorded with what its agent changed.
    pub fn has_changes(&self) -> bool {
        let recordings = self.recordings().unwrap_or_default();
        recordings.iter().any(|recording| recording.changes.is_some())
    }

    /// The recorded answer to a request; a miss names the nearest recording, and where it differs.
    pub fn find(&self, payload: &Payload) -> Result<RecordedReply, AskError> {
        let recordings = self.recordings()?;
        let key = payload.key();
        let found = recordings.iter().find(|recording| recording.key == key);
        let found = found.ok_or_else(|| not_recorded(&recordings, payload))?;
        Ok(RecordedReply {
            name: found.name.clone(),
            provider: found.provider.clone(),
            model: found.model.clone(),
            text: found.reply.clone(),
            usage: found.usage.clone(),
        })
    }

    fn recordings(&self) -> Result<Vec<Recording>, AskError> {
        let unreadable = |message: String| AskError::Unreadable {
            directory: self.directory.display().to_string(),
            message,
        };
        let entries = std::fs::read_dir(&self.directory).map_err(|error| {
            let is_gone = error.kind() == std::io::ErrorKind::NotFound;
            unreadable(if is_gone { "there is no such directory".to_owned() } else { error.to_string() })
        })?;
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        paths.sort();
        paths.iter().map(|path| read(path).map_err(unreadable)).collect()
    }
}

/// The largest recording; a request and its reply are smaller.
const MAX_RECORDING_BYTES: u64 = 256 * 1024 * 1024;

fn read(path: &Path) -> Result<Recording, String> {
    let name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = aiwf_store::read_regular(path, MAX_RECORDING_BYTES)
        .map_err(|error| format!("{}: {error}", name()))?;
    let recording: Recording =
        serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", name()))?;
    if recording.version > VERSION_WITH_TEXTS {
        return Err(format!("{}: format {} is newer than this program", name(), recording.version));
    }
    Ok(recording)
}

/// A provider that answers from recordings, offline.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    cassette: Cassette,
}

impl Replay {
    /// Answers from these recordings.
    pub(crate) fn new(cassette: Cassette) -> Self {
        Self { cassette }
    }

    /// Makes the changes of a recording, if the call may; what to say about them.
    fn put_changes(&self, found: &Recording, request: &Request<'_>) -> Result<Vec<String>, AskError> {
        let changes = found.changes.as_deref().unwrap_or_default();
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        if request.permission != Permission::WriteDirectory {
            return Ok(vec!["the recorded file changes are not applied: this call may not write".to_owned()]);
        }
        recorded_files::replay(&self.cassette.directory, &found.name, changes, request.directory)?;
        Ok(Vec::new())
    }
}

impl Ask for Replay {
    fn is_free(&self) -> bool {
        true
    }

    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        let payload = request.payload;
        let key = payload.key();
        let recordings = self.cassette.recordings()?;
        if let Some(found) = recordings.iter().find(|recording| recording.key == key) {
            let notes = self.put_changes(found, request)?;
            sink.text(&found.reply).map_err(AskError::Sink)?;
            return Ok(Answer::Reply(Reply {
                usage: found.usage.clone(),
                model: found.model.clone(),
                tool_calls: found.tool_calls.clone(),
                notes,
                ..Reply::default()
            }));
        }
        Err(not_recorded(&recordings, payload))
    }

    fn check(&self) -> Vec<Check> {
        vec![match self.cassette.recordings() {
            Ok(recordings) => Check::ok("recordings", format!("{} recordings", recordings.len())),
            Err(error) => Check::bad("recordings", error.to_string(), error.advice()),
        }]
    }
}

fn not_recorded(recordings: &[Recording], payload: &Payload) -> AskError {
    let nearest = recordings.iter().max_by_key(|recording| n_alike(recording, payload));
    let differs = nearest.and_then(|recording| first_difference(recording, payload));
    AskError::NotRecorded {
        nearest: nearest.map(|recording| recording.name.clone()),
        at_byte: nearest.and_then(|recording| first_byte(recording, payload, differs.as_deref()?)),
        differs,
    }
}

/// The first byte in which a section differs from the recorded one of the same name.
fn first_byte(recording: &Recording, payload: &Payload, section: &str) -> Option<usize> {
    let text_of = |sections: &[SectionHash], texts: &[String]| {
        sections.iter().zip(texts).find(|(known, _)| known.id == section).map(|(_, text)| text.clone())
    };
    let recorded = text_of(&recording.sections, recording.texts.as_deref()?)?;
    let now = text_of(&payload.sections, &payload.section_texts())?;
    let n_same = recorded.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count();
    (recorded != now).then_some(n_same)
}

fn n_alike(recording: &Recording, payload: &Payload) -> usize {
    payload.sections.iter().filter(|section| has(&recording.sections, section)).count()
}

/// Where a section comes from may differ from session to session; what it says decides.
fn has(sections: &[SectionHash], wanted: &SectionHash) -> bool {
    sections.iter().any(|section| section.id == wanted.id && section.key() == wanted.key())
}

/// A section as it is recorded: another session with the same inputs has the same.
fn comparable(section: &SectionHash) -> SectionHash {
    SectionHash { sha256: section.key().to_owned(), key: None, ..section.clone() }
}

fn first_difference(recording: &Recording, payload: &Payload) -> Option<String> {
    let differs = payload.sections.iter().find(|section| !has(&recording.sections, section));
    let missing = || recording.sections.iter().find(|section| !has(&payload.sections, section));
    differs.or_else(missing).map(|section| section.id.clone())
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
