//! Stores the stderr of servers, one file each, in the user's cache.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use aiwf_store::{Durability, create_dir, write_atomic};
use aiwf_tools::LogSink;

type Lines = Arc<Mutex<BTreeMap<String, String>>>;

/// The stderr of the servers of one command. The caller limits its size; it is written on drop.
#[derive(Debug)]
pub(super) struct ServerLog {
    directory: Option<PathBuf>,
    lines: Lines,
}

impl ServerLog {
    pub(super) fn new(directory: Option<PathBuf>) -> Self {
        Self { directory, lines: Lines::default() }
    }

    pub(super) fn sink(&self) -> LogSink {
        let lines = Arc::clone(&self.lines);
        Arc::new(move |server, line| {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            let text = lines.entry(server.to_owned()).or_default();
            text.push_str(line);
            text.push('\n');
        })
    }
}

impl Drop for ServerLog {
    fn drop(&mut self) {
        let Some(directory) = &self.directory else { return };
        for (server, text) in &*self.lines.lock().unwrap_or_else(PoisonError::into_inner) {
            // A log that cannot be written must not stop the command.
            if create_dir(directory).is_ok() {
                let path = directory.join(format!("{server}.log"));
                drop(write_atomic(&path, Durability::Process, |out| out.write_all(text.as_bytes())));
            }
        }
    }
}
