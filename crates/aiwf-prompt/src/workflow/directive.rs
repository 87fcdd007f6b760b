//! The run directive: why the model is asked, where state and graph are, and the steps to follow.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::redact::{Roots, alias_roots, redact_paths};
use super::{Intent, Mode, WorkflowRequest, single_line};
use crate::capability::Capability;
use crate::error::PromptError;
use crate::section::{LeftOutSource, Problem, Section, Source, WhyLeftOut};

pub(super) fn sections(request: &WorkflowRequest, _: Capability) -> Result<Vec<Section>, PromptError> {
    if request.mode != Mode::Run {
        return Ok(Vec::new());
    }
    let workflow = request.required_text(request.workflow_id.as_deref(), "workflowId")?;
    let graph = request.required_text(request.graph_path.as_deref(), "graphRelPath")?;
    let intent = request.intent.unwrap_or(if request.steps_completed.is_empty() && !request.is_completed {
        Intent::Start
    } else {
        Intent::Continue
    });
    let agent = request
        .effective_agent_id
        .as_deref()
        .filter(|id| !id.trim().is_empty())
        .or(request.active_agent_id.as_deref().filter(|id| !id.trim().is_empty()))
        .unwrap_or(&request.agent.id);
    let mut text = format!(
        "RUN_DIRECTIVE\n- runType: bmad-micro\n- intent: {}\n- workflow: {}\n- state: @state/workflow.md\n\
         - graph: {}\n- artifactsRoot: @project/artifacts/",
        intent.as_str(),
        single_line(workflow),
        in_package(graph, &request.roots),
    );
    if request.has_active_step() {
        let _ = write!(text, "\n- currentNodeId: {}", single_line(&request.active_node()?.node_id));
    }
    let _ =
        write!(text, "\n- effectiveAgentId: {}\n- autopilot: {}", single_line(agent), request.is_autopilot);
    text.push_str("\n\n");
    text.push_str(if request.is_completed { POST_RUN } else { ACTIVE });
    let (summary, problems) = state_summary(request);
    if let Some(summary) = summary {
        text.push_str("\n\n");
        text.push_str(&summary);
    }
    let source = Source::Engine("run directive".to_owned());
    Ok(vec![Section { problems, ..Section::new("run-directive", "Run Directive", source, text) }])
}

/// A path inside the package, below its mount. A path that turns out to be below another mount stays there.
pub(super) fn in_package(path: &str, roots: &Roots) -> String {
    let aliased = alias_roots(path.trim(), roots);
    if ["@project", "@state", "~"].iter().any(|alias| aliased.starts_with(alias)) {
        return single_line(&aliased);
    }
    let inside = aliased.trim_start_matches("@pkg").trim_start_matches(['/', '\\']).trim_start_matches("./");
    format!("@pkg/{}", single_line(inside.trim_start_matches('/')))
}

const ACTIVE: &str = "\
Protocol:
1. Read the state file.
2. Read the graph, then open the step file of the current node.
3. Do what the step file says.
4. If you need answers from the user, ask for them and wait; leave the state as it is.
5. Only then write the artifacts and finish the node: `workflow.complete_node` updates the state file.";

const POST_RUN: &str = "\
Protocol (post-run):
1. The workflow is complete; assume no active step.
2. Carry on as in an ordinary conversation.
3. The tools of the policy can still be used.
4. Changing @state/workflow.md needs the user's confirmation first.
5. If such a change makes the workflow incomplete, the ordinary protocol holds from the next turn on.";

/// The variables and artifacts of the run, with warnings about shortened ones; empty for a new run.
fn state_summary(request: &WorkflowRequest) -> (Option<String>, Vec<Problem>) {
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    if !request.variables.is_empty() {
        let (line, shortened) = variables_line(&request.variables, &request.roots);
        lines.push(format!("- variables: {line}"));
        problems = shortened;
    }
    // Node ids would invite the model to continue a completed run.
    if !request.steps_completed.is_empty() && !request.is_completed {
        let steps: Vec<String> = request.steps_completed.iter().map(|step| single_line(step)).collect();
        lines.push(format!("- stepsCompleted: {}", steps.join(", ")));
    }
    if !request.artifacts.is_empty() {
        let shown = |path: &String| {
            let aliased = alias_roots(path, &request.roots);
            single_line(&redact_paths(&aliased))
        };
        let artifacts: Vec<String> = request.artifacts.iter().map(shown).collect();
        lines.push(format!("- artifacts: {}", artifacts.join(", ")));
    }
    ((!lines.is_empty()).then(|| format!("STATE_SUMMARY\n{}", lines.join("\n"))), problems)
}

/// Maximum number of characters of one variable text.
const MAX_VALUE_CHARS: usize = 400;
/// Maximum number of bytes of all variables together.
const MAX_SUMMARY_BYTES: usize = 4_000;

/// The variables as JSON on one line, still valid JSON after paths are hidden and long texts are cut; and what was cut.
fn variables_line(variables: &Map<String, Value>, roots: &Roots) -> (String, Vec<Problem>) {
    let mut shown = Map::new();
    let mut problems = Vec::new();
    let mut n_bytes = 2;
    let mut is_full = false;
    for (position, (name, value)) in hidden_names(variables, roots).into_iter().enumerate() {
        let whole = hidden(value, roots);
        let value = shortened(&whole);
        n_bytes += name.len() + value.to_string().len() + 6;
        if n_bytes > MAX_SUMMARY_BYTES && !is_full {
            is_full = true;
            let left_out = variables.len() - position;
            shown.insert("…".to_owned(), Value::from(format!("{left_out} more in the state file")));
        }
        if is_full {
            let message = format!("the state summary is limited to {MAX_SUMMARY_BYTES} bytes of variables");
            problems.push(cut_variable(&name, text_bytes(&whole), message));
            continue;
        }
        let n_cut = text_bytes(&whole).saturating_sub(text_bytes(&value));
        if n_cut > 0 {
            let message =
                format!("the state summary is limited to {MAX_VALUE_CHARS} characters per variable");
            problems.push(cut_variable(&name, n_cut, message));
        }
        shown.insert(name, value);
    }
    // JSON allows these line ends inside strings; here they would end the line.
    let json = Value::Object(shown).to_string();
    let line =
        json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    (line, problems)
}

fn cut_variable(name: &str, n_bytes: usize, message: String) -> Problem {
    let left_out = LeftOutSource { why: WhyLeftOut::SizeCap, bytes: Some(n_bytes as u64) };
    Problem { source: Source::Input(format!("variables.{name}")), message, left_out: Some(left_out) }
}

/// The size of a value as shown, without the quotes of a string.
fn text_bytes(value: &Value) -> usize {
    value.as_str().map_or_else(|| value.to_string().len(), str::len)
}

/// The entries of a map without real paths in their keys; equal keys are numbered.
fn hidden_names<'v>(map: &'v Map<String, Value>, roots: &Roots) -> Vec<(String, &'v Value)> {
    let mut n_seen: BTreeMap<String, u64> = BTreeMap::new();
    let mut entries = Vec::with_capacity(map.len());
    for (name, value) in map {
        let hidden = hide(name, roots);
        let n = n_seen.entry(hidden.clone()).and_modify(|n| *n += 1).or_insert(1);
        let name = if *n == 1 { hidden } else { format!("{hidden} ({n})") };
        entries.push((name, value));
    }
    entries
}

/// A value without real paths, at any depth.
pub(super) fn hidden(value: &Value, roots: &Roots) -> Value {
    match value {
        Value::String(text) => Value::from(hide(text, roots)),
        Value::Array(items) => items.iter().map(|item| hidden(item, roots)).collect(),
        Value::Object(map) => {
            hidden_names(map, roots).into_iter().map(|(name, value)| (name, hidden(value, roots))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(cut(text)),
        Value::Array(_) | Value::Object(_) => {
            let json = value.to_string();
            if json.chars().count() > MAX_VALUE_CHARS { Value::from(cut(&json)) } else { value.clone() }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn hide(text: &str, roots: &Roots) -> String {
    redact_paths(&alias_roots(text, roots)).into_owned()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
