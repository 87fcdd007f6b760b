#![expect(clippy::disallowed_methods, reason = "tests damage a file of their own")]

use std::path::Path;

use proptest::prelude::*;

use super::*;

const VOCABULARY: Tokenizer = Tokenizer::O200kBase;

fn directory() -> tempfile::TempDir {
    aiwf_testkit::scratch_dir()
}

fn file(directory: &Path) -> PathBuf {
    directory.join("counts/o200k_base.bin")
}

fn count(cache: &CountCache, texts: &[&str]) -> Vec<u64> {
    let pieces: Vec<Vec<&str>> = texts.iter().map(|text| vec![*text]).collect();
    cache.count(&pieces).into_iter().map(|tokens| tokens.0).collect()
}

fn hash(text: &str) -> [u8; HASH_BYTES] {
    Sha256Hex::of([text]).0
}

/// A file with these records, in this order.
fn write(directory: &Path, records: impl IntoIterator<Item = ([u8; HASH_BYTES], u32)>) {
    let mut bytes = HEAD.to_vec();
    for (hash, count) in records {
        bytes.extend(hash);
        bytes.extend(count.to_le_bytes());
    }
    std::fs::create_dir_all(directory.join("counts")).unwrap();
    std::fs::write(file(directory), bytes).unwrap();
}

fn records(directory: &Path) -> usize {
    (std::fs::read(file(directory)).unwrap().len() - HEAD.len()) / RECORD_BYTES
}

#[test]
fn what_one_process_counted_the_next_one_knows() {
    let directory = directory();
    let first = CountCache::open(VOCABULARY, Some(directory.path()));
    assert_eq!(count(&first, &["hello world", "", "hello"]), [2, 0, 1]);
    first.save();
    assert_eq!(records(directory.path()), 3);
    let next = CountCache::open(VOCABULARY, Some(directory.path()));
    assert_eq!(next.stored(&hash("hello world")), Some(2));
    assert_eq!(next.stored(&hash("other")), None);
    assert_eq!(count(&next, &["hello", "hello world", ""]), [1, 2, 0]);
}

#[test]
fn a_known_count_is_not_counted_again() {
    let directory = directory();
    write(directory.path(), [(hash("hello"), 77)]);
    let cache = CountCache::open(VOCABULARY, Some(directory.path()));
    assert_eq!(count(&cache, &["hello", "hello world"]), [77, 2]);
}

#[test]
fn pieces_are_known_by_what_they_are_together() {
    let directory = directory();
    let cache = CountCache::open(VOCABULARY, Some(directory.path()));
    assert_eq!(cache.count(&[vec!["hello", " ", "world"]]), [Tokens(2)]);
    cache.save();
    let next = CountCache::open(VOCABULARY, Some(directory.path()));
    assert_eq!(next.stored(&hash("hello world")), Some(2));
}

#[test]
fn new_counts_join_the_old_ones_in_order() {
    let directory = directory();
    for texts in [["a", "b"], ["b", "c"]] {
        let cache = CountCache::open(VOCABULARY, Some(directory.path()));
        count(&cache, &texts);
        cache.save();
    }
    assert_eq!(records(directory.path()), 3);
    assert!(is_whole(&std::fs::read(file(directory.path())).unwrap()));
}

#[test]
fn nothing_new_writes_nothing() {
    let directory = directory();
    let cache = CountCache::open(VOCABULARY, Some(directory.path()));
    cache.save();
    assert!(!file(directory.path()).exists());
    write(directory.path(), [(hash("hello"), 77)]);
    let cache = CountCache::open(VOCABULARY, Some(directory.path()));
    count(&cache, &["hello"]);
    std::fs::remove_file(file(directory.path())).unwrap();
    cache.save();
    assert!(!file(directory.path()).exists());
}

#[test]
fn a_file_that_is_not_whole_is_not_believed() {
    let directory = directory();
    let one = |hash: [u8; HASH_BYTES]| (hash, 77);
    let (small, large) = ([1; HASH_BYTES], [2; HASH_BYTES]);
    let is_believed = |directory: &Path| !CountCache::open(VOCABULARY, Some(directory)).stored.is_empty();
    write(directory.path(), [one(small), one(large)]);
    assert!(is_believed(directory.path()));
    let whole = std::fs::read(file(directory.path())).unwrap();
    for damaged in [&whole[..whole.len() - 1], &whole[1..], b"", b"aiwf-counts-002\n"] {
        std::fs::write(file(directory.path()), damaged).unwrap();
        assert!(!is_believed(directory.path()));
    }
    write(directory.path(), [one(large), one(small)]);
    assert!(!is_believed(directory.path()), "records out of order");
    write(directory.path(), [one(small), one(small)]);
    assert!(!is_believed(directory.path()), "a record twice");
}

#[test]
fn a_damaged_file_is_replaced() {
    let directory = directory();
    write(directory.path(), []);
    std::fs::write(file(directory.path()), "nonsense").unwrap();
    let cache = CountCache::open(VOCABULARY, Some(directory.path()));
    assert_eq!(count(&cache, &["hello"]), [1]);
    cache.save();
    assert_eq!(records(directory.path()), 1);
}

#[test]
fn a_full_file_starts_again_with_what_is_new() {
    let directory = directory();
    let many = |n: usize| {
        (0..n).map(|number| {
            let mut hash = [0; HASH_BYTES];
            hash[..8].copy_from_slice(&(number as u64).to_be_bytes());
            (hash, 1)
        })
    };
    write(directory.path(), many(MAX_RECORDS));
    let cache = CountCache::open(VOCABULARY, Some(directory.path()));
    assert_eq!(cache.stored.len(), MAX_RECORDS * RECORD_BYTES);
    count(&cache, &["hello"]);
    cache.save();
    assert_eq!(records(directory.path()), 1);
    write(directory.path(), many(MAX_RECORDS + 1));
    assert!(CountCache::open(VOCABULARY, Some(directory.path())).stored.is_empty());
}

#[test]
fn an_estimate_is_not_kept() {
    let directory = directory();
    let cache = CountCache::open(Tokenizer::Estimate, Some(directory.path()));
    assert_eq!(count(&cache, &["12345678"]), [2]);
    cache.save();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn without_a_directory_counts_last_as_long_as_the_process() {
    let cache = CountCache::open(VOCABULARY, None);
    assert_eq!(count(&cache, &["hello", "hello"]), [1, 1]);
    cache.save();
}

#[test]
fn a_directory_that_cannot_be_made_is_done_without() {
    let directory = directory();
    std::fs::write(directory.path().join("counts"), "in the way").unwrap();
    let cache = CountCache::open(VOCABULARY, Some(directory.path()));
    assert_eq!(count(&cache, &["hello"]), [1]);
    cache.save();
    assert_eq!(std::fs::read(directory.path().join("counts")).unwrap(), b"in the way");
}

proptest! {
    #[test]
    fn prop_the_cache_counts_like_its_vocabulary(texts in prop::collection::vec(any::<String>(), 0..8)) {
        let directory = directory();
        let pieces: Vec<Vec<&str>> = texts.iter().map(|text| vec![text.as_str()]).collect();
        let plain = VOCABULARY.count(&pieces);
        for _ in 0..2 {
            let cache = CountCache::open(VOCABULARY, Some(directory.path()));
            prop_assert_eq!(&cache.count(&pieces), &plain);
            cache.save();
        }
    }

    #[test]
    fn prop_no_bytes_in_the_file_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let directory = directory();
        write(directory.path(), []);
        let mut with_head = HEAD.to_vec();
        with_head.extend(&bytes);
        for damaged in [&bytes, &with_head] {
            std::fs::write(file(directory.path()), damaged).unwrap();
            let cache = CountCache::open(VOCABULARY, Some(directory.path()));
            prop_assert_eq!(count(&cache, &["hello world"]), [2]);
        }
    }
}
