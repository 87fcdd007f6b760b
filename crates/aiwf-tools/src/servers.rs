//! The servers: started when first needed, one for each name, and stopped with this value.
//!
//! Callers are synchronous and on any thread. What talks to servers runs in a thread of its own, so that no runtime
//! ever stands inside another; a caller waits and looks at its stop flag meanwhile.

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

/// A server's complaint, line by line: its name, the line.
pub type LogSink = Arc<dyn Fn(&str, &str) + Send + Sync>;
/// Whether a person agreed to start a server.
pub type IsTrusted = Arc<dyn Fn(&ServerSpec) -> Result<bool, ToolsError> + Send + Sync>;
/// The value of a variable of the environment.
pub type Lookup = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What the servers need to know of the world.
#[derive(Clone)]
pub struct ServersOptions {
    /// The environment, for `${VAR}` and for the few variables that every server gets.
    pub lookup: Lookup,
    /// Whether a person agreed to start a server.
    pub is_trusted: IsTrusted,
    /// Where a server's complaints go; the end of them is kept for errors in any case.
    pub log: Option<LogSink>,
    /// How long a server has to say hello.
    pub start_timeout: Duration,
}

impl ServersOptions {
    /// How long a server has to say hello when nobody says otherwise: `npx` may have to fetch it first.
    pub const START_TIMEOUT: Duration = Duration::from_secs(30);
}

impl std::fmt::Debug for ServersOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServersOptions").field("start_timeout", &self.start_timeout).finish_non_exhaustive()
    }
}

/// How one call is made.
#[derive(Clone, Copy)]
pub struct CallOptions<'a> {
    /// The longest it may take; the server's own `timeout` holds too.
    pub timeout: Option<Duration>,
    /// How many bytes of a result are given out.
    pub max_result_bytes: u64,
    /// Where a result goes that is larger, or is no text.
    pub results: ResultsDir<'a>,
    /// Says when to give the call up.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Hears what the server says about how far it is.
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
/// Dropping it stops them: they are asked to end, then made to, with everything they started in their group.
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
    /// The servers, none of them started. Of two with one name the first counts.
    pub fn new(specs: impl IntoIterator<Item = ServerSpec>, options: &ServersOptions) -> Self {
        let mut servers = BTreeMap::new();
        for spec in specs {
            let name = spec.name.clone();
            servers.entry(name).or_insert_with(|| Arc::new(Server::new(spec, options.clone())));
        }
        Self { servers, runtime: OnceLock::new() }
    }

    /// The servers as they are configured, sorted by name.
    pub fn specs(&self) -> impl Iterator<Item = &ServerSpec> {
        self.servers.values().map(|server| server.spec())
    }

    /// One server as it is configured.
    pub fn spec(&self, name: &str) -> Result<&ServerSpec, ToolsError> {
        Ok(self.server(name)?.spec())
    }

    /// The tools of a server, which is started if it is not running; all pages of them.
    ///
    /// They are asked for again when the server says that they changed, or was started anew.
    pub fn tools(&self, server: &str, is_stopped: &(dyn Fn() -> bool + Sync)) -> Result<Listed, ToolsError> {
        let found = Arc::clone(self.server(server)?);
        let listing = async move { found.tools().await };
        self.runtime()?.wait(listing, is_stopped).unwrap_or_else(|| Err(stopped(server)))
    }

    /// Calls a tool and waits for its result.
    ///
    /// Whether it may be called is not asked here, nor whether its arguments fit: see [`crate::execute_tools`].
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
        // Progress is told on the caller's thread, while it waits.
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

    /// How often the servers that run have said that their tools changed.
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

    /// The process of a server that runs, for whoever wants to look at it.
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
                // One that cannot be stopped must not keep the others from it.
                drop(server.await);
            }
        });
    }
}
