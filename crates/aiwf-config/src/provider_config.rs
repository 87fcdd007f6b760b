//! The tables `[providers.NAME]`.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use crate::fault::ConfigFault;
use crate::layer_reader::{LayerReader, TomlEntry};
use crate::name::{excerpt, is_provider_name};
use crate::origin::{Origin, Sourced};
use crate::setting::{Rule, at_most, settings};
use crate::table_kinds::{Map, Name, NamedTable};
use crate::tables::writing_needs_consent;
use crate::value::{
    Address, AnyText, Directory, LargeCount, Line, OneOf, Program, ProviderType, ReplySource, Switch, Time,
    VariableName, Words, is_variable, outside_is_user_only, path_is_user_only,
};
use crate::vocabulary::{EditForm, FsAbility};

settings! {
    /// A provider, or settings of a built-in one. The available keys depend on its type.
    pub ProviderConfig {
        /// The type of the provider: one of the built-in names. Built-in providers need none.
        kind as "type": Option<Sourced<String>> = ProviderType, Rule::DecidesWhatRuns;
        /// The model; by default, an agent uses its own.
        model: Option<Sourced<String>> = Line;
        /// The program of an agent.
        program: Option<Sourced<String>> = Program, path_is_user_only(), Rule::DecidesWhatRuns;
        /// The program and its arguments, for the type `command`.
        argv: Option<Sourced<Vec<String>>> = Words, Rule::DecidesWhatRuns;
        /// Where the reply of a `command` is read from.
        reply: Option<Sourced<String>> = ReplySource ["stdout" elsewhere];
        /// Whether a `command` edits files; it then runs in its own worktree.
        write: Option<Sourced<bool>> = Switch ["false" elsewhere], Rule::DecidesWhatRuns;
        /// Address of the API.
        base_url: Option<Sourced<String>> = Address, Rule::DecidesWhatRuns;
        /// The environment variable with the key.
        api_key_env: Option<Sourced<String>> = VariableName, Rule::DecidesWhatRuns;
        /// The program that prints the key.
        api_key_command: Option<Sourced<Vec<String>>> = Words, Rule::UserOnly, Rule::DecidesWhatRuns;
        /// Environment variables for the program; a project may set only harmless ones, such as `LANG`.
        env: BTreeMap<String, Sourced<String>> = Map<AgentVariable, AnyText>, Rule::DecidesWhatRuns;
        /// Directory with the recordings of a `replay`.
        dir: Option<Sourced<PathBuf>> = Directory, outside_is_user_only();
        /// Maximum time of a call.
        timeout: Option<Sourced<Duration>> = Time ["30m" elsewhere], at_most();
        /// Maximum time to connect.
        connect_timeout: Option<Sourced<Duration>> = Time ["10s" elsewhere], at_most();
        /// Maximum time until the first byte arrives.
        first_byte_timeout: Option<Sourced<Duration>> = Time ["5m" elsewhere], at_most();
        /// Maximum number of tokens in a reply.
        max_output_tokens: Option<Sourced<NonZeroU64>> = LargeCount, at_most();
        /// Number of tokens that the model can take.
        context_window: Option<Sourced<NonZeroU64>> = LargeCount, at_most();
        /// Maximum number of bytes in a reply.
        max_reply_bytes: Option<Sourced<NonZeroU64>> = LargeCount ["33554432" elsewhere], at_most();
        /// What the provider can do with files.
        fs_ability: Option<Sourced<FsAbility>> = OneOf<FsAbility>, writing_needs_consent();
        /// The form that prompts ask for when it changes files in its reply; the default is `[defaults] edit_form`.
        edit_form: Option<Sourced<EditForm>> = OneOf<EditForm>;
        /// Whether the provider takes a system prompt.
        supports_system_prompt: Option<Sourced<bool>> = Switch;
        /// Whether the provider opens `@path` references itself.
        supports_file_attachments: Option<Sourced<bool>> = Switch;
    }
}

/// Keys that people expect from other tools; a secret must not be in a file.
const SECRET_KEYS: &[&str] = &["api_key", "key", "token", "secret"];

impl NamedTable for ProviderConfig {
    fn new(origin: Origin) -> Self {
        Self { origin, ..Self::default() }
    }

    fn name_fault(name: &str) -> Option<ConfigFault> {
        (!is_provider_name(name)).then(|| ConfigFault::ProviderName { name: excerpt(name) })
    }

    fn key_fault(key: &str, path: String) -> Option<ConfigFault> {
        SECRET_KEYS.contains(&key).then_some(ConfigFault::KeyInFile { path })
    }
}

/// An environment variable for an agent.
pub(crate) struct AgentVariable;

impl Name for AgentVariable {
    type Key = String;
    const LABEL: &'static str = "variable";

    fn read(reader: &mut LayerReader<'_>, entry: &TomlEntry<'_, '_>) -> Option<String> {
        if !is_variable(entry.key) {
            reader.report(entry.key_offset, ConfigFault::VariableName { path: entry.path() });
            return None;
        }
        if reader.is_project() && !is_harmless(entry.key) {
            reader.report_user_only(entry);
            return None;
        }
        Some(entry.key.to_owned())
    }

    fn show(key: &String) -> String {
        key.clone()
    }
}

/// Whether a project may set a variable for an agent: only locale, output, limits and models.
///
/// Any other variable could determine which code runs, where programs find their settings and credentials, or whom they
/// contact.
fn is_harmless(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let exact = ["CI", "LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "RUST_BACKTRACE"];
    let begins = ["LC_", "AIWF_"];
    let ends = ["_MODEL", "_TOKENS", "_EFFORT", "_LOG_LEVEL", "_TIMEOUT", "_TIMEOUT_MS"];
    exact.contains(&name.as_str())
        || begins.iter().any(|begin| name.starts_with(begin))
        || ends.iter().any(|end| name.ends_with(end))
}
