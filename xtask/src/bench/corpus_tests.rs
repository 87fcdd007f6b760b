use std::collections::BTreeSet;
use std::fs;

use super::{prose, write_corpus};

#[test]
fn the_same_seed_gives_the_same_text() {
    assert_eq!(prose(7, 10_000), prose(7, 10_000));
    assert_ne!(prose(7, 10_000), prose(8, 10_000));
}

#[test]
fn text_has_the_size_asked_for_and_whole_lines() {
    let text = prose(1, 100_000);
    assert!((99_000..=100_000).contains(&text.len()), "{}", text.len());
    assert!(text.ends_with('\n'));
}

#[test]
fn files_differ_and_are_listed_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = write_corpus(dir.path(), 300, |_| 2000).unwrap();
    assert_eq!(corpus.files.len(), 300);
    assert!(corpus.files.is_sorted());
    let texts: BTreeSet<Vec<u8>> =
        corpus.files.iter().map(|file| fs::read(corpus.root.join(file)).unwrap()).collect();
    assert_eq!(texts.len(), 300);
    assert_eq!(corpus.n_bytes, texts.iter().map(|text| text.len() as u64).sum::<u64>());
}
