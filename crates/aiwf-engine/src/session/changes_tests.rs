use super::*;

/// The changes after a reply to a project of two files, with what is wrong with it.
fn check(earlier: ProjectChanges, reply: &str) -> (ProjectChanges, Vec<String>) {
    let base = |path: &str| {
        Ok(match path {
            "src/list.py" => Some(b"def list_items():\n    return []\n".to_vec()),
            "old.py" => Some(b"old\n".to_vec()),
            "logo.png" => Some(vec![0xff, 0xfe]),
            _ => None,
        })
    };
    let mut changes = earlier;
    let parsed = aiwf_reply::parse_edits(reply);
    let mut problems: Vec<String> = parsed.problems.iter().map(ToString::to_string).collect();
    changes.edit(&parsed.value, &str::to_owned, &base, &mut problems).unwrap();
    changes.plan(&mut problems);
    (changes, problems)
}

fn shown(changes: &ProjectChanges) -> String {
    let before = |sha256: &str| {
        let known = [b"def list_items():\n    return []\n".to_vec(), b"old\n".to_vec()];
        known.into_iter().find(|bytes| sha256_hex(bytes) == sha256)
    };
    changes.diff(before)
}

#[test]
fn edits_deletions_renames_and_new_files_are_one_set_of_changes() {
    let reply = "Done.\n\n<<<EDIT: src/list.py>>>\n<<<<<<< SEARCH\n    return []\n=======\n    return [1]\n>>>>>>> REPLACE\n\n<<<RENAME: old.py -> new.py>>>\n\n<<<FILE: a.txt>>>\nhello\n";
    let (changes, problems) = check(ProjectChanges::default(), reply);
    assert_eq!(problems, Vec::<String>::new());
    insta::assert_snapshot!(shown(&changes));
    let (files, removed) = changes.recorded();
    assert_eq!(files.len(), 3);
    assert_eq!(removed[0].renamed_to.as_deref(), Some("new.py"));
}

#[test]
fn stored_changes_name_their_files_and_anything_else_names_none() {
    let stored = r#"{"version": 1, "files": [{"path": "a.py", "sha256": "1"}, {"path": "old.py"}]}"#;
    assert_eq!(changed_names(stored.as_bytes()), ["a.py", "old.py"]);
    for other in ["", "{}", "[1]"] {
        assert_eq!(changed_names(other.as_bytes()), Vec::<String>::new());
    }
}

#[test]
fn a_later_round_changes_what_the_earlier_one_made() {
    let (first, _) = check(ProjectChanges::default(), "<<<FILE: a.txt>>>\none\n<<<DELETE: old.py>>>\n");
    let (second, problems) = check(
        first.clone(),
        "<<<EDIT: a.txt>>>\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n<<<FILE: old.py>>>\nback\n",
    );
    assert_eq!(problems, Vec::<String>::new());
    let content = |path: &str| second.iter().find(|(name, _)| *name == path).unwrap().1.content.clone();
    assert_eq!(content("a.txt"), Some(b"two\n".to_vec()));
    assert_eq!(content("old.py"), Some(b"back\n".to_vec()));
    // What the first round added and the second deletes leaves nothing behind.
    let (third, _) = check(first, "<<<DELETE: a.txt>>>\n");
    assert!(third.iter().all(|(path, _)| path != "a.txt"));
}

#[test]
fn what_does_not_fit_is_reported_with_its_line() {
    let cases = [
        "<<<EDIT: src/list.py>>>\n<<<<<<< SEARCH\n    return None\n=======\n    return 1\n>>>>>>> REPLACE\n",
        "<<<EDIT: gone.py>>>\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n",
        "<<<EDIT: logo.png>>>\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n",
        "<<<DELETE: gone.py>>>\n",
        "<<<RENAME: gone.py -> new.py>>>\n",
        "<<<RENAME: old.py -> src/list.py>>>\n",
        "<<<FILE: ../outside.txt>>>\nx\n",
        "<<<FILE: .git/hooks/pre-commit>>>\nx\n",
        "<<<DELETE: .aiwf/config.toml>>>\n",
        "nothing to do",
    ];
    let text: Vec<String> = cases
        .iter()
        .map(|reply| {
            let problems = check(ProjectChanges::default(), reply).1;
            format!("{}\n  {}", reply.lines().next().unwrap_or_default(), problems.join("\n  "))
        })
        .collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn a_renamed_file_keeps_its_executable_bit() {
    let (mut changes, problems) = check(ProjectChanges::default(), "<<<RENAME: old.py -> bin/new.py>>>\n");
    assert_eq!(problems, Vec::<String>::new());
    changes.keep_executable_bits(&|path| path == "old.py");
    let (files, _) = changes.recorded();
    assert_eq!(files.iter().map(|file| file.executable).collect::<Vec<_>>(), [Some(true)]);
}
