//! Recipe `session`: the prompt for one step of a session.
//!
//! In: gathered artifacts, the profile's prompt, the receiver's capabilities. Out: plan, standards, project context,
//! code, review, feedback, profile prompt and output instructions, as far as the phase needs them. Reads no directory:
//! the engine passes the texts in.

#![expect(clippy::unnecessary_wraps, reason = "all components share one signature, and some can fail")]

use std::sync::Arc;

use crate::aggregator::{BuiltIn, Component, PromptAggregator};
use crate::capability::{Capability, Format, FsAbility};
use crate::error::PromptError;
use crate::fence::one_line;
use crate::prompt::{Options, Prompt};
use crate::recipe::{Recipe, Request};
use crate::reply::{CallOrder, ToolSchema, tools_text};
use crate::section::{Attached, Need, Part, PartBody, Role, Section, SectionKind, Source, Stability, Text};
use crate::tokens::Tokenizer;

/// The phases that prompts distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionPhase {
    /// Before the first phase: the profile's prompt only.
    Initialized,
    Planning,
    /// Writing code from the plan.
    Generating,
    Reviewing,
    /// Fixing the code after a review.
    Revising,
}

impl SessionPhase {
    /// Every phase with a prompt, in the order of a session.
    pub const ALL: [Self; 5] =
        [Self::Initialized, Self::Planning, Self::Generating, Self::Reviewing, Self::Revising];

    /// The name used in flags, documents and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initialized => "initialized",
            Self::Planning => "planning",
            Self::Generating => "generating",
            Self::Reviewing => "reviewing",
            Self::Revising => "revising",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == name)
    }

    /// The name of the reply file; `None` before the first phase.
    pub fn response_file(self) -> Option<&'static str> {
        match self {
            Self::Initialized => None,
            Self::Planning => Some("planning-response.md"),
            Self::Generating => Some("generation-response.md"),
            Self::Reviewing => Some("review-response.md"),
            Self::Revising => Some("revision-response.md"),
        }
    }

    fn builds_on_plan(self) -> bool {
        matches!(self, Self::Generating | Self::Reviewing | Self::Revising)
    }

    fn builds_on_code(self) -> bool {
        matches!(self, Self::Reviewing | Self::Revising)
    }

    /// The iteration whose code the phase needs.
    pub fn code_iteration(self, iteration: u32) -> Option<u32> {
        match self {
            Self::Reviewing => Some(iteration),
            Self::Revising => iteration.checked_sub(1).filter(|previous| *previous > 0),
            Self::Initialized | Self::Planning | Self::Generating => None,
        }
    }
}

/// A file of the session directory.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Its path for the receiver, relative to the receiver's working directory.
    pub path: String,
    pub text: Text,
}

#[derive(Clone, Debug)]
pub struct CodeFile {
    /// Its path relative to `code/`, joined with `/`.
    pub name: String,
    /// Its path for the receiver.
    pub path: String,
    /// Its content, or a note instead of it.
    pub body: PartBody,
}

/// The input of a step of a session.
#[derive(Clone, Debug)]
pub struct SessionRequest {
    /// The phase, which determines the artifacts in the prompt.
    pub phase: SessionPhase,
    pub profile_prompt: Text,
    pub profile_source: Source,
    pub plan: Option<Artifact>,
    pub standards: Option<Artifact>,
    /// The project's instructions for every agent; one section per file.
    pub project_context: Vec<Artifact>,
    /// The files of the project that the session is about, in any order.
    pub project_files: Vec<CodeFile>,
    /// The code of the iteration, in any order.
    pub code: Vec<CodeFile>,
    /// The code as changes of the project.
    pub changes: Option<Box<Artifact>>,
    /// The results of the project's checks.
    pub checks: Option<Box<Artifact>>,
    /// The review that a revision answers.
    pub review: Option<Artifact>,
    /// People's open comments on what the phase reads or writes.
    pub comments: Option<Box<Text>>,
    /// Notes that people gave when they approved what the phase reads.
    pub notes: Option<Box<Text>>,
    /// The user's feedback on the rejected reply.
    pub feedback: Option<Text>,
    pub rejected_reply: Option<Artifact>,
    /// How to answer, if the profile leaves that to the engine.
    pub answer_format: Option<Box<Text>>,
    /// Where to save the reply, relative to the receiver's working directory.
    pub response_path: Option<String>,
    /// Tools for a receiver without native tool calls.
    pub tools: Vec<ToolSchema>,
}

/// Builds the prompt of a session step from gathered sources.
#[derive(Clone, Debug)]
pub struct PromptAssembler {
    request: SessionRequest,
}

impl PromptAssembler {
    pub fn new(request: SessionRequest) -> Self {
        Self { request }
    }

    /// Builds the prompt as text for a receiver, without cutting anything.
    pub fn assemble(&self, capability: Capability) -> Result<Prompt, PromptError> {
        let options =
            Options { format: Format::Text, capability, budget: None, counter: &Tokenizer::Estimate };
        PromptAggregator::global().aggregate(&Request::Session(self.request.clone()), &options)
    }
}

pub(crate) fn components() -> Vec<Arc<dyn Component>> {
    type Sections = fn(&SessionRequest, Capability) -> Result<Vec<Section>, PromptError>;
    let table: [(&'static str, i32, Sections); 15] = [
        ("approved-plan", 10, approved_plan),
        ("standards-bundle", 20, standards_bundle),
        ("project-context", 25, project_context),
        ("project-files", 27, project_files),
        ("previous-code", 30, previous_code),
        ("changes", 32, changes),
        ("checks", 35, checks),
        ("review", 40, review),
        ("comments", 45, comments),
        ("notes", 47, notes),
        ("feedback", 50, feedback),
        ("profile-prompt", 60, profile_prompt),
        ("answer-format", 62, answer_format),
        ("tools", 65, tools),
        ("output-instructions", 70, output_instructions),
    ];
    let component = |(id, order, sections): (&'static str, i32, Sections)| -> Arc<dyn Component> {
        Arc::new(BuiltIn {
            id,
            recipe: Recipe::Session,
            order,
            request: |request| match request {
                Request::Session(request) => Some(request),
                Request::Change(_) | Request::Workflow(_) | Request::Reply(_) => None,
            },
            sections,
        })
    };
    table.into_iter().map(component).collect()
}

fn approved_plan(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    let plan = request.plan.as_ref().filter(|_| request.phase.builds_on_plan());
    Ok(artifact_section("approved-plan", "Approved Plan", plan, capability, Stability::Stable))
}

fn standards_bundle(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    let standards = request.standards.as_ref().filter(|_| request.phase != SessionPhase::Initialized);
    Ok(artifact_section("standards-bundle", "Standards Bundle", standards, capability, Stability::Stable))
}

/// Cut after the code files, and before anything that a session requires.
const PROJECT_CONTEXT: Need = Need::Optional(90);

fn project_context(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    if request.phase == SessionPhase::Initialized {
        return Ok(Vec::new());
    }
    let is_alone = request.project_context.len() == 1;
    let mut sections = Vec::new();
    for (idx, file) in request.project_context.iter().enumerate() {
        let id = if idx == 0 { "project-context".to_owned() } else { format!("project-context-{}", idx + 1) };
        let title = if is_alone {
            "Project Context".to_owned()
        } else {
            format!("Project Context: {}", one_line(&file.path))
        };
        sections.extend(artifact_section(&id, &title, Some(file), capability, Stability::Stable));
    }
    for section in &mut sections {
        section.need = PROJECT_CONTEXT;
    }
    Ok(sections)
}

fn review(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    let review = request.review.as_ref().filter(|_| request.phase == SessionPhase::Revising);
    Ok(artifact_section("review", "Review", review, capability, Stability::Volatile))
}

fn artifact_section(
    id: &str,
    title: &str,
    artifact: Option<&Artifact>,
    capability: Capability,
    stability: Stability,
) -> Vec<Section> {
    let Some(artifact) = artifact.filter(|artifact| !artifact.text.trim().is_empty()) else {
        return Vec::new();
    };
    let body = if capability.supports_file_attachments {
        Text::from(format!("@{}", one_line(&artifact.path)))
    } else {
        artifact.text.clone()
    };
    vec![Section {
        attached: attached(capability, &artifact.path, &artifact.text),
        heading: Some(format!("## {title}")),
        kind: SectionKind::Artifact,
        stability,
        ..Section::new(id, title, Source::File(artifact.path.clone()), body)
    }]
}

/// The file to send with the request, if the text only names it.
fn attached(capability: Capability, path: &str, text: &Text) -> Option<Attached> {
    let is_sent = capability.supports_file_attachments && capability.sends_files;
    is_sent.then(|| Attached { path: path.to_owned(), text: text.clone() })
}

/// Code to build on is cut first; a reviewer is never asked about code it is not shown.
fn need_of_code(phase: SessionPhase) -> Need {
    match phase {
        SessionPhase::Reviewing => Need::Required,
        SessionPhase::Initialized
        | SessionPhase::Planning
        | SessionPhase::Generating
        | SessionPhase::Revising => Need::Optional(10),
    }
}

fn previous_code(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    // Code is generated again only if checks failed.
    let is_again = request.phase == SessionPhase::Generating && request.checks.is_some();
    if !request.phase.builds_on_code() && !is_again {
        return Ok(Vec::new());
    }
    let need = need_of_code(request.phase);
    let source = Source::Engine("code of the iteration".to_owned());
    Ok(file_section("previous-code", "Previous Code", source, need, &request.code, capability))
}

/// The files of the project that the session is about.
///
/// What is to be changed must be shown; a reviewer can do without the files that did not change.
fn project_files(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    let need = match request.phase {
        SessionPhase::Initialized => return Ok(Vec::new()),
        SessionPhase::Planning | SessionPhase::Generating | SessionPhase::Revising => Need::Required,
        SessionPhase::Reviewing => Need::Optional(20),
    };
    let source = Source::Engine("files of the project".to_owned());
    // The texts are those of the session, whatever became of the files since.
    let capability = Capability {
        supports_file_attachments: capability.sends_files && capability.supports_file_attachments,
        ..capability
    };
    Ok(file_section("project-files", "Project Files", source, need, &request.project_files, capability))
}

fn file_section(
    id: &str,
    title: &str,
    source: Source,
    need: Need,
    files: &[CodeFile],
    capability: Capability,
) -> Vec<Section> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut parts: Vec<Part> = files
        .iter()
        .map(|file| Part {
            name: file.name.clone(),
            kind: SectionKind::File,
            source: Source::File(file.path.clone()),
            attached: match &file.body {
                PartBody::Inline(text) if !text.is_empty() => attached(capability, &file.path, text),
                PartBody::Inline(_) | PartBody::Reference(_) | PartBody::Note(_) => None,
            },
            body: match &file.body {
                // An empty file cannot be attached.
                PartBody::Inline(text)
                    if capability.supports_file_attachments
                        && !(capability.sends_files && text.is_empty()) =>
                {
                    PartBody::Reference(file.path.clone())
                }
                body @ (PartBody::Inline(_) | PartBody::Reference(_) | PartBody::Note(_)) => body.clone(),
            },
            need,
            cut: None,
        })
        .collect();
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    vec![Section {
        heading: Some(format!("## {title}")),
        kind: SectionKind::File,
        parts,
        ..Section::new(id, title, source, "")
    }]
}

/// The changes as a diff; the code shows only what the files became.
fn changes(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    let changes = request.changes.as_deref().filter(|_| request.phase == SessionPhase::Reviewing);
    Ok(artifact_section("changes", "Changes", changes, capability, Stability::Volatile))
}

fn checks(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    let checks = request.checks.as_deref().filter(|_| request.phase.builds_on_plan());
    Ok(artifact_section("checks", "Checks", checks, capability, Stability::Volatile))
}

fn comments(request: &SessionRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    Ok(remark_section("comments", "Comments", request.comments.as_deref()))
}

fn notes(request: &SessionRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    Ok(remark_section("notes", "Notes", request.notes.as_deref()))
}

fn remark_section(id: &str, title: &str, text: Option<&Text>) -> Vec<Section> {
    let text = text.filter(|text| !text.trim().is_empty());
    text.map(|text| Section {
        heading: Some(format!("## {title}")),
        kind: SectionKind::Artifact,
        ..Section::new(id, title, Source::Input(id.to_owned()), text.clone())
    })
    .into_iter()
    .collect()
}

/// The rejected reply and the feedback on it.
fn feedback(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    let rejected = request.rejected_reply.as_ref();
    let mut sections =
        artifact_section("rejected-reply", "Rejected Reply", rejected, capability, Stability::Volatile);
    let feedback = request.feedback.as_ref().filter(|feedback| !feedback.trim().is_empty());
    sections.extend(feedback.map(|feedback| Section {
        heading: Some("## Feedback".to_owned()),
        kind: SectionKind::Artifact,
        ..Section::new("feedback", "Feedback", Source::Input("feedback".to_owned()), feedback.clone())
    }));
    Ok(sections)
}

fn profile_prompt(request: &SessionRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let body = request.profile_prompt.clone();
    Ok(vec![Section::new("profile-prompt", "Profile Prompt", request.profile_source.clone(), body)])
}

fn answer_format(request: &SessionRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    let source = Source::Engine("format of the answer".to_owned());
    let form = request.answer_format.as_deref();
    Ok(form
        .map(|form| Section {
            heading: Some("## Format of your answer".to_owned()),
            stability: Stability::Stable,
            ..Section::new("answer-format", "Format of your answer", source, form.clone())
        })
        .into_iter()
        .collect())
}

fn tools(request: &SessionRequest, capability: Capability) -> Result<Vec<Section>, PromptError> {
    if request.tools.is_empty() {
        return Ok(Vec::new());
    }
    let source = Source::Engine("tools".to_owned());
    Ok(vec![Section {
        heading: Some("## Tools".to_owned()),
        role: if capability.supports_system_prompt { Role::System } else { Role::User },
        stability: Stability::Stable,
        ..Section::new("tools", "Tools", source, tools_text(&request.tools, CallOrder::Free))
    }])
}

fn output_instructions(
    request: &SessionRequest,
    capability: Capability,
) -> Result<Vec<Section>, PromptError> {
    let (Some(ability), Some(file)) = (capability.fs_ability, request.phase.response_file()) else {
        return Ok(Vec::new());
    };
    let sentence = match ability {
        FsAbility::LocalWrite => {
            let path = request.response_path.as_deref().unwrap_or(file);
            format!("Save your complete response to `{}`", one_line(path))
        }
        FsAbility::LocalRead => format!("Name your output file `{file}`"),
        FsAbility::WriteOnly => format!("Create a downloadable file named `{file}`"),
        FsAbility::None => return Ok(Vec::new()),
    };
    let source = Source::Engine(format!("fs_ability {}", ability.as_str()));
    Ok(vec![Section {
        heading: Some("## Output".to_owned()),
        role: if capability.supports_system_prompt { Role::System } else { Role::User },
        stability: Stability::Stable,
        ..Section::new("output-instructions", "Output", source, sentence)
    }])
}
