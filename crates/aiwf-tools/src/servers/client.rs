//! Our side of a connection: our identity, and the handling of notifications.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};

use crate::shown::excerpt;

/// Maximum number of queued progress reports; more are dropped.
pub(super) const MAX_WAITING_PROGRESS: usize = 64;

/// The progress of a call, as reported by its server.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    pub done: f64,
    /// The total amount, if known.
    pub total: Option<f64>,
    pub message: Option<String>,
}

type ProgressReceiver = (ProgressToken, SyncSender<Progress>);

/// The receivers of progress reports, by call.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgressReceivers {
    list: Arc<Mutex<Vec<ProgressReceiver>>>,
}

impl ProgressReceivers {
    pub(super) fn add(&self, token: ProgressToken, receiver: SyncSender<Progress>) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).push((token, receiver));
    }

    pub(super) fn remove(&self, token: &ProgressToken) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| other != token);
    }

    fn tell(&self, token: &ProgressToken, progress: Progress) {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, receiver)) = list.iter().find(|(other, _)| other == token) {
            // A receiver that is slow or gone misses a report.
            drop(receiver.try_send(progress));
        }
    }
}

/// Our side of a connection. Sampling, roots and elicitation are not offered.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    /// Incremented whenever the server announces that its tools changed.
    pub(super) list_version: Arc<AtomicU64>,
    pub(super) receivers: ProgressReceivers,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("aiwf", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.list_version.fetch_add(1, Ordering::SeqCst);
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let told = Progress {
            done: progress.progress,
            total: progress.total,
            message: progress.message.as_deref().map(excerpt),
        };
        self.receivers.tell(&progress.progress_token, told);
    }
}
