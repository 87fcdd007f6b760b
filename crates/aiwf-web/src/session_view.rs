//! A session: its timeline, what waits at its gate, and the forms that decide.

use std::sync::Arc;

use aiwf_engine::advice::Action;
use aiwf_engine::machine::{Stage, VersionOutcome};
use aiwf_engine::{Engine, LedgerKind, SeenGate, SessionPlace, SessionReport, SessionStatus, WaitsFor};
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::change_view::{Code, Room, code};
use crate::checks::{Check, checks_of};
use crate::comments::{Remark, Remarks};
use crate::fields::Fields;
use crate::guard::Visitor;
use crate::jobs::LiveLog;
use crate::markdown::{Block, blocks};
use crate::site::Site;
use crate::timeline::{Round, Strip, rounds};
use crate::verb::Verb;
use crate::words::{Refusal, dollars, in_address, minute, needs, plural, size, status_words, thousands};
use crate::{advice_words, run_view, seen};

/// Rounds that are shown at once, the newest.
const MAX_ROUNDS: usize = 40;
/// Events on one page of the journal.
const PAGE: usize = 200;
/// The longest event that is shown.
const MAX_EVENT: usize = 4_000;
/// What waits is shown on the session's page up to this size.
const MAX_PENDING: usize = 60_000;
/// The prompt that is offered for copying on the page itself; a larger one is offered as a file.
const MAX_COPY: usize = 400_000;
/// The title of a reply whose files are shown as a change.
const RAW_REPLY: &str = "The reply as it is written";

/// A form that decides.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Offer {
    pub(crate) verb: Verb,
    pub(crate) label: String,
    /// `good`, `bad` or empty.
    pub(crate) tone: &'static str,
    /// The label of its text field.
    pub(crate) text: Option<&'static str>,
    pub(crate) text_required: bool,
    pub(crate) rows: u32,
    /// Whether another provider can be chosen.
    pub(crate) picks_provider: bool,
    /// A value that the decision needs.
    pub(crate) value: Option<String>,
    pub(crate) note: Option<String>,
}

impl Offer {
    fn new(verb: Verb, label: impl Into<String>) -> Self {
        Self {
            verb,
            label: label.into(),
            tone: "",
            text: None,
            text_required: false,
            rows: 2,
            picks_provider: false,
            value: None,
            note: None,
        }
    }

    fn good(self) -> Self {
        Self { tone: "good", ..self }
    }

    fn bad(self) -> Self {
        Self { tone: "bad", ..self }
    }

    fn text(self, label: &'static str) -> Self {
        Self { text: Some(label), ..self }
    }

    fn required(self) -> Self {
        Self { text_required: true, ..self }
    }
}

/// A check that waits for the user's consent.
#[derive(Debug, Serialize)]
pub(crate) struct Consent {
    /// Everything that the user agrees to.
    shown: String,
    pub(crate) sha256: String,
}

/// A version of an artifact.
#[derive(Debug, Serialize)]
struct Version {
    name: String,
    href: String,
    outcome: String,
    note: Option<String>,
}

/// A file at the gate.
#[derive(Debug, Serialize)]
struct Pending {
    title: String,
    path: String,
    href: String,
    raw: String,
    sha256: Option<String>,
    blocks: Vec<PendingBlock>,
    text: Option<String>,
    size: String,
    is_cut: bool,
    /// Whether another view shows better what it says.
    is_raw: bool,
}

/// A rendered part of it, with its lines and what is said at them.
#[derive(Debug, Serialize)]
struct PendingBlock {
    numbers: Vec<usize>,
    html: String,
    comments: Vec<Remark>,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that the template shows")]
pub(crate) struct SessionPage {
    id: String,
    base: String,
    name: Option<String>,
    title: String,
    request: Option<String>,
    flow: String,
    phase: String,
    status: &'static str,
    status_key: &'static str,
    needs: Option<&'static str>,
    provider: Option<String>,
    iteration: u32,
    max_rounds: Option<u32>,
    cost: Option<String>,
    tokens: Option<String>,
    n_calls: u64,
    position: u64,
    gate: String,
    gate_sha256: Option<String>,
    next: Option<String>,
    not_trusted: Option<String>,
    remark: Option<String>,
    problems: Vec<String>,
    warnings: Vec<String>,
    stale: Vec<String>,
    left_out: Vec<String>,
    self_running: Vec<String>,
    checks: Vec<Check>,
    offers: Vec<Offer>,
    providers: Vec<String>,
    pending: Option<Pending>,
    has_prompt: bool,
    copy: Option<String>,
    is_chat: bool,
    has_code: bool,
    n_files: usize,
    /// The change itself, where it is what the user looks at.
    code: Option<Code>,
    commits: Vec<String>,
    applied: bool,
    rounds: Vec<Round>,
    strip: Strip,
    n_earlier: usize,
    live: Option<LiveLog>,
    is_busy: bool,
    failure: Option<Refusal>,
    consents: Vec<Consent>,
    comments: Vec<Remark>,
    n_open_comments: usize,
    versions: Vec<Version>,
    revisable: Vec<String>,
}

/// Where a session is, by what names it.
pub(crate) fn entry_of(engine: &Engine, id: &str) -> Result<SessionPlace, Refusal> {
    Ok(engine.session_place(id)?)
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Response {
    show(&site, &visitor, &id, StatusCode::OK, None, "").await
}

/// The page of a session, with a refusal above it and the text that was refused still in its field.
pub(crate) async fn show(
    site: &Arc<Site>,
    visitor: &Visitor,
    id: &str,
    status: StatusCode,
    refusal: Option<&Refusal>,
    draft: &str,
) -> Response {
    let wanted = id.to_owned();
    let place = match site.read(move |engine| entry_of(engine, &wanted)).await {
        Ok(place) => place,
        Err(missing) => return site.refusal_page(visitor, &missing),
    };
    if place.kind == LedgerKind::Run {
        return run_view::show(site, visitor, &place, status, refusal).await;
    }
    let (live, failure) = (site.jobs.live(&place.id), site.jobs.failure(&place.id));
    let is_own_job = live.is_some();
    match site.look(move |engine| read(engine, &place, live, failure, is_own_job)).await {
        Ok(session) => {
            let title = session.title.clone();
            site.page_with(
                status,
                visitor,
                "session.html",
                &title,
                context! { session => Serde(&session), refusal => Serde(refusal), draft },
            )
        }
        Err(refusal) => site.refusal_page(visitor, &refusal),
    }
}

fn read(
    engine: &Engine,
    place: &SessionPlace,
    live: Option<LiveLog>,
    failure: Option<Refusal>,
    is_own_job: bool,
) -> Result<SessionPage, Refusal> {
    let id = place.id.as_str();
    let which = Some(id);
    let position = engine.journal_bytes(id).unwrap_or_default();
    let report = engine.session_report(which)?;
    let gate = engine.seen_gate(which)?;
    let lines = engine.session_events(which)?;
    let glance = engine.session_glance(which)?;
    let live = live.or_else(|| {
        let tail = engine.live_text(which, MAX_PENDING / 10).ok().flatten()?;
        Some(LiveLog { lines: Vec::new(), text: tail.tail })
    });
    let (mut all, strip) = rounds(id, &lines);
    let n_earlier = all.len().saturating_sub(MAX_ROUNDS);
    all.drain(..n_earlier);
    all.reverse();
    let change = report.change.as_deref();
    let remarks = Remarks::of(engine, id);
    let changes = engine.file_changes(which).unwrap_or_default();
    let has_files = || {
        engine
            .session_artifacts(which)
            .is_ok_and(|files| files.iter().any(|file| file.path.contains("/code/")))
    };
    let has_code = !changes.is_empty() || !report.self_running.is_empty() || has_files();
    let is_code_at_gate = report.waits_for == Some(WaitsFor::ReplyApproval)
        && engine.reply_gives_files(which).unwrap_or_default();
    let is_code_shown = is_code_at_gate
        || report.status == SessionStatus::Complete
        || matches!(report.waits_for, Some(WaitsFor::ReplyApproval | WaitsFor::Decision));
    let code = (is_code_shown && !changes.is_empty())
        .then(|| code(engine, place, &changes, &Fields::default(), Room::of_session()));
    let offers = offers(&report, glance.is_busy, is_own_job);
    let is_at_prompt =
        report.stage == Some(Stage::Prompt) && report.waits_for == Some(WaitsFor::PromptApproval);
    let awaits_chat = report.waits_for == Some(WaitsFor::Reply);
    let has_prompt = !report.phase.is_final() && report.prompt_path.is_some();
    let is_chat = awaits_chat || offers.iter().any(|offer| offer.verb == Verb::Respond);
    let copy = (has_prompt && is_chat).then(|| engine.preview_session(which).ok()).flatten();
    let copy = copy.map(|preview| preview.text()).filter(|text| text.len() <= MAX_COPY);
    let pending = if is_at_prompt || awaits_chat {
        report.prompt_path.as_ref().map(|path| pending(engine, id, "The prompt", path, &gate, &[]))
    } else if report.waits_for == Some(WaitsFor::ReplyApproval)
        || report.waits_for == Some(WaitsFor::Decision)
    {
        let title = if is_code_at_gate { RAW_REPLY } else { "The reply" };
        let version =
            report.versions.iter().rev().find(|version| Some(&version.sha256) == gate.sha256.as_ref());
        let here = version.map(|version| remarks.on(&version.name)).unwrap_or_default();
        report.response_path.as_ref().map(|path| pending(engine, id, title, path, &gate, &here))
    } else {
        None
    };
    let picks = offers.iter().any(|offer| offer.picks_provider);
    let providers = if picks { engine.provider_names()? } else { Vec::new() };
    let consents =
        if report.waits_for == Some(WaitsFor::CheckConsent) { waiting_checks(engine) } else { Vec::new() };
    let request = change.map(|change| change.request.clone()).filter(|request| !request.is_empty());
    Ok(SessionPage {
        base: format!("/s/{}", in_address(id)),
        id: id.to_owned(),
        name: change.map(|change| change.name.clone()).filter(|name| name != id && !name.is_empty()),
        title: title(&report),
        request,
        phase: report.phase.to_string(),
        status: status_words(report.status),
        status_key: report.status.as_str(),
        needs: report.waits_for.map(needs),
        provider: report.provider.clone(),
        iteration: report.iteration,
        max_rounds: change.map(|change| change.max_rounds),
        cost: glance.total.cost.map(|cost| dollars(cost.as_f64())),
        tokens: glance.total.input_tokens.map(|sent| {
            let received = glance.total.output_tokens.unwrap_or_default();
            format!("{} → {} tokens", thousands(sent), thousands(received))
        }),
        n_calls: glance.total.calls,
        position,
        gate_sha256: gate.sha256.clone(),
        gate: seen::to_field(&gate),
        next: (!report.next.is_empty()).then(|| advice_words::worded(&report.next)),
        not_trusted: report.not_trusted.clone(),
        remark: report.remark.clone(),
        problems: report.problems.clone(),
        warnings: report.warnings.clone(),
        stale: report.stale.iter().map(|file| file.path.clone()).collect(),
        left_out: aiwf_engine::left_out_lines(&report.left_out),
        self_running: report
            .self_running
            .iter()
            .map(|file| format!("{}: run automatically by {}", file.path, file.run_by))
            .collect(),
        checks: checks_of(engine, place, &report.checks),
        offers,
        providers,
        pending,
        has_prompt,
        copy,
        is_chat,
        has_code,
        n_files: changes.len(),
        code,
        commits: report.commits.iter().map(|commit| commit.id.clone()).collect(),
        applied: change.is_some_and(|change| change.applied),
        rounds: all,
        strip,
        n_earlier,
        live,
        is_busy: glance.is_busy || is_own_job,
        failure,
        consents,
        comments: remarks.all(),
        n_open_comments: report.open_comments,
        revisable: if is_own_job || glance.is_busy { Vec::new() } else { revisable(&report) },
        versions: report
            .versions
            .iter()
            .map(|version| Version {
                href: format!("/s/{}/v/{}", in_address(id), in_address(&version.name)),
                name: version.name.clone(),
                outcome: serde_json::to_value(version.outcome)
                    .ok()
                    .and_then(|outcome| Some(outcome.as_str()?.replace('-', " ")))
                    .unwrap_or_default(),
                note: version.note.as_ref().map(|note| note.text.clone()),
            })
            .collect(),
        flow: report.flow,
    })
}

/// The artifacts with an approved version, which can be reopened.
fn revisable(report: &SessionReport) -> Vec<String> {
    let change = report.change.as_deref();
    if change.is_some_and(|change| change.applied) || report.status == SessionStatus::Cancelled {
        return Vec::new();
    }
    let approved = report.versions.iter().filter(|version| version.outcome == VersionOutcome::Approved);
    let mut names: Vec<String> = approved.map(|version| version.artifact.clone()).collect();
    names.dedup();
    names
}

fn title(report: &SessionReport) -> String {
    let request = report.change.as_deref().map(|change| change.request.as_str()).unwrap_or_default();
    let first = request.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !first.is_empty() {
        return match first.char_indices().nth(140) {
            Some((end, _)) => format!("{}…", first.get(..end).unwrap_or_default()),
            None => first.to_owned(),
        };
    }
    let given = report.context.iter().filter_map(|(key, value)| {
        let text = value.as_str()?;
        (!text.is_empty() && text.len() <= 40 && !text.contains('\n')).then(|| format!(" {key}={text}"))
    });
    let title: String = std::iter::once(report.profile.clone()).chain(given).collect();
    if title.is_empty() { report.session_id.clone() } else { title }
}

fn pending(
    engine: &Engine,
    id: &str,
    title: &str,
    path: &str,
    gate: &SeenGate,
    remarks: &[(usize, Remark)],
) -> Pending {
    let text = engine.session_file(Some(id), path).map(|(_, text)| text).unwrap_or_default();
    let relative = match path.find(id) {
        Some(at) => path.get(at + id.len() + 1..).unwrap_or(path),
        None => path,
    };
    let start = match text.char_indices().find(|(at, _)| *at >= MAX_PENDING) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => &text,
    };
    // Edits are no Markdown: the page shows them as a change, and these are their bytes.
    let is_plain = title != "The reply";
    let rendered = |block: Block| PendingBlock {
        comments: remarks
            .iter()
            .filter(|(line, _)| block.lines.contains(line))
            .map(|(_, remark)| remark.clone())
            .collect(),
        numbers: block.lines.collect(),
        html: block.html,
    };
    Pending {
        title: title.to_owned(),
        href: format!("/s/{}/a/{}", in_address(id), in_address(relative)),
        raw: format!("/s/{}/raw/{}", in_address(id), in_address(relative)),
        path: relative.to_owned(),
        sha256: gate.sha256.clone(),
        blocks: if is_plain { Vec::new() } else { blocks(start).into_iter().map(rendered).collect() },
        text: is_plain.then(|| start.to_owned()),
        is_raw: title == RAW_REPLY,
        size: size(text.len() as u64),
        is_cut: start.len() < text.len(),
    }
}

/// The commands that wait for consent, exactly.
fn waiting_checks(engine: &Engine) -> Vec<Consent> {
    let checks = engine.checks().unwrap_or_default();
    let consent =
        |check: &aiwf_engine::Check| Consent { shown: check.shown.clone(), sha256: check.sha256.clone() };
    checks.iter().filter(|check| !check.may_run()).map(consent).collect()
}

/// What the user can do, likeliest first.
#[expect(clippy::wildcard_enum_match_arm, reason = "few actions are buttons of a session")]
fn offers(report: &SessionReport, is_busy: bool, is_own_job: bool) -> Vec<Offer> {
    if is_own_job {
        return vec![Offer::new(Verb::Stop, "Stop").bad()];
    }
    if is_busy || report.not_trusted.is_some() {
        return Vec::new();
    }
    let mut offers = Vec::new();
    let is_reply = report.waits_for == Some(WaitsFor::ReplyApproval);
    let approve = || {
        let offer = Offer::new(Verb::Approve, "Approve").good();
        if is_reply { offer.text("Note for the next phases (optional)") } else { offer }
    };
    let reject = || {
        let offer = Offer::new(Verb::Reject, "Reject").bad();
        // Open comments say what should change.
        match report.open_comments {
            0 => offer.text("What should change?").required(),
            _ => offer.text("What else should change? (the open comments are sent)"),
        }
    };
    let retry = || Offer { picks_provider: true, ..Offer::new(Verb::Retry, "Retry") };
    let respond =
        || Offer { rows: 10, ..Offer::new(Verb::Respond, "Respond").good().text("The reply").required() };
    if report.stale.is_empty() {
        match report.waits_for {
            Some(WaitsFor::PromptApproval) => offers.extend([approve(), reject()]),
            Some(WaitsFor::Reply) => offers.extend([respond(), retry()]),
            Some(WaitsFor::ReplyApproval) => offers.extend([approve(), reject(), retry()]),
            Some(WaitsFor::NextPhase | WaitsFor::Budget) => {
                offers.push(Offer::new(Verb::Continue, "Continue").good());
            }
            Some(WaitsFor::Retry) => offers.push(retry().good()),
            Some(WaitsFor::CheckConsent) => {
                offers.push(Offer::new(Verb::AllowChecks, "Allow these checks").good());
            }
            Some(WaitsFor::Decision | WaitsFor::Answer) | None => {}
        }
    }
    for action in report.next.actions() {
        let offer = match action {
            Action::Run | Action::Step => Offer::new(Verb::Continue, "Continue").good(),
            Action::Approve => approve(),
            Action::Reject => reject(),
            Action::Reopen => Offer { label: "Reopen".to_owned(), ..reject() },
            Action::Retry => retry(),
            Action::Respond => respond(),
            Action::Accept => Offer::new(Verb::Accept, "Accept despite the review"),
            Action::RaiseCap { rounds } => Offer {
                value: Some(rounds.to_string()),
                ..Offer::new(Verb::RaiseCap, format!("Allow {rounds} rounds"))
            },
            Action::Rebind => Offer::new(Verb::Rebind, "Accept the edits"),
            Action::Restore(_) => {
                let restored = report.stale.first().map(|file| file.path.clone());
                let noun = plural(report.stale.len() as u64, "approved file");
                Offer { value: restored, ..Offer::new(Verb::Restore, format!("Restore {noun}")).good() }
            }
            _ => continue,
        };
        if offers.iter().all(|known: &Offer| known.verb != offer.verb) {
            offers.push(offer);
        }
    }
    let change = report.change.as_deref();
    if report.status == SessionStatus::Complete {
        offers.retain(|offer| offer.verb != Verb::Continue);
        if change.is_some_and(|change| change.applied) {
            offers.push(Offer::new(Verb::Undo, "Undo").bad());
        }
    }
    if !report.status.is_ended() && report.status != SessionStatus::Unreadable {
        offers.push(Offer::new(Verb::Cancel, "Cancel").bad().text("Why? (optional)"));
    }
    offers
}

#[derive(Debug, Serialize)]
struct EventRow {
    seq: u64,
    at: String,
    name: String,
    json: String,
}

/// The journal, a page at a time.
pub(crate) async fn events(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let fields = Fields::of_query(query.as_deref());
    let base = format!("/s/{}", in_address(&id));
    let read = site.read(move |engine| {
        let place = entry_of(engine, &id)?;
        let (total, rows) = if place.kind == LedgerKind::Run {
            let lines = engine.run_events(&place.id)?;
            let from = start_of(&fields, lines.len());
            let row = |line: &aiwf_engine::RunLine| {
                row(line.seq, &line.at, line.event.name(), serde_json::to_string_pretty(&line.event))
            };
            (lines.len(), lines.iter().skip(from).take(PAGE).map(row).collect::<Vec<_>>())
        } else {
            let lines = engine.session_events(Some(place.id.as_str()))?;
            let from = start_of(&fields, lines.len());
            let row = |line: &aiwf_engine::JournalLine| {
                row(line.seq, &line.at, line.event.name(), serde_json::to_string_pretty(&line.event))
            };
            (lines.len(), lines.iter().skip(from).take(PAGE).map(row).collect::<Vec<_>>())
        };
        Ok((place.id, total, start_of(&fields, total), rows))
    });
    match read.await {
        Ok((id, total, from, rows)) => {
            let previous = (from > 0).then(|| from.saturating_sub(PAGE));
            let next = (from + PAGE < total).then_some(from + PAGE);
            let range = format!("{}–{} of {}", from + 1, from + rows.len(), thousands(total as u64));
            site.page(
                &visitor,
                "events.html",
                "Journal",
                context! { id, base, rows => Serde(&rows), previous, next, range },
            )
        }
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

/// The newest events when nothing is asked for.
fn start_of(fields: &Fields, total: usize) -> usize {
    let newest = total.saturating_sub(1) / PAGE * PAGE;
    fields.number("from").map_or(newest, |from| from.min(newest))
}

fn row(seq: u64, at: &str, name: &str, json: serde_json::Result<String>) -> EventRow {
    let json = json.unwrap_or_default();
    let json = match json.char_indices().nth(MAX_EVENT) {
        Some((end, _)) => format!("{}…", json.get(..end).unwrap_or_default()),
        None => json,
    };
    EventRow { seq, at: minute(at), name: name.to_owned(), json }
}
