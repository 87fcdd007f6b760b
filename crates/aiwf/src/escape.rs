//! Text that is not ours, made safe for a terminal.
//!
//! In: any bytes. Out: the same text, with every control sequence and every invisible character written as
//! an escape: control characters, bidirectional overrides, invisible characters, bytes that are not UTF-8. Lines and
//! tabs stay. A writer, so that nothing printed through it can be forgotten.

use std::fmt::Write as _;
use std::io::{self, Write};

/// What an [`Escaped`] writer lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EscapeMode {
    /// Everything, byte for byte: the output is not a terminal.
    Raw,
    /// Text; escapes look like `\u{1b}`.
    Text,
    /// JSON, with JSON's own escapes, so that text copied from a screen can be parsed.
    Json,
    /// Text with our own colours: only colour sequences pass.
    Styled,
}

/// A writer that lets only harmless text through.
#[derive(Debug)]
pub(crate) struct Escaped<W: Write> {
    out: W,
    mode: EscapeMode,
    /// The beginning of a character or of a line's end that is not whole yet.
    pending: Vec<u8>,
}

impl<W: Write> Escaped<W> {
    pub(crate) fn new(out: W, mode: EscapeMode) -> Self {
        Self { out, mode, pending: Vec::new() }
    }

    /// Writes what was held back, at the end of the output.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.pending);
        let mut text = String::new();
        for byte in rest {
            push_byte(&mut text, byte, self.mode);
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.mode == EscapeMode::Raw {
            return self.out.write(bytes);
        }
        let mut all = std::mem::take(&mut self.pending);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let n_done = escape_bytes(&all, self.mode, &mut text);
        self.pending = all.split_off(n_done);
        self.out.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let n_done = escape_bytes(text.as_bytes(), EscapeMode::Text, &mut shown);
    for byte in text.as_bytes().get(n_done..).unwrap_or_default() {
        push_byte(&mut shown, *byte, EscapeMode::Text);
    }
    shown
}

/// The text on one line: line ends and tabs are escaped too.
pub(crate) fn escaped_line(text: &str) -> String {
    escaped(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Escapes all complete characters; returns how many bytes that was.
fn escape_bytes(bytes: &[u8], mode: EscapeMode, out: &mut String) -> usize {
    let mut n_done = 0;
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(character) = rest.chars().next() {
            let after = rest.get(character.len_utf8()..).unwrap_or_default();
            let is_last = after.is_empty() && chunk.invalid().is_empty();
            // Half of a line end has no effect yet, and alone it would overwrite the line. What follows decides.
            if character == '\r' && is_last && n_done + 1 == bytes.len() {
                return n_done;
            }
            let n_bytes = match character {
                '\r' if after.starts_with('\n') => 1,
                '\u{1b}' if mode == EscapeMode::Styled => {
                    if let Some(n_bytes) = style_len(rest) {
                        out.push_str(rest.get(..n_bytes).unwrap_or_default());
                        n_bytes
                    } else {
                        push_escape(out, character, mode);
                        1
                    }
                }
                character if is_harmless(character) => {
                    out.push(character);
                    character.len_utf8()
                }
                character => {
                    push_escape(out, character, mode);
                    character.len_utf8()
                }
            };
            n_done += n_bytes;
            rest = rest.get(n_bytes..).unwrap_or_default();
        }
        let invalid = chunk.invalid();
        // At the end, a character may only have begun.
        let is_begun = n_done + invalid.len() == bytes.len() && invalid.len() < 4;
        if is_begun
            && !invalid.is_empty()
            && std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none())
        {
            return n_done;
        }
        for byte in invalid {
            push_byte(out, *byte, mode);
        }
        n_done += invalid.len();
    }
    n_done
}

/// The length of a sequence at the start of the text, if it only selects one of our colours or weights.
fn style_len(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|character: char| !character.is_ascii_digit() && character != ';')?;
    parameters.get(end..)?.starts_with('m').then_some(end + 3)
}

fn push_byte(out: &mut String, byte: u8, mode: EscapeMode) {
    match byte {
        b'\r' => push_escape(out, '\r', mode),
        // JSON has no bytes that are no text.
        _ if mode == EscapeMode::Json => out.push('\u{fffd}'),
        _ => {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
}

fn push_escape(out: &mut String, character: char, mode: EscapeMode) {
    if mode == EscapeMode::Json {
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    } else if character == '\r' {
        out.push_str("\\r");
    } else {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
    }
}

/// Whether a character is visible and moves the cursor only right or down.
fn is_harmless(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        // Soft hyphen, fillers, marks and overrides of direction, joiners, spaces without width, separators of lines,
        // invisible operators, the byte order mark, annotations, tags and further variation selectors.
        '\u{ad}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}' => false,
        character => !character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written in pieces of one byte and as a whole, a text comes out the same.
    fn check(bytes: &[u8], mode: EscapeMode, expected: &str) {
        for n_bytes in [1, bytes.len().max(1)] {
            let mut out = Vec::new();
            let mut escaped = Escaped::new(&mut out, mode);
            for piece in bytes.chunks(n_bytes) {
                escaped.write_all(piece).unwrap();
            }
            escaped.finish().unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_written_as_an_escape() {
        check(b"a\x1b[2Jb", EscapeMode::Text, "a\\u{1b}[2Jb");
        check(b"\x1b]0;title\x07", EscapeMode::Text, "\\u{1b}]0;title\\u{7}");
        check("c1 \u{9b}2J, del \u{7f}".as_bytes(), EscapeMode::Text, "c1 \\u{9b}2J, del \\u{7f}");
        check(b"safe\rrm -rf", EscapeMode::Text, "safe\\rrm -rf");
        check(b"back\x08\x08", EscapeMode::Text, "back\\u{8}\\u{8}");
    }

    #[test]
    fn what_a_reader_cannot_see_is_written_as_an_escape() {
        check("x\u{202e}y\u{2066}".as_bytes(), EscapeMode::Text, "x\\u{202e}y\\u{2066}");
        check("zero\u{200b}width\u{feff}".as_bytes(), EscapeMode::Text, "zero\\u{200b}width\\u{feff}");
        check("tag\u{e0041}".as_bytes(), EscapeMode::Text, "tag\\u{e0041}");
    }

    #[test]
    fn plain_text_stays_and_a_line_end_is_one() {
        let text = "Grüße, 你好 😀\n\tcode();\n";
        check(text.as_bytes(), EscapeMode::Text, text);
        check(b"one\r\ntwo\r\n", EscapeMode::Text, "one\ntwo\n");
        check(b"end\r", EscapeMode::Text, "end\\r");
    }

    #[test]
    fn bytes_that_are_no_text_are_shown() {
        check(b"\xffa\xc3", EscapeMode::Text, "\\xffa\\xc3");
        check(b"\xe2\x82 ", EscapeMode::Text, "\\xe2\\x82 ");
    }

    #[test]
    fn json_stays_json() {
        check(
            "{\"a\":\"\u{202e}\u{e0041}\"}".as_bytes(),
            EscapeMode::Json,
            "{\"a\":\"\\u202e\\udb40\\udc41\"}",
        );
    }

    #[test]
    fn our_own_colours_pass_and_nothing_else_does() {
        let mut out = Vec::new();
        let mut styled = Escaped::new(&mut out, EscapeMode::Styled);
        styled.write_all(b"\x1b[1;31merror:\x1b[0m \x1b[2J\x1b]0;x\x07").unwrap();
        styled.finish().unwrap();
        assert_eq!(out, b"\x1b[1;31merror:\x1b[0m \\u{1b}[2J\\u{1b}]0;x\\u{7}");
    }

    #[test]
    fn raw_bytes_pass_without_a_terminal() {
        let mut out = Vec::new();
        let mut raw = Escaped::new(&mut out, EscapeMode::Raw);
        raw.write_all(b"\x1b[2J\xff\r").unwrap();
        raw.finish().unwrap();
        assert_eq!(out, b"\x1b[2J\xff\r");
    }

    #[test]
    fn one_line_stays_one_line() {
        assert_eq!(escaped_line("a\nb\t\u{1b}"), "a\\nb\\t\\u{1b}");
    }
}
