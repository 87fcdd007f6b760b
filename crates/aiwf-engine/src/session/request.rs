//! Creates sessions from a request: resolves the flow, agents and gates, and copies the templates.

use std::collections::BTreeMap;

use aiwf_config::{Config, ConfigFile, Flags, Origin};
use aiwf_session::{
    Agent, Approver, ChangeSetup, Command, Delivery, FileHash, Flow, GatePattern, Phase, Role, Setup,
};
use aiwf_store::{Durability, sha256_hex};
use serde_json::Map;

use super::change_prompt::{check_patterns, flow_file};
use super::create::{Created, Reach, gates_of};
use super::open_session::OpenSession;
use super::perform::StepOutcome;
use crate::Engine;
use crate::ask::providers::{self, Duty};
use crate::ledger::{NewLedger, SessionLedger};
use crate::session::session_error::SessionError;
use crate::trust::LedgerKind;

/// The settings of a session without a profile.
#[derive(Clone, Debug, Default)]
pub struct NewRequest {
    pub flow: String,
    /// Free for another session once this one has ended.
    pub name: Option<String>,
    pub request: String,
    /// Patterns of files that every phase sees, relative to the project; typed by the user.
    pub files: Vec<String>,
    /// The provider of all phases; `None` for the providers in `[roles]`.
    pub provider: Option<String>,
    /// Gate settings from the command line.
    pub flags: Flags,
    /// Check commands typed by the user.
    pub checks: Vec<String>,
    /// Where the result is applied.
    pub delivery: Delivery,
    /// Whether agents edit the project directly instead of a worktree.
    pub in_place: bool,
}

/// A session that was just created.
pub(crate) struct StartedSession {
    pub(crate) id: String,
    pub(crate) warnings: Vec<String>,
}

impl Engine {
    /// Creates a session that follows a flow, and runs it until a decision is needed.
    pub fn start_flow(&self, new: &NewRequest) -> Result<Created, SessionError> {
        let begun = self.begin_request(new)?;
        let ledger = super::journal::find(self.settings(), Some(begun.id.as_str()))?;
        let mut session = OpenSession::open(self, ledger)?;
        session.continue_past_phase();
        let performed = session.run_until_waiting().map_err(|error| {
            // A session whose first prompt cannot be built is removed.
            if session.state.n_events == 1 {
                drop(session.ledger.remove());
                session.forget();
                return error.without_location();
            }
            error
        })?;
        Ok(Created { id: begun.id, performed, warnings: begun.warnings })
    }

    /// Creates a session that follows a flow and writes its first prompt, without asking a provider.
    pub fn begin_flow(&self, new: &NewRequest) -> Result<Created, SessionError> {
        let begun = self.begin_request(new)?;
        let ledger = super::journal::find(self.settings(), Some(begun.id.as_str()))?;
        let mut session = OpenSession::open(self, ledger)?;
        session.continue_past_phase();
        let performed = match session.step() {
            Ok(StepOutcome::Done(done)) => vec![done],
            Ok(StepOutcome::Waiting) => Vec::new(),
            // A session whose first prompt cannot be built is removed.
            Err(error) => {
                drop(session.ledger.remove());
                session.forget();
                return Err(error.without_location());
            }
        };
        Ok(Created { id: begun.id, performed, warnings: begun.warnings })
    }

    /// Creates a session from a request, without a prompt.
    pub(crate) fn begin_request(&self, new: &NewRequest) -> Result<StartedSession, SessionError> {
        if let Some(name) = &new.name {
            check_name(name)?;
        }
        if new.request.trim().is_empty() {
            return Err(SessionError::NoRequest);
        }
        let (found, flow, has_lost_gates) = self.flow_to_follow(&new.flow)?;
        if flow.needs_profile() {
            return Err(SessionError::FlowNeedsProfile { name: flow.name });
        }
        refuse_unknown_gates(&flow, &new.flags)?;
        check_patterns(self, &new.files, Reach::Anywhere)?;
        self.refuse_delivery(&new.delivery, &new.request)?;
        let config = providers::load_config(self.settings(), &new.flags)?;
        let mut warnings = Vec::new();
        if has_lost_gates {
            warnings.push(format!(
                "flow `{0}` comes with the project: its gates are manual and its loops have at most 3 rounds until `aiwf trust add flow {0}`",
                flow.name
            ));
        }
        let setup = setup(new, flow, &config)?;
        let creating = NewLedger::begin(self.settings(), LedgerKind::Change, "", new.name.as_deref())?;
        let ledger = creating.ledger();
        let inputs = keep_templates(ledger, &found.templates)?;
        let setup = Setup { session_id: ledger.id.clone(), inputs, ..setup };
        OpenSession::open_created(self, ledger.clone())?.commit(Command::Create(Box::new(setup)))?;
        Ok(StartedSession { id: creating.publish()?.id, warnings })
    }
}

/// Refuses gate flags that match no gate of the flow.
pub(super) fn refuse_unknown_gates(flow: &Flow, flags: &Flags) -> Result<(), SessionError> {
    let unknown = |pattern: &&GatePattern| !pattern.matches_any(flow);
    match flags.gates.keys().find(unknown) {
        Some(pattern) => Err(SessionError::NoSuchGate {
            pattern: pattern.to_string(),
            flow: flow.name.clone(),
            phases: flow.names().map(|phase| phase.to_string()).collect(),
        }),
        None => Ok(()),
    }
}

/// Copies the templates of the flow, so that a later edit does not change this session.
pub(super) fn keep_templates(
    ledger: &SessionLedger,
    templates: &BTreeMap<String, String>,
) -> Result<Vec<FileHash>, SessionError> {
    let texts = templates.values().map(String::as_bytes);
    ledger.keep_all(texts)?;
    let mut kept = Vec::new();
    for (name, text) in templates {
        let path = flow_file(name);
        ledger.files()?.write(&path, text.as_bytes(), Durability::PowerLoss)?;
        kept.push(FileHash { path, sha256: sha256_hex(text.as_bytes()) });
    }
    Ok(kept)
}

/// The setup of a session, before it has an id.
fn setup(new: &NewRequest, flow: Flow, config: &Config) -> Result<Setup, SessionError> {
    let max_rounds = &config.change.max_rounds;
    // The user's setting applies to every flow; without one the flow decides.
    let flow = match max_rounds.origin {
        Origin::Default => flow,
        Origin::File { .. } | Origin::Flag(_) => flow.capped(max_rounds.value.get()),
    };
    let mut agents = BTreeMap::new();
    let mut roles: BTreeMap<Role, String> = BTreeMap::new();
    for spec in &flow.phases {
        let agent = if let Some(given) = &new.provider {
            chosen_agent(given, spec.name, config)?
        } else {
            let named = config.change.agents.get(spec.name.as_str()).filter(|_| flow.waits);
            let provider = named.unwrap_or_else(|| config.roles.get(spec.role));
            providers::refuse_unknown(&provider.value, config, || format!("role `{}`", spec.role.as_str()))?;
            agent_of(&provider.value, spec.name, config)?
        };
        roles.insert(spec.role, agent.provider.clone());
        agents.insert(spec.name, agent);
    }
    let mut files = Vec::new();
    let mut project_files = Vec::new();
    if let Some(configured) = &config.change.files {
        let is_projects = matches!(configured.origin, Origin::File { file: ConfigFile::Project, .. });
        let of_configuration = if is_projects { &mut project_files } else { &mut files };
        of_configuration.clone_from(&configured.value);
    }
    files.extend(new.files.iter().filter(|pattern| !files.contains(pattern)).cloned().collect::<Vec<_>>());
    let change = ChangeSetup {
        request: new.request.clone(),
        files,
        project_files,
        agents,
        may_write: new.in_place || config.change.write.value,
        checks: new.checks.clone(),
        delivery: new.delivery.clone(),
        ..ChangeSetup::default()
    };
    let gates = gates_of(&flow, config);
    for (gate, setting) in &gates {
        if let Approver::Ai(name) = &setting.approver {
            providers::refuse_unknown(name, config, || format!("gate `{gate}`"))?;
        }
    }
    let max_iterations = flow.phases.iter().filter_map(|spec| spec.max_rounds).max().unwrap_or(1);
    Ok(Setup {
        session_id: String::new(),
        name: new.name.clone(),
        flow: Some(Box::new(flow)),
        profile: String::new(),
        profile_sha256: String::new(),
        context: Map::new(),
        roles,
        agents: BTreeMap::new(),
        gates,
        max_iterations,
        hash_prompts: config.session.hash_prompts.value,
        standards: None,
        inputs: Vec::new(),
        left_out: Vec::new(),
        change: Some(Box::new(change)),
    })
}

/// The agent that a flag names: a family means its program, any other name a provider.
pub(crate) fn chosen_agent(given: &str, phase: Phase, config: &Config) -> Result<Agent, SessionError> {
    let provider = aiwf_provider::of_family(given).map_or(given, |family| family.name);
    providers::refuse_unknown(provider, config, || "`--provider`".to_owned())?;
    agent_of(provider, phase, config)
}

fn agent_of(provider: &str, phase: Phase, config: &Config) -> Result<Agent, SessionError> {
    let call = OpenSession::call_name(phase, 1);
    let ability = providers::ability(provider, config, None, Duty::Read, &call)?;
    Ok(Agent { provider: provider.to_owned(), template: ability.template_agent.map(str::to_owned) })
}

/// The longest name of a session.
const MAX_NAME: usize = 64;
/// Names with another meaning, here or on some systems.
const RESERVED: [&str; 7] = ["latest", "con", "prn", "aux", "nul", "com1", "lpt1"];

/// A session's name must be a valid directory name on every system.
fn check_name(name: &str) -> Result<(), SessionError> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX_NAME {
        "it is longer than 64 characters"
    } else if !name.chars().all(is_plain) {
        "it contains characters other than letters, digits, `-`, `_` and `.`"
    } else if name.starts_with(['.', '-']) || name.ends_with('.') {
        "it starts with `.` or `-`, or ends with `.`"
    } else if RESERVED.contains(&name.split('.').next().unwrap_or_default().to_ascii_lowercase().as_str()) {
        "it is reserved"
    } else {
        return Ok(());
    };
    Err(SessionError::ChangeName { name: name.to_owned(), why })
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn a_name_is_that_of_a_directory_on_every_system() {
        for good in ["login", "v1.2-rc_3", "A", "7"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        let long = "x".repeat(65);
        for bad in ["", ".", "..", "a/b", "a b", "-x", ".x", "x.", "ä", "latest", "NUL", "con.txt", &long] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
