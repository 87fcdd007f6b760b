//! A run of a package: its graph, the conversation, and what the model asks as a form.

use std::sync::Arc;

use aiwf_engine::package::NodeStatus;
use aiwf_engine::{Engine, MenuChoice, NewRun, Run, RunEntry, RunPhase, SessionPlace};
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::fields::Fields;
use crate::guard::{Form, Visitor, see_other};
use crate::jobs::{self, LiveLog, Progress};
use crate::markdown;
use crate::session_view::entry_of;
use crate::site::Site;
use crate::words::{Refusal, dollars, in_address, minute, run_words, thousands, visible};

/// Entries of the conversation that are shown, the newest.
const MAX_ENTRIES: usize = 200;
/// The longest entry that is shown.
const MAX_TEXT: usize = 40_000;

#[derive(Debug, Serialize)]
struct Said {
    seq: u64,
    at: String,
    what: &'static str,
    who: Option<String>,
    html: Option<String>,
    text: Option<String>,
    is_cut: bool,
}

#[derive(Debug, Serialize)]
struct Node {
    id: String,
    title: String,
    kind: &'static str,
    status: &'static str,
    words: &'static str,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact that the template shows")]
struct RunPage {
    id: String,
    base: String,
    title: String,
    status: &'static str,
    status_key: &'static str,
    provider: String,
    node: Option<String>,
    agent: Option<String>,
    cost: Option<String>,
    tokens: Option<String>,
    n_calls: u64,
    n_tool_calls: u64,
    position: u64,
    nodes: Vec<Node>,
    /// The graph as SVG, made by the engine with every name in it escaped.
    picture: Option<String>,
    entries: Vec<Said>,
    n_earlier: usize,
    question: Option<Question>,
    menu: Vec<Entry>,
    error: Option<String>,
    warnings: Vec<String>,
    artifacts: Vec<String>,
    can_say: bool,
    can_resume: bool,
    is_busy: bool,
    is_own_job: bool,
    live: Option<LiveLog>,
    failure: Option<Refusal>,
}

/// An item of the agent's menu.
#[derive(Debug, Serialize)]
struct Entry {
    number: usize,
    description: String,
    triggers: String,
}

/// What the model asks, as a form.
#[derive(Debug, Serialize)]
struct Question {
    kind: String,
    message: String,
    plan: Option<String>,
    is_multi: bool,
    choices: Vec<Choice>,
    fields: Vec<Field>,
    /// The question itself, which the answer names.
    raw: String,
}

#[derive(Debug, Serialize)]
struct Choice {
    value: String,
    label: String,
    description: Option<String>,
}

#[derive(Debug, Serialize)]
struct Field {
    name: String,
    title: String,
    /// `text`, `number`, `yes-no` or `one-of`.
    kind: &'static str,
    options: Vec<String>,
    is_required: bool,
    default: String,
}

pub(crate) async fn show(
    site: &Arc<Site>,
    visitor: &Visitor,
    place: &SessionPlace,
    status: StatusCode,
    refusal: Option<&Refusal>,
) -> Response {
    let (live, failure) = (site.jobs.live(&place.id), site.jobs.failure(&place.id));
    let id = place.id.clone();
    match site.read(move |engine| read(engine, &id, live, failure)).await {
        Ok(run) => {
            let title = run.title.clone();
            site.page_with(
                status,
                visitor,
                "run.html",
                &title,
                context! { run => Serde(&run), refusal => Serde(refusal) },
            )
        }
        Err(refusal) => site.refusal_page(visitor, &refusal),
    }
}

fn read(
    engine: &Engine,
    id: &str,
    live: Option<LiveLog>,
    failure: Option<Refusal>,
) -> Result<RunPage, Refusal> {
    let position = engine.journal_bytes(id).unwrap_or_default();
    let shown = engine.run_history(id)?;
    let status = &shown.status;
    let report = &status.report;
    let is_own_job = live.is_some();
    let named = [report.package.as_deref(), report.workflow.as_deref().or(report.agent.as_deref())];
    let title = named.into_iter().flatten().collect::<Vec<_>>().join("/");
    let n_earlier = shown.entries.len().saturating_sub(MAX_ENTRIES);
    let is_busy = status.is_busy || is_own_job;
    let is_open = report.phase != RunPhase::Cancelled && !is_busy;
    let node = |node: &aiwf_engine::NodeProgress| {
        let (status, words) = match node.status {
            NodeStatus::Completed => ("done", "done"),
            NodeStatus::Current => ("current", "current"),
            NodeStatus::Pending => ("open", "not reached yet"),
        };
        Node { id: node.id.clone(), title: node.title.clone(), kind: node.node_type.as_str(), status, words }
    };
    Ok(RunPage {
        base: format!("/s/{}", in_address(id)),
        title: if title.is_empty() { id.to_owned() } else { title },
        id: id.to_owned(),
        status: run_words(report.phase),
        status_key: run_key(report.phase),
        provider: status.provider.clone(),
        node: report.node.clone(),
        agent: report.agent.clone(),
        cost: report.usage.cost.map(|cost| dollars(cost.as_f64())),
        tokens: report.usage.input_tokens.map(|sent| {
            format!(
                "{} → {} tokens",
                thousands(sent),
                thousands(report.usage.output_tokens.unwrap_or_default())
            )
        }),
        n_calls: status.n_calls,
        n_tool_calls: status.n_tool_calls,
        position,
        nodes: status.nodes.iter().map(node).collect(),
        picture: status.picture.as_deref().map(|picture| visible(picture).into_owned()),
        entries: shown.entries.iter().skip(n_earlier).map(said).collect(),
        n_earlier,
        question: report.question.as_ref().filter(|_| is_open).map(question),
        menu: status
            .menu
            .iter()
            .map(|entry| Entry {
                number: entry.number,
                description: entry.description.clone(),
                triggers: entry.triggers.join(", "),
            })
            .collect(),
        error: report.error.as_ref().map(|fault| fault.message.clone()),
        warnings: report.warnings.clone(),
        artifacts: status.artifacts.clone(),
        can_say: is_open,
        can_resume: is_open && (status.interrupted || report.error.is_some()),
        is_busy,
        is_own_job,
        live,
        failure,
    })
}

/// The class of the badge of a phase.
fn run_key(phase: RunPhase) -> &'static str {
    match phase {
        RunPhase::Running => "running",
        RunPhase::WaitingUser => "waiting",
        RunPhase::Completed => "complete",
        RunPhase::Failed => "failed",
        RunPhase::Cancelled => "cancelled",
    }
}

fn said(entry: &RunEntry) -> Said {
    let text = match entry.text.char_indices().find(|(at, _)| *at >= MAX_TEXT) {
        Some((end, _)) => entry.text.get(..end).unwrap_or_default(),
        None => &entry.text,
    };
    let is_prose = matches!(entry.what, "assistant" | "user");
    let text = if entry.what == "stopped" {
        text.replace("waiting-user", "waiting for you")
    } else {
        text.to_owned()
    };
    let text = text.as_str();
    let html = || markdown::blocks(text).into_iter().map(|block| block.html).collect();
    Said {
        seq: entry.seq,
        at: minute(&entry.at),
        what: entry.what,
        who: entry.who.clone(),
        html: is_prose.then(html),
        text: (!is_prose).then(|| text.to_owned()),
        is_cut: text.len() < entry.text.len(),
    }
}

fn question(asked: &Value) -> Question {
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |key: &str| asked.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let choice = |value: &Value, key: &str| Choice {
        value: text(value, key),
        label: text(value, "label"),
        description: value.get("description").and_then(Value::as_str).map(str::to_owned),
    };
    let mut choices: Vec<Choice> = list("options").iter().map(|option| choice(option, "value")).collect();
    choices.extend(list("actions").iter().map(|action| choice(action, "id")));
    let mut fields = form_fields(asked.get("schema"));
    fields.extend(list("items").iter().map(|item| Field {
        name: text(item, "id"),
        title: text(item, "content"),
        kind: "text",
        options: Vec::new(),
        is_required: false,
        default: String::new(),
    }));
    Question {
        kind: text(asked, "type"),
        message: text(asked, "message"),
        plan: asked
            .get("planContent")
            .and_then(Value::as_str)
            .map(|plan| markdown::blocks(plan).into_iter().map(|block| block.html).collect()),
        is_multi: asked.get("multi").and_then(Value::as_bool).unwrap_or_default(),
        choices,
        fields,
        raw: asked.to_string(),
    }
}

/// The fields of a form's schema, in its order.
fn form_fields(schema: Option<&Value>) -> Vec<Field> {
    let required: Vec<&str> = schema
        .and_then(|schema| schema.get("required")?.as_array())
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    let field = |(name, schema): (&String, &Value)| {
        let options: Vec<String> =
            schema.get("enum").and_then(Value::as_array).into_iter().flatten().map(shown).collect();
        let kind = match schema.get("type").and_then(Value::as_str) {
            _ if !options.is_empty() => "one-of",
            Some("integer" | "number") => "number",
            Some("boolean") => "yes-no",
            _ => "text",
        };
        Field {
            title: schema.get("title").and_then(Value::as_str).unwrap_or(name).to_owned(),
            name: name.clone(),
            kind,
            options,
            is_required: required.contains(&name.as_str()),
            default: schema.get("default").map(shown).unwrap_or_default(),
        }
    };
    properties.into_iter().flatten().map(field).collect()
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What the user says in a run: words, or the answer to a question.
pub(crate) async fn say(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Extension(Form(fields)): Extension<Form>,
    Path(id): Path<String>,
) -> Response {
    let wanted = id.clone();
    let place = match site.read(move |engine| entry_of(engine, &wanted)).await {
        Ok(place) => place,
        Err(refusal) => return site.refusal_page(&visitor, &refusal),
    };
    let here = format!("/s/{}", in_address(&place.id));
    let which = place.id.clone();
    let done = jobs::run(&site, &place.id, move |engine| {
        if engine.journal_bytes(&which) != fields.text("position").parse().ok() {
            let hint = "the current version is below: read it, then answer".to_owned();
            let message = "the run continued since this page was loaded; nothing was done";
            return Err(Refusal::new(StatusCode::CONFLICT, message, Some(hint)));
        }
        if fields.text("do") == "cancel" {
            engine.cancel_run(&which, fields.filled("text").as_deref())?;
            return Ok(None);
        }
        let mut run = engine.open_run(&which, None)?;
        if fields.text("do") == "resume" {
            run.resume(fields.filled("text").as_deref())?;
            return Ok(None);
        }
        if fields.has("item") {
            return choose(engine, run, &fields);
        }
        let empty = || Refusal::invalid("the text is empty", "fill in the text field next to the button");
        let text = if fields.has("question") { answer(&fields) } else { fields.filled("text") };
        run.say(&text.ok_or_else(empty)?)?;
        Ok(None)
    });
    match done.await {
        Ok(Progress::Done(Some(other))) => see_other(&format!("/s/{}", in_address(&other))),
        Ok(Progress::Done(None) | Progress::UnderWay) => see_other(&here),
        Err(refusal) => {
            let status = refusal.status;
            show(&site, &visitor, &place, status, Some(&refusal)).await
        }
    }
}

/// Does what an item of the agent's menu says; gives the run that it leads to, if that is another one.
fn choose(engine: &Engine, mut run: Run<'_>, fields: &Fields) -> Result<Option<String>, Refusal> {
    let unknown = || Refusal::invalid("that is no item of the menu", "open the page again");
    let number = fields.number("item").ok_or_else(unknown)?;
    let line = match fields.filled("text") {
        Some(details) => format!("{number}\n\n{details}"),
        None => number.to_string(),
    };
    let (package, agent) = run.package().zip(run.agent()).ok_or_else(unknown)?;
    let chosen = engine
        .choose_in_menu(package, agent, &line, true)
        .map_err(|error| Refusal::new(StatusCode::CONFLICT, error.to_string(), Some(error.hint())))?;
    match chosen {
        MenuChoice::Say { text, data: Some(data) } => drop(run.say_with_data(&text, data)?),
        MenuChoice::Say { text, data: None } => drop(run.say(&text)?),
        MenuChoice::StartWorkflow { workflow, input, data } => {
            let agent = agent.id.clone();
            let path = run.package_path().ok_or_else(unknown)?;
            let new = NewRun {
                package: &path,
                workflow: Some(&workflow),
                agent: Some(&agent),
                provider: None,
                is_autopilot: false,
            };
            drop(run);
            let mut started = engine.start_run(&new)?;
            match data {
                Some(data) => started.start_with_data(input.as_deref(), data)?,
                None => started.start(input.as_deref())?,
            };
            return Ok(Some(started.id().to_owned()));
        }
        MenuChoice::ResumeRun => {
            let name = run.report().package;
            let is_other = |other: &aiwf_engine::RunSummary| {
                other.package == name && other.problem.is_none() && other.phase != RunPhase::Cancelled
            };
            let newest =
                engine.runs()?.into_iter().filter(is_other).max_by(|a, b| a.updated_at.cmp(&b.updated_at));
            return Ok(newest.map(|run| run.run_id));
        }
        // The menu is on the page, and so is what the user leaves for.
        MenuChoice::ShowMenu | MenuChoice::Dismiss => {}
        MenuChoice::Clarify(_) => return Err(unknown()),
    }
    Ok(None)
}

/// The answer to a question, as the model expects it.
fn answer(fields: &Fields) -> Option<String> {
    let asked: Value = serde_json::from_str(fields.text("question")).ok()?;
    let kind = asked.get("type").and_then(Value::as_str)?;
    let choices = || fields.all("choice").map(Value::from).collect::<Vec<_>>();
    let value = match kind {
        "selection" => Value::Array(choices()),
        "action_selection" => choices().into_iter().next()?,
        "confirmation" => json!({ "confirmed": fields.text("confirmed") == "yes" }),
        "plan_review" if fields.text("decision") == "approve" => json!({ "decision": "approve" }),
        "plan_review" => {
            json!({ "decision": "request_changes", "feedback": fields.text("text").replace("\r\n", "\n") })
        }
        "form" => {
            let of_form = form_fields(asked.get("schema"));
            let value = |field: &Field| {
                let given = fields.filled(&format!("f.{}", field.name))?;
                let value = match field.kind {
                    "number" => serde_json::from_str(given.trim()).unwrap_or(Value::from(given)),
                    "yes-no" => Value::from(given == "yes"),
                    _ => Value::from(given),
                };
                Some((field.name.clone(), value))
            };
            Value::Object(of_form.iter().filter_map(value).collect())
        }
        "feedback" => {
            let texts = fields.iter().filter_map(|(name, text)| {
                let text = text.replace("\r\n", "\n");
                Some((name.strip_prefix("f.")?.to_owned(), Value::from(text)))
            });
            Value::Object(texts.collect::<Map<_, _>>())
        }
        _ => return fields.filled("text"),
    };
    let submit = json!({ "widgetId": asked.get("widgetId"), "type": kind, "value": value });
    Some(format!("WIDGET_SUBMIT\n{submit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &Value, given: &[(&str, &str)], expected: &Value) {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("question", &asked.to_string());
        form.extend_pairs(given);
        let said = answer(&Fields::parse(form.finish().as_bytes())).unwrap();
        let (head, submit) = said.split_once('\n').unwrap();
        assert_eq!(head, "WIDGET_SUBMIT");
        assert_eq!(serde_json::from_str::<Value>(submit).unwrap()["value"], *expected, "{asked}");
    }

    #[test]
    fn answers_have_the_shape_that_the_question_wants() {
        let asked = |kind: &str| json!({ "widgetId": "w", "type": kind, "message": "?" });
        check(&asked("selection"), &[("choice", "a"), ("choice", "b")], &json!(["a", "b"]));
        check(&asked("action_selection"), &[("choice", "go")], &json!("go"));
        check(&asked("confirmation"), &[("confirmed", "yes")], &json!({ "confirmed": true }));
        check(&asked("confirmation"), &[("confirmed", "no")], &json!({ "confirmed": false }));
        check(&asked("plan_review"), &[("decision", "approve")], &json!({ "decision": "approve" }));
        let changes = json!({ "decision": "request_changes", "feedback": "no" });
        check(&asked("plan_review"), &[("decision", "change"), ("text", "no")], &changes);
        check(&asked("feedback"), &[("f.one", "fine")], &json!({ "one": "fine" }));
        let mut form = asked("form");
        form["schema"] = json!({ "properties": { "n": { "type": "integer" }, "is": { "type": "boolean" }, "s": { "enum": ["a"] } } });
        check(
            &form,
            &[("f.n", "3"), ("f.is", "yes"), ("f.s", "a")],
            &json!({ "n": 3, "is": true, "s": "a" }),
        );
    }

    #[test]
    fn a_question_is_a_form() {
        let asked = json!({
            "widgetId": "w", "type": "form", "message": "Which?",
            "schema": { "required": ["name"], "properties": { "name": { "title": "Name", "default": "x" } } },
        });
        let question = question(&asked);
        assert_eq!((question.kind.as_str(), question.message.as_str()), ("form", "Which?"));
        let field = &question.fields[0];
        assert_eq!(
            (field.title.as_str(), field.kind, field.is_required, field.default.as_str()),
            ("Name", "text", true, "x")
        );
    }
}
