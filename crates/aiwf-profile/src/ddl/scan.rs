//! Cuts SQL into words, quoted texts and punctuation, whatever the dialect; comments are left out.

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Quoted,
    Open,
    Close,
    Comma,
    /// A semicolon, or a line that ends a batch.
    End,
    Other,
}

/// A piece of SQL and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl Piece<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// The text without quotes.
    pub(super) fn unquoted(&self) -> &str {
        let text = self.text;
        [('"', '"'), ('`', '`'), ('[', ']'), ('\'', '\'')]
            .into_iter()
            .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close))
            .unwrap_or(text)
    }
}

/// The pieces of a text, and where a quote or comment starts that never ends.
pub(super) fn scan(sql: &str) -> (Vec<Piece<'_>>, Option<usize>) {
    // Only where names stand in backticks does a backslash escape a quote.
    let mut scanner = Scanner { sql, at: 0, unclosed: None, has_escapes: sql.contains('`') };
    let mut pieces = Vec::new();
    let mut statement = 0;
    while let Some(piece) = scanner.next() {
        pieces.push(piece);
        if piece.kind == Kind::End {
            if pieces.get(statement).is_some_and(|first| first.is_word("COPY")) {
                scanner.skip_copied_rows();
            }
            statement = pieces.len();
        }
    }
    (pieces, scanner.unclosed)
}

struct Scanner<'a> {
    sql: &'a str,
    at: usize,
    unclosed: Option<usize>,
    has_escapes: bool,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.sql.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self) -> Option<Piece<'a>> {
        self.skip_blanks_and_comments();
        let rest = self.rest();
        let first = rest.chars().next()?;
        let (kind, length) = match first {
            '(' => (Kind::Open, 1),
            ')' => (Kind::Close, 1),
            ',' => (Kind::Comma, 1),
            ';' => (Kind::End, 1),
            '/' if self.is_alone_on_line(1) => (Kind::End, 1),
            '\'' => (Kind::Quoted, self.quoted('\'', self.has_escapes)),
            '"' | '`' => (Kind::Quoted, self.quoted(first, false)),
            '[' => match bracketed(rest) {
                Some(length) => (Kind::Quoted, length),
                None => (Kind::Other, 1),
            },
            '$' => match self.dollar_quoted() {
                Some(length) => (Kind::Quoted, length),
                None => (Kind::Other, 1),
            },
            _ if is_word(first) => {
                let length = rest.find(|c: char| !is_word(c) && c != '$').unwrap_or(rest.len());
                let is_end = rest.get(..length).is_some_and(|word| word.eq_ignore_ascii_case("GO"))
                    && self.is_alone_on_line(2);
                (if is_end { Kind::End } else { Kind::Word }, length)
            }
            other => (Kind::Other, other.len_utf8()),
        };
        let start = self.at;
        self.at += length;
        Some(Piece { kind, start, text: rest.get(..length).unwrap_or_default() })
    }

    fn skip_blanks_and_comments(&mut self) {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            let rest = self.rest();
            let is_hash = rest.starts_with('#') && self.is_first_on_line();
            if rest.starts_with("--") || is_hash {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(end) => self.at += end + 4,
                    None => self.at += self.leave_open(),
                }
            } else {
                return;
            }
        }
    }

    /// Notes that a quote or comment never ends, and gives the length of the rest.
    fn leave_open(&mut self) -> usize {
        self.unclosed.get_or_insert(self.at);
        self.sql.len() - self.at
    }

    /// The length of a quoted text; a doubled quote is part of it.
    fn quoted(&mut self, quote: char, has_escapes: bool) -> usize {
        let rest = self.rest();
        let mut characters = rest.char_indices().skip(1).peekable();
        while let Some((at, character)) = characters.next() {
            if character == '\\' && has_escapes {
                characters.next();
            } else if character == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
                return at + quote.len_utf8();
            }
        }
        self.leave_open()
    }

    /// The length of `$tag$ … $tag$`.
    fn dollar_quoted(&mut self) -> Option<usize> {
        let rest = self.rest();
        let tag_end = rest.get(1..)?.find(|c: char| !is_word(c))? + 1;
        let tag = rest.get(..=tag_end).filter(|tag| tag.ends_with('$'))?;
        let body = rest.get(tag.len()..)?;
        Some(match body.find(tag) {
            Some(end) => tag.len() + end + tag.len(),
            None => self.leave_open(),
        })
    }

    fn is_first_on_line(&self) -> bool {
        let before = self.sql.get(..self.at).unwrap_or_default();
        before.chars().rev().take_while(|c| *c != '\n').all(char::is_whitespace)
    }

    fn is_alone_on_line(&self, length: usize) -> bool {
        let after = self.sql.get(self.at + length..).unwrap_or_default();
        after.chars().take_while(|c| *c != '\n').all(char::is_whitespace) && self.is_first_on_line()
    }

    /// Passes over the rows that follow `COPY … FROM stdin` in a dump, up to the line `\.`.
    fn skip_copied_rows(&mut self) {
        if let Some(end) = self.rest().find("\n\\.") {
            self.at += end + 3;
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The length of a name in brackets; brackets of arrays hold no letters.
fn bracketed(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let end = inside.find([']', '\n'])?;
    let name = inside.get(..end)?;
    let is_name =
        inside.get(end..)?.starts_with(']') && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_name.then_some(end + 2)
}
