//! The project: profiles, flows, providers, tools with their pins, spending, and what `validate` finds.

use std::sync::Arc;

use aiwf_engine::{Consent, Engine, Validation};
use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;

use crate::advice_words;
use crate::fields::Fields;
use crate::guard::{Form, Visitor, see_other};
use crate::site::Site;
use crate::spending::{Spending, spending};
use crate::words::{Refusal, plural};

#[derive(Debug, Serialize)]
struct Project {
    profiles: Vec<Named>,
    flows: Vec<Named>,
    providers: Vec<Named>,
    findings: Vec<Found>,
    n_checked: usize,
    spending: Spending,
    n_summed: String,
    servers: Vec<Server>,
    shows_tools: bool,
    tool_problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Named {
    name: String,
    about: String,
    origin: String,
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct Found {
    what: String,
    name: String,
    message: String,
    advice: Option<String>,
    is_wrong: bool,
}

#[derive(Debug, Serialize)]
struct Server {
    name: String,
    command: String,
    problem: Option<String>,
    tools: Vec<Tool>,
}

#[derive(Debug, Serialize)]
struct Tool {
    name: String,
    description: String,
    pin: &'static str,
    changed: Option<String>,
    sha256: String,
}

pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    RawQuery(query): RawQuery,
) -> Response {
    let shows_tools = Fields::of_query(query.as_deref()).has("tools");
    match site.read(move |engine| project(engine, shows_tools)).await {
        Ok(view) => site.page(&visitor, "project.html", "Project", context! { view => Serde(&view) }),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}

fn project(engine: &Engine, shows_tools: bool) -> Result<Project, Refusal> {
    let profiles = engine.profiles().into_iter().map(|found| Named {
        origin: found.origin.as_str().to_owned(),
        about: found.profile.as_ref().map(|profile| profile.description().to_owned()).unwrap_or_default(),
        problem: found.profile.err().map(|fault| format!("{}: {}", fault.message, fault.hint)),
        name: found.name,
    });
    let flows = engine.flows()?.into_iter().map(|found| Named {
        origin: found.origin.as_str().to_owned(),
        about: found.flow.as_ref().map(phases).unwrap_or_default(),
        problem: found.flow.err().map(|problems| {
            problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; ")
        }),
        name: found.name,
    });
    let providers = engine.providers(None)?.into_iter().map(|report| Named {
        name: report.name,
        about: report.description.to_owned(),
        origin: report.model.or(report.version).unwrap_or_default(),
        problem: report.problem.map(|finding| with_advice(&finding)),
    });
    let validations: Vec<Validation> = [
        engine.validate_config(),
        engine.validate_flows(),
        engine.validate_profiles(),
        engine.validate_standards(),
    ]
    .concat();
    let (mut servers, mut tool_problems) = (Vec::new(), Vec::new());
    if shows_tools {
        let toolbox = engine.tools(Consent::Remembered, |_, _| ())?;
        tool_problems.extend(toolbox.problems().iter().cloned());
        servers = toolbox.list(None)?.into_iter().map(server).collect();
    }
    let spending = spending(engine)?;
    Ok(Project {
        profiles: profiles.collect(),
        flows: flows.collect(),
        providers: providers.collect(),
        n_checked: validations.len(),
        findings: validations.into_iter().flat_map(found).collect(),
        n_summed: plural(spending.n_summed as u64, "session"),
        spending,
        servers,
        shows_tools,
        tool_problems,
    })
}

fn phases(flow: &aiwf_engine::machine::Flow) -> String {
    flow.names().map(|phase| phase.to_string()).collect::<Vec<_>>().join(" → ")
}

fn with_advice(finding: &aiwf_engine::Finding) -> String {
    match &finding.advice {
        Some(advice) => format!("{}: {}", finding.message, advice_words::worded(advice)),
        None => finding.message.clone(),
    }
}

fn found(validation: Validation) -> Vec<Found> {
    let (what, name, passed) = (validation.what, validation.name, validation.passed);
    let found = |finding: aiwf_engine::Finding| Found {
        what: what.as_str().to_owned(),
        name: name.clone(),
        message: finding.message,
        advice: finding.advice.map(|advice| advice_words::worded(&advice)),
        is_wrong: !passed,
    };
    validation.findings.into_iter().map(found).collect()
}

fn server(listed: aiwf_engine::ServerTools) -> Server {
    Server {
        name: listed.name,
        command: listed.command,
        problem: listed.error.map(|error| error.to_string()),
        tools: listed
            .tools
            .into_iter()
            .map(|tool| Tool {
                description: tool.tool.description.clone().unwrap_or_default().chars().take(400).collect(),
                name: tool.full_name,
                pin: tool.pin,
                changed: tool.changed,
                sha256: tool.sha256,
            })
            .collect(),
    }
}

/// Pins exactly the definition that was shown.
pub(crate) async fn pin(
    State(site): State<Arc<Site>>,
    Extension(visitor): Extension<Visitor>,
    Extension(Form(fields)): Extension<Form>,
) -> Response {
    let pinned = site.read(move |engine| {
        let (name, shown) = (fields.text("tool"), fields.text("hash"));
        let toolbox = engine.tools(Consent::Remembered, |_, _| ())?;
        let listed = toolbox.list(Some(name))?;
        let is_same = listed.iter().flat_map(|server| &server.tools).any(|tool| tool.sha256 == shown);
        if !is_same {
            let hint = Some("review the tool again, then pin it".to_owned());
            return Err(Refusal::new(
                StatusCode::CONFLICT,
                "the tool changed since this page was loaded",
                hint,
            ));
        }
        toolbox.pin(Some(name))?;
        Ok(())
    });
    match pinned.await {
        Ok(()) => see_other("/project?tools=1#tools"),
        Err(refusal) => site.refusal_page(&visitor, &refusal),
    }
}
