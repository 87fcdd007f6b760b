//! Errors of trust, with advice.

use aiwf_advice::{Action, Advice};
use aiwf_config::ConfigError;
use aiwf_store::{StoreError, UserFileError};

use crate::trust::LedgerKind;

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The user never worked on it.
    #[error("{kind} `{id}` is not yours: it came with this directory, from another machine or another user")]
    Foreign { kind: LedgerKind, id: String },
    /// The journal is shorter than it was.
    #[error(
        "the journal of {kind} `{id}` is incomplete: it has {found} of the {expected} events you last saw"
    )]
    Short { kind: LedgerKind, id: String, found: u64, expected: u64 },
    /// The journal was replaced.
    #[error("the journal of {kind} `{id}` was replaced: event {seq} is not the one you last saw")]
    Different { kind: LedgerKind, id: String, seq: u64 },
    #[error("`HOME` is not set, so aiwf cannot tell whether {kind} `{id}` is yours")]
    NoHome { kind: LedgerKind, id: String },
    #[error("`HOME` is not set, so aiwf cannot store your consent")]
    NoPlace,
    /// It changed between being shown and being adopted.
    #[error("{kind} `{id}` changed while you were reading")]
    ChangedMeanwhile { kind: LedgerKind, id: String },
    #[error("no session, change or run `{given}`")]
    Unknown { given: String },
    #[error("`{given}` matches several: {}", matching.join(", "))]
    Ambiguous { given: String, matching: Vec<String> },
    #[error("{what} needs no consent: nothing in this project's configuration sets it")]
    NothingToAgree { what: String },
    #[error("you have not agreed to `{given}`")]
    NotAgreed { given: String },
    #[error(transparent)]
    Consent(#[from] UserFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl TrustError {
    pub fn advice(&self) -> Advice {
        match self {
            Self::Foreign { id, .. } => Advice::from(Action::Adopt)
                .then(" shows what it contains and asks you; `--adopt` trusts it in a script")
                .about_session(id),
            Self::Short { id, .. } | Self::Different { id, .. } => {
                Advice::from("restore its `journal.jsonl` from a backup; ")
                    .then(Action::Adopt)
                    .then(" continues with what is there")
                    .about_session(id)
            }
            Self::NoHome { .. } => "set `HOME`, or trust it for this command with `--adopt`".into(),
            Self::NoPlace => "set `HOME` to a directory that you can write to".into(),
            Self::ChangedMeanwhile { id, .. } => {
                Advice::from("read it again with ").then(Action::Adopt).about_session(id)
            }
            Self::Unknown { .. } => Advice::from(Action::ListSessions).then(" lists every session"),
            Self::Ambiguous { .. } => "give more of the name".into(),
            Self::NothingToAgree { .. } => {
                Advice::from(Action::ConfigOrigins).then(" shows where each setting comes from")
            }
            Self::NotAgreed { .. } => Advice::from(Action::ListTrust).then(" lists what you agreed to"),
            Self::Consent(error) => error.hint().into(),
            Self::Store(error) => error.hint().into(),
            Self::Config(error) => error.hint(),
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Self::Foreign { .. } | Self::NoHome { .. } => "NOT_ADOPTED",
            Self::Short { .. } | Self::Different { .. } => "JOURNAL_CHANGED",
            Self::ChangedMeanwhile { .. } => "RUN_BUSY",
            Self::Unknown { .. } | Self::Ambiguous { .. } => "RUN_ID_INVALID",
            Self::NothingToAgree { .. } | Self::NotAgreed { .. } => "INPUT_INVALID",
            Self::Consent(UserFileError::Unreadable { .. }) => "FILE_UNREADABLE",
            Self::NoPlace | Self::Consent(_) | Self::Store(_) => "FILE_UNWRITABLE",
            Self::Config(error) => error.code(),
        }
    }
}
