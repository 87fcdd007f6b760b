//! Applies hunks to the bytes of a file that a model was shown.
//!
//! In: the text of the file and hunks in order. Out: the new text, or a problem for each hunk that does not match
//! exactly once. Nothing is guessed: a hunk that nearly matches is described, not applied. Lines are compared without
//! their endings, and new lines get the ending that the file uses.

use std::collections::BTreeMap;

use crate::edits::Hunk;
use crate::findings::excerpt;
use crate::problem::Problem;

/// Number of unmatched hunks for which the nearest place is described; each costs a pass over the file.
const MAX_DESCRIBED: usize = 8;

/// Number of SEARCH lines that are compared with each place of the file to find the nearest one.
const MAX_COMPARED: usize = 20;

/// Applies all hunks in order, or returns what is wrong with them.
///
/// A hunk sees the result of the earlier ones. The work is linear in the file and the hunks unless most lines are
/// equal.
pub fn apply_hunks(path: &str, text: &str, hunks: &[Hunk]) -> Result<String, Vec<Problem>> {
    let mut file = Lines::new(text);
    let mut problems = Vec::new();
    for hunk in hunks {
        if let Err(message) = file.apply(hunk, problems.len() < MAX_DESCRIBED) {
            let message = format!("edit of `{}`: {message}", excerpt(path));
            problems.push(Problem { line: hunk.line, column: 1, message });
        }
    }
    if problems.is_empty() { Ok(file.into_text()) } else { Err(problems) }
}

/// The lines of a file as a linked list, so that replacing some moves no others.
struct Lines<'a> {
    nodes: Vec<Node<'a>>,
    /// The nodes with this text, including dead ones.
    places: BTreeMap<&'a str, Vec<usize>>,
    ending: &'static str,
    ends_with_newline: bool,
}

struct Node<'a> {
    text: &'a str,
    /// Whether the line ends in `\r\n`.
    has_return: bool,
    /// The line number in the file as shown; `None` for new lines.
    number: Option<usize>,
    previous: usize,
    next: usize,
    is_alive: bool,
}

/// Index of the node before the first line and after the last.
const ROOT: usize = 0;

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let root =
            Node { text: "", has_return: false, number: None, previous: ROOT, next: ROOT, is_alive: true };
        let n_returns = text.matches("\r\n").count();
        let ending = if n_returns * 2 > text.matches('\n').count() { "\r\n" } else { "\n" };
        let mut lines = Self {
            nodes: vec![root],
            places: BTreeMap::new(),
            ending,
            ends_with_newline: text.is_empty() || text.ends_with('\n'),
        };
        for (idx, line) in text.split_inclusive('\n').enumerate() {
            let line = line.strip_suffix('\n').unwrap_or(line);
            let stripped = line.strip_suffix('\r').unwrap_or(line);
            let last = lines.node(ROOT).previous;
            lines.insert_after(last, stripped, stripped.len() != line.len(), Some(idx + 1));
        }
        lines
    }

    fn node(&self, idx: usize) -> &Node<'a> {
        #[expect(
            clippy::indexing_slicing,
            reason = "every index comes from this list, and nodes are never removed"
        )]
        &self.nodes[idx]
    }

    fn node_mut(&mut self, idx: usize) -> &mut Node<'a> {
        #[expect(
            clippy::indexing_slicing,
            reason = "every index comes from this list, and nodes are never removed"
        )]
        &mut self.nodes[idx]
    }

    fn insert_after(
        &mut self,
        previous: usize,
        text: &'a str,
        has_return: bool,
        number: Option<usize>,
    ) -> usize {
        let idx = self.nodes.len();
        let next = self.node(previous).next;
        self.nodes.push(Node { text, has_return, number, previous, next, is_alive: true });
        self.node_mut(previous).next = idx;
        self.node_mut(next).previous = idx;
        self.places.entry(text).or_default().push(idx);
        idx
    }

    fn apply(&mut self, hunk: &'a Hunk, is_described: bool) -> Result<(), String> {
        if hunk.search.is_empty() {
            return self.apply_without_search(hunk);
        }
        let start = match self.matches(hunk).as_slice() {
            [only] => *only,
            [] if is_described => return Err(self.nearest(hunk)),
            [] => return Err("the SEARCH lines are not in the file".to_owned()),
            several => {
                // The line number of a diff is authoritative where it points exactly at one of the matches.
                let named =
                    several.iter().find(|idx| hunk.at.is_some() && self.node(**idx).number == hunk.at);
                match named {
                    Some(named) => *named,
                    None => return Err(self.ambiguous(several)),
                }
            }
        };
        let has_return = self.node(start).has_return;
        let (before, mut at) = (self.node(start).previous, start);
        for _ in &hunk.search {
            let next = self.node(at).next;
            self.node_mut(at).is_alive = false;
            at = next;
        }
        self.node_mut(before).next = at;
        self.node_mut(at).previous = before;
        let mut last = before;
        for line in &hunk.replace {
            last = self.insert_after(last, line, has_return, None);
        }
        Ok(())
    }

    /// Without SEARCH lines: valid for an empty file, and for a diff that inserts after a line it names.
    fn apply_without_search(&mut self, hunk: &'a Hunk) -> Result<(), String> {
        let is_empty = self.node(ROOT).next == ROOT;
        if !is_empty {
            return Err("the SEARCH part is empty: copy lines from the file".to_owned());
        }
        let mut last = ROOT;
        for line in &hunk.replace {
            last = self.insert_after(last, line, self.ending == "\r\n", None);
        }
        self.ends_with_newline = true;
        Ok(())
    }

    /// The positions of the SEARCH lines, found through the rarest of them.
    fn matches(&mut self, hunk: &Hunk) -> Vec<usize> {
        let nodes = &self.nodes;
        let mut rarest: Option<(usize, Vec<usize>)> = None;
        for (offset, line) in hunk.search.iter().enumerate() {
            let Some(places) = self.places.get_mut(line.as_str()) else { return Vec::new() };
            places.retain(|idx| nodes.get(*idx).is_some_and(|node| node.is_alive));
            if rarest.as_ref().is_none_or(|(_, fewest)| places.len() < fewest.len()) {
                rarest = Some((offset, places.clone()));
            }
        }
        let Some((offset, places)) = rarest else { return Vec::new() };
        let start_of = |place: usize| {
            let mut idx = place;
            for _ in 0..offset {
                idx = self.node(idx).previous;
                if idx == ROOT {
                    return None;
                }
            }
            Some(idx)
        };
        places.into_iter().filter_map(start_of).filter(|start| self.is_match(*start, hunk)).collect()
    }

    fn is_match(&self, start: usize, hunk: &Hunk) -> bool {
        let mut idx = start;
        for line in &hunk.search {
            if idx == ROOT || self.node(idx).text != line {
                return false;
            }
            idx = self.node(idx).next;
        }
        true
    }

    fn ambiguous(&self, places: &[usize]) -> String {
        let numbers: Vec<String> = places
            .iter()
            .filter_map(|idx| self.node(*idx).number)
            .take(5)
            .map(|number| number.to_string())
            .collect();
        let n_places = places.len();
        let listed =
            if numbers.is_empty() { String::new() } else { format!(" (lines {})", numbers.join(", ")) };
        format!(
            "the SEARCH lines occur {n_places} times in the file{listed}: add more of the surrounding lines"
        )
    }

    /// Describes the place most similar to the SEARCH lines and its first line that differs.
    fn nearest(&self, hunk: &Hunk) -> String {
        let lines = self.in_order();
        let mut best: Option<(usize, usize)> = None;
        for start in 0..lines.len() {
            let pairs = hunk.search.iter().take(MAX_COMPARED).zip(lines.get(start..).unwrap_or_default());
            let score: usize = pairs.map(|(wanted, found)| similarity(wanted, found.text)).sum();
            if score > 0 && best.is_none_or(|(most, _)| score > most) {
                best = Some((score, start));
            }
        }
        let Some((_, start)) = best else {
            return "the SEARCH lines are not in the file, and no line is similar".to_owned();
        };
        for (offset, wanted) in hunk.search.iter().enumerate() {
            let Some(found) = lines.get(start + offset) else {
                return format!(
                    "the SEARCH lines continue past the end of the file, at `{}`",
                    excerpt(wanted)
                );
            };
            if found.text != wanted {
                let number = found.number.map_or("a new line".to_owned(), |number| format!("line {number}"));
                return format!(
                    "the SEARCH lines are not in the file; nearest: {number}, {}",
                    difference(wanted, found.text)
                );
            }
        }
        "the SEARCH lines are not in the file".to_owned()
    }

    fn in_order(&self) -> Vec<&Node<'a>> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut idx = self.node(ROOT).next;
        while idx != ROOT {
            order.push(self.node(idx));
            idx = self.node(idx).next;
        }
        order
    }

    fn into_text(self) -> String {
        let order = self.in_order();
        let mut text = String::new();
        for (place, node) in order.iter().enumerate() {
            text += node.text;
            if place + 1 < order.len() || self.ends_with_newline {
                text += if node.has_return { "\r\n" } else { "\n" };
            }
        }
        text
    }
}

/// How similar two lines are: equal, equal apart from white space, or different.
fn similarity(wanted: &str, found: &str) -> usize {
    let is_blank = wanted.trim().is_empty();
    if is_blank {
        0
    } else if wanted == found {
        3
    } else if wanted.split_whitespace().eq(found.split_whitespace()) {
        2
    } else {
        usize::from(wanted.trim().chars().next() == found.trim().chars().next())
    }
}

fn difference(wanted: &str, found: &str) -> String {
    if wanted.split_whitespace().eq(found.split_whitespace()) {
        return format!("which differs in white space: `{}`", excerpt(found));
    }
    format!("which is `{}`, not `{}`", excerpt(found), excerpt(wanted))
}

#[cfg(test)]
#[path = "apply_hunks_tests.rs"]
mod tests;
