//! A session that begins with a request: the flow is found, agents and gates are settled, templates are kept.

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

/// What a session begins with that follows a flow without a profile.
#[derive(Clone, Debug, Default)]
pub struct NewRequest {
    /// The flow.
    pub flow: String,
    /// What to call the session; free again once it has ended.
    pub name: Option<String>,
    /// What to do.
    pub request: String,
    /// Patterns of files that every phase is shown, relative to the project; the user typed them.
    pub files: Vec<String>,
    /// Who does the work of every phase; as `[roles]` says when not set.
    pub provider: Option<String>,
    /// What the command line says about gates.
    pub flags: Flags,
    /// Check commands that the user typed.
    pub checks: Vec<String>,
    /// Where the result goes when the session is applied.
    pub delivery: Delivery,
    /// Whether an agent edits the project itself instead of a worktree.
    pub in_place: bool,
}

/// A session that has begun.
pub(crate) struct StartedSession {
    pub(crate) id: String,
    pub(crate) warnings: Vec<String>,
}

impl Engine {
    /// Starts a session that follows a flow, and goes on until a decision is needed.
    pub fn start_flow(&self, new: &NewRequest) -> Result<Created, SessionError> {
        let begun = self.begin_request(new)?;
        let ledger = super::journal::find(self.settings(), Some(begun.id.as_str()))?;
        let mut session = OpenSession::open(self, ledger)?;
        session.continue_past_phase();
        let performed = session.run_until_waiting().map_err(|error| {
            // A session whose first prompt cannot be built has not begun.
            if session.state.n_events == 1 {
                drop(session.ledger.remove());
                session.forget();
                return error.without_location();
            }
            error
        })?;
        Ok(Created { id: begun.id, performed, warnings: begun.warnings })
    }

    /// Begins a session that follows a flow: its first prompt is written, and nobody is asked.
    pub fn begin_flow(&self, new: &NewRequest) -> Result<Created, SessionError> {
        let begun = self.begin_request(new)?;
        let ledger = super::journal::find(self.settings(), Some(begun.id.as_str()))?;
        let mut session = OpenSession::open(self, ledger)?;
        session.continue_past_phase();
        let performed = match session.step() {
            Ok(StepOutcome::Done(done)) => vec![done],
            Ok(StepOutcome::Waiting) => Vec::new(),
            // A session whose first prompt cannot be built has not begun.
            Err(error) => {
                drop(session.ledger.remove());
                session.forget();
                return Err(error.without_location());
            }
        };
        Ok(Created { id: begun.id, performed, warnings: begun.warnings })
    }

    /// Begins a session with a request; nothing is asked yet.
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

/// A gate that a flag names and the flow does not have is a mistake.
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

/// Keeps the templates of the flow as they are now: a later edit does not change a session that follows it.
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

/// The setup of a session that has no id yet.
fn setup(new: &NewRequest, flow: Flow, config: &Config) -> Result<Setup, SessionError> {
    let max_rounds = &config.change.max_rounds;
    // What the user set counts for every flow; what nobody set is the flow's business.
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
        change: Some(Box::new(change)),
    })
}

/// The agent that a flag names: a family stands for its program, any other name for a provider.
pub(super) fn chosen_agent(given: &str, phase: Phase, config: &Config) -> Result<Agent, SessionError> {
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
/// Names that mean something else, here or on some systems.
const RESERVED: [&str; 7] = ["latest", "con", "prn", "aux", "nul", "com1", "lpt1"];

/// A name is that of a directory on every system.
fn check_name(name: &str) -> Result<(), SessionError> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX_NAME {
        "it is longer than 64 characters"
    } else if !name.chars().all(is_plain) {
        "it holds something else than letters, digits, `-`, `_` and `.`"
    } else if name.starts_with(['.', '-']) || name.ends_with('.') {
        "it begins with `.` or `-`, or ends with `.`"
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
