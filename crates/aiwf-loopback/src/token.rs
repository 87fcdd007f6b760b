//! The token that every HTTP request must carry.

use std::fmt::{self, Write as _};

use subtle::ConstantTimeEq as _;

/// A secret shared with the clients.
#[derive(Clone)]
pub struct Token(String);

/// Why a token is not available or not usable.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Too short, or empty.
    #[error("the token has {found} characters but needs {MIN_LENGTH} or more")]
    TooShort { found: usize },
    /// It contains characters that no header can carry.
    #[error("the token contains a character that is not allowed in a header")]
    NotPrintable,
    /// The system returned no random bytes.
    #[error("the system returned no random bytes: {0}")]
    NoRandomness(String),
}

impl TokenError {
    /// A code that is stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooShort { .. } | Self::NotPrintable => "TOKEN_INVALID",
            Self::NoRandomness(_) => "E_RESOURCES",
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooShort { .. } | Self::NotPrintable => {
                "omit it to have one generated, or create one with `openssl rand -hex 32`"
            }
            Self::NoRandomness(_) => "pass a token with `--token-file`",
        }
    }
}

const MIN_LENGTH: usize = 16;

impl Token {
    /// A token from a file or a variable; surrounding white space is ignored.
    pub fn given(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.len() < MIN_LENGTH {
            return Err(TokenError::TooShort { found: text.chars().count() });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotPrintable);
        }
        Ok(Self(text.to_owned()))
    }

    /// A short secret that is good for a few attempts, for the program's own use.
    pub fn short(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// A new token of 256 random bits.
    pub fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::NoRandomness(error.to_string()))?;
        let hex = bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Self(hex))
    }

    /// The token itself, to be shown once to the user who started the server.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token, compared in constant time.
    pub fn is(&self, given: &[u8]) -> bool {
        bool::from(given.ct_eq(self.0.as_bytes()))
    }

    /// Whether an `Authorization` header contains the token, compared in constant time.
    pub fn is_carried_by(&self, authorization: &[u8]) -> bool {
        const SCHEME: &[u8] = b"bearer ";
        let Some((scheme, given)) = authorization.split_at_checked(SCHEME.len()) else { return false };
        scheme.eq_ignore_ascii_case(SCHEME) && self.is(given.trim_ascii())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_accepted() {
        let token = Token::given("  0123456789abcdef\n").unwrap();
        assert!(token.is_carried_by(b"Bearer 0123456789abcdef"));
        assert!(token.is_carried_by(b"bearer  0123456789abcdef "));
        for wrong in ["", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef"] {
            assert!(!token.is_carried_by(wrong.as_bytes()), "{wrong}");
        }
        for wrong in ["Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer 0123456789ABCDEF"] {
            assert!(!token.is_carried_by(wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn a_generated_token_is_long_unique_and_never_printed_by_accident() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.reveal().len(), 64);
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(format!("{one:?}"), "Token(…)");
    }

    #[test]
    fn a_weak_token_is_refused() {
        assert_eq!(
            Token::given("short").unwrap_err().to_string(),
            "the token has 5 characters but needs 16 or more"
        );
        assert!(matches!(Token::given("0123456789abcdef\n0123456789"), Err(TokenError::NotPrintable)));
    }
}
