//! The graph of a workflow: the only authority on where a run may go.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeType {
    Step,
    /// A step that chooses one of its edges.
    Decision,
    /// Where branches meet; it does not wait for all of them.
    Merge,
    /// The last node, which also has work to do.
    End,
    /// Another workflow; reserved for later versions.
    Subworkflow,
}

impl NodeType {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Decision => "decision",
            Self::Merge => "merge",
            Self::End => "end",
            Self::Subworkflow => "subworkflow",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    pub id: String,
    #[serde(rename = "type")]
    pub node_type: NodeType,
    /// Its instructions, relative to the package; never derived from the id.
    pub file: String,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    agent_id: Option<String>,
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Artifacts it must produce.
    #[serde(default)]
    pub outputs: Vec<String>,
}

impl Node {
    /// The id of its agent; an empty id counts as none.
    pub fn agent_id(&self) -> Option<&str> {
        self.agent_id.as_deref().map(str::trim).filter(|id| !id.is_empty())
    }

    /// Its title, or its id.
    pub fn name(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.id)
    }
}

/// An edge from one node to another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    #[serde(default)]
    pub id: Option<String>,
    pub from: String,
    pub to: String,
    pub label: String,
    /// Whether it is taken if no condition decides.
    #[serde(default)]
    pub is_default: bool,
    #[serde(default)]
    pub condition_text: Option<String>,
    #[serde(default)]
    pub condition_expr: Option<Map<String, Value>>,
}

/// The graph as written in the file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GraphFile {
    entry_node_id: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// The nodes and edges of a workflow, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    entry_node_id: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    node_by_id: BTreeMap<String, usize>,
    edges_by_from: BTreeMap<String, Vec<usize>>,
}

impl Graph {
    /// Reads a graph that matches its schema; `check` validates its content.
    pub fn from_value(value: Value) -> Result<Self, serde_json::Error> {
        let GraphFile { entry_node_id, nodes, edges } = serde_json::from_value(value)?;
        let mut node_by_id = BTreeMap::new();
        for (idx, node) in nodes.iter().enumerate() {
            node_by_id.entry(node.id.clone()).or_insert(idx);
        }
        let mut edges_by_from: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (idx, edge) in edges.iter().enumerate() {
            edges_by_from.entry(edge.from.clone()).or_default().push(idx);
        }
        Ok(Self { entry_node_id, nodes, edges, node_by_id, edges_by_from })
    }

    pub fn entry_node_id(&self) -> &str {
        &self.entry_node_id
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    pub fn node(&self, id: &str) -> Option<&Node> {
        self.node_by_id.get(id).and_then(|idx| self.nodes.get(*idx))
    }

    pub fn edges_from(&self, id: &str) -> impl Iterator<Item = &Edge> {
        self.edges_by_from.get(id).into_iter().flatten().filter_map(|idx| self.edges.get(*idx))
    }

    /// The edges between two nodes; there can be several with different labels.
    pub(crate) fn edges_between(&self, from: &str, to: &str) -> impl Iterator<Item = &Edge> {
        self.edges_from(from).filter(move |edge| edge.to == to)
    }

    /// The current node of a run: a blank id means the entry node.
    pub fn effective_node_id<'a>(&'a self, current: &'a str) -> &'a str {
        let current = current.trim();
        if current.is_empty() { &self.entry_node_id } else { current }
    }

    /// The nodes that can be reached from a node, including itself.
    pub(crate) fn reachable_from<'a>(&'a self, start: &'a str) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(id) = open.pop() {
            if self.node(id).is_some() && reached.insert(id) {
                open.extend(self.edges_from(id).map(|edge| edge.to.as_str()));
            }
        }
        reached
    }
}

/// The outgoing edges, as described to a model.
pub(crate) fn allowed_next(graph: &Graph, from: &str) -> Value {
    let told = |edge: &Edge| {
        let mut told = Map::new();
        told.insert("to".to_owned(), edge.to.clone().into());
        told.insert("label".to_owned(), edge.label.clone().into());
        if edge.is_default {
            told.insert("isDefault".to_owned(), true.into());
        }
        if let Some(condition) = &edge.condition_text {
            told.insert("conditionText".to_owned(), condition.clone().into());
        }
        Value::Object(told)
    };
    graph.edges_from(from).map(told).collect()
}
