//! The first event of a journal: the kind and the name of a session.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::trust::LedgerKind;

/// The part of the first event that all kinds share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FirstEvent {
    /// The id of the session; a directory with another name contains a copy.
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) kind: LedgerKind,
    pub(crate) at: String,
}

#[derive(Deserialize)]
struct Line {
    at: String,
    event: Event,
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Event {
    SessionCreated { setup: SessionSetup },
    RunCreated { setup: RunSetup },
}

#[derive(Deserialize)]
struct SessionSetup {
    session_id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    change: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct RunSetup {
    run_id: String,
}

impl FirstEvent {
    /// Parses the first line of a journal; `None` if it is not one of ours.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let Line { at, event } = serde_json::from_slice(line).ok()?;
        Some(match event {
            Event::SessionCreated { setup } => Self {
                id: setup.session_id,
                name: setup.name,
                kind: if setup.change.is_some() { LedgerKind::Change } else { LedgerKind::Session },
                at,
            },
            Event::RunCreated { setup } => Self { id: setup.run_id, name: None, kind: LedgerKind::Run, at },
        })
    }
}
