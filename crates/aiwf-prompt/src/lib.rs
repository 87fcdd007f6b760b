//! The prompt pipeline: sections in, one prompt out.
//!
//! `compose → fit → render`, each a pure function: no file, clock, environment or randomness, so the same
//! request and the same components give the same bytes. Reading files, caching counts and asking a model
//! belong to other crates; they hand texts in and take a [`Prompt`] out.
//!
//! Start at [`PromptAggregator`]: it holds the components of the four recipes and turns a [`Request`] into a
//! [`Prompt`]. The names of the documents behind the recipes stay findable: [`PromptAssembler`] (session),
//! [`UnifiedPrompt`] (change), [`PromptComposer`] (workflow).

mod capability;
mod digest;
mod fence;
mod language;
mod nearest;
mod section;

mod budget;
mod template;
mod template_set;
mod tokens;

mod change;
mod reply;
mod session;
mod workflow;

mod aggregator;
mod layout;
mod prompt;
mod recipe;
mod xml;

mod error;

pub use aggregator::{Component, PromptAggregator};
pub use budget::{Cut, Item, RequiredTooLarge, fit};
pub use capability::{Capability, Format, FsAbility};
pub use change::{ChangeRequest, ContextItem, ItemKind, UnifiedPrompt};
pub use digest::Sha256Hex;
pub use error::PromptError;
pub use language::language_of;
pub use nearest::nearest;
pub use prompt::{Message, Metadata, Options, PartReport, Preview, Prompt, SectionReport};
pub use recipe::{Recipe, Request};
pub use reply::{ComponentSetting, ReplyMode, ReplyRequest, ToolSchema};
pub use section::{
    Need, Part, PartBody, Problem, Role, Section, SectionId, SectionKind, Source, Stability, Text,
};
pub use session::{Artifact, CodeFile, PromptAssembler, SessionPhase, SessionRequest};
pub use template::{TemplateError, TemplateSource, check_template, render_template};
pub use template_set::{
    TEMPLATE_VARIABLES, TemplateName, TemplateNotFound, built_in_template, built_in_templates,
};
pub use tokens::{CountTokens, Tokenizer, Tokens};
pub use workflow::{
    Agent, AgentPersona, DataContext, FsPolicy, Intent, McpPolicy, Mode, NodeBrief, PromptComposer, Roots,
    ToolPolicy, Transition, WorkflowRequest, alias_roots, redact_paths,
};
