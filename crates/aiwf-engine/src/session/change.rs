//! Changes: begun, walked phase by phase or as a whole, and listed.
//!
//! A change is a session with other phases, so everything else is decided, performed and shown as for sessions.

use std::collections::BTreeMap;

use aiwf_config::{Approver, Config, ConfigFile, Flags, Gate, GateName, Origin};
use aiwf_session::{
    Agent, Approver as SessionApprover, ChangeSetup, Command, Flow, GateSetting, Phase, PhaseChoice, Setup,
    Step, decide,
};
use aiwf_store::Lock;
use serde_json::Map;

use super::change_prompt::check_patterns;
use super::create::Reach;
use super::decisions::Decided;
use super::directory::{self, SessionDirectory, Which, create_place};
use super::perform::Performed;
use super::report::SessionReport;
use super::snapshot::{self, SessionSummary};
use super::work::Work;
use crate::Engine;
use crate::ask::providers::{self, Duty};
use crate::every_core::map_on_every_core;
use crate::session_error::SessionError;

/// What a change is begun with.
#[derive(Clone, Debug, Default)]
pub struct NewChange {
    /// Its name, which is that of its directory.
    pub name: String,
    /// What to change.
    pub request: String,
    /// Patterns of files that every phase is shown, relative to the project; the user typed them.
    pub files: Vec<String>,
    /// Whether nobody has to say yes.
    pub opens_gates: bool,
}

/// What is said about a phase when it begins.
#[derive(Clone, Debug, Default)]
pub struct PhaseOptions {
    /// Who does the work: a family of agents, or a provider.
    pub agent: Option<String>,
    /// What else to do.
    pub instructions: Option<String>,
    /// Patterns of files to show, relative to the project.
    pub files: Vec<String>,
    /// Whether the agent may edit the project itself.
    pub may_write: bool,
    /// Whether nobody has to say yes in this phase.
    pub opens_gates: bool,
}

impl Engine {
    /// Begins a change; nothing is asked yet.
    pub fn create_change(&self, new: NewChange) -> Result<SessionReport, SessionError> {
        check_name(&new.name)?;
        if new.request.trim().is_empty() {
            return Err(SessionError::NoRequest);
        }
        check_patterns(self, &new.files, Reach::Anywhere)?;
        let config = providers::load_config(self.settings(), &Flags::default())?;
        let setup = setup(&new, &config)?;

        let place = create_place(self.settings(), Flow::Change)?;
        let lock = Lock::wait_in(&place)?;
        place.remove_leftovers();
        let directory = SessionDirectory::of_change(self.settings(), &new.name);
        if directory.path.exists() {
            return Err(SessionError::ChangeExists { name: new.name });
        }
        let unfinished = directory.unfinished();
        let begun = unfinished
            .create_in(&place)
            .and_then(|()| Work::open_created(self, unfinished.clone()))
            .and_then(|mut work| work.commit(Command::Create(Box::new(setup))))
            .and_then(|()| Ok(place.rename(&unfinished.name(), &directory.id)?));
        if let Err(error) = begun {
            drop(place.remove(&unfinished.name()));
            return Err(error);
        }
        drop(lock);
        self.session_report(Which::Change(&new.name))
    }

    /// Works on a phase until a person is needed or the phase is over.
    pub fn run_phase(
        &self,
        name: &str,
        phase: Phase,
        options: PhaseOptions,
    ) -> Result<Decided, SessionError> {
        let mut work = Work::open(self, directory::find(self.settings(), Which::Change(name))?)?;
        let agent = options.agent.map(|given| chosen_agent(&given, phase, work.config())).transpose()?;
        let choice = PhaseChoice {
            agent,
            instructions: options.instructions,
            files: options.files,
            may_write: options.may_write || (phase == Phase::Implement && work.config().change.write.value),
            opens_gates: options.opens_gates,
        };
        work.wake_up()?;
        let kept = work.begin_phase(phase, choice)?;
        for kept in &kept {
            work.tell(kept);
        }
        work.stop_after_phase();
        let performed = work.run_until_waiting()?;
        let performed = kept.into_iter().chain(performed).collect();
        Ok(Self::decided(&work, performed))
    }

    /// Walks through the phases until a person is needed or the change is complete.
    pub fn run_change(&self, name: &str, opens_gates: bool) -> Result<Decided, SessionError> {
        let mut work = Work::open(self, directory::find(self.settings(), Which::Change(name))?)?;
        work.refuse_cancelled()?;
        work.run_through();
        if opens_gates {
            work.commit(Command::OpenGates)?;
        }
        let performed = work.run_until_waiting()?;
        Ok(Self::decided(&work, performed))
    }

    /// Every change, the one that was worked on last first.
    pub fn list_changes(&self) -> Result<Vec<SessionSummary>, SessionError> {
        let names = directory::all_changes(self.settings())?;
        let mut summaries = map_on_every_core(&names, |name| {
            snapshot::summary(self.settings(), &SessionDirectory::of_change(self.settings(), name))
        });
        summaries
            .sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.session_id.cmp(&b.session_id)));
        Ok(summaries)
    }
}

impl Work<'_> {
    /// Waits when the phase the change is in now is over.
    fn stop_after_phase(&mut self) {
        self.stop_after = Some((self.state.phase, self.state.iteration));
    }

    /// Waits for no phase.
    fn run_through(&mut self) {
        self.stop_after = None;
    }

    /// Whether the phase is over that a command was for; the next one begins with a command of its own.
    pub(crate) fn is_phase_over(&self) -> bool {
        match (&self.state.step, self.stop_after) {
            (Step::PromptWanted { phase, iteration }, Some(last)) => last != (*phase, *iteration),
            _ => false,
        }
    }

    /// Takes up what is said about a phase; words that a person put into a waiting prompt are kept.
    fn begin_phase(&mut self, phase: Phase, choice: PhaseChoice) -> Result<Vec<Performed>, SessionError> {
        let by = self.person();
        let command = Command::BeginPhase { by, phase, choice: Box::new(choice) };
        // Nothing is looked at or copied for a phase that is refused.
        let events = decide(&self.state, command.clone())?;
        if let Command::BeginPhase { choice, .. } = &command {
            let reach = if self.is_own { Reach::Anywhere } else { Reach::Project };
            check_patterns(self.engine, &choice.files, reach)?;
        }
        let is_rebuilt = !events.is_empty() && self.state.step == Step::PromptReady;
        let edited = if is_rebuilt { self.edited_prompt_files() } else { Vec::new() };
        let kept = self.keep_rejected(&edited)?;
        if !events.is_empty() {
            self.commit(command)?;
        }
        Ok(kept.into_iter().map(|file| Performed::Kept { path: file.path }).collect())
    }
}

fn setup(new: &NewChange, config: &Config) -> Result<Setup, SessionError> {
    let mut agents = BTreeMap::new();
    for phase in Phase::CHANGE {
        let named = config.change.agents.get(phase.as_str());
        let provider = &named.unwrap_or(&config.roles.default).value;
        agents.insert(phase, agent_of(provider, phase, config)?);
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
        may_write: config.change.write.value,
        ..ChangeSetup::default()
    };
    let gates = gates(config, new.opens_gates);
    for (gate, setting) in &gates {
        if let SessionApprover::Ai(name) = &setting.approver {
            providers::refuse_unknown(name, config, || format!("gate `{gate}`"))?;
        }
    }
    Ok(Setup {
        session_id: new.name.clone(),
        profile: String::new(),
        profile_sha256: String::new(),
        context: Map::new(),
        roles: BTreeMap::new(),
        gates,
        max_iterations: config.change.max_rounds.value.get(),
        hash_prompts: config.session.hash_prompts.value,
        standards: None,
        inputs: Vec::new(),
        change: Some(Box::new(change)),
    })
}

/// The gates of a change that are not manual.
fn gates(config: &Config, opens_gates: bool) -> BTreeMap<String, GateSetting> {
    let setting = |gate: &Gate| GateSetting {
        approver: match &gate.approver {
            Approver::Manual => SessionApprover::Manual,
            Approver::Skip => SessionApprover::Skip,
            Approver::Ai(provider) => SessionApprover::Ai(provider.clone()),
        },
        max_retries: gate.max_retries,
        allow_rewrite: gate.allow_rewrite,
    };
    let is_of_change = |name: &GateName| {
        Phase::CHANGE.iter().any(|phase| name.as_str().split('.').next() == Some(phase.as_str()))
    };
    GateName::ALL
        .into_iter()
        .filter(is_of_change)
        .map(|name| {
            let gate = if opens_gates { GateSetting::SKIP } else { setting(&config.gates.get(name).value) };
            (name.as_str().to_owned(), gate)
        })
        .filter(|(_, gate)| *gate != GateSetting::MANUAL)
        .collect()
}

/// The agent that a flag names: a family stands for its program, any other name for a provider.
fn chosen_agent(given: &str, phase: Phase, config: &Config) -> Result<Agent, SessionError> {
    let provider = aiwf_provider::of_family(given).map_or(given, |family| family.name);
    providers::refuse_unknown(provider, config, || "`--agent`".to_owned())?;
    agent_of(provider, phase, config)
}

fn agent_of(provider: &str, phase: Phase, config: &Config) -> Result<Agent, SessionError> {
    let call = Work::call_name(phase, 1);
    let ability = providers::ability(provider, config, None, Duty::Read, &call)?;
    Ok(Agent { provider: provider.to_owned(), template: ability.template_agent.map(str::to_owned) })
}

/// The longest name of a change.
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
