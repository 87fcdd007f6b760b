//! Reads one configuration file.
//!
//! In: the text. Out: a layer, and all problems with their places. A new setting gets its name in the list of
//! its table, an arm in the function that reads the table, and a field in `ConfigLayer`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config_layer::{ConfigLayer, ProviderConfig};
use crate::gate::{Approver, Gate, GateName};
use crate::name::{PROVIDER_NAME_RULE, excerpt, is_provider_name, nearest, ticked};
use crate::origin::{ConfigFile, Sourced};
use crate::problem::ConfigProblem;
use crate::toml_text::TomlText;
use crate::vocabulary::{FsAbility, Role};

const TABLES: &[&str] = &["defaults", "gates", "providers", "roles", "session"];
const ROLE_KEYS: &[&str] = &["default", "planner", "generator", "reviewer", "reviser"];
const GATE_OPTIONS: &[&str] = &["approver", "max_retries", "allow_rewrite"];
const DEFAULTS_KEYS: &[&str] = &["fs_ability"];
const PROVIDER_KEYS: &[&str] =
    &["type", "fs_ability", "supports_system_prompt", "supports_file_attachments", "dir"];
const SESSION_KEYS: &[&str] = &["max_iterations", "hash_prompts", "budget_tokens"];

/// Where a key belongs that stands in the wrong table.
const HOMES: &[(&str, &[&str])] = &[
    ("[defaults]", DEFAULTS_KEYS),
    ("[session]", SESSION_KEYS),
    ("[roles]", ROLE_KEYS),
    ("[providers.NAME]", PROVIDER_KEYS),
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
    toml.problem(offset, format!("not valid TOML: {what}"))
        .with_advice("correct the line; texts stand in quotes, tables begin with `[name]`")
}

struct LayerReader<'a> {
    toml: TomlText<'a>,
    root: &'a Path,
    layer: ConfigLayer,
    problems: Vec<ConfigProblem>,
}

/// A key and its value, with the table they stand in.
struct Setting<'s, 'a> {
    /// The table as a person writes it; empty for the file itself.
    table: &'s str,
    key: &'s str,
    key_offset: usize,
    value: &'s Spanned<DeValue<'a>>,
}

impl Setting<'_, '_> {
    /// The whole name, as `config show` prints it.
    fn path(&self) -> String {
        let key = excerpt(self.key);
        let is_bare = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let key = if is_bare && !key.is_empty() { key } else { format!("\"{key}\"") };
        if self.table.is_empty() { key } else { format!("{}.{key}", self.table) }
    }
}

impl LayerReader<'_> {
    fn file(&mut self, root: &DeTable<'_>) {
        self.each("", root, |reader, setting| match setting.key {
            "defaults" => reader.table(setting, Self::defaults),
            "gates" => reader.table(setting, Self::gates),
            "providers" => reader.table(setting, Self::provider),
            "roles" => reader.table(setting, Self::role),
            "session" => reader.table(setting, Self::session),
            _ => reader.unknown(setting, TABLES),
        });
    }

    fn role(&mut self, setting: &Setting<'_, '_>) {
        match Role::from_name(setting.key) {
            Some(role) => {
                if let Some(provider) = self.provider_name(setting) {
                    self.layer.roles.insert(role, provider);
                }
            }
            None if setting.key == "default" => self.layer.default_role = self.provider_name(setting),
            None => self.unknown(setting, ROLE_KEYS),
        }
    }

    fn gates(&mut self, setting: &Setting<'_, '_>) {
        match GateName::from_name(setting.key) {
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
        let is_phase = GateName::ALL.iter().any(|gate| gate.as_str().split('.').next() == Some(setting.key));
        if is_phase && setting.value.get_ref().is_table() {
            // `planning.prompt = …` without quotes is a table `planning` to TOML.
            let message = format!("`{}` is not a gate", setting.path());
            let advice = format!("write the gate's name in quotes: `\"{}.prompt\"`", setting.key);
            self.report(setting.key_offset, message, |problem| problem.with_advice(advice));
            return;
        }
        let known: Vec<&str> =
            std::iter::once("default").chain(GateName::ALL.map(GateName::as_str)).collect();
        self.unknown(setting, &known);
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
            _ => self.unknown(setting, SESSION_KEYS),
        }
    }

    fn provider(&mut self, setting: &Setting<'_, '_>) {
        if !is_provider_name(setting.key) {
            let message = format!("`{}` is no name for a provider", excerpt(setting.key));
            self.report(setting.key_offset, message, |problem| {
                problem.with_advice(format!("a provider's name is {PROVIDER_NAME_RULE}"))
            });
            return;
        }
        let Some(table) = self.expect_table(setting) else { return };
        let mut provider = ProviderConfig::new(self.toml.origin(setting.key_offset));
        self.each(&setting.path(), table, |reader, setting| match setting.key {
            "type" => provider.kind = reader.provider_name(setting),
            "fs_ability" => provider.fs_ability = reader.fs_ability(setting),
            "supports_system_prompt" => provider.supports_system_prompt = reader.boolean(setting),
            "supports_file_attachments" => provider.supports_file_attachments = reader.boolean(setting),
            "dir" => provider.dir = reader.dir(setting),
            _ => reader.unknown(setting, PROVIDER_KEYS),
        });
        self.layer.providers.insert(setting.key.to_owned(), provider);
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
                let message = format!("`{}` has no `approver`", setting.path());
                let advice = format!("add `approver`, one of {}", ticked(Approver::LEGAL));
                self.report(setting.key_offset, message, |problem| problem.with_advice(advice));
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

    fn fs_ability(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<FsAbility>> {
        self.choice(setting, FsAbility::from_name, &FsAbility::ALL.map(FsAbility::as_str))
    }

    fn choice<T>(
        &mut self,
        setting: &Setting<'_, '_>,
        from_name: fn(&str) -> Option<T>,
        legal: &[&str],
    ) -> Option<Sourced<T>> {
        let name = setting.value.get_ref().as_str().unwrap_or_default();
        let expected = || format!("one of {}", ticked(legal.iter().copied()));
        self.expect(setting, from_name(name), expected, nearest(name, legal.iter().copied()))
    }

    fn provider_name(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<String>> {
        let name = setting.value.get_ref().as_str().filter(|name| is_provider_name(name));
        self.expect(setting, name.map(str::to_owned), || format!("a name of {PROVIDER_NAME_RULE}"), None)
    }

    fn dir(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<PathBuf>> {
        let is_path = |path: &&str| {
            // `~` would name a directory called `~`: nobody means that.
            !path.trim().is_empty() && !path.starts_with('~') && !path.contains(char::is_control)
        };
        let dir = setting.value.get_ref().as_str().filter(is_path).map(|path| self.root.join(path));
        let expected = || "a path without `~`, absolute or relative to the directory of `.aiwf/`".to_owned();
        self.expect(setting, dir, expected, None)
    }

    fn boolean(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<bool>> {
        self.expect(setting, setting.value.get_ref().as_bool(), || "`true` or `false`".to_owned(), None)
    }

    fn count(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<NonZeroU32>> {
        let count = integer(setting).and_then(NonZeroU32::new);
        self.expect(setting, count, || format!("a whole number from 1 to {}", u32::MAX), None)
    }

    fn count_or_zero(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<u32>> {
        self.expect(setting, integer(setting), || format!("a whole number from 0 to {}", u32::MAX), None)
    }

    /// The value with its origin; a problem when there is none.
    fn expect<T>(
        &mut self,
        setting: &Setting<'_, '_>,
        value: Option<T>,
        expected: impl FnOnce() -> String,
        meant: Option<&str>,
    ) -> Option<Sourced<T>> {
        if value.is_none() {
            let found = self.toml.shown(setting.value.span());
            let message = format!("`{}` is `{found}`, not {}", setting.path(), expected());
            self.report(setting.value.span().start, message, |problem| {
                problem.with_nearest(meant).with_advice("correct the value, or remove the line")
            });
        }
        value.map(|value| Sourced::new(value, self.toml.origin(setting.key_offset)))
    }

    fn table(&mut self, setting: &Setting<'_, '_>, read: fn(&mut Self, &Setting<'_, '_>)) {
        if let Some(table) = self.expect_table(setting) {
            self.each(setting.key, table, read);
        }
    }

    fn expect_table<'s, 'a>(&mut self, setting: &Setting<'s, 'a>) -> Option<&'s DeTable<'a>> {
        let table = setting.value.get_ref().as_table();
        if table.is_none() {
            let found = self.toml.shown(setting.value.span());
            let message = format!("`{}` is `{found}`, not a table", setting.path());
            let advice = format!("begin the table with a line `[{}]`", setting.path());
            self.report(setting.value.span().start, message, |problem| problem.with_advice(advice));
        }
        table
    }

    fn each(&mut self, path: &str, table: &DeTable<'_>, mut read: impl FnMut(&mut Self, &Setting<'_, '_>)) {
        for (key, value) in table {
            let setting = Setting { table: path, key: key.get_ref(), key_offset: key.span().start, value };
            read(self, &setting);
        }
    }

    fn unknown(&mut self, setting: &Setting<'_, '_>, known: &[&str]) {
        let key = excerpt(setting.key);
        let place =
            if setting.table.is_empty() { String::new() } else { format!(" in `[{}]`", setting.table) };
        let near = nearest(setting.key, known.iter().copied());
        let home = HOMES.iter().find(|(_, keys)| keys.contains(&setting.key));
        let advice = match home {
            Some((table, _)) if near.is_none() => format!("`{key}` belongs in `{table}`"),
            _ => format!("known: {}", ticked(known.iter().copied())),
        };
        self.report(setting.key_offset, format!("unknown key `{key}`{place}"), |problem| {
            problem.with_nearest(near).with_advice(advice)
        });
    }

    fn report(
        &mut self,
        offset: usize,
        message: String,
        complete: impl FnOnce(ConfigProblem) -> ConfigProblem,
    ) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(complete(self.toml.problem(offset, message)));
        }
    }
}

fn integer(setting: &Setting<'_, '_>) -> Option<u32> {
    let number = setting.value.get_ref().as_integer()?;
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

#[cfg(test)]
#[path = "layer_reader_tests.rs"]
mod tests;
