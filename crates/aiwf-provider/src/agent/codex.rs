//! Codex CLI, headless: `codex exec --json`.
//!
//! Its sandbox holds the commands it runs to reading, or to writing below the working directory. The user's own
//! configuration, with its servers and rules, is left out: those run outside of the sandbox. The login stays.

use std::fmt::Write as _;

use serde_json::Value;

use super::agent_output::{AgentOutput, Events, Fold, JsonLines, count_at, text_at};
use super::installed::{self, CODEX, Depth, InstalledProgram};
use super::invocation::{Call, Invocation, prompt_text, untrimmed};
use super::{Dialect, program_of};
use crate::ask::{Permission, Request, Usage};
use crate::ask_error::AskError;
use crate::limit::{self, Clock, Limit};
use crate::provider_setting::{KeySource, ProviderSetting};
use aiwf_advice::{Action, Advice};
use aiwf_process::Ended;

/// How many characters of prompt it takes; more are rejected without a request.
const MAX_PROMPT_CHARS: u64 = 1_048_576;
/// The variable a key goes in when the user's configuration names none.
const KEY_VARIABLE: &str = "AIWF_PROVIDER_KEY";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Codex;

impl Dialect for Codex {
    fn program(&self) -> &'static str {
        "codex"
    }

    fn install_hint(&self, setting: &ProviderSetting) -> String {
        CODEX.install_hint(setting)
    }

    fn inspect(&self, setting: &ProviderSetting, depth: Depth) -> InstalledProgram {
        installed::inspect(&CODEX, &program_of(setting, self.program()), setting, depth)
    }

    fn vendors(&self) -> &'static [&'static str] {
        &["https://api.openai.com", "https://chatgpt.com"]
    }

    fn refuse(&self, setting: &ProviderSetting, request: &Request<'_>) -> Result<(), AskError> {
        let prompt = prompt_text(request.payload);
        if prompt.starts_with('\u{feff}') {
            return Err(AskError::Unsendable {
                provider: setting.name.clone(),
                message: "a byte order mark would be dropped".to_owned(),
                line: 1,
                column: 1,
            });
        }
        let found = prompt.chars().count() as u64;
        if found > MAX_PROMPT_CHARS {
            return Err(AskError::PromptTooLong {
                provider: setting.name.clone(),
                found,
                limit: MAX_PROMPT_CHARS,
                unit: "characters",
            });
        }
        Ok(())
    }

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, AskError> {
        let setting = call.setting;
        let mut invocation = Invocation {
            program: program_of(setting, self.program()),
            stdin: prompt_text(call.request.payload).into_bytes(),
            ..Invocation::default()
        };
        let sandbox = match call.request.permission {
            // It cannot be limited to one file.
            Permission::ReadOnly | Permission::WriteResponse => "read-only",
            Permission::WriteDirectory => "workspace-write",
        };
        invocation
            .args(["exec", "--json", "--ephemeral", "--skip-git-repo-check"])
            .args(["--ignore-user-config", "--ignore-rules", "-s", sandbox, "-C"])
            .arg(call.request.directory);
        if call.request.permission == Permission::WriteDirectory {
            // Commands may write to temporary directories too: `/tmp` is everybody's, so they get one of their own.
            invocation.args(["-c", "sandbox_workspace_write.exclude_slash_tmp=true"]);
        }
        // What the project wants said is in the prompt already, and nothing is looked up elsewhere.
        invocation.args(["-c", "project_doc_max_bytes=0", "-c", "web_search=\"disabled\""]);
        if let Some(model) = &setting.model {
            invocation.args(["-m", model]);
        }
        if let Some(system) = call.request.payload.system_text() {
            // Instructions as an argument would be seen by everyone who lists processes, and could not be long.
            let path = invocation.file(call, "system.md", untrimmed(&system));
            config(&mut invocation, "model_instructions_file", &path.to_string_lossy());
        }
        hand_over(call, &mut invocation);
        if call.request.permission == Permission::WriteDirectory {
            invocation.env("TMPDIR", call.private_dir.to_string_lossy());
        }
        invocation.arg("-");
        Ok(invocation)
    }

    fn fold(&self, _: &Call<'_>) -> Box<dyn Fold> {
        Box::new(JsonLines::new(CodexEvents))
    }

    fn limit(&self, words: &str, details: Option<&str>, clock: &Clock) -> Option<Limit> {
        limit::of_codex(words, details, clock)
    }

    fn advice(&self, words: &str, ended: &Ended) -> Advice {
        if ended.code == Some(2) {
            return CODEX.update_hint().into();
        }
        if words.contains("401") || words.contains("Unauthorized") || words.contains("login") {
            return "log in with `codex login`, or set `api_key_env` of the provider".into();
        }
        Advice::from(Action::Retry).then(" asks again")
    }
}

fn config(invocation: &mut Invocation, name: &str, value: &str) {
    invocation.arg("-c").arg(format!("{name}={}", toml_quoted(value)));
}

/// A text as TOML writes it.
fn toml_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

fn hand_over(call: &Call<'_>, invocation: &mut Invocation) {
    let setting = call.setting;
    if let Some(base_url) = &setting.base_url {
        config(invocation, "model_provider", "aiwf");
        config(invocation, "model_providers.aiwf.name", &setting.name);
        config(invocation, "model_providers.aiwf.base_url", &base_url.url);
        config(invocation, "model_providers.aiwf.wire_api", "responses");
        if let Some(key) = call.key {
            let variable = match &setting.key {
                KeySource::Variable { name, .. } => name,
                KeySource::None | KeySource::Command(_) => KEY_VARIABLE,
            };
            config(invocation, "model_providers.aiwf.env_key", variable);
            invocation.env(variable, key.expose());
        }
    } else if let Some(key) = call.key {
        invocation.env("CODEX_API_KEY", key.expose());
    }
    invocation.env_of(setting);
}

#[derive(Debug)]
pub(crate) struct CodexEvents;

impl Events for CodexEvents {
    fn event(&mut self, event: &Value, output: &mut AgentOutput) {
        match text_at(event, "/type") {
            Some("item.completed") => item(event, output),
            // Said for every attempt, the failed ones too: only the end of the turn tells whether it mattered.
            Some("error") => output.complaint = text_at(event, "/message").map(str::to_owned),
            Some("turn.completed") => {
                output.is_whole = true;
                // It may take seconds to go, for things that are not about the reply.
                output.is_done = true;
                output.usage = usage(event).or(output.usage.take());
            }
            Some("turn.failed") => {
                let words = text_at(event, "/error/message").or_else(|| text_at(event, "/error"));
                output.fail(words.unwrap_or_default());
                output.is_done = true;
            }
            Some(_) | None => {}
        }
    }
}

fn item(event: &Value, output: &mut AgentOutput) {
    match text_at(event, "/item/type") {
        // Each message stands for those before it: what it says while it works is not the reply.
        Some("agent_message") => output.say_anew(text_at(event, "/item/text").unwrap_or_default()),
        Some("error") => {
            if let Some(message) = text_at(event, "/item/message").or_else(|| text_at(event, "/item/text")) {
                output.notes.push(super::agent_output::shown(message));
            }
        }
        Some(_) | None => {}
    }
}

/// What the turn cost; tokens from the cache are part of the input.
fn usage(event: &Value) -> Option<Usage> {
    let usage = event.pointer("/usage")?;
    let usage = Usage {
        input_tokens: count_at(usage, "/input_tokens"),
        output_tokens: count_at(usage, "/output_tokens"),
        cached_tokens: count_at(usage, "/cached_input_tokens"),
        cost: None,
    };
    // Where nothing was counted the counts are zero, and unknown.
    let is_counted = usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0) > 0;
    is_counted.then_some(usage)
}
