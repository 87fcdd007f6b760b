//! Decisions: each is an engine call with the gate that was on the screen, refused by the engine when the bytes moved.

use std::sync::Arc;

use aiwf_engine::machine::{Delivery, Resolution};
use aiwf_engine::{ApplyOptions, ApproveOptions, CommentTarget, Engine, NewRequest, PromptApproval};
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;

use crate::apply_view::{apply_hash, apply_options};
use crate::comments::refuse_moved;
use crate::fields::Fields;
use crate::guard::{Form, Visitor, see_other};
use crate::jobs::{self, Progress};
use crate::seen;
use crate::session_view::{entry_of, show};
use crate::site::Site;
use crate::verb::Verb;
use crate::words::{Refusal, in_address};

/// A decision about a session.
pub(crate) async fn decide(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Extension(Form(fields)): Extension<Form>,
    Path((id, verb)): Path<(String, String)>,
) -> Response {
    let Some(verb) = Verb::from_name(&verb) else {
        return site.refusal_page(&visitor, &Refusal::not_found("there is no such decision"));
    };
    let wanted = id.clone();
    let place = match site.read(move |engine| entry_of(engine, &wanted)).await {
        Ok(place) => place,
        Err(refusal) => return site.refusal_page(&visitor, &refusal),
    };
    let here = format!("/s/{}", in_address(&place.id));
    if verb == Verb::Stop {
        site.jobs.stop(&place.id);
        return see_other(&here);
    }
    let draft = fields.text("text").to_owned();
    // A comment is made where its lines are, and the reader stays there.
    let own_page = format!("{here}/");
    let back = fields.text("back");
    let is_here =
        back.starts_with(&own_page) && back.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let back = if is_here { back.to_owned() } else { here.clone() };
    let id = place.id.clone();
    let outcome = if verb == Verb::Check {
        let which = id.clone();
        let problems = site.read(move |engine| {
            let reply = fields.filled("text").ok_or_else(no_text)?;
            Ok(engine.reply_problems(Some(which.as_str()), &reply)?)
        });
        problems.await.and_then(|problems| Err(checked(&problems)))
    } else {
        let which = id.clone();
        jobs::run(&site, &id, move |engine| act(engine, &which, verb, &fields)).await
    };
    match outcome {
        Ok(Progress::Done(()) | Progress::UnderWay) => see_other(&back),
        Err(refusal) => {
            let status = refusal.status;
            show(&site, &visitor, &id, status, Some(&refusal), &draft).await
        }
    }
}

/// What a check of a pasted reply says; the reply itself stays in its field.
fn checked(problems: &[String]) -> Refusal {
    if problems.is_empty() {
        return Refusal::new(StatusCode::OK, "The reply can be parsed. It has not been submitted yet.", None);
    }
    let noun = if problems.len() == 1 { "problem" } else { "problems" };
    let message = format!("the reply has {} {noun}\n{}", problems.len(), problems.join("\n"));
    Refusal::new(
        StatusCode::OK,
        message,
        Some("fix the reply below, or submit it as it is with Respond".to_owned()),
    )
}

fn no_text() -> Refusal {
    Refusal::invalid("the text is empty", "fill in the text field next to the button")
}

pub(crate) fn moved(what: &str) -> Refusal {
    Refusal::new(
        StatusCode::CONFLICT,
        format!("{what} changed since this page was loaded; nothing was decided"),
        Some("the current version is below: review it, then decide".to_owned()),
    )
}

/// Performs a decision.
fn act(engine: &Engine, id: &str, verb: Verb, fields: &Fields) -> Result<(), Refusal> {
    let which = Some(id);
    let provider = fields.filled("provider");
    let gate = || {
        let seen = seen::from_field(fields.text("gate"));
        seen.ok_or_else(|| Refusal::invalid("the form does not name a gate", "open the page again"))
    };
    let deciding = || Ok::<_, Refusal>(engine.clone().deciding_on(gate()?));
    // For decisions about the whole session: the engine knows no gate for them.
    let unmoved = || {
        let gate = gate()?;
        if engine.seen_gate(which)?.is_same(&gate) { Ok(()) } else { Err(moved("the session")) }
    };
    let required = || fields.filled("text").ok_or_else(no_text);
    match verb {
        Verb::Apply => apply(engine, id, fields)?,
        Verb::AllowChecks => allow_checks(engine, id, fields)?,
        Verb::Comment => comment(engine, id, fields)?,
        Verb::Resolve => settle(engine, id, Resolution::Resolved, fields)?,
        Verb::Dismiss => settle(engine, id, Resolution::Dismissed, fields)?,
        Verb::Approve => {
            let options = ApproveOptions { note: fields.filled("text"), ..ApproveOptions::default() };
            deciding()?.approve(which, &options).map(drop)?;
        }
        Verb::Reject => {
            let has_comments = engine.session_report(which)?.open_comments > 0;
            let feedback = if has_comments { fields.filled("text").unwrap_or_default() } else { required()? };
            deciding()?.reject(which, &feedback).map(drop)?;
        }
        Verb::Revise => deciding()?.revise(which, fields.text("artifact"), &required()?).map(drop)?,
        Verb::Retry => deciding()?.retry(which, provider.as_deref()).map(drop)?,
        Verb::Respond => {
            let reply = required()?;
            deciding()?.respond_with(which, &reply, None, PromptApproval::Implied).map(drop)?;
        }
        Verb::Accept => deciding()?.accept(which).map(drop)?,
        Verb::Rebind => deciding()?.rebind(which).map(drop)?,
        Verb::RaiseCap => {
            let rounds = fields.text("value").parse::<u32>();
            let rounds = rounds
                .ok()
                .ok_or_else(|| Refusal::invalid("that is not a number of rounds", "open the page again"))?;
            deciding()?.raise_cap(which, rounds).map(drop)?;
        }
        Verb::Restore => {
            unmoved()?;
            engine.restore(which, fields.text("value"))?;
        }
        Verb::Continue => {
            unmoved()?;
            engine.run_session(which).map(drop)?;
        }
        Verb::Cancel => {
            unmoved()?;
            engine.cancel(which, fields.filled("text").as_deref()).map(drop)?;
        }
        Verb::Undo => {
            unmoved()?;
            engine.undo(which).map(drop)?;
        }
        Verb::Check | Verb::Stop => return Err(Refusal::not_found("there is no such decision")),
    }
    Ok(())
}

/// Adds a comment to the lines that were on the screen.
fn comment(engine: &Engine, id: &str, fields: &Fields) -> Result<(), Refusal> {
    let on = fields.text("on");
    let lines = match (fields.filled("from"), fields.filled("to")) {
        (None, _) => String::new(),
        (Some(from), None) => format!(":{from}"),
        (Some(from), Some(to)) if from == to => format!(":{from}"),
        (Some(from), Some(to)) => format!(":{from}-{to}"),
    };
    let text = fields.filled("text").ok_or_else(no_text)?;
    refuse_moved(engine, id, on, fields.text("hash"))?;
    engine.add_comment(Some(id), &CommentTarget::parse(&format!("{on}{lines}"))?, text.trim_end())?;
    Ok(())
}

/// Resolves or dismisses a comment.
fn settle(engine: &Engine, id: &str, how: Resolution, fields: &Fields) -> Result<(), Refusal> {
    let number = fields.text("number").parse::<u32>();
    let number = number.ok().ok_or_else(|| Refusal::invalid("that is no comment", "open the page again"))?;
    engine.resolve_comment(Some(id), number, how)?;
    Ok(())
}

/// Applies exactly what the dry run showed.
fn apply(engine: &Engine, id: &str, fields: &Fields) -> Result<(), Refusal> {
    let which = Some(id);
    let options = apply_options(fields);
    let planned = engine.apply(which, &options)?;
    if apply_hash(&planned) != fields.text("hash") {
        return Err(moved("the project or the code"));
    }
    engine.apply(which, &ApplyOptions { is_dry_run: false, ..options })?;
    Ok(())
}

/// Agrees to exactly the commands that were shown, and goes on.
fn allow_checks(engine: &Engine, id: &str, fields: &Fields) -> Result<(), Refusal> {
    let shown: Vec<&str> = fields.all("check").collect();
    let failed = |error: &dyn std::error::Error| Refusal::new(StatusCode::CONFLICT, error.to_string(), None);
    // Read once: what is compared is what is agreed to.
    let checks = engine.checks().map_err(|error| failed(&error))?;
    let waiting: Vec<_> = checks.into_iter().filter(|check| !check.may_run()).collect();
    if shown.is_empty() || waiting.iter().map(|check| check.sha256.as_str()).ne(shown) {
        return Err(moved("the checks"));
    }
    engine.agree_to_checks(&waiting).map_err(|error| failed(&error))?;
    engine.run_session(Some(id))?;
    Ok(())
}

/// Starts a session from the inbox's form.
pub(crate) async fn start(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Extension(Form(fields)): Extension<Form>,
) -> Response {
    let begun = site.read(move |engine| {
        let request = fields.filled("request").ok_or_else(no_text)?;
        let flow = fields.filled("flow").unwrap_or_else(|| "do".to_owned());
        let chosen = engine.choose_agent(fields.filled("provider").as_deref())?;
        let begun = engine.begin_flow(&NewRequest {
            flow,
            request,
            files: fields.text("files").split_whitespace().map(str::to_owned).collect(),
            provider: Some(chosen.provider),
            delivery: Delivery::default(),
            ..NewRequest::default()
        })?;
        Ok(begun.id)
    });
    match begun.await {
        Ok(id) => {
            site.changes.notify("");
            see_other(&format!("/s/{}", in_address(&id)))
        }
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}
