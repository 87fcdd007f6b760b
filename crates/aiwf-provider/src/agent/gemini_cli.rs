//! Gemini CLI over its agent protocol: `gemini --acp`, JSON-RPC in lines.
//!
//! Its headless mode rewrites prompts (`@path`, mail addresses); the protocol delivers text as it is. A policy file
//! decides which tools exist at all. The workspace is not trusted, whatever its user said about it elsewhere, so a
//! project's own settings, servers and hooks stay out. `authenticate` is never sent: it changes the user's settings.

use serde_json::{Value, json};

use super::agent_output::{AgentOutput, Events, Fold, JsonLines, Step, count_at, text_at};
use super::installed::{self, Depth, GEMINI_CLI, InstalledProgram};
use super::invocation::{Call, Invocation, position, prompt_text, untrimmed};
use super::{Dialect, program_of};
use crate::ask::{Permission, Request, Usage};
use crate::ask_error::AskError;
use crate::limit::{self, Clock, Limit};
use crate::provider_setting::ProviderSetting;
use aiwf_advice::{Action, Advice};
use aiwf_process::Ended;

#[derive(Clone, Copy, Debug)]
pub(crate) struct GeminiCli;

impl Dialect for GeminiCli {
    fn program(&self) -> &'static str {
        "gemini"
    }

    fn install_hint(&self, setting: &ProviderSetting) -> String {
        GEMINI_CLI.install_hint(setting)
    }

    fn inspect(&self, setting: &ProviderSetting, depth: Depth) -> InstalledProgram {
        installed::inspect(&GEMINI_CLI, &program_of(setting, self.program()), setting, depth)
    }

    fn vendors(&self) -> &'static [&'static str] {
        &["https://generativelanguage.googleapis.com", "https://cloudcode-pa.googleapis.com"]
    }

    fn refuse(&self, setting: &ProviderSetting, request: &Request<'_>) -> Result<(), AskError> {
        let system = request.payload.system_text().unwrap_or_default();
        match replaced(&system) {
            Some((byte, name)) => {
                let (line, column) = position(&system, byte);
                Err(AskError::Unsendable {
                    provider: setting.name.clone(),
                    message: format!("`{name}` of the system text would be replaced"),
                    line,
                    column,
                })
            }
            None => Ok(()),
        }
    }

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, AskError> {
        let setting = call.setting;
        if call.request.directory.to_str().is_none() {
            return Err(AskError::Setting {
                provider: setting.name.clone(),
                message: "the path of the directory it works in is not UTF-8".to_owned(),
                hint: "rename the directory, or use another provider".to_owned(),
            });
        }
        let mut invocation = Invocation {
            program: program_of(setting, self.program()),
            stdin: message(INITIALIZE, "initialize", &initialize()).into_bytes(),
            is_dialogue: true,
            ..Invocation::default()
        };
        // Neither servers nor extensions of the user's: they run outside of the policy.
        invocation.args(["--acp", "-e", "none", "--allowed-mcp-server-names", "aiwf-none"]);
        if let Some(model) = &setting.model {
            invocation.args(["-m", model]);
        }
        let policy = invocation.file(call, "policy.toml", policy(call.request.permission));
        invocation.arg("--policy").arg(policy);
        invocation.env("GEMINI_CLI_NO_RELAUNCH", "true");
        if let Some(system) = call.request.payload.system_text() {
            let path = invocation.file(call, "system.md", untrimmed(&system));
            invocation.env("GEMINI_SYSTEM_MD", path.to_string_lossy());
        }
        hand_over(call, &mut invocation);
        // Its error reports hold the prompt; they go with the private directory.
        invocation.env_of(setting).env("TMPDIR", call.private_dir.to_string_lossy());
        // A project that its user trusts would bring its own settings, servers and hooks.
        let no_trust = call.private_dir.join("trusted-folders.json");
        invocation
            .env("GEMINI_CLI_TRUST_WORKSPACE", "false")
            .env("GEMINI_CLI_TRUSTED_FOLDERS_PATH", no_trust.to_string_lossy());
        Ok(invocation)
    }

    fn fold(&self, call: &Call<'_>) -> Box<dyn Fold> {
        Box::new(JsonLines::new(GeminiEvents::new(call.request)))
    }

    fn limit(&self, words: &str, details: Option<&str>, clock: &Clock) -> Option<Limit> {
        limit::of_gemini_cli(words, details, clock)
    }

    fn advice(&self, words: &str, ended: &Ended) -> Advice {
        let is_key = ["API key", "auth", "Auth", "401", "403"].iter().any(|word| words.contains(word));
        if ended.code == Some(41) || ended.code == Some(145) || is_key {
            return "log in by running `gemini` yourself, or set `api_key_env` of the provider".into();
        }
        if ended.code == Some(55) {
            return "run `gemini` in the project yourself and say whether you trust it".into();
        }
        if words.contains("Unknown argument") || ended.stderr.contains("Unknown argument") {
            return GEMINI_CLI.update_hint().into();
        }
        Advice::from(Action::Retry).then(" asks again")
    }

    fn complaint(&self, ended: &Ended) -> Option<String> {
        error_at_end(&ended.stderr)
    }
}

/// The first place of a system text that the program would put something else for.
fn replaced(system: &str) -> Option<(usize, &str)> {
    system.match_indices("${").find_map(|(byte, _)| {
        let rest = system.get(byte..)?;
        let name = rest.get(..=rest.find('}')?)?;
        let inner = name.get(2..name.len() - 1)?;
        let is_known = matches!(inner, "AgentSkills" | "SubAgents" | "AvailableTools");
        (is_known || inner.ends_with("_ToolName")).then_some((byte, name))
    })
}

/// The tools that exist: those that read, those that write where that is wanted, and no others.
fn policy(permission: Permission) -> &'static str {
    match permission {
        Permission::ReadOnly | Permission::WriteResponse => {
            r#"[[rule]]
toolName = ["read_file", "list_directory", "glob", "grep_search"]
decision = "allow"
priority = 999

[[rule]]
toolName = "*"
decision = "deny"
priority = 998
"#
        }
        Permission::WriteDirectory => {
            r#"[[rule]]
toolName = ["read_file", "list_directory", "glob", "grep_search", "write_file", "replace"]
decision = "allow"
priority = 999

[[rule]]
toolName = "*"
decision = "deny"
priority = 998
"#
        }
    }
}

/// With a server or key of its own it gets a home of its own, or the login in the user's settings would win.
fn hand_over(call: &Call<'_>, invocation: &mut Invocation) {
    if let Some(base_url) = &call.setting.base_url {
        let url = base_url.url.trim_end_matches('/');
        invocation.env("GOOGLE_GEMINI_BASE_URL", url.strip_suffix("/v1beta").unwrap_or(url));
    }
    if let Some(key) = call.key {
        invocation.env("GEMINI_API_KEY", key.expose());
    }
    if call.setting.base_url.is_some() || call.key.is_some() {
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "privacy": { "usageStatisticsEnabled": false },
        });
        invocation.file(call, "home/.gemini/settings.json", settings.to_string());
        invocation.env("GEMINI_CLI_HOME", call.private_dir.join("home").to_string_lossy());
    }
}

/// The error that the program prints as JSON at the end of its complaints, and its first line of words otherwise.
fn error_at_end(stderr: &str) -> Option<String> {
    let starts = stderr.rmatch_indices('{').map(|(at, _)| at);
    starts.take(64).find_map(|at| {
        let event: Value = serde_json::from_str(stderr.get(at..)?).ok()?;
        text_at(&event, "/error/message").map(str::to_owned)
    })
}

const INITIALIZE: u64 = 1;
const NEW_SESSION: u64 = 2;
const PROMPT: u64 = 3;

fn initialize() -> Value {
    let fs = json!({ "readTextFile": false, "writeTextFile": false });
    json!({ "protocolVersion": 1, "clientCapabilities": { "fs": fs, "terminal": false } })
}

fn message(id: u64, method: &str, params: &Value) -> String {
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    format!("{message}\n")
}

/// Our side of the protocol: one session, one prompt.
#[derive(Debug)]
pub(crate) struct GeminiEvents {
    directory: String,
    prompt: String,
    is_asked: bool,
    is_after_tool: bool,
}

impl GeminiEvents {
    pub(crate) fn new(request: &Request<'_>) -> Self {
        Self {
            directory: request.directory.to_string_lossy().into_owned(),
            prompt: prompt_text(request.payload),
            is_asked: false,
            is_after_tool: false,
        }
    }

    fn answered(&mut self, id: u64, event: &Value, output: &mut AgentOutput) {
        if let Some(error) = event.pointer("/error") {
            output.details = Some(error.to_string());
            output.fail(&words(error));
            output.is_done = true;
            return;
        }
        match id {
            INITIALIZE => {
                let params = json!({ "cwd": self.directory, "mcpServers": [] });
                output.steps.push(Step::Send(message(NEW_SESSION, "session/new", &params)));
            }
            NEW_SESSION => {
                let Some(session) = text_at(event, "/result/sessionId") else {
                    output.fail("it did not open a session");
                    output.is_done = true;
                    return;
                };
                let params = json!({ "sessionId": session, "prompt": self.blocks(output) });
                output.steps.push(Step::Send(message(PROMPT, "session/prompt", &params)));
                // Only what is said from here on answers the prompt.
                self.is_asked = true;
                self.prompt = String::new();
            }
            PROMPT => finished(event, output),
            _ => {}
        }
    }

    /// The prompt as one block; before one that begins like a command stands a block that keeps it from being run.
    fn blocks(&self, output: &mut AgentOutput) -> Value {
        let block = json!({ "type": "text", "text": self.prompt });
        let start =
            self.prompt.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}');
        if start.starts_with(['/', '$']) {
            output
                .notes
                .push("the prompt starts like a command, so a zero-width space was put before it".to_owned());
            return json!([{ "type": "text", "text": "\u{200b}" }, block]);
        }
        json!([block])
    }

    fn update(&mut self, event: &Value, output: &mut AgentOutput) {
        match text_at(event, "/params/update/sessionUpdate") {
            Some("agent_message_chunk") if self.is_asked => {
                let text = text_at(event, "/params/update/content/text").unwrap_or_default();
                if std::mem::take(&mut self.is_after_tool) {
                    // What it said before it used a tool is not the reply.
                    output.say_anew(text);
                } else {
                    output.say(text);
                }
            }
            Some("tool_call") => self.is_after_tool = true,
            Some(_) | None => {}
        }
    }

    /// Nothing that needs asking is granted: what is granted at all, the policy grants.
    fn asked(id: &Value, method: &str, event: &Value, output: &mut AgentOutput) {
        let answer = if method == "session/request_permission" {
            let title = text_at(event, "/params/toolCall/title").unwrap_or("a tool");
            output.notes.push(format!("`{}` was denied", super::agent_output::shown(title)));
            json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": refusal(event) } })
        } else {
            let error = json!({ "code": -32601, "message": "method not found" });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        };
        output.steps.push(Step::Send(format!("{answer}\n")));
    }
}

fn refusal(event: &Value) -> Value {
    let options = event.pointer("/params/options").and_then(Value::as_array);
    let mut options = options.into_iter().flatten();
    let refusal = options.find(|option| text_at(option, "/kind") == Some("reject_once"));
    match refusal.and_then(|option| text_at(option, "/optionId")) {
        Some(option) => json!({ "outcome": "selected", "optionId": option }),
        None => json!({ "outcome": "cancelled" }),
    }
}

impl Events for GeminiEvents {
    fn event(&mut self, event: &Value, output: &mut AgentOutput) {
        match (text_at(event, "/method"), event.get("id")) {
            (Some("session/update"), _) => self.update(event, output),
            (Some(method), Some(id)) => Self::asked(id, method, event, output),
            (Some(_) | None, None) => {}
            (None, Some(id)) => {
                if let Some(id) = id.as_u64() {
                    self.answered(id, event, output);
                }
            }
        }
    }
}

fn words(error: &Value) -> String {
    let message = text_at(error, "/message").unwrap_or_default();
    // What the server said, where it is handed on as it came.
    let inner: Option<Value> = serde_json::from_str(message).ok();
    let message = inner.as_ref().and_then(|inner| text_at(inner, "/error/message")).unwrap_or(message);
    let details = text_at(error, "/data/details").or_else(|| text_at(error, "/data"));
    let message = match details {
        Some(details) if !message.contains(details) => format!("{message}: {details}"),
        Some(_) | None => message.to_owned(),
    };
    match count_at(error, "/code") {
        Some(code) => format!("{message} (code {code})"),
        None => message,
    }
}

fn finished(event: &Value, output: &mut AgentOutput) {
    output.is_done = true;
    let quota = event.pointer("/result/_meta/quota");
    output.usage = quota.and_then(usage);
    let models = quota.and_then(|quota| quota.pointer("/model_usage")).and_then(Value::as_array);
    output.model =
        models.and_then(|models| models.last()).and_then(|model| text_at(model, "/model")).map(str::to_owned);
    match text_at(event, "/result/stopReason") {
        // A stream that breaks off, a blocked reply and a command that ran instead all end a turn without counts.
        Some("end_turn") if output.usage.is_none() && quota.is_some() => {
            output.complaint = Some("its model was not asked, or stopped early".to_owned());
        }
        Some("end_turn") => output.is_whole = true,
        Some(reason) => output.fail(&format!("it stopped early: {reason}")),
        None => output.fail("it does not say how the turn ended"),
    }
}

/// What the turn cost: the sum over its steps, without what came from a cache.
fn usage(quota: &Value) -> Option<Usage> {
    let input_tokens = count_at(quota, "/token_count/input_tokens");
    let output_tokens = count_at(quota, "/token_count/output_tokens");
    let is_counted = input_tokens.unwrap_or(0) + output_tokens.unwrap_or(0) > 0;
    is_counted.then_some(Usage { input_tokens, output_tokens, ..Usage::default() })
}
