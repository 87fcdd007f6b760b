//! `aiwf ui` as a child process, and requests to it without a browser.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::failure::Failure;

/// How long an answer may take: this machine may be busy.
const PATIENCE: Duration = Duration::from_mins(3);

/// A page that is served until this is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    page: Child,
    /// With the secret in its fragment.
    pub(crate) url: String,
    /// For browsers without scripts.
    pub(crate) code: String,
    pub(crate) port: u16,
    cookie: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.page.kill());
        drop(self.page.wait());
    }
}

/// What the page answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

impl Served {
    /// Serves the page of a project; `command` calls aiwf there.
    pub(crate) fn start(mut command: Command) -> Result<Self, Failure> {
        let mut page = command
            .args(["ui", "--json", "--no-open"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failure::io("start `aiwf ui`", &error))?;
        let stdout = page.stdout.take().ok_or_else(|| Failure::new("`aiwf ui` has no output"))?;
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        read.map_err(|error| Failure::io("read what `aiwf ui` prints", &error))?;
        let said: Value = serde_json::from_str(&line)
            .map_err(|error| Failure::new("`aiwf ui --json` printed no JSON").detail(error.to_string()))?;
        let text = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let port = said.get("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
        let port = port.ok_or_else(|| Failure::new("`aiwf ui --json` names no port"))?;
        let mut served = Self { page, url: text("url"), code: text("code"), port, cookie: String::new() };
        let secret = served.url.split('#').next_back().unwrap_or_default().to_owned();
        let entered = served.send("POST", "/enter", &[], &format!("code={secret}"))?;
        let cookie = entered.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        let Some(cookie) = cookie else {
            return Err(Failure::new("the secret of `aiwf ui` lets nobody in"));
        };
        cookie.clone_into(&mut served.cookie);
        Ok(served)
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.page.id()
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Reads a page that must be there.
    pub(crate) fn get(&self, path: &str) -> Result<Answer, Failure> {
        let answer = self.send("GET", path, &[], "")?;
        if answer.status == 200 {
            return Ok(answer);
        }
        Err(Failure::new(format!("`GET {path}` gave {}", answer.status)).detail(answer.text))
    }

    /// Sends a request with the cookie and the right host, unless a header says otherwise.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, Failure> {
        let mut reader = self.open(method, path, headers, body)?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| Failure::io("read an answer of the page", &error))?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, text) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        Ok(Answer { status, head: head.to_owned(), text: text.to_owned() })
    }

    /// A stream of events, as it arrives.
    pub(crate) fn stream(&self, path: &str) -> Result<BufReader<TcpStream>, Failure> {
        self.open("GET", path, &[], "")
    }

    /// A connection that sent exactly this and waits.
    pub(crate) fn connect(&self, sent: &str) -> Result<TcpStream, Failure> {
        let io = |error: std::io::Error| Failure::io("talk to the page", &error);
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(io)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(io)?;
        stream.write_all(sent.as_bytes()).map_err(io)?;
        Ok(stream)
    }

    fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<BufReader<TcpStream>, Failure> {
        let has = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !has("host") {
            request += "Host: ";
            request += &self.host();
            request += "\r\n";
        }
        if !has("cookie") && !self.cookie.is_empty() {
            request += "Cookie: ";
            request += &self.cookie;
            request += "\r\n";
        }
        request.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        if !body.is_empty() {
            request += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ";
            request += &body.len().to_string();
            request += "\r\n";
        }
        request.push_str("\r\n");
        request.push_str(body);
        Ok(BufReader::new(self.connect(&request)?))
    }

    /// Memory of the process now, and the processor time that it used so far; `None` where the system does not say.
    pub(crate) fn used(&self) -> Option<Used> {
        let id = self.process_id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
        let kib = |key: &str| {
            let line = status.lines().find(|line| line.starts_with(key))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name in parentheses may have spaces.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Used {
            bytes: kib("VmRSS:")? * 1024,
            peak_bytes: kib("VmHWM:")? * 1024,
            ticks: ticks(11)? + ticks(12)?,
        })
    }
}

/// What a process used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    pub(crate) bytes: u64,
    pub(crate) peak_bytes: u64,
    /// Processor time in hundredths of a second.
    pub(crate) ticks: u64,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}
