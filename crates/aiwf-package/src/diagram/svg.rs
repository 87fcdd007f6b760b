//! A picture of a graph: rows of boxes with arrows, readable in light and dark mode.

use std::fmt::Write as _;

use super::layout::Layout;
use crate::graph::{Graph, Node, NodeType};

const NODE_WIDTH: usize = 180;
const NODE_HEIGHT: usize = 56;
const COLUMN: usize = 230;
const ROW: usize = 120;
const MARGIN: usize = 40;
/// The number of characters of a name that fit into a box.
const NAME_LENGTH: usize = 24;

/// Plain colours come first: a viewer that does not support `@media` shows the light picture.
const STYLE: &str = "text{font:13px sans-serif;fill:#1b1f24;text-anchor:middle}\
.type,.label{font-size:11px;fill:#57606a}.page{fill:#fff}.node{fill:#f3f6fa;stroke:#57606a}\
.entry{stroke-width:3}.edge{fill:none;stroke:#57606a}.default{stroke-width:2.5}.arrow{fill:#57606a}\
@media (prefers-color-scheme:dark){text{fill:#e6e6e6}.type,.label{fill:#9aa4ae}.page{fill:#1b1f24}\
.node{fill:#262c34;stroke:#9aa4ae}.edge{stroke:#9aa4ae}.arrow{fill:#9aa4ae}}";

pub(super) fn draw(graph: &Graph, title: &str) -> String {
    let layout = Layout::of(graph);
    let n_columns = layout.rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let width = MARGIN * 2 + (n_columns - 1) * COLUMN + NODE_WIDTH + ROW;
    let height = MARGIN * 2 + layout.rows.len().saturating_sub(1) * ROW + NODE_HEIGHT;
    let mut places = vec![(0, 0); graph.nodes().len()];
    for (row, nodes) in layout.rows.iter().enumerate() {
        // Rows are centred; half columns are whole numbers of pixels.
        let indent = (n_columns - nodes.len()) * COLUMN / 2;
        for (column, idx) in nodes.iter().enumerate() {
            if let Some(place) = places.get_mut(*idx) {
                *place = (
                    MARGIN + indent + column * COLUMN + NODE_WIDTH / 2,
                    MARGIN + row * ROW + NODE_HEIGHT / 2,
                );
            }
        }
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" \
         refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\" markerUnits=\"userSpaceOnUse\">\
         <path class=\"arrow\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
        escaped(title)
    );
    let place = |id: &str| {
        graph.nodes().iter().position(|node| node.id == id).and_then(|idx| places.get(idx).copied())
    };
    for edge in graph.edges() {
        if let (Some(from), Some(to)) = (place(&edge.from), place(&edge.to)) {
            let class = if edge.is_default { "edge default" } else { "edge" };
            let (path, label) = route(from, to, width - MARGIN / 2);
            let _ = writeln!(
                svg,
                "<path class=\"{class}\" marker-end=\"url(#arrow)\" d=\"{path}\"/><text class=\"label\" x=\"{}\" y=\"{}\">{}</text>",
                label.0,
                label.1,
                escaped(&cut(&edge.label))
            );
        }
    }
    for (node, (x, y)) in graph.nodes().iter().zip(&places) {
        let entry = if node.id == graph.entry_node_id() { " entry" } else { "" };
        let _ = writeln!(
            svg,
            "<g id=\"node-{}\"><title>{}</title>{}<text x=\"{x}\" y=\"{}\">{}</text><text class=\"type\" x=\"{x}\" y=\"{}\">{}</text></g>",
            escaped(&node.id),
            escaped(&full_name(node)),
            shape(node.node_type, *x, *y, entry),
            y - 2,
            escaped(&cut(node.name())),
            y + 14,
            node.node_type.as_str(),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The id and title of a node; the box may truncate them.
fn full_name(node: &Node) -> String {
    match &node.title {
        Some(title) if *title != node.id => format!("{}: {title}", node.id),
        _ => node.id.clone(),
    }
}

fn shape(node_type: NodeType, x: usize, y: usize, entry: &str) -> String {
    let (left, top) = (x - NODE_WIDTH / 2, y - NODE_HEIGHT / 2);
    let (right, bottom) = (x + NODE_WIDTH / 2, y + NODE_HEIGHT / 2);
    let radius = match node_type {
        NodeType::Step | NodeType::Subworkflow => 6,
        NodeType::Merge | NodeType::End => NODE_HEIGHT / 2,
        NodeType::Decision => {
            return format!(
                "<path class=\"node{entry}\" d=\"M{left} {y}L{} {top}H{}L{right} {y}L{} {bottom}H{}z\"/>",
                left + 20,
                right - 20,
                right - 20,
                left + 20
            );
        }
    };
    format!(
        "<rect class=\"node{entry}\" x=\"{left}\" y=\"{top}\" width=\"{NODE_WIDTH}\" height=\"{NODE_HEIGHT}\" rx=\"{radius}\"/>"
    )
}

/// The path of an edge and the position of its label; an upward edge goes around on the right.
fn route(from: (usize, usize), to: (usize, usize), edge_of_page: usize) -> (String, (usize, usize)) {
    let half = NODE_HEIGHT / 2;
    if to.1 > from.1 {
        let (start, end) = (from.1 + half, to.1 - half);
        let bend = (end - start) / 2;
        let path =
            format!("M{} {start}C{} {} {} {} {} {end}", from.0, from.0, start + bend, to.0, end - bend, to.0);
        // Close to the start of the edge, so that the labels of branches do not overlap.
        let x =
            if to.0 >= from.0 { from.0 + (to.0 - from.0) * 2 / 5 } else { from.0 - (from.0 - to.0) * 2 / 5 };
        return (path, (x, start + (end - start) * 2 / 5 + 4));
    }
    let (start, end) = (from.0 + NODE_WIDTH / 2, to.0 + NODE_WIDTH / 2);
    let path =
        format!("M{start} {}C{edge_of_page} {} {edge_of_page} {} {end} {}", from.1, from.1, to.1, to.1);
    (path, (edge_of_page - ROW / 2, usize::midpoint(from.1, to.1)))
}

fn cut(text: &str) -> String {
    let shown: String = text.chars().take(NAME_LENGTH).collect();
    if text.chars().nth(NAME_LENGTH).is_some() { format!("{}…", shown.trim_end()) } else { shown }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
