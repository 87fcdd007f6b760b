//! Splits SQL into statements and keeps those about tables.

use super::scan::{Kind, Piece};

/// A statement about a table.
pub(super) struct Statement<'p, 'a> {
    pub(super) kind: StatementKind,
    pub(super) pieces: &'p [Piece<'a>],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    CreateTable,
    AlterTable,
    UniqueIndex,
    Comment,
}

/// The relevant statements, in order.
pub(super) fn statements<'p, 'a>(pieces: &'p [Piece<'a>]) -> Vec<Statement<'p, 'a>> {
    pieces
        .split(|piece| piece.kind == Kind::End)
        .filter_map(|pieces| Some(Statement { kind: kind_of(pieces)?, pieces }))
        .collect()
}

fn kind_of(pieces: &[Piece<'_>]) -> Option<StatementKind> {
    let words: Vec<String> = pieces
        .iter()
        .take(8)
        .map_while(|piece| (piece.kind == Kind::Word).then(|| piece.text.to_ascii_uppercase()))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let modifiers =
        ["OR", "REPLACE", "GLOBAL", "LOCAL", "TEMP", "TEMPORARY", "UNLOGGED", "FOREIGN", "COLUMN", "ROW"];
    match words.as_slice() {
        ["CREATE", rest @ ..] => match rest.iter().find(|word| !modifiers.contains(word)) {
            Some(&"TABLE") => Some(StatementKind::CreateTable),
            Some(&"UNIQUE") => Some(StatementKind::UniqueIndex),
            _ => None,
        },
        ["ALTER", "TABLE", ..] | ["ALTER", "FOREIGN", "TABLE", ..] => Some(StatementKind::AlterTable),
        ["COMMENT", "ON", "TABLE" | "COLUMN", ..] => Some(StatementKind::Comment),
        _ => None,
    }
}

impl<'a> Statement<'_, 'a> {
    /// The text without comments; line ends stay, so that lines can be counted.
    pub(super) fn text(&self, sql: &str) -> String {
        joined(self.pieces, sql)
    }

    /// Whether the statement is nested too deeply to be parsed.
    ///
    /// An operator chain is as deep as it is long, so this counts the pieces on the path to the deepest one without a
    /// comma in between.
    pub(super) fn is_too_deep(&self) -> bool {
        const MAX_DEPTH: usize = 1_000;
        const MAX_NESTING: usize = 100;
        let mut open = vec![0_usize];
        let mut total = 0;
        for piece in self.pieces {
            match piece.kind {
                Kind::Open => open.push(0),
                Kind::Close => total -= if open.len() > 1 { open.pop().unwrap_or_default() } else { 0 },
                Kind::Comma => {
                    if let Some(last) = open.last_mut() {
                        total -= *last;
                        *last = 0;
                    }
                }
                Kind::Word | Kind::Quoted | Kind::Other | Kind::End => {
                    total += 1;
                    if let Some(last) = open.last_mut() {
                        *last += 1;
                    }
                }
            }
            if total > MAX_DEPTH || open.len() > MAX_NESTING {
                return true;
            }
        }
        false
    }

    /// The pieces before the first parenthesis, the items inside it, and the pieces after it.
    pub(super) fn body(&self) -> Option<Body<'_, 'a>> {
        let open = self.pieces.iter().position(|piece| piece.kind == Kind::Open)?;
        let (head, rest) = self.pieces.split_at_checked(open)?;
        let inside = group(rest)?;
        let items = split_items(inside);
        Some(Body { head, items })
    }
}

/// The parts of `CREATE TABLE head (items)`.
pub(super) struct Body<'p, 'a> {
    pub(super) head: &'p [Piece<'a>],
    pub(super) items: Vec<&'p [Piece<'a>]>,
}

/// The pieces inside the parenthesis that `pieces` starts with.
pub(super) fn group<'p, 'a>(pieces: &'p [Piece<'a>]) -> Option<&'p [Piece<'a>]> {
    let inside = pieces.split_first().filter(|(first, _)| first.kind == Kind::Open)?.1;
    let mut depth = 1_usize;
    let end = inside.iter().position(|piece| {
        match piece.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth -= 1,
            Kind::Word | Kind::Quoted | Kind::Comma | Kind::End | Kind::Other => {}
        }
        depth == 0
    })?;
    inside.get(..end)
}

/// Splits pieces at commas outside of parentheses.
pub(super) fn split_items<'p, 'a>(pieces: &'p [Piece<'a>]) -> Vec<&'p [Piece<'a>]> {
    let mut depth = 0_usize;
    pieces
        .split(|piece| {
            match piece.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                Kind::Word | Kind::Quoted | Kind::Comma | Kind::End | Kind::Other => {}
            }
            depth == 0 && piece.kind == Kind::Comma
        })
        .filter(|item| !item.is_empty())
        .collect()
}

/// The text of some pieces, with the text between them reduced to spaces and line ends.
pub(super) fn joined(pieces: &[Piece<'_>], sql: &str) -> String {
    let mut text = String::new();
    let mut last_end = None;
    for piece in pieces {
        if let Some(last_end) = last_end {
            let between = sql.get(last_end..piece.start).unwrap_or_default();
            let n_lines = between.bytes().filter(|byte| *byte == b'\n').count();
            if n_lines > 0 {
                text.extend(std::iter::repeat_n('\n', n_lines));
            } else if !between.is_empty() {
                text.push(' ');
            }
        }
        text.push_str(piece.text);
        last_end = Some(piece.end());
    }
    text
}
