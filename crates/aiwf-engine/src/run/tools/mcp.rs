//! MCP tools in a run.

use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;

use aiwf_prompt::{Roots, ToolSchema, redact_paths};
use aiwf_provider::{Stop, ToolSpec};
use aiwf_store::sha256_hex;
use aiwf_tools::sandbox::{ErrorCode, ToolError};
use aiwf_tools::{
    Call, CallError, ExecuteOptions, Outcome, Policy, ResultsDir, Tool, ToolsError, execute_tools,
};
use serde_json::{Map, Value, json};

use super::{hide, large, summary};
use crate::ask::toolbox::{KeptResults, Toolbox};

/// Prefix of their names.
const PREFIX: &str = "mcp__";
/// The longest name that model APIs accept.
const MAX_API_NAME: usize = 64;

/// Runs one call under a policy; large results are stored in the directory.
type Caller = dyn Fn(Call, &Policy, ResultsDir<'_>, &Stop) -> Option<Outcome>;

/// The granted tools of servers.
pub(super) struct Mcp {
    policy: Policy,
    /// The allowed servers; `None` for all.
    servers: Option<Vec<String>>,
    caller: Rc<Caller>,
    /// Where results are stored without a state directory.
    results: KeptResults,
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mcp").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Mcp {
    pub(super) fn of_toolbox(toolbox: Rc<Toolbox>, policy: Policy) -> Self {
        let results = KeptResults::aliased(toolbox.results().as_dir().path.to_owned(), "[path]");
        let caller = move |call: Call, policy: &Policy, results: ResultsDir<'_>, stop: &Stop| {
            let options =
                ExecuteOptions { results, is_stopped: &|| stop.is_raised(), on_progress: &|_, _| () };
            execute_tools(&[call], policy, toolbox.servers(), &options).pop()
        };
        Self { policy, servers: None, caller: Rc::new(caller), results }
    }

    /// Limits the tools to these servers.
    pub(super) fn limited_to(mut self, servers: Option<Vec<String>>) -> Self {
        self.servers = servers;
        self
    }

    fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.policy.tools().filter(|tool| self.has_server(&tool.server))
    }

    fn has_server(&self, server: &str) -> bool {
        self.servers.as_ref().is_none_or(|servers| servers.iter().any(|allowed| allowed == server))
    }

    /// The granted tool with this name, in any of its forms.
    pub(super) fn tool(&self, name: &str) -> Option<&Tool> {
        // Names that were shown come first: a server may be called `mcp`.
        let shown = self.tools().find(|tool| name == own_name(tool) || name == api_name(tool));
        shown.or_else(|| self.tools().find(|tool| name == tool.full_name()))
    }

    /// The tool with this name, or why it cannot be called.
    pub(super) fn allowed(&self, name: &str) -> Result<&Tool, String> {
        if let Some(tool) = self.tool(name) {
            return Ok(tool);
        }
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        match self.policy.allows(name) {
            // A tool that the policy allows and that is not above belongs to a server that is not allowed.
            Ok(tool) => {
                Err(format!("`{name}` is not available: its server `{}` is not allowed here", tool.server))
            }
            Err(refusal) => Err(refusal.to_string()),
        }
    }

    pub(super) fn specs(&self, roots: &Roots) -> Vec<ToolSpec> {
        let spec = |tool: &Tool| {
            let (description, parameters) = shown(tool, roots);
            ToolSpec { name: api_name(tool), description, parameters }
        };
        self.tools().map(spec).collect()
    }

    pub(super) fn schemas(&self, roots: &Roots) -> Vec<ToolSchema> {
        let schema = |tool: &Tool| {
            let (description, parameters) = shown(tool, roots);
            ToolSchema {
                name: own_name(tool),
                description: Some(description),
                input_schema: Some(parameters),
            }
        };
        self.tools().map(schema).collect()
    }

    /// Calls a tool. A server failure is an error for the model, never one of the run.
    pub(super) fn call(
        &self,
        tool: &Tool,
        id: &str,
        arguments: Map<String, Value>,
        state_results: Option<PathBuf>,
        stop: &Stop,
    ) -> Result<Value, ToolError> {
        let state_results = state_results.map(|path| KeptResults::aliased(path, large::RESULTS_ALIAS));
        let results = state_results.as_ref().unwrap_or(&self.results).as_dir();
        let call = Call { id: id.to_owned(), name: tool.full_name(), arguments };
        let failed = |code: ErrorCode, message: &str| {
            let message = redact_paths(&summary::short(message, summary::MAX_MESSAGE)).into_owned();
            ToolError::new(code, message)
        };
        let Some(outcome) = (self.caller)(call, &self.policy, results, stop) else {
            return Err(failed(ErrorCode::ToolExecFailed, "the call returned nothing"));
        };
        match outcome.result {
            Err(CallError::Refused(refusal)) => {
                Err(failed(ErrorCode::ToolNotAvailable, &refusal.to_string()))
            }
            Err(CallError::Failed(error @ ToolsError::BadArguments { .. })) => {
                Err(failed(ErrorCode::InvalidArgs, &error.to_string()))
            }
            Err(CallError::Failed(error)) => Err(failed(ErrorCode::ToolExecFailed, &error.to_string())),
            Ok(result) if result.is_error => Err(ToolError::new(
                ErrorCode::ToolExecFailed,
                summary::short(&result.text, summary::MAX_MESSAGE),
            )),
            Ok(result) => {
                let mut value = json!({
                    "ok": true,
                    "content": result.text,
                    "bytes": result.bytes,
                    "sha256": result.sha256,
                    "truncated": result.is_cut,
                });
                if let (Some(structured), Some(value)) = (result.structured, value.as_object_mut()) {
                    value.insert("structured".to_owned(), structured);
                }
                Ok(value)
            }
        }
    }
}

/// The name by which a run knows a tool.
pub(super) fn own_name(tool: &Tool) -> String {
    format!("{PREFIX}{}", tool.full_name())
}

/// A name that model APIs accept. Only for display: names in calls are looked up.
fn api_name(tool: &Tool) -> String {
    let name = own_name(tool);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if name.len() <= MAX_API_NAME && name.chars().all(is_plain) {
        return name;
    }
    let hash: String = sha256_hex(name.as_bytes()).chars().take(8).collect();
    let start: String =
        name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_API_NAME - 9).collect();
    format!("{start}_{hash}")
}

/// The description of a tool, as its server wrote it.
fn shown(tool: &Tool, roots: &Roots) -> (String, Value) {
    let mut parameters = tool.input_schema.clone();
    hide::value(&mut parameters, roots);
    (hide::text(tool.description.as_deref().unwrap_or_default(), roots), parameters)
}

#[cfg(test)]
impl Mcp {
    pub(super) fn of_caller(policy: Policy, caller: Rc<Caller>) -> Self {
        Self { policy, servers: None, caller, results: KeptResults::aliased(PathBuf::new(), "[path]") }
    }
}
