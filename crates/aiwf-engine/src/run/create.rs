//! Creates runs and conversations.

use std::path::Path;

use aiwf_config::Flags;
use aiwf_package::{Package, RunIdentity, initial_state};
use aiwf_store::{Durability, create_dir};

use super::event::{RunEvent, RunKind, RunPackage, RunSetup};
use super::journal::{STATE, id_prefix};
use super::{Run, refuse_provider};
use crate::ask::providers;
use crate::ledger::{NewLedger, SessionLedger};
use crate::run::run_error::RunError;
use crate::trust::LedgerKind;
use crate::{Engine, clock};

/// Options of a new run.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// The package: a directory or an archive.
    pub package: &'a Path,
    /// Id of the workflow [default: the only one].
    pub workflow: Option<&'a str>,
    /// The agent to start with [default: the entry node's, else the first].
    pub agent: Option<&'a str>,
    /// The provider [default: the configured one].
    pub provider: Option<&'a str>,
    /// Whether the model continues without asking about each step.
    pub is_autopilot: bool,
}

/// Options of a new conversation.
#[derive(Clone, Copy, Debug)]
pub struct NewConversation<'a> {
    /// A chat needs none.
    pub package: Option<&'a Path>,
    /// `None` starts a chat.
    pub agent: Option<&'a str>,
    /// The provider [default: the configured one].
    pub provider: Option<&'a str>,
}

impl Engine {
    /// Creates a run without asking the model yet.
    pub fn start_run(&self, new: &NewRun<'_>) -> Result<Run<'_>, RunError> {
        let provider = self.run_provider(new.provider)?;
        let package = self.package(new.package)?;
        let workflow = package.workflow(new.workflow)?;
        let agent = match new.agent {
            Some(id) => Some(package.agent(id)?),
            None => package.default_agent(workflow),
        };
        let agent = agent.map(|agent| agent.id.clone()).unwrap_or_default();
        let workflow_id = workflow.id.clone();
        let document = workflow.text.clone();
        create_dir(&self.settings().project_root.join("artifacts"))?;
        self.begin(RunKind::Run, |run_id| {
            let identity = RunIdentity {
                run_id: run_id.to_owned(),
                active_agent_id: agent.clone(),
                workflow_ref: workflow_id.clone(),
                now: clock::now(),
            };
            let state = initial_state(&document, &identity).map_err(RunError::StateInit)?;
            let setup = RunSetup {
                run_id: run_id.to_owned(),
                kind: RunKind::Run,
                package: Some(self.run_package(new.package, &package)),
                workflow: Some(workflow_id),
                agent: Some(agent),
                provider,
                is_autopilot: new.is_autopilot,
                state_sha256: None,
                forked_from: None,
            };
            Ok(NewRunContent { setup, state: Some(state), history: Vec::new() })
        })
    }

    /// Creates a conversation without asking the model yet.
    pub fn start_conversation(&self, new: &NewConversation<'_>) -> Result<Run<'_>, RunError> {
        let provider = self.run_provider(new.provider)?;
        let package = new.package.map(|path| self.package(path)).transpose()?;
        let agent = match (&package, new.agent) {
            (Some(package), Some(id)) => Some(package.agent(id)?.id.clone()),
            _ => None,
        };
        let kind = if agent.is_some() { RunKind::Agent } else { RunKind::Chat };
        let of = new.package.zip(package.as_ref());
        let package = of.map(|(path, package)| self.run_package(path, package));
        self.begin(kind, |run_id| {
            let setup = RunSetup {
                run_id: run_id.to_owned(),
                kind,
                package,
                workflow: None,
                agent,
                provider,
                is_autopilot: false,
                state_sha256: None,
                forked_from: None,
            };
            Ok(NewRunContent { setup, state: None, history: Vec::new() })
        })
    }

    /// The given provider, else the configured one.
    pub(super) fn run_provider(&self, named: Option<&str>) -> Result<String, RunError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let of_workflow = config.workflow.provider.as_ref().map(|provider| provider.value.clone());
        let of_roles = Some(config.roles.default.value.clone());
        let provider = named.map(str::to_owned).or(of_workflow).or_else(|| {
            // The default provider is a person, who cannot answer a run.
            of_roles.filter(|provider| providers::can_use_tools(provider, &config))
        });
        let provider = provider.ok_or(RunError::NoProvider)?;
        refuse_provider(&provider, &config)?;
        Ok(provider)
    }

    /// The package as the journal stores it; relative to the project if it is inside.
    fn run_package(&self, path: &Path, package: &Package) -> RunPackage {
        let settings = self.settings();
        let absolute = settings.current_dir.join(path);
        let real = std::fs::canonicalize(&absolute).unwrap_or(absolute);
        let root = std::fs::canonicalize(&settings.project_root).unwrap_or(settings.project_root.clone());
        let shown = real.strip_prefix(&root).unwrap_or(&real);
        RunPackage {
            name: package.manifest.name.clone(),
            version: package.manifest.version.clone(),
            path: shown.to_string_lossy().into_owned(),
            sha256: package.hash.clone(),
        }
    }

    /// Creates the directory of a run: completely or not at all.
    pub(super) fn begin(
        &self,
        kind: RunKind,
        beginning: impl FnOnce(&str) -> Result<NewRunContent, RunError>,
    ) -> Result<Run<'_>, RunError> {
        let new = NewLedger::begin(self.settings(), LedgerKind::Run, id_prefix(kind), None)?;
        fill(new.ledger(), beginning(&new.ledger().id)?)?;
        let witness = self.witness_created(LedgerKind::Run, &new.ledger().id);
        witness.remember(new.ledger().run_journal()?.lines())?;
        let ledger = new.publish()?;
        Run::open_created(self, ledger.clone()).inspect_err(|_| {
            // A run that cannot be opened, for example because its package cannot be unpacked, must not exist.
            drop(ledger.remove());
        })
    }
}

/// The setup and history of a new run.
pub(super) struct NewRunContent {
    pub(super) setup: RunSetup,
    pub(super) state: Option<String>,
    /// The history of the run that it continues.
    pub(super) history: Vec<RunEvent>,
}

fn fill(ledger: &SessionLedger, beginning: NewRunContent) -> Result<(), RunError> {
    let NewRunContent { mut setup, state, history } = beginning;
    let files = ledger.files()?;
    files.create_directories("state/logs").map_err(|error| ledger.unusable("state/logs", error))?;
    if let Some(state) = state {
        setup.state_sha256 = Some(ledger.keep(state.as_bytes())?);
        files.write(STATE, state.as_bytes(), Durability::PowerLoss)?;
    }
    let mut events = vec![RunEvent::RunCreated { setup: Box::new(setup) }];
    events.extend(history);
    ledger.run_journal()?.append(&clock::now(), events)?;
    Ok(())
}
