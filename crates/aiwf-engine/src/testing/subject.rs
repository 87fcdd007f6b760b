//! What assertions look at: a built prompt and a reply, as plain data.
//!
//! Nothing here reads a file or asks anybody, so every assertion is a function of these values.

use std::ops::Range;

use aiwf_prompt::{Format, SectionReport, Stability};
use aiwf_provider::ToolSpec;

/// A stretch of the printed prompt and the section that owns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) section: String,
    pub(crate) range: Range<usize>,
}

/// The name of the tools in the provider's own format, where a section is expected.
pub(crate) const TOOLS: &str = "tools";

/// A prompt as it is printed for one receiver, with the owner of every byte.
#[derive(Clone, Debug)]
pub(crate) struct PromptSubject {
    pub(crate) format: Format,
    pub(crate) text: String,
    /// In the order of the text; together they are the text.
    pub(crate) pieces: Vec<Piece>,
    pub(crate) sections: Vec<SectionReport>,
    /// Tools that the provider gets in its own format.
    pub(crate) tools: Vec<ToolSpec>,
    /// The size, if an assertion of the case asks for it.
    pub(crate) size: Option<PromptSize>,
    /// The same prompt as `preview` shows it, if an assertion asks for it.
    pub(crate) preview: Option<String>,
    /// Directories of this machine that no prompt may name.
    pub(crate) roots: Vec<String>,
}

/// How many tokens a prompt has, and by whose count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptSize {
    pub(crate) total: u64,
    pub(crate) tokenizer: String,
    pub(crate) is_exact: bool,
}

impl PromptSubject {
    /// The text of a section; `None` if it is not in the prompt.
    pub(crate) fn section(&self, id: &str) -> Option<String> {
        let mut pieces = self.pieces.iter().filter(|piece| piece.section == id).peekable();
        pieces.peek()?;
        Some(pieces.filter_map(|piece| self.text.get(piece.range.clone())).collect())
    }

    /// The sections in the order of the text, each once.
    pub(crate) fn order(&self) -> Vec<&str> {
        let mut order: Vec<&str> = Vec::new();
        for piece in &self.pieces {
            if !order.contains(&piece.section.as_str()) {
                order.push(&piece.section);
            }
        }
        order
    }

    /// The section that owns a byte of the text.
    pub(crate) fn owner_at(&self, offset: usize) -> Option<&str> {
        let index = self.pieces.partition_point(|piece| piece.range.end <= offset);
        self.pieces.get(index).or(self.pieces.last()).map(|piece| piece.section.as_str())
    }

    pub(crate) fn report(&self, id: &str) -> Option<&SectionReport> {
        self.sections.iter().find(|section| section.id == id)
    }

    /// The share of tokens in the sections at the beginning that are the same from call to call.
    pub(crate) fn stable_share(&self) -> f64 {
        let tokens = |id: &str| self.report(id).and_then(|report| report.tokens).map_or(0, |tokens| tokens.0);
        let total = self.size.as_ref().map_or(0, |size| size.total);
        let is_stable =
            |id: &&str| self.report(id).is_some_and(|report| report.stability == Stability::Stable);
        let stable: u64 = self.order().into_iter().take_while(is_stable).map(tokens).sum();
        share(stable, total)
    }
}

/// A part of a whole; nothing of nothing is nothing.
#[expect(clippy::cast_precision_loss, reason = "shares need no more than a few digits")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A reply, and what is known about the call.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplySubject {
    pub(crate) text: String,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    /// In dollars.
    pub(crate) cost: Option<f64>,
    /// In milliseconds; recordings have none.
    pub(crate) latency: Option<u64>,
    pub(crate) model: Option<String>,
}
