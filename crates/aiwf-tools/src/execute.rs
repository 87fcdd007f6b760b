//! Runs the calls of one reply in parallel; results are in the order of the calls.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::arguments::check_arguments;
use crate::error::ToolsError;
use crate::policy::{Policy, Refusal};
use crate::servers::{CallOptions, Progress, Servers};
use crate::tool_result::{ResultsDir, ToolResult};

/// Maximum number of parallel calls.
const MAX_PARALLEL: usize = 8;
/// Default limit of a result, as shown to a model.
const DEFAULT_RESULT_BYTES: u64 = 32 * 1024;

/// A call as written by a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The model's own id, or a generated one.
    pub id: String,
    pub name: String,
    pub arguments: Map<String, Value>,
}

#[derive(Clone, Copy)]
pub struct ExecuteOptions<'a> {
    /// Where results that are truncated or not text are saved in full.
    pub results: ResultsDir<'a>,
    /// Whether the caller wants to stop.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Receives the progress of a call, as reported by its server.
    pub on_progress: &'a (dyn Fn(&Call, &Progress) + Sync),
}

impl std::fmt::Debug for ExecuteOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecuteOptions").finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The call is not allowed; nothing was sent.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The call could not be made, or failed.
    #[error(transparent)]
    Failed(#[from] ToolsError),
}

#[derive(Debug)]
pub struct Outcome {
    pub id: String,
    pub name: String,
    /// The server of the tool; `None` if the name contains no server.
    pub server: Option<String>,
    pub result: Result<ToolResult, CallError>,
    pub duration: Duration,
}

impl Outcome {
    /// Whether the tool succeeded.
    pub fn is_success(&self) -> bool {
        self.result.as_ref().is_ok_and(|result| !result.is_error)
    }

    /// Whether the call was sent and its outcome is unknown.
    pub fn is_unknown(&self) -> bool {
        matches!(self.result, Err(CallError::Failed(ToolsError::Unanswered { .. })))
    }

    /// The result as shown to a model.
    pub fn text(&self) -> String {
        match &self.result {
            Ok(result) => result.text.clone(),
            Err(error) => error.to_string(),
        }
    }
}

/// Runs independent calls; returns one outcome for each, in the same order.
///
/// Every name is looked up in the policy exactly; arguments are validated before anything is sent. A call that cannot
/// be run has an outcome with the reason, for the model to read.
pub fn execute_tools(
    calls: &[Call],
    policy: &Policy,
    servers: &Servers,
    options: &ExecuteOptions<'_>,
) -> Vec<Outcome> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let Some(call) = calls.get(index) else { return done };
            done.push((index, execute(call, policy, servers, options)));
        }
    };
    let mut outcomes = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..calls.len().min(MAX_PARALLEL)).map(|_| scope.spawn(work)).collect();
        let mut outcomes = work();
        for thread in threads {
            match thread.join() {
                Ok(more) => outcomes.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        outcomes
    });
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn execute(call: &Call, policy: &Policy, servers: &Servers, options: &ExecuteOptions<'_>) -> Outcome {
    let started_at = Instant::now();
    let named = call.name.split_once("__").map(|(server, _)| server);
    let server = named.filter(|server| servers.spec(server).is_ok()).map(str::to_owned);
    let result = policy.allows(&call.name).map_err(CallError::from).and_then(|tool| {
        check_arguments(tool, &call.arguments)?;
        let call_options = CallOptions {
            timeout: policy.rules().timeout,
            max_result_bytes: policy.rules().max_result_bytes.unwrap_or(DEFAULT_RESULT_BYTES),
            results: options.results,
            is_stopped: options.is_stopped,
            on_progress: &|progress| (options.on_progress)(call, progress),
        };
        Ok(servers.call(tool, &call.arguments, &call_options)?)
    });
    Outcome { id: call.id.clone(), name: call.name.clone(), server, result, duration: started_at.elapsed() }
}
