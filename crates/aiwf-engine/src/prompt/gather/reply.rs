//! Reads the document of a reply.

use aiwf_prompt::{ComponentSetting, ReplyMode, ReplyRequest, Request, Text, ToolSchema};

use super::{DocumentCapability, Gathered, named};
use crate::error::EngineError;
use crate::prompt::document::{ReplyDocument, ToolDocument};

pub(super) fn gather(document: ReplyDocument) -> Result<Gathered, EngineError> {
    let known = ReplyMode::ALL.map(ReplyMode::as_str);
    let mode = named("mode", "mode", &document.mode, ReplyMode::from_name, known)?;
    let settings = document.settings.unwrap_or_default();
    let request = ReplyRequest {
        ai_message: Text::from(document.request.ai_message),
        user_context: document.request.user_context.map(Text::from),
        tool_results: document.request.tool_results.map(Text::from),
        includes_tools: document.request.include_mcp_tools.unwrap_or(false),
        project_name: document.request.project_name,
        project_path: document.request.project_path,
        system_prompt: settings.system_prompt.map(Text::from),
        closing: settings.closing.map(Text::from),
        components: settings
            .components
            .into_iter()
            .map(|setting| ComponentSetting {
                id: setting.id,
                order: setting.order,
                is_enabled: setting.enabled,
            })
            .collect(),
        mode,
        cli_tool: document.cli_tool,
        tools: schemas(document.mcp_tools),
    };
    Ok(Gathered {
        context: None,
        request: Request::Reply(request),
        capability: DocumentCapability::default(),
        problems: Vec::new(),
    })
}

pub(super) fn schemas(tools: Vec<ToolDocument>) -> Vec<ToolSchema> {
    let schema = |tool: ToolDocument| ToolSchema {
        name: tool.name,
        description: tool.description,
        input_schema: tool.input_schema,
    };
    tools.into_iter().map(schema).collect()
}
