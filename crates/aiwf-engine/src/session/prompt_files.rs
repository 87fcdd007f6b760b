//! Builds the prompt of a phase, writes it to disk, and reads it back to send it.
//!
//! What is on disk is sent: a person may edit the files in between.

use std::collections::BTreeMap;
use std::rc::Rc;

use aiwf_prompt::{Format, FsAbility, OwnedText, Role, Tokens};
use aiwf_provider::{AttachedFile, Payload};
use aiwf_session::{Command, FileHash, LeftOut, Phase, PhaseRecipe, Stage};
use aiwf_store::sha256_hex;

use super::open_session::OpenSession;
use super::ownership::attribute;
use crate::ask::payload::{files_of, payload_from, tokens_of};
use crate::ask::providers;
use crate::prompt::build::{BuildOptions, Built, Receiver};
use crate::prompt::count_cache::CountCache;
use crate::prompt::document::{Document, SessionDocument};
use crate::prompt::gather::ChangeFlags;
use crate::prompt::left_out;
use crate::session::session_error::SessionError;

/// The texts of a prompt with their owners, and its attachments.
struct BuiltParts {
    owned: Vec<OwnedText>,
    files: Vec<AttachedFile>,
}

impl OpenSession<'_> {
    /// Builds the prompt of a phase for the provider that will be asked.
    pub(crate) fn build_prompt(
        &mut self,
        phase: Phase,
        iteration: u32,
        fs_ability: Option<FsAbility>,
    ) -> Result<Built, SessionError> {
        self.built_prompt(phase, iteration, fs_ability).map_err(|error| {
            error.with_limit(
                |budget| format!("`budget_tokens` in `[session]` is {budget}"),
                || "raise `budget_tokens` in `[session]` of `.aiwf/config.toml`".to_owned(),
            )
        })
    }

    fn built_prompt(
        &mut self,
        phase: Phase,
        iteration: u32,
        fs_ability: Option<FsAbility>,
    ) -> Result<Built, SessionError> {
        let setup = self.setup()?.clone();
        let tools = self.tools(phase, iteration)?.map(|tools| tools.documents()).unwrap_or_default();
        let spec = self.state.flow.spec(phase).cloned().ok_or(SessionError::NoPrompt { phase })?;
        if spec.recipe == PhaseRecipe::Change {
            return self.build_change_prompt(&spec, iteration, fs_ability, tools);
        }
        let remarks = self.remarks(&spec)?;
        let inputs = self.inputs()?;
        let domain = self.profile_phase(phase)?;
        let profile_prompt = self
            .profile()?
            .prompt(domain, &setup.context, &inputs)
            .map_err(aiwf_prompt::PromptError::from)?;
        let project = self.project_parts(&spec)?;
        let document = SessionDocument {
            session_dir: self.ledger.path.to_string_lossy().into_owned(),
            phase: domain.as_str().to_owned(),
            iteration,
            profile_prompt,
            // An agent that edits the files of a worktree has no reply to save.
            fs_ability: self.works_in_worktree(phase)?.then(|| FsAbility::None.as_str().to_owned()),
            supports_system_prompt: None,
            supports_file_attachments: None,
            comments: remarks.comments,
            notes: remarks.notes,
            feedback: self.state.feedback.as_ref().map(|feedback| match self.reopened() {
                Some(reopened) => format!("{reopened}\n\n{}", feedback.text),
                None => feedback.text.clone(),
            }),
            rejected_reply: self
                .state
                .feedback
                .as_ref()
                .and_then(|feedback| feedback.rejected_reply.as_ref())
                .map(|file| file.path.clone()),
            tools,
            project,
        };
        let options = BuildOptions { format: Some(Format::Text), ..self.build_options(phase, fs_ability) };
        let call = Self::call_name(phase, iteration);
        let receiver = Receiver { config: self.config(), duty: self.duty(phase), call: &call };
        let document = Document::Session(document);
        let mut built =
            self.engine.build_for(document, &ChangeFlags::default(), &options, receiver, &|_| ())?;
        built.left_out.extend(setup.left_out);
        Ok(built)
    }

    /// Build options of a phase, with the budget of the session.
    pub(crate) fn build_options(&self, phase: Phase, fs_ability: Option<FsAbility>) -> BuildOptions {
        let set = self.config().session.budget_tokens.as_ref();
        BuildOptions {
            provider: Some(self.state.provider(phase).to_owned()),
            fs_ability,
            budget: set.map(|budget| Tokens(u64::from(budget.value.get()))),
            ..BuildOptions::default()
        }
    }

    /// Writes the prompt of a phase and records it.
    pub(crate) fn write_prompt(
        &mut self,
        phase: Phase,
        iteration: u32,
        fs_ability: Option<FsAbility>,
    ) -> Result<(), SessionError> {
        self.refuse_stale()?;
        self.remove_rejected_reply(phase, iteration)?;
        let Built { prompt, left_out, .. } = self.build_prompt(phase, iteration, fs_ability)?;
        let flow = std::sync::Arc::clone(&self.state.flow);
        let path = |path: Option<String>| path.ok_or(SessionError::NoPrompt { phase });
        let system = prompt
            .system_prompt()
            .map(|text| self.write(&path(flow.system_prompt_path(phase, iteration))?, text.as_bytes()))
            .transpose()?;
        let user = self.write(&path(flow.prompt_path(phase, iteration))?, prompt.user_prompt().as_bytes())?;
        let seen = self.seen(phase, &prompt);
        self.commit(Command::RecordPrompt {
            prompt: user,
            system_prompt: system,
            seen,
            fs_ability: fs_ability.map(|ability| ability.as_str().to_owned()),
            left_out: left_out::recorded(left_out),
        })
    }

    /// The configured budget, or the provider's context window.
    pub(crate) fn budget(&self, phase: Phase) -> Option<Tokens> {
        let set = self.config().session.budget_tokens.as_ref();
        let set = set.map(|budget| u64::from(budget.value.get()));
        let of_provider = || providers::window(self.state.provider(phase), self.config());
        set.or_else(of_provider).map(Tokens)
    }

    /// An edit may have made the prompt too large to send.
    pub(crate) fn refuse_over_budget(&self, payload: &Payload) -> Result<(), SessionError> {
        let Some(budget) = self.budget(self.state.phase) else { return Ok(()) };
        let provider = self.state.provider(self.state.phase);
        let tokenizer = providers::tokenizer(provider, self.config());
        let counter = CountCache::open(tokenizer, self.engine.settings().cache_dir.as_deref());
        let needed = tokens_of(payload, &counter);
        if needed <= budget { Ok(()) } else { Err(SessionError::OverBudget { needed, budget }) }
    }

    /// The next payload: the bytes on disk, edited or not, each with its owner.
    ///
    /// Built once for an approval and the call after it.
    pub(crate) fn payload(&mut self) -> Result<Rc<Payload>, SessionError> {
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        let mut files = Vec::new();
        let mut found = Vec::new();
        for file in &self.state.written {
            let bytes = self.approved_or_disk(&file.path)?;
            found.push(sha256_hex(&bytes));
            files.push((file.path.clone(), bytes));
        }
        let wanted = (phase, iteration, self.state.written.clone(), found);
        if let Some((known, payload)) = &self.built
            && *known == wanted
        {
            return Ok(Rc::clone(payload));
        }
        let prompt = self.build_prompt(phase, iteration, self.prompt_flag())?.prompt;
        let built = BuiltParts { owned: prompt.owned(), files: files_of(&prompt) };
        let texts = files.into_iter().map(|(path, bytes)| {
            let text = crate::prompt::read::into_text(bytes, &self.ledger.file(&path))?;
            Ok((path, text))
        });
        let texts = texts.collect::<Result<Vec<_>, SessionError>>()?;
        let payload = Rc::new(self.payload_of(texts, &built)?);
        self.built = Some((wanted, Rc::clone(&payload)));
        Ok(payload)
    }

    /// The payload of a prompt that is not written yet, and what it leaves out.
    pub(crate) fn payload_to_write(
        &mut self,
        fs_ability: Option<FsAbility>,
    ) -> Result<(Payload, Vec<LeftOut>), SessionError> {
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        let Built { prompt, left_out, .. } = self.build_prompt(phase, iteration, fs_ability)?;
        let mut files = vec![(self.state.prompt_path().unwrap_or_default(), prompt.user_prompt())];
        if let Some(system) = prompt.system_prompt() {
            files.push((self.state.system_prompt_path().unwrap_or_default(), system));
        }
        let built = BuiltParts { owned: prompt.owned(), files: files_of(&prompt) };
        Ok((self.payload_of(files, &built)?, left_out))
    }

    fn payload_of(
        &mut self,
        files: Vec<(String, String)>,
        built: &BuiltParts,
    ) -> Result<Payload, SessionError> {
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        let system_path = self.state.system_prompt_path();
        let mut messages = Vec::new();
        for (path, text) in files {
            let is_system = system_path.as_ref() == Some(&path);
            let role = if is_system { Role::System } else { Role::User };
            let of_role: Vec<&OwnedText> = built.owned.iter().filter(|owned| owned.role == role).collect();
            let shown = self.ledger.shown(&path);
            let blocks = attribute(&of_role, role, &text, &shown);
            // The system prompt comes first, whatever the order of the files.
            let place = if is_system { 0 } else { messages.len() };
            messages.insert(place, blocks);
        }
        let tools = self.tools(phase, iteration)?.map(|tools| tools.specs()).unwrap_or_default();
        let payload = payload_from(messages, self.id_in_prompts().as_deref());
        Ok(Payload { tools, files: built.files.clone(), ..payload })
    }

    /// The file access flag that the current prompt was written with.
    pub(crate) fn prompt_flag(&self) -> Option<FsAbility> {
        self.state.prompt_fs_ability.as_deref().and_then(FsAbility::from_name)
    }

    /// The id to show in a prompt. The id of a 0.1.0 change is an ordinary word, so it is not shown.
    pub(crate) fn id_in_prompts(&self) -> Option<String> {
        (!self.state.is_request()).then(|| self.ledger.id.clone())
    }

    /// After approval, the approved bytes are sent even if the file changes.
    fn approved_or_disk(&self, path: &str) -> Result<Vec<u8>, SessionError> {
        let bound = self.state.bound.get(path).filter(|_| self.state.stage == Some(Stage::Response));
        match bound.and_then(|bound| self.ledger.kept(&bound.sha256)) {
            Some(bytes) => Ok(bytes),
            None => self.read(path),
        }
    }

    /// The contents of the input files from when the session started.
    fn inputs(&self) -> Result<BTreeMap<String, String>, SessionError> {
        let inputs: Vec<FileHash> = self.setup()?.inputs.clone();
        inputs
            .iter()
            .filter_map(|file| Some((file, file.path.strip_prefix("inputs/")?)))
            .map(|(file, key)| {
                let bytes = self.read(&file.path)?;
                let text = crate::prompt::read::into_text(bytes, &self.ledger.file(&file.path))?;
                Ok((key.to_owned(), text))
            })
            .collect()
    }

    /// Removes a rejected reply, so that it is not taken for the next one.
    fn remove_rejected_reply(&self, phase: Phase, iteration: u32) -> Result<(), SessionError> {
        let rejected = self.state.feedback.as_ref().and_then(|feedback| feedback.rejected_reply.as_ref());
        let (Some(rejected), Some(path)) = (rejected, self.state.flow.response_path(phase, iteration)) else {
            return Ok(());
        };
        if self.ledger.sha256(&path).as_ref() == Some(&rejected.sha256) {
            self.ledger.files()?.remove(&path)?;
        }
        Ok(())
    }

    /// The phase as profiles know it: by its role.
    pub(crate) fn profile_phase(&self, phase: Phase) -> Result<aiwf_profile::Phase, SessionError> {
        let role = self.state.flow.spec(phase).map(|spec| spec.role);
        role.and_then(|role| aiwf_profile::Phase::of_role(role.as_str()))
            .ok_or(SessionError::NoPrompt { phase })
    }
}
