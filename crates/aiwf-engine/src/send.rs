//! Builds a prompt, sends it and hands the reply back: one call, no session.

use std::path::{Path, PathBuf};

use aiwf_config::Flags;
use aiwf_prompt::Problem;
use aiwf_session::{Total, Usage};

use crate::budget;
use crate::build::{BuildOptions, Engine};
use crate::call::{Made, Order};
use crate::document::Document;
use crate::gather::{ChangeFlags, Progress};
use crate::payload::payload_of;
use crate::providers::{self, Duty};
use crate::session_error::SessionError;

/// A prompt that was sent, and the reply to it.
#[derive(Debug)]
pub struct Sent {
    /// SHA-256 of what was sent, in its canonical form.
    pub prompt_sha256: String,
    /// Who answered.
    pub provider: String,
    /// The model that answered.
    pub model: Option<String>,
    /// What it cost.
    pub usage: Option<Usage>,
    /// Files of the project that the agent changed although it was not to.
    pub touched: Vec<String>,
    /// Things worth saying.
    pub notes: Vec<String>,
    /// Sources that were left out or altered.
    pub problems: Vec<Problem>,
    text_path: PathBuf,
    /// Holds the reply as long as somebody may read it.
    _directory: tempfile::TempDir,
}

impl Sent {
    /// The file that holds the reply; it goes when this does.
    pub fn reply_path(&self) -> &Path {
        &self.text_path
    }
}

impl Engine {
    /// Builds the prompt a document asks for, sends it to a provider and waits for the reply.
    pub fn send(
        &self,
        document: Document,
        flags: &ChangeFlags,
        options: &BuildOptions,
        provider: &str,
        on_progress: &dyn Fn(Progress),
    ) -> Result<Sent, SessionError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let name = document.recipe().as_str();
        providers::refuse_unknown(provider, &config, || "`--provider`".to_owned())?;
        let opened = providers::open(provider, &config)?;
        let ability = providers::ability(provider, &config, options.fs_ability, Duty::Read, name)?;
        let of_provider = BuildOptions {
            fs_ability: ability.capability.fs_ability,
            supports_system_prompt: options
                .supports_system_prompt
                .or(Some(ability.capability.supports_system_prompt)),
            supports_file_attachments: options
                .supports_file_attachments
                .or(Some(ability.capability.supports_file_attachments)),
            budget: options.budget.or(providers::window(provider, &config).map(aiwf_prompt::Tokens)),
            ..*options
        };
        let built = self.build(document, flags, &of_provider, on_progress)?;
        let payload = payload_of(&built.prompt);
        let directory = tempfile::tempdir().map_err(|source| {
            SessionError::from(aiwf_store::StoreError { path: PathBuf::from("temporary directory"), source })
        })?;
        let (text_path, output_path) = (directory.path().join("reply.md"), directory.path().join("output"));
        let order = Order {
            provider,
            name: name.to_owned(),
            payload: &payload,
            ability,
            permission: aiwf_provider::Permission::ReadOnly,
            response_path: None,
            text_path: &text_path,
            output_path: &output_path,
        };
        order.refuse(opened.as_ref(), self)?;
        if !opened.is_free()
            && let Some(message) =
                budget::refuse(provider, &payload, &Total::default(), &config, self.settings())?
        {
            return Err(SessionError::OverLimit { message });
        }
        match order.make(opened.as_ref(), self, &config) {
            Ok(Made::AwaitsPerson) => Err(SessionError::PersonCannotReply { provider: provider.to_owned() }),
            Ok(Made::Replied(call)) => Ok(Sent {
                prompt_sha256: payload.sha256(),
                provider: provider.to_owned(),
                model: call.model,
                usage: call.usage,
                touched: call.touched.into_iter().map(|file| file.path).collect(),
                notes: call.notes,
                problems: built.problems,
                text_path,
                _directory: directory,
            }),
            Err(failure) => {
                let has_text = std::fs::metadata(&text_path).is_ok_and(|metadata| metadata.len() > 0);
                if !has_text {
                    return Err(failure.error.into());
                }
                // Whoever asked decides what becomes of half a reply.
                drop(directory.keep());
                let kept = text_path.display().to_string();
                Err(SessionError::SendFailed { source: failure.error, kept })
            }
        }
    }
}
