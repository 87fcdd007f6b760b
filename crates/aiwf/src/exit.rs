//! Exit codes; scripts rely on them.

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The request cannot be done, or the answer is no.
    Refused,
    /// The command line makes no sense.
    Usage,
    /// A person or a reply is needed.
    Waiting,
    /// The provider gave no answer.
    ProviderFailed,
    /// The program is wrong.
    Bug,
    /// The work is done, and its result could not be written.
    Unwritten,
    /// The user interrupted it.
    Interrupted,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Refused => 1,
            Self::Usage => 2,
            Self::Waiting => 3,
            Self::ProviderFailed => 4,
            Self::Bug => 70,
            // EX_IOERR of sysexits.h, as 70 is EX_SOFTWARE.
            Self::Unwritten => 74,
            Self::Interrupted => 130,
        }
    }
}
