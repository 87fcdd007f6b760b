//! Counts tokens: a pure function of bytes and vocabulary.
//!
//! Exact if there is a public vocabulary, otherwise a named estimate. Compiling the expressions of a vocabulary takes
//! milliseconds, so that happens on the first count. Counts are not cached between processes here; wrap [`CountTokens`]
//! for that.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, SubAssign};

use crate::vocabulary::{self, Counter, Vocabulary};

#[expect(
    clippy::disallowed_types,
    reason = "looked up by key and never iterated, so its order does not matter"
)]
type Memo = std::collections::HashMap<Box<str>, u32, rustc_hash::FxBuildHasher>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tokens(pub u64);

impl Add for Tokens {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Tokens {
    fn sub_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_sub(other.0);
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self(0), Add::add)
    }
}

impl fmt::Display for Tokens {
    /// Formats the number with thousands separators.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (position, digit) in digits.chars().enumerate() {
            if position > 0 && (digits.len() - position).is_multiple_of(3) {
                formatter.write_str(",")?;
            }
            write!(formatter, "{digit}")?;
        }
        Ok(())
    }
}

/// Counts the tokens of texts.
pub trait CountTokens: Sync {
    /// The name shown next to every count.
    fn name(&self) -> &str;
    /// Whether it counts with a public vocabulary.
    fn is_exact(&self) -> bool;
    /// Counts each text; a text is given as adjacent pieces.
    fn count(&self, texts: &[Vec<&str>]) -> Vec<Tokens>;
}

/// The built-in tokenizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokenizer {
    /// A quarter of the ASCII characters plus one token for every other character.
    Estimate,
    /// The vocabulary of current OpenAI models.
    O200kBase,
    /// The vocabulary of earlier OpenAI models.
    Cl100kBase,
}

impl Tokenizer {
    pub const ALL: [Self; 3] = [Self::Estimate, Self::O200kBase, Self::Cl100kBase];

    /// The name used in flags and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tokenizer| tokenizer.as_str() == name)
    }

    /// Loads the vocabulary, if there is one, so that later counts do not have to.
    pub fn load(self) {
        self.vocabulary();
    }

    fn vocabulary(self) -> Option<&'static Vocabulary> {
        match self {
            Self::Estimate => None,
            Self::O200kBase => Some(vocabulary::o200k_base()),
            Self::Cl100kBase => Some(vocabulary::cl100k_base()),
        }
    }
}

impl CountTokens for Tokenizer {
    fn name(&self) -> &str {
        self.as_str()
    }

    fn is_exact(&self) -> bool {
        *self != Self::Estimate
    }

    fn count(&self, texts: &[Vec<&str>]) -> Vec<Tokens> {
        match self.vocabulary() {
            None => texts.iter().map(|pieces| estimate(pieces)).collect(),
            Some(vocabulary) => count_in_parallel(vocabulary, texts),
        }
    }
}

/// A quarter of the ASCII characters, rounded up, plus one for every other character.
fn estimate(pieces: &[&str]) -> Tokens {
    let mut ascii = 0u64;
    let mut other = 0u64;
    for piece in pieces {
        if piece.is_ascii() {
            ascii += piece.len() as u64;
            continue;
        }
        for byte in piece.bytes() {
            // Continuation bytes belong to a character that is already counted.
            ascii += u64::from(byte < 0x80);
            other += u64::from(byte >= 0xC0);
        }
    }
    Tokens(ascii.div_ceil(4) + other)
}

/// Texts are split into pieces of about this size, so that one large text uses every core.
const PIECE_BYTES: usize = 64 * 1024;
/// Below this size a second thread costs more than it saves.
const PARALLEL_BYTES: usize = 256 * 1024;

fn count_in_parallel(vocabulary: &Vocabulary, texts: &[Vec<&str>]) -> Vec<Tokens> {
    let joined: Vec<std::borrow::Cow<'_, str>> = texts
        .iter()
        .map(|pieces| match pieces.as_slice() {
            [only] => (*only).into(),
            several => several.concat().into(),
        })
        .collect();
    let mut jobs: Vec<(usize, &str)> = Vec::new();
    for (index, text) in joined.iter().enumerate() {
        jobs.extend(split_at_boundaries(text, PIECE_BYTES).map(|piece| (index, piece)));
    }
    let total: usize = jobs.iter().map(|(_, piece)| piece.len()).sum();
    let n_threads = if total < PARALLEL_BYTES {
        1
    } else {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(16)
    };
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let (mut counter, mut memo) = (vocabulary.counter(), Memo::default());
        let mut sums = Vec::new();
        while let Some((index, piece)) = jobs.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            sums.push((*index, count_piece(&mut counter, piece, &mut memo)));
        }
        sums
    };
    let counted = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
        let mut counted = work();
        for worker in workers {
            counted.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        counted
    });
    let mut counts = vec![Tokens(0); texts.len()];
    for (index, tokens) in counted {
        if let Some(count) = counts.get_mut(index) {
            *count += Tokens(tokens);
        }
    }
    counts
}

/// Longer words are rare and not worth caching.
const MEMO_WORD_BYTES: usize = 32;
/// Limits the cache of a thread.
const MEMO_ENTRIES: usize = 1 << 17;

/// Counts one piece; source code repeats words, so each distinct word is encoded once.
fn count_piece(counter: &mut Counter<'_>, piece: &str, memo: &mut Memo) -> u64 {
    let mut total = 0;
    let mut rest = piece;
    while let Some(word) = counter.first_word(rest) {
        rest = rest.get(word.len()..).unwrap_or_default();
        if let Some(known) = memo.get(word) {
            total += u64::from(*known);
            continue;
        }
        let count = counter.count_word(word.as_bytes());
        total += count as u64;
        if word.len() <= MEMO_WORD_BYTES && memo.len() < MEMO_ENTRIES {
            memo.insert(word.into(), u32::try_from(count).unwrap_or(u32::MAX));
        }
    }
    total
}

/// Whether a vocabulary always starts a new word between these two characters.
///
/// Both vocabularies end a run of white space after its last line end, and no word starts with one. Only `o200k_base`
/// continues a word across a line end, and only with a slash.
pub(crate) fn is_boundary(before: &str, after: &str) -> bool {
    before.ends_with('\n')
        && after.chars().next().is_some_and(|character| !character.is_whitespace() && character != '/')
}

/// `text` in pieces of at least `size` bytes (except the last) whose counts add up to that of the whole.
fn split_at_boundaries(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let piece = first_piece(rest, size);
        rest = rest.get(piece.len()..).unwrap_or_default();
        Some(piece)
    })
}

fn first_piece(text: &str, size: usize) -> &str {
    let tail = text.as_bytes().get(size..).unwrap_or_default();
    for newline in memchr::memchr_iter(b'\n', tail) {
        let end = size + newline + 1;
        if let Some((piece, after)) = text.split_at_checked(end)
            && is_boundary(piece, after)
        {
            return piece;
        }
    }
    text
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
