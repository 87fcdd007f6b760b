//! Begins runs and conversations.

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

/// A run that is to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// The package: a directory or an archive.
    pub package: &'a Path,
    /// The workflow; not needed when there is one.
    pub workflow: Option<&'a str>,
    /// The agent it begins with; the entry node's, else the first, when not said.
    pub agent: Option<&'a str>,
    /// Who answers; as the configuration says when not said.
    pub provider: Option<&'a str>,
    /// Whether the model goes on by itself.
    pub is_autopilot: bool,
}

/// A conversation that is to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewConversation<'a> {
    /// The package; a chat needs none.
    pub package: Option<&'a Path>,
    /// The agent to talk to; none is a chat.
    pub agent: Option<&'a str>,
    /// Who answers; as the configuration says when not said.
    pub provider: Option<&'a str>,
}

impl Engine {
    /// Begins a run; the model has not been asked yet.
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

    /// Begins a conversation; the model has not been asked yet.
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

    /// Who answers: the one that is named, else the configuration's.
    pub(super) fn run_provider(&self, named: Option<&str>) -> Result<String, RunError> {
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let of_workflow = config.workflow.provider.as_ref().map(|provider| provider.value.clone());
        let of_roles = Some(config.roles.default.value.clone());
        let provider = named.map(str::to_owned).or(of_workflow).or_else(|| {
            // Without a word of anybody's it is a person, who cannot answer a run.
            of_roles.filter(|provider| providers::can_use_tools(provider, &config))
        });
        let provider = provider.ok_or(RunError::NoProvider)?;
        refuse_provider(&provider, &config)?;
        Ok(provider)
    }

    /// A package as a run remembers it: relative to the project where it lies in it.
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

    /// Makes the directory of a run: all of it, or nothing.
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
            // A run that cannot be opened, because its package cannot be unpacked for example, has not begun.
            drop(ledger.remove());
        })
    }
}

/// What a run begins with.
pub(super) struct NewRunContent {
    pub(super) setup: RunSetup,
    pub(super) state: Option<String>,
    /// What was said before, in the run it goes on from.
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
