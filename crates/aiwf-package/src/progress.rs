//! Moves a run forward and back, as functions of its state file.
//!
//! `complete_node` does what a model could do by hand with a patch, checked as a whole: the node is the current one,
//! its outputs exist, the edge exists, the decision is logged. `rewind` goes back. Both results pass the guard or the
//! same schema.

use std::collections::BTreeMap;

use aiwf_reply::edit_front_matter;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::graph::{Edge, Graph, Node, NodeType, allowed_next};
use crate::guard::{Accepted, Conditions, REWIND, StateWarning, guard, listed};
use crate::rejected::{RejectCode, Rejected};
use crate::schema::short;
use crate::state::{COMPLETE, State, WORKFLOW_STATUS};

/// The arguments of `workflow.complete_node`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CompleteNode {
    /// The completed node, which must be the current one.
    pub node_id: String,
    /// The next node; not needed if there is only one edge.
    #[serde(default)]
    pub to: Option<String>,
    /// The label of the edge to take.
    #[serde(default)]
    pub label: Option<String>,
    #[serde(default)]
    pub reason: Option<String>,
    #[serde(default)]
    pub variables: Map<String, Value>,
    /// Files that were created, relative to the project.
    #[serde(default)]
    pub artifacts: Vec<String>,
}

/// A new text of the state file that passed the guard.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    pub text: String,
    pub accepted: Accepted,
}

/// Completes the current node and moves on.
///
/// `exists` tells whether a file relative to the project exists; `now` is the time as RFC 3339.
pub fn complete_node(
    graph: &Graph,
    before: &str,
    call: &CompleteNode,
    exists: &dyn Fn(&str) -> bool,
    now: &str,
    conditions: Conditions,
) -> Result<Moved, Rejected> {
    let state = State::parse(before)?;
    let current = graph.effective_node_id(state.current_node_id()).to_owned();
    let refuse = |message: String, details: Value| {
        Err(Rejected::new(RejectCode::InvalidTransition, message).with_details(details))
    };
    if call.node_id.trim() != current {
        let message = format!("node `{}` is not the current one, which is `{current}`", short(&call.node_id));
        return refuse(message, json!({ "currentNodeId": current }));
    }
    let Some(node) = graph.node(&current) else {
        return refuse(format!("current node `{}` is not in the graph", short(&current)), json!({}));
    };
    let edge = chosen_edge(graph, node, call)?;
    let mut variables = state.variables();
    variables.extend(call.variables.clone());
    let (missing, open) = missing_outputs(node, &variables, exists);
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(String::as_str).collect();
        let message = format!("node `{current}` must produce {} first", listed(&names));
        return refuse(message, json!({ "missingOutputs": missing }));
    }
    if edge.is_none() && node.node_type == NodeType::End {
        variables.insert(WORKFLOW_STATUS.to_owned(), COMPLETE.into());
    }
    let is_decision = node.node_type == NodeType::Decision || graph.edges_from(&current).count() > 1;
    let text = edit_front_matter(before, |_| {
        let mut changes = Map::new();
        let mut steps = state.steps_completed();
        if !steps.contains(&current.as_str()) {
            steps.push(&current);
        }
        changes.insert("stepsCompleted".to_owned(), json!(steps));
        let next = edge.as_ref().map_or(current.as_str(), |edge| edge.to.as_str());
        changes.insert("currentNodeId".to_owned(), json!(next));
        if !variables.is_empty() {
            changes.insert("variables".to_owned(), Value::Object(variables.clone()));
        }
        if let Some(edge) = edge.as_ref().filter(|_| is_decision) {
            let mut log = state.decision_log().to_vec();
            log.push(decision(&edge.from, &edge.to, &edge.label, call.reason.as_deref(), now));
            changes.insert("decisionLog".to_owned(), log.into());
        }
        let mut artifacts = state.artifacts();
        for artifact in &call.artifacts {
            if !artifacts.contains(&artifact.as_str()) {
                artifacts.push(artifact);
            }
        }
        changes.insert("artifacts".to_owned(), json!(artifacts));
        changes.insert("updatedAt".to_owned(), json!(now));
        changes
    })?;
    let mut accepted = guard(graph, before, &text, None, conditions)?;
    for path in open {
        let message = format!("output `{}` was not checked: its variable is not set", short(&path));
        accepted.warnings.push(StateWarning { code: "output-not-checked", message });
    }
    Ok(Moved { text, accepted })
}

fn decision(from: &str, to: &str, label: &str, reason: Option<&str>, now: &str) -> Value {
    let mut entry = json!({ "from": from, "to": to, "label": label, "decidedAt": now });
    if let (Some(reason), Some(entry)) = (reason, entry.as_object_mut()) {
        entry.insert("reason".to_owned(), reason.into());
    }
    entry
}

/// The edge that a call selects; `None` if the node has no edges.
fn chosen_edge(graph: &Graph, node: &Node, call: &CompleteNode) -> Result<Option<Edge>, Rejected> {
    let wanted = |value: &Option<String>| {
        value.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let (to, label) = (wanted(&call.to), wanted(&call.label));
    let edges: Vec<&Edge> = graph.edges_from(&node.id).collect();
    if edges.is_empty() && to.is_none() && label.is_none() {
        return Ok(None);
    }
    let fitting: Vec<&&Edge> = edges
        .iter()
        .filter(|edge| to.as_deref().is_none_or(|to| edge.to == to))
        .filter(|edge| label.as_deref().is_none_or(|label| edge.label == label))
        .collect();
    let message = match fitting.as_slice() {
        [edge] => return Ok(Some((**edge).clone())),
        [] => format!(
            "{} → {} is not allowed: the graph has no such edge",
            node.id,
            short(&to.or(label).unwrap_or_default())
        ),
        _ => format!("node `{}` has {} matching edges: set `to` or `label`", node.id, fitting.len()),
    };
    let details = json!({ "from": node.id, "to": call.to, "allowedNext": allowed_next(graph, &node.id) });
    Err(Rejected::new(RejectCode::InvalidTransition, message).with_details(details))
}

/// The missing outputs, and those whose names contain unset variables.
fn missing_outputs(
    node: &Node,
    variables: &Map<String, Value>,
    exists: &dyn Fn(&str) -> bool,
) -> (Vec<String>, Vec<String>) {
    let (mut missing, mut open) = (Vec::new(), Vec::new());
    for output in &node.outputs {
        match resolve_placeholders(output, variables) {
            Some(path) if exists(&path) => {}
            Some(path) => missing.push(path),
            None => open.push(output.clone()),
        }
    }
    (missing, open)
}

/// A path with its `<placeholders>` filled in from variables; `None` if one of them is not set.
pub(crate) fn resolve_placeholders(path: &str, variables: &Map<String, Value>) -> Option<String> {
    let mut resolved = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('<') {
        let Some((name, after)) = after.split_once('>') else { break };
        resolved.push_str(before);
        match variables.get(name.trim())? {
            Value::String(text) if !text.is_empty() => resolved.push_str(text),
            Value::Number(number) => resolved.push_str(&number.to_string()),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                return None;
            }
        }
        rest = after;
    }
    resolved.push_str(rest);
    Some(resolved)
}

/// Goes back to a node: it and the nodes completed after it are open again; artifacts, variables and the log stay.
///
/// A completed run is no longer complete. The log gets an entry with the label `rewind`.
pub fn rewind(
    graph: &Graph,
    before: &str,
    to: &str,
    reason: Option<&str>,
    now: &str,
) -> Result<String, Rejected> {
    let state = State::parse(before)?;
    let current = graph.effective_node_id(state.current_node_id()).to_owned();
    let steps = state.steps_completed();
    let position = steps.iter().position(|step| *step == to);
    if graph.node(to).is_none() || (position.is_none() && to != current) {
        let mut reached: Vec<&str> = steps.clone();
        if !reached.contains(&current.as_str()) {
            reached.push(&current);
        }
        let message =
            format!("the run never reached `{}`: it can go back to {}", short(to), listed(&reached));
        return Err(
            Rejected::new(RejectCode::InvalidTransition, message).with_details(json!({ "reached": reached }))
        );
    }
    let kept: Vec<&str> = steps.iter().take(position.unwrap_or(steps.len())).copied().collect();
    let text = edit_front_matter(before, |_| {
        let mut changes = BTreeMap::new();
        changes.insert("stepsCompleted", json!(kept));
        changes.insert("currentNodeId", json!(to));
        let mut variables = state.variables();
        if variables.get(WORKFLOW_STATUS).is_some_and(|status| status == COMPLETE) {
            variables.shift_remove(WORKFLOW_STATUS);
            changes.insert("variables", Value::Object(variables));
        }
        let mut log = state.decision_log().to_vec();
        log.push(decision(&current, to, REWIND, reason, now));
        changes.insert("decisionLog", log.into());
        changes.insert("updatedAt", json!(now));
        changes.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    })?;
    State::parse(&text)?;
    Ok(text)
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
