//! The artifacts that every session has, whatever its flow.

/// An artifact of the engine; flows name the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommonArtifact {
    Standards,
    Prompt,
    Response,
    Code,
    /// The newest result of a phase.
    Latest,
    Checks,
    Worktree,
}

impl CommonArtifact {
    pub const ALL: [Self; 7] = [
        Self::Standards,
        Self::Prompt,
        Self::Response,
        Self::Code,
        Self::Latest,
        Self::Checks,
        Self::Worktree,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standards => "standards",
            Self::Prompt => "prompt",
            Self::Response => "response",
            Self::Code => "code",
            Self::Latest => "latest",
            Self::Checks => "checks",
            Self::Worktree => "worktree",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|artifact| artifact.as_str() == name)
    }
}

/// Files of the engine that an artifact of a flow with this name would overwrite.
const FILES: [&str; 2] = ["standards-bundle", "rejected-reply"];

/// The names that no artifact of a flow may have.
pub fn reserved_artifact_names() -> impl Iterator<Item = &'static str> {
    FILES.into_iter().chain(CommonArtifact::ALL.map(CommonArtifact::as_str))
}
