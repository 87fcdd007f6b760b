//! Errors of files, journals and locks.

use std::io;
use std::path::PathBuf;

use aiwf_engine::{EngineError, JournalError, LockError, SessionError, StoreError};

use super::{Failure, Sample, denied, store_error, text};

pub(super) fn store_errors() -> Vec<Sample> {
    let shown = |number| {
        let source = io::Error::from_raw_os_error(number);
        Failure::from(EngineError::from(StoreError { path: PathBuf::from("out/prompt.md"), source }))
    };
    vec![
        ("no directory", shown(2)),
        ("no right", shown(13)),
        ("a directory", shown(21)),
        ("no room", shown(28)),
        ("anything else", shown(30)),
    ]
}

pub(super) fn journal_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(SessionError::Journal(error));
    let path = || PathBuf::from(".aiwf/sessions/x/journal.jsonl");
    every_variant!(JournalError, shown, {
        Unreadable => [JournalError::Unreadable { path: path(), source: denied() }],
        Changed => [
            JournalError::Changed { path: path(), line: 7, problem: text("its hash does not follow from line 6") },
            JournalError::Changed { path: path(), line: 2, problem: text("it is not JSON") },
            JournalError::Changed { path: path(), line: 1, problem: text("it is not JSON") },
        ],
        Refused => [JournalError::Refused {
            path: path(),
            line: 7,
            problem: text("it names the path `../../.netrc`, which leaves the session"),
        }],
        Short => [JournalError::Short { path: path(), found: 812, expected: 14_723 }],
        TooNew => [JournalError::TooNew { path: path(), line: 7, found: 9 }],
        Store => [JournalError::Store(store_error())],
    })
}

pub(super) fn lock_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(SessionError::Lock(error));
    every_variant!(LockError, shown, {
        Taken => [LockError::Taken],
        Unusable => [LockError::Unusable { path: PathBuf::from(".aiwf/sessions/x/lock"), source: denied() }],
    })
}
