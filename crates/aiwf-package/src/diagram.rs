//! Draws the graph of a workflow as Mermaid, DOT or SVG.
//!
//! In: a graph. Out: text; equal graphs give equal text. Names are escaped for the output language.

mod layout;
mod svg;

use std::fmt::Write as _;

use crate::graph::{Graph, NodeType};
use crate::state::NodeStatus;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiagramFormat {
    /// Text that Markdown viewers render.
    Mermaid,
    /// Text that Graphviz renders.
    Dot,
    Svg,
}

impl DiagramFormat {
    pub const ALL: [Self; 3] = [Self::Mermaid, Self::Dot, Self::Svg];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Svg => "svg",
        }
    }
}

/// A diagram of a graph; `title` is its name.
pub fn diagram(graph: &Graph, title: &str, format: DiagramFormat) -> String {
    match format {
        DiagramFormat::Mermaid => mermaid(graph),
        DiagramFormat::Dot => dot(graph, title),
        DiagramFormat::Svg => svg::draw(graph, title),
    }
}

/// The graph of a run as SVG without colours of its own: `status` gives the class of each node, and an edge shows its
/// condition below its label.
pub fn progress_picture(graph: &Graph, title: &str, status: &dyn Fn(&str) -> NodeStatus) -> String {
    svg::draw_progress(graph, title, status)
}

fn mermaid(graph: &Graph) -> String {
    let mut text = "flowchart TD\n".to_owned();
    // Ids may contain Mermaid keywords, so nodes are numbered.
    let number = |id: &str| graph.nodes().iter().position(|node| node.id == id);
    for (idx, node) in graph.nodes().iter().enumerate() {
        let name = mermaid_text(node.name());
        let (open, close) = match node.node_type {
            NodeType::Step => ("[", "]"),
            NodeType::Decision => ("{", "}"),
            NodeType::Merge => ("((", "))"),
            NodeType::End => ("([", "])"),
            NodeType::Subworkflow => ("[[", "]]"),
        };
        let _ = writeln!(text, "  n{idx}{open}\"{name}\"{close}");
    }
    for edge in graph.edges() {
        if let (Some(from), Some(to)) = (number(&edge.from), number(&edge.to)) {
            let arrow = if edge.is_default { "==>" } else { "-->" };
            let _ = writeln!(text, "  n{from} {arrow}|\"{}\"| n{to}", mermaid_text(&edge.label));
        }
    }
    if let Some(entry) = number(graph.entry_node_id()) {
        let _ = writeln!(text, "  style n{entry} stroke-width:3px");
    }
    text
}

fn mermaid_text(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '"' | '<' | '>' | '&' | '#' | ';' | '`' | '\\' => {
                let _ = write!(escaped, "#{};", u32::from(c));
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

fn dot(graph: &Graph, title: &str) -> String {
    let mut text =
        format!("digraph {} {{\n  rankdir=TB;\n  node [fontname=\"sans-serif\"];\n", quoted(title));
    for node in graph.nodes() {
        let shape = match node.node_type {
            NodeType::Step => "box",
            NodeType::Decision => "diamond",
            NodeType::Merge => "circle",
            NodeType::End => "oval",
            NodeType::Subworkflow => "box3d",
        };
        let entry = if node.id == graph.entry_node_id() { ", penwidth=3" } else { "" };
        let _ =
            writeln!(text, "  {} [label={}, shape={shape}{entry}];", quoted(&node.id), quoted(node.name()));
    }
    for edge in graph.edges() {
        let default = if edge.is_default { ", penwidth=2" } else { "" };
        let _ = writeln!(
            text,
            "  {} -> {} [label={}{default}];",
            quoted(&edge.from),
            quoted(&edge.to),
            quoted(&edge.label)
        );
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
#[path = "diagram_tests.rs"]
mod tests;
