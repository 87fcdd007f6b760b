//! What a project's configuration wants beyond what the user's own allows.
//!
//! In: the user's layer and the project's. Out: the project's layer as far as it counts, and a list of what needs the
//! user's consent. A project may tighten gates, limits and tools; whatever is looser than the user's own setting or
//! the default counts only after the user agreed to exactly these settings. A provider that the project defines or
//! redirects is listed with everything that decides what is started or contacted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use aiwf_store::{Consent, ConsentKind, sha256_hex};

use crate::config::{DEFAULT_MAX_ITERATIONS, DEFAULT_MAX_ROUNDS, DEFAULT_MAX_TEMPLATE_MB};
use crate::config_layer::{ConfigLayer, Price, ProviderConfig};
use crate::entry::list;
use crate::gate::{Approver, Gate};
use crate::origin::{ConfigFile, Origin, Sourced};
use crate::tools_config;
use crate::vocabulary::{Conditions, FsAbility};
use crate::workflow_config;
use aiwf_session::GatePattern;

/// What a project's configuration wants that needs the user's consent.
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
    /// The whole name, such as `session.max_iterations`.
    pub key: String,
    /// What the project sets.
    pub value: String,
    /// What counts without consent.
    pub instead: String,
    /// Where the project sets it.
    pub origin: Origin,
}

/// A provider that the project defines or redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutProvider {
    /// SHA-256 of everything that decides what is started, contacted or given a key.
    pub sha256: String,
    /// The same in words.
    pub shown: String,
    /// Whether the user agreed to exactly this.
    pub is_agreed: bool,
}

impl Checkout {
    /// What the loosened settings are, one line each.
    pub fn shown_loosened(&self) -> String {
        let lines: Vec<String> =
            self.loosened.iter().map(|setting| format!("{} = {}", setting.key, setting.value)).collect();
        lines.join("\n")
    }
}

/// The project's layer as far as it counts, and what needs consent.
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
    let mut found = Found::default();
    found.gates(user, &mut tight);
    found.limits(user, &mut tight);
    found.providers(user, &mut tight);
    found.tools(user, &mut tight);
    found.workflow(user, &mut tight);
    let mut checkout = Checkout { loosened: found.0, ..Checkout::default() };
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
        if let Some(shown) = powers(name, &merged) {
            let sha256 = sha256_hex(format!("{root}\n{shown}").as_bytes());
            let is_agreed = has(ConsentKind::Provider, &sha256);
            checkout.providers.insert(name.clone(), CheckoutProvider { sha256, shown, is_agreed });
        }
    }
    (if checkout.is_agreed { project } else { tight }, checkout)
}

/// Everything that decides what a provider starts, contacts or hands a key to, when the project has a say in it.
fn powers(name: &str, provider: &ProviderConfig) -> Option<String> {
    let mut shown = format!("provider {name}");
    let mut is_projects = false;
    let mut add = |key: &str, value: Option<(String, Origin)>| {
        if let Some((value, origin)) = value {
            is_projects |= is_project(origin);
            // Writing to a string does not fail.
            let _ = write!(shown, "\n  {key} = {value}");
        }
    };
    let text = |value: &Option<Sourced<String>>| {
        value.as_ref().map(|value| (format!("{:?}", value.value), value.origin))
    };
    let texts =
        |value: &Option<Sourced<Vec<String>>>| value.as_ref().map(|value| (list(&value.value), value.origin));
    add("type", text(&provider.kind));
    add("program", text(&provider.program));
    add("argv", texts(&provider.argv));
    add("base_url", text(&provider.base_url));
    add("api_key_env", text(&provider.api_key_env));
    add("api_key_command", texts(&provider.api_key_command));
    for (variable, value) in &provider.env {
        add(&format!("env.{variable}"), Some((format!("{:?}", value.value), value.origin)));
    }
    is_projects.then_some(shown)
}

pub(crate) fn is_project(origin: Origin) -> bool {
    matches!(origin, Origin::File { file: ConfigFile::Project, .. })
}

/// The settings that are looser, while they are looked for; each is taken out of the layer it was found in.
#[derive(Default)]
struct Found(Vec<Loosening>);

impl Found {
    fn add<T>(&mut self, key: &str, found: &Sourced<T>, value: String, instead: String) {
        self.0.push(Loosening { key: key.to_owned(), value, instead, origin: found.origin });
    }

    /// Takes a setting out when it is looser than what counts otherwise.
    fn check<T>(
        &mut self,
        key: &str,
        setting: &mut Option<Sourced<T>>,
        instead: &T,
        is_looser: impl Fn(&T, &T) -> bool,
        shown: impl Fn(&T) -> String,
    ) {
        if let Some(found) = setting.take_if(|found| is_looser(&found.value, instead)) {
            self.add(key, &found, shown(&found.value), shown(instead));
        }
    }

    /// A limit: more is looser. Without a limit of the user's there is nothing to be looser than.
    fn limit<T: PartialOrd + ToString>(
        &mut self,
        key: &str,
        setting: &mut Option<Sourced<T>>,
        instead: Option<&T>,
    ) {
        if let Some(instead) = instead {
            self.check(key, setting, instead, |found, instead| found > instead, T::to_string);
        }
    }

    fn gates(&mut self, user: &ConfigLayer, project: &mut ConfigLayer) {
        let manual = Gate::new(Approver::Manual);
        let default = user.default_gate.as_ref().map_or(&manual, |gate| &gate.value);
        self.check("gates.default", &mut project.default_gate, default, is_looser_gate, Gate::to_string);
        let patterns: Vec<GatePattern> = project.gates.keys().copied().collect();
        for name in patterns {
            // A pattern of several gates is only weighed against what the user decided on all of them.
            let users = match name.gate() {
                Some((phase, stage)) => {
                    let about = user.gates.iter().filter(|(pattern, _)| pattern.matches(phase, stage));
                    about.max_by_key(|(pattern, _)| pattern.specificity()).map(|(_, gate)| gate)
                }
                None => user.gates.get(&name),
            };
            let instead = match users {
                Some(gate) => &gate.value,
                None if user.gates.is_empty() || name.gate().is_some() => default,
                None => &manual,
            };
            let mut gate = project.gates.remove(&name);
            let key = format!("gates.\"{name}\"");
            self.check(&key, &mut gate, instead, is_looser_gate, Gate::to_string);
            project.gates.extend(gate.map(|gate| (name, gate)));
        }
    }

    fn limits(&mut self, user: &ConfigLayer, project: &mut ConfigLayer) {
        let iterations = value(&user.max_iterations).unwrap_or(&DEFAULT_MAX_ITERATIONS);
        self.limit("session.max_iterations", &mut project.max_iterations, Some(iterations));
        let rounds = value(&user.max_rounds).unwrap_or(&DEFAULT_MAX_ROUNDS);
        self.limit("change.max_rounds", &mut project.max_rounds, Some(rounds));
        let memory = value(&user.max_template_mb).unwrap_or(&DEFAULT_MAX_TEMPLATE_MB);
        self.limit("session.max_template_mb", &mut project.max_template_mb, Some(memory));
        self.limit("session.budget_tokens", &mut project.budget_tokens, value(&user.budget_tokens));
        self.limit("budget.max_calls", &mut project.max_calls, value(&user.max_calls));
        self.limit("budget.max_tokens", &mut project.max_tokens, value(&user.max_tokens));
        self.limit("budget.max_cost", &mut project.max_cost, value(&user.max_cost));
        let hashes = value(&user.hash_prompts).unwrap_or(&true);
        let is_off = |found: &bool, instead: &bool| !found && *instead;
        self.check("session.hash_prompts", &mut project.hash_prompts, hashes, is_off, bool::to_string);
        let writes = value(&user.change_write).unwrap_or(&false);
        let is_on = |found: &bool, instead: &bool| *found && !instead;
        self.check("change.write", &mut project.change_write, writes, is_on, bool::to_string);
        if user.max_cost.is_some() {
            self.prices(user, project);
        }
    }

    /// A price that is too low makes a limit in dollars worth nothing.
    fn prices(&mut self, user: &ConfigLayer, project: &mut ConfigLayer) {
        let models: Vec<String> = project.prices.keys().cloned().collect();
        for model in models {
            let users = user.prices.get(&model).map(|price| price.value);
            let is_lower = |found: &Price| {
                users.is_none_or(|users| {
                    found.input < users.input
                        || found.output < users.output
                        || found.cached_input.unwrap_or(found.input)
                            < users.cached_input.unwrap_or(users.input)
                })
            };
            let price = project.prices.remove(&model);
            match price {
                Some(price) if is_lower(&price.value) => {
                    let instead = users.map_or_else(|| "unknown".to_owned(), |users| shown_price(&users));
                    let value = shown_price(&price.value);
                    self.add(&format!("prices.\"{model}\""), &price, value, instead);
                }
                price => project.prices.extend(price.map(|price| (model, price))),
            }
        }
    }

    /// Limits and abilities of providers that the user has set.
    fn providers(&mut self, user: &ConfigLayer, project: &mut ConfigLayer) {
        if let Some(instead) = value(&user.fs_ability) {
            let key = "defaults.fs_ability";
            self.check(key, &mut project.fs_ability, instead, is_looser_ability, shown_ability);
        }
        for (name, provider) in &mut project.providers {
            let Some(users) = user.providers.get(name) else { continue };
            let key = |key: &str| format!("providers.{name}.{key}");
            if let Some(instead) = value(&users.fs_ability) {
                let ability = &mut provider.fs_ability;
                self.check(&key("fs_ability"), ability, instead, is_looser_ability, shown_ability);
            }
            for (setting, found, instead) in [
                ("max_output_tokens", &mut provider.max_output_tokens, &users.max_output_tokens),
                ("context_window", &mut provider.context_window, &users.context_window),
                ("max_reply_bytes", &mut provider.max_reply_bytes, &users.max_reply_bytes),
            ] {
                self.limit(&key(setting), found, value(instead));
            }
            for (setting, found, instead) in [
                ("timeout", &mut provider.timeout, &users.timeout),
                ("first_byte_timeout", &mut provider.first_byte_timeout, &users.first_byte_timeout),
                ("connect_timeout", &mut provider.connect_timeout, &users.connect_timeout),
            ] {
                if let Some(instead) = value(instead) {
                    let shown = |time: &std::time::Duration| format!("{}ms", time.as_millis());
                    self.check(&key(setting), found, instead, |found, instead| found > instead, shown);
                }
            }
        }
    }

    fn tools(&mut self, user: &ConfigLayer, project: &mut ConfigLayer) {
        let (users, tools) = (&user.tools, &mut project.tools);
        let rounds = value(&users.max_rounds).unwrap_or(&tools_config::DEFAULT_MAX_ROUNDS);
        self.limit("tools.max_rounds", &mut tools.max_rounds, Some(rounds));
        let bytes = value(&users.max_result_bytes).unwrap_or(&tools_config::DEFAULT_RESULT_BYTES);
        self.limit("tools.max_result_bytes", &mut tools.max_result_bytes, Some(bytes));
        if let Some(instead) = value(&users.timeout) {
            let shown = |time: &std::time::Duration| format!("{}ms", time.as_millis());
            self.check("tools.timeout", &mut tools.timeout, instead, |found, instead| found > instead, shown);
        }
        let nothing = Vec::new();
        let phases: Vec<String> = tools.grants.keys().cloned().collect();
        for phase in phases {
            let instead = users.grants.get(&phase).map_or(&nothing, |names| &names.value);
            let mut grant = tools.grants.remove(&phase);
            let key = format!("tools.grant.{phase}");
            self.check(&key, &mut grant, instead, names_more, |names| list(names));
            tools.grants.extend(grant.map(|grant| (phase, grant)));
        }
        for (name, server) in &mut tools.servers {
            let of_user = users.servers.get(name).and_then(|server| value(&server.read_only));
            let key = format!("mcp.servers.{name}.read_only");
            let instead = of_user.unwrap_or(&nothing);
            self.check(&key, &mut server.read_only, instead, names_more, |names| list(names));
        }
    }

    fn workflow(&mut self, user: &ConfigLayer, project: &mut ConfigLayer) {
        let (users, workflow) = (&user.workflow, &mut project.workflow);
        let turns = value(&users.max_turns).unwrap_or(&workflow_config::DEFAULT_MAX_TURNS);
        self.limit("workflow.max_turns", &mut workflow.max_turns, Some(turns));
        for (key, found, instead, default) in [
            (
                "workflow.result_preview_bytes",
                &mut workflow.result_preview_bytes,
                &users.result_preview_bytes,
                &workflow_config::DEFAULT_PREVIEW_BYTES,
            ),
            (
                "workflow.max_read_bytes",
                &mut workflow.max_read_bytes,
                &users.max_read_bytes,
                &workflow_config::DEFAULT_READ_BYTES,
            ),
            (
                "workflow.max_write_bytes",
                &mut workflow.max_write_bytes,
                &users.max_write_bytes,
                &workflow_config::DEFAULT_WRITE_BYTES,
            ),
        ] {
            self.limit(key, found, Some(value(instead).unwrap_or(default)));
        }
        self.limit("workflow.context_tokens", &mut workflow.context_tokens, value(&users.context_tokens));
        let conditions = value(&users.conditions).unwrap_or(&Conditions::Warn);
        let is_weaker = |found: &Conditions, instead: &Conditions| {
            *found == Conditions::Warn && *instead == Conditions::Enforce
        };
        let shown = |conditions: &Conditions| conditions.as_str().to_owned();
        self.check("workflow.conditions", &mut workflow.conditions, conditions, is_weaker, shown);
    }
}

#[expect(clippy::ref_option, reason = "it is called with fields, and each call would say `as_ref()`")]
fn value<T>(setting: &Option<Sourced<T>>) -> Option<&T> {
    setting.as_ref().map(|setting| &setting.value)
}

/// Whether a gate lets more through than another one.
fn is_looser_gate(found: &Gate, instead: &Gate) -> bool {
    match (&found.approver, &instead.approver) {
        (Approver::Manual, _) | (Approver::Skip | Approver::Ai(_), Approver::Skip) => false,
        (Approver::Ai(found_judge), Approver::Ai(judge)) => {
            found_judge != judge
                || found.max_retries > instead.max_retries
                || (found.allow_rewrite && !instead.allow_rewrite)
        }
        (Approver::Skip, Approver::Manual | Approver::Ai(_)) | (Approver::Ai(_), Approver::Manual) => true,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "`check` hands on what it compares by reference")]
fn is_looser_ability(found: &FsAbility, instead: &FsAbility) -> bool {
    let writes = |ability: &FsAbility| matches!(ability, FsAbility::LocalWrite | FsAbility::WriteOnly);
    writes(found) && !writes(instead)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "`check` hands on what it compares by reference")]
fn shown_ability(ability: &FsAbility) -> String {
    ability.as_str().to_owned()
}

fn shown_price(price: &Price) -> String {
    let cached = price.cached_input.map(|cached| format!(", cached_input {cached}")).unwrap_or_default();
    format!("input {}, output {}{cached}", price.input, price.output)
}

/// Whether a list names something that another one does not.
#[expect(clippy::ptr_arg, reason = "`check` hands on what it compares as it is kept")]
fn names_more(found: &Vec<String>, instead: &Vec<String>) -> bool {
    found.iter().any(|name| !instead.contains(name))
}

#[cfg(test)]
#[path = "checkout_tests.rs"]
mod tests;
