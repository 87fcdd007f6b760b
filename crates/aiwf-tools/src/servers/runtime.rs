//! The thread that runs all communication with servers.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Interval at which a waiting caller checks its stop flag.
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
            // Either it was told to end, or the sender is gone.
            drop(runtime.block_on(ended));
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(Self { handle, end, thread })
    }

    /// Waits for a future; returns `None` if the stop flag is raised first, and drops the future.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<T> {
        let (sender, receiver) = sync_channel(1);
        let task = self.handle.spawn(async move {
            // The receiver may be gone.
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
        // The thread may have ended already.
        let _ = self.end.send(());
        drop(self.thread.join());
    }
}
