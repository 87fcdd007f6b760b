//! A file of a session: Markdown rendered or as it is written, line by line; or its bytes as a download.

use std::sync::Arc;

use aiwf_engine::VersionReport;
use aiwf_engine::machine::VersionName;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::comments::{Choice, Remark, Remarks, choices};
use crate::diff::{Row, cut, rows};
use crate::fields::Fields;
use crate::guard::Visitor;
use crate::markdown;
use crate::session_view::entry_of;
use crate::site::Site;
use crate::words::{in_address, sha256_hex, size};

/// Lines on one page.
const PAGE: usize = 1_000;
/// Rows of the difference to the version before.
const MAX_DIFF_ROWS: usize = 3_000;
/// Larger files are shown as they are written.
const MAX_RENDERED: usize = 1_000_000;

#[derive(Debug, Serialize)]
struct Line {
    number: usize,
    text: String,
    comments: Vec<Remark>,
    is_commented: bool,
}

#[derive(Debug, Serialize)]
struct Block {
    numbers: Vec<usize>,
    html: String,
    comments: Vec<Remark>,
    is_commented: bool,
}

#[derive(Debug, Serialize)]
struct Artifact {
    id: String,
    base: String,
    path: String,
    here: String,
    raw: String,
    size: String,
    sha256: String,
    is_rendered: bool,
    can_render: bool,
    blocks: Vec<Block>,
    lines: Vec<Line>,
    n_lines: usize,
    from: usize,
    previous: Option<usize>,
    next: Option<usize>,
    others: Vec<String>,
    /// What a comment is made on: `plan@2`, or a file that the session changes.
    on: Option<String>,
    versions: Vec<Choice>,
    /// The lines that a comment is being written on.
    commented: Option<(usize, usize)>,
    general: Vec<Remark>,
    /// The difference to the version before.
    rows: Vec<Row>,
    is_diff: bool,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path((id, path)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = Fields::of_query(query.as_deref());
    let read = site.look(move |engine| {
        let place = entry_of(engine, &id)?;
        let which = Some(place.id.as_str());
        let text = engine.session_file(which, &path)?.1;
        let files = engine.session_artifacts(which).unwrap_or_default();
        let others =
            files.into_iter().map(|file| file.path).filter(|path| !path.contains("/code/")).collect();
        let versions = engine.session_versions(which).unwrap_or_default();
        let hash = sha256_hex(&text);
        let on =
            versions.iter().rev().find(|version| version.sha256 == hash).map(|version| version.name.clone());
        // A file of code is commented on by its path in the change.
        let of_code = path.split_once("/code/").map(|(_, path)| path.to_owned());
        let on = on.or(of_code);
        let remarks = on.as_deref().map(|on| Remarks::of(engine, &place.id).on(on)).unwrap_or_default();
        let here = format!("/s/{}/a/{}", in_address(&place.id), in_address(&path));
        let about = About { id: &place.id, path: &path, here, on, versions: &versions };
        Ok(artifact(&about, &text, &fields, others, &remarks))
    });
    match read.await {
        Ok(artifact) => {
            let title = artifact.path.clone();
            site.page(&visitor, "artifact.html", &title, context! { artifact => Serde(&artifact) })
        }
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

/// A version of an artifact, such as `plan@2`, or a file that the session changes.
pub(crate) async fn version(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path((id, name)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = Fields::of_query(query.as_deref());
    let read = site.look(move |engine| {
        let place = entry_of(engine, &id)?;
        let which = Some(place.id.as_str());
        let versions = engine.session_versions(which)?;
        let named = VersionName::parse(&name);
        let of_change = |name: &str| {
            let files = engine.file_changes(which).ok()?;
            let file = files.into_iter().find(|file| file.path == name)?;
            Some((file.path, String::from_utf8_lossy(&file.after?).into_owned()))
        };
        let (on, text) = match engine.version_text(which, &named) {
            Ok(found) => found,
            Err(error) => of_change(&name).ok_or(error)?,
        };
        let here = format!("/s/{}/v/{}", in_address(&place.id), in_address(&on));
        let remarks = Remarks::of(engine, &place.id).on(&on);
        let is_file = versions.iter().all(|version| version.name != on);
        let path = if is_file { on.clone() } else { format!("{on}.md") };
        let about = About { id: &place.id, path: &path, here, on: Some(on.clone()), versions: &versions };
        let mut artifact = artifact(&about, &text, &fields, Vec::new(), &remarks);
        artifact.raw = String::new();
        artifact.path.clone_from(&on);
        let number = VersionName::parse(&on).version.filter(|number| *number > 1 && fields.has("diff"));
        if let Some(number) = number {
            let before = VersionName { artifact: named.artifact, version: Some(number - 1) };
            let before = engine.version_text(which, &before)?.1;
            (artifact.rows, artifact.is_diff) = (rows(&before, &text), true);
            artifact.rows.truncate(MAX_DIFF_ROWS);
        }
        Ok(artifact)
    });
    match read.await {
        Ok(artifact) => {
            let title = artifact.path.clone();
            site.page(&visitor, "artifact.html", &title, context! { artifact => Serde(&artifact) })
        }
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

/// What a text is.
struct About<'a> {
    id: &'a str,
    path: &'a str,
    here: String,
    on: Option<String>,
    versions: &'a [VersionReport],
}

fn artifact(
    about: &About<'_>,
    text: &str,
    fields: &Fields,
    others: Vec<String>,
    remarks: &[(usize, Remark)],
) -> Artifact {
    let (id, path) = (about.id, about.path);
    let base = format!("/s/{}", in_address(id));
    let is_markdown =
        path.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("md"));
    let commented = fields.number("line").filter(|_| about.on.is_some()).map(|line| {
        let to = fields.number("to").unwrap_or(line);
        (line.min(to), line.max(to))
    });
    let on_lines = |lines: std::ops::Range<usize>| -> Vec<Remark> {
        remarks.iter().filter(|(at, _)| lines.contains(at)).map(|(_, remark)| remark.clone()).collect()
    };
    let is_commented = |lines: std::ops::Range<usize>| commented.is_some_and(|(_, to)| lines.contains(&to));
    let can_render = is_markdown && text.len() <= MAX_RENDERED;
    let n_lines = text.lines().count();
    let is_rendered = can_render && fields.text("as") != "source";
    let newest = n_lines.saturating_sub(1) / PAGE * PAGE;
    let from = fields.number("from").unwrap_or_default().min(newest);
    let blocks = if is_rendered { markdown::blocks(text) } else { Vec::new() };
    let in_page =
        |first: usize| !is_rendered || n_lines <= PAGE || (from..from + PAGE).contains(&(first - 1));
    let blocks: Vec<Block> = blocks
        .into_iter()
        .filter(|block| in_page(block.lines.start))
        .map(|block| Block {
            comments: on_lines(block.lines.clone()),
            is_commented: is_commented(block.lines.clone()),
            numbers: block.lines.collect(),
            html: block.html,
        })
        .collect();
    let lines = text.lines().enumerate().skip(from).take(PAGE).filter(|_| !is_rendered);
    Artifact {
        here: about.here.clone(),
        versions: about.on.as_deref().map(|on| choices(id, about.versions, on)).unwrap_or_default(),
        on: about.on.clone(),
        commented,
        general: on_lines(0..1),
        rows: Vec::new(),
        is_diff: false,
        raw: format!("{base}/raw/{}", in_address(path)),
        id: id.to_owned(),
        path: path.to_owned(),
        size: size(text.len() as u64),
        sha256: sha256_hex(text),
        is_rendered,
        can_render,
        blocks,
        lines: lines
            .map(|(at, line)| Line {
                number: at + 1,
                text: cut(line),
                comments: on_lines(at + 1..at + 2),
                is_commented: is_commented(at + 1..at + 2),
            })
            .collect(),
        previous: (from > 0).then(|| from.saturating_sub(PAGE)),
        next: (from + PAGE < n_lines).then_some(from + PAGE),
        n_lines,
        from,
        others,
        base,
    }
}

/// The bytes of a file, as a download: a browser never shows them as a page.
pub(crate) async fn raw(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path((id, path)): Path<(String, String)>,
) -> Response {
    let name: String = path.rsplit('/').next().unwrap_or("file").to_owned();
    let read = site.look(move |engine| {
        let place = entry_of(engine, &id)?;
        Ok(engine.session_file(Some(place.id.as_str()), &path)?.1)
    });
    match read.await {
        Ok(text) => download(&name, text),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

pub(crate) fn download(name: &str, text: String) -> Response {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    headers.insert(CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment")));
    response
}
