//! Runs of workflow packages, and conversations with agents or without one.
//!
//! A run is a conversation that follows a graph: its messages are in its journal, its position is in its state file.
//! [`Run`] is an open run: it sends messages to the model, runs the tools the model calls, and continues until the
//! model waits, is done, or cannot continue. A conversation is the same without a graph.

pub(crate) mod event;
mod report;
mod tagged;

mod conversation;
mod record;
pub(crate) mod run_error;

mod exec_log;
pub(crate) mod journal;
mod menu;
mod run_store;
mod snapshot;
mod state_access;

mod compose;
pub(crate) mod sent_calls;
mod tools;
mod turn;

mod control;
mod create;
mod fork;
mod status;
mod verify;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use aiwf_config::{Config, Flags};
use aiwf_package::{AgentDefinition, Conditions, Package};
use aiwf_prompt::Roots;
use aiwf_session::LeftOut;
use aiwf_tools::sandbox::{Mount, Mounts};

use self::run_store::RunStore;
use self::tools::RunTools;
use crate::Engine;
use crate::ask::providers;
use crate::ask::toolbox::Toolbox;
use crate::ledger::SessionLedger;
use crate::prompt::read::{is_written_outside, resolve_below};
use crate::run::run_error::RunError;
use crate::session::Reach;
use crate::trust::{self, LedgerKind};

pub use create::{NewConversation, NewRun};
pub use event::{
    Block, Fault, FaultKind, ForkedFrom, Layer, RunEvent, RunKind, RunPackage, RunPhase, RunSetup,
    StateWriter, ToolExec,
};
pub use menu::{MenuChoice, MenuEntry};
pub use report::{
    NodeProgress, PreviewLayer, PreviewPayload, RunEntry, RunPreview, RunReport, RunShown, RunStatus,
    RunSummary,
};
pub use verify::RunVerified;

pub(crate) use snapshot::{entry_status, journal_summary, snapshot_summary};

/// An open run or conversation.
#[derive(Debug)]
pub struct Run<'e> {
    engine: &'e Engine,
    config: Config,
    store: RunStore,
    mounts: Rc<Mounts>,
    roots: Roots,
    provider: String,
    toolbox: Option<Rc<Toolbox>>,
    /// The tools of the agent that was asked last.
    tools: Option<AgentTools>,
    /// Warnings since the last report.
    warnings: Vec<String>,
    /// The left-out parts that the watcher was last told about.
    reported_left_out: Vec<LeftOut>,
}

/// The tools of an agent, as listed at one time.
#[derive(Debug)]
struct AgentTools {
    agent: Option<String>,
    n_list_changes: u64,
    tools: Rc<RunTools>,
}

impl Engine {
    /// Opens a run or conversation to continue it, by id, unique prefix, or `latest`.
    ///
    /// `provider` replaces its provider from now on. A changed package, or a state file that the journal does not know,
    /// is refused.
    pub fn open_run(&self, which: &str, provider: Option<&str>) -> Result<Run<'_>, RunError> {
        let ledger = journal::find(self.settings(), which)?;
        Run::open(self, ledger, provider)
    }
}

impl<'e> Run<'e> {
    /// Takes the lock, and checks that package and state match the journal.
    fn open(engine: &'e Engine, ledger: SessionLedger, provider: Option<&str>) -> Result<Self, RunError> {
        let store = RunStore::open(engine, ledger)?;
        store.refuse_changed_state()?;
        Self::with_store(engine, store, provider)
    }

    /// Like [`Self::open`], for a run that this process created.
    fn open_created(engine: &'e Engine, ledger: SessionLedger) -> Result<Self, RunError> {
        let store = RunStore::open_created(engine, ledger)?;
        store.refuse_changed_state()?;
        Self::with_store(engine, store, None)
    }

    /// Like [`Self::open`], without the lock, for previews.
    fn open_read_only(engine: &'e Engine, ledger: &SessionLedger) -> Result<Self, RunError> {
        let store = RunStore::open_read_only(ledger)?;
        store.refuse_changed_state()?;
        Self::with_store(engine, store, None)
    }

    /// Opens a run without checking its state file.
    fn with_store(engine: &'e Engine, mut store: RunStore, provider: Option<&str>) -> Result<Self, RunError> {
        let settings = engine.settings();
        let mut config = providers::load_config(settings, &Flags::default())?;
        let setup = store.setup()?.clone();
        let provider = match provider {
            Some(provider) => {
                refuse_provider(provider, &config)?;
                provider.to_owned()
            }
            None => store.record.provider.clone().unwrap_or_else(|| setup.provider.clone()),
        };
        if let Some(model) = &engine.call_context().model {
            config.set_model(&provider, model);
        }
        let mut mounts = Mounts::default();
        let unusable = |path: &Path| {
            let path = path.to_owned();
            move |source| RunError::Store(aiwf_store::StoreError { path, source })
        };
        let project = &settings.project_root;
        mounts.mount(Mount::Project, project).map_err(unusable(project))?;
        let state = store.ledger.state_dir();
        if store.is_locked() {
            aiwf_store::create_dir(&state)?;
        }
        mounts.mount(Mount::State, &state).map_err(unusable(&state))?;
        let mut package_dir = None;
        if let Some(wanted) = &setup.package {
            let package = load_package(engine, &setup.run_id, wanted, package_reach(engine, &store))?;
            let cache = package_cache(settings);
            // A preview calls no tool, so nothing is unpacked.
            package_dir = Some(if store.is_locked() {
                let directory = package.extract(&cache)?;
                mounts.mount(Mount::Package, &directory).map_err(unusable(&directory))?;
                directory
            } else {
                cache.join(&package.hash)
            });
            store.package = Some(Rc::new(package));
        }
        store.conditions = match config.workflow.conditions.value {
            aiwf_config::Conditions::Warn => Conditions::Warn,
            aiwf_config::Conditions::Enforce => Conditions::Enforce,
        };
        let shown = |path: &Path| Some(path.to_string_lossy().into_owned());
        let roots = Roots {
            project: shown(project),
            package: package_dir.as_deref().and_then(shown),
            state: shown(&state),
            home: settings.home.as_deref().and_then(shown),
            others: other_spellings(settings, &setup, &state),
        };
        Ok(Self {
            engine,
            config,
            store,
            mounts: Rc::new(mounts),
            roots,
            provider,
            toolbox: None,
            tools: None,
            warnings: Vec::new(),
            reported_left_out: Vec::new(),
        })
    }

    pub fn id(&self) -> &str {
        &self.store.ledger.id
    }

    pub fn package(&self) -> Option<&Package> {
        self.store.package.as_deref()
    }

    /// The path that its package was read from, if it has one.
    pub fn package_path(&self) -> Option<PathBuf> {
        let package = self.store.setup().ok()?.package.as_ref()?;
        Some(self.engine.settings().project_root.join(&package.path))
    }

    /// The agent of the conversation or of the current node.
    pub fn agent(&self) -> Option<&AgentDefinition> {
        let package = self.store.package.as_deref()?;
        let active = self.store.setup().ok()?.agent.as_deref().unwrap_or_default();
        match self.store.workflow() {
            Some(workflow) => {
                let node = workflow.graph.node(&self.store.node()?)?;
                package.effective_agent(node, active).ok()
            }
            None => package.agent(active).ok(),
        }
    }
}

/// Where the package of a run may be: only the user who started the run typed its path, and adopting it shows the path.
fn package_reach(engine: &Engine, store: &RunStore) -> Reach {
    let lines = store.journal().lines();
    let problem = trust::problem(engine.settings(), LedgerKind::Run, &store.ledger.id, lines);
    // Only a process that may change the run holds the lock.
    if store.is_locked() || problem.is_none() { Reach::Anywhere } else { Reach::Project }
}

/// Loads the package of a run, and refuses one that changed.
fn load_package(
    engine: &Engine,
    run_id: &str,
    wanted: &RunPackage,
    reach: Reach,
) -> Result<Package, RunError> {
    let root = &engine.settings().project_root;
    let mut path = root.join(&wanted.path);
    if reach == Reach::Project {
        path = match resolve_below(root, &path) {
            Ok(Some(resolved)) => resolved,
            Err(_) if !is_written_outside(root, &path) => path,
            Ok(None) | Err(_) => {
                return Err(RunError::PackageOutside {
                    run_id: run_id.to_owned(),
                    path: wanted.path.clone(),
                });
            }
        };
    }
    let package = Package::load_known(&path, &wanted.sha256).map_err(|source| RunError::PackageGone {
        run_id: run_id.to_owned(),
        source: Box::new(source.into()),
    })?;
    package.map_err(|is| RunError::PackageChanged {
        run_id: run_id.to_owned(),
        path: wanted.path.clone(),
        was: wanted.sha256.clone(),
        is,
    })
}

/// Other paths that lead to the mounts: through links, and the path that the package was read from.
fn other_spellings(
    settings: &aiwf_config::Settings,
    setup: &RunSetup,
    state: &Path,
) -> Vec<(String, &'static str)> {
    let root = &settings.project_root;
    let source = setup.package.as_ref().map(|package| root.join(&package.path));
    let mut found: Vec<(PathBuf, &'static str)> =
        vec![(root.clone(), "@project"), (state.to_owned(), "@state")];
    found.extend(source.map(|source| (source, "@pkg")));
    // A shell in a linked directory uses the link in its paths.
    let below = settings.current_dir.strip_prefix(root).ok();
    if let (Some(given), Some(below)) = (&settings.shell_dir, below)
        && let Some(linked) = given.ancestors().nth(below.components().count())
        && std::fs::canonicalize(linked).ok() == std::fs::canonicalize(root).ok()
    {
        found.push((linked.to_owned(), "@project"));
    }
    let real: Vec<(PathBuf, &'static str)> =
        found.iter().filter_map(|(path, alias)| Some((std::fs::canonicalize(path).ok()?, *alias))).collect();
    let all = found.into_iter().chain(real).filter(|(path, _)| path.is_absolute());
    all.map(|(path, alias)| (path.to_string_lossy().into_owned(), alias)).collect()
}

/// Where packages are unpacked, by their hash.
fn package_cache(settings: &aiwf_config::Settings) -> PathBuf {
    match &settings.cache_dir {
        Some(directory) => directory.join("packages"),
        None => settings.project_dir().join("cache/packages"),
    }
}

/// Refuses unknown providers, and people: a person cannot answer every call of a run.
fn refuse_provider(provider: &str, config: &Config) -> Result<(), RunError> {
    providers::refuse_unknown(provider, config, || "`--provider`".to_owned())?;
    if !providers::can_use_tools(provider, config) {
        return Err(RunError::PersonCannotAnswer { provider: provider.to_owned() });
    }
    Ok(())
}
