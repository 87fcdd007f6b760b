//! Arranges the nodes of a graph in rows: each below the nodes that lead to it.
//!
//! Edges that close a loop, found by a walk from the entry, are ignored. Within a row, nodes are ordered by the average
//! position of their predecessors, then by the order in the file, so equal graphs give equal pictures.

use std::collections::BTreeMap;

use crate::graph::Graph;

/// The row of each node, from the top, and its position in the row, from the left.
pub(super) struct Layout {
    /// The nodes of each row, as indexes into the graph's list.
    pub(super) rows: Vec<Vec<usize>>,
}

impl Layout {
    pub(super) fn of(graph: &Graph) -> Self {
        let mut idx_by_id: BTreeMap<&str, usize> = BTreeMap::new();
        for (idx, node) in graph.nodes().iter().enumerate() {
            idx_by_id.entry(&node.id).or_insert(idx);
        }
        let next: Vec<Vec<usize>> = graph
            .nodes()
            .iter()
            .map(|node| {
                graph
                    .edges_from(&node.id)
                    .filter_map(|edge| idx_by_id.get(edge.to.as_str()).copied())
                    .collect()
            })
            .collect();
        let order = without_loops(&next, idx_by_id.get(graph.entry_node_id()).copied());
        let rank = ranks(&next, &order);
        let n_rows = rank.iter().max().map_or(0, |last| last + 1);
        let mut rows = vec![Vec::new(); n_rows];
        for (idx, row) in rank.iter().enumerate() {
            if let Some(row) = rows.get_mut(*row) {
                row.push(idx);
            }
        }
        sort_rows(&mut rows, &next);
        Self { rows }
    }
}

/// An order of the nodes in which every edge, except those of loops, points forward.
fn without_loops(next: &[Vec<usize>], entry: Option<usize>) -> Vec<usize> {
    let mut is_seen = vec![false; next.len()];
    let mut finished = Vec::with_capacity(next.len());
    for start in entry.into_iter().chain(0..next.len()) {
        // An explicit stack: recursion would overflow on a chain of a thousand nodes.
        let mut stack = vec![(start, 0)];
        if is_seen.get(start).copied().unwrap_or(true) {
            continue;
        }
        set(&mut is_seen, start);
        while let Some((idx, child)) = stack.pop() {
            match next.get(idx).and_then(|next| next.get(child)) {
                Some(to) => {
                    stack.push((idx, child + 1));
                    if !is_seen.get(*to).copied().unwrap_or(true) {
                        set(&mut is_seen, *to);
                        stack.push((*to, 0));
                    }
                }
                None => finished.push(idx),
            }
        }
    }
    finished.reverse();
    finished
}

fn set(flags: &mut [bool], idx: usize) {
    if let Some(flag) = flags.get_mut(idx) {
        *flag = true;
    }
}

/// The row of each node: one below its lowest predecessor.
fn ranks(next: &[Vec<usize>], order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; next.len()];
    for (position, idx) in order.iter().enumerate() {
        if let Some(place) = place.get_mut(*idx) {
            *place = position;
        }
    }
    let mut rank = vec![0; next.len()];
    for idx in order {
        let below = rank.get(*idx).copied().unwrap_or(0) + 1;
        for to in next.get(*idx).into_iter().flatten().filter(|to| place.get(**to) > place.get(*idx)) {
            if let Some(rank) = rank.get_mut(*to) {
                *rank = (*rank).max(below);
            }
        }
    }
    rank
}

fn sort_rows(rows: &mut [Vec<usize>], next: &[Vec<usize>]) {
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); next.len()];
    for (from, to) in next.iter().enumerate().flat_map(|(from, next)| next.iter().map(move |to| (from, *to)))
    {
        if let Some(above) = above.get_mut(to) {
            above.push(from);
        }
    }
    let mut column = vec![0_usize; next.len()];
    for row in rows {
        row.sort_by_key(|idx| {
            let above = above.get(*idx).map(Vec::as_slice).unwrap_or_default();
            let sum: usize = above.iter().filter_map(|from| column.get(*from)).sum();
            // In thousandths, so that averages between two columns stay distinct.
            (sum * 1000 / above.len().max(1), *idx)
        });
        for (position, idx) in row.iter().enumerate() {
            if let Some(column) = column.get_mut(*idx) {
                *column = position;
            }
        }
    }
}
