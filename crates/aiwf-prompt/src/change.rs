//! Recipe `change`: one self-contained request for a phase of a change.
//!
//! In: a rendered system template, context items, instructions. Out: one section for each, which `xml` writes as
//! `<system_prompt>`, `<context>` and `<instructions>`.

#![expect(clippy::unnecessary_wraps, reason = "all components share one signature, and some can fail")]

use std::sync::Arc;

use crate::aggregator::{BuiltIn, Component, PromptAggregator};
use crate::capability::{Capability, Format};
use crate::error::PromptError;
use crate::prompt::Options;
use crate::recipe::{Recipe, Request};
use crate::reply::{CallOrder, ToolSchema, tools_text};
use crate::section::{Need, Part, PartBody, Role, Section, SectionKind, Source, Stability, Text};
use crate::tokens::Tokenizer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    File,
    /// The result of an earlier phase.
    Artifact,
    /// Reasoning from an earlier phase.
    Thought,
}

impl ItemKind {
    pub const ALL: [Self; 3] = [Self::File, Self::Artifact, Self::Thought];

    /// The name used in documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Artifact => "artifact",
            Self::Thought => "thought",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A piece of information for the agent.
#[derive(Clone, Debug)]
pub struct ContextItem {
    pub kind: ItemKind,
    pub name: String,
    /// Its content, or a note instead of it.
    pub body: PartBody,
    pub source: Source,
    /// Whether the phase makes no sense without it, like a review without the code.
    pub is_required: bool,
}

impl ContextItem {
    /// An item with text supplied by the caller.
    pub fn new(kind: ItemKind, name: impl Into<String>, content: impl Into<Text>) -> Self {
        let name = name.into();
        let source = Source::Input(format!("{} {name}", kind.as_str()));
        Self { kind, name, body: PartBody::Inline(content.into()), source, is_required: false }
    }
}

/// The input of a phase of a change.
#[derive(Clone, Debug)]
pub struct ChangeRequest {
    /// The phase, if there is one.
    pub phase: Option<String>,
    /// The rendered system template and its source.
    pub system_prompt: Option<(Text, Source)>,
    /// Information for the agent, in order.
    pub context: Vec<ContextItem>,
    pub instructions: Text,
    pub instructions_source: Source,
}

impl ChangeRequest {
    /// The same request with instructions for calling these tools in its system text.
    #[must_use]
    pub fn with_tools(mut self, tools: &[ToolSchema]) -> Self {
        if !tools.is_empty() {
            let section = format!("## Tools\n\n{}", tools_text(tools, CallOrder::Free));
            self.system_prompt = Some(match self.system_prompt.filter(|(text, _)| !text.is_empty()) {
                Some((text, source)) => (Text::from(format!("{}\n\n{section}\n", text.trim_end())), source),
                None => (Text::from(section), Source::Engine("tools".to_owned())),
            });
        }
        self
    }

    /// The system template, unless it is empty.
    fn template(&self) -> Option<&(Text, Source)> {
        self.system_prompt.as_ref().filter(|(text, _)| !text.is_empty())
    }
}

/// The data model behind the XML: system instructions, context and the task.
#[derive(Clone, Debug)]
pub struct UnifiedPrompt {
    pub system_prompt: Option<String>,
    /// Information for the agent, in order.
    pub context: Vec<ContextItem>,
    /// The only required part.
    pub instructions: String,
}

impl UnifiedPrompt {
    pub fn to_xml(&self) -> Result<String, PromptError> {
        let request = ChangeRequest {
            phase: None,
            system_prompt: self
                .system_prompt
                .as_deref()
                .map(|text| (Text::from(text), Source::Input("system_prompt".to_owned()))),
            context: self.context.clone(),
            instructions: Text::from(self.instructions.as_str()),
            instructions_source: Source::Input("instructions".to_owned()),
        };
        let capability = Capability { supports_system_prompt: true, ..Capability::default() };
        let options =
            Options { format: Format::Xml, capability, budget: None, counter: &Tokenizer::Estimate };
        Ok(PromptAggregator::global().aggregate(&Request::Change(request), &options)?.full_prompt())
    }
}

pub(crate) fn components() -> Vec<Arc<dyn Component>> {
    type Sections = fn(&ChangeRequest, Capability) -> Result<Vec<Section>, PromptError>;
    let table: [(&'static str, Sections); 3] =
        [("system-template", system_template), ("context", context), ("instructions", instructions)];
    let component = |((id, sections), order): ((&'static str, Sections), i32)| -> Arc<dyn Component> {
        Arc::new(BuiltIn {
            id,
            recipe: Recipe::Change,
            order,
            request: |request| match request {
                Request::Change(request) => Some(request),
                Request::Session(_) | Request::Workflow(_) | Request::Reply(_) => None,
            },
            sections,
        })
    };
    table.into_iter().zip((10..).step_by(10)).map(component).collect()
}

fn system_template(request: &ChangeRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let Some((text, source)) = request.template() else { return Ok(Vec::new()) };
    Ok(vec![Section {
        role: Role::System,
        stability: Stability::Stable,
        ..Section::new("system-template", "System Template", source.clone(), text.clone())
    }])
}

fn context(request: &ChangeRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    if request.context.is_empty() {
        return Ok(Vec::new());
    }
    let parts = request.context.iter().map(|item| Part {
        name: item.name.clone(),
        kind: match item.kind {
            ItemKind::File => SectionKind::File,
            ItemKind::Artifact => SectionKind::Artifact,
            ItemKind::Thought => SectionKind::Thought,
        },
        source: item.source.clone(),
        body: item.body.clone(),
        attached: None,
        // Artifacts are agreed results of earlier phases; files can be requested again, and thoughts are dispensable.
        need: match item.kind {
            ItemKind::File if item.is_required => Need::Required,
            ItemKind::File => Need::Optional(20),
            ItemKind::Thought => Need::Optional(10),
            ItemKind::Artifact => Need::Required,
        },
        cut: None,
    });
    let source = Source::Input("context".to_owned());
    Ok(vec![Section {
        heading: Some("## Context".to_owned()),
        kind: SectionKind::File,
        parts: parts.collect(),
        ..Section::new("context", "Context", source, "")
    }])
}

fn instructions(request: &ChangeRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let source = request.instructions_source.clone();
    let heading =
        (request.template().is_some() || !request.context.is_empty()).then(|| "## Instructions".to_owned());
    Ok(vec![Section {
        heading,
        ..Section::new("instructions", "Instructions", source, request.instructions.clone())
    }])
}
