//! The little of HTTP/1.1 that a scripted server needs: requests with a length or in chunks, and responses.

use std::io::{self, BufRead, Read, Write};
use std::net::{Shutdown, TcpStream};

use super::seen_request::SeenRequest;
use super::wire::Event;

/// Reads one request; none when the peer has no more.
pub(super) fn read_request(
    reader: &mut impl BufRead,
    mut connection: &TcpStream,
) -> io::Result<Option<SeenRequest>> {
    let Some(first) = read_line(reader)? else { return Ok(None) };
    let mut words = first.split(' ').map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no request line"));
    };
    let mut headers = Vec::new();
    while let Some(line) = read_line(reader)?.filter(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let header = |name: &str| headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
    if header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = Vec::new();
    if header("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().contains("chunked")) {
        read_chunks(reader, &mut body)?;
    } else if let Some(length) = header("content-length").and_then(|value| value.parse::<u64>().ok()) {
        reader.take(length).read_to_end(&mut body)?;
    }
    Ok(Some(SeenRequest::new(method, path, headers, body)))
}

fn read_line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()))
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let size = read_line(reader)?.unwrap_or_default();
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        reader.take(size).read_to_end(body)?;
        // The end of a chunk's line; after the last chunk, the end of the trailers, of which there are none.
        read_line(reader)?;
        if size == 0 {
            return Ok(());
        }
    }
}

/// Writes the response to one request.
pub(super) struct ResponseWriter<'a> {
    connection: &'a TcpStream,
    is_head: bool,
    is_last: bool,
}

impl<'a> ResponseWriter<'a> {
    pub(super) fn new(connection: &'a TcpStream, request: &SeenRequest) -> Self {
        let is_last = request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        Self { connection, is_head: request.method == "HEAD", is_last }
    }

    /// Whether the connection ends after this response.
    pub(super) fn is_last(&self) -> bool {
        self.is_last
    }

    pub(super) fn whole(&mut self, code: u16, headers: &[(String, String)], body: &[u8]) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {code} Scripted\r\ncontent-length: {}\r\n", body.len());
        let has = |name: &str| headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        if !has("content-type") {
            head.push_str("content-type: application/json\r\n");
        }
        for (name, value) in headers {
            head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
        }
        head.push_str("\r\n");
        let mut response = head.into_bytes();
        if !self.is_head {
            response.extend_from_slice(body);
        }
        self.connection.write_all(&response)
    }

    /// Promises the whole body, sends the beginning and breaks the connection.
    pub(super) fn begun(&mut self, body: &[u8], n_bytes: usize) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 200 Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.connection.write_all(head.as_bytes())?;
        // The last byte stays back whatever the test asks for: a whole body would be no cut.
        let end = n_bytes.min(body.len().saturating_sub(1));
        self.connection.write_all(body.get(..end).unwrap_or_default())?;
        self.cut()
    }

    pub(super) fn begin_events(&mut self) -> io::Result<()> {
        self.connection.write_all(
            b"HTTP/1.1 200 Scripted\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
              transfer-encoding: chunked\r\n\r\n",
        )
    }

    /// Sends an event in two chunks: a reader that takes a chunk for an event, or for whole characters, is caught.
    pub(super) fn event(&mut self, event: &Event) -> io::Result<()> {
        let text = event.to_string();
        let (one, two) = text.as_bytes().split_at(text.len() / 2);
        self.chunk(one)?;
        self.chunk(two)
    }

    fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.connection.write_all(&chunk)
    }

    pub(super) fn end_events(&mut self) -> io::Result<()> {
        self.connection.write_all(b"0\r\n\r\n")
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.is_last = true;
        self.connection.write_all(bytes)
    }

    /// Ends the connection, whatever was promised.
    pub(super) fn cut(&mut self) -> io::Result<()> {
        self.is_last = true;
        self.connection.shutdown(Shutdown::Write)
    }
}
