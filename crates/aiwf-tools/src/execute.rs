//! Runs the calls of one reply: side by side, results in the order of the calls.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::arguments::check_arguments;
use crate::error::ToolsError;
use crate::policy::{Policy, Refusal};
use crate::servers::{CallOptions, Progress, Servers};
use crate::tool_result::{ResultsDir, ToolResult};

/// How many calls run at the same time.
const MAX_PARALLEL: usize = 8;
/// How many bytes of a result a model sees when nobody says otherwise.
const DEFAULT_RESULT_BYTES: u64 = 32 * 1024;

/// A call as a model made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its id: the model's own, or one that was made for it.
    pub id: String,
    /// The full name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// How calls are run.
#[derive(Clone, Copy)]
pub struct ExecuteOptions<'a> {
    /// Where the whole of a result goes that is cut, or is no text.
    pub results: ResultsDir<'a>,
    /// Says when to give up.
    pub is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// Hears how far a call is: the call, what its server says.
    pub on_progress: &'a (dyn Fn(&Call, &Progress) + Sync),
}

impl std::fmt::Debug for ExecuteOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecuteOptions").finish_non_exhaustive()
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// It may not be made; nothing was sent.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// It could not be made, or gave nothing.
    #[error(transparent)]
    Failed(#[from] ToolsError),
}

/// What became of a call.
#[derive(Debug)]
pub struct Outcome {
    /// The call's id.
    pub id: String,
    /// The name as it was called.
    pub name: String,
    /// The server that was asked, or would have been; none when the name names no server.
    pub server: Option<String>,
    /// What it gave.
    pub result: Result<ToolResult, CallError>,
    /// How long it took.
    pub duration: Duration,
}

impl Outcome {
    /// Whether the tool did what it was asked for.
    pub fn is_success(&self) -> bool {
        self.result.as_ref().is_ok_and(|result| !result.is_error)
    }

    /// Whether the call was sent and nobody knows what became of it.
    pub fn is_unknown(&self) -> bool {
        matches!(self.result, Err(CallError::Failed(ToolsError::Unanswered { .. })))
    }

    /// What a model reads about it.
    pub fn text(&self) -> String {
        match &self.result {
            Ok(result) => result.text.clone(),
            Err(error) => error.to_string(),
        }
    }
}

/// Runs calls that do not depend on each other; one outcome for each, in their order.
///
/// Every name is looked up in the policy as it is; arguments are checked before anything is sent. What cannot be run
/// has an outcome that says why, for the model to read.
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
