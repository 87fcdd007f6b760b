use super::Args;

fn parse(words: &[&str]) -> Result<Args, String> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    Args::parse(&words, &["--quick", "--against REV"], &["fmt", "clippy"])
        .map_err(|failure| failure.to_string())
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
        "error: unknown flag `--fast`\n\nhint: the flags here: `--quick`, `--against REV`\n"
    );
    assert_eq!(
        parse(&["lint"]).unwrap_err(),
        "error: unknown name `lint`\n\nhint: the names here: `fmt`, `clippy`\n"
    );
}

#[test]
fn a_flag_takes_its_value_from_the_next_word_or_after_an_equals_sign() {
    for words in [&["--against", "main", "fmt"][..], &["fmt", "--against=main"]] {
        let args = parse(words).unwrap();
        assert_eq!(args.value("--against"), Some("main"));
        assert_eq!(args.names, ["fmt"]);
    }
    assert_eq!(parse(&["fmt"]).unwrap().value("--against"), None);
}

#[test]
fn a_flag_without_its_value_is_refused() {
    let needs_value = "error: `--against` needs a value\n\nhint: write `--against REV`\n";
    for words in [&["--against"][..], &["--against="], &["--against", "--quick"]] {
        assert_eq!(parse(words).unwrap_err(), needs_value);
    }
    assert_eq!(
        parse(&["--against", "a", "--against", "b"]).unwrap_err(),
        "error: `--against` is specified twice\n\nhint: write `--against REV` once\n"
    );
}

#[test]
fn a_switch_takes_no_value() {
    assert!(parse(&["--quick=yes"]).unwrap_err().starts_with("error: unknown flag `--quick=yes`\n"));
}
