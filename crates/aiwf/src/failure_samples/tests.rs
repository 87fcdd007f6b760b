//! Why tests of prompts cannot run.

use std::path::PathBuf;

use aiwf_engine::{SessionError, TestError};

use super::{Failure, Sample, text};

pub(super) fn test_errors() -> Vec<Sample> {
    every_variant!(TestError, Failure::from, {
        NoTests => [TestError::NoTests { path: PathBuf::from("/home/me/project") }],
        NoPath => [TestError::NoPath { path: PathBuf::from("tests/reviews.toml") }],
        NothingMatches => [TestError::NothingMatches { filter: text("reveiw"), n_cases: 12 }],
        BadFilter => [TestError::BadFilter { message: text("`(` is not a regular expression: unclosed group") }],
        Baseline => [TestError::Baseline {
            path: PathBuf::from("before.json"),
            message: text("expected value at line 1 column 1"),
        }],
        TooMany => [TestError::TooMany { file: text(".aiwf/tests/plan.toml"), line: 12, limit: 100_000 }],
        RecordWithoutLive => [TestError::RecordWithoutLive],
        Session => [TestError::Session(SessionError::NoRequest)],
    })
}
