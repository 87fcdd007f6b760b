//! The state file of a run, `@state/workflow.md`: together with the graph it is all that is needed to resume.
//!
//! In: the text of the file. Out: its content, or why it is invalid. The text is authoritative: changes edit its lines;
//! this value is never written out.

use aiwf_reply::{EditError, edit_front_matter, parse_front_matter};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::graph::{Graph, Node, NodeType};
use crate::rejected::{RejectCode, Rejected};
use crate::schema::Schema;

/// The value that ends a run.
pub(crate) const COMPLETE: &str = "complete";
/// The variable with that value.
pub(crate) const WORKFLOW_STATUS: &str = "workflowStatus";

/// The content of a state file.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    data: Map<String, Value>,
}

impl State {
    /// Reads a state file: front matter first, then its schema.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let parsed = parse_front_matter(text);
        if !parsed.problems.is_empty() {
            let problems: Vec<String> = parsed.problems.iter().map(ToString::to_string).collect();
            let message = format!("the state file's front matter cannot be read: {}", problems.join("; "));
            let details = json!({ "errors": problems });
            return Err(Rejected::new(RejectCode::InvalidFrontMatter, message).with_details(details));
        }
        let mut value = parsed.value.data;
        normalise(&mut value);
        let faults = Schema::Workflow.faults(&value);
        if let Some(first) = faults.first() {
            let place = if first.pointer.is_empty() { "front matter" } else { &first.pointer };
            let message = format!("the state file does not match its schema: {place}: {}", first.message);
            let errors: Vec<Value> = faults
                .iter()
                .map(|fault| json!({ "instancePath": fault.pointer, "keyword": fault.keyword, "message": fault.message }))
                .collect();
            return Err(Rejected::new(RejectCode::SchemaValidation, message)
                .with_details(json!({ "errors": errors })));
        }
        match value {
            Value::Object(data) => Ok(Self { data }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(Rejected::new(
                    RejectCode::InvalidFrontMatter,
                    "the state file's front matter is not a mapping",
                ))
            }
        }
    }

    /// All its data, including unknown keys.
    pub fn data(&self) -> &Map<String, Value> {
        &self.data
    }

    fn text(&self, key: &str) -> &str {
        self.data.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn texts(&self, key: &str) -> Vec<&str> {
        self.data.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The current node as written; blank before the run starts.
    pub fn current_node_id(&self) -> &str {
        self.text("currentNodeId")
    }

    pub fn steps_completed(&self) -> Vec<&str> {
        self.texts("stepsCompleted")
    }

    pub fn variables(&self) -> Map<String, Value> {
        self.data.get("variables").and_then(Value::as_object).cloned().unwrap_or_default()
    }

    pub fn decision_log(&self) -> &[Value] {
        self.data.get("decisionLog").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The created files, relative to the project.
    pub fn artifacts(&self) -> Vec<&str> {
        self.texts("artifacts")
    }
}

/// Whether a workflow is complete: it says so, or its current node is a completed end node. This is the only
/// definition.
pub fn is_complete(graph: &Graph, state: &State) -> bool {
    let says_so = state
        .data
        .get("variables")
        .and_then(|variables| variables.get(WORKFLOW_STATUS))
        .is_some_and(|status| status == COMPLETE);
    let current = graph.effective_node_id(state.current_node_id());
    let is_done_end = || {
        graph.node(current).is_some_and(|node| node.node_type == NodeType::End)
            && state.steps_completed().contains(&current)
    };
    says_so || is_done_end()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeStatus {
    Completed,
    Current,
    Pending,
}

/// Every node with its status, in the order of the graph.
pub fn progress<'g>(graph: &'g Graph, state: &State) -> Vec<(&'g Node, NodeStatus)> {
    let done = state.steps_completed();
    let current = graph.effective_node_id(state.current_node_id());
    let status = |id: &str| {
        if done.contains(&id) {
            NodeStatus::Completed
        } else if id == current {
            NodeStatus::Current
        } else {
            NodeStatus::Pending
        }
    };
    graph.nodes().iter().map(|node| (node, status(&node.id))).collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdentity {
    pub run_id: String,
    pub active_agent_id: String,
    pub workflow_ref: String,
    /// The current time, as RFC 3339.
    pub now: String,
}

/// The initial state file: the entry document with empty progress and its own variables.
pub fn initial_state(document: &str, identity: &RunIdentity) -> Result<String, Rejected> {
    let text = edit_front_matter(document, |data| {
        let mut changes = identity_keys(identity);
        for key in ["stepsCompleted", "decisionLog", "artifacts"] {
            changes.insert(key.to_owned(), json!([]));
        }
        changes.insert("currentNodeId".to_owned(), json!(""));
        if !data.get("variables").is_some_and(Value::is_object) {
            changes.insert("variables".to_owned(), json!({}));
        }
        changes
    })?;
    State::parse(&text)?;
    Ok(text)
}

/// The state file of a run that continues from another one.
pub fn adopt_state(text: &str, identity: &RunIdentity) -> Result<String, Rejected> {
    let text = edit_front_matter(text, |_| identity_keys(identity))?;
    State::parse(&text)?;
    Ok(text)
}

fn identity_keys(identity: &RunIdentity) -> Map<String, Value> {
    let keys = [
        ("runId", &identity.run_id),
        ("activeAgentId", &identity.active_agent_id),
        ("workflowRef", &identity.workflow_ref),
        ("updatedAt", &identity.now),
    ];
    keys.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect()
}

impl From<EditError> for Rejected {
    fn from(error: EditError) -> Self {
        Self::new(
            RejectCode::InvalidFrontMatter,
            format!("the state file's front matter cannot be changed: {error}"),
        )
    }
}

/// Restores what YAML turned into other types: an id like `1` becomes text, an empty list a list.
pub(crate) fn normalise(value: &mut Value) {
    let Some(data) = value.as_object_mut() else { return };
    let to_text = |value: &mut Value| {
        if let Value::Number(number) = value
            && (number.is_i64() || number.is_u64())
        {
            *value = number.to_string().into();
        }
    };
    for key in [
        "currentNodeId",
        "runId",
        "activeAgentId",
        "workflowRef",
        "nodeId",
        "workflowType",
        "date",
        "agentId",
    ] {
        if let Some(value) = data.get_mut(key) {
            to_text(value);
        }
    }
    // `schemaVersion: 1.1` without quotes is a number in YAML.
    if let Some(version) = data.get_mut("schemaVersion")
        && version.as_f64() == Some(1.1)
    {
        *version = "1.1".into();
    }
    for (key, empty) in [
        ("currentNodeId", json!("")),
        ("stepsCompleted", json!([])),
        ("decisionLog", json!([])),
        ("artifacts", json!([])),
        ("variables", json!({})),
    ] {
        if let Some(value) = data.get_mut(key).filter(|value| value.is_null()) {
            *value = empty;
        }
    }
    if let Some(steps) = data.get_mut("stepsCompleted").and_then(Value::as_array_mut) {
        steps.iter_mut().for_each(to_text);
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
pub(crate) mod tests;
