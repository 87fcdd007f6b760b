//! The allowed words of settings.

/// A setting with a fixed set of words.
pub(crate) trait Choice: Copy + 'static {
    fn choices() -> &'static [Self];
    fn name(self) -> &'static str;
}

/// What a provider can do with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsAbility {
    /// Reads and writes files of the project.
    LocalWrite,
    /// Reads files of the project.
    LocalRead,
    /// Works with text only.
    WriteOnly,
    /// Works with text alone.
    None,
}

impl FsAbility {
    pub const ALL: [Self; 4] = [Self::LocalWrite, Self::LocalRead, Self::WriteOnly, Self::None];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::LocalWrite => "local-write",
            Self::LocalRead => "local-read",
            Self::WriteOnly => "write-only",
            Self::None => "none",
        }
    }
}

/// The form in which a provider without file access writes its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditForm {
    /// The lines to find in a file, and the lines that replace them.
    SearchReplace,
    /// A unified diff.
    Diff,
    /// Every changed file as a whole.
    Files,
}

impl EditForm {
    /// Every value, the default first.
    pub const ALL: [Self; 3] = [Self::SearchReplace, Self::Diff, Self::Files];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::SearchReplace => "search-replace",
            Self::Diff => "diff",
            Self::Files => "files",
        }
    }
}

/// What to do with sessions that the user did not create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adopt {
    /// No command acts on one until the user adopts it.
    Ask,
    /// Every command acts on them, for disposable machines such as CI.
    Always,
}

impl Adopt {
    /// Every value, the default first.
    pub const ALL: [Self; 2] = [Self::Ask, Self::Always];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Always => "always",
        }
    }
}

/// What happens when a run takes an edge whose condition does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conditions {
    Warn,
    Enforce,
}

impl Conditions {
    /// Every value, the default first.
    pub const ALL: [Self; 2] = [Self::Warn, Self::Enforce];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Enforce => "enforce",
        }
    }
}

/// The network access of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckNetwork {
    /// Only this machine.
    Loopback,
}

impl CheckNetwork {
    pub const ALL: [Self; 1] = [Self::Loopback];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
        }
    }
}

impl Choice for FsAbility {
    fn choices() -> &'static [Self] {
        &Self::ALL
    }

    fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Choice for EditForm {
    fn choices() -> &'static [Self] {
        &Self::ALL
    }

    fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Choice for Adopt {
    fn choices() -> &'static [Self] {
        &Self::ALL
    }

    fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Choice for Conditions {
    fn choices() -> &'static [Self] {
        &Self::ALL
    }

    fn name(self) -> &'static str {
        self.as_str()
    }
}

impl Choice for CheckNetwork {
    fn choices() -> &'static [Self] {
        &Self::ALL
    }

    fn name(self) -> &'static str {
        self.as_str()
    }
}
