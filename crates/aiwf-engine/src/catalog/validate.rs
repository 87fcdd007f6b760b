//! Validates what sessions depend on: profiles, standards, providers, configuration.

use aiwf_advice::{Action, Advice};
use aiwf_config::{Config, Flags};
use aiwf_profile::ProjectStandards;
use aiwf_session::{Access, Flow, FlowProblem, Phase, Role};
use serde_json::{Map, Value};

use crate::ask::providers;
use crate::prompt::gather::project_standards;
use crate::session::session_error::SessionError;
use crate::{Engine, FoundFlow};

/// What can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationKind {
    Config,
    Provider,
    Profile,
    /// One flow.
    Flow,
    /// The flows as a whole: they cannot even be listed.
    Flows,
    /// The standards of a profile in one scope.
    Standards,
    /// The project's own standards, which the configuration names.
    ProjectStandards,
    /// The project context.
    Context,
}

impl ValidationKind {
    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Provider => "provider",
            Self::Profile => "profile",
            Self::Flow => "flow",
            Self::Flows => "flows",
            Self::Standards | Self::ProjectStandards => "standards",
            Self::Context => "context",
        }
    }
}

/// The result for one object.
#[derive(Clone, Debug)]
pub struct Validation {
    pub what: ValidationKind,
    pub name: String,
    pub passed: bool,
    /// Errors and warnings.
    pub findings: Vec<Finding>,
    pub found: Vec<String>,
}

/// An error or a warning.
#[derive(Clone, Debug)]
pub struct Finding {
    pub message: String,
    pub advice: Option<Advice>,
}

impl Finding {
    pub(crate) fn new(message: impl Into<String>, advice: impl Into<Advice>) -> Self {
        Self { message: message.into(), advice: Some(advice.into()) }
    }
}

impl From<&SessionError> for Finding {
    fn from(error: &SessionError) -> Self {
        Self { message: error.to_string(), advice: error.advice() }
    }
}

impl Validation {
    fn new(what: ValidationKind, name: impl Into<String>, findings: Vec<Finding>) -> Self {
        Self { what, name: name.into(), passed: findings.is_empty(), findings, found: Vec::new() }
    }
}

impl Engine {
    /// Loads and lints every profile.
    pub fn validate_profiles(&self) -> Vec<Validation> {
        let check = |found: crate::FoundProfile| {
            let findings = match &found.profile {
                Ok(profile) => {
                    profile.lint().iter().map(|one| Finding::new(one.to_string(), one.check.hint())).collect()
                }
                Err(fault) => vec![Finding::new(&fault.message, fault.hint.clone())],
            };
            Validation::new(ValidationKind::Profile, found.name, findings)
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
                let broken = Validation::new(
                    ValidationKind::ProjectStandards,
                    "of the project",
                    vec![Finding::from(&error)],
                );
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
            let warnings = of_project.warnings(&names);
            let findings =
                warnings.iter().map(|doubt| Finding::new(doubt.to_string(), doubt.hint.clone())).collect();
            let found = of_project.files.iter().map(|file| file.source.clone()).collect();
            validations.push(Validation {
                found,
                ..Validation::new(ValidationKind::ProjectStandards, "of the project", findings)
            });
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
                    Err(error) => vec![Finding::new(error.to_string(), error.hint())],
                };
                let name = scope.map_or(found.name.clone(), |scope| format!("{} {scope}", found.name));
                validations.push(Validation::new(ValidationKind::Standards, name, findings));
            }
        }
        validations
    }

    /// Reads the project context, if there is one.
    pub fn validate_context(&self) -> Vec<Validation> {
        let report = match self.context_report() {
            Ok(report) => report,
            Err(error) => {
                return vec![Validation::new(
                    ValidationKind::Context,
                    "of the project",
                    vec![Finding::from(&error)],
                )];
            }
        };
        let mut found: Vec<String> = report
            .files
            .iter()
            .map(|file| format!("{}: {}", file.path, crate::error::bytes_in_words(file.bytes as u64)))
            .collect();
        found.extend(report.passed_over.iter().map(|place| format!("{place}: skipped")));
        if found.is_empty() {
            return Vec::new();
        }
        vec![Validation { found, ..Validation::new(ValidationKind::Context, "of the project", Vec::new()) }]
    }

    /// Checks all flows, including those of profiles.
    pub fn validate_flows(&self) -> Vec<Validation> {
        let flows = match self.flows() {
            Ok(flows) => flows,
            Err(error) => {
                return vec![Validation::new(ValidationKind::Flows, "all", vec![Finding::from(&error)])];
            }
        };
        let finding = |path: &str, problem: &FlowProblem| {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            Finding::new(format!("{path}{line}: {}", problem.message), problem.hint.clone())
        };
        let check = |found: FoundFlow| {
            let problems = found.flow.as_ref().err().into_iter().flatten();
            let findings = problems.map(|problem| finding(&found.path, problem)).collect();
            Validation::new(ValidationKind::Flow, found.name, findings)
        };
        let of_profiles = self.profiles().into_iter().filter_map(|found| {
            let error = crate::catalog::flows::of_profile(found.profile.as_ref().ok()?).err()?;
            Some(Validation::new(ValidationKind::Flow, found.name, vec![Finding::from(&error)]))
        });
        flows.into_iter().map(check).chain(of_profiles).collect()
    }

    /// Warnings about configured phases and roles that no flow has.
    fn unused_words(&self, config: &Config) -> Vec<Finding> {
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
        let finding = |message: String| {
            let advice = Advice::from("fix the name; ").then(Action::ShowFlow(None));
            Finding::new(message, advice.then(" lists the phases and roles of a flow"))
        };
        let gates = config.gates.named.iter().filter_map(|(pattern, gate)| {
            let phase = pattern.phase().filter(|phase| !has_phase(*phase))?;
            let place = &gate.origin;
            Some(finding(format!("{place}: no flow has a phase `{phase}` for the gate `{pattern}`")))
        });
        let roles =
            config.roles.named.iter().filter(|(role, _)| !has_role(**role)).map(|(role, provider)| {
                finding(format!("{}: no flow has a role `{}`", provider.origin, role.as_str()))
            });
        // Checks run on the results of a phase.
        let is_writing = |name: &str| {
            let phase = Phase::from_name(name);
            let spec = |flow: &Flow| phase.and_then(|phase| Some(flow.spec(phase)?.access == Access::Write));
            flows.iter().any(|flow| spec(flow) == Some(true))
        };
        let checks = config.checks.iter().filter_map(|check| {
            let after = check.after.as_ref().filter(|after| !is_writing(&after.value))?;
            Some(finding(format!("{}: no flow has a phase `{}` that writes", after.origin, after.value)))
        });
        gates.chain(roles).chain(checks).collect()
    }

    /// Validates the configuration.
    pub fn validate_config(&self) -> Vec<Validation> {
        let findings = match providers::load_config(self.settings(), &Flags::default()) {
            Ok(config) => self.unused_words(&config),
            Err(error) => vec![Finding::from(&error)],
        };
        vec![Validation::new(ValidationKind::Config, "config.toml", findings)]
    }

    /// Checks whether every configured provider can be asked: whether its program or address responds, and its key is
    /// available.
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
                    return Validation::new(ValidationKind::Provider, name, vec![Finding::from(&error)]);
                }
            };
            let well = checks.iter().filter(|check| check.is_ok);
            let found = well.map(|check| format!("{}: {}", check.what, check.found)).collect();
            let findings = checks.into_iter().filter_map(finding).collect();
            Validation { found, ..Validation::new(ValidationKind::Provider, name, findings) }
        };
        names.into_iter().map(check).collect()
    }
}

fn finding(check: aiwf_provider::Check) -> Option<Finding> {
    let message = format!("{}: {}", check.what, check.found);
    (!check.is_ok).then_some(Finding { message, advice: check.advice })
}
