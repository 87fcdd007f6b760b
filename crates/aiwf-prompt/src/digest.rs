//! SHA-256 of prompts, in lower-case hex.

use std::fmt;

use sha2::{Digest, Sha256};

/// A SHA-256 digest; `Display` writes 64 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256Hex(pub [u8; 32]);

impl Sha256Hex {
    /// Hashes the pieces as one text.
    pub fn of<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hasher = Sha256::new();
        for piece in pieces {
            hasher.update(piece.as_bytes());
        }
        Self(hasher.finalize().into())
    }

    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Sha256Hex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 64];
        let halves = self.0.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        for (digit, half) in digits.iter_mut().zip(halves) {
            *digit = if half < 10 { b'0' + half } else { b'a' + half - 10 };
        }
        // Invariant: hexadecimal digits are ASCII.
        formatter.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }
}
