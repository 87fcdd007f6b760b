//! Compares a prompt with a golden file, and names the sections that differ.
//!
//! In: the stored text and the prompt as it is printed now. Out: nothing if they are equal; otherwise what happened to
//! which section, with a diff of the first one. A golden file is plain text without section marks, so that its own diff
//! reads like the prompt: the sections of the new prompt are looked for in the old text. Equal beginnings and ends are
//! skipped first, so that the comparison is linear in the prompt.

use std::fmt::Write as _;

use super::subject::PromptSubject;

/// How a prompt differs from its golden file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoldenDifference {
    /// The first section that differs.
    pub(crate) section: Option<String>,
    /// One sentence for each section.
    pub(crate) changes: Vec<String>,
    pub(crate) diff: String,
}

/// A section of the new prompt, compared with the old text.
struct Compared<'a> {
    id: &'a str,
    text: &'a str,
    /// Where its own text is in the old one.
    found_at: Option<usize>,
}

/// Above this product of sections and bytes, sections are not looked for one by one.
const MAX_SEARCH: usize = 1 << 30;
/// The most text of one side that a diff is made of.
const MAX_DIFF_BYTES: usize = 256 * 1024;
const MAX_DIFF_LINES: usize = 60;

/// Compares a whole prompt with a stored one.
pub(crate) fn compare(old: &str, prompt: &PromptSubject) -> Option<GoldenDifference> {
    if old == prompt.text {
        return None;
    }
    let pieces: Vec<(&str, &str)> = prompt
        .pieces
        .iter()
        .filter_map(|piece| Some((piece.section.as_str(), prompt.text.get(piece.range.clone())?)))
        .collect();
    // Whole sections that are the same at the beginning and at the end.
    let mut rest = old;
    let mut n_before = 0;
    for (_, text) in &pieces {
        let Some(after) = rest.strip_prefix(text) else { break };
        rest = after;
        n_before += 1;
    }
    let mut n_after = 0;
    for (_, text) in pieces.iter().skip(n_before).rev() {
        let Some(before) = rest.strip_suffix(text) else { break };
        rest = before;
        n_after += 1;
    }
    let differing = pieces.get(n_before..pieces.len() - n_after).unwrap_or_default();
    let is_searchable = differing.len().saturating_mul(rest.len()) <= MAX_SEARCH;
    let mut compared: Vec<Compared<'_>> = differing
        .iter()
        .map(|(id, text)| Compared {
            id,
            text,
            found_at: own(text).filter(|_| is_searchable).and_then(|own| rest.find(own)),
        })
        .collect();
    drop_repeated(&mut compared);
    let unmoved = increasing(&compared);
    let mut changes = Vec::new();
    let mut diffs = Vec::new();
    let mut sections = Vec::new();
    let mut cursor = 0;
    for (index, section) in compared.iter().enumerate() {
        match section.found_at {
            Some(at) if unmoved.contains(&index) => {
                if let Some(gap) = rest.get(cursor..at).and_then(own) {
                    changes.push(format!("{} was removed before section `{}`", heading(gap), section.id));
                    sections.push(section.id);
                    diffs.push((gap.to_owned(), String::new()));
                }
                cursor = at + own(section.text).map_or(0, str::len);
            }
            Some(_) => {
                changes.push(format!("section `{}` moved", section.id));
                sections.push(section.id);
            }
            None => {
                // The old text up to the next section that is still there.
                let next = compared.iter().enumerate().skip(index + 1);
                let end = next
                    .filter(|(index, _)| unmoved.contains(index))
                    .find_map(|(_, section)| section.found_at)
                    .unwrap_or(rest.len());
                let gap = rest.get(cursor..end).and_then(own).filter(|_| end >= cursor);
                sections.push(section.id);
                let what = if gap.is_some() { "changed" } else { "is new" };
                changes.push(format!("section `{}` {what}", section.id));
                let new = own(section.text).unwrap_or_default().to_owned();
                diffs.push((gap.unwrap_or_default().to_owned(), new));
                cursor = end.max(cursor);
            }
        }
    }
    if let Some(gap) = rest.get(cursor..).and_then(own) {
        let is_moved = |section: &Compared<'_>| own(section.text).is_some_and(|own| gap.contains(own));
        if !compared.iter().any(is_moved) {
            changes.push(format!("{} was removed", heading(gap)));
            diffs.push((gap.to_owned(), String::new()));
        }
    }
    if changes.is_empty() {
        let at = first_difference(old, &prompt.text);
        let owner = prompt.owner_at(at).unwrap_or("prompt");
        changes.push(format!("section `{owner}` differs at byte {at}"));
        sections.push(owner);
    }
    let diff = match diffs.iter().find(|(old, new)| old != new) {
        Some((old, new)) => diff(old, new),
        None => diff(old, &prompt.text),
    };
    Some(GoldenDifference { section: sections.first().map(|id| (*id).to_owned()), changes, diff })
}

/// Two sections cannot be the same place of the old text: the later one was not found.
fn drop_repeated(compared: &mut [Compared<'_>]) {
    let mut taken: Vec<usize> = Vec::new();
    for section in compared {
        match section.found_at {
            Some(at) if taken.contains(&at) => section.found_at = None,
            Some(at) => taken.push(at),
            None => {}
        }
    }
}

/// The most sections that are in the same order as before: those that did not move.
fn increasing(compared: &[Compared<'_>]) -> Vec<usize> {
    let found: Vec<(usize, usize)> =
        compared.iter().enumerate().filter_map(|(index, section)| Some((index, section.found_at?))).collect();
    // For each length, the end of the best run of that length, and what came before each section.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (position, (_, at)) in found.iter().enumerate() {
        let length = ends.partition_point(|end| found.get(*end).is_some_and(|(_, other)| other < at));
        before.push(length.checked_sub(1).and_then(|length| ends.get(length)).copied());
        match ends.get_mut(length) {
            Some(end) => *end = position,
            None => ends.push(position),
        }
    }
    let mut chosen = Vec::new();
    let mut position = ends.last().copied();
    while let Some(at) = position {
        chosen.extend(found.get(at).map(|(index, _)| *index));
        position = before.get(at).copied().flatten();
    }
    chosen
}

/// The text of a section without what separates it from its neighbours; `None` if there is nothing else.
fn own(text: &str) -> Option<&str> {
    let text = text.trim_matches(['\n', ' ']);
    let text = text.strip_prefix("---\n").unwrap_or(text);
    let text = text.strip_suffix("\n---").unwrap_or(text).trim_matches(['\n', ' ']);
    (!text.is_empty() && text != "---").then_some(text)
}

/// The first line of a text, in backticks.
fn heading(text: &str) -> String {
    super::finding::quoted(text.lines().next().unwrap_or_default())
}

fn first_difference(old: &str, new: &str) -> usize {
    old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count()
}

/// A unified diff of two texts, bounded: from a little before the first difference.
pub(crate) fn diff(old: &str, new: &str) -> String {
    let at = first_difference(old, new);
    let window = |text: &str| {
        if text.len() <= MAX_DIFF_BYTES {
            return text.to_owned();
        }
        let start = text.get(..at).or(text.get(..0)).unwrap_or_default();
        // A few lines of context, and no half character.
        let start = start.len()
            - start.lines().rev().take(3).map(|line| line.len() + 1).sum::<usize>().min(start.len());
        let end = text.len().min(start + MAX_DIFF_BYTES);
        let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        let end = (0..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.get(start..end).unwrap_or_default().to_owned()
    };
    let with_end = |text: String| if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" };
    let (old, new) = (with_end(window(old)), with_end(window(new)));
    let diff = similar::TextDiff::from_lines(old.as_str(), new.as_str());
    let lines: Vec<String> =
        diff.unified_diff().context_radius(2).to_string().lines().map(str::to_owned).collect();
    let n_more = lines.len().saturating_sub(MAX_DIFF_LINES);
    let mut text = lines.into_iter().take(MAX_DIFF_LINES).collect::<Vec<_>>().join("\n");
    if n_more > 0 {
        // Writing to a string does not fail.
        let _ = write!(text, "\n… {n_more} more lines");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
#[path = "golden_tests.rs"]
mod tests;
