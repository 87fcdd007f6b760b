//! Stands before every page: host, origin, cookie, size, time and form token, in this order; and the headers after it.

use std::sync::Arc;
use std::time::Duration;

use aiwf_loopback::{ClientKnown, Navigation, read_body};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use crate::entry::Attempt;
use crate::fields::Fields;
use crate::site::{Note, Site};

/// The largest form that a browser without a cookie may send.
const MAX_ENTRY_BYTES: u64 = 4 * 1024;
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Who asks, for the pages behind the guard.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) form_token: String,
}

/// The fields of a form that passed the guard.
#[derive(Clone, Debug)]
pub(crate) struct Form(pub(crate) Fields);

pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = judge(&site, request, next).await;
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(REFERRER_POLICY, "no-referrer");
    set(CACHE_CONTROL, "no-store");
    set(OPENER, "same-origin");
    set(RESOURCE, "same-origin");
    response
}

async fn judge(site: &Arc<Site>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Err(forged) = site.authority.check(&parts, Navigation::Allowed) {
        return plain(StatusCode::FORBIDDEN, forged.words());
    }
    if !matches!(parts.method, Method::GET | Method::HEAD | Method::POST) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "pages are read with GET and changed with POST");
    }
    let Some(cookie) = site.entry.cookie(&parts.headers) else {
        if parts.method == Method::POST && parts.uri.path() == "/enter" {
            return enter(site, body).await;
        }
        let path = if parts.method == Method::GET { parts.uri.path() } else { "/" };
        return Site::entry_page(path, "");
    };
    if let Some(known) = parts.extensions.get::<ClientKnown>() {
        known.mark();
    }
    if parts.method == Method::POST {
        let bytes = match read_body(body, &site.limits).await {
            Ok(bytes) => bytes,
            Err(fault) => return last(plain(fault.status(), fault.words())),
        };
        let fields = Fields::parse(&bytes);
        if parts.uri.path() == "/enter" {
            return see_other(&next_path(fields.text("next")));
        }
        if !site.entry.is_form_token(&cookie, fields.text("token")) {
            return plain(StatusCode::FORBIDDEN, "the form did not come from this page: open the page again");
        }
        parts.extensions.insert(Form(fields));
    }
    parts.extensions.insert(Visitor { form_token: site.entry.form_token(&cookie) });
    next.run(Request::from_parts(parts, Body::empty())).await
}

/// Exchanges the secret or the one-time code for a cookie.
async fn enter(site: &Arc<Site>, body: Body) -> Response {
    let mut limits = site.limits;
    limits.max_body_bytes = MAX_ENTRY_BYTES;
    limits.body = limits.body.min(Duration::from_secs(10));
    let bytes = match read_body(body, &limits).await {
        Ok(bytes) => bytes,
        Err(fault) => return last(plain(fault.status(), fault.words())),
    };
    let fields = Fields::parse(&bytes);
    let next = next_path(fields.text("next"));
    match site.entry.exchange(fields.text("code")) {
        Ok(Attempt::In { cookie, new_code }) => {
            if let Some(code) = new_code {
                site.note(Note::NewCode(&code));
            }
            let mut response = see_other(&next);
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().insert(SET_COOKIE, cookie);
            }
            response
        }
        Ok(Attempt::Refused { new_code }) => {
            if let Some(code) = new_code {
                site.note(Note::NewCode(&code));
            }
            Site::entry_page(
                &next,
                "That code is wrong or was already used. The terminal shows the latest one.",
            )
        }
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

/// A path of this page; anything else leads to the inbox.
fn next_path(given: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let is_path = given.starts_with('/') && !given.starts_with("//") && given.bytes().all(is_plain);
    if is_path { given.to_owned() } else { "/".to_owned() }
}

pub(crate) fn see_other(path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let path = HeaderValue::from_str(path).unwrap_or(HeaderValue::from_static("/"));
    response.headers_mut().insert(LOCATION, path);
    response
}

pub(crate) fn plain(status: StatusCode, text: &str) -> Response {
    let mut response = Response::new(Body::from(format!("{text}\n")));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// A response that closes the connection.
fn last(mut response: Response) -> Response {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
