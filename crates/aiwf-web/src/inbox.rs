//! The inbox: what waits for the user, what is running, what ended; and the form that starts a session.

use std::sync::Arc;

use aiwf_engine::{Engine, SessionEntry, seconds_of};
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::fields::Fields;
use crate::guard::Visitor;
use crate::site::Site;
use crate::words::{Refusal, dollars, duration, in_address, minute, needs, status_words};

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
    match site.read(move |engine| inbox(engine, &asked)).await {
        Ok(inbox) => site.page(
            &visitor,
            "inbox.html",
            "Inbox",
            context! { inbox => Serde(&inbox), query => fields.text("q"), flow => fields.text("flow") },
        ),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

fn inbox(engine: &Engine, fields: &Fields) -> Result<Inbox, Refusal> {
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
    let (ended, open): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.status.is_ended());
    let needs_someone = |entry: &SessionEntry| entry.waits_for.is_some() || !is_in_progress(entry);
    let (waiting, running): (Vec<_>, Vec<_>) = open.into_iter().partition(needs_someone);
    let groups = vec![
        group(engine, fields, "waiting", "Waiting for you", "Nothing is waiting for you.", waiting),
        group(engine, fields, "running", "Running", "Nothing is running.", running),
        group(engine, fields, "ended", "Ended", "Nothing has ended yet.", ended),
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
    entry.status == aiwf_engine::SessionStatus::InProgress
}

fn group(
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
    let items: Vec<Item> = shown.into_iter().map(|entry| item(engine, entry)).collect();
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

fn item(engine: &Engine, entry: SessionEntry) -> Item {
    let now = engine.now().as_secs();
    let age = seconds_of(&entry.updated_at).map(|at| duration(now.saturating_sub(at)));
    let is_run = entry.kind == aiwf_engine::LedgerKind::Run;
    // Only what is open needs its journal read for this.
    let glance =
        (!is_run && !entry.status.is_ended()).then(|| engine.session_glance(Some(entry.id.as_str())).ok());
    let glance = glance.flatten();
    Item {
        href: format!("/s/{}", in_address(&entry.id)),
        name: entry.name,
        title: if entry.title.is_empty() { entry.id.clone() } else { entry.title },
        id: entry.id,
        flow: entry.flow,
        phase: entry.phase,
        needs: entry.waits_for.map(needs),
        status: status_words(entry.status),
        agent: glance.as_ref().and_then(|glance| glance.provider.clone()),
        age: age.unwrap_or_default(),
        at: minute(&entry.updated_at),
        cost: glance.and_then(|glance| Some(dollars(glance.total.cost?.as_f64()))),
        is_foreign: entry.is_foreign,
        error: entry.error,
    }
}
