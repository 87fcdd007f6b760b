//! Writes text so that an XML parser reads back the same text.
//!
//! Text without markup characters is unchanged; other text goes into CDATA, so code stays readable. A parser normalizes
//! line ends and white space in attributes, so those become character references.

use std::borrow::Cow;

/// Element content for `text`, in pieces; the text is borrowed unless parts of it must be rewritten.
///
/// Invariant: `text` contains no character that XML 1.0 forbids; [`replace_forbidden`] ran before.
pub(crate) fn content(text: &str) -> Vec<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let has_return = memchr::memchr(b'\r', bytes).is_some();
    let has_markup = memchr::memchr3(b'<', b'>', b'&', bytes).is_some();
    match (has_markup, has_return) {
        (false, false) => vec![text.into()],
        (false, true) => vec![text.replace('\r', "&#13;").into()],
        (true, false) if memchr::memmem::find(bytes, b"]]>").is_none() => {
            vec!["<![CDATA[".into(), text.into(), "]]>".into()]
        }
        (true, _) => vec![rewritten(text).into()],
    }
}

/// CDATA with its own end marker split, and carriage returns between the pieces.
fn rewritten(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 32);
    for (index, line) in text.split('\r').enumerate() {
        if index > 0 {
            written.push_str("&#13;");
        }
        if line.is_empty() {
            continue;
        }
        written.push_str("<![CDATA[");
        written.push_str(&line.replace("]]>", "]]]]><![CDATA[>"));
        written.push_str("]]>");
    }
    written
}

/// An attribute value for `text`, without the quotes.
pub(crate) fn attribute(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => written.push_str("&amp;"),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '"' => written.push_str("&quot;"),
            '\t' => written.push_str("&#9;"),
            '\n' => written.push_str("&#10;"),
            '\r' => written.push_str("&#13;"),
            other => written.push(other),
        }
    }
    written
}

/// Whether XML 1.0 forbids the character, even as a reference.
fn is_forbidden(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Replaces each character that XML forbids by U+FFFD, and counts them; `None` if there are none.
pub(crate) fn replace_forbidden(text: &str) -> Option<(String, usize)> {
    // Cheap test first: almost no text has one of these bytes.
    let suspicious = text.bytes().any(|byte| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r'))
        || memchr::memmem::find(text.as_bytes(), b"\xEF\xBF").is_some();
    if !suspicious {
        return None;
    }
    let n_forbidden = text.chars().filter(|character| is_forbidden(*character)).count();
    if n_forbidden == 0 {
        return None;
    }
    let replaced =
        text.chars().map(|character| if is_forbidden(character) { '\u{fffd}' } else { character }).collect();
    Some((replaced, n_forbidden))
}

#[cfg(test)]
#[path = "xml_tests.rs"]
mod tests;
