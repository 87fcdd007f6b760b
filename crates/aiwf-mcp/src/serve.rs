//! Runs a server until its client disconnects or it receives a signal.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use aiwf_engine::Engine;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use rmcp::{RoleServer, ServiceExt as _};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::address::LoopbackAddress;
use crate::http::{self, Patience};
use crate::server::AiwfServer;
use crate::token::Token;
use crate::tools::Approvals;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether clients may approve.
    pub approvals: Approvals,
    /// The version reported to clients.
    pub version: &'static str,
}

/// Why a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    ByClient,
    /// Ctrl-C or a termination signal.
    BySignal,
}

/// Why a server could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, or does not belong to this machine.
    #[error("could not listen on `{address}`")]
    CannotListen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// The input did not start with an MCP handshake.
    #[error("the client did not complete the MCP handshake: {0}")]
    NoHandshake(String),
    /// The system provides no thread, timer or signal handler.
    #[error("could not start the server")]
    NoRuntime(#[source] io::Error),
}

impl ServeError {
    /// A code that is stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::CannotListen { .. } => "ADDRESS_UNUSABLE",
            Self::NoHandshake(_) => "HANDSHAKE_FAILED",
            Self::NoRuntime(_) => "E_RESOURCES",
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::CannotListen { .. } => "choose another port, or 0 for any free one",
            Self::NoHandshake(_) => "add this command to the settings of an MCP client, which starts it",
            Self::NoRuntime(_) => "raise the limits of this user; `ulimit -a` shows them",
        }
    }
}

/// The longest line to read: larger than any reply the engine accepts, because the SDK drops longer ones silently.
const MAX_LINE_BYTES: usize = 128 * 1024 * 1024;
/// Threads for engine calls, each of which handles one request.
const MAX_THREADS: usize = 64;
/// How long requests in progress may take when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// How long to wait for threads whose result nobody needs.
const LAST_WAIT: Duration = Duration::from_millis(300);

/// Serves one client on stdin and stdout.
pub fn serve_stdio(engine: Engine, options: Options) -> Result<Ended, ServeError> {
    run(|shutdown| async move {
        let server = AiwfServer::new(engine, options.approvals, options.version, shutdown.clone());
        let (read, write) = stdio_pipes();
        let transport =
            AsyncRwTransport::<RoleServer, _, _>::new(read, write).with_max_line_length(MAX_LINE_BYTES);
        let running = match server.serve_with_ct(transport, shutdown.clone()).await {
            Ok(running) => running,
            // A client that disconnects before it sends anything is not an error.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(ServeError::NoHandshake(error.to_string())),
        };
        // The caller sees the reason in the token; a fault inside the SDK counts as a disconnect.
        drop(running.waiting().await);
        Ok(())
    })
}

/// Serves any number of clients on a loopback address, at `/mcp`; `on_listening` receives the address.
pub fn serve_http(
    engine: Engine,
    options: Options,
    address: LoopbackAddress,
    token: Token,
    on_listening: impl FnOnce(SocketAddr),
) -> Result<Ended, ServeError> {
    run(|shutdown| async move {
        let address = address.socket();
        let cannot_listen = |source| ServeError::CannotListen { address, source };
        let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
        let bound = listener.local_addr().map_err(cannot_listen)?;
        on_listening(bound);
        let server = AiwfServer::new(engine, options.approvals, options.version, shutdown.clone());
        http::accept(server, listener, bound, token, Patience::default(), shutdown).await;
        Ok(())
    })
}

/// Runs a server until it ends or a signal arrives.
fn run<F>(serve: impl FnOnce(CancellationToken) -> F) -> Result<Ended, ServeError>
where
    F: Future<Output = Result<(), ServeError>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MAX_THREADS)
        .build()
        .map_err(ServeError::NoRuntime)?;
    let outcome = serve_until_signal(&runtime, serve);
    // A blocking read of the terminal cannot be cancelled; everything else loses nothing when it is dropped.
    runtime.shutdown_timeout(LAST_WAIT);
    outcome
}

fn serve_until_signal<F>(
    runtime: &Runtime,
    serve: impl FnOnce(CancellationToken) -> F,
) -> Result<Ended, ServeError>
where
    F: Future<Output = Result<(), ServeError>>,
{
    runtime.block_on(async {
        let shutdown = CancellationToken::new();
        let mut interrupts = Signals::listen().map_err(ServeError::NoRuntime)?;
        let mut server = std::pin::pin!(serve(shutdown.clone()));
        tokio::select! {
            outcome = &mut server => {
                shutdown.cancel();
                outcome.map(|()| Ended::ByClient)
            }
            () = interrupts.recv() => {
                shutdown.cancel();
                // Only the end matters, not the outcome; a second signal does not wait.
                tokio::select! {
                    _ = tokio::time::timeout(GRACE, server) => {}
                    () = interrupts.recv() => {}
                }
                Ok(Ended::BySignal)
            }
        }
    })
}

/// Termination signals.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn recv(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
