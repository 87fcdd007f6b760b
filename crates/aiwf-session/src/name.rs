//! Short names of phases and roles, stored inline so that they are `Copy`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest name of a phase or role.
const MAX_BYTES: usize = 31;

/// A name of lower-case letters, digits, `-` and `_`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// Padded with zeros, so that the order is that of the text.
    bytes: [u8; MAX_BYTES],
    n_bytes: u8,
}

impl Name {
    /// For constants: does not validate.
    pub(crate) const fn known(text: &str) -> Self {
        let mut bytes = [0; MAX_BYTES];
        let (head, _) = bytes.split_at_mut(text.len());
        head.copy_from_slice(text.as_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "a name has at most 31 bytes")]
        let n_bytes = text.len() as u8;
        Self { bytes, n_bytes }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        (begins_well && text.len() <= MAX_BYTES && text.bytes().all(is_fine)).then(|| Self::known(text))
    }

    pub(crate) fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..usize::from(self.n_bytes)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            D::Error::custom(format!(
                "`{}` is not a name: use up to {MAX_BYTES} lower-case letters, digits, `-` and `_`",
                shown.escape_debug()
            ))
        })
    }
}
