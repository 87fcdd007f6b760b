//! Why checks cannot be run or changed.

use std::path::PathBuf;

use aiwf_engine::{CheckError, TrustError};

use super::{Failure, Sample, store_error, text, texts};

pub(super) fn check_errors() -> Vec<Sample> {
    every_variant!(CheckError, Failure::from, {
        Unknown => [
            CheckError::Unknown { name: text("tset"), known: texts(["lint", "test"]) },
            CheckError::Unknown { name: text("x"), known: texts(["lint", "test"]) },
        ],
        None => [CheckError::None],
        NotAgreed => [
            CheckError::NotAgreed { names: texts(["tests"]) },
            CheckError::NotAgreed { names: texts(["lint", "tests"]) },
        ],
        NoDirectory => [CheckError::NoDirectory { path: PathBuf::from("/home/me/copy") }],
        Exists => [CheckError::Exists { name: text("tests") }],
        BadName => [CheckError::BadName { name: text("two words"), rule: aiwf_engine::config::CHECK_NAME_RULE }],
        BadCommand => [CheckError::BadCommand { run: text("make\ntest") }],
        NotAdded => [CheckError::NotAdded {
            why: text("`checks` is set in another form"),
            block: text("[[checks]]\nname = \"tests\"\nrun = \"make test\"\n"),
        }],
        Trust => [CheckError::Trust(TrustError::NoPlace)],
        Store => [CheckError::Store(store_error())],
    })
}
