//! The JSON format of `prompt build` and `prompt preview`.

use std::collections::BTreeMap;

use aiwf_prompt::{FsAbility, Metadata, PartReport, Problem, Prompt, SectionReport};
use aiwf_provider::{Payload, ToolSpec};
use aiwf_session::LeftOut;
use serde::Serialize;

use crate::prompt::build::Built;
use crate::prompt::gather::ContextReport;
use crate::prompt::request_record::RequestRecord;

#[derive(Debug, Serialize)]
pub struct PromptJson {
    recipe: &'static str,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    user_prompt: String,
    full_prompt: String,
    messages: Vec<MessageJson>,
    sections: Vec<SectionJson>,
    metadata: MetadataJson,
    problems: Vec<ProblemJson>,
    left_out: Vec<LeftOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_context: Option<ContextReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolSpec>,
    /// What it was built from, if its texts are included.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<RequestRecord>,
}

#[derive(Debug, Serialize)]
pub struct PreviewJson {
    success: bool,
    prompt: String,
    mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cli_tool: Option<String>,
    sections: Vec<SectionJson>,
    metadata: MetadataJson,
    problems: Vec<ProblemJson>,
    left_out: Vec<LeftOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_context: Option<ContextReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolSpec>,
    /// What it was built from, if its texts are included.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<RequestRecord>,
}

#[derive(Debug, Serialize)]
struct MessageJson {
    role: &'static str,
    content: String,
}

#[derive(Debug, Serialize)]
struct SectionJson {
    id: String,
    name: String,
    title: String,
    role: &'static str,
    order: i32,
    source: String,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    sha256: String,
    kept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The rendered text, including its frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartJson>,
}

#[derive(Debug, Serialize)]
struct PartJson {
    id: String,
    source: String,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    kept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct MetadataJson {
    mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cli_tool: Option<String>,
    token_estimate: u64,
    tokenizer: String,
    exact: bool,
    component_count: usize,
    sha256: String,
    payload_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fs_ability: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lowered_from: Option<&'static str>,
    /// The sections after which a mark for the receiver's cache stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_breakpoints: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct ProblemJson {
    source: String,
    message: String,
}

pub fn prompt_json(built: &mut Built, content: SectionContent, request: Option<RequestRecord>) -> PromptJson {
    let payload = built.payload();
    let breakpoints = built.cache_breakpoints();
    let metadata = metadata(built.metadata(), &payload, built.fs_ability(), breakpoints);
    let prompt = &built.prompt;
    PromptJson {
        recipe: prompt.recipe().as_str(),
        format: prompt.format().as_str(),
        system_prompt: prompt.system_prompt(),
        user_prompt: prompt.user_prompt(),
        full_prompt: prompt.full_prompt(),
        messages: prompt
            .messages()
            .into_iter()
            .map(|message| MessageJson { role: message.role.as_str(), content: message.content })
            .collect(),
        sections: sections(prompt, content),
        metadata,
        problems: problems(&built.problems),
        left_out: built.left_out.clone(),
        project_context: context(built),
        tools: payload.tools,
        request: request.filter(|_| content == SectionContent::Included),
    }
}

pub fn preview_json(
    built: &mut Built,
    content: SectionContent,
    request: Option<RequestRecord>,
) -> PreviewJson {
    let payload = built.payload();
    let breakpoints = built.cache_breakpoints();
    let metadata = metadata(built.metadata(), &payload, built.fs_ability(), breakpoints);
    let prompt = &built.prompt;
    PreviewJson {
        success: true,
        prompt: prompt.full_prompt(),
        mode: prompt.mode().to_owned(),
        cli_tool: prompt.cli_tool().map(str::to_owned),
        sections: sections(prompt, content),
        metadata,
        problems: problems(&built.problems),
        left_out: built.left_out.clone(),
        project_context: context(built),
        tools: payload.tools,
        request: request.filter(|_| content == SectionContent::Included),
    }
}

/// The files of the project context, when there is something to say.
fn context(built: &Built) -> Option<ContextReport> {
    built.context.clone().filter(|report| report.line().is_some())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionContent {
    Included,
    /// Only their sizes.
    LeftOut,
}

fn sections(prompt: &Prompt, content: SectionContent) -> Vec<SectionJson> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    if content == SectionContent::Included {
        for owned in prompt.owned() {
            texts.entry(owned.section).or_default().push_str(&owned.text);
        }
    }
    let reports = prompt.sections().into_iter();
    reports
        .map(|report| {
            let text = texts.remove(&report.id);
            section(report, text)
        })
        .collect()
}

fn section(report: SectionReport, content: Option<String>) -> SectionJson {
    SectionJson {
        content,
        id: report.id,
        name: report.name,
        title: report.title,
        role: report.role.as_str(),
        order: report.order,
        source: report.source,
        bytes: report.bytes,
        tokens: report.tokens.map(|tokens| tokens.0),
        sha256: report.sha256.to_string(),
        kept: report.is_kept,
        reason: report.reason,
        parts: report.parts.into_iter().map(part).collect(),
    }
}

fn part(report: PartReport) -> PartJson {
    PartJson {
        id: report.id,
        source: report.source,
        bytes: report.bytes,
        tokens: report.tokens.map(|tokens| tokens.0),
        kept: report.is_kept,
        reason: report.reason,
    }
}

fn metadata(
    metadata: Metadata,
    payload: &Payload,
    (fs_ability, lowered_from): (Option<FsAbility>, Option<FsAbility>),
    cache_breakpoints: Option<Vec<String>>,
) -> MetadataJson {
    MetadataJson {
        mode: metadata.mode,
        cli_tool: metadata.cli_tool,
        token_estimate: metadata.token_estimate.0,
        tokenizer: metadata.tokenizer,
        exact: metadata.is_exact,
        component_count: metadata.component_count,
        sha256: metadata.sha256.to_string(),
        payload_sha256: payload.sha256(),
        fs_ability: fs_ability.map(FsAbility::as_str),
        lowered_from: lowered_from.map(FsAbility::as_str),
        cache_breakpoints,
    }
}

fn problems(problems: &[Problem]) -> Vec<ProblemJson> {
    problems
        .iter()
        .map(|problem| ProblemJson { source: problem.source.to_string(), message: problem.message.clone() })
        .collect()
}
