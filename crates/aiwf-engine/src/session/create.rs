//! Creates a session: checks parameters, stores standards and inputs, records the first event, and writes the first
//! prompt.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aiwf_config::{Config, Flags, Gate};
use aiwf_profile::{Profile, ReadFile, Settled};
use aiwf_session::{Approver, Command, FileHash, Flow, GatePattern, GateSetting, Phase, Role, Setup, Stage};
use aiwf_store::{Durability, sha256_hex};
use serde_json::{Map, Value};

use super::open_session::OpenSession;
use super::perform::Performed;
use super::project_files::MatchedFiles;
use super::request::{keep_templates, refuse_unknown_gates};
use crate::Engine;
use crate::ask::providers;
use crate::catalog::{flows, profiles};
use crate::error::EngineError;
use crate::ledger::{NewLedger, SessionLedger};
use crate::prompt::read::{is_written_outside, resolve_below};
use crate::session::session_error::SessionError;
use crate::trust::LedgerKind;

/// The settings of a new profile session.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    pub profile: String,
    /// Parameter values by name.
    pub given: Map<String, Value>,
    /// The provider of each role; `manual` by default.
    pub roles: BTreeMap<Role, String>,
    /// By `phase.stage`; all other gates are manual.
    pub gates: BTreeMap<String, GateSetting>,
    /// Maximum number of iterations.
    pub max_iterations: u32,
    /// Whether an edit after approval makes a prompt stale.
    pub hash_prompts: bool,
    /// Where parameters may read files.
    pub reach: Reach,
}

/// Where parameters may read files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere for paths typed by a person; default values only inside the project.
    #[default]
    Anywhere,
    /// Only inside the project, with links resolved: for MCP clients.
    Project,
}

/// A new session.
#[derive(Debug)]
pub struct Created {
    pub id: String,
    pub performed: Vec<Performed>,
    pub warnings: Vec<String>,
}

impl Engine {
    /// The settings of a new profile session, with configured roles, gates and limits.
    pub fn new_session(
        &self,
        profile: &str,
        given: Map<String, Value>,
        flags: &Flags,
    ) -> Result<NewSession, SessionError> {
        let config = Config::load(self.settings(), flags)?;
        let (flow, _) = flows::of_profile(&profiles::find(self.settings(), profile)?)?;
        refuse_unknown_gates(&flow, flags)?;
        Ok(NewSession {
            profile: profile.to_owned(),
            given,
            roles: flow
                .phases
                .iter()
                .map(|spec| (spec.role, config.roles.get(spec.role).value.clone()))
                .collect(),
            gates: gates_of(&flow, &config),
            max_iterations: config.session.max_iterations.value.get(),
            hash_prompts: config.session.hash_prompts.value,
            reach: Reach::Anywhere,
        })
    }

    /// Creates a session and writes its first prompt. If that fails, nothing is left behind.
    pub fn create_session(&self, new: NewSession) -> Result<Created, SessionError> {
        let profile = profiles::find(self.settings(), &new.profile)?;
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let (flow, templates) = flows::of_profile(&profile)?;
        let flow = flow.capped(new.max_iterations.max(1));
        self.refuse_missing_providers(&new, &config)?;
        let files = self.read_wanted(&profile, &new);
        let MatchedFiles { matched, left_out, mut problems } = self.matched_files(&profile, &new.given);
        let settled = profile.settle(&new.given, &files, &matched).unwrap_or_else(|others| {
            problems.splice(0..0, others);
            Settled::default()
        });
        if !problems.is_empty() {
            return Err(SessionError::Params { profile: new.profile, problems });
        }
        let of_project = crate::prompt::gather::project_standards(self.settings(), &config)?;
        let standards = profile.standards(&settled.context, &of_project)?.unwrap_or_default();

        let creating = NewLedger::begin(self.settings(), LedgerKind::Session, "", None)?;
        let ledger = creating.ledger();
        let (standards, mut inputs) = fill(ledger, &standards, &settled.inputs)?;
        inputs.extend(keep_templates(ledger, &templates)?);
        let setup = Setup {
            session_id: ledger.id.clone(),
            name: None,
            flow: Some(Box::new(flow)),
            profile: new.profile,
            profile_sha256: profile.hash().to_string(),
            context: settled.context,
            roles: new.roles,
            agents: BTreeMap::new(),
            gates: new.gates,
            max_iterations: new.max_iterations.max(1),
            hash_prompts: new.hash_prompts,
            standards: Some(standards),
            inputs,
            left_out,
            change: None,
        };
        OpenSession::open_created(self, ledger.clone())?.commit(Command::Create(Box::new(setup)))?;
        let ledger = creating.publish()?;
        let mut session = OpenSession::open_created(self, ledger.clone())?;
        let performed = session.run_until_waiting().map_err(|error| {
            // A session whose first prompt cannot be built is removed.
            if session.state.n_events == 1 {
                drop(ledger.remove());
                session.forget();
                return error.without_location();
            }
            error
        })?;
        Ok(Created { id: ledger.id, performed, warnings: Vec::new() })
    }

    /// Refuses a session whose roles or gates name a provider that cannot be asked.
    fn refuse_missing_providers(&self, new: &NewSession, config: &Config) -> Result<(), SessionError> {
        for (role, name) in &new.roles {
            providers::refuse_unknown(name, config, || format!("role `{}`", role.as_str()))?;
            self.open_provider(name, config)?;
        }
        for (gate, setting) in &new.gates {
            if let Approver::Ai(name) = &setting.approver {
                providers::refuse_unknown(name, config, || format!("gate `{gate}`"))?;
                self.open_provider(name, config)?;
            }
        }
        Ok(())
    }

    /// The files that the parameters name, each read or with the reason why not.
    fn read_wanted(&self, profile: &Profile, new: &NewSession) -> BTreeMap<String, ReadFile> {
        let root = &self.settings().project_root;
        let read = |path: PathBuf| {
            crate::prompt::read::read_bytes(&path).map_err(|error| {
                if let EngineError::Unreadable { path, source } = &error {
                    unreadable(path, source)
                } else {
                    error.to_string()
                }
            })
        };
        let wanted = profile.wanted_files(&new.given).into_iter();
        wanted
            .map(|wanted| {
                let path = root.join(&wanted.path);
                // A default value comes from the profile, not from the user.
                let confined = match new.reach {
                    Reach::Anywhere if wanted.is_given => Ok(path),
                    Reach::Anywhere | Reach::Project => below_project(root, &path),
                };
                (wanted.key, confined.and_then(read))
            })
            .collect()
    }
}

/// Why a file cannot be read. For a missing file, names the directory that was searched.
fn unreadable(path: &Path, source: &std::io::Error) -> String {
    match path.parent() {
        Some(directory) if source.kind() == std::io::ErrorKind::NotFound => {
            format!("no such file in `{}`", directory.display())
        }
        _ => source.to_string(),
    }
}

/// The real path of a file inside the project. The error says nothing about what is outside.
fn below_project(root: &Path, path: &Path) -> Result<PathBuf, String> {
    match resolve_below(root, path) {
        Ok(Some(resolved)) => Ok(resolved),
        Ok(None) => Err("it is not in the project".to_owned()),
        Err(_) if is_written_outside(root, path) => Err("it is not in the project".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The gates of a flow that are not manual. Flags and configuration override the flow.
pub(super) fn gates_of(flow: &Flow, config: &Config) -> BTreeMap<String, GateSetting> {
    let setting = |gate: &Gate| GateSetting {
        approver: match &gate.approver {
            aiwf_config::Approver::Manual => Approver::Manual,
            aiwf_config::Approver::Skip => Approver::Skip,
            aiwf_config::Approver::Ai(provider) => Approver::Ai(provider.clone()),
        },
        max_retries: gate.max_retries,
        allow_rewrite: gate.allow_rewrite,
    };
    let of_flow = |phase: Phase, stage: Stage| {
        let about = flow.gates.iter().filter_map(|(pattern, gate)| {
            let pattern = GatePattern::parse(pattern)?;
            pattern.matches(phase, stage).then(|| (pattern.specificity(), gate.clone()))
        });
        about.max_by_key(|(specificity, _)| *specificity).map(|(_, gate)| gate)
    };
    let gate = |phase: Phase, stage: Stage| {
        let decided = config.gates.decided(phase, stage).map(|gate| setting(&gate.value));
        decided.or_else(|| of_flow(phase, stage)).unwrap_or(GateSetting::MANUAL)
    };
    flow.names()
        .flat_map(|phase| Stage::ALL.map(|stage| (phase, stage)))
        .map(|(phase, stage)| (format!("{phase}.{}", stage.as_str()), gate(phase, stage)))
        .filter(|(_, gate)| *gate != GateSetting::MANUAL)
        .collect()
}

/// Stores the standards and inputs of a new session.
fn fill(
    ledger: &SessionLedger,
    standards: &str,
    inputs: &BTreeMap<String, String>,
) -> Result<(FileHash, Vec<FileHash>), SessionError> {
    let texts = std::iter::once(standards).chain(inputs.values().map(String::as_str));
    ledger.keep_all(texts.map(str::as_bytes))?;
    let bundle = write(ledger, "standards-bundle.md", standards)?;
    let inputs = inputs
        .iter()
        .map(|(key, text)| write(ledger, &format!("inputs/{key}"), text))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((bundle, inputs))
}

fn write(ledger: &SessionLedger, relative: &str, text: &str) -> Result<FileHash, SessionError> {
    ledger.files()?.write(relative, text.as_bytes(), Durability::PowerLoss)?;
    Ok(FileHash { path: relative.to_owned(), sha256: sha256_hex(text.as_bytes()) })
}
