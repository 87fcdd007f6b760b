//! Gathers sources, calls the stages in order, and is the library to embed.
//!
//! The pure crates know no files; this one reads them, hands texts in and gives a [`Built`] prompt back. The
//! binary calls nothing else: what it needs of the crates below is re-exported here.

mod read;

mod document;
mod gather;

mod build;
mod count_cache;
mod structured;
mod system_templates;

mod error;

pub use aiwf_config as config;
pub use aiwf_prompt as prompt;
pub use aiwf_provider as provider;
pub use aiwf_reply as reply;
pub use aiwf_store::{Durability, StoreError, write_atomic};
pub use build::{BuildOptions, Built, Engine};
pub use document::{
    ChangeDocument, ContextDocument, Document, ReplyDocument, SessionDocument, WorkflowDocument, schema,
};
pub use error::EngineError;
pub use gather::{ChangeFlags, Progress};
pub use read::{MAX_BYTES, read_stdin, read_text};
pub use structured::{PreviewJson, PromptJson, preview_json, prompt_json};
pub use system_templates::{TemplateCheck, TemplateLayer, TemplateListing};
