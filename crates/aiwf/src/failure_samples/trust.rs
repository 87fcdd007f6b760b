//! Errors of trust and consent.

use std::path::PathBuf;

use aiwf_engine::config::ConfigError;
use aiwf_engine::{LedgerKind, LockError, SessionError, TrustError, UserFileError};

use super::{Failure, Sample, denied, store_error, text, texts};

const KIND: LedgerKind = LedgerKind::Session;

fn id() -> String {
    text("20260301-120000-01ab")
}

pub(super) fn trust_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(SessionError::Trust(error));
    every_variant!(TrustError, shown, {
        Foreign => [
            TrustError::Foreign { kind: KIND, id: id() },
            TrustError::Foreign { kind: LedgerKind::Change, id: text("add-login") },
        ],
        Short => [TrustError::Short { kind: KIND, id: id(), found: 7, expected: 12 }],
        Different => [TrustError::Different { kind: LedgerKind::Run, id: id(), seq: 12 }],
        NoHome => [TrustError::NoHome { kind: KIND, id: id() }],
        NoPlace => [TrustError::NoPlace],
        ChangedMeanwhile => [TrustError::ChangedMeanwhile { kind: KIND, id: id() }],
        Unknown => [TrustError::Unknown { given: text("2025") }],
        Ambiguous => [TrustError::Ambiguous { given: text("2026"), matching: texts(["session 20260301", "run 20260302"]) }],
        NothingToAgree => [TrustError::NothingToAgree { what: text("provider `codex`") }],
        NotAgreed => [TrustError::NotAgreed { given: text("our-agent") }],
        Consent => [TrustError::Consent(UserFileError::Store(store_error()))],
        Store => [TrustError::Store(store_error())],
        Config => [TrustError::Config(ConfigError::LeavesProject)],
    })
}

pub(super) fn user_file_errors() -> Vec<Sample> {
    let shown = |error| Failure::from(SessionError::Trust(TrustError::Consent(error)));
    every_variant!(UserFileError, shown, {
        Unreadable => [UserFileError::Unreadable { path: PathBuf::from("/home/me/.aiwf/state/consents.json"), source: denied() }],
        Store => [UserFileError::Store(store_error())],
        Lock => [UserFileError::Lock(LockError::Taken)],
    })
}
