//! The tools that a model may call in one turn of a run, a conversation with an agent, or a chat.
//!
//! In: the merged policy, the mounts, the servers. Out: the list for the provider, and one [`Ran`] for every call,
//! whatever the model wrote. What is listed is what can be called: a tool that is not visible is refused even if it
//! exists. No output contains a real path: known roots are replaced by their aliases in results and in the log. So a
//! file that contains its own path is read with the alias instead.

mod ask_user;
mod builtin;
mod hide;
mod large;
mod mcp;
mod state_gate;
mod summary;
mod widget_submit;

use std::borrow::Cow;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use aiwf_package::StateWarning;
use aiwf_prompt::{Roots, ToolPolicy, ToolSchema, alias_roots};
use aiwf_provider::{Stop, ToolCall, ToolSpec};
use aiwf_session::LeftOut;
use aiwf_tools::Policy;
use aiwf_tools::sandbox::{
    AliasPath, ApplyPatchArgs, ErrorCode, FsLimits, Mount, Mounts, ToolError, WriteArgs, apply_patch, list,
    parse_args, read, search, write,
};
use serde_json::{Map, Value, json};

pub(crate) use summary::about;
pub(crate) use widget_submit::parse_widget_submit;

use super::event::{RunKind, StateWriter, ToolExec};
use super::state_access::StateAccess;
use crate::ask::toolbox::Toolbox;
use builtin::Builtin;
use large::Shrunk;
use mcp::Mcp;
use state_gate::StateGate;

/// The result of a call.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) exec: ToolExec,
    pub(crate) content: String,
    pub(crate) is_error: bool,
    /// The question to the user; it ends the turn.
    pub(crate) question: Option<Value>,
    /// Warnings for the user.
    pub(crate) warnings: Vec<String>,
    /// The part of the result that the model does not see.
    pub(crate) left_out: Option<LeftOut>,
}

#[derive(Debug)]
pub(crate) struct RunToolsSetup {
    /// The directories that file tools see.
    pub(crate) mounts: Rc<Mounts>,
    pub(crate) policy: ToolPolicy,
    pub(crate) kind: RunKind,
    /// The agent whose policy applies.
    pub(crate) agent_id: Option<String>,
    /// How many bytes of a result the model sees.
    pub(crate) result_preview_bytes: usize,
    /// The directory behind `@state`. Complete large results are stored in its `logs/tool-results/`.
    pub(crate) state_dir: Option<PathBuf>,
    /// Real paths that must stay hidden.
    pub(crate) roots: Roots,
    /// The servers, and which of their tools are granted.
    pub(crate) mcp: Option<(Rc<Toolbox>, Policy)>,
}

/// The tools that a model may call in one turn.
#[derive(Debug)]
pub(crate) struct RunTools {
    mounts: Rc<Mounts>,
    kind: RunKind,
    agent_id: Option<String>,
    limits: FsLimits,
    has_fs: bool,
    has_state: bool,
    result_preview_bytes: usize,
    state_dir: Option<PathBuf>,
    roots: Roots,
    mcp: Option<Mcp>,
}

/// The result of a tool before it is limited and redacted.
#[derive(Debug, Default)]
struct Done {
    result: Value,
    question: Option<Value>,
    warnings: Vec<StateWarning>,
}

impl From<Value> for Done {
    fn from(result: Value) -> Self {
        Self { result, ..Self::default() }
    }
}

impl RunTools {
    pub(crate) fn new(setup: RunToolsSetup) -> Self {
        let RunToolsSetup { mounts, policy, kind, agent_id, result_preview_bytes, state_dir, roots, mcp } =
            setup;
        let mcp = mcp.map(|(toolbox, granted)| Mcp::of_toolbox(toolbox, granted));
        Self::with_mcp(mounts, &policy, (kind, agent_id), (result_preview_bytes, state_dir), roots, mcp)
    }

    fn with_mcp(
        mounts: Rc<Mounts>,
        policy: &ToolPolicy,
        (kind, agent_id): (RunKind, Option<String>),
        (result_preview_bytes, state_dir): (usize, Option<PathBuf>),
        roots: Roots,
        mcp: Option<Mcp>,
    ) -> Self {
        let default = FsLimits::default();
        let limits = FsLimits {
            max_read_bytes: policy.fs.max_read_bytes.unwrap_or(default.max_read_bytes),
            max_write_bytes: policy.fs.max_write_bytes.unwrap_or(default.max_write_bytes),
        };
        let has_state = AliasPath::below(Mount::State, "x").is_ok_and(|path| mounts.may_write(&path).is_ok());
        let mcp = mcp
            .filter(|_| policy.mcp.is_enabled.unwrap_or(false))
            .map(|mcp| mcp.limited_to(policy.mcp.allowed_servers.clone()));
        let has_fs = policy.fs.is_enabled.unwrap_or(true);
        Self {
            mounts,
            kind,
            agent_id,
            limits,
            has_fs,
            has_state,
            result_preview_bytes,
            state_dir,
            roots,
            mcp,
        }
    }

    /// The tools under names that every provider accepts.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let builtin = self.visible().map(|tool| ToolSpec {
            name: tool.api_name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.parameters(),
        });
        builtin.chain(self.mcp.iter().flat_map(|mcp| mcp.specs(&self.roots))).collect()
    }

    /// The tools under their own names, for the prompt of a provider without native tools.
    pub(crate) fn schemas(&self) -> Vec<ToolSchema> {
        let builtin = self.visible().map(|tool| ToolSchema {
            name: tool.name().to_owned(),
            description: Some(tool.description().to_owned()),
            input_schema: Some(tool.parameters()),
        });
        builtin.chain(self.mcp.iter().flat_map(|mcp| mcp.schemas(&self.roots))).collect()
    }

    /// The tool's own name for any spelling; unknown names are shortened.
    pub(crate) fn canonical_name(&self, name: &str) -> String {
        if let Some(tool) = Builtin::of(name) {
            return tool.name().to_owned();
        }
        let known = self.mcp.as_ref().and_then(|mcp| mcp.tool(name)).map(mcp::own_name);
        known.unwrap_or_else(|| hide::text(&summary::short(name, 100), &self.roots))
    }

    /// Runs a call. There is always one result; its `ok` says whether it worked.
    pub(crate) fn run(&self, call: &ToolCall, store: &mut dyn StateAccess, stop: &Stop) -> Ran {
        let started_at = Instant::now();
        let mut done = self.call(call, store, stop).unwrap_or_else(|mut error| {
            error.message = summary::short(&error.message, summary::MAX_MESSAGE);
            error.to_json().into()
        });
        hide::value(&mut done.result, &self.roots);
        if let (Some(result), false) = (done.result.as_object_mut(), done.warnings.is_empty()) {
            let warnings = done.warnings.iter();
            let warnings =
                warnings.map(|warning| json!({ "code": warning.code, "message": warning.message }));
            result.insert("warnings".to_owned(), warnings.collect());
        }
        let is_error = done.result.get("ok") != Some(&Value::Bool(true));
        let mut warnings: Vec<String> =
            done.warnings.iter().map(|warning| hide::text(&warning.message, &self.roots)).collect();
        let mut output = summary::output(&done.result);
        let whole = large::OriginalSize::of(&done.result);
        let Shrunk { content, result_path, warning } = self.shrink(call, done.result);
        let name = self.canonical_name(&call.name);
        let left_out = whole.left_out(&content, self.result_preview_bytes).map(|left_out| LeftOut {
            id: hide::text(format!("{name} {}", about(call)).trim_end(), &self.roots),
            ..left_out
        });
        if let (Some(path), Some(output)) = (result_path, output.as_object_mut()) {
            output.insert("resultPath".to_owned(), path.into());
        }
        warnings.extend(warning);
        let mut input = summary::input(Builtin::of(&call.name), &call.arguments);
        hide::value(&mut input, &self.roots);
        let exec = ToolExec {
            // The id is not redacted: the result has to name the call.
            tool_call_id: call.id.clone(),
            tool_name: name,
            agent_id: self.agent_id.clone(),
            input,
            output,
            duration_ms: u64::try_from(started_at.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        Ran { exec, content, is_error, question: done.question, warnings, left_out }
    }

    /// Limits a result to what the model sees.
    fn shrink(&self, call: &ToolCall, result: Value) -> Shrunk {
        let limit = self.result_preview_bytes;
        match Builtin::of(&call.name) {
            // A question has its own limit and is useless in part.
            Some(Builtin::AskUser) => Shrunk::whole(&result),
            Some(Builtin::Read) => large::shrink_read(result, &call.arguments, limit)
                .unwrap_or_else(|result| self.shrink_any(call, &result)),
            Some(
                Builtin::List
                | Builtin::Search
                | Builtin::Write
                | Builtin::ApplyPatch
                | Builtin::CompleteNode,
            )
            | None => self.shrink_any(call, &result),
        }
    }

    fn shrink_any(&self, call: &ToolCall, result: &Value) -> Shrunk {
        let directory = self.state_dir.as_deref().filter(|_| self.has_state);
        let reader = if self.has_fs { large::Reader::Fs } else { large::Reader::Nobody };
        large::shrink(result, &call.id, self.result_preview_bytes, directory, reader)
    }

    fn visible(&self) -> impl Iterator<Item = Builtin> {
        Builtin::ALL.into_iter().filter(|tool| self.is_visible(*tool))
    }

    fn is_visible(&self, tool: Builtin) -> bool {
        match tool {
            Builtin::List | Builtin::Read | Builtin::Search | Builtin::Write => self.has_fs,
            Builtin::ApplyPatch => self.has_fs && self.has_state,
            Builtin::AskUser => true,
            Builtin::CompleteNode => self.kind == RunKind::Run,
        }
    }

    fn call(&self, call: &ToolCall, store: &mut dyn StateAccess, stop: &Stop) -> Result<Done, ToolError> {
        let Some(tool) = Builtin::of(&call.name) else {
            return self.call_mcp(call, stop);
        };
        if !self.is_visible(tool) {
            return Err(not_available(tool.name(), "is not available here"));
        }
        let args = Value::Object(arguments(call)?);
        match tool {
            Builtin::List => Ok(list(&self.mounts, &parse(args)?)?.into()),
            Builtin::Read => Ok(read(&self.mounts, self.limits, &parse(args)?)?.into()),
            Builtin::Search => Ok(search(&self.mounts, self.limits, &parse(args)?)?.into()),
            Builtin::Write => self.write(&call.id, &parse(args)?, store),
            Builtin::ApplyPatch => self.apply_patch(&call.id, &parse(args)?, store),
            Builtin::AskUser => {
                let mut widget = ask_user::widget(parse(args)?)?;
                hide::value(&mut widget, &self.roots);
                let result = json!({ "ok": true, "widgetBlock": ask_user::widget_block(&widget) });
                Ok(Done { result, question: Some(widget), warnings: Vec::new() })
            }
            Builtin::CompleteNode => {
                let by = StateWriter::Call(call.id.clone());
                let (result, warnings) =
                    state_gate::complete(&self.mounts, self.limits, parse(args)?, by, store)?;
                Ok(Done { result, question: None, warnings })
            }
        }
    }

    fn write(&self, id: &str, args: &WriteArgs, store: &mut dyn StateAccess) -> Result<Done, ToolError> {
        let path = AliasPath::parse(&args.path)?;
        // Oversized arguments are refused below in any case, so they use up no confirmation.
        if args.content.len() as u64 <= self.limits.max_write_bytes {
            state_gate::confirm(&self.mounts, &path, Some(args.content.as_bytes()), store)?;
        }
        self.refuse_hidden(&path)?;
        let mut gate = StateGate::new(&self.mounts, store, id, self.kind);
        let mut written = write(&self.mounts, self.limits, args, &mut gate)?;
        let is_recorded = gate.record_artifact(&written.path)?;
        if let (true, Some(result)) = (is_recorded, written.result.as_object_mut()) {
            result.insert("recordedArtifact".to_owned(), written.path.relative().into());
        }
        Ok(Done { result: written.result, question: None, warnings: gate.into_warnings() })
    }

    /// Refuses to replace a file whose real paths were hidden when it was read, because they would be lost.
    fn refuse_hidden(&self, path: &AliasPath) -> Result<(), ToolError> {
        /// Larger files are not searched for paths.
        const MAX_SEARCHED: u64 = 16 * 1024 * 1024;
        if path.mount() != Mount::Project {
            return Ok(());
        }
        let Ok(Some(bytes)) = self.mounts.current(path, MAX_SEARCHED) else { return Ok(()) };
        let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(()) };
        if matches!(alias_roots(text, &self.roots), Cow::Borrowed(_)) {
            return Ok(());
        }
        let message = format!(
            "`{path}` holds real paths of this machine, which were shown to you as aliases; writing it whole would put \
             the aliases in their place: write another file, or ask the user to make the change"
        );
        Err(ToolError::new(ErrorCode::SandboxViolation, message))
    }

    fn apply_patch(
        &self,
        id: &str,
        args: &ApplyPatchArgs,
        store: &mut dyn StateAccess,
    ) -> Result<Done, ToolError> {
        let path = AliasPath::parse(&args.path)?;
        let after = state_gate::patched(&self.mounts, &path, &args.patch.update);
        state_gate::confirm(&self.mounts, &path, after.as_deref().map(str::as_bytes), store)?;
        let mut gate = StateGate::new(&self.mounts, store, id, self.kind);
        let written = apply_patch(&self.mounts, self.limits, args, &mut gate)?;
        Ok(Done { result: written.result, question: None, warnings: gate.into_warnings() })
    }

    fn call_mcp(&self, call: &ToolCall, stop: &Stop) -> Result<Done, ToolError> {
        let Some(mcp) = &self.mcp else {
            let reason = if call.name.contains("__") {
                "is not available, since MCP is disabled: continue without it"
            } else {
                "does not exist: call one that you were given"
            };
            return Err(not_available(&call.name, reason));
        };
        let tool = mcp.allowed(&call.name).map_err(|refusal| {
            ToolError::new(ErrorCode::ToolNotAvailable, aiwf_prompt::redact_paths(&refusal).into_owned())
        })?;
        let results = self.state_dir.as_deref().map(large::results_dir);
        Ok(mcp.call(tool, &call.id, arguments(call)?, results, stop)?.into())
    }
}

/// The name and arguments of a call for the log, if the call is not run here.
pub(crate) fn logged(call: &ToolCall, roots: &Roots) -> (String, Value) {
    let tool = Builtin::of(&call.name);
    let name = match tool {
        Some(tool) => tool.name().to_owned(),
        None => hide::text(&summary::short(&call.name, 100), roots),
    };
    let mut input = summary::input(tool, &call.arguments);
    hide::value(&mut input, roots);
    (name, input)
}

/// Whether a call asks the user a question.
pub(crate) fn is_question(call: &ToolCall) -> bool {
    Builtin::of(&call.name) == Some(Builtin::AskUser)
}

/// The path that a call writes.
pub(crate) fn written_path(call: &ToolCall) -> Option<AliasPath> {
    if Builtin::of(&call.name) != Some(Builtin::Write) {
        return None;
    }
    AliasPath::parse(call.arguments.get("path")?.as_str()?).ok()
}

fn not_available(name: &str, reason: &str) -> ToolError {
    let name = aiwf_prompt::redact_paths(&summary::short(name, 100)).into_owned();
    ToolError::new(ErrorCode::ToolNotAvailable, format!("tool `{name}` {reason}"))
}

/// The arguments of a call; missing ones are an empty object.
fn arguments(call: &ToolCall) -> Result<Map<String, Value>, ToolError> {
    let refuse = |message: &str| Err(ToolError::new(ErrorCode::ToolArgsInvalidJson, message));
    match &call.arguments {
        Value::Object(arguments) => Ok(arguments.clone()),
        Value::Null => Ok(Map::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Map::new()),
        Value::String(_) => refuse("the arguments are not valid JSON: send one JSON object"),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            refuse("the arguments are not a JSON object: send one JSON object")
        }
    }
}

/// Parses the arguments of a tool; the error does not repeat invalid values.
fn parse<T: serde::de::DeserializeOwned>(args: Value) -> Result<T, ToolError> {
    parse_args(args).map_err(|mut error| {
        if let Some((before, rest)) = error.message.split_once("string \"")
            && let Some((_, after)) = rest.rsplit_once("\", expected")
        {
            error.message = format!("{before}string, expected{after}");
        }
        error.message = aiwf_prompt::redact_paths(&error.message).into_owned();
        error
    })
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "tools_state_tests.rs"]
mod state_tests;

#[cfg(test)]
#[path = "tools_ask_tests.rs"]
mod ask_tests;
