//! Why tests cannot run at all.

use std::path::PathBuf;

use crate::session::session_error::SessionError;

#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error("there are no tests in `{}`", path.display())]
    NoTests { path: PathBuf },
    #[error("`{}` does not exist", path.display())]
    NoPath { path: PathBuf },
    #[error("no case matches `{filter}`")]
    NothingMatches { filter: String, n_cases: usize },
    #[error("{message}")]
    BadFilter { message: String },
    #[error("the baseline `{}` cannot be used: {message}", path.display())]
    Baseline { path: PathBuf, message: String },
    #[error("the cases up to line {line} of `{file}` make more than {limit} runs")]
    TooMany { file: String, line: usize, limit: usize },
    #[error("`--record-missing` needs `--live`")]
    RecordWithoutLive,
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl TestError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoTests { .. } | Self::NoPath { .. } => "TEST_NOT_FOUND",
            Self::NothingMatches { .. }
            | Self::BadFilter { .. }
            | Self::TooMany { .. }
            | Self::RecordWithoutLive => "INPUT_INVALID",
            Self::Baseline { .. } => "FILE_UNREADABLE",
            Self::Session(error) => error.code(),
        }
    }

    pub fn advice(&self) -> Option<aiwf_advice::Advice> {
        Some(match self {
            Self::NoTests { .. } => {
                "write cases to `.aiwf/tests/NAME.toml`, or name a profile, a flow, a package or a test file"
                    .into()
            }
            Self::NoPath { .. } => "name a test file or a directory that exists".into(),
            Self::NothingMatches { n_cases, .. } => {
                format!("the filter is a regular expression over the names of {n_cases} cases").into()
            }
            Self::TooMany { .. } => {
                "a case runs for each receiver, format, variant and repetition: test fewer of them at once"
                    .into()
            }
            Self::BadFilter { .. } => "correct the regular expression of `--filter`".into(),
            Self::Baseline { .. } => "write one with `--json`".into(),
            Self::RecordWithoutLive => "add `--live`, or omit `--record-missing`".into(),
            Self::Session(error) => return error.advice(),
        })
    }
}
