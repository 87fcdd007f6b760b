//! Asks model APIs over HTTP: one request, made again when it may be, and a reply that is read while it arrives.
//!
//! The adapters are our own because the exact bytes of a request and the places of cache breakpoints are promised.
//! Nothing is connected, and no runtime built, before a provider is asked or checked. The runtime and the clients are
//! made once per process, so that a connection that a server keeps open is used again. A caller that runs inside a tokio
//! runtime of its own asks from a thread outside it.

mod anthropic;
mod api;
mod calls;
mod check;
mod clients;
mod fault;
mod gemini;
mod openai;
mod reply;
mod retry;
mod runtime;
mod sse;
mod stream;
#[cfg(test)]
mod test_payload;
mod transport;
mod watch;

use std::time::Instant;

use self::api::{Api, Options, api};
use self::reply::Reading;
use self::transport::Transport;
use self::watch::Watch;
use crate::address::Address;
use crate::ask::{Answer, Ask, Check, Reply, Request, Timings};
use crate::ask_error::AskError;
use crate::built_in::{Kind, provider};
use crate::key::{Found, KeptKey};
use crate::open::missing;
use crate::payload::ToolSpec;
use crate::provider_setting::{KeySource, ProviderSetting};
use crate::sink::{Progress, Sink};
use aiwf_process::Stop;

/// How many tokens a reply may have when neither the setting nor the kind says.
const MAX_OUTPUT_TOKENS: u64 = 32_000;

/// How long the name of a tool may be at all three APIs.
const MAX_TOOL_NAME: usize = 64;

/// A provider behind a model API.
#[derive(Debug)]
struct Http {
    setting: ProviderSetting,
    model: String,
    api: &'static Api,
    address: Address,
    key: KeptKey,
}

/// Opens one of them.
pub(crate) fn open(kind: Kind, setting: ProviderSetting) -> Result<Box<dyn Ask + Send + Sync>, AskError> {
    let Some(api) = api(kind) else {
        return Err(AskError::Setting {
            message: format!("`{}` is not a model API", setting.kind),
            provider: setting.name,
            hint: "set `type` to one of anthropic, openai, gemini".to_owned(),
        });
    };
    let Some(model) = setting.model.clone().filter(|model| !model.is_empty()) else {
        return Err(missing(&setting.name, "model", "the model that answers"));
    };
    if setting.supports_file_attachments && !api.takes_files {
        return Err(takes_no_files(&setting.name));
    }
    let address = Address::of(&setting, api.base_url)?;
    Ok(Box::new(Http { setting, model, api, address, key: KeptKey::default() }))
}

/// A file that cannot be sent is not named either: the model could not open it.
fn takes_no_files(provider: &str) -> AskError {
    AskError::Setting {
        provider: provider.to_owned(),
        message: "its API does not accept text files as attachments".to_owned(),
        hint: "set `supports_file_attachments = false`: the files are then included in the prompt".to_owned(),
    }
}

impl Ask for Http {
    fn refuse(&self, request: &Request<'_>) -> Result<(), AskError> {
        if !request.payload.files.is_empty() && !self.api.takes_files {
            return Err(takes_no_files(&self.setting.name));
        }
        self.check_key(request.stop)?;
        let Some(tool) = request.payload.tools.iter().find(|tool| !has_fit_name(tool)) else {
            return Ok(());
        };
        Err(AskError::Setting {
            provider: self.setting.name.clone(),
            message: format!("its API does not accept a tool named `{}`", fault::shown(&tool.name, None)),
            hint: format!(
                "name it with at most {MAX_TOOL_NAME} letters, digits, `_` and `-`, starting with a letter or `_`"
            ),
        })
    }

    fn ask(&self, request: &Request<'_>, sink: &mut dyn Sink) -> Result<Answer, AskError> {
        let watch = Watch {
            provider: &self.setting.name,
            stop: request.stop,
            timeouts: self.setting.timeouts,
            started_at: Instant::now(),
        };
        let found = self.key(request.stop)?;
        let asked = self.ask_with(&found, watch, request, sink);
        let is_turned_down = matches!(asked, Err(AskError::Status { status: 401 | 403, .. }));
        if !is_turned_down {
            return asked;
        }
        self.key.forget();
        if !found.is_kept {
            return asked;
        }
        // A key that was good for an earlier call may have expired since.
        self.ask_with(&self.key(request.stop)?, watch, request, sink)
    }

    fn can_start(&self) -> Result<(), AskError> {
        self.check_key(&Stop::default())
    }

    fn check(&self) -> Vec<Check> {
        check::check(self)
    }
}

impl Http {
    /// Refuses a missing key. A key command is not run only to look: it may ask its user for a pass phrase.
    fn check_key(&self, stop: &Stop) -> Result<(), AskError> {
        match &self.setting.key {
            KeySource::Command(_) if self.address.may_have_key() => Ok(()),
            KeySource::Command(_) | KeySource::Variable { .. } | KeySource::None => self.key(stop).map(drop),
        }
    }

    /// The key, if it may be sent where the address says.
    fn key(&self, stop: &Stop) -> Result<Found, AskError> {
        if self.setting.key != KeySource::None && !self.address.may_have_key() {
            return Err(AskError::KeyWithheld {
                provider: self.setting.name.clone(),
                base_url: self.address.shown(),
            });
        }
        self.key.get(&self.setting, stop)
    }

    fn ask_with(
        &self,
        found: &Found,
        watch: Watch<'_>,
        request: &Request<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Answer, AskError> {
        let transport = Transport::open(watch, self.api, &self.address, found.key.as_ref())?;
        runtime::run(watch.provider, self.converse(&transport, request, sink)).map(Answer::Reply)
    }

    /// Makes attempts until one gives a reply, or fails in a way that another would not fix.
    async fn converse(
        &self,
        transport: &Transport<'_>,
        request: &Request<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, AskError> {
        let watch = transport.watch;
        let default = provider(self.api.name).and_then(|provider| provider.max_output_tokens);
        let max_output_tokens = self.setting.max_output_tokens.or(default).unwrap_or(MAX_OUTPUT_TOKENS);
        let options = Options { model: &self.model, max_output_tokens, is_vendors: self.address.is_vendors };
        let body = (self.api.request_body)(request.payload, &options).to_string().into_bytes();
        let url = (self.api.ask_url)(&self.address.base, &self.model);
        let mut reading = Reading {
            transport,
            api: self.api,
            payload: request.payload,
            sink,
            max_bytes: self.setting.max_reply_bytes,
            max_output_tokens,
            n_bytes: 0,
            has_words: false,
            timings: Timings::default(),
        };
        let mut n_attempts = 1;
        loop {
            let attempt_at = Instant::now();
            let post = transport::request(url.clone(), Some(body.clone()));
            let attempt = match transport.send(post, attempt_at).await {
                Ok(response) if response.status().is_success() => reading.read(response, attempt_at).await,
                Ok(response) => Err(transport.turned_down(response).await),
                Err(failure) => Err(failure),
            };
            let failure = match attempt {
                Ok(reply) => return Ok(Reply { n_attempts, ..reply }),
                Err(failure) => failure,
            };
            let Some(wait) = retry::wait(failure.retry, n_attempts) else { return Err(failure.error) };
            n_attempts += 1;
            reading.sink.progress(Progress::Retry { attempt: n_attempts, wait });
            watch.until(watch.total(), tokio::time::sleep(wait)).await?;
        }
    }
}

fn has_fit_name(tool: &ToolSpec) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    tool.name.len() <= MAX_TOOL_NAME
        && tool.name.bytes().all(is_fit)
        && tool.name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}
