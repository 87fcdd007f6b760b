//! Checks step files and the entry document against the graph, which is authoritative.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Check;
use super::graph_check::unknown_agent;
use crate::finding::Finding;
use crate::finding_code::FindingCode;
use crate::graph::{Graph, Node};
use crate::schema::{Schema, short};

impl Check<'_> {
    /// Checks the step files of an unreadable graph, each on its own.
    pub(super) fn steps_beside(&mut self, graph_path: &str) {
        let above = graph_path.rsplit_once('/').map_or(String::new(), |(above, _)| format!("{above}/"));
        let prefix = format!("{above}steps/");
        let is_markdown = |path: &&String| path.rsplit_once('.').is_some_and(|(_, end)| end == "md");
        let beside = self.files.keys().filter(|path| path.starts_with(&prefix)).filter(is_markdown);
        let beside: Vec<String> = beside.cloned().collect();
        for path in beside {
            self.front_matter(&path, Schema::Step);
        }
    }

    pub(super) fn steps(&mut self, graph_path: &str, graph: &Graph, agent_ids: Option<&BTreeSet<String>>) {
        for (idx, node) in graph.nodes().iter().enumerate() {
            if !self.files.contains_key(&node.file) {
                continue;
            }
            let Some((data, _)) = self.front_matter(&node.file, Schema::Step) else { continue };
            let text = |key: &str| {
                data.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
            };
            if let Some(id) = text("nodeId").filter(|id| *id != node.id) {
                let message = format!(
                    "has node id `{id}`, but `{graph_path}` assigns it to node `{}` at /nodes/{idx}",
                    node.id
                );
                self.add(Finding::new(FindingCode::NodeMismatch, &node.file, "/nodeId", message));
                continue;
            }
            if let (Some(agent), Some(known)) = (text("agentId"), agent_ids)
                && !known.contains(agent)
            {
                self.add(unknown_agent(&node.file, "/agentId", agent, known));
            }
            let mut differ = |key: &str, here: &str, there: &str| {
                let message =
                    format!("`{key}` is {here} here but {there} in the graph, which takes precedence");
                self.add(
                    Finding::new(FindingCode::StepDisagrees, &node.file, format!("/{key}"), message)
                        .with_key(key),
                );
            };
            let quoted = |value: Option<&str>| {
                value.map_or("nothing".to_owned(), |value| format!("`{}`", short(value)))
            };
            if text("type") != Some(node.node_type.as_str()) {
                differ("type", &quoted(text("type")), &quoted(Some(node.node_type.as_str())));
            }
            // A key that a step file omits cannot contradict the graph.
            for (key, there) in [("agentId", node.agent_id()), ("title", node.title.as_deref())] {
                let is_unknown = key == "agentId"
                    && text(key).is_some_and(|id| agent_ids.is_some_and(|known| !known.contains(id)));
                if let Some(here) = text(key).filter(|_| !is_unknown)
                    && there != Some(here)
                {
                    differ(key, &quoted(Some(here)), &quoted(there));
                }
            }
            for (key, there) in [("inputs", &node.inputs), ("outputs", &node.outputs)] {
                if let Some(here) = data.get(key).and_then(Value::as_array)
                    && !here.is_empty()
                    && !here.iter().filter_map(Value::as_str).eq(there.iter().map(String::as_str))
                {
                    let list = |items: Vec<&str>| {
                        quoted(Some(&items.join(", ")).filter(|list| !list.is_empty()).map(String::as_str))
                    };
                    differ(
                        key,
                        &list(here.iter().filter_map(Value::as_str).collect()),
                        &list(there.iter().map(String::as_str).collect()),
                    );
                }
            }
            self.transitions(node, &data, graph);
        }
    }

    fn transitions(&mut self, node: &Node, data: &Map<String, Value>, graph: &Graph) {
        let Some(here) = data.get("transitions").and_then(Value::as_array).filter(|here| !here.is_empty())
        else {
            return;
        };
        let edges: Vec<_> = graph.edges_from(&node.id).collect();
        for (idx, transition) in here.iter().enumerate() {
            let text = |key: &str| transition.get(key).and_then(Value::as_str).unwrap_or_default();
            let pointer = format!("/transitions/{idx}");
            let Some(edge) = edges.iter().find(|edge| edge.to == text("to") && edge.label == text("label"))
            else {
                let message = format!(
                    "the graph has no edge from `{}` to `{}` with label `{}`",
                    node.id,
                    short(text("to")),
                    short(text("label"))
                );
                self.add(
                    Finding::new(FindingCode::StepDisagrees, &node.file, pointer, message)
                        .with_key("transitions"),
                );
                continue;
            };
            // By convention a single edge is the default of its step, without `isDefault` in the graph.
            let is_default = transition.get("isDefault").and_then(Value::as_bool).unwrap_or_default();
            if edges.len() > 1 && is_default != edge.is_default {
                let message = format!(
                    "`isDefault` is {is_default} here but {} in the graph, which takes precedence",
                    edge.is_default
                );
                self.add(Finding::new(
                    FindingCode::StepDisagrees,
                    &node.file,
                    format!("{pointer}/isDefault"),
                    message,
                ));
            }
        }
        for edge in edges {
            let is_told = here.iter().any(|transition| {
                transition.get("to").and_then(Value::as_str) == Some(&edge.to)
                    && transition.get("label").and_then(Value::as_str) == Some(&edge.label)
            });
            if !is_told {
                let message = format!(
                    "lacks the edge to `{}` with label `{}` of the graph",
                    edge.to,
                    short(&edge.label)
                );
                self.add(Finding::new(FindingCode::StepDisagrees, &node.file, "/transitions", message));
            }
        }
    }

    /// The entry document: its current node and the links of its index.
    pub(super) fn document(&mut self, path: &str, data: &Map<String, Value>, text: &str, graph: &Graph) {
        let current = data.get("currentNodeId").and_then(Value::as_str).unwrap_or_default().trim();
        if !current.is_empty() && graph.node(current).is_none() {
            let message =
                format!("node `{}` is not in the graph; a run starts at the entry node", short(current));
            self.add(Finding::new(FindingCode::UnknownCurrentNode, path, "/currentNodeId", message));
        }
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        for link in links(text) {
            let target = link.split('#').next().unwrap_or_default().trim_start_matches("./");
            let is_package_file = target.to_lowercase().ends_with(".md")
                && !target.contains("://")
                && !target.starts_with(['/', '@', '{']);
            let beside =
                if directory.is_empty() { target.to_owned() } else { format!("{directory}/{target}") };
            if is_package_file && !self.files.contains_key(target) && !self.files.contains_key(&beside) {
                let message = format!("links to `{}`, which is not in the package", short(target));
                self.add(Finding::new(FindingCode::BrokenLink, path, "", message));
            }
        }
    }
}

/// The targets of links, as written.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next())
}
