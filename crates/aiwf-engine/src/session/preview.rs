//! Shows exactly what will be sent next.

use std::rc::Rc;

use aiwf_prompt::{CountTokens as _, FsAbility, Metadata, SectionReport};
use aiwf_provider::{Payload, PayloadMessage, SectionHash, ToolSpec};
use aiwf_session::{LeftOut, Phase, Step};
use serde::Serialize;

use super::journal;
use super::open_session::OpenSession;
use crate::Engine;
use crate::ask::payload::cache_breakpoints;
use crate::ask::{budget, providers};
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

/// The next payload.
#[derive(Debug, Serialize)]
pub struct SessionPreview {
    pub session_id: String,
    /// Set if the provider takes a system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    pub prompt: String,
    pub messages: Vec<PreviewMessage>,
    /// Tools in the provider's own format. Other providers get tools as prompt text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PreviewFile>,
    pub left_out: Vec<LeftOut>,
    /// Warnings for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    pub sections: Vec<SectionHash>,
    /// The sections after which a mark for the provider's cache stands; missing if its API takes none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_breakpoints: Option<Vec<String>>,
    pub metadata: PreviewMetadata,
}

/// An attached file.
#[derive(Debug, Serialize)]
pub struct PreviewFile {
    /// The path that the prompt uses for it.
    pub path: String,
    pub bytes: usize,
    /// SHA-256 of the content.
    pub sha256: String,
}

#[derive(Debug, Serialize)]
pub struct PreviewMessage {
    pub role: &'static str,
    pub content: String,
}

/// Size and settings of a payload.
#[derive(Debug, Serialize)]
pub struct PreviewMetadata {
    pub phase: Phase,
    pub provider: String,
    /// SHA-256 of the canonical form.
    pub payload_sha256: String,
    /// File access of the provider.
    pub fs_ability: &'static str,
    /// The file access that the provider would have if it were not read-only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered_from: Option<&'static str>,
}

impl SessionPreview {
    /// The payload as text: system prompt, user prompt and tools, as far as there are any.
    pub fn text(&self) -> String {
        let text = match &self.system_prompt {
            Some(system) => format!("{system}\n\n---\n\n{}", self.prompt),
            None => self.prompt.clone(),
        };
        if self.tools.is_empty() {
            return text;
        }
        let tools: Vec<String> =
            self.tools.iter().map(|tool| format!("{:#}\n", serde_json::json!(tool))).collect();
        format!("{}\n\n---\n\n{}", text.trim_end_matches('\n'), tools.concat())
    }
}

/// The file access for the current prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbilityInForce {
    pub provider: String,
    pub fs_ability: &'static str,
    /// The file access that the provider would have if it were not read-only.
    pub lowered_from: Option<&'static str>,
}

/// The size of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptSize {
    /// Tokens as counted for its provider.
    pub tokens: u64,
    /// Whether the number is exact: some vendors publish no vocabulary.
    pub is_exact: bool,
}

impl Engine {
    /// The size of the current prompt as it is on disk; `None` if there is none.
    pub fn prompt_size<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<Option<PromptSize>, SessionError> {
        let mut session = OpenSession::open_read_only(self, journal::find(self.settings(), given)?)?;
        let phase = session.state.phase;
        if session.state.written.is_empty() || phase.is_final() {
            return Ok(None);
        }
        let payload = session.payload()?;
        let provider = session.state.provider(phase);
        let tokens = budget::count(provider, &payload, session.config(), self.settings());
        let is_exact = providers::tokenizer(provider, session.config()).is_exact();
        Ok(Some(PromptSize { tokens: tokens.0, is_exact }))
    }
}

impl Engine {
    /// The file access of the current provider; `None` if there is no prompt.
    pub fn ability_in_force<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<Option<AbilityInForce>, SessionError> {
        let session = OpenSession::open(self, journal::find(self.settings(), given)?)?;
        let phase = session.state.phase;
        if session.state.written.is_empty() || phase.is_final() {
            return Ok(None);
        }
        let ability = session.ability()?;
        Ok(Some(AbilityInForce {
            provider: session.state.provider(phase).to_owned(),
            fs_ability: ability.capability.fs_ability.map_or("unknown", FsAbility::as_str),
            lowered_from: ability.lowered_from.map(FsAbility::as_str),
        }))
    }

    /// The sections of the current prompt as built now, with sizes.
    pub fn explain_session<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<(Vec<SectionReport>, Metadata), SessionError> {
        let mut session = OpenSession::open_read_only(self, journal::find(self.settings(), given)?)?;
        let (phase, iteration) = (session.state.phase, session.state.iteration);
        let flag = session.prompt_flag();
        let mut built = session.build_prompt(phase, iteration, flag)?;
        let metadata = built.metadata();
        Ok((built.prompt.sections(), metadata))
    }

    /// The next payload: the bytes on disk, edited or not.
    pub fn preview_session<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<SessionPreview, SessionError> {
        let mut session = OpenSession::open_read_only(self, journal::find(self.settings(), given)?)?;
        let Upcoming { payload, left_out, flag } = session.upcoming()?;
        let phase: Phase = session.state.phase;
        let ability = session.ability_in(phase, session.state.iteration, flag)?;
        // An approval is bound to bytes, so a flag no longer has an effect.
        let is_in_force = |asked: &FsAbility| [flag, ability.capability.fs_ability].contains(&Some(*asked));
        let unused_flag = session.fs_ability.filter(|asked| !is_in_force(asked));
        let warnings = unused_flag.map(|asked| {
            format!(
                "the approved prompt is shown as it will be sent; `--fs-ability {}` applies to the next prompt that is \
                 written",
                asked.as_str()
            )
        });
        let prompt: Vec<String> = payload.messages.iter().map(PayloadMessage::text).collect();
        let system_prompt = payload.system_text();
        let system =
            system_prompt.iter().map(|content| PreviewMessage { role: "system", content: content.clone() });
        let user = payload
            .messages
            .iter()
            .map(|message| PreviewMessage { role: message.role.as_str(), content: message.text() });
        Ok(SessionPreview {
            session_id: session.ledger.id.clone(),
            prompt: prompt.concat(),
            messages: system.chain(user).collect(),
            metadata: PreviewMetadata {
                phase,
                provider: session.state.provider(phase).to_owned(),
                payload_sha256: payload.sha256(),
                fs_ability: ability.capability.fs_ability.map_or("unknown", FsAbility::as_str),
                lowered_from: ability.lowered_from.map(FsAbility::as_str),
            },
            cache_breakpoints: cache_breakpoints(&payload, session.state.provider(phase), session.config()),
            tools: payload.tools,
            sections: payload.sections,
            system_prompt,
            files: payload
                .files
                .iter()
                .map(|file| PreviewFile {
                    path: file.path.clone(),
                    bytes: file.text.len(),
                    sha256: aiwf_store::sha256_hex(file.text.as_bytes()),
                })
                .collect(),
            left_out,
            warnings: warnings.into_iter().collect(),
        })
    }
}

/// The next request of a session.
pub(crate) struct Upcoming {
    pub(crate) payload: Payload,
    pub(crate) left_out: Vec<LeftOut>,
    /// The file access that it was built with.
    pub(crate) flag: Option<FsAbility>,
}

impl OpenSession<'_> {
    /// Builds what the next command will send, or reads it if it is written; a person's edits are in it.
    pub(crate) fn upcoming(&mut self) -> Result<Upcoming, SessionError> {
        let mut flag = self.prompt_flag();
        let mut left_out = self.state.left_out.clone();
        let payload = match self.state.step {
            // Builds what the next command will write, without writing it.
            Step::PromptWanted { phase, iteration } => {
                self.refuse_stale()?;
                (self.state.phase, self.state.iteration) = (phase, iteration);
                flag = self.fs_ability;
                let (payload, built) = self.payload_to_write(flag)?;
                left_out = built;
                payload
            }
            // What `approve` with the same flag would send.
            Step::PromptReady if self.fs_ability.is_some() => {
                self.refuse_edited()?;
                flag = self.fs_ability;
                let (payload, built) = self.payload_to_write(flag)?;
                left_out = built;
                payload
            }
            Step::NotCreated
            | Step::PromptReady
            | Step::AskWanted
            | Step::Asked { .. }
            | Step::AskFailed { .. }
            | Step::ReplyReady { .. }
            | Step::ChecksWanted
            | Step::Paused(_)
            | Step::Ended => {
                let phase = self.state.phase;
                if self.state.written.is_empty() || phase.is_final() {
                    return Err(SessionError::NoPrompt { phase });
                }
                Rc::unwrap_or_clone(self.payload()?)
            }
        };
        Ok(Upcoming { payload, left_out, flag })
    }
}
