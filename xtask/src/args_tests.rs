use super::Args;

fn parse(words: &[&str]) -> Result<Args, String> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    Args::parse(&words, &["--quick"], &["fmt", "clippy"]).map_err(|failure| failure.to_string())
}

#[test]
fn flags_and_names_come_in_any_order() {
    let args = parse(&["clippy", "--quick"]).unwrap();
    assert!(args.has("--quick"));
    assert!(args.selects("clippy"));
    assert!(!args.selects("fmt"));
}

#[test]
fn no_name_selects_everything() {
    let args = parse(&[]).unwrap();
    assert!(args.selects("fmt"));
    assert!(!args.has("--quick"));
}

#[test]
fn unknown_words_are_refused_with_what_exists() {
    assert_eq!(
        parse(&["--fast"]).unwrap_err(),
        "error: unknown flag `--fast`\n\nhint: the flags here: `--quick`\n"
    );
    assert_eq!(
        parse(&["lint"]).unwrap_err(),
        "error: unknown name `lint`\n\nhint: the names here: `fmt`, `clippy`\n"
    );
}
