use super::{IN_LITERAL, RustText};

/// Compares the code reading, with the insides of literals written as `·`.
fn check(text: &str, code: &str) {
    let rust = RustText::read(text);
    assert_eq!(rust.code.replace(IN_LITERAL, "·"), code);
    assert_eq!(rust.comments.chars().count(), text.chars().count());
}

#[test]
fn strings_keep_their_quotes_and_lose_their_insides() {
    check(r#"a("b\"c", d)"#, r#"a("····", d)"#);
    check("\"a\nb\"", "\"·\n·\"");
}

#[test]
fn raw_strings_end_at_their_own_hashes() {
    check(r##"r#"a"b"# + br"c""##, r##"r#"···"# + br"·""##);
    check("r#type", "r#type");
    check(r#"for"a""#, r#"for"·""#);
}

#[test]
fn characters_are_not_lifetimes() {
    check(r"'a' '\'' '\u{41}' &'a str", r"'·' '··' '······' &'a str");
    check("'\"' x", "'·' x");
}

#[test]
fn comments_are_blank_in_the_code() {
    check("a // \"b\nc", &format!("a{}\nc", " ".repeat(6)));
    check("a /* b /* c */ d */ e", &format!("a{}e", " ".repeat(19)));
    let rust = RustText::read("a // b\nc");
    assert_eq!(rust.comments, "  // b\n ");
}

#[test]
fn unclosed_literals_and_comments_end_with_the_file() {
    check("\"ab", "\"··");
    check("/* ab", "     ");
    check("r#\"ab", "r#\"··");
    check("'\\", "'·");
}

#[test]
fn strings_are_found_after_an_opening() {
    let rust = RustText::read("#[error(\"a `{b}`\")]\n// #[error(\"no\")]\n#[error(\n  r#\"c \"d\"\"#)]\n");
    assert_eq!(rust.strings_after("#[error("), [(1, "a `{b}`".to_owned()), (3, "c \"d\"".to_owned())]);
}
