use std::io::{Read as _, Write as _};
use std::time::Duration;

use aiwf_engine::Engine;
use aiwf_engine::config::Settings;

use super::*;
use crate::tools::Approvals;

const SHORT: Duration = Duration::from_millis(100);
/// Long enough that a test waiting for it fails.
const NEVER: Duration = Duration::from_mins(10);

fn head(address: SocketAddr) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer 0123456789abcdef\r\nContent-Type: \
         application/json\r\n"
    )
}

/// Runs a server and its client in a separate thread.
fn with_server<T: Send + 'static>(limits: Limits, act: impl FnOnce(SocketAddr) -> T + Send + 'static) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let root = std::path::PathBuf::from("/nonexistent");
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
        let shutdown = CancellationToken::new();
        let server = AiwfServer::new(Engine::new(settings), Approvals::Withheld, "0", shutdown.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bound = listener.local_addr().unwrap();
        let token = Token::given("0123456789abcdef").unwrap();
        let serving = tokio::spawn(accept(server, listener, bound, token, limits, shutdown.clone()));
        let done = tokio::task::spawn_blocking(move || act(bound)).await.unwrap();
        shutdown.cancel();
        serving.await.unwrap();
        done
    })
}

fn connect(address: SocketAddr, sent: &str) -> std::net::TcpStream {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(sent.as_bytes()).unwrap();
    stream
}

/// Everything received until the server closes the connection.
fn rest(mut stream: std::net::TcpStream) -> String {
    let mut text = Vec::new();
    // A reset also closes the connection.
    drop(stream.read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn a_client_that_never_shows_the_token_is_disconnected() {
    let limits = Limits { stranger: SHORT, head: NEVER, body: NEVER, ..Limits::default() };
    let said = with_server(limits, |address| {
        let unauthorized = format!("GET /mcp HTTP/1.1\r\nHost: {address}\r\n\r\n");
        ["", "POST /mcp HT", &unauthorized].map(|sent| rest(connect(address, sent)))
    });
    assert_eq!((said[0].as_str(), said[1].as_str()), ("", ""));
    assert!(said[2].starts_with("HTTP/1.1 401 "), "{}", said[2]);
}

#[test]
fn a_request_whose_head_or_body_never_ends_is_disconnected() {
    let limits = Limits { head: SHORT, body: SHORT, stranger: NEVER, ..Limits::default() };
    let said = with_server(limits, |address| {
        let head = rest(connect(address, &head(address)));
        (head, rest(connect(address, &format!("{}Content-Length: 100\r\n\r\n{{", self::head(address)))))
    });
    assert!(!said.0.contains(" 200 "), "{}", said.0);
    assert!(said.1.starts_with("HTTP/1.1 408 "), "{}", said.1);
}

#[test]
fn clients_without_the_token_cannot_take_every_slot() {
    let limits = Limits { stranger: NEVER, max_strangers: 2, ..Limits::default() };
    let (turned_away, answered) = with_server(limits, |address| {
        // With the token a connection no longer counts as unauthenticated.
        let known = connect(address, &format!("{}Content-Length: 1\r\n\r\nx", head(address)));
        let mut first = [0; 12];
        (&known).read_exact(&mut first).unwrap();
        let strangers = [connect(address, ""), connect(address, "")];
        let turned_away = rest(std::net::TcpStream::connect(address).unwrap());
        drop(strangers);
        (turned_away, String::from_utf8_lossy(&first).into_owned())
    });
    assert_eq!((turned_away.as_str(), answered.as_str()), ("", "HTTP/1.1 400"));
}

#[test]
fn anything_but_json_gets_a_json_rpc_error() {
    let said = with_server(Limits::default(), |address| {
        rest(connect(
            address,
            &format!("{}Connection: close\r\nContent-Length: 5\r\n\r\n{{\"a\"!", head(address)),
        ))
    });
    assert!(said.starts_with("HTTP/1.1 400 ") && said.contains("content-type: application/json"), "{said}");
    assert!(said.ends_with(r#""error":{"code":-32700,"message":"the request is not JSON"}}"#), "{said}");
}
