//! All consents of the user in one list: adopted sessions, providers, loosened settings, servers, flows and checks.

use aiwf_config::{Config, Flags};
use aiwf_store::{Consent, ConsentKind};
use serde::Serialize;

use super::{LedgerKind, records};
use crate::Engine;
use crate::catalog::flows::FlowOrigin;
use crate::checks::CheckConsent;
use crate::session::session_error::SessionError;
use crate::trust::trust_error::TrustError;

/// What a user can agree to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgreementKind {
    /// A foreign session.
    Session,
    /// A foreign change.
    Change,
    /// A foreign run.
    Run,
    /// A provider that a project's configuration defines or redirects.
    Provider,
    /// Settings of a project that are looser than the user's own.
    Project,
    Server,
    /// A flow of a project that skips gates.
    Flow,
    /// A project's check.
    Check,
    /// A program that a test case runs.
    Test,
}

impl AgreementKind {
    pub const ALL: [Self; 9] = [
        Self::Session,
        Self::Change,
        Self::Run,
        Self::Provider,
        Self::Project,
        Self::Server,
        Self::Flow,
        Self::Check,
        Self::Test,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Change => "change",
            Self::Run => "run",
            Self::Provider => "provider",
            Self::Project => "project",
            Self::Server => "server",
            Self::Flow => "flow",
            Self::Check => "check",
            Self::Test => "test",
        }
    }

    fn of_ledger(kind: LedgerKind) -> Self {
        match kind {
            LedgerKind::Session => Self::Session,
            LedgerKind::Change => Self::Change,
            LedgerKind::Run => Self::Run,
        }
    }

    fn of_consent(kind: ConsentKind) -> Self {
        match kind {
            ConsentKind::Provider => Self::Provider,
            ConsentKind::Project => Self::Project,
            ConsentKind::Server => Self::Server,
            ConsentKind::Flow => Self::Flow,
            ConsentKind::Check => Self::Check,
            ConsentKind::Test => Self::Test,
        }
    }

    fn consent(self) -> Option<ConsentKind> {
        match self {
            Self::Provider => Some(ConsentKind::Provider),
            Self::Project => Some(ConsentKind::Project),
            Self::Server => Some(ConsentKind::Server),
            Self::Flow => Some(ConsentKind::Flow),
            Self::Check => Some(ConsentKind::Check),
            Self::Test => Some(ConsentKind::Test),
            Self::Session | Self::Change | Self::Run => None,
        }
    }
}

/// A consent, or a request for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Agreement {
    pub kind: AgreementKind,
    pub name: String,
    /// SHA-256 of exactly what is agreed to.
    pub sha256: String,
    pub shown: String,
    pub project: String,
}

impl From<Consent> for Agreement {
    fn from(consent: Consent) -> Self {
        Self {
            kind: AgreementKind::of_consent(consent.kind),
            name: consent.name,
            sha256: consent.sha256,
            shown: consent.shown,
            project: consent.project,
        }
    }
}

impl Engine {
    /// All consents of the user on this machine.
    pub fn agreements(&self) -> Result<Vec<Agreement>, SessionError> {
        let mut agreements = Vec::new();
        for kind in LedgerKind::ALL {
            let records = records(self.settings(), kind).ok_or(TrustError::NoPlace)?;
            let adopted = records.all().into_iter().filter(|record| record.is_adopted);
            agreements.extend(adopted.map(|record| Agreement {
                kind: AgreementKind::of_ledger(kind),
                shown: format!("adopted at event {}", record.last_seq),
                name: record.id,
                sha256: record.first_sha256,
                project: record.project,
            }));
        }
        let consents = self.settings().consents().ok_or(TrustError::NoPlace)?;
        crate::ask::toolbox::import_old_approvals(self.settings())?;
        agreements.extend(consents.all().map_err(TrustError::from)?.into_iter().map(Agreement::from));
        Ok(agreements)
    }

    /// What consent to a provider, a server or the project's settings covers; stores nothing.
    pub fn preview_agreement(&self, kind: AgreementKind, name: &str) -> Result<Agreement, SessionError> {
        let config = Config::load(self.settings(), &Flags::default())?;
        let project = self.settings().project_root.to_string_lossy().into_owned();
        let nothing = |what: String| SessionError::from(TrustError::NothingToAgree { what });
        match kind {
            AgreementKind::Provider => {
                let provider = config.checkout.providers.get(name);
                let provider = provider.ok_or_else(|| nothing(format!("provider `{name}`")))?;
                Ok(Agreement {
                    kind,
                    name: name.to_owned(),
                    sha256: provider.sha256.clone(),
                    shown: provider.shown.clone(),
                    project,
                })
            }
            AgreementKind::Project if config.checkout.loosened.is_empty() => {
                Err(nothing("this project".to_owned()))
            }
            AgreementKind::Project => Ok(Agreement {
                kind,
                name: project.clone(),
                sha256: config.checkout.loosened_sha256.clone(),
                shown: config.checkout.shown_loosened(),
                project,
            }),
            AgreementKind::Server => {
                let spec = crate::ask::toolbox::find_server(&config, self.settings(), name)?;
                let spec = spec.ok_or_else(|| nothing(format!("server `{name}`")))?;
                Ok(Agreement {
                    kind,
                    name: name.to_owned(),
                    sha256: spec.key(),
                    shown: spec.shown_command(),
                    project,
                })
            }
            AgreementKind::Flow => {
                let found = self.flow(name)?;
                if found.origin != FlowOrigin::Project {
                    return Err(nothing(format!("flow `{name}`")));
                }
                let gates = found.flow.iter().flat_map(|flow| flow.gates.keys().cloned());
                let gates = gates.collect::<Vec<_>>().join(", ");
                Ok(Agreement {
                    kind,
                    name: name.to_owned(),
                    sha256: found.sha256,
                    shown: format!("{} decides the gates {gates}", found.path),
                    project,
                })
            }
            AgreementKind::Check => {
                let check = self.checks_of(&config)?.into_iter().find(|check| check.name == name);
                let check = check.filter(|check| check.consent != CheckConsent::NotNeeded);
                Ok(check.ok_or_else(|| nothing(format!("check `{name}`")))?.agreement(project))
            }
            AgreementKind::Test => {
                let program = self.test_programs(&crate::TestOptions::default()).unwrap_or_default();
                let program = program.into_iter().find(|one| one.name == name);
                program.ok_or_else(|| nothing(format!("test program `{name}`")))
            }
            AgreementKind::Session | AgreementKind::Change | AgreementKind::Run => {
                let adoption = self.adoption(name)?;
                Ok(Agreement {
                    kind,
                    name: adoption.id,
                    sha256: adoption.sha256,
                    shown: adoption.about,
                    project,
                })
            }
        }
    }

    /// Stores the user's consent to exactly this.
    pub fn agree(&self, agreement: &Agreement) -> Result<(), SessionError> {
        let Some(kind) = agreement.kind.consent() else {
            let adoption = self.adoption(&agreement.name)?;
            return self.adopt(&adoption);
        };
        let consents = self.settings().consents().ok_or(TrustError::NoPlace)?;
        let consent = Consent {
            kind,
            name: agreement.name.clone(),
            sha256: agreement.sha256.clone(),
            shown: agreement.shown.clone(),
            project: agreement.project.clone(),
        };
        Ok(consents.add(consent).map_err(TrustError::from)?)
    }

    /// Withdraws every consent of this kind with this name, or with this prefix of its hash.
    pub fn withdraw(&self, kind: AgreementKind, name: &str) -> Result<Vec<Agreement>, SessionError> {
        let is_meant = |known_name: &str, sha256: &str| {
            known_name == name || (name.len() >= 8 && sha256.starts_with(name))
        };
        let mut withdrawn = Vec::new();
        if let Some(kind) = kind.consent() {
            let consents = self.settings().consents().ok_or(TrustError::NoPlace)?;
            let removed = consents
                .remove(|consent| consent.kind == kind && is_meant(&consent.name, &consent.sha256))
                .map_err(TrustError::from)?;
            withdrawn.extend(removed.into_iter().map(Agreement::from));
        } else {
            let agreements = self.agreements()?;
            for agreement in agreements.into_iter().filter(|one| one.kind == kind) {
                if !is_meant(&agreement.name, &agreement.sha256) {
                    continue;
                }
                for ledger in LedgerKind::ALL {
                    if AgreementKind::of_ledger(ledger) == kind
                        && let Some(records) = records(self.settings(), ledger)
                    {
                        records.forget(&agreement.name, &agreement.sha256).map_err(TrustError::from)?;
                    }
                }
                withdrawn.push(agreement);
            }
        }
        if withdrawn.is_empty() {
            return Err(TrustError::NotAgreed { given: name.to_owned() }.into());
        }
        Ok(withdrawn)
    }
}
