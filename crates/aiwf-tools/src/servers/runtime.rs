//! The thread in which everything that talks to servers runs.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// How often a caller that waits looks at its stop flag.
const EVERY: Duration = Duration::from_millis(50);

pub(super) struct Runtime {
    handle: Handle,
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Runtime {
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new().name("aiwf-tools".to_owned()).spawn(move || {
            // Either way it is over: told, or nobody is left to tell.
            drop(runtime.block_on(ended));
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(Self { handle, end, thread })
    }

    /// Waits for what a future gives; nothing when the stop flag was raised first, and then the future is dropped.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<T> {
        let (sender, receiver) = sync_channel(1);
        let task = self.handle.spawn(async move {
            // Whoever waited may be gone.
            drop(sender.send(future.await));
        });
        loop {
            match receiver.recv_timeout(EVERY) {
                Ok(value) => return Some(value),
                Err(RecvTimeoutError::Timeout) if !is_stopped() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    task.abort();
                    return None;
                }
            }
        }
    }

    /// Runs a last future to its end, then ends the thread.
    pub(super) fn finish(self, last: impl Future<Output = ()> + Send + 'static) {
        self.wait(last, &|| false);
        // The thread may have ended by itself; that is what is wanted.
        let _ = self.end.send(());
        drop(self.thread.join());
    }
}
