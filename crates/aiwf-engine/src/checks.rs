//! Checks: project commands that run on the results of a phase.
//!
//! In: the configuration, candidates found in project files, and typed commands. Out: checks with their origin and
//! consent, and their results. A check that came with the project never runs before the user agreed to its exact
//! command in that exact directory. Knows no sessions: a session asks which checks follow a phase, runs them where the
//! phase wrote, and puts their results into its next prompt.

mod by_hand;
pub(crate) mod check_error;
mod detect;
pub(crate) mod network;
mod output;
mod run;

use std::fmt;
use std::time::Duration;

use aiwf_config::{CheckCommand, CheckConfig, CheckNetwork, Config, ConfigFile, Flags, Origin};
use aiwf_store::{Consent, ConsentKind, sha256_hex};
use serde::{Serialize, Serializer};

use crate::Engine;
use crate::trust::Agreement;
use crate::trust::trust_error::TrustError;

pub use by_hand::CheckRun;
pub(crate) use output::checks_text;
pub use output::{checks_summary, head_and_tail};
pub use run::{CheckEnd, CheckOutput, CheckResult, CheckState};

/// A check from the command line: `--check CMD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TypedCheck {
    pub run: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// For a typed check, its command.
    pub name: String,
    #[serde(serialize_with = "command_json")]
    pub run: CheckCommand,
    /// The phase it follows; `None` for every phase that writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(rename = "timeout_ms", serialize_with = "millis_json")]
    pub timeout: Duration,
    /// In bytes.
    pub max_output: u64,
    /// `None` for unrestricted access.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "network_json")]
    pub network: Option<CheckNetwork>,
    /// Variables in addition to the usual ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    #[serde(serialize_with = "as_text")]
    pub origin: CheckOrigin,
    pub consent: CheckConsent,
    /// Everything that the user agrees to, one setting per line.
    #[serde(skip)]
    pub shown: String,
    /// SHA-256 of `shown` and the project.
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOrigin {
    Typed,
    Config {
        file: ConfigFile,
        /// Starting at 1.
        line: usize,
    },
    /// Found in project files: a candidate until the user agrees to it.
    Detected {
        reason: String,
    },
}

impl fmt::Display for CheckOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Typed => formatter.write_str("--check"),
            Self::Config { file, line } => write!(formatter, "{file}:{line}"),
            Self::Detected { reason } => write!(formatter, "detected: {reason}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckConsent {
    /// Set by the user, in their own configuration or on the command line.
    NotNeeded,
    Agreed,
    Missing,
}

impl CheckConsent {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotNeeded => "not-needed",
            Self::Agreed => "agreed",
            Self::Missing => "missing",
        }
    }
}

impl Check {
    pub fn may_run(&self) -> bool {
        self.consent != CheckConsent::Missing
    }

    pub fn is_detected(&self) -> bool {
        matches!(self.origin, CheckOrigin::Detected { .. })
    }

    /// A file name stem for its output, unique per number.
    pub fn file_stem(&self, number: usize) -> String {
        const LENGTH: usize = 40;
        let is_plain = |character: char| character.is_ascii_alphanumeric();
        let slug: String =
            self.name.chars().map(|character| if is_plain(character) { character } else { '-' }).collect();
        let words: Vec<&str> = slug.split('-').filter(|word| !word.is_empty()).collect();
        let slug: String = words.join("-").chars().take(LENGTH).collect();
        format!("{number:02}-{slug}").trim_end_matches('-').to_owned()
    }

    fn of(name: String, config: &CheckConfig, run: CheckCommand, origin: CheckOrigin, root: &str) -> Self {
        let shown = config.shown();
        let is_own = match origin {
            CheckOrigin::Typed => true,
            CheckOrigin::Config { .. } => config.is_users_own(),
            CheckOrigin::Detected { .. } => false,
        };
        Self {
            name,
            run,
            after: config.after.as_ref().map(|after| after.value.clone()),
            timeout: config.timeout.as_ref().map_or(CheckConfig::TIMEOUT, |timeout| timeout.value),
            max_output: config.max_output.as_ref().map_or(CheckConfig::MAX_OUTPUT, |max| max.value.get()),
            network: config.network.as_ref().map(|network| network.value),
            env: config.env.as_ref().map(|env| env.value.clone()).unwrap_or_default(),
            origin,
            consent: if is_own { CheckConsent::NotNeeded } else { CheckConsent::Missing },
            sha256: sha256_hex(format!("{root}\n{shown}").as_bytes()),
            shown,
        }
    }

    fn consent_of(&self, project: String) -> Consent {
        Consent {
            kind: ConsentKind::Check,
            name: self.name.clone(),
            sha256: self.sha256.clone(),
            shown: self.shown.clone(),
            project,
        }
    }

    /// The consent for this check.
    pub(crate) fn agreement(&self, project: String) -> Agreement {
        self.consent_of(project).into()
    }
}

impl Engine {
    /// The configured checks in order; if there are none, the candidates.
    pub fn checks(&self) -> Result<Vec<Check>, TrustError> {
        let config = Config::load(self.settings(), &Flags::default())?;
        self.checks_of(&config)
    }

    pub(crate) fn checks_of(&self, config: &Config) -> Result<Vec<Check>, TrustError> {
        let root = self.root_of_consent();
        let mut checks: Vec<Check> =
            config.checks.iter().filter_map(|check| configured(check, &root)).collect();
        if checks.is_empty() {
            let found = detect::detect(&detect::read_files(&self.settings().project_root));
            checks.extend(found.into_iter().map(|candidate| {
                let run = CheckCommand::Shell(candidate.run);
                let config = CheckConfig::without_file(&candidate.name, run.clone());
                let origin = CheckOrigin::Detected { reason: candidate.reason };
                Check::of(candidate.name, &config, run, origin, &root)
            }));
        }
        let agreed = match self.settings().consents() {
            Some(consents) => consents.all()?,
            None => Vec::new(),
        };
        for check in &mut checks {
            let is_agreed =
                || agreed.iter().any(|one| one.kind == ConsentKind::Check && one.sha256 == check.sha256);
            if check.consent == CheckConsent::Missing && is_agreed() {
                check.consent = CheckConsent::Agreed;
            }
        }
        Ok(checks)
    }

    /// The checks after a phase that wrote: configured ones for this phase or for all, then the typed ones. A candidate
    /// is included only if the user agreed to it. A configured check is always included, so that the caller sees that
    /// consent is missing.
    pub(crate) fn checks_after(&self, phase: &str, typed: &[TypedCheck]) -> Result<Vec<Check>, TrustError> {
        let mut checks = self.checks()?;
        checks.retain(|check| {
            let is_wanted = !check.is_detected() || (typed.is_empty() && check.may_run());
            is_wanted && check.after.as_deref().is_none_or(|after| after == phase)
        });
        let root = self.root_of_consent();
        checks.extend(typed.iter().map(|check| {
            let run = CheckCommand::Shell(check.run.clone());
            let config = CheckConfig::without_file(&check.run, run.clone());
            Check::of(name_of(&check.run), &config, run, CheckOrigin::Typed, &root)
        }));
        Ok(checks)
    }

    /// The project's path, as consents store it.
    fn root_of_consent(&self) -> String {
        let root = &self.settings().project_root;
        root.canonicalize().unwrap_or_else(|_| root.clone()).to_string_lossy().into_owned()
    }
}

/// The configuration reader has refused checks without a name or a command.
fn configured(config: &CheckConfig, root: &str) -> Option<Check> {
    let origin = match config.origin {
        Origin::File { file, line } => CheckOrigin::Config { file, line },
        Origin::Default | Origin::Flag(_) => CheckOrigin::Typed,
    };
    let name = config.name.as_ref()?.value.clone();
    Some(Check::of(name, config, config.run.as_ref()?.value.clone(), origin, root))
}

/// A name for an unnamed check: the start of its command.
fn name_of(command: &str) -> String {
    const LENGTH: usize = 40;
    let line: String = command.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LENGTH {
        return line;
    }
    line.chars().take(LENGTH - 1).chain(['…']).collect()
}

fn command_json<S: Serializer>(command: &CheckCommand, serializer: S) -> Result<S::Ok, S::Error> {
    match command {
        CheckCommand::Shell(line) => serializer.serialize_str(line),
        CheckCommand::Argv(words) => serializer.collect_seq(words),
    }
}

fn millis_json<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes the field by reference"
)]
fn network_json<S: Serializer>(network: &Option<CheckNetwork>, serializer: S) -> Result<S::Ok, S::Error> {
    network.map(CheckNetwork::as_str).serialize(serializer)
}

fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
