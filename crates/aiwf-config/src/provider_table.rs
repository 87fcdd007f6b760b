//! Reads a table `[providers.NAME]`.

use std::path::{Component, PathBuf};

use toml::de::DeTable;

use crate::config_layer::ProviderConfig;
use crate::fault::ConfigFault;
use crate::layer_reader::{LayerReader, Setting};
use crate::layer_values::is_variable;
use crate::origin::{ConfigFile, Sourced};

pub(crate) const PROVIDER_KEYS: &[&str] = &[
    "type",
    "model",
    "base_url",
    "api_key_env",
    "api_key_command",
    "timeout",
    "connect_timeout",
    "first_byte_timeout",
    "program",
    "argv",
    "reply",
    "env",
    "dir",
    "max_output_tokens",
    "context_window",
    "max_reply_bytes",
    "fs_ability",
    "supports_system_prompt",
    "supports_file_attachments",
];

/// A key of another tool that people try, and that must never be taken.
const KEYS_IN_FILES: &[&str] = &["api_key", "key", "token", "secret"];

impl LayerReader<'_> {
    pub(crate) fn provider_table(
        &mut self,
        setting: &Setting<'_, '_>,
        table: &DeTable<'_>,
    ) -> ProviderConfig {
        let mut provider = ProviderConfig::new(self.toml.origin(setting.key_offset));
        self.each(&setting.path(), table, |reader, setting| match setting.key {
            "type" => provider.kind = reader.provider_name(setting),
            "model" => provider.model = reader.text(setting),
            "base_url" => provider.base_url = reader.url(setting),
            "api_key_env" => provider.api_key_env = reader.variable(setting),
            "api_key_command" => provider.api_key_command = reader.key_command(setting),
            "timeout" => provider.timeout = reader.duration(setting),
            "connect_timeout" => provider.connect_timeout = reader.duration(setting),
            "first_byte_timeout" => provider.first_byte_timeout = reader.duration(setting),
            "program" => provider.program = reader.program(setting),
            "argv" => provider.argv = reader.texts(setting),
            "reply" => provider.reply = reader.reply_source(setting),
            "env" => reader.variables(setting, &mut provider),
            "dir" => provider.dir = reader.recordings(setting),
            "max_output_tokens" => provider.max_output_tokens = reader.large_count(setting),
            "context_window" => provider.context_window = reader.large_count(setting),
            "max_reply_bytes" => provider.max_reply_bytes = reader.large_count(setting),
            "fs_ability" => provider.fs_ability = reader.fs_ability(setting),
            "supports_system_prompt" => provider.supports_system_prompt = reader.boolean(setting),
            "supports_file_attachments" => provider.supports_file_attachments = reader.boolean(setting),
            key if KEYS_IN_FILES.contains(&key) => {
                reader.report(setting.key_offset, ConfigFault::KeyInFile { path: setting.path() });
            }
            _ => reader.unknown(setting, PROVIDER_KEYS),
        });
        if self.toml.file() == ConfigFile::User {
            provider.users_base_url = provider.base_url.as_ref().map(|url| url.value.clone());
        }
        provider
    }

    /// A checkout may name a program that is looked up where the user's are, and no other in a vendor's place.
    fn program(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<String>> {
        let program = self.text(setting)?;
        if self.toml.file() == ConfigFile::Project && program.value.contains(['/', '\\']) {
            self.counts_only_for_the_user(setting);
            return None;
        }
        Some(program)
    }

    pub(crate) fn counts_only_for_the_user(&mut self, setting: &Setting<'_, '_>) {
        self.report(setting.key_offset, ConfigFault::UsersOnly { path: setting.path() });
    }

    /// A checkout must not be able to run a program that reads keys.
    fn key_command(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<Vec<String>>> {
        if self.toml.file() == ConfigFile::Project {
            self.counts_only_for_the_user(setting);
            return None;
        }
        self.texts(setting)
    }

    /// A checkout must not be able to name recordings outside of itself.
    fn recordings(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<PathBuf>> {
        let dir = self.dir(setting)?;
        let below = dir.value.strip_prefix(self.root);
        let is_inside = below.is_ok_and(|below| {
            below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
        });
        if self.toml.file() == ConfigFile::Project && !is_inside {
            self.counts_only_for_the_user(setting);
            return None;
        }
        Some(dir)
    }

    fn reply_source(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<String>> {
        let is_source = |text: &&str| {
            matches!(*text, "stdout" | "file")
                || text
                    .strip_prefix("json:")
                    .is_some_and(|pointer| pointer.is_empty() || pointer.starts_with('/'))
        };
        let source = setting.value.get_ref().as_str().filter(is_source).map(str::to_owned);
        self.expect(setting, source, || "one of `stdout`, `file`, `json:/pointer`".to_owned(), None)
    }

    fn variables(&mut self, setting: &Setting<'_, '_>, provider: &mut ProviderConfig) {
        let Some(table) = self.expect_table(setting) else { return };
        self.each(&setting.path(), table, |reader, setting| {
            if !is_variable(setting.key) {
                let fault = ConfigFault::VariableName { path: setting.path() };
                return reader.report(setting.key_offset, fault);
            }
            if reader.toml.file() == ConfigFile::Project && !is_harmless(setting.key) {
                return reader.counts_only_for_the_user(setting);
            }
            let value = setting.value.get_ref().as_str().filter(|text| !text.contains('\0'));
            let value = value.map(str::to_owned);
            if let Some(value) = reader.expect(setting, value, || "a text".to_owned(), None) {
                provider.env.insert(setting.key.to_owned(), value);
            }
        });
    }
}

/// Whether a project may set a variable for an agent: only such as say how it talks, counts and waits.
///
/// Everything else could say which code runs, where programs find their settings and logins, or whom they talk to.
fn is_harmless(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let exact = ["CI", "LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "RUST_BACKTRACE"];
    let begins = ["LC_", "AIWF_"];
    let ends = ["_MODEL", "_TOKENS", "_EFFORT", "_LOG_LEVEL", "_TIMEOUT", "_TIMEOUT_MS"];
    exact.contains(&name.as_str())
        || begins.iter().any(|begin| name.starts_with(begin))
        || ends.iter().any(|end| name.ends_with(end))
}
