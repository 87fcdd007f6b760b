//! Confines a project's configuration to what the user allows.
//!
//! In: the user's layer and the project's. Out: the part of the project's layer that applies, and a list of what needs
//! the user's consent. A project may tighten gates, limits and tools; a setting that is looser than the user's own or
//! the default applies only after the user agreed to exactly these settings. A provider that the project defines or
//! redirects is listed with everything that determines what is started or contacted. The rule of a setting is part of
//! its declaration.

use std::collections::BTreeMap;
use std::path::Path;

use aiwf_store::{Consent, ConsentKind, sha256_hex};

use crate::config::ConfigLayer;
use crate::origin::{ConfigFile, Origin};
use crate::price::{Prices, lower_needs_consent};
use crate::provider_config::ProviderConfig;
use crate::setting::{Kind as _, Listing, Table as _};

/// The settings of a project that need the user's consent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checkout {
    /// The project's settings that are looser than the user's own.
    pub loosened: Vec<Loosening>,
    /// SHA-256 of these settings; empty when there are none.
    pub loosened_sha256: String,
    /// Whether the user agreed to exactly these.
    pub is_agreed: bool,
    /// The providers that the project defines or redirects, by name.
    pub providers: BTreeMap<String, CheckoutProvider>,
}

/// A setting of the project that is looser than the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loosening {
    /// The full name, such as `session.max_iterations`.
    pub key: String,
    pub value: String,
    /// The value in force without consent.
    pub instead: String,
    pub origin: Origin,
}

/// A provider that the project defines or redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutProvider {
    /// SHA-256 of everything that determines what is started, contacted or given a key.
    pub sha256: String,
    pub shown: String,
    /// Whether the user agreed to exactly this.
    pub is_agreed: bool,
}

impl Checkout {
    /// The loosened settings, one line each.
    pub fn shown_loosened(&self) -> String {
        let lines: Vec<String> =
            self.loosened.iter().map(|setting| format!("{} = {}", setting.key, setting.value)).collect();
        lines.join("\n")
    }
}

/// Returns the part of the project's layer that applies, and what needs consent.
pub(crate) fn confine(
    user: &ConfigLayer,
    project: ConfigLayer,
    root: &Path,
    consents: &[Consent],
) -> (ConfigLayer, Checkout) {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let root = root.to_string_lossy();
    let has = |kind: ConsentKind, sha256: &str| {
        consents.iter().any(|consent| consent.kind == kind && consent.sha256 == sha256)
    };
    let mut tight = project.clone();
    let mut loosened = Vec::new();
    tight.confine(user, "", &mut loosened);
    tight.gates.confine_named(&user.gates, &mut loosened);
    // Without a limit in dollars, a price only affects reports.
    if user.budget.max_cost.is_some() {
        let rules = [lower_needs_consent()];
        Prices::confine(&mut tight.prices, &user.prices, "prices", None, &rules, &mut loosened);
    }
    let mut checkout = Checkout { loosened, ..Checkout::default() };
    if !checkout.loosened.is_empty() {
        let text = format!("{root}\n{}", checkout.shown_loosened());
        checkout.loosened_sha256 = sha256_hex(text.as_bytes());
        checkout.is_agreed = has(ConsentKind::Project, &checkout.loosened_sha256);
    }
    for (name, provider) in &project.providers {
        let merged = match user.providers.get(name) {
            Some(users) => provider.clone().over(users.clone()),
            None => provider.clone(),
        };
        if let Some(shown) = describe(name, &merged) {
            let sha256 = sha256_hex(format!("{root}\n{shown}").as_bytes());
            let is_agreed = has(ConsentKind::Provider, &sha256);
            checkout.providers.insert(name.clone(), CheckoutProvider { sha256, shown, is_agreed });
        }
    }
    (if checkout.is_agreed { project } else { tight }, checkout)
}

/// Everything that determines what a provider starts, contacts or passes a key to, if the project sets any of it.
fn describe(name: &str, provider: &ProviderConfig) -> Option<String> {
    let mut deciding = Vec::new();
    ProviderConfig::list(provider, "", Listing::DecidesWhatRuns, &mut deciding);
    if !deciding.iter().any(|entry| is_project(entry.origin)) {
        return None;
    }
    let mut lines = vec![format!("provider {name}")];
    lines.extend(deciding.iter().map(|entry| format!("  {} = {}", entry.key, entry.value)));
    Some(lines.join("\n"))
}

pub(crate) fn is_project(origin: Origin) -> bool {
    matches!(origin, Origin::File { file: ConfigFile::Project, .. })
}

#[cfg(test)]
#[path = "checkout_tests.rs"]
mod tests;
