//! Tells code, strings and comments of a Rust file apart.
//!
//! In: the text of a file. Out: two readings of the same length, so that a place in one is the same place in
//! the other. Knows just enough of the language for that: no tokens, no syntax.

/// Stands for a character inside a string or character literal.
pub(super) const IN_LITERAL: char = '\u{1}';

/// A Rust file read twice; lines and columns are those of the file.
#[derive(Debug)]
pub(super) struct RustText {
    /// The code; comments are blank and the insides of literals are [`IN_LITERAL`].
    pub(super) code: String,
    /// The comments, with their marks; everything else is blank.
    pub(super) comments: String,
    /// The file as characters, for places found in the readings.
    chars: Vec<char>,
}

/// What a stretch of characters is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

impl RustText {
    pub(super) fn read(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut reader = Reader { chars: &chars, at: 0, kinds: Vec::with_capacity(chars.len()) };
        while reader.at < chars.len() {
            reader.step();
        }
        let kinds = reader.kinds;
        let reading = |show: fn(Kind, char) -> char| -> String {
            let of_char = |(&c, &kind): (&char, &Kind)| if c == '\n' { c } else { show(kind, c) };
            chars.iter().zip(&kinds).map(of_char).collect()
        };
        let code = reading(|kind, c| match kind {
            Kind::Code => c,
            Kind::Comment => ' ',
            Kind::Literal => IN_LITERAL,
        });
        let comments = reading(|kind, c| if kind == Kind::Comment { c } else { ' ' });
        Self { code, comments, chars }
    }

    /// Finds each string literal that follows `opening` at once, as (line, the text between its quotes).
    ///
    /// Escapes are left as they are written.
    pub(super) fn strings_after(&self, opening: &str) -> Vec<(usize, String)> {
        let code: Vec<char> = self.code.chars().collect();
        let opening: Vec<char> = opening.chars().collect();
        let mut found = Vec::new();
        for (start, window) in code.windows(opening.len()).enumerate() {
            if window != opening {
                continue;
            }
            let after = start + opening.len();
            let rest = code.iter().skip(after);
            let n_lead = rest.clone().take_while(|c| c.is_whitespace() || matches!(c, 'r' | '#')).count();
            if rest.clone().nth(n_lead) != Some(&'"') {
                continue;
            }
            let n_inside = rest.skip(n_lead + 1).take_while(|&&c| c == IN_LITERAL || c == '\n').count();
            let inside: String = self.chars.iter().skip(after + n_lead + 1).take(n_inside).collect();
            let line = 1 + code.iter().take(start).filter(|&&c| c == '\n').count();
            found.push((line, inside));
        }
        found
    }
}

/// Walks over the characters and notes the kind of each.
struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    /// One entry per character read so far.
    kinds: Vec<Kind>,
}

impl Reader<'_> {
    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (Some('/'), Some('/')) => {
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.take(1, Kind::Comment);
                }
            }
            (Some('/'), Some('*')) => self.block_comment(),
            (Some('"'), _) => self.string(),
            (Some('r'), Some('"' | '#')) if self.at_raw_string() => self.raw_string(),
            (Some('\''), Some('\\')) => {
                // The escaped character may be a quote itself.
                self.take(1, Kind::Code);
                self.take(2, Kind::Literal);
                self.until_quote('\'');
            }
            (Some('\''), Some(_)) if self.peek(2) == Some('\'') => {
                self.take(1, Kind::Code);
                self.take(1, Kind::Literal);
                self.take(1, Kind::Code);
            }
            _ => self.take(1, Kind::Code),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn take(&mut self, n: usize, kind: Kind) {
        let n = n.min(self.chars.len() - self.at);
        self.kinds.extend(std::iter::repeat_n(kind, n));
        self.at += n;
    }

    fn until_quote(&mut self, quote: char) {
        while self.peek(0).is_some_and(|c| c != quote) {
            self.take(1, Kind::Literal);
        }
        self.take(1, Kind::Code);
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth = depth.saturating_sub(1),
                _ => {
                    self.take(1, Kind::Comment);
                    continue;
                }
            }
            self.take(2, Kind::Comment);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take(1, Kind::Code);
        while let Some(c) = self.peek(0) {
            match c {
                '"' => break,
                '\\' => self.take(2, Kind::Literal),
                _ => self.take(1, Kind::Literal),
            }
        }
        self.take(1, Kind::Code);
    }

    /// Whether the `r` here opens a raw string: not the end of a name, and not a raw name such as `r#type`.
    fn at_raw_string(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.chars.get(at));
        let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
        let after_prefix = before.is_some_and(|c| matches!(c, 'b' | 'c'));
        (after_prefix || !before.is_some_and(is_name)) && self.peek(1 + self.n_hashes()) == Some('"')
    }

    fn n_hashes(&self) -> usize {
        self.chars.iter().skip(self.at + 1).take_while(|&&c| c == '#').count()
    }

    fn raw_string(&mut self) {
        let n_hashes = self.n_hashes();
        self.take(1 + n_hashes + 1, Kind::Code);
        while self.at < self.chars.len() {
            let closes = (1..=n_hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if self.peek(0) == Some('"') && closes {
                self.take(1 + n_hashes, Kind::Code);
                return;
            }
            self.take(1, Kind::Literal);
        }
    }
}

#[cfg(test)]
#[path = "rust_text_tests.rs"]
mod tests;
