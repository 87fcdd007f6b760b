//! Compares two prompts section by section, and finds where their common prefix ends.
//!
//! In: the pieces of two prompts in the order they are sent. Out: what was added, removed, changed and moved, and how much
//! of the second prompt a provider's cache can serve after the first: such caches match prefixes. Linear in the size of
//! the prompts; the lines of a changed section are matched by their text and not aligned.

use std::collections::{BTreeMap, VecDeque};

use crate::tokens::{CountTokens, Tokens};

/// A piece of a prompt as it is sent: a section, a tool, or a turn of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its section; several pieces can have the same.
    pub section: &'a str,
    pub source: &'a str,
    /// Who speaks; a change ends the common prefix.
    pub role: &'a str,
    pub text: &'a str,
}

/// What happened to a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Unchanged,
    Added,
    Removed,
    Changed,
}

/// A section on one side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionSide {
    /// Its place among the pieces, from 0.
    pub index: usize,
    pub bytes: usize,
    pub tokens: Tokens,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionChange {
    pub change: Change,
    /// Whether its place among the sections that both prompts have is another one.
    pub is_moved: bool,
    /// `None` if it was added.
    pub before: Option<SectionSide>,
    /// `None` if it was removed.
    pub after: Option<SectionSide>,
}

/// Where a common prefix ends: the first byte of the second prompt that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefixEnd {
    /// The place of the piece among those of the second prompt.
    pub index: usize,
    /// The byte in the piece.
    pub byte: usize,
    /// The line in the piece, from 1.
    pub line: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub bytes: usize,
    pub tokens: Tokens,
}

/// The difference between two prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// In the order of the second prompt; removed sections stand where they were.
    pub sections: Vec<SectionChange>,
    pub before: Size,
    pub after: Size,
    /// The longest common prefix.
    pub prefix: Size,
    /// `None` if the second prompt starts with all of the first or is its beginning.
    pub prefix_end: Option<PrefixEnd>,
    /// Tokens of the second prompt that the first one has too, wherever they are.
    pub unchanged: Tokens,
}

impl Comparison {
    /// The tokens of the second prompt that are not in the common prefix.
    pub fn missed(&self) -> Tokens {
        Tokens(self.after.tokens.0.saturating_sub(self.prefix.tokens.0))
    }

    /// The share of the second prompt that lies in the common prefix, from 0 to 1.
    pub fn stable_share(&self) -> f64 {
        // Nothing of a prompt is stable if all of it is gone.
        if self.after.bytes == 0 && self.before.bytes > 0 {
            return 0.0;
        }
        share(self.prefix.tokens, self.after.tokens)
    }

    /// The share of the unchanged tokens that lie in the common prefix: less than 1 if something changed before them.
    pub fn unchanged_share(&self) -> f64 {
        share(self.prefix.tokens, self.unchanged)
    }

    /// Whether both prompts are the same bytes.
    pub fn is_same(&self) -> bool {
        self.prefix.bytes == self.before.bytes && self.prefix.bytes == self.after.bytes
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is shown with a few digits")]
fn share(part: Tokens, whole: Tokens) -> f64 {
    if whole.0 == 0 { 1.0 } else { part.0 as f64 / whole.0 as f64 }
}

/// Compares two prompts.
pub fn compare(before: &[Piece<'_>], after: &[Piece<'_>], counter: &dyn CountTokens) -> Comparison {
    let prefix = common_prefix(before, after);
    let pairs = pairs(before, after);
    let cut = prefix.piece_and_byte(after);
    let counts = Counts::of(before, after, &pairs, cut, counter);
    let moved = moved(&pairs);
    let sections = sections(before, after, &pairs, &moved, &counts);
    let sum = |pieces: &[Piece<'_>], tokens: &[Tokens]| Size {
        bytes: pieces.iter().map(|piece| piece.text.len()).sum(),
        tokens: tokens.iter().copied().sum(),
    };
    let prefix_tokens: Tokens = counts.after.iter().take(cut.0).copied().sum::<Tokens>() + counts.of_cut;
    let unchanged = prefix_tokens + unchanged_after(before, after, &pairs, cut, &counts);
    Comparison {
        sections,
        before: sum(before, &counts.before),
        after: sum(after, &counts.after),
        prefix: Size { bytes: prefix.bytes, tokens: prefix_tokens },
        prefix_end: prefix.end(after),
        unchanged,
    }
}

/// A common prefix in bytes, and whether a difference ended it.
#[derive(Clone, Copy, Debug)]
struct Prefix {
    bytes: usize,
    ends_in_difference: bool,
}

impl Prefix {
    /// The piece of the second prompt that the prefix ends in, and how much of it belongs to the prefix.
    fn piece_and_byte(self, after: &[Piece<'_>]) -> (usize, usize) {
        let mut left = self.bytes;
        for (index, piece) in after.iter().enumerate() {
            if left < piece.text.len() {
                return (index, left);
            }
            left -= piece.text.len();
        }
        (after.len(), 0)
    }

    fn end(self, after: &[Piece<'_>]) -> Option<PrefixEnd> {
        if !self.ends_in_difference {
            return None;
        }
        let (index, byte) = self.piece_and_byte(after);
        let text = after.get(index)?.text.as_bytes();
        let line = memchr::memchr_iter(b'\n', text.get(..byte).unwrap_or_default()).count() + 1;
        Some(PrefixEnd { index, byte, line })
    }
}

/// A place in the text of several pieces.
struct Cursor<'p, 'a> {
    pieces: &'p [Piece<'a>],
    index: usize,
    byte: usize,
}

impl<'a> Cursor<'_, 'a> {
    /// The rest of the current piece; empty pieces are skipped.
    fn rest(&mut self) -> Option<(&'a str, &'a [u8])> {
        loop {
            let piece = self.pieces.get(self.index)?;
            match piece.text.as_bytes().get(self.byte..) {
                Some(rest) if !rest.is_empty() => return Some((piece.role, rest)),
                Some(_) | None => (self.index, self.byte) = (self.index + 1, 0),
            }
        }
    }
}

fn common_prefix(before: &[Piece<'_>], after: &[Piece<'_>]) -> Prefix {
    let mut old = Cursor { pieces: before, index: 0, byte: 0 };
    let mut new = Cursor { pieces: after, index: 0, byte: 0 };
    let mut bytes = 0;
    loop {
        let (Some((old_role, old_rest)), Some((new_role, new_rest))) = (old.rest(), new.rest()) else {
            return Prefix { bytes, ends_in_difference: false };
        };
        if old_role != new_role {
            return Prefix { bytes, ends_in_difference: true };
        }
        let n_bytes = old_rest.len().min(new_rest.len());
        let equal = common_bytes(old_rest, new_rest);
        bytes += equal;
        if equal < n_bytes {
            // A character is not cut: half of it is no text.
            let text = after.get(new.index).map_or("", |piece| piece.text);
            let byte = new.byte + equal;
            bytes -= byte - text.floor_char_boundary(byte);
            return Prefix { bytes, ends_in_difference: true };
        }
        old.byte += n_bytes;
        new.byte += n_bytes;
    }
}

/// How many bytes two texts have in common at their beginning.
fn common_bytes(a: &[u8], b: &[u8]) -> usize {
    const CHUNK: usize = 4096;
    let chunks = a.chunks(CHUNK).zip(b.chunks(CHUNK));
    let n_chunks = chunks.take_while(|(a, b)| a == b).count();
    let start = (n_chunks * CHUNK).min(a.len()).min(b.len());
    let (a, b) = (a.get(start..).unwrap_or_default(), b.get(start..).unwrap_or_default());
    start + a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The same from their end.
fn common_end(a: &[u8], b: &[u8]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// A section of both prompts, by its places in them.
#[derive(Clone, Copy, Debug)]
struct Pair {
    before: usize,
    after: usize,
    is_same: bool,
}

/// A section's text without the separator after it: that belongs to the section's place.
fn body(text: &str) -> &str {
    let text = text.trim_end();
    text.strip_suffix("\n---").unwrap_or(text).trim_end()
}

/// Finds the sections that both prompts have: first those with the same text, then those with the same id.
fn pairs(before: &[Piece<'_>], after: &[Piece<'_>]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut is_paired = (vec![false; before.len()], vec![false; after.len()]);
    for wants_same in [true, false] {
        let key = |piece: &Piece<'_>| {
            let body = if wants_same { body(piece.text) } else { "" };
            // Comparing the lengths first keeps long texts from being compared byte by byte.
            (body.len(), digest(body))
        };
        let mut known: BTreeMap<(&str, (usize, u64)), VecDeque<usize>> = BTreeMap::new();
        for (index, piece) in before.iter().enumerate() {
            if !is_paired.0.get(index).is_some_and(|paired| *paired) {
                known.entry((piece.section, key(piece))).or_default().push_back(index);
            }
        }
        for (index, piece) in after.iter().enumerate() {
            if is_paired.1.get(index).is_some_and(|paired| *paired) {
                continue;
            }
            let Some(candidates) = known.get_mut(&(piece.section, key(piece))) else { continue };
            let is_match = |candidate: &usize| {
                !wants_same || before.get(*candidate).is_some_and(|old| body(old.text) == body(piece.text))
            };
            let Some(old) = candidates.front().copied().filter(is_match) else { continue };
            candidates.pop_front();
            for (paired, index) in [(&mut is_paired.0, old), (&mut is_paired.1, index)] {
                if let Some(paired) = paired.get_mut(index) {
                    *paired = true;
                }
            }
            pairs.push(Pair { before: old, after: index, is_same: wants_same });
        }
    }
    pairs.sort_by_key(|pair| pair.after);
    pairs
}

/// Tells texts of the same length apart; equal digests are compared again.
fn digest(text: &str) -> u64 {
    use std::hash::{Hash as _, Hasher as _};
    let mut hasher = rustc_hash::FxHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Which pairs moved: all but a longest run of pairs that are in the same order in both prompts.
fn moved(pairs: &[Pair]) -> Vec<bool> {
    // `ends[n]` is the pair that ends the best ordered run of n + 1 pairs.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let place = |pair: usize| pairs.get(pair).map_or(0, |pair| pair.before);
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| place(*end) < pair.before);
        previous.push(length.checked_sub(1).and_then(|before| ends.get(before).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut moved = vec![true; pairs.len()];
    let mut next = ends.last().copied();
    while let Some(index) = next {
        if let Some(moved) = moved.get_mut(index) {
            *moved = false;
        }
        next = previous.get(index).copied().flatten();
    }
    moved
}

/// The tokens of every piece; a text that both prompts have is counted once.
struct Counts {
    before: Vec<Tokens>,
    after: Vec<Tokens>,
    /// Of the part of a piece that belongs to the common prefix.
    of_cut: Tokens,
}

impl Counts {
    fn of(
        before: &[Piece<'_>],
        after: &[Piece<'_>],
        pairs: &[Pair],
        cut: (usize, usize),
        counter: &dyn CountTokens,
    ) -> Self {
        let cut_text = after.get(cut.0).and_then(|piece| piece.text.get(..cut.1)).unwrap_or_default();
        let mut texts: Vec<Vec<&str>> = after.iter().map(|piece| vec![piece.text]).collect();
        texts.push(vec![cut_text]);
        let mut same_as: Vec<Option<usize>> = vec![None; before.len()];
        for pair in pairs {
            let is_equal = |old: &Piece<'_>, new: &Piece<'_>| old.text == new.text;
            let both = before.get(pair.before).zip(after.get(pair.after));
            if let Some(same) = same_as.get_mut(pair.before)
                && pair.is_same
                && both.is_some_and(|(old, new)| is_equal(old, new))
            {
                *same = Some(pair.after);
            }
        }
        let others = before.iter().zip(&same_as).filter(|(_, same)| same.is_none());
        texts.extend(others.map(|(piece, _)| vec![piece.text]));
        let counts = counter.count(&texts);
        let (of_after, rest) = counts.split_at_checked(after.len()).unwrap_or_default();
        let (of_cut, rest) = rest.split_first().map_or((Tokens(0), rest), |(cut, rest)| (*cut, rest));
        let mut rest = rest.iter().copied();
        let of_before = same_as.iter().map(|same| match same {
            Some(index) => of_after.get(*index).copied().unwrap_or_default(),
            None => rest.next().unwrap_or_default(),
        });
        Self { before: of_before.collect(), after: of_after.to_vec(), of_cut }
    }
}

fn sections(
    before: &[Piece<'_>],
    after: &[Piece<'_>],
    pairs: &[Pair],
    moved: &[bool],
    counts: &Counts,
) -> Vec<SectionChange> {
    let side = |pieces: &[Piece<'_>], tokens: &[Tokens], index: usize| SectionSide {
        index,
        bytes: pieces.get(index).map_or(0, |piece| piece.text.len()),
        tokens: tokens.get(index).copied().unwrap_or_default(),
    };
    let mut pair_of = BTreeMap::new();
    let mut kept = vec![false; before.len()];
    for (pair, is_moved) in pairs.iter().zip(moved) {
        pair_of.insert(pair.after, (*pair, *is_moved));
        if let Some(kept) = kept.get_mut(pair.before) {
            *kept = true;
        }
    }
    let removed = |index: usize| SectionChange {
        change: Change::Removed,
        is_moved: false,
        before: Some(side(before, &counts.before, index)),
        after: None,
    };
    let is_removed = |index: &usize| !kept.get(*index).is_some_and(|kept| *kept);
    let mut next_before = 0;
    let mut sections = Vec::new();
    for index in 0..after.len() {
        let of_after = Some(side(after, &counts.after, index));
        let Some((pair, is_moved)) = pair_of.get(&index).copied() else {
            let change =
                SectionChange { change: Change::Added, is_moved: false, before: None, after: of_after };
            sections.push(change);
            continue;
        };
        if !is_moved {
            sections.extend((next_before..pair.before).filter(is_removed).map(removed));
            next_before = next_before.max(pair.before);
        }
        sections.push(SectionChange {
            change: if pair.is_same { Change::Unchanged } else { Change::Changed },
            is_moved,
            before: Some(side(before, &counts.before, pair.before)),
            after: of_after,
        });
    }
    sections.extend((next_before..before.len()).filter(is_removed).map(removed));
    sections
}

/// The unchanged tokens after the common prefix.
fn unchanged_after(
    before: &[Piece<'_>],
    after: &[Piece<'_>],
    pairs: &[Pair],
    cut: (usize, usize),
    counts: &Counts,
) -> Tokens {
    let mut unchanged = Tokens(0);
    for pair in pairs {
        let (Some(old), Some(new)) = (before.get(pair.before), after.get(pair.after)) else { continue };
        if pair.after < cut.0 {
            continue;
        }
        let from = if pair.after == cut.0 { cut.1 } else { 0 };
        let rest = new.text.get(from..).unwrap_or_default();
        let tokens = counts.after.get(pair.after).copied().unwrap_or_default();
        let of_rest = Tokens(if from == 0 { tokens.0 } else { tokens.0.saturating_sub(counts.of_cut.0) });
        let n_same = if pair.is_same && from == 0 {
            rest.len()
        } else {
            same_bytes(old.text.get(from..).unwrap_or(old.text), rest)
        };
        unchanged += part(of_rest, n_same, rest.len());
    }
    unchanged
}

/// The tokens of a part of a text, by its share of the bytes.
fn part(tokens: Tokens, n_bytes: usize, of_bytes: usize) -> Tokens {
    let product = u128::from(tokens.0) * n_bytes as u128;
    Tokens(product.checked_div(of_bytes as u128).and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0))
}

/// How many bytes of `new` are in `old` too: at the beginning, at the end, and whole lines between.
fn same_bytes(old: &str, new: &str) -> usize {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let start = common_bytes(old, new);
    let (old, new) = (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
    let end = whole_lines(old, new, common_end(old, new));
    let middle = |text: &'_ [u8]| text.len() - end;
    let (old, new) = (old.get(..middle(old)).unwrap_or_default(), new.get(..middle(new)).unwrap_or_default());
    let mut lines: BTreeMap<&[u8], usize> = BTreeMap::new();
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        *lines.entry(line).or_default() += 1;
    }
    let mut same = start + end;
    for line in new.split_inclusive(|byte| *byte == b'\n') {
        // An empty line says nothing about where it comes from.
        if let Some(left) = lines.get_mut(line).filter(|left| **left > 0 && !line.trim_ascii().is_empty()) {
            *left -= 1;
            same += line.len();
        }
    }
    same
}

/// Shortens a common end to whole lines, so that the line before it can be matched as a whole.
fn whole_lines(old: &[u8], new: &[u8], end: usize) -> usize {
    let starts_line = |text: &[u8]| {
        let before = text.len().checked_sub(end + 1).and_then(|index| text.get(index));
        before.is_none_or(|byte| *byte == b'\n')
    };
    if starts_line(old) && starts_line(new) {
        return end;
    }
    let tail = new.get(new.len() - end..).unwrap_or_default();
    memchr::memchr(b'\n', tail).map_or(0, |newline| end - newline - 1)
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
