//! `aiwf providers`: lists providers and their abilities.

use std::io::Write as _;

use aiwf_engine::{Engine, ProviderReport};
use serde::Serialize;
use serde_json::json;

use crate::advice_words;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

pub(crate) fn run(name: Option<&str>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let providers = engine.providers(name)?;
    if let Some(name) = name.filter(|_| providers.is_empty()) {
        let known = engine.provider_names()?;
        return Err(CommandError::UnknownProvider { name: name.to_owned(), known }.into());
    }
    if output.is_json() {
        let providers = providers.iter().map(|report| ProviderJson {
            report,
            problem: report.problem.as_ref().map(advice_words::in_one_line),
        });
        let providers: Vec<ProviderJson<'_>> = providers.collect();
        return output.json(json!({ "providers": providers }), Exit::Done);
    }
    let text = match (name, providers.as_slice()) {
        (Some(_), [provider]) => block(provider),
        _ => list(&providers),
    };
    output::print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Done)
}

/// One line each.
/// A report in JSON, with the problem in words.
#[derive(Serialize)]
struct ProviderJson<'a> {
    #[serde(flatten)]
    report: &'a ProviderReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

fn list(providers: &[ProviderReport]) -> String {
    let width = |of: fn(&ProviderReport) -> &str| {
        providers.iter().map(|provider| of(provider).chars().count()).max().unwrap_or_default()
    };
    let (names, kinds) = (width(|provider| &provider.name), width(|provider| &provider.kind));
    let line = |provider: &ProviderReport| {
        let model = provider.model.as_ref().map(|model| format!(", model {model}")).unwrap_or_default();
        let mark = if provider.can_be_asked { "" } else { " (not configured)" };
        format!(
            "{:names$}  {:kinds$}  {:11}  {}{model}{mark}\n",
            provider.name,
            provider.kind,
            files(provider),
            provider.description
        )
    };
    providers.iter().map(line).collect()
}

/// Its best file access.
fn files(provider: &ProviderReport) -> &'static str {
    provider.lowered_from.unwrap_or(provider.fs_ability)
}

/// Where its program is, and which version.
fn program(provider: &ProviderReport) -> Option<String> {
    let path = provider.program.as_ref()?;
    Some(match (&provider.version, provider.tested_version) {
        (Some(version), Some(tested)) if version != tested => {
            format!("{path}, version {version} (tested with {tested})")
        }
        (Some(version), _) => format!("{path}, version {version}"),
        (None, _) => path.clone(),
    })
}

/// Everything that is known about one.
fn block(provider: &ProviderReport) -> String {
    let yes = |value: bool| if value { "yes" } else { "no" }.to_owned();
    let tokens =
        |tokens: Option<u64>| tokens.map_or("unknown".to_owned(), |tokens| format!("{tokens} tokens"));
    let held = match (provider.lowered_from, provider.fs_ability_read_only == provider.fs_ability) {
        (Some(_), _) => format!("; lowered to {}, since it may only read", provider.fs_ability),
        (None, false) => {
            format!("; {} in plans and reviews, where it may only read", provider.fs_ability_read_only)
        }
        (None, true) => String::new(),
    };
    let mut rows = vec![
        ("type", format!("{} ({})", provider.kind, provider.description)),
        ("model", provider.model.clone().unwrap_or_else(|| "not set".to_owned())),
    ];
    rows.extend(program(provider).map(|program| ("program", program)));
    rows.extend(provider.base_url.clone().map(|base_url| ("address", base_url)));
    rows.extend(provider.key.clone().map(|key| ("key", key)));
    rows.extend([
        ("files", format!("{}{held}", files(provider))),
        ("edits files", if provider.writes_files { "in a worktree" } else { "in its reply" }.to_owned()),
        ("confinement", provider.confinement.to_owned()),
        ("system prompt", yes(provider.supports_system_prompt)),
        ("attachments", yes(provider.supports_file_attachments)),
        ("window", tokens(provider.context_window)),
        ("reply limit", provider.max_output_tokens.map_or("none".to_owned(), |limit| tokens(Some(limit)))),
        ("streaming", yes(provider.streaming)),
        ("tools", yes(provider.tools)),
    ]);
    rows.extend(provider.template_agent.map(|agent| ("templates", format!("{agent}, else BASE"))));
    rows.push((
        "set up",
        provider
            .problem
            .as_ref()
            .map_or("yes".to_owned(), |problem| format!("no: {}", advice_words::in_one_line(problem))),
    ));
    let lines = rows.iter().map(|(name, value)| format!("  {name:14} {value}\n"));
    format!("{}\n{}", provider.name, lines.collect::<String>())
}
