//! What every page shares: engine, guard, templates, jobs and the watcher; and which address leads to which page.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use aiwf_engine::machine::Surface;
use aiwf_engine::provider::Stop;
use aiwf_engine::{Engine, SessionError};
use aiwf_loopback::{Authority, Limits, TokenError};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::assets::{self, assets};
use crate::entry::Entry;
use crate::guard::{Visitor, guard, plain};
use crate::jobs::Jobs;
use crate::serve::Access;
use crate::watcher::ChangeWatcher;
use crate::words::{Refusal, environment};
use crate::{
    anatomy_view, apply_view, artifact_view, change_view, decide, inbox, live, project_view, run_view,
    session_view,
};

/// Something the user of the terminal is told.
#[derive(Clone, Copy, Debug)]
pub enum Note<'n> {
    /// The one-time code was used or retired; this is the next one.
    NewCode(&'n str),
}

type OnNote = dyn Fn(Note<'_>) + Send + Sync;

pub(crate) struct Site {
    pub(crate) engine: Engine,
    pub(crate) access: Access,
    pub(crate) authority: Authority,
    pub(crate) limits: Limits,
    pub(crate) entry: Entry,
    pub(crate) jobs: Jobs,
    pub(crate) changes: Arc<ChangeWatcher>,
    pub(crate) version: &'static str,
    pub(crate) shutdown: tokio_util::sync::CancellationToken,
    on_note: Box<OnNote>,
}

impl fmt::Debug for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Site").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl Site {
    pub(crate) fn new(
        engine: &Engine,
        bound: SocketAddr,
        access: Access,
        version: &'static str,
        on_note: impl Fn(Note<'_>) + Send + Sync + 'static,
    ) -> Result<Self, TokenError> {
        let engine = engine.clone().on_surface(Surface::Page);
        Ok(Self {
            authority: Authority::of(bound),
            limits: Limits { max_body_bytes: engine.max_reply_bytes(), ..Limits::default() },
            entry: Entry::new(bound.port())?,
            jobs: Jobs::default(),
            changes: Arc::new(ChangeWatcher::new(engine.settings().project_root.clone())),
            shutdown: tokio_util::sync::CancellationToken::new(),
            engine,
            access,
            version,
            on_note: Box::new(on_note),
        })
    }

    pub(crate) fn note(&self, note: Note<'_>) {
        (self.on_note)(note);
    }

    /// Runs an engine call on a thread that may block. A panic is the fault of one request only.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let engine = self.engine.clone().stopped_by(Stop::default());
        match tokio::task::spawn_blocking(move || work(&engine)).await {
            Ok(done) => done,
            Err(_) => Err(Refusal::bug()),
        }
    }

    /// Like [`Self::read`], for views that ask the engine many questions about one session and change nothing.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.read(|engine| engine.at_one_moment(work)).await
    }

    /// Renders a page; the template gets what every page has beside `context`.
    pub(crate) fn page(&self, visitor: &Visitor, template: &str, title: &str, context: Value) -> Response {
        self.page_with(StatusCode::OK, visitor, template, title, context)
    }

    pub(crate) fn page_with(
        &self,
        status: StatusCode,
        visitor: &Visitor,
        template: &str,
        title: &str,
        context: Value,
    ) -> Response {
        let assets = assets();
        let root = &self.engine.settings().project_root;
        let shared = context! {
            title,
            style => assets.style.path.as_str(),
            script => assets.script.path.as_str(),
            icon => assets.icon.path.as_str(),
            token => visitor.form_token.as_str(),
            may_decide => self.access == Access::Full,
            project => root.file_name().map(|name| name.to_string_lossy().into_owned()),
            version => self.version,
            ..context
        };
        let rendered = environment().get_template(template).and_then(|template| template.render(shared));
        match rendered {
            Ok(html) => html_response(status, html),
            Err(error) => {
                debug_assert!(false, "{template}: {error:#}");
                plain(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be rendered; please report it")
            }
        }
    }

    /// The page of a request that was refused.
    pub(crate) fn refusal_page(&self, visitor: &Visitor, refusal: &Refusal) -> Response {
        let title = if refusal.status == StatusCode::NOT_FOUND { "Not found" } else { "Not done" };
        self.page_with(refusal.status, visitor, "refusal.html", title, context! { refusal => Serde(refusal) })
    }

    /// The page for browsers that are not let in yet.
    pub(crate) fn entry_page(next: &str, problem: &str) -> Response {
        let context = context! {
            next, problem,
            style => Value::from_safe_string(assets::ENTRY_STYLE.to_owned()),
            script => Value::from_safe_string(assets::ENTRY_SCRIPT.to_owned()),
        };
        let rendered = environment().get_template("entry.html").and_then(|template| template.render(context));
        let mut response = html_response(StatusCode::UNAUTHORIZED, rendered.unwrap_or_default());
        if let Ok(policy) = HeaderValue::from_str(&assets::entry_policy()) {
            response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        }
        response
    }
}

fn html_response(status: StatusCode, html: String) -> Response {
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// Every address, behind the guard.
pub(crate) fn routes(site: &Arc<Site>) -> Router {
    let mut routes = Router::new()
        .route("/", get(inbox::page))
        .route("/live", get(live::inbox))
        .route("/project", get(project_view::page))
        .route("/s/{id}", get(session_view::page))
        .route("/s/{id}/live", get(live::session))
        .route("/s/{id}/events", get(session_view::events))
        .route("/s/{id}/prompt", get(anatomy_view::page))
        .route("/s/{id}/prompt/copy", get(anatomy_view::as_file))
        .route("/s/{id}/code", get(change_view::page))
        .route("/s/{id}/apply", get(apply_view::dry_run))
        .route("/s/{id}/a/{*path}", get(artifact_view::page))
        .route("/s/{id}/v/{*name}", get(artifact_view::version))
        .route("/s/{id}/raw/{*path}", get(artifact_view::raw))
        .route("/assets/{name}", get(asset));
    if site.access == Access::Full {
        routes = routes
            .route("/new", post(decide::start))
            .route("/s/{id}/decide/{verb}", post(decide::decide))
            .route("/s/{id}/say", post(run_view::say))
            .route("/project/pin", post(project_view::pin));
    }
    routes
        .fallback(not_found)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(site), guard))
        .with_state(Arc::clone(site))
}

async fn not_found(
    State(site): State<Arc<Site>>,
    axum::Extension(visitor): axum::Extension<Visitor>,
) -> Response {
    site.refusal_page(&visitor, &Refusal::not_found("there is no such page"))
}

async fn asset(Path(name): Path<String>) -> Response {
    let Some(asset) = assets().find(&format!("/assets/{name}")) else {
        return plain(StatusCode::NOT_FOUND, "there is no such file");
    };
    let mut response = Response::new(Body::from(asset.text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable"));
    response
}

/// The page of an engine without a socket, with its secret and its code, for tests.
#[doc(hidden)]
pub fn routes_for_tests(
    engine: &Engine,
    bound: SocketAddr,
    access: Access,
) -> Result<(Router, String, String), TokenError> {
    let site = Arc::new(Site::new(engine, bound, access, "0", |_| ())?);
    Ok((routes(&site), site.entry.secret().to_owned(), site.entry.code()))
}

/// Whether a session is not there, so that the page is not either.
pub(crate) fn is_missing(error: &SessionError) -> bool {
    matches!(
        error,
        SessionError::NoSession { .. }
            | SessionError::NoArtifact { .. }
            | SessionError::NotReopenable { .. }
            | SessionError::OutsideSession { .. }
    )
}
