//! Merges two changes of one file.
//!
//! In: what the file was, and what two sides made of it. Out: both changes, or where they meet. `git merge-file` does it:
//! a line that a merge loses without a word is worse than any conflict, and no other merge is tried by as many people.

use std::path::PathBuf;

use aiwf_process::Stop;

use crate::error::WorktreeError;
use crate::git::{Config, Git};

/// From this exit code on git reports an error and not the number of conflicts.
const FIRST_ERROR: i32 = 128;

/// What became of two changes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// Both of them.
    Clean(Vec<u8>),
    /// They touch the same lines: the text with markers; `None` where the file is no text.
    Conflict(Option<Vec<u8>>),
}

/// Merges two changes of one file. Needs git unless only one side changed it.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8], stop: &Stop) -> Result<Merged, WorktreeError> {
    if ours == theirs || theirs == base {
        return Ok(Merged::Clean(ours.to_vec()));
    }
    if ours == base {
        return Ok(Merged::Clean(theirs.to_vec()));
    }
    let is_text = |bytes: &[u8]| !bytes.contains(&0);
    if ![base, ours, theirs].into_iter().all(is_text) {
        return Ok(Merged::Conflict(None));
    }
    let io_error = |source| WorktreeError::Io { action: "write", path: PathBuf::from("ours"), source };
    let directory = tempfile::tempdir().map_err(io_error)?;
    for (name, bytes) in [("ours", ours), ("base", base), ("theirs", theirs)] {
        let path = directory.path().join(name);
        aiwf_store::write_atomic(&path, aiwf_store::Durability::Process, |out| out.write_all(bytes))?;
    }
    let git = Git {
        directory: directory.path(),
        repository: None,
        work_tree: None,
        config: Config::Own,
        settings: &[],
        stop,
    };
    let action = "merge the changes of a file";
    let args =
        ["merge-file", "-p", "-q", "-L", "yours", "-L", "before", "-L", "new", "ours", "base", "theirs"];
    let output = git.run(action, &args, Vec::new())?;
    match output.code {
        Some(0) => Ok(Merged::Clean(output.stdout)),
        Some(1..FIRST_ERROR) => Ok(Merged::Conflict(Some(output.stdout))),
        _ => Err(output.failed(action)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Merged {
        merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &Stop::default()).unwrap()
    }

    #[test]
    fn changes_of_different_lines_are_both_kept() {
        let base = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let clean = merged(base, "one\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\n5\n6\n7\neight");
        assert_eq!(clean, Merged::Clean(b"one\n2\n3\n4\n5\n6\n7\neight".to_vec()));
    }

    #[test]
    fn changes_of_one_line_are_a_conflict_with_both_in_it() {
        let Merged::Conflict(Some(text)) = merged("1\n2\n3\n", "1\nours\n3\n", "1\ntheirs\n3\n") else {
            panic!("merged");
        };
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "1\n<<<<<<< yours\nours\n=======\ntheirs\n>>>>>>> new\n3\n");
    }

    #[test]
    fn a_file_that_is_no_text_is_a_conflict_unless_one_side_left_it_alone() {
        assert_eq!(merged("\0a", "\0b", "\0c"), Merged::Conflict(None));
        assert_eq!(merged("\0a", "\0a", "\0c"), Merged::Clean(b"\0c".to_vec()));
        assert_eq!(merged("\0a", "\0b", "\0b"), Merged::Clean(b"\0b".to_vec()));
    }

    mod properties {
        use super::*;

        proptest! {
            #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::default() })]

            /// Each side puts lines of its own in: a clean merge has all of them, in their order, and nothing else.
            #[test]
            fn a_clean_merge_loses_no_line(
                places in prop::collection::vec((0..10_usize, any::<bool>()), 0..6),
            ) {
                let side = |wanted: Option<bool>| {
                    let mut lines = Vec::new();
                    for number in 0..10_usize {
                        for (idx, (at, is_ours)) in places.iter().enumerate() {
                            if *at == number && wanted.is_some_and(|wanted| wanted == *is_ours) {
                                lines.push(format!("new {idx}\n"));
                            }
                        }
                        lines.push(format!("line {number}\n"));
                    }
                    lines.concat()
                };
                let (base, ours, theirs) = (side(None), side(Some(true)), side(Some(false)));
                if let Merged::Clean(bytes) = merged(&base, &ours, &theirs) {
                    let text = String::from_utf8(bytes).unwrap();
                    for (idx, _) in places.iter().enumerate() {
                        let line = format!("new {idx}\n");
                        prop_assert_eq!(text.matches(&line).count(), 1);
                    }
                    prop_assert_eq!(text.lines().count(), 10 + places.len());
                }
            }
        }
    }
}
