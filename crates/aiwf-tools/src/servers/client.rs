//! Our side of a connection: who we say we are, and what we do with what a server says unasked.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};

use crate::shown::excerpt;

/// How many reports of progress may wait to be heard; more are passed over.
pub(super) const MAX_WAITING_PROGRESS: usize = 64;

/// How far a call is, as its server says.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done.
    pub done: f64,
    /// How much there is to do.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

type Hearer = (ProgressToken, SyncSender<Progress>);

/// Who hears what about which call.
#[derive(Clone, Debug, Default)]
pub(super) struct Hearers {
    list: Arc<Mutex<Vec<Hearer>>>,
}

impl Hearers {
    pub(super) fn add(&self, token: ProgressToken, hearer: SyncSender<Progress>) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).push((token, hearer));
    }

    pub(super) fn remove(&self, token: &ProgressToken) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).retain(|(other, _)| other != token);
    }

    fn tell(&self, token: &ProgressToken, progress: Progress) {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, hearer)) = list.iter().find(|(other, _)| other == token) {
            // A hearer that is behind, or gone, misses one.
            drop(hearer.try_send(progress));
        }
    }
}

/// Our side of a connection. Sampling, roots and questions to the user are not offered.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    /// Counts up whenever the server says that its tools changed.
    pub(super) list_version: Arc<AtomicU64>,
    pub(super) hearers: Hearers,
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
        self.hearers.tell(&progress.progress_token, told);
    }
}
