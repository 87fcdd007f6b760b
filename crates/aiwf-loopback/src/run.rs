//! Runs a server until it ends or the user stops it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::LoopbackAddress;

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
    /// The system provides no thread, timer or signal handler.
    #[error("could not start the server")]
    NoRuntime(#[source] io::Error),
}

impl ServeError {
    /// A code that is stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::CannotListen { .. } => "ADDRESS_UNUSABLE",
            Self::NoRuntime(_) => "E_RESOURCES",
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::CannotListen { .. } => "choose another port, or 0 for any free one",
            Self::NoRuntime(_) => "raise the limits of this user; `ulimit -a` shows them",
        }
    }
}

impl LoopbackAddress {
    /// Listens; the second value is the address with its port, which may have been 0.
    pub async fn listen(self) -> Result<(TcpListener, SocketAddr), ServeError> {
        let address = self.socket();
        let cannot_listen = |source| ServeError::CannotListen { address, source };
        let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
        let bound = listener.local_addr().map_err(cannot_listen)?;
        Ok((listener, bound))
    }
}

/// The threads of a server, and how long its requests may take when it stops.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// Threads for calls that block, each of which handles one request.
    pub max_blocking: usize,
    /// How long requests in progress may take when the server stops.
    pub grace: Duration,
}

/// How long to wait for threads whose result nobody needs.
const LAST_WAIT: Duration = Duration::from_millis(300);

/// Runs a server until it ends or a signal arrives.
pub fn run<E, F>(threads: Threads, serve: impl FnOnce(CancellationToken) -> F) -> Result<Ended, E>
where
    E: From<ServeError>,
    F: Future<Output = Result<(), E>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(threads.max_blocking)
        .build()
        .map_err(ServeError::NoRuntime)?;
    let outcome = serve_until_signal(&runtime, threads.grace, serve);
    // A blocking read of the terminal cannot be cancelled; everything else loses nothing when it is dropped.
    runtime.shutdown_timeout(LAST_WAIT);
    outcome
}

fn serve_until_signal<E, F>(
    runtime: &Runtime,
    grace: Duration,
    serve: impl FnOnce(CancellationToken) -> F,
) -> Result<Ended, E>
where
    E: From<ServeError>,
    F: Future<Output = Result<(), E>>,
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
                    _ = tokio::time::timeout(grace, server) => {}
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
