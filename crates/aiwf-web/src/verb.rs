//! What a person can decide on the page: the last part of a form's address.

use serde::{Serialize, Serializer};

/// A decision about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Approve,
    Reject,
    Retry,
    Respond,
    /// Look whether a pasted reply can be read; nothing is decided.
    Check,
    Accept,
    Revise,
    Rebind,
    RaiseCap,
    Restore,
    Continue,
    AllowChecks,
    Apply,
    Undo,
    Cancel,
    /// Stop what the page started.
    Stop,
    Comment,
    Resolve,
    Dismiss,
}

impl Verb {
    const ALL: [Self; 19] = [
        Self::Approve,
        Self::Reject,
        Self::Retry,
        Self::Respond,
        Self::Check,
        Self::Accept,
        Self::Revise,
        Self::Rebind,
        Self::RaiseCap,
        Self::Restore,
        Self::Continue,
        Self::AllowChecks,
        Self::Apply,
        Self::Undo,
        Self::Cancel,
        Self::Stop,
        Self::Comment,
        Self::Resolve,
        Self::Dismiss,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Retry => "retry",
            Self::Respond => "respond",
            Self::Check => "check",
            Self::Accept => "accept",
            Self::Revise => "revise",
            Self::Rebind => "rebind",
            Self::RaiseCap => "raise-cap",
            Self::Restore => "restore",
            Self::Continue => "continue",
            Self::AllowChecks => "allow-checks",
            Self::Apply => "apply",
            Self::Undo => "undo",
            Self::Cancel => "cancel",
            Self::Stop => "stop",
            Self::Comment => "comment",
            Self::Resolve => "resolve",
            Self::Dismiss => "dismiss",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == name)
    }
}

impl Serialize for Verb {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
