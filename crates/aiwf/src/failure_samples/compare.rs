//! Why prompts could not be compared.

use aiwf_engine::{DiffError, RunError, SessionError};

use super::{Failure, Sample, text, texts};

pub(super) fn diff_errors() -> Vec<Sample> {
    every_variant!(DiffError, Failure::from, {
        NothingNamed => [DiffError::NothingNamed { given: text("befor.json") }],
        NotAPrompt => [DiffError::NotAPrompt { path: text("notes.md"), problem: text("it is not JSON, line 1") }],
        NoText => [DiffError::NoText { path: text("before.json") }],
        NoRound => [
            DiffError::NoRound { id: text("login"), round: text("plan@3"), known: texts(["plan@1", "implement@1"]) },
            DiffError::NoRound { id: text("login"), round: text("plan@1"), known: Vec::new() },
        ],
        NoCall => [DiffError::NoCall { id: text("login"), number: 4, n_calls: 1 }],
        NotRecorded => [DiffError::NotRecorded { name: text("login@1") }],
        NotRebuildable => [DiffError::NotRebuildable {
            name: text("login:plan@1"),
            problem: "its inputs may have changed since",
        }],
        NoRevision => [DiffError::NoRevision { revision: text("v9") }],
        Session => [DiffError::Session(SessionError::NoOpenSession)],
        Run => [DiffError::Run(RunError::NoRun { given: text("2026") })],
    })
}
