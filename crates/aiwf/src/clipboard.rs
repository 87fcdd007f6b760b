//! Puts a text on the clipboard through the terminal, with the sequence OSC 52, which also works over SSH.

use crate::output;

/// Terminals drop longer sequences.
const MAX_BYTES: usize = 74_000;

/// Asks the terminal to put a text on the clipboard; whether it could be asked. No terminal says whether it obeyed.
pub(crate) fn copy(text: &str) -> bool {
    if text.len() > MAX_BYTES {
        return false;
    }
    output::set_clipboard(&base64(text.as_bytes()));
    true
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let group = at(0) << 16 | at(1) << 8 | at(2);
        for position in 0..4 {
            let digit = DIGITS.get((group >> (18 - 6 * position) & 63) as usize).copied().unwrap_or(b'=');
            encoded.push(if position <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_are_encoded_as_terminals_expect() {
        for (text, encoded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("fooba", "Zm9vYmE="), ("ÿ~", "w79+")]
        {
            assert_eq!(super::base64(text.as_bytes()), encoded);
        }
    }
}
