//! The public vocabularies: splits text into words and words into tokens.
//!
//! In: a text. Out: its number of tokens. Words follow the vocabulary's own expressions. Within a word, the two
//! adjacent parts that form the token of the lowest rank are merged, leftmost first, until no more merge is possible.
//! The tables come from the build script and are used directly from the binary.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use regex_automata::meta::{Cache, Regex};
use regex_automata::{Anchored, Input};

use crate::token_slots::{EMPTY, Slot, place};

/// The expressions of words. Look-ahead is expensive, so the white space before a word is matched together with one
/// following character, which is then given back.
const LOOK_AHEAD: &str = r"\s+\s";
const WHITE_SPACE: &str = r"\s+";
const O200K_WORD: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+$",
);
const CL100K_WORD: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$",
);
/// The expression whose last character is given back.
const LOOK_AHEAD_PATTERN: usize = 1;

static O200K_BASE: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::new(O200K_WORD, include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base"))));
static CL100K_BASE: LazyLock<Vocabulary> =
    LazyLock::new(|| Vocabulary::new(CL100K_WORD, include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base"))));

/// The vocabulary of current OpenAI models.
pub(crate) fn o200k_base() -> &'static Vocabulary {
    &O200K_BASE
}

/// The vocabulary of earlier OpenAI models.
pub(crate) fn cl100k_base() -> &'static Vocabulary {
    &CL100K_BASE
}

/// A vocabulary, ready for counting.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    words: Regex,
    /// A power of two; also the number of slots.
    n_slots: u64,
    slots: &'static [[u8; 8]],
    /// The bytes of all tokens, concatenated.
    token_bytes: &'static [u8],
}

/// The working memory of one counting thread.
#[derive(Debug)]
pub(crate) struct Counter<'v> {
    vocabulary: &'v Vocabulary,
    cache: Cache,
    /// The end of the part that starts at a byte; 0 if none starts there.
    ends: Vec<usize>,
    /// The start of the left neighbour of the part that starts at a byte.
    lefts: Vec<usize>,
    /// Possible merges: rank, start, end.
    merges: BinaryHeap<Reverse<(u64, usize, usize)>>,
}

impl Vocabulary {
    fn new(word: &str, file: &'static [u8]) -> Self {
        let (numbers, _) = file.as_chunks::<8>();
        let n_slots = numbers.first().map_or(0, |number| u64::from_le_bytes(*number));
        let n_used = usize::try_from(n_slots).unwrap_or_default().saturating_add(1);
        #[expect(clippy::expect_used, reason = "the expressions are constants, and a test uses each")]
        let words = Regex::new_many(&[word, LOOK_AHEAD, WHITE_SPACE]).expect("valid expressions");
        Self {
            words,
            n_slots,
            slots: numbers.get(1..n_used).unwrap_or_default(),
            token_bytes: file.get(8 * n_used..).unwrap_or_default(),
        }
    }

    pub(crate) fn counter(&self) -> Counter<'_> {
        Counter {
            vocabulary: self,
            cache: self.words.create_cache(),
            ends: Vec::new(),
            lefts: Vec::new(),
            merges: BinaryHeap::new(),
        }
    }

    /// The rank of the token with these bytes.
    fn rank(&self, bytes: &[u8]) -> Option<u64> {
        let (first, tag) = place(bytes, self.n_slots);
        let len = bytes.len() as u64;
        let mut at = usize::try_from(first).ok()?;
        // The table is at most half full, so every search ends at an empty slot.
        loop {
            let packed = u64::from_le_bytes(*self.slots.get(at)?);
            if packed == EMPTY {
                return None;
            }
            let slot = Slot::unpack(packed);
            if slot.tag == tag && slot.len == len && self.bytes(slot) == Some(bytes) {
                return Some(slot.rank);
            }
            at = (at + 1) % self.slots.len();
        }
    }

    fn bytes(&self, slot: Slot) -> Option<&[u8]> {
        let (start, len) = (usize::try_from(slot.start).ok()?, usize::try_from(slot.len).ok()?);
        self.token_bytes.get(start..start + len)
    }
}

impl Counter<'_> {
    /// The first word of a text; `None` at its end.
    pub(crate) fn first_word<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let input = Input::new(text).anchored(Anchored::Yes);
        let found = self.vocabulary.words.search_with(&mut self.cache, &input)?;
        let word = text.get(..found.end())?;
        if found.pattern().as_usize() == LOOK_AHEAD_PATTERN {
            return word.char_indices().next_back().and_then(|(end, _)| word.get(..end));
        }
        Some(word)
    }

    /// The number of tokens of a word.
    pub(crate) fn count_word(&mut self, word: &[u8]) -> usize {
        if word.len() < 2 || self.vocabulary.rank(word).is_some() {
            return word.len().min(1);
        }
        self.ends.clear();
        self.ends.extend(1..=word.len());
        self.lefts.clear();
        self.lefts.extend(std::iter::once(0).chain(0..word.len() - 1));
        self.merges.clear();
        for start in 0..word.len() - 1 {
            self.add_merge(word, start);
        }
        let mut n_parts = word.len();
        while let Some(Reverse((_, start, end))) = self.merges.pop() {
            // Parts may have changed since, which makes this merge obsolete; a different span would be a different
            // merge.
            let middle = self.ends.get(start).copied().unwrap_or_default();
            if middle == 0 || self.ends.get(middle) != Some(&end) {
                continue;
            }
            n_parts -= 1;
            set(&mut self.ends, start, end);
            set(&mut self.ends, middle, 0);
            set(&mut self.lefts, end, start);
            self.add_merge(word, start);
            if start > 0 {
                self.add_merge(word, self.lefts.get(start).copied().unwrap_or_default());
            }
        }
        n_parts
    }

    /// Records the merge of the part at `start` with its right neighbour, if they form a token.
    fn add_merge(&mut self, word: &[u8], start: usize) {
        let end = self.ends.get(start).and_then(|middle| self.ends.get(*middle)).copied().unwrap_or_default();
        if let Some(bytes) = word.get(start..end)
            && let Some(rank) = self.vocabulary.rank(bytes)
        {
            self.merges.push(Reverse((rank, start, end)));
        }
    }
}

fn set(places: &mut [usize], at: usize, to: usize) {
    if let Some(place) = places.get_mut(at) {
        *place = to;
    }
}

#[cfg(test)]
#[path = "vocabulary_tests.rs"]
mod tests;
