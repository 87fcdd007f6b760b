//! Streamable HTTP at `/mcp`: who may come in, and how many at once.
//!
//! The token is asked for first; then the SDK looks at `Host` and `Origin`, so that no page in a browser gets in by a
//! name that leads here, and at the size of what is sent. Clients have no state on this side: any number of them may
//! come and go.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::AiwfServer;
use crate::token::Token;

/// Where the protocol is spoken.
pub(crate) const PATH: &str = "/mcp";
/// The largest request.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;
/// Connections at once; a loopback server has few clients.
const MAX_CONNECTIONS: usize = 128;
/// How long a client may take to say what it wants.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an answer under way may take when the server ends.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait after a connection could not be taken, such as for want of descriptors.
const PAUSE: Duration = Duration::from_millis(50);

type Service = StreamableHttpService<AiwfServer, LocalSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Takes connections until the end.
pub(crate) async fn accept(
    server: AiwfServer,
    listener: TcpListener,
    bound: SocketAddr,
    token: Token,
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
    let guard = Arc::new(Guard { service, token });
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
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
        // Without a place, the connection is closed at once.
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let (guard, shutdown) = (Arc::clone(&guard), shutdown.clone());
            connections.spawn(async move {
                serve(stream, guard, shutdown).await;
                drop(place);
            });
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// What `Host` may say: the names of the loopback interface and the address itself, with the port.
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

async fn serve(stream: TcpStream, guard: Arc<Guard>, shutdown: CancellationToken) {
    let answer = service_fn(move |request| {
        let guard = Arc::clone(&guard);
        async move { Ok::<_, Infallible>(guard.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    // A connection that breaks is its client's business.
    tokio::select! {
        ended = connection.as_mut() => drop(ended),
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            drop(tokio::time::timeout(GRACE, connection).await);
        }
    }
}

/// Lets nobody in without the token.
struct Guard {
    service: Service,
    token: Token,
}

impl Guard {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let mut given = request.headers().get_all(AUTHORIZATION).iter();
        let is_right = match (given.next(), given.next()) {
            (Some(only), None) => self.token.is_carried_by(only.as_bytes()),
            _ => false,
        };
        if !is_right {
            let mut answer = said(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
            answer.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
            return answer;
        }
        if request.uri().path() != PATH {
            return said(StatusCode::NOT_FOUND, "MCP is spoken at /mcp");
        }
        self.service.handle(request).await
    }
}

fn said(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
