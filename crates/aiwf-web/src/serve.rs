//! Serves the page until the user stops it.

use std::sync::Arc;
use std::time::Duration;

use aiwf_engine::{Engine, PageTaken};
use aiwf_loopback::{ClientKnown, Ended, LoopbackAddress, Threads, TokenError};
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use tower::ServiceExt as _;

use crate::site::{Note, Site, routes};

/// Whether the page offers decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Full,
    ReadOnly,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// 0 for any free port.
    pub port: u16,
    pub access: Access,
    /// The version shown on the page.
    pub version: &'static str,
}

/// Where the page is.
#[derive(Clone, Debug)]
pub struct Listening {
    pub port: u16,
    /// With the secret in its fragment.
    pub url: String,
    /// For browsers without scripts; it works once.
    pub code: String,
}

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error(transparent)]
    Taken(#[from] PageTaken),
    #[error(transparent)]
    Loopback(#[from] aiwf_loopback::ServeError),
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl PageError {
    /// A code that is stable between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Taken(error) => error.code(),
            Self::Loopback(error) => error.code(),
            Self::Token(error) => error.code(),
        }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::Taken(error) => error.hint(),
            Self::Loopback(error) => error.hint().to_owned(),
            Self::Token(error) => error.hint().to_owned(),
        }
    }
}

/// Every request may read a session on a thread of its own, and streams wait without one.
const THREADS: Threads = Threads { max_blocking: 32, grace: Duration::from_millis(200) };

/// Serves the page of the engine's project; `on_listening` receives its address, `on_note` what happens later.
pub fn serve(
    engine: &Engine,
    options: Options,
    on_listening: impl FnOnce(&Listening),
    on_note: impl Fn(Note<'_>) + Send + Sync + 'static,
) -> Result<Ended, PageError> {
    let place = engine.claim_page()?;
    aiwf_loopback::run(THREADS, |shutdown| async move {
        let address = LoopbackAddress::of_port(options.port);
        let (listener, bound) = address.listen().await?;
        place.record(&format!("http://{bound}/"))?;
        let mut site = Site::new(engine, bound, options.access, options.version, on_note)?;
        site.shutdown = shutdown.clone();
        let site = Arc::new(site);
        on_listening(&Listening {
            port: bound.port(),
            url: format!("http://{bound}/#{}", site.entry.secret()),
            code: site.entry.code(),
        });
        accept(&site, listener, shutdown).await;
        site.jobs.stop_all();
        Ok(())
    })
}

pub(crate) async fn accept(
    site: &Arc<Site>,
    listener: tokio::net::TcpListener,
    shutdown: tokio_util::sync::CancellationToken,
) {
    let router = routes(site);
    let answer = move |request: Request<Incoming>, known: ClientKnown| {
        let router = router.clone();
        async move {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(known);
            match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }
    };
    aiwf_loopback::accept(listener, site.limits, shutdown, answer).await;
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
