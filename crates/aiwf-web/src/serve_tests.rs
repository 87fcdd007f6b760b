//! Clients that are slow, too many or never introduce themselves, over real sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;

use aiwf_engine::config::Settings;
use aiwf_loopback::Limits;

use super::*;

const SHORT: Duration = Duration::from_millis(100);
/// Long enough that a test waiting for it fails.
const NEVER: Duration = Duration::from_mins(10);

/// Runs the page and its client in a separate thread.
fn with_page<T: Send + 'static>(
    limits: Limits,
    act: impl FnOnce(SocketAddr, String) -> T + Send + 'static,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let root = PathBuf::from("/nonexistent");
        let settings = Settings {
            current_dir: root.clone(),
            shell_dir: None,
            project_root: root,
            home: None,
            cache_dir: None,
            user: None,
            embedded_providers: std::collections::BTreeSet::new(),
            max_cost_micros: None,
            models: std::collections::BTreeMap::new(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bound = listener.local_addr().unwrap();
        let mut site = Site::new(&Engine::new(settings), bound, Access::Full, "0", |_| ()).unwrap();
        site.limits = limits;
        let site = Arc::new(site);
        let shutdown = site.shutdown.clone();
        let entered = site.entry.exchange(site.entry.secret()).unwrap();
        let crate::entry::Attempt::In { cookie, .. } = entered else { panic!("refused") };
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let serving_site = Arc::clone(&site);
        let serving = tokio::spawn(async move { accept(&serving_site, listener, shutdown).await });
        let done = tokio::task::spawn_blocking(move || act(bound, cookie)).await.unwrap();
        site.shutdown.cancel();
        serving.await.unwrap();
        done
    })
}

fn connect(address: SocketAddr, sent: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(sent.as_bytes()).unwrap();
    stream
}

/// Everything received until the server closes the connection.
fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    // A reset also closes the connection.
    drop(stream.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn a_head_or_body_that_never_ends_is_disconnected() {
    let limits = Limits { head: SHORT, body: SHORT, stranger: NEVER, ..Limits::default() };
    let (head, body) = with_page(limits, |address, cookie| {
        let head =
            rest(connect(address, &format!("GET / HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n")));
        let post = format!(
            "POST /new HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nContent-Length: 100\r\n\r\ntoken="
        );
        (head, rest(connect(address, &post)))
    });
    assert!(!head.contains(" 200 "), "{head}");
    assert!(body.starts_with("HTTP/1.1 408 "), "{body}");
}

#[test]
fn who_never_shows_the_cookie_is_disconnected() {
    let limits = Limits { stranger: SHORT, head: NEVER, body: NEVER, ..Limits::default() };
    let said = with_page(limits, |address, _| {
        let entry = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let slow = format!("POST /enter HTTP/1.1\r\nHost: {address}\r\nContent-Length: 90\r\n\r\ncode=");
        ["", "GET / HT", &slow, &entry].map(|sent| rest(connect(address, sent)))
    });
    assert_eq!((said[0].as_str(), said[1].as_str(), said[2].as_str()), ("", "", ""));
    assert!(said[3].starts_with("HTTP/1.1 401 "), "{}", said[3]);
}

#[test]
fn strangers_cannot_take_every_slot() {
    let limits = Limits { stranger: NEVER, max_strangers: 2, ..Limits::default() };
    let (turned_away, answered) = with_page(limits, |address, cookie| {
        let known = connect(
            address,
            &format!("GET /nothing HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n"),
        );
        let mut first = [0; 12];
        (&known).read_exact(&mut first).unwrap();
        let strangers = [connect(address, ""), connect(address, "")];
        let turned_away = rest(TcpStream::connect(address).unwrap());
        drop(strangers);
        (turned_away, String::from_utf8_lossy(&first).into_owned())
    });
    assert_eq!((turned_away.as_str(), answered.as_str()), ("", "HTTP/1.1 404"));
}

#[test]
fn a_request_that_smuggles_another_host_is_refused() {
    let said = with_page(Limits::default(), |address, cookie| {
        let target = format!(
            "GET http://evil.example/ HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        );
        let twice = format!(
            "GET / HTTP/1.1\r\nHost: {address}\r\nHost: evil.example\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        );
        let none = format!("GET / HTTP/1.0\r\nCookie: {cookie}\r\n\r\n");
        [target, twice, none].map(|sent| rest(connect(address, &sent)))
    });
    for answer in said {
        assert!(answer.contains(" 403 ") || answer.contains(" 400 "), "{answer}");
    }
}
