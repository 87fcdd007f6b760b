//! Fits items into a token budget.
//!
//! In: items in final order, each with its need and its count. Out: the ones to leave out.
//! Cuts whole optional items from the lowest priority up; never reorders, never splits, never cuts a required
//! one. Does not count tokens itself: counts come with the items, so this file knows no tokenizer.

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

/// Returns the items to leave out so that the rest costs at most `budget`, in the order they were cut.
///
/// Ties in priority are cut from the end, so the text a model reads first is the most stable between runs.
/// An item that was cut stays out even when a later, larger cut makes room again: what is kept never depends
/// on how sizes happen to add up.
pub fn fit(items: &[Item], budget: Tokens) -> Result<Vec<Cut>, RequiredTooLarge> {
    let mut total: Tokens = items.iter().map(|item| item.tokens).sum();
    if total <= budget {
        return Ok(Vec::new());
    }
    let mut optional = Vec::with_capacity(items.len());
    let mut needed = Tokens(0);
    for (index, item) in items.iter().enumerate() {
        match item.need {
            Need::Required => needed += item.tokens,
            Need::Optional(priority) => optional.push((priority, std::cmp::Reverse(index), item.tokens)),
        }
    }
    if needed > budget {
        return Err(RequiredTooLarge { needed });
    }
    optional.sort_unstable();
    let mut cuts = Vec::new();
    for (priority, std::cmp::Reverse(index), tokens) in optional {
        if total <= budget {
            break;
        }
        total -= tokens;
        cuts.push(Cut { index, priority });
    }
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
