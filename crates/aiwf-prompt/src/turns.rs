//! Fits the turns of a conversation into a token budget.
//!
//! In: turns in order, each with its kind and token count. Out: the turns to keep. Cuts whole rounds and whole
//! tool-call groups, oldest first; never reorders, never splits a group, never cuts the current request. Does not count
//! tokens and sees no text: the caller replaces the turns that are left out.

use std::ops::Range;

use crate::tokens::Tokens;

/// The kinds of turns that matter for cutting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnKind {
    /// The user's own text, which starts a round.
    Request,
    /// Text of the runtime on behalf of the user: directive, brief, data, note. Part of the round of an adjacent
    /// request.
    Context,
    Assistant {
        /// The number of tool calls in it.
        n_calls: usize,
    },
    /// The result of one of these calls.
    ToolResult,
}

/// A turn with its token count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnWeight {
    pub tokens: Tokens,
    pub kind: TurnKind,
}

/// The turns to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnFit {
    /// For each turn, in order, whether it is kept.
    pub kept: Vec<bool>,
    pub n_left_out: usize,
    pub tokens_left_out: Tokens,
    pub tokens_kept: Tokens,
}

/// The turns that cannot be left out exceed the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the current round needs {needed} tokens but only {budget} are available")]
pub struct TurnsTooLarge {
    pub needed: Tokens,
    pub budget: Tokens,
    /// The index of its largest turn.
    pub largest: usize,
    pub largest_tokens: Tokens,
}

/// The number of most recent rounds to keep longest, including the current one.
const RECENT_ROUNDS: usize = 4;
/// The number of groups of the current round to keep longest.
const RECENT_GROUPS: usize = 6;

/// Returns the turns to keep so that they cost at most `budget`.
///
/// A group is an answer with the results of its calls; a round is everything from a request to the next one. Turns are
/// left out in this order, oldest first: rounds except the four most recent; groups of the current round except its six
/// most recent; the recent rounds; the recent groups. Always kept are the start of the current round, the runtime's
/// last text in it, its last group, and every group that waits for results. Context between two groups belongs to the
/// second one.
///
/// The order does not depend on the budget: a larger budget keeps at least as much.
pub fn fit_turns(turns: &[TurnWeight], budget: Tokens) -> Result<TurnFit, TurnsTooLarge> {
    let Layout { required, cuts } = layout(turns);
    let needed: Tokens = required.iter().map(|range| cost(turns, range)).sum();
    if needed > budget {
        let (largest, largest_tokens) = largest(turns, &required);
        return Err(TurnsTooLarge { needed, budget, largest, largest_tokens });
    }
    let mut kept = vec![true; turns.len()];
    let mut fit =
        TurnFit { kept: Vec::new(), n_left_out: 0, tokens_left_out: Tokens(0), tokens_kept: needed };
    let mut is_full = false;
    // From the last candidate to the first: one that does not fit also drops everything before it.
    for range in cuts.iter().rev() {
        let tokens = cost(turns, range);
        is_full = is_full || fit.tokens_kept + tokens > budget;
        if !is_full {
            fit.tokens_kept += tokens;
            continue;
        }
        fit.n_left_out += range.len();
        fit.tokens_left_out += tokens;
        kept.get_mut(range.clone()).unwrap_or_default().fill(false);
    }
    Ok(TurnFit { kept, ..fit })
}

fn cost(turns: &[TurnWeight], range: &Range<usize>) -> Tokens {
    turns.get(range.clone()).unwrap_or_default().iter().map(|turn| turn.tokens).sum()
}

/// The largest turn of some ranges; the first one if there are several.
fn largest(turns: &[TurnWeight], ranges: &[Range<usize>]) -> (usize, Tokens) {
    let sized = |index: usize| turns.get(index).map(|turn| (turn.tokens, std::cmp::Reverse(index)));
    let largest = ranges.iter().cloned().flatten().filter_map(sized).max();
    largest.map_or((0, Tokens(0)), |(tokens, std::cmp::Reverse(index))| (index, tokens))
}

/// Every turn once: the required ones, and the others in the order of leaving out.
struct Layout {
    required: Vec<Range<usize>>,
    cuts: Vec<Range<usize>>,
}

/// An answer with its results, and the text of user and runtime before it.
struct Step {
    said: Range<usize>,
    group: Range<usize>,
    is_required: bool,
}

/// The rounds before the current one, and the steps of the current one.
struct Rounds {
    earlier: Vec<Range<usize>>,
    steps: Vec<Step>,
    /// Text after the last answer.
    said_last: Range<usize>,
}

fn layout(turns: &[TurnWeight]) -> Layout {
    let Rounds { earlier, steps, said_last } = rounds(turns);
    let mut required = Vec::new();
    let mut older_groups = Vec::new();
    let mut recent_groups = Vec::new();
    let last_step = steps.len().checked_sub(1);
    // Without text after the last answer, the newest text before one is the runtime's last.
    let newest_said = steps.iter().rposition(|step| !step.said.is_empty()).filter(|_| said_last.is_empty());
    let n_steps = steps.len();
    for (place, step) in steps.into_iter().enumerate() {
        let keeps_said = place == 0 || newest_said == Some(place);
        if step.is_required || last_step == Some(place) {
            required.push(step.said.start..step.group.end);
            continue;
        }
        let cut = if keeps_said {
            required.push(step.said);
            step.group
        } else {
            step.said.start..step.group.end
        };
        if place + RECENT_GROUPS < n_steps {
            older_groups.push(cut);
        } else {
            recent_groups.push(cut);
        }
    }
    required.push(said_last);
    // The current round counts as one of the recent ones.
    let n_old = (earlier.len() + 1).saturating_sub(RECENT_ROUNDS);
    let (old_rounds, recent_rounds) = earlier.split_at_checked(n_old).unwrap_or_default();
    let mut cuts = old_rounds.to_vec();
    cuts.append(&mut older_groups);
    cuts.extend_from_slice(recent_rounds);
    cuts.append(&mut recent_groups);
    Layout { required, cuts }
}

fn rounds(turns: &[TurnWeight]) -> Rounds {
    let answers = turns.iter().enumerate().filter(|(_, turn)| is_answer(turn.kind)).map(|(index, _)| index);
    let mut ends = answers.clone().skip(1).chain([turns.len()]);
    let mut earlier = Vec::new();
    let mut steps: Vec<Step> = Vec::new();
    let mut said = 0..answers.clone().next().unwrap_or(turns.len());
    let mut round_start = 0;
    for start in answers {
        let end = ends.next().unwrap_or(turns.len());
        let group = start..group_end(turns, start, end);
        let is_required = must_stay(turns, &group);
        let after = group.end..end;
        steps.push(Step { said, group, is_required });
        if holds_request(turns, &after) {
            earlier.push(round_start..after.start);
            round_start = after.start;
            steps.clear();
        }
        said = after;
    }
    Rounds { earlier, steps, said_last: said }
}

/// The end of the last result of an answer; turns between results belong to the group.
fn group_end(turns: &[TurnWeight], start: usize, end: usize) -> usize {
    let stretch = turns.get(start..end).unwrap_or_default();
    let last_result = stretch.iter().rposition(|turn| turn.kind == TurnKind::ToolResult);
    start + last_result.unwrap_or(0) + 1
}

/// Whether a group of the current round still waits for results, or did when the request came.
fn must_stay(turns: &[TurnWeight], group: &Range<usize>) -> bool {
    let stretch = turns.get(group.clone()).unwrap_or_default();
    let n_results = stretch.iter().filter(|turn| turn.kind == TurnKind::ToolResult).count();
    let n_calls = stretch.first().map_or(0, |turn| match turn.kind {
        TurnKind::Assistant { n_calls } => n_calls,
        TurnKind::Request | TurnKind::Context | TurnKind::ToolResult => 0,
    });
    n_results < n_calls || holds_request(turns, group)
}

fn holds_request(turns: &[TurnWeight], range: &Range<usize>) -> bool {
    let mut stretch = turns.get(range.clone()).unwrap_or_default().iter();
    stretch.any(|turn| turn.kind == TurnKind::Request)
}

fn is_answer(kind: TurnKind) -> bool {
    match kind {
        TurnKind::Assistant { .. } => true,
        TurnKind::Request | TurnKind::Context | TurnKind::ToolResult => false,
    }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
