//! Why something that came with a directory is not acted on, and what to do about it.

use aiwf_advice::{Action, Advice};
use aiwf_config::ConfigError;
use aiwf_store::{StoreError, UserFileError};

use crate::trust::LedgerKind;

/// Why something is not trusted, or cannot be.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The user never worked on this session, change or run.
    #[error("{kind} `{id}` is not yours: it came with this directory, from another machine or another user")]
    Foreign {
        /// What it is.
        kind: LedgerKind,
        /// Its id.
        id: String,
    },
    /// Its journal is shorter than it was.
    #[error(
        "the journal of {kind} `{id}` has lost its end: it has {found} of the {expected} events you last saw"
    )]
    Short {
        /// What it is.
        kind: LedgerKind,
        /// Its id.
        id: String,
        /// How many events there are.
        found: u64,
        /// How many there were.
        expected: u64,
    },
    /// Its journal is another one.
    #[error("the journal of {kind} `{id}` was replaced: event {seq} is not the one you last saw")]
    Different {
        /// What it is.
        kind: LedgerKind,
        /// Its id.
        id: String,
        /// The event that differs.
        seq: u64,
    },
    /// Nobody can say whose it is.
    #[error("`HOME` is not set, so aiwf cannot tell whether {kind} `{id}` is yours")]
    NoHome {
        /// What it is.
        kind: LedgerKind,
        /// Its id.
        id: String,
    },
    /// There is no place to remember consent.
    #[error("`HOME` is not set, so aiwf has no place to remember what you agree to")]
    NoPlace,
    /// It changed between being shown and being adopted.
    #[error("{kind} `{id}` changed while you were reading")]
    ChangedMeanwhile {
        /// What it is.
        kind: LedgerKind,
        /// Its id.
        id: String,
    },
    /// No session, change or run has that name.
    #[error("no session, change or run `{given}`")]
    Unknown {
        /// What was given.
        given: String,
    },
    /// The name stands for several.
    #[error("`{given}` matches several: {}", matching.join(", "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// What it matches.
        matching: Vec<String>,
    },
    /// Nothing of that name needs consent.
    #[error("{what} needs no consent: nothing in this project's configuration sets it")]
    NothingToAgree {
        /// What was named.
        what: String,
    },
    /// Nothing of that name was agreed to.
    #[error("you have not agreed to `{given}`")]
    NotAgreed {
        /// What was given.
        given: String,
    },
    /// What was agreed to cannot be read or written.
    #[error(transparent)]
    Consent(#[from] UserFileError),
    /// The state directory cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl TrustError {
    /// One thing to do about it.
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

    /// A name for programs that stays the same between versions.
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
