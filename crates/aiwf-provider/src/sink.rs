//! Where a reply goes while it arrives.

use std::io;

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many bytes of the reply, or of an agent's output, have arrived.
    Bytes(u64),
    /// The call failed and is made again.
    Retry {
        /// Which attempt follows, from 2.
        attempt: u32,
        /// How long it is waited before.
        wait: std::time::Duration,
    },
}

/// Takes a reply as it arrives.
///
/// An error of a sink ends the call: a full disk, or a reply that is larger than it may be.
pub trait Sink {
    /// More of the reply's text.
    fn text(&mut self, text: &str) -> io::Result<()>;

    /// What arrived so far is not the reply: the call is made again, or the agent went on to another message.
    fn restart(&mut self) -> io::Result<()>;

    /// What an agent's program printed, as it printed it.
    fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let _ = bytes;
        Ok(())
    }

    /// How far the call is.
    fn progress(&mut self, progress: Progress) {
        let _ = progress;
    }
}

/// A sink that keeps the text in memory, up to a limit.
#[derive(Clone, Debug)]
pub struct TextSink {
    text: String,
    max_bytes: usize,
}

impl TextSink {
    /// Keeps at most so many bytes.
    pub fn new(max_bytes: usize) -> Self {
        Self { text: String::new(), max_bytes }
    }

    /// What arrived.
    pub fn into_text(self) -> String {
        self.text
    }
}

impl Sink for TextSink {
    fn text(&mut self, text: &str) -> io::Result<()> {
        if self.text.len() + text.len() > self.max_bytes {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the reply exceeds its size limit"));
        }
        self.text.push_str(text);
        Ok(())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.text.clear();
        Ok(())
    }
}
