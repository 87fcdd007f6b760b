//! Sends a request and judges how the server takes it; what a reply says is read elsewhere.
//!
//! A redirect is not followed, or the key would go where a server says. Nothing that is shown holds the key.

use std::error::Error as _;
use std::time::{Duration, Instant};

use aiwf_advice::{Action, Advice};
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT,
};
use reqwest::{Client, Method, Request, Response, StatusCode, Url};

use super::api::Api;
use super::clients;
use super::fault::{fault_of_body, is_passing, shown};
use super::retry::{Failure, Retry, asked_wait};
use super::watch::Watch;
use crate::address::Address;
use crate::ask_error::{AskError, Wait};
use crate::limit::{Clock, wait_of_headers, wait_of_text};
use crate::provider_setting::Secret;

/// How much of an answer that is no reply is read, and for how long.
const MAX_BODY_BYTES: usize = 64 * 1024;
const MAX_BODY_WAIT: Duration = Duration::from_secs(5);

/// The way to a provider's server for the time of one call.
pub(super) struct Transport<'a> {
    pub(super) watch: Watch<'a>,
    address: &'a Address,
    key: Option<&'a Secret>,
    headers: HeaderMap,
    client: Client,
}

impl<'a> Transport<'a> {
    pub(super) fn open(
        watch: Watch<'a>,
        api: &Api,
        address: &'a Address,
        key: Option<&'a Secret>,
    ) -> Result<Self, AskError> {
        let failed = |message: String| AskError::Failed {
            provider: watch.provider.to_owned(),
            message,
            advice: Box::new("check the certificates that the system trusts".into()),
            usage: None,
        };
        let headers = headers(api, key).ok_or_else(|| failed("a header cannot be made".to_owned()))?;
        let client = clients::client(address, watch.timeouts.connect)
            .map_err(|error| failed(format!("no connection can be made: {}", cause(&error))))?;
        Ok(Self { watch, address, key, headers, client })
    }

    /// Sends a request and waits for the head of the answer, whatever its status.
    pub(super) async fn send(&self, mut request: Request, attempt_at: Instant) -> Result<Response, Failure> {
        request.headers_mut().extend(self.headers.clone());
        let deadline = self.watch.first_byte(attempt_at);
        let sent = self.watch.until(deadline, self.client.execute(request)).await?;
        sent.map_err(|error| self.not_reached(&error))
    }

    fn not_reached(&self, error: &reqwest::Error) -> Failure {
        if error.is_connect() && error.is_timeout() {
            return self.watch.timed_out(Wait::Connect, self.watch.timeouts.connect).into();
        }
        let what = if error.is_connect() { "could not connect to" } else { "no response from" };
        let message = format!("{what} `{}`: {}", self.address.shown(), self.shown(&cause(error)));
        let advice =
            Advice::from("check the network and `base_url` of the provider, then ").then(Action::Retry);
        let provider = self.watch.provider.to_owned();
        let is_lasting = error.is_builder() || is_of_tls(error);
        let retry = if is_lasting { Retry::Never } else { Retry::BackOff };
        Failure {
            error: AskError::Failed { provider, message, advice: Box::new(advice), usage: None },
            retry,
        }
    }

    /// Why an answer is no reply, from its status, its headers and the beginning of its body.
    pub(super) async fn turned_down(&self, response: Response) -> Failure {
        let status = response.status();
        let headers = response.headers().clone();
        let body = match self.beginning(response).await {
            Ok(body) => body,
            Err(error) => return error.into(),
        };
        let fault = fault_of_body(&body, status.as_u16());
        let mut message = match &fault {
            Some(fault) => self.shown(&fault.message),
            None => status.canonical_reason().unwrap_or("nothing else").to_lowercase(),
        };
        if status.is_redirection() {
            let to = text(&headers, &LOCATION).unwrap_or("nowhere");
            message = format!("it redirects to `{}`, which is not followed", self.shown(to));
        }
        let is_passing = fault.map_or(is_passing(status.as_u16()), |fault| fault.is_passing);
        let is_limit = is_passing && status == StatusCode::TOO_MANY_REQUESTS;
        let said = || wait_said(&headers, &body).filter(|wait| is_limit && !wait.is_zero());
        let retry = match asked_for(&headers).or_else(said) {
            _ if !is_passing => Retry::Never,
            None => Retry::BackOff,
            Some(wait) if self.watch.may_wait(wait) => Retry::After(wait),
            Some(wait) if is_limit => return self.watch.limit_reached(wait, message, None).into(),
            Some(wait) => {
                message = format!("{message}; it asks to wait {} s", wait.as_secs());
                Retry::Never
            }
        };
        let provider = self.watch.provider.to_owned();
        Failure { error: AskError::Status { provider, status: status.as_u16(), message }, retry }
    }

    /// The first bytes of an answer; a body that ends early or never is as good as what arrived of it.
    pub(super) async fn beginning(&self, mut response: Response) -> Result<Vec<u8>, AskError> {
        let mut body = Vec::new();
        let read = async {
            while body.len() < MAX_BODY_BYTES {
                let Ok(Some(chunk)) = response.chunk().await else { break };
                body.extend_from_slice(&chunk);
            }
        };
        let bounded = tokio::time::timeout(MAX_BODY_WAIT, read);
        match self.watch.until(self.watch.total(), bounded).await {
            Ok(Ok(()) | Err(_)) | Err(AskError::TimedOut { .. }) => {}
            Err(error) => return Err(error),
        }
        body.truncate(MAX_BODY_BYTES);
        Ok(body)
    }

    /// A server's text as it can be shown.
    pub(super) fn shown(&self, text: &str) -> String {
        shown(text, self.key.map(Secret::expose))
    }
}

/// A request with JSON as its body; without one it only asks whether someone is there.
pub(super) fn request(url: Url, body: Option<Vec<u8>>) -> Request {
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let mut request = Request::new(method, url);
    if let Some(body) = body {
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(body.into());
    }
    request
}

fn headers(api: &Api, key: Option<&Secret>) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("aiwf/", env!("CARGO_PKG_VERSION"))));
    for (name, value) in api.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = key {
        let mut value = HeaderValue::from_str(&format!("{}{}", api.key_prefix, key.expose())).ok()?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(api.key_header), value);
    }
    Some(headers)
}

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    asked_wait(text(headers, &RETRY_AFTER)?, text(headers, &DATE))
}

/// The wait that headers of limits, or the body, name.
fn wait_said(headers: &HeaderMap, body: &[u8]) -> Option<Duration> {
    let clock = Clock::of_system();
    let named = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    wait_of_headers(named, &clock).or_else(|| wait_of_text(&String::from_utf8_lossy(body), &clock))
}

/// The innermost reason; the outer ones say only that something was sent.
pub(super) fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    // An error of its own may name the address; the innermost one of another library does not.
    if error.source().is_none() {
        return "the request cannot be made".to_owned();
    }
    let text = innermost.to_string();
    // The system's number of an error says nothing to a person.
    text.split(" (os error ").next().unwrap_or(&text).to_owned()
}

/// Whether both sides cannot agree on TLS, which they will not next time either.
fn is_of_tls(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn std::error::Error + 'static)> = error.source();
    while let Some(error) = next {
        if error.is::<rustls::Error>() {
            return true;
        }
        // The source of an I/O error is the source of what it wraps, which leaves out what it wraps.
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    false
}
