//! Streamable HTTP at `/mcp`: authentication and limits.
//!
//! The token is checked first; then the SDK checks `Host` and `Origin`, so that no web page gets in through DNS
//! rebinding. Sizes, times and the number of unauthenticated connections are limited. The server keeps no state per
//! client: any number of them may come and go.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::AiwfServer;
use crate::token::Token;

pub(crate) const PATH: &str = "/mcp";
/// Size limit of a request.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of connections; a loopback server has few clients.
const MAX_CONNECTIONS: usize = 128;
/// Time limits for clients, and the limit of unauthenticated connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// For the head of a request, including the next one on a connection.
    head: Duration,
    body: Duration,
    /// For the first request with the token.
    stranger: Duration,
    /// Maximum number of connections without a valid token so far.
    max_strangers: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            stranger: Duration::from_secs(10),
            max_strangers: 32,
        }
    }
}

/// How long a response in progress may take when the server stops.
const GRACE: Duration = Duration::from_secs(2);
/// Pause after a failed `accept`, for example because file descriptors ran out.
const PAUSE: Duration = Duration::from_millis(50);

type Service = StreamableHttpService<AiwfServer, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Accepts connections until the server stops.
pub(crate) async fn accept(
    server: AiwfServer,
    listener: TcpListener,
    bound: SocketAddr,
    token: Token,
    patience: Patience,
    shutdown: CancellationToken,
) {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(authorities(bound))
        .with_allowed_origins(authorities(bound).iter().map(|authority| format!("http://{authority}")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(shutdown.clone());
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let guard = Arc::new(Guard { service, token, patience });
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let strangers = Arc::new(Semaphore::new(patience.max_strangers));
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    stream
                } else {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            }
            Some(_) = connections.join_next() => continue,
            () = shutdown.cancelled() => break,
        };
        // Without a free slot, the connection is closed at once.
        let place = Arc::clone(&places).try_acquire_owned();
        let stranger = Arc::clone(&strangers).try_acquire_owned();
        if let (Ok(place), Ok(stranger)) = (place, stranger) {
            let (guard, shutdown) = (Arc::clone(&guard), shutdown.clone());
            connections.spawn(async move {
                serve(stream, guard, stranger, shutdown).await;
                drop(place);
            });
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Allowed values of `Host`: the names of the loopback interface and the address itself, with the port.
fn authorities(bound: SocketAddr) -> Vec<String> {
    let port = bound.port();
    let mut names = vec![
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        format!("[::1]:{port}"),
        bound.to_string(),
    ];
    names.dedup();
    names
}

async fn serve(
    stream: TcpStream,
    guard: Arc<Guard>,
    stranger: OwnedSemaphorePermit,
    shutdown: CancellationToken,
) {
    let Patience { head, stranger: introduction, .. } = guard.patience;
    let is_known = CancellationToken::new();
    let shown = is_known.clone();
    let answer = service_fn(move |request| {
        let (guard, shown) = (Arc::clone(&guard), shown.clone());
        async move { Ok::<_, Infallible>(guard.answer(request, &shown).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    // Completes only for a client that never shows the token.
    let turned_away = async move {
        if tokio::time::timeout(introduction, is_known.cancelled()).await.is_ok() {
            drop(stranger);
            std::future::pending::<()>().await;
        }
    };
    // A broken connection is the client's problem.
    tokio::select! {
        ended = connection.as_mut() => drop(ended),
        () = turned_away => {}
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            drop(tokio::time::timeout(GRACE, connection).await);
        }
    }
}

/// Rejects requests without the token.
struct Guard {
    service: Service,
    token: Token,
    patience: Patience,
}

impl Guard {
    async fn answer(&self, request: Request<Incoming>, is_known: &CancellationToken) -> Answer {
        let mut given = request.headers().get_all(AUTHORIZATION).iter();
        let is_right = match (given.next(), given.next()) {
            (Some(only), None) => self.token.is_carried_by(only.as_bytes()),
            _ => false,
        };
        if !is_right {
            let mut answer = said(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        is_known.cancel();
        if request.uri().path() != PATH {
            return said(StatusCode::NOT_FOUND, "the MCP endpoint is /mcp");
        }
        let (parts, body) = request.into_parts();
        if body.size_hint().lower() > MAX_BODY_BYTES as u64 {
            return said(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large");
        }
        let reading = Limited::new(body, MAX_BODY_BYTES).collect();
        let bytes = match tokio::time::timeout(self.patience.body, reading).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return said(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large");
            }
            // The client closed the connection in the middle of the request.
            Ok(Err(_)) => return last(said(StatusCode::BAD_REQUEST, "the request is incomplete")),
            Err(_) => return last(said(StatusCode::REQUEST_TIMEOUT, "the request took too long")),
        };
        if parts.method == Method::POST && serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_err() {
            return unparsable();
        }
        self.service.handle(Request::from_parts(parts, Full::new(bytes))).await
    }
}

/// A response that closes the connection.
fn last(mut answer: Answer) -> Answer {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// The JSON-RPC response to anything but JSON.
fn unparsable() -> Answer {
    let mut answer = said(
        StatusCode::BAD_REQUEST,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the request is not JSON"}}"#,
    );
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn said(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
