//! A server on loopback that does what a list says, one connection after the other.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the server does with a connection after it read the request.
pub(crate) enum Step {
    /// Writes bytes.
    Write(Vec<u8>),
    /// Writes bytes many times.
    Repeat(Vec<u8>, usize),
    /// Waits for the test.
    Await(Receiver<()>),
    /// Reads the next request of the same connection.
    NextRequest,
    /// Says nothing until the other side closes the connection; a test that leaves it open does not end.
    UntilClosed,
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub(crate) struct Server {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
    is_done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves one connection for each list of steps, and closes those that follow unread.
    pub(crate) fn new(connections: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let is_done = Arc::new(AtomicBool::new(false));
        let (all, done) = (Arc::clone(&received), Arc::clone(&is_done));
        let thread = std::thread::spawn(move || {
            let mut connections = connections.into_iter();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                if done.load(Ordering::SeqCst) {
                    return;
                }
                let Some(request) = read_request(&mut stream) else { continue };
                all.lock().unwrap().push(request);
                for step in connections.next().unwrap_or_default() {
                    if matches!(step, Step::NextRequest) {
                        all.lock().unwrap().extend(read_request(&mut stream));
                    } else {
                        perform(step, &mut stream);
                    }
                }
            }
        });
        Self { port, received, is_done, thread: Some(thread) }
    }

    /// Serves the same bytes to every one of so many connections.
    pub(crate) fn answering(answers: &[&str]) -> Self {
        Self::new(answers.iter().map(|answer| vec![Step::Write(answer.as_bytes().to_vec())]).collect())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The requests that arrived so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the server of the test stopped");
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    let mut request = Received { head: String::from_utf8(head).unwrap(), body: String::new() };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).unwrap();
    Some(request)
}

/// A client that goes away early is its own affair.
fn perform(step: Step, stream: &mut TcpStream) {
    match step {
        Step::Write(bytes) => drop(stream.write_all(&bytes)),
        Step::Repeat(bytes, n_times) => {
            for _ in 0..n_times {
                if stream.write_all(&bytes).is_err() {
                    return;
                }
            }
        }
        Step::NextRequest => unreachable!("whoever has the list of requests reads them"),
        Step::Await(receiver) => drop(receiver.recv_timeout(Duration::from_mins(100))),
        Step::UntilClosed => while stream.read(&mut [0; 64]).unwrap_or(0) > 0 {},
    }
}

/// The head of an answer whose body ends with the connection.
pub(crate) const EVENTS: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// An answer of events.
pub(crate) fn events(events: &[&str]) -> String {
    let whole = |mut answer: String, event: &&str| {
        answer.extend(["data: ", event, "\n\n"]);
        answer
    };
    events.iter().fold(EVENTS.to_owned(), whole)
}

/// An answer of events after which the connection stays open.
pub(crate) fn events_kept_alive(events: &[&str]) -> String {
    let body: String = events.iter().flat_map(|event| ["data: ", event, "\n\n"]).collect();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len()
    )
}

/// An answer with a status, further headers and a body.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}")
}

/// A piece of a reply as OpenAI sends it.
pub(crate) fn piece(text: &str) -> String {
    serde_json::json!({ "model": "m-2026", "choices": [{ "index": 0, "delta": { "content": text } }] })
        .to_string()
}

/// The end of a reply as OpenAI sends it.
pub(crate) const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

/// A whole short reply.
pub(crate) fn hello() -> String {
    events(&[&piece("hello"), STOP, "[DONE]"])
}
