//! Detects templates that would overflow the template engine's stack.
//!
//! The engine limits nested brackets and blocks, but `1 + 1 + 1 …`, `a.b.c …`, `not not …` and long chains of `elif`
//! make trees as deep as they are long. So the length of a tag and the number of `elif` are limited. Tags are
//! recognized the way the engine does it.

/// The longest tag, in bytes.
const MAX_TAG_BYTES: usize = 1_000;
/// Maximum number of `elif` in one template.
const MAX_ELIFS: usize = 100;

/// Why a template is refused, and on which line; `None` if it is fine.
pub fn template_fault(text: &str) -> Option<(usize, String)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut n_elifs = 0;
    while let Some((start, kind)) = next_tag(bytes, at) {
        let inside = start + 2;
        let end = match kind {
            Tag::Comment => find(bytes, inside, b"#}").map_or(bytes.len(), |end| end + 2),
            Tag::Variable => tag_end(bytes, inside, b"}}"),
            Tag::Block => tag_end(bytes, inside, b"%}"),
        };
        let word = text.get(inside..end).unwrap_or_default();
        let word = word.trim_start_matches(['-', '+']).trim_start();
        if kind != Tag::Comment && end - start > MAX_TAG_BYTES {
            let message = format!("a tag has {} bytes, more than {MAX_TAG_BYTES}", end - start);
            return Some((line_at(bytes, start), message));
        }
        if kind == Tag::Block && word.starts_with("elif") {
            n_elifs += 1;
            if n_elifs > MAX_ELIFS {
                let message = format!("the template has more than {MAX_ELIFS} `elif`");
                return Some((line_at(bytes, start), message));
            }
        }
        let is_raw = kind == Tag::Block && word.starts_with("raw");
        at = if is_raw { after_raw(text, end) } else { end };
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Variable,
    Block,
    Comment,
}

fn next_tag(bytes: &[u8], from: usize) -> Option<(usize, Tag)> {
    let rest = bytes.get(from..)?;
    rest.windows(2).enumerate().find_map(|(idx, pair)| {
        let tag = match pair {
            b"{{" => Tag::Variable,
            b"{%" => Tag::Block,
            b"{#" => Tag::Comment,
            _ => return None,
        };
        Some((from + idx, tag))
    })
}

fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}

/// The end of a tag: the end marker counts only outside of strings and brackets.
fn tag_end(bytes: &[u8], from: usize, marker: &[u8]) -> usize {
    let mut balance = 0_isize;
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        if balance == 0 && bytes.get(at..).is_some_and(|rest| rest.starts_with(marker)) {
            return at + marker.len();
        }
        match byte {
            b'(' | b'[' | b'{' => balance += 1,
            b')' | b']' | b'}' => balance -= 1,
            b'"' | b'\'' => at = text_end(bytes, at, *byte),
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// The position of the quote that closes the string starting at `from`.
fn text_end(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut is_escaped = false;
    let rest = bytes.get(from + 1..).unwrap_or_default();
    let length = rest.iter().position(|byte| {
        let is_end = !is_escaped && *byte == quote;
        is_escaped = !is_escaped && *byte == b'\\';
        is_end
    });
    from + 1 + length.unwrap_or(rest.len())
}

/// The position after `{% endraw %}`.
fn after_raw(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(start) = find(text.as_bytes(), at, b"{%") {
        at = start + 2;
        let word = text.get(at..).unwrap_or_default().trim_start_matches(['-', '+']).trim_start();
        if word.starts_with("endraw") {
            return at;
        }
    }
    text.len()
}

fn line_at(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
#[path = "template_guard_tests.rs"]
mod tests;
