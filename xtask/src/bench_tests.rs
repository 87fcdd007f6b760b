use super::parse;

fn parsed(words: &[&str]) -> Result<Option<String>, String> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    parse(&words, &["startup", "status"])
        .map(|args| args.value("--against").map(str::to_owned))
        .map_err(|failure| failure.to_string())
}

#[test]
fn another_revision_is_optional() {
    assert_eq!(parsed(&["startup"]), Ok(None));
    assert_eq!(parsed(&["--against", "main", "startup", "--json"]), Ok(Some("main".to_owned())));
}

#[test]
fn another_revision_excludes_targets_and_other_packers() {
    assert_eq!(
        parsed(&["--against", "main", "--check"]).unwrap_err(),
        "error: `--check` cannot be used with `--against`: targets belong to references\n\nhint: omit `--check`\n"
    );
    assert_eq!(
        parsed(&["--peers", "--against=main"]).unwrap_err(),
        "error: `--peers` cannot be used with `--against`: only two builds of aiwf run\n\nhint: omit `--peers`\n"
    );
}
