//! Reads server-sent events from bytes that arrive in any pieces.
//!
//! In: chunks, cut anywhere, inside a character too. Out: the data of each event, in order. Names, ids and comments
//! are left out: every API we ask says all it has to say in the data. One event is all that is held, and its size
//! is bounded.

/// How large one event may be.
pub(super) const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

/// An event that is larger than [`MAX_EVENT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventTooLarge;

/// What has arrived of the event under way.
#[derive(Debug)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    // A line may end in CR, LF or both, and the two may arrive apart.
    is_after_cr: bool,
    is_first_line: bool,
    max_bytes: usize,
}

impl Default for Events {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }
}

impl Events {
    pub(super) fn with_limit(max_bytes: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            is_after_cr: false,
            is_first_line: true,
            max_bytes,
        }
    }

    /// Takes more bytes and hands over the data of every event that they complete.
    pub(super) fn push<E: From<EventTooLarge>>(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        if let [first, after @ ..] = rest {
            if self.is_after_cr && *first == b'\n' {
                rest = after;
            }
            self.is_after_cr = false;
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = rest.split_at(end);
            self.keep(line)?;
            self.end_line(&mut each)?;
            rest = match tail {
                [b'\r', b'\n', after @ ..] | [_, after @ ..] => {
                    self.is_after_cr = tail == b"\r";
                    after
                }
                [] => &[],
            };
        }
        Ok(self.keep(rest)?)
    }

    /// Hands over an event that the end of the stream left without its empty line.
    pub(super) fn end<E: From<EventTooLarge>>(
        mut self,
        mut each: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_line(&mut each)?;
        }
        self.end_line(&mut each)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), EventTooLarge> {
        if self.line.len() + self.data.len() + bytes.len() > self.max_bytes {
            return Err(EventTooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line<E>(&mut self, each: &mut impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        let mut line = self.line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            let result = if self.has_data { each(&String::from_utf8_lossy(&self.data)) } else { Ok(()) };
            self.has_data = false;
            self.data.clear();
            self.line.clear();
            return result;
        }
        if let Some(value) = data_of(line) {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
            self.has_data = true;
        }
        self.line.clear();
        Ok(())
    }
}

/// What a line gives the event; `None` when it is a comment or another field.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
