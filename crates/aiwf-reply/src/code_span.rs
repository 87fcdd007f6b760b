//! Inline code: text between two equally long runs of backticks in one paragraph.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::fence::after_list_markers;
use crate::line::{Line, extent};
use crate::outline::Outline;
use crate::thought;

/// Finds the inline code in a range of prose lines, as byte ranges in order.
pub(crate) fn code_spans(outline: &Outline<'_>, prose: Range<usize>) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for paragraph in outline.lines_at(prose).chunk_by(|_, next| !starts_paragraph(next)) {
        add_spans(outline.text, extent(paragraph), &mut spans);
    }
    spans
}

/// Whether open inline code ends before this line.
///
/// It ends wherever `CommonMark` ends a paragraph, and also before JSON at the start of a line or a lone thought tag: a
/// stray backtick earlier in the text must not hide them.
fn starts_paragraph(line: &Line<'_>) -> bool {
    let text = line.trimmed();
    text.is_empty()
        || text.starts_with(['#', '{', '['])
        || after_list_markers(text).len() < text.len()
        || thought::is_lone_tag(text)
}

struct Run {
    start: usize,
    end: usize,
    /// Length as an opening run, which excludes an escaped backtick.
    opening_length: usize,
}

fn add_spans(text: &str, paragraph: Range<usize>, spans: &mut Vec<Range<usize>>) {
    let runs = backtick_runs(text, paragraph);
    // For each run, the next one that can close it; computed from the end so that nothing is searched twice.
    let mut next_of_length = BTreeMap::new();
    let mut closings: Vec<Option<usize>> = runs
        .iter()
        .enumerate()
        .rev()
        .map(|(idx, run)| {
            let closing = next_of_length.get(&run.opening_length).copied();
            next_of_length.insert(run.end - run.start, idx);
            closing
        })
        .collect();
    closings.reverse();
    let mut idx = 0;
    while let (Some(run), Some(closing)) = (runs.get(idx), closings.get(idx)) {
        idx += 1;
        if let Some(closing_run) = closing.and_then(|closing| runs.get(closing)) {
            spans.push(run.end - run.opening_length..closing_run.end);
            idx = closing.map_or(idx, |closing| closing + 1);
        }
    }
}

fn backtick_runs(text: &str, paragraph: Range<usize>) -> Vec<Run> {
    let bytes = text.as_bytes().get(paragraph.clone()).unwrap_or_default();
    let mut runs: Vec<Run> = Vec::new();
    for at in memchr::memchr_iter(b'`', bytes).map(|at| paragraph.start + at) {
        if let Some(run) = runs.last_mut().filter(|run| run.end == at) {
            run.end += 1;
            run.opening_length += 1;
        } else {
            let before = bytes.get(..at - paragraph.start).unwrap_or_default();
            let n_backslashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
            let is_escaped = n_backslashes % 2 == 1;
            runs.push(Run { start: at, end: at + 1, opening_length: usize::from(!is_escaped) });
        }
    }
    runs
}
