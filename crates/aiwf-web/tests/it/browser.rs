//! A visitor of the page: keeps its cookie, fills in forms that pages show, and nothing else.

use aiwf_engine::config::{Environment, Flags, Settings};
use aiwf_engine::{Engine, NewRequest};
use aiwf_testkit::TestProject;
use aiwf_web::{Access, routes_for_tests};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

pub(crate) const HOST: &str = "127.0.0.1:8765";

pub(crate) struct Visit {
    pub(crate) project: TestProject,
    pub(crate) engine: Engine,
    pub(crate) secret: String,
    pub(crate) code: String,
    router: Router,
    cookie: Option<String>,
    runtime: tokio::runtime::Runtime,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn has(&self, part: &str) -> &Self {
        assert!(self.text.contains(part), "no {part:?} in {}\n{}", self.status, self.text);
        self
    }

    #[track_caller]
    pub(crate) fn has_not(&self, part: &str) -> &Self {
        assert!(!self.text.contains(part), "{part:?} in {}\n{}", self.status, self.text);
        self
    }

    /// The hidden fields of the form with this address.
    #[track_caller]
    pub(crate) fn form(&self, action: &str) -> Vec<(String, String)> {
        let start = format!("action=\"{action}\"");
        let form =
            self.text.split_once(&start).unwrap_or_else(|| panic!("no form {action}\n{}", self.text)).1;
        let form = form.split("</form>").next().unwrap();
        let value_of = |tag: &str, name: &str| {
            let value = tag.split_once(&format!("{name}=\""))?.1.split('"').next()?;
            Some(unescaped(value))
        };
        form.split("<input type=\"hidden\"")
            .skip(1)
            .filter_map(|tag| {
                let tag = tag.split('>').next()?;
                Some((value_of(tag, "name")?, value_of(tag, "value")?))
            })
            .collect()
    }
}

fn unescaped(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

impl Visit {
    pub(crate) fn new() -> Self {
        Self::with_access(Access::Full)
    }

    pub(crate) fn with_access(access: Access) -> Self {
        Self::of(TestProject::new("").dir(".aiwf"), access)
    }

    pub(crate) fn of(project: TestProject, access: Access) -> Self {
        let environment = Environment {
            current_dir: project.root(),
            home: Some(project.home()),
            cache_home: Some(project.home().join("cache")),
            ..Environment::default()
        };
        let settings = Settings::resolve(Some(&project.root()), environment).unwrap();
        let engine = Engine::new(settings);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bound = HOST.parse().unwrap();
        let (router, secret, code) =
            runtime.block_on(async { routes_for_tests(&engine, bound, access) }).unwrap();
        Self { project, engine, secret, code, router, cookie: None, runtime }
    }

    /// A visitor that was let in.
    pub(crate) fn entered() -> Self {
        Self::new().let_in()
    }

    #[track_caller]
    pub(crate) fn let_in(mut self) -> Self {
        let secret = self.secret.clone();
        let answer = self.send("POST", "/enter", &[], &form(&[("code", &secret)]));
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        let cookie = answer.header("set-cookie").split(';').next().unwrap();
        self.cookie = Some(cookie.to_owned());
        self
    }

    pub(crate) fn cookie(&self) -> &str {
        self.cookie.as_deref().unwrap()
    }

    /// Sends a request with the right host, unless a header says otherwise.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", HOST);
        }
        if let Some(cookie) =
            self.cookie.as_deref().filter(|_| !headers.iter().any(|(name, _)| *name == "cookie"))
        {
            request = request.header("cookie", cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        self.runtime.block_on(async {
            let answer = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = answer.into_parts();
            let bytes = body.collect().await.unwrap().to_bytes();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Answer { status: parts.status, headers: parts.headers, text }
        })
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    /// Sends the form that a page shows, with what a person fills in.
    #[track_caller]
    pub(crate) fn submit(&self, page: &Answer, action: &str, filled: &[(&str, &str)]) -> Answer {
        let hidden = page.form(action);
        let pairs: Vec<(&str, &str)> = hidden
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .chain(filled.iter().copied())
            .collect();
        self.send("POST", action, &[("origin", "null"), ("sec-fetch-site", "same-origin")], &form(&pairs))
    }

    /// Decides on the page of a session as it is now.
    #[track_caller]
    pub(crate) fn decide(&self, id: &str, verb: &str, filled: &[(&str, &str)]) -> Answer {
        let page = self.get(&format!("/s/{id}"));
        self.submit(&page, &format!("/s/{id}/decide/{verb}"), filled)
    }

    /// A session of the flow `do` whose prompts a person pastes into a chat.
    #[track_caller]
    pub(crate) fn begin(&self, request: &str) -> String {
        let new = NewRequest {
            flow: "do".to_owned(),
            request: request.to_owned(),
            provider: Some("manual".to_owned()),
            flags: Flags::default(),
            ..NewRequest::default()
        };
        self.engine.begin_flow(&new).unwrap().id
    }

    /// The names of a session's events.
    pub(crate) fn events(&self, id: &str) -> Vec<&'static str> {
        self.engine.session_events(Some(id)).unwrap().iter().map(|line| line.event.name()).collect()
    }
}

pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}
