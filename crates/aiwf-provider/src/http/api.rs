//! The three APIs in one table: where each vendor's server is, how it is addressed, and who speaks its language.

use reqwest::Url;
use serde_json::Value;

use super::stream::{FoldError, Stream};
use super::{anthropic, gemini, openai};
use crate::built_in::Kind;
use crate::payload::Payload;

/// What of a provider's setting stands in a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options<'a> {
    pub(super) model: &'a str,
    pub(super) max_output_tokens: u64,
    /// Whether the vendor's own server is asked.
    pub(super) is_vendors: bool,
}

/// One API.
pub(super) struct Api {
    /// The kind whose defaults hold.
    pub(super) name: &'static str,
    /// The vendor's own server.
    pub(super) base_url: &'static str,
    /// The header that carries the key.
    pub(super) key_header: &'static str,
    /// What stands before the key in it.
    pub(super) key_prefix: &'static str,
    /// Further headers.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// Whether it takes text files as parts of a message of their own.
    pub(super) takes_files: bool,
    /// The path, after the base, that lists models.
    pub(super) models_path: &'static [&'static str],
    /// The address that is asked.
    pub(super) ask_url: fn(&Url, &str) -> Url,
    /// The body of a request.
    pub(super) request_body: fn(&Payload, &Options<'_>) -> Value,
    /// Folds one event; its text is appended.
    pub(super) fold: fn(&mut Stream, &Value, &mut String) -> Result<(), FoldError>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

static ANTHROPIC: Api = Api {
    name: "anthropic",
    base_url: "https://api.anthropic.com",
    key_header: "x-api-key",
    key_prefix: "",
    headers: &[("anthropic-version", "2023-06-01")],
    takes_files: true,
    models_path: &["v1", "models"],
    ask_url: |base, _| join(base, &["v1", "messages"]),
    request_body: anthropic::request_body,
    fold: anthropic::fold,
};

static OPENAI: Api = Api {
    name: "openai",
    base_url: "https://api.openai.com/v1",
    key_header: "authorization",
    key_prefix: "Bearer ",
    headers: &[],
    // Chat completions take PDF files only.
    takes_files: false,
    models_path: &["models"],
    ask_url: |base, _| join(base, &["chat", "completions"]),
    request_body: openai::request_body,
    fold: openai::fold,
};

static GEMINI: Api = Api {
    name: "gemini",
    base_url: "https://generativelanguage.googleapis.com",
    key_header: "x-goog-api-key",
    key_prefix: "",
    headers: &[],
    takes_files: true,
    models_path: &["v1beta", "models"],
    ask_url: gemini_url,
    request_body: gemini::request_body,
    fold: gemini::fold,
};

/// The API of a kind; `None` for those that are no API.
pub(super) fn api(kind: Kind) -> Option<&'static Api> {
    match kind {
        Kind::Anthropic => Some(&ANTHROPIC),
        Kind::OpenAi => Some(&OPENAI),
        Kind::Gemini => Some(&GEMINI),
        Kind::Manual | Kind::ClaudeCode | Kind::Codex | Kind::GeminiCli | Kind::Command | Kind::Replay => {
            None
        }
    }
}

/// An address below a base; a query of the base stays.
pub(super) fn join(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    // Invariant: a base is http or https, and those have a path; see `address.rs`.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// A model may be named with its collection: `models/…`, `tunedModels/…`.
fn gemini_url(base: &Url, model: &str) -> Url {
    let (collection, name) = model.split_once('/').unwrap_or(("models", model));
    let mut url = join(base, &["v1beta", collection, &format!("{name}:streamGenerateContent")]);
    url.query_pairs_mut().append_pair("alt", "sse");
    url
}

#[cfg(test)]
#[path = "api_tests.rs"]
mod tests;
