//! Gates as settings name them.

use std::fmt;

use crate::name::is_provider_name;

/// A gate of a session or a change: a phase and a stage, `planning.prompt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GateName(&'static str);

/// How many of the gates are a session's.
const N_OF_SESSION: usize = 8;

impl GateName {
    /// Every gate, in the order a session meets them, then those of a change.
    pub const ALL: [Self; 18] = [
        Self("planning.prompt"),
        Self("planning.response"),
        Self("generating.prompt"),
        Self("generating.response"),
        Self("reviewing.prompt"),
        Self("reviewing.response"),
        Self("revising.prompt"),
        Self("revising.response"),
        Self("plan.prompt"),
        Self("plan.response"),
        Self("challenge.prompt"),
        Self("challenge.response"),
        Self("implement.prompt"),
        Self("implement.response"),
        Self("review.prompt"),
        Self("review.response"),
        Self("archive.prompt"),
        Self("archive.response"),
    ];

    /// The gates of a session.
    pub fn of_session() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().take(N_OF_SESSION)
    }

    /// `phase.stage`.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// The gate with that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|gate| gate.0 == name)
    }
}

/// Who says yes at a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approver {
    /// A person.
    Manual,
    /// Nobody: the gate is always open.
    Skip,
    /// A provider.
    Ai(String),
}

impl Approver {
    /// How the legal values are written, for messages.
    pub(crate) const LEGAL: [&'static str; 3] = ["manual", "skip", "ai:<provider>"];

    /// The approver written like that.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "manual" => Some(Self::Manual),
            "skip" => Some(Self::Skip),
            _ => name
                .strip_prefix("ai:")
                .filter(|provider| is_provider_name(provider))
                .map(|provider| Self::Ai(provider.to_owned())),
        }
    }
}

impl fmt::Display for Approver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manual => f.write_str("manual"),
            Self::Skip => f.write_str("skip"),
            Self::Ai(provider) => write!(f, "ai:{provider}"),
        }
    }
}

/// How a gate works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Who says yes.
    pub approver: Approver,
    /// How often a provider may say no before a person decides.
    pub max_retries: u32,
    /// Whether a provider may rewrite what it judges.
    pub allow_rewrite: bool,
}

impl Gate {
    /// A gate with that approver, who is not asked again and rewrites nothing.
    pub(crate) fn new(approver: Approver) -> Self {
        Self { approver, max_retries: 0, allow_rewrite: false }
    }
}

impl fmt::Display for Gate {
    /// As in a configuration file, the short form where it says everything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { approver, max_retries, allow_rewrite } = self;
        if (*max_retries, *allow_rewrite) == (0, false) {
            return approver.fmt(f);
        }
        write!(
            f,
            "{{ approver = \"{approver}\", max_retries = {max_retries}, allow_rewrite = {allow_rewrite} }}"
        )
    }
}
