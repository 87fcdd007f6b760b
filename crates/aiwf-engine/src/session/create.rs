//! A new session: parameters settled, standards and inputs kept, the first event written, the first prompt ready.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aiwf_config::{Config, Flags, Gate};
use aiwf_session::{Approver, Command, FileHash, Flow, GatePattern, GateSetting, Phase, Role, Setup, Stage};
use aiwf_store::{Durability, sha256_hex};
use serde_json::{Map, Value};

use super::open_session::OpenSession;
use super::perform::Performed;
use super::request::{keep_templates, refuse_unknown_gates};
use crate::Engine;
use crate::ask::providers;
use crate::catalog::{flows, profiles};
use crate::error::EngineError;
use crate::ledger::{NewLedger, SessionLedger};
use crate::prompt::read::{is_written_outside, resolve_below};
use crate::session::session_error::SessionError;
use crate::trust::LedgerKind;

/// What a session is created from.
#[derive(Clone, Debug, Default)]
pub struct NewSession {
    /// The profile.
    pub profile: String,
    /// What was given for its parameters, by name.
    pub given: Map<String, Value>,
    /// The provider of each role; `manual` for those not named.
    pub roles: BTreeMap<Role, String>,
    /// The gates that are not manual, by `phase.stage`.
    pub gates: BTreeMap<String, GateSetting>,
    /// How many iterations there may be.
    pub max_iterations: u32,
    /// Whether edited prompts count as changed after approval.
    pub hash_prompts: bool,
    /// Where the files may lie that parameters name.
    pub reach: Reach,
}

/// Where the files of parameters may lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Wherever the person who named them can read; what nobody named is in the project.
    #[default]
    Anywhere,
    /// In the project, links resolved: for whoever must not see more of the machine.
    Project,
}

/// A session that was created.
#[derive(Debug)]
pub struct Created {
    /// Its id.
    pub id: String,
    /// What was done for it.
    pub performed: Vec<Performed>,
    /// What to know about it.
    pub warnings: Vec<String>,
}

impl Engine {
    /// What a session of a profile is created from, with the roles, gates and limits that are configured.
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

    /// Creates a session and writes its first prompt; when that fails, nothing is left behind.
    pub fn create_session(&self, new: NewSession) -> Result<Created, SessionError> {
        let profile = profiles::find(self.settings(), &new.profile)?;
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let (flow, templates) = flows::of_profile(&profile)?;
        let flow = flow.capped(new.max_iterations.max(1));
        for (role, name) in &new.roles {
            providers::refuse_unknown(name, &config, || format!("role `{}`", role.as_str()))?;
            self.open_provider(name, &config)?;
        }
        for (gate, setting) in &new.gates {
            if let Approver::Ai(name) = &setting.approver {
                providers::refuse_unknown(name, &config, || format!("gate `{gate}`"))?;
                self.open_provider(name, &config)?;
            }
        }
        let root = &self.settings().project_root;
        let files = profile
            .wanted_files(&new.given)
            .into_iter()
            .map(|wanted| {
                let path = root.join(&wanted.path);
                // A default is the profile's word, and nobody typed it.
                let confined = match new.reach {
                    Reach::Anywhere if wanted.is_given => Ok(path),
                    Reach::Anywhere | Reach::Project => below_project(root, &path),
                };
                let bytes = confined.and_then(|path| {
                    crate::prompt::read::read_bytes(&path).map_err(|error| {
                        if let EngineError::Unreadable { path, source } = &error {
                            unreadable(path, source)
                        } else {
                            error.to_string()
                        }
                    })
                });
                (wanted.key, bytes)
            })
            .collect();
        let settled = profile
            .settle(&new.given, &files)
            .map_err(|problems| SessionError::Params { profile: new.profile.clone(), problems })?;
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
            change: None,
        };
        OpenSession::open_created(self, ledger.clone())?.commit(Command::Create(Box::new(setup)))?;
        let ledger = creating.publish()?;
        let mut session = OpenSession::open_created(self, ledger.clone())?;
        let performed = session.run_until_waiting().map_err(|error| {
            // A session whose first prompt cannot be built has not begun.
            if session.state.n_events == 1 {
                drop(ledger.remove());
                session.forget();
                return error.without_location();
            }
            error
        })?;
        Ok(Created { id: ledger.id, performed, warnings: Vec::new() })
    }
}

/// Why a file cannot be read; for one that is missing, with the directory it was looked for in.
fn unreadable(path: &Path, source: &std::io::Error) -> String {
    match path.parent() {
        Some(directory) if source.kind() == std::io::ErrorKind::NotFound => {
            format!("no such file in `{}`", directory.display())
        }
        _ => source.to_string(),
    }
}

/// The real path of a file, when it lies in the project; the reason why not says nothing of what is outside.
fn below_project(root: &Path, path: &Path) -> Result<PathBuf, String> {
    match resolve_below(root, path) {
        Ok(Some(resolved)) => Ok(resolved),
        Ok(None) => Err("it is not in the project".to_owned()),
        Err(_) if is_written_outside(root, path) => Err("it is not in the project".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The gates of a flow that are not manual: as flags and files decide, else as the flow does.
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

/// Writes what a session keeps from its beginning: the standards and the inputs.
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
