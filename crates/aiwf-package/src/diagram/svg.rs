//! A picture of a graph: rows of boxes with arrows, readable in light and dark mode.

use std::fmt::Write as _;

use super::layout::Layout;
use crate::graph::{Edge, Graph, Node, NodeType};
use crate::state::NodeStatus;

/// The measures of a picture, in its own units.
struct Measures {
    node_width: usize,
    node_height: usize,
    column: usize,
    row: usize,
    /// What edges that lead up take on the right.
    lane: usize,
    margin: usize,
    /// The number of characters of a name that fit into a box.
    name_length: usize,
}

const FILE: Measures = Measures {
    node_width: 180,
    node_height: 56,
    column: 230,
    row: 120,
    lane: 120,
    margin: 40,
    name_length: 24,
};
/// For a page that shows more than the graph.
const PAGE: Measures = Measures {
    node_width: 172,
    node_height: 46,
    column: 204,
    row: 96,
    lane: 190,
    margin: 12,
    name_length: 22,
};

/// Plain colours come first: a viewer that does not support `@media` shows the light picture.
const STYLE: &str = "text{font:13px sans-serif;fill:#1b1f24;text-anchor:middle}\
.type,.label{font-size:11px;fill:#57606a}.page{fill:#fff}.node{fill:#f3f6fa;stroke:#57606a}\
.entry{stroke-width:3}.edge{fill:none;stroke:#57606a}.default{stroke-width:2.5}.arrow{fill:#57606a}\
@media (prefers-color-scheme:dark){text{fill:#e6e6e6}.type,.label{fill:#9aa4ae}.page{fill:#1b1f24}\
.node{fill:#262c34;stroke:#9aa4ae}.edge{stroke:#9aa4ae}.arrow{fill:#9aa4ae}}";

/// Where the nodes are.
struct Plan {
    measures: Measures,
    width: usize,
    height: usize,
    /// The centre of each node, in the order of the graph.
    places: Vec<(usize, usize)>,
}

impl Plan {
    fn of(graph: &Graph, measures: Measures, goes_up: bool) -> Self {
        let layout = Layout::of(graph);
        let Measures { node_width, node_height, column, row, lane, margin, .. } = measures;
        let n_columns = layout.rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let width = margin * 2 + (n_columns - 1) * column + node_width + if goes_up { lane } else { 0 };
        let height = margin * 2 + layout.rows.len().saturating_sub(1) * row + node_height;
        let mut places = vec![(0, 0); graph.nodes().len()];
        for (at_row, nodes) in layout.rows.iter().enumerate() {
            // Rows are centred; half columns are whole numbers of pixels.
            let indent = (n_columns - nodes.len()) * column / 2;
            for (at_column, idx) in nodes.iter().enumerate() {
                if let Some(place) = places.get_mut(*idx) {
                    *place = (
                        margin + indent + at_column * column + node_width / 2,
                        margin + at_row * row + node_height / 2,
                    );
                }
            }
        }
        Self { measures, width, height, places }
    }

    fn place(&self, graph: &Graph, id: &str) -> Option<(usize, usize)> {
        graph.nodes().iter().position(|node| node.id == id).and_then(|idx| self.places.get(idx).copied())
    }

    /// The path of an edge and the place of its label; `None` if a node is missing.
    fn edge(&self, graph: &Graph, edge: &Edge) -> Option<(String, (usize, usize))> {
        let (from, to) = (self.place(graph, &edge.from)?, self.place(graph, &edge.to)?);
        Some(route(&self.measures, from, to, self.width - self.measures.margin / 2))
    }

    fn cut(&self, text: &str) -> String {
        cut(text, self.measures.name_length)
    }
}

/// Whether an edge leads back, to a node in its own row or above.
fn goes_up(graph: &Graph) -> bool {
    let layout = Layout::of(graph);
    let row = |id: &str| {
        let idx = graph.nodes().iter().position(|node| node.id == id)?;
        layout.rows.iter().position(|row| row.contains(&idx))
    };
    graph.edges().iter().any(|edge| row(&edge.from).zip(row(&edge.to)).is_some_and(|(from, to)| to <= from))
}

const ARROW: &str = "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" \
    refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\" markerUnits=\"userSpaceOnUse\">\
    <path class=\"arrow\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";

pub(super) fn draw(graph: &Graph, title: &str) -> String {
    let plan = Plan::of(graph, FILE, true);
    let (width, height) = (plan.width, plan.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n{ARROW}\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
        escaped(title)
    );
    for edge in graph.edges() {
        if let Some((path, label)) = plan.edge(graph, edge) {
            let class = if edge.is_default { "edge default" } else { "edge" };
            let _ = writeln!(
                svg,
                "<path class=\"{class}\" marker-end=\"url(#arrow)\" d=\"{path}\"/><text class=\"label\" x=\"{}\" y=\"{}\">{}</text>",
                label.0,
                label.1,
                escaped(&plan.cut(&edge.label))
            );
        }
    }
    for (node, (x, y)) in graph.nodes().iter().zip(&plan.places) {
        let entry = if node.id == graph.entry_node_id() { " entry" } else { "" };
        let _ = writeln!(
            svg,
            "<g id=\"node-{}\"><title>{}</title>{}<text x=\"{x}\" y=\"{}\">{}</text><text class=\"type\" x=\"{x}\" y=\"{}\">{}</text></g>",
            escaped(&node.id),
            escaped(&full_name(node)),
            shape(&plan.measures, node.node_type, *x, *y, entry),
            y - 2,
            escaped(&plan.cut(node.name())),
            y + 14,
            node.node_type.as_str(),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The graph of a run, for a page with colours of its own.
pub(super) fn draw_progress(graph: &Graph, title: &str, status: &dyn Fn(&str) -> NodeStatus) -> String {
    let plan = Plan::of(graph, PAGE, goes_up(graph));
    let (width, height) = (plan.width, plan.height);
    let mut svg = format!(
        "<svg class=\"graph\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{}\">\n{ARROW}",
        escaped(title)
    );
    let mut labels = String::new();
    for edge in graph.edges() {
        let Some((path, label)) = plan.edge(graph, edge) else { continue };
        let ends = plan.place(graph, &edge.from).zip(plan.place(graph, &edge.to));
        // Above the node that it leads to, where the names of several ways have room beside each other.
        let (x, y) = match ends {
            Some((from, to)) if to.1 > from.1 => (to.0, to.1 - plan.measures.node_height / 2 - 18),
            _ => label,
        };
        let is_taken = status(&edge.from) == NodeStatus::Completed && status(&edge.to) != NodeStatus::Pending;
        let class = match (is_taken, edge.is_default) {
            (true, _) => "edge taken",
            (false, true) => "edge default",
            (false, false) => "edge",
        };
        let condition = edge.condition_text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let about = condition.map(|text| format!(" if {text}")).unwrap_or_default();
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" marker-end=\"url(#arrow)\" d=\"{path}\"><title>{}{}</title></path>",
            escaped(&edge.label),
            escaped(&about)
        );
        // A lone edge needs no name: there is nothing to choose.
        if graph.edges_from(&edge.from).count() > 1 {
            let _ = writeln!(
                labels,
                "<text class=\"label\" x=\"{x}\" y=\"{}\">{}</text>",
                y - 4,
                escaped(&plan.cut(&edge.label))
            );
            if let Some(condition) = condition {
                let _ = writeln!(
                    labels,
                    "<text class=\"condition\" x=\"{x}\" y=\"{}\">{}</text>",
                    y + 8,
                    escaped(&plan.cut(condition))
                );
            }
        }
    }
    // Above the edges, which may cross them.
    svg.push_str(&labels);
    for (node, (x, y)) in graph.nodes().iter().zip(&plan.places) {
        let (class, mark, words) = match status(&node.id) {
            NodeStatus::Completed => (" done", "\u{2713} ", "done"),
            NodeStatus::Current => (" current", "\u{25cf} ", "current"),
            NodeStatus::Pending => ("", "", "not reached yet"),
        };
        let _ = writeln!(
            svg,
            "<g><title>{}: {words}</title>{}<text x=\"{x}\" y=\"{}\">{mark}{}</text><text class=\"type\" x=\"{x}\" y=\"{}\">{}</text></g>",
            escaped(&full_name(node)),
            shape(&plan.measures, node.node_type, *x, *y, class),
            y - 2,
            escaped(&plan.cut(node.name())),
            y + 13,
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

fn shape(measures: &Measures, node_type: NodeType, x: usize, y: usize, more: &str) -> String {
    let (width, height) = (measures.node_width, measures.node_height);
    let (left, top) = (x - width / 2, y - height / 2);
    let (right, bottom) = (x + width / 2, y + height / 2);
    let radius = match node_type {
        NodeType::Step | NodeType::Subworkflow => 6,
        NodeType::Merge | NodeType::End => height / 2,
        NodeType::Decision => {
            return format!(
                "<path class=\"node{more}\" d=\"M{left} {y}L{} {top}H{}L{right} {y}L{} {bottom}H{}z\"/>",
                left + 20,
                right - 20,
                right - 20,
                left + 20
            );
        }
    };
    format!(
        "<rect class=\"node{more}\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>"
    )
}

/// The path of an edge and the position of its label; an upward edge goes around on the right.
fn route(
    measures: &Measures,
    from: (usize, usize),
    to: (usize, usize),
    edge_of_page: usize,
) -> (String, (usize, usize)) {
    let half = measures.node_height / 2;
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
    let (start, end) = (from.0 + measures.node_width / 2, to.0 + measures.node_width / 2);
    let path =
        format!("M{start} {}C{edge_of_page} {} {edge_of_page} {} {end} {}", from.1, from.1, to.1, to.1);
    (path, (edge_of_page - measures.lane / 2, usize::midpoint(from.1, to.1)))
}

fn cut(text: &str, length: usize) -> String {
    let shown: String = text.chars().take(length).collect();
    if text.chars().nth(length).is_some() { format!("{}…", shown.trim_end()) } else { shown }
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
