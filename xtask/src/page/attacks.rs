//! Requests that are not from the user's own browser or not from the page, to the program itself.

use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::scene::{Scene, is};
use super::visitor::Answer;
use crate::failure::Failure;

/// Requests at once, and how many threads send them.
const N_REQUESTS: usize = 1_000;
const N_THREADS: usize = 50;
/// The memory that the page may take while it answers them.
const MAX_PEAK: u64 = 400_000_000;

pub(super) fn all(scene: &Scene<'_>) -> Result<(), Failure> {
    let id = scene.begin("Attack this session")?;
    forged(scene, &id)?;
    from_another_page(scene, &id)?;
    paths(scene, &id)?;
    slow(scene)?;
    parallel(scene, &id)
}

fn refused(answer: &Answer, status: u16, what: &str) -> Result<(), Failure> {
    if answer.status == status {
        return Ok(());
    }
    Err(Failure::new(format!("{what} gave {} instead of {status}", answer.status))
        .detail(answer.head.clone()))
}

/// Host, origin, cookie and token.
fn forged(scene: &Scene<'_>, id: &str) -> Result<(), Failure> {
    let page = &scene.page;
    let action = format!("/s/{id}/decide/cancel");
    let good = page.get(&format!("/s/{id}"))?.text;
    let field = |name: &str| {
        let form = good.split_once(&format!("action=\"{action}\"")).map_or("", |(_, form)| form);
        let value = form.split_once(&format!("name=\"{name}\" value=\"")).map_or("", |(_, value)| value);
        value.split('"').next().unwrap_or_default().replace(' ', "+")
    };
    let (token, gate) = (field("token"), field("gate"));
    is(token.len() == 64 && !gate.is_empty(), "the form that cancels has no token or no gate")?;
    let body = format!("token={token}&gate={gate}");
    for host in ["evil.example", "localhost", "127.0.0.1"] {
        refused(&page.send("GET", "/", &[("Host", host)], "")?, 403, "a forged host")?;
        refused(&page.send("POST", &action, &[("Host", host)], &body)?, 403, "a forged host")?;
    }
    for headers in [
        [("Origin", "http://evil.example"), ("X-A", "b")],
        [("Origin", "null"), ("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "navigate")],
    ] {
        refused(&page.send("POST", &action, &headers, &body)?, 403, "another site's form")?;
    }
    refused(&page.send("POST", &action, &[("Cookie", "")], &body)?, 401, "a form without the cookie")?;
    for wrong in ["", "0", &"0".repeat(64)] {
        let body = format!("token={wrong}&gate={gate}");
        refused(&page.send("POST", &action, &[], &body)?, 403, "a form with a wrong token")?;
    }
    is(!status_of(scene, id)?.contains("cancelled"), "a refused form cancelled the session")
}

fn status_of(scene: &Scene<'_>, id: &str) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&scene.aiwf(&["status", id])?.stdout).into_owned())
}

/// A page of another origin in the same browser, which has the cookie: its form and its requests come to nothing.
fn from_another_page(scene: &Scene<'_>, id: &str) -> Result<(), Failure> {
    let browser = scene.browser(false)?;
    let other = scene.page_of_attacker();
    let action = format!("{}/s/{id}/decide/cancel", scene.base());
    let html = format!(
        "<!doctype html><title>bait</title><form id=f method=post action=\"{action}\"><input name=token value=x><button>x</button></form>\
         <iframe src=\"{}\"></iframe><script>fetch(\"{}\").then(function(){{document.title='read'}},function(){{document.title='kept'}})</script>",
        scene.base(),
        scene.base()
    );
    std::fs::write(&other, html).map_err(|error| Failure::io("write a page of an attacker", &error))?;
    browser.open(&format!("file://{}", other.display()))?;
    browser.wait("the end of the attempt to read", || {
        Ok(browser.run("return document.title")?.as_str().is_some_and(|title| title != "bait"))
    })?;
    is(browser.run("return document.title")? == "kept", "another page read the inbox")?;
    browser.run("document.getElementById('f').submit()")?;
    browser.wait("a refusal", || Ok(browser.url()?.starts_with(scene.base())))?;
    is(
        !browser.text()?.contains("Attack this session"),
        "another page's form got an answer about a session",
    )?;
    is(!status_of(scene, id)?.contains("cancelled"), "another page's form cancelled the session")
}

fn paths(scene: &Scene<'_>, id: &str) -> Result<(), Failure> {
    std::fs::write(scene.project().join("secret.txt"), "TOP SECRET")
        .map_err(|error| Failure::io("write a secret", &error))?;
    for path in [
        "../../../secret.txt",
        "%2e%2e/%2e%2e/%2e%2e/secret.txt",
        "..%2f..%2f..%2fsecret.txt",
        "/etc/passwd",
        "plan.md%00",
    ] {
        for view in ["a", "raw", "v"] {
            let answer = scene.page.send("GET", &format!("/s/{id}/{view}/{path}"), &[], "")?;
            is((400..500).contains(&answer.status), &format!("`{view}/{path}` gave {}", answer.status))?;
            is(!answer.text.contains("TOP SECRET") && !answer.text.contains("root:"), "a path led outside")?;
        }
    }
    Ok(())
}

/// Clients that never finish their request are disconnected, and others are answered meanwhile.
fn slow(scene: &Scene<'_>) -> Result<(), Failure> {
    let host = scene.page.host();
    let mut waiting = Vec::new();
    for sent in ["", "GET / HT", &format!("GET / HTTP/1.1\r\nHost: {host}\r\nX-Slow: ")] {
        waiting.push(scene.page.connect(sent)?);
    }
    scene.page.get("/")?;
    for mut stream in waiting {
        let mut said = Vec::new();
        // A reset also closes the connection; only one that stays open is a fault.
        if let Err(error) = stream.read_to_end(&mut said)
            && error.kind() == std::io::ErrorKind::WouldBlock
        {
            return Err(Failure::new("a client that sends nothing is never disconnected"));
        }
        is(!String::from_utf8_lossy(&said).contains(" 200 "), "half a request was answered")?;
    }
    Ok(())
}

/// A thousand requests at once get right answers, in bounded memory.
fn parallel(scene: &Scene<'_>, id: &str) -> Result<(), Failure> {
    let n_wrong = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= N_REQUESTS {
                        return;
                    }
                    if !is_right(scene, id, number) {
                        n_wrong.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let n_wrong = n_wrong.into_inner();
    is(n_wrong == 0, &format!("{n_wrong} of {N_REQUESTS} parallel requests got no right answer"))?;
    if let Some(used) = scene.page.used() {
        println!(
            "   {N_REQUESTS} requests from {N_THREADS} threads: at most {} MB",
            used.peak_bytes / 1_000_000
        );
        is(used.peak_bytes < MAX_PEAK, &format!("the page took {} bytes", used.peak_bytes))?;
    }
    Ok(())
}

fn is_right(scene: &Scene<'_>, id: &str, number: usize) -> bool {
    let (path, headers, status, part): (String, &[(&str, &str)], u16, &str) = match number % 5 {
        0 => ("/".to_owned(), &[], 200, "Attack this session"),
        1 => (format!("/s/{id}"), &[], 200, "Attack this session"),
        2 => (format!("/s/{id}/prompt"), &[], 200, "Sections by tokens"),
        3 => ("/nothing".to_owned(), &[], 404, "Back to the inbox"),
        _ => ("/".to_owned(), &[("Cookie", "aiwf=wrong")], 401, "One-time code"),
    };
    // A connection that is refused because there are too many is asked for again, as a browser does.
    for _ in 0..200 {
        if let Ok(answer) = scene.page.send("GET", &path, headers, "")
            && answer.status != 0
            && answer.status != 503
        {
            return answer.status == status && answer.text.contains(part);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    false
}
