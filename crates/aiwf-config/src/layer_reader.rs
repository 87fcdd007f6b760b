//! Reads one configuration file.
//!
//! In: the text. Out: a layer, and all problems with their places. A new setting gets its name in the list of
//! its table, an arm in the function that reads the table, and a field in `ConfigLayer`.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config_layer::{ConfigLayer, Price};
use crate::fault::ConfigFault;
use crate::gate::{Approver, Gate};
use crate::name::{excerpt, is_provider_name, nearest};
use crate::origin::{ConfigFile, Sourced};
use crate::problem::ConfigProblem;
use crate::provider_table::PROVIDER_KEYS;
use crate::toml_text::TomlText;
use crate::tools_table::{MCP_KEYS, MCP_SERVER_KEYS, TOOLS_KEYS};
use crate::trust_table::TRUST_KEYS;
use crate::workflow_table::WORKFLOW_KEYS;
use aiwf_session::{GatePattern, Phase, Role};

pub(crate) const TABLES: &[&str] = &[
    "budget",
    "change",
    "defaults",
    "gates",
    "mcp",
    "prices",
    "providers",
    "roles",
    "session",
    "standards",
    "tools",
    "trust",
    "workflow",
];
pub(crate) const ROLE_KEYS: &[&str] = &["default", "planner", "generator", "reviewer", "reviser"];
pub(crate) const GATE_OPTIONS: &[&str] = &["approver", "max_retries", "allow_rewrite"];
pub(crate) const DEFAULTS_KEYS: &[&str] = &["fs_ability"];
pub(crate) const SESSION_KEYS: &[&str] =
    &["max_iterations", "hash_prompts", "budget_tokens", "max_template_mb"];
pub(crate) const STANDARDS_KEYS: &[&str] = &["dirs", "replace", "exclude"];
pub(crate) const BUDGET_KEYS: &[&str] = &["max_calls", "max_tokens", "max_cost"];
pub(crate) const PRICE_KEYS: &[&str] = &["input", "output", "cached_input"];
pub(crate) const CHANGE_KEYS: &[&str] = &["agents", "files", "max_rounds", "write"];
const CHANGE_PHASES: &[&str] = &["plan", "challenge", "implement", "review", "archive"];

/// Where a key belongs that stands in the wrong table.
const HOMES: &[(&str, &[&str])] = &[
    ("[defaults]", DEFAULTS_KEYS),
    ("[session]", SESSION_KEYS),
    ("[standards]", STANDARDS_KEYS),
    ("[roles]", ROLE_KEYS),
    ("[budget]", BUDGET_KEYS),
    ("[change]", CHANGE_KEYS),
    ("[providers.NAME]", PROVIDER_KEYS),
    ("[tools]", TOOLS_KEYS),
    ("[trust]", TRUST_KEYS),
    ("[workflow]", WORKFLOW_KEYS),
    ("[mcp]", MCP_KEYS),
    ("[mcp.servers.NAME]", MCP_SERVER_KEYS),
];

/// Of a file with more problems than this, these are enough; a hostile one must not fill the memory.
const MAX_PROBLEMS: usize = 100;

pub(crate) fn read(file: ConfigFile, root: &Path, text: &str) -> (ConfigLayer, Vec<ConfigProblem>) {
    let toml = TomlText::new(file, text);
    let (table, faults) = DeTable::parse_recoverable(text);
    if !faults.is_empty() {
        let problems = faults.iter().take(MAX_PROBLEMS).map(|fault| syntax_problem(&toml, fault)).collect();
        return (ConfigLayer::default(), problems);
    }
    let mut reader = LayerReader { toml, root, layer: ConfigLayer::default(), problems: Vec::new() };
    reader.file(table.get_ref());
    (reader.layer, reader.problems)
}

fn syntax_problem(toml: &TomlText<'_>, fault: &toml::de::Error) -> ConfigProblem {
    let offset = fault.span().map_or(0, |span| span.start);
    let what = excerpt(&fault.message().trim().replace('\n', ", "));
    toml.problem(offset, ConfigFault::NotToml { reason: what })
}

pub(crate) struct LayerReader<'a> {
    pub(crate) toml: TomlText<'a>,
    pub(crate) root: &'a Path,
    pub(crate) layer: ConfigLayer,
    problems: Vec<ConfigProblem>,
}

/// A key and its value, with the table they stand in.
pub(crate) struct Setting<'s, 'a> {
    /// The table as a person writes it; empty for the file itself.
    table: &'s str,
    pub(crate) key: &'s str,
    pub(crate) key_offset: usize,
    pub(crate) value: &'s Spanned<DeValue<'a>>,
}

impl Setting<'_, '_> {
    /// The whole name, as `config show` prints it.
    pub(crate) fn path(&self) -> String {
        let key = excerpt(self.key);
        let is_bare = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let key = if is_bare && !key.is_empty() { key } else { format!("\"{key}\"") };
        if self.table.is_empty() { key } else { format!("{}.{key}", self.table) }
    }
}

/// Whether a role is a slip of the pen.
fn is_slip(name: &str) -> bool {
    ROLE_KEYS.iter().any(|known| strsim::damerau_levenshtein(name, known) <= 2)
        || HOMES.iter().any(|(_, keys)| keys.contains(&name))
}

/// Whether a table of `[gates]` is what TOML makes of `phase.stage` without quotes.
fn is_gate_table(value: &DeValue<'_>) -> bool {
    value
        .as_table()
        .is_some_and(|table| table.keys().any(|key| matches!(key.get_ref().as_ref(), "prompt" | "response")))
}

impl LayerReader<'_> {
    fn file(&mut self, root: &DeTable<'_>) {
        self.each("", root, |reader, setting| match setting.key {
            "budget" => reader.table(setting, Self::budget),
            "change" => reader.table(setting, Self::change),
            "defaults" => reader.table(setting, Self::defaults),
            "gates" => reader.table(setting, Self::gates),
            "mcp" => reader.table(setting, Self::mcp),
            "prices" => reader.table(setting, Self::price),
            "providers" => reader.table(setting, Self::provider),
            "roles" => reader.table(setting, Self::role),
            "session" => reader.table(setting, Self::session),
            "standards" => reader.table(setting, Self::standards),
            "tools" => reader.table(setting, Self::tools),
            "trust" => reader.table(setting, Self::trust),
            "workflow" => reader.table(setting, Self::workflow),
            _ => reader.unknown(setting, TABLES),
        });
    }

    fn role(&mut self, setting: &Setting<'_, '_>) {
        match Role::from_name(setting.key) {
            Some(_) if setting.key == "default" => self.layer.default_role = self.provider_name(setting),
            // Flows have roles of their own; a name that is nearly a common one, or a key of another table, is a mistake.
            Some(role) if !Role::STANDARD.contains(&role) && is_slip(setting.key) => {
                self.unknown(setting, ROLE_KEYS);
            }
            Some(role) => {
                if let Some(provider) = self.provider_name(setting) {
                    self.layer.roles.insert(role, provider);
                }
            }
            None => self.unknown(setting, ROLE_KEYS),
        }
    }

    fn gates(&mut self, setting: &Setting<'_, '_>) {
        match GatePattern::parse(setting.key) {
            Some(name) => {
                if let Some(gate) = self.gate(setting) {
                    self.layer.gates.insert(name, gate);
                }
            }
            None if setting.key == "default" => self.layer.default_gate = self.gate(setting),
            None => self.unknown_gate(setting),
        }
    }

    fn unknown_gate(&mut self, setting: &Setting<'_, '_>) {
        if Phase::from_name(setting.key).is_some() && is_gate_table(setting.value.get_ref()) {
            // `planning.prompt = …` without quotes is a table `planning` to TOML.
            let fault = ConfigFault::UnquotedGate { path: setting.path(), phase: setting.key.to_owned() };
            return self.report(setting.key_offset, fault);
        }
        self.unknown(
            setting,
            &["default", "PHASE.prompt", "PHASE.response", "PHASE.*", "*.prompt", "*.response"],
        );
    }

    fn defaults(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            "fs_ability" => self.layer.fs_ability = self.fs_ability(setting),
            _ => self.unknown(setting, DEFAULTS_KEYS),
        }
    }

    fn session(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            "max_iterations" => self.layer.max_iterations = self.count(setting),
            "hash_prompts" => self.layer.hash_prompts = self.boolean(setting),
            "budget_tokens" => self.layer.budget_tokens = self.count(setting),
            "max_template_mb" => self.layer.max_template_mb = self.count(setting),
            _ => self.unknown(setting, SESSION_KEYS),
        }
    }

    fn standards(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            "dirs" => self.layer.standards.dirs = self.texts(setting),
            "replace" => self.layer.standards.replace = self.texts(setting),
            "exclude" => self.layer.standards.exclude = self.texts(setting),
            _ => self.unknown(setting, STANDARDS_KEYS),
        }
    }

    fn provider(&mut self, setting: &Setting<'_, '_>) {
        if !is_provider_name(setting.key) {
            let fault = ConfigFault::ProviderName { name: excerpt(setting.key) };
            return self.report(setting.key_offset, fault);
        }
        let Some(table) = self.expect_table(setting) else { return };
        let provider = self.provider_table(setting, table);
        self.layer.providers.insert(setting.key.to_owned(), provider);
    }

    fn budget(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            "max_calls" => self.layer.max_calls = self.large_count(setting),
            "max_tokens" => self.layer.max_tokens = self.large_count(setting),
            "max_cost" => self.layer.max_cost = self.amount(setting),
            _ => self.unknown(setting, BUDGET_KEYS),
        }
    }

    fn price(&mut self, setting: &Setting<'_, '_>) {
        let Some(table) = self.expect_table(setting) else { return };
        let (mut input, mut output, mut cached_input) = (None, None, None);
        let n_problems = self.problems.len();
        self.each(&setting.path(), table, |reader, setting| match setting.key {
            "input" => input = reader.amount(setting),
            "output" => output = reader.amount(setting),
            "cached_input" => cached_input = reader.amount(setting),
            _ => reader.unknown(setting, PRICE_KEYS),
        });
        match (input, output) {
            (Some(input), Some(output)) => {
                let cached_input = cached_input.map(|price| price.value);
                let price = Price { input: input.value, output: output.value, cached_input };
                let origin = self.toml.origin(setting.key_offset);
                self.layer.prices.insert(setting.key.to_owned(), Sourced::new(price, origin));
            }
            _ if self.problems.len() == n_problems => {
                self.report(setting.key_offset, ConfigFault::HalfPrice { path: setting.path() });
            }
            _ => {}
        }
    }

    fn change(&mut self, setting: &Setting<'_, '_>) {
        match setting.key {
            "agents" => {
                let Some(table) = self.expect_table(setting) else { return };
                self.each(&setting.path(), table, |reader, setting| {
                    if !CHANGE_PHASES.contains(&setting.key) {
                        return reader.unknown(setting, CHANGE_PHASES);
                    }
                    if let Some(provider) = reader.provider_name(setting) {
                        reader.layer.change_agents.insert(setting.key.to_owned(), provider);
                    }
                });
            }
            "files" => self.layer.change_files = self.texts(setting),
            "max_rounds" => self.layer.max_rounds = self.count(setting),
            "write" => self.layer.change_write = self.boolean(setting),
            _ => self.unknown(setting, CHANGE_KEYS),
        }
    }

    /// A gate, as the approver alone or as a table with options.
    fn gate(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<Gate>> {
        let DeValue::Table(table) = setting.value.get_ref() else {
            let Sourced { value, origin } = self.approver(setting)?;
            return Some(Sourced::new(Gate::new(value), origin));
        };
        let mut approver = None;
        let mut max_retries = None;
        let mut allow_rewrite = None;
        let n_problems = self.problems.len();
        self.each(&setting.path(), table, |reader, setting| match setting.key {
            "approver" => approver = reader.approver(setting),
            "max_retries" => max_retries = reader.count_or_zero(setting),
            "allow_rewrite" => allow_rewrite = reader.boolean(setting),
            _ => reader.unknown(setting, GATE_OPTIONS),
        });
        let Some(approver) = approver else {
            if self.problems.len() == n_problems {
                self.report(setting.key_offset, ConfigFault::NoApprover { path: setting.path() });
            }
            return None;
        };
        let gate = Gate {
            approver: approver.value,
            max_retries: max_retries.map_or(0, |count| count.value),
            allow_rewrite: allow_rewrite.is_some_and(|allowed| allowed.value),
        };
        Some(Sourced::new(gate, self.toml.origin(setting.key_offset)))
    }

    fn approver(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<Approver>> {
        self.choice(setting, Approver::from_name, &Approver::LEGAL)
    }

    /// The value with its origin; a problem when there is none.
    pub(crate) fn expect<T>(
        &mut self,
        setting: &Setting<'_, '_>,
        value: Option<T>,
        expected: impl FnOnce() -> String,
        meant: Option<&str>,
    ) -> Option<Sourced<T>> {
        if value.is_none() {
            let fault = ConfigFault::WrongValue {
                path: setting.path(),
                found: self.toml.shown(setting.value.span()),
                expected: expected(),
                near: meant.map(str::to_owned),
            };
            self.report(setting.value.span().start, fault);
        }
        value.map(|value| Sourced::new(value, self.toml.origin(setting.key_offset)))
    }

    fn table(&mut self, setting: &Setting<'_, '_>, read: fn(&mut Self, &Setting<'_, '_>)) {
        if let Some(table) = self.expect_table(setting) {
            self.each(setting.key, table, read);
        }
    }

    pub(crate) fn expect_table<'s, 'a>(&mut self, setting: &Setting<'s, 'a>) -> Option<&'s DeTable<'a>> {
        let table = setting.value.get_ref().as_table();
        if table.is_none() {
            let found = self.toml.shown(setting.value.span());
            self.report(setting.value.span().start, ConfigFault::NotATable { path: setting.path(), found });
        }
        table
    }

    pub(crate) fn each(
        &mut self,
        path: &str,
        table: &DeTable<'_>,
        mut read: impl FnMut(&mut Self, &Setting<'_, '_>),
    ) {
        for (key, value) in table {
            let setting = Setting { table: path, key: key.get_ref(), key_offset: key.span().start, value };
            read(self, &setting);
        }
    }

    pub(crate) fn unknown(&mut self, setting: &Setting<'_, '_>, known: &[&str]) {
        let home = HOMES.iter().find(|(_, keys)| keys.contains(&setting.key));
        let fault = ConfigFault::UnknownKey {
            key: excerpt(setting.key),
            table: setting.table.to_owned(),
            near: nearest(setting.key, known.iter().copied()).map(str::to_owned),
            home: home.map(|(table, _)| *table),
            known: known.iter().map(|name| (*name).to_owned()).collect(),
        };
        self.report(setting.key_offset, fault);
    }

    pub(crate) fn report(&mut self, offset: usize, fault: ConfigFault) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(self.toml.problem(offset, fault));
        }
    }
}

#[cfg(test)]
#[path = "layer_reader_tests.rs"]
mod tests;
