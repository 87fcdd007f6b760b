//! The layout of a vocabulary in the binary, shared by the build script and the lookup.
//!
//! A file consists of the number of slots, the slots of an open-addressed hash table, and the bytes of all tokens.
//! Numbers and slots have eight bytes. A slot contains the offset of its token's bytes, their length, the rank, and a
//! tag of the hash; in an empty slot all bits are set. Nothing is loaded: a lookup reads the slots directly.

pub(crate) const EMPTY: u64 = u64::MAX;

const RANK_BITS: u32 = 18;
const TAG_BITS: u32 = 14;
const LEN_BITS: u32 = 8;
const START_BITS: u32 = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The offset of its bytes among those of all tokens.
    pub(crate) start: u64,
    /// The length of its bytes.
    pub(crate) len: u64,
    /// Its rank: parts that form a lower-ranked token merge first.
    pub(crate) rank: u64,
    /// Some bits of its hash, so that other tokens are rarely compared.
    pub(crate) tag: u64,
}

impl Slot {
    /// The slot as one number; `None` if a field does not fit.
    #[allow(dead_code, reason = "used only by the build script and a test")]
    pub(crate) fn pack(self) -> Option<u64> {
        let fields =
            [(self.start, START_BITS), (self.len, LEN_BITS), (self.rank, RANK_BITS), (self.tag, TAG_BITS)];
        fields
            .into_iter()
            .try_fold(0, |packed, (field, bits)| (field < 1 << bits).then_some(packed << bits | field))
    }

    pub(crate) fn unpack(packed: u64) -> Self {
        let field = |below: u32, bits: u32| packed >> below & ((1 << bits) - 1);
        Self {
            start: field(TAG_BITS + RANK_BITS + LEN_BITS, START_BITS),
            len: field(TAG_BITS + RANK_BITS, LEN_BITS),
            rank: field(TAG_BITS, RANK_BITS),
            tag: field(0, TAG_BITS),
        }
    }
}

/// Where the search for some bytes starts in a table of `n_slots` (a power of two), and their tag.
pub(crate) fn place(bytes: &[u8], n_slots: u64) -> (u64, u64) {
    let hash = hash(bytes);
    ((hash >> 32) & n_slots.wrapping_sub(1), hash & ((1 << TAG_BITS) - 1))
}

fn hash(bytes: &[u8]) -> u64 {
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word: u64, byte| word << 8 | u64::from(*byte));
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let words = bytes.chunks_exact(8);
    let last = mix(bytes.len() as u64, word(words.remainder()));
    let hash = words.map(word).fold(last, mix);
    // The low bits of a product depend only on the low bits of its factors.
    (hash ^ hash >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ hash >> 32
}
