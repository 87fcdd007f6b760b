//! The servers: each starts when first needed and stops when this value is dropped.
//!
//! Callers are synchronous and may be on any thread. Communication with servers runs in a dedicated thread, so that
//! runtimes never nest; a waiting caller checks its stop flag meanwhile.

mod child;
mod client;
mod connect;
mod http;
mod log;
mod output;
mod runtime;
mod server;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::error::ToolsError;
use crate::server_spec::ServerSpec;
use crate::tool::Tool;
use crate::tool_result::{Cap, ResultsDir, ToolResult};

pub use child::supervise_with;
pub use client::Progress;
pub use server::Listed;

use runtime::Runtime;
use server::Server;

/// Receives a server's stderr, line by line, with its name.
pub type LogSink = Arc<dyn Fn(&str, &str) + Send + Sync>;
/// Whether the user agreed to start a server.
pub type IsTrusted = Arc<dyn Fn(&ServerSpec) -> Result<bool, ToolsError> + Send + Sync>;
/// Looks up an environment variable.
pub type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The environment of the servers.
#[derive(Clone)]
pub struct ServersOptions {
    /// The environment variables, for `${VAR}` and for those that every server gets.
    pub lookup: Lookup,
    /// Whether the user agreed to start a server.
    pub is_trusted: IsTrusted,
    /// Receives stderr of the servers; its end is kept for errors in any case.
    pub log: Option<LogSink>,
    /// Time limit of the handshake.
    pub start_timeout: Duration,
}

impl ServersOptions {
    /// Default time limit of the handshake: `npx` may have to download the server first.
    pub const START_TIMEOUT: Duration = Duration::from_secs(30);
}

impl std::fmt::Debug for ServersOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServersOptions").field("start_timeout", &self.start_timeout).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy)]
pub struct CallOptions<'a> {
    /// Time limit; the server's own `timeout` applies too.
    pub timeout: Option<Duration>,
    /// Maximum number of bytes of a result.
    pub max_result_bytes: u64,
    /// Where results that are larger or not text are saved.
    pub results: ResultsDir<'a>,
    /// Whether the caller wants to stop.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Receives the progress that the server reports.
    pub on_progress: &'a (dyn Fn(&Progress) + Sync),
}

impl std::fmt::Debug for CallOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("max_result_bytes", &self.max_result_bytes)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

/// The servers of a project.
///
/// Dropping this value stops them: they are asked to end, then killed with their process group.
pub struct Servers {
    servers: BTreeMap<String, Arc<Server>>,
    runtime: OnceLock<Runtime>,
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Servers").field("names", &self.servers.keys()).finish_non_exhaustive()
    }
}

impl Servers {
    /// The servers, none of them started. If two have the same name, the first counts.
    pub fn new(specs: impl IntoIterator<Item = ServerSpec>, options: &ServersOptions) -> Self {
        let mut servers = BTreeMap::new();
        for spec in specs {
            let name = spec.name.clone();
            servers.entry(name).or_insert_with(|| Arc::new(Server::new(spec, options.clone())));
        }
        Self { servers, runtime: OnceLock::new() }
    }

    pub fn specs(&self) -> impl Iterator<Item = &ServerSpec> {
        self.servers.values().map(|server| server.spec())
    }

    pub fn spec(&self, name: &str) -> Result<&ServerSpec, ToolsError> {
        Ok(self.server(name)?.spec())
    }

    /// The tools of a server, from all pages; starts the server if it is not running.
    ///
    /// The list is fetched again if the server announces a change or was restarted.
    pub fn tools(&self, server: &str, is_stopped: &(dyn Fn() -> bool + Sync)) -> Result<Listed, ToolsError> {
        let found = Arc::clone(self.server(server)?);
        let listing = async move { found.tools().await };
        self.runtime()?.wait(listing, is_stopped).unwrap_or_else(|| Err(stopped(server)))
    }

    /// Calls a tool and waits for its result.
    ///
    /// Neither the policy nor the arguments are checked here: see [`crate::execute_tools`].
    pub fn call(
        &self,
        tool: &Tool,
        arguments: &Map<String, Value>,
        options: &CallOptions<'_>,
    ) -> Result<ToolResult, ToolsError> {
        let server = Arc::clone(self.server(&tool.server)?);
        let full_name = tool.full_name();
        let timeout = options.timeout.unwrap_or(Duration::MAX).min(server.spec().timeout);
        let (progress, heard) = std::sync::mpsc::sync_channel(client::MAX_WAITING_PROGRESS);
        let (expected, arguments) = (tool.clone(), arguments.clone());
        let is_sent = Arc::new(AtomicBool::new(false));
        let sent = Arc::clone(&is_sent);
        let calling = async move { server.call(&expected, arguments, timeout, progress, &sent).await };
        // Progress is reported on the caller's thread, while it waits.
        let tell = || {
            while let Ok(progress) = heard.try_recv() {
                (options.on_progress)(&progress);
            }
            (options.is_stopped)()
        };
        let result = self.runtime()?.wait(calling, &tell).unwrap_or_else(|| Err(stopped(&full_name)));
        let result = result.map_err(|error| {
            let is_unanswered = is_sent.load(Ordering::SeqCst) && !error.is_answer();
            if is_unanswered {
                ToolsError::Unanswered { tool: full_name.clone(), cause: Box::new(error) }
            } else {
                error
            }
        })?;
        tell();
        ToolResult::new(&result, Cap { max_bytes: options.max_result_bytes, results: options.results })
    }

    /// How often the running servers announced that their tools changed.
    pub fn n_list_changes(&self) -> u64 {
        let Some(runtime) = self.runtime.get() else { return 0 };
        let servers: Vec<_> = self.servers.values().cloned().collect();
        let counting = async move {
            let mut count: u64 = 0;
            for server in servers {
                count = count.wrapping_add(server.n_list_changes().await);
            }
            count
        };
        runtime.wait(counting, &|| false).unwrap_or_default()
    }

    /// The process id of a running server.
    pub fn process_id(&self, server: &str) -> Option<u32> {
        let server = Arc::clone(self.server(server).ok()?);
        self.runtime.get()?.wait(async move { server.process_id().await }, &|| false)?
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, ToolsError> {
        self.servers.get(name).ok_or_else(|| ToolsError::UnknownServer {
            server: crate::shown::excerpt(name),
            known: self.servers.keys().cloned().collect(),
        })
    }

    fn runtime(&self) -> Result<&Runtime, ToolsError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let runtime = Runtime::start().map_err(ToolsError::NoRuntime)?;
        Ok(self.runtime.get_or_init(|| runtime))
    }
}

fn stopped(what: &str) -> ToolsError {
    ToolsError::Stopped { tool: what.to_owned() }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let servers: Vec<_> = self.servers.values().cloned().collect();
        runtime.finish(async move {
            let stopping: Vec<_> =
                servers.into_iter().map(|server| tokio::spawn(async move { server.stop().await })).collect();
            for server in stopping {
                // A server that cannot be stopped must not block the others.
                drop(server.await);
            }
        });
    }
}
