//! Connects to a server: starts the process or opens the address, and performs the handshake.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::time::{sleep, timeout};

use super::ServersOptions;
use super::child::{self, Pipes, Process};
use super::client::Client;
use super::http;
use super::log::Log;
use super::output::{MAX_MESSAGE_BYTES, Output, Watch};
use crate::error::ToolsError;
use crate::server_spec::{Launch, ServerSpec};
use crate::shown::excerpt;

/// The environment variables that every server gets if they are set; others are listed in `env`.
///
/// They let a program find its files, use the user's language and reach the network, and do not contain secrets.
pub(crate) const INHERITED_VARIABLES: [&str; 22] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
];

/// How long leftovers of a dead server may hold its pipes.
const PIPE_GRACE: Duration = Duration::from_millis(300);

type Service = RunningService<RoleClient, Client>;

/// A server that completed the handshake.
pub(super) struct Connected {
    pub(super) service: Service,
    pub(super) process: Option<Process>,
    pub(super) watch: Arc<Watch>,
}

/// Starts or opens a server whose settings are expanded.
pub(super) async fn connect(
    spec: &ServerSpec,
    options: &ServersOptions,
    client: &Client,
    log: &Arc<Log>,
) -> Result<Connected, ToolsError> {
    let attempt = |lifecycle| one_attempt(spec, options, client.clone(), log, lifecycle);
    match attempt(ClientLifecycleMode::Initialize).await {
        // A server of the 2026 protocol may no longer support `initialize`; older ones support nothing else.
        Err(Failed { is_answer: true, error }) => {
            let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
            let second = attempt(ClientLifecycleMode::Discover { preferred_versions }).await;
            // The first error is the well-known one.
            second.or(Err(error))
        }
        done => done.map_err(|failed| failed.error),
    }
}

struct Failed {
    error: ToolsError,
    /// Whether the server returned an error.
    is_answer: bool,
}

async fn one_attempt(
    spec: &ServerSpec,
    options: &ServersOptions,
    client: Client,
    log: &Arc<Log>,
    lifecycle: ClientLifecycleMode,
) -> Result<Connected, Failed> {
    log.clear();
    let failed = |error| Failed { error, is_answer: false };
    let not_started =
        |message: String| ToolsError::NotStarted { server: spec.name.clone(), message, stderr: log.tail() };
    let variables: Vec<(String, String)> = INHERITED_VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), (options.lookup)(name)?)))
        .collect();
    let started = child::start(&spec.launch, &variables)
        .map_err(|error| failed(not_started(start_error(&spec.launch, &error))))?;
    let watch = Arc::new(Watch::default());
    let (process, hello) = match (&spec.launch, started) {
        (_, Some((process, Pipes { stdin, stdout, stderr }))) => {
            let (log, name, sink) = (Arc::clone(log), spec.name.clone(), options.log.clone());
            tokio::spawn(async move { log.drain(&name, stderr, sink).await });
            let transport = AsyncRwTransport::new_client(Output::new(stdout, Arc::clone(&watch)), stdin)
                .with_max_line_length(MAX_MESSAGE_BYTES + 1);
            let hello = serve_client_with_lifecycle(client, transport, lifecycle);
            (Some(process), timeout(options.start_timeout, hello).await)
        }
        (Launch::Http { url, headers }, None) => {
            let transport = http::transport(url, headers, options.start_timeout)
                .map_err(|message| failed(not_started(message)))?;
            let hello = serve_client_with_lifecycle(client, transport, lifecycle);
            (None, timeout(options.start_timeout, hello).await)
        }
        (Launch::Stdio { .. }, None) => return Err(failed(not_started("nothing was started".to_owned()))),
    };
    match hello {
        Ok(Ok(service)) => {
            if let Some(process) = &process {
                // A process outside of its group may hold the pipes of a dead server.
                let (ended, connection) = (process.ended(), service.cancellation_token());
                tokio::spawn(async move {
                    ended.await;
                    sleep(PIPE_GRACE).await;
                    connection.cancel();
                });
            }
            Ok(Connected { service, process, watch })
        }
        Ok(Err(error)) => {
            let is_answer = matches!(error, ClientInitializeError::JsonRpcError(_));
            let mut message = hello_error(&error);
            if let Some(process) = &process {
                if let Some(fault) = watch.fault() {
                    message = fault.to_owned();
                } else if !is_answer && let Some(how) = process.how_it_ended().await {
                    message = how;
                }
                process.stop().await;
            }
            if let Some(error) = child::supervisor_error(&log.tail()) {
                log.clear();
                message = start_error(&spec.launch, &error);
            }
            Err(Failed { error: not_started(message), is_answer })
        }
        Err(_) => {
            if let Some(process) = &process {
                process.stop().await;
            }
            Err(failed(ToolsError::StartTimedOut {
                server: spec.name.clone(),
                after: options.start_timeout,
                stderr: log.tail(),
            }))
        }
    }
}

fn start_error(launch: &Launch, error: &std::io::Error) -> String {
    match (launch, error.kind()) {
        (Launch::Stdio { command, .. }, std::io::ErrorKind::NotFound) => {
            format!("there is no program `{}`", excerpt(command))
        }
        (Launch::Stdio { command, .. }, std::io::ErrorKind::PermissionDenied) => {
            format!("`{}` is not executable", excerpt(command))
        }
        _ => excerpt(&error.to_string()),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other errors use the SDK's wording")]
fn hello_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed its output".to_owned(),
        ClientInitializeError::JsonRpcError(error) => {
            format!("it returned error {}: {}", error.code.0, excerpt(&error.message))
        }
        ClientInitializeError::TransportError { error, .. } => http::shown_error(error.error.as_ref()),
        other => excerpt(&other.to_string()),
    }
}
