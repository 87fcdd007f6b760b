//! Shows what trusting a foreign session, change or run would allow, and adopts it.

use std::collections::BTreeSet;

use aiwf_config::Settings;
use aiwf_session::{Approver, Event, GateSetting, Setup, State};
use aiwf_store::{Line, RecordMatch};
use serde::Serialize;
use serde_json::Value;

use super::{LedgerKind, records};
use crate::Engine;
use crate::ledger::{Candidates, Scope, resolve};
use crate::run::RunEvent;
use crate::session::session_error::SessionError;
use crate::trust::trust_error::TrustError;

/// Enough to see that something is wrong.
const MAX_PATHS: usize = 20;

/// What adopting a session, change or run would trust.
#[derive(Clone, Debug, Serialize)]
pub struct Adoption {
    #[serde(serialize_with = "as_text")]
    pub kind: LedgerKind,
    pub id: String,
    /// Whether it is the user's own, so that there is nothing to adopt.
    pub is_trusted: bool,
    /// Another problem: a journal that lost events the user saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The profile, the request or the package.
    pub about: String,
    pub created_at: String,
    /// The people who made decisions, as its journal names them.
    pub people: Vec<String>,
    pub providers: Vec<String>,
    /// Gates that do not ask a person.
    pub gates: Vec<AdoptionGate>,
    pub phase: String,
    pub events: usize,
    pub last_event: String,
    pub updated_at: String,
    /// Paths in it that are outside of the session and the project.
    pub outside_paths: Vec<String>,
    /// SHA-256 of its last event, which identifies what is adopted.
    pub sha256: String,
}

/// A gate that does not ask a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdoptionGate {
    pub gate: String,
    /// `skip`, or `ai:PROVIDER`.
    pub approver: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn as_text<S: serde::Serializer>(kind: &LedgerKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}

enum FoundLedger {
    Session(LedgerKind, String, Vec<Line<Event>>),
    Run(String, Vec<Line<RunEvent>>),
}

impl Engine {
    /// What adopting a session, a change or a run would trust; changes nothing.
    pub fn adoption(&self, given: &str) -> Result<Adoption, SessionError> {
        Ok(match find(self.settings(), given)? {
            FoundLedger::Session(kind, id, lines) => {
                let state = State::fold(lines.iter().map(|line| &line.event));
                let mut adoption = self.describe(kind, id, &lines);
                if let Some(setup) = &state.setup {
                    describe_session(&mut adoption, setup, &state);
                }
                adoption
            }
            FoundLedger::Run(id, lines) => {
                let mut adoption = self.describe(LedgerKind::Run, id, &lines);
                describe_run(&mut adoption, &lines);
                adoption
            }
        })
    }

    /// Adopts exactly what was shown: from now on every command may act on it.
    pub fn adopt(&self, shown: &Adoption) -> Result<(), SessionError> {
        let records = records(self.settings(), shown.kind).ok_or(TrustError::NoPlace)?;
        let root = &self.settings().project_root;
        let changed = || TrustError::ChangedMeanwhile { kind: shown.kind, id: shown.id.clone() };
        match find(self.settings(), &shown.id)? {
            FoundLedger::Session(kind, id, lines) if kind == shown.kind => {
                if lines.last().is_none_or(|line| line.sha256 != shown.sha256) {
                    return Err(changed().into());
                }
                records.remember(&id, &lines, root, true).map_err(TrustError::from)?;
            }
            FoundLedger::Run(id, lines) if shown.kind == LedgerKind::Run => {
                if lines.last().is_none_or(|line| line.sha256 != shown.sha256) {
                    return Err(changed().into());
                }
                records.remember(&id, &lines, root, true).map_err(TrustError::from)?;
            }
            FoundLedger::Session(..) | FoundLedger::Run(..) => return Err(changed().into()),
        }
        Ok(())
    }

    fn describe<E: Serialize>(&self, kind: LedgerKind, id: String, lines: &[Line<E>]) -> Adoption {
        let standing = records(self.settings(), kind).map(|records| records.standing(&id, lines));
        let problem = super::problem(self.settings(), kind, &id, lines)
            .filter(|problem| matches!(problem, TrustError::Short { .. } | TrustError::Different { .. }));
        let mut named = NamedInJournal::default();
        for line in lines {
            if let Ok(event) = serde_json::to_value(&line.event) {
                named.collect(None, &event);
            }
        }
        let last_event = lines.last().and_then(|line| serde_json::to_value(&line.event).ok());
        let last_event = last_event.and_then(|event| Some(event.get("event")?.as_str()?.to_owned()));
        Adoption {
            kind,
            id,
            is_trusted: matches!(standing, Some(RecordMatch::Known(_))),
            problem: problem.map(|problem| problem.to_string()),
            about: String::new(),
            created_at: lines.first().map(|line| line.at.clone()).unwrap_or_default(),
            people: named.people.into_iter().collect(),
            providers: Vec::new(),
            gates: Vec::new(),
            phase: String::new(),
            events: lines.len(),
            last_event: last_event.unwrap_or_default(),
            updated_at: lines.last().map(|line| line.at.clone()).unwrap_or_default(),
            outside_paths: named.outside.into_iter().take(MAX_PATHS).collect(),
            sha256: lines.last().map(|line| line.sha256.clone()).unwrap_or_default(),
        }
    }
}

fn describe_session(adoption: &mut Adoption, setup: &Setup, state: &State) {
    adoption.about = match &setup.change {
        Some(change) => change.request.clone(),
        None => format!("profile {}", setup.profile),
    };
    let mut providers: BTreeSet<String> = setup.roles.values().cloned().collect();
    if let Some(change) = &setup.change {
        providers = change.agents.values().map(|agent| agent.provider.clone()).collect();
    }
    for (gate, setting) in &setup.gates {
        let GateSetting { approver, .. } = setting;
        let approver = match approver {
            Approver::Manual => continue,
            Approver::Skip => "skip".to_owned(),
            Approver::Ai(provider) => {
                providers.insert(provider.clone());
                format!("ai:{provider}")
            }
        };
        adoption.gates.push(AdoptionGate { gate: gate.clone(), approver });
    }
    adoption.providers = providers.into_iter().collect();
    state.phase.as_str().clone_into(&mut adoption.phase);
}

fn describe_run(adoption: &mut Adoption, lines: &[Line<RunEvent>]) {
    let Some(RunEvent::RunCreated { setup }) = lines.first().map(|line| &line.event) else { return };
    adoption.about = match &setup.package {
        Some(package) => format!("package {} ({})", package.name, package.path),
        None => "a conversation without a package".to_owned(),
    };
    adoption.providers = vec![setup.provider.clone()];
    setup.kind.as_str().clone_into(&mut adoption.phase);
}

/// Finds a session, change or run by what the user typed.
fn find(settings: &Settings, given: &str) -> Result<FoundLedger, SessionError> {
    let given = given.to_owned();
    #[expect(clippy::wildcard_enum_match_arm, reason = "two errors have words of their own here")]
    let ledger =
        resolve(settings, Some(&given), Scope::Any, Candidates::All).map_err(|error| match error {
            SessionError::NoSession { given } => TrustError::Unknown { given }.into(),
            SessionError::AmbiguousSession { given, matching } => {
                SessionError::from(TrustError::Ambiguous { given, matching })
            }
            error => error,
        })?;
    Ok(match ledger.kind() {
        LedgerKind::Run => FoundLedger::Run(ledger.id.clone(), ledger.run_journal()?.lines().to_vec()),
        kind @ (LedgerKind::Session | LedgerKind::Change) => {
            FoundLedger::Session(kind, ledger.id.clone(), ledger.journal()?.lines().to_vec())
        }
    })
}

/// Values in the events of a journal.
#[derive(Default)]
struct NamedInJournal {
    people: BTreeSet<String>,
    outside: BTreeSet<String>,
}

impl NamedInJournal {
    fn collect(&mut self, key: Option<&str>, value: &Value) {
        match value {
            Value::Object(map) => {
                // Files of single phases are stored by phase.
                let is_by_phase = key == Some("phase_files");
                for (key, value) in map {
                    self.collect(Some(if is_by_phase { "files" } else { key }), value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(key, item)),
            Value::String(text) => match key {
                Some("person" | "user") => {
                    self.people.insert(text.clone());
                }
                Some("path" | "target" | "dir" | "root" | "files" | "project_files" | "patterns")
                    if leads_out(text) =>
                {
                    self.outside.insert(text.clone());
                }
                _ => {}
            },
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn leads_out(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|part| part == "..")
}
