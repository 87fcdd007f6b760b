//! Builds a prompt, sends it and hands the reply back: one call, no session.

use std::io;
use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use aiwf_config::{Config, Flags};
use aiwf_session::{ToolUse, Total, Usage};
use aiwf_store::LedgerDir;
use tempfile::TempDir;

use crate::ask::budget;
use crate::ask::call::{CallFiles, Made, Order};
use crate::ask::providers::{self, Ability, Duty};
use crate::ask::tool_loop::{CutShort, PhaseTools, ToolLoop};
use crate::build::{BuildOptions, Built, Engine};
use crate::document::Document;
use crate::gather::{ChangeFlags, Progress};
use crate::session_error::SessionError;

/// How tools are used.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolOptions {
    /// How many rounds of calls there may be; as the configuration says when not said.
    pub max_rounds: Option<NonZeroU32>,
}

/// What became of the tools.
#[derive(Clone, Debug)]
pub struct ToolReport {
    /// How many rounds of calls were run.
    pub rounds: u32,
    /// Every call.
    pub tool_calls: Vec<ToolUse>,
    /// Whether the model wanted another round than there may be.
    pub max_rounds_reached: bool,
    /// Whether the same call failed again and again.
    pub loop_detected: bool,
    /// The same in words.
    pub warning: Option<String>,
}

/// A prompt that was sent, and the reply to it.
#[derive(Debug)]
pub struct Sent {
    /// SHA-256 of what was sent first, in its canonical form.
    pub payload_sha256: String,
    /// Who answered.
    pub provider: String,
    /// The model that answered.
    pub model: Option<String>,
    /// What it cost, over all calls.
    pub usage: Usage,
    /// Files of the project that the agent changed although it was not to.
    pub touched: Vec<String>,
    /// Things worth saying.
    pub notes: Vec<String>,
    /// What became of the tools, when there were any.
    pub tools: Option<ToolReport>,
    text_path: PathBuf,
    /// Holds the reply as long as somebody may read it.
    _directory: TempDir,
}

impl Sent {
    /// The file that holds the reply; it goes when this does.
    pub fn reply_path(&self) -> &Path {
        &self.text_path
    }
}

/// A directory that only the user may enter; it goes with the value.
fn private_directory() -> Result<TempDir, SessionError> {
    let owner_only = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("aiwf-").permissions(owner_only).tempdir().map_err(no_place)
}

fn no_place(source: io::Error) -> SessionError {
    aiwf_store::StoreError { path: PathBuf::from("temporary directory"), source }.into()
}

impl Engine {
    /// Builds the prompt a document asks for with the tools that `send` would send; starts their servers.
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

    /// Refuses what cannot be sent, before anything is read for it.
    pub fn check_provider(&self, provider: &str) -> Result<(), SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        providers::refuse_unknown(provider, &config, || "`--provider`".to_owned())?;
        self.open_provider(provider, &config).map(drop)
    }

    /// Sends a prompt to the provider it was built for and waits for the reply.
    ///
    /// With tools, the calls of a reply are run and the model is asked again, until it calls none.
    pub fn send(
        &self,
        built: &Built,
        provider: &str,
        tools: Option<ToolOptions>,
    ) -> Result<Sent, SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let name = built.prompt.recipe().as_str();
        let opened = self.open_provider(provider, &config)?;
        let ability = built.ability;
        let mut payload = built.payload();
        let mut notes = built.notes();
        let phase_tools = built.tools.clone();
        let mut tool_loop = phase_tools.map(|phase_tools| {
            let max_rounds = tools.as_ref().and_then(|tools| tools.max_rounds).map(NonZeroU32::get);
            let results = phase_tools.toolbox.results().clone();
            ToolLoop::new(phase_tools, max_rounds, results, &self.surroundings().stop)
        });
        let directory = private_directory()?;
        let ledger = LedgerDir::at_private(directory.path()).map_err(|error| no_place(error.into()))?;
        let ledger = Arc::new(ledger);
        let payload_sha256 = payload.sha256();
        let mut total = Total::default();
        let mut touched = Vec::new();
        let mut tool_calls = Vec::new();
        loop {
            let file = |what: &str| format!("{what}-{}", total.calls);
            let files =
                CallFiles { ledger: Arc::clone(&ledger), text: file("reply"), output: file("output") };
            let text_path = files.text_path();
            let order = Order {
                provider,
                name: name.to_owned(),
                payload: &payload,
                ability,
                permission: aiwf_provider::Permission::ReadOnly,
                response_path: None,
                files: &files,
            };
            order.refuse(opened.as_ref(), self)?;
            if !opened.is_free()
                && let Some(message) = budget::refuse(provider, &payload, &total, &config, self.settings())?
            {
                return Err(SessionError::OverLimit { message });
            }
            let (call, wanted) = match order.make(opened.as_ref(), self, &config) {
                Ok(Made::AwaitsPerson) => {
                    return Err(SessionError::PersonCannotReply { provider: provider.to_owned() });
                }
                Ok(Made::Replied { call, tool_calls, .. }) => (call, tool_calls),
                Err(failure) => {
                    let has_text = ledger.n_bytes(&files.text).is_ok_and(|n_bytes| n_bytes > Some(0));
                    if !has_text {
                        return Err(failure.error.into());
                    }
                    // Whoever asked decides what becomes of half a reply; nothing else stays.
                    for entry in ledger.handle().entries().unwrap_or_default() {
                        if entry.name != files.text {
                            ledger.remove(&entry.name)?;
                        }
                    }
                    drop(directory.keep());
                    let kept = text_path.display().to_string();
                    return Err(SessionError::SendFailed { error: failure.error, kept });
                }
            };
            total = total.with(call.usage.as_ref());
            touched.extend(call.touched.into_iter().map(|file| file.path));
            notes.extend(call.notes);
            if let Some(tool_loop) = &mut tool_loop {
                let text = crate::read::read_text(&text_path)?;
                let round = tool_loop.take(text, &wanted, &mut payload);
                tool_calls.extend(round.uses);
                if round.asks_again {
                    if self.surroundings().stop.is_raised() {
                        return Err(aiwf_provider::AskError::Stopped { provider: provider.to_owned() }.into());
                    }
                    continue;
                }
            }
            return Ok(Sent {
                payload_sha256,
                provider: provider.to_owned(),
                model: call.model,
                usage: total.usage(),
                touched,
                notes,
                tools: tool_loop.map(|tool_loop| ToolReport {
                    rounds: tool_loop.n_rounds,
                    tool_calls,
                    max_rounds_reached: tool_loop.cut_short == Some(CutShort::MaxRounds),
                    loop_detected: tool_loop.cut_short == Some(CutShort::Loop),
                    warning: tool_loop.warning(),
                }),
                text_path,
                _directory: directory,
            });
        }
    }

    /// The tools of a reply, put into its document where the provider has no other way to see them.
    fn tools_to_send(
        &self,
        document: &mut Document,
        provider: &str,
        ability: Ability,
        config: &Config,
    ) -> Result<PhaseTools, SessionError> {
        const PHASE: &str = "reply";
        let tools = self.phase_tools(PHASE, provider, ability.has_native_tools, config, &mut None)?;
        let no_tools = |problems| SessionError::NoTools { phase: PHASE.to_owned(), problems };
        let tools = tools.ok_or_else(|| no_tools(Vec::new()))?;
        if tools.policy.is_empty() {
            return Err(no_tools(tools.problems()));
        }
        if let Document::Reply(reply) = document {
            // Only what can be called is shown.
            reply.mcp_tools = tools.documents();
            reply.request.include_mcp_tools = Some(true);
        }
        Ok(tools)
    }
}
