//! The only crate that changes files.
//!
//! A file is written under a temporary name beside its target, synced, and moved into place, so a reader sees the
//! old bytes or the new ones and never half of them.

mod atomic;

pub use atomic::{Durability, StoreError, create_dir, write_atomic};
