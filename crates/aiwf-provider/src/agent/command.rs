//! Any program: its arguments from the configuration, the prompt on its standard input or in a file.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::Dialect;
use super::agent_output::{AgentOutput, Fold, ReplyFault};
use super::installed::{self, Depth, InstalledProgram};
use super::invocation::{Call, Invocation, prompt_text};
use crate::ask::Request;
use crate::ask_error::AskError;
use crate::open::missing;
use crate::provider_setting::{KeySource, ProviderSetting, ReplySource};
use aiwf_advice::{Action, Advice};
use aiwf_process::{Ended, Limits};

const PROMPT_FILE: &str = "{prompt_file}";
const SYSTEM_PROMPT_FILE: &str = "{system_prompt_file}";
const RESPONSE_PATH: &str = "{response_path}";
const MODEL: &str = "{model}";
const PLACEHOLDERS: [&str; 4] = [PROMPT_FILE, SYSTEM_PROMPT_FILE, RESPONSE_PATH, MODEL];

/// A program of the user's.
#[derive(Clone, Debug)]
pub(crate) struct AnyCommand {
    program: String,
}

impl AnyCommand {
    /// Looks at the setting: what is wrong with it is said before anything runs.
    pub(crate) fn new(setting: &ProviderSetting) -> Result<Self, AskError> {
        let name = &setting.name;
        let Some(program) = setting.argv.first().filter(|program| !program.is_empty()) else {
            return Err(missing(name, "argv", "the program and its arguments"));
        };
        let wrong =
            |message: String, hint: String| AskError::Setting { provider: name.clone(), message, hint };
        if let Some(unknown) = setting.argv.iter().find_map(|arg| unknown_placeholder(arg)) {
            return Err(wrong(
                format!("`{unknown}` in `argv` is not a known placeholder"),
                format!("use {}", PLACEHOLDERS.map(|known| format!("`{known}`")).join(", ")),
            ));
        }
        if uses(setting, MODEL) && setting.model.is_none() {
            return Err(missing(name, "model", "which `{model}` in `argv` stands for"));
        }
        if let ReplySource::Json(pointer) = &setting.reply
            && !pointer.is_empty()
            && !pointer.starts_with('/')
        {
            return Err(wrong(
                format!("`json:{pointer}` of `reply` is not a JSON pointer"),
                "start it with a slash, as in `json:/result/text`".to_owned(),
            ));
        }
        Ok(Self { program: program.clone() })
    }
}

fn uses(setting: &ProviderSetting, placeholder: &str) -> bool {
    setting.argv.iter().any(|arg| arg.contains(placeholder))
}

/// Something in braces that looks like a placeholder and is none.
fn unknown_placeholder(arg: &str) -> Option<&str> {
    arg.match_indices('{').find_map(|(start, _)| {
        let rest = arg.get(start..)?;
        let name = rest.get(..=rest.find('}')?)?;
        let inner = name.get(1..name.len() - 1)?;
        let is_word =
            !inner.is_empty() && inner.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
        (is_word && !PLACEHOLDERS.contains(&name)).then_some(name)
    })
}

/// An argument with paths put in for placeholders; paths need not be UTF-8.
fn filled(arg: &str, values: &[(&str, &OsStr)]) -> OsString {
    let mut filled = OsString::new();
    let mut rest = arg;
    while let Some((at, placeholder, value)) = values
        .iter()
        .filter_map(|(placeholder, value)| Some((rest.find(placeholder)?, *placeholder, *value)))
        .min_by_key(|(at, ..)| *at)
    {
        filled.push(rest.get(..at).unwrap_or_default());
        filled.push(value);
        rest = rest.get(at + placeholder.len()..).unwrap_or_default();
    }
    filled.push(rest);
    filled
}

/// Where the reply of a call is written: a private place when the request has none.
fn response_path(call: &Call<'_>) -> PathBuf {
    call.request.response_path.map_or_else(|| call.private_dir.join("response.md"), Path::to_owned)
}

impl Dialect for AnyCommand {
    fn program(&self) -> &str {
        &self.program
    }

    fn install_hint(&self, setting: &ProviderSetting) -> String {
        format!("install it, or change `argv` in `[providers.{}]`", setting.name)
    }

    fn vendors(&self) -> &'static [&'static str] {
        &[]
    }

    fn refuse(&self, setting: &ProviderSetting, request: &Request<'_>) -> Result<(), AskError> {
        if !request.payload.system.is_empty() && !uses(setting, SYSTEM_PROMPT_FILE) {
            return Err(AskError::Setting {
                provider: setting.name.clone(),
                message: "it has no place for the system text".to_owned(),
                hint: "put `{system_prompt_file}` into `argv`, or set `supports_system_prompt = false`"
                    .to_owned(),
            });
        }
        Ok(())
    }

    fn invocation(&self, call: &Call<'_>) -> Result<Invocation, AskError> {
        let setting = call.setting;
        let mut invocation = Invocation::default();
        let prompt = prompt_text(call.request.payload);
        let mut prompt_path = OsString::new();
        if uses(setting, PROMPT_FILE) {
            prompt_path = invocation.file(call, "prompt.md", prompt);
        } else {
            invocation.stdin = prompt.into_bytes();
        }
        let mut system_path = OsString::new();
        if uses(setting, SYSTEM_PROMPT_FILE) {
            let system = call.request.payload.system_text().unwrap_or_default();
            system_path = invocation.file(call, "system.md", system);
        }
        let response_path = response_path(call);
        let model = setting.model.clone().unwrap_or_default();
        let values = [
            (PROMPT_FILE, prompt_path.as_os_str()),
            (SYSTEM_PROMPT_FILE, system_path.as_os_str()),
            (RESPONSE_PATH, response_path.as_os_str()),
            (MODEL, OsStr::new(&model)),
        ];
        let mut argv = setting.argv.iter().map(|arg| filled(arg, &values));
        invocation.program = argv.next().unwrap_or_default();
        invocation.args = argv.collect();
        invocation.env_of(setting);
        if let (KeySource::Variable { name, .. }, Some(key)) = (&setting.key, call.key) {
            invocation.env(name, key.expose());
        }
        Ok(invocation)
    }

    fn fold(&self, call: &Call<'_>) -> Box<dyn Fold> {
        let provider = call.setting.name.clone();
        match &call.setting.reply {
            ReplySource::Stdout => Box::new(Utf8 { provider, ..Utf8::default() }),
            ReplySource::Json(pointer) => {
                Box::new(JsonText { pointer: pointer.clone(), printed: Vec::new() })
            }
            ReplySource::File => Box::new(WrittenFile {
                path: response_path(call),
                is_ours: call.request.response_path.is_none(),
                max_bytes: call.setting.max_reply_bytes,
                provider,
            }),
        }
    }

    fn advice(&self, _: &str, _: &Ended) -> Advice {
        Advice::from(format!("run `{}` yourself to see what is wrong, then ", self.program))
            .then(Action::Retry)
    }

    fn limits(&self, setting: &ProviderSetting) -> Limits {
        let timeouts = setting.timeouts;
        let first_byte = match setting.reply {
            // It need not print anything.
            ReplySource::File => timeouts.total,
            ReplySource::Stdout | ReplySource::Json(_) => timeouts.first_byte,
        };
        Limits { first_byte, total: timeouts.total, max_bytes: setting.max_reply_bytes }
    }

    /// Looks only whether it is there: what an unknown program does with `--version` nobody knows.
    fn inspect(&self, setting: &ProviderSetting, _: Depth) -> InstalledProgram {
        installed::look_up(OsStr::new(&self.program), setting, || self.install_hint(setting))
    }
}

/// A reply that is what the program prints; characters that are split between chunks are put together.
#[derive(Debug, Default)]
struct Utf8 {
    provider: String,
    /// The start of a character whose end did not come yet: at most three bytes.
    start: Vec<u8>,
    n_bytes: usize,
}

impl Utf8 {
    fn malformed(&self, at: usize) -> AskError {
        AskError::Malformed {
            provider: self.provider.clone(),
            message: format!("it is not UTF-8 at byte {at}"),
        }
    }
}

impl Fold for Utf8 {
    fn bytes(&mut self, bytes: &[u8], output: &mut AgentOutput) -> Result<(), AskError> {
        let mut joined = std::mem::take(&mut self.start);
        let start_at = self.n_bytes;
        joined.extend_from_slice(bytes);
        let (n_valid, is_wrong) = match std::str::from_utf8(&joined) {
            Ok(_) => (joined.len(), false),
            Err(error) => (error.valid_up_to(), error.error_len().is_some()),
        };
        self.start = joined.split_off(n_valid);
        self.n_bytes += n_valid;
        // Invariant: the bytes up to there were just found to be valid.
        output.say(&String::from_utf8(joined).unwrap_or_default());
        if is_wrong { Err(self.malformed(start_at + n_valid)) } else { Ok(()) }
    }

    fn end(&mut self, output: &mut AgentOutput) -> Result<(), AskError> {
        output.is_whole = true;
        if self.start.is_empty() { Ok(()) } else { Err(self.malformed(self.n_bytes)) }
    }
}

/// A reply that is a text in the JSON that the program prints.
#[derive(Debug)]
struct JsonText {
    pointer: String,
    // Invariant: no longer than a program's whole output may be, since that is checked where it is read.
    printed: Vec<u8>,
}

impl Fold for JsonText {
    fn bytes(&mut self, bytes: &[u8], _: &mut AgentOutput) -> Result<(), AskError> {
        self.printed.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self, output: &mut AgentOutput) -> Result<(), AskError> {
        output.is_whole = true;
        let found: Result<serde_json::Value, _> = serde_json::from_slice(&self.printed);
        let complaint = match &found {
            Ok(found) => match found.pointer(&self.pointer) {
                Some(serde_json::Value::String(text)) => {
                    output.say(text);
                    return Ok(());
                }
                Some(_) => format!("there is no text at `{}`", self.pointer),
                None => format!("there is nothing at `{}`", self.pointer),
            },
            Err(error) => format!("it is not JSON: {error}"),
        };
        output.fault = Some(ReplyFault::Malformed(complaint));
        Ok(())
    }
}

/// A reply that the program writes to a file.
#[derive(Debug)]
struct WrittenFile {
    provider: String,
    path: PathBuf,
    /// Whether the file is ours to read; one at a response path is read by whoever asked for it.
    is_ours: bool,
    max_bytes: u64,
}

impl Fold for WrittenFile {
    fn bytes(&mut self, _: &[u8], _: &mut AgentOutput) -> Result<(), AskError> {
        Ok(())
    }

    fn end(&mut self, output: &mut AgentOutput) -> Result<(), AskError> {
        output.is_whole = true;
        let has_bytes = self.path.metadata().is_ok_and(|found| found.is_file() && found.len() > 0);
        if !has_bytes {
            output.fault = Some(ReplyFault::Missing("it wrote no reply to the response path".to_owned()));
            return Ok(());
        }
        if !self.is_ours {
            output.has_text = true;
            return Ok(());
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&self.path).map_err(AskError::Sink)?;
        file.take(self.max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(AskError::Sink)?;
        if bytes.len() as u64 > self.max_bytes {
            return Err(AskError::TooLarge { provider: self.provider.clone(), limit: self.max_bytes });
        }
        let mut text = Utf8 { provider: self.provider.clone(), ..Utf8::default() };
        text.bytes(&bytes, output)?;
        text.end(output)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agent::agent_output::Step;

    proptest! {
        #[test]
        fn any_chunks_of_a_reply_give_the_same_text(
            bytes in prop_oneof![
                ".{0,40}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..40),
            ],
            sizes in prop::collection::vec(1_usize..7, 1..6),
        ) {
            let mut fold = Utf8::default();
            let mut output = AgentOutput::default();
            let mut sizes = sizes.into_iter().cycle();
            let mut rest = bytes.as_slice();
            let mut folded = Ok(());
            while folded.is_ok() && !rest.is_empty() {
                let (chunk, after) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
                folded = fold.bytes(chunk, &mut output);
                rest = after;
            }
            let folded = folded.and_then(|()| fold.end(&mut output));
            let text: String = output
                .steps
                .iter()
                .map(|step| match step {
                    Step::Text(text) => text.as_str(),
                    Step::Restart | Step::Send(_) => panic!("only text"),
                })
                .collect();
            match std::str::from_utf8(&bytes) {
                Ok(whole) => {
                    prop_assert!(folded.is_ok());
                    prop_assert_eq!(text, whole);
                }
                Err(error) => {
                    prop_assert_eq!(text.as_bytes(), &bytes[..error.valid_up_to()]);
                    let message = folded.unwrap_err().to_string();
                    let at = format!("at byte {}", error.valid_up_to());
                    prop_assert!(message.ends_with(&at), "{} {}", message, at);
                }
            }
        }

        #[test]
        fn arguments_without_placeholders_stay_as_they_are(arg in "[^{]{0,20}") {
            prop_assert_eq!(filled(&arg, &[(MODEL, OsStr::new("m"))]), OsString::from(&arg));
        }
    }
}
