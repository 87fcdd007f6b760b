//! Checks of a graph that a schema cannot express.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use crate::condition;
use crate::finding::Finding;
use crate::finding_code::FindingCode;
use crate::graph::{Edge, Graph, NodeType};
use crate::schema::short;

impl Check<'_> {
    pub(super) fn graph(&mut self, path: &str, graph: &Graph, agent_ids: Option<&BTreeSet<String>>) {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (idx, node) in graph.nodes().iter().enumerate() {
            if let Some(first) = seen.get(node.id.as_str()) {
                let message = format!("node id `{}` occurs twice: first at /nodes/{first}", node.id);
                self.add(Finding::new(FindingCode::DuplicateNode, path, format!("/nodes/{idx}/id"), message));
            } else {
                seen.insert(&node.id, idx);
            }
            if let (Some(agent), Some(known)) = (node.agent_id(), agent_ids)
                && !known.contains(agent)
            {
                self.add(unknown_agent(path, &format!("/nodes/{idx}/agentId"), agent, known));
            }
            self.exists(&node.file, path, &format!("/nodes/{idx}/file"));
            if node.node_type == NodeType::Subworkflow {
                let message = format!("node `{}` is a subworkflow, which runs as an ordinary step", node.id);
                self.add(Finding::new(FindingCode::Subworkflow, path, format!("/nodes/{idx}/type"), message));
            }
        }
        if graph.node(graph.entry_node_id()).is_none() {
            let message = format!("entry node `{}` is not a node of the graph", graph.entry_node_id());
            self.add(Finding::new(FindingCode::UnknownEntry, path, "/entryNodeId", message));
        }
        let mut ways: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
        for (idx, edge) in graph.edges().iter().enumerate() {
            for (key, id) in [("from", &edge.from), ("to", &edge.to)] {
                if graph.node(id).is_none() {
                    let message = format!("node `{id}` is not in the graph");
                    self.add(Finding::new(
                        FindingCode::DanglingEdge,
                        path,
                        format!("/edges/{idx}/{key}"),
                        message,
                    ));
                }
            }
            if let Some(first) = ways.insert((&edge.from, &edge.to, &edge.label), idx) {
                let message = format!("edge is a duplicate of /edges/{first}");
                self.add(Finding::new(FindingCode::DuplicateEdge, path, format!("/edges/{idx}"), message));
            }
            if let Some(expression) = &edge.condition_expr
                && let Err(error) = condition::check(expression)
            {
                let pointer = format!("/edges/{idx}/conditionExpr");
                let finding = Finding::new(FindingCode::UnusableCondition, path, pointer, error.to_string());
                self.add(finding.with_hint(error.hint()));
            }
        }
        self.ways(path, graph);
    }

    /// Reachability and edges of each node.
    fn ways(&mut self, path: &str, graph: &Graph) {
        let has_entry = graph.node(graph.entry_node_id()).is_some();
        let reached = graph.reachable_from(graph.entry_node_id());
        let has_end = graph.nodes().iter().any(|node| node.node_type == NodeType::End);
        if !has_end {
            let message =
                "has no end node: a run is complete only when `variables.workflowStatus` is `complete`";
            self.add(Finding::new(FindingCode::NoEnd, path, "/nodes", message));
        }
        for (idx, node) in graph.nodes().iter().enumerate() {
            let pointer = format!("/nodes/{idx}");
            if has_entry && !reached.contains(node.id.as_str()) {
                let message =
                    format!("node `{}` cannot be reached from `{}`", node.id, graph.entry_node_id());
                self.add(
                    Finding::new(FindingCode::Unreachable, path, pointer.clone(), message).with_key("id"),
                );
            }
            let edges: Vec<&Edge> = graph.edges_from(&node.id).collect();
            let defaults = edges.iter().filter(|edge| edge.is_default).count();
            if defaults > 1 {
                let message = format!("node `{}` has {defaults} default edges: one is enough", node.id);
                self.add(Finding::new(FindingCode::SeveralDefaults, path, pointer.clone(), message));
            }
            match node.node_type {
                NodeType::End if !edges.is_empty() => {
                    let message = format!("end node `{}` has an outgoing edge", node.id);
                    self.add(Finding::new(FindingCode::EndGoesOn, path, pointer, message));
                }
                NodeType::Decision => {
                    if edges.len() < 2 {
                        let message = format!(
                            "decision `{}` has {}: two are needed",
                            node.id,
                            if edges.is_empty() { "no outgoing edge" } else { "one outgoing edge" }
                        );
                        self.add(Finding::new(FindingCode::NoChoice, path, pointer.clone(), message));
                    }
                    if defaults == 0 {
                        let labels: Vec<String> =
                            edges.iter().map(|edge| format!("`{}`", short(&edge.label))).collect();
                        let message = format!("decision `{}` has no default edge", node.id);
                        let finding = Finding::new(FindingCode::NoDefault, path, pointer, message)
                            .with_key("isDefault");
                        self.add(if labels.is_empty() {
                            finding
                        } else {
                            finding.with_hint(format!("set `isDefault` on one of {}", labels.join(", ")))
                        });
                    }
                }
                NodeType::Step | NodeType::Merge | NodeType::Subworkflow if edges.is_empty() && has_end => {
                    let message = format!("node `{}` has no outgoing edge and is not an end", node.id);
                    self.add(Finding::new(FindingCode::DeadEnd, path, pointer, message));
                }
                NodeType::Step | NodeType::Merge | NodeType::Subworkflow | NodeType::End => {}
            }
        }
    }
}

pub(super) fn unknown_agent(path: &str, pointer: &str, agent: &str, known: &BTreeSet<String>) -> Finding {
    let known: Vec<String> = known.iter().map(|id| format!("`{id}`")).collect();
    let message = format!("the package has no agent `{}`", short(agent));
    let finding = Finding::new(FindingCode::UnknownAgent, path, pointer, message);
    if known.is_empty() { finding } else { finding.with_hint(format!("use one of {}", known.join(", "))) }
}
