//! What will be sent next, exactly.

use std::rc::Rc;

use aiwf_prompt::{CountTokens as _, FsAbility, Metadata, SectionReport};
use aiwf_provider::{PayloadMessage, SectionHash, ToolSpec};
use aiwf_session::{LeftOut, Phase, Step};
use serde::Serialize;

use super::journal;
use super::open_session::OpenSession;
use crate::Engine;
use crate::ask::{budget, providers};
use crate::ledger::SessionRef;
use crate::session::session_error::SessionError;

/// The next payload.
#[derive(Debug, Serialize)]
pub struct SessionPreview {
    /// The session.
    pub session_id: String,
    /// The system text, when the provider takes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The user's text.
    pub prompt: String,
    /// The same as messages.
    pub messages: Vec<PreviewMessage>,
    /// The tools that the provider calls by its own means; all others read of them in the prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// The files that travel with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PreviewFile>,
    /// What it was to hold and does not.
    pub left_out: Vec<LeftOut>,
    /// What a person should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What it is made of.
    pub sections: Vec<SectionHash>,
    /// Its figures.
    pub metadata: PreviewMetadata,
}

/// A file that travels with the payload.
#[derive(Debug, Serialize)]
pub struct PreviewFile {
    /// The path that the text names it by.
    pub path: String,
    /// Its size.
    pub bytes: usize,
    /// SHA-256 of what it says.
    pub sha256: String,
}

/// One message.
#[derive(Debug, Serialize)]
pub struct PreviewMessage {
    /// Who speaks it.
    pub role: &'static str,
    /// What it says.
    pub content: String,
}

/// The figures of a payload.
#[derive(Debug, Serialize)]
pub struct PreviewMetadata {
    /// The phase.
    pub phase: Phase,
    /// The provider.
    pub provider: String,
    /// SHA-256 of the canonical form.
    pub payload_sha256: String,
    /// What the provider can do with files.
    pub fs_ability: &'static str,
    /// What it could do if it were not held to reading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered_from: Option<&'static str>,
}

impl SessionPreview {
    /// The payload as one text: the system text, when there is one, the user's, and the tools, when there are any.
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

/// What the provider of a session's current prompt can do with files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbilityInForce {
    /// The provider.
    pub provider: String,
    /// What it can do.
    pub fs_ability: &'static str,
    /// What it could do if it were not held to reading.
    pub lowered_from: Option<&'static str>,
}

/// How large a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptSize {
    /// How many tokens its provider reads.
    pub tokens: u64,
    /// Whether the number is exact: some vendors publish no vocabulary.
    pub is_exact: bool,
}

impl Engine {
    /// How large the current prompt is, as it is on disk; nothing when no prompt is at hand.
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
    /// What the provider of the current prompt can do with files; nothing when no prompt is at hand.
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

    /// The sections of the current prompt, as it is built now, and its figures.
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

    /// The next prompt as it will be sent: the bytes on disk, edited or not.
    pub fn preview_session<'a>(
        &self,
        given: impl Into<SessionRef<'a>>,
    ) -> Result<SessionPreview, SessionError> {
        let mut session = OpenSession::open_read_only(self, journal::find(self.settings(), given)?)?;
        let mut flag = session.prompt_flag();
        let mut left_out = session.state.left_out.clone();
        let payload = match session.state.step {
            // What the next command will write; looking writes nothing.
            Step::PromptWanted { phase, iteration } => {
                session.refuse_stale()?;
                (session.state.phase, session.state.iteration) = (phase, iteration);
                flag = session.fs_ability;
                let (payload, built) = session.payload_to_write(flag)?;
                left_out = built;
                payload
            }
            // As `approve` with the same flag would send it.
            Step::PromptReady if session.fs_ability.is_some() => {
                session.refuse_edited()?;
                flag = session.fs_ability;
                let (payload, built) = session.payload_to_write(flag)?;
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
                let phase = session.state.phase;
                if session.state.written.is_empty() || phase.is_final() {
                    return Err(SessionError::NoPrompt { phase });
                }
                Rc::unwrap_or_clone(session.payload()?)
            }
        };
        let phase: Phase = session.state.phase;
        let ability = session.ability_in(phase, session.state.iteration, flag)?;
        // An approval is bound to bytes, so a flag cannot change them any more.
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
