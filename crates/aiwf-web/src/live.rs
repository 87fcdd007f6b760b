//! One stream per page: it says that something changed and carries words as they arrive.
//!
//! The browser asks again from the position it saw last, so that nothing is missed. The page itself is always made from
//! the journal; a stream only says when to look.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc;

use crate::inbox::live_line;
use crate::jobs::LiveLog;
use crate::site::Site;
use crate::watcher::Change;

/// Changes that follow each other at once are told together.
const PAUSE: Duration = Duration::from_millis(40);
/// The inbox lists every session of the project: it is made again less often.
const INBOX_PAUSE: Duration = Duration::from_millis(250);
/// How often a quiet stream shows that it is still there.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// How much of an arriving reply is sent at once.
const MAX_TAIL: usize = 6_000;

/// What a stream is about.
#[derive(Clone, Debug)]
enum About {
    Inbox,
    Session { id: String, directory: String },
}

pub(crate) async fn inbox(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    stream(site, About::Inbox, &headers)
}

pub(crate) async fn session(
    State(site): State<Arc<Site>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    // What names a session is not what its directory is called.
    let found = site.read(move |engine| crate::session_view::entry_of(engine, &id)).await;
    let about = match found {
        Ok(place) => About::Session { id: place.id, directory: place.directory },
        Err(refusal) => return crate::guard::plain(refusal.status, &refusal.message),
    };
    stream(site, about, &headers)
}

fn stream(site: Arc<Site>, about: About, headers: &HeaderMap) -> Response {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let changes = site.changes.listen();
    let (frames, receiver) = mpsc::channel::<Bytes>(8);
    tokio::spawn(async move {
        let mut live_stream = LiveStream { about, last, frames, live: None };
        let shutdown = site.shutdown.clone();
        tokio::select! {
            () = live_stream.tell(&site, changes) => {}
            () = shutdown.cancelled() => {}
        }
    });
    let mut response = Response::new(Body::new(StreamBody::new(Frames(receiver))));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

/// What rang since the last look.
#[derive(Debug, Default)]
struct PendingChanges {
    /// Something that a journal may have.
    is_news: bool,
    /// The sessions whose words arrived.
    words: BTreeSet<String>,
}

impl PendingChanges {
    /// Sessions whose words are told at once; more run on a fleet, not here.
    const MAX_WORDS: usize = 64;

    fn of(change: Change) -> Self {
        let mut pending = Self::default();
        pending.add(change);
        pending
    }

    fn add(&mut self, change: Change) {
        if !change.is_words {
            self.is_news = true;
        } else if self.words.len() < Self::MAX_WORDS {
            self.words.insert(change.id);
        }
    }
}

struct LiveStream {
    about: About,
    /// The position that the browser knows.
    last: Option<u64>,
    frames: mpsc::Sender<Bytes>,
    live: Option<LiveLog>,
}

impl LiveStream {
    /// Tells until the browser is gone.
    async fn tell(&mut self, site: &Arc<Site>, mut changes: Receiver<Change>) {
        let mut n_changes = 0_u64;
        let mut pending = PendingChanges::default();
        loop {
            self.follow(site).await;
            if self.look(site, n_changes, &pending).await.is_err() {
                return;
            }
            loop {
                let received = tokio::select! {
                    received = changes.recv() => received,
                    () = tokio::time::sleep(HEARTBEAT) => {
                        if self.send(": still here\n\n").await.is_err() {
                            return;
                        }
                        continue;
                    }
                    () = self.frames.closed() => return,
                };
                match received {
                    Ok(change) if !self.is_about(&change.id) => {}
                    Ok(change) => {
                        pending = PendingChanges::of(change);
                        break;
                    }
                    // A stream that fell behind looks at everything again.
                    Err(RecvError::Lagged(_)) => {
                        pending = PendingChanges::default();
                        pending.is_news = true;
                        break;
                    }
                    Err(RecvError::Closed) => return,
                }
            }
            let is_inbox = matches!(self.about, About::Inbox);
            tokio::time::sleep(if is_inbox { INBOX_PAUSE } else { PAUSE }).await;
            loop {
                match changes.try_recv() {
                    Ok(change) if self.is_about(&change.id) => pending.add(change),
                    Ok(_) => {}
                    Err(TryRecvError::Lagged(_)) => pending.is_news = true,
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                }
            }
            n_changes += 1;
        }
    }

    fn is_about(&self, rung: &str) -> bool {
        match &self.about {
            About::Inbox => true,
            About::Session { id, .. } => rung == id || rung.is_empty(),
        }
    }

    async fn follow(&self, site: &Arc<Site>) {
        let (changes, about) = (Arc::clone(&site.changes), self.about.clone());
        let followed = tokio::task::spawn_blocking(move || {
            changes.follow_project();
            if let About::Session { directory, .. } = &about {
                changes.follow_session(directory);
            }
        });
        drop(followed.await);
    }

    /// Says what is new since the last look.
    async fn look(&mut self, site: &Arc<Site>, n_changes: u64, pending: &PendingChanges) -> Result<(), ()> {
        let About::Session { id, .. } = &self.about else {
            if n_changes > 0 && !pending.is_news {
                return self.lines(site, &pending.words).await;
            }
            // The inbox has no journal of its own: each change may be news.
            let is_news = n_changes > 0 || self.last.is_some();
            return if is_news { self.changed(n_changes).await } else { self.send(": listening\n\n").await };
        };
        let id = id.clone();
        let of_job = site.jobs.live(&id);
        let has_job = of_job.is_some();
        let looked = site.read(move |engine| {
            let position = engine.journal_bytes(&id).unwrap_or_default();
            let tail =
                if has_job { None } else { engine.live_text(Some(id.as_str()), MAX_TAIL).ok().flatten() };
            Ok((position, tail))
        });
        let Ok((position, tail)) = looked.await else { return Err(()) };
        let live = of_job.or_else(|| tail.map(|tail| LiveLog { lines: Vec::new(), text: tail.tail }));
        let had_live = self.live.is_some();
        if self.live != live {
            let text = json!(live.clone().unwrap_or_default());
            self.live = live;
            self.send(&format!("event: live\ndata: {text}\n\n")).await?;
        }
        // The end of a call changes the page even when the journal does not: its failure is shown.
        let is_over = had_live && self.live.is_none();
        let known = self.last.replace(position);
        if is_over || known.is_some_and(|known| known != position) {
            return self.changed(position).await;
        }
        if known.is_none() {
            return self.send(&format!("id: {position}\nevent: here\ndata: {position}\n\n")).await;
        }
        Ok(())
    }

    /// The newest line of each session that says something right now.
    async fn lines(&self, site: &Arc<Site>, ids: &BTreeSet<String>) -> Result<(), ()> {
        let (reader, ids) = (Arc::clone(site), ids.clone());
        let read = site.read(move |engine| {
            let line = |id: &String| Some((id.clone(), live_line(&reader, engine, id)?));
            Ok(ids.iter().filter_map(line).collect::<BTreeMap<_, _>>())
        });
        let Ok(lines) = read.await else { return Err(()) };
        if lines.is_empty() {
            Ok(())
        } else {
            self.send(&format!("event: lines\ndata: {}\n\n", json!(lines))).await
        }
    }

    async fn changed(&mut self, position: u64) -> Result<(), ()> {
        self.send(&format!("id: {position}\nevent: changed\ndata: {position}\n\n")).await
    }

    async fn send(&self, text: &str) -> Result<(), ()> {
        self.frames.send(Bytes::copy_from_slice(text.as_bytes())).await.map_err(|_closed| ())
    }
}

/// The frames of a response, as they come.
struct Frames(mpsc::Receiver<Bytes>);

impl futures_util::Stream for Frames {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
