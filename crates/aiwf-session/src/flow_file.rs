//! Parses a flow file.
//!
//! In: the text of a `flow.toml` and the flow's name. Out: the flow, or every problem with its line. Missing keys get
//! their defaults here, so that the rest of the code sees complete phases.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::flow::{Access, Flow, Gives, PhaseRecipe, PhaseSpec, ReplyParser, Target};
use crate::flow_check::FlowProblem;
use crate::phase::{Phase, Role};
use crate::setup::{Approver, GateSetting};
use crate::verdict::Verdict;

const MAX_BYTES: usize = 256 * 1024;
/// Default cap for rounds after failing checks.
const DEFAULT_CHECK_ROUNDS: u32 = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowFile {
    title: Option<String>,
    #[serde(default)]
    gates: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    waits: bool,
    #[serde(default)]
    phase: Vec<Spanned<PhaseTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseTable {
    name: Spanned<Phase>,
    role: Spanned<Role>,
    recipe: Option<Spanned<PhaseRecipe>>,
    template: Option<Spanned<String>>,
    task: Option<Spanned<String>>,
    parser: Option<Spanned<ReplyParser>>,
    file: Option<Spanned<String>>,
    artifact: Option<Spanned<String>>,
    reads: Option<Spanned<Vec<Phase>>>,
    gives: Spanned<Gives>,
    access: Option<Spanned<Access>>,
    checks: Option<Spanned<bool>>,
    iterates: Option<Spanned<bool>>,
    next: Option<Spanned<Target>>,
    on: Option<Spanned<BTreeMap<Verdict, Target>>>,
    max_rounds: Option<Spanned<u32>>,
}

/// Parses and checks a flow file; every problem has a line.
///
/// `has_template` returns whether a template exists: a file next to the flow, or a system template of a phase.
pub fn parse_flow(
    name: &str,
    text: &str,
    has_template: &mut dyn FnMut(&str) -> bool,
) -> Result<Flow, Vec<FlowProblem>> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; at most {MAX_BYTES} are allowed", text.len());
        return Err(vec![problem(None, message, "move long texts into templates next to the file")]);
    }
    let file: FlowFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| line_of(text, span.start));
        vec![problem(
            line,
            error.message().replace('\n', " "),
            "fix this line; the book shows every key of a flow file",
        )]
    })?;
    let mut problems = Vec::new();
    let gates_offset = file.gates.values().next().map(|kind| kind.span().start);
    let gates = file
        .gates
        .into_iter()
        .filter_map(|(pattern, kind)| {
            let approver = approver(kind.get_ref());
            if approver.is_none() {
                let message = format!("gate `{pattern}` is `{}`", kind.get_ref());
                let line = Some(line_of(text, kind.span().start));
                problems.push(problem(line, message, "write `manual`, `skip` or `ai:PROVIDER`"));
            }
            approver.map(|approver| (pattern, GateSetting { approver, max_retries: 0, allow_rewrite: false }))
        })
        .collect();
    let title = file.title.unwrap_or_else(|| name.to_owned());
    let phases = file.phase.iter().map(|table| spec(table.get_ref())).collect();
    let flow = Flow { name: name.to_owned(), title, gates, waits: file.waits, phases };
    let missing = missing_templates(&flow, has_template);
    problems.extend(flow.problems().into_iter().chain(missing).map(|problem| {
        let table = problem.phase.and_then(|idx| file.phase.get(idx));
        let offset = table.map(|table| {
            problem.key.and_then(|key| table.get_ref().offset(key)).unwrap_or(table.span().start)
        });
        let gates = (problem.key == Some("gates")).then_some(gates_offset).flatten();
        FlowProblem { line: offset.or(gates).map(|offset| line_of(text, offset)), ..problem }
    }));
    if problems.is_empty() { Ok(flow) } else { Err(problems) }
}

/// Reports templates that phases name and that do not exist.
fn missing_templates(flow: &Flow, has_template: &mut dyn FnMut(&str) -> bool) -> Vec<FlowProblem> {
    let mut missing = Vec::new();
    for (idx, spec) in flow.phases.iter().enumerate() {
        let template = spec.template.as_deref().unwrap_or(spec.name.as_str());
        if spec.recipe == PhaseRecipe::Change && !has_template(template) {
            let key = if spec.template.is_some() { "template" } else { "name" };
            let message = format!("there is no template `{template}`");
            let hint = "put a file of that name next to the flow file and give its full name, as in `template = \"review.md\"`";
            missing.push(FlowProblem { phase: Some(idx), key: Some(key), ..problem(None, message, hint) });
        }
    }
    missing
}

fn spec(table: &PhaseTable) -> PhaseSpec {
    let name = *table.name.get_ref();
    let gives = *table.gives.get_ref();
    let text = |value: &Option<Spanned<String>>| value.as_ref().map(|value| value.get_ref().clone());
    let parser = match gives {
        Gives::Text => ReplyParser::Plain,
        Gives::Files => ReplyParser::FileMarkers,
        Gives::Edits => ReplyParser::Edits,
        Gives::Verdict => ReplyParser::VerdictTag,
    };
    let checks = table.checks.as_ref().is_some_and(|value| *value.get_ref());
    let max_rounds = table.max_rounds.as_ref().map(|value| *value.get_ref());
    PhaseSpec {
        name,
        role: *table.role.get_ref(),
        recipe: table.recipe.as_ref().map_or(PhaseRecipe::Change, |value| *value.get_ref()),
        template: text(&table.template),
        task: text(&table.task),
        parser: table.parser.as_ref().map_or(parser, |value| *value.get_ref()),
        file: text(&table.file).unwrap_or_else(|| name.as_str().to_owned()),
        artifact: text(&table.artifact).unwrap_or_else(|| name.as_str().to_owned()),
        reads: table.reads.as_ref().map(|value| value.get_ref().clone()).unwrap_or_default(),
        gives,
        access: table.access.as_ref().map(|value| *value.get_ref()).unwrap_or_default(),
        checks,
        iterates: table.iterates.as_ref().is_some_and(|value| *value.get_ref()),
        next: table.next.as_ref().map(|value| *value.get_ref()),
        on: table.on.as_ref().map(|value| value.get_ref().clone()).unwrap_or_default(),
        max_rounds: max_rounds.or(checks.then_some(DEFAULT_CHECK_ROUNDS)),
    }
}

impl PhaseTable {
    /// The position of a key's value in the file.
    fn offset(&self, key: &str) -> Option<usize> {
        let span = match key {
            "name" => Some(self.name.span()),
            "role" => Some(self.role.span()),
            "gives" => Some(self.gives.span()),
            "parser" => self.parser.as_ref().map(Spanned::span),
            "file" => self.file.as_ref().map(Spanned::span),
            "artifact" => self.artifact.as_ref().map(Spanned::span),
            "reads" => self.reads.as_ref().map(Spanned::span),
            "checks" => self.checks.as_ref().map(Spanned::span),
            "access" => self.access.as_ref().map(Spanned::span),
            "next" => self.next.as_ref().map(Spanned::span),
            "on" => self.on.as_ref().map(Spanned::span),
            "max_rounds" => self.max_rounds.as_ref().map(Spanned::span),
            "template" => self.template.as_ref().map(Spanned::span),
            _ => None,
        };
        span.map(|span| span.start)
    }
}

fn approver(kind: &str) -> Option<Approver> {
    match kind {
        "manual" => Some(Approver::Manual),
        "skip" => Some(Approver::Skip),
        _ => {
            kind.strip_prefix("ai:").filter(|name| !name.is_empty()).map(|name| Approver::Ai(name.to_owned()))
        }
    }
}

fn problem(line: Option<usize>, message: impl Into<String>, hint: &str) -> FlowProblem {
    FlowProblem { phase: None, key: None, line, message: message.into(), hint: hint.to_owned() }
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
