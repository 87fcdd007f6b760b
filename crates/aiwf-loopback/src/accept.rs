//! Accepts connections, a limited number of them, each for a limited time until its client is known.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time for the head of a request, including the next one on a connection.
    pub head: Duration,
    /// Time for the body of a request.
    pub body: Duration,
    /// Time until the first request of a known client.
    pub stranger: Duration,
    pub max_connections: usize,
    /// Maximum number of connections whose client is not known yet.
    pub max_strangers: usize,
    /// Maximum size of a body.
    pub max_body_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            stranger: Duration::from_secs(10),
            max_connections: 256,
            max_strangers: 32,
            max_body_bytes: 16 * 1024 * 1024,
        }
    }
}

/// How long a response in progress may take when the server stops.
const GRACE: Duration = Duration::from_secs(2);
/// Pause after a failed `accept`, for example because file descriptors ran out.
const PAUSE: Duration = Duration::from_millis(50);

/// Tells the server that the client of a connection is known, so that it may stay.
#[derive(Clone, Debug)]
pub struct ClientKnown(CancellationToken);

impl ClientKnown {
    pub fn mark(&self) {
        self.0.cancel();
    }
}

/// Accepts connections until the server stops.
pub async fn accept<A, F, B>(listener: TcpListener, limits: Limits, shutdown: CancellationToken, answer: A)
where
    A: Fn(Request<Incoming>, ClientKnown) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let answer = Arc::new(answer);
    let places = Arc::new(Semaphore::new(limits.max_connections));
    let strangers = Arc::new(Semaphore::new(limits.max_strangers));
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
            let (answer, shutdown) = (Arc::clone(&answer), shutdown.clone());
            connections.spawn(async move {
                serve(stream, limits, answer, stranger, shutdown).await;
                drop(place);
            });
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn serve<A, F, B>(
    stream: TcpStream,
    limits: Limits,
    answer: Arc<A>,
    stranger: OwnedSemaphorePermit,
    shutdown: CancellationToken,
) where
    A: Fn(Request<Incoming>, ClientKnown) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let is_known = CancellationToken::new();
    let known = ClientKnown(is_known.clone());
    let service = service_fn(move |request| {
        let answered = answer(request, known.clone());
        async move { Ok::<_, Infallible>(answered.await) }
    });
    // Small answers follow each other, and waiting for more to send would only delay them.
    drop(stream.set_nodelay(true));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // Completes only for a client that never becomes known.
    let turned_away = async move {
        if tokio::time::timeout(limits.stranger, is_known.cancelled()).await.is_ok() {
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
