#![expect(clippy::disallowed_methods, reason = "the test makes the files it reads")]

use std::cell::Cell;
use std::path::PathBuf;

use super::*;
use crate::prompt::every_core::PARALLEL_ITEMS;

fn written(contents: &[Vec<u8>]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> =
        (0..contents.len()).map(|number| directory.path().join(format!("{number}"))).collect();
    for (path, content) in paths.iter().zip(contents) {
        std::fs::write(path, content).unwrap();
    }
    (directory, paths)
}

fn everything(content: Result<&str, &[u8]>) -> Option<NotText> {
    content.err().map(|bytes| not_text(&format!("{} bytes", bytes.len())))
}

fn not_text(message: &str) -> NotText {
    NotText { bytes: 2, message: message.to_owned() }
}

fn text(outcome: &Result<Content, EngineError>) -> &str {
    match outcome {
        Ok(Content::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn contents_of_any_size_keep_their_order() {
    let sizes = [0, 1, 4096, BUFFER_BYTES - 1, BUFFER_BYTES, BUFFER_BYTES + 1, 3 * BUFFER_BYTES];
    let contents: Vec<Vec<u8>> = (0_u8..100)
        .map(|number| vec![b' ' + number % 90; sizes[usize::from(number) % sizes.len()]])
        .collect();
    let (_directory, paths) = written(&contents);
    let outcomes = read_many(&paths, &everything, &|_| ());
    assert_eq!(outcomes.len(), contents.len());
    for (outcome, content) in outcomes.iter().zip(&contents) {
        assert_eq!(text(outcome).as_bytes(), content);
    }
}

#[test]
fn what_is_no_text_is_judged_by_its_bytes_and_leaves_no_trace_in_others() {
    let contents: Vec<Vec<u8>> = (0..PARALLEL_ITEMS * 2)
        .map(|number| if number % 3 == 1 { b"a\xff".to_vec() } else { format!("ü{number}").into_bytes() })
        .collect();
    let (_directory, paths) = written(&contents);
    for (number, outcome) in read_many(&paths, &everything, &|_| ()).iter().enumerate() {
        if number % 3 == 1 {
            assert_eq!(outcome.as_ref().unwrap(), &Content::LeftOut(not_text("2 bytes")));
        } else {
            assert_eq!(text(outcome), format!("ü{number}"));
        }
    }
}

#[test]
fn a_text_that_is_left_out_does_not_stay() {
    let (_directory, paths) = written(&[b"one".to_vec(), b"no".to_vec(), b"two".to_vec()]);
    let judge = |content: Result<&str, &[u8]>| (content == Ok("no")).then(|| not_text("unwanted"));
    let outcomes = read_many(&paths, &judge, &|_| ());
    assert_eq!(outcomes[1].as_ref().unwrap(), &Content::LeftOut(not_text("unwanted")));
    assert_eq!((text(&outcomes[0]), text(&outcomes[2])), ("one", "two"));
}

#[test]
fn a_file_that_cannot_be_read_is_no_reason_to_stop() {
    let (directory, mut paths) = written(&[b"one".to_vec()]);
    paths.extend([directory.path().join("gone"), directory.path().to_owned()]);
    let outcomes = read_many(&paths, &everything, &|_| ());
    assert_eq!(text(&outcomes[0]), "one");
    assert!(outcomes[1..].iter().all(|outcome| matches!(outcome, Err(EngineError::Unreadable { .. }))));
}

#[test]
fn a_file_that_hides_its_size_is_read_whole() {
    // The system makes such files while they are read.
    let path = PathBuf::from("/proc/self/status");
    if path.exists() {
        let outcomes = read_many(&[path], &everything, &|_| ());
        assert!(text(&outcomes[0]).starts_with("Name:"), "{outcomes:?}");
    }
}

#[test]
fn progress_ends_with_all_of_them() {
    let (_directory, paths) = written(&vec![b"x".to_vec(); PARALLEL_ITEMS * 4]);
    let last = Cell::new(Progress { n_done: 0, n_total: 0 });
    drop(read_many(&paths, &everything, &|progress| last.set(progress)));
    assert_eq!(last.get(), Progress { n_done: paths.len(), n_total: paths.len() });
}

#[test]
fn a_large_file_that_is_left_out_leaves_no_memory_behind_and_its_neighbours_alone() {
    let mut contents = Vec::new();
    for size in 1..6 {
        contents.push(format!("small {size}").into_bytes());
        contents.push(vec![0xff; size * BUFFER_BYTES]);
        contents.push(format!("small {size} again").into_bytes());
        contents.push(vec![b'n'; size * BUFFER_BYTES]);
        contents.push(vec![b'n'; 7]);
    }
    let (_directory, paths) = written(&contents);
    let small_ones = |content: Result<&str, &[u8]>| {
        let is_wanted = content.is_ok_and(|text| text.starts_with("small"));
        (!is_wanted).then(|| not_text("unwanted"))
    };
    let mut reader = Reader::default();
    let n_bytes = AtomicU64::new(0);
    let found: Vec<_> = paths.iter().map(|path| (0, reader.read(path, &small_ones, &n_bytes))).collect();
    let held: usize = reader.full.iter().chain([&reader.current]).map(String::capacity).sum();
    assert!(held <= 2 * BUFFER_BYTES, "{held}");
    let outcomes = reader.finish(found);
    let kept: Vec<&str> = outcomes
        .iter()
        .filter_map(|(_, outcome)| match outcome {
            Ok(Content::Text(text)) => Some(text.as_str()),
            Ok(Content::LeftOut(_)) | Err(_) => None,
        })
        .collect();
    let expected: Vec<String> =
        (1..6).flat_map(|size| [format!("small {size}"), format!("small {size} again")]).collect();
    assert_eq!(kept, expected);
}
