//! `aiwf ui`: what it prints, how it ends, and that a project has one page.

#![expect(clippy::disallowed_methods, reason = "tests send signals with `kill`")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command};

use aiwf_testkit::TestProject;
use serde_json::Value;

use crate::project;

/// A page that ends with the test.
struct Page {
    child: Child,
    said: Value,
}

impl Page {
    fn start(project: &TestProject, flags: &str) -> Self {
        let mut child = project.command(&format!("ui --json {flags}")).spawn_piped();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, said: serde_json::from_str(&line).unwrap() }
    }

    fn port(&self) -> u16 {
        self.said["port"].as_u64().unwrap().try_into().unwrap()
    }

    fn answer(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        write!(stream, "{request}\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn it_prints_one_line_once_it_listens() {
    let project = project();
    let page = Page::start(&project, "");
    let url = page.said["url"].as_str().unwrap();
    let (address, secret) = url.split_once("/#").unwrap();
    assert_eq!(address, format!("http://127.0.0.1:{}", page.port()));
    assert_eq!(secret.len(), 64);
    let answer = page.answer("GET / HTTP/1.1");
    assert!(answer.starts_with("HTTP/1.1 401 ") && answer.contains("One-time code"), "{answer}");
    assert!(!answer.contains(secret) && !answer.contains(page.said["code"].as_str().unwrap()));
}

#[test]
fn a_second_one_says_where_the_first_one_is() {
    let project = project();
    let page = Page::start(&project, "");
    let second = project.run("ui --no-open");
    assert_eq!(
        second.to_string().replace(&page.port().to_string(), "PORT"),
        "--- stderr\nerror: this project's page is already open at http://127.0.0.1:PORT/\n\n\
         hint: open the address that the first `aiwf ui` printed, or stop it with Ctrl-C\n--- exit code 1"
    );
    drop(page);
    // Its place is free again, also after it was killed.
    drop(Page::start(&project, ""));
}

#[test]
fn ctrl_c_ends_it_at_once_also_while_a_stream_is_open() {
    let project = project();
    let mut page = Page::start(&project, "");
    let _open = TcpStream::connect(("127.0.0.1", page.port())).unwrap();
    let killed = Command::new("kill").args(["-INT", &page.child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(page.child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let project = project();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let refused = project.run(&format!("ui --no-open --port {port}")).to_string();
    assert!(refused.contains(&format!("could not listen on `127.0.0.1:{port}`")), "{refused}");
    assert!(refused.contains("choose another port, or 0 for any free one"), "{refused}");
}
