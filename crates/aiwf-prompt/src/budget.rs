//! Fits items into a token budget.
//!
//! In: items in final order, each with its need and its count. Out: the ones to leave out.
//! Keeps optional items from the highest priority down as long as they fit; never reorders, never splits, never cuts
//! a required one. Does not count tokens itself: counts come with the items, so this file knows no tokenizer.

use crate::section::Need;
use crate::tokens::Tokens;

/// One thing that is kept or cut as a whole: a section, or a single file of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Whether it may be cut.
    pub need: Need,
    /// What keeping it costs.
    pub tokens: Tokens,
}

/// An item to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Its place among the items.
    pub index: usize,
    /// The priority that put it in line.
    pub priority: u32,
}

/// What the required items need when it is more than the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequiredTooLarge {
    /// The sum of the required items.
    pub needed: Tokens,
}

/// Returns the items to leave out so that the rest costs at most `budget`, the least important first.
///
/// The required items have their room first. Then every optional item stays that still fits, the highest priority
/// first and, among equals, the first in order, so that the text a model reads first is the most stable between runs.
/// An item that is too large does not keep a smaller one behind it out.
pub fn fit(items: &[Item], budget: Tokens) -> Result<Vec<Cut>, RequiredTooLarge> {
    let total: Tokens = items.iter().map(|item| item.tokens).sum();
    if total <= budget {
        return Ok(Vec::new());
    }
    let mut optional = Vec::with_capacity(items.len());
    let mut needed = Tokens(0);
    for (index, item) in items.iter().enumerate() {
        match item.need {
            Need::Required => needed += item.tokens,
            Need::Optional(priority) => optional.push((std::cmp::Reverse(priority), index, item.tokens)),
        }
    }
    if needed > budget {
        return Err(RequiredTooLarge { needed });
    }
    optional.sort_unstable();
    let mut room = budget;
    room -= needed;
    let mut cuts = Vec::new();
    for (std::cmp::Reverse(priority), index, tokens) in optional {
        if tokens <= room {
            room -= tokens;
        } else {
            cuts.push(Cut { index, priority });
        }
    }
    cuts.reverse();
    Ok(cuts)
}

/// Leaves out every optional item.
pub(crate) fn cut_all(items: &[Item]) -> Vec<Cut> {
    let optional = |(index, item): (usize, &Item)| match item.need {
        Need::Required => None,
        Need::Optional(priority) => Some(Cut { index, priority }),
    };
    items.iter().enumerate().filter_map(optional).collect()
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
