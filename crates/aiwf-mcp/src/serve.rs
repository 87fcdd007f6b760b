//! Runs the server until its client disconnects or the user stops it.

use std::net::SocketAddr;
use std::time::Duration;

use aiwf_engine::Engine;
use aiwf_loopback::{Ended, Limits, LoopbackAddress, Threads, Token, run};
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use rmcp::{RoleServer, ServiceExt as _};

use crate::http;
use crate::server::AiwfServer;
use crate::tools::Approvals;

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether clients may approve.
    pub approvals: Approvals,
    /// The version reported to clients.
    pub version: &'static str,
}

/// Why a server could not run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Loopback(#[from] aiwf_loopback::ServeError),
    /// The input did not start with an MCP handshake.
    #[error("the client did not complete the MCP handshake: {0}")]
    NoHandshake(String),
}

impl ServeError {
    /// A code that is stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Loopback(error) => error.code(),
            Self::NoHandshake(_) => "HANDSHAKE_FAILED",
        }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::Loopback(error) => error.hint(),
            Self::NoHandshake(_) => "an MCP client starts this command: add it to the client's settings",
        }
    }
}

/// The longest line to read: larger than any reply the engine accepts, because the SDK drops longer ones silently.
const MAX_LINE_BYTES: usize = 128 * 1024 * 1024;
const THREADS: Threads = Threads { max_blocking: 64, grace: Duration::from_secs(5) };

/// Serves one client on stdin and stdout.
pub fn serve_stdio(engine: Engine, options: Options) -> Result<Ended, ServeError> {
    run(THREADS, |shutdown| async move {
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
    run(THREADS, |shutdown| async move {
        let (listener, bound) = address.listen().await?;
        on_listening(bound);
        let server = AiwfServer::new(engine, options.approvals, options.version, shutdown.clone());
        http::accept(server, listener, bound, token, Limits::default(), shutdown).await;
        Ok(())
    })
}
