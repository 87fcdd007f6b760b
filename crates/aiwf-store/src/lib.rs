//! The only crate that changes files.
//!
//! A file is written under a temporary name next to its target, synced and moved into place, so a reader sees either
//! the old bytes or the new ones. Appending to a session's journal and syncing it is the commit point. The files of a
//! reply are checked as a whole before any of them is written.

mod atomic;
mod confined;
mod confined_tree;
mod consents;
mod journal;
mod ledger;
mod ledger_dir;
mod ledger_record;
mod lock;
mod name;
mod objects;
mod self_running;
mod user_file;
mod write_plan;

pub use atomic::{Durability, StoreError, append, create_dir, remove, write_atomic};
pub use confined::{ConfinedDir, ConfinedError, Entry, EntryKind, open_regular, read_regular};
pub use confined_tree::{EntryStat, Hashing, remove_tree};
pub use consents::{Consent, ConsentKind, Consents};
pub use journal::{Journal, JournalError, Line, Torn};
pub use ledger::{DiskLedger, DiskLedgerStore, Ledger, LedgerStore, is_temporary};
pub use ledger_dir::{LedgerDir, MAX_LEDGER_FILE_BYTES};
pub use ledger_record::{LedgerRecord, LedgerRecords, RecordMatch};
pub use lock::{Lock, LockError};
pub use name::{folded, is_invisible, is_reserved_dir, name_fault};
pub use objects::{Objects, hex, sha256_file, sha256_hex};
pub use self_running::run_by;
pub use user_file::{UserFileError, read_user_file, update_user_file};
pub use write_plan::{PlanProblem, WritePlan};
