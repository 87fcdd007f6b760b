//! Decides whether commands may act on a session, change or run, and stores what the user agreed to.
//!
//! Everything in a project directory may come from a stranger. The user's own state directory (`~/.aiwf/state/`)
//! records each ledger this user worked on, and every consent, bound to exact bytes. Reading needs no trust. Whatever
//! opens a ledger to act on it calls [`Engine::refuse_untrusted`], and its [`Witness`] records every append.

mod adopt;
mod agreed;
pub(crate) mod trust_error;

use std::fmt;
use std::path::PathBuf;

use aiwf_config::{Adopt, Config, Settings};
use aiwf_store::{LedgerRecords, Line, RecordMatch, StoreError};

use crate::Engine;
use crate::ledger::SessionLedger;
use crate::trust::trust_error::TrustError;

pub use adopt::{Adoption, AdoptionGate};
pub use agreed::{Agreement, AgreementKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerKind {
    Session,
    Change,
    Run,
}

impl LedgerKind {
    const ALL: [Self; 3] = [Self::Session, Self::Change, Self::Run];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Change => "change",
            Self::Run => "run",
        }
    }

    /// The directory of its records.
    fn directory(self) -> &'static str {
        match self {
            Self::Session => "sessions",
            Self::Change => "changes",
            Self::Run => "runs",
        }
    }
}

impl fmt::Display for LedgerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Records the length of a trusted ledger while it is open.
#[derive(Clone, Debug)]
pub(crate) struct Witness {
    /// `None` without a home directory.
    records: Option<LedgerRecords>,
    id: String,
    project: PathBuf,
    is_adopted: bool,
}

impl Witness {
    /// Records the current length of the journal.
    ///
    /// The event is already in the journal. So a state directory that cannot be written is no failure as long as there
    /// is an older record, which still matches. Without one, the ledger would be foreign for the next command.
    pub(crate) fn remember<E>(&self, lines: &[Line<E>]) -> Result<(), StoreError> {
        let (Some(records), Some(first)) = (&self.records, lines.first()) else { return Ok(()) };
        match records.remember(&self.id, lines, &self.project, self.is_adopted) {
            Err(error) if records.get(&self.id, &first.sha256).is_none() => Err(error),
            Err(_) | Ok(()) => Ok(()),
        }
    }

    /// Whether the user created the ledger here instead of adopting it.
    pub(crate) fn is_own(&self) -> bool {
        !self.is_adopted
    }

    /// Removes the record of a ledger whose creation failed.
    pub(crate) fn forget<E>(&self, lines: &[Line<E>]) {
        if let (Some(records), Some(first)) = (&self.records, lines.first()) {
            drop(records.forget(&self.id, &first.sha256));
        }
    }
}

fn records(settings: &Settings, kind: LedgerKind) -> Option<LedgerRecords> {
    settings.state_dir().map(|state| LedgerRecords::at(state.join(kind.directory())))
}

impl Engine {
    /// The witness of a ledger that this process creates.
    pub(crate) fn witness_created(&self, kind: LedgerKind, id: &str) -> Witness {
        Witness {
            records: records(self.settings(), kind),
            id: id.to_owned(),
            project: self.settings().project_root.clone(),
            is_adopted: false,
        }
    }

    /// Whether commands may act on a ledger: the only place that decides it.
    ///
    /// A foreign ledger is adopted if the user said `--adopt` or configured that. A journal that is shorter than, or
    /// different from, what this user last saw is always refused.
    pub(crate) fn refuse_untrusted<E>(
        &self,
        kind: LedgerKind,
        id: &str,
        lines: &[Line<E>],
        config: &Config,
    ) -> Result<Witness, TrustError> {
        let on_adopt = self.call_context().adopt.as_ref();
        let is_adopting = on_adopt.is_some() || config.trust.adopt.value == Adopt::Always;
        let created = self.witness_created(kind, id);
        let adopted = Witness { is_adopted: true, ..created.clone() };
        let id = id.to_owned();
        let Some(records) = &created.records else {
            return if is_adopting { Ok(adopted) } else { Err(TrustError::NoHome { kind, id }) };
        };
        let standing = records.standing(&id, lines);
        if let Some(error) = lost(kind, &id, lines, &standing) {
            return Err(error);
        }
        match standing {
            RecordMatch::Known(record) => Ok(Witness { is_adopted: record.is_adopted, ..created }),
            _ if is_adopting => {
                if let Some(on_adopt) = on_adopt {
                    on_adopt(kind.as_str(), &id);
                }
                adopted.remember(lines)?;
                Ok(adopted)
            }
            RecordMatch::Foreign | RecordMatch::Short(_) | RecordMatch::Different(_) => {
                Err(TrustError::Foreign { kind, id })
            }
        }
    }
}

/// What reading commands report about a journal: that it is foreign, or differs from what the user last saw.
pub(crate) fn problem<E>(
    settings: &Settings,
    kind: LedgerKind,
    id: &str,
    lines: &[Line<E>],
) -> Option<TrustError> {
    let Some(records) = records(settings, kind) else {
        return Some(TrustError::NoHome { kind, id: id.to_owned() });
    };
    let standing = records.standing(id, lines);
    match standing {
        RecordMatch::Known(_) => None,
        RecordMatch::Foreign => Some(TrustError::Foreign { kind, id: id.to_owned() }),
        RecordMatch::Short(_) | RecordMatch::Different(_) => lost(kind, id, lines, &standing),
    }
}

/// Whether the user created a ledger here; for ledgers that are only read.
pub(crate) fn is_own<E>(settings: &Settings, kind: LedgerKind, id: &str, lines: &[Line<E>]) -> bool {
    let standing = records(settings, kind).map(|records| records.standing(id, lines));
    matches!(standing, Some(RecordMatch::Known(record)) if !record.is_adopted)
}

/// Refuses a journal that does not contain what the user last saw, even a foreign one.
pub(crate) fn refuse_lost<E>(
    settings: &Settings,
    kind: LedgerKind,
    id: &str,
    lines: &[Line<E>],
) -> Result<(), TrustError> {
    let standing = records(settings, kind).map(|records| records.standing(id, lines));
    standing.and_then(|standing| lost(kind, id, lines, &standing)).map_or(Ok(()), Err)
}

/// Whether the user never worked on a ledger, by the first line of its journal alone; for lists.
pub(crate) fn is_foreign(settings: &Settings, ledger: &SessionLedger) -> bool {
    let first = records(settings, ledger.kind()).zip(first_sha256(ledger));
    first.and_then(|(records, first)| records.get(&ledger.id, &first)).is_none()
}

/// The hash in the first line of a journal.
pub(crate) fn first_sha256(ledger: &SessionLedger) -> Option<String> {
    let line = ledger.ledger().ok()?.read_first_line().ok()?;
    // A line starts with its hash: `{"sha256":"…"`.
    let sha256 = std::str::from_utf8(&line).ok()?.strip_prefix("{\"sha256\":\"")?.get(..64)?;
    Some(sha256.to_owned())
}

/// Removes the record of a removed ledger; a leftover record does no harm.
pub(crate) fn forget(settings: &Settings, kind: LedgerKind, id: &str, first_sha256: &str) {
    if let Some(records) = records(settings, kind) {
        drop(records.forget(id, first_sha256));
    }
}

/// The error for a journal that does not contain what was last seen.
fn lost<E>(kind: LedgerKind, id: &str, lines: &[Line<E>], standing: &RecordMatch) -> Option<TrustError> {
    let id = id.to_owned();
    match standing {
        RecordMatch::Short(record) => {
            Some(TrustError::Short { kind, id, found: lines.len() as u64, expected: record.last_seq })
        }
        RecordMatch::Different(record) => Some(TrustError::Different { kind, id, seq: record.last_seq }),
        RecordMatch::Known(_) | RecordMatch::Foreign => None,
    }
}
