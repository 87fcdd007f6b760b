//! Servers with an HTTP address.
//!
//! Requests use our own client: the SDK's client reads a JSON response to its end, however long it is.

#![expect(
    clippy::disallowed_types,
    reason = "the SDK takes headers in a HashMap; their order reaches no prompt"
)]

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode, redirect};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, HEADER_SESSION_ID, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::output::MAX_MESSAGE_BYTES;
use crate::shown::excerpt;

/// Size limit of an error response.
const MAX_FAILURE_BYTES: usize = 64 * 1024;
/// Size limit of one streamed response: results have a limit, and so do the messages before them.
const MAX_STREAM_BYTES: usize = 4 * MAX_MESSAGE_BYTES;
const TOO_LARGE: &str = "it sent a message larger than 16 MiB";

pub(super) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    connect_timeout: Duration,
) -> Result<StreamableHttpClientTransport<Bounded>, String> {
    let no_address = |_| format!("`{}` is not a URL", excerpt(url));
    let url: reqwest::Url = url.parse().map_err(no_address)?;
    let mut custom_headers = HashMap::new();
    for (name, value) in headers {
        let header = HeaderName::try_from(name.as_str())
            .map_err(|error| format!("`headers.{}` is not a header name: {error}", excerpt(name)))?;
        // A value may be a secret, so it is never shown.
        let mut value = HeaderValue::from_str(value)
            .map_err(|error| format!("`headers.{}` cannot be sent: {error}", excerpt(name)))?;
        value.set_sensitive(true);
        custom_headers.insert(header, value);
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
        .custom_headers(custom_headers)
        .max_sse_event_size(MAX_MESSAGE_BYTES);
    config.retry_config = Arc::new(Once);
    let client = client(&url, connect_timeout).map_err(|error| shown_error(&error))?;
    Ok(StreamableHttpClientTransport::with_client(Bounded { client }, config))
}

/// A broken stream is opened once more; a dead server is reported at once.
#[derive(Debug)]
struct Once;

impl SseRetryPolicy for Once {
    fn retry(&self, current_times: usize) -> Option<Duration> {
        (current_times == 0).then_some(Duration::from_millis(100))
    }
}

fn client(url: &reqwest::Url, connect_timeout: Duration) -> Result<reqwest::Client, reqwest::Error> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have installed it first, which is fine.
        drop(rustls::crypto::ring::default_provider().install_default());
    }
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("aiwf/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::custom(same_server))
        .connect_timeout(connect_timeout)
        .pool_max_idle_per_host(0)
        .referer(false);
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_loopback =
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if is_loopback {
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        // TLS is not used, so the system's certificates need not be loaded.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// Follows a redirect within the server that repeats the request unchanged, such as one that adds a trailing slash.
///
/// Any other redirect would lose the message, or send the headers and their secrets elsewhere.
fn same_server(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps_request =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let is_same = attempt.previous().last().is_some_and(|from| from.origin() == attempt.url().origin());
    if keeps_request && is_same && attempt.previous().len() <= 3 { attempt.follow() } else { attempt.stop() }
}

/// The innermost cause; the outer ones only say that a request failed, and may contain a URL with a secret.
pub(super) fn shown_error(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    let text = innermost.to_string();
    let text = text.strip_prefix("unexpected server response: ").unwrap_or(&text);
    // The SDK names the operation first; the cause comes last.
    excerpt(text.rsplit_once("Client error: ").map_or(text, |(_, cause)| cause))
}

/// A request that could not be made: only its innermost cause, because the SDK shows no other.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unsent(String);

impl From<reqwest::Error> for Unsent {
    fn from(error: reqwest::Error) -> Self {
        Self(if error.source().is_none() {
            excerpt(&error.without_url().to_string())
        } else {
            shown_error(&error)
        })
    }
}

fn unsent(error: reqwest::Error) -> HttpError {
    StreamableHttpError::Client(error.into())
}

/// Converts an error of the SDK's own client.
#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK distinguishes only these")]
fn ours(error: StreamableHttpError<reqwest::Error>) -> HttpError {
    match error {
        StreamableHttpError::Client(error) => unsent(error),
        StreamableHttpError::Sse(error) => StreamableHttpError::Sse(error),
        StreamableHttpError::ServerDoesNotSupportSse => StreamableHttpError::ServerDoesNotSupportSse,
        StreamableHttpError::SessionExpired => StreamableHttpError::SessionExpired,
        StreamableHttpError::UnexpectedContentType(kind) => StreamableHttpError::UnexpectedContentType(kind),
        other => StreamableHttpError::UnexpectedServerResponse(Cow::Owned(excerpt(&other.to_string()))),
    }
}

/// A client that reads no more than the size limit of a message.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    client: reqwest::Client,
}

type HttpError = StreamableHttpError<Unsent>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl StreamableHttpClient for Bounded {
    type Error = Unsent;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let accepted = format!("{EVENT_STREAM_MIME_TYPE}, {JSON_MIME_TYPE}");
        let mut request = self.client.post(uri.as_ref()).header(ACCEPT, accepted);
        if let Some(auth_header) = auth_header {
            request = request.bearer_auth(auth_header);
        }
        for (name, value) in custom_headers {
            request = request.header(name, value);
        }
        let has_session = session_id.is_some();
        if let Some(session_id) = session_id {
            request = request.header(HEADER_SESSION_ID, session_id.as_ref());
        }
        let response = request.json(&message).send().await.map_err(unsent)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let kind = header(CONTENT_TYPE.as_str()).unwrap_or_default().to_owned();
        let session = header(HEADER_SESSION_ID).map(str::to_owned);
        if !status.is_success() {
            return failure(response, &kind, session).await;
        }
        let awaits_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        if kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            return Ok(StreamableHttpPostResponse::Sse(events(response), session));
        }
        if !kind.starts_with(JSON_MIME_TYPE) {
            return if awaits_answer {
                Err(StreamableHttpError::UnexpectedContentType(Some(excerpt(&kind))))
            } else {
                Ok(StreamableHttpPostResponse::Accepted)
            };
        }
        let Some(body) = read(response, MAX_MESSAGE_BYTES).await? else {
            return Err(StreamableHttpError::UnexpectedServerResponse(Cow::Borrowed(TOO_LARGE)));
        };
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
            // Nobody waits for a response to a notification.
            Err(_) if !awaits_answer => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(StreamableHttpError::Deserialize(error)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), HttpError> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await.map_err(ours)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, HttpError> {
        self.client
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                MAX_MESSAGE_BYTES,
            )
            .await
            .map_err(ours)
    }
}

/// The error of a failed response: the protocol error in its body, otherwise its status.
async fn failure(
    response: Response,
    kind: &str,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, HttpError> {
    let status = response.status();
    let is_closed_to_us = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let body = read(response, MAX_FAILURE_BYTES).await?.unwrap_or_default();
    if kind.starts_with(JSON_MIME_TYPE)
        && !is_closed_to_us
        && let Ok(message @ ServerJsonRpcMessage::Error(_)) = serde_json::from_slice(&body)
    {
        return Ok(StreamableHttpPostResponse::Json(message, session));
    }
    let text = String::from_utf8_lossy(&body);
    let hint = if is_closed_to_us { "; its `headers` must contain the credentials" } else { "" };
    let said = if text.trim().is_empty() { String::new() } else { format!(": {}", excerpt(&text)) };
    let message = format!("it responded with {status}{said}{hint}");
    Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(message)))
}

/// A body of at most `limit` bytes; `None` if it has more.
async fn read(mut response: Response, limit: usize) -> Result<Option<Vec<u8>>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unsent)? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The events of a response, up to its size limit.
fn events(response: Response) -> Events {
    let mut n_left = MAX_STREAM_BYTES;
    let bounded = response.bytes_stream().map(move |chunk| {
        let chunk = chunk.map_err(std::io::Error::other)?;
        n_left = n_left.checked_sub(chunk.len()).ok_or_else(|| std::io::Error::other(TOO_LARGE))?;
        Ok::<_, std::io::Error>(chunk)
    });
    SseStream::from_bytes_stream(bounded).boxed()
}
