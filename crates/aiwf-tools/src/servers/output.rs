//! Watches the stdout of a server while it is read.
//!
//! The SDK silently drops a line that is too long or not JSON, so the caller would wait until the timeout. Here the
//! stream ends with a reason instead, and the call fails at once.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// Size limit of a message.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// Number of bytes that may be ignored: some servers print a greeting on stdout.
const MAX_GARBAGE: u64 = 256 * 1024;
/// Maximum output of a server per request.
const MAX_FLOOD: u64 = 4 * MAX_MESSAGE_BYTES as u64;

/// The reason why a stream ended; shared by the stream and the error messages.
#[derive(Debug, Default)]
pub(super) struct Watch {
    fault: OnceLock<&'static str>,
    n_since_request: AtomicU64,
}

impl Watch {
    pub(super) fn fault(&self) -> Option<&'static str> {
        self.fault.get().copied()
    }

    /// Called for each request: the server may produce output again.
    pub(super) fn expect_more(&self) {
        self.n_since_request.store(0, Ordering::Relaxed);
    }
}

/// A stream that ends when it exceeds a limit.
#[derive(Debug)]
pub(super) struct Output<R> {
    inner: R,
    watch: Arc<Watch>,
    n_line: usize,
    is_message: bool,
    n_garbage: u64,
}

impl<R> Output<R> {
    pub(super) fn new(inner: R, watch: Arc<Watch>) -> Self {
        Self { inner, watch, n_line: 0, is_message: false, n_garbage: 0 }
    }

    fn fault_in(&mut self, bytes: &[u8]) -> Option<&'static str> {
        let n_bytes = bytes.len() as u64;
        if self.watch.n_since_request.fetch_add(n_bytes, Ordering::Relaxed) + n_bytes > MAX_FLOOD {
            return Some("it printed more than 64 MiB for one request");
        }
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.n_line == 0 {
                self.is_message = line.first() == Some(&b'{');
            }
            self.n_line += line.len();
            if !self.is_message {
                self.n_garbage += line.len() as u64;
            }
            if self.n_line > MAX_MESSAGE_BYTES {
                return Some("it sent a message larger than 16 MiB");
            }
            if self.n_garbage > MAX_GARBAGE {
                return Some("its output is not the MCP protocol");
            }
            if line.ends_with(b"\n") {
                self.n_line = 0;
            }
        }
        None
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Output<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.watch.fault().is_some() {
            return Poll::Ready(Ok(()));
        }
        let n_before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        if matches!(polled, Poll::Ready(Ok(()))) {
            let bytes = buffer.filled().get(n_before..).unwrap_or_default();
            if let Some(fault) = self.fault_in(bytes) {
                // Only the first reason counts.
                let _ = self.watch.fault.set(fault);
                buffer.set_filled(n_before);
            }
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    fn check(input: &[u8], expected: Option<&str>) {
        let watch = Arc::new(Watch::default());
        let mut output = Output::new(input, Arc::clone(&watch));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut read = Vec::new();
        runtime.block_on(output.read_to_end(&mut read)).unwrap();
        assert_eq!(watch.fault(), expected);
        assert_eq!(read.len() == input.len(), expected.is_none());
    }

    #[test]
    fn messages_and_a_greeting_pass() {
        check(b"Server running on stdio\n{\"a\": 1}\n{\"b\": 2}\n", None);
        let large = [b"{".as_slice(), &vec![b'x'; MAX_MESSAGE_BYTES - 2], b"\n"].concat();
        check(&large, None);
        check(&[large.as_slice(), b"{}\n"].concat(), None);
    }

    #[test]
    fn exceeding_a_limit_ends_the_stream_with_a_reason() {
        let large = [b"{".as_slice(), &vec![b'x'; MAX_MESSAGE_BYTES]].concat();
        check(&large, Some("it sent a message larger than 16 MiB"));
        check(&b"tick\n".repeat(60_000), Some("its output is not the MCP protocol"));
        check(&vec![b'x'; 300_000], Some("its output is not the MCP protocol"));
        let flood = b"{\"jsonrpc\": \"2.0\"}\n".repeat(4_000_000);
        check(&flood, Some("it printed more than 64 MiB for one request"));
    }
}
