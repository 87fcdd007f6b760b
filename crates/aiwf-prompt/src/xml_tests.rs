use proptest::prelude::*;

use super::*;

fn read_back(text: &str, name: &str) -> (String, String) {
    let document = format!("<a n=\"{}\">{}</a>", attribute(name), content(text).concat());
    let parsed = roxmltree::Document::parse(&document).unwrap_or_else(|error| panic!("{error}: {document}"));
    let root = parsed.root_element();
    let read: String = root.children().filter_map(|node| node.text()).collect();
    (read, root.attribute("n").unwrap().to_owned())
}

#[test]
fn plain_text_is_unchanged() {
    assert_eq!(content("Add login\n\n  and \"quotes\"").concat(), "Add login\n\n  and \"quotes\"");
}

#[test]
fn markup_goes_in_cdata_and_its_end_is_split() {
    assert_eq!(content("a < b").concat(), "<![CDATA[a < b]]>");
    assert_eq!(content("x]]>y").concat(), "<![CDATA[x]]]]><![CDATA[>y]]>");
}

#[test]
fn carriage_returns_go_between_cdata_pieces() {
    assert_eq!(content("a<\r\nb").concat(), "<![CDATA[a<]]>&#13;<![CDATA[\nb]]>");
    assert_eq!(content("a\r\nb").concat(), "a&#13;\nb");
}

#[test]
fn forbidden_characters_are_replaced_and_counted() {
    assert_eq!(replace_forbidden("a\0b\u{b}\u{ffff}"), Some(("a\u{fffd}b\u{fffd}\u{fffd}".to_owned(), 3)));
    assert_eq!(replace_forbidden("tab\t, line\n, return\r, \u{fffd}"), None);
}

mod properties {
    use super::*;

    proptest! {
        #[test]
        fn a_real_parser_reads_back_what_was_written(
            text in "([<>&\\]\r\n\t\"']|]]>|<!\\[CDATA\\[|&#13;|\\PC|[\\x00-\\x1f]){0,40}",
            name in "([<>&\r\n\t\"'/]|\\PC){0,12}",
        ) {
            let text = replace_forbidden(&text).map_or(text, |(replaced, _)| replaced);
            let name = replace_forbidden(&name).map_or(name, |(replaced, _)| replaced);
            prop_assert_eq!(read_back(&text, &name), (text, name));
        }
    }
}
