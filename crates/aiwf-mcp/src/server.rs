//! The requests of a client, and the engine calls that answer them.

use aiwf_engine::Engine;
use aiwf_engine::provider::Stop;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::tool_error::ToolError;
use crate::tools::{Approvals, ToolName};
use crate::{prompts, resources, tools};

/// The instructions for a client's model.
const INSTRUCTIONS: &str = "\
  aiwf walks a task through plan, generate, review and revise, and stops at gates. `start_session` starts one; \
  `session_status` shows its state and what comes next. When a session is waiting for a reply, `preview_prompt` returns \
  the exact prompt, and `submit_reply` delivers the answer. A person approves unless this server \
offers `approve`.";

#[derive(Clone, Debug)]
pub(crate) struct AiwfServer {
    engine: Engine,
    approvals: Approvals,
    version: &'static str,
    shutdown: CancellationToken,
}

/// Stops the engine calls when their request is dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.raise();
    }
}

impl AiwfServer {
    pub(crate) fn new(
        engine: Engine,
        approvals: Approvals,
        version: &'static str,
        shutdown: CancellationToken,
    ) -> Self {
        Self { engine, approvals, version, shutdown }
    }

    /// Runs an engine call on a thread that may block; dropping the request stops the call.
    async fn perform<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let stop = Stop::default();
        let stop_on_drop = StopOnDrop(stop.clone());
        let engine = self.engine.clone().stopped_by(stop);
        let mut task = tokio::task::spawn_blocking(move || work(&engine));
        let done = tokio::select! {
            done = &mut task => done,
            () = context.ct.cancelled() => { drop(stop_on_drop); task.await }
            () = self.shutdown.cancelled() => { drop(stop_on_drop); task.await }
        };
        // A panic affects only its own request.
        done.map_err(|_fault| {
            let data = json!({ "code": "E_INTERNAL" });
            ErrorData::internal_error("internal error in aiwf; please report it", Some(data))
        })
    }

    async fn answer<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Engine) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let outcome = self.perform(context, work).await?;
        outcome.map_err(|error| error.into_protocol_error(self.engine.settings()))
    }
}

fn cursor(request: Option<PaginatedRequestParams>) -> Option<String> {
    request.and_then(|request| request.cursor)
}

impl ServerHandler for AiwfServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("aiwf", self.version))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let approvals = self.approvals;
        let tools = self.perform(&context, move |engine| tools::list(engine, approvals)).await?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolName::from_name(&request.name) else {
            let data = json!({ "code": "TOOL_NOT_AVAILABLE" });
            return Err(ErrorData::invalid_params(format!("unknown tool `{}`", request.name), Some(data)));
        };
        let approvals = self.approvals;
        let work = move |engine: &Engine| tools::call(engine, approvals, tool, request.arguments);
        Ok(self.perform(&context, work).await?.into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let cursor = cursor(request);
        self.answer(&context, move |engine| prompts::list(engine, cursor.as_deref())).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = self.answer(&context, move |engine| prompts::get(engine, &request.name)).await?;
        Ok(prompt.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = cursor(request);
        self.answer(&context, move |engine| resources::list(engine, cursor.as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let resource = self.answer(&context, move |engine| resources::read(engine, &request.uri)).await?;
        Ok(resource.into())
    }
}
