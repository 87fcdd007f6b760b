//! Compares prompts: section by section, up to the end of the common prefix, and what a provider's cache would miss.
//!
//! `named` finds the prompts that a user names, `prompt_file` reads those that `--json` wrote, and `cache` compares the
//! consecutive calls of a session or run. The comparison itself is [`aiwf_prompt::compare`].

mod cache;
pub(crate) mod diff_error;
mod lines;
mod named;
mod prompt_file;
mod rebuild;

use aiwf_config::{Config, Flags};
use aiwf_prompt::{Change, Comparison, CountTokens as _, Piece, Tokenizer, compare};
use aiwf_session::Dollars;
use serde::Serialize;

pub use cache::{CacheCall, CachePair, CacheReport};
pub use diff_error::DiffError;

use crate::Engine;
use crate::ask::sent_parts::OwnedPiece;
use crate::ask::{budget, providers};
use crate::prompt::count_cache::CountCache;

/// A prompt to compare.
#[derive(Clone, Debug, Default)]
pub struct ComparedPrompt {
    /// How messages call it.
    pub(crate) name: String,
    /// Its provider, if known.
    pub(crate) provider: Option<String>,
    /// The tokenizer it was counted with, if known.
    pub(crate) tokenizer: Option<Tokenizer>,
    pub(crate) pieces: Vec<OwnedPiece>,
}

/// What decides the counts and the price of a comparison.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// The tokenizer; by default that of the provider.
    pub tokenizer: Option<Tokenizer>,
    /// The model whose price counts; by default that of the provider.
    pub model: Option<String>,
}

/// The difference between two prompts.
#[derive(Clone, Debug, Serialize)]
pub struct PromptDiff {
    pub before: DiffSide,
    pub after: DiffSide,
    pub tokenizer: String,
    /// Whether the counts are exact.
    pub exact: bool,
    /// Whether both prompts are the same bytes.
    pub same: bool,
    pub sections: Vec<SectionDiff>,
    pub prefix: PrefixReport,
    /// The share of the second prompt that lies in the common prefix.
    pub stable_share: f64,
    /// Tokens of the second prompt that the first one has too.
    pub unchanged_tokens: u64,
    /// The share of the unchanged tokens that lies in the common prefix.
    pub unchanged_share: f64,
    pub miss: CacheMiss,
}

#[derive(Clone, Debug, Serialize)]
pub struct DiffSide {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    pub bytes: usize,
    pub tokens: u64,
}

/// A section of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct SectionDiff {
    pub id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Its source in the first prompt, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_before: Option<String>,
    /// `tools`, `system`, `file`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// Its role in the first prompt, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_before: Option<&'static str>,
    /// `unchanged`, `added`, `removed` or `changed`.
    pub change: &'static str,
    pub moved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<SectionPlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<SectionPlace>,
    /// The lines that differ, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct SectionPlace {
    /// From 1.
    pub position: usize,
    pub bytes: usize,
    pub tokens: u64,
}

/// The longest common prefix.
#[derive(Clone, Debug, Serialize)]
pub struct PrefixReport {
    pub bytes: usize,
    pub tokens: u64,
    /// The first difference; missing if one prompt starts with the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_in: Option<PrefixEndReport>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PrefixEndReport {
    pub section: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The byte in the section, from 0.
    pub byte: usize,
    /// The line in the section, from 1.
    pub line: usize,
}

/// What a call with the second prompt does not find in the cache after a call with the first.
#[derive(Clone, Debug, Serialize)]
pub struct CacheMiss {
    pub tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Their price in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
    /// Their price in dollars if the cache had them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_if_cached: Option<Dollars>,
}

impl Engine {
    /// Compares two prompts.
    pub fn diff_prompts(
        &self,
        before: &ComparedPrompt,
        after: &ComparedPrompt,
        options: &DiffOptions,
    ) -> Result<PromptDiff, DiffError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let provider = after.provider.as_deref().or(before.provider.as_deref());
        let of_provider = provider.map(|name| providers::tokenizer(name, &config));
        let of_file = after.tokenizer.or(before.tokenizer);
        let tokenizer = options.tokenizer.or(of_provider).or(of_file).unwrap_or(Tokenizer::Estimate);
        let counter = CountCache::open(tokenizer, self.settings().cache_dir.as_deref());
        let (old, new) = (borrowed(&before.pieces), borrowed(&after.pieces));
        let compared = compare(&old, &new, &counter);
        counter.save();
        let side = |prompt: &ComparedPrompt, size: aiwf_prompt::Size| DiffSide {
            name: prompt.name.clone(),
            provider: prompt.provider.clone(),
            bytes: size.bytes,
            tokens: size.tokens.0,
        };
        let model = options.model.clone().or_else(|| providers::setting(provider?, &config).model);
        Ok(PromptDiff {
            before: side(before, compared.before),
            after: side(after, compared.after),
            tokenizer: counter.name().to_owned(),
            exact: counter.is_exact(),
            same: compared.is_same(),
            sections: section_diffs(&compared, &before.pieces, &after.pieces),
            prefix: prefix_report(&compared, &after.pieces),
            stable_share: compared.stable_share(),
            unchanged_tokens: compared.unchanged.0,
            unchanged_share: compared.unchanged_share(),
            miss: miss(&compared, model, &config),
        })
    }
}

fn borrowed(pieces: &[OwnedPiece]) -> Vec<Piece<'_>> {
    pieces.iter().map(OwnedPiece::as_piece).collect()
}

fn section_diffs(compared: &Comparison, before: &[OwnedPiece], after: &[OwnedPiece]) -> Vec<SectionDiff> {
    let diff_of = |change: &aiwf_prompt::SectionChange| {
        let old = change.before.and_then(|side| before.get(side.index));
        let new = change.after.and_then(|side| after.get(side.index));
        let piece = new.or(old)?;
        let place = |side: aiwf_prompt::SectionSide| SectionPlace {
            position: side.index + 1,
            bytes: side.bytes,
            tokens: side.tokens.0,
        };
        let of_lines = || lines::diff(&old?.text, &new?.text);
        Some(SectionDiff {
            id: piece.section.clone(),
            source: piece.source.clone(),
            source_before: old.filter(|old| old.source != piece.source).map(|old| old.source.clone()),
            role: piece.role,
            role_before: old.filter(|old| old.role != piece.role).map(|old| old.role),
            change: match change.change {
                Change::Unchanged => "unchanged",
                Change::Added => "added",
                Change::Removed => "removed",
                Change::Changed => "changed",
            },
            moved: change.is_moved,
            before: change.before.map(place),
            after: change.after.map(place),
            diff: (change.change == Change::Changed).then(of_lines).flatten(),
        })
    };
    compared.sections.iter().filter_map(diff_of).collect()
}

fn prefix_report(compared: &Comparison, after: &[OwnedPiece]) -> PrefixReport {
    let ends_in = compared.prefix_end.and_then(|end| {
        let piece = after.get(end.index)?;
        let (section, source) = (piece.section.clone(), piece.source.clone());
        Some(PrefixEndReport { section, source, byte: end.byte, line: end.line })
    });
    PrefixReport { bytes: compared.prefix.bytes, tokens: compared.prefix.tokens.0, ends_in }
}

fn miss(compared: &Comparison, model: Option<String>, config: &Config) -> CacheMiss {
    let tokens = compared.missed().0;
    let price = model.as_deref().and_then(|model| budget::input_price(model, config));
    CacheMiss {
        tokens,
        model,
        cost: price.map(|(input, _)| Dollars::of_tokens(tokens, input)),
        cost_if_cached: price.map(|(_, cached)| Dollars::of_tokens(tokens, cached)),
    }
}
