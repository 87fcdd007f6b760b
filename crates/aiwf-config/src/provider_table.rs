//! Reads a table `[providers.NAME]`.

use toml::de::DeTable;

use crate::config_layer::ProviderConfig;
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
            "program" => provider.program = reader.text(setting),
            "argv" => provider.argv = reader.texts(setting),
            "reply" => provider.reply = reader.reply_source(setting),
            "env" => reader.variables(setting, &mut provider),
            "dir" => provider.dir = reader.dir(setting),
            "max_output_tokens" => provider.max_output_tokens = reader.large_count(setting),
            "context_window" => provider.context_window = reader.large_count(setting),
            "max_reply_bytes" => provider.max_reply_bytes = reader.large_count(setting),
            "fs_ability" => provider.fs_ability = reader.fs_ability(setting),
            "supports_system_prompt" => provider.supports_system_prompt = reader.boolean(setting),
            "supports_file_attachments" => provider.supports_file_attachments = reader.boolean(setting),
            key if KEYS_IN_FILES.contains(&key) => {
                let message = format!("`{}`: keys do not stand in files", setting.path());
                reader.report(setting.key_offset, message, |problem| {
                    problem.with_advice("name the variable that holds it with `api_key_env`")
                });
            }
            _ => reader.unknown(setting, PROVIDER_KEYS),
        });
        if self.toml.file() == ConfigFile::User {
            provider.users_base_url = provider.base_url.as_ref().map(|url| url.value.clone());
        }
        provider
    }

    /// A checkout must not be able to run a program that reads keys.
    fn key_command(&mut self, setting: &Setting<'_, '_>) -> Option<Sourced<Vec<String>>> {
        if self.toml.file() == ConfigFile::Project {
            let message = format!("`{}` counts only in your own configuration", setting.path());
            self.report(setting.key_offset, message, |problem| {
                problem.with_advice("move the line to `~/.aiwf/config.toml`")
            });
            return None;
        }
        self.texts(setting)
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
                let message = format!("`{}` is no name for a variable", setting.path());
                return reader.report(setting.key_offset, message, |problem| {
                    problem.with_advice("names have letters, digits and `_`, and begin with no digit")
                });
            }
            let value = setting.value.get_ref().as_str().filter(|text| !text.contains('\0'));
            let value = value.map(str::to_owned);
            if let Some(value) = reader.expect(setting, value, || "a text".to_owned(), None) {
                provider.env.insert(setting.key.to_owned(), value);
            }
        });
    }
}
