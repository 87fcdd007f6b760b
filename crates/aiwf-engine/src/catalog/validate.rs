//! Checks what sessions build on: profiles, standards, providers, configuration.

use aiwf_config::{Config, Flags};
use aiwf_profile::ProjectStandards;
use aiwf_session::{Flow, FlowProblem, Phase, Role};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::ask::providers;
use crate::prompt::gather::project_standards;
use crate::{Engine, FoundFlow};

/// One thing that was checked.
#[derive(Clone, Debug, Serialize)]
pub struct Validation {
    /// What kind of thing.
    pub what: &'static str,
    /// Its name.
    pub name: String,
    /// Whether it can be used.
    pub passed: bool,
    /// What is wrong or doubtful.
    pub findings: Vec<Finding>,
    /// What was looked at and is well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<String>,
}

/// Something wrong or doubtful.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What it is.
    pub message: String,
}

impl Validation {
    fn new(what: &'static str, name: impl Into<String>, findings: Vec<String>) -> Self {
        Self {
            what,
            name: name.into(),
            passed: findings.is_empty(),
            findings: findings.into_iter().map(|message| Finding { message }).collect(),
            found: Vec::new(),
        }
    }
}

impl Engine {
    /// Loads and lints every profile.
    pub fn validate_profiles(&self) -> Vec<Validation> {
        let check = |found: crate::FoundProfile| {
            let findings = match &found.profile {
                Ok(profile) => {
                    profile.lint().iter().map(|one| format!("{one}\nhint: {}", one.check.hint())).collect()
                }
                Err(fault) => vec![format!("{}\nhint: {}", fault.message, fault.hint)],
            };
            Validation::new("profile", found.name, findings)
        };
        self.profiles().into_iter().map(check).collect()
    }

    /// Builds the standards of every profile in every scope.
    pub fn validate_standards(&self) -> Vec<Validation> {
        let of_project = providers::load_config(self.settings(), &Flags::default())
            .and_then(|config| Ok(project_standards(self.settings(), &config)?));
        let (of_project, mut validations) = match of_project {
            Ok(of_project) => (of_project, Vec::new()),
            Err(error) => {
                let finding = match error.hint() {
                    Some(hint) => format!("{error}\nhint: {hint}"),
                    None => error.to_string(),
                };
                let broken = Validation::new("standards", "of the project", vec![finding]);
                (ProjectStandards::default(), vec![broken])
            }
        };
        let profiles = self.profiles();
        if !of_project.is_empty() {
            let names = profiles
                .iter()
                .filter_map(|found| {
                    Some((found.name.clone(), found.profile.as_ref().ok()?.standards_files()))
                })
                .collect();
            let doubts = of_project.doubts(&names);
            let findings = doubts.iter().map(|doubt| format!("{doubt}\nhint: {}", doubt.hint)).collect();
            let found = of_project.files.iter().map(|file| file.source.clone()).collect();
            validations
                .push(Validation { found, ..Validation::new("standards", "of the project", findings) });
        }
        for found in profiles {
            let Ok(profile) = found.profile else { continue };
            let scopes: Vec<Option<String>> = if profile.scopes().is_empty() {
                vec![None]
            } else {
                profile.scopes().iter().map(|scope| Some(scope.name.clone())).collect()
            };
            for scope in scopes {
                let mut context = Map::new();
                if let Some(scope) = &scope {
                    context.insert("scope".to_owned(), Value::from(scope.as_str()));
                }
                let findings = match profile.standards(&context, &of_project) {
                    Ok(_) => Vec::new(),
                    Err(error) => vec![format!("{error}\nhint: {}", error.hint())],
                };
                let name = scope.map_or(found.name.clone(), |scope| format!("{} {scope}", found.name));
                validations.push(Validation::new("standards", name, findings));
            }
        }
        validations
    }

    /// Checks every flow, and the flows that profiles bring.
    pub fn validate_flows(&self) -> Vec<Validation> {
        let flows = match self.flows() {
            Ok(flows) => flows,
            Err(error) => return vec![Validation::new("flows", "all", vec![error.to_string()])],
        };
        let finding = |path: &str, problem: &FlowProblem| {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("{path}{line}: {}\nhint: {}", problem.message, problem.hint)
        };
        let check = |found: FoundFlow| {
            let problems = found.flow.as_ref().err().into_iter().flatten();
            let findings = problems.map(|problem| finding(&found.path, problem)).collect();
            Validation::new("flow", found.name, findings)
        };
        let of_profiles = self.profiles().into_iter().filter_map(|found| {
            let error = crate::catalog::flows::of_profile(found.profile.as_ref().ok()?).err()?;
            Some(Validation::new("flow", found.name, vec![error.to_string()]))
        });
        flows.into_iter().map(check).chain(of_profiles).collect()
    }

    /// What the configuration says about phases and roles that no flow has.
    fn unused_words(&self, config: &Config) -> Vec<String> {
        let flows = self.flows().unwrap_or_default();
        let of_profiles = self.profiles().into_iter().filter_map(|found| {
            Some(crate::catalog::flows::of_profile(found.profile.as_ref().ok()?).ok()?.0)
        });
        let flows: Vec<Flow> =
            flows.into_iter().filter_map(|found| found.flow.ok()).chain(of_profiles).collect();
        let has_phase = |phase: Phase| flows.iter().any(|flow| flow.spec(phase).is_some());
        let has_role = |role: Role| {
            Role::STANDARD.contains(&role)
                || flows.iter().any(|flow| flow.phases.iter().any(|spec| spec.role == role))
        };
        let hint = "hint: fix the name; `aiwf flow show NAME` lists the phases and roles of a flow";
        let gates = config.gates.named.iter().filter_map(|(pattern, gate)| {
            let phase = pattern.phase().filter(|phase| !has_phase(*phase))?;
            Some(format!("{}: no flow has a phase `{phase}` for the gate `{pattern}`\n{hint}", gate.origin))
        });
        let roles =
            config.roles.named.iter().filter(|(role, _)| !has_role(**role)).map(|(role, provider)| {
                format!("{}: no flow has a role `{}`\n{hint}", provider.origin, role.as_str())
            });
        gates.chain(roles).collect()
    }

    /// Reads the configuration.
    pub fn validate_config(&self) -> Vec<Validation> {
        let findings = match providers::load_config(self.settings(), &Flags::default()) {
            Ok(config) => self.unused_words(&config),
            Err(error) => vec![match error.hint() {
                Some(hint) => format!("{error}\nhint: {hint}"),
                None => error.to_string(),
            }],
        };
        vec![Validation::new("config", "config.toml", findings)]
    }

    /// Looks whether every provider that the configuration names can be asked: its program or address answers, its
    /// key is there.
    pub fn validate_providers(&self) -> Vec<Validation> {
        let Ok(config) = providers::load_config(self.settings(), &Flags::default()) else {
            return self.validate_config();
        };
        let mut names: Vec<String> = config.providers.keys().cloned().collect();
        names.push(config.roles.default.value.clone());
        names.extend(config.roles.named.values().map(|provider| provider.value.clone()));
        names.extend(config.change.agents.values().map(|provider| provider.value.clone()));
        names.extend(config.workflow.provider.iter().map(|provider| provider.value.clone()));
        for gate in std::iter::once(&config.gates.default).chain(config.gates.named.values()) {
            if let aiwf_config::Approver::Ai(provider) = &gate.value.approver {
                names.push(provider.clone());
            }
        }
        names.sort();
        names.dedup();
        let check = |name: String| {
            let checks = match self.open_provider(&name, &config) {
                Ok(provider) => provider.check(),
                Err(error) => {
                    let finding = match error.hint() {
                        Some(hint) => format!("{error}\nhint: {hint}"),
                        None => error.to_string(),
                    };
                    return Validation::new("provider", name, vec![finding]);
                }
            };
            let well = checks.iter().filter(|check| check.is_ok);
            let found = well.map(|check| format!("{}: {}", check.what, check.found)).collect();
            let findings = checks.into_iter().filter_map(finding).collect();
            Validation { found, ..Validation::new("provider", name, findings) }
        };
        names.into_iter().map(check).collect()
    }
}

/// What is wrong, and what to do about it.
fn finding(check: aiwf_provider::Check) -> Option<String> {
    (!check.is_ok).then(|| match check.hint {
        Some(hint) => format!("{}: {}\nhint: {hint}", check.what, check.found),
        None => format!("{}: {}", check.what, check.found),
    })
}
