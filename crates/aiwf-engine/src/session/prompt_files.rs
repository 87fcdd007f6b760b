//! The prompt of a step: built from the session's files, written to disk, and read back to be sent.
//!
//! What is on disk is what is sent: a person may edit the files between the two.

use std::collections::BTreeMap;
use std::rc::Rc;

use aiwf_prompt::{Format, FsAbility, Message, OwnedText, Prompt, Role, Tokenizer, Tokens};
use aiwf_provider::Payload;
use aiwf_session::{Command, FileHash, Flow, Phase, Stage};

use super::ownership::attribute;
use super::work::Work;
use crate::build::BuildOptions;
use crate::document::{Document, SessionDocument};
use crate::gather::ChangeFlags;
use crate::payload::tokens_of;
use crate::providers;
use crate::session_error::SessionError;

impl Work<'_> {
    /// Builds the prompt of a phase for the provider that will be asked.
    pub(crate) fn build_prompt(
        &mut self,
        phase: Phase,
        iteration: u32,
        fs_ability: Option<FsAbility>,
    ) -> Result<Prompt, SessionError> {
        let setup = self.setup()?.clone();
        let tools = self.tools(phase, iteration)?.map(|tools| tools.documents()).unwrap_or_default();
        if let Some(change) = &setup.change {
            return self.build_change_prompt(phase, change, tools);
        }
        let capability = self.ability_in(phase, iteration, fs_ability)?.capability;
        let inputs = self.inputs()?;
        let domain = domain_phase(phase)?;
        let profile_prompt = self
            .profile()?
            .prompt(domain, &setup.context, &inputs)
            .map_err(aiwf_prompt::PromptError::from)?;
        let document = SessionDocument {
            session_dir: self.directory.path.to_string_lossy().into_owned(),
            phase: phase.as_str().to_owned(),
            iteration,
            profile_prompt,
            fs_ability: None,
            supports_system_prompt: Some(capability.supports_system_prompt),
            supports_file_attachments: Some(capability.supports_file_attachments),
            feedback: self.state.feedback.as_ref().map(|feedback| feedback.text.clone()),
            rejected_reply: self
                .state
                .feedback
                .as_ref()
                .and_then(|feedback| feedback.rejected_reply.as_ref())
                .map(|file| file.path.clone()),
            tools,
        };
        let options = BuildOptions {
            format: Some(Format::Text),
            fs_ability: capability.fs_ability,
            budget: self.budget(phase),
            ..BuildOptions::default()
        };
        let built =
            self.engine.build(Document::Session(document), &ChangeFlags::default(), &options, &|_| ())?;
        Ok(built.prompt)
    }

    /// Writes the prompt of a phase and reports it.
    pub(crate) fn write_prompt(
        &mut self,
        phase: Phase,
        iteration: u32,
        fs_ability: Option<FsAbility>,
    ) -> Result<(), SessionError> {
        self.refuse_stale()?;
        self.remove_rejected_reply(phase, iteration)?;
        let prompt = self.build_prompt(phase, iteration, fs_ability)?;
        let path = |path: Option<String>| path.ok_or(SessionError::NoPrompt { phase: phase.as_str() });
        let system = prompt
            .system_prompt()
            .map(|text| self.write(&path(phase.system_prompt_path(iteration))?, text.as_bytes()))
            .transpose()?;
        let user = self.write(&path(phase.prompt_path(iteration))?, prompt.user_prompt().as_bytes())?;
        let seen = self.seen(phase, &prompt);
        self.commit(Command::RecordPrompt { prompt: user, system_prompt: system, seen })
    }

    /// How many tokens a prompt may have: as the configuration says, else what the provider reads at once.
    pub(crate) fn budget(&self, phase: Phase) -> Option<Tokens> {
        let set = self.config().session.budget_tokens.as_ref();
        let set = set.map(|budget| u64::from(budget.value.get()));
        let of_provider = || providers::window(self.setup().ok()?.provider(phase), self.config());
        set.or_else(of_provider).map(Tokens)
    }

    /// An edit may have made a prompt larger than it may be; then it is not sent.
    pub(crate) fn refuse_over_budget(&self, payload: &Payload) -> Result<(), SessionError> {
        let Some(budget) = self.budget(self.state.phase) else { return Ok(()) };
        let needed = tokens_of(payload, &Tokenizer::Estimate);
        if needed <= budget { Ok(()) } else { Err(SessionError::OverBudget { needed, budget }) }
    }

    /// What will be sent: the bytes on disk, edited or not, each with its owner.
    pub(crate) fn payload(&mut self) -> Result<Payload, SessionError> {
        let built = self.built()?;
        let mut files = Vec::new();
        for file in &self.state.written {
            let bytes = self.approved_or_disk(&file.path)?;
            files.push((file.path.clone(), crate::read::into_text(bytes, &self.directory.file(&file.path))?));
        }
        self.payload_of(files, &built)
    }

    /// What will be sent of a prompt that is yet to be written.
    pub(crate) fn payload_to_write(&mut self) -> Result<Payload, SessionError> {
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        let prompt = self.build_prompt(phase, iteration, None)?;
        let mut files = vec![(phase.prompt_path(iteration).unwrap_or_default(), prompt.user_prompt())];
        if let Some(system) = prompt.system_prompt() {
            files.push((phase.system_prompt_path(iteration).unwrap_or_default(), system));
        }
        self.payload_of(files, &prompt.owned())
    }

    fn payload_of(
        &mut self,
        files: Vec<(String, String)>,
        built: &[OwnedText],
    ) -> Result<Payload, SessionError> {
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        let mut system = None;
        let mut messages = Vec::new();
        let mut sections = Vec::new();
        for (path, text) in files {
            let is_system = path.ends_with("-system-prompt.md");
            let role = if is_system { Role::System } else { Role::User };
            let of_role: Vec<&OwnedText> = built.iter().filter(|owned| owned.role == role).collect();
            let shown = self.directory.shown(&path);
            sections.extend(attribute(&of_role, &text, &shown, &self.directory.id));
            if is_system {
                system = Some(text);
            } else {
                messages.push(Message { role: Role::User, content: text });
            }
        }
        Ok(Payload {
            system,
            messages,
            sections,
            tools: self.tools(phase, iteration)?.map(|tools| tools.specs()).unwrap_or_default(),
            session_id: self.id_in_prompts(),
            // Standards and rules are the same for every phase of a session.
            is_system_stable: true,
            ..Payload::default()
        })
    }

    /// The stretches of the current prompt, built once for the approval and the call that follows it.
    fn built(&mut self) -> Result<Rc<[OwnedText]>, SessionError> {
        let (phase, iteration) = (self.state.phase, self.state.iteration);
        let wanted = (phase, iteration, self.state.written.clone());
        if let Some((known, built)) = &self.built
            && *known == wanted
        {
            return Ok(Rc::clone(built));
        }
        let built: Rc<[OwnedText]> = self.build_prompt(phase, iteration, None)?.owned().into();
        self.built = Some((wanted, Rc::clone(&built)));
        Ok(built)
    }

    /// The id that may stand in a prompt; a change's name is a word like any other and stands in none.
    pub(crate) fn id_in_prompts(&self) -> Option<String> {
        match self.state.flow() {
            Flow::Session => Some(self.directory.id.clone()),
            Flow::Change => None,
        }
    }

    /// Once a prompt is approved its approved bytes are what is sent, whatever becomes of the file.
    fn approved_or_disk(&self, path: &str) -> Result<Vec<u8>, SessionError> {
        let bound = self.state.bound.get(path).filter(|_| self.state.stage == Some(Stage::Response));
        let objects = self.directory.objects()?;
        match bound.and_then(|bound| objects.get(&bound.sha256).ok().flatten()) {
            Some(bytes) => Ok(bytes),
            None => self.read(path),
        }
    }

    /// The texts that files gave when the session began.
    fn inputs(&self) -> Result<BTreeMap<String, String>, SessionError> {
        let inputs: Vec<FileHash> = self.setup()?.inputs.clone();
        inputs
            .iter()
            .map(|file| {
                let bytes = self.read(&file.path)?;
                let text = crate::read::into_text(bytes, &self.directory.file(&file.path))?;
                Ok((file.path.trim_start_matches("inputs/").to_owned(), text))
            })
            .collect()
    }

    /// A reply that was turned down must not be taken for the next one.
    fn remove_rejected_reply(&self, phase: Phase, iteration: u32) -> Result<(), SessionError> {
        let rejected = self.state.feedback.as_ref().and_then(|feedback| feedback.rejected_reply.as_ref());
        let (Some(rejected), Some(path)) = (rejected, phase.response_path(iteration)) else { return Ok(()) };
        if self.directory.sha256(&path).as_ref() == Some(&rejected.sha256) {
            self.directory.ledger()?.remove(&path)?;
        }
        Ok(())
    }
}

/// The phase as profiles know it.
pub(crate) fn domain_phase(phase: Phase) -> Result<aiwf_profile::Phase, SessionError> {
    match phase {
        Phase::Planning => Ok(aiwf_profile::Phase::Planning),
        Phase::Generating => Ok(aiwf_profile::Phase::Generating),
        Phase::Reviewing => Ok(aiwf_profile::Phase::Reviewing),
        Phase::Revising => Ok(aiwf_profile::Phase::Revising),
        Phase::Initialized
        | Phase::Plan
        | Phase::Challenge
        | Phase::Implement
        | Phase::Review
        | Phase::Archive
        | Phase::Complete
        | Phase::Cancelled => Err(SessionError::NoPrompt { phase: phase.as_str() }),
    }
}
