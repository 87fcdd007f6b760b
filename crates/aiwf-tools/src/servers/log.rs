//! The stderr of a server: its end is kept and every line is forwarded, both within limits.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::LogSink;

/// Size of the end that is kept for errors.
const TAIL: usize = 8 * 1024;
/// Maximum number of forwarded bytes per line.
const MAX_LINE: usize = 4 * 1024;
/// Maximum number of forwarded bytes per server.
const MAX_LOGGED: usize = 1024 * 1024;

#[derive(Default)]
pub(super) struct Log {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    tail: VecDeque<u8>,
    line: Vec<u8>,
    n_logged: usize,
}

impl Log {
    /// The end of stderr as text.
    pub(super) fn tail(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept.tail.iter().copied().collect::<Vec<u8>>()).trim().to_owned()
    }

    /// Clears the log when the server is restarted.
    pub(super) fn clear(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).tail.clear();
    }

    pub(super) fn take(&self, server: &str, bytes: &[u8], sink: Option<&LogSink>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let new = bytes.len().saturating_sub(TAIL);
        kept.tail.extend(bytes.iter().skip(new));
        let n_over = kept.tail.len().saturating_sub(TAIL);
        kept.tail.drain(..n_over);
        let Some(sink) = sink else { return };
        for byte in bytes {
            if *byte == b'\n' {
                kept.hand_on(server, sink);
            } else if kept.line.len() < MAX_LINE {
                kept.line.push(*byte);
            }
        }
    }

    /// Reads to the end, so that a server never blocks on stderr.
    pub(super) async fn drain(&self, server: &str, mut from: impl AsyncRead + Unpin, sink: Option<LogSink>) {
        let mut buffer = vec![0; 8 * 1024];
        while let Ok(n_read) = from.read(&mut buffer).await {
            let Some(bytes) = buffer.get(..n_read).filter(|bytes| !bytes.is_empty()) else { break };
            self.take(server, bytes, sink.as_ref());
        }
        if let Some(sink) = &sink {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).hand_on(server, sink);
        }
    }
}

impl Kept {
    fn hand_on(&mut self, server: &str, sink: &LogSink) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).trim_end().to_owned();
        if line.is_empty() || self.n_logged > MAX_LOGGED {
            return;
        }
        self.n_logged += line.len();
        if self.n_logged > MAX_LOGGED {
            sink(server, "further output is dropped");
        } else {
            sink(server, &line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_end_is_kept_and_lines_are_forwarded_within_limits() {
        let log = Log::default();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&lines);
        let sink: LogSink = Arc::new(move |server: &str, line: &str| {
            heard.lock().unwrap().push(format!("{server}: {line}"));
        });
        log.take("s", b"one\ntw", Some(&sink));
        log.take("s", b"o\n\n", Some(&sink));
        assert_eq!(*lines.lock().unwrap(), ["s: one", "s: two"]);
        assert_eq!(log.tail(), "one\ntwo");
        for _ in 0..1000 {
            log.take("s", &[b'x'; 4096], Some(&sink));
            log.take("s", b"\n", Some(&sink));
        }
        assert!(log.tail().len() <= TAIL);
        let lines = lines.lock().unwrap();
        assert_eq!(lines.last().map(String::as_str), Some("s: further output is dropped"));
        assert!(lines.len() < 300);
    }
}
