//! The guard of the state file: every write is checked here before anything changes.
//!
//! In: the graph, the old file, the new file. Out: what the write does, or why it is refused. Pure: equal texts give
//! equal results. The order of checks is fixed: hash, front matter, schema, transition, no regress, conditions.

use aiwf_store::sha256_hex;
use serde_json::{Value, json};

use crate::condition;
use crate::graph::{Edge, Graph, NodeType, allowed_next};
use crate::rejected::{RejectCode, Rejected};
use crate::schema::short;
use crate::state::{State, is_complete};

/// The label of a decision that went back.
pub(crate) const REWIND: &str = "rewind";

/// What happens if a condition contradicts the edge that is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conditions {
    #[default]
    Warn,
    Enforce,
}

/// A questionable part of an accepted write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateWarning {
    /// A name that is stable between versions.
    pub code: &'static str,
    pub message: String,
}

/// A write that is allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    pub sha256_before: String,
    pub sha256_after: String,
    pub state: State,
    /// The current node before the write.
    pub from: String,
    /// The current node after the write.
    pub to: String,
    /// The edge that is taken, if the current node changes.
    pub edge: Option<Edge>,
    /// Nodes that this write completes.
    pub newly_completed: Vec<String>,
    pub was_complete: bool,
    pub is_complete: bool,
    pub warnings: Vec<StateWarning>,
}

/// Checks a write of the state file.
///
/// `precondition` is the expected hash of the current file, if the caller gave one.
pub fn guard(
    graph: &Graph,
    before: &str,
    after: &str,
    precondition: Option<&str>,
    conditions: Conditions,
) -> Result<Accepted, Rejected> {
    let sha256_before = sha256_hex(before.as_bytes());
    if let Some(expected) = precondition
        && !sha256_before.eq_ignore_ascii_case(expected.trim())
    {
        let message = "the state file has changed since it was read: read it again";
        let details = json!({ "expected": expected, "actual": sha256_before });
        return Err(Rejected::new(RejectCode::PreconditionFailed, message).with_details(details));
    }
    let new = State::parse(after)?;
    let old = State::parse(before)?;
    let from = graph.effective_node_id(old.current_node_id()).to_owned();
    let to = graph.effective_node_id(new.current_node_id()).to_owned();
    let mut warnings = Vec::new();
    let edge = if graph.node(&to).is_none() {
        let reason = format!("`{}` is not a node of the graph", short(&to));
        return Err(illegal(graph, &from, &to, &reason));
    } else if from == to {
        None
    } else {
        Some(taken_edge(graph, &old, &new, (&from, &to), conditions, &mut warnings)?)
    };
    let (old_steps, new_steps) = (old.steps_completed(), new.steps_completed());
    let removed: Vec<&str> = old_steps.iter().filter(|step| !new_steps.contains(step)).copied().collect();
    if !removed.is_empty() {
        let message =
            format!("`stepsCompleted` would lose {}: completed nodes stay completed", listed(&removed));
        return Err(
            Rejected::new(RejectCode::InvalidTransition, message).with_details(json!({ "removed": removed }))
        );
    }
    let newly_completed: Vec<String> =
        new_steps.iter().filter(|step| !old_steps.contains(step)).map(|step| (*step).to_owned()).collect();
    odd_steps(graph, &newly_completed, &mut warnings);
    if let Some(edge) = &edge {
        odd_move(graph, edge, &old, &new, &mut warnings);
    }
    odd_decisions(graph, &old, &new, &mut warnings);
    odd_identity(&old, &new, &mut warnings);
    Ok(Accepted {
        sha256_before,
        sha256_after: sha256_hex(after.as_bytes()),
        from,
        to,
        edge,
        newly_completed,
        was_complete: is_complete(graph, &old),
        is_complete: is_complete(graph, &new),
        warnings,
        state: new,
    })
}

fn illegal(graph: &Graph, from: &str, to: &str, reason: &str) -> Rejected {
    let message = format!("{} → {} is not allowed: {reason}", short(from), short(to));
    let details = json!({ "from": from, "to": to, "allowedNext": allowed_next(graph, from) });
    Rejected::new(RejectCode::InvalidTransition, message).with_details(details)
}

/// The edge of a transition: among those between the two nodes, the one in the decision log, otherwise the first whose
/// condition holds.
fn taken_edge(
    graph: &Graph,
    old: &State,
    new: &State,
    (from, to): (&str, &str),
    conditions: Conditions,
    warnings: &mut Vec<StateWarning>,
) -> Result<Edge, Rejected> {
    let between: Vec<&Edge> = graph.edges_between(from, to).collect();
    if between.is_empty() {
        return Err(illegal(graph, from, to, "the graph has no such edge"));
    }
    let logged = new_decisions(old, new)
        .iter()
        .rev()
        .find(|entry| entry.get("from").and_then(Value::as_str) == Some(from))
        .and_then(|entry| entry.get("label").and_then(Value::as_str));
    let of_label: Vec<&Edge> =
        between.iter().filter(|edge| Some(edge.label.as_str()) == logged).copied().collect();
    let candidates = if of_label.is_empty() { between } else { of_label };
    let faults: Vec<(&Edge, Option<String>)> =
        candidates.into_iter().map(|edge| (edge, contradiction(graph, edge, new, warnings))).collect();
    let best = faults.iter().find(|(_, fault)| fault.is_none()).or(faults.first());
    match best {
        Some((edge, None)) => Ok((*edge).clone()),
        Some((edge, Some(fault))) if conditions == Conditions::Warn => {
            warnings.push(StateWarning { code: "condition-contradicted", message: fault.clone() });
            Ok((*edge).clone())
        }
        Some((_, Some(fault))) => Err(illegal(graph, from, to, fault)),
        None => Err(illegal(graph, from, to, "the graph has no such edge")),
    }
}

/// Which condition contradicts taking this edge, if any.
///
/// A default edge is taken if nothing else decides, so its own condition need not hold; but then no other condition may
/// hold.
fn contradiction(
    graph: &Graph,
    edge: &Edge,
    new: &State,
    warnings: &mut Vec<StateWarning>,
) -> Option<String> {
    let variables = new.variables();
    let mut verdict = |edge: &Edge| {
        let expression = edge.condition_expr.as_ref()?;
        match condition::holds(expression, &variables) {
            Ok(holds) => Some(holds),
            Err(error) => {
                let message = format!("condition of `{}` to `{}`: {error}", short(&edge.label), edge.to);
                let warning = StateWarning { code: "unusable-condition", message };
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
                None
            }
        }
    };
    match verdict(edge) {
        Some(true) => return None,
        Some(false) if !edge.is_default => {
            return Some(format!("the condition of edge `{}` does not hold", short(&edge.label)));
        }
        Some(false) | None => {}
    }
    if !edge.is_default {
        return None;
    }
    let others: Vec<&Edge> = graph.edges_from(&edge.from).filter(|other| *other != edge).collect();
    let other = others.into_iter().find(|other| verdict(other) == Some(true))?;
    Some(format!(
        "edge `{}` is the default, but the condition of edge `{}` to `{}` holds",
        short(&edge.label),
        short(&other.label),
        other.to
    ))
}

fn new_decisions<'a>(old: &State, new: &'a State) -> &'a [Value] {
    new.decision_log().get(old.decision_log().len()..).unwrap_or_default()
}

fn odd_steps(graph: &Graph, newly_completed: &[String], warnings: &mut Vec<StateWarning>) {
    for step in newly_completed.iter().filter(|step| graph.node(step).is_none()) {
        let message = format!("`stepsCompleted` names `{}`, which is not a node of the graph", short(step));
        warnings.push(StateWarning { code: "unknown-step", message });
    }
}

fn odd_move(graph: &Graph, edge: &Edge, old: &State, new: &State, warnings: &mut Vec<StateWarning>) {
    if !new.steps_completed().contains(&edge.from.as_str()) {
        let message = format!("node `{}` was left but is not in `stepsCompleted`", edge.from);
        warnings.push(StateWarning { code: "left-node-not-completed", message });
    }
    let is_decision = graph.node(&edge.from).is_some_and(|node| node.node_type == NodeType::Decision);
    let is_logged = new_decisions(old, new).iter().any(|entry| {
        entry.get("from").and_then(Value::as_str) == Some(&edge.from)
            && entry.get("to").and_then(Value::as_str) == Some(&edge.to)
    });
    if is_decision && !is_logged {
        let message = format!("decision `{}` was left without an entry in `decisionLog`", edge.from);
        warnings.push(StateWarning { code: "decision-not-logged", message });
    }
}

fn odd_decisions(graph: &Graph, old: &State, new: &State, warnings: &mut Vec<StateWarning>) {
    let text =
        |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if new.decision_log().len() < old.decision_log().len()
        || !new.decision_log().starts_with(old.decision_log())
    {
        let message = "`decisionLog` lost earlier decisions".to_owned();
        warnings.push(StateWarning { code: "decision-log-rewritten", message });
        return;
    }
    for entry in new_decisions(old, new) {
        let (from, to, label) = (text(entry, "from"), text(entry, "to"), text(entry, "label"));
        if label != REWIND && !graph.edges_between(&from, &to).any(|edge| edge.label == label) {
            let message = format!(
                "`decisionLog` contains {} → {} with label `{}`, which is not an edge of the graph",
                short(&from),
                short(&to),
                short(&label)
            );
            warnings.push(StateWarning { code: "decision-mismatch", message });
        }
    }
}

/// Keys that the engine set when the run started; it never reads them back, so a change has no effect.
fn odd_identity(old: &State, new: &State, warnings: &mut Vec<StateWarning>) {
    for key in ["schemaVersion", "workflowType", "runId", "activeAgentId", "workflowRef"] {
        if old.data().get(key) != new.data().get(key) {
            let message = format!("`{key}` was changed; it belongs to the engine and has no effect");
            warnings.push(StateWarning { code: "identity-changed", message });
        }
    }
}

pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{}`", short(name))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
