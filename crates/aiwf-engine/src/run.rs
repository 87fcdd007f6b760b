//! Runs of workflow packages, and conversations with their agents or with nobody in particular.
//!
//! A run is a conversation that walks through a graph: what is said is in its journal, where it stands in its state
//! file. [`Run`] is one that is being worked on: it says something to the model, runs the tools the model calls, and
//! goes on until the model waits, is done, or cannot go on. A conversation is the same without a graph.

pub(crate) mod event;
mod report;

mod conversation;
mod record;
pub(crate) mod run_error;

mod exec_log;
mod journal;
mod run_store;
mod snapshot;
mod state_access;

mod compose;
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
pub use report::{
    NodeProgress, PreviewLayer, RunEntry, RunPreview, RunReport, RunShown, RunStatus, RunSummary,
};
pub use verify::RunVerified;

pub(crate) use snapshot::{entry_status, journal_summary, snapshot_summary};

/// A run or conversation that is being worked on.
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
    /// Things worth saying since the last report.
    warnings: Vec<String>,
    /// What the watcher was last told that a request leaves out.
    reported_left_out: Vec<LeftOut>,
}

/// The tools of an agent, as the servers listed them at one time.
#[derive(Debug)]
struct AgentTools {
    agent: Option<String>,
    n_list_changes: u64,
    tools: Rc<RunTools>,
}

impl Engine {
    /// Opens a run or conversation to go on with it: its id, a unique beginning of it, or `latest`.
    ///
    /// `provider` answers from now on, when it is said. A package that changed, or a state file that somebody else
    /// wrote, is refused.
    pub fn open_run(&self, which: &str, provider: Option<&str>) -> Result<Run<'_>, RunError> {
        let ledger = journal::find(self.settings(), which)?;
        Run::open(self, ledger, provider)
    }
}

impl<'e> Run<'e> {
    /// Takes the lock, and makes sure that package and state are what the journal says.
    fn open(engine: &'e Engine, ledger: SessionLedger, provider: Option<&str>) -> Result<Self, RunError> {
        let store = RunStore::open(engine, ledger)?;
        store.refuse_changed_state()?;
        Self::with_store(engine, store, provider)
    }

    /// The same for a run that this process created.
    fn open_created(engine: &'e Engine, ledger: SessionLedger) -> Result<Self, RunError> {
        let store = RunStore::open_created(engine, ledger)?;
        store.refuse_changed_state()?;
        Self::with_store(engine, store, None)
    }

    /// The same without the lock, to look at what would be said next.
    fn open_read_only(engine: &'e Engine, ledger: &SessionLedger) -> Result<Self, RunError> {
        let store = RunStore::open_read_only(ledger)?;
        store.refuse_changed_state()?;
        Self::with_store(engine, store, None)
    }

    /// A run whose state file may be anything.
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
            // Looking calls no tool, so nothing is unpacked for it.
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

    /// Its id.
    pub fn id(&self) -> &str {
        &self.store.ledger.id
    }

    /// Its package, when there is one.
    pub fn package(&self) -> Option<&Package> {
        self.store.package.as_deref()
    }

    /// Where its package was read from, when there is one.
    pub fn package_path(&self) -> Option<PathBuf> {
        let package = self.store.setup().ok()?.package.as_ref()?;
        Some(self.engine.settings().project_root.join(&package.path))
    }

    /// The agent that is talked to, or works on the current node.
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

/// Where the package of a run may be: only the user who began the run typed its path, and adopting shows it.
fn package_reach(engine: &Engine, store: &RunStore) -> Reach {
    let lines = store.journal().lines();
    let problem = trust::problem(engine.settings(), LedgerKind::Run, &store.ledger.id, lines);
    // The lock is held only by who may act.
    if store.is_locked() || problem.is_none() { Reach::Anywhere } else { Reach::Project }
}

/// The package of a run, as it was when the run began; one that changed is refused.
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

/// Other paths that lead to the mounts: behind links, as a shell names them, and where the package came from.
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
    // A shell in a linked directory names it by the link.
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

/// Nobody who does not exist, and no person, is asked for a whole run.
fn refuse_provider(provider: &str, config: &Config) -> Result<(), RunError> {
    providers::refuse_unknown(provider, config, || "`--provider`".to_owned())?;
    if !providers::can_use_tools(provider, config) {
        return Err(RunError::PersonCannotAnswer { provider: provider.to_owned() });
    }
    Ok(())
}
