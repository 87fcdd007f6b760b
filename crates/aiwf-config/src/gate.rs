//! Gates as written in the configuration.

use std::fmt;

use crate::name::is_provider_name;

/// Who approves at a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approver {
    Manual,
    /// The gate is skipped.
    Skip,
    /// A model, by the name of its provider.
    Ai(String),
}

impl Approver {
    /// The valid values, for messages.
    pub(crate) const LEGAL: [&'static str; 3] = ["manual", "skip", "ai:<provider>"];

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    pub approver: Approver,
    /// Number of times a model may reject before a person decides.
    pub max_retries: u32,
    /// Whether a model may replace the prompt that it judges with its own version.
    pub allow_rewrite: bool,
}

impl Gate {
    /// A gate without retries and rewrites.
    pub(crate) fn new(approver: Approver) -> Self {
        Self { approver, max_retries: 0, allow_rewrite: false }
    }
}

impl fmt::Display for Gate {
    /// As in a configuration file, in the short form if no option is set.
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
