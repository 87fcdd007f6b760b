//! Streamable HTTP at `/mcp`, behind the guard that every server on loopback has.
//!
//! `Host` and `Origin` are checked first, so that no web page gets in through DNS rebinding, then the token, and the SDK
//! checks all of it again. The server keeps no state per client: any number of them may come and go.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use aiwf_loopback::{Authority, ClientKnown, Limits, Navigation, Token, read_body};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::server::AiwfServer;

pub(crate) const PATH: &str = "/mcp";

type Service = StreamableHttpService<AiwfServer, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Accepts connections until the server stops.
pub(crate) async fn accept(
    server: AiwfServer,
    listener: TcpListener,
    bound: SocketAddr,
    token: Token,
    limits: Limits,
    shutdown: CancellationToken,
) {
    let authority = Authority::of(bound);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(authority.names().to_vec())
        .with_allowed_origins(authority.names().iter().map(|name| format!("http://{name}")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(usize::try_from(limits.max_body_bytes).unwrap_or(usize::MAX))
        .with_cancellation_token(shutdown.clone());
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let guard = Arc::new(Guard { service, authority, token, limits });
    let answer = move |request, known| {
        let guard = Arc::clone(&guard);
        async move { guard.answer(request, known).await }
    };
    aiwf_loopback::accept(listener, limits, shutdown, answer).await;
}

/// Rejects requests for another host, from another site or without the token.
struct Guard {
    service: Service,
    authority: Authority,
    token: Token,
    limits: Limits,
}

impl Guard {
    async fn answer(&self, request: Request<Incoming>, known: ClientKnown) -> Answer {
        let (parts, body) = request.into_parts();
        if let Err(forged) = self.authority.check(&parts, Navigation::Refused) {
            return said(StatusCode::FORBIDDEN, forged.words());
        }
        let mut given = parts.headers.get_all(AUTHORIZATION).iter();
        let is_right = match (given.next(), given.next()) {
            (Some(only), None) => self.token.is_carried_by(only.as_bytes()),
            _ => false,
        };
        if !is_right {
            let mut answer = said(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return answer;
        }
        known.mark();
        if parts.uri.path() != PATH {
            return said(StatusCode::NOT_FOUND, "the MCP endpoint is /mcp");
        }
        let bytes = match read_body(body, &self.limits).await {
            Ok(bytes) => bytes,
            Err(fault) => return last(said(fault.status(), fault.words())),
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
