//! The inbox: what waits for the user, what is running, what ended; and the form that starts a session.

use std::sync::Arc;

use aiwf_engine::{Engine, LedgerKind, SessionEntry, SessionStatus, seconds_of};
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::fields::Fields;
use crate::guard::Visitor;
use crate::site::Site;
use crate::words::{Refusal, dollars, duration, in_address, last_line, minute, needs, status_words};

/// Sessions of one group on a page.
const PAGE: usize = 25;

#[derive(Debug, Serialize)]
pub(crate) struct Item {
    id: String,
    href: String,
    title: String,
    name: Option<String>,
    flow: String,
    phase: String,
    needs: Option<&'static str>,
    status: &'static str,
    status_key: &'static str,
    /// The newest line of what arrives, while it runs.
    line: Option<String>,
    agent: Option<String>,
    age: String,
    at: String,
    cost: Option<String>,
    is_foreign: bool,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct Group {
    key: &'static str,
    title: &'static str,
    empty: &'static str,
    total: usize,
    items: Vec<Item>,
    previous: Option<String>,
    next: Option<String>,
    range: String,
}

#[derive(Debug, Serialize)]
struct Inbox {
    groups: Vec<Group>,
    n_sessions: usize,
    flows: Vec<String>,
    providers: Vec<String>,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = Fields::of_query(query.as_deref());
    let asked = fields.clone();
    let reader = Arc::clone(&site);
    match site.read(move |engine| inbox(&reader, engine, &asked)).await {
        Ok(inbox) => site.page(
            &visitor,
            "inbox.html",
            "Inbox",
            context! { inbox => Serde(&inbox), query => fields.text("q"), flow => fields.text("flow") },
        ),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

fn inbox(site: &Site, engine: &Engine, fields: &Fields) -> Result<Inbox, Refusal> {
    let mut entries = engine.list_all()?;
    let n_sessions = entries.len();
    let wanted = fields.text("q").trim().to_lowercase();
    let flow = fields.text("flow");
    let matches = |entry: &SessionEntry| {
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let is_found = wanted.is_empty()
            || has(&entry.title)
            || has(&entry.id)
            || has(&entry.phase)
            || entry.name.as_deref().is_some_and(has)
            || has(entry.status.as_str());
        is_found && (flow.is_empty() || entry.flow == flow)
    };
    entries.retain(matches);
    for entry in &mut entries {
        // What this page runs is under way before its journal says so.
        if site.jobs.live(&entry.id).is_some() {
            (entry.status, entry.waits_for) = (SessionStatus::InProgress, None);
        }
    }
    let (ended, open): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.status.is_ended());
    let needs_someone = |entry: &SessionEntry| entry.waits_for.is_some() || !is_in_progress(entry);
    let (waiting, running): (Vec<_>, Vec<_>) = open.into_iter().partition(needs_someone);
    let groups = vec![
        group(site, engine, fields, "waiting", "Waiting for you", "Nothing is waiting for you.", waiting),
        group(site, engine, fields, "running", "Running", "Nothing is running.", running),
        group(site, engine, fields, "ended", "Ended", "Nothing has ended yet.", ended),
    ];
    let flows = engine.flows()?;
    let flows = flows.into_iter().filter(|found| found.flow.as_ref().is_ok_and(|flow| !flow.needs_profile()));
    Ok(Inbox {
        groups,
        n_sessions,
        flows: flows.map(|found| found.name).collect(),
        providers: engine.provider_names()?,
    })
}

fn is_in_progress(entry: &SessionEntry) -> bool {
    entry.status == SessionStatus::InProgress
}

fn group(
    site: &Site,
    engine: &Engine,
    fields: &Fields,
    key: &'static str,
    title: &'static str,
    empty: &'static str,
    entries: Vec<SessionEntry>,
) -> Group {
    let total = entries.len();
    let from = fields.number(key).unwrap_or_default().min(total.saturating_sub(1)) / PAGE * PAGE;
    let mut shown: Vec<SessionEntry> = entries.into_iter().skip(from).take(PAGE).collect();
    engine.mark_foreign(&mut shown);
    let is_running = key == "running";
    for entry in shown.iter().filter(|_| key != "ended") {
        site.changes.follow_journal(&entry.directory);
    }
    let items: Vec<Item> = shown.into_iter().map(|entry| item(site, engine, entry, is_running)).collect();
    let address = |from: usize| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for name in ["q", "flow"] {
            if !fields.text(name).is_empty() {
                query.append_pair(name, fields.text(name));
            }
        }
        query.append_pair(key, &from.to_string());
        format!("/?{}#{key}", query.finish())
    };
    Group {
        key,
        title,
        empty,
        total,
        previous: (from > 0).then(|| address(from.saturating_sub(PAGE))),
        next: (from + PAGE < total).then(|| address(from + PAGE)),
        range: format!("{}–{} of {total}", from + 1, (from + items.len()).max(from + 1)),
        items,
    }
}

fn item(site: &Site, engine: &Engine, entry: SessionEntry, is_running: bool) -> Item {
    let now = engine.now().as_secs();
    let age = seconds_of(&entry.updated_at).map(|at| duration(now.saturating_sub(at)));
    let line = is_running.then(|| {
        site.changes.follow_session(&entry.directory);
        live_line(site, engine, &entry.id).unwrap_or_default()
    });
    let (agent, cost) = if entry.kind == LedgerKind::Run {
        let run = engine.run_status(&entry.id).ok();
        (run.as_ref().map(|run| run.provider.clone()), run.and_then(|run| run.report.usage.cost))
    } else {
        let glance = engine.session_glance(Some(entry.id.as_str())).ok();
        (
            glance.as_ref().and_then(|glance| glance.provider.clone()),
            glance.and_then(|glance| glance.total.cost),
        )
    };
    Item {
        href: format!("/s/{}", in_address(&entry.id)),
        name: entry.name,
        title: if entry.title.is_empty() { entry.id.clone() } else { entry.title },
        id: entry.id,
        flow: entry.flow,
        phase: entry.phase,
        needs: entry.waits_for.map(needs),
        status: status_words(entry.status),
        status_key: entry.status.as_str(),
        line,
        agent: agent.filter(|agent| !agent.is_empty()),
        age: age.unwrap_or_default(),
        at: minute(&entry.updated_at),
        cost: cost.map(|cost| dollars(cost.as_f64())),
        is_foreign: entry.is_foreign,
        error: entry.error,
    }
}

/// How much of an arriving reply is read for its last line.
const MAX_TAIL: usize = 2_000;

/// The newest line of what a session is doing.
pub(crate) fn live_line(site: &Site, engine: &Engine, id: &str) -> Option<String> {
    if let Some(live) = site.jobs.live(id) {
        let said = if live.text.trim().is_empty() { live.lines.last().cloned() } else { Some(live.text) };
        return said.map(|text| last_line(&text));
    }
    engine.live_text(Some(id), MAX_TAIL).ok().flatten().map(|live| last_line(&live.tail))
}
