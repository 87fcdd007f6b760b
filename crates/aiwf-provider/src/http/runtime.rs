//! The runtime of all calls of a process.
//!
//! One thread drives its connections, also between calls, so that a connection that a server closed meanwhile is known
//! before the next request is written to it. A call runs on the thread of whoever asks.

use std::io;
use std::sync::{Mutex, PoisonError};

use aiwf_advice::{Action, Advice};
use tokio::runtime::{Builder, Handle};

use crate::ask_error::AskError;

static HANDLE: Mutex<Option<Handle>> = Mutex::new(None);

/// Runs a call to its end.
pub(super) fn run<T>(name: &str, future: impl Future<Output = Result<T, AskError>>) -> Result<T, AskError> {
    let handle = handle().map_err(|error| AskError::Failed {
        provider: name.to_owned(),
        message: format!("no connection can be made: {error}"),
        advice: Box::new(Advice::from("close other programs, then ").then(Action::Retry)),
        usage: None,
    })?;
    handle.block_on(async {
        let outcome = future.await;
        settle().await;
        outcome
    })
}

/// Lets the driver finish what it has begun: a connection whose answer was read to its end is then kept for the next
/// call, which would otherwise open another one.
async fn settle() {
    // The driver runs its own tasks before one from here, but for every 31st; a second and a third come after those.
    for _ in 0..3 {
        drop(tokio::spawn(std::future::ready(())).await);
    }
}

/// The runtime, made when it is first needed; what could not be made is tried again by the next call.
fn handle() -> io::Result<Handle> {
    let mut known = HANDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = &*known {
        return Ok(handle.clone());
    }
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let handle = runtime.handle().clone();
    let driver = std::thread::Builder::new().name("aiwf-http".to_owned());
    // It ends with the process, and so does a name that is still being looked up.
    driver.spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(known.insert(handle).clone())
}
