//! Reports on providers, for `aiwf providers`.

use aiwf_config::{Config, Flags};
use aiwf_prompt::{Capability, FsAbility};
use aiwf_provider::{Confinement, InstalledProgram, KeySource, kind_names};
use serde::Serialize;

use crate::Engine;
use crate::ask::providers::{
    Duty, ProviderEntry, ability, load_config, named, setting, template_agent, writes_files,
};
use crate::catalog::validate::Finding;
use crate::session::session_error::SessionError;

/// Maximum number of providers checked in parallel.
const MAX_THREADS: usize = 8;

#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the JSON")]
pub struct ProviderReport {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub description: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// File access when it writes files.
    pub fs_ability: &'static str,
    /// File access that it would have if aiwf could limit it to the response path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered_from: Option<&'static str>,
    /// File access in plans and reviews, where it may only read.
    pub fs_ability_read_only: &'static str,
    /// Whether it edits files in a worktree instead of replying with edits.
    pub writes_files: bool,
    /// How far aiwf can restrict it.
    pub confinement: &'static str,
    /// Whether it takes a separate system prompt.
    pub supports_system_prompt: bool,
    /// Whether it opens `@path` references itself.
    pub supports_file_attachments: bool,
    /// In tokens, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Maximum number of reply tokens, if aiwf can limit them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    pub streaming: bool,
    /// Whether it supports tools natively.
    pub tools: bool,
    /// The agent whose system templates it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_agent: Option<&'static str>,
    /// The server, if it is not the vendor's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Where its key comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Path of the installed program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The version of the program that aiwf is tested with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tested_version: Option<&'static str>,
    /// Whether it is configured completely and its program works.
    pub can_be_asked: bool,
    /// Whether its program and its key are there now.
    #[serde(skip)]
    pub can_start: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(skip)]
    pub problem: Option<Finding>,
}

impl Engine {
    /// All providers, built in and configured, or only the given one.
    ///
    /// Runs the programs of agents to get their version and help. Programs that only a checkout names are run only
    /// after the user agreed to them.
    pub fn providers(&self, only: Option<&str>) -> Result<Vec<ProviderReport>, SessionError> {
        let config = load_config(self.settings(), &Flags::default())?;
        let mut names = names(&config);
        names.retain(|name| only.is_none_or(|only| only == name));
        // A program that runs on Node takes a second or more to print its version.
        let reports = names.chunks(MAX_THREADS).flat_map(|names| {
            std::thread::scope(|scope| {
                let report = |name: &String| report(name.clone(), &config, self);
                let threads: Vec<_> = names.iter().map(|name| scope.spawn(move || report(name))).collect();
                let joined = threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                joined.collect::<Vec<_>>()
            })
        });
        Ok(reports.collect())
    }

    pub fn provider_names(&self) -> Result<Vec<String>, SessionError> {
        Ok(names(&load_config(self.settings(), &Flags::default())?))
    }
}

fn names(config: &Config) -> Vec<String> {
    let mut names: Vec<String> = kind_names().into_iter().map(str::to_owned).collect();
    names.extend(config.providers.keys().cloned());
    names.sort();
    names.dedup();
    names
}

fn report(name: String, config: &Config, engine: &Engine) -> ProviderReport {
    let ProviderEntry { kind, table, built_in } = named(&name, config);
    let kind = kind.to_owned();
    let in_duty = |duty| ability(&name, config, None, duty, "").ok();
    let (writes, reads) = (in_duty(Duty::Write), in_duty(Duty::Read));
    let writing = writes.map(|ability| ability.capability).unwrap_or_default();
    let shown = |capability: Option<Capability>| {
        capability.and_then(|capability| capability.fs_ability).map_or("unknown", FsAbility::as_str)
    };
    let setting = setting(&name, config);
    let mut can_start = false;
    let (program, problem) = match engine.open_provider(&name, config) {
        Ok(provider) => {
            can_start = provider.can_start().is_ok();
            let mut program = provider.program().unwrap_or_default();
            let bad = program.check.take().filter(|check| !check.is_ok);
            let problem = bad.map(|check| Finding { message: check.found, advice: check.advice });
            (program, problem)
        }
        Err(error) => (InstalledProgram::default(), Some(Finding::from(&error))),
    };
    ProviderReport {
        description: built_in.map_or("", |built_in| built_in.description),
        model: setting.model,
        fs_ability: shown(Some(writing)),
        lowered_from: writes.and_then(|ability| ability.lowered_from).map(FsAbility::as_str),
        fs_ability_read_only: shown(reads.map(|ability| ability.capability)),
        writes_files: writes_files(&name, config),
        confinement: built_in.map_or(Confinement::Unconfined, |built_in| built_in.confinement).as_str(),
        supports_system_prompt: writing.supports_system_prompt,
        supports_file_attachments: writing.supports_file_attachments,
        context_window: table
            .and_then(|table| table.context_window.as_ref().map(|window| window.value.get()))
            .or_else(|| built_in.and_then(|built_in| built_in.context_window)),
        max_output_tokens: setting.max_output_tokens,
        streaming: built_in.is_some_and(|built_in| built_in.is_streaming),
        tools: built_in.is_some_and(|built_in| built_in.has_native_tools),
        template_agent: template_agent(&name, config),
        base_url: setting.base_url.map(|base_url| base_url.url),
        key: match setting.key {
            KeySource::None => None,
            KeySource::Variable { name, value: Some(_) } => Some(format!("`{name}`, which is set")),
            KeySource::Variable { name, value: None } => Some(format!("`{name}`, which is not set")),
            KeySource::Command(_) => Some("`api_key_command`".to_owned()),
        },
        program: program.path.map(|path| path.display().to_string()),
        version: program.version,
        tested_version: program.tested_version,
        can_be_asked: problem.is_none(),
        can_start,
        problem,
        kind,
        name,
    }
}
