//! The configuration as a list, for `config show`.

use crate::config::Config;
use crate::origin::{Origin, Sourced};
use crate::vocabulary::FsAbility;
use aiwf_session::Role;

/// One setting as it is in force.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The whole name, such as `session.max_iterations`.
    pub key: String,
    /// The value as people write it, without quotes.
    pub value: String,
    /// Where it comes from; a role or gate that is not named has the origin of the `default` it follows.
    pub origin: Origin,
}

impl Config {
    /// Every setting that has a value, sorted by name.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = vec![
            entry("roles.default", &self.roles.default, String::clone),
            entry("gates.default", &self.gates.default, ToString::to_string),
            entry("session.max_iterations", &self.session.max_iterations, ToString::to_string),
            entry("session.max_template_mb", &self.session.max_template_mb, ToString::to_string),
            entry("session.hash_prompts", &self.session.hash_prompts, ToString::to_string),
            entry("change.max_rounds", &self.change.max_rounds, ToString::to_string),
            entry("change.write", &self.change.write, ToString::to_string),
        ];
        for role in Role::STANDARD {
            entries.push(entry(&format!("roles.{}", role.as_str()), self.roles.get(role), String::clone));
        }
        let of_their_own = self.roles.named.iter().filter(|(role, _)| !Role::STANDARD.contains(role));
        for (role, provider) in of_their_own {
            entries.push(entry(&format!("roles.{}", role.as_str()), provider, String::clone));
        }
        for (pattern, gate) in &self.gates.named {
            entries.push(entry(&format!("gates.\"{pattern}\""), gate, ToString::to_string));
        }
        let ability = |ability: &FsAbility| ability.as_str().to_owned();
        let mut add_if_set = |set: Option<Entry>| entries.extend(set);
        add_if_set(optional("defaults.fs_ability", self.default_fs_ability.as_ref(), ability));
        add_if_set(optional(
            "session.budget_tokens",
            self.session.budget_tokens.as_ref(),
            ToString::to_string,
        ));
        add_if_set(optional("budget.max_calls", self.budget.max_calls.as_ref(), ToString::to_string));
        add_if_set(optional("budget.max_tokens", self.budget.max_tokens.as_ref(), ToString::to_string));
        add_if_set(optional("budget.max_cost", self.budget.max_cost.as_ref(), ToString::to_string));
        for (model, price) in &self.prices {
            let part = |name: &str, value: f64| {
                let key = format!("prices.\"{model}\".{name}");
                Some(Entry { key, value: value.to_string(), origin: price.origin })
            };
            add_if_set(part("input", price.value.input));
            add_if_set(part("output", price.value.output));
            add_if_set(price.value.cached_input.and_then(|cached| part("cached_input", cached)));
        }
        for (phase, agent) in &self.change.agents {
            add_if_set(Some(entry(&format!("change.agents.{phase}"), agent, String::clone)));
        }
        add_if_set(optional("change.files", self.change.files.as_ref(), |files| list(files)));
        let standards = &self.standards;
        for (key, value) in [
            ("standards.dirs", &standards.dirs),
            ("standards.replace", &standards.replace),
            ("standards.exclude", &standards.exclude),
        ] {
            add_if_set(optional(key, value.as_ref(), |words| list(words)));
        }
        for (name, provider) in &self.providers {
            let name = if name.contains('.') { format!("\"{name}\"") } else { name.clone() };
            let key = |key: &str| format!("providers.{name}.{key}");
            add_if_set(optional(&key("type"), provider.kind.as_ref(), String::clone));
            add_if_set(optional(&key("fs_ability"), provider.fs_ability.as_ref(), ability));
            add_if_set(optional(
                &key("supports_system_prompt"),
                provider.supports_system_prompt.as_ref(),
                ToString::to_string,
            ));
            add_if_set(optional(
                &key("supports_file_attachments"),
                provider.supports_file_attachments.as_ref(),
                ToString::to_string,
            ));
            add_if_set(optional(&key("dir"), provider.dir.as_ref(), |dir| dir.display().to_string()));
            for (setting, value) in [
                ("model", &provider.model),
                ("base_url", &provider.base_url),
                ("api_key_env", &provider.api_key_env),
                ("program", &provider.program),
                ("reply", &provider.reply),
            ] {
                add_if_set(optional(&key(setting), value.as_ref(), String::clone));
            }
            for (setting, value) in [("api_key_command", &provider.api_key_command), ("argv", &provider.argv)]
            {
                add_if_set(optional(&key(setting), value.as_ref(), |words| list(words)));
            }
            for (setting, value) in [
                ("timeout", &provider.timeout),
                ("connect_timeout", &provider.connect_timeout),
                ("first_byte_timeout", &provider.first_byte_timeout),
            ] {
                add_if_set(optional(&key(setting), value.as_ref(), |time| format!("{}ms", time.as_millis())));
            }
            for (setting, value) in [
                ("max_output_tokens", &provider.max_output_tokens),
                ("context_window", &provider.context_window),
                ("max_reply_bytes", &provider.max_reply_bytes),
            ] {
                add_if_set(optional(&key(setting), value.as_ref(), ToString::to_string));
            }
            for (variable, value) in &provider.env {
                add_if_set(Some(entry(&key(&format!("env.{variable}")), value, String::clone)));
            }
        }
        entries.extend(self.tool_entries());
        entries.extend(self.trust_entries());
        entries.extend(self.workflow_entries());
        entries.sort();
        entries
    }
}

pub(crate) fn entry<T>(key: &str, sourced: &Sourced<T>, shown: impl Fn(&T) -> String) -> Entry {
    Entry { key: key.to_owned(), value: shown(&sourced.value), origin: sourced.origin }
}

pub(crate) fn optional<T>(
    key: &str,
    sourced: Option<&Sourced<T>>,
    shown: impl Fn(&T) -> String,
) -> Option<Entry> {
    sourced.map(|sourced| entry(key, sourced, shown))
}

pub(crate) fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    format!("[{}]", words.join(", "))
}
