//! Claude Code, headless: `claude -p` with JSON lines both ways.
//!
//! `--restricted` keeps the user's login but not the settings, hooks, instructions and servers of user and project,
//! and holds file tools to the working directory; `dontAsk` denies whatever is not allowed by name.

use std::ffi::OsString;
use std::path::{Component, Path};

use serde_json::{Value, json};

use super::agent_output::{AgentOutput, Events, Fold, JsonLines, count_at, text_at};
use super::installed::{self, CLAUDE_CODE, Depth, InstalledProgram};
use super::invocation::{Call, Invocation, prompt_text};
use super::{Dialect, program_of};
use crate::ask::{Permission, Request, Usage};
use crate::ask_error::AskError;
use crate::limit::{self, Clock, Limit};
use crate::provider_setting::ProviderSetting;
use aiwf_advice::{Action, Advice};
use aiwf_process::Ended;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ClaudeCode;

impl Dialect for ClaudeCode {
    fn program(&self) -> &'static str {
        "claude"
    }

    fn install_hint(&self, setting: &ProviderSetting) -> String {
        CLAUDE_CODE.install_hint(setting)
    }

    fn inspect(&self, setting: &ProviderSetting, depth: Depth) -> InstalledProgram {
        installed::inspect(&CLAUDE_CODE, &program_of(setting, self.program()), setting, depth)
    }

    fn vendors(&self) -> &'static [&'static str] {
        &["https://api.anthropic.com"]
    }

    fn refuse(&self, _: &ProviderSetting, _: &Request<'_>) -> Result<(), AskError> {
        Ok(())
    }

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, AskError> {
        let setting = call.setting;
        let mut invocation = Invocation {
            program: program_of(setting, self.program()),
            // Set when we run inside Claude Code; it would refuse to start.
            env_removed: vec!["CLAUDECODE"],
            stdin: stdin(&prompt_text(call.request.payload)).into_bytes(),
            ..Invocation::default()
        };
        invocation
            .args(["-p", "--restricted", "--strict-mcp-config", "--disable-slash-commands"])
            .args(["--no-session-persistence", "--verbose"])
            .args(["--input-format", "stream-json", "--output-format", "stream-json"]);
        if let Some(model) = &setting.model {
            invocation.args(["--model", model]);
        }
        if let Some(system) = call.request.payload.system_text() {
            let path = invocation.file(call, "system.md", system);
            // It keeps its own instructions, which say how its tools are used; ours are added.
            invocation.arg("--append-system-prompt-file").arg(path);
        }
        permit(call.request, &mut invocation);
        hand_over(call, &mut invocation);
        Ok(invocation)
    }

    fn fold(&self, _: &Call<'_>) -> Box<dyn Fold> {
        Box::new(JsonLines::new(ClaudeEvents))
    }

    fn limit(&self, words: &str, details: Option<&str>, clock: &Clock) -> Option<Limit> {
        limit::of_claude_code(words, details, clock)
    }

    fn advice(&self, words: &str, ended: &Ended) -> Advice {
        if words.contains("unknown option") || ended.stderr.contains("unknown option") {
            return CLAUDE_CODE.update_hint().into();
        }
        if words.contains("authenticate") || words.contains("/login") || words.contains("API key") {
            return "log in by running `claude` yourself, or set `api_key_env` of the provider".into();
        }
        Advice::from(Action::Retry).then(" asks again")
    }
}

/// The prompt as one message.
///
/// Only the last block of a message is looked at for a slash command, and a blank one is dropped before anything is
/// sent: so the prompt arrives as it is, whatever it begins with.
fn stdin(prompt: &str) -> String {
    let content = json!([{ "type": "text", "text": prompt }, { "type": "text", "text": " " }]);
    let message = json!({ "type": "user", "message": { "role": "user", "content": content } });
    format!("{message}\n")
}

fn permit(request: &Request<'_>, invocation: &mut Invocation) {
    let written = match request.permission {
        Permission::WriteResponse => request.response_path.and_then(|path| rule(request.directory, path)),
        Permission::ReadOnly | Permission::WriteDirectory => None,
    };
    if request.permission == Permission::WriteDirectory {
        invocation
            .args(["--permission-mode", "acceptEdits"])
            .args(["--tools", "Read,Glob,Grep,Edit,Write,NotebookEdit"]);
    } else if let Some(rule) = written {
        // The rule for editing is the one that counts for writing, too.
        let mut allowed = OsString::from("Read,Glob,Grep,");
        allowed.push(rule);
        invocation
            .args(["--permission-mode", "dontAsk", "--tools", "Read,Glob,Grep,Write", "--allowedTools"])
            .arg(allowed);
    } else {
        invocation.args(["--permission-mode", "dontAsk", "--tools", "Read,Glob,Grep"]);
    }
}

/// The rule that lets one file be written, relative to the project.
///
/// Nothing for a file outside of it, or one whose path would be read as a pattern: then nothing may be written.
fn rule(project: &Path, path: &Path) -> Option<String> {
    let inside = path.strip_prefix(project).ok()?;
    let is_plain = inside.components().all(|component| matches!(component, Component::Normal(_)));
    let inside = inside.to_str()?;
    let is_pattern = inside.contains(|letter: char| "*?[]{}()!,\\".contains(letter) || letter.is_control());
    (is_plain && !inside.is_empty() && !is_pattern).then(|| format!("Edit(/{inside})"))
}

fn hand_over(call: &Call<'_>, invocation: &mut Invocation) {
    let setting = call.setting;
    invocation.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("CLAUDE_CODE_MAX_RETRIES", "4");
    if let Some(limit) = setting.max_output_tokens {
        invocation.env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", limit.to_string());
    }
    if let Some(base_url) = &setting.base_url {
        let url = base_url.url.trim_end_matches('/');
        invocation.env("ANTHROPIC_BASE_URL", url.strip_suffix("/v1").unwrap_or(url));
    }
    if let Some(key) = call.key {
        invocation.env("ANTHROPIC_API_KEY", key.expose());
    }
    // Without it `@path` in the prompt adds files to what is sent.
    invocation.env_of(setting).env("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1");
}

#[derive(Debug)]
pub(crate) struct ClaudeEvents;

impl Events for ClaudeEvents {
    fn event(&mut self, event: &Value, output: &mut AgentOutput) {
        match text_at(event, "/type") {
            Some("system") if text_at(event, "/subtype") == Some("init") => {
                output.model = text_at(event, "/model").map(str::to_owned);
            }
            // Said when something of a limit changes, and a limit that is not reached ends no call.
            Some("rate_limit_event") if text_at(event, "/rate_limit_info/status") == Some("rejected") => {
                output.details = event.pointer("/rate_limit_info").map(Value::to_string);
            }
            Some("result") => result(event, output),
            Some(_) | None => {}
        }
    }
}

fn result(event: &Value, output: &mut AgentOutput) {
    output.is_whole = true;
    output.usage = usage(event);
    let models = event.pointer("/modelUsage").and_then(Value::as_object);
    if let Some(model) = models.filter(|models| models.len() == 1).and_then(|models| models.keys().next()) {
        output.model = Some(model.clone());
    }
    let denials = event.pointer("/permission_denials").and_then(Value::as_array);
    output.notes.extend(denials.into_iter().flatten().map(denial));
    let text = text_at(event, "/result").unwrap_or_default();
    let subtype = text_at(event, "/subtype").unwrap_or_default();
    let is_error = event.pointer("/is_error").and_then(Value::as_bool).unwrap_or(subtype != "success");
    let no_turn = count_at(event, "/num_turns") == Some(0);
    // Versions before 2 end well with a reply of nothing but the limit.
    let is_limit = text.starts_with("Claude AI usage limit reached|");
    if is_error || subtype.starts_with("error") || no_turn || is_limit {
        // `success` says nothing here: it stays when a call failed.
        let words = Some(text).filter(|text| !text.trim().is_empty());
        output.fail(words.unwrap_or(if no_turn { "it did not ask its model" } else { subtype }));
    } else {
        output.say_anew(text);
    }
}

fn denial(denial: &Value) -> String {
    let tool = text_at(denial, "/tool_name").unwrap_or("a tool");
    let path = text_at(denial, "/tool_input/file_path").or_else(|| text_at(denial, "/tool_input/command"));
    match path {
        Some(path) => format!("`{tool}` was denied: {}", super::agent_output::shown(path)),
        None => format!("`{tool}` was denied"),
    }
}

fn usage(event: &Value) -> Option<Usage> {
    let counts = |place: &Value, input: &str, read: &str, created: &str, output: &str| {
        let count = |name: &str| count_at(place, name);
        let parts = [count(input), count(read), count(created)];
        let input = parts.iter().any(Option::is_some).then(|| parts.iter().flatten().sum::<u64>());
        (input, count(read), count(output))
    };
    let said = event.pointer("/usage").map(|usage| {
        counts(
            usage,
            "/input_tokens",
            "/cache_read_input_tokens",
            "/cache_creation_input_tokens",
            "/output_tokens",
        )
    });
    let is_said = |counts: &(Option<u64>, _, Option<u64>)| counts.0.unwrap_or(0) + counts.2.unwrap_or(0) > 0;
    let (input, cached, output) = said.filter(is_said).or_else(|| {
        // After a cut stream the sum stays at zero, and only the counts by model are right.
        let models = event.pointer("/modelUsage").and_then(Value::as_object)?;
        let of_model = |usage| {
            counts(
                usage,
                "/inputTokens",
                "/cacheReadInputTokens",
                "/cacheCreationInputTokens",
                "/outputTokens",
            )
        };
        let add = |a: Option<u64>, b: Option<u64>| a.map_or(b, |a| Some(a + b.unwrap_or(0)));
        models
            .values()
            .map(of_model)
            .reduce(|a, b| (add(a.0, b.0), add(a.1, b.1), add(a.2, b.2)))
            .filter(is_said)
    })?;
    let cost = event.pointer("/total_cost_usd").and_then(Value::as_f64);
    Some(Usage { input_tokens: input, output_tokens: output, cached_tokens: cached, cost })
}
