//! A scripted model behind the real APIs, on the loopback interface.
//!
//! In: [`Turn`]s, handed out one per request in the order they arrive, or a closure that picks one. Out: what each
//! API would send over the wire, and every request as it was seen. It stands in for the model only: whoever talks to
//! it, a real agent or one of our own providers, is the real thing. It never leaves this machine.

mod http;
mod seen_request;
mod turn;
mod wire;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use http::ResponseWriter;
pub use seen_request::{Flavour, SeenRequest};
pub use turn::{Piece, Turn, Usage};
use wire::{Answer, Event};

/// What a request after the last turn is told; a status that nobody tries again, a body that every client can read.
const AT_ITS_END: (u16, &str) = (
    400,
    r#"{"type":"error","error":{"type":"invalid_request_error","message":"the script of the model server is at its end"}}"#,
);

/// A model API on a port of its own, gone with the value.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

type Script = dyn FnMut(&SeenRequest) -> Turn + Send;

struct Shared {
    script: Mutex<Box<Script>>,
    usage: Mutex<Option<Usage>>,
    seen: Mutex<Vec<SeenRequest>>,
    connections: Mutex<Vec<TcpStream>>,
    is_closed: Mutex<bool>,
    closed: Condvar,
}

impl ModelServer {
    /// Hands out the turns in order; a request after the last one gets status 400, and says so.
    ///
    /// # Panics
    ///
    /// When no port can be had.
    #[must_use]
    pub fn script(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::script_when(|_| true, turns)
    }

    /// Hands out the turns to the requests that `is_main` knows, and a short text to all others.
    ///
    /// Some agents ask for the title of a session on the side; such a request must not take a turn.
    ///
    /// # Panics
    ///
    /// When no port can be had.
    #[must_use]
    pub fn script_when(
        is_main: impl Fn(&SeenRequest) -> bool + Send + 'static,
        turns: impl IntoIterator<Item = Turn>,
    ) -> Self {
        let mut turns: VecDeque<Turn> = turns.into_iter().collect();
        Self::answering(move |request| {
            if !is_main(request) {
                return Turn::text("a side request");
            }
            turns.pop_front().unwrap_or_else(|| Turn::status_with_body(AT_ITS_END.0, AT_ITS_END.1))
        })
    }

    /// Asks a closure for each turn; it sees the request, and only requests that ask the model.
    ///
    /// # Panics
    ///
    /// When no port can be had.
    #[must_use]
    pub fn answering(script: impl FnMut(&SeenRequest) -> Turn + Send + 'static) -> Self {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a model server needs a loopback port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(Box::new(script)),
            usage: Mutex::new(Some(Usage::default())),
            seen: Mutex::default(),
            connections: Mutex::default(),
            is_closed: Mutex::new(false),
            closed: Condvar::new(),
        });
        let listening = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.accept(&listener)
        });
        Self { address, shared, listening: Some(listening) }
    }

    /// Reports this usage from now on; `None` leaves usage out of every answer.
    #[must_use]
    pub fn with_usage(self, usage: impl Into<Option<Usage>>) -> Self {
        *lock(&self.shared.usage) = usage.into();
        self
    }

    /// The base URL without a version, as Anthropic's and Gemini's clients want it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL with its version, as clients of OpenAI's APIs want it.
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// Number of connections so far.
    pub fn n_connections(&self) -> usize {
        lock(&self.shared.connections).len()
    }

    /// Every request so far, checks and side requests included.
    pub fn requests(&self) -> Vec<SeenRequest> {
        lock(&self.shared.seen).clone()
    }

    /// The requests so far that asked the model for an answer.
    pub fn asks(&self) -> Vec<SeenRequest> {
        self.requests().into_iter().filter(|request| request.flavour.is_some()).collect()
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        *lock(&self.shared.is_closed) = true;
        self.shared.closed.notify_all();
        for connection in lock(&self.shared.connections).drain(..) {
            connection.shutdown(Shutdown::Both).ok();
        }
        // A connection wakes the listener, which then sees that it is closed.
        drop(TcpStream::connect(self.address));
        if let Some(listening) = self.listening.take() {
            listening.join().ok();
        }
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        while let Ok((connection, _)) = listener.accept() {
            // Held while the connection is listed, so that closing misses none.
            let is_closed = lock(&self.is_closed);
            if *is_closed {
                return;
            }
            if let Ok(twin) = connection.try_clone() {
                lock(&self.connections).push(twin);
            }
            drop(is_closed);
            let shared = Arc::clone(self);
            // A peer that goes away ends its own thread only.
            thread::spawn(move || shared.converse(&connection).ok());
        }
    }

    fn converse(&self, connection: &TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        let mut reader = BufReader::new(connection);
        loop {
            let Some(request) = http::read_request(&mut reader, connection)? else { return Ok(()) };
            let number = {
                let mut seen = lock(&self.seen);
                seen.push(request.clone());
                seen.iter().filter(|request| request.flavour.is_some()).count()
            };
            let mut writer = ResponseWriter::new(connection, &request);
            match request.flavour {
                None => wire::check(&request, &mut writer)?,
                Some(flavour) => {
                    // The lock ends with this statement: a turn that hangs must not stop other connections.
                    let turn = (lock(&self.script))(&request);
                    self.answer(&request, flavour, number, turn, &mut writer)?;
                }
            }
            if writer.is_last() {
                return connection.shutdown(Shutdown::Both);
            }
        }
    }

    fn answer(
        &self,
        request: &SeenRequest,
        flavour: Flavour,
        number: usize,
        turn: Turn,
        writer: &mut ResponseWriter<'_>,
    ) -> io::Result<()> {
        let (pieces, delay, cut) = match turn {
            Turn::Status { code, headers, body } => {
                let body = if body.is_empty() { wire::error_body(flavour, code) } else { body };
                return writer.whole(code, &headers, body.as_bytes());
            }
            Turn::Hang(duration) => {
                self.wait(duration);
                return writer.cut();
            }
            Turn::Raw(bytes) => return writer.raw(&bytes),
            Turn::Text(text) => (vec![Piece::Text(text)], Duration::ZERO, None),
            Turn::ToolCall { name, args } => (vec![Piece::ToolCall { name, args }], Duration::ZERO, None),
            Turn::Pieces(pieces) => (pieces, Duration::ZERO, None),
            Turn::CutAfter { text, n_bytes } => {
                let n_bytes = text.floor_char_boundary(n_bytes);
                let (sent, kept_back) = text.split_at(n_bytes);
                let mut chunks = wire::deltas(sent);
                chunks.push(kept_back.to_owned());
                (vec![Piece::Chunks(chunks)], Duration::ZERO, Some(n_bytes))
            }
            Turn::TextSlowly { chunks, delay } => (vec![Piece::Chunks(chunks)], delay, None),
        };
        let usage = *lock(&self.usage);
        let answer = Answer::new(request, number, pieces, usage);
        if request.wants_stream() {
            self.stream(&wire::events(flavour, &answer), delay, cut, writer)
        } else {
            self.wait(delay);
            let body = wire::whole(flavour, &answer).to_string();
            match cut {
                Some(n_bytes) => writer.begun(body.as_bytes(), n_bytes),
                None => writer.whole(200, &[], body.as_bytes()),
            }
        }
    }

    /// Sends the events; a delay stands before every piece of text but the first, a cut after so many bytes of text.
    fn stream(
        &self,
        events: &[Event],
        delay: Duration,
        cut: Option<usize>,
        writer: &mut ResponseWriter<'_>,
    ) -> io::Result<()> {
        writer.begin_events()?;
        let mut n_sent = 0;
        for event in events {
            // Without the second condition, a cut behind the whole text would let the answer's end through.
            let is_over = |n_bytes| {
                n_sent + event.n_text_bytes > n_bytes
                    || event.n_text_bytes == 0 && n_sent == n_bytes && n_sent > 0
            };
            if cut.is_some_and(is_over) {
                return writer.cut();
            }
            if event.n_text_bytes > 0 && n_sent > 0 {
                self.wait(delay);
            }
            n_sent += event.n_text_bytes;
            writer.event(event)?;
        }
        if cut.is_some() { writer.cut() } else { writer.end_events() }
    }

    /// Waits, but not longer than the server lives.
    fn wait(&self, duration: Duration) {
        let until = Instant::now() + duration;
        let mut is_closed = lock(&self.is_closed);
        while !*is_closed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            is_closed = match self.closed.wait_timeout(is_closed, left) {
                Ok((guard, _)) => guard,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

/// A closure of a test that panicked is that test's failure, not another one here.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "model_server_tests.rs"]
mod tests;
