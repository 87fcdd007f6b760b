//! What became different in a worktree.

/// What differs from the base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files to write and delete, by path.
    pub changes: Vec<Change>,
    /// What cannot be copied back, by path.
    pub refused: Vec<Refused>,
    /// Files and directories that ignore rules leave out, by path; a directory ends in `/` and counts once.
    pub ignored: Vec<String>,
    /// How many more of those there are.
    pub n_more_ignored: usize,
}

/// A file that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path in the project, with `/` between the parts.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// SHA-256 of what it was in the project; `None` for a new file. Of a renamed file, what it was under its old name.
    pub before: Option<String>,
    /// SHA-256 of what it is; `None` for a deleted file.
    pub after: Option<String>,
    /// How many bytes it has now.
    pub n_bytes: u64,
    /// Whether it can be executed now.
    pub is_executable: bool,
    /// Whether it could be executed before.
    pub was_executable: bool,
}

/// What happened to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// Its bytes changed, or whether it can be executed.
    Changed,
    /// It is gone.
    Deleted,
    /// It has the bytes of a file that is gone.
    Renamed {
        /// The path it had.
        from: String,
    },
}

/// Something that cannot be copied back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its path in the project.
    pub path: String,
    /// Why.
    pub reason: RefusedReason,
}

/// Why something cannot be copied back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedReason {
    /// A symbolic link was made, changed or removed.
    Link,
    /// A repository in the worktree, or a submodule.
    Repository,
    /// A pipe, a socket or a device.
    Special,
    /// A name that is not UTF-8; the path shows it approximately.
    NotUtf8,
    /// It is larger than a file of a plan may be.
    TooLarge {
        /// How many bytes it may have.
        limit: u64,
    },
    /// It is in `.git` or `.aiwf`.
    Reserved,
    /// It is not in the project but elsewhere in its repository.
    Outside,
    /// The project has something there that was left out of the worktree.
    LeftOut,
    /// It cannot be read.
    Unreadable,
}
