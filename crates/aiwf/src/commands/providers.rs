//! `aiwf providers`: who can answer, and what each can take.

use std::io::Write as _;

use aiwf_engine::Engine;
use aiwf_engine::prompt::nearest;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

pub(crate) fn run(name: Option<&str>, engine: &Engine, output: &Output<'_>) -> Result<Exit, Failure> {
    let mut providers = engine.providers()?;
    if let Some(name) = name {
        let known: Vec<String> = providers.iter().map(|provider| provider.name.clone()).collect();
        providers.retain(|provider| provider.name == name);
        if providers.is_empty() {
            let hint = match nearest(name, known.iter().map(String::as_str)) {
                Some(close) => format!("did you mean `{close}`? `aiwf providers` lists all"),
                None => "`aiwf providers` lists all".to_owned(),
            };
            return Err(Failure::refused(format!("unknown provider `{name}`"), hint));
        }
    }
    if output.is_json() {
        return output.json(json!({ "providers": providers }), Exit::Done);
    }
    output::print(|out| {
        for provider in &providers {
            let yes = |value: bool| if value { "yes" } else { "no" };
            writeln!(
                out,
                "{:14} {:12} files {:12} system prompt {:4} attachments {:4} {}",
                provider.name,
                provider.kind,
                provider.fs_ability,
                yes(provider.supports_system_prompt),
                yes(provider.supports_file_attachments),
                provider.description,
            )?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
