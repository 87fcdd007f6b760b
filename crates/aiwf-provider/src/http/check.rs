//! Looks whether a model API can be asked: someone answers at the address, and takes the key.

use std::time::{Duration, Instant};

use super::api::join;
use super::fault::fault_of_body;
use super::transport::{Transport, request};
use super::watch::Watch;
use super::{Http, runtime};
use crate::ask::Check;
use crate::ask_error::AskError;
use crate::provider_setting::{KeySource, Secret, Timeouts};
use aiwf_process::Stop;

/// How long an answer is waited for.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn check(http: &Http) -> Vec<Check> {
    let stop = Stop::default();
    // Whoever looks wants to know how the key is now.
    http.key.forget();
    let key = match http.key(&stop) {
        Ok(found) => found.key,
        Err(error) => return vec![Check::bad("key", error.to_string(), error.advice())],
    };
    let timeouts = Timeouts { connect: TIMEOUT, first_byte: TIMEOUT, total: TIMEOUT };
    let watch = Watch { provider: &http.setting.name, stop: &stop, timeouts, started_at: Instant::now() };
    let answered = Transport::open(watch, http.api, &http.address, key.as_ref())
        .and_then(|transport| runtime::run(watch.provider, models(http, &transport)));
    let (status, message) = match answered {
        Ok(answered) => answered,
        Err(error) => {
            let hint = "check the network and `base_url` of the provider";
            return vec![key_found(http), Check::bad("url", error.to_string(), hint)];
        }
    };
    vec![key_judged(http, key.as_ref(), status, &message), url_judged(http, status, &message)]
}

/// Asks for the list of models, and gives the status and what is said of it.
async fn models(http: &Http, transport: &Transport<'_>) -> Result<(u16, String), AskError> {
    let url = join(&http.address.base, http.api.models_path);
    let response = transport.send(request(url, None), Instant::now()).await;
    let response = response.map_err(|failure| failure.error)?;
    let status = response.status();
    if status.is_success() {
        return Ok((status.as_u16(), String::new()));
    }
    let body = transport.beginning(response).await?;
    let fault = fault_of_body(&body, status.as_u16());
    Ok((status.as_u16(), fault.map_or_else(String::new, |fault| transport.shown(&fault.message))))
}

fn key_found(http: &Http) -> Check {
    let found = match &http.setting.key {
        KeySource::None => "none is sent".to_owned(),
        KeySource::Variable { name, .. } => format!("it is in `{name}`"),
        KeySource::Command(argv) => format!("`{}` prints it", argv.first().map_or("", String::as_str)),
    };
    Check::ok("key", found)
}

fn key_judged(http: &Http, key: Option<&Secret>, status: u16, message: &str) -> Check {
    // Gemini says 400 to a wrong key.
    let is_of_key =
        matches!(status, 401 | 403) || status == 400 && message.to_ascii_lowercase().contains("api key");
    if !is_of_key {
        return key_found(http);
    }
    let said = if message.is_empty() { String::new() } else { format!(": {message}") };
    let name = &http.setting.name;
    if key.is_some() {
        let hint = format!("put a key there that `{}` accepts", http.address.shown());
        Check::bad("key", format!("it was rejected ({status}){said}"), hint)
    } else {
        let hint = format!("set `api_key_env` or `api_key_command` in `[providers.{name}]`");
        Check::bad("key", format!("none is sent, but one is required ({status}){said}"), hint)
    }
}

/// A server without a list of models answers 404, and is there all the same.
fn url_judged(http: &Http, status: u16, message: &str) -> Check {
    let url = http.address.shown();
    match status {
        300..=399 => Check::bad(
            "url",
            format!("`{url}` redirects ({status}), and the key is not sent along"),
            "set `base_url` to the address of the server",
        ),
        500..=599 => Check::bad(
            "url",
            format!("`{url}` answers {status}{}{message}", if message.is_empty() { "" } else { ": " }),
            "try again later, or check `base_url`",
        ),
        _ => Check::ok("url", format!("`{url}` answers")),
    }
}
