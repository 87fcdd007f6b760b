//! Drives Debian's chromium through chromedriver, by the protocol `WebDriver`.
//!
//! A client of our own: the protocol is JSON over HTTP/1.1, and a crate for it would bring more crates than the whole
//! workspace task has.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::failure::Failure;

/// How long anything on a page may take: this machine may be busy.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(50);
/// The protocol's name of an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Whether the browser runs scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scripts {
    On,
    Off,
}

/// A browser with one window.
#[derive(Debug)]
pub(super) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.call("DELETE", "", &Value::Null));
        drop(self.driver.kill());
        drop(self.driver.wait());
    }
}

impl Browser {
    pub(super) fn start(scripts: Scripts, is_dark: bool) -> Result<Self, Failure> {
        let port = free_port()?;
        let profile = tempfile::tempdir().map_err(|error| Failure::io("make a directory", &error))?;
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failure::io("start `chromedriver`", &error))?;
        let mut browser = Self { driver, port, session: String::new(), profile };
        let started_at = Instant::now();
        while browser.send("GET", "/status", &Value::Null).is_err() {
            if started_at.elapsed() > PATIENCE {
                return Err(Failure::new("chromedriver did not answer"));
            }
            std::thread::sleep(PAUSE);
        }
        // Without these, chromium asks the network for updates at every start.
        let mut args = vec![
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            format!("--user-data-dir={}", browser.profile.path().display()),
        ];
        if is_dark {
            args.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let javascript = if scripts == Scripts::On { 1 } else { 2 };
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": {
                "args": args,
                "prefs": { "profile.managed_default_content_settings.javascript": javascript },
            },
        } } });
        let session = browser.send("POST", "/session", &capabilities)?;
        browser.session = text_of(&session, "sessionId");
        browser.resize(1280, 900)?;
        Ok(browser)
    }

    pub(super) fn resize(&self, width: u32, height: u32) -> Result<(), Failure> {
        self.call("POST", "/window/rect", &json!({ "width": width, "height": height })).map(drop)
    }

    pub(super) fn open(&self, url: &str) -> Result<(), Failure> {
        self.call("POST", "/url", &json!({ "url": url })).map(drop)
    }

    pub(super) fn url(&self) -> Result<String, Failure> {
        Ok(self.call("GET", "/url", &Value::Null)?.as_str().unwrap_or_default().to_owned())
    }

    /// Runs a script of the test, which the page's policy does not concern.
    pub(super) fn run(&self, script: &str) -> Result<Value, Failure> {
        self.call("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    fn find(&self, selector: &str) -> Result<String, Failure> {
        let found = self.call("POST", "/element", &json!({ "using": "css selector", "value": selector }))?;
        Ok(text_of(&found, ELEMENT))
    }

    pub(super) fn has(&self, selector: &str) -> bool {
        self.find(selector).is_ok()
    }

    pub(super) fn click(&self, selector: &str) -> Result<(), Failure> {
        self.act(selector, "click", &json!({}))
    }

    /// Types into a field.
    pub(super) fn write(&self, selector: &str, text: &str) -> Result<(), Failure> {
        self.act(selector, "value", &json!({ "text": text }))
    }

    /// Acts on an element once it is there; again if the page replaced it between finding and acting.
    fn act(&self, selector: &str, action: &str, body: &Value) -> Result<(), Failure> {
        self.wait(&format!("`{selector}`"), || {
            let Ok(element) = self.find(selector) else { return Ok(false) };
            match self.call("POST", &format!("/element/{element}/{action}"), body) {
                Ok(_) => Ok(true),
                Err(failure) if is_replaced(&failure) => Ok(false),
                Err(failure) => Err(failure),
            }
        })
    }

    /// Presses a key where the focus is.
    pub(super) fn press(&self, key: &str) -> Result<(), Failure> {
        let keys = json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        let actions = json!({ "actions": [{ "type": "key", "id": "keys", "actions": keys }] });
        self.call("POST", "/actions", &actions).map(drop)
    }

    /// Presses several keys together.
    pub(super) fn chord(&self, keys: &Value) -> Result<(), Failure> {
        let actions = json!({ "actions": [{ "type": "key", "id": "keys", "actions": keys }] });
        self.call("POST", "/actions", &actions).map(drop)
    }

    /// What the page says, without its markup.
    pub(super) fn text(&self) -> Result<String, Failure> {
        let element = self.find("body")?;
        let text = self.call("GET", &format!("/element/{element}/text"), &Value::Null)?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the page says something.
    pub(super) fn wait_for(&self, words: &str) -> Result<(), Failure> {
        self.wait(&format!("the words `{words}`"), || Ok(self.text().is_ok_and(|text| text.contains(words))))
    }

    pub(super) fn wait(
        &self,
        what: &str,
        is_there: impl Fn() -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let started_at = Instant::now();
        while !is_there()? {
            if started_at.elapsed() > PATIENCE {
                let text = self.text().unwrap_or_default();
                return Err(Failure::new(format!("the page never had {what}"))
                    .detail(self.url().unwrap_or_default())
                    .detail(text.chars().take(2_000).collect::<String>()));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// What the browser complained about since the last time.
    pub(super) fn complaints(&self) -> Result<Vec<String>, Failure> {
        let entries = self.call("POST", "/se/log", &json!({ "type": "browser" }))?;
        let message = |entry: &Value| text_of(entry, "message");
        Ok(entries.as_array().into_iter().flatten().map(message).collect())
    }

    /// A picture of the whole page, as base64.
    pub(super) fn screenshot(&self) -> Result<Vec<u8>, Failure> {
        let picture = self.call("GET", "/screenshot", &Value::Null)?;
        decoded(picture.as_str().unwrap_or_default())
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(method, &format!("/session/{}{path}", self.session), body)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        let io = |error: std::io::Error| Failure::io("talk to chromedriver", &error);
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(io)?;
        stream.set_read_timeout(Some(PATIENCE * 3)).map_err(io)?;
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .map_err(io)?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).map_err(io)?;
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text).map_err(io)?;
        let answer: Value = serde_json::from_slice(&text)
            .map_err(|error| Failure::new("chromedriver's answer is no JSON").detail(error.to_string()))?;
        let value = answer.get("value").cloned().unwrap_or_default();
        match value.get("error").and_then(Value::as_str) {
            Some(error) => Err(Failure::new(format!("the browser could not do `{method} {path}`: {error}"))
                .detail(text_of(&value, "message"))),
            None => Ok(value),
        }
    }
}

/// Whether an element was no longer part of the page.
fn is_replaced(failure: &Failure) -> bool {
    let words = failure.to_string();
    words.contains("stale element") || words.contains("does not belong to the document")
}

/// A field as text; empty if it is none.
pub(super) fn text_of(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn free_port() -> Result<u16, Failure> {
    let listener =
        TcpListener::bind("127.0.0.1:0").map_err(|error| Failure::io("find a free port", &error))?;
    let address = listener.local_addr().map_err(|error| Failure::io("find a free port", &error))?;
    Ok(address.port())
}

fn decoded(base64: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let (mut bits, mut n_bits) = (0_u32, 0);
    for character in base64.bytes().filter(|byte| *byte != b'=') {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(Failure::new("the picture is not base64")),
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push(u8::try_from(bits >> n_bits & 0xff).unwrap_or_default());
        }
    }
    Ok(bytes)
}
