//! Caches token counts between processes, by the hash of the text.
//!
//! The file can be deleted at any time: it only saves work. Its size is limited, and a damaged file is replaced.
//! Records are sorted by hash, so a look-up reads a few of them and parses none.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use aiwf_prompt::{CountTokens, Sha256Hex, Tokenizer, Tokens};
use aiwf_store::{Durability, write_atomic};

/// Identifies the file and its format version.
const HEAD: &[u8; 16] = b"aiwf-counts-001\n";
const HASH_BYTES: usize = 32;
const RECORD_BYTES: usize = HASH_BYTES + 4;
/// Limits the file to 2.25 MiB.
const MAX_RECORDS: usize = 65_536;

/// A tokenizer with a cache.
#[derive(Debug)]
pub(crate) struct CountCache {
    tokenizer: Tokenizer,
    path: Option<PathBuf>,
    stored: Vec<u8>,
    fresh: Mutex<BTreeMap<[u8; HASH_BYTES], u32>>,
}

impl CountCache {
    /// Opens the cache of a tokenizer; estimates need none.
    pub(crate) fn open(tokenizer: Tokenizer, cache_dir: Option<&std::path::Path>) -> Self {
        let path = cache_dir
            .filter(|_| tokenizer.is_exact())
            .map(|directory| directory.join("counts").join(format!("{}.bin", tokenizer.as_str())));
        let stored = path.as_ref().and_then(|path| std::fs::read(path).ok()).filter(|bytes| is_whole(bytes));
        let stored =
            stored.map(|bytes| bytes.get(HEAD.len()..).unwrap_or_default().to_vec()).unwrap_or_default();
        Self { tokenizer, path, stored, fresh: Mutex::new(BTreeMap::new()) }
    }

    /// Loads the vocabulary in the background if the cache is empty and the vocabulary will be needed.
    pub(crate) fn warm_up(&self) {
        if self.stored.is_empty() && self.tokenizer.is_exact() {
            let tokenizer = self.tokenizer;
            std::thread::spawn(move || tokenizer.load());
        }
    }

    fn stored(&self, hash: &[u8; HASH_BYTES]) -> Option<u32> {
        let (records, _) = self.stored.as_chunks::<RECORD_BYTES>();
        let index =
            records.binary_search_by(|record| record.get(..HASH_BYTES).cmp(&Some(hash.as_slice()))).ok()?;
        let count = records.get(index)?.last_chunk::<4>()?;
        Some(u32::from_le_bytes(*count))
    }

    /// Counts texts whose hashes the caller has already; a hash covers the pieces of a text as one.
    pub(crate) fn count_hashed(&self, texts: &[Vec<&str>], hashes: &[Sha256Hex]) -> Vec<Tokens> {
        if !self.tokenizer.is_exact() {
            return self.tokenizer.count(texts);
        }
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        let known: Vec<Option<u32>> =
            hashes.iter().map(|hash| self.stored(&hash.0).or_else(|| fresh.get(&hash.0).copied())).collect();
        let unknown: Vec<Vec<&str>> = texts
            .iter()
            .zip(&known)
            .filter(|(_, count)| count.is_none())
            .map(|(pieces, _)| pieces.clone())
            .collect();
        let mut counted =
            if unknown.is_empty() { Vec::new() } else { self.tokenizer.count(&unknown) }.into_iter();
        hashes
            .iter()
            .zip(known)
            .map(|(hash, known)| {
                if let Some(count) = known {
                    return Tokens(u64::from(count));
                }
                let tokens = counted.next().unwrap_or_default();
                if let Ok(count) = u32::try_from(tokens.0) {
                    fresh.insert(hash.0, count);
                }
                tokens
            })
            .collect()
    }

    /// Writes new counts; a cache that cannot be written is ignored.
    pub(crate) fn save(&self) {
        let fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = self.path.as_ref().filter(|_| !fresh.is_empty()) else { return };
        let mut records: BTreeMap<&[u8], [u8; 4]> = BTreeMap::new();
        let (stored, _) = self.stored.as_chunks::<RECORD_BYTES>();
        if stored.len() + fresh.len() <= MAX_RECORDS {
            for record in stored {
                if let (Some(hash), Some(count)) = (record.get(..HASH_BYTES), record.last_chunk::<4>()) {
                    records.insert(hash, *count);
                }
            }
        }
        for (hash, count) in fresh.iter().take(MAX_RECORDS) {
            records.insert(hash, count.to_le_bytes());
        }
        let saved = aiwf_store::create_dir(path.parent().unwrap_or(path)).and_then(|()| {
            write_atomic(path, Durability::Process, |out| {
                out.write_all(HEAD)?;
                records.iter().try_for_each(|(hash, count)| {
                    out.write_all(hash)?;
                    out.write_all(count)
                })
            })
        });
        drop(saved);
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let Some(records) = bytes.strip_prefix(HEAD.as_slice()) else { return false };
    let (records, rest) = records.as_chunks::<RECORD_BYTES>();
    rest.is_empty()
        && records.len() <= MAX_RECORDS
        && records.is_sorted_by(|a, b| a.get(..HASH_BYTES) < b.get(..HASH_BYTES))
}

impl CountTokens for CountCache {
    fn name(&self) -> &str {
        self.tokenizer.as_str()
    }

    fn is_exact(&self) -> bool {
        self.tokenizer.is_exact()
    }

    fn count(&self, texts: &[Vec<&str>]) -> Vec<Tokens> {
        if !self.tokenizer.is_exact() {
            return self.tokenizer.count(texts);
        }
        let hashes: Vec<Sha256Hex> =
            texts.iter().map(|pieces| Sha256Hex::of(pieces.iter().copied())).collect();
        self.count_hashed(texts, &hashes)
    }
}

#[cfg(test)]
#[path = "count_cache_tests.rs"]
mod tests;
