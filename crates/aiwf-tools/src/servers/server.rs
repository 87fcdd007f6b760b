//! One server: started when needed, and restarted a few times after a crash.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientRequest,
    PaginatedRequestParams, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::ServersOptions;
use super::client::{Client, Progress};
use super::connect::{Connected, connect};
use super::http;
use super::log::Log;
use crate::arguments::{MAX_SCHEMA_BYTES, check_schema};
use crate::error::ToolsError;
use crate::server_spec::ServerSpec;
use crate::shown::excerpt;
use crate::tool::{Annotations, Tool, full_name, is_tool_name};

/// Maximum number of starts: the first, and three restarts after crashes.
const MAX_STARTS: u32 = 4;
/// Delay before the first restart; doubled for each further one.
const BACK_OFF: Duration = Duration::from_millis(250);
const MAX_PAGES: usize = 100;
const MAX_TOOLS: usize = 2_000;
const MAX_DESCRIPTION: usize = 64 * 1024;
/// Time limit of operations that belong to no call, such as closing.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The tools of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The usable tools, in the server's order.
    pub tools: Vec<Tool>,
    /// What is wrong with the other tools.
    pub problems: Vec<String>,
}

pub(super) struct Server {
    spec: ServerSpec,
    options: ServersOptions,
    log: Arc<Log>,
    life: Mutex<Life>,
}

#[derive(Default)]
struct Life {
    connection: Option<Arc<Connection>>,
    n_starts: u32,
    last_end: String,
}

struct Connection {
    client: Client,
    connected: Mutex<Option<Connected>>,
    peer: Peer<RoleClient>,
    /// The tools, with the version of the list they come from.
    listed: Mutex<Option<(u64, Arc<Listed>)>>,
}

impl Server {
    pub(super) fn new(spec: ServerSpec, options: ServersOptions) -> Self {
        Self { spec, options, log: Arc::default(), life: Mutex::default() }
    }

    pub(super) fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    pub(super) async fn process_id(&self) -> Option<u32> {
        let connection = self.life.lock().await.connection.clone()?;
        let connected = connection.connected.lock().await;
        Some(connected.as_ref()?.process.as_ref()?.id())
    }

    pub(super) async fn tools(&self) -> Result<Listed, ToolsError> {
        let connection = self.connection().await?;
        Ok(self.listed(&connection).await?.as_ref().clone())
    }

    pub(super) async fn call(
        &self,
        expected: &Tool,
        arguments: Map<String, Value>,
        within: Duration,
        progress: SyncSender<Progress>,
        is_sent: &AtomicBool,
    ) -> Result<CallToolResult, ToolsError> {
        let connection = self.connection().await?;
        // The tool must still be the granted one: the server may have been restarted, or have changed its tools.
        let listed = self.listed(&connection).await?;
        let name = expected.full_name();
        match listed.tools.iter().find(|tool| tool.name == expected.name) {
            Some(tool) if tool.sha256() == expected.sha256() => {}
            Some(_) => {
                let changed = "it changed a moment ago".to_owned();
                return Err(ToolsError::Changed { tool: name, changed });
            }
            None => return Err(ToolsError::UnknownTool { tool: name, near: None, known: Vec::new() }),
        }
        let params = CallToolRequestParams::new(expected.name.clone()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        connection.expect_more().await;
        let asking = async {
            // From now on the server may have started the call, whatever happens to the connection.
            is_sent.store(true, Ordering::SeqCst);
            let handle =
                connection.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
            let token = handle.progress_token.clone();
            connection.client.receivers.add(token.clone(), progress);
            let mut abandoned = Abandoned { peer: connection.peer.clone(), id: Some(handle.id.clone()) };
            let answer = handle.await_response().await;
            abandoned.id = None;
            connection.client.receivers.remove(&token);
            answer
        };
        match timeout(within, asking).await {
            Err(_) => Err(ToolsError::TimedOut { tool: name, after: within }),
            Ok(Ok(ServerResult::CallToolResult(result))) => Ok(result),
            Ok(Ok(ServerResult::InputRequiredResult(_))) => {
                Err(self.protocol("it requests user input, which is not supported"))
            }
            Ok(Ok(ServerResult::CreateTaskResult(_))) => {
                Err(self.protocol("it returned a task, which is not supported"))
            }
            Ok(Ok(_)) => Err(self.protocol("its response is not a tool result")),
            Ok(Err(error)) => Err(self.failed(&connection, error).await),
        }
    }

    /// How often the running server announced that its tools changed.
    pub(super) async fn n_list_changes(&self) -> u64 {
        let life = self.life.lock().await;
        life.connection.as_ref().map_or(0, |connection| connection.client.list_version.load(Ordering::SeqCst))
    }

    pub(super) async fn stop(&self) {
        let connection = self.life.lock().await.connection.take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// The live connection, or a new one.
    async fn connection(&self) -> Result<Arc<Connection>, ToolsError> {
        // Held while starting: other callers wait for this start.
        let mut life = self.life.lock().await;
        if let Some(connection) = &life.connection {
            if !connection.peer.is_transport_closed() {
                return Ok(Arc::clone(connection));
            }
            let dead = Arc::clone(connection);
            life.last_end = self.how_it_ended(&dead).await;
            life.connection = None;
            dead.close().await;
        }
        self.spec.check()?;
        if !(self.options.is_trusted)(&self.spec)? {
            return Err(ToolsError::Untrusted {
                name: self.spec.name.clone(),
                shown_command: self.spec.shown_command(),
            });
        }
        if life.n_starts >= MAX_STARTS {
            return Err(ToolsError::GaveUp {
                server: self.spec.name.clone(),
                starts: life.n_starts,
                message: life.last_end.clone(),
            });
        }
        let spec = self.spec.expanded(&*self.options.lookup)?;
        if life.n_starts > 0 {
            sleep(BACK_OFF * 2_u32.pow(life.n_starts - 1)).await;
        }
        life.n_starts += 1;
        let client = Client::default();
        let connected = match connect(&spec, &self.options, &client, &self.log).await {
            Ok(connected) => connected,
            Err(error) => {
                life.last_end = error.to_string();
                return Err(error);
            }
        };
        let connection = Arc::new(Connection {
            client,
            peer: connected.service.peer().clone(),
            connected: Mutex::new(Some(connected)),
            listed: Mutex::default(),
        });
        life.connection = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// The tools of a connection; fetched again if the server announced a change.
    async fn listed(&self, connection: &Arc<Connection>) -> Result<Arc<Listed>, ToolsError> {
        let mut listed = connection.listed.lock().await;
        let version = connection.client.list_version.load(Ordering::SeqCst);
        if let Some((of, tools)) = &*listed
            && *of == version
        {
            return Ok(Arc::clone(tools));
        }
        let within = self.spec.timeout;
        let Ok(asked) = timeout(within, self.ask_for_tools(connection)).await else {
            let tool = format!("{} tools/list", self.spec.name);
            return Err(ToolsError::TimedOut { tool, after: within });
        };
        let tools = Arc::new(asked?);
        *listed = Some((version, Arc::clone(&tools)));
        Ok(tools)
    }

    async fn ask_for_tools(&self, connection: &Arc<Connection>) -> Result<Listed, ToolsError> {
        let mut found = Listed::default();
        let mut seen = BTreeSet::new();
        let mut cursor = None;
        for n_page in 0.. {
            if n_page == MAX_PAGES {
                return Err(self.protocol(format!("its list of tools has more than {MAX_PAGES} pages")));
            }
            connection.expect_more().await;
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = match connection.peer.list_tools(Some(params)).await {
                Ok(page) => page,
                Err(error) => return Err(self.failed(connection, error).await),
            };
            for tool in page.tools {
                if found.tools.len() == MAX_TOOLS {
                    return Err(self.protocol(format!("it has more than {MAX_TOOLS} tools")));
                }
                match self.usable(tool) {
                    Ok(tool) if seen.insert(tool.name.clone()) => found.tools.push(tool),
                    Ok(tool) => found.problems.push(format!("`{}` is listed twice", tool.full_name())),
                    Err(problem) if found.problems.len() < MAX_PAGES => found.problems.push(problem),
                    Err(_) => {}
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(found)
    }

    /// Converts a tool, or returns why it is unusable.
    fn usable(&self, tool: rmcp::model::Tool) -> Result<Tool, String> {
        let shown = full_name(&self.spec.name, &excerpt(&tool.name));
        if !is_tool_name(&tool.name) {
            return Err(format!("`{shown}` is ignored: its name contains invalid characters"));
        }
        let input_schema = Value::Object(tool.input_schema.as_ref().clone());
        let n_bytes = input_schema.to_string().len();
        if n_bytes > MAX_SCHEMA_BYTES {
            return Err(format!("`{shown}` is ignored: its schema has {n_bytes} bytes"));
        }
        check_schema(&input_schema)
            .map_err(|why| format!("`{shown}` is ignored: its schema is invalid: {why}"))?;
        let description = tool.description.map(std::borrow::Cow::into_owned);
        if description.as_ref().is_some_and(|text| text.len() > MAX_DESCRIPTION) {
            return Err(format!(
                "`{shown}` is ignored: its description has more than {MAX_DESCRIPTION} bytes"
            ));
        }
        let annotations = tool.annotations.unwrap_or_default();
        Ok(Tool {
            server: self.spec.name.clone(),
            name: tool.name.into_owned(),
            title: tool.title.or(annotations.title),
            description,
            input_schema,
            output_schema: tool.output_schema.map(|schema| Value::Object(schema.as_ref().clone())),
            annotations: Annotations {
                read_only_hint: annotations.read_only_hint,
                destructive_hint: annotations.destructive_hint,
                idempotent_hint: annotations.idempotent_hint,
                open_world_hint: annotations.open_world_hint,
            },
        })
    }

    fn protocol(&self, message: impl Into<String>) -> ToolsError {
        ToolsError::Protocol { server: self.spec.name.clone(), message: message.into() }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other errors use the SDK's wording")]
    async fn failed(&self, connection: &Arc<Connection>, error: ServiceError) -> ToolsError {
        let server = self.spec.name.clone();
        match error {
            ServiceError::McpError(error) => {
                ToolsError::Refused { server, code: error.code.0, message: excerpt(&error.message) }
            }
            ServiceError::TransportSend(error) => {
                let message = match self.how_it_ended(connection).await {
                    how if connection.has_process().await => how,
                    _ => http::shown_error(error.error.as_ref()),
                };
                ToolsError::Died { server, message, stderr: self.log.tail() }
            }
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => {
                let message = self.how_it_ended(connection).await;
                ToolsError::Died { server, message, stderr: self.log.tail() }
            }
            other => self.protocol(excerpt(&other.to_string())),
        }
    }

    async fn how_it_ended(&self, connection: &Connection) -> String {
        let connected = connection.connected.lock().await;
        let Some(connected) = &*connected else { return "it was stopped".to_owned() };
        if let Some(fault) = connected.watch.fault() {
            return fault.to_owned();
        }
        let how = match &connected.process {
            Some(process) => process.how_it_ended().await,
            None => None,
        };
        how.unwrap_or_else(|| "it closed the connection".to_owned())
    }
}

impl Connection {
    async fn expect_more(&self) {
        if let Some(connected) = &*self.connected.lock().await {
            connected.watch.expect_more();
        }
    }

    async fn has_process(&self) -> bool {
        self.connected.lock().await.as_ref().is_some_and(|connected| connected.process.is_some())
    }

    /// Closes the connection, and with it the server's stdin, and ends the process.
    async fn close(&self) {
        let Some(Connected { mut service, process, .. }) = self.connected.lock().await.take() else { return };
        // It may not close in time: its process is ended next.
        drop(service.close_with_timeout(CLOSE_TIMEOUT).await);
        if let Some(process) = process {
            process.stop().await;
        }
    }
}

/// Sends a cancellation for its request when dropped.
struct Abandoned {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn(async move {
                let params = CancelledNotificationParam::new(Some(id), Some("cancelled".to_owned()));
                // If the server does not listen, the next caller notices.
                drop(timeout(CLOSE_TIMEOUT, peer.notify_cancelled(params)).await);
            }));
        }
    }
}
