//! What is set for runs of workflow packages.

use std::num::{NonZeroU32, NonZeroU64};

use crate::origin::{Origin, Sourced};
use crate::vocabulary::Conditions;

pub(crate) const DEFAULT_MAX_TURNS: NonZeroU32 = NonZeroU32::MIN.saturating_add(49);
pub(crate) const DEFAULT_PREVIEW_BYTES: NonZeroU64 = NonZeroU64::MIN.saturating_add(64 * 1024 - 1);
pub(crate) const DEFAULT_READ_BYTES: NonZeroU64 = NonZeroU64::MIN.saturating_add(512 * 1024 - 1);
pub(crate) const DEFAULT_WRITE_BYTES: NonZeroU64 = NonZeroU64::MIN.saturating_add(2 * 1024 * 1024 - 1);

/// What one place says about runs; what it leaves open is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkflowLayer {
    /// `[workflow] conditions`.
    pub(crate) conditions: Option<Sourced<Conditions>>,
    /// `[workflow] max_turns`.
    pub(crate) max_turns: Option<Sourced<NonZeroU32>>,
    /// `[workflow] context_tokens`.
    pub(crate) context_tokens: Option<Sourced<NonZeroU32>>,
    /// `[workflow] result_preview_bytes`.
    pub(crate) result_preview_bytes: Option<Sourced<NonZeroU64>>,
    /// `[workflow] provider`.
    pub(crate) provider: Option<Sourced<String>>,
    /// `[workflow] max_read_bytes`.
    pub(crate) max_read_bytes: Option<Sourced<NonZeroU64>>,
    /// `[workflow] max_write_bytes`.
    pub(crate) max_write_bytes: Option<Sourced<NonZeroU64>>,
    /// `[workflow] files`.
    pub(crate) files: Option<Sourced<bool>>,
}

impl WorkflowLayer {
    /// This layer, and what `weaker` says where this one says nothing.
    pub(crate) fn over(self, weaker: Self) -> Self {
        Self {
            conditions: self.conditions.or(weaker.conditions),
            max_turns: self.max_turns.or(weaker.max_turns),
            context_tokens: self.context_tokens.or(weaker.context_tokens),
            result_preview_bytes: self.result_preview_bytes.or(weaker.result_preview_bytes),
            provider: self.provider.or(weaker.provider),
            max_read_bytes: self.max_read_bytes.or(weaker.max_read_bytes),
            max_write_bytes: self.max_write_bytes.or(weaker.max_write_bytes),
            // Whoever keeps models away from files is not overruled by a checkout.
            files: match (self.files, weaker.files) {
                (_, Some(off)) if !off.value => Some(off),
                (stronger, weaker) => stronger.or(weaker),
            },
        }
    }
}

/// How runs of workflow packages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowConfig {
    /// What a contradiction between a condition and the edge that is taken leads to.
    pub conditions: Sourced<Conditions>,
    /// How many times a model is asked until the run stops by itself.
    pub max_turns: Sourced<NonZeroU32>,
    /// How many tokens a request may have; what the provider takes when it is not set.
    pub context_tokens: Option<Sourced<NonZeroU32>>,
    /// How many bytes of a tool's result stay in the conversation.
    pub result_preview_bytes: Sourced<NonZeroU64>,
    /// Who is asked; whoever `[roles] default` names when it is not set.
    pub provider: Option<Sourced<String>>,
    /// How many bytes a file tool may read at once; an agent can only have less.
    pub max_read_bytes: Sourced<NonZeroU64>,
    /// How many bytes a file tool may write at once; an agent can only have less.
    pub max_write_bytes: Sourced<NonZeroU64>,
    /// Whether models get file tools at all.
    pub files: Sourced<bool>,
}

pub(crate) fn resolve(layer: WorkflowLayer) -> WorkflowConfig {
    fn unset<T>(value: T) -> Sourced<T> {
        Sourced::new(value, Origin::Default)
    }
    WorkflowConfig {
        conditions: layer.conditions.unwrap_or_else(|| unset(Conditions::Warn)),
        max_turns: layer.max_turns.unwrap_or_else(|| unset(DEFAULT_MAX_TURNS)),
        context_tokens: layer.context_tokens,
        result_preview_bytes: layer.result_preview_bytes.unwrap_or_else(|| unset(DEFAULT_PREVIEW_BYTES)),
        provider: layer.provider,
        max_read_bytes: layer.max_read_bytes.unwrap_or_else(|| unset(DEFAULT_READ_BYTES)),
        max_write_bytes: layer.max_write_bytes.unwrap_or_else(|| unset(DEFAULT_WRITE_BYTES)),
        files: layer.files.unwrap_or_else(|| unset(true)),
    }
}
