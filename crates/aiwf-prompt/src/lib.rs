//! The prompt pipeline: sections in, one prompt out.
//!
//! `compose → fit → render`, each a pure function: no file, clock, environment or randomness, so the same
//! request and the same components give the same bytes. Reading files, caching counts and asking a model
//! belong to other crates; they hand texts in and take a [`Prompt`] out.
//!
//! Start at [`PromptAggregator`]: it holds the components of the four recipes and turns a [`Request`] into a
//! [`Prompt`]. The names of the documents behind the recipes stay findable: [`PromptAssembler`] (session),
//! [`UnifiedPrompt`] (change), [`PromptComposer`] (workflow).
//!
//! A program that embeds the pipeline adds its own component once; every later prompt has its section:
//!
//! ```
//! use std::sync::Arc;
//!
//! use aiwf_prompt::{
//!     Capability, ChangeRequest, Component, Format, Options, PromptAggregator, PromptError, Recipe, Request,
//!     Role, Section, Source, Text, Tokenizer,
//! };
//!
//! struct HouseRules;
//!
//! impl Component for HouseRules {
//!     fn id(&self) -> &str {
//!         "house-rules"
//!     }
//!     fn order(&self) -> i32 {
//!         5
//!     }
//!     fn takes_part_in(&self, recipe: Recipe) -> bool {
//!         recipe == Recipe::Change
//!     }
//!     fn sections(&self, _: &Request, _: &Capability) -> Result<Vec<Section>, PromptError> {
//!         let source = Source::Component("house-rules".to_owned());
//!         let section = Section::new("house-rules", "House Rules", source, "Write no comments on comments.");
//!         Ok(vec![Section { role: Role::System, ..section }])
//!     }
//! }
//!
//! PromptAggregator::global().register(Arc::new(HouseRules));
//!
//! let request = Request::Change(ChangeRequest {
//!     phase: None,
//!     system_prompt: None,
//!     context: Vec::new(),
//!     instructions: Text::from("Add login"),
//!     instructions_source: Source::Input("instructions".to_owned()),
//! });
//! let options = Options {
//!     format: Format::Text,
//!     capability: Capability {
//!         fs_ability: None,
//!         supports_system_prompt: true,
//!         supports_file_attachments: false,
//!         sends_files: false,
//!     },
//!     budget: None,
//!     counter: &Tokenizer::Estimate,
//! };
//! let prompt = PromptAggregator::global().aggregate(&request, &options)?;
//! assert_eq!(prompt.system_prompt().as_deref(), Some("Write no comments on comments."));
//! assert_eq!(prompt.user_prompt(), "Add login");
//! # Ok::<(), PromptError>(())
//! ```

mod capability;
mod digest;
mod fence;
mod language;
mod nearest;
mod section;

mod budget;
mod template;
mod template_guard;
mod template_set;
mod token_slots;
mod tokens;
mod turns;
mod vocabulary;

mod change;
mod reply;
mod session;
mod workflow;

mod aggregator;
mod compare;
mod layout;
mod prompt;
mod recipe;
mod xml;

mod error;

pub use aggregator::{Component, PromptAggregator};
pub use budget::{Cut, Item, RequiredTooLarge, fit};
pub use capability::{Capability, Format, FsAbility};
pub use change::{ChangeRequest, ContextItem, ItemKind, UnifiedPrompt};
pub use compare::{Change, Comparison, Piece, PrefixEnd, SectionChange, SectionSide, Size, compare};
pub use digest::Sha256Hex;
pub use error::PromptError;
pub use fence::fenced;
pub use nearest::nearest;
pub use prompt::{Message, Metadata, Options, OwnedText, PartReport, Preview, Prompt, SectionReport};
pub use recipe::{Recipe, Request};
pub use reply::{ComponentSetting, ReplyMode, ReplyRequest, ToolSchema};
pub use section::{
    Attached, LeftOutSource, Need, Part, PartBody, Problem, Role, Section, SectionId, SectionKind, Source,
    Stability, Text, WhyLeftOut,
};
pub use session::{Artifact, CodeFile, PromptAssembler, SessionPhase, SessionRequest};
pub use template::{
    TemplateError, TemplateHost, TemplatePlace, TemplateSource, check_template, check_template_here,
    render_template, render_template_here, set_template_host,
};
pub use template_guard::template_fault;
pub use template_set::{
    TEMPLATE_VARIABLES, TemplateName, TemplateNotFound, built_in_template, built_in_templates,
};
pub use tokens::{CountTokens, Tokenizer, Tokens};
pub use turns::{TurnFit, TurnKind, TurnWeight, TurnsTooLarge, fit_turns};
pub use workflow::{
    Agent, AgentPersona, DataContext, FsPolicy, Intent, McpPolicy, Mode, NodeBrief, NodeType, PromptComposer,
    Roots, ToolPolicy, Transition, WorkflowRequest, alias_roots, left_out_note, redact_paths, without_node,
};
