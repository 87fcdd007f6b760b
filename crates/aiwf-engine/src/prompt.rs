//! Builds prompts from requests: reads documents, gathers sources, caches counts.
//!
//! In: a [`Document`](crate::Document) or the sources of a session. Out: a [`Built`](crate::Built) prompt. Sends
//! nothing and decides nothing.

pub(crate) mod build;
pub(crate) mod count_cache;
pub(crate) mod diff;
pub(crate) mod document;
pub(crate) mod every_core;
pub(crate) mod gather;
pub(crate) mod left_out;
pub(crate) mod read;
pub(crate) mod read_many;
pub(crate) mod request_record;
pub(crate) mod structured;
pub(crate) mod system_templates;
pub(crate) mod template_process;

pub use aiwf_prompt::{
    DataContext, Format, FsAbility, Metadata, Need, OwnedText, PartReport, Problem, PromptAggregator,
    PromptError, Recipe, Role, Roots, SectionReport, SessionPhase, Sha256Hex, Stability, TemplateError,
    TemplateNotFound, TemplatePlace, Tokenizer, Tokens, alias_roots, nearest, redact_paths,
};
