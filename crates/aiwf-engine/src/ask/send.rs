//! Builds a prompt, sends it and returns the reply: one call without a session.

use std::io;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use aiwf_config::{Config, Flags};
use aiwf_provider::Payload;
use aiwf_session::{Access, Call, ToolUse, Total, Usage};
use aiwf_store::{LedgerDir, StoreError};
use tempfile::TempDir;

use super::call::{CallFailure, CallFiles, Order};
use super::exchange::{ArrivedReply, Asker, Exchange, OutgoingRequest, Refusal};
use super::providers::{self, Ability, Duty};
use super::repeats::CallResult;
use super::rounds::{CutShort, Rounds};
use super::tool_caller::{PhaseTools, RequestedCalls, Round, ToolCaller};
use crate::Engine;
use crate::prompt::build::{BuildOptions, Built};
use crate::prompt::document::Document;
use crate::prompt::gather::{ChangeFlags, Progress};
use crate::session::session_error::SessionError;

#[derive(Clone, Copy, Debug, Default)]
pub struct ToolOptions {
    /// Maximum number of rounds; `None` for the configured one.
    pub max_rounds: Option<NonZeroU32>,
}

/// The use of tools.
#[derive(Clone, Debug)]
pub struct ToolReport {
    /// Rounds of calls that were run.
    pub rounds: u32,
    pub tool_calls: Vec<ToolUse>,
    /// Whether the model wanted more rounds than allowed.
    pub max_rounds_reached: bool,
    /// Whether the same call kept failing.
    pub loop_detected: bool,
    pub warning: Option<String>,
}

/// A sent prompt and its reply.
#[derive(Debug)]
pub struct Sent {
    /// SHA-256 of the first payload in canonical form.
    pub payload_sha256: String,
    pub provider: String,
    pub model: Option<String>,
    /// Sum over all calls.
    pub usage: Usage,
    /// Files of the project that the agent changed without permission.
    pub touched: Vec<String>,
    /// Notes about the calls.
    pub notes: Vec<String>,
    /// Set if tools were available.
    pub tools: Option<ToolReport>,
    text_path: PathBuf,
    /// Keeps the reply file alive while this value exists.
    directory: Option<TempDir>,
}

impl Sent {
    /// The reply file; it is removed with this value.
    pub fn reply_path(&self) -> &Path {
        &self.text_path
    }

    /// Keeps the reply file if it could not be copied, and removes everything else.
    pub fn keep_reply(self) -> PathBuf {
        let directory = self.directory.as_ref().map(|directory| directory.path().to_owned());
        let entries = directory.and_then(|directory| std::fs::read_dir(directory).ok());
        for entry in entries.into_iter().flatten().flatten() {
            if Some(entry.file_name().as_os_str()) != self.text_path.file_name() {
                drop(aiwf_store::remove(&entry.path()));
            }
        }
        drop(self.directory.map(TempDir::keep));
        self.text_path
    }
}

/// A directory that only the user may enter; removed with the value.
pub(crate) fn private_directory() -> Result<TempDir, StoreError> {
    let owner_only = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("aiwf-").permissions(owner_only).tempdir().map_err(no_place)
}

fn no_place(source: io::Error) -> StoreError {
    StoreError { path: PathBuf::from("temporary directory"), source }
}

impl Engine {
    /// Builds a prompt with the tools that `send` would send; starts their servers.
    pub fn build_with_tools(
        &self,
        mut document: Document,
        flags: &ChangeFlags,
        options: &BuildOptions,
        provider: &str,
        on_progress: &dyn Fn(Progress),
    ) -> Result<Built, SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        providers::refuse_unknown(provider, &config, || "`--for`".to_owned())?;
        let options = &BuildOptions { provider: Some(provider.to_owned()), ..options.clone() };
        let call = document.recipe().as_str();
        let ability = providers::ability(provider, &config, options.fs_ability, Duty::Read, call)?;
        let tools = self.tools_to_send(&mut document, provider, ability, &config)?;
        let mut built = self.build(document, flags, options, on_progress)?;
        built.tools = Some(Rc::new(tools));
        Ok(built)
    }

    /// Refuses unsuitable providers before anything is read.
    pub fn check_provider(&self, provider: &str) -> Result<(), SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        providers::refuse_unknown(provider, &config, || "`--provider`".to_owned())?;
        self.open_provider(provider, &config).map(drop)
    }

    /// Sends a prompt to its provider and waits for the reply.
    ///
    /// With tools, runs the calls of each reply and asks again, until a reply has no calls.
    pub fn send(
        &self,
        built: &Built,
        provider: &str,
        tools: Option<ToolOptions>,
    ) -> Result<Sent, SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let payload = built.payload();
        let payload_sha256 = payload.sha256();
        let max_rounds = tools.as_ref().and_then(|tools| tools.max_rounds).map(NonZeroU32::get);
        let caller = built.tools.clone().map(|tools| {
            let results = tools.toolbox.results().clone();
            ToolCaller::new(tools, results, &self.call_context().stop)
        });
        let tool_loop =
            caller.as_ref().map_or_else(Rounds::without_tools, |caller| caller.rounds(max_rounds));
        let exchange = Exchange::open(self, &config, provider, tool_loop)?;
        let order = Order {
            name: built.prompt.recipe().as_str().to_owned(),
            payload: Rc::new(payload),
            ability: built.ability,
            permission: aiwf_provider::Permission::ReadOnly,
            directory: None,
            response_path: None,
        };
        let directory = private_directory()?;
        let ledger = LedgerDir::at_private(directory.path()).map_err(|error| no_place(error.into()))?;
        let mut asker = SendAsker {
            config: &config,
            provider,
            ledger: Arc::new(ledger),
            directory: Some(directory),
            tools: caller,
            total: Total::default(),
            touched: Vec::new(),
            notes: built.notes(),
            tool_calls: Vec::new(),
        };
        let last = exchange.run(&mut asker, order)?;
        Ok(Sent {
            payload_sha256,
            provider: provider.to_owned(),
            model: last.model,
            usage: asker.total.usage(),
            touched: asker.touched,
            notes: asker.notes,
            tools: asker.tools.is_some().then_some(ToolReport {
                rounds: last.n_rounds,
                tool_calls: asker.tool_calls,
                max_rounds_reached: last.cut_short == Some(CutShort::Limit),
                loop_detected: last.cut_short == Some(CutShort::Loop),
                warning: last.warning,
            }),
            text_path: last.text_path,
            directory: asker.directory,
        })
    }

    /// Puts the tools into the document if the provider has no other way to see them.
    fn tools_to_send(
        &self,
        document: &mut Document,
        provider: &str,
        ability: Ability,
        config: &Config,
    ) -> Result<PhaseTools, SessionError> {
        const PHASE: &str = "reply";
        let tools =
            self.phase_tools(PHASE, Access::Write, provider, ability.has_native_tools, config, &mut None)?;
        let no_tools = |problems| SessionError::NoTools { phase: PHASE.to_owned(), problems };
        let tools = tools.ok_or_else(|| no_tools(Vec::new()))?;
        if tools.policy.is_empty() {
            return Err(no_tools(tools.problems()));
        }
        if let Document::Reply(reply) = document {
            // Only callable tools are shown.
            reply.mcp_tools = tools.documents();
            reply.request.include_mcp_tools = Some(true);
        }
        Ok(tools)
    }
}

/// The final reply, and how it was reached.
struct LastReply {
    model: Option<String>,
    text_path: PathBuf,
    n_rounds: u32,
    cut_short: Option<CutShort>,
    warning: Option<String>,
}

/// The asker for prompts without a session: it records nothing and returns everything to the caller.
struct SendAsker<'a> {
    config: &'a Config,
    provider: &'a str,
    ledger: Arc<LedgerDir>,
    /// Taken when an incomplete reply is left to the caller.
    directory: Option<TempDir>,
    tools: Option<ToolCaller>,
    total: Total,
    touched: Vec<String>,
    notes: Vec<String>,
    tool_calls: Vec<ToolUse>,
}

impl Asker for SendAsker<'_> {
    type Calls = RequestedCalls;
    type End = LastReply;
    type Error = SessionError;

    fn config(&self) -> &Config {
        self.config
    }

    fn spent(&self, _: Option<&Call>) -> Total {
        self.total
    }

    fn files(&mut self) -> Result<CallFiles, SessionError> {
        let file = |what: &str| format!("{what}-{}", self.total.calls);
        Ok(CallFiles { ledger: Arc::clone(&self.ledger), text: file("reply"), output: file("output") })
    }

    fn on_refused(&mut self, refusal: Refusal) -> Result<LastReply, SessionError> {
        Err(refusal.into())
    }

    fn on_sent(&mut self, _: &OutgoingRequest<'_>) -> Result<(), SessionError> {
        Ok(())
    }

    fn on_person(&mut self, _: &CallFiles) -> Result<LastReply, SessionError> {
        Err(SessionError::PersonCannotReply { provider: self.provider.to_owned() })
    }

    fn on_failed(&mut self, failure: CallFailure, files: &CallFiles) -> Result<LastReply, SessionError> {
        let has_text = files.ledger.n_bytes(&files.text).is_ok_and(|n_bytes| n_bytes > Some(0));
        if !has_text {
            return Err(failure.error.into());
        }
        // The caller decides what to do with an incomplete reply; everything else is removed.
        for entry in files.ledger.handle().entries().unwrap_or_default() {
            if entry.name != files.text {
                files.ledger.remove(&entry.name)?;
            }
        }
        drop(self.directory.take().map(TempDir::keep));
        let kept = files.text_path().display().to_string();
        Err(SessionError::SendFailed { error: failure.error, kept })
    }

    fn on_arrived(
        &mut self,
        arrived: &mut ArrivedReply,
        sent: &Payload,
    ) -> Result<ControlFlow<LastReply, Option<RequestedCalls>>, SessionError> {
        let call = &mut arrived.call;
        self.total = self.total.with(call.usage.as_ref());
        self.touched.extend(std::mem::take(&mut call.touched).into_iter().map(|file| file.path));
        self.notes.append(&mut call.notes);
        let Some(tools) = &mut self.tools else { return Ok(ControlFlow::Continue(None)) };
        let text = crate::prompt::read::read_text(&arrived.files.text_path())?;
        let tool_calls = std::mem::take(&mut arrived.tool_calls);
        Ok(ControlFlow::Continue(tools.requested_calls(text, tool_calls, sent, arrived.round)))
    }

    fn on_reply(&mut self, arrived: ArrivedReply, tool_loop: &Rounds) -> Result<LastReply, SessionError> {
        Ok(LastReply {
            model: arrived.call.model,
            text_path: arrived.files.text_path(),
            n_rounds: tool_loop.n_rounds(),
            cut_short: tool_loop.cut_short(),
            warning: tool_loop.warning(),
        })
    }

    fn on_calls(
        &mut self,
        calls: RequestedCalls,
        payload: &mut Rc<Payload>,
    ) -> Result<ControlFlow<LastReply, Vec<CallResult>>, SessionError> {
        let Some(tools) = &mut self.tools else { return Ok(ControlFlow::Continue(Vec::new())) };
        let Round { uses, results } = tools.run(calls, Rc::make_mut(payload));
        self.tool_calls.extend(uses);
        Ok(ControlFlow::Continue(results))
    }
}
