use super::*;

fn check(text: &str, expected: Option<(TagKind, &str, Option<&str>, usize)>) {
    let tag = Tag::read(text, 0, text.len());
    assert_eq!(tag.map(|tag| (tag.kind, tag.name, tag.attribute("id"), tag.end)), expected, "{text}");
}

#[test]
fn reads_open_close_and_empty_tags() {
    check("<a>x", Some((TagKind::Open, "a", None, 3)));
    check("</a_b-1 >x", Some((TagKind::Close, "a_b-1", None, 9)));
    check("<a />", Some((TagKind::Empty, "a", None, 5)));
    check("<a id='1'/>", Some((TagKind::Empty, "a", Some("1"), 11)));
}

#[test]
fn other_text_is_not_a_tag() {
    for text in ["<", "< a>", "<a", "<a b", "<a<b>", "<>", "</>", "<a b='<'>", "<é>", "<a.b>"] {
        check(text, None);
    }
}

#[test]
fn attributes_have_quotes_or_none() {
    check("<a id=\"1 2\">", Some((TagKind::Open, "a", Some("1 2"), 12)));
    check("<a x ID = ' 1 '>", Some((TagKind::Open, "a", Some("1"), 16)));
    check("<a id=1 x=2>", Some((TagKind::Open, "a", Some("1"), 12)));
    check("<a x='id=3' id=1>", Some((TagKind::Open, "a", Some("1"), 17)));
    check("<a =3 id=1>", Some((TagKind::Open, "a", Some("1"), 11)));
    check("<a id=>", Some((TagKind::Open, "a", Some(""), 7)));
}

#[test]
fn a_quoted_value_may_contain_the_end_of_a_tag() {
    check("<a id='>'>x", Some((TagKind::Open, "a", Some(">"), 10)));
    check("<a id='1>x", Some((TagKind::Open, "a", Some("1"), 9)));
    check("<a it's>x", Some((TagKind::Open, "a", None, 8)));
}
