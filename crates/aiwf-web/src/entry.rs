//! How a browser gets in: a secret or a one-time code, exchanged for a cookie.
//!
//! The secret is in the fragment of the printed address, so it reaches no log and no `Referer`. The code is for browsers
//! without scripts, which cannot read a fragment. The cookie is neither, and each form carries a token made from it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use aiwf_loopback::{Token, TokenError};
use hyper::header::{COOKIE, HeaderMap};
use sha2::{Digest as _, Sha256};

use crate::words::hex;

/// Wrong attempts after which the code is replaced.
const MAX_WRONG: u32 = 20;
/// The number of browsers that are let in; the oldest is forgotten.
const MAX_COOKIES: usize = 64;
/// Letters and digits that nobody confuses.
const ALPHABET: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
const CODE_LENGTH: usize = 8;

#[derive(Debug)]
pub(crate) struct Entry {
    cookie_name: String,
    secret: Token,
    /// What form tokens are made with.
    key: Token,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    code: Token,
    n_wrong: u32,
    cookies: VecDeque<Token>,
}

/// What came of an attempt to get in.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The value of `Set-Cookie`; a new code if this one was used.
    In { cookie: String, new_code: Option<String> },
    /// A new code if the old one was retired after too many attempts.
    Refused { new_code: Option<String> },
}

impl Entry {
    pub(crate) fn new(port: u16) -> Result<Self, TokenError> {
        let state = State { code: new_code()?, n_wrong: 0, cookies: VecDeque::new() };
        Ok(Self {
            cookie_name: format!("aiwf-{port}"),
            secret: Token::random()?,
            key: Token::random()?,
            state: Mutex::new(state),
        })
    }

    pub(crate) fn secret(&self) -> &str {
        self.secret.reveal()
    }

    pub(crate) fn code(&self) -> String {
        self.lock().code.reveal().to_owned()
    }

    /// Exchanges the secret or the code for a cookie.
    pub(crate) fn exchange(&self, given: &str) -> Result<Attempt, TokenError> {
        let given = given.trim();
        let mut state = self.lock();
        let is_secret = self.secret.is(given.as_bytes());
        let plain: String =
            given.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        let is_code = !is_secret && state.code.is(dashed(&plain).as_bytes());
        if !is_secret && !is_code {
            state.n_wrong += 1;
            let new_code = if state.n_wrong >= MAX_WRONG { Some(state.renew()?) } else { None };
            return Ok(Attempt::Refused { new_code });
        }
        let new_code = if is_code { Some(state.renew()?) } else { None };
        let value = Token::random()?;
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name, value.reveal());
        state.cookies.push_back(value);
        if state.cookies.len() > MAX_COOKIES {
            state.cookies.pop_front();
        }
        Ok(Attempt::In { cookie, new_code })
    }

    /// The value of the cookie, if the request has a valid one.
    pub(crate) fn cookie(&self, headers: &HeaderMap) -> Option<String> {
        let state = self.lock();
        let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut own = pairs.filter(|(name, _)| *name == self.cookie_name).map(|(_, value)| value);
        let is_known = |value: &&str| state.cookies.iter().any(|cookie| cookie.is(value.as_bytes()));
        own.find(is_known).map(str::to_owned)
    }

    /// The token of the forms of a browser.
    pub(crate) fn form_token(&self, cookie: &str) -> String {
        let digest = Sha256::new().chain_update(self.key.reveal()).chain_update(cookie).finalize();
        hex(&digest)
    }

    pub(crate) fn is_form_token(&self, cookie: &str, given: &str) -> bool {
        Token::given(&self.form_token(cookie)).is_ok_and(|token| token.is(given.as_bytes()))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn renew(&mut self) -> Result<String, TokenError> {
        self.code = new_code()?;
        self.n_wrong = 0;
        Ok(self.code.reveal().to_owned())
    }
}

/// A code of 40 random bits, as the terminal shows it.
fn new_code() -> Result<Token, TokenError> {
    let random = Token::random()?;
    let digits = random.reveal().as_bytes().chunks(2).take(CODE_LENGTH);
    let letter = |pair: &[u8]| {
        let byte = std::str::from_utf8(pair).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
        ALPHABET.get(usize::from(byte.unwrap_or_default()) % ALPHABET.len()).copied().map_or('a', char::from)
    };
    Ok(Token::short(&dashed(&digits.map(letter).collect::<String>())))
}

fn dashed(code: &str) -> String {
    match code.split_at_checked(CODE_LENGTH / 2) {
        Some((first, last)) => format!("{first}-{last}"),
        None => code.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn headers(cookie: &str) -> HeaderMap {
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(cookie).unwrap())])
    }

    fn cookie_of(attempt: Attempt) -> String {
        match attempt {
            Attempt::In { cookie, .. } => cookie,
            Attempt::Refused { .. } => panic!("refused"),
        }
    }

    #[test]
    fn the_secret_gives_a_cookie_that_is_not_the_secret() {
        let entry = Entry::new(8765).unwrap();
        let cookie = cookie_of(entry.exchange(entry.secret()).unwrap());
        assert!(cookie.starts_with("aiwf-8765=") && cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"));
        assert!(!cookie.contains(entry.secret()));
        let pair = cookie.split(';').next().unwrap();
        assert!(entry.cookie(&headers(&format!("other=1; {pair}"))).is_some());
        assert!(entry.cookie(&headers(&pair.replace("8765", "8766"))).is_none());
        assert!(entry.cookie(&headers(&format!("{pair}x"))).is_none());
        assert!(entry.cookie(&HeaderMap::new()).is_none());
    }

    #[test]
    fn a_code_works_once_however_it_is_typed() {
        let entry = Entry::new(1).unwrap();
        let code = entry.code();
        assert_eq!(code.len(), CODE_LENGTH + 1);
        let typed = format!(" {} ", code.replace('-', " ").to_uppercase());
        assert!(matches!(entry.exchange(&typed).unwrap(), Attempt::In { new_code: Some(_), .. }));
        assert!(matches!(entry.exchange(&code).unwrap(), Attempt::Refused { .. }));
    }

    #[test]
    fn a_code_is_retired_after_many_wrong_attempts() {
        let entry = Entry::new(1).unwrap();
        let code = entry.code();
        for _ in 1..MAX_WRONG {
            assert!(matches!(entry.exchange("aaaa-aaaa").unwrap(), Attempt::Refused { new_code: None }));
        }
        assert!(matches!(entry.exchange("").unwrap(), Attempt::Refused { new_code: Some(_) }));
        assert!(matches!(entry.exchange(&code).unwrap(), Attempt::Refused { .. }));
    }

    #[test]
    fn a_form_token_belongs_to_one_cookie() {
        let entry = Entry::new(1).unwrap();
        let token = entry.form_token("one");
        assert!(entry.is_form_token("one", &token));
        assert!(!entry.is_form_token("other", &token));
        assert!(!entry.is_form_token("one", ""));
    }

    #[test]
    fn the_oldest_browser_is_forgotten() {
        let entry = Entry::new(1).unwrap();
        let first = cookie_of(entry.exchange(entry.secret()).unwrap());
        for _ in 0..MAX_COOKIES {
            entry.exchange(entry.secret()).unwrap();
        }
        assert!(entry.cookie(&headers(first.split(';').next().unwrap())).is_none());
    }
}
